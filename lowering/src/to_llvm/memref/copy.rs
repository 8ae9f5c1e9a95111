//! `memref.copy`: one `memcpy` if both memrefs are contiguous by their types, else a nest of loops
//! over the elements.

use loomir_dialects::{llvm, memref};
use loomir_ir::{Attr, OpRef, Registry, Type, TypeKind, Value};

use super::super::build::{ICmp, Index, NONE};
use super::super::descriptor::{self, Shape};
use super::super::function::FunctionConverter;
use super::super::{Converted, attach};
use super::{Bounds, address, base_pointer, shape_of};

pub(super) fn register(registry: &mut Registry) {
    attach(registry, "memref.copy", copy);
}

fn copy(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let old = memref::CopyOp(op.op());
    let (source, target) = (old.source(op.body()), old.target(op.body()));
    let (from_ty, to_ty) = (op.type_of(source), op.type_of(target));
    let unranked = |ty: Type| matches!(ty.kind(op.ctx()), TypeKind::MemRef { shape: None, .. });
    if unranked(from_ty) || unranked(to_ty) {
        return Err(cx.unsupported(op, "of unranked memrefs").help("cast to the rank first"));
    }
    let (from_shape, to_shape) = (shape_of(cx, op, from_ty)?, shape_of(cx, op, to_ty)?);
    if from_shape.rank() != to_shape.rank() {
        return Err(cx.malformed(op));
    }
    let element = cx.element_type(from_ty)?;
    let (from, to) = (cx.value(source)?, cx.value(target)?);
    if from_shape.is_contiguous() && to_shape.is_contiguous() {
        copy_bytes(cx, (from, &from_shape), (to, &to_shape), element);
    } else {
        copy_elements(cx, (from, &from_shape), (to, &to_shape), element);
    }
    Ok(())
}

fn copy_bytes(cx: &mut FunctionConverter<'_>, from: (Value, &Shape), to: (Value, &Shape), element: Type) {
    let ctx = cx.ctx();
    let mut count = cx.index(1);
    for dimension in 0..from.1.rank() {
        let size = descriptor::size(cx, from.0, from.1, dimension);
        count = cx.mul(count, size, NONE);
    }
    let bytes = cx.size_in_bytes(Index::Value(count), element);
    let source = base_pointer(cx, from.0, from.1, element);
    let target = base_pointer(cx, to.0, to.1, element);
    let state = cx.state(llvm::MemcpyOp::DEF).operands(&[target, source, bytes]).attr(
        &ctx,
        "isVolatile",
        Attr::FALSE,
    );
    cx.insert(state);
}

fn copy_elements(cx: &mut FunctionConverter<'_>, from: (Value, &Shape), to: (Value, &Shape), element: Type) {
    let rank = from.1.rank();
    let zero = cx.index(0);
    let one = cx.index(1);
    let sizes: Vec<Value> = (0..rank).map(|d| descriptor::size(cx, from.0, from.1, d)).collect();
    // Headers and exits of the nest, outermost first.
    let mut loops = Vec::with_capacity(rank);
    for size in &sizes {
        let before = cx.current_block();
        let header = cx.new_block(before, &[Type::I64]);
        let body = cx.new_block(header, &[]);
        let exit = cx.new_block(body, &[]);
        cx.branch(header, &[zero]);
        cx.enter(header);
        let variable = cx.argument(header, 0);
        let goes_on = cx.icmp(ICmp::Slt, variable, *size);
        cx.cond_branch(goes_on, body, exit);
        cx.enter(body);
        loops.push((header, variable, exit));
    }
    let indices: Vec<Value> = loops.iter().map(|(_, variable, _)| *variable).collect();
    let source = address(cx, from.0, from.1, element, &indices, Bounds::Inside);
    let value = cx.load(source, element);
    let target = address(cx, to.0, to.1, element, &indices, Bounds::Inside);
    cx.store(value, target);
    for (header, variable, exit) in loops.into_iter().rev() {
        let next = cx.add(variable, one, NONE);
        cx.branch(header, &[next]);
        cx.enter(exit);
    }
}
