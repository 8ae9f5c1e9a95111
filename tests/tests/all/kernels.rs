//! Thirty kernels in the style of PolyBench: the checker proves Loomir's output for them.

#![allow(clippy::print_stderr, reason = "it says what is open")]

use std::fmt::Write;
use std::path::Path;

use loomir::check::execution::Options;
use loomir::check::functions::{Verdict, check, prover};
use loomir_tests::Checker;

/// The pipelines, each by itself.
const PIPELINES: [&str; 6] = [
    "loop-fusion{alias=distinct fusion-profitability=always}",
    "loop-fusion{alias=distinct},array-contraction",
    "loop-distribute{alias=distinct}",
    "loop-strip-mine{size=8}",
    "loop-strip-mine{size=7}",
    "loop-peel{first=1}",
];

#[test]
fn kernels_are_proved_after_each_pipeline() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let checker = Checker::default();
    let (mut changed, mut proved, mut open) = (0, 0, String::new());
    for name in ["products", "stencils", "solvers"] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.mlir"))).expect(name);
        for pipeline in PIPELINES {
            let before = checker.read(&text).unwrap_or_else(|errors| panic!("{}", checker.lines(&errors)));
            let passes = format!("builtin.module(func.func({pipeline}))");
            let (after, _) = checker
                .transformed(&passes, &text)
                .unwrap_or_else(|errors| panic!("{pipeline}: {}", checker.lines(&errors)));
            let options = Options { distinct: true, inputs: 16, ..Options::default() };
            for function in check(&before, &after, None, None, &options, Some(&prover(true))) {
                match function.verdict {
                    Verdict::Identical => continue,
                    Verdict::Proved(_) => proved += 1,
                    Verdict::Undecided(reasons, _) => {
                        let _ = writeln!(open, "@{} after {pipeline}: {}", function.name, reasons.join("; "));
                    }
                    wrong => panic!("@{} after {pipeline}: {wrong:?}", function.name),
                }
                changed += 1;
            }
        }
    }
    eprintln!("{proved} of {changed} proved\n{open}");
    assert!(changed > 100, "{changed}");
    // One time-stepped stencil, fused with peeled iterations, stays open.
    assert!(100 * proved >= 98 * changed, "{proved} of {changed} proved\n{open}");
}
