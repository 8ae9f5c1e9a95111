//! Loads and stores of vectors, row by row.
//!
//! A row is neighbours in memory: a load or store. If some of its elements may be outside, or a
//! mask switches them off, it is a masked one. A row along a dimension of another stride than one
//! is gathered or scattered.

use loomir_dialects::interp::layout::Layout;
use loomir_dialects::llvm;
use loomir_dialects::vector::interfaces::{is_minor_identity, transferred_dims};
use loomir_ir::{Attr, AttrKind, Diagnostic, OpDef, OpRef, Registry, Type, TypeKind, Value};

use super::{Rows, mask_row};
use crate::to_llvm::build::{ICmp, NONE};
use crate::to_llvm::descriptor::{self, Shape};
use crate::to_llvm::function::FunctionConverter;
use crate::to_llvm::memref::{Bounds, address, shape_of};
use crate::to_llvm::{Converted, attach};

pub(super) fn register(registry: &mut Registry) {
    for name in ["load", "maskedload"] {
        attach(registry, &format!("vector.{name}"), load);
    }
    for name in ["store", "maskedstore"] {
        attach(registry, &format!("vector.{name}"), store);
    }
    attach(registry, "vector.transfer_read", load);
    attach(registry, "vector.transfer_write", store);
    attach(registry, "vector.gather", gather);
    attach(registry, "vector.scatter", scatter);
    attach(registry, "vector.expandload", |cx, op| packed(cx, op, llvm::MaskedExpandLoadOp::DEF));
    attach(registry, "vector.compressstore", |cx, op| packed(cx, op, llvm::MaskedCompressStoreOp::DEF));
}

/// An access: the memref and the first element, and the vector.
struct Access {
    descriptor: Value,
    shape: Shape,
    indices: Vec<Value>,
    rows: Rows,
    /// The dimension of the memref behind each dimension of the vector; none if elements are
    /// repeated.
    dims: Vec<Option<usize>>,
    align: i64,
    mask: Option<Value>,
    /// The dimensions of the vector behind whose end elements do not exist.
    open: Vec<bool>,
}

fn operand(op: OpRef<'_>, name: &str) -> Option<Value> {
    op.operand_group(name).first().copied()
}

impl Access {
    /// Reads an access of a vector of type `ty`.
    fn of(
        cx: &mut FunctionConverter<'_>,
        op: OpRef<'_>,
        ty: Type,
        indices: &str,
    ) -> Result<Access, Diagnostic> {
        let ctx = cx.ctx();
        let base = operand(op, "base").ok_or_else(|| cx.malformed(op))?;
        let base_type = op.type_of(base);
        if !matches!(base_type.kind(&ctx), TypeKind::MemRef { shape: Some(_), .. }) {
            return Err(cx.unsupported(op, "on a tensor"));
        }
        let is_moved = op.attr("permutation_map").is_some() && !is_minor_identity(op);
        if is_moved && operand(op, "mask").is_some() {
            return Err(cx.unsupported(op, "with a mask and this permutation map"));
        }
        let element = base_type.element(&ctx).unwrap_or(base_type);
        let (rows, own) = (Rows::of(cx, op, ty)?, ty.element(&ctx));
        let rank = ty.shape(&ctx).map_or(0, <[i64]>::len);
        if own != Some(element) {
            return Err(cx.unsupported(op, "on a memref of other elements"));
        }
        let layout = Layout::of(&ctx, element, cx.data_layout()).ok();
        let layout = layout.filter(|own| own.fills_its_bytes() && own.size == own.store_size);
        let Some(layout) = layout else {
            return Err(cx.unsupported(op, "on elements that do not fill their bytes"));
        };
        let shape = shape_of(cx, op, base_type)?;
        let indices = cx.values(&op.operand_group(indices))?;
        if indices.len() != shape.rank() {
            return Err(cx.malformed(op));
        }
        let last_dims = || (0..rank).map(|d| (shape.rank() + d).checked_sub(rank)).collect();
        let dims = if is_moved { transferred_dims(op) } else { Some(last_dims()) };
        let Some(dims) = dims.filter(|dims| dims.len() == rank) else {
            return Err(cx.malformed(op));
        };
        let stated = op.attr("alignment").and_then(|own| own.as_int(&ctx));
        let mask = match operand(op, "mask") {
            Some(mask) => Some(cx.value(mask)?),
            None => None,
        };
        let open = match op.attr("in_bounds").and_then(|bounds| bounds.as_array(&ctx)) {
            // A memref without dimensions has one element, which is inside.
            Some(bounds) if bounds.len() == rank => {
                let is_open = |(own, dim): (&Attr, &Option<usize>)| *own != Attr::TRUE && dim.is_some();
                bounds.iter().zip(&dims).map(is_open).collect()
            }
            _ => vec![false; rank],
        };
        let align = stated.unwrap_or(layout.align as i64);
        Ok(Access { descriptor: cx.value(base)?, shape, indices, rows, dims, align, mask, open })
    }

