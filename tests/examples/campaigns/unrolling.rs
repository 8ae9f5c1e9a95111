//! The campaign on unrolling and peeling of loops of graphs.

use std::process::ExitCode;

use loomir_tests::unrolling::{Tally, run};

use crate::steps;

/// The number of functions between two progress reports.
const STEP: u64 = 1_000;

pub(crate) fn main() -> ExitCode {
    let (tally, end) = steps::seeded((50_000, STEP), counts, run);
    tally.reasons.iter().for_each(|(reason, count)| println!("unproved, {reason}={count}"));
    end
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
