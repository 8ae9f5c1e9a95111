//! Patterns of views: chains of them, and views of casts.

use loomir_ir::affine::{AffineExpr, AffineMap};
use loomir_ir::rewrite::Rewriter;
use loomir_ir::{Attr, AttrKind, Context, DYNAMIC, Loc, Op, OpDef, OperationState, Type, Value, rewrite};

use super::super::layout::{Ranked, collapsed_type, expanded_type, reassociation};
use super::super::verify::views::{Slice, cast_compatible, permutation};
use super::super::{
    CastOp, CollapseShapeOp, ExpandShapeOp, ExtractStridedMetadataOp, MemorySpaceCastOp, ReinterpretCastOp,
    SubViewOp, TransposeOp,
};
use super::sizes::{groups, reduced_subview_type, replace_by_cast, replace_view};

rewrite! {
    /// Patterns of views.
    pub(crate) PATTERNS;

    /// A cast of a ranked memref twice is one.
    cast_of_cast: CastOp = |rewriter, op| {
        let body = rewriter.body();
        let Some(inner) = rewriter.defined_by(body.operand(op, 0), CastOp::DEF) else { return false };
        let source = body.operand(inner, 0);
        let (from, to) = (body.value_type(source), body.value_type(body.result(op, 0)));
        if from.shape(body.ctx()).is_none() || (from != to && !cast_compatible(body.ctx(), from, to)) {
            return false;
        }
        rewriter.set_operand(op, 0, source);
        true
    };

    /// A part of a cast memref is a part of the memref, if the cast forgets what is known of it.
    subview_of_cast: SubViewOp = |rewriter, op| {
        let Some(source) = forgetful_cast(rewriter, op) else { return false };
        let Some(slice) = Slice::of(rewriter.body().op_ref(op)) else { return false };
        let Some(ty) = reduced_subview_type(rewriter, op, source, &slice) else { return false };
        let operands = groups(rewriter, op);
        replace_view(rewriter, op, SubViewOp::DEF, source, (&slice, operands), ty)
    };

    /// A part that is the whole is a cast.
    whole_subview: SubViewOp = |rewriter, op| {
        let body = rewriter.body();
        let ctx = body.ctx();
        let (source, to) = (body.operand(op, 0), body.value_type(body.result(op, 0)));
        let from = body.value_type(source);
        let (Some(slice), Some(shape)) = (Slice::of(body.op_ref(op)), from.shape(ctx)) else { return false };
        let is_whole = slice.sizes == shape
            && !shape.contains(&DYNAMIC)
            && slice.offsets.iter().all(|offset| *offset == 0)
            && slice.strides.iter().all(|stride| *stride == 1);
        is_whole && from != to && cast_compatible(ctx, from, to) && replace_with_cast(rewriter, op, source)
    };

    /// The collapse of a cast memref is that of the memref, if the cast forgets what is known.
    collapse_of_cast: CollapseShapeOp = |rewriter, op| {
        let Some(source) = forgetful_cast(rewriter, op) else { return false };
        let body = rewriter.body();
        let ctx = body.ctx().clone();
        let (from, old) = (body.value_type(source), body.value_type(body.result(op, 0)));
        let Some(groups) = body.attr(op, "reassociation").and_then(|attr| reassociation(&ctx, attr)) else {
            return false;
        };
        let Some(sizes) = from.shape(&ctx).and_then(|shape| products(shape, &groups)) else { return false };
        let Some(ty) = collapsed_type(&ctx, from, &sizes, &groups) else { return false };
        if !cast_compatible(&ctx, ty, old) {
            return false;
        }
        let state = reshaping(rewriter, op, CollapseShapeOp::DEF, &[source], ty);
        replace_by_cast(rewriter, op, state, old)
    };

    /// A collapse twice is one.
    collapse_of_collapse: CollapseShapeOp = |rewriter, op| {
        let Some((inner, outer_groups, inner_groups)) = reshaped(rewriter, op, CollapseShapeOp::DEF) else {
            return false;
        };
        let body = rewriter.body();
        let ctx = body.ctx().clone();
        let (source, old) = (body.operand(inner, 0), body.value_type(body.result(op, 0)));
        let Some(groups) = composed(&outer_groups, &inner_groups) else { return false };
        let Some(shape) = old.shape(&ctx) else { return false };
        if collapsed_type(&ctx, body.value_type(source), shape, &groups) != Some(old) {
            return false;
        }
        let mut state = reshaping(rewriter, op, CollapseShapeOp::DEF, &[source], old);
        state.set_attr(&ctx, "reassociation", reassociation_attr(&ctx, &groups));
        rewriter.replace_with(op, state)
    };

    /// An expansion twice is one.
    expansion_of_expansion: ExpandShapeOp = |rewriter, op| {
        let Some((inner, outer_groups, inner_groups)) = reshaped(rewriter, op, ExpandShapeOp::DEF) else {
            return false;
        };
        let body = rewriter.body();
        let ctx = body.ctx().clone();
        let (source, old) = (body.operand(inner, 0), body.value_type(body.result(op, 0)));
        let Some(groups) = composed(&inner_groups, &outer_groups) else { return false };
        let Some(shape) = old.shape(&ctx) else { return false };
        if expanded_type(&ctx, body.value_type(source), shape, &groups) != Some(old) {
            return false;
        }
        let operands: Vec<Value> = [source].into_iter().chain(body.operands(op).skip(1)).collect();
        let mut state = reshaping(rewriter, op, ExpandShapeOp::DEF, &operands, old);
        state.set_attr(&ctx, "reassociation", reassociation_attr(&ctx, &groups));
        rewriter.replace_with(op, state)
    };

    /// A collapse that undoes an expansion is a cast.
    collapse_of_expansion: CollapseShapeOp = |rewriter, op| {
        let Some((inner, outer_groups, inner_groups)) = reshaped(rewriter, op, ExpandShapeOp::DEF) else {
            return false;
        };
        let body = rewriter.body();
        let (source, to) = (body.operand(inner, 0), body.value_type(body.result(op, 0)));
        let fits = cast_compatible(body.ctx(), body.value_type(source), to);
        outer_groups == inner_groups && fits && replace_with_cast(rewriter, op, source)
    };

    /// A transposition twice is one.
    transposition_of_transposition: TransposeOp = |rewriter, op| {
        let body = rewriter.body();
        let ctx = body.ctx().clone();
        let Some(inner) = rewriter.defined_by(body.operand(op, 0), TransposeOp::DEF) else { return false };
        let order = |op: Op| permutation(&ctx, body.attr(op, "permutation")?.as_affine_map(&ctx)?);
        let (Some(outer_order), Some(inner_order)) = (order(op), order(inner)) else { return false };
        let dims = outer_order.iter().map(|d| AffineExpr::dim(&ctx, inner_order[*d] as u32)).collect::<Vec<_>>();
        let map = AffineMap::new(&ctx, inner_order.len() as u32, 0, &dims);
        let (source, ty) = (body.operand(inner, 0), body.value_type(body.result(op, 0)));
        let mut state = reshaping(rewriter, op, TransposeOp::DEF, &[source], ty);
        state.set_attr(&ctx, "permutation", ctx.attr(AttrKind::AffineMap(map)));
        rewriter.replace_with(op, state)
    };

    /// A cast to a memory space, and from there to another, is one.
    memory_space_cast_of_one: MemorySpaceCastOp = |rewriter, op| {
        let body = rewriter.body();
        let Some(inner) = rewriter.defined_by(body.operand(op, 0), MemorySpaceCastOp::DEF) else { return false };
        let (source, ty) = (body.operand(inner, 0), body.value_type(body.result(op, 0)));
        // There and back may lose what the other space has not.
        if body.value_type(source) == ty {
            return false;
        }
        let state = reshaping(rewriter, op, MemorySpaceCastOp::DEF, &[source], ty);
        rewriter.replace_with(op, state)
    };

    /// A reinterpretation looks at the object alone.
    reinterpretation_of_view: ReinterpretCastOp = |rewriter, op| {
        let body = rewriter.body();
        let Some(view) = body.defining_op(body.operand(op, 0)) else { return false };
        // The part of a memref starts at the pointer of the memref, whatever its offset is.
        let is_view = [ReinterpretCastOp::DEF, CastOp::DEF, SubViewOp::DEF].iter().any(|def| body.is(view, def));
        let is_metadata = body.is(view, ExtractStridedMetadataOp::DEF);
        if !is_view && !is_metadata {
            return false;
        }
        let source = body.operand(view, 0);
        if is_metadata && is_described_by(rewriter, op, view) {
            let (from, to) = (body.value_type(source), body.value_type(body.result(op, 0)));
            if from == to {
                return rewriter.replace(op, &[source]);
            }
            if cast_compatible(body.ctx(), from, to) {
                return replace_with_cast(rewriter, op, source);
            }
        }
        rewriter.set_operand(op, 0, source);
        true
    };
}

