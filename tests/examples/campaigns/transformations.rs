//! The campaign on transformations.

use std::process::ExitCode;

use loomir_tests::transformations::{Tally, run};

use crate::steps;

/// The number of programs between two progress reports.
const STEP: u64 = 500;

pub(crate) fn main() -> ExitCode {
    steps::seeded((20_000, STEP), counts, run).1
}

fn counts(tally: &Tally) -> String {
    let Tally { cases, changed, scheduled, unfinished, compared, skipped, asked, proved, by_name } = tally;
    let mut text = format!(
        "cases={cases}\nchanged={changed}\nscheduled={scheduled}\nschedules_unfinished={unfinished}\n\
         asked={asked}\nproved={proved}\ncalls_compared={compared}\ncalls_undefined={skipped}\n"
    );
    for (name, [changed, asked, proved]) in by_name {
        text += &format!("{name}_changed={changed}\n{name}_asked={asked}\n{name}_proved={proved}\n");
    }
    text
}
