//! The campaign on C functions. With `--case I`, it prints the text of one case.

use std::process::ExitCode;

use loomir_tests::c_functions::{Tally, Tools, run, text};

use crate::steps::{self, option};

/// The number of functions between two progress reports.
const STEP: u64 = 500;

pub(crate) fn main() -> ExitCode {
    let (cases, seed) = (option("--cases").unwrap_or(20_000), option("--seed").unwrap_or(1));
    if let Some(index) = option("--case") {
        print!("{}", text(seed, index));
        return ExitCode::SUCCESS;
    }
    steps::with_clang("c-functions", &format!("seed={seed}\n"), |clang, folder| {
        let mut tally = Tally::default();
        let tools = Tools { clang, folder };
        let broken = steps::run((cases, STEP), &mut tally, counts, |first, count, tally| {
            run(seed, (first, count), &tools, tally, &mut |difference| eprintln!("{difference}"))
        });
        print!("seed={seed}\n{}", counts(&tally));
        ExitCode::from(u8::from(tally.failures + broken > 0))
    })
}

fn counts(tally: &Tally) -> String {
    let Tally { cases, changed, changed_at_all, loops, fused, edits, calls, left, undefined, .. } = tally;
    let Tally { anew, versioned, both_ways, checks: [held, failed], failures, .. } = tally;
    let mut text = format!("cases={cases}\nchanged={changed_at_all}\n");
    for (level, changed) in ["O0", "O1", "O2"].iter().zip(changed) {
        text += &format!("changed_at_{level}={changed}\n");
    }
    text += &format!("loops={loops}\nloops_fused={fused}\nedits={edits}\nanew={anew}\n");
    text += &format!("calls_compared={calls}\n");
    text += &format!("of_these_not_returning={left}\ncalls_undefined={undefined}\n");
    text += &format!("functions_with_checks={versioned}\nof_these_both_ways={both_ways}\n");
    text + &format!("checks_that_hold={held}\nchecks_that_fail={failed}\nfailures={failures}\n")
}
