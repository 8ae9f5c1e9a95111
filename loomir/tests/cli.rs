//! The command as a shell sees it: exit status, standard output, standard error.

use support::loomir;

mod support;

/// Exit status and standard error of a run that prints nothing on standard output.
fn refused(args: &[&str], input: &str) -> String {
    refused_bytes(args, input.as_bytes())
}

fn refused_bytes(args: &[&str], input: &[u8]) -> String {
    let output = loomir(args, input);
    assert!(output.stdout.is_empty(), "nothing is printed of a program that is refused");
    format!("exit {}\n{}", output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr))
}

const LOOP: &str = "\
func.func @f(%a: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %a[%i] : memref<8xf32>
    %1 = arith.addf %0, %0 : f32
    affine.store %1, %a[%i] : memref<8xf32>
  }
  return
}
";

#[test]
fn a_truncated_file() {
    insta::assert_snapshot!(refused(&["fuse", "-"], &LOOP[..LOOP.len() - 13]));
}

#[test]
fn every_truncation_is_refused_or_read() {
    for end in 0..LOOP.len() {
        let output = loomir(&["fuse", "-"], &LOOP.as_bytes()[..end]);
        assert!(matches!(output.status.code(), Some(0 | 1)), "cut at {end}: {output:?}");
    }
}

#[test]
fn an_undefined_value() {
    insta::assert_snapshot!(refused(&["fuse", "-"], &LOOP.replace("%1, %a", "%2, %a")));
}

#[test]
fn a_wrong_type() {
    insta::assert_snapshot!(refused(&["fuse", "-"], &LOOP.replace("%0, %0 : f32", "%0, %0 : f64")));
}

#[test]
fn an_operation_that_does_not_verify() {
    insta::assert_snapshot!(refused(&["fuse", "-"], &LOOP.replace("arith.addf", "arith.addi")));
}

#[test]
fn an_unknown_operation_in_custom_form() {
    insta::assert_snapshot!(refused(&["fuse", "-"], &LOOP.replace("arith.addf", "arith.addx")));
}

#[test]
fn several_errors_are_reported_in_one_run() {
    let wrong = LOOP.replace("%0, %0 : f32", "%7, %0 : f32").replace("%1, %a", "%2, %a");
    insta::assert_snapshot!(refused(&["fuse", "-"], &wrong));
}

#[test]
fn a_missing_file() {
    insta::assert_snapshot!(refused(&["fuse", "no/such/file.mlir"], ""));
}

#[test]
fn bytes_that_are_no_text() {
    insta::assert_snapshot!(refused_bytes(&["fuse", "-"], b"func.func @f() {\n  return \xff\n}\n"));
}

#[test]
fn a_mistake_in_the_command_line() {
    for args in [
        &["no-such-command"][..],
        &["fuse", "-", "--alias=sometimes"],
        &["fuse", "-", "--cost=guess"],
        &["fuse", "-", "--fusion-profitability=never"],
        &["run", "-", "--entry=f", "--engine=jit", "--profile=counts.mlir"],
        &["opt", "-", "--no-such-pass"],
    ] {
        assert_eq!(loomir(args, b"").status.code(), Some(2), "{args:?}");
    }
    insta::assert_snapshot!(refused(&["opt", "-", "--pass-pipeline=func.func(loop-fusion{speed=9})"], LOOP));
}

#[test]
fn help_is_no_mistake() {
    for args in [&["--help"][..], &["fuse", "--help"], &["opt", "--help"], &["run", "--help"], &["--version"]]
    {
        let output = loomir(args, b"");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(!output.stdout.is_empty());
    }
}

#[test]
fn passes_run_in_the_order_they_are_given() {
    let output = loomir(
        &["opt", "-", "--canonicalize", "--loop-fusion=alias=distinct", "--print-ir-after-all"],
        LOOP.as_bytes(),
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let log = String::from_utf8_lossy(&output.stderr);
    let titles: Vec<&str> = log.lines().filter(|line| line.starts_with("// -----//")).collect();
    assert_eq!(
        titles,
        [
            "// -----// IR Dump After canonicalize //----- //",
            "// -----// IR Dump After loop-fusion //----- //"
        ]
    );
}

/// Two loops on arguments that may overlap.
const PAIR: &str = "\
func.func @f(%a: memref<8xf32>, %b: memref<8xf32>, %v: f32) {
  affine.for %i = 0 to 8 { affine.store %v, %a[%i] : memref<8xf32> }
  affine.for %i = 0 to 8 { affine.store %v, %b[%i] : memref<8xf32> }
  return
}
";

#[test]
fn every_command_reads_standard_input_if_no_file_is_named() {
    let main = "func.func @f() { return }";
    for args in [&["opt"][..], &["fuse"], &["explain"], &["run", "--entry=f"], &["check", "--rewiring"]] {
        assert_eq!(loomir(args, main.as_bytes()).status.code(), Some(0), "{args:?}");
    }
}

#[test]
fn the_check_compares_what_is_fused_as_told() {
    let check = |alias: &str| {
        let output = loomir(&["check", "--rewiring", alias], PAIR.as_bytes());
        let text = String::from_utf8(output.stdout).expect("text");
        text.lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(check("--alias=distinct"), "1 equal, 0 different, 0 not compared");
    let apart = "nothing to compare: the tree does not fuse the one pair of neighbouring loops as they are";
    assert_eq!(check("--alias=may"), apart);
    let output = loomir(&["check", "--rewiring"], LOOP.as_bytes());
    assert_eq!(output.stdout, b"nothing to compare: the program has no two neighbouring loops\n");
}
