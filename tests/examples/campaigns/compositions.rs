//! The campaign on compositions of edits.

use std::process::ExitCode;

use loomir_tests::compositions::{Tally, run};

use crate::steps::{self, option};

/// The number of programs between two progress reports.
const STEP: u64 = 500;

pub(crate) fn main() -> ExitCode {
    let (cases, seed) = (option("--cases").unwrap_or(20_000), option("--seed").unwrap_or(1));
    let first = option("--first").unwrap_or(0);
    let mut tally = Tally::default();
    let failures = steps::run((cases, STEP), &mut tally, counts, |from, count, tally| {
        run(seed, (first + from, count), tally)
    });
    println!("seed={seed}\n{}failures={failures}", counts(&tally));
    ExitCode::from(u8::from(failures > 0))
}

fn counts(tally: &Tally) -> String {
    let Tally { cases, schedules, scheduled, trees, legal, illegal, hashed, shown, .. } = tally;
    let mut text =
        format!("cases={cases}\nschedules={}\nschedules_unfinished={}\n", schedules[0], schedules[1]);
    text += &format!("programs_scheduled={scheduled}\ntrees={}\nedits_of_trees={}\n", trees[0], trees[1]);
    text += &format!("legal={}\nof_these_written={}\nillegal={illegal}\n", legal[0], legal[1]);
    text += &format!("of_these_with_hashes={hashed}\nof_these_other_memory={shown}\n");
    let Tally { computed, out_of_scope, rewritten, by_instance, unknown, racing, asked, calls, .. } = tally;
    text += &format!("of_these_other_results_alone={computed}\nof_these_out_of_scope={out_of_scope}\n");
    text += &format!("of_these_other_writes_alone={rewritten}\nof_these_by_iterations_alone={by_instance}\n");
    text += &format!("may_be_illegal={unknown}\nracing_by_themselves={racing}\n");
    text += &format!("asked={}\nproved={}\n", asked[0], asked[1]);
    text += &format!("calls_compared={}\ncalls_undefined={}\n", calls[0], calls[1]);
    for (kind, [legal, illegal]) in &tally.kinds {
        let kind = kind.replace([' ', '-'], "_");
        text += &format!("{kind}_legal={legal}\n{kind}_illegal={illegal}\n");
    }
    for (why, count) in &tally.not_hashed {
        text += &format!("without_hashes_for_{}={count}\n", why.replace(' ', "_"));
    }
    for (kind, count) in &tally.unseen {
        text += &format!("same_memory_though_{}={count}\n", kind.to_lowercase());
    }
    text
}
