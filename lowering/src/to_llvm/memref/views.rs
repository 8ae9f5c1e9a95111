//! Views: descriptors that refer to the object of another descriptor.
//!
//! Each keeps both pointers and computes offset, sizes and strides from those of its source,
//! according to the operation's definition.

use loomir_dialects::{llvm, memref};
use loomir_ir::{Attr, DYNAMIC, Diagnostic, Op, OpRef, Registry, Trait, Type, TypeKind, Value};

use super::super::build::{Index, NONE, NSW};
use super::super::descriptor::{self, Parts, Shape};
use super::super::function::FunctionConverter;
use super::super::{Converted, attach};
use super::{Bounds, address, mixed, shape_of};

pub(super) fn register(registry: &mut Registry) {
    attach(registry, "memref.cast", cast);
    attach(registry, "memref.memory_space_cast", memory_space_cast);
    attach(registry, "memref.subview", subview);
    attach(registry, "memref.reinterpret_cast", reinterpret_cast);
    attach(registry, "memref.view", view);
    attach(registry, "memref.reshape", reshape);
    attach(registry, "memref.expand_shape", expand_shape);
    attach(registry, "memref.collapse_shape", collapse_shape);
    attach(registry, "memref.transpose", transpose);
    attach(registry, "memref.extract_aligned_pointer_as_index", extract_aligned_pointer);
    attach(registry, "memref.extract_strided_metadata", extract_strided_metadata);
    attach(registry, "memref.assume_alignment", assume_alignment);
    attach(registry, "memref.distinct_objects", distinct_objects);
}

fn is_unranked(op: OpRef<'_>, ty: Type) -> bool {
    matches!(ty.kind(op.ctx()), TypeKind::MemRef { shape: None, .. })
}

fn dense_ints(cx: &FunctionConverter<'_>, op: OpRef<'_>, name: &str) -> Result<Vec<i64>, Diagnostic> {
    op.attr(name).and_then(|a| a.as_dense_ints(op.ctx())).ok_or_else(|| cx.malformed(op))
}

/// Emits the descriptor of the source with another offset, sizes and strides.
fn with_layout(
    cx: &mut FunctionConverter<'_>,
    op: OpRef<'_>,
    source: Value,
    offset: Value,
    sizes: Vec<Value>,
    strides: Vec<Value>,
) -> Converted {
    let ty = cx.convert_type(op.result_type(0))?;
    let (allocated, aligned) = (descriptor::allocated(cx, source), descriptor::aligned(cx, source));
    let new = descriptor::build(cx, ty, &Parts { allocated, aligned, offset, sizes, strides });
    cx.set(op.result(0), new);
    Ok(())
}

fn cast(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let ctx = cx.ctx();
    let source = memref::CastOp(op.op()).source(op.body());
    let (from, to) = (op.type_of(source), op.result_type(0));
    let value = cx.value(source)?;
    let new_ty = cx.convert_type(to)?;
    let new = match (is_unranked(op, from), is_unranked(op, to)) {
        // Static facts of the type are not in the struct.
        (false, false) | (true, true) => value,
        (false, true) => {
            let rank = from.shape(&ctx).map_or(0, <[i64]>::len);
            let ty = cx.type_of(value);
            let place = match is_used_at_once(op) {
                true => cx.alloca_at_entry(ty),
                false => {
                    let one = cx.index(1);
                    cx.alloca(one, ty, llvm::types::pointer(&ctx), None)
                }
            };
            cx.store(value, place);
            let rank = cx.index(rank as i64);
            let unranked = cx.poison(new_ty);
            let unranked = cx.insert_value(unranked, rank, &[0]);
            cx.insert_value(unranked, place, &[1])
        }
        (true, false) => {
            let (_, place) = descriptor::unranked_parts(cx, value);
            cx.load(place, new_ty)
        }
    };
    if cx.type_of(new) != new_ty {
        return Err(cx.unsupported(op, "between these memory spaces"));
    }
    cx.set(op.result(0), new);
    Ok(())
}

