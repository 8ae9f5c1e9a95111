//! The campaign on passes that simplify.

use std::process::ExitCode;

use loomir_tests::everyday::{Tally, run};

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
    let Tally { cases, changed, compared, skipped, proved, undecided, .. } = tally;
    let mut text = format!("cases={cases}\n");
    changed.iter().for_each(|(pass, count)| text += &format!("changed_{}={count}\n", pass.replace('-', "_")));
    text += &format!("proved={proved}\nundecided={}\n", undecided.values().sum::<usize>());
    for (pass, count) in undecided {
        text += &format!("undecided_{}={count}\n", pass.replace('-', "_"));
    }
    text + &format!("calls_compared={compared}\ncalls_undefined={skipped}\n")
}
