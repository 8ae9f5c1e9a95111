//! The campaign on parallel loops and vectors. With `--case I`, it prints the text of one case.

use std::process::ExitCode;

use loomir_tests::parallel::{Tally, program, run};
use loomir_tests::peers::Peer;

use crate::steps::{self, option};

/// The number of programs between two progress reports.
const STEP: u64 = 500;

pub(crate) fn main() -> ExitCode {
    let (cases, seed) = (option("--cases").unwrap_or(20_000), option("--seed").unwrap_or(1));
    if let Some(index) = option("--case") {
        print!("{}", program(seed, index));
        return ExitCode::SUCCESS;
    }
    let lli = Peer::find("lli");
    let mut tally = Tally::default();
    let failures = steps::run((cases, STEP), &mut tally, counts, |first, count, tally| {
        run(seed, (first, count), lli.as_ref(), tally)
    });
    println!("seed={seed}\n{}failures={failures}", counts(&tally));
    ExitCode::from(u8::from(failures > 0))
}

fn counts(tally: &Tally) -> String {
    let Tally { cases, parallel, vectorized, masked, gathered, combined, .. } = tally;
    let Tally { compared, skipped, interleaved, native, .. } = tally;
    format!(
        "cases={cases}\nparallel={parallel}\nvectorized={vectorized}\nmasked={masked}\n\
         gathered={gathered}\ncombined={combined}\ncalls_compared={compared}\ncalls_undefined={skipped}\n\
         interleaved={interleaved}\nas_machine_code={native}\n"
    )
}
