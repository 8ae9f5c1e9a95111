//! The example's own `opt`, `fuse`, `explain` and `run`.

use std::process::Command;

/// Runs the command on the program beside this file, or on another one. Returns its status, output
/// and diagnostics.
fn run(arguments: &[&str]) -> (bool, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loomir-example"));
    let done = command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.success(), text(&done.stdout), text(&done.stderr))
}

const PROGRAM: &str = "tests/sums.mlir";

#[test]
fn sums_saturate_when_they_run() {
    let arguments = ["--arg", "[200, 100, 3, 4]", "--arg", "zeros", "--arg", "zeros"];
    let (ok, out, _) = run(&[&["run", PROGRAM, "--entry", "sums"], &arguments[..]].concat());
    assert!(ok && out.contains("argument 1: [-1, -56, 6, 8]") && out.contains("argument 2: [-1]"), "{out}");
}

#[test]
fn loops_with_own_operations_fuse() {
    let (ok, out, _) = run(&["fuse", "--alias=distinct", "-q", PROGRAM]);
    assert!(ok && out.matches("affine.for").count() == 1, "{out}");
    let (ok, out, _) = run(&["explain", "--alias=distinct", PROGRAM]);
    assert!(ok && out.ends_with("1 fused, 0 refused\n"), "{out}");
}

#[test]
fn effects_keep_loops_apart() {
    // Each iteration of the second loop needs all sums of the first.
    let (ok, out, _) = run(&["explain", "--alias=distinct", "tests/total.mlir"]);
    assert!(ok && out.ends_with("0 fused, 1 refused\n"), "{out}");
}

#[test]
fn own_operations_fold_and_are_lowered() {
    let (ok, out, _) = run(&["opt", "--canonicalize", PROGRAM]);
    assert!(ok && out.matches("sat.add").count() == 1, "{out}");
    let (ok, out, _) = run(&["opt", "--emit=ll", PROGRAM]);
    assert!(ok && out.contains("@llvm.uadd.sat.i8"), "{out}");
}

#[test]
fn wide_integers_are_refused() {
    let (ok, _, said) = run(&["opt", "tests/wide.mlir"]);
    assert!(!ok && said.contains("saturates integers of at most 64 bits"), "{said}");
}

#[test]
fn it_stays_short() {
    assert!(include_str!("../src/main.rs").lines().count() <= 90);
}
