//! What fusion says of a pair of loops: that it fused them, or why not, with two accesses and the iterations that would go wrong.
//!
//! The names in brackets are those of the remarks of LLVM's `loop-fusion`. A loop is shown by the branch of its latch.

use loomir_ir::diagnostics::Arg;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Body, Diagnostic, Loc, Op};
use loomir_transforms::legality::Verdict;
use loomir_transforms::remark::{self, Remarks};

use super::candidate::{Candidate, Unfit};
use super::def_use::Entangled;
use super::motion::Stuck;
use super::rewire::Plan;
use super::strategy::Strategy;
use super::summary::{Barrier, Count};
use crate::cfg::Analysis;

/// Why a pair was not fused.
#[derive(Clone, Debug)]
pub(super) enum Missed {
    /// How often they run.
    TripCounts(Option<Count>, Option<Count>),
    /// Only one is behind a guard.
    OneGuard,
    /// Both are, behind different ones.
    Guards,
    /// Something else leads to where the second is entered.
    NonAdjacent,
    /// An operation in the second loop, or what enters it, uses a result of the first.
    UsesResult(Entangled),
    /// One of them may not end or return, for this reason, and an operation of the other would run although it must not, or not although it must.
    EndsEarly(Barrier, Op),
    /// A dependence is turned around, or may be.
    Dependences(Verdict),
    /// Numbers of iterations leave 64 bits.
    Unnumbered,
    /// What stands between them stays there.
    Stuck(Stuck),
}

/// The remark for a pair that was fused so, where a test holds if there is one.
pub(super) fn fused(
    function: &Body,
    [first, second]: [Option<Op>; 2],
    plan: &Plan,
    is_tested: bool,
) -> Diagnostic {
    let Plan { def_use, remainders, .. } = plan;
    let front = match remainders.peeled {
        0 => String::new(),
        1 => ", after one iteration of the first".to_owned(),
        peeled => format!(", after {peeled} iterations of the first"),
    };
    let behind = match remainders.behind {
        [false, false] => "",
        [true, false] => ", before the rest of the first",
        [false, true] => ", before the rest of the second",
        [true, true] => ", before the rest of either",
    };
    let tested = if is_tested { ", where both run" } else { "" };
    let text = format!("Loops fused{front}{behind}{tested}");
    let remark = remarks(function).passed("Fused", place(function, second), &text);
    let mut remark = note(remark, function, first, "with this loop");
    for op in &def_use.hoisted {
        remark = note(remark, function, Some(*op), "this runs once, in front of both, now");
    }
    for op in &def_use.sunk {
        remark = note(remark, function, Some(*op), "this runs once, behind both, now");
    }
    for op in &plan.motion.kept {
        remark = note(remark, function, Some(*op), &kept(plan.motion.kept_behind));
    }
    remark
        .arg("first", place(function, first))
        .arg("hoisted", plan.hoisted().count())
        .arg("sunk", plan.sunk().count())
        .arg("kept", plan.motion.kept.len())
        .arg("peeled", remainders.peeled as usize)
        .arg("versioned", is_tested)
        .arg("remainders", remainders.behind.iter().filter(|rest| **rest).count())
}

/// Where an operation runs that is kept between.
fn kept(behind: u32) -> String {
    match behind {
        1 => "this runs behind the first iteration of that one now".to_owned(),
        behind => format!("this runs behind the first {behind} iterations of that one now"),
    }
}

/// The remark for a pair that was not, as far as a strategy tells.
pub(super) fn missed(
    function: &Body,
    [first, second]: [Option<Op>; 2],
    why: &Missed,
    strategy: Strategy,
) -> Diagnostic {
    let remark = missed_for(function, [first, second], why, strategy);
    let is_told = matches!(why, Missed::Dependences(_) | Missed::Stuck(_));
    match strategy {
        Strategy::Scev | Strategy::Da | Strategy::All if is_told && remark.help.is_none() => {
            remark.help("dependence-analysis=polyhedral is exact")
        }
        _ => remark,
    }
}

