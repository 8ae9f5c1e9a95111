//! Random functions with operations that some operands make undefined do the same after each
//! pipeline, wherever they are defined.

use loomir_tests::hazards::{Tally, run};
use loomir_tests::parts::in_parts;

/// The number of tested functions. Without any one of the tested rules, some of the first 1,500 go
/// wrong.
const CASES: u64 = 500;

#[test]
fn what_may_be_undefined_stays_where_it_is() {
    let parts = in_parts(0, CASES, |first, count| {
        let mut tally = Tally::default();
        run(5, (first, count), &mut tally).unwrap_or_else(|error| panic!("{error}"));
        tally
    });
    let sum = |of: fn(&Tally) -> usize| parts.iter().map(of).sum::<usize>();
    assert!(sum(|own| own.compared) > sum(|own| own.skipped) / 4, "{parts:?}");
}
