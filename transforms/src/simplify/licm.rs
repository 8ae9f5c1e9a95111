//! Loop-invariant code motion: operations that compute the same in every iteration move out of the
//! loop, in front of it.
//!
//! An operation moves if all values that it uses are defined outside the loop, and it touches no
//! memory. It must be [speculatable](Summary::is_speculatable), because the loop may have no
//! iteration. If the loop has at least one, the first operations of its body may be undefined for
//! some operands too: a division moves if nothing before it may fail to return. A conditional moves
//! with everything inside it. Inner loops come first, so an operation moves as far as it can.
//!
//! The option `guard` moves more, which `mlir-opt` leaves in place: loads and stores of memory that
//! the loop does not write otherwise, and divisions, also out of a loop that may have no iteration.
//! Such a loop then stands with them in an `scf.if` on its bounds. The option is off by default,
//! because loops in conditionals are not fused with those around them.
//!
//! **Assumptions.**
//! - Memory changes only by operations that declare it: a change by another thread would be a race.
//!   Tried in `fixtures/simplify/licm_guard.mlir`.
//!
//! **Cost.** Each operation is looked at once for each loop that it leaves, plus once.
//!
//! # Limits
//!
//! - Loops of a control flow graph are left alone: LLVM moves their invariant operations.
//! - With `guard`, an operation leaves only one loop that may have no iteration: the guard keeps it
//!   in the next one.

use footprint::Footprint;
use loomir_dialects::interfaces::{LoopLike, ParallelLike, ViewLike};
use loomir_dialects::{affine, scf};
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Block, Body, Diagnostics, Op, Region, Trait, Value};

use crate::effects::{Effects, Summary, runs_at_least_once};
use crate::regenerate::guard::guard;

pub(crate) mod footprint;

/// The pass `licm`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "loop-invariant-code-motion",
    anchor: None,
    summary: "Move operations that compute the same in every iteration in front of their loop",
    options: &[(
        "guard",
        "false",
        "also move loads, stores and divisions, under a test that the loop has an iteration",
    )],
    make: |options| Ok(Box::new(Licm { guards: options.parse("guard", false)? })),
};

struct Licm {
    guards: bool,
}

impl Pass for Licm {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        cx.unchanged = true;
        body.for_each_body(&mut |body| {
            let moved = if self.guards { hoist_under_guards(body) } else { hoist_invariant(body) };
            cx.count("Operations moved", moved as u64);
            cx.unchanged &= moved == 0;
        });
        Ok(())
    }
}

/// Moves the invariant operations of all loops of a body that only compute, without the bodies
/// nested in it. Returns the number of moves.
pub fn hoist_invariant(body: &mut Body) -> usize {
    let effects = Effects::of(body);
    loops(body).into_iter().map(|op| Motion { effects: &effects, loop_op: op, memory: None }.run(body)).sum()
}

/// Moves the invariant operations of one loop that only compute, not those of loops inside. Returns
/// the number of moves, or `None` if `op` is no loop.
pub fn hoist_from_loop(body: &mut Body, op: Op) -> Option<usize> {
    let effects = Effects::of(body);
    is_loop(body, op).then(|| Motion { effects: &effects, loop_op: op, memory: None }.run(body))
}

/// Moves the invariant operations of all loops of a body, without the bodies nested in it. A loop
/// that may have no iteration gets a guard if that lets an operation move that is worth it. Returns
/// the number of moves.
pub fn hoist_under_guards(body: &mut Body) -> usize {
    let mut effects = Effects::of(body);
    let mut moved = 0;
    for loop_op in loops(body) {
        let memory = Footprint::of(body, loop_op);
        let motion = |effects| Motion { effects, loop_op, memory: Some(&memory) };
        moved += motion(&effects).run(body);
        if motion(&effects).is_worth_a_guard(body)
            && let Some(conditional) = guard(body, loop_op)
        {
            let block = body.entry_block(body.region(loop_op, 0));
            moved += block.map_or(0, |block| motion(&effects).hoist_from(body, block, true));
            add_guard(body, conditional, &mut effects);
        }
    }
    moved
}

