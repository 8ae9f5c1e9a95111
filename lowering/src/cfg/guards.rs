//! Loop guards, induction variables and bounds, as LLVM defines them.
//!
//! A *rotated* loop runs at least once, so a loop that may not run at all has a branch before it
//! that skips it: its *guard*. The guard leads to the preheader or to the target of the loop's
//! exit. The guard's condition holds wherever the loop runs.
//!
//! The *induction variable* is the header's argument that decides if the latch continues. Its
//! *bounds* are the initial value, the step, and the value it is compared with. A *canonical* one
//! counts from zero by one.
//!
//! Cost: linear in the loop, and in the empty blocks behind it.

use loomir_dialects::llvm;
use loomir_dialects::ranges::Range;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Body, Op, Trait, Value};
use loomir_transforms::affine::operation::Predicate;

use super::Analysis;
use super::roles::Roles;
use super::scev::ScalarEvolution;
use super::scev::expr::{Expr, ExprId};

/// The number of empty blocks to follow.
const MAX_EMPTY: usize = 16;

/// The branch that skips a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard {
    /// The conditional branch.
    pub branch: Op,
    /// The condition of the guard.
    pub condition: Value,
    /// True if the loop is entered when the condition is true.
    pub enters_if: bool,
    /// The number of the block that the guard skips to.
    pub skips_to: u32,
}

/// The direction of an induction variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Its step is positive.
    Increasing,
    /// Its step is negative.
    Decreasing,
    /// Either of both.
    Unknown,
}

/// The bounds of an induction variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// The argument of the header.
    pub variable: Value,
    /// The initial value.
    pub initial: Value,
    /// The value of the next iteration.
    pub next: Value,
    /// The step of each iteration.
    pub step: ExprId,
    /// The value that it is compared with.
    pub last: Value,
    /// The predicate of `next` and `last` if the latch continues. If the variable itself is
    /// compared, it is known only for a strict comparison and a step of one towards `last` that
    /// does not wrap.
    pub predicate: Option<Predicate>,
    /// Its direction.
    pub direction: Direction,
}

/// Returns the guard of a simplified and rotated loop with one exit.
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
    // The block behind the exit, after empty blocks.
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

/// Returns the argument of a loop's header that counts from zero by one.
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

/// Returns the bounds of the induction variable of a simplified, rotated loop, from a comparison
/// with a loop-invariant value.
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
            of_next(predicate, range).filter(|_| !has_end(scev.range(id), predicate, scev.width(id)))
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

/// Returns the predicate for the next value, given the predicate for the variable itself. One step
/// later, "less" becomes "at most" if the step does not wrap.
fn of_next(predicate: Predicate, step: (i128, i128)) -> Option<Predicate> {
    match (predicate, step) {
        (Predicate::Slt, (1, 1)) => Some(Predicate::Sle),
        (Predicate::Ult, (1, 1)) => Some(Predicate::Ule),
        (Predicate::Sgt, (-1, -1)) => Some(Predicate::Sge),
        (Predicate::Ugt, (-1, -1)) => Some(Predicate::Uge),
        _ => None,
    }
}

/// True if the range contains the last word in the direction in which a comparison stops holding: a
/// step wraps around from it.
fn has_end(range: Range, predicate: Predicate, width: u32) -> bool {
    let full = Range::full(width);
    match predicate {
        Predicate::Slt | Predicate::Sle => range.signed.1 == full.signed.1,
        Predicate::Sgt | Predicate::Sge => range.signed.0 == full.signed.0,
        Predicate::Ult | Predicate::Ule => range.unsigned.1 == full.unsigned.1,
        Predicate::Ugt | Predicate::Uge => range.unsigned.0 == 0,
        Predicate::Eq | Predicate::Ne => true,
    }
}
