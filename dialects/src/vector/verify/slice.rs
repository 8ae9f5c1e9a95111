//! Rules of slices of vectors.

use loomir_ir::text::type_to_string;
use loomir_ir::verifier::op_error;
use loomir_ir::{Attr, AttrKind, Context, Diagnostics, OpRef, Type};

use super::{is_array_of, same_element};
use crate::vector::shape::{VectorShape, vector};

/// True if an attribute is an array of numbers of type `i64`.
pub(crate) fn is_i64_array(ctx: &Context, attr: Attr) -> bool {
    is_array_of(ctx, attr, |own| matches!(own.kind(ctx), AttrKind::Integer { ty: Type::I64, .. }))
}

/// Returns the numbers of an array.
pub(crate) fn numbers(op: OpRef<'_>, name: &str) -> Vec<i64> {
    let ctx = op.ctx();
    let all = op.attr(name).and_then(|attr| attr.as_array(ctx)).unwrap_or_default();
    all.iter().filter_map(|own| own.as_int(ctx)).collect()
}

/// Returns the text of the first number outside of `first..end`.
fn outside(values: &[i64], first: i64, ends: &[i64], what: &str) -> Option<String> {
    let wrong = values.iter().zip(ends).position(|(own, end)| !(first..*end).contains(own))?;
    Some(format!("expected {what} dimension {wrong} to be confined to [{first}, {})", ends[wrong]))
}

fn sums(a: &[i64], b: &[i64]) -> Vec<i64> {
    a.iter().zip(b).map(|(a, b)| a.saturating_add(*b)).collect()
}

const STRIDES: &str = "expected strides to be confined to [1, 2)";

/// Checks that the part is inside the vector, and that the result is of its size.
pub(crate) fn extract(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let (from, to) = (op.operand_type(0), op.result_type(0));
    if !same_element(op, from, to, "operand and result", out) {
        return;
    }
    let Some(source) = VectorShape::of(ctx, from) else { return };
    let [offsets, sizes, strides] = ["offsets", "sizes", "strides"].map(|name| numbers(op, name));
    let ends: Vec<i64> = source.sizes.iter().map(|size| size.saturating_add(1)).collect();
    let message = if offsets.len() != sizes.len() || offsets.len() != strides.len() {
        "expected offsets, sizes and strides attributes of same size".into()
    } else if offsets.len() > source.rank() {
        "expected offsets attribute of rank no greater than vector rank".into()
    } else if let Some(message) = outside(&offsets, 0, source.sizes, "offsets")
        .or_else(|| outside(&sizes, 1, &ends, "sizes"))
        .or_else(|| strides.iter().any(|stride| *stride != 1).then(|| STRIDES.to_owned()))
        .or_else(|| outside(&sums(&offsets, &sizes), 1, &ends, "sum(offsets, sizes)"))
    {
        message
    } else {
        let scalable = source.scalable.iter().copied();
        let lead = sizes.iter().copied().zip(scalable);
        let is_part_of_scalable =
            sizes.iter().zip(source.dims()).any(|(own, (size, scales))| scales && *own != size);
        let expected = vector(ctx, lead.chain(source.dims().skip(sizes.len())), source.element);
        if is_part_of_scalable {
            "expected size at scalable dimensions to match the source".into()
        } else if to != expected {
            format!("expected result type to be '{}'", type_to_string(ctx, expected))
        } else {
            return;
        }
    };
    out.push(op_error(op, message));
}

/// Checks that the part is inside the vector.
pub(crate) fn insert(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let (from, to) = (op.operand_type(0), op.operand_type(1));
    if !same_element(op, from, to, "operand #0 and result", out) {
        return;
    }
    let [source, dest] = [from, to].map(|ty| VectorShape::of_part(ctx, ty));
    let [offsets, strides] = ["offsets", "strides"].map(|name| numbers(op, name));
    let message = if offsets.len() != dest.rank() {
        "expected offsets of same size as destination vector rank".to_owned()
    } else if strides.len() != source.rank() {
        "expected strides of same size as source vector rank".into()
    } else if source.rank() > dest.rank() {
        "expected source rank to be no greater than destination rank".into()
    } else {
        let lead = dest.rank() - source.rank();
        let mut sizes = vec![0; lead];
        sizes.extend(source.sizes);
        let ends: Vec<i64> = dest.sizes.iter().map(|size| size.saturating_add(1)).collect();
        let mut sums = sums(&offsets, &sizes);
        // Of dimensions that the part does not have, the offsets decide.
        sums[..lead].iter_mut().for_each(|sum| *sum = sum.saturating_add(1));
        let scales = source.dims().zip(dest.dims().skip(lead));
        let is_mixed = scales.into_iter().any(|(own, wide)| (own.1 || wide.1) && own != wide);
        let wrong = outside(&offsets, 0, dest.sizes, "offsets")
            .or_else(|| strides.iter().any(|stride| *stride != 1).then(|| STRIDES.to_owned()))
            .or_else(|| outside(&sums, 1, &ends, "sum(offsets, source vector shape)"))
            .or_else(|| is_mixed.then(|| "expected scalable dimensions to match".to_owned()));
        match wrong {
            Some(message) => message,
            None => return,
        }
    };
    out.push(op_error(op, message));
}
