//! Peeling of the last iterations of a loop whose latch exits.
//!
//! ```text
//!     preheader ─ no more than the last ones ─┐
//!         │                                   │
//!     loop ↺ (all but the last ones)      fallback ↺
//!         │                                   │
//!     last iterations, one by one             │
//!         │                                   │
//!       exit <────────────────────────────────┘
//! ```
//!
//! With `tc` iterations, of which the last `n` are peeled, the loop runs `tc - n` times, by a
//! counter of its own. What is known is the number of taken backedges, `tc - 1`; `tc` itself may
//! be one more than the greatest word. The loop is entered if `tc - 1` is at least `n`, so `tc - n`
//! is a word from one on. The fallback is a copy of the loop as it was.
//!
//! **Assumptions.**
//! - The count at the latch's exit is right whenever the loop is left there. If it is left
//!   elsewhere first, each copy tests those exits, and the count doesn't matter.

use loomir_dialects::llvm;
use loomir_ir::{Block, Body, Builder, InsertPoint, Value};
use loomir_transforms::affine::operation::Predicate;

use crate::cfg::arithmetic::compare;
use crate::cfg::branch::{Ending, Target, end_block, set_successor_operands, successor_operands, targets};
use crate::cfg::expander::{Recipe, Writer};
use crate::cfg::loop_unroll::copies::{Copy, forwarding, settle};
use crate::cfg::loop_unroll::directives;
use crate::cfg::loop_unroll::remainder::{Test, count_to};
use crate::cfg::loop_unroll::shape::{Course, Shape, edge_to};

/// The blocks that were made.
pub(super) struct Made {
    /// The new preheader of the loop.
    pub(super) preheader: Block,
    /// The block before the last iterations.
    pub(super) entry: Block,
    /// The last iterations.
    pub(super) copies: Vec<Copy>,
    /// The preheader of the loop for few iterations, and this loop.
    pub(super) fallback_entry: Block,
    pub(super) fallback: Copy,
}

/// Peels the last `count` iterations of a loop; at least one. `None` if its latch does not exit;
/// then nothing has changed.
pub(super) fn peel_last(function: &mut Body, shape: &Shape, backedges: &Recipe, count: u64) -> Option<Made> {
    let latch = shape.exits.iter().find(|exit| exit.block == shape.latch)?;
    let test = Test::of(latch)?;
    let (entering, index) = edge_to(function, shape.preheader, shape.header)?;
    let initial = successor_operands(function, entering).swap_remove(index);
    let back = targets(function, function.terminator(shape.latch)?).swap_remove(test.back);
    let (mut copies, mut after) = (Vec::new(), *shape.blocks.last()?);
    for _ in 0..count {
        let copy = Copy::of(function, shape, after);
        after = copy.last;
        copies.push(copy);
    }
    let fallback = Copy::of(function, shape, after);
    let (are_few, rest) = numbers(function, shape.preheader, backedges, count);
    // The loop counts, and leaves to the last iterations.
    let preheader = function.create_block(function.block_region(shape.header), Some(shape.preheader), &[]);
    end_block(
        function,
        preheader,
        &Ending::Branch(Target { block: shape.header, operands: initial.clone() }),
    );
    let step = (1, rest, backedges.width());
    count_to(function, (shape.header, shape.latch), preheader, step, &test)?;
    let entry = forwarding(function, copies.first()?.header, *shape.blocks.last()?);
    let branch = function.terminator(shape.latch)?;
    let mut operands = successor_operands(function, branch);
    operands[test.out] = back.operands;
    function.set_successor(branch, test.out, entry);
    set_successor_operands(function, branch, &operands);
    for (number, copy) in copies.iter().enumerate() {
        // The last copy leaves the loop. Its way back is gone then.
        let (to, course) = match copies.get(number + 1) {
            Some(next) => (next.header, Course::Stays),
            None => (copy.header, Course::Leaves),
        };
        copy.lead(function, to);
        settle(function, copy, latch, course);
    }
    let fallback_entry = forwarding(function, fallback.header, after);
    if let Some((branch, _)) = edge_to(function, fallback.latch, fallback.header) {
        directives::mark_unrolled(function, branch);
    }
    let few = Target { block: fallback_entry, operands: initial };
    let many = Target { block: preheader, operands: Vec::new() };
    end_block(function, shape.preheader, &Ending::Conditional(are_few, [few, many]));
    Some(Made { preheader, entry, copies, fallback_entry, fallback })
}

/// Writes, before the loop, the condition that no more iterations run than are peeled, and else the
/// number of those that are not.
fn numbers(function: &mut Body, preheader: Block, backedges: &Recipe, count: u64) -> (Value, Value) {
    let point = function.terminator(preheader).map_or(InsertPoint::End(preheader), InsertPoint::Before);
    let mut builder = Builder::new(function, point);
    let mut writer = Writer::new(&mut builder);
    let width = backedges.width();
    let backedges = writer.write(backedges);
    let count = u128::from(count);
    let peeled = writer.constant(width, count);
    let others = writer.constant(width, count - 1);
    let rest = writer.binary(llvm::SubOp::DEF, backedges, others);
    (compare(writer.builder, Predicate::Ult, backedges, peeled), rest)
}