/// Adds a new guard: a conditional, its condition, and the bounds that it compares.
fn add_guard(body: &Body, conditional: Op, effects: &mut Effects) {
    effects.add(body, conditional);
    let Some(test) = body.defining_op(body.operand(conditional, 0)) else { return };
    effects.add(body, test);
    body.operands(test).filter_map(|bound| body.defining_op(bound)).for_each(|op| effects.add(body, op));
}

/// Returns the loops of a body, inner ones first.
fn loops(body: &Body) -> Vec<Op> {
    body.postorder(body.root()).into_iter().filter(|op| is_loop(body, *op)).collect()
}

/// True if `op` repeats its regions.
fn is_loop(body: &Body, op: Op) -> bool {
    let info = body.info(op);
    info.interface::<dyn LoopLike>().is_some()
        || info.interface::<dyn ParallelLike>().is_some()
        || body.is(op, scf::WhileOp::DEF)
}

/// The motion out of one loop.
struct Motion<'e> {
    effects: &'e Effects,
    loop_op: Op,
    /// The memory that the loop touches, if operations that touch memory may move.
    memory: Option<&'e Footprint>,
}

impl Motion<'_> {
    fn run(&self, body: &mut Body) -> usize {
        let regions: Vec<Region> = body.own_regions(self.loop_op).collect();
        let mut moved = 0;
        for (number, region) in regions.into_iter().enumerate() {
            // Blocks in a region of several run at most as often as its first block.
            let first = body.entry_block(region);
            let runs = number == 0 && runs_at_least_once(body, self.loop_op);
            let blocks: Vec<Block> = body.blocks(region).collect();
            for block in blocks {
                moved += self.hoist_from(body, block, runs && Some(block) == first);
            }
        }
        moved
    }

    /// Moves what can move out of a block. `runs` is true if the block runs at least once.
    fn hoist_from(&self, body: &mut Body, block: Block, mut runs: bool) -> usize {
        let mut moved = 0;
        let mut next = body.first_op(block);
        while let Some(op) = next {
            next = body.next_op(op);
            let summary = self.effects.get(op);
            if self.may_move(body, op, summary, runs) {
                body.move_before(op, self.loop_op);
                moved += 1;
            } else {
                runs &= !summary.may_not_return();
            }
        }
        moved
    }

    fn may_move(&self, body: &Body, op: Op, summary: Summary, runs: bool) -> bool {
        (summary.is_speculatable() || (runs && self.may_run_once(body, op, summary)))
            && !body.has_trait(op, Trait::Terminator)
            && self.uses_only_outer_values(body, op)
    }

    /// True if an operation with invariant operands may run once instead of in every iteration.
    fn may_run_once(&self, body: &Body, op: Op, summary: Summary) -> bool {
        let is_movable = |memory: &Footprint| {
            !summary.may_not_return() && !summary.makes_objects() && memory.lets_move(body, op)
        };
        summary.only_computes() || self.memory.is_some_and(is_movable)
    }

    /// True if an operation could leave a loop that may have no iteration, and costs more than a
    /// test of the loop's bounds.
    fn is_worth_a_guard(&self, body: &Body) -> bool {
        let is_a = |def| body.is(self.loop_op, def);
        if !(is_a(scf::ForOp::DEF) || is_a(affine::ForOp::DEF)) || runs_at_least_once(body, self.loop_op) {
            return false;
        }
        let Some(block) = body.entry_block(body.region(self.loop_op, 0)) else { return false };
        // Behind an operation that may not return, nothing moves.
        let returns = |op: &Op| !self.effects.get(*op).may_not_return();
        body.ops(block).take_while(returns).any(|op| {
            let is_cheap = body.info(op).interface::<dyn ViewLike>().is_some();
            !is_cheap && self.may_move(body, op, self.effects.get(op), true)
        })
    }

    /// True if no operand of `op`, or of an operation inside it, is defined in the loop outside
    /// `op`.
    fn uses_only_outer_values(&self, body: &Body, op: Op) -> bool {
        let is_outer =
            |value: Value| !body.is_defined_within(value, self.loop_op) || body.is_defined_within(value, op);
        body.preorder(op).all(|op| body.operands(op).all(is_outer))
    }
}
