//! Loop-carried values as a location: each iteration reads and writes it.
//!
//! A loop that carries values may run in parts if each iteration runs once, in its order within the
//! same iteration of the surrounding loops. The question is asked about its
//! [anchor](crate::tree::program::LoopInfo::anchor), a statement that represents the whole loop.
//! Even if the anchor is pure, an iteration that does not run it is [missed](super::coverage). The
//! loop-carried values count as touched by the anchor, one element for each iteration of the
//! surrounding loops. Values pass from one part to another only within one sequence, so the parts
//! of one run stay in one. A loop without an anchor runs whole.
//!
//! Lanes of vectors may run in any order although a loop carries values, if iterations do nothing
//! else with these than to [combine](crate::access::updates::combined) them. The loop around the
//! lanes passes the values on from one block of lanes to the next.
//!
//! **Assumptions.**
//! - Only a loop's iterations and the code behind it see its carried values. Tried with
//!   `fixtures/fusion/carried_parts.mlir` and `iter_args.mlir`.
//! - Whoever writes lanes as operations on vectors combines what all of them contribute. Tried with
//!   `fixtures/vectorize/reductions.mlir`.
//!
//! **Cost.** An access a loop.

use std::sync::Arc;

use hashbrown::HashSet;
use loomir_ir::Op;

use crate::access::base::Base;
use crate::access::{Class, Domain};
use crate::affine::AffineForm;
use crate::tree::program::LoopInfo;
use crate::tree::{Green, LoopId, Node, Program, StatementId, TreeStore};

/// Returns the loop that a statement anchors.
pub(super) fn anchored(program: &Program, statement: StatementId) -> Option<&LoopInfo> {
    let statement = program.statement(statement);
    let info = program.loop_info(statement.parent?);
    statement.ops.contains(&info.anchor?).then_some(info)
}

/// Returns the access of an anchor's leaf to its loop's carried values. `iteration` is the
/// statement's iteration, over levels.
pub(super) fn class(
    program: &Program,
    statement: StatementId,
    iteration: &[AffineForm],
    domain: &Arc<Domain>,
) -> Option<(Class, Op)> {
    let info = anchored(program, statement)?;
    let around = iteration.get(..info.depth as usize)?;
    let class = Class {
        subscripts: Some(around.iter().cloned().map(Some).collect()),
        ..Class::whole(Base::Carried(info.op), true, domain)
    };
    Some((class, info.op))
}

/// Returns the loops, with their iterations, whose anchors a body contains: the anchor's iterations
/// are those of the loops. Linear in the items.
pub(super) fn judged<'t>(
    (program, trees): (&Program, &'t TreeStore),
    body: Green,
) -> HashSet<(Op, &'t [AffineForm])> {
    let anchors = trees.items(body).filter_map(|item| match trees.get(item) {
        Node::Leaf { statement, map } => Some((anchored(program, statement)?.op, trees.map(map))),
        _ => None,
    });
    anchors.collect()
}

/// True if an item is a loop with iterations of this loop.
pub(super) fn runs(trees: &TreeStore, item: Green, of: LoopId) -> bool {
    match trees.get(item) {
        Node::Loop { header, .. } => trees.header(header).origins.iter().any(|origin| origin.of == of),
        _ => false,
    }
}
