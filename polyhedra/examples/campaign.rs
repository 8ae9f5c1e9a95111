//! The brute-force campaign at any size: `cargo xtask campaign polyhedra --cases N --seed S`.
//!
//! Progress goes to stderr, counts to stdout as `key=value`; the exit code tells of disagreements.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the campaign reports to the terminal")]

#[path = "../tests/campaign/mod.rs"]
mod campaign;
#[path = "../tests/random/mod.rs"]
mod random;

use std::process::ExitCode;

fn main() -> ExitCode {
    let (mut cases, mut seed) = (1_000_000, 1);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    for option in arguments.chunks(2) {
        match (option[0].as_str(), option.get(1).and_then(|value| value.parse::<u64>().ok())) {
            ("--cases", Some(value)) => cases = value,
            ("--seed", Some(value)) => seed = value,
            _ => {
                eprintln!("usage: campaign [--cases N] [--seed S]");
                return ExitCode::from(2);
            }
        }
    }
    let mut report = campaign::Report::default();
    let step = (cases / 20).max(1);
    let mut done = 0;
    while done < cases {
        let count = step.min(cases - done);
        campaign::run(seed, done, count, &mut report);
        done += count;
        eprintln!("{done} of {cases} cases, {} disagreements", report.failures.len());
    }
    println!("{report}");
    for failure in report.failures.iter().take(20) {
        eprintln!("{failure}");
    }
    ExitCode::from(u8::from(!report.failures.is_empty()))
}
