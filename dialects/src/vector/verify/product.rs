//! Rules of `contract` and `outerproduct`.

use loomir_ir::text::map_to_string;
use loomir_ir::verifier::op_error;
use loomir_ir::{AffineExprKind, AffineMap, Attr, Context, Diagnostics, OpRef, Type};

use super::{combines, is_array_of, same_element};
use crate::vector::ITERATOR_TYPE;
use crate::vector::shape::VectorShape;

/// True if an attribute is an array of kinds of dimensions.
pub(crate) fn is_iterators(ctx: &Context, attr: Attr) -> bool {
    is_array_of(ctx, attr, |own| ITERATOR_TYPE.value(ctx, own).is_some())
}

/// Checks the sizes, and that the kind fits the elements.
pub(crate) fn outer(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let (lhs, rhs, result) = (op.operand_type(0), op.operand_type(1), op.result_type(0));
    if !same_element(op, lhs, result, "lhs operand and result", out)
        || !same_element(op, rhs, result, "rhs operand and result", out)
    {
        return;
    }
    let shapes = [lhs, rhs, result].map(|ty| VectorShape::of_part(ctx, ty));
    let [a, b, r] = &shapes;
    let is_vector = VectorShape::of(ctx, rhs).is_some();
    let acc = op.operands().nth(2).map(|acc| op.type_of(acc));
    let dim = |shape: &VectorShape<'_>, d: usize| shape.dims().nth(d);
    let message = if a.rank() != 1 {
        "expected 1-d vector for operand #1"
    } else if is_vector && b.rank() != 1 {
        "expected 1-d vector for operand #2"
    } else if is_vector && r.rank() != 2 {
        "expected 2-d vector result"
    } else if !is_vector && r.rank() != 1 {
        "expected 1-d vector result"
    } else if dim(a, 0) != dim(r, 0) {
        "expected #1 operand dim to match result dim #1"
    } else if is_vector && dim(b, 0) != dim(r, 1) {
        "expected #2 operand dim to match result dim #2"
    } else if acc.is_some_and(|acc| acc != result) {
        "expected operand #3 of same type as result type"
    } else if !combines(op, r.element) {
        "unsupported outerproduct type"
    } else {
        return;
    };
    out.push(op_error(op, message));
}

/// Returns the dimensions of the iteration space that the results of a map name, if they name some.
pub(crate) fn named_dims(ctx: &Context, map: AffineMap) -> Option<Vec<usize>> {
    let results = map.results(ctx).iter().map(|result| match result.kind(ctx) {
        AffineExprKind::Dim(d) => Some(d as usize),
        _ => None,
    });
    results.collect()
}

/// Returns the maps of a contraction.
pub(crate) fn indexing_maps(op: OpRef<'_>) -> Vec<AffineMap> {
    let ctx = op.ctx();
    let all = op.attr("indexing_maps").and_then(|maps| maps.as_array(ctx)).unwrap_or_default();
    all.iter().filter_map(|map| map.as_affine_map(ctx)).collect()
}

/// Returns for each dimension of the iteration space true if it is reduced.
pub(crate) fn reduced_dims(op: OpRef<'_>) -> Vec<bool> {
    let ctx = op.ctx();
    let all = op.attr("iterator_types").and_then(|types| types.as_array(ctx)).unwrap_or_default();
    let reduction = ITERATOR_TYPE.value_of("reduction");
    all.iter().map(|own| ITERATOR_TYPE.value(ctx, *own) == reduction).collect()
}

/// Returns the sizes of the iteration space. `None` if two vectors disagree, or a dimension is in
/// none.
pub(crate) fn iteration_space(op: OpRef<'_>, dims: &[Vec<usize>]) -> Option<Vec<(i64, bool)>> {
    let mut space = vec![None; reduced_dims(op).len()];
    for (i, own) in dims.iter().enumerate().take(2) {
        for (d, dim) in own.iter().zip(VectorShape::of_part(op.ctx(), op.operand_type(i)).dims()) {
            let known = space.get_mut(*d)?;
            if known.is_some_and(|known| known != dim) {
                return None;
            }
            *known = Some(dim);
        }
    }
    space.into_iter().collect()
}

