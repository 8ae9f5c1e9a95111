//! The campaign on fused loops as machine code. With `--case I`, it prints the text of one
//! case.

use std::process::ExitCode;

use loomir_tests::native::{Tally, case, run};
use loomir_tests::neighbours::{CALLED, odd};

use crate::steps::{self, option};

/// The number of functions between two progress reports.
const STEP: u64 = 500;

pub(crate) fn main() -> ExitCode {
    let (cases, seed) = (option("--cases").unwrap_or(20_000), option("--seed").unwrap_or(1));
    if let Some(index) = option("--case") {
        print!("{CALLED}{}{}", odd::CALLED, case(seed, index).1.text);
        return ExitCode::SUCCESS;
    }
    steps::with_clang("native", &format!("seed={seed}\n"), |clang, folder| {
        let mut tally = Tally::default();
        let failures = steps::run((cases, STEP), &mut tally, counts, |first, count, tally| {
            run(seed, (first, count), clang, folder, tally)
        });
        println!("seed={seed}\n{}failures={failures}", counts(&tally));
        ExitCode::from(u8::from(failures > 0))
    })
}

fn counts(tally: &Tally) -> String {
    let Tally { cases, narrow, fused, interpreted, native } = tally;
    format!(
        "cases={cases}\nfor_32_bit_addresses={narrow}\nloops_fused={fused}\n\
         calls_interpreted={interpreted}\ncalls_as_machine_code={native}\n"
    )
}
