//! Types and attributes of the `linalg` operations, read.

use loomir_ir::{AffineMap, Attr, AttrKind, Context, OpRef, Type, TypeKind};

/// Returns the type of an element of a memref or tensor, or the type itself of another operand.
pub(super) fn element_type(ctx: &Context, ty: Type) -> Type {
    match ty.kind(ctx) {
        TypeKind::MemRef { element, .. } | TypeKind::Tensor { element, .. } => *element,
        _ => ty,
    }
}

/// Returns the number of dimensions of a memref; none of another operand.
pub(super) fn rank(ctx: &Context, ty: Type) -> usize {
    match ty.kind(ctx) {
        TypeKind::MemRef { shape: Some(shape), .. } => shape.len(),
        _ => 0,
    }
}

/// Returns the maps of the attribute `indexing_maps`.
pub(super) fn attached_maps(op: OpRef<'_>) -> Option<Vec<AffineMap>> {
    let ctx = op.ctx();
    op.attr("indexing_maps")?.as_array(ctx)?.iter().map(|map| map.as_affine_map(ctx)).collect()
}

/// True for integers that are not negative.
pub(super) fn is_not_negative(ctx: &Context, attr: Attr) -> bool {
    attr.as_int(ctx).is_some_and(|number| number >= 0)
}

/// True for two integers of 64 bits in the form of elements.
pub(super) fn is_pair(ctx: &Context, attr: Attr) -> bool {
    pair_of(ctx, attr).is_some()
}

/// Returns the two numbers of an attribute of that form.
pub(super) fn pair_of(ctx: &Context, attr: Attr) -> Option<[i64; 2]> {
    let AttrKind::DenseElements { ty, splat, bytes } = attr.kind(ctx) else { return None };
    if ty.shape(ctx) != Some(&[2]) || ty.element(ctx) != Some(Type::I64) {
        return None;
    }
    let number = |at: usize| Some(i64::from_le_bytes(bytes.get(8 * at..8 * at + 8)?.try_into().ok()?));
    Some([number(0)?, number(if *splat { 0 } else { 1 })?])
}
