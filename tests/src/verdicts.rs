//! Verdicts of the checker about random pairs of programs: a random program and the output of a
//! pipeline, half of them with one [change](crate::mutations) that may be wrong.
//!
//! No verdict is believed. Pairs called equal are executed on inputs that the checker did not
//! choose. Pairs called different are executed on the input that it names. The interpreter is the
//! oracle of both.

use std::collections::BTreeMap;

use loomir::check::Assumption;
use loomir::check::execution::{Counterexample, Options};
use loomir::check::functions::{Verdict, check, prover};
use loomir::dialects::interp::Limits;
use loomir::ir::Body;

use crate::behaviour::{Ending, call, inputs, same_behaviour};
use crate::check::Checker;
use crate::generate::generate;
use crate::mutations::changed;
use crate::random::Random;

/// The maximal number of attempts at a valid change.
const CHANGES_TRIED: usize = 40;
/// The number of inputs on which the checker executes unproved outputs of a pass.
const INPUTS: usize = 8;
/// The number of inputs for each pair that the checker calls equal.
const ROUNDS: usize = 3;

/// Assumptions under which executions may differ.
const OPEN: [Assumption; 2] = [Assumption::NoRaces, Assumption::Reassociation];

/// The pipelines that make the second program of a pair.
const PIPELINES: [&str; 8] = [
    "loop-fusion{fusion-profitability=always}",
    "loop-fusion",
    "loop-fusion{fusion-profitability=always},array-contraction",
    "loop-distribute",
    "loop-strip-mine{size=3}",
    "loop-strip-mine{size=4},loop-fusion{fusion-profitability=always}",
    "loop-peel{first=1}",
    "loop-fusion{fusion-profitability=always},loop-distribute",
];

/// The judged pairs, by verdict.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Pairs with different texts.
    pub pairs: usize,
    /// Pairs with a change that may make the second program wrong.
    pub changed: usize,
    /// Pairs that were proved equal.
    pub equal: usize,
    /// Pairs among the equal ones that hold under a condition: no iterations of a parallel loop
    /// race, or floats may be rounded otherwise. Executions do not confirm these.
    pub open: usize,
    /// Pairs that differ on an input.
    pub different: usize,
    /// Undecided pairs.
    pub undecided: usize,
    /// Calls of pairs that the checker called equal.
    pub compared: usize,
    /// Undecided pairs that differ on an input chosen here.
    pub missed: usize,
    /// The first reason of each undecided pair without locations, and its count.
    pub reasons: BTreeMap<String, usize>,
}

/// Asks the checker whether a pass preserved a program. Returns true if that is proved. Other pairs
/// are executed on few inputs.
///
/// # Errors
/// A verdict that the two differ.
pub fn is_proved(before: &Body, after: &Body, distinct: bool) -> Result<bool, String> {
    let options = Options { inputs: INPUTS, distinct, ..Options::default() };
    let functions = check(before, after, Some("kernel"), None, &options, Some(&prover(distinct)));
    let mut is_proved = true;
    for function in functions {
        match function.verdict {
            Verdict::Identical | Verdict::Proved(_) => {}
            Verdict::Undecided(..) => is_proved = false,
            wrong => return Err(format!("the checker finds {wrong:?}")),
        }
    }
    Ok(is_proved)
}

/// Judges the pairs of these numbers.
///
/// # Errors
/// The first wrong verdict, with the programs.
pub fn run(seed: u64, (first, count): (u64, u64), tally: &mut Tally) -> Result<(), String> {
    let checker = Checker::default();
    for index in first..first + count {
        let mut random = Random::of_case(seed, index);
        let is_changed = index % 2 == 1;
        let Some((before, after)) = pair(&checker, is_changed, &mut random)? else { continue };
        tally.pairs += 1;
        tally.changed += usize::from(is_changed);
        judge((&before, &after), is_changed, &mut random, tally).map_err(|error| {
            format!(
                "case {index}: {error}\nbefore:\n{}\nafter:\n{}",
                loomir::print(&before),
                loomir::print(&after)
            )
        })?;
    }
    Ok(())
}

