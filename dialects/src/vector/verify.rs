//! Verifiers of `vector`: the rules that the operation tables do not express. Accesses are in
//! [`memory`] and [`transfer`], casts in [`cast`], slices in [`slice`], products in [`product`],
//! masked operations in [`masked`].

use loomir_ir::text::type_to_string;
use loomir_ir::verifier::op_error;
use loomir_ir::{Attr, Context, DYNAMIC, Diagnostic, Diagnostics, OpRef, Type, Value};

use super::shape::{VectorShape, fixed_vector, vector};
use super::{COMBINING_KIND, PUNCTUATION};

pub(super) mod cast;
pub(super) mod masked;
pub(super) mod memory;
pub(super) mod product;
pub(super) mod slice;
pub(super) mod transfer;

fn text(op: OpRef<'_>, ty: Type) -> String {
    type_to_string(op.ctx(), ty)
}

/// Returns the element type of a vector, or the type itself.
fn element_of(op: OpRef<'_>, ty: Type) -> Type {
    VectorShape::of_part(op.ctx(), ty).element
}

/// Reports two types of different elements.
fn same_element(op: OpRef<'_>, a: Type, b: Type, what: &str, out: &mut Diagnostics) -> bool {
    let same = element_of(op, a) == element_of(op, b);
    if !same {
        out.push(op_error(op, format!("failed to verify that {what} have same element type")));
    }
    same
}

/// Returns the numbers of a dense array.
fn numbers(op: OpRef<'_>, name: &str) -> Vec<i64> {
    op.attr(name).and_then(|attr| attr.as_dense_ints(op.ctx())).unwrap_or_default()
}

/// True if an attribute is an array of which every entry passes.
fn is_array_of(ctx: &Context, attr: Attr, test: impl Fn(Attr) -> bool) -> bool {
    attr.as_array(ctx).is_some_and(|all| all.iter().all(|own| test(*own)))
}

/// True if a kind combines elements of this type.
pub(super) fn combines(op: OpRef<'_>, element: Type) -> bool {
    let ctx = op.ctx();
    let kind = op.attr("kind").and_then(|kind| COMBINING_KIND.value(ctx, kind));
    let is_integer = element.is_index() || element.integer_width(ctx).is_some();
    match kind {
        Some(0 | 1) => is_integer || element.is_float(ctx),
        Some(4 | 7 | 11 | 12) => element.is_float(ctx),
        Some(_) => is_integer,
        None => false,
    }
}

/// Returns the name of the kind of an operation.
fn kind_name(op: OpRef<'_>) -> String {
    let kind = op.attr("kind").and_then(|kind| COMBINING_KIND.value(op.ctx(), kind));
    kind.and_then(|kind| COMBINING_KIND.text_of(kind)).unwrap_or_default()
}

fn dim_text((size, scalable): (i64, bool)) -> String {
    if scalable { format!("[{size}]") } else { size.to_string() }
}

/// Checks that the source fits the last dimensions of the result.
pub(super) fn broadcast(op: OpRef<'_>, out: &mut Diagnostics) {
    let (from, to) = (op.operand_type(0), op.result_type(0));
    if !same_element(op, from, to, "source operand and result", out) {
        return;
    }
    let (source, result) = (VectorShape::of_part(op.ctx(), from), VectorShape::of_part(op.ctx(), to));
    if source.rank() > result.rank() {
        out.push(op_error(op, "source rank higher than destination rank"));
        return;
    }
    let lead = result.rank() - source.rank();
    for (own, wide) in source.dims().zip(result.dims().skip(lead)) {
        let fits = own == wide || own == (1, false);
        if !fits {
            let message = format!("dimension mismatch ({} vs. {})", dim_text(own), dim_text(wide));
            out.push(op_error(op, message));
            return;
        }
    }
}

/// Reports a constant position outside of its dimension. With `poison`, -1 is inside.
fn check_position(op: OpRef<'_>, sizes: &[i64], of: &str, poison: bool, out: &mut Diagnostics) -> bool {
    let position = numbers(op, "static_position");
    for (i, (at, size)) in position.iter().zip(sizes).enumerate() {
        if *at != DYNAMIC && !(0..*size).contains(at) && *at != -1 {
            let end = if poison { " or poison (-1)" } else { "" };
            let message = format!(
                "expected position attribute #{} to be a non-negative integer smaller than the \
                 corresponding {of}vector dimension{end}",
                i + 1
            );
            out.push(op_error(op, message));
            return false;
        }
    }
    let dynamic = position.iter().filter(|at| **at == DYNAMIC).count();
    if dynamic != op.operand_group("dynamic_position").len() {
        let message = "expected as many dynamic positions as the position attribute has";
        out.push(op_error(op, message));
        return false;
    }
    true
}

