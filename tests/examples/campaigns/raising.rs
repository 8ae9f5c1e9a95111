//! The campaign on raising graphs of blocks to regions.

use std::process::ExitCode;

use loomir_tests::raising::{Tally, run};

use crate::steps::{self, option};

/// The number of functions between two progress reports.
const STEP: u64 = 1_000;

pub(crate) fn main() -> ExitCode {
    let (cases, seed) = (option("--cases").unwrap_or(50_000), option("--seed").unwrap_or(1));
    let mut tally = Tally::default();
    let failures =
        steps::run((cases, STEP), &mut tally, counts, |first, count, tally| run(seed, (first, count), tally));
    println!("seed={seed}\n{}failures={failures}", counts(&tally));
    ExitCode::from(u8::from(failures > 0))
}

fn counts(tally: &Tally) -> String {
    let Tally { cases, lifted, counted, uncounted, parts, fused, compared, skipped } = tally;
    format!(
        "cases={cases}\nlifted={lifted}\ncounted={counted}\nuncounted={uncounted}\nparts={parts}\n\
         fused={fused}\ncalls_compared={compared}\ncalls_undefined={skipped}\n"
    )
}
