//! The campaign on passes that simplify.

use std::process::ExitCode;

use loomir_tests::everyday::{Tally, run};

use crate::steps;

/// The number of programs between two progress reports.
const STEP: u64 = 500;

pub(crate) fn main() -> ExitCode {
    steps::seeded((20_000, STEP), counts, run).1
}

fn counts(tally: &Tally) -> String {
    let Tally { cases, changed, compared, skipped, proved, undecided, .. } = tally;
    let mut text = format!("cases={cases}\n");
    changed.iter().for_each(|(pass, count)| text += &format!("changed_{}={count}\n", pass.replace('-', "_")));
    text += &format!("proved={proved}\nundecided={}\n", undecided.values().sum::<usize>());
    for (pass, count) in undecided {
        text += &format!("undecided_{}={count}\n", pass.replace('-', "_"));
    }
    text + &format!("calls_compared={compared}\ncalls_undefined={skipped}\n")
}
