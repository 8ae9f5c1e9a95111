//! Byte-for-byte comparison with the output of `mlir-opt` 22 on all of its dialects.
//!
//! A program of `tests/upstream/` is in a form only `mlir-opt` reads, and its first line may name
//! passes to run (`// RUN: --one-shot-bufferize`). The snapshot beside it is the output of
//! `mlir-opt` in generic form. That text is read and printed again, once without dialects and once
//! with all of ours. The result must be identical to the last byte. Where `mlir-opt` is installed
//! it is asked again, also for its other print forms, with locations and without aliases.
//!
//! `// REFUSED: linalg on tensors` says that our verifier refuses operations of `linalg` there, and
//! nothing else. The program is printed the same nevertheless.

#![allow(clippy::print_stderr, reason = "it says what it skips")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use loomir::ir::text::{self, PrintOptions};
use loomir::ir::{Context, Diagnostic, Registry, verifier};
use loomir_tests::peers::Peer;

/// The separator of the programs of a file, and of their outputs by `mlir-opt`.
const SEPARATOR: &str = "// -----\n";

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("upstream");
    if Peer::find("mlir-opt").is_none() {
        eprintln!("LOOMIR_LLVM names no folder with bin/mlir-opt: only snapshots of its output are read");
    }
    let mut trials = Vec::new();
    for area in ["", "lowered"] {
        for entry in std::fs::read_dir(folder.join(area)).into_iter().flatten().flatten() {
            let file = entry.path();
            if file.extension().is_some_and(|e| e == "mlir") {
                let name = file.strip_prefix(&folder).unwrap_or(&file).with_extension("");
                trials.push(Trial::test(name.to_string_lossy().replace('\\', "/"), move || check(&file)));
            }
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Returns printing options, with the flags of `mlir-opt`.
fn ways() -> Vec<(Vec<&'static str>, PrintOptions)> {
    let mut ways = Vec::new();
    for debug_info in [false, true] {
        for local_scope in [false, true] {
            let mut names = vec!["--mlir-print-op-generic"];
            names.extend(debug_info.then_some("--mlir-print-debuginfo"));
            names.extend(local_scope.then_some("--mlir-print-local-scope"));
            let options = PrintOptions { generic: true, debug_info, local_scope, ..PrintOptions::default() };
            ways.push((names, options));
        }
    }
    ways
}

fn check(file: &Path) -> Result<(), Failed> {
    let source = std::fs::read_to_string(file)?;
    let passes = source.lines().next().and_then(|line| line.strip_prefix("// RUN: ")).unwrap_or_default();
    let refuses = source.lines().find_map(|line| line.strip_prefix("// REFUSED: ")?.split(' ').next());
    let Some(peer) = Peer::find("mlir-opt") else {
        let options = PrintOptions { generic: true, ..PrintOptions::default() };
        return prints_the_same(&snapshot(file)?, &options, refuses);
    };
    for (names, options) in ways() {
        let mut arguments: Vec<&str> = vec!["--split-input-file"];
        arguments.extend(passes.split_whitespace());
        arguments.extend(&names);
        let theirs = peer.run(&source, &arguments)?;
        prints_the_same(&theirs, &options, refuses)
            .map_err(|e| format!("{}: {}", names.join(" "), e.message().unwrap_or_default()))?;
        if names.len() == 1 {
            let mut settings = insta::Settings::clone_current();
            settings.set_snapshot_path(file.parent().unwrap_or(file));
            settings.set_prepend_module_to_snapshot(false);
            settings.set_omit_expression(true);
            settings.bind(|| insta::assert_snapshot!(stem(file), theirs));
        }
    }
    Ok(())
}

fn stem(file: &Path) -> String {
    file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns the text of the snapshot beside a file, with the empty line at the end of `mlir-opt`'s
/// output.
fn snapshot(file: &Path) -> Result<String, Failed> {
    let path: PathBuf = file.with_extension("snap");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    // The text follows a header between two lines of dashes.
    let text = text.splitn(3, "---\n").nth(2).ok_or("a snapshot has a header")?;
    Ok(format!("{}\n\n", text.trim_end()))
}

/// Compares the text with that of `mlir-opt` for each program. `mlir-opt` ends each program with an
/// empty line. If there is a dialect `refuses`, some operation of it is refused, and nothing else.
fn prints_the_same(theirs: &str, options: &PrintOptions, refuses: Option<&str>) -> Result<(), Failed> {
    let contexts =
        [("no dialects", Context::new(Registry::new())), ("all dialects", loomir::dialects::context())];
    let mut refused = 0;
    for (known, ctx) in &contexts {
        for program in theirs.split(SEPARATOR) {
            let text = |d: loomir::ir::Diagnostics| format!("{known}: {}\n{program}", d.to_text(ctx));
            let body = text::parse(ctx, program, "input").map_err(text)?;
            let found = verifier::verify(&body);
            let is_refused = |own: &Diagnostic| {
                refuses.is_some_and(|dialect| own.message.contains(&format!("'{dialect}.")))
            };
            if !found.iter().all(is_refused) {
                return Err(text(found).into());
            }
            refused += found.len();
            let mut ours = text::print(&body, options);
            // `mlir-opt` prints an empty line behind a text that may have aliases.
            ours.push_str(if options.local_scope { "" } else { "\n" });
            if let Some((ours, theirs)) = ours.lines().zip(program.lines()).find(|(a, b)| a != b) {
                return Err(format!("{known}:\n  found    {ours}\n  expected {theirs}\n{program}").into());
            }
            if ours != program {
                return Err(format!("{known}: different ends:\n{ours}\n{program}").into());
            }
        }
    }
    match (refuses, refused) {
        (Some(_), 0) => Err("no operation is refused".into()),
        _ => Ok(()),
    }
}