/// Checks the position, and that the result is the part there.
pub(super) fn extract(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let (from, to) = (op.operand_type(0), op.result_type(0));
    let Some(source) = VectorShape::of(ctx, from) else { return };
    let position = numbers(op, "static_position");
    if position.len() > source.rank() {
        out.push(op_error(op, "expected position attribute of rank no greater than vector rank"));
        return;
    }
    if VectorShape::of(ctx, to).is_some_and(|shape| shape.rank() == 0) {
        out.push(Diagnostic::error(op.loc(), "expected a scalar instead of a 0-d vector as the result type"));
        return;
    }
    let part = source.part(ctx, position.len());
    let is_scalar = VectorShape::of(ctx, part).is_none();
    let is_one = is_scalar && to == fixed_vector(ctx, &[1], part);
    if to != part && !is_one {
        let message = format!(
            "inferred type(s) '{}' are incompatible with return type(s) of operation '{}'",
            text(op, part),
            text(op, to)
        );
        out.push(op_error(op, message));
        return;
    }
    check_position(op, source.sizes, "", true, out);
}

/// Checks the position, and that the value is a part of that size.
pub(super) fn insert(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let (from, to) = (op.operand_type(0), op.operand_type(1));
    let Some(dest) = VectorShape::of(ctx, to) else { return };
    if !same_element(op, from, to, "source operand and result", out) {
        return;
    }
    let position = numbers(op, "static_position").len();
    if VectorShape::of(ctx, from).is_some_and(|shape| shape.rank() == 0) {
        let message = "expected a scalar instead of a 0-d vector as the source operand";
        out.push(Diagnostic::error(op.loc(), message));
    } else if position > dest.rank() {
        out.push(op_error(op, "expected position attribute of rank no greater than dest vector rank"));
    } else if let Some(source) = VectorShape::of(ctx, from) {
        if position + source.rank() != dest.rank() {
            let message = "expected position attribute rank + source rank to match dest vector rank";
            out.push(op_error(op, message));
        } else if check_position(op, dest.sizes, "dest ", false, out) && from != dest.part(ctx, position) {
            let message = format!(
                "expected a part of type '{}', but got '{}'",
                text(op, dest.part(ctx, position)),
                text(op, from)
            );
            out.push(op_error(op, message));
        }
    } else if position != dest.rank() {
        out.push(op_error(op, "expected position attribute rank to match the dest vector rank"));
    } else {
        check_position(op, dest.sizes, "dest ", false, out);
    }
}

/// Checks that the parts agree, and that the numbers name parts.
pub(super) fn shuffle(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let (first, second, result) = (op.operand_type(0), op.operand_type(1), op.result_type(0));
    if !same_element(op, first, result, "first operand v1 and result", out)
        || !same_element(op, second, result, "second operand v2 and result", out)
    {
        return;
    }
    let shapes = [first, second, result].map(|ty| VectorShape::of_part(ctx, ty));
    let [a, b, r] = &shapes;
    let (rank, mask) = (a.rank().max(1), numbers(op, "mask"));
    let message = if b.rank() != a.rank() || r.rank() != rank {
        "rank mismatch"
    } else if !a.dims().skip(1).eq(b.dims().skip(1)) || !a.dims().skip(1).eq(r.dims().skip(1)) {
        "dimension mismatch"
    } else if mask.is_empty() || r.dims().next() != Some((mask.len() as i64, false)) {
        "invalid mask length"
    } else {
        let first = |shape: &VectorShape<'_>| shape.sizes.first().copied().unwrap_or(1);
        let count = first(a).saturating_add(first(b));
        match mask.iter().position(|at| *at != -1 && !(0..count).contains(at)) {
            Some(at) => return out.push(op_error(op, format!("mask index #{} out of range", at + 1))),
            None => return,
        }
    };
    out.push(op_error(op, message));
}

/// Returns the type with a last dimension of `size`.
fn with_last(op: OpRef<'_>, shape: &VectorShape<'_>, size: i64) -> Type {
    let mut dims: Vec<(i64, bool)> = shape.dims().collect();
    match dims.last_mut() {
        Some(last) => last.0 = size,
        None => dims.push((size, false)),
    }
    vector(op.ctx(), dims, shape.element)
}

