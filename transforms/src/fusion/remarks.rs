//! Remarks of fusion about a pair of loops: their fusion, or the reason against it with the two
//! accesses and the iterations that would go wrong.
//!
//! The names in brackets are those of LLVM's `loop-fusion`, if it has one for the reason.

use loomir_dialects::interfaces::{LoopLike, ParallelLike};
use loomir_dialects::scf;
use loomir_ir::diagnostics::{Arg, Fields};
use loomir_ir::{Body, Diagnostic, Loc, Op};

use super::decision::{Attempt, Change, Conflict, Missed, Stuck, Which};
use super::group::Joined;
use super::{Alignment, Plan};
use crate::access::callees::Callees;
use crate::assumption::Assumption;
use crate::cost::{Loss, Saving};
use crate::legality::Verdict;
use crate::remark::{self, Remarks};

/// Returns the remarks of the pass on a function.
pub(super) fn remarks(body: &Body) -> Remarks<'_> {
    Remarks { body, pass: super::NAME }
}

/// Returns the remark about a fused loop that takes two iterations at a time.
pub(super) fn jammed(body: &Body, place: Loc) -> Diagnostic {
    let text = "Two iterations of the fused loop run at a time: its sums wait for each other";
    remarks(body).passed("UnrolledAndJammed", place, text)
}

/// Returns the remark about a fused pair, one of them perhaps from a conditional, that makes a loop
/// of several loops now. Must be called before the bodies are moved.
pub(super) fn fused(
    body: &Body,
    (first, second): (Op, Op),
    conditional: Option<Op>,
    attempt: &Attempt,
    loops: usize,
) -> Diagnostic {
    let Plan { way, joined, reshaped, assumed, .. } = &attempt.plan;
    let name = |which| if which == Which::First { "first" } else { "second" };
    let (shape, rest) = match reshaped.change {
        None => (String::new(), None),
        Some(Change::Backwards) => (", the first run backwards".to_owned(), None),
        Some(Change::Interchanged(which)) => {
            (format!(", the loops of the {} interchanged", name(which)), None)
        }
        Some(Change::Blocks(which, size)) => {
            (format!(", {size} iterations of the {} at a time", name(which)), None)
        }
        Some(Change::InAnyOrder(which)) => (format!(", the {} run in any order", name(which)), None),
        Some(Change::Distributed(which, rest)) => (format!(", a part of the {}", name(which)), Some(rest)),
    };
    let of_shape = |change: &Change| -> Fields {
        let (how, which) = match change {
            Change::Backwards => ("backwards", Which::First),
            Change::Interchanged(which) => ("interchanged", *which),
            Change::Blocks(which, _) => ("in blocks", *which),
            Change::InAnyOrder(which) => ("in any order", *which),
            Change::Distributed(which, _) => ("distributed", *which),
        };
        vec![("how", how.into()), ("which", name(which).into())]
    };
    let shift = match way {
        Alignment::Later { least, block } => least.saturating_add(*block),
        Alignment::AsItIs | Alignment::Backwards(_) => 0,
    };
    let (at_values, later) = alignment(way, joined);
    let remark = remarks(body)
        .passed("Fused", body.loc(second), &format!("Loops fused{shape}{at_values}{later}"))
        .note(body.loc(first), "with this loop")
        .arg("first", body.loc(first))
        .arg("loops", loops)
        .arg("shift", shift)
        .arg("backwards", matches!(way, Alignment::Backwards(_)))
        .arg("whole", joined.whole)
        .arg("at_equal_values", joined.is_moved())
        .arg("reshaped", reshaped.change.as_ref().map(of_shape))
        .arg("saved_cycles", attempt.saved_cycles())
        .arg("assumes", assumed.iter().map(|own| own.text(body)).collect::<Arg>());
    let remark = match rest {
        Some(op) => remark.note(body.loc(op), "what stays a loop of its own begins here"),
        None => remark,
    };
    let remark = match conditional {
        Some(op) => remark.note(body.loc(op), "this condition is asked inside").arg("inside", body.loc(op)),
        None => remark,
    };
    let remark = match attempt.saving.loses_lanes() {
        true => {
            let why = match &attempt.saving {
                Saving { memory_bound: Some(_), .. } => "memory is the bound of long loops",
                Saving { cycles: 0.0.., .. } => "the saving outweighs this",
                _ => "the grouping saves more",
            };
            let note = format!("vector instructions are lost: {why}");
            remark.note(body.loc(second), note).arg("loses_lanes", true)
        }
        false => remark,
    };
    let numbers = assumed.iter().filter(|assumption| !matches!(assumption, Assumption::Apart(..)));
    numbers.fold(remark, |remark, assumption| {
        remark.note(body.loc(second), format!("assumes {}", assumption.text(body)))
    })
}