    /// Returns the address of the first element of a row.
    fn address(&self, cx: &mut FunctionConverter<'_>, place: &[i64], bounds: Bounds) -> Value {
        let mut indices = self.indices.clone();
        for (at, dim) in place.iter().zip(&self.dims).filter(|(at, _)| **at != 0) {
            let Some(own) = dim.and_then(|dim| indices.get_mut(dim)) else { continue };
            let at = cx.index(*at);
            *own = cx.add(*own, at, NONE);
        }
        address(cx, self.descriptor, &self.shape, self.rows.element, &indices, bounds)
    }

    /// Returns the number of elements from the first on, in a dimension of the memref.
    fn left(&self, cx: &mut FunctionConverter<'_>, dimension: usize) -> Value {
        let size = descriptor::size(cx, self.descriptor, &self.shape, dimension);
        cx.sub(size, self.indices[dimension])
    }

    /// Returns the mask of a row: what the operation's own mask and the ends of dimensions leave.
    /// `None` if all of it is accessed.
    fn mask(&self, cx: &mut FunctionConverter<'_>, place: &[i64]) -> Option<Value> {
        let mut mask = None;
        let and = |cx: &mut FunctionConverter<'_>, mask: Option<Value>, own: Value| match mask {
            Some(mask) => Some(cx.binary(llvm::AndOp::DEF, mask, own)),
            None => Some(own),
        };
        let open = |d: usize| self.dims[d].filter(|_| self.open[d]);
        if let Some(last) = self.dims.len().checked_sub(1).and_then(open) {
            let left = self.left(cx, last);
            mask = Some(mask_row(cx, self.rows.len, left));
        }
        for (d, at) in place.iter().enumerate() {
            let Some(dimension) = open(d) else { continue };
            let (at, left) = (cx.index(*at), self.left(cx, dimension));
            let is_inside = cx.icmp(ICmp::Slt, at, left);
            let ty = self.rows.with_element(cx, Type::I1);
            let own = cx.broadcast(ty, is_inside);
            mask = and(cx, mask, own);
        }
        if let Some(own) = self.mask {
            let ty = self.rows.with_element(cx, Type::I1);
            let own = if place.is_empty() { own } else { cx.extract(own, place, ty) };
            mask = and(cx, mask, own);
        }
        mask
    }

    /// Returns the addresses of the elements of a row that are not neighbours in memory.
    fn spread(&self, cx: &mut FunctionConverter<'_>, first: Value) -> Option<Value> {
        let along = *self.dims.last()?;
        let is_dense = match along {
            Some(along) => self.shape.strides[along] == 1,
            None => self.rows.len == 1,
        };
        if is_dense {
            return None;
        }
        let stride = match along {
            Some(along) => descriptor::stride(cx, self.descriptor, &self.shape, along),
            None => cx.index(0),
        };
        let numbers = cx.numbers(self.rows.len);
        let ty = cx.type_of(numbers);
        let strides = cx.broadcast(ty, stride);
        let steps = cx.mul(numbers, strides, NONE);
        Some(addresses(cx, first, self.rows.element, steps))
    }

    fn all_on(&self, cx: &mut FunctionConverter<'_>) -> Value {
        let ty = self.rows.with_element(cx, Type::I1);
        cx.splat(ty, -1)
    }
}

/// Emits the addresses of elements at indices in a vector.
fn addresses(cx: &mut FunctionConverter<'_>, first: Value, element: Type, steps: Value) -> Value {
    let ctx = cx.ctx();
    let pointers = cx.type_of(steps).with_scalar(&ctx, cx.type_of(first));
    let dynamic = ctx.dense_ints_attr(Type::I32, &[llvm::memory::DYNAMIC_INDEX]);
    let state = cx
        .state(llvm::GEPOp::DEF)
        .operands(&[first, steps])
        .results(&[pointers])
        .attr(&ctx, "rawConstantIndices", dynamic)
        .attr(&ctx, "elem_type", ctx.type_attr(element))
        .attr(&ctx, "noWrapFlags", ctx.int_attr(Type::I32, NONE));
    cx.emit(state)
}

