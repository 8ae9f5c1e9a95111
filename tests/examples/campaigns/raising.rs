//! The campaign on raising graphs of blocks to regions.

use std::process::ExitCode;

use loomir_tests::raising::{Tally, run};

use crate::steps;

/// The number of functions between two progress reports.
const STEP: u64 = 1_000;

pub(crate) fn main() -> ExitCode {
    steps::seeded((50_000, STEP), counts, run).1
}

fn counts(tally: &Tally) -> String {
    let Tally { cases, lifted, counted, uncounted, parts, fused, compared, skipped } = tally;
    format!(
        "cases={cases}\nlifted={lifted}\ncounted={counted}\nuncounted={uncounted}\nparts={parts}\n\
         fused={fused}\ncalls_compared={compared}\ncalls_undefined={skipped}\n"
    )
}
