//! Shared code of campaigns that run in steps of many cases and end with the first difference:
//! their command line and their progress reports.
//!
//! A campaign has a function `counts` that lists its counts, one `key=value` a line.

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

use loomir_tests::peers::Peer;

/// Returns a number given as `NAME N` among the arguments.
pub(crate) fn option(name: &str) -> Option<u64> {
    let words: Vec<String> = crate::arguments().collect();
    let at = words.iter().position(|word| word == name)?;
    words.get(at + 1)?.parse().ok()
}

/// Runs `cases` cases in steps of `step`, from the number given as `--first` on. Each step starts
/// at the number of its first case. Prints the number of finished cases and the counts after each
/// step, so that a stopped run has figures and can go on elsewhere. Stops at the first failure and
/// returns the number of failures.
pub(crate) fn run<T, E: Display>(
    (cases, step): (u64, u64),
    tally: &mut T,
    counts: fn(&T) -> String,
    mut run: impl FnMut(u64, u64, &mut T) -> Result<(), E>,
) -> u64 {
    let first = option("--first").unwrap_or(0);
    for done in (0..cases).step_by(step as usize) {
        let count = step.min(cases - done);
        if let Err(difference) = run(first + done, count, tally) {
            eprintln!("{difference}");
            return 1;
        }
        eprintln!("{} of {cases}: {}", done + count, on_a_line(&counts(tally)));
    }
    0
}

/// Runs a campaign that compiles, with clang and a folder of its own, which is removed at the end.
/// Without clang it has no cases, and prints `heading` before that.
pub(crate) fn with_clang(name: &str, heading: &str, run: impl FnOnce(&Peer, &Path) -> ExitCode) -> ExitCode {
    let Some(clang) = Peer::find("clang") else {
        eprintln!("LOOMIR_LLVM does not say where clang is: nothing to compile with");
        println!("{heading}cases=0");
        return ExitCode::SUCCESS;
    };
    let folder = std::env::temp_dir().join(format!("loomir-{name}-{}", std::process::id()));
    if let Err(error) = std::fs::create_dir_all(&folder) {
        eprintln!("{}: {error}", folder.display());
        return ExitCode::FAILURE;
    }
    let code = run(&clang, &folder);
    drop(std::fs::remove_dir_all(&folder));
    code
}

/// Runs cases of a seed: the first one has this number, and there are so many.
type RunCases<T, E> = fn(u64, (u64, u64), &mut T) -> Result<(), E>;

/// Runs a campaign of random cases: `cases` of them unless `--cases` says otherwise, from `--seed`.
/// Prints the counts at the end, and returns them.
pub(crate) fn seeded<T: Default, E: Display>(
    (cases, step): (u64, u64),
    counts: fn(&T) -> String,
    run_cases: RunCases<T, E>,
) -> (T, ExitCode) {
    let (cases, seed) = (option("--cases").unwrap_or(cases), option("--seed").unwrap_or(1));
    let mut tally = T::default();
    let failures =
        run((cases, step), &mut tally, counts, |first, count, tally| run_cases(seed, (first, count), tally));
    println!("seed={seed}\n{}failures={failures}", counts(&tally));
    (tally, ExitCode::from(u8::from(failures > 0)))
}

/// Returns counts on one line.
pub(crate) fn on_a_line(counts: &str) -> String {
    counts.split_whitespace().collect::<Vec<_>>().join(" ")
}