/// Emits a masked load or gather.
fn masked_load(
    cx: &mut FunctionConverter<'_>,
    def: &OpDef,
    [place, mask, other]: [Value; 3],
    align: i64,
) -> Value {
    let (ctx, ty) = (cx.ctx(), cx.type_of(other));
    let align = ctx.int_attr(Type::I32, align);
    let state = cx.state(def).operands(&[place, mask, other]).results(&[ty]).attr(&ctx, "alignment", align);
    cx.emit(state)
}

/// Emits a masked store or scatter.
fn masked_store(cx: &mut FunctionConverter<'_>, def: &OpDef, operands: [Value; 3], align: i64) {
    let ctx = cx.ctx();
    let align = ctx.int_attr(Type::I32, align);
    let state = cx.state(def).operands(&operands).attr(&ctx, "alignment", align);
    cx.insert(state);
}

/// Gives a load or store its alignment, and the hint that the elements are not used again.
fn plain(cx: &FunctionConverter<'_>, op: OpRef<'_>, align: i64, state: &mut loomir_ir::OperationState) {
    let ctx = cx.ctx();
    state.set_attr(&ctx, "alignment", ctx.int_attr(Type::I64, align));
    if op.attr("nontemporal") == Some(Attr::TRUE) {
        state.set_attr(&ctx, "nontemporal", Attr::UNIT);
    }
}

fn load(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let old = op.result_type(0);
    let access = Access::of(cx, op, old, "indices")?;
    let row_type = access.rows.row_type(cx);
    let passed = match operand(op, "pass_thru") {
        Some(passed) => Some(cx.value(passed)?),
        None => None,
    };
    let padding = match operand(op, "padding") {
        Some(padding) => Some(cx.value(padding)?),
        None => None,
    };
    let mut rows = Vec::with_capacity(access.rows.count());
    for place in access.rows.places() {
        let mask = access.mask(cx, &place);
        let bounds = if mask.is_some() { Bounds::Unknown } else { Bounds::Inside };
        let first = access.address(cx, &place, bounds);
        let spread = access.spread(cx, first);
        let other = |cx: &mut FunctionConverter<'_>| match passed {
            Some(passed) => access.rows.row(cx, passed, &place),
            None => match padding {
                Some(padding) => cx.broadcast(row_type, padding),
                None => cx.poison(row_type),
            },
        };
        rows.push(match (spread, mask) {
            (None, None) => {
                let mut state = cx.state(llvm::LoadOp::DEF).operands(&[first]).results(&[row_type]);
                plain(cx, op, access.align, &mut state);
                cx.emit(state)
            }
            (None, Some(mask)) => {
                let other = other(cx);
                masked_load(cx, llvm::MaskedLoadOp::DEF, [first, mask, other], access.align)
            }
            (Some(places), mask) => {
                let mask = mask.unwrap_or_else(|| access.all_on(cx));
                let other = other(cx);
                masked_load(cx, llvm::MaskedGatherOp::DEF, [places, mask, other], access.align)
            }
        });
    }
    let ty = cx.convert_type(old)?;
    let new = access.rows.collect(cx, ty, &rows);
    cx.set(op.result(0), new);
    Ok(())
}

fn store(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let value = operand(op, "valueToStore").ok_or_else(|| cx.malformed(op))?;
    let access = Access::of(cx, op, op.type_of(value), "indices")?;
    let value = cx.value(value)?;
    for place in access.rows.places() {
        let mask = access.mask(cx, &place);
        let bounds = if mask.is_some() { Bounds::Unknown } else { Bounds::Inside };
        let first = access.address(cx, &place, bounds);
        let row = access.rows.row(cx, value, &place);
        let spread = access.spread(cx, first);
        match (spread, mask) {
            (None, None) => {
                let mut state = cx.state(llvm::StoreOp::DEF).operands(&[row, first]);
                plain(cx, op, access.align, &mut state);
                cx.insert(state);
            }
            (None, Some(mask)) => {
                masked_store(cx, llvm::MaskedStoreOp::DEF, [row, first, mask], access.align);
            }
            (Some(places), mask) => {
                let mask = mask.unwrap_or_else(|| access.all_on(cx));
                masked_store(cx, llvm::MaskedScatterOp::DEF, [row, places, mask], access.align);
            }
        }
    }
    Ok(())
}