fn missed_for(
    function: &Body,
    [first, second]: [Option<Op>; 2],
    why: &Missed,
    strategy: Strategy,
) -> Diagnostic {
    let (name, text) = match why {
        Missed::TripCounts(a, b) => ("NonEqualTripCount", counts(*a, *b)),
        Missed::Unnumbered => {
            ("NonEqualTripCount", "The shift of the second loop has more than 64 bits".to_owned())
        }
        Missed::OneGuard => (
            "OnlySecondCandidateIsGuarded",
            "One of the loops is behind a guard while the other is not".to_owned(),
        ),
        Missed::Guards => ("NonIdenticalGuards", "The loops are behind different guards".to_owned()),
        Missed::NonAdjacent => ("NonAdjacent", "The second loop is entered from elsewhere too".to_owned()),
        Missed::UsesResult(_) => {
            ("InvalidDependencies", "The second loop uses what the first computes".to_owned())
        }
        Missed::EndsEarly(Barrier::Endless(_), _) => {
            ("MayThrowException", "A loop in one of them may not end".to_owned())
        }
        Missed::EndsEarly(..) => ("MayThrowException", "A call in one of them may not return".to_owned()),
        Missed::Dependences(Verdict::MayBeIllegal(_)) if strategy != Strategy::Polyhedral => {
            let text = format!("A dependence may be turned around, for all that '{}' tells", strategy.name());
            ("InvalidDependencies", text)
        }
        Missed::Dependences(_) => ("InvalidDependencies", "A dependence would be turned around".to_owned()),
        Missed::Stuck(Stuck::Behind(_)) => {
            ("NonEmptyExitBlock", "An operation behind the first loop cannot move".to_owned())
        }
        Missed::Stuck(Stuck::AtGuard(_)) => {
            ("NonEmptyGuardBlock", "An operation at the second loop's guard cannot move".to_owned())
        }
        Missed::Stuck(Stuck::Ahead(_)) => {
            ("NonEmptyPreheader", "An operation in front of the second loop cannot move".to_owned())
        }
    };
    let remark = remarks(function).missed(name, place(function, second), "Loops not fused", &text);
    let remark = note(remark, function, first, "the first loop is here").arg("first", place(function, first));
    match why {
        Missed::TripCounts(a, b) => {
            remark.arg("trip_counts", [*a, *b].map(times).into_iter().collect::<Arg>())
        }
        Missed::EndsEarly(barrier, op) => {
            let remark = note(remark, function, Some(barrier.op()), "it is here");
            let remark = note(remark, function, Some(*op), "this would run too early then, or never");
            remark.arg("for", remark::op(function, barrier.op())).arg("moved", remark::op(function, *op))
        }
        Missed::UsesResult(Entangled { op, why }) => {
            note(remark, function, Some(*op), why).arg("use", remark::op(function, *op))
        }
        Missed::Stuck(Stuck::Behind(op) | Stuck::AtGuard(op) | Stuck::Ahead(op)) => {
            note(remark, function, Some(*op), "it stands here").arg("between", remark::op(function, *op))
        }
        Missed::Dependences(verdict) => verdict.explain(function, remark, "fused"),
        _ => remark,
    }
}

/// How often a loop runs, where that is a number. The backedge is taken once less.
fn times(count: Option<Count>) -> Option<i64> {
    match count {
        Some(Count::Constant(taken)) => i64::try_from(taken).ok()?.checked_add(1),
        _ => None,
    }
}

fn counts(first: Option<Count>, second: Option<Count>) -> String {
    // The backedge is taken once less.
    match (first, second) {
        (Some(Count::Constant(a)), Some(Count::Constant(b))) => {
            format!("The first loop runs {} times, the second {}", a.saturating_add(1), b.saturating_add(1))
        }
        _ => "The loops are not known to run equally often".to_owned(),
    }
}

/// The remark for two loops between which this operation branches.
pub(super) fn apart(function: &Body, pair: [&Candidate; 2], between: Option<Op>) -> Diagnostic {
    let [first, second] = pair.map(|own| function.terminator(own.latch));
    let text = "What runs between the loops branches";
    let remark = remarks(function).missed("NonAdjacent", place(function, second), "Loops not fused", text);
    let remark = note(remark, function, first, "the first loop is here").arg("first", place(function, first));
    note(remark, function, between, "it branches here")
        .arg("between", between.map(|op| remark::op(function, op)))
}

/// The remark for a loop that is no candidate.
pub(super) fn unfit(function: &Body, analysis: &Analysis, id: LoopId, why: Unfit) -> Diagnostic {
    let header = analysis.block(analysis.loops().get(id).header());
    let (name, text, op) = match why {
        Unfit::NotSimplified => ("NotSimplifiedForm", "it is not in loop-simplify form", None),
        Unfit::NotRotated => ("NotRotated", "it is not tested at its end alone", None),
        Unfit::UnknownTripCount => ("UnknownTripCount", "its trip count is not known", None),
        Unfit::Convergent(op) => ("ContainsConvergentOp", "threads come together in it", Some(op)),
    };
    let place = place(function, function.last_op(header));
    let remark = remarks(function).unfit(name, place, "Loop is not a candidate for fusion", text);
    note(remark, function, op, "it is here").arg("for", op.map(|op| remark::op(function, op)))
}

fn remarks(function: &Body) -> Remarks<'_> {
    Remarks { body: function, pass: super::NAME }
}

fn place(function: &Body, at: Option<Op>) -> Loc {
    at.map_or(Loc::UNKNOWN, |op| function.loc(op))
}

fn note(remark: Diagnostic, function: &Body, at: Option<Op>, message: &str) -> Diagnostic {
    match at {
        Some(op) => remark.note(function.loc(op), message),
        None => remark,
    }
}
