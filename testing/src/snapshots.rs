//! Snapshots of programs after passes, and tests of programs before and after passes, in a line
//! each.
//!
//! ```ignore
//! loomir_testing::check_pass!("builtin.module(canonicalize)", "fixtures/sums.mlir");
//! loomir_testing::fixtures!("tests/fixtures", Tool::default());
//! Tool::default().assert_same_after("builtin.module(canonicalize)", include_str!("sums.mlir"));
//! Tool::default().assert_equal_after("builtin.module(canonicalize)", include_str!("sums.mlir"));
//! ```
//!
//! A snapshot names values by their order and holds no places in files. So it changes only if the
//! program does.

use std::path::{Path, PathBuf};

use loomir::dialects::interp::Limits;
use loomir::ir::symbols::symbol_name;
use loomir::ir::{Body, Op};

use crate::behaviour::{inputs, same_behaviour};
use crate::check::Checker;
use crate::fixtures::Tool;
use crate::random::Random;

/// Compares the program in a file after a pipeline with its snapshot.
///
/// The file is named from the folder of the test, as for `include_str!`. The snapshot has the name
/// of the test. With a [`Tool`](crate::fixtures::Tool) in front, its dialects and passes are used.
#[macro_export]
macro_rules! check_pass {
    ($pipeline:expr, $file:literal $(,)?) => {
        $crate::check_pass!($crate::fixtures::Tool::default(), $pipeline, $file)
    };
    ($tool:expr, $pipeline:expr, $file:literal $(,)?) => {{
        let shown = $tool.shown_after($pipeline, include_str!($file));
        let mut settings = $crate::insta::Settings::clone_current();
        settings.set_omit_expression(true);
        settings.bind(|| $crate::insta::assert_snapshot!(shown));
    }};
}

/// Makes a test that runs all fixtures of a folder of the crate, each against the snapshot beside
/// it, with a [`Tool`](crate::fixtures::Tool).
#[macro_export]
macro_rules! fixtures {
    ($folder:literal, $tool:expr $(,)?) => {
        #[test]
        fn fixtures() {
            let folder = ::std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join($folder);
            for fixture in $crate::snapshots::files(&folder) {
                let text = $crate::snapshots::outcome(&$tool, &fixture);
                let mut settings = $crate::insta::Settings::clone_current();
                settings.set_snapshot_path(fixture.parent().unwrap_or(&folder));
                settings.set_prepend_module_to_snapshot(false);
                settings.set_omit_expression(true);
                let name = fixture.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                settings.bind(|| $crate::insta::assert_snapshot!(name, text));
            }
        }
    };
}

/// Returns the fixtures in a folder and below, sorted by name.
///
/// # Panics
/// If there are none, so that a test of them cannot pass by mistake.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "mlir" || end == "ll") {
                files.push(path);
            }
        }
    }
    assert!(!files.is_empty(), "no fixtures in {}", folder.display());
    files.sort();
    files
}

/// Runs a fixture, and returns its outcome for a snapshot.
///
/// # Panics
/// If the file cannot be read or a directive fails.
pub fn outcome(tool: &Tool, file: &Path) -> String {
    let source = std::fs::read_to_string(file).map_err(|error| error.to_string());
    match source.and_then(|source| tool.run(&source)) {
        Ok(outcome) => outcome.text,
        Err(error) => panic!("{}: {error}", file.display()),
    }
}

impl Tool {
    /// Returns a program after a pipeline, followed by remarks and errors as comments. Values are
    /// named by their order, and places are left out.
    ///
    /// # Panics
    /// If the printed program does not read back as the same program.
    pub fn shown_after(&self, pipeline: &str, source: &str) -> String {
        let mut checked = self.checker().pass(pipeline, source);
        let lines = checked.diagnostics.lines().map(without_place);
        checked.diagnostics = lines.collect::<Vec<_>>().join("\n");
        checked.to_text()
    }

    /// Executes each public function of a program before and after a pipeline, on the same
    /// generated arguments, and compares results and memory.
    ///
    /// # Panics
    /// If a function behaves differently, or no call of it is defined.
    #[track_caller]
    pub fn assert_same_after(&self, pipeline: &str, source: &str) {
        if let Err(why) = self.same_after(pipeline, source) {
            panic!("{pipeline}: {why}");
        }
    }

    fn same_after(&self, pipeline: &str, source: &str) -> Result<(), String> {
        let checker = self.checker();
        let before = checker.read(source).map_err(|errors| checker.lines(&errors))?;
        let (after, _) = checker.transformed(pipeline, source).map_err(|errors| checker.lines(&errors))?;
        let mut random = Random::new(1);
        let names = functions(&before);
        if names.is_empty() {
            return Err("the program has no public function with a body".into());
        }
        for name in names {
            let Some(calls) = inputs(&before, &name, &mut random) else { continue };
            let agreement = same_behaviour(&before, &after, &name, &calls, &Limits::default())?;
            if agreement.compared == 0 {
                return Err(format!("no call of '@{name}' is defined"));
            }
        }
        Ok(())
    }

    /// Checks that a program computes the same before and after each pass of a pipeline, by proof
    /// or on all inputs: as `loomir check --passes` does.
    ///
    /// # Panics
    /// If it does not, or if that cannot be decided.
    #[track_caller]
    pub fn assert_equal_after(&self, pipeline: &str, source: &str) {
        let quote = if pipeline.contains('\'') { '"' } else { '\'' };
        let line = format!("check --passes={quote}{pipeline}{quote} -");
        let done = loomir::run_command((self.registry)(), (self.passes)(), &line, source);
        assert!(done.status == 0, "{pipeline}:\n{}{}", done.out, done.err);
    }

    /// Returns a checker with the dialects and passes of the tool.
    pub fn checker(&self) -> Checker {
        Checker { ctx: loomir::ir::Context::new((self.registry)()), passes: (self.passes)() }
    }
}

/// Returns the names of the public functions of a module that have bodies.
fn functions(module: &Body) -> Vec<String> {
    let is_public = |body: &&Body| {
        let visibility = body.attr(body.root(), "sym_visibility").and_then(|attr| attr.as_str(body.ctx()));
        visibility.is_none_or(|own| own == "public") && body.all_ops().nth(1).is_some()
    };
    let nested = |op: Op| module.nested(op);
    let bodies = module.all_ops().filter_map(nested).filter(is_public);
    bodies
        .filter_map(|body| symbol_name(body, body.root()).map(|name| body.ctx().str(name).to_owned()))
        .collect()
}

/// Returns a line of diagnostics without `line:column: ` at its start.
fn without_place(line: &str) -> String {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = line.splitn(3, ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(row), Some(column), Some(rest)) if is_number(row) && is_number(column) => {
            rest.trim_start().to_owned()
        }
        _ => line.to_owned(),
    }
}
