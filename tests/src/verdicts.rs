//! Verdicts of the checker about random pairs of programs: a random program and the output of a
//! pipeline, half of them with one [change](crate::mutations) that may be wrong.
//!
//! No verdict is believed. Pairs called equal are executed on inputs that the checker did not
//! choose. Pairs called different are executed on the input that it names. The interpreter is the
//! oracle of both.
//!
//! - Parallel loops of the second program run in several [orders](crate::orders). All must give
//!   what the first program gives.
//! - Pairs that are equal unless iterations of the first program race: the accesses of each of its
//!   runs are looked at, and it runs in several orders, too. Inputs that may race require nothing.
//! - Pairs that are equal up to the order of sums of floats: their [twins](crate::twin) are
//!   executed. Their sums have one result.

use std::collections::BTreeMap;

use loomir::check::Assumption;
use loomir::check::execution::{Counterexample, Options, Side, doubts};
use loomir::check::functions::{Verdict, check, prover, prover_within};
use loomir::check::proof::ProofOptions;
use loomir::dialects::interp::Limits;
use loomir::ir::Body;

use crate::behaviour::{Ending, call, inputs, retain_distinct, same_behaviour, show};
use crate::check::Checker;
use crate::generate::generate;
use crate::mutations::changed;
use crate::orders::reordered;
use crate::random::Random;
use crate::twin;

/// The maximal number of attempts at a valid change.
const CHANGES_TRIED: usize = 40;
/// The number of inputs on which the checker executes unproved outputs of a pass.
const INPUTS: usize = 8;
/// The number of inputs for each pair that the checker calls equal.
const ROUNDS: usize = 3;

/// The number of random orders of parallel loops, besides the usual one and its reverse.
const ORDERS: usize = 2;
/// The number of orders in which a first program runs before a difference counts.
const MANY_ORDERS: usize = 100;

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
    /// Pairs among the equal ones that hold only if no iterations of a parallel loop race, or only
    /// up to the order of sums of floats.
    pub conditional: usize,
    /// Pairs among the conditional ones that no execution confirms: each input lets iterations
    /// race, or the programs have no integer twins.
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

/// Asks the checker whether a pass preserved the function `entry` of a program. Returns true if it
/// proves that within the limits. Other pairs are executed on few inputs.
///
/// # Errors
/// A verdict that the two differ.
pub fn is_proved([before, after]: [&Body; 2], entry: &str, limits: ProofOptions) -> Result<bool, String> {
    Ok(unproved([before, after], entry, limits)?.is_empty())
}

/// Asks the checker as [`is_proved`] does. Returns the reasons for each function that it does not
/// prove, without their places.
///
/// # Errors
/// A verdict that the two differ.
pub fn unproved(
    [before, after]: [&Body; 2],
    entry: &str,
    limits: ProofOptions,
) -> Result<Vec<Vec<String>>, String> {
    let options = Options { inputs: INPUTS, distinct: limits.distinct, ..Options::default() };
    let functions = check(before, after, Some(entry), None, &options, Some(&prover_within(limits)));
    if functions.is_empty() {
        return Err(format!("there is no function @{entry} to compare"));
    }
    let mut unproved = Vec::new();
    for function in functions {
        match function.verdict {
            Verdict::Identical | Verdict::Proved(_) => {}
            Verdict::Undecided(reasons, _) => {
                unproved.push(reasons.iter().map(|reason| without_place(reason).to_owned()).collect());
            }
            wrong => return Err(format!("the checker finds {wrong:?}")),
        }
    }
    Ok(unproved)
}

