//! Patterns that move constants from operands into attributes and types: of objects, of views.
//!
//! The result gets the type that follows, and is cast to the type it had.
//!
//! **Assumptions.**
//! - A negative size, and a part that leaves its source, stay as they are: the program is undefined
//!   where they run, and the verifier would refuse them as attributes. Tried with
//!   `fixtures/simplify/memref.mlir`.

use loomir_ir::rewrite::{Rewriter, constant_of};
use loomir_ir::{Attr, Context, DYNAMIC, Loc, Op, OpDef, OperationState, Type, Value, rewrite};

use super::super::layout::{Ranked, subview_type};
use super::super::verify::views::{Slice, cast_compatible, dropped_by_subview, out_of_bounds};
use super::super::{
    AllocOp, AllocaOp, CastOp, ExtractStridedMetadataOp, ReinterpretCastOp, SubViewOp, ViewOp,
};
use crate::arith::materialize_constant;

rewrite! {
    /// Patterns on known sizes.
    pub(crate) PATTERNS;

    /// A known size of an object is part of its type.
    known_size_of_alloc: AllocOp = |rewriter, op| with_known_sizes(rewriter, op, AllocOp::DEF, 0);

    /// A known size of an object on the stack is part of its type.
    known_size_of_alloca: AllocaOp = |rewriter, op| with_known_sizes(rewriter, op, AllocaOp::DEF, 0);

    /// A known size of a view is part of its type.
    known_size_of_view: ViewOp = |rewriter, op| with_known_sizes(rewriter, op, ViewOp::DEF, 2);

    /// Known offsets, sizes and strides of a part are attributes.
    known_numbers_of_subview: SubViewOp = |rewriter, op| {
        let Some((slice, operands)) = known_slice(rewriter, op) else { return false };
        let Some(ty) = reduced_subview_type(rewriter, op, rewriter.body().operand(op, 0), &slice) else {
            return false;
        };
        let source = rewriter.body().operand(op, 0);
        replace_view(rewriter, op, SubViewOp::DEF, source, (&slice, operands), ty)
    };

    /// Known offsets, sizes and strides of a reinterpretation are attributes and part of its type.
    known_numbers_of_reinterpret_cast: ReinterpretCastOp = |rewriter, op| {
        let body = rewriter.body();
        let ctx = body.ctx().clone();
        let old = body.value_type(body.result(op, 0));
        let own = Slice::of(body.op_ref(op)).map(|slice| (slice, groups(rewriter, op)));
        let Some((slice, operands)) = known_slice(rewriter, op).or(own) else { return false };
        let (Some(memref), Some((strides, offset))) = (Ranked::of(&ctx, old), old.strides_and_offset(&ctx)) else {
            return false;
        };
        let pairs = memref.shape.iter().zip(&slice.sizes).chain(strides.iter().zip(&slice.strides));
        let is_new = |(claimed, known): (&i64, &i64)| *claimed == DYNAMIC && *known != DYNAMIC;
        if !pairs.chain([(&offset, &slice.offsets[0])]).any(is_new) {
            return false;
        }
        let ty = memref.strided(&ctx, &slice.sizes, &slice.strides, slice.offsets[0]);
        let source = rewriter.body().operand(op, 0);
        replace_view(rewriter, op, ReinterpretCastOp::DEF, source, (&slice, operands), ty)
    };

    /// Offset, sizes and strides that the type of a memref states are constants.
    known_metadata: ExtractStridedMetadataOp = |rewriter, op| {
        let body = rewriter.body();
        let ctx = body.ctx().clone();
        let ty = body.value_type(body.operand(op, 0));
        let (Some(shape), Some((strides, offset))) = (ty.shape(&ctx), ty.strides_and_offset(&ctx)) else {
            return false;
        };
        let numbers: Vec<i64> = [offset].into_iter().chain(shape.iter().copied()).chain(strides).collect();
        let results: Vec<Value> = body.results(op).skip(1).collect();
        let mut is_changed = false;
        for (result, number) in results.into_iter().zip(numbers) {
            if number == DYNAMIC || rewriter.body().uses(result).next().is_none() {
                continue;
            }
            let Some(constant) = materialize_constant(&ctx, ctx.index_attr(number), Type::INDEX) else { continue };
            let constant = rewriter.insert_before(op, constant);
            let constant = rewriter.body().result(constant, 0);
            rewriter.replace_all_uses(result, constant);
            is_changed = true;
        }
        is_changed
    };
}

fn number(rewriter: &Rewriter<'_>, value: Value) -> Option<i64> {
    constant_of(rewriter.body(), value).and_then(|attr| attr.as_int(rewriter.body().ctx()))
}

/// Replaces `op`, whose operands from `first` on are its dynamic sizes, by one whose type holds the
/// constants among them.
fn with_known_sizes(rewriter: &mut Rewriter<'_>, op: Op, def: &'static OpDef, first: usize) -> bool {
    let body = rewriter.body();
    let ctx = body.ctx().clone();
    let old = body.value_type(body.result(op, 0));
    let Some(memref) = Ranked::of(&ctx, old) else { return false };
    let operands: Vec<Value> = body.operands(op).collect();
    let (mut sizes, mut kept) = (memref.shape.to_vec(), operands[..first].to_vec());
    let mut next = first;
    for size in sizes.iter_mut().filter(|size| **size == DYNAMIC) {
        let Some(value) = operands.get(next) else { return false };
        next += 1;
        match number(rewriter, *value).filter(|number| *number >= 0) {
            Some(number) => *size = number,
            None => kept.push(*value),
        }
    }
    if sizes[..] == *memref.shape {
        return false;
    }
    let ty = memref.with(&ctx, &sizes, memref.layout);
    if !cast_compatible(&ctx, ty, old) {
        return false;
    }
    let dynamic = kept.len() - first;
    kept.extend(&operands[next..]);
    let mut state = OperationState::of(&ctx, def, Loc::UNKNOWN).operands(&kept).results(&[ty]);
    state.properties = rewriter.body().properties(op);
    state.attributes = rewriter.body().attributes(op);
    if first == 0 {
        state.set_segments(&ctx, &[dynamic as i64, (operands.len() - next) as i64]);
    }
    replace_by_cast(rewriter, op, state, old)
}

