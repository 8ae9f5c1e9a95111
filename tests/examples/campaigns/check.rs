//! The campaign on the checker.

use std::process::ExitCode;

use loomir_tests::verdicts::{Tally, run};

use crate::steps::{self, option};

/// The number of programs between two progress reports.
const STEP: u64 = 500;
/// The limit on undecided pairs out of 100. A campaign has 3 or 4; a sample of it varies.
const UNDECIDED: usize = 8;

pub(crate) fn main() -> ExitCode {
    let (cases, seed) = (option("--cases").unwrap_or(20_000), option("--seed").unwrap_or(1));
    let mut tally = Tally::default();
    let failures =
        steps::run((cases, STEP), &mut tally, counts, |first, count, tally| run(seed, (first, count), tally));
    tally.reasons.iter().for_each(|(reason, count)| eprintln!("{count} not decided, {reason}"));
    println!("seed={seed}\ncases={cases}\n{}failures={failures}", counts(&tally));
    let is_vague = tally.undecided * 100 > UNDECIDED * tally.pairs;
    ExitCode::from(u8::from(failures > 0 || is_vague))
}

fn counts(tally: &Tally) -> String {
    let Tally { pairs, changed, equal, conditional, open, different, undecided, compared, missed, .. } =
        tally;
    format!(
        "pairs={pairs}\nchanged={changed}\nequal={equal}\nconditional={conditional}\nopen={open}\n\
         different={different}\nundecided={undecided}\nmissed={missed}\ncalls_compared={compared}\n"
    )
}
