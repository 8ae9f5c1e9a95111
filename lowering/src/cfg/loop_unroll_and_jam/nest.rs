//! The shape of a nest: the blocks of the outer loop before the inner loop, in it, and behind it.
//!
//! ```text
//!     fore ─> … ─> preheader of the inner loop     all that runs before it
//!                         │
//!                  inner loop ↺
//!                         │
//!                latch of the outer loop           all that runs behind it
//! ```
//!
//! **Assumptions.**
//! - Loops are closed: values leave the inner loop as arguments of the latch alone.

use hashbrown::HashSet;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Block, Body, Op, Trait, Value};

use crate::cfg::branch::successor_operands;
use crate::cfg::calls;
use crate::cfg::loop_unroll::shape::{Shape, headers_inside};
use crate::cfg::scev::ScalarEvolution;

/// An outer loop and the loop inside, as they can be jammed.
#[derive(Clone, Debug)]
pub(super) struct Nest {
    /// The outer loop. Its latch is the only block behind the inner loop.
    pub(super) outer: Shape,
    pub(super) inner: Shape,
    /// The blocks of the outer loop before the inner one, the header first.
    pub(super) fore: Vec<Block>,
    /// Operations of the latch that compute what the outer loop hands on, in order. They move
    /// before the inner loop.
    pub(super) moved: Vec<Op>,
    /// The headers of all loops inside the outer one.
    pub(super) headers: Vec<Block>,
}

impl Nest {
    /// Returns the nest of a loop and the only loop inside.
    ///
    /// # Errors
    ///
    /// Why the nest can't be jammed, whatever it touches.
    pub(super) fn of(
        scev: &mut ScalarEvolution<'_>,
        id: LoopId,
        child: LoopId,
        symbols: &SymbolTable,
    ) -> Result<Nest, &'static str> {
        let function = scev.function();
        let not_simple = "a loop of the nest is not in loop-simplify form";
        let outer = Shape::of(scev, id).ok_or(not_simple)?;
        let inner = Shape::of(scev, child).ok_or(not_simple)?;
        if ![&outer, &inner].into_iter().all(|shape| shape.leaves_at_latch(function)) {
            return Err("a loop of the nest does not leave at its latch alone");
        }
        if inner.exits.iter().any(|exit| exit.targets != [outer.latch]) {
            return Err("several blocks run behind the inner loop");
        }
        let within: HashSet<Block> = inner.blocks.iter().copied().collect();
        let is_fore = |block: &Block| !within.contains(block) && *block != outer.latch;
        let fore: Vec<Block> = outer.blocks.iter().copied().filter(is_fore).collect();
        let others = fore.iter().filter(|block| **block != inner.preheader);
        if !others.flat_map(|block| function.block_successors(*block)).all(|to| is_fore(&to)) {
            return Err("the inner loop does not run in every iteration");
        }
        runs_equally_often(scev, id, child)?;
        let function = scev.function();
        for op in outer.blocks.iter().flat_map(|block| function.ops(*block)) {
            if calls::may_not_return(function, op, symbols) {
                return Err("an operation in it may not return");
            }
            if calls::keeps_its_control(function, op, symbols) {
                return Err("it has a convergent operation");
            }
        }
        let moved = moved(function, &outer, &within)?;
        let headers = headers_inside(scev.analysis(), id);
        Ok(Nest { outer, inner, fore, moved, headers })
    }
}

/// Checks that the inner loop runs equally often in each iteration of the outer one, and that all
/// loops inside end.
fn runs_equally_often(scev: &mut ScalarEvolution<'_>, id: LoopId, child: LoopId) -> Result<(), &'static str> {
    let exact = scev.counts(child).exact;
    if !exact.is_some_and(|exact| scev.is_invariant(exact, id)) {
        return Err("the trip count of the inner loop is not the same in all iterations");
    }
    let mut pending = scev.analysis().loops().get(child).children.clone();
    while let Some(inside) = pending.pop() {
        if scev.counts(inside).constant_max.is_none() {
            return Err("a loop inside may not end");
        }
        pending.extend(&scev.analysis().loops().get(inside).children);
    }
    Ok(())
}

/// Returns the operations of the latch that compute what the outer loop hands on.
///
/// # Errors
///
/// Why such an operation can't run before the inner loop.
fn moved(function: &Body, outer: &Shape, within: &HashSet<Block>) -> Result<Vec<Op>, &'static str> {
    let edge = outer.backedge(function);
    let handed = edge.map(|(branch, index)| successor_operands(function, branch).swap_remove(index));
    let mut pending: Vec<Value> = handed.unwrap_or_default();
    let mut found: HashSet<Op> = HashSet::new();
    while let Some(value) = pending.pop() {
        let Some(block) = function.value_block(value) else { continue };
        if within.contains(&block) {
            return Err("the outer loop hands on what the inner loop computes");
        }
        if block != outer.latch {
            continue;
        }
        let Some(op) = function.defining_op(value) else {
            return Err("the outer loop hands on what the inner loop computes");
        };
        if !function.has_trait(op, Trait::Pure) {
            return Err("what the outer loop hands on can't be computed before the inner loop");
        }
        if found.insert(op) {
            pending.extend(function.operands(op));
        }
    }
    Ok(function.ops(outer.latch).filter(|op| found.contains(op)).collect())
}
