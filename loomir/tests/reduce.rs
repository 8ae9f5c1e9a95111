//! `loomir reduce` as a shell sees it.

use crate::support::{loomir, shown};

const TWO: &str = "\
func.func @f(%x: i32) -> i32 {
  %c = arith.constant 12 : i32
  %0 = arith.addi %x, %c : i32
  %1 = arith.muli %0, %c : i32
  return %1 : i32
}
func.func @g() { return }
";

#[test]
fn a_program_shrinks_while_the_test_succeeds() {
    insta::assert_snapshot!(shown(&["reduce", "--test", "grep -q muli"], TWO));
    // The file may stand anywhere in the command.
    let placed = loomir(&["reduce", "--test", "test -s {} && grep -q muli {}"], TWO.as_bytes());
    assert!(String::from_utf8_lossy(&placed.stdout).contains("muli"));
}

#[test]
fn tests_are_bounded() {
    let output = loomir(&["reduce", "--test", "true", "--max-tests=1"], TWO.as_bytes());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("after 1 test: the limit"), "{said}");
}

#[test]
fn llvm_ir_stays_llvm_ir() {
    let text = "define i32 @f(i32 %x) {\n  %y = add i32 %x, 3\n  %z = mul i32 %y, %y\n  ret i32 %z\n}\n";
    let output = loomir(&["reduce", "-", "--test", "grep -q 'mul i32'"], text.as_bytes());
    let left = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(left.contains("= mul i32 %0, %0") && !left.contains("add"), "{left}");
}

#[test]
fn what_is_refused() {
    insta::assert_snapshot!(shown(&["reduce", "--test", "grep -q nothing-like-this"], TWO), @"
    exit 1
    --- stdout
    --- stderr
    error: the test does not succeed on the program: grep -q nothing-like-this
    help: it has to end with status 0 on the programs to keep
    ");
    assert_eq!(loomir(&["reduce"], TWO.as_bytes()).status.code(), Some(2));
    assert_eq!(loomir(&["reduce", "--test", "true"], b"func.func").status.code(), Some(1));
    // Names of values are lost when a program is printed.
    let named = loomir(&["reduce", "--test", "grep -q '%c = '"], TWO.as_bytes());
    let said = String::from_utf8_lossy(&named.stderr).into_owned();
    assert!(named.stdout.is_empty() && said.contains("as it is printed"), "{said}");
}
