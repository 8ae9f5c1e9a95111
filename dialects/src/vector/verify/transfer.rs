//! Rules of `transfer_read` and `transfer_write`, and the types that their maps decide.

use loomir_ir::text::{map_to_string, type_to_string};
use loomir_ir::verifier::op_error;
use loomir_ir::{AffineExpr, AffineExprKind, AffineMap, Attr, Context, Diagnostics, OpRef, Type, TypeKind};

use super::is_array_of;
use crate::vector::shape::{VectorShape, vector};

/// True if an attribute is an array of booleans.
pub(crate) fn is_bool_array(ctx: &Context, attr: Attr) -> bool {
    is_array_of(ctx, attr, |own| matches!(own, Attr::TRUE | Attr::FALSE))
}

/// Returns the rank of the vectors that are elements of a memref or tensor.
fn element_rank(ctx: &Context, shaped: Type) -> usize {
    shaped.element(ctx).map_or(0, |element| VectorShape::of_part(ctx, element).rank())
}

/// Returns the map of a transfer that names no other: the identity of the last dimensions. `None`
/// if the vector has more dimensions.
pub(crate) fn minor_identity(ctx: &Context, shaped: Type, vector: Type) -> Option<AffineMap> {
    let rank = shaped.shape(ctx)?.len();
    let shape = VectorShape::of(ctx, vector)?;
    if rank == 0 && shape.sizes == [1] {
        return Some(AffineMap::new(ctx, 0, 0, &[AffineExpr::constant(ctx, 0)]));
    }
    let results = shape.rank().checked_sub(element_rank(ctx, shaped))?;
    let first = rank.checked_sub(results)?;
    let dims: Vec<AffineExpr> = (first..rank).map(|d| AffineExpr::dim(ctx, d as u32)).collect();
    Some(AffineMap::new(ctx, rank as u32, 0, &dims))
}

/// The dimension of memory behind a dimension of a transferred vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Along {
    /// This dimension of the memref or tensor.
    Dim(usize),
    /// None: the elements are repeated.
    Repeat,
}

/// Returns the dimension of memory behind each dimension of the vector. `None` if the map has other
/// results.
pub(crate) fn along(ctx: &Context, map: AffineMap) -> Option<Vec<Along>> {
    let results = map.results(ctx).iter().map(|result| match result.kind(ctx) {
        AffineExprKind::Dim(d) => Some(Along::Dim(d as usize)),
        AffineExprKind::Constant(0) => Some(Along::Repeat),
        _ => None,
    });
    results.collect()
}

/// Returns the places in the vector of the dimensions of a mask: those of memory, in its order.
pub(crate) fn mask_dims(along: &[Along]) -> Vec<usize> {
    let mut dims: Vec<(usize, usize)> = Vec::new();
    for (place, own) in along.iter().enumerate() {
        if let Along::Dim(d) = own {
            dims.push((*d, place));
        }
    }
    dims.sort_unstable();
    dims.into_iter().map(|(_, place)| place).collect()
}

/// Returns the type of the mask of a transfer. `None` if the map does not fit the vector.
pub(crate) fn mask_type(ctx: &Context, map: AffineMap, transferred: Type) -> Option<Type> {
    let shape = VectorShape::of(ctx, transferred)?;
    let along = along(ctx, map)?;
    if along.len() != shape.rank() {
        return None;
    }
    let dims: Vec<(i64, bool)> = shape.dims().collect();
    let mut dims: Vec<(i64, bool)> = mask_dims(&along).into_iter().map(|place| dims[place]).collect();
    if dims.is_empty() {
        dims.push((1, false));
    }
    Some(vector(ctx, dims, Type::I1))
}

/// The parts that the rules of both transfers compare.
struct Transfer<'a> {
    op: OpRef<'a>,
    shaped: Type,
    vector: Type,
}

