//! Fusion on control flow graphs: random functions of neighbouring loops do the same after it.

use loomir_testing::Checker;
use loomir_testing::behaviour::same_behaviour;
use loomir_testing::neighbours::{CALLED, neighbours};
use loomir_testing::random::Random;

const CASES: u64 = 2000;

#[test]
fn neighbouring_loops_do_the_same_after_fusion() {
    let (mut fused, mut refused, mut compared) = (0, 0, 0);
    let (mut late, mut rests, mut backwards, mut split) = (0, 0, 0, 0);
    for index in 0..CASES {
        let function = neighbours(&mut Random::of_case(1, index), "kernel");
        let text = CALLED.to_owned() + &function.text;
        let checker = Checker::default();
        let read = || {
            loomir::lowering::from_ll(&checker.ctx, &text, "kernel.ll")
                .unwrap_or_else(|e| panic!("case {index}: {}\n{text}", checker.lines(&e)))
        };
        let (before, mut after, mut unchecked) = (read(), read(), read());
        let pipeline = format!("builtin.module(llvm.func(loop-fusion{{peel-max-count={}}}))", index % 4);
        let remarks = checker
            .run(&pipeline, &mut after)
            .unwrap_or_else(|errors| panic!("case {index}: {}\n{text}", checker.lines(&errors)));
        // Analyses that are compared are brought up to date each time.
        checker
            .run_unchecked(&pipeline, &mut unchecked)
            .unwrap_or_else(|errors| panic!("case {index}: {}\n{text}", checker.lines(&errors)));
        assert_eq!(loomir::print(&unchecked), loomir::print(&after), "case {index}:\n{text}");
        let remarks = checker.lines(&remarks);
        fused += remarks.matches("Loops fused").count();
        late += remarks.matches("Loops fused, after").count();
        rests += remarks.matches("before the rest").count();
        backwards += remarks.matches("run backwards").count();
        split += remarks.matches("a part of the").count();
        refused += remarks.matches("Loops not fused").count();
        match same_behaviour(&before, &after, "kernel", &function.calls, &Default::default()) {
            Ok(agreement) => compared += agreement.compared,
            Err(difference) => panic!("case {index}: {difference}\n{text}\n{}", loomir::print(&after)),
        }
    }
    let reordered = format!("{backwards} backwards, {split} split");
    let counts = format!(
        "{fused} fused, {late} late, {rests} with rests, {reordered}, {refused} not, {compared} runs compared"
    );
    assert!(fused > 200 && refused > 200 && compared as u64 > 3 * CASES, "{counts}");
    assert!(late > 50 && rests > 50, "{counts}");
    assert!(backwards > 20 && split > 10, "{counts}");
}
