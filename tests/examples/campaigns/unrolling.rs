//! The campaign on unrolling and peeling of loops of graphs.

use std::process::ExitCode;

use loomir_tests::unrolling::{Tally, run};

use crate::steps::{self, option};

/// The number of functions between two progress reports.
const STEP: u64 = 1_000;

pub(crate) fn main() -> ExitCode {
    let (cases, seed) = (option("--cases").unwrap_or(50_000), option("--seed").unwrap_or(1));
    let mut tally = Tally::default();
    let failures =
        steps::run((cases, STEP), &mut tally, counts, |first, count, tally| run(seed, (first, count), tally));
    println!("seed={seed}\n{}failures={failures}", counts(&tally));
    tally.reasons.iter().for_each(|(reason, count)| println!("unproved, {reason}={count}"));
    ExitCode::from(u8::from(failures > 0))
}

fn counts(tally: &Tally) -> String {
    let Tally { cases, peeled, full, partial, runtime, jammed, refused, compared, skipped, .. } = tally;
    let Tally { asked, proved, mutated, mutants_proved, peeled_last, by_kind, .. } = tally;
    let mut text = format!(
        "cases={cases}\npeeled={peeled}\nfull={full}\npartial={partial}\nruntime={runtime}\n\
         jammed={jammed}\nrefused={refused}\nchecker_asked={asked}\nproved={proved}\n\
         peeled_last={peeled_last}\nmutated={mutated}\nmutants_proved={mutants_proved}\n\
         calls_compared={compared}\ncalls_undefined={skipped}\n"
    );
    for (kind, [asked, proved]) in by_kind {
        text += &format!("asked_{kind}={asked}\nproved_{kind}={proved}\n");
    }
    text
}
