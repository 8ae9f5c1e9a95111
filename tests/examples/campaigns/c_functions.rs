//! The campaign on C functions. With `--case I`, it prints the text of one case.

use std::process::ExitCode;

use loomir_tests::c_functions::{Tally, Tools, run, text};
use loomir_tests::peers::Peer;

use crate::steps::{self, option};

/// The number of functions between two progress reports.
const STEP: u64 = 500;

pub(crate) fn main() -> ExitCode {
    let (cases, seed) = (option("--cases").unwrap_or(20_000), option("--seed").unwrap_or(1));
    if let Some(index) = option("--case") {
        print!("{}", text(seed, index));
        return ExitCode::SUCCESS;
    }
    let Some(clang) = Peer::find("clang") else {
        eprintln!("LOOMIR_LLVM does not say where clang is: nothing to compile with");
        println!("seed={seed}\ncases=0");
        return ExitCode::SUCCESS;
    };
    let folder = std::env::temp_dir().join(format!("loomir-c-functions-{}", std::process::id()));
    if let Err(error) = std::fs::create_dir_all(&folder) {
        eprintln!("{}: {error}", folder.display());
        return ExitCode::FAILURE;
    }
    let mut tally = Tally::default();
    let tools = Tools { clang: &clang, folder: &folder };
    let broken = steps::run(cases, STEP, |first, count| {
        run(seed, (first, count), &tools, &mut tally, &mut |difference| eprintln!("{difference}"))
    });
    drop(std::fs::remove_dir_all(&folder));
    let Tally { cases, changed, changed_at_all, loops, fused, edits, calls, left, undefined, .. } = tally;
    let Tally { versioned, both_ways, checks: [held, failed], failures, .. } = tally;
    println!("seed={seed}\ncases={cases}\nchanged={changed_at_all}");
    for (level, changed) in ["O0", "O1", "O2"].iter().zip(changed) {
        println!("changed_at_{level}={changed}");
    }
    println!(
        "loops={loops}\nloops_fused={fused}\nedits={edits}\ncalls_compared={calls}\nof_these_not_returning={left}"
    );
    println!("calls_undefined={undefined}\nfunctions_with_checks={versioned}");
    println!("of_these_both_ways={both_ways}\nchecks_that_hold={held}\nchecks_that_fail={failed}");
    println!("failures={failures}");
    ExitCode::from(u8::from(failures + broken > 0))
}
