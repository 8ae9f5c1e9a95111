//! Lines of fixtures that say what is tested: those that would test nothing are refused.

use loomir_tests::fixtures::run;
use loomir_tests::scripts::Script;

#[test]
fn only_lines_of_edits_are_read() {
    let lines = ["0 reverse", "0.2 peel 1 0; 1 move 0", "--alias=version 3 permute 1 2 0"];
    assert!(lines.iter().all(|line| Script::parse(line).is_some()));
    let wrong = [
        "",
        "0",
        "reverse",
        "x reverse",
        "0. reverse",
        "0 turn",
        "0 reverse 1",
        "0 move",
        "0 move -1",
        "0 peel 1",
        "0 split n",
        "0 reverse;",
        "--alias=perhaps 0 reverse",
        "--speed=may 0 reverse",
        "--alias=may",
    ];
    wrong.iter().for_each(|line| assert!(Script::parse(line).is_none(), "'{line}' is read"));
}

#[test]
fn what_would_test_nothing_is_refused() {
    let program = "func.func @kernel() { return }\n";
    let failed = |lines: &str| run(&format!("{lines}{program}")).err().unwrap_or_default();
    assert_eq!(failed("// RUN: opt\n"), "");
    assert_eq!(failed(""), "no line says '// RUN: …' or '// EDIT: …'");
    assert_eq!(failed("// EDIT: 0 turn\n"), "line 1: can't edit '0 turn'");
    assert_eq!(failed("// EDIT: 0 reverse\n"), "");
}