/// True if an operation in a loop makes an unranked memref that nothing uses any more when the
/// operation runs again: one place on the stack serves all iterations.
fn is_used_at_once(op: OpRef<'_>) -> bool {
    let body = op.body();
    let block = body.block_of(op.op());
    let is_over = |user: Op| {
        body.block_of(user) == block
            && !body.has_trait(user, Trait::Terminator)
            && body.own_regions(user).next().is_none()
            && body.results(user).all(|own| !is_unranked(body.op_ref(user), body.value_type(own)))
    };
    let is_in_entry = block.is_some_and(|block| {
        body.is_entry(block) && body.region_parent(body.block_region(block)) == body.root()
    });
    !is_in_entry && body.uses(op.result(0)).all(|used| is_over(used.op))
}

fn memory_space_cast(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let source = memref::MemorySpaceCastOp(op.op()).source(op.body());
    let ty = op.result_type(0);
    if is_unranked(op, ty) {
        return Err(cx.unsupported(op, "of an unranked memref"));
    }
    let value = cx.value(source)?;
    let new_ty = cx.convert_type(ty)?;
    if cx.type_of(value) == new_ty {
        cx.set(op.result(0), value);
        return Ok(());
    }
    let pointer = cx.convert_argument(ty)?[0];
    let rank = shape_of(cx, op, ty)?.rank();
    let mut parts = descriptor::to_parts(cx, value, rank);
    for part in &mut parts[..2] {
        *part = cx.cast(llvm::AddrSpaceCastOp::DEF, *part, pointer);
    }
    let new = descriptor::from_parts(cx, new_ty, &parts);
    cx.set(op.result(0), new);
    Ok(())
}

/// A number that is known or computed at run time.
#[derive(Clone, Copy)]
enum Number {
    Known(i64),
    Value(Value),
}

impl Number {
    fn value(self, cx: &mut FunctionConverter<'_>) -> Value {
        match self {
            Number::Known(n) => cx.index(n),
            Number::Value(v) => v,
        }
    }

    fn times(self, cx: &mut FunctionConverter<'_>, other: Number) -> Number {
        match (self, other) {
            (Number::Known(1), n) | (n, Number::Known(1)) => n,
            (Number::Known(0), _) | (_, Number::Known(0)) => Number::Known(0),
            (Number::Known(a), Number::Known(b)) if a.checked_mul(b).is_some() => Number::Known(a * b),
            (a, b) => {
                let (a, b) = (a.value(cx), b.value(cx));
                Number::Value(cx.mul(a, b, NSW))
            }
        }
    }

    fn plus(self, cx: &mut FunctionConverter<'_>, other: Number) -> Number {
        match (self, other) {
            (Number::Known(0), n) | (n, Number::Known(0)) => n,
            (Number::Known(a), Number::Known(b)) if a.checked_add(b).is_some() => Number::Known(a + b),
            (a, b) => {
                let (a, b) = (a.value(cx), b.value(cx));
                Number::Value(cx.add(a, b, NONE))
            }
        }
    }
}

fn numbers(
    cx: &mut FunctionConverter<'_>,
    op: OpRef<'_>,
    statics: &[i64],
    dynamics: &[Value],
) -> Result<Vec<Number>, Diagnostic> {
    let mut dynamics = dynamics.iter();
    statics
        .iter()
        .map(|n| match *n {
            DYNAMIC => {
                let old = dynamics.next().ok_or_else(|| cx.malformed(op))?;
                // A constant operand counts as a known number.
                match cx.constant_of(*old) {
                    Some(known) => Ok(Number::Known(known)),
                    None => Ok(Number::Value(cx.value(*old)?)),
                }
            }
            known => Ok(Number::Known(known)),
        })
        .collect()
}

