//! C++ programs with exceptions compute the same after `fuse` and after passes on graphs.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{loomir, scratch};

/// The source.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/exceptions/program.cpp");
/// The options of clang: for an optimizer that runs later, and with optimizations.
const LEVELS: [&[&str]; 3] =
    [&["-O0", "-Xclang", "-disable-O0-optnone"], &["-O1"], &["-O2", "-fno-vectorize", "-fno-slp-vectorize"]];
/// Passes on graphs, one list after the other.
const PASSES: [&str; 4] = [
    "mem2reg,canonicalize,cse,simplify-cfg",
    "loop-simplify,lcssa,loop-rotate,unify-loop-exits,loop-unroll",
    "loop-simplify,lcssa,loop-rotate,loop-fusion,loop-peel,loop-unroll-and-jam,loop-deletion",
    "sroa,mem2reg,sccp,fix-irreducible,loop-simplify,lcssa,fold-loop-exits,simplify-cfg{keep-loops=true},dce",
];

/// Runs a command that must succeed. Returns its output.
fn run(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program:?} {arguments:?}\n{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns what a program in LLVM IR prints. `None` if nothing here links C++.
fn printed(clang: &Path, file: &Path) -> Option<String> {
    let program = file.with_extension("program");
    let arguments = [file.to_str()?, "-O3", "-w", "-o", program.to_str()?];
    let linked = Command::new(clang).args(arguments).output().expect("clang++ starts");
    if !linked.status.success() {
        let errors = String::from_utf8_lossy(&linked.stderr);
        assert!(errors.contains("linker") || errors.contains("file not found"), "{errors}");
        return None;
    }
    Some(run(&program, &[]))
}

/// Writes the output of a command of Loomir on a file to another one.
fn written(arguments: &[&str], name: &str) -> PathBuf {
    let output = loomir(arguments, b"");
    assert!(output.status.success(), "{arguments:?}\n{}", String::from_utf8_lossy(&output.stderr));
    let file = scratch(name);
    std::fs::write(&file, output.stdout).expect("the file is written");
    file
}

#[test]
fn programs_with_exceptions_compute_the_same() {
    let Some(folder) = std::env::var_os("LOOMIR_LLVM") else { return };
    let clang = Path::new(&folder).join("bin/clang++");
    if !clang.exists() {
        return;
    }
    for (level, flags) in LEVELS.iter().enumerate() {
        let source = scratch(&format!("exceptions.{level}.ll"));
        let path = source.to_str().expect("text");
        let compile = [&["-S", "-emit-llvm", "-w", PROGRAM, "-o", path], *flags].concat();
        if !Command::new(&clang).args(&compile).output().expect("clang++ starts").status.success() {
            // There are no headers.
            return;
        }
        let Some(expected) = printed(&clang, &source) else { return };
        let fuse = ["fuse", path, "-q", "--fusion-profitability=always"];
        let fused = written(&fuse, &format!("exceptions.{level}.fused.ll"));
        assert_eq!(printed(&clang, &fused).expect("it links"), expected, "{flags:?}");
        for (number, passes) in PASSES.iter().enumerate() {
            let pipeline = format!("--pass-pipeline=builtin.module(llvm.func({passes}))");
            let arguments = ["opt", path, &pipeline, "--emit=ll", "--remarks=none"];
            let file = written(&arguments, &format!("exceptions.{level}.{number}.ll"));
            assert_eq!(printed(&clang, &file).expect("it links"), expected, "{flags:?} {passes}");
        }
    }
}
