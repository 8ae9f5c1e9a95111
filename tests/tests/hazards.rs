//! Random functions with operations that some operands make undefined do the same after each
//! pipeline, wherever they are defined.

use loomir_testing::hazards::{Tally, run};

/// The number of functions that are tried. Of the first 1,500 some go wrong for each rule that
/// these are about, if it is taken away.
const CASES: u64 = 1_500;

#[test]
fn what_may_be_undefined_stays_where_it_is() {
    let mut tally = Tally::default();
    run(5, (0, CASES), &mut tally).unwrap_or_else(|error| panic!("{error}"));
    assert!(tally.compared > tally.skipped / 4, "{tally:?}");
}