/// Stride `dimension` of a source.
fn source_stride(
    cx: &mut FunctionConverter<'_>,
    descriptor: Value,
    shape: &Shape,
    dimension: usize,
) -> Number {
    match shape.strides[dimension] {
        DYNAMIC => Number::Value(descriptor::stride(cx, descriptor, shape, dimension)),
        known => Number::Known(known),
    }
}

fn source_offset(cx: &mut FunctionConverter<'_>, descriptor: Value, shape: &Shape) -> Number {
    match shape.offset {
        DYNAMIC => Number::Value(descriptor::offset(cx, descriptor, shape)),
        known => Number::Known(known),
    }
}

fn subview(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let old = memref::SubViewOp(op.op());
    let source = old.source(op.body());
    let shape = shape_of(cx, op, op.type_of(source))?;
    let result_shape = shape_of(cx, op, op.result_type(0))?;
    let statics = [
        dense_ints(cx, op, "static_offsets")?,
        dense_ints(cx, op, "static_sizes")?,
        dense_ints(cx, op, "static_strides")?,
    ];
    if statics.iter().any(|s| s.len() != shape.rank()) {
        return Err(cx.malformed(op));
    }
    let offsets = numbers(cx, op, &statics[0], &old.offsets(op.body()))?;
    let sizes = numbers(cx, op, &statics[1], &old.sizes(op.body()))?;
    let steps = numbers(cx, op, &statics[2], &old.strides(op.body()))?;
    let value = cx.value(source)?;

    let mut offset = source_offset(cx, value, &shape);
    let mut strides = Vec::with_capacity(shape.rank());
    for dimension in 0..shape.rank() {
        let stride = source_stride(cx, value, &shape, dimension);
        let distance = offsets[dimension].times(cx, stride);
        offset = offset.plus(cx, distance);
        strides.push(stride.times(cx, steps[dimension]));
    }
    let inferred: Vec<i64> = shape
        .strides
        .iter()
        .zip(&statics[2])
        .map(|(a, b)| if *a == DYNAMIC || *b == DYNAMIC { DYNAMIC } else { a.saturating_mul(*b) })
        .collect();
    let dropped =
        dropped_dimensions(&statics[1], &inferred, &result_shape).ok_or_else(|| cx.malformed(op))?;
    let keep = |all: Vec<Number>, cx: &mut FunctionConverter<'_>| -> Vec<Value> {
        all.into_iter().zip(&dropped).filter(|(_, dropped)| !**dropped).map(|(n, _)| n.value(cx)).collect()
    };
    let offset = offset.value(cx);
    let sizes = keep(sizes, cx);
    let strides = keep(strides, cx);
    with_layout(cx, op, value, offset, sizes, strides)
}

/// Returns, for each dimension, true if a rank-reducing subview drops it. If dropping all
/// dimensions of size 1 gives the rank, all are dropped. Otherwise those whose stride the result
/// lacks are.
fn dropped_dimensions(sizes: &[i64], strides: &[i64], result: &Shape) -> Option<Vec<bool>> {
    let surplus = sizes.len().checked_sub(result.rank())?;
    let mut dropped = vec![false; sizes.len()];
    if surplus == 0 {
        return Some(dropped);
    }
    let units: Vec<usize> = (0..sizes.len()).filter(|d| sizes[*d] == 1).collect();
    if units.len() == surplus {
        for unit in units {
            dropped[unit] = true;
        }
        return Some(dropped);
    }
    let occurrences = |all: &[i64], stride: i64| all.iter().filter(|s| **s == stride).count();
    let mut left: Vec<i64> = strides.to_vec();
    for unit in units {
        let stride = strides[unit];
        if occurrences(&left, stride) > occurrences(&result.strides, stride) {
            dropped[unit] = true;
            let position = left.iter().position(|s| *s == stride)?;
            left.swap_remove(position);
        }
    }
    (dropped.iter().filter(|d| **d).count() == surplus).then_some(dropped)
}

