//! Execution of views: other memrefs of the same object.

use loomir_ir::types::DYNAMIC;
use loomir_ir::{OpRef, Type};

use crate::interp::access::{element_layout, memref, misaligned};
use crate::interp::code::malformed;
use crate::interp::mixed::Mixed;
use crate::interp::{Datum, Decoded, Decoder, Dim, Fault, Flow, Machine, MemRef, action};
use crate::memref::layout::{dropped_dimensions, reassociation, subview_type};

/// Attaches the models.
pub(super) fn register(attach: &mut impl FnMut(&str, fn(OpRef<'_>, &mut Decoder<'_>) -> Decoded)) {
    attach("dim", decode_dim);
    attach("rank", |op, d| {
        let (source, result) = (d.operand(op, 0)?, d.result(op, 0)?);
        Ok(action(move |m| {
            let rank = memref(m, source)?.dims.len();
            m.done(result, Datum::index(rank as i64))
        }))
    });
    attach("cast", decode_cast);
    attach("memory_space_cast", decode_cast);
    attach("subview", decode_subview);
    attach("view", decode_view);
    attach("reinterpret_cast", decode_reinterpret_cast);
    attach("reshape", decode_reshape);
    attach("expand_shape", decode_expand_shape);
    attach("collapse_shape", decode_collapse_shape);
    attach("transpose", decode_transpose);
    attach("extract_aligned_pointer_as_index", |op, d| {
        let (source, result) = (d.operand(op, 0)?, d.result(op, 0)?);
        Ok(action(move |m| {
            let address = memref(m, source)?.aligned.address;
            m.done(result, Datum::Bits(address))
        }))
    });
    attach("extract_strided_metadata", decode_metadata);
    attach("assume_alignment", decode_assume_alignment);
    attach("distinct_objects", decode_distinct_objects);
}

fn decode_dim(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (source, index, result) = (d.operand(op, 0)?, d.operand(op, 1)?, d.result(op, 0)?);
    Ok(action(move |m| {
        let (memref, index) = (memref(m, source)?, m.index(index, "the dimension asked for")?);
        let dim = usize::try_from(index).ok().and_then(|i| memref.dims.get(i));
        let Some(dim) = dim else {
            let rank = memref.dims.len();
            return Err(Fault::undefined(format!(
                "dimension {index} of a memref of rank {rank} is asked for"
            )));
        };
        let size = dim.size;
        m.done(result, Datum::index(size))
    }))
}

/// Decodes a view with the type of `op`'s first result, computed from its first operand.
fn view(
    op: OpRef<'_>,
    d: &mut Decoder<'_>,
    make: impl Fn(&Machine, &MemRef) -> Result<MemRef, Box<Fault>> + 'static,
) -> Decoded {
    let (source, result) = (d.operand(op, 0)?, d.result(op, 0)?);
    Ok(action(move |m| {
        let view = match m.get(source) {
            Datum::Poison(poison) => Datum::Poison(*poison),
            _ => make(m, memref(m, source)?)?.into(),
        };
        m.done(result, view)
    }))
}

/// Decodes a change of type. The memref must match the new type.
fn decode_cast(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let ty = op.result_type(0);
    let Some(shape) = ty.shape(d.ctx()) else {
        return view(op, d, |_, memref| Ok(memref.clone()));
    };
    let (strides, offset) = ty
        .strides_and_offset(d.ctx())
        .ok_or_else(|| Fault::unsupported("a cast to a memref whose layout is not strided"))?;
    let shape = shape.to_vec();
    view(op, d, move |_, memref| {
        if memref.dims.len() != shape.len() {
            let rank = memref.dims.len();
            return Err(Fault::undefined(format!("a memref of rank {rank} is cast to rank {}", shape.len())));
        }
        for (d, dim) in memref.dims.iter().enumerate() {
            let known = |what: &str, expected: i64, found: i64| match expected == DYNAMIC || expected == found
            {
                true => Ok(()),
                false => Err(Fault::undefined(format!(
                    "a memref whose {what} of dimension {d} is {found} is cast to one where it is {expected}"
                ))),
            };
            known("size", shape[d], dim.size)?;
            if dim.size > 1 {
                known("stride", strides[d], dim.stride)?;
            }
        }
        if offset != DYNAMIC && offset != memref.offset {
            let found = memref.offset;
            return Err(Fault::undefined(format!("a memref of offset {found} is cast to one of {offset}")));
        }
        Ok(memref.clone())
    })
}

