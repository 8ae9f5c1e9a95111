//! Removal of guards around loops that would run no iteration without them.
//!
//! A loop that is tested at its end stands behind a guard: `if (n > 0) { do … while }`. As
//! `scf.for` it tests its bounds itself, so `if (n > 0) for i in 0..n` is `for i in 0..n`. Two such
//! loops are neighbours then, and values that leave them need no merge.
//!
//! A guard goes if all it guards are such loops, and operations that may run unconditionally.
//! Integer sets decide if a loop runs no iteration where the guard fails. A result that is not the
//! loop's own becomes a selection.
//!
//! # Assumptions
//!
//! - A bound that is poison is undefined behaviour. A bound is computed without its guard only if
//!   it is poison only where the guard's condition is.
//! - The bounds of `scf.for` are read as signed, unless it says otherwise; then the guard stays.
//!
//! Tried in `fixtures/conditionals/guards.mlir`.
//!
//! **Cost.** Linear in the operations, and one integer question a loop.

use hashbrown::HashSet;
use loomir_dialects::interfaces::{Decision, is_speculatable};
use loomir_dialects::{arith, llvm, scf};
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Block, Body, Builder, Diagnostics, Op, Value};
use loomir_polyhedra::{Emptiness, Limits};

use crate::affine::classes::is_poison_only_with;
use crate::affine::system::System;
use crate::affine::{AffineForm, Forms};

/// The pass `fold-loop-guards`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "fold-loop-guards",
    anchor: None,
    summary: "Remove guards around loops that test the same themselves",
    options: &[],
    make: |_| Ok(Box::new(FoldLoopGuards)),
};

/// The limits on one question.
const LIMITS: Limits = Limits::steps(5_000);
/// The maximal number of operations beside the loops that run unconditionally afterwards.
const MAX_OPS: usize = 32;

struct FoldLoopGuards;

impl Pass for FoldLoopGuards {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        body.for_each_body(&mut |body| cx.count("Guards folded", fold_guards(body) as u64));
        Ok(())
    }
}

/// Removes the guards of a body that its loops do not need. Returns their number.
pub fn fold_guards(body: &mut Body) -> usize {
    let guards: Vec<Op> = body.all_ops().filter(|op| body.is(*op, scf::IfOp::DEF)).collect();
    let mut folded = 0;
    let mut kept: HashSet<(Block, Value)> = HashSet::new();
    let mut pending: Vec<Guarded> = Vec::new();
    let mut place = None;
    // Inner guards come first: without them, the outer guard has loops only. Guards of one
    // condition in one block go together, or stay together.
    for op in guards.into_iter().rev() {
        let Some(block) = body.block_of(op) else { continue };
        if place != Some(block) {
            folded += unfold(body, &mut pending, &kept);
            place = Some(block);
        }
        match Guarded::of(body, op) {
            Some(guarded) => pending.push(guarded),
            None => _ = kept.insert((block, body.operand(op, 0))),
        }
    }
    folded + unfold(body, &mut pending, &kept)
}

/// Removes these guards, but those whose condition another guard in their block keeps.
fn unfold(body: &mut Body, pending: &mut Vec<Guarded>, kept: &HashSet<(Block, Value)>) -> usize {
    let mut folded = 0;
    for guarded in pending.drain(..) {
        let place = body.block_of(guarded.guard).map(|block| (block, body.operand(guarded.guard, 0)));
        if place.is_some_and(|place| !kept.contains(&place)) {
            guarded.unfold(body);
            folded += 1;
        }
    }
    folded
}

/// A guard whose contents may run unconditionally.
struct Guarded {
    guard: Op,
    inside: Block,
    /// The values that the guard yields, and those that it yields if its condition fails.
    yielded: Vec<(Value, Value)>,
}