impl Transfer<'_> {
    fn fail(&self, message: impl AsRef<str>, out: &mut Diagnostics) -> bool {
        out.push(op_error(self.op, message));
        false
    }

    fn shape(&self, out: &mut Diagnostics) -> bool {
        let ctx = self.op.ctx();
        let is_known = matches!(
            self.shaped.kind(ctx),
            TypeKind::MemRef { shape: Some(_), .. } | TypeKind::Tensor { shape: Some(_), .. }
        );
        let rank = self.shaped.shape(ctx).map_or(0, <[i64]>::len);
        if !is_known {
            return self.fail("requires source to be a memref or ranked tensor type", out);
        }
        self.op.operand_group("indices").len() == rank || self.fail(format!("requires {rank} indices"), out)
    }

    /// Checks that the elements of the vector consist of those of memory.
    fn widths(&self, out: &mut Diagnostics) -> bool {
        let ctx = self.op.ctx();
        let width = |ty: Type| crate::arith::constant::width(ctx, ty).map(i64::from);
        let minor = |ty: Type| {
            let shape = VectorShape::of_part(ctx, ty);
            width(shape.element)?.checked_mul(shape.sizes.last().copied().unwrap_or(1))
        };
        let Some(element) = self.shaped.element(ctx) else { return true };
        let is_vector = VectorShape::of(ctx, element).is_some();
        let (own, theirs) = (minor(self.vector), minor(element));
        let fits = own.zip(theirs).is_none_or(|(own, theirs)| theirs != 0 && own % theirs == 0);
        let kind = if is_vector { "minor 1-D vector of the source" } else { "source element type" };
        fits || self.fail(
            format!(
                "requires the bitwidth of the minor 1-D vector to be an integral multiple of the \
                 bitwidth of the {kind}"
            ),
            out,
        )
    }

    fn map(&self, out: &mut Diagnostics) -> bool {
        let ctx = self.op.ctx();
        let Some(map) = self.op.attr("permutation_map").and_then(|map| map.as_affine_map(ctx)) else {
            return false;
        };
        let data = map.data(ctx);
        let rank = VectorShape::of_part(ctx, self.vector).rank();
        let Some(results) = rank.checked_sub(element_rank(ctx, self.shaped)) else {
            return self.fail("requires source vector element and vector result ranks to match.", out);
        };
        let is_scalar = self.shaped.shape(ctx).is_some_and(<[i64]>::is_empty);
        let results = if is_scalar && rank == 1 { 1 } else { results };
        let along = along(ctx, map);
        if data.symbols != 0 {
            return self.fail("requires permutation_map without symbols", out);
        }
        if data.dims as usize != self.shaped.shape(ctx).map_or(0, <[i64]>::len) {
            let message = "requires a permutation_map with input dims of the same rank as the source type";
            return self.fail(message, out);
        }
        if data.results.len() != results {
            let message = "requires a permutation_map with result dims of the same rank as the vector type";
            return self.fail(message, out);
        }
        let Some(along) = along else {
            let message = "requires a projected permutation_map (at most one dim or the zero constant can \
                           appear in each result)";
            return self.fail(message, out);
        };
        let repeats = (0..along.len()).any(|i| along[i] != Along::Repeat && along[..i].contains(&along[i]));
        if repeats {
            let message =
                "requires a permutation_map that is a permutation (found one dim used more than once)";
            return self.fail(message, out);
        }
        let bounds = self.op.attr("in_bounds").and_then(|own| own.as_array(ctx)).map_or(0, <[Attr]>::len);
        if bounds != along.len() {
            let map = map_to_string(ctx, map);
            let message = format!(
                "expects the in_bounds attr of same rank as permutation_map results: affine_map<{map}> vs \
                 inBounds of size: {bounds}"
            );
            return self.fail(message, out);
        }
        true
    }

    fn mask(&self, out: &mut Diagnostics) -> bool {
        let ctx = self.op.ctx();
        let Some(mask) = self.op.operand_group("mask").first().copied() else { return true };
        let map = self.op.attr("permutation_map").and_then(|map| map.as_affine_map(ctx));
        if element_rank(ctx, self.shaped) > 0 {
            return self.fail("does not support masks with vector element type", out);
        }
        let Some(expected) = map.and_then(|map| mask_type(ctx, map, self.vector)) else { return false };
        let found = self.op.type_of(mask);
        expected == found || {
            let (expected, found) = (type_to_string(ctx, expected), type_to_string(ctx, found));
            let message =
                format!("inferred mask type ('{expected}') and mask operand type ('{found}') don't match");
            self.fail(message, out)
        }
    }
}

/// Checks the map, the mask and the element types.
pub(crate) fn read(op: OpRef<'_>, out: &mut Diagnostics) {
    let transfer = Transfer { op, shaped: op.operand_type(0), vector: op.result_type(0) };
    let padding = op.operand_group("padding").first().map(|value| op.type_of(*value));
    let _ = transfer.shape(out)
        && transfer.map(out)
        && transfer.widths(out)
        && (padding == transfer.shaped.element(op.ctx())
            || transfer.fail("requires formal padding and source of the same elemental type", out))
        && transfer.mask(out);
}

/// Checks the map, the mask and the element types, and that a tensor is the result.
pub(crate) fn write(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let transfer = Transfer { op, shaped: op.operand_type(1), vector: op.operand_type(0) };
    let map = op.attr("permutation_map").and_then(|map| map.as_affine_map(ctx));
    let repeats = map.and_then(|map| along(ctx, map)).is_some_and(|along| along.contains(&Along::Repeat));
    let is_scalar = transfer.shaped.shape(ctx).is_some_and(<[i64]>::is_empty);
    let _ = transfer.shape(out)
        && (!repeats || is_scalar || transfer.fail("should not have broadcast dimensions", out))
        && transfer.map(out)
        && transfer.widths(out)
        && transfer.mask(out);
    let result = op.results().next().map(|result| op.type_of(result));
    let is_tensor = matches!(transfer.shaped.kind(ctx), TypeKind::Tensor { .. });
    if result != is_tensor.then_some(transfer.shaped) {
        transfer.fail("expects a result exactly for a tensor, of its type", out);
    }
}
