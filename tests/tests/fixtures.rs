//! Runs every fixture: `tests/fixtures/AREA/NAME.mlir` or `.ll` against the snapshot beside it,
//! `NAME.snap`.
//!
//! One test a fixture, named by its path, so `cargo test -p loomir-tests --test fixtures fusion/`
//! runs an area. Accept what is shown with `cargo xtask bless`, after looking at it.

#![allow(clippy::print_stderr, reason = "it says what it skips")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use loomir_tests::fixtures::{self, Peered};
use loomir_tests::peers::Peer;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut files = Vec::new();
    collect(&folder, &mut files);
    files.sort();
    if Peer::find("mlir-opt").is_none() {
        eprintln!("LOOMIR_LLVM names no folder with bin/mlir-opt: what is printed is not judged by it");
    }
    let trials = files.into_iter().map(|file| {
        let name = file.strip_prefix(&folder).unwrap_or(&file).with_extension("");
        Trial::test(name.to_string_lossy().replace('\\', "/"), move || check(&file))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        // Another test covers the fixtures of `check`.
        if path.is_dir() && !path.ends_with("fixtures/check") {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "mlir" || (e == "ll" && says_run(&path))) {
            files.push(path);
        }
    }
}

/// True if a file in LLVM IR is a fixture of this test. Others are those of tests of their own.
fn says_run(path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.starts_with("; RUN: "))
}

fn check(file: &Path) -> Result<(), Failed> {
    let source = std::fs::read_to_string(file)?;
    let outcome = fixtures::run(&source)?;
    if let Some(peer) = Peer::find("mlir-opt") {
        peer.accepts_all(&outcome.printed)
            .map_err(|e| format!("mlir-opt does not accept what is printed:\n{e}"))?;
        for (program, theirs) in outcome.peered.iter().zip(printed_by(&peer, &outcome.peered)?) {
            program.compare(theirs.as_deref())?;
        }
    }
    if let Some(peer) = Peer::find("opt").filter(|_| !outcome.printed_ll.is_empty()) {
        for program in &outcome.printed_ll {
            peer.run(program, &["-passes=verify", "-S"])
                .map_err(|e| format!("opt does not accept what is printed:\n{e}\n{program}"))?;
        }
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(file.parent().unwrap_or(file));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    settings.bind(|| insta::assert_snapshot!(name.unwrap_or_default(), outcome.text));
    Ok(())
}

/// Returns each program as `mlir-opt` prints it when transformed, or `None` if it is refused. One
/// process transforms all programs, unless it fails to.
fn printed_by(peer: &Peer, programs: &[Peered]) -> Result<Vec<Option<String>>, Failed> {
    let Some(first) = programs.first() else { return Ok(Vec::new()) };
    let run = |text: &str, more: &[&str]| {
        let options = first.options.split_whitespace().chain(more.iter().copied());
        peer.output(text, &options.collect::<Vec<_>>())
    };
    let sources: Vec<&str> = programs.iter().map(|own| own.source.as_str()).collect();
    let all = run(&sources.join("\n// -----\n"), &["--split-input-file"])?;
    let all = String::from_utf8_lossy(&all.stdout).into_owned();
    let parts: Vec<&str> = all.split("// -----\n").collect();
    if parts.len() == programs.len() {
        // Nothing is printed for a refused program.
        return Ok(parts.into_iter().map(|own| (!own.trim().is_empty()).then(|| own.to_owned())).collect());
    }
    let alone = |text: &&str| -> Result<Option<String>, Failed> {
        let own = run(text, &[])?;
        Ok(own.status.success().then(|| String::from_utf8_lossy(&own.stdout).into_owned()))
    };
    sources.iter().map(alone).collect()
}
