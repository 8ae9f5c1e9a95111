//! The kinds of files that `loomir new` writes, with their places.

use std::path::Path;

use super::names::Names;
use super::plan::Plan;
use crate::cli::{Failure, Tools};

/// A kind of file.
pub(super) struct Kind {
    /// The name of the subcommand.
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// The help for its name.
    pub(super) help: &'static str,
    /// The sign between the words of a name.
    pub(super) separator: char,
    code: &'static str,
    fixture: &'static str,
    snapshot: &'static str,
    /// Its place in Loomir's tree: the folder, and the file that names the module below a line.
    folder: &'static str,
    list: (&'static str, &'static str),
    /// The line that registers it in a crate.
    registered: &'static str,
}

/// All kinds.
pub(super) const KINDS: [Kind; 4] = [
    Kind {
        name: "dialect",
        about: "Writes a dialect with one operation",
        help: "The name of the dialect, such as 'toy'",
        separator: '_',
        code: include_str!("templates/dialect.rs.txt"),
        fixture: include_str!("templates/dialect.mlir.txt"),
        snapshot: include_str!("templates/dialect.snap.txt"),
        folder: "dialects/src",
        list: ("dialects/src/lib.rs", "pub mod transform;"),
        registered: "    {{crate}}::register(&mut registry);",
    },
    Kind {
        name: "pass",
        about: "Writes a pass on functions",
        help: "The name of the pass, such as 'double-to-shift'",
        separator: '-',
        code: include_str!("templates/pass.rs.txt"),
        fixture: include_str!("templates/pass.mlir.txt"),
        snapshot: include_str!("templates/pass.snap.txt"),
        folder: "transforms/src",
        list: ("transforms/src/lib.rs", "pub mod while_to_for;"),
        registered: "    passes.add({{crate}}::PASS);",
    },
    Kind {
        name: "transform",
        about: "Writes a transformation of loops, which proposes edits to the judge",
        help: "The name of its pass, such as 'loop-blocks'",
        separator: '-',
        code: include_str!("templates/transform.rs.txt"),
        fixture: include_str!("templates/transform.mlir.txt"),
        snapshot: include_str!("templates/transform.snap.txt"),
        folder: "transforms/src/transform",
        list: ("transforms/src/transform.rs", "mod loops;"),
        registered: "    passes.add(loomir::transforms::transform::pass::<{{crate}}::{{Type}}>());",
    },
    Kind {
        name: "analysis",
        about: "Writes an analysis of values, and a pass that prints it",
        help: "The name of the analysis, such as 'from-constants'",
        separator: '-',
        code: include_str!("templates/analysis.rs.txt"),
        fixture: include_str!("templates/analysis.mlir.txt"),
        snapshot: include_str!("templates/analysis.snap.txt"),
        folder: "transforms/src/dataflow",
        list: ("transforms/src/dataflow.rs", "pub mod program;"),
        registered: "    passes.add({{crate}}::PASS);",
    },
];

/// The lines of `lib.rs` that others go below.
const MODULES: &str = "// `loomir new` adds modules below this line.";
const DIALECTS: &str = "// `loomir new dialect` adds dialects below this line.";
const PASSES: &str = "// `loomir new` adds passes below this line.";