/// Checks that the last dimension of the result is twice as long.
pub(super) fn interleave(op: OpRef<'_>, out: &mut Diagnostics) {
    let Some(shape) = VectorShape::of(op.ctx(), op.operand_type(0)) else { return };
    let double = shape.sizes.last().copied().unwrap_or(1).checked_mul(2);
    if double.is_none_or(|double| with_last(op, &shape, double) != op.result_type(0)) {
        let message = "failed to verify that type of 'result' is double the width of the inputs";
        out.push(op_error(op, message));
    }
}

/// Checks that the last dimension of the results is half as long.
pub(super) fn deinterleave(op: OpRef<'_>, out: &mut Diagnostics) {
    let Some(shape) = VectorShape::of(op.ctx(), op.operand_type(0)) else { return };
    let last = shape.sizes.last().copied().unwrap_or(0);
    if last % 2 != 0 {
        let message = "failed to verify that the trailing dimension of the source vector has an even \
                       number of elements";
        out.push(op_error(op, message));
    } else if with_last(op, &shape, last / 2) != op.result_type(0) {
        let message = "failed to verify that the trailing dimension of the results is half the width of \
                       source trailing dimension";
        out.push(op_error(op, message));
    }
}

/// Checks that there is an element of the right type for each of the vector.
fn check_elements(op: OpRef<'_>, ty: Type, elements: Vec<Value>, what: &str, out: &mut Diagnostics) {
    let Some(shape) = VectorShape::of(op.ctx(), ty) else { return };
    let fits = shape.count() == Some(elements.len() as i64)
        && !shape.is_scalable()
        && elements.iter().all(|value| op.type_of(*value) == shape.element);
    if !fits {
        let message =
            format!("failed to verify that shaped type '{what}' matches 'elements' element count and types");
        out.push(op_error(op, message));
    }
}

/// Checks that there is a result for each element.
pub(super) fn to_elements(op: OpRef<'_>, out: &mut Diagnostics) {
    check_elements(op, op.operand_type(0), op.results().collect(), "source", out);
}

/// Checks that there is an operand for each element.
pub(super) fn from_elements(op: OpRef<'_>, out: &mut Diagnostics) {
    check_elements(op, op.result_type(0), op.operands().collect(), "dest", out);
}

/// Checks that the vector has at most one dimension, and that the kind fits its elements.
pub(super) fn reduction(op: OpRef<'_>, out: &mut Diagnostics) {
    let (from, to) = (op.operand_type(0), op.result_type(0));
    if !same_element(op, from, to, "source operand and result", out) {
        return;
    }
    let rank = VectorShape::of_part(op.ctx(), from).rank();
    if rank > 1 {
        out.push(op_error(op, format!("unsupported reduction rank: {rank}")));
    } else if !combines(op, to) {
        let message = format!("unsupported reduction type ''{}'' for kind '{}'", text(op, to), kind_name(op));
        out.push(op_error(op, message));
    }
}

/// Checks that the result has the dimensions that are left.
pub(super) fn multi_reduction(op: OpRef<'_>, out: &mut Diagnostics) {
    let (from, to) = (op.operand_type(0), op.result_type(0));
    if !same_element(op, from, to, "source operand and result", out) {
        return;
    }
    let Some(source) = VectorShape::of(op.ctx(), from) else { return };
    let reduced = numbers(op, "reduction_dims");
    let is_left = |d: &usize| !reduced.contains(&(*d as i64));
    let left: Vec<(i64, bool)> =
        source.dims().enumerate().filter(|(d, _)| is_left(d)).map(|(_, dim)| dim).collect();
    let expected = if left.is_empty() { source.element } else { vector(op.ctx(), left, source.element) };
    if to != expected {
        let message = format!(
            "destination type '{}' is incompatible with source type '{}'",
            text(op, to),
            text(op, from)
        );
        out.push(op_error(op, message));
    }
}

