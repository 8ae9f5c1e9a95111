//! `loomir check` as a shell sees it: answers, exit status, and what is refused.

use std::process::Output;

use crate::peers;
use crate::support;
use crate::support::{loomir, shown};

const COPY: &str = include_str!("check/copy.mlir");

/// Runs `loomir check` on fixtures, with options behind.
fn check(args: &[&str]) -> Output {
    let args: Vec<String> = args
        .iter()
        .map(|arg| match arg.ends_with(".mlir") || arg.ends_with(".ll") {
            true => format!("loomir/tests/check/{arg}"),
            false => (*arg).into(),
        })
        .collect();
    let args: Vec<&str> = std::iter::once("check").chain(args.iter().map(String::as_str)).collect();
    loomir(&args, b"")
}

/// Exit status and everything that is printed.
fn answer(args: &[&str]) -> String {
    let output = check(args);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let status = output.status.code().unwrap_or(-1);
    format!("exit {status}\n{}{}", text(&output.stdout), text(&output.stderr))
}

#[test]
fn equal_programs() {
    assert_eq!(answer(&["copy.mlir", "copy.mlir"]), "exit 0\n2 equal, 0 different, 0 not decided\n");
}

#[test]
fn different_programs() {
    insta::assert_snapshot!(answer(&["copy.mlir", "late.mlir"]));
}

#[test]
fn different_programs_as_json() {
    insta::assert_snapshot!(answer(&["copy.mlir", "late.mlir", "--json"]));
}

#[test]
fn what_is_not_decided() {
    insta::assert_snapshot!(answer(&["copy.mlir", "product.mlir"]));
}

#[test]
fn one_function_of_several() {
    let twice = answer(&["copy.mlir", "late.mlir", "--function=twice"]);
    assert_eq!(twice, "exit 0\n1 equal, 0 different, 0 not decided\n");
    insta::assert_snapshot!(answer(&["copy.mlir", "late.mlir", "--function=twise"]));
}

#[test]
fn programs_that_do_not_fit() {
    insta::assert_snapshot!(answer(&["copy.mlir", "other.mlir"]));
}

#[test]
fn no_functions() {
    let text = shown(&["check", "-", "loomir/tests/check/copy.mlir"], "");
    insta::assert_snapshot!(text);
}

#[test]
fn programs_that_cannot_be_read() {
    insta::assert_snapshot!(shown(&["check", "loomir/tests/check/copy.mlir", "-"], &COPY[..100]));
    insta::assert_snapshot!(answer(&["copy.mlir", "none.mlir"]));
}

#[test]
fn command_lines_that_say_too_little_or_too_much() {
    insta::assert_snapshot!(answer(&["copy.mlir"]));
    for args in [
        &["copy.mlir", "late.mlir", "--passes=canonicalize"][..],
        &["copy.mlir", "--passes=canonicalize", "--mlir-opt=--cse"],
        &["copy.mlir", "--passes=no-such-pass"],
        &["copy.mlir", "--mlir-opt='"],
        &["-", "-"],
    ] {
        assert_eq!(check(args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn a_program_of_each_level() {
    insta::assert_snapshot!(answer(&["twice.mlir", "twice.ll"]));
    let wrong = include_str!("check/twice.ll").replace("%x, 1", "%x, 2");
    let output = loomir(&["check", "loomir/tests/check/twice.mlir", "-"], wrong.as_bytes());
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("@twice is different: result 0 is 2 before, 4 after"), "{text}");
    assert!(text.contains("--entry=twice --arg=1"), "{text}");
}

#[test]
fn memrefs_meet_what_they_are_lowered_to() {
    let opt = ["opt", "loomir/tests/check/copy.mlir", "--emit=ll"];
    let lowered = String::from_utf8_lossy(&loomir(&opt, b"").stdout).into_owned();
    let right = loomir(&["check", "loomir/tests/check/copy.mlir", "-"], lowered.as_bytes());
    let text = String::from_utf8_lossy(&right.stdout).into_owned();
    assert_eq!(right.status.code(), Some(0), "{text}");
    assert!(text.contains("@copy is equal, for all sizes and inputs"), "{text}");
    let wrong = lowered.replace("phi i64 [ 0,", "phi i64 [ 1,");
    assert_ne!(wrong, lowered);
    let wrong = loomir(&["check", "loomir/tests/check/copy.mlir", "-"], wrong.as_bytes());
    let text = String::from_utf8_lossy(&wrong.stdout).into_owned();
    assert_eq!(wrong.status.code(), Some(3), "{text}");
    assert!(text.contains("--arg='iota+100 : memref<1xf32>'"), "{text}");
}

#[test]
fn each_pass_is_checked() {
    insta::assert_snapshot!(answer(&["copy.mlir", "--passes=canonicalize,lower-affine"]));
    // A pass that fails says why, as without the check.
    assert_eq!(check(&["copy.mlir", "--passes=scf.for(canonicalize)"]).status.code(), Some(1));
}

#[test]
fn another_compiler_is_checked() {
    let (Some(_), Some(_)) = (peers::tool("mlir-opt"), peers::tool("opt")) else { return };
    let same = answer(&["copy.mlir", "--mlir-opt=--cse"]);
    assert_eq!(same, "exit 0\n2 equal, 0 different, 0 not decided\n");
    let output = check(&["copy.mlir", "--mlir-opt=--no-such-flag"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("'mlir-opt' fails"), "{text}");
    let lowered = answer(&["copy.mlir", "--opt=-passes=instcombine", "--function=twice"]);
    assert!(lowered.starts_with("exit 0\n"), "{lowered}");
}

#[test]
fn rewiring_is_compared_as_before() {
    let output = check(&["copy.mlir", "--rewiring"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, b"nothing to compare: the program has no two neighbouring loops\n");
}

#[test]
fn what_is_lowered_returns_a_struct_and_prints_why_it_ends() {
    let text = "func.func @two(%x: i32) -> (i32, i32) {
      %c = arith.constant 3 : i32
      %0 = arith.cmpi slt, %x, %c : i32
      cf.assert %0, \"too large\"
      return %x, %c : i32, i32
    }";
    let output = loomir(&["check", "-", "--passes=lower-to-llvm"], text.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    let lowered = loomir(&["opt", "-", "--lower-to-llvm"], text.as_bytes());
    let wrong = String::from_utf8_lossy(&lowered.stdout).replace("constant(3 : i32)", "constant(2 : i32)");
    let file = support::scratch("wrong.mlir");
    std::fs::write(&file, wrong).expect("a file can be written");
    let output = loomir(&["check", "-", &file.to_string_lossy()], text.as_bytes());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("@two is different: result 1 is 3 before, 2 after"), "{said}");
}