/// Returns the memref that was cast to the first operand of `op`, if its type says all that the
/// type of the operand says.
fn forgetful_cast(rewriter: &Rewriter<'_>, op: Op) -> Option<Value> {
    let body = rewriter.body();
    let ctx = body.ctx();
    let operand = body.operand(op, 0);
    let source = body.operand(rewriter.defined_by(operand, CastOp::DEF)?, 0);
    let (from, to) = (body.value_type(source), body.value_type(operand));
    let (known, claimed) = (from.strides_and_offset(ctx)?, to.strides_and_offset(ctx)?);
    let covers = |known: &[i64], claimed: &[i64]| {
        known.len() == claimed.len() && known.iter().zip(claimed).all(|(k, c)| *c == DYNAMIC || k == c)
    };
    let is_forgetful = covers(from.shape(ctx)?, to.shape(ctx)?)
        && covers(&known.0, &claimed.0)
        && covers(&[known.1], &[claimed.1]);
    is_forgetful.then_some(source)
}

fn replace_with_cast(rewriter: &mut Rewriter<'_>, op: Op, source: Value) -> bool {
    let ty = rewriter.body().value_type(rewriter.body().result(op, 0));
    let state = OperationState::of(&rewriter.ctx(), CastOp::DEF, Loc::UNKNOWN);
    rewriter.replace_with(op, state.operands(&[source]).results(&[ty]))
}

