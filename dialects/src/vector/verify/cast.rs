//! Rules of casts and transpositions.

use loomir_ir::text::type_to_string;
use loomir_ir::verifier::op_error;
use loomir_ir::{Context, DYNAMIC, Diagnostics, OpRef, Type};

use super::{numbers, same_element};
use crate::arith::constant::width;
use crate::memref::layout::Ranked;
use crate::vector::shape::VectorShape;

/// True for a memref of known sizes.
pub(crate) fn is_static(ctx: &Context, ty: Type) -> bool {
    Ranked::of(ctx, ty).is_some_and(|memref| !memref.shape.contains(&DYNAMIC))
}

/// Returns the shapes of the operand and the result.
fn shapes(op: OpRef<'_>) -> [VectorShape<'_>; 2] {
    [op.operand_type(0), op.result_type(0)].map(|ty| VectorShape::of_part(op.ctx(), ty))
}

/// Checks that both have the same elements, and as many.
pub(crate) fn shape_cast(op: OpRef<'_>, out: &mut Diagnostics) {
    let [source, result] = shapes(op);
    let (own, theirs) = (source.count(), result.count());
    let scales = |shape: &VectorShape<'_>| shape.scalable.iter().filter(|own| **own).count();
    let message = if source.element != result.element {
        "has different source and result element types".into()
    } else if own != theirs || own.is_none() {
        let [own, theirs] = [own, theirs].map(|count| count.unwrap_or(i64::MAX));
        format!("has different number of elements at source ({own}) and result ({theirs})")
    } else if scales(&source) != scales(&result) {
        format!(
            "has different number of scalable dims at source ({}) and result ({})",
            scales(&source),
            scales(&result)
        )
    } else {
        return;
    };
    out.push(op_error(op, message));
}

/// Checks that the last dimensions have as many bits, and that the others are the same.
pub(crate) fn bitcast(op: OpRef<'_>, out: &mut Diagnostics) {
    let [source, result] = shapes(op);
    let message = if source.rank() != result.rank() {
        "failed to verify that all of {source, result} have same rank".into()
    } else {
        let outer = |shape: &VectorShape<'_>| shape.rank().saturating_sub(1);
        let differs = (0..outer(&source)).find(|d| source.sizes[*d] != result.sizes[*d]);
        let bits = |shape: &VectorShape<'_>| {
            let last = shape.sizes.last().copied().unwrap_or(1);
            i64::from(width(op.ctx(), shape.element)?).checked_mul(last)
        };
        match differs {
            Some(d) => format!("dimension size mismatch at: {d}"),
            None if bits(&source).is_none() || bits(&source) != bits(&result) => {
                let what = if source.rank() == 0 { "0-D vector element types" } else { "minor 1-D vectors" };
                format!("source/result bitwidth of the {what} must be equal")
            }
            None => return,
        }
    };
    out.push(op_error(op, message));
}

/// Checks that the numbers are a permutation of the dimensions.
pub(crate) fn transpose(op: OpRef<'_>, out: &mut Diagnostics) {
    if !same_element(op, op.operand_type(0), op.result_type(0), "operand and result", out) {
        return;
    }
    let [source, result] = shapes(op);
    let permutation = numbers(op, "permutation");
    let rank = source.rank();
    let message = if result.rank() != rank {
        format!("vector result rank mismatch: {}", result.rank())
    } else if permutation.len() != rank {
        format!("transposition length mismatch: {}", permutation.len())
    } else {
        let mut seen = vec![false; rank];
        let from: Vec<(i64, bool)> = source.dims().collect();
        let wrong = permutation.iter().zip(result.dims()).position(|(own, dim)| {
            let place = usize::try_from(*own).ok().filter(|place| *place < rank);
            let Some(place) = place.filter(|place| !std::mem::replace(&mut seen[*place], true)) else {
                return true;
            };
            from[place] != dim
        });
        match wrong {
            Some(at) => format!("dimension size mismatch at: {at}"),
            None => return,
        }
    };
    out.push(op_error(op, message));
}

/// Checks that both have the same dimensions, those of vectors last.
pub(crate) fn type_cast(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let (Some(from), Some(to)) = (Ranked::of(ctx, op.operand_type(0)), Ranked::of(ctx, op.result_type(0)))
    else {
        return;
    };
    let result_text = type_to_string(ctx, op.result_type(0));
    let whole = |memref: &Ranked<'_>| {
        let element = VectorShape::of_part(ctx, memref.element);
        [memref.shape, element.sizes].concat()
    };
    let scalar = |memref: &Ranked<'_>| VectorShape::of_part(ctx, memref.element).element;
    let message = if from.layout.is_some() {
        "expects operand to be a memref with identity layout".into()
    } else if to.layout.is_some() {
        "expects result to be a memref with identity layout".into()
    } else if from.space != to.space {
        "expects result in same memory space".into()
    } else if scalar(&from) != scalar(&to) {
        format!("expects result and operand with same underlying scalar type: '{result_text}'")
    } else if whole(&from) != whole(&to) {
        format!("expects concatenated result and operand shapes to be equal: '{result_text}'")
    } else {
        return;
    };
    out.push(op_error(op, message));
}
