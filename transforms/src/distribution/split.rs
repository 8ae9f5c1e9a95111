//! Splitting of conditionals: a conditional becomes two with the same condition, so that a loop can
//! be cut between them.
//!
//! If a condition can be recomputed, the tree cuts through a conditional by itself. If it comes
//! from memory that the first part may overwrite, the second part needs the value that the first
//! one saw. The operation is then split first. Its condition becomes an ordinary value that is used
//! behind the cut and passed on in an array.
//!
//! ```text
//!     if (c) {                 if (c) { a[i] = x }
//!       a[i] = x       ──>     if (c) { b[i] = y }
//!       b[i] = y
//!     }
//! ```
//!
//! **Assumptions.**
//! - A condition is a value, or operands of a set: two evaluations agree. Tried with
//!   `fixtures/distribution/predicates.mlir`.
//!
//! **Cost.** Linear in the contents of the conditional.

use loomir_ir::{Body, Builder, InsertPoint, Mapping, Op, OperationState};

use super::pieces::Pieces;
use crate::tree::Program;

/// A conditional that was split.
pub(super) struct Split {
    first: Op,
    /// The new one, behind it.
    pub(super) second: Op,
}

/// Returns where to split a conditional for a cut before a piece: the first operation of a branch
/// that goes behind the cut. `None` if the cut does not go through exactly one conditional, if that
/// has results, or if pieces are not in the order of the text.
pub(super) fn place(body: &Body, program: &Program, pieces: &Pieces, at: usize) -> Option<Op> {
    let [conditional] = pieces.conditionals(program, at)[..] else { return None };
    let mut around = std::iter::successors(Some(pieces.op(at)), |op| body.parent_op(*op));
    let behind = around.find(|op| body.parent_op(*op) == Some(conditional))?;
    let is_in_order = |op: Op| match pieces.holding(body, op) {
        Some((piece, _)) => (piece < at) == body.is_before_in_block(op, behind),
        None => true,
    };
    let in_order = body.ops(body.block_of(behind)?).all(is_in_order);
    (in_order && body.num_results(conditional) == 0).then_some(behind)
}

/// Splits the conditional around `behind`, an operation directly in one of its branches. `behind`
/// and later operations go to a new conditional. Their operands from the first part must be passed
/// on, which is impossible under a condition that cannot be recomputed.
pub(super) fn split(body: &mut Body, behind: Op) -> Option<Split> {
    let block = body.block_of(behind)?;
    let side = body.block_region(block);
    let first = body.region_parent(side);
    let side = body.region_index(side);
    let mut state = OperationState::named(body.op_name(first), body.loc(first)).regions(2);
    state.operands = body.operands(first).collect();
    state.properties = body.properties(first);
    state.attributes = body.attributes(first);
    let second = Builder::new(body, InsertPoint::After(first)).insert(state);
    for index in 0..2 {
        let old = body.entry_block(body.region(first, index));
        // The first region has a block in any case.
        let Some(old) = old else { continue };
        let new = body.append_block(body.region(second, index), &[]);
        let end = body.terminator(old)?;
        let copy = body.copy_op(end, &mut Mapping::default());
        Builder::new(body, InsertPoint::End(new)).place(copy);
        let moved: Vec<Op> = match index.cmp(&side) {
            std::cmp::Ordering::Less => Vec::new(),
            std::cmp::Ordering::Equal => body.ops(old).skip_while(|op| *op != behind).collect(),
            std::cmp::Ordering::Greater => body.ops(old).collect(),
        };
        for op in moved.into_iter().filter(|op| *op != end) {
            body.detach(op);
            Builder::new(body, InsertPoint::Before(copy)).place(op);
        }
    }
    Some(Split { first, second })
}

impl Split {
    /// Merges the two conditionals again. Nothing else may use the new operations.
    pub(super) fn undo(self, body: &mut Body) {
        for index in 0..2 {
            let [old, new] = [self.first, self.second].map(|op| body.entry_block(body.region(op, index)));
            let (Some(old), Some(new)) = (old, new) else { continue };
            let (Some(end), last) = (body.terminator(old), body.terminator(new)) else { continue };
            for op in body.ops(new).filter(|op| Some(*op) != last).collect::<Vec<Op>>() {
                body.detach(op);
                Builder::new(body, InsertPoint::Before(end)).place(op);
            }
        }
        body.erase(self.second);
    }
}
