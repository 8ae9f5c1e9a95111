//! Random functions with operations that some operands make undefined do the same after each
//! pipeline, wherever they are defined.

use loomir_testing::hazards::{Tally, run};

/// The number of tested functions. Without any one of the tested rules, some of the first 1,500 go
/// wrong.
const CASES: u64 = 1_500;

#[test]
fn what_may_be_undefined_stays_where_it_is() {
    let mut tally = Tally::default();
    run(5, (0, CASES), &mut tally).unwrap_or_else(|error| panic!("{error}"));
    assert!(tally.compared > tally.skipped / 4, "{tally:?}");
}