impl Guarded {
    fn of(body: &Body, guard: Op) -> Option<Guarded> {
        let [inside, other] = [0, 1].map(|index| body.single_block(body.region(guard, index)));
        let inside = inside?;
        let end = body.terminator(inside)?;
        let others: Vec<Value> = match other {
            // The other side only yields.
            Some(other) if body.first_op(other) == body.last_op(other) => {
                body.operands(body.terminator(other)?).collect()
            }
            Some(_) => return None,
            None => Vec::new(),
        };
        let is_loop = |op: &Op| body.is(*op, scf::ForOp::DEF);
        let (loops, rest): (Vec<Op>, Vec<Op>) = body.ops(inside).filter(|op| *op != end).partition(is_loop);
        let may_run = |op: &Op| is_speculatable(body.op_ref(*op)) && body.own_regions(*op).len() == 0;
        if loops.is_empty() || rest.len() > MAX_OPS || !rest.iter().all(may_run) {
            return None;
        }
        let condition = body.operand(guard, 0);
        let mut forms = Forms::new(body, body.block_of(guard)?);
        forms.enter(inside);
        let fails = forms.of_decision(&Decision::Value(condition)).outcome(false).constraints.clone();
        let runs_never = |op: &Op| {
            let bounds = [0, 1].map(|at| body.operand(*op, at));
            let is_sound = bounds.iter().all(|bound| is_poison_only_with(body, *bound, condition));
            is_sound
                && body.attr(*op, "unsignedCmp").is_none()
                && runs_no_iteration(&mut forms, bounds, &fails)
                && is_natural(&mut forms, body.operand(*op, 2))
        };
        if !loops.iter().all(runs_never) {
            return None;
        }
        let yielded = body.operands(end).zip(others).collect();
        Some(Guarded { guard, inside, yielded })
    }

    /// Moves the contents before the guard, and erases it.
    fn unfold(self, body: &mut Body) {
        let Guarded { guard, inside, yielded } = self;
        let condition = body.operand(guard, 0);
        let end = body.terminator(inside);
        let moved: Vec<Op> = body.ops(inside).filter(|op| Some(*op) != end).collect();
        let is_moved: HashSet<Op> = moved.iter().copied().collect();
        moved.into_iter().for_each(|op| body.move_before(op, guard));
        let results: Vec<Value> = body.results(guard).collect();
        for (result, (yes, no)) in results.into_iter().zip(yielded) {
            let picked = match carried_by(body, yes, &is_moved) {
                _ if yes == no => yes,
                // Without an iteration, a result of a loop is its initial value.
                Some((_, init)) if init == no => yes,
                Some((operand, init)) if is_poison(body, init) => {
                    let (of, index) = operand;
                    body.set_operand(of, index, no);
                    yes
                }
                _ => {
                    let mut builder = Builder::before(body, guard);
                    let state = builder.state(arith::SelectOp::DEF).operands(&[condition, yes, no]);
                    builder.value(state)
                }
            };
            body.replace_all_uses(result, picked);
        }
        body.erase(guard);
    }
}

/// Returns the operand with the initial value of a result of one of these loops, and that value.
fn carried_by(body: &Body, value: Value, loops: &HashSet<Op>) -> Option<((Op, usize), Value)> {
    let op = body.defining_op(value).filter(|op| loops.contains(op) && body.is(*op, scf::ForOp::DEF))?;
    let index = body.results(op).position(|result| result == value)? + 3;
    Some(((op, index), body.operand(op, index)))
}

fn is_poison(body: &Body, value: Value) -> bool {
    body.defining_op(value).is_some_and(|op| body.is(op, llvm::PoisonOp::DEF))
}

/// True if a loop runs no iteration where none of the forms `where_` is negative.
fn runs_no_iteration(forms: &mut Forms<'_>, [lower, upper]: [Value; 2], where_: &[AffineForm]) -> bool {
    let (Some(lower), Some(upper)) = (forms.of(lower), forms.of(upper)) else { return false };
    let some = upper.minus(&lower).and_then(|extent| extent.plus(&AffineForm::constant(1), -1));
    let Some(some) = some else { return false };
    let facts = forms.facts();
    let runs = System::over(0, where_.iter().chain([&some]));
    matches!(runs.is_empty(&facts, &LIMITS), Emptiness::Empty)
}

/// True if a step is a positive constant.
fn is_natural(forms: &mut Forms<'_>, step: Value) -> bool {
    forms.of(step).and_then(|step| step.as_constant()).is_some_and(|step| step > 0)
}