/// Checks that the initial value has all dimensions but the one that is scanned.
pub(super) fn scan(op: OpRef<'_>, out: &mut Diagnostics) {
    let (from, initial) = (op.operand_type(0), op.operand_type(1));
    let ctx = op.ctx();
    let (source, start) = (VectorShape::of_part(ctx, from), VectorShape::of_part(ctx, initial));
    let dim = op.attr("reduction_dim").and_then(|dim| dim.as_int(ctx)).unwrap_or(0);
    let rank = source.rank() as i64;
    let message = if dim >= rank {
        format!("reduction dimension {dim} has to be less than {rank}")
    } else if start.rank() as i64 != rank - 1 {
        format!("initial value rank {} has to be equal to {}", start.rank(), rank - 1)
    } else if dim < 0
        || !start.dims().eq(source.dims().enumerate().filter(|(d, _)| *d as i64 != dim).map(|(_, dim)| dim))
    {
        "incompatible input/initial value shapes".into()
    } else if !combines(op, source.element) {
        let (element, kind) = (text(op, source.element), kind_name(op));
        format!("unsupported reduction type '{element}' for kind '{kind}'")
    } else if start.element != source.element {
        "requires source and initial value of one element type".into()
    } else {
        return;
    };
    out.push(op_error(op, message));
}

/// Requires an operand for each dimension. A vector without dimensions has one element.
pub(super) fn create_mask(op: OpRef<'_>, out: &mut Diagnostics) {
    let rank = VectorShape::of_part(op.ctx(), op.result_type(0)).rank();
    if rank == 0 && op.num_operands() != 1 {
        out.push(op_error(op, "must specify exactly one operand for 0-D create_mask"));
    } else if rank > 0 && op.num_operands() != rank {
        out.push(op_error(op, "must specify an operand for each result vector dimension"));
    }
}

/// Checks that there is a number for each dimension, inside of it.
pub(super) fn constant_mask(op: OpRef<'_>, out: &mut Diagnostics) {
    let Some(shape) = VectorShape::of(op.ctx(), op.result_type(0)) else { return };
    let sizes = numbers(op, "mask_dim_sizes");
    if shape.rank() == 0 {
        let message = match sizes[..] {
            [0 | 1] => return,
            [_] => "mask dim size must be either 0 or 1 for 0-D vectors",
            _ => "array attr must have length 1 for 0-D vectors",
        };
        out.push(Diagnostic::error(op.loc(), message));
        return;
    }
    let message = if sizes.len() != shape.rank() {
        "must specify array attr of size equal vector result rank"
    } else if sizes.iter().zip(shape.sizes).any(|(own, size)| !(0..=*size).contains(own)) {
        "array attr of size out of bounds of vector result dimension size"
    } else if sizes.iter().zip(shape.dims()).any(|(own, (size, scales))| scales && *own != 0 && *own != size)
    {
        "only supports 'none set' or 'all set' scalable dimensions"
    } else if sizes.contains(&0) && sizes.iter().any(|own| *own != 0) {
        "expected all mask dim sizes to be zeros, as a result of conjunction with zero mask dim"
    } else {
        return;
    };
    out.push(op_error(op, message));
}

/// Checks that text stands alone.
pub(super) fn print(op: OpRef<'_>, out: &mut Diagnostics) {
    let punctuation = op.attr("punctuation").and_then(|own| PUNCTUATION.value(op.ctx(), own));
    let is_plain = op.num_operands() == 0 && punctuation == PUNCTUATION.value_of("newline");
    if op.attr("stringLiteral").is_some() && !is_plain {
        let message = "failed to verify that `source` or `punctuation` are not set when printing strings";
        out.push(op_error(op, message));
    }
}

/// Checks a part of a scalable vector, whose length divides its position.
fn scalable(op: OpRef<'_>, part: Type, whole: Type, names: [&str; 2], out: &mut Diagnostics) {
    let [pair, length] = names;
    if element_of(op, part) != element_of(op, whole) {
        let message = format!("failed to verify that all of {{{pair}}} have same element type");
        out.push(op_error(op, message));
        return;
    }
    let count = VectorShape::of_part(op.ctx(), part).count().unwrap_or(1).max(1);
    let at = op.attr("pos").and_then(|at| at.as_int(op.ctx())).unwrap_or(0);
    if at % count != 0 {
        let message = format!("failed to verify that position is a multiple of the {length} length.");
        out.push(op_error(op, message));
    }
}

/// Checks the part that is inserted.
pub(super) fn scalable_insert(op: OpRef<'_>, out: &mut Diagnostics) {
    let names = ["valueToStore, dest", "source"];
    scalable(op, op.operand_type(0), op.operand_type(1), names, out);
}

/// Checks the part that is extracted.
pub(super) fn scalable_extract(op: OpRef<'_>, out: &mut Diagnostics) {
    scalable(op, op.result_type(0), op.operand_type(0), ["source, result", "result"], out);
}
