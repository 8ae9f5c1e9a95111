//! The campaign on programs in LLVM IR. With `--case I`, it prints the text of one case.

use std::process::ExitCode;

use loomir_tests::ll::{Judges, Tally, case, run};

use crate::steps::{self, option};

/// The number of programs between two progress reports.
const STEP: u64 = 250;

pub(crate) fn main() -> ExitCode {
    let (cases, seed) = (option("--cases").unwrap_or(5_000), option("--seed").unwrap_or(1));
    if let Some(index) = option("--case") {
        print!("{}", case(seed, index));
        return ExitCode::SUCCESS;
    }
    let Some(judges) = Judges::find() else {
        eprintln!("LOOMIR_LLVM does not say where lli and opt are: nothing to compare with");
        println!("seed={seed}\ncases=0");
        return ExitCode::SUCCESS;
    };
    let mut tally = Tally::default();
    let failures = steps::run((cases, STEP), &mut tally, counts, |first, count, tally| {
        run(seed, first, count, &judges, tally)
    });
    println!("seed={seed}\n{}differences={failures}", counts(&tally));
    ExitCode::from(u8::from(failures > 0))
}

fn counts(tally: &Tally) -> String {
    let mut text = format!("cases={}\nfunctions={}\nlines={}\n", tally.cases, tally.functions, tally.lines);
    text += &format!("operations_executed={}\nwritten_by_loomir={}\n", tally.steps, tally.written);
    text + &format!("optimised_by_llvm={}\ngiven_up_by_llvm={}\n", tally.optimised, tally.given_up)
}
