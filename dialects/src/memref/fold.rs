//! Folds of `memref`: known sizes, and redundant views.

use loomir_ir::opdef::Folded;
use loomir_ir::{Attr, Context, DYNAMIC, OpDef, OpRef, Type, Value};

use super::layout::{Ranked, num_dynamic, reassociation, subview_type};
use super::verify::views::{Slice, dropped_by_subview, permutation};
use super::{
    AllocOp, AllocaOp, CastOp, CollapseShapeOp, ExpandShapeOp, ReinterpretCastOp, SubViewOp, ViewOp,
};
use crate::arith::fold::{Fold, defined_by, value};

fn index(ctx: &Context, number: i64) -> Fold {
    Some(vec![Folded::Constant(ctx.index_attr(number))])
}

/// True if the view has the type of its source.
fn same_type(op: OpRef<'_>) -> bool {
    op.operand_type(0) == op.result_type(0)
}

/// True if the sizes, strides and offset of a type are known.
fn is_fully_static(ctx: &Context, ty: Type) -> bool {
    let Some((strides, offset)) = ty.strides_and_offset(ctx) else { return false };
    let sizes = ty.shape(ctx).unwrap_or_default();
    offset != DYNAMIC && num_dynamic(&strides) == 0 && num_dynamic(sizes) == 0
}

/// Folds to the rank, if the type has one.
pub(super) fn rank(op: OpRef<'_>, _: &[Option<Attr>]) -> Fold {
    let shape = op.operand_type(0).shape(op.ctx())?;
    index(op.ctx(), shape.len() as i64)
}

/// Folds a size that is static in the type, or that was an operand of the operation which made the
/// memref.
pub(super) fn dim(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let ctx = op.ctx();
    let dimension = usize::try_from(constants[1]?.as_int(ctx)?).ok()?;
    let shape = op.operand_type(0).shape(ctx)?;
    let size = *shape.get(dimension)?;
    if size != DYNAMIC {
        return index(ctx, size);
    }
    // The position among the type's dynamic sizes.
    let gap = num_dynamic(&shape[..dimension]);
    let body = op.body();
    let source = body.op_ref(body.defining_op(op.operand(0))?);
    let nth = |operands: Vec<Value>, n: usize| value(*operands.get(n)?);
    if source.is(AllocOp::DEF) || source.is(AllocaOp::DEF) {
        nth(source.operand_group("dynamicSizes"), gap)
    } else if source.is(ViewOp::DEF) {
        nth(source.operand_group("sizes"), gap)
    } else if source.is(ReinterpretCastOp::DEF) || source.is(SubViewOp::DEF) {
        size_of_slice(source, dimension)
    } else if source.is(ExpandShapeOp::DEF) {
        nth(source.operand_group("output_shape"), gap)
    } else if source.is(CastOp::DEF) {
        let size = *source.operand_type(0).shape(ctx)?.get(dimension)?;
        if size == DYNAMIC { None } else { index(ctx, size) }
    } else {
        None
    }
}

/// Folds the size along a dimension of the result of `subview` or `reinterpret_cast`.
fn size_of_slice(view: OpRef<'_>, dimension: usize) -> Fold {
    let ctx = view.ctx();
    let slice = Slice::of(view)?;
    let position = if view.is(SubViewOp::DEF) {
        let full = subview_type(ctx, view.operand_type(0), &slice.offsets, &slice.sizes, &slice.strides)?;
        let dropped = dropped_by_subview(ctx, full, view.result_type(0))?;
        (0..dropped.len()).filter(|d| !dropped[*d]).nth(dimension)?
    } else {
        dimension
    };
    match *slice.sizes.get(position)? {
        DYNAMIC => value(*view.operand_group("sizes").get(num_dynamic(&slice.sizes[..position]))?),
        size => index(ctx, size),
    }
}

/// Folds a cast to the same type.
pub(super) fn cast(op: OpRef<'_>, _: &[Option<Attr>]) -> Fold {
    if same_type(op) { value(op.operand(0)) } else { None }
}

