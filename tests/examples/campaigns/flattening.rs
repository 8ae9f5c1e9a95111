//! The campaign on flattening of nests of graphs.

use std::process::ExitCode;

use loomir_tests::flattening::{Tally, run};

use crate::steps;

/// The number of functions between two progress reports.
const STEP: u64 = 1_000;

pub(crate) fn main() -> ExitCode {
    steps::seeded((20_000, STEP), counts, run).1
}

fn counts(tally: &Tally) -> String {
    let Tally { cases, flattened, kept, compared, skipped } = tally;
    format!(
        "cases={cases}\nflattened={flattened}\nkept_beside={kept}\ncalls_compared={compared}\n\
         calls_undefined={skipped}\n"
    )
}