fn decode_subview(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let groups = d.segments(op, 4)?;
    let mixed = |name: &str, i: usize| Mixed::new(op, d, name, groups[i].iter().copied());
    let (offsets, sizes) = (mixed("static_offsets", 1)?, mixed("static_sizes", 2)?);
    let strides = mixed("static_strides", 3)?;
    let dropped = dropped(op, d).ok_or_else(|| malformed("a result of its shape"))?;
    if offsets.len() != sizes.len() || dropped.len() != sizes.len() || strides.len() != sizes.len() {
        return Err(malformed("an offset, size and stride for each dimension"));
    }
    view(op, d, move |m, memref| {
        let (offsets, strides) = (offsets.all(m, "an offset")?, strides.all(m, "a stride")?);
        let sizes = sizes.sizes(m)?;
        if sizes.len() != memref.dims.len() {
            return Err(malformed("an offset, size and stride for each dimension"));
        }
        let (mut offset, mut dims) = (memref.offset, Vec::new());
        for (i, dim) in memref.dims.iter().enumerate() {
            let last = i128::from(offsets[i]) + i128::from(sizes[i] - 1) * i128::from(strides[i]);
            let inside = |x: i128| (0..dim.size.into()).contains(&x);
            let within = inside(offsets[i].into()) && inside(last);
            if !within && !sizes.contains(&0) {
                return Err(Fault::undefined(format!(
                    "a view of elements {} to {last} of dimension {i}, whose size is {}",
                    offsets[i], dim.size
                )));
            }
            offset = offset.wrapping_add(offsets[i].wrapping_mul(dim.stride));
            if !dropped[i] {
                dims.push(Dim { size: sizes[i], stride: strides[i].wrapping_mul(dim.stride) });
            }
        }
        Ok(MemRef { offset, dims: dims.into(), ..memref.clone() })
    })
}

/// Returns, for each dimension of a view, true if its type drops it. Only unit dimensions can be
/// dropped.
fn dropped(op: OpRef<'_>, d: &Decoder<'_>) -> Option<Vec<bool>> {
    let numbers = |name: &str| op.attr(name)?.as_dense_ints(d.ctx());
    let (offsets, sizes) = (numbers("static_offsets")?, numbers("static_sizes")?);
    let whole = subview_type(d.ctx(), op.operand_type(0), &offsets, &sizes, &numbers("static_strides")?)?;
    let dimensions = |ty: Type| -> Option<Vec<(i64, i64)>> {
        let strides = ty.strides_and_offset(d.ctx())?.0;
        Some(ty.shape(d.ctx())?.iter().copied().zip(strides).collect())
    };
    dropped_dimensions(&dimensions(whole)?, &dimensions(op.result_type(0))?)
}

fn decode_view(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let shift = d.operand(op, 1)?;
    let shape = op.result_type(0).shape(d.ctx()).ok_or_else(|| malformed("a rank"))?;
    let sizes = Mixed::fill(d, shape, op.operands().skip(2))?;
    view(op, d, move |m, memref| {
        let aligned = memref.aligned.offset(memref.offset).offset(m.index(shift, "the shift of a view")?);
        Ok(MemRef { allocated: memref.allocated, aligned, offset: 0, dims: MemRef::dense(&sizes.sizes(m)?) })
    })
}

fn decode_reinterpret_cast(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let groups = d.segments(op, 4)?;
    let mixed = |name: &str, i: usize| Mixed::new(op, d, name, groups[i].iter().copied());
    let (offsets, sizes) = (mixed("static_offsets", 1)?, mixed("static_sizes", 2)?);
    let strides = mixed("static_strides", 3)?;
    if offsets.len() != 1 || sizes.len() != strides.len() {
        return Err(malformed("one offset, and a stride for each size"));
    }
    view(op, d, move |m, memref| {
        let (sizes, strides) = (sizes.sizes(m)?, strides.all(m, "a stride")?);
        let dims = sizes.into_iter().zip(strides).map(|(size, stride)| Dim { size, stride }).collect();
        Ok(MemRef { offset: offsets.get(m, 0, "an offset")?, dims, ..memref.clone() })
    })
}

fn decode_reshape(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let shape = d.operand(op, 1)?;
    let (element, loc) = (element_layout(d, op.operand_type(1))?, op.loc());
    view(op, d, move |m, source| {
        let shape = memref(m, shape)?;
        let mut sizes = Vec::new();
        for linear in shape.offsets() {
            let place = shape.aligned.offset(linear.wrapping_mul(element.size as i64));
            match m.memory.load(place, &element.repr, loc)? {
                Datum::Bits(size) if size <= i64::MAX as u64 => sizes.push(size as i64),
                other => return Err(crate::interp::unusable(&other, "a size")),
            }
        }
        let result = MemRef { dims: MemRef::dense(&sizes), ..source.clone() };
        if !source.is_dense() || result.num_elements() != source.num_elements() {
            return Err(Fault::undefined(format!(
                "a memref of {} elements is reshaped to sizes {sizes:?}",
                source.num_elements().unwrap_or(0)
            )));
        }
        Ok(result)
    })
}

/// Returns the groups of `reassociation`.
fn groups(op: OpRef<'_>, d: &Decoder<'_>) -> Result<Vec<Vec<usize>>, Box<Fault>> {
    let groups = op.attr("reassociation").and_then(|a| reassociation(d.ctx(), a));
    let groups: Option<Vec<Vec<usize>>> = groups.and_then(|groups| {
        groups.iter().map(|group| group.iter().map(|i| usize::try_from(*i).ok()).collect()).collect()
    });
    groups.ok_or_else(|| malformed("a reassociation"))
}

