//! Random functions with operations that some operands make undefined do the same after each pipeline, wherever they are defined.

use loomir::dialects::interp::Limits;
use loomir_testing::Checker;
use loomir_testing::behaviour::same_behaviour;
use loomir_testing::hazards::{PIPELINES, calls, hazards};
use loomir_testing::random::Random;

#[test]
fn what_may_be_undefined_stays_where_it_is() {
    let cases: u64 = std::env::var("CASES").ok().and_then(|c| c.parse().ok()).unwrap_or(300);
    let first: u64 = std::env::var("FIRST").ok().and_then(|c| c.parse().ok()).unwrap_or(0);
    let checker = Checker::default();
    let (mut compared, mut skipped, mut bad) = (0, 0, 0);
    for index in first..first + cases {
        let mut random = Random::of_case(5, index);
        let text = hazards(&mut random);
        let calls = calls(&mut random);
        let before =
            checker.read(&text).unwrap_or_else(|errors| panic!("{}\n{text}", checker.lines(&errors)));
        for pipeline in PIPELINES {
            let (after, _) = checker.transformed(pipeline, &text).unwrap_or_else(|errors| {
                panic!("case {index} {pipeline}: {}\n{text}", checker.lines(&errors))
            });
            match same_behaviour(&before, &after, "kernel", &calls, &Limits::default()) {
                Ok(agreement) => {
                    compared += agreement.compared;
                    skipped += agreement.skipped;
                }
                Err(e) => {
                    bad += 1;
                    println!("case {index}, {pipeline}: {e}");
                }
            }
        }
    }
    println!("{compared} compared, {skipped} skipped, bad {bad}");
    assert!(bad == 0);
    assert!(compared > skipped / 4, "{compared} calls compared, {skipped} undefined");
}
