//! The campaign on passes that simplify.

use std::process::ExitCode;

use loomir_tests::everyday::{Tally, run};

use crate::steps::{self, option};

/// The number of programs between two progress reports.
const STEP: u64 = 500;

pub(crate) fn main() -> ExitCode {
    let (cases, seed) = (option("--cases").unwrap_or(20_000), option("--seed").unwrap_or(1));
    let mut tally = Tally::default();
    let failures = steps::run(cases, STEP, |first, count| run(seed, (first, count), &mut tally));
    println!("seed={seed}\ncases={}", tally.cases);
    tally.changed.iter().for_each(|(pass, count)| println!("changed_{}={count}", pass.replace('-', "_")));
    let Tally { compared, skipped, proved, undecided, .. } = tally;
    println!("proved={proved}\nundecided={}", undecided.values().sum::<usize>());
    undecided.iter().for_each(|(pass, count)| println!("undecided_{}={count}", pass.replace('-', "_")));
    println!("calls_compared={compared}\ncalls_undefined={skipped}\nfailures={failures}");
    ExitCode::from(u8::from(failures > 0))
}
