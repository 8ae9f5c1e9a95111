//! Loop guards, induction variables and bounds, as LLVM defines them.
//!
//! A *rotated* loop runs once at least, so what may not run at all stands behind a branch that
//! skips it: its *guard*. It leads to the preheader or to where the loop's exit leads. What the
//! guard says holds wherever the loop runs.
//!
//! The *induction variable* is the argument of the header that decides whether the latch goes on;
//! its *bounds* are what enters, what is added, and what it is compared with. A *canonical* one
//! counts from zero by one.
//!
//! Cost: linear in the loop, and in the empty blocks behind it.

use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Body, Op, Trait, Value};
use loomir_transforms::affine::operation::Predicate;

use super::Analysis;
use super::roles::Roles;
use super::scev::ScalarEvolution;
use super::scev::expr::{Expr, ExprId};

/// How far empty blocks are followed.
const MAX_EMPTY: usize = 16;

/// The branch that skips a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard {
    /// The conditional branch.
    pub branch: Op,
    /// What it decides by.
    pub condition: Value,
    /// True if the loop is entered where the condition is true.
    pub enters_if: bool,
    /// The block, by number, that it skips to.
    pub skips_to: u32,
}

/// Where an induction variable goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Its step is positive.
    Increasing,
    /// Its step is negative.
    Decreasing,
    /// One of both.
    Unknown,
}

/// The bounds of an induction variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// The argument of the header.
    pub variable: Value,
    /// What enters.
    pub initial: Value,
    /// What comes back.
    pub next: Value,
    /// What is added in each iteration.
    pub step: ExprId,
    /// What it is compared with.
    pub last: Value,
    /// How `next` compares with that where the latch goes on. Where the variable itself is
    /// compared, that is known if the comparison is strict, and the step is one towards it and does
    /// not wrap.
    pub predicate: Option<Predicate>,
    /// Where it goes.
    pub direction: Direction,
}

/// The guard of a loop that is simplified and rotated, and has one exit.
pub fn guard(function: &Body, analysis: &Analysis, of: LoopId) -> Option<Guard> {
    let roles = Roles::of(analysis, of);
    if !roles.is_simplified() || !roles.is_rotated() {
        return None;
    }
    let (preheader, [exit]) = (roles.preheader?, &roles.exits[..]) else { return None };
    let [above] = *analysis.graph().predecessors(preheader) else { return None };
    let branch =
        function.terminator(analysis.block(above)).filter(|op| function.is(*op, llvm::CondBrOp::DEF))?;
    let successors: Vec<u32> = function.successors(branch).map(|to| analysis.number(to)).collect();
    let enters_if = successors[0] == preheader;
    let skips_to = successors[usize::from(enters_if)];
    // What is behind the exit, empty blocks apart.
    let mut behind = only_successor(analysis, *exit)?;
    for _ in 0..MAX_EMPTY {
        if behind == skips_to {
            return Some(Guard { branch, condition: function.operand(branch, 0), enters_if, skips_to });
        }
        let block = analysis.block(behind);
        let is_empty = function.ops(block).all(|op| function.has_trait(op, Trait::Terminator));
        let is_entered_once = analysis.graph().predecessors(behind).len() == 1;
        behind = only_successor(analysis, behind).filter(|_| is_empty && is_entered_once)?;
    }
    None
}

fn only_successor(analysis: &Analysis, node: u32) -> Option<u32> {
    let (first, others) = analysis.graph().successors(node).split_first()?;
    others.iter().all(|other| other == first).then_some(*first)
}

/// The argument of a loop's header that counts from zero by one.
pub fn canonical_induction_variable(scev: &mut ScalarEvolution<'_>, of: LoopId) -> Option<Value> {
    let analysis = scev.analysis();
    let header = analysis.block(analysis.loops().get(of).header());
    let arguments: Vec<Value> = scev.function().arguments(header).collect();
    arguments.into_iter().find(|argument| {
        if scev.expr_type(*argument).is_none() {
            return false;
        }
        let id = scev.expr(*argument);
        matches!(scev.get(id), Expr::AddRec(own, operands)
            if *own == of
                && operands.len() == 2
                && scev.as_constant(operands[0]) == Some(0)
                && scev.as_constant(operands[1]) == Some(1))
    })
}

/// The bounds of the induction variable of a loop that is simplified and rotated, by a comparison
/// with what does not change.
pub fn bounds(scev: &mut ScalarEvolution<'_>, of: LoopId) -> Option<Bounds> {
    let (function, analysis) = (scev.function(), scev.analysis());
    let roles = Roles::of(analysis, of);
    if !roles.is_simplified() || !roles.is_rotated() {
        return None;
    }
    let header = analysis.block(roles.header);
    let branch = function.terminator(analysis.block(roles.latch()?))?;
    if !function.is(branch, llvm::CondBrOp::DEF) {
        return None;
    }
    let compare = function.defining_op(function.operand(branch, 0))?;
    let mut predicate = scev.predicate(compare)?;
    if function.successors(branch).next() != Some(header) {
        predicate = predicate.inverse();
    }
    let sides = [0, 1].map(|index| function.operand(compare, index));
    for argument in function.arguments(header) {
        let Some(own) = scev.header_argument(argument) else { continue };
        let place = sides.iter().position(|side| *side == argument || *side == own.next);
        let Some(place) = place.filter(|_| scev.expr_type(argument).is_some()) else { continue };
        let id = scev.expr(argument);
        let Expr::AddRec(around, operands) = scev.get(id).clone() else { continue };
        let ([_, step], last) = (&operands[..], sides[1 - place]) else { continue };
        let compared = scev.expr(last);
        if around != of || !scev.is_invariant(compared, of) {
            continue;
        }
        let range = scev.range(*step).signed;
        let direction = if range.0 > 0 {
            Direction::Increasing
        } else if range.1 < 0 {
            Direction::Decreasing
        } else {
            Direction::Unknown
        };
        let predicate = if place == 0 { predicate } else { predicate.swapped() };
        let predicate = if sides[place] == own.next {
            Some(predicate)
        } else {
            of_next(predicate, range).filter(|_| !scev.range(id).has_end(predicate, scev.width(id)))
        };
        return Some(Bounds {
            variable: argument,
            initial: own.start,
            next: own.next,
            step: *step,
            last,
            predicate,
            direction,
        });
    }
    None
}

/// How what comes next compares where the variable itself compares so: one step on, if that does
/// not wrap, "less" is "at most".
fn of_next(predicate: Predicate, step: (i128, i128)) -> Option<Predicate> {
    match (predicate, step) {
        (Predicate::Slt, (1, 1)) => Some(Predicate::Sle),
        (Predicate::Ult, (1, 1)) => Some(Predicate::Ule),
        (Predicate::Sgt, (-1, -1)) => Some(Predicate::Sge),
        (Predicate::Ugt, (-1, -1)) => Some(Predicate::Uge),
        _ => None,
    }
}