/// Returns a reason of the checker without its place.
fn without_place(reason: &str) -> &str {
    reason.split(", at '").next().unwrap_or(reason)
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
        judge(&checker, (&before, &after), is_changed, &mut random, tally).map_err(|error| {
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
    checker: &Checker,
    (before, after): (&Body, &Body),
    is_changed: bool,
    random: &mut Random,
    tally: &mut Tally,
) -> Result<(), String> {
    let prover = prover(false);
    let functions = check(before, after, Some("kernel"), None, &Options::default(), Some(&prover));
    match functions.into_iter().next().map(|function| function.verdict) {
        Some(Verdict::Identical) => confirm_equality(checker, (before, after), &[], random, tally),
        Some(Verdict::Proved(under)) => confirm_equality(checker, (before, after), &under, random, tally),
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
            let reason = reasons.last().map_or("", |own| without_place(own));
            let right = if is_changed { "changed" } else { "as made" };
            *tally.reasons.entry(format!("{right}: {reason}")).or_default() += 1;
            Ok(())
        }
        other => Err(format!("the two could not be compared: {other:?}")),
    }
}

/// Executes two programs that are called equal under these assumptions.
fn confirm_equality(
    checker: &Checker,
    (before, after): (&Body, &Body),
    under: &[String],
    random: &mut Random,
    tally: &mut Tally,
) -> Result<(), String> {
    let is_assumed = |assumption: Assumption| under.iter().any(|text| text == assumption.message());
    let (may_race, may_round) = (is_assumed(Assumption::NoRaces), is_assumed(Assumption::Reassociation));
    tally.equal += 1;
    tally.conditional += usize::from(may_race || may_round);
    let texts = [before, after].map(loomir::print);
    // A promise about an argument does not apply to calls that break it.
    let is_distinct = texts[0].contains("llvm.noalias");
    let compared = if may_round { twin::compared(&texts[0], &texts[1]) } else { texts.clone() };
    if may_round && compared == texts {
        tally.open += 1;
        return Ok(());
    }
    let orders = [orders(checker, &compared[0], random)?, orders(checker, &compared[1], random)?];
    let mut count = 0;
    for _ in 0..ROUNDS {
        let mut calls = inputs(&orders[0][0], "kernel", random).unwrap_or_default();
        if is_distinct {
            retain_distinct(&mut calls);
        }
        let side = Side { module: &orders[0][0], symbols: None, name: "kernel" };
        for call in calls {
            let races = orders.iter().any(|own| own.len() > 1) && doubts::may_race(side, &call);
            if races && may_race {
                continue;
            }
            // The interpreter's own order is one of those that a race leaves open.
            let asked = orders.each_ref().map(|own| if races { &own[..1] } else { &own[..] });
            match agree(asked, &call) {
                Ok(agrees) => count += usize::from(agrees),
                Err(_) if !races && depends_on_order(checker, &compared[0], &call, random)? => {}
                Err(error) => return Err(format!("called equal: {error}")),
            }
        }
    }
    tally.compared += count;
    tally.open += usize::from(count == 0 && (may_race || may_round));
    Ok(())
}

/// Returns a program, and it with its parallel loops in other orders.
fn orders(checker: &Checker, text: &str, random: &mut Random) -> Result<Vec<Body>, String> {
    let mut texts = vec![text.to_owned()];
    if text.contains("scf.parallel") {
        texts.push(reordered(text, None));
        texts.extend((0..ORDERS).map(|_| reordered(text, Some(random))));
    }
    texts.iter().map(|text| checker.read(text).map_err(|errors| checker.lines(&errors))).collect()
}

/// True if one of many orders of its parallel loops lets a program end in another way.
fn depends_on_order(
    checker: &Checker,
    text: &str,
    input: &[String],
    random: &mut Random,
) -> Result<bool, String> {
    let mut expected = None;
    for order in 0..MANY_ORDERS {
        let text = if order == 0 { text.to_owned() } else { reordered(text, Some(random)) };
        let body = checker.read(&text).map_err(|errors| checker.lines(&errors))?;
        let ending = call(&body, "kernel", input, &Limits::default())?;
        if expected.as_ref().is_some_and(|own| *own != ending) {
            return Ok(true);
        }
        expected = Some(ending);
    }
    Ok(false)
}

/// Executes two programs in all orders. True if the first one gives the same in all of its orders.
///
/// # Errors
/// If so, and if the second one gives something else in one of its orders.
fn agree([before, after]: [&[Body]; 2], input: &[String]) -> Result<bool, String> {
    let limits = Limits::default();
    let mut expected = None;
    for body in before {
        let ending = call(body, "kernel", input, &limits)?;
        if matches!(ending, Ending::Unspecified(_)) || expected.as_ref().is_some_and(|own| *own != ending) {
            return Ok(false);
        }
        expected = Some(ending);
    }
    let Some(expected) = expected else { return Ok(false) };
    // Duplicated work takes longer. Only the original is held to the given limits.
    let limits = Limits { steps: limits.steps.saturating_mul(8), ..limits };
    for (order, body) in after.iter().enumerate() {
        let actual = call(body, "kernel", input, &limits)?;
        if actual != expected {
            let (input, expected, actual) = (input.join(", "), show(&expected), show(&actual));
            return Err(format!(
                "@kernel({input}) differs in order {order}\nbefore: {expected}after: {actual}"
            ));
        }
    }
    Ok(true)
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
