//! The campaign on transformations.

use std::process::ExitCode;

use loomir_tests::transformations::{Tally, run};

use crate::steps::{self, option};

/// The number of programs between two progress reports.
const STEP: u64 = 500;

pub(crate) fn main() -> ExitCode {
    let (cases, seed) = (option("--cases").unwrap_or(20_000), option("--seed").unwrap_or(1));
    let mut tally = Tally::default();
    let failures =
        steps::run((cases, STEP), &mut tally, counts, |first, count, tally| run(seed, (first, count), tally));
    println!("seed={seed}\n{}failures={failures}", counts(&tally));
    ExitCode::from(u8::from(failures > 0))
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
