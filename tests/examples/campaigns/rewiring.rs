//! The rewiring campaign. `--only K` runs one case.

use std::process::ExitCode;

use loomir_tests::rewiring::{Tally, run_case};

use crate::steps::on_a_line;

/// The maximal number of shown failures. Then the campaign gives up.
const MAX_FAILURES: usize = 10;

pub(crate) fn main() -> ExitCode {
    let (mut cases, mut seed, mut only) = (2_000, 1, None);
    let words: Vec<String> = crate::arguments().collect();
    for pair in words.chunks(2) {
        let value = pair.get(1).and_then(|value| value.parse::<u64>().ok());
        match (pair[0].as_str(), value) {
            ("--cases", Some(value)) => cases = value,
            ("--seed", Some(value)) => seed = value,
            ("--only", value @ Some(_)) => only = value,
            _ => {
                eprintln!("usage: rewiring [--cases N] [--seed S] [--only K]");
                return ExitCode::from(2);
            }
        }
    }
    let mut tally = Tally::default();
    let mut failures = 0;
    for index in only.map_or(0..cases, |index| index..index + 1) {
        if let Err(failure) = run_case(seed, index, &mut tally) {
            failures += 1;
            eprintln!("case {index}: {failure}");
            if failures >= MAX_FAILURES {
                eprintln!("giving up after {failures} failures");
                break;
            }
        }
        if (index + 1) % (cases / 10).max(1) == 0 {
            let counts = on_a_line(&tally.to_text());
            eprintln!("{} of {cases} cases, {failures} failures: {counts}", index + 1);
        }
    }
    print!("seed={seed}\n{}different={failures}\n", tally.to_text());
    ExitCode::from(u8::from(failures > 0))
}
