//! Tests the pass `saturate` by execution: random expressions before and after, on all inputs if
//! there are few.

use loomir::dialects::interp::Limits;
use loomir::ir::verifier;
use loomir_tests::expressions::Expressions;
use loomir_tests::random::Random;
use loomir_tests::{Checker, same_behaviour};

/// Returns vectors of numbers of `width` bits: all, or a sample.
fn inputs(random: &mut Random, width: u32, arguments: usize) -> Vec<Vec<String>> {
    let (count, low) = (1usize << width, -(1i64 << (width - 1)));
    let number = |index: usize| (low + (index % count) as i64).to_string();
    let all = count.pow(arguments as u32);
    match all {
        0..=256 => (0..all)
            .map(|index| (0..arguments).map(|at| number(index / count.pow(at as u32))).collect())
            .collect(),
        _ => (0..64).map(|_| (0..arguments).map(|_| number(random.below(count))).collect()).collect(),
    }
}

#[test]
fn random_expressions_do_the_same_and_cost_less() {
    let cases =
        std::env::var("LOOMIR_SATURATE_CASES").map_or(150, |n| n.parse().expect("LOOMIR_SATURATE_CASES"));
    let checker = Checker::default();
    let (mut changed, mut compared) = (0, 0);
    for index in 0..cases {
        let mut random = Random::of_case(23, index);
        let (width, arguments) = *random.pick(&[(3, 2), (4, 2), (5, 1), (8, 2), (8, 3)]);
        let lines = 5 + random.below(8);
        let program = Expressions::generate(&mut random, width, arguments, lines, 20);
        let returned: Vec<usize> = (arguments..program.values()).rev().take(2).collect();
        let text = program.to_mlir(&returned);
        let before = loomir::parse(&checker.ctx, &text, "t.mlir")
            .unwrap_or_else(|e| panic!("{}", e.to_text(&checker.ctx)));
        let shown = checker.pass("builtin.module(saturate)", &text);
        assert!(shown.succeeded, "{}\n{text}", shown.diagnostics);
        let after = loomir::parse(&checker.ctx, &shown.program, "t.mlir").expect("it was printed");
        assert!(!verifier::verify(&after).has_errors());
        changed += u32::from(shown.program != loomir::print(&before));
        let calls = inputs(&mut random, width, arguments);
        let agreement = same_behaviour(&before, &after, "f", &calls, &Limits::default());
        let agreement = agreement.unwrap_or_else(|e| panic!("{e}\n{text}\n{}", shown.program));
        compared += agreement.compared;
    }
    assert!(changed * 8 > cases as u32, "{changed} of {cases} changed");
    assert!(compared > 0);
}
