//! Programs in C and C++ (`tests/c/`), as clang translates them at several levels of optimisation.
//! Their `.ll` is read, verified, written and read back. LLVM verifies the written text, `mlir-opt`
//! reads its form in MLIR. clang compiles it to a program with the output of the original.
//!
//! Programs are independent of each other, so each core takes the next one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use loomir_ir::Diagnostics;
use loomir_ir::text::{self, PrintOptions};
use loomir_ir::verifier::verify;
use loomir_lowering::{from_ll, to_ll};

use crate::fixture::context;
use crate::llvm;

/// The levels each program is translated at.
pub(crate) const LEVELS: &[&str] = &["-O0", "-O1", "-O2"];

/// Programs whose MLIR text only Loomir reads: `mlir-opt` prints switch cases beyond 64 bits but
/// does not read them.
const NOT_READ_BY_MLIR: &[&str] = &["int128.c"];

/// Returns the programs, by name.
pub(crate) fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
    let entries = fs::read_dir(folder).expect("the programs");
    let mut all: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    all.sort();
    all
}

/// Runs a job on each program, on all cores. Returns the failures in the order of the programs.
pub(crate) fn for_each(
    programs: &[PathBuf],
    job: impl Fn(&Path) -> Result<(), String> + Sync,
) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut failures = Vec::new();
        while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(failure) = job(program) {
                failures.push((program, failure));
            }
        }
        failures
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut failures = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect::<Vec<_>>()
    });
    failures.sort();
    failures.into_iter().map(|(program, failure)| format!("{}: {failure}", program.display())).collect()
}

/// Runs a tool. Returns its standard output, or its error.
fn run(program: &Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let command = format!("{} {}", program.display(), arguments.join(" "));
    Err(format!("{command}: {}\n{errors}", output.status))
}

/// Returns the compiler for a program, and its fixed options.
fn compiler(llvm: &Path, program: &Path) -> (PathBuf, &'static [&'static str]) {
    match program.extension().is_some_and(|extension| extension == "cpp") {
        true => (llvm.join("bin/clang++"), &["-w", "-std=c++20", "-fno-exceptions"]),
        false => (llvm.join("bin/clang"), &["-w"]),
    }
}

/// Returns a program as LLVM IR, translated at a level.
pub(crate) fn translated(llvm: &Path, program: &Path, level: &str) -> Result<String, String> {
    let (clang, options) = compiler(llvm, program);
    let source = program.to_string_lossy();
    let arguments = [options, &[level, "-S", "-emit-llvm", "-o", "-", &*source]].concat();
    String::from_utf8(run(&clang, &arguments)?).map_err(|error| error.to_string())
}

/// Returns the output of `opt` for a file and some passes.
pub(crate) fn optimised(llvm: &Path, file: &Path, passes: &str) -> Result<String, String> {
    let passes = format!("-passes={passes}");
    let file = file.to_string_lossy();
    String::from_utf8(run(&llvm.join("bin/opt"), &["-S", "-o", "-", &*passes, &*file])?)
        .map_err(|error| error.to_string())
}

/// Returns the output of a program that clang compiles from `source`.
pub(crate) fn output(llvm: &Path, program: &Path, source: &Path) -> Result<String, String> {
    let (clang, options) = compiler(llvm, program);
    let executable = source.with_added_extension("run");
    let (to, from) = (executable.to_string_lossy(), source.to_string_lossy());
    let arguments = [options, &[&*from, "-lm", "-o", &*to]].concat();
    run(&clang, &arguments)?;
    let printed = run(&executable, &[])?;
    Ok(String::from_utf8_lossy(&printed).into_owned())
}

fn check(llvm: &Path, program: &Path) -> Result<(), String> {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join(program.file_name().expect("a file"));
    fs::copy(program, &scratch).map_err(|error| error.to_string())?;
    let expected = output(llvm, program, &scratch)?;
    let check = |level: &&str| {
        let file = scratch.with_added_extension(format!("{level}.ll"));
        check_level(llvm, program, level, &file, &expected).map_err(|failure| format!("{level}: {failure}"))
    };
    let failures: Vec<String> = LEVELS.iter().map(check).filter_map(Result::err).collect();
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

/// Returns the first lines that differ as an error.
pub(crate) fn same(first: &str, second: &str) -> Result<(), String> {
    let pair = first.lines().zip(second.lines()).find(|(first, second)| first != second);
    match pair {
        Some((first, second)) => Err(format!("\n{first}\n{second}")),
        None if first.len() != second.len() => Err("one is longer".into()),
        None => Ok(()),
    }
}

/// Takes a program, translated at a level, through reader and writer. The output is written to
/// `file`.
fn check_level(llvm: &Path, program: &Path, level: &str, file: &Path, expected: &str) -> Result<(), String> {
    let source = translated(llvm, program, level)?;
    let ctx = context();
    let failed = |step: &str, errors: Diagnostics| format!("{step}:\n{}", errors.to_text(&ctx));
    let save = |path: &Path, text: &str| fs::write(path, text).map_err(|error| error.to_string());
    let module = from_ll(&ctx, &source, "input.ll").map_err(|errors| failed("read", errors))?;
    let errors = verify(&module);
    if errors.has_errors() {
        return Err(failed("verify", errors));
    }
    let written = to_ll(&module).map_err(|errors| failed("write", errors))?;
    save(file, &written)?;
    let again = from_ll(&ctx, &written, "written.ll").map_err(|errors| failed("read back", errors))?;
    let again = to_ll(&again).map_err(|errors| failed("write again", errors))?;
    same(&written, &again)
        .map_err(|place| format!("is written differently when it is read back: {place}"))?;
    let mlir = text::print(&module, &PrintOptions::default());
    let mlir_file = file.with_extension("mlir");
    save(&mlir_file, &mlir)?;
    let parsed = text::parse(&ctx, &mlir, "input.mlir").map_err(|errors| failed("parse", errors))?;
    let again = to_ll(&parsed).map_err(|errors| failed("write what was parsed", errors))?;
    same(&written, &again)
        .map_err(|place| format!("is written differently when its form in MLIR is read: {place}"))?;
    run(&llvm.join("bin/opt"), &["-passes=verify", "-disable-output", &file.to_string_lossy()])?;
    if !NOT_READ_BY_MLIR.iter().any(|name| program.ends_with(name)) {
        run(&llvm.join("bin/mlir-opt"), &[&*mlir_file.to_string_lossy(), "-o", "/dev/null"])?;
    }
    let actual = output(llvm, program, file)?;
    if actual == expected { Ok(()) } else { Err(format!("prints\n{actual}\ninstead of\n{expected}")) }
}

#[test]
fn programs_behave_as_before_when_read_and_written() {
    let Some(llvm) = llvm() else { return };
    let programs = programs();
    assert!(programs.len() >= 60, "{} programs", programs.len());
    let failures = for_each(&programs, |program| check(&llvm, program));
    assert!(failures.is_empty(), "{} fail\n{}", failures.len(), failures.join("\n"));
}
