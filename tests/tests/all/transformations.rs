//! Each transformation preserves the behaviour of random programs.

use loomir_tests::parts::in_parts;
use loomir_tests::transformations::{Tally, run};

#[test]
fn transformed_programs_do_the_same() {
    let parts = in_parts(0, 30, |first, count| {
        let mut tally = Tally::default();
        run(3, (first, count), &mut tally).unwrap_or_else(|error| panic!("{error}"));
        tally
    });
    let sum = |of: fn(&Tally) -> usize| parts.iter().map(of).sum::<usize>();
    assert!(sum(|own| own.compared) > sum(|own| own.skipped) && sum(|own| own.changed) > 150, "{parts:?}");
}
