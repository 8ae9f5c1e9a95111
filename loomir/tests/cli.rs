//! The command as a shell sees it: exit status, standard output, standard error.

use insta::assert_snapshot;
use support::{loomir, shown};

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
        &["fuse", "--no-such-flag"][..],
        &["no-such-command"],
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

/// A function of the `llvm` dialect with two adjacent loops.
const TWO_LOOPS: &str = "\
define void @f(ptr noalias %a, ptr noalias %b) {
entry:
  br label %first
first:
  %i = phi i64 [ 0, %entry ], [ %i.next, %first ]
  %p = getelementptr inbounds i64, ptr %a, i64 %i
  store i64 %i, ptr %p
  %i.next = add nuw nsw i64 %i, 1
  %i.more = icmp ult i64 %i.next, 4
  br i1 %i.more, label %first, label %between
between:
  br label %second
second:
  %j = phi i64 [ 0, %between ], [ %j.next, %second ]
  %q = getelementptr inbounds i64, ptr %b, i64 %j
  store i64 %j, ptr %q
  %j.next = add nuw nsw i64 %j, 1
  %j.more = icmp ult i64 %j.next, 4
  br i1 %j.more, label %second, label %end
end:
  ret void
}
";

#[test]
fn a_pass_as_a_flag_runs_where_the_program_has_what_it_runs_on() {
    let said = |input: &str| {
        let output = loomir(&["opt", "--loop-fusion", "-o", "/dev/null"], input.as_bytes());
        String::from_utf8(output.stderr).expect("text").lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(said(TWO_LOOPS), "remark: [f]: Loops fused");
    let alone =
        TWO_LOOPS.replace("@f(ptr noalias %a, ptr noalias %b) {", "@f(ptr %a, ptr %b) optnone noinline {");
    assert_eq!(said(&alone), "");
}

#[test]
fn a_pass_that_runs_on_nothing_says_so() {
    let pipeline = "--pass-pipeline=builtin.module(func.func(loop-fusion))";
    assert_snapshot!(shown(&["opt", pipeline, "-o", "/dev/null"], TWO_LOOPS));
}

#[test]
fn what_may_be_meant_is_said() {
    let wrong = "func.func @f(%a: i32) -> i32 {\n  %0 = arith.adi %a, %a : i32\n  return %0 : i32\n}\n";
    assert_snapshot!(shown(&["opt"], wrong));
    let right = "func.func @first() { return }";
    assert_snapshot!(shown(&["run", "--entry", "frist"], right));
    assert_snapshot!(shown(&["opt", "--pass-pipeline=canonicalise"], right));
    let undigested = "func.func @f(%a: memref<4xf32>, %c: f32) {\n  linalg.fill ins(%c : f32) outs(%a : memref<4xf32>)\n  return\n}\n";
    assert_snapshot!(shown(&["fuse"], undigested));
}

#[test]
fn binary_forms_are_named() {
    let said = |bytes: &[u8]| String::from_utf8(loomir(&["fuse"], bytes).stderr).expect("text");
    assert_snapshot!(said(b"ML\xefR\x06"));
    assert_snapshot!(said(b"BC\xc0\xde\x35"));
}

#[test]
fn commands_read_standard_input() {
    let program = "func.func @f() -> i32 {\n  %0 = arith.constant 7 : i32\n  return %0 : i32\n}\n";
    assert_snapshot!(shown(&["run", "--entry", "f"], program));
    assert!(loomir(&["explain"], program.as_bytes()).status.success());
}
