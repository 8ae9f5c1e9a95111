//! Passes that simplify preserve the behaviour of random programs, alone and in random pipelines.

use loomir_testing::everyday::{PASSES, Tally, run};

#[test]
fn simplified_programs_do_the_same() {
    let mut tally = Tally::default();
    run(5, (0, 40), &mut tally).unwrap_or_else(|error| panic!("{error}"));
    assert!(tally.compared > 200 && tally.proved > 0, "{tally:?}");
    assert!(PASSES.iter().all(|pass| tally.changed.contains_key(*pass)), "{tally:?}");
}
