//! The campaign on unrolling and peeling of loops of graphs.

use std::process::ExitCode;

use loomir_tests::unrolling::{Tally, run};

use crate::steps::{self, option};

/// The number of functions between two progress reports.
const STEP: u64 = 1_000;

pub(crate) fn main() -> ExitCode {
    let (cases, seed) = (option("--cases").unwrap_or(50_000), option("--seed").unwrap_or(1));
    let mut tally = Tally::default();
    let failures = steps::run(cases, STEP, |first, count| run(seed, (first, count), &mut tally));
    let Tally { cases, peeled, full, partial, runtime, jammed, refused, compared, skipped, .. } = tally;
    let Tally { asked, proved, mutated, mutants_proved, peeled_last, by_kind, reasons, .. } = tally;
    println!("seed={seed}\ncases={cases}\npeeled={peeled}\nfull={full}\npartial={partial}");
    println!("runtime={runtime}\njammed={jammed}\nrefused={refused}\nchecker_asked={asked}\nproved={proved}");
    println!("peeled_last={peeled_last}\nmutated={mutated}\nmutants_proved={mutants_proved}");
    println!("calls_compared={compared}\ncalls_undefined={skipped}\nfailures={failures}");
    for (kind, [asked, proved]) in by_kind {
        println!("asked_{kind}={asked}\nproved_{kind}={proved}");
    }
    for (reason, count) in reasons {
        println!("unproved, {reason}={count}");
    }
    ExitCode::from(u8::from(failures > 0))
}
