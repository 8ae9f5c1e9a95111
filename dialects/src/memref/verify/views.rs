//! Views of memrefs: their types follow from the source's type and the numbers given.

use loomir_ir::text::type_to_string;
use loomir_ir::verifier::op_error;
use loomir_ir::{Attr, AttrKind, Context, DYNAMIC, Diagnostics, OpRef, Type};

use super::super::layout::{
    Ranked, collapsed_type, dropped_dimensions, element_and_space, expanded_type, num_dynamic, reassociation,
    subview_type,
};
use super::{operand, plain_error, text};

/// True if two shapes may be equal, apart from sizes known only at run time.
pub(crate) fn sizes_agree(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| may_be_equal(*a, *b))
}

fn may_be_equal(a: i64, b: i64) -> bool {
    a == b || a == DYNAMIC || b == DYNAMIC
}

fn incompatible(op: OpRef<'_>, out: &mut Diagnostics) {
    let message = format!(
        "operand type '{}' and result type '{}' are cast incompatible",
        text(op, op.operand_type(0)),
        text(op, op.result_type(0))
    );
    out.push(op_error(op, message));
}

/// Checks a cast: only dynamic sizes, strides, offsets and ranks may differ.
pub(in super::super) fn cast(op: OpRef<'_>, out: &mut Diagnostics) {
    if !cast_compatible(op.ctx(), op.operand_type(0), op.result_type(0)) {
        incompatible(op, out);
    }
}

/// True if `memref.cast` can convert one type to the other.
pub(crate) fn cast_compatible(ctx: &Context, from: Type, to: Type) -> bool {
    if element_and_space(ctx, from) != element_and_space(ctx, to) {
        return false;
    }
    let (Some(a), Some(b)) = (Ranked::of(ctx, from), Ranked::of(ctx, to)) else {
        // The cast is from or to an unranked memref, but not both.
        return from.shape(ctx).is_some() || to.shape(ctx).is_some();
    };
    if a.layout != b.layout {
        let (Some((s, o)), Some((t, p))) = (from.strides_and_offset(ctx), to.strides_and_offset(ctx)) else {
            return false;
        };
        if !may_be_equal(o, p) || !sizes_agree(&s, &t) {
            return false;
        }
    }
    sizes_agree(a.shape, b.shape)
}

/// Only the memory space differs.
pub(in super::super) fn memory_space_cast(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let (from, to) = (op.operand_type(0), op.result_type(0));
    let compatible = match (Ranked::of(ctx, from), Ranked::of(ctx, to)) {
        (Some(a), Some(b)) => (a.element, a.shape, a.layout) == (b.element, b.shape, b.layout),
        (None, None) => from.element(ctx) == to.element(ctx),
        _ => false,
    };
    if !compatible {
        incompatible(op, out);
    }
}

/// Offsets, sizes and strides of a view, [`DYNAMIC`] for those that are operands.
pub(crate) struct Slice {
    pub(crate) offsets: Vec<i64>,
    pub(crate) sizes: Vec<i64>,
    pub(crate) strides: Vec<i64>,
}

impl Slice {
    /// Returns the slice of a `subview` or `reinterpret_cast`.
    pub(crate) fn of(op: OpRef<'_>) -> Option<Slice> {
        let numbers = |name: &str| op.attr(name)?.as_dense_ints(op.ctx());
        Some(Slice {
            offsets: numbers("static_offsets")?,
            sizes: numbers("static_sizes")?,
            strides: numbers("static_strides")?,
        })
    }
}

/// Returns the problem of a slice. Its lists must have the right length and an operand for each
/// gap, and offsets and sizes must not be negative.
fn slice_problem(op: OpRef<'_>, slice: &Slice, expected: [usize; 3]) -> Option<String> {
    let ranks = [slice.offsets.len(), slice.sizes.len(), slice.strides.len()];
    let single_offset = ranks[0] == 1 && expected[0] == 1;
    if !single_offset && ranks[0] != ranks[1] {
        return Some(format!(
            "expected mixed offsets rank to match mixed sizes rank ({} vs {}) so the rank of the result type is well-formed.",
            ranks[0], ranks[1]
        ));
    }
    if ranks[1] != ranks[2] {
        return Some(format!(
            "expected mixed sizes rank to match mixed strides rank ({} vs {}) so the rank of the result type is well-formed.",
            ranks[1], ranks[2]
        ));
    }
    let lists = [("offset", &slice.offsets), ("size", &slice.sizes), ("stride", &slice.strides)];
    for ((name, numbers), expected) in lists.into_iter().zip(expected) {
        if numbers.len() != expected {
            return Some(format!("expected {expected} {name} values, got {}", numbers.len()));
        }
        let values = op.operand_group(&format!("{name}s")).len();
        let gaps = num_dynamic(numbers);
        if values != gaps {
            return Some(format!(
                "expected the number of '{name}s' to match the number of dynamic entries in 'static_{name}s' ({values} vs {gaps})"
            ));
        }
        if let Some(negative) = numbers.iter().find(|n| **n < 0 && **n != DYNAMIC && name != "stride") {
            return Some(format!("expected {name}s to be non-negative, but got {negative}"));
        }
    }
    None
}

