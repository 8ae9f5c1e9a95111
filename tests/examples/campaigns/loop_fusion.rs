//! The campaign on fusion of control flow graphs beside `opt`. With `--case I`, it prints the
//! text of one case.

use std::process::ExitCode;

use loomir_tests::neighbours::CALLED;
use loomir_tests::pairs::compared::{Rival, Tally, case, run};
use loomir_tests::peers::Peer;

use crate::steps::{self, option};

/// The number of functions between two progress reports.
const STEP: u64 = 1000;

pub(crate) fn main() -> ExitCode {
    let (cases, seed) = (option("--cases").unwrap_or(20_000), option("--seed").unwrap_or(1));
    if let Some(index) = option("--case") {
        print!("{CALLED}{}", case(seed, index).1.text);
        return ExitCode::SUCCESS;
    }
    let Some(opt) = Peer::find("opt") else {
        eprintln!("LOOMIR_LLVM does not say where opt is: nothing to compare with");
        println!("seed={seed}\ncases=0");
        return ExitCode::SUCCESS;
    };
    let mut tally = Tally::default();
    let failures = steps::run((cases, STEP), &mut tally, counts, |first, count, tally| {
        run(seed, first, count, &opt, tally)
    });
    println!("seed={seed}\n{}functions_loomir_gets_wrong={failures}", counts(&tally));
    for (reason, example) in tally.plain.examples.iter().chain(&tally.peeling.examples) {
        eprintln!("{reason}: {example}");
    }
    let missed = tally.plain.missed + tally.peeling.missed;
    ExitCode::from(u8::from(failures > 0 || missed > 0))
}

fn counts(tally: &Tally) -> String {
    let mut text = format!("cases={}\nloops={}\nruns={}\n", tally.cases, tally.loops, tally.runs);
    text += &format!("pairs_fused_by_loomir={}\n", tally.ours);
    text + &counts_of("opt", &tally.plain) + &counts_of("opt_peeling_3", &tally.peeling)
}

fn counts_of(name: &str, rival: &Rival) -> String {
    let Rival {
        crashed,
        fused,
        wrong,
        pairs,
        both,
        otherwise,
        ordered,
        unreturned,
        turned,
        missed,
        ours_alone,
        ..
    } = rival;
    let mut text = format!(
        "functions_{name}_crashes_on={crashed}\nfunctions_{name}_fuses_loops_of={fused}\n\
         functions_{name}_gets_wrong={wrong}\npairs_{name}_fuses_rightly={pairs}\nof_these_both={both}\n\
         of_these_loomir_fuses_one_with_another={otherwise}\nof_these_with_ordered_atomics={ordered}\n\
         of_these_past_what_may_not_return={unreturned}\nof_these_against_a_dependence={turned}\n\
         of_these_{name}_alone={missed}\npairs_loomir_fuses_and_{name}_does_not={ours_alone}\n"
    );
    for (reason, count) in &rival.reasons {
        text += &format!("{name}_alone_because_{}={count}\n", reason.replace([' ', ':', '='], "_"));
    }
    text
}