/// Returns how two loops come together: at which values, and how much later the second one.
fn alignment(way: &Alignment, joined: &Joined) -> (&'static str, String) {
    let later = match way {
        Alignment::AsItIs if joined.whole => String::new(),
        Alignment::AsItIs => " in the iterations both have".to_owned(),
        Alignment::Later { least: 1, block: 0 } => ", the second one iteration later".to_owned(),
        Alignment::Later { least, block } => format!(", the second {} iterations later", least + block),
        Alignment::Backwards(_) => ", the second run backwards".to_owned(),
    };
    let at_values = " at equal values of the induction variables";
    match way {
        _ if !joined.is_moved() => ("", later),
        Alignment::AsItIs => (at_values, String::new()),
        _ => (at_values, later),
    }
}

/// Returns the remark about two conditionals of one condition that were joined.
pub(super) fn merged(body: &Body, first: Op, second: Op) -> Diagnostic {
    remarks(body)
        .passed("Merged", body.loc(second), "Conditionals of one condition merged")
        .note(body.loc(first), "with this one")
        .arg("first", body.loc(first))
}

/// Returns the remark about conditionals that cannot be merged because of an entry between them.
pub(super) fn not_merged(body: &Body, callees: &Callees, first: Op, second: Op, stuck: &Stuck) -> Diagnostic {
    let why = format!("Between them stands '{}', which cannot move", body.op_ref(stuck.op).name());
    let what = "Conditionals of one condition not merged";
    let remark = remarks(body)
        .missed("NonAdjacent", body.loc(second), what, &why)
        .note(body.loc(first), "the first one is here")
        .arg("first", body.loc(first));
    cannot_move(body, callees, remark, stuck)
}

/// Adds the reasons why an entry between two others can move neither way.
fn cannot_move(body: &Body, callees: &Callees, remark: Diagnostic, stuck: &Stuck) -> Diagnostic {
    let place = body.loc(stuck.op);
    let remark = remark.note(place, "it stands here").arg("between", remark::op(body, stuck.op));
    let remark = match &stuck.hoisting {
        Some(Conflict::UsesResult) => remark.note(place, "it uses a value computed between the loops"),
        Some(Conflict::Touches(verdict)) => verdict.explain(body, remark, "with that moved before the first"),
        None => remark,
    };
    let remark = match &stuck.passing {
        Some(Conflict::UsesResult) => remark.note(place, "the second loop uses a value that it computes"),
        Some(Conflict::Touches(verdict)) => verdict.explain(body, remark, "with the second moved before it"),
        None => remark,
    };
    let told = |conflict: &Option<Conflict>| match conflict {
        Some(Conflict::Touches(verdict)) => Some(verdict.clone()),
        _ => None,
    };
    match told(&stuck.hoisting).or_else(|| told(&stuck.passing)) {
        Some(verdict) => verdict.explain_calls(body, callees, remark),
        None => remark,
    }
}

/// Returns the remark about a loop that is a statement of the tree. `None` if it is no loop.
pub(super) fn no_candidate(body: &Body, op: Op) -> Option<Diagnostic> {
    let (name, why) = if body.is(op, scf::WhileOp::DEF) {
        ("UnknownTripCount", "Loop has unknown trip count")
    } else if body.info(op).interface::<dyn ParallelLike>().is_some() {
        ("CombinesValues", "Its iterations combine values")
    } else if body.info(op).interface::<dyn LoopLike>().is_some_and(|own| own.is_unsigned(body.op_ref(op))) {
        ("UnknownTripCount", "It may run 2^63 times, and has loops inside")
    } else {
        return None;
    };
    Some(remarks(body).unfit(name, body.loc(op), "Loop is not a candidate for fusion", why))
}

