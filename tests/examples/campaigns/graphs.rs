//! The campaign on control flow graphs.

use std::process::ExitCode;

use loomir::lowering::cfg::FORMS;
use loomir_tests::graphs::{Tally, run};
use loomir_tests::peers::Peer;

use crate::steps::{self, option};

/// The number of functions between two progress reports.
const STEP: u64 = 1_000;

pub(crate) fn main() -> ExitCode {
    let (cases, seed) = (option("--cases").unwrap_or(10_000), option("--seed").unwrap_or(1));
    let Some(opt) = Peer::find("opt") else {
        eprintln!("LOOMIR_LLVM does not say where opt is: nothing to compare with");
        println!("seed={seed}\ncases=0");
        return ExitCode::SUCCESS;
    };
    let mut tally = Tally::default();
    let failures = steps::run((cases, STEP), &mut tally, counts, |first, count, tally| {
        run(seed, first, count, &opt, tally)
    });
    println!("seed={seed}\n{}differences={failures}", counts(&tally));
    ExitCode::from(u8::from(failures > 0))
}

fn counts(tally: &Tally) -> String {
    let mut text = format!("cases={}\nblocks={}\nloops={}\n", tally.cases, tally.blocks, tally.loops);
    text += &format!("functions_with_irreducible_cycles={}\n", tally.irreducible);
    for (form, changed) in FORMS.iter().zip(tally.changed) {
        text += &format!("functions_changed_by_{}={changed}\n", form.name.replace('-', "_"));
    }
    text + &format!("runs_compared={}\n", tally.runs)
}