/// Reports maps that do not fit the operands. Returns the dimensions that they name.
fn check_maps(op: OpRef<'_>, count: usize, out: &mut Diagnostics) -> Option<Vec<Vec<usize>>> {
    let ctx = op.ctx();
    let maps = indexing_maps(op);
    let listed = op.attr("indexing_maps").and_then(|maps| maps.as_array(ctx)).map_or(0, <[Attr]>::len);
    if maps.len() != 3 || listed != 3 {
        out.push(op_error(op, "expected an indexing map for each vector operand"));
        return None;
    }
    let mut all = Vec::with_capacity(3);
    for (i, map) in maps.iter().enumerate() {
        let data = map.data(ctx);
        let dims = named_dims(ctx, *map);
        let repeats = |dims: &[usize]| (0..dims.len()).any(|i| dims[..i].contains(&dims[i]));
        let rank = VectorShape::of_part(ctx, op.operand_type(i)).rank();
        let message = if data.symbols != 0 {
            format!("expected indexing map {i} to have no symbols")
        } else if data.dims as usize != count {
            format!("expected indexing map {i} to have {count} number of inputs")
        } else if dims.as_deref().is_none_or(repeats) {
            format!("expected indexing map {i} to be a projected permutation of its inputs")
        } else if data.results.len() != rank {
            format!("expected indexing map {i} to have {rank} number of outputs")
        } else {
            all.extend(dims);
            continue;
        };
        out.push(op_error(op, message));
        return None;
    }
    Some(all)
}

/// Checks the maps, the sizes, and that the kind fits the elements.
pub(crate) fn contract(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let (lhs, rhs) = (op.operand_type(0), op.operand_type(1));
    let (acc, result) = (op.operand_type(2), op.result_type(0));
    if !same_element(op, lhs, rhs, "lhs and rhs", out)
        || !same_element(op, acc, result, "third operand acc and result", out)
    {
        return;
    }
    let reduced = reduced_dims(op);
    let Some(dims) = check_maps(op, reduced.len(), out) else { return };
    let named = |d: usize| dims.iter().any(|own| own.contains(&d));
    if (0..reduced.len()).any(|d| !named(d)) {
        let joined: Vec<_> =
            indexing_maps(op).iter().take(2).flat_map(|map| map.results(ctx).to_vec()).collect();
        let map = map_to_string(ctx, AffineMap::new(ctx, reduced.len() as u32, 0, &joined));
        out.push(op_error(op, format!("invalid indexing maps are non-invertible: ({map})")));
        return;
    }
    let contracts = (0..reduced.len()).any(|d| reduced[d] && dims[0].contains(&d) && dims[1].contains(&d));
    let message = if !contracts {
        "expected at least one contracting dimension pair".to_owned()
    } else {
        let fits = |space: &[(i64, bool)]| {
            let expected = dims[2].iter().map(|d| space[*d]);
            let is_left = dims[2].iter().all(|d| !reduced[*d])
                && (0..reduced.len()).all(|d| reduced[d] || dims[2].contains(&d));
            let of_acc = VectorShape::of_part(ctx, acc);
            is_left && acc == result && of_acc.dims().eq(expected)
        };
        match iteration_space(op, &dims) {
            None => "invalid contracting dimension map".into(),
            Some(space) if !fits(&space) => "invalid accumulator/result vector shape".into(),
            Some(_) if !combines(op, VectorShape::of_part(ctx, result).element) => {
                "unsupported contraction type".into()
            }
            Some(_) => return,
        }
    };
    out.push(op_error(op, message));
}

/// True if operands and result of a product have one element type.
pub(crate) fn is_uniform(op: OpRef<'_>) -> bool {
    let element = |ty: Type| VectorShape::of_part(op.ctx(), ty).element;
    let own = element(op.result_type(0));
    op.operands().all(|value| element(op.type_of(value)) == own)
}
