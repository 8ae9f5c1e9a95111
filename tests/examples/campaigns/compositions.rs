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
    let failures = steps::run(cases, STEP, |from, count| run(seed, (first + from, count), &mut tally));
    let Tally { cases, schedules, scheduled, trees, legal, illegal, hashed, shown, .. } = tally;
    println!("seed={seed}\ncases={cases}\nschedules={}\nschedules_unfinished={}", schedules[0], schedules[1]);
    println!("programs_scheduled={scheduled}\ntrees={}\nedits_of_trees={}", trees[0], trees[1]);
    println!("legal={}\nof_these_written={}\nillegal={illegal}", legal[0], legal[1]);
    println!("of_these_with_hashes={hashed}\nof_these_other_memory={shown}");
    println!("of_these_other_results_alone={}\nof_these_out_of_scope={}", tally.computed, tally.out_of_scope);
    println!("of_these_other_writes_alone={}", tally.rewritten);
    println!("of_these_by_iterations_alone={}", tally.by_instance);
    println!("may_be_illegal={}", tally.unknown);
    println!("racing_by_themselves={}", tally.racing);
    println!("asked={}\nproved={}", tally.asked[0], tally.asked[1]);
    println!("calls_compared={}\ncalls_undefined={}\nfailures={failures}", tally.calls[0], tally.calls[1]);
    for (kind, [legal, illegal]) in tally.kinds {
        let kind = kind.replace([' ', '-'], "_");
        println!("{kind}_legal={legal}\n{kind}_illegal={illegal}");
    }
    for (why, count) in tally.not_hashed {
        println!("without_hashes_for_{}={count}", why.replace(' ', "_"));
    }
    for (kind, count) in tally.unseen {
        println!("same_memory_though_{}={count}", kind.to_lowercase());
    }
    ExitCode::from(u8::from(failures > 0))
}
