//! The campaign on promotion.

use std::process::ExitCode;

use loomir_tests::promotion::{Tally, run};

use crate::steps::{self, option};

/// The number of functions between two progress reports.
const STEP: u64 = 500;

pub(crate) fn main() -> ExitCode {
    let (cases, seed) = (option("--cases").unwrap_or(10_000), option("--seed").unwrap_or(1));
    steps::with_clang("promotion", &format!("seed={seed}\n"), |clang, folder| {
        let mut tally = Tally::default();
        let failures = steps::run((cases, STEP), &mut tally, counts, |first, count, tally| {
            run(seed, (first, count), clang, folder, tally)
        });
        println!("seed={seed}\n{}failures={failures}", counts(&tally));
        ExitCode::from(u8::from(failures > 0))
    })
}

fn counts(tally: &Tally) -> String {
    let Tally { cases, promoted, elements, compared, undefined, read_only } = tally;
    format!(
        "cases={cases}\npromoted={promoted}\nelements_promoted={elements}\ncalls_compared={compared}\n\
         calls_undefined={undefined}\nread_only_buffers={read_only}\n"
    )
}
