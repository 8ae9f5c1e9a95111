//! The campaign on exponential functions as arithmetic, for every `f32`.

use std::process::ExitCode;

use loomir_tests::exponentials::{CASES, Tally, run};
use loomir_tests::peers::Peer;

use crate::steps::{self, option};

/// The number of cases between two progress reports.
const STEP: u64 = 256;

pub(crate) fn main() -> ExitCode {
    let cases = option("--cases").unwrap_or(CASES);
    let Some(clang) = Peer::find("clang") else {
        eprintln!("LOOMIR_LLVM does not say where clang is: nothing to compile with");
        println!("cases=0");
        return ExitCode::SUCCESS;
    };
    let folder = std::env::temp_dir().join(format!("loomir-exponentials-{}", std::process::id()));
    if let Err(error) = std::fs::create_dir_all(&folder) {
        eprintln!("{}: {error}", folder.display());
        return ExitCode::FAILURE;
    }
    let mut tally = Tally::default();
    let failures = steps::run((cases, STEP), &mut tally, counts, |first, count, tally| {
        run((first, count), &clang, &folder, tally)
    });
    drop(std::fs::remove_dir_all(&folder));
    println!("{}failures={failures}", counts(&tally));
    ExitCode::from(u8::from(failures > 0))
}

fn counts(Tally { cases, results }: &Tally) -> String {
    format!("cases={cases}\nresults_compared={results}\n")
}
