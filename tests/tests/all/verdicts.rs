//! Verdicts of the checker about a few random pairs. The campaign `check` runs many.

use loomir_tests::verdicts::{Tally, run};

#[test]
fn no_verdict_about_random_pairs_is_wrong() {
    let mut tally = Tally::default();
    run(5, (0, 50), &mut tally).unwrap_or_else(|error| panic!("{error}"));
    assert!(tally.equal > 10 && tally.different > 2, "{tally:?}");
}
