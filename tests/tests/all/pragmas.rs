//! Directives about unrolling in C, as clang writes them, are obeyed.

use std::path::Path;

use loomir::dialects::interp::Limits;
use loomir::lowering::from_ll;
use loomir_tests::behaviour::same_behaviour;
use loomir_tests::{Checker, peers};

/// clang unrolls nothing itself, not even where a directive asks for it.
const OPTIONS: [&str; 9] = [
    "-w",
    "-O1",
    "-fopenmp",
    "-mllvm",
    "-unroll-threshold=0",
    "-mllvm",
    "-unroll-allow-partial=false",
    "-S",
    "-emit-llvm",
];

/// The functions, with the remark about each. Loops without a remark stay.
const OBEYED: [(&str, &str); 17] = [
    ("plain", "unrolled loop by a factor of 8 with run-time trip count"),
    ("parenthesised", "unrolled loop by a factor of 3 with run-time trip count"),
    ("bare_count", "unrolled loop by a factor of 4 with run-time trip count"),
    ("never", ""),
    ("clang_enable", "unrolled loop by a factor of 8 with run-time trip count"),
    ("clang_disable", ""),
    ("clang_full", "completely unrolled loop with 100 iterations"),
    ("clang_count", "unrolled loop by a factor of 5 with run-time trip count"),
    ("gcc_unroll", "unrolled loop by a factor of 6 with run-time trip count"),
    ("gcc_unroll_parenthesised", "unrolled loop by a factor of 2 with run-time trip count"),
    ("gcc_nounroll", ""),
    ("gcc_unroll_one", ""),
    ("omp", "unrolled loop by a factor of 8 with run-time trip count"),
    ("omp_full", "completely unrolled loop with 20 iterations"),
    ("omp_partial", "unrolled loop by a factor of 8 with run-time trip count"),
    ("omp_partial_count", "unrolled loop by a factor of 3 with run-time trip count"),
    ("jam", "unroll and jammed loop by a factor of 2 with 8 trips per branch"),
];

#[test]
fn every_spelling_of_a_directive_is_obeyed() {
    obeyed(&[]);
}

#[test]
fn directives_are_obeyed_beside_places_in_the_source() {
    obeyed(&["-g"]);
}

/// Compiles the functions with these options too, and checks what becomes of each.
fn obeyed(options: &[&str]) {
    let Some(clang) = peers::tool("clang") else { return };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/pragmas/pragmas.c");
    let mut command = std::process::Command::new(clang);
    let output =
        command.args(OPTIONS).args(options).args(["-o", "-"]).arg(source).output().expect("clang runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let checker = Checker::default();
    let before = from_ll(&checker.ctx, &text, "pragmas.ll").expect("it reads");
    let mut after = before.duplicate();
    // Loops without a directive would be unrolled too where they are short.
    let pipeline = "builtin.module(llvm.func(loop-unroll-and-jam,loop-unroll))";
    let remarks =
        checker.run(pipeline, &mut after).unwrap_or_else(|errors| panic!("{}", checker.lines(&errors)));
    let remarks = checker.lines(&remarks);
    for (function, expected) in OBEYED {
        let mut own = remarks.lines().filter_map(|line| line.split_once(&format!("[{function}]: ")));
        let said = own.next().map_or("", |(_, text)| text);
        assert_eq!(said, expected, "{function}");
        let calls: Vec<Vec<String>> =
            [1, 7, 8, 30].map(|count: i64| vec!["iota:memref<100xi32>".to_owned(), count.to_string()]).into();
        let limits = Limits { steps: 100_000, ..Limits::default() };
        let agreement = same_behaviour(&before, &after, function, &calls, &limits);
        let agreement = agreement.unwrap_or_else(|error| panic!("{function}: {error}"));
        assert_eq!(agreement.compared, calls.len(), "{function}");
    }
}
