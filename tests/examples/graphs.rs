//! The campaign on control flow graphs: `cargo run --release -p loomir-testing --example graphs -- [--cases N] [--seed S]`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the campaign reports to the terminal")]

use std::process::ExitCode;

use loomir::lowering::cfg::FORMS;
use loomir_testing::graphs::{Tally, run};
use loomir_testing::peers::Peer;

/// Functions between two reports of progress.
const STEP: u64 = 1_000;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str, default: u64| {
        let at = words.iter().position(|word| word == name)?;
        words.get(at + 1)?.parse().ok().or(Some(default))
    };
    let (cases, seed) = (option("--cases", 0).unwrap_or(10_000), option("--seed", 1).unwrap_or(1));
    let Some(opt) = Peer::find("opt") else {
        eprintln!("LOOMIR_LLVM does not say where opt is: nothing to compare with");
        println!("seed={seed}\ncases=0");
        return ExitCode::SUCCESS;
    };
    let mut tally = Tally::default();
    let mut failures = 0;
    for first in (0..cases).step_by(STEP as usize) {
        if let Err(difference) = run(seed, first, STEP.min(cases - first), &opt, &mut tally) {
            eprintln!("{difference}");
            failures += 1;
            break;
        }
        eprintln!("{} of {cases}", tally.cases);
    }
    println!("seed={seed}\ncases={}\nblocks={}\nloops={}", tally.cases, tally.blocks, tally.loops);
    println!("functions_with_irreducible_cycles={}", tally.irreducible);
    for (form, changed) in FORMS.iter().zip(tally.changed) {
        println!("functions_changed_by_{}={changed}", form.name.replace('-', "_"));
    }
    println!("runs_compared={}\ndifferences={failures}", tally.runs);
    ExitCode::from(u8::from(failures > 0))
}