/// Returns a pair of programs with different texts. On request, the second program is `changed`.
fn pair(checker: &Checker, is_changed: bool, random: &mut Random) -> Result<Option<(Body, Body)>, String> {
    let text = generate(random).to_mlir().mlir;
    let before = checker.read(&text).map_err(|errors| checker.lines(&errors))?;
    let pipeline = format!("builtin.module(func.func({}))", random.pick(&PIPELINES));
    let after = checker.transformed(&pipeline, &text);
    let (after, _) = after.map_err(|errors| format!("{pipeline}: {}\n{text}", checker.lines(&errors)))?;
    let printed = loomir::print(&after);
    let wanted = match is_changed {
        true => {
            let mut changes = (0..CHANGES_TRIED).filter_map(|_| changed(&printed, random));
            changes.find_map(|text| checker.read(&text).ok())
        }
        false => Some(after),
    };
    Ok(wanted.filter(|after| loomir::print(after) != loomir::print(&before)).map(|after| (before, after)))
}

/// Asks the checker about a pair and tests the answer.
fn judge(
    (before, after): (&Body, &Body),
    is_changed: bool,
    random: &mut Random,
    tally: &mut Tally,
) -> Result<(), String> {
    let prover = prover(false);
    let functions = check(before, after, Some("kernel"), None, &Options::default(), Some(&prover));
    match functions.into_iter().next().map(|function| function.verdict) {
        Some(Verdict::Proved(under))
            if OPEN.iter().any(|own| under.iter().any(|text| text == own.message())) =>
        {
            // The interpreter runs one of the orders that are allowed.
            tally.equal += 1;
            tally.open += 1;
            Ok(())
        }
        Some(Verdict::Identical | Verdict::Proved(_)) => {
            tally.equal += 1;
            // A promise about an argument does not apply to calls that break it.
            let is_distinct = loomir::print(before).contains("llvm.noalias");
            for _ in 0..ROUNDS {
                let mut calls = inputs(before, "kernel", random).unwrap_or_default();
                if is_distinct {
                    calls.retain(|call| !call.iter().any(|argument| argument.starts_with('@')));
                }
                let agreement = same_behaviour(before, after, "kernel", &calls, &Limits::default());
                tally.compared += agreement.map_err(|error| format!("called equal: {error}"))?.compared;
            }
            Ok(())
        }
        Some(Verdict::Different(example)) => {
            tally.different += 1;
            confirm(before, after, &example)?;
            // What Loomir made is right.
            if is_changed { Ok(()) } else { Err("what a pass made is called different".to_owned()) }
        }
        Some(Verdict::Undecided(reasons, _)) => {
            tally.undecided += 1;
            let calls = inputs(before, "kernel", random).unwrap_or_default();
            let agreement = same_behaviour(before, after, "kernel", &calls, &Limits::default());
            tally.missed += usize::from(agreement.is_err());
            let reason = reasons.last().map_or("", |own| own.split(", at '").next().unwrap_or(own));
            let right = if is_changed { "changed" } else { "as made" };
            *tally.reasons.entry(format!("{right}: {reason}")).or_default() += 1;
            Ok(())
        }
        other => Err(format!("the two could not be compared: {other:?}")),
    }
}

/// Executes both programs on the input of a counterexample. They must differ.
fn confirm(before: &Body, after: &Body, example: &Counterexample) -> Result<(), String> {
    let limits = Limits::default();
    let expected = call(before, "kernel", &example.arguments, &limits)?;
    let actual = call(after, "kernel", &example.arguments, &limits)?;
    match expected != actual && !matches!(expected, Ending::Unspecified(_)) {
        true => Ok(()),
        false => Err(format!("called different on {}, and is not", example.arguments.join(", "))),
    }
}