/// Returns the remark about a loop that is not tried with the loop before, because of conditions
/// that only one of them has.
pub(super) fn under_conditions(
    body: &Body,
    (first, second): (Op, Op),
    [first_has, second_has]: [Option<Op>; 2],
) -> Diagnostic {
    let (name, why) = match (first_has, second_has) {
        (Some(_), Some(_)) => ("NonIdenticalGuards", "the loop before has another condition"),
        (Some(_), None) => ("NonIdenticalGuards", "only the loop before has a condition"),
        _ => ("OnlySecondCandidateIsGuarded", "the loop before has no condition"),
    };
    let remark = remarks(body)
        .unfit(name, body.loc(second), "Loop not fused", why)
        .note(body.loc(first), "the loop before is here")
        .arg("first", body.loc(first));
    let help = "put both loops under one condition; asking it inside was not possible or did not pay";
    let conditions = [first_has, second_has].into_iter().flatten();
    conditions.fold(remark, |remark, op| remark.note(body.loc(op), "this is a condition")).help(help)
}

/// Returns the remark about a sequence with this first loop, in which loops are fused with others
/// than the nearest.
pub(super) fn regrouped(body: &Body, first: Op, more: f64, steps: usize, is_optimal: bool) -> Diagnostic {
    let found = if is_optimal { "optimal" } else { "the best of a bounded search" };
    let text = format!(
        "Loops from here on grouped so that most is saved: {} more than one after the other ({found}, {steps} steps)",
        cycles(more),
    );
    remarks(body)
        .analysis("Regrouped", body.loc(first), &text)
        .arg("saved_cycles", more.ceil() as i64)
        .arg("optimal", is_optimal)
        .arg("steps", steps)
}

/// Returns the reason why fusion is not profitable.
fn not_beneficial(saving: &Saving) -> String {
    let why = match saving.worst() {
        Some(Loss::Footprint { bytes, cache: Some((name, size)) }) => {
            let (touched, size) = (kib(*bytes), kib(*size));
            format!(
                "an iteration of both would touch {touched}, more than the {size} that the {name} cache holds"
            )
        }
        Some(Loss::Footprint { bytes, cache: None }) => {
            format!("an iteration of both would touch {}, too much for the caches", kib(*bytes))
        }
        Some(Loss::Vectorization { carried: true }) => {
            "the fused loop would load what few iterations before it stored, so it would not be vectorized"
                .into()
        }
        Some(Loss::Vectorization { carried: false }) => {
            "one of the loops can be vectorized, the fused one cannot".into()
        }
        Some(Loss::Registers { live, registers }) => {
            format!("{live} values would be live across the body, of which {registers} are in registers")
        }
        Some(Loss::Pages { loads }) => {
            let loads = counted(*loads, "load");
            format!("{loads} would wait for a store at the same place of another page of 4,096 bytes")
        }
        None if saving.comparisons > 0 => {
            format!("{} of numbers would be made before it", counted(saving.comparisons, "comparison"))
        }
        None => "nothing is saved".into(),
    };
    format!("It would take {} more: {why}", cycles(-saving.cycles))
}

/// Formats a number of things.
fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn cycles(count: f64) -> String {
    match count.ceil() {
        1.0 => "1 cycle".to_owned(),
        count => format!("{count:.0} cycles"),
    }
}

/// Formats a number of bytes for readers.
fn kib(bytes: u64) -> String {
    if bytes < 1024 { format!("{bytes} bytes") } else { format!("{} KiB", bytes.div_ceil(1024)) }
}