impl Kind {
    /// Returns what has this name already, if something has.
    pub(super) fn taken(&self, tools: &Tools, names: &Names) -> Option<&'static str> {
        let name = names.plain.as_str();
        match self.name {
            "dialect" => tools.ctx.dialects().iter().any(|own| own.name == name).then_some("a dialect"),
            _ => {
                let is_pass = |name: &str| tools.passes.infos().iter().any(|own| own.name == name);
                (is_pass(name) || is_pass(&format!("print-{name}"))).then_some("a pass")
            }
        }
    }

    /// Plans the file in a crate on top of Loomir.
    pub(super) fn in_crate(&self, names: &Names, plan: &mut Plan) {
        let module = &names.module;
        plan.file(format!("src/{module}.rs"), names.fill(self.code, false));
        plan.file(format!("tests/fixtures/{module}.mlir"), names.fill(self.fixture, false));
        plan.file(format!("tests/fixtures/{module}.snap"), names.fill(self.snapshot, false));
        plan.line("src/lib.rs", MODULES, format!("pub mod {module};"));
        let list = if self.name == "dialect" { DIALECTS } else { PASSES };
        plan.line("src/lib.rs", list, names.fill(self.registered, false).trim_end());
    }

    /// Plans the file in Loomir's own tree.
    pub(super) fn in_tree(&self, names: &Names, plan: &mut Plan) {
        let module = &names.module;
        plan.file(format!("{}/{module}.rs", self.folder), names.fill(self.code, true));
        plan.line(self.list.0, self.list.1, format!("pub mod {module};"));
        let passes = "const PASSES: &[PassInfo] = &[";
        match self.name {
            "dialect" => {
                plan.file(format!("dialects/tests/fixtures/{module}.mlir"), names.fill(self.fixture, true));
                plan.line(
                    "dialects/src/lib.rs",
                    "loomir::register(registry);",
                    format!("    {module}::register(registry);"),
                );
                plan.next("cargo fmt, and list the fixture in dialects/tests/core_dialects.rs");
                return;
            }
            "transform" => {
                let all = "pub const ALL: &[(PassInfo, Info)] = &[";
                plan.line(self.list.0, all, format!("    registered::<{module}::{}>(),", names.ty));
            }
            "analysis" => {
                plan.line("transforms/src/lib.rs", passes, format!("    dataflow::{module}::PASS,"));
            }
            _ => plan.line("transforms/src/lib.rs", passes, format!("    {module}::PASS,")),
        }
        plan.file(format!("tests/fixtures/{module}/first.mlir"), names.fill(self.fixture, true));
        let snapshot =
            names.fill(self.snapshot, true).replace("tests/fixtures.rs", "tests/tests/fixtures.rs");
        plan.file(format!("tests/fixtures/{module}/first.snap"), snapshot);
        plan.next(&format!("cargo fmt, cargo test -p loomir-tests --test fixtures -- {module}/"));
    }
}

/// Plans a crate with a dialect and a pass.
///
/// # Errors
/// A path that a manifest cannot hold.
pub(super) fn package(names: &Names, repository: Option<&Path>, plan: &mut Plan) -> Result<(), Failure> {
    let dependency = |folder: &str| match repository {
        Some(root) => Ok(format!("{{ path = {} }}", quoted(&root.join(folder))?)),
        None => Ok(format!("{:?}", env!("CARGO_PKG_VERSION"))),
    };
    let manifest = names.fill(include_str!("templates/Cargo.toml.txt"), false);
    let manifest = manifest.replace("{{loomir}}", &dependency("loomir")?);
    plan.file("Cargo.toml", manifest.replace("{{loomir-testing}}", &dependency("testing")?));
    // The versions that Loomir is tested with.
    let lock = repository.and_then(|root| std::fs::read_to_string(root.join("Cargo.lock")).ok());
    if let Some(lock) = lock {
        plan.file("Cargo.lock", lock);
    }
    plan.file(".gitignore", "/target\n");
    plan.file("rustfmt.toml", "max_width = 110\nuse_small_heuristics = \"Max\"\n");
    for (path, template) in [
        ("README.md", include_str!("templates/README.md.txt")),
        ("src/main.rs", include_str!("templates/main.rs.txt")),
        ("src/lib.rs", include_str!("templates/lib.rs.txt")),
        ("tests/fixtures.rs", include_str!("templates/fixtures.rs.txt")),
    ] {
        plan.file(path, names.fill(template, false));
    }
    for (kind, name) in [("dialect", "toy"), ("pass", "double-to-shift")] {
        for kind in KINDS.iter().filter(|own| own.name == kind) {
            kind.in_crate(&Names::of(name, kind.separator)?, plan);
        }
    }
    Ok(())
}

/// Returns a path as a string of TOML.
fn quoted(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control));
    let text = text.ok_or_else(|| {
        let help = "move Loomir's repository, or name it in Cargo.toml by hand";
        Failure::input(format!("a manifest cannot hold the path '{}'\nhelp: {help}", path.display()))
    })?;
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}