/// Returns an operation with the attributes of `op`.
fn reshaping(
    rewriter: &Rewriter<'_>,
    op: Op,
    def: &'static OpDef,
    operands: &[Value],
    ty: Type,
) -> OperationState {
    let mut state = OperationState::of(rewriter.body().ctx(), def, Loc::UNKNOWN);
    state.properties = rewriter.body().properties(op);
    state.attributes = rewriter.body().attributes(op);
    state.operands(operands).results(&[ty])
}

/// The groups of dimensions of a collapse or expansion.
type Reassociation = Vec<Vec<i64>>;

/// Returns the operation of this definition that makes the operand of `op`, with the groups of
/// `op` and its own.
fn reshaped(
    rewriter: &Rewriter<'_>,
    op: Op,
    def: &'static OpDef,
) -> Option<(Op, Reassociation, Reassociation)> {
    let body = rewriter.body();
    let inner = rewriter.defined_by(body.operand(op, 0), def)?;
    let own = |op: Op| reassociation(body.ctx(), body.attr(op, "reassociation")?);
    Some((inner, own(op)?, own(inner)?))
}

/// Returns groups of the dimensions in `finer`, one for each of `coarser`, whose numbers are
/// positions in `finer`. A collapse to rank zero has no groups.
fn composed(coarser: &Reassociation, finer: &Reassociation) -> Option<Reassociation> {
    if coarser.is_empty() || finer.is_empty() {
        return Some(Vec::new());
    }
    let of_group = |group: &Vec<i64>| -> Option<Vec<i64>> {
        let parts: Option<Vec<&Vec<i64>>> =
            group.iter().map(|d| usize::try_from(*d).ok().and_then(|d| finer.get(d))).collect();
        Some(parts?.into_iter().flatten().copied().collect())
    };
    coarser.iter().map(of_group).collect()
}

/// Returns the size of each group of dimensions.
fn products(shape: &[i64], groups: &Reassociation) -> Option<Vec<i64>> {
    let of_group = |group: &Vec<i64>| {
        group.iter().try_fold(1i64, |product, d| {
            let size = *shape.get(usize::try_from(*d).ok()?)?;
            if product == DYNAMIC || size == DYNAMIC { Some(DYNAMIC) } else { product.checked_mul(size) }
        })
    };
    groups.iter().map(of_group).collect()
}

fn reassociation_attr(ctx: &Context, groups: &Reassociation) -> Attr {
    let groups = groups.iter().map(|group| {
        let numbers: Vec<Attr> = group.iter().map(|d| ctx.int_attr(Type::I64, *d)).collect();
        ctx.array_attr(&numbers)
    });
    ctx.array_attr(&groups.collect::<Vec<_>>())
}

/// True if a reinterpretation has the offset, sizes and strides of the memref that `metadata`
/// takes apart, all of them.
fn is_described_by(rewriter: &Rewriter<'_>, op: Op, metadata: Op) -> bool {
    let body = rewriter.body();
    let ctx = body.ctx();
    let ty = body.value_type(body.operand(metadata, 0));
    let (Some(slice), Some(memref), Some((strides, offset))) =
        (Slice::of(body.op_ref(op)), Ranked::of(ctx, ty), ty.strides_and_offset(ctx))
    else {
        return false;
    };
    let rank = memref.shape.len();
    if slice.sizes.len() != rank {
        return false;
    }
    let known: Vec<i64> = [offset].into_iter().chain(memref.shape.iter().copied()).chain(strides).collect();
    let mut operands = groups(rewriter, op).concat().into_iter();
    let given = slice.offsets.iter().chain(&slice.sizes).chain(&slice.strides);
    given.zip(known).enumerate().all(|(i, (given, known))| match *given {
        DYNAMIC => operands.next() == Some(body.result(metadata, 1 + i)),
        number => number == known,
    })
}
