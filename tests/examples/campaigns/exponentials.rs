//! The campaign on exponential functions as arithmetic, for every `f32`.

use std::process::ExitCode;

use loomir_tests::exponentials::{CASES, Tally, run};

use crate::steps::{self, option};

/// The number of cases between two progress reports.
const STEP: u64 = 256;

pub(crate) fn main() -> ExitCode {
    let cases = option("--cases").unwrap_or(CASES);
    steps::with_clang("exponentials", "", |clang, folder| {
        let mut tally = Tally::default();
        let failures = steps::run((cases, STEP), &mut tally, counts, |first, count, tally| {
            run((first, count), clang, folder, tally)
        });
        println!("{}failures={failures}", counts(&tally));
        ExitCode::from(u8::from(failures > 0))
    })
}

fn counts(Tally { cases, results }: &Tally) -> String {
    format!("cases={cases}\nresults_compared={results}\n")
}
