//! Reading, verifying, printing, copying and rewriting take time in proportion to the program, whatever its shape.

use std::time::{Duration, Instant};

use loomir::ir::rewrite::{Limits, apply_patterns_greedily};
use loomir::ir::{text, verifier};
use loomir_benches::shapes::Shape;

const STAGES: [&str; 5] = ["parse", "verify", "print", "copy", "rewrite"];

/// The least of three times of each stage.
fn times(shape: Shape, count: usize) -> [Duration; STAGES.len()] {
    let source = shape.program(count);
    let once = || {
        let ctx = loomir::context();
        let mut clock = Instant::now();
        let mut lap = || std::mem::replace(&mut clock, Instant::now()).elapsed();
        let module =
            text::parse(&ctx, &source, "growth.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
        let parse = lap();
        assert!(verifier::verify(&module).is_empty());
        let verify = lap();
        assert!(loomir::print(&module).lines().count() >= count);
        let print = lap();
        let mut copy = module.duplicate();
        let copied = lap();
        copy.for_each_body(&mut |body| {
            apply_patterns_greedily(body, &[], Limits::default());
        });
        [parse, verify, print, copied, lap()]
    };
    let all: Vec<_> = (0..3).map(|_| once()).collect();
    std::array::from_fn(|stage| all.iter().map(|times| times[stage]).min().unwrap_or_default())
}

/// Eight times the operations would cost sixty-four times as much if anything were quadratic. What is linear stays below half of that, even where the
/// smaller program fits a cache and the allocator's lists and the larger one doesn't.
#[test]
fn work_grows_linearly_with_the_operations() {
    for shape in Shape::ALL {
        let mut failure = None;
        // Where something else ran in between, another try.
        for _ in 0..4 {
            let (some, more) = (times(shape, 4000), times(shape, 32000));
            let grows = |stage: usize| more[stage].as_secs_f64() / some[stage].as_secs_f64();
            failure = (0..STAGES.len()).find(|stage| grows(*stage) > 32.0).map(|stage| (stage, grows(stage)));
            if failure.is_none() {
                break;
            }
        }
        if let Some((stage, factor)) = failure {
            let (name, stage) = (shape.name(), STAGES[stage]);
            panic!("{name}: eight times the operations cost {factor:.1} times the time to {stage}");
        }
    }
}