/// Folds a cast to the same memory space.
pub(super) fn memory_space_cast(op: OpRef<'_>, _: &[Option<Attr>]) -> Fold {
    if same_type(op) { value(op.operand(0)) } else { None }
}

/// Folds a subview of a whole memref, or of a whole part with the same sizes.
pub(super) fn subview(op: OpRef<'_>, _: &[Option<Attr>]) -> Fold {
    if !same_type(op) {
        return None;
    }
    let source = op.operand(0);
    if is_fully_static(op.ctx(), op.result_type(0)) {
        // A complete part equals the source. Its offsets and strides cannot differ from the
        // source's.
        let slice = Slice::of(op)?;
        let whole = slice.offsets.iter().all(|o| *o == 0) && slice.strides.iter().all(|s| *s == 1);
        return if whole { value(source) } else { None };
    }
    let inner = defined_by(op, source, SubViewOp::DEF)?;
    let (own, other) = (Slice::of(op)?, Slice::of(inner)?);
    let all = own.offsets.iter().all(|o| *o == 0)
        && own.strides.iter().all(|s| *s == 1)
        && own.sizes == other.sizes
        && op.operand_group("sizes") == inner.operand_group("sizes");
    if all { value(source) } else { None }
}

/// Folds a view of a whole buffer as bytes.
pub(super) fn view(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let from_start = constants[1].is_some_and(|attr| attr.as_int(op.ctx()) == Some(0));
    let is_static = is_fully_static(op.ctx(), op.result_type(0));
    if same_type(op) && is_static && from_start { value(op.operand(0)) } else { None }
}

/// Folds a cast to the type that the source already has.
pub(super) fn reinterpret_cast(op: OpRef<'_>, _: &[Option<Attr>]) -> Fold {
    if same_type(op) && is_fully_static(op.ctx(), op.result_type(0)) { value(op.operand(0)) } else { None }
}

/// Folds an expansion without new dimensions, or of a collapse.
pub(super) fn expand_shape(op: OpRef<'_>, _: &[Option<Attr>]) -> Fold {
    reshape(op, CollapseShapeOp::DEF)
}

/// Folds a collapse without joined dimensions, or of an expansion.
pub(super) fn collapse_shape(op: OpRef<'_>, _: &[Option<Attr>]) -> Fold {
    reshape(op, ExpandShapeOp::DEF)
}

fn reshape(op: OpRef<'_>, inverse: &'static OpDef) -> Fold {
    let ctx = op.ctx();
    if same_type(op) {
        return value(op.operand(0));
    }
    let inner = defined_by(op, op.operand(0), inverse)?;
    let groups = |op: OpRef<'_>| reassociation(ctx, op.attr("reassociation")?);
    // The sizes of an expansion may differ from the sizes before the collapse, unless at most one
    // of a group is dynamic.
    let one_unknown_a_group = || {
        let shape = Ranked::of(ctx, op.result_type(0)).map(|memref| memref.shape).unwrap_or_default();
        let dynamic = |d: &i64| usize::try_from(*d).ok().and_then(|d| shape.get(d)) == Some(&DYNAMIC);
        groups(op).is_some_and(|groups| groups.iter().all(|g| g.iter().filter(|d| dynamic(d)).count() <= 1))
    };
    let undoes = inner.operand_type(0) == op.result_type(0) && groups(op)? == groups(inner)?;
    if undoes && (inverse.name == ExpandShapeOp::DEF.name || one_unknown_a_group()) {
        value(inner.operand(0))
    } else {
        None
    }
}

/// Folds an identity transposition.
pub(super) fn transpose(op: OpRef<'_>, _: &[Option<Attr>]) -> Fold {
    let ctx = op.ctx();
    let order = permutation(ctx, op.attr("permutation")?.as_affine_map(ctx)?)?;
    if same_type(op) && order.iter().enumerate().all(|(i, d)| i == *d) { value(op.operand(0)) } else { None }
}
