//! The prover is linear where it matters: many functions, and functions of many loops.

use std::fmt::Write;

use crate::support::{parse, prove_named, told};
use loomir_check::proof::ProofOptions;

/// A chain of `count` loops over buffers in turn; with `fused`, two neighbours are one loop.
fn chain(count: usize, buffers: usize, fused: bool) -> String {
    let arguments: Vec<String> = (0..buffers).map(|k| format!("%a{k}: memref<64xf32>")).collect();
    let mut text = format!("func.func @f({}, %k: f32) {{\n", arguments.join(", "));
    let body = |text: &mut String, k: usize| {
        let (from, to) = (k % buffers, (k + 1) % buffers);
        let _ = write!(
            text,
            "    %x{k} = affine.load %a{from}[%i] : memref<64xf32>\n    \
             %y{k} = arith.addf %x{k}, %k : f32\n    affine.store %y{k}, %a{to}[%i] : memref<64xf32>\n"
        );
    };
    for k in 0..count {
        if !fused || k % 2 == 0 {
            text.push_str("  affine.for %i = 0 to 64 {\n");
        }
        body(&mut text, k);
        if !fused || k % 2 == 1 {
            text.push_str("  }\n");
        }
    }
    text + "  return\n}\n"
}

/// Proves that a function of many loops does what it does with neighbours fused.
fn fused(count: usize, buffers: usize, distinct: bool) -> (String, std::time::Duration) {
    let ctx = loomir_dialects::context();
    let [before, after] = [false, true].map(|fused| parse(&ctx, &chain(count, buffers, fused)));
    let start = std::time::Instant::now();
    let options = ProofOptions { distinct, ..ProofOptions::default() };
    let proof = prove_named(&before, &after, "f", &options).expect("both functions");
    (told(&ctx, &proof), start.elapsed())
}

/// Far more than any of these takes, in a build for debugging on a busy machine.
const LONG: std::time::Duration = std::time::Duration::from_secs(60);

#[test]
fn a_thousand_loops_in_few_buffers_or_many() {
    for buffers in [7, 1001] {
        let (proof, time) = fused(1000, buffers, true);
        assert_eq!(proof, "equal if buffers among the arguments do not overlap");
        assert!(time < LONG, "{buffers} buffers: {time:?}");
    }
}

#[test]
fn a_thousand_loops_whose_buffers_may_overlap_are_answered() {
    let (proof, time) = fused(1000, 1001, false);
    assert!(proof.starts_with("undecided") && time < LONG, "{proof} {time:?}");
}
