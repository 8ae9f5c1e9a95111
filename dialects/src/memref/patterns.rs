//! Patterns of `memref`: objects that nobody reads, and casts that an access does not need.

use loomir_ir::rewrite::Rewriter;
use loomir_ir::{Op, Value, rewrite};

use super::verify::views::sizes_agree;
use super::{AllocOp, AllocaOp, AtomicRMWOp, CastOp, CopyOp, DeallocOp, GenericAtomicRMWOp, LoadOp, StoreOp};

pub(crate) mod sizes;
pub(crate) mod views;

rewrite! {
    /// Patterns that make accesses simpler.
    pub(crate) PATTERNS;

    /// An object that is only written and freed is not made.
    unread_alloc: AllocOp = erase_unread;

    /// An object on the stack that is only written is not made.
    unread_alloca: AllocaOp = erase_unread;

    /// A load from a cast loads from what was cast.
    load_of_cast: LoadOp = |rewriter, op| see_through_cast(rewriter, op, 0);

    /// A store into a cast stores into what was cast.
    store_of_cast: StoreOp = |rewriter, op| see_through_cast(rewriter, op, 1);

    /// Freeing a cast memref frees the memref.
    dealloc_of_cast: DeallocOp = |rewriter, op| see_through_cast(rewriter, op, 0);

    /// An atomic update of a cast updates what was cast.
    update_of_cast: AtomicRMWOp = |rewriter, op| see_through_cast(rewriter, op, 1);

    /// An atomic update of a cast updates what was cast.
    computed_update_of_cast: GenericAtomicRMWOp = |rewriter, op| see_through_cast(rewriter, op, 0);

    /// A copy from a cast copies from what was cast.
    copy_from_cast: CopyOp = |rewriter, op| copies_as_many(rewriter, op, 0) && see_through_cast(rewriter, op, 0);

    /// A copy to a cast copies to what was cast.
    copy_to_cast: CopyOp = |rewriter, op| copies_as_many(rewriter, op, 1) && see_through_cast(rewriter, op, 1);

    /// A copy of an object to itself does nothing, and neither does one without elements.
    useless_copy: CopyOp[2] = |rewriter, op| {
        let body = rewriter.body();
        let is_empty = |index: usize| {
            let ty = body.value_type(body.operand(op, index));
            ty.shape(body.ctx()).is_some_and(|shape| shape.contains(&0))
        };
        let is_useless = body.operand(op, 0) == body.operand(op, 1) || is_empty(0) || is_empty(1);
        is_useless && rewriter.replace(op, &[])
    };
}

fn erase_unread(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let body = rewriter.body();
    let object = body.result(op, 0);
    let is_unread =
        |user: Op, index: usize| (body.is(user, StoreOp::DEF) && index == 1) || body.is(user, DeallocOp::DEF);
    if !body.uses(object).all(|own| is_unread(own.op, own.index)) {
        return false;
    }
    let users: Vec<Op> = body.uses(object).map(|own| own.op).collect();
    users.into_iter().for_each(|user| rewriter.erase(user));
    rewriter.erase(op);
    true
}

/// True if the memref that was cast to operand `index` of a copy may have the sizes of the other
/// operand. A copy between memrefs of different sizes is undefined, but only where it runs.
fn copies_as_many(rewriter: &Rewriter<'_>, op: Op, index: usize) -> bool {
    let body = rewriter.body();
    let shape = |value: Value| body.value_type(value).shape(body.ctx());
    let cast = rewriter.defined_by(body.operand(op, index), CastOp::DEF);
    let own = cast.and_then(|cast| shape(body.operand(cast, 0)));
    own.zip(shape(body.operand(op, 1 - index))).is_some_and(|(a, b)| sizes_agree(a, b))
}

/// Replaces operand `index`, a memref, by what a cast was made of, if the type of the elements
/// stays and the cast is from a ranked memref.
pub(crate) fn see_through_cast(rewriter: &mut Rewriter<'_>, op: Op, index: usize) -> bool {
    let body = rewriter.body();
    let ctx = body.ctx();
    let memref: Value = body.operand(op, index);
    let Some(cast) = rewriter.defined_by(memref, CastOp::DEF) else { return false };
    let source = body.operand(cast, 0);
    let (from, to) = (body.value_type(source), body.value_type(memref));
    let is_ranked =
        from.shape(ctx).map(<[i64]>::len) == to.shape(ctx).map(<[i64]>::len) && from.shape(ctx).is_some();
    if !is_ranked || from.element(ctx) != to.element(ctx) {
        return false;
    }
    rewriter.set_operand(op, index, source);
    true
}