/// Checks that the result type is the type of the part, with or without unit dimensions, and that
/// the part is in bounds as far as is known.
pub(in super::super) fn subview(op: OpRef<'_>, out: &mut Diagnostics) {
    let (Some(source), Some(slice)) = (operand(op, 0), Slice::of(op)) else { return };
    let problem = slice_problem(op, &slice, [source.shape.len(); 3])
        .or_else(|| subview_problem(op, &source, &slice))
        .or_else(|| out_of_bounds(source.shape, &slice));
    if let Some(message) = problem {
        out.push(plain_error(op, message));
    }
}

fn subview_problem(op: OpRef<'_>, source: &Ranked<'_>, slice: &Slice) -> Option<String> {
    let ctx = op.ctx();
    let (from, to) = (op.operand_type(0), op.result_type(0));
    let result = Ranked::of(ctx, to)?;
    if source.space != result.space {
        return Some(format!(
            "different memory spaces specified for base memref type '{}' and subview memref type '{}'",
            text(op, from),
            text(op, to)
        ));
    }
    let Some(expected) = subview_type(ctx, from, &slice.offsets, &slice.sizes, &slice.strides) else {
        return Some(format!("base type '{}' is not strided", text(op, from)));
    };
    let found = text(op, to);
    if result.shape.len() > source.shape.len() {
        return Some(format!(
            "expected result rank to be smaller or equal to the source rank, but got '{found}'"
        ));
    }
    let mismatch = |what: &str| {
        let expected = type_to_string(ctx, expected);
        Some(format!(
            "expected result type to be '{expected}' or a rank-reduced version. (mismatch of result {what}), but got '{found}'"
        ))
    };
    let plain = |shape: &[i64]| shape.iter().map(|size| (*size, ())).collect::<Vec<_>>();
    if dropped_dimensions(&plain(&slice.sizes), &plain(result.shape)).is_none() {
        return mismatch("sizes");
    }
    if source.element != result.element {
        let element = type_to_string(ctx, source.element);
        return Some(format!("expected result element type to be '{element}', but got '{found}'"));
    }
    if dropped_by_subview(ctx, expected, to).is_none() { mismatch("layout") } else { None }
}

/// Returns, for each dimension of the full type of a part, true if the part's type drops it. Only
/// unit dimensions can be dropped. Returns `None` if the types don't fit together.
pub(crate) fn dropped_by_subview(ctx: &Context, full: Type, reduced: Type) -> Option<Vec<bool>> {
    let (full_strides, full_offset) = full.strides_and_offset(ctx)?;
    let (strides, offset) = reduced.strides_and_offset(ctx)?;
    if full_offset != offset {
        return None;
    }
    let pairs = |ty: Type, strides: Vec<i64>| -> Option<Vec<(i64, i64)>> {
        Some(ty.shape(ctx)?.iter().copied().zip(strides).collect())
    };
    dropped_dimensions(&pairs(full, full_strides)?, &pairs(reduced, strides)?)
}

/// Returns, for each dimension of the source of a `memref.subview`, true if the result drops it.
pub fn subview_drops(subview: OpRef<'_>) -> Option<Vec<bool>> {
    let slice = Slice::of(subview)?;
    let full =
        subview_type(subview.ctx(), subview.operand_type(0), &slice.offsets, &slice.sizes, &slice.strides)?;
    dropped_by_subview(subview.ctx(), full, subview.result_type(0))
}

/// Returns the groups of dimensions of a `memref.collapse_shape` or `memref.expand_shape`.
pub fn reassociation_groups(op: OpRef<'_>) -> Option<Vec<Vec<usize>>> {
    let groups = reassociation(op.ctx(), op.attr("reassociation")?)?;
    let group = |all: Vec<i64>| all.into_iter().map(|own| usize::try_from(own).ok()).collect();
    groups.into_iter().map(group).collect()
}

