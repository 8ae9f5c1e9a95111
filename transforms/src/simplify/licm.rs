//! Loop-invariant code motion: operations that compute the same in every iteration move out of the
//! loop, in front of it.
//!
//! An operation moves if all values that it uses are defined outside the loop, and it touches no
//! memory. It must be [speculatable](Summary::is_speculatable), because the loop may have no
//! iteration. If the loop has at least one, the first operations of its body may be undefined for
//! some operands too: a division moves if nothing before it may fail to return. Inner loops come
//! first, so an operation moves as far as it can. Loads are not moved here.
//!
//! **Cost.** Each operation is looked at once for each loop that it leaves, plus once.
//!
//! # Limits
//!
//! - Loops of a control flow graph are left alone: LLVM moves their invariant operations.

use loomir_dialects::interfaces::{LoopLike, ParallelLike};
use loomir_dialects::scf;
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Block, Body, Diagnostics, Op, Region, Trait, Value};

use crate::effects::{Effects, Summary, runs_at_least_once};

/// The pass `licm`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "loop-invariant-code-motion",
    anchor: None,
    summary: "Move operations that compute the same in every iteration in front of their loop",
    options: &[],
    make: |_| Ok(Box::new(Licm)),
};

struct Licm;

impl Pass for Licm {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        body.for_each_body(&mut |body| cx.count("Operations moved", hoist_invariant(body) as u64));
        Ok(())
    }
}

/// Moves the invariant operations of all loops of a body, without the bodies nested in it. Returns
/// the number of moves.
pub fn hoist_invariant(body: &mut Body) -> usize {
    let effects = Effects::of(body);
    let loops: Vec<Op> = body.postorder(body.root()).into_iter().filter(|op| is_loop(body, *op)).collect();
    loops.into_iter().map(|op| Motion { effects: &effects, loop_op: op }.run(body)).sum()
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
        (summary.is_speculatable() || (runs && summary.only_computes()))
            && !body.has_trait(op, Trait::Terminator)
            && self.uses_only_outer_values(body, op)
    }

    /// True if no operand of `op`, or of an operation inside it, is defined in the loop outside
    /// `op`.
    fn uses_only_outer_values(&self, body: &Body, op: Op) -> bool {
        let is_outer =
            |value: Value| !body.is_defined_within(value, self.loop_op) || body.is_defined_within(value, op);
        body.preorder(op).all(|op| body.operands(op).all(is_outer))
    }
}
