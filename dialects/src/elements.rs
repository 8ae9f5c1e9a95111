//! Lists of integers in dense elements attributes (`dense<[1, 2]> : tensor<2xi32>`).

use loomir_ir::{Attr, AttrKind, Context, Type};

use crate::arith::constant::Numbers;

/// Returns the elements of a one-dimensional attribute, as bits.
pub(crate) fn elements(ctx: &Context, attr: Attr) -> Vec<u128> {
    let count = attr.ty(ctx).and_then(|ty| ty.shape(ctx)).map_or(0, |shape| shape.iter().product());
    match Numbers::of(ctx, attr) {
        Some(Numbers::One(value)) => vec![value; usize::try_from(count).unwrap_or(0)],
        Some(Numbers::Many(values)) => values,
        None => Vec::new(),
    }
}

/// Returns the attribute of type `ty`, a vector or tensor of integers, with these elements.
pub(crate) fn elements_attr(ctx: &Context, ty: Type, elements: Vec<u128>) -> Option<Attr> {
    if elements.is_empty() {
        return Some(ctx.attr(AttrKind::DenseElements { ty, splat: false, bytes: Box::default() }));
    }
    Numbers::Many(elements).attr(ctx, ty)
}