/// Returns the first dimension in which the part certainly leaves the source.
pub(crate) fn out_of_bounds(shape: &[i64], slice: &Slice) -> Option<String> {
    for (i, size) in shape.iter().enumerate() {
        let (offset, count, stride) = (slice.offsets[i], slice.sizes[i], slice.strides[i]);
        if *size == DYNAMIC || offset == DYNAMIC {
            continue;
        }
        if offset >= *size {
            return Some(format!("offset {i} is out-of-bounds: {offset} >= {size}"));
        }
        if count == DYNAMIC || stride == DYNAMIC || count == 0 {
            continue;
        }
        let last = i128::from(offset) + i128::from(count - 1) * i128::from(stride);
        if last >= i128::from(*size) {
            return Some(format!("slice along dimension {i} runs out-of-bounds: {last} >= {size}"));
        }
    }
    None
}

/// Requires a size for each dynamic dimension, a contiguous buffer and result in one space.
pub(in super::super) fn view(op: OpRef<'_>, out: &mut Diagnostics) {
    let (from, to) = (op.operand_type(0), op.result_type(0));
    let (Some(source), Some(result)) = (operand(op, 0), Ranked::of(op.ctx(), to)) else { return };
    let message = if result.layout.is_some() {
        format!("unsupported map for result memref type '{}'", text(op, to))
    } else if source.layout.is_some() {
        format!("unsupported map for base memref type '{}'", text(op, from))
    } else if source.space != result.space {
        format!(
            "different memory spaces specified for base memref type '{}' and view memref type '{}'",
            text(op, from),
            text(op, to)
        )
    } else {
        let (sizes, expected) = (op.num_operands() - 2, num_dynamic(result.shape));
        if sizes != expected {
            let message = format!("incorrect number of dynamic sizes, has {sizes}, expected {expected}");
            out.push(op_error(op, message));
        }
        return;
    };
    out.push(plain_error(op, message));
}

/// Checks that the result type agrees with the lists of offsets, sizes and strides, or is more
/// dynamic.
pub(in super::super) fn reinterpret_cast(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let to = op.result_type(0);
    let (Some(result), Some(slice)) = (Ranked::of(ctx, to), Slice::of(op)) else { return };
    let rank = result.shape.len();
    let problem =
        slice_problem(op, &slice, [1, rank, rank]).or_else(|| reinterpretation_problem(op, &result, &slice));
    if let Some(message) = problem {
        out.push(plain_error(op, message));
    }
}

fn reinterpretation_problem(op: OpRef<'_>, result: &Ranked<'_>, slice: &Slice) -> Option<String> {
    let ctx = op.ctx();
    let (from, to) = (op.operand_type(0), op.result_type(0));
    let (element, space) = element_and_space(ctx, from)?;
    let types =
        format!("specified for source type '{}' and result memref type '{}'", text(op, from), text(op, to));
    if space != result.space {
        return Some(format!("different memory spaces {types}"));
    }
    if element != result.element {
        return Some(format!("different element types {types}"));
    }
    let differs = |given: i64, claimed: i64| claimed != DYNAMIC && claimed != given;
    let number = |n: i64| if n == DYNAMIC { "dynamic".into() } else { n.to_string() };
    let in_dimension = |what: &str, given: &[i64], claimed: &[i64]| {
        let i = (0..claimed.len()).find(|i| differs(given[*i], claimed[*i]))?;
        let (given, claimed) = (number(given[i]), number(claimed[i]));
        Some(format!("expected result type with {what} = {given} instead of {claimed} in dim = {i}"))
    };
    if let Some(message) = in_dimension("size", &slice.sizes, result.shape) {
        return Some(message);
    }
    let (strides, offset) = to.strides_and_offset(ctx)?;
    if differs(slice.offsets[0], offset) {
        let (given, claimed) = (number(slice.offsets[0]), number(offset));
        return Some(format!("expected result type with offset = {given} instead of {claimed}"));
    }
    in_dimension("stride", &slice.strides, &strides)
}