/// Replaces `op` by a cast of the result of a new operation to its type, or by that result.
pub(super) fn replace_by_cast(rewriter: &mut Rewriter<'_>, op: Op, state: OperationState, old: Type) -> bool {
    let new = rewriter.insert_before(op, state);
    let value = rewriter.body().result(new, 0);
    if rewriter.body().value_type(value) == old {
        return rewriter.replace(op, &[value]);
    }
    let ctx = rewriter.ctx();
    let cast = OperationState::of(&ctx, CastOp::DEF, Loc::UNKNOWN).operands(&[value]).results(&[old]);
    rewriter.replace_with(op, cast)
}

/// The operands that are offsets, sizes and strides of a view.
pub(super) type Groups = [Vec<Value>; 3];

/// Returns the operands that are offsets, sizes and strides of a view.
pub(super) fn groups(rewriter: &Rewriter<'_>, op: Op) -> Groups {
    let view = rewriter.body().op_ref(op);
    ["offsets", "sizes", "strides"].map(|name| view.operand_group(name))
}

/// Returns the numbers of a view with the constants among its operands, and the operands that are
/// left. `None` if none is a constant.
fn known_slice(rewriter: &Rewriter<'_>, op: Op) -> Option<(Slice, Groups)> {
    let mut slice = Slice::of(rewriter.body().op_ref(op))?;
    let mut is_changed = false;
    let lists = [&mut slice.offsets, &mut slice.sizes, &mut slice.strides];
    let mut left = groups(rewriter, op);
    for (group, (numbers, operands)) in lists.into_iter().zip(&mut left).enumerate() {
        let mut values = operands.iter().copied();
        let mut rest = Vec::new();
        for entry in numbers.iter_mut().filter(|entry| **entry == DYNAMIC) {
            let value = values.next()?;
            // A stride of zero stays an operand, as in MLIR.
            let is_allowed = |n: &i64| *n != DYNAMIC && (if group == 2 { *n != 0 } else { *n >= 0 });
            match number(rewriter, value).filter(is_allowed) {
                Some(known) => {
                    *entry = known;
                    is_changed = true;
                }
                None => rest.push(value),
            }
        }
        *operands = rest;
    }
    is_changed.then_some((slice, left))
}

/// Returns the type of the part of `source` that has these numbers and drops the dimensions that
/// the result of `op` drops. `None` if the part certainly leaves the source.
pub(super) fn reduced_subview_type(
    rewriter: &Rewriter<'_>,
    op: Op,
    source: Value,
    slice: &Slice,
) -> Option<Type> {
    let body = rewriter.body();
    let ctx = body.ctx();
    let own = Slice::of(body.op_ref(op))?;
    let (from, old) = (body.value_type(body.operand(op, 0)), body.value_type(body.result(op, 0)));
    let full = subview_type(ctx, from, &own.offsets, &own.sizes, &own.strides)?;
    let dropped = dropped_by_subview(ctx, full, old)?;
    let from = body.value_type(source);
    if out_of_bounds(from.shape(ctx)?, slice).is_some() {
        return None;
    }
    let full = subview_type(ctx, from, &slice.offsets, &slice.sizes, &slice.strides)?;
    let (strides, offset) = full.strides_and_offset(ctx)?;
    let kept = |numbers: &[i64]| -> Vec<i64> {
        numbers.iter().zip(&dropped).filter(|(_, dropped)| !**dropped).map(|(number, _)| *number).collect()
    };
    let ty = Ranked::of(ctx, full)?.strided(ctx, &kept(full.shape(ctx)?), &kept(&strides), offset);
    cast_compatible(ctx, ty, old).then_some(ty)
}

/// Replaces a view by one of `source` with these numbers, of type `ty`, cast to the type it had.
pub(super) fn replace_view(
    rewriter: &mut Rewriter<'_>,
    op: Op,
    def: &'static OpDef,
    source: Value,
    (slice, groups): (&Slice, Groups),
    ty: Type,
) -> bool {
    let ctx = rewriter.ctx();
    let old = rewriter.body().value_type(rewriter.body().result(op, 0));
    let list = |ctx: &Context, numbers: &[i64]| -> Attr { ctx.dense_ints_attr(Type::I64, numbers) };
    let sizes = [1, groups[0].len() as i64, groups[1].len() as i64, groups[2].len() as i64];
    let operands = [vec![source], groups.concat()].concat();
    let mut state = OperationState::of(&ctx, def, Loc::UNKNOWN).operands(&operands).results(&[ty]);
    state.properties = rewriter.body().properties(op);
    state.attributes = rewriter.body().attributes(op);
    let lists = [
        ("static_offsets", &slice.offsets),
        ("static_sizes", &slice.sizes),
        ("static_strides", &slice.strides),
    ];
    for (name, numbers) in lists {
        state.set_attr(&ctx, name, list(&ctx, numbers));
    }
    state.set_segments(&ctx, &sizes);
    replace_by_cast(rewriter, op, state, old)
}