/// Returns the addresses of a row of `gather` or `scatter`, and its mask.
fn indexed(
    cx: &mut FunctionConverter<'_>,
    op: OpRef<'_>,
    access: &Access,
    place: &[i64],
) -> Result<[Value; 2], Diagnostic> {
    let ctx = cx.ctx();
    let (Some(old), Some(mask)) = (operand(op, "indices"), access.mask) else {
        return Err(cx.malformed(op));
    };
    let own = Rows::of(cx, op, op.type_of(old))?;
    let indices = cx.value(old)?;
    let mut steps = own.row(cx, indices, place);
    let last = access.shape.rank().checked_sub(1).ok_or_else(|| cx.unsupported(op, "on one element"))?;
    if access.shape.strides[last] != 1 {
        let wide = cx.type_of(steps).with_scalar(&ctx, Type::I64);
        if own.element.integer_width(&ctx).is_none_or(|width| width > 64) {
            return Err(cx.unsupported(op, "with indices of this type"));
        }
        if cx.type_of(steps) != wide {
            steps = cx.cast(llvm::SExtOp::DEF, steps, wide);
        }
        let stride = descriptor::stride(cx, access.descriptor, &access.shape, last);
        let strides = cx.broadcast(wide, stride);
        steps = cx.mul(steps, strides, NONE);
    }
    let first = access.address(cx, &[], Bounds::Unknown);
    let ty = access.rows.with_element(cx, Type::I1);
    let mask = if place.is_empty() { mask } else { cx.extract(mask, place, ty) };
    Ok([addresses(cx, first, access.rows.element, steps), mask])
}

fn gather(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let old = op.result_type(0);
    let access = Access::of(cx, op, old, "offsets")?;
    let passed = operand(op, "pass_thru").ok_or_else(|| cx.malformed(op))?;
    let passed = cx.value(passed)?;
    let mut rows = Vec::with_capacity(access.rows.count());
    for place in access.rows.places() {
        let [places, mask] = indexed(cx, op, &access, &place)?;
        let other = access.rows.row(cx, passed, &place);
        rows.push(masked_load(cx, llvm::MaskedGatherOp::DEF, [places, mask, other], access.align));
    }
    let ty = cx.convert_type(old)?;
    let new = access.rows.collect(cx, ty, &rows);
    cx.set(op.result(0), new);
    Ok(())
}

fn scatter(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let value = operand(op, "valueToStore").ok_or_else(|| cx.malformed(op))?;
    let access = Access::of(cx, op, op.type_of(value), "offsets")?;
    let value = cx.value(value)?;
    for place in access.rows.places() {
        let [places, mask] = indexed(cx, op, &access, &place)?;
        let row = access.rows.row(cx, value, &place);
        masked_store(cx, llvm::MaskedScatterOp::DEF, [row, places, mask], access.align);
    }
    Ok(())
}

/// Converts `expandload` and `compressstore` of one row.
fn packed(cx: &mut FunctionConverter<'_>, op: OpRef<'_>, def: &'static OpDef) -> Converted {
    let ctx = cx.ctx();
    let stored = operand(op, "valueToStore");
    let old = stored.or_else(|| operand(op, "pass_thru")).ok_or_else(|| cx.malformed(op))?;
    let access = Access::of(cx, op, op.type_of(old), "indices")?;
    let is_dense = access.shape.strides.last().is_some_and(|stride| *stride == 1);
    let (Some(mask), true, 1) = (access.mask, is_dense, access.dims.len()) else {
        return Err(
            cx.unsupported(op, "on vectors of several dimensions, or elements that are not neighbours,")
        );
    };
    let first = access.address(cx, &[], Bounds::Unknown);
    let (other, ty) = (cx.value(old)?, access.rows.row_type(cx));
    let operands = if stored.is_some() { [other, first, mask] } else { [first, mask, other] };
    let mut state = cx.state(def).operands(&operands);
    if op.attr("alignment").is_some() {
        let align = ctx.dict(vec![(ctx.name("llvm.align"), ctx.int_attr(Type::I64, access.align))]);
        let none = ctx.attr(AttrKind::Dictionary(ctx.dict(Vec::new())));
        let attrs = operands.map(|own| match own == first {
            true => ctx.attr(AttrKind::Dictionary(align)),
            false => none,
        });
        state.set_attr(&ctx, "arg_attrs", ctx.array_attr(&attrs));
    }
    if stored.is_some() {
        cx.insert(state);
        return Ok(());
    }
    let new = cx.emit(state.results(&[ty]));
    cx.set(op.result(0), new);
    Ok(())
}