/// Returns the name of a refusal, and its reason in words.
fn reason(body: &Body, why: &Missed) -> (&'static str, String) {
    match why {
        Missed::DifferentKinds => ("DifferentKinds", "The loops are of different kinds".to_owned()),
        Missed::CombinesValues => (
            "CombinesValues",
            "Iterations combine values, and not all dimensions of both loops can be fused".to_owned(),
        ),
        Missed::Unsigned(_) => ("UnknownTripCount", "A loop counts in unsigned numbers".to_owned()),
        Missed::UnknownStep => ("UnknownTripCount", "A step is not a known positive number".to_owned()),
        Missed::Steps(a, b) => ("NonEqualStep", format!("Loop steps are not the same: {a} and {b}")),
        Missed::TripCounts(a, b) => {
            let counts = match (a, b) {
                (Some(a), Some(b)) => format!(": {a} and {b}"),
                _ => String::new(),
            };
            ("NonEqualTripCount", format!("Loop trip counts are not the same{counts}"))
        }
        Missed::NoCommonIterations => (
            "NoCommonIterations",
            "The loops have no iterations in common: one begins where the other has ended".to_owned(),
        ),
        Missed::UnknownOffset => {
            ("UnknownOffset", "The lower bounds differ by a number that is known at run time only".to_owned())
        }
        Missed::NothingShared => (
            "NonEqualTripCount",
            "Loop trip counts are not the same, and the loops have no memory in common".to_owned(),
        ),
        Missed::GuardedAlone => (
            "FusionNotBeneficial",
            "One of the loops has a condition, and the loops have no memory in common".to_owned(),
        ),
        Missed::UsesResult(_) => {
            ("InvalidDependencies", "The second loop uses a result of the first".to_owned())
        }
        Missed::NonAdjacent(stuck) => (
            "NonAdjacent",
            format!("Between the loops stands '{}', which cannot move", body.op_ref(stuck.op).name()),
        ),
        Missed::CannotBeCut => (
            "NonEqualTripCount",
            "The loops run different iterations, and what not both have is bounded by neither a value nor a bound of its loop and a number"
                .to_owned(),
        ),
        Missed::TooManyTests(pairs) => {
            ("InvalidDependencies", format!("{pairs} pairs of arguments would have to be tested for overlap"))
        }
        Missed::TooManyAssumptions(all) => {
            ("InvalidDependencies", format!("{} would have to be tested", counted(*all, "assumption")))
        }
        Missed::Dependences(_) => ("InvalidDependencies", "Dependencies prevent fusion".to_owned()),
        Missed::AtEqualValues(_) => (
            "InvalidDependencies",
            "Dependencies prevent fusion at equal values of the induction variables".to_owned(),
        ),
        Missed::TooLate { shift, most, .. } => (
            "InvalidDependencies",
            format!(
                "Dependencies prevent fusion: the second would have to run {} later; --max-shift={most} is the limit",
                counted(*shift as usize, "iteration")
            ),
        ),
        Missed::NotBeneficial(saving) => ("FusionNotBeneficial", not_beneficial(saving)),
        Missed::OthersSaveMore => {
            ("FusionNotBeneficial", "Fusing other loops of the block instead saves more".to_owned())
        }
        Missed::InOrder(_) => {
            ("InvalidDependencies", "The iterations of both together may not run in any order".to_owned())
        }
    }
}

/// Returns the remark about a pair that was refused.
pub(super) fn missed(body: &Body, callees: &Callees, first: Op, second: Op, why: &Missed) -> Diagnostic {
    let (id, reason) = reason(body, why);
    let remark = remarks(body)
        .missed(id, body.loc(second), "Loops not fused", &reason)
        .note(body.loc(first), "the first loop is here")
        .arg("first", body.loc(first));
    let explained = |verdict: &Verdict, remark, then| {
        verdict.explain_calls(body, callees, verdict.explain(body, remark, then))
    };
    match why {
        Missed::Unsigned(op) => remark.note(body.loc(*op), "this one").arg("unsigned", body.loc(*op)),
        Missed::Steps(a, b) => remark.arg("steps", [*a, *b].into_iter().collect::<Arg>()),
        Missed::TripCounts(a, b) => remark.arg("trip_counts", [*a, *b].into_iter().collect::<Arg>()),
        Missed::TooManyTests(tests) | Missed::TooManyAssumptions(tests) => remark.arg("tests", *tests),
        Missed::NotBeneficial(saving) => remark.arg("saved_cycles", saving.cycles.round() as i64),
        Missed::UsesResult(op) => {
            remark.note(body.loc(*op), "it is used here").arg("use", remark::op(body, *op))
        }
        Missed::NonAdjacent(stuck) => cannot_move(body, callees, remark, stuck),
        Missed::Dependences(verdict) => explained(verdict, remark, "fused"),
        Missed::AtEqualValues(verdict) => explained(verdict, remark.arg("at_equal_values", true), "fused"),
        Missed::TooLate { shift, most, verdict } => {
            let remark = remark.arg("shift", *shift).arg("max_shift", *most);
            explained(verdict, remark, "fused")
        }
        Missed::InOrder(verdict) => explained(verdict, remark, "in another order"),
        _ => remark,
    }
}
