//! The campaign on raising graphs of blocks to regions.

use std::process::ExitCode;

use loomir_tests::raising::{Tally, run};

use crate::steps::{self, option};

/// The number of functions between two progress reports.
const STEP: u64 = 1_000;

pub(crate) fn main() -> ExitCode {
    let (cases, seed) = (option("--cases").unwrap_or(50_000), option("--seed").unwrap_or(1));
    let mut tally = Tally::default();
    let failures = steps::run(cases, STEP, |first, count| run(seed, (first, count), &mut tally));
    let Tally { cases, lifted, counted, uncounted, parts, fused, compared, skipped } = tally;
    println!(
        "seed={seed}\ncases={cases}\nlifted={lifted}\ncounted={counted}\nuncounted={uncounted}\nparts={parts}"
    );
    println!("fused={fused}\ncalls_compared={compared}\ncalls_undefined={skipped}\nfailures={failures}");
    ExitCode::from(u8::from(failures > 0))
}