fn reinterpret_cast(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let old = memref::ReinterpretCastOp(op.op());
    let source = old.source(op.body());
    let statics = [
        dense_ints(cx, op, "static_offsets")?,
        dense_ints(cx, op, "static_sizes")?,
        dense_ints(cx, op, "static_strides")?,
    ];
    let offsets = mixed(cx, &statics[0], &old.offsets(op.body()))?;
    let sizes = mixed(cx, &statics[1], &old.sizes(op.body()))?;
    let strides = mixed(cx, &statics[2], &old.strides(op.body()))?;
    let [offset] = *offsets else { return Err(cx.malformed(op)) };
    let value = cx.value(source)?;
    if is_unranked(op, op.type_of(source)) {
        // Every descriptor starts with the same fields, whatever its rank.
        let ctx = cx.ctx();
        let (_, place) = descriptor::unranked_parts(cx, value);
        let pointer = cx.convert_argument(op.result_type(0))?[0];
        let head = cx.load(place, llvm::types::literal_struct(&ctx, &[pointer, pointer, Type::I64]));
        return with_layout(cx, op, head, offset, sizes, strides);
    }
    with_layout(cx, op, value, offset, sizes, strides)
}

fn view(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let old = memref::ViewOp(op.op());
    let source = cx.value(old.source(op.body()))?;
    let shift = cx.value(old.byte_shift(op.body()))?;
    let ty = op.result_type(0);
    let shape = shape_of(cx, op, ty)?;
    let new_ty = cx.convert_type(ty)?;
    let sizes = mixed(cx, &shape.sizes, &old.sizes(op.body()))?;
    let allocated = descriptor::allocated(cx, source);
    let start = descriptor::aligned(cx, source);
    let aligned = cx.gep(start, Type::I8, &[Index::Value(shift)], NONE);
    let offset = cx.index(0);
    let strides = row_major(cx, &sizes);
    let new = descriptor::build(cx, new_ty, &Parts { allocated, aligned, offset, sizes, strides });
    cx.set(op.result(0), new);
    Ok(())
}

/// Returns the strides of the identity layout.
fn row_major(cx: &mut FunctionConverter<'_>, sizes: &[Value]) -> Vec<Value> {
    let mut strides = vec![];
    let mut stride = cx.index(1);
    for (position, size) in sizes.iter().enumerate().rev() {
        strides.push(stride);
        if position > 0 {
            stride = cx.mul(stride, *size, NONE);
        }
    }
    strides.reverse();
    strides
}

/// Converts `memref.reshape`. The sizes are in a memref, and the object is contiguous.
fn reshape(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let old = memref::ReshapeOp(op.op());
    let (source, shape_memref) = (old.source(op.body()), old.shape(op.body()));
    if is_unranked(op, op.type_of(source)) || is_unranked(op, op.result_type(0)) {
        return Err(cx.unsupported(op, "on unranked memrefs"));
    }
    let source_shape = shape_of(cx, op, op.type_of(source))?;
    let sizes_shape = shape_of(cx, op, op.type_of(shape_memref))?;
    let element = cx.element_type(op.type_of(shape_memref))?;
    let result_shape = shape_of(cx, op, op.result_type(0))?;
    let value = cx.value(source)?;
    let sizes_descriptor = cx.value(shape_memref)?;
    let offset = descriptor::offset(cx, value, &source_shape);
    let mut sizes = Vec::with_capacity(result_shape.rank());
    for (dimension, known) in result_shape.sizes.iter().enumerate() {
        if *known != DYNAMIC {
            sizes.push(cx.index(*known));
            continue;
        }
        let index = cx.index(dimension as i64);
        let address = address(cx, sizes_descriptor, &sizes_shape, element, &[index], Bounds::Inside);
        let size = cx.load(address, element);
        let bits = element.integer_width(&cx.ctx()).unwrap_or(64);
        sizes.push(match bits {
            64 => size,
            0..64 => cx.cast(llvm::SExtOp::DEF, size, Type::I64),
            _ => cx.cast(llvm::TruncOp::DEF, size, Type::I64),
        });
    }
    let strides = row_major(cx, &sizes);
    with_layout(cx, op, value, offset, sizes, strides)
}

