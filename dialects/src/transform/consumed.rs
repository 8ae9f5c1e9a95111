//! The handles that an operation of a schedule consumes.
//!
//! A handle is consumed if its operations are replaced or erased. It must not be used afterwards.

use loomir_ir::{Attr, AttrKind, Context, OpRef, Value};

use super::{
    AlternativesOp, ApplyRegisteredPassOp, CoalesceOp, ForallToForOp, ForallToParallelOp, ForeachMatchOp,
    ForeachOp, FuseSiblingOp, OutlineOp, ParallelToForsOp, PeelOp, PromoteOp, SequenceOp, UnrollAndJamOp,
    UnrollOp,
};

/// The attribute of an argument that the sequence consumes.
pub const CONSUMED: &str = "transform.consumed";

/// The attribute of an argument that the sequence only reads.
pub const READONLY: &str = "transform.readonly";

/// Consumes handles, as an interface attached to an operation of another dialect.
pub trait Consumes: Send + Sync {
    /// Returns the number of operands that are consumed. They are the first ones.
    fn count(&self) -> usize;
}

/// Consumes this many first operands.
pub struct First(pub usize);

impl Consumes for First {
    fn count(&self) -> usize {
        self.0
    }
}

/// Returns the numbers of the operands that an operation consumes, in its regions too. The handles
/// that a named sequence consumes are said by its attributes: see [`is_marked`].
///
/// Recurses once for each region. Reading bounds their nesting depth.
pub fn consumed_operands(op: OpRef<'_>) -> Vec<usize> {
    let all = [CoalesceOp::DEF, FuseSiblingOp::DEF, OutlineOp::DEF, PeelOp::DEF, PromoteOp::DEF];
    if all
        .into_iter()
        .chain([UnrollOp::DEF, UnrollAndJamOp::DEF, ForallToForOp::DEF, ForallToParallelOp::DEF])
        .chain([ParallelToForsOp::DEF])
        .any(|def| op.is(def))
    {
        return (0..op.num_operands()).collect();
    }
    let first = [AlternativesOp::DEF, ApplyRegisteredPassOp::DEF, ForeachMatchOp::DEF];
    if first.into_iter().any(|def| op.is(def)) {
        return (0..op.num_operands().min(1)).collect();
    }
    if !(op.is(SequenceOp::DEF) || op.is(ForeachOp::DEF)) {
        let model = op.info().interface::<dyn Consumes>();
        return model.map_or(Vec::new(), |model| (0..model.count().min(op.num_operands())).collect());
    }
    let Some(block) = op.body().entry_block(op.region(0)) else { return Vec::new() };
    let arguments = op.body().arguments(block).enumerate();
    arguments.filter(|(_, argument)| is_consumed(op, *argument)).map(|(index, _)| index).collect()
}

/// True if an operation in the body of `op` consumes a handle.
pub(super) fn is_consumed(op: OpRef<'_>, handle: Value) -> bool {
    let body = op.body();
    body.uses(handle).any(|own| consumed_operands(body.op_ref(own.op)).contains(&own.index))
}

/// True if an argument of a named sequence has an attribute, given the dictionaries of all.
pub fn is_marked(ctx: &Context, arguments: Option<Attr>, index: usize, name: &str) -> bool {
    let own = arguments.and_then(|all| all.as_array(ctx)).and_then(|all| all.get(index));
    own.is_some_and(|own| match own.kind(ctx) {
        AttrKind::Dictionary(own) => own.get(ctx, name).is_some(),
        _ => false,
    })
}
