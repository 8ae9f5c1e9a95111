//! The fusion campaign. `--only K` runs one case. `--show K` prints its program.

use std::process::ExitCode;

use loomir_tests::campaign::{Tally, run_case, text_of_case};

use crate::steps::on_a_line;

/// The maximal number of shown failures. Then the campaign gives up.
const MAX_FAILURES: usize = 10;

/// The maximal number of shown unconfirmed blocks.
const MAX_SHOWN: usize = 5;

struct Options {
    cases: u64,
    seed: u64,
    only: Option<u64>,
    show: Option<u64>,
}

pub(crate) fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("usage: fusion [--cases N] [--seed S] [--only K] [--show K]");
        return ExitCode::from(2);
    };
    if let Some(index) = options.show {
        print!("{}", text_of_case(options.seed, index));
        return ExitCode::SUCCESS;
    }
    // Panics are caught and reported as failures, with the program.
    std::panic::set_hook(Box::new(|_| {}));
    let mut tally = Tally::default();
    let mut failures = 0;
    let cases = options.only.map_or(0..options.cases, |index| index..index + 1);
    for index in cases.clone() {
        if let Err(failure) = run_case(options.seed, index, &mut tally) {
            failures += 1;
            eprintln!("case {index}, {}: {}\n{}", failure.kind, failure.detail, failure.program);
            if failures >= MAX_FAILURES {
                eprintln!("giving up after {failures} failures");
                break;
            }
        }
        if (index + 1) % (options.cases / 10).max(1) == 0 {
            let counts = on_a_line(&tally.to_text());
            eprintln!("{} of {} cases, {failures} failures: {counts}", index + 1, cases.end);
        }
    }
    for (case, remark) in tally.doubtful.iter().take(MAX_SHOWN) {
        eprint!("not confirmed, in case {}:\n{remark}", cases.start + case - 1);
    }
    print!("seed={}\n{}mismatches={failures}\n", options.seed, tally.to_text());
    ExitCode::from(u8::from(failures > 0))
}

fn options() -> Option<Options> {
    let mut options = Options { cases: 2_000, seed: 1, only: None, show: None };
    let words: Vec<String> = crate::arguments().collect();
    for pair in words.chunks(2) {
        let [key, value] = pair else { return None };
        let value: u64 = value.parse().ok()?;
        match key.as_str() {
            "--cases" => options.cases = value,
            "--seed" => options.seed = value,
            "--only" => options.only = Some(value),
            "--show" => options.show = Some(value),
            _ => return None,
        }
    }
    Some(options)
}