/// Returns the groups of dimensions of a reassociation.
fn groups(cx: &FunctionConverter<'_>, op: OpRef<'_>, rank: usize) -> Result<Vec<Vec<usize>>, Diagnostic> {
    let ctx = op.ctx();
    let groups: Option<Vec<Vec<usize>>> =
        op.attr("reassociation").and_then(|a| a.as_array(ctx)).and_then(|groups| {
            let dimension =
                |a: &Attr| a.as_int(ctx).and_then(|d| usize::try_from(d).ok()).filter(|d| *d < rank);
            groups.iter().map(|g| g.as_array(ctx)?.iter().map(dimension).collect()).collect()
        });
    groups.ok_or_else(|| cx.malformed(op))
}

fn expand_shape(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let old = memref::ExpandShapeOp(op.op());
    let source = old.src(op.body());
    let shape = shape_of(cx, op, op.type_of(source))?;
    let result = shape_of(cx, op, op.result_type(0))?;
    let groups = groups(cx, op, result.rank())?;
    let statics = dense_ints(cx, op, "static_output_shape")?;
    let sizes = numbers(cx, op, &statics, &old.output_shape(op.body()))?;
    if sizes.len() != result.rank() || groups.len() > shape.rank() {
        return Err(cx.malformed(op));
    }
    let value = cx.value(source)?;
    let offset = descriptor::offset(cx, value, &shape);
    // Dimensions without a group are dimensions of size 1, which a source of rank 0 is expanded to.
    let mut strides = vec![Number::Known(1); result.rank()];
    for (dimension, group) in groups.iter().enumerate() {
        let mut stride = source_stride(cx, value, &shape, dimension);
        for inner in group.iter().rev() {
            strides[*inner] = stride;
            if Some(inner) != group.first() {
                stride = stride.times(cx, sizes[*inner]);
            }
        }
    }
    let sizes = sizes.into_iter().map(|n| n.value(cx)).collect();
    let strides = strides.into_iter().map(|n| n.value(cx)).collect();
    with_layout(cx, op, value, offset, sizes, strides)
}

fn collapse_shape(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let source = memref::CollapseShapeOp(op.op()).src(op.body());
    let shape = shape_of(cx, op, op.type_of(source))?;
    let groups = groups(cx, op, shape.rank())?;
    let value = cx.value(source)?;
    let offset = descriptor::offset(cx, value, &shape);
    let (mut sizes, mut strides) = (Vec::new(), Vec::new());
    for group in &groups {
        let mut size = Number::Known(1);
        for dimension in group {
            let this = match shape.sizes[*dimension] {
                DYNAMIC => Number::Value(descriptor::size(cx, value, &shape, *dimension)),
                known => Number::Known(known),
            };
            size = size.times(cx, this);
        }
        // The innermost dimension with a size other than 1 determines the distance of neighbours.
        let walked = group.iter().rev().find(|d| shape.sizes[**d] != 1).or(group.last());
        let stride = match walked {
            Some(dimension) => source_stride(cx, value, &shape, *dimension),
            None => Number::Known(1),
        };
        sizes.push(size.value(cx));
        strides.push(stride.value(cx));
    }
    with_layout(cx, op, value, offset, sizes, strides)
}

