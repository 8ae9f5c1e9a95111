//! What loops hand on from one iteration to the next, as a location: each iteration reads and
//! writes it.
//!
//! A loop that carries values may run in parts if each iteration runs once, and after those before
//! it in the same iteration of the loops around. That is asked of its
//! [anchor](crate::tree::program::LoopInfo::anchor), a statement that stands for all of it: whether
//! it only computes or not, an iteration that does not run it is [missed](super::coverage), and
//! what the loop carries counts as touched by it, an element for each iteration of the loops
//! around. What one part hands on gets to another one only if both stand in one sequence; so parts
//! of one run do. A loop without such a statement runs whole.
//!
//! **Assumptions.**
//! - What a loop carries is seen by nobody but its iterations and what is behind it. Tried with
//!   `fixtures/fusion/carried_parts.mlir` and `iter_args.mlir`.
//!
//! **Cost.** An access a loop.

use std::sync::Arc;

use loomir_ir::Op;

use crate::access::base::Base;
use crate::access::{Class, Domain};
use crate::affine::AffineForm;
use crate::tree::program::LoopInfo;
use crate::tree::{Green, LoopId, Node, Origin, Program, StatementId, TreeStore};

/// The loop a statement stands for.
pub(super) fn anchored(program: &Program, statement: StatementId) -> Option<&LoopInfo> {
    let statement = program.statement(statement);
    let info = program.loop_info(statement.parent?);
    statement.ops.contains(&info.anchor?).then_some(info)
}

/// How a leaf of a statement that stands for a loop touches what that carries. `iteration` is that
/// of the statement, over levels.
pub(super) fn class(
    program: &Program,
    statement: StatementId,
    iteration: &[AffineForm],
    domain: &Arc<Domain>,
) -> Option<(Class, Op)> {
    let info = anchored(program, statement)?;
    let around = iteration.get(..info.depth as usize)?;
    let class = Class {
        base: Base::Carried(info.op),
        origin: None,
        sizes: Vec::new(),
        subscripts: Some(around.iter().cloned().map(Some).collect()),
        writes: true,
        update: None,
        domain: domain.clone(),
    };
    Some((class, info.op))
}

/// True if a part of a loop, with this body, has in it what stands for the loop, so that its
/// iterations are those of that.
pub(super) fn is_judged((program, trees): (&Program, &TreeStore), origin: &Origin, body: Green) -> bool {
    let stands_for = |statement: StatementId| {
        let of = anchored(program, statement);
        of.is_some_and(|info| info.op == program.loop_info(origin.of).op)
    };
    trees.items(body).any(|item| match trees.get(item) {
        Node::Leaf { statement, map } => stands_for(statement) && trees.map(map) == &origin.map[..],
        _ => false,
    })
}

/// True if an item is a loop that runs a part of this one.
pub(super) fn runs(trees: &TreeStore, item: Green, of: LoopId) -> bool {
    match trees.get(item) {
        Node::Loop { header, .. } => trees.header(header).origins.iter().any(|origin| origin.of == of),
        _ => false,
    }
}