/// Requires a buffer of sizes that fits, and contiguous memrefs.
pub(in super::super) fn reshape(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let (from, to) = (op.operand_type(0), op.result_type(0));
    let has_layout = |ty| Ranked::of(ctx, ty).is_some_and(|memref| memref.layout.is_some());
    let length = operand(op, 1).and_then(|shape| shape.shape.first().copied());
    let message = if from.element(ctx) != to.element(ctx) {
        "element types of source and destination memref types should be the same"
    } else if has_layout(from) {
        "source memref type should have identity affine map"
    } else if let Some(result) = Ranked::of(ctx, to) {
        if result.layout.is_some() {
            "result memref type should have identity affine map"
        } else if length == Some(DYNAMIC) {
            "cannot use shape operand with dynamic length to reshape to statically-ranked memref type"
        } else if length != Some(result.shape.len() as i64) {
            "length of shape operand differs from the result's memref rank"
        } else {
            return;
        }
    } else {
        return;
    };
    out.push(op_error(op, message));
}

/// True if an attribute is an array of arrays of 64-bit numbers.
pub(in super::super) fn is_index_list_array(ctx: &Context, attr: Attr) -> bool {
    let is_number = |attr: &Attr| matches!(attr.kind(ctx), AttrKind::Integer { ty: Type::I64, .. });
    let is_group = |attr: &Attr| attr.as_array(ctx).is_some_and(|group| group.iter().all(is_number));
    attr.as_array(ctx).is_some_and(|groups| groups.iter().all(is_group))
}

/// Returns why the groups do not describe a collapse of the dimensions of `expanded` into those of
/// `collapsed`.
fn reassociation_problem(collapsed: &[i64], expanded: &[i64], groups: &[Vec<i64>]) -> Option<String> {
    if collapsed.is_empty() {
        let only_ones = expanded.iter().all(|size| *size == 1);
        return (!only_ones).then(|| "rank 0 memrefs can only be extended/collapsed with/from ones".into());
    }
    if collapsed.len() != groups.len() {
        let (found, expected) = (groups.len(), collapsed.len());
        return Some(format!("invalid number of reassociation groups: found {found}, expected {expected}"));
    }
    let mut next = 0;
    for (i, group) in groups.iter().enumerate() {
        let mut product = Some(1i64);
        for dimension in group {
            if *dimension != next {
                return Some("reassociation indices must be contiguous".into());
            }
            let Some(size) = usize::try_from(*dimension).ok().and_then(|d| expanded.get(d)) else {
                return Some(format!("reassociation index {dimension} is out of bounds"));
            };
            next += 1;
            product = product.filter(|_| *size != DYNAMIC).map(|p| p.saturating_mul(*size));
        }
        let size = collapsed[i];
        match product {
            Some(product) if size != DYNAMIC => {
                if product != size {
                    return Some(format!(
                        "collapsed dim size ({size}) must equal reassociation group size ({product})"
                    ));
                }
            }
            None if size == DYNAMIC => {}
            _ => {
                return Some(format!(
                    "collapsed dim ({i}) must be dynamic if and only if reassociation group is dynamic"
                ));
            }
        }
    }
    let rank = expanded.len();
    (next as usize != rank)
        .then(|| format!("expanded rank ({rank}) inconsistent with number of reassociation indices ({next})"))
}

/// Requires the type that follows from the groups, and sizes that agree with it.
pub(in super::super) fn expand_shape(op: OpRef<'_>, out: &mut Diagnostics) {
    if let Some(message) = expansion_problem(op) {
        out.push(op_error(op, message));
    }
}

fn expansion_problem(op: OpRef<'_>) -> Option<String> {
    let ctx = op.ctx();
    let to = op.result_type(0);
    let (source, result) = (operand(op, 0)?, Ranked::of(ctx, to)?);
    let groups = reassociation(ctx, op.attr("reassociation")?)?;
    let (rank, result_rank) = (source.shape.len(), result.shape.len());
    if rank > result_rank {
        return Some(format!(
            "has source rank {rank} and result rank {result_rank}. This is not an expansion ({rank} > {result_rank})."
        ));
    }
    if let Some(problem) = reassociation_problem(source.shape, result.shape, &groups) {
        return Some(problem);
    }
    let Some(expected) = expanded_type(ctx, op.operand_type(0), result.shape, &groups) else {
        return Some("invalid source layout map".into());
    };
    if expected != to {
        let (expected, found) = (text(op, expected), text(op, to));
        return Some(format!("expected expanded type to be '{expected}' but found '{found}'"));
    }
    let sizes = op.attr("static_output_shape")?.as_dense_ints(ctx)?;
    if sizes.len() != result_rank {
        return Some(format!(
            "expected number of static shape bounds to be equal to the output rank ({result_rank}) but found {} inputs instead",
            sizes.len()
        ));
    }
    let (gaps, values) = (num_dynamic(&sizes), op.num_operands() - 1);
    if gaps != values {
        return Some(format!(
            "mismatch in dynamic dims in output_shape and static_output_shape: static_output_shape has {gaps} dynamic dims while output_shape has {values} values"
        ));
    }
    let wrong = (0..result_rank).find(|i| result.shape[*i] != DYNAMIC && result.shape[*i] != sizes[*i])?;
    Some(format!("invalid output shape provided at pos {wrong}"))
}