fn transpose(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let ctx = cx.ctx();
    let source = memref::TransposeOp(op.op()).r#in(op.body());
    let shape = shape_of(cx, op, op.type_of(source))?;
    let map = op.attr("permutation").and_then(|a| a.as_affine_map(&ctx)).ok_or_else(|| cx.malformed(op))?;
    let value = cx.value(source)?;
    let offset = descriptor::offset(cx, value, &shape);
    let (mut sizes, mut strides) = (Vec::new(), Vec::new());
    for result in map.results(&ctx) {
        let dimension = match result.kind(&ctx) {
            loomir_ir::AffineExprKind::Dim(d) if (d as usize) < shape.rank() => d as usize,
            _ => return Err(cx.malformed(op)),
        };
        sizes.push(descriptor::size(cx, value, &shape, dimension));
        strides.push(descriptor::stride(cx, value, &shape, dimension));
    }
    with_layout(cx, op, value, offset, sizes, strides)
}

fn extract_aligned_pointer(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let source = memref::ExtractAlignedPointerAsIndexOp(op.op()).source(op.body());
    if is_unranked(op, op.type_of(source)) {
        return Err(cx.unsupported(op, "of an unranked memref"));
    }
    let value = cx.value(source)?;
    let pointer = descriptor::aligned(cx, value);
    let new = cx.cast(llvm::PtrToIntOp::DEF, pointer, Type::I64);
    cx.set(op.result(0), new);
    Ok(())
}

fn extract_strided_metadata(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let source = memref::ExtractStridedMetadataOp(op.op()).source(op.body());
    let shape = shape_of(cx, op, op.type_of(source))?;
    let value = cx.value(source)?;
    if op.num_results() != 2 + 2 * shape.rank() {
        return Err(cx.malformed(op));
    }
    let zero = cx.index(0);
    with_layout(cx, op, value, zero, vec![], vec![])?;
    let mut numbers = vec![descriptor::offset(cx, value, &shape)];
    for dimension in 0..shape.rank() {
        numbers.push(descriptor::size(cx, value, &shape, dimension));
    }
    for dimension in 0..shape.rank() {
        numbers.push(descriptor::stride(cx, value, &shape, dimension));
    }
    for (old, new) in op.results().skip(1).zip(numbers) {
        cx.set(old, new);
    }
    Ok(())
}

/// Writes an `llvm.intr.assume` with a bundle alone.
fn assume(cx: &mut FunctionConverter<'_>, tag: &str, operands: &[Value]) {
    let ctx = cx.ctx();
    let condition = cx.constant(Attr::TRUE, Type::I1);
    let count = operands.len() as i64;
    let state = cx
        .state(llvm::AssumeOp::DEF)
        .operands(&[condition])
        .operands(operands)
        .attr(&ctx, "op_bundle_sizes", ctx.dense_ints_attr(Type::I32, &[count]))
        .attr(&ctx, "op_bundle_tags", ctx.array_attr(&[ctx.string_attr(tag)]));
    cx.insert(state);
}

fn assume_alignment(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let source = memref::AssumeAlignmentOp(op.op()).memref(op.body());
    let shape = shape_of(cx, op, op.type_of(source))?;
    let element = cx.element_type(op.type_of(source))?;
    let alignment = op.attr("alignment").and_then(|a| a.as_int(op.ctx())).ok_or_else(|| cx.malformed(op))?;
    let value = cx.value(source)?;
    let pointer = super::base_pointer(cx, value, &shape, element);
    let alignment = cx.index(alignment);
    assume(cx, "align", &[pointer, alignment]);
    cx.set(op.result(0), value);
    Ok(())
}

/// States that each two of the operands are in separate storage. Quadratic in the operands, as the
/// facts are.
fn distinct_objects(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let values = cx.operands(op)?;
    let pointers: Vec<Value> = values.iter().map(|v| descriptor::aligned(cx, *v)).collect();
    for (i, a) in pointers.iter().enumerate() {
        for b in &pointers[i + 1..] {
            assume(cx, "separate_storage", &[*a, *b]);
        }
    }
    cx.set_results(op, &values);
    Ok(())
}
