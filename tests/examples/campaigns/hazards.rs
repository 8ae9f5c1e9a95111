//! The campaign on operations that some operands make undefined.

use std::process::ExitCode;

use loomir_tests::hazards::{Tally, run};

use crate::steps::{self, option};

/// The number of functions between two progress reports.
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
    let Tally { cases, compared, skipped } = tally;
    format!("cases={cases}\ncalls_compared={compared}\ncalls_undefined={skipped}\n")
}