/// Requires the type that follows from the groups. The groups must not be known to have gaps.
pub(in super::super) fn collapse_shape(op: OpRef<'_>, out: &mut Diagnostics) {
    if let Some(message) = collapse_problem(op) {
        out.push(op_error(op, message));
    }
}

fn collapse_problem(op: OpRef<'_>) -> Option<String> {
    let ctx = op.ctx();
    let to = op.result_type(0);
    let (source, result) = (operand(op, 0)?, Ranked::of(ctx, to)?);
    let groups = reassociation(ctx, op.attr("reassociation")?)?;
    let (rank, result_rank) = (source.shape.len(), result.shape.len());
    if rank < result_rank {
        return Some(format!(
            "has source rank {rank} and result rank {result_rank}. This is not a collapse ({rank} < {result_rank})."
        ));
    }
    if let Some(problem) = reassociation_problem(result.shape, source.shape, &groups) {
        return Some(problem);
    }
    let Some(expected) = collapsed_type(ctx, op.operand_type(0), result.shape, &groups) else {
        return Some("invalid source layout map or collapsing non-contiguous dims".into());
    };
    (expected != to).then(|| {
        format!("expected collapsed type to be '{}' but found '{}'", text(op, expected), text(op, to))
    })
}

/// Requires a permutation of the source's dimensions, and the type that follows from it.
pub(in super::super) fn transpose(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let (from, to) = (op.operand_type(0), op.result_type(0));
    let Some(source) = Ranked::of(ctx, from) else { return };
    let Some(map) = op.attr("permutation").and_then(|attr| attr.as_affine_map(ctx)) else { return };
    let Some(order) = permutation(ctx, map) else {
        out.push(op_error(op, "expected a permutation map"));
        return;
    };
    if order.len() != source.shape.len() {
        out.push(op_error(op, "expected a permutation map of same rank as the input"));
        return;
    }
    let Some((strides, offset)) = from.strides_and_offset(ctx) else { return };
    let shape: Vec<i64> = order.iter().map(|d| source.shape[*d]).collect();
    let strides: Vec<i64> = order.iter().map(|d| strides[*d]).collect();
    let result = Ranked::of(ctx, to);
    let same = result.is_some_and(|r| {
        (r.shape, r.element, r.space) == (&shape[..], source.element, source.space)
            && to.strides_and_offset(ctx).as_ref() == Some(&(strides.clone(), offset))
    });
    if !same {
        let expected = source.strided(ctx, &shape, &strides, offset);
        let message = format!(
            "result type '{}' is not equivalent to the canonical transposed input type '{}'",
            text(op, to),
            text(op, expected)
        );
        out.push(op_error(op, message));
    }
}

/// Returns the dimension of each result of a map, if all results are distinct dimensions.
pub(crate) fn permutation(ctx: &Context, map: loomir_ir::AffineMap) -> Option<Vec<usize>> {
    let data = map.data(ctx);
    let mut seen = vec![false; data.dims as usize];
    let order: Option<Vec<usize>> = data
        .results
        .iter()
        .map(|result| match result.kind(ctx) {
            loomir_ir::AffineExprKind::Dim(d) => {
                let d = d as usize;
                (!std::mem::replace(seen.get_mut(d)?, true)).then_some(d)
            }
            _ => None,
        })
        .collect();
    order.filter(|order| data.symbols == 0 && order.len() == data.dims as usize)
}

/// Requires results for the source's rank, and its object.
pub(in super::super) fn extract_strided_metadata(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let Some(source) = operand(op, 0) else { return };
    let mut expected = vec![source.with(ctx, &[], None)];
    expected.extend(std::iter::repeat_n(Type::INDEX, 1 + 2 * source.shape.len()));
    let found: Vec<Type> = op.results().map(|v| op.type_of(v)).collect();
    if expected != found {
        let list = |types: &[Type]| {
            types.iter().map(|ty| format!("'{}'", text(op, *ty))).collect::<Vec<_>>().join(", ")
        };
        let message = format!(
            "inferred type(s) {} are incompatible with return type(s) of operation {}",
            list(&expected),
            list(&found)
        );
        out.push(op_error(op, message));
    }
}