fn decode_expand_shape(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let groups = groups(op, d)?;
    let sizes = Mixed::new(op, d, "static_output_shape", op.operands().skip(1))?;
    if groups.iter().flatten().any(|i| *i >= sizes.len()) {
        return Err(malformed("a reassociation of its dimensions"));
    }
    view(op, d, move |m, memref| {
        let sizes = sizes.sizes(m)?;
        let mut dims = MemRef::dense(&sizes);
        if !groups.is_empty() && groups.len() != memref.dims.len() {
            return Err(malformed("a group for each dimension"));
        }
        for (group, source) in groups.iter().zip(&memref.dims) {
            let mut stride = source.stride;
            for i in group.iter().rev() {
                dims[*i].stride = stride;
                stride = stride.wrapping_mul(sizes[*i]);
            }
            let product = group.iter().try_fold(1i64, |n, i| n.checked_mul(sizes[*i]));
            if product != Some(source.size) {
                return Err(Fault::undefined(format!(
                    "a dimension of size {} is split into sizes {:?}",
                    source.size,
                    group.iter().map(|i| sizes[*i]).collect::<Vec<_>>()
                )));
            }
        }
        Ok(MemRef { dims, ..memref.clone() })
    })
}

fn decode_collapse_shape(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let groups = groups(op, d)?;
    view(op, d, move |_, memref| {
        let mut dims = Vec::new();
        for group in &groups {
            let parts: Option<Vec<Dim>> = group.iter().map(|i| memref.dims.get(*i).copied()).collect();
            let parts = parts.ok_or_else(|| malformed("a reassociation of its dimensions"))?;
            dims.push(merge(&parts)?);
        }
        Ok(MemRef { dims: dims.into(), ..memref.clone() })
    })
}

/// Merges dimensions into one. They must be nested without gaps.
fn merge(parts: &[Dim]) -> Result<Dim, Box<Fault>> {
    let size = parts.iter().fold(1i64, |n, d| n.saturating_mul(d.size));
    let mut long = parts.iter().rev().filter(|d| d.size != 1);
    let Some(inner) = long.next() else {
        return Ok(Dim { size, stride: parts.last().map_or(1, |d| d.stride) });
    };
    let mut next = inner.stride.saturating_mul(inner.size);
    for dim in long {
        if size > 0 && dim.stride != next {
            return Err(Fault::undefined(format!(
                "dimensions that do not lie one in the other are merged: a stride of {} where {next} is needed",
                dim.stride
            )));
        }
        next = next.saturating_mul(dim.size);
    }
    Ok(Dim { size, stride: inner.stride })
}

fn decode_transpose(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    use loomir_ir::affine::AffineExprKind::Dim as Dimension;
    let map = op.attr("permutation").and_then(|a| a.as_affine_map(d.ctx()));
    let map = map.ok_or_else(|| malformed("a permutation"))?;
    let order: Option<Vec<usize>> = map
        .results(d.ctx())
        .iter()
        .map(|e| if let Dimension(i) = e.kind(d.ctx()) { Some(i as usize) } else { None })
        .collect();
    let order = order.ok_or_else(|| malformed("a permutation"))?;
    view(op, d, move |_, memref| {
        let dims: Option<_> = order.iter().map(|i| memref.dims.get(*i).copied()).collect();
        Ok(MemRef { dims: dims.ok_or_else(|| malformed("a permutation"))?, ..memref.clone() })
    })
}

fn decode_metadata(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (source, results) = (d.operand(op, 0)?, d.slots(op.results()));
    Ok(action(move |m| {
        let memref = memref(m, source)?.clone();
        if results.len() != 2 + 2 * memref.dims.len() {
            return Err(malformed("a result for each size and stride"));
        }
        let base = MemRef { offset: 0, dims: Box::default(), ..memref.clone() };
        m.set(results[0], base.into());
        m.set(results[1], Datum::index(memref.offset));
        let numbers = memref.dims.iter().map(|d| d.size).chain(memref.dims.iter().map(|d| d.stride));
        for (slot, number) in results[2..].iter().zip(numbers) {
            m.set(*slot, Datum::index(number));
        }
        Ok(Flow::Next)
    }))
}

fn decode_assume_alignment(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let align = op.attr("alignment").and_then(|a| a.as_int(d.ctx())).and_then(|a| u64::try_from(a).ok());
    let align = align.filter(|a| *a > 0).ok_or_else(|| malformed("an alignment"))?;
    view(op, d, move |_, memref| match memref.aligned.address.is_multiple_of(align) {
        true => Ok(memref.clone()),
        false => Err(misaligned(memref.aligned, align)),
    })
}

fn decode_distinct_objects(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (operands, results) = (d.slots(op.operands()), d.slots(op.results()));
    Ok(action(move |m| {
        let mut seen = Vec::new();
        for slot in &operands {
            let object = memref(m, *slot)?.aligned.object;
            if let Some(first) = seen.iter().position(|o| *o == object) {
                let second = seen.len();
                return Err(Fault::undefined(format!(
                    "operands {first} and {second}, said to be distinct objects, are both {}",
                    m.memory.describe(object)
                )));
            }
            seen.push(object);
        }
        m.copy(&operands, &results)?;
        Ok(Flow::Next)
    }))
}
