//! The campaign on flattening of nests of graphs.

use std::process::ExitCode;

use loomir_tests::flattening::{Tally, run};

use crate::steps::{self, option};

/// The number of functions between two progress reports.
const STEP: u64 = 1_000;

pub(crate) fn main() -> ExitCode {
    let (cases, seed) = (option("--cases").unwrap_or(20_000), option("--seed").unwrap_or(1));
    let mut tally = Tally::default();
    let failures =
        steps::run((cases, STEP), &mut tally, counts, |first, count, tally| run(seed, (first, count), tally));
    println!("seed={seed}\n{}failures={failures}", counts(&tally));
    ExitCode::from(u8::from(failures > 0))
}

fn counts(tally: &Tally) -> String {
    let Tally { cases, flattened, kept, compared, skipped } = tally;
    format!(
        "cases={cases}\nflattened={flattened}\nkept_beside={kept}\ncalls_compared={compared}\n\
         calls_undefined={skipped}\n"
    )
}
