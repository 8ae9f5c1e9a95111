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
    let failures = steps::run(cases, STEP, |first, count| run(seed, first, count, &judges, &mut tally));
    println!("seed={seed}\ncases={}\nfunctions={}\nlines={}", tally.cases, tally.functions, tally.lines);
    println!("operations_executed={}", tally.steps);
    println!("written_by_loomir={}\noptimised_by_llvm={}", tally.written, tally.optimised);
    println!("given_up_by_llvm={}\ndifferences={failures}", tally.given_up);
    ExitCode::from(u8::from(failures > 0))
}
