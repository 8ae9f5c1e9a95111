//! The campaign on operations that some operands make undefined.

use std::process::ExitCode;

use loomir_tests::hazards::{Tally, run};

use crate::steps;

/// The number of functions between two progress reports.
const STEP: u64 = 500;

pub(crate) fn main() -> ExitCode {
    steps::seeded((20_000, STEP), counts, run).1
}

fn counts(tally: &Tally) -> String {
    let Tally { cases, compared, skipped } = tally;
    format!("cases={cases}\ncalls_compared={compared}\ncalls_undefined={skipped}\n")
}
