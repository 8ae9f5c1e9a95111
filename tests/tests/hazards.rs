//! Random functions with operations that some operands make undefined do the same after each
//! pipeline, wherever they are defined.

use loomir::dialects::interp::Limits;
use loomir_testing::Checker;
use loomir_testing::behaviour::same_behaviour;
use loomir_testing::hazards::{PIPELINES, calls, hazards};
use loomir_testing::random::Random;

/// The number of functions that are tried. Of the first 1,500 some go wrong for each rule that
/// these are
/// about, if it is taken away.
const CASES: u64 = 1_500;

#[test]
fn what_may_be_undefined_stays_where_it_is() {
    let checker = Checker::default();
    let (mut compared, mut skipped) = (0, 0);
    for index in 0..CASES {
        let mut random = Random::of_case(5, index);
        let text = hazards(&mut random);
        let calls = calls(&mut random);
        let before =
            checker.read(&text).unwrap_or_else(|errors| panic!("{}\n{text}", checker.lines(&errors)));
        for pipeline in PIPELINES {
            let (after, _) = checker.transformed(pipeline, &text).unwrap_or_else(|errors| {
                panic!("case {index}, {pipeline}: {}\n{text}", checker.lines(&errors))
            });
            let agreement = same_behaviour(&before, &after, "kernel", &calls, &Limits::default())
                .unwrap_or_else(|error| panic!("case {index}, {pipeline}: {error}\n{text}"));
            compared += agreement.compared;
            skipped += agreement.skipped;
        }
    }
    assert!(compared > skipped / 4, "{compared} calls compared, {skipped} undefined");
}
