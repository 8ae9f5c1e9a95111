//! Each transformation preserves the behaviour of random programs.

use loomir_testing::transformations::{Tally, run};

#[test]
fn transformed_programs_do_the_same() {
    let mut tally = Tally::default();
    run(3, (0, 80), &mut tally).unwrap_or_else(|error| panic!("{error}"));
    assert!(tally.compared > tally.skipped && tally.changed > 400, "{tally:?}");
}
