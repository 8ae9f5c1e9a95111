//! Making and freeing objects: `malloc`, `free` and room on the stack.
//!
//! An alignment beyond that of `malloc` needs extra space: `malloc` gets that many more bytes, the
//! aligned pointer is the next multiple, and `dealloc` frees the pointer of `malloc`. Where
//! functions take bare pointers, `aligned_alloc` makes such an object, so that both pointers are
//! one.

use loomir_dialects::llvm::types::{function, pointer, void};
use loomir_dialects::{llvm, memref};
use loomir_ir::{DYNAMIC, Diagnostic, OpRef, Registry, Type, TypeKind, Value};

use super::super::build::{ICmp, Index, NONE};
use super::super::descriptor::{self, Parts};
use super::super::function::FunctionConverter;
use super::super::types::address_space;
use super::super::{Converted, attach};
use super::{base_pointer, mixed, shape_of};

/// The least alignment that `aligned_alloc` is asked for, as in MLIR.
const MIN_ALIGNMENT: i64 = 16;

pub(super) fn register(registry: &mut Registry) {
    attach(registry, "memref.alloc", alloc);
    attach(registry, "memref.alloca", alloca);
    attach(registry, "memref.dealloc", dealloc);
    attach(registry, "memref.realloc", realloc);
}

/// Returns the sizes, the strides and the number of elements of a new object with the identity
/// layout.
fn layout(
    cx: &mut FunctionConverter<'_>,
    op: OpRef<'_>,
    ty: Type,
    dynamic: &[Value],
) -> Result<(Vec<Value>, Vec<Value>, Value), Diagnostic> {
    let shape = shape_of(cx, op, ty)?;
    if shape.offset != 0 || !shape.is_contiguous() {
        return Err(cx.unsupported(op, "of a memref whose layout is not the identity"));
    }
    let sizes = mixed(cx, &shape.sizes, dynamic)?;
    let mut strides = vec![cx.index(1); sizes.len()];
    let mut count: Option<(Value, i64)> = None;
    for (dimension, size) in sizes.iter().enumerate().rev() {
        let known = shape.sizes[dimension];
        count = Some(match count {
            None => (*size, known),
            Some((below, below_known)) => {
                strides[dimension] = below;
                match (known, below_known) {
                    (DYNAMIC, _) | (_, DYNAMIC) => (cx.mul(below, *size, NONE), DYNAMIC),
                    (a, b) => {
                        let product = a.checked_mul(b).ok_or_else(|| cx.malformed(op))?;
                        (cx.index(product), product)
                    }
                }
            }
        });
    }
    let count = match count {
        Some((count, _)) => count,
        None => cx.index(1),
    };
    Ok((sizes, strides, count))
}

fn alignment(cx: &FunctionConverter<'_>, op: OpRef<'_>) -> Option<i64> {
    op.attr("alignment").and_then(|a| a.as_int(&cx.ctx())).filter(|a| *a > 0)
}

/// Allocates a number of elements with `malloc`. Returns its pointer, and the first aligned pointer
/// in it.
fn allocate(
    cx: &mut FunctionConverter<'_>,
    count: Value,
    element: Type,
    alignment: Option<i64>,
) -> Result<(Value, Value), Diagnostic> {
    let ctx = cx.ctx();
    let ptr = pointer(&ctx);
    let mut bytes = cx.size_in_bytes(Index::Value(count), element);
    if let Some(alignment) = alignment.filter(|_| cx.has_bare_functions()) {
        let pointer = aligned_alloc(cx, bytes, alignment)?;
        return Ok((pointer, pointer));
    }
    let alignment = alignment.map(|a| cx.index(a));
    if let Some(alignment) = alignment {
        bytes = cx.add(bytes, alignment, NONE);
    }
    let malloc = cx.declare("malloc", function(&ctx, ptr, &[Type::I64], false))?;
    let Some(allocated) = cx.call(Some(malloc), &[bytes], Some(ptr)) else {
        return Err(Diagnostic::error(cx.loc(), "'@malloc' has no result"));
    };
    let Some(alignment) = alignment else { return Ok((allocated, allocated)) };
    let address = cx.cast(llvm::PtrToIntOp::DEF, allocated, Type::I64);
    let one = cx.index(1);
    let slack = cx.sub(alignment, one);
    let bumped = cx.add(address, slack, NONE);
    let beyond = cx.binary(llvm::URemOp::DEF, bumped, alignment);
    let aligned = cx.sub(bumped, beyond);
    Ok((allocated, cx.cast(llvm::IntToPtrOp::DEF, aligned, ptr)))
}

/// Allocates bytes with `aligned_alloc`, which wants a multiple of the alignment, and an alignment
/// that is a power of two and not less than that of a pointer.
fn aligned_alloc(cx: &mut FunctionConverter<'_>, bytes: Value, alignment: i64) -> Result<Value, Diagnostic> {
    let ctx = cx.ctx();
    let ptr = pointer(&ctx);
    if alignment.count_ones() != 1 {
        return Err(Diagnostic::error(cx.loc(), "an alignment has to be a power of two"));
    }
    let alignment = cx.index(alignment.max(MIN_ALIGNMENT));
    let one = cx.index(1);
    let slack = cx.sub(alignment, one);
    let bumped = cx.add(bytes, slack, NONE);
    let beyond = cx.binary(llvm::URemOp::DEF, bumped, alignment);
    let rounded = cx.sub(bumped, beyond);
    let symbol = cx.declare("aligned_alloc", function(&ctx, ptr, &[Type::I64, Type::I64], false))?;
    cx.call(Some(symbol), &[alignment, rounded], Some(ptr))
        .ok_or_else(|| Diagnostic::error(cx.loc(), "'@aligned_alloc' has no result"))
}

fn refuse_other_spaces(cx: &FunctionConverter<'_>, op: OpRef<'_>, ty: Type) -> Converted {
    match ty.kind(&cx.ctx()) {
        TypeKind::MemRef { memory_space, .. } if address_space(&cx.ctx(), *memory_space) != Some(0) => {
            Err(cx.unsupported(op, "in a memory space other than 0"))
        }
        _ => Ok(()),
    }
}

fn alloc(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let old = memref::AllocOp(op.op());
    let ty = op.result_type(0);
    refuse_other_spaces(cx, op, ty)?;
    let new_ty = cx.convert_type(ty)?;
    let element = cx.element_type(ty)?;
    let (sizes, strides, count) = layout(cx, op, ty, &old.dynamicSizes(op.body()))?;
    let alignment = alignment(cx, op);
    let (allocated, aligned) = allocate(cx, count, element, alignment)?;
    let offset = cx.index(0);
    let new = descriptor::build(cx, new_ty, &Parts { allocated, aligned, offset, sizes, strides });
    cx.set(op.result(0), new);
    Ok(())
}

fn alloca(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let old = memref::AllocaOp(op.op());
    let ty = op.result_type(0);
    refuse_other_spaces(cx, op, ty)?;
    let new_ty = cx.convert_type(ty)?;
    let element = cx.element_type(ty)?;
    let (sizes, strides, count) = layout(cx, op, ty, &old.dynamicSizes(op.body()))?;
    let ptr = pointer(&cx.ctx());
    let alignment = alignment(cx, op);
    let address = cx.alloca(count, element, ptr, alignment);
    let offset = cx.index(0);
    let parts = Parts { allocated: address, aligned: address, offset, sizes, strides };
    let new = descriptor::build(cx, new_ty, &parts);
    cx.set(op.result(0), new);
    Ok(())
}

fn free(cx: &mut FunctionConverter<'_>, allocated: Value) -> Converted {
    let ctx = cx.ctx();
    let free = cx.declare("free", function(&ctx, void(&ctx), &[pointer(&ctx)], false))?;
    cx.call(Some(free), &[allocated], None);
    Ok(())
}

fn dealloc(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let source = memref::DeallocOp(op.op()).memref(op.body());
    refuse_other_spaces(cx, op, op.type_of(source))?;
    let descriptor = cx.value(source)?;
    let allocated = match op.type_of(source).kind(op.ctx()) {
        TypeKind::MemRef { shape: None, .. } => {
            let (_, pointer) = descriptor::unranked_parts(cx, descriptor);
            let ty = cx.type_of(pointer);
            cx.load(pointer, ty)
        }
        _ => descriptor::allocated(cx, descriptor),
    };
    free(cx, allocated)
}

/// Makes a new object, copies the fitting contents of the old one, and frees it.
fn realloc(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let ctx = cx.ctx();
    let old = memref::ReallocOp(op.op());
    let source = old.source(op.body());
    let (from_ty, ty) = (op.type_of(source), op.result_type(0));
    refuse_other_spaces(cx, op, ty)?;
    let from_shape = shape_of(cx, op, from_ty)?;
    let new_ty = cx.convert_type(ty)?;
    let element = cx.element_type(ty)?;
    let descriptor = cx.value(source)?;
    let dynamic: Vec<Value> = old.dynamicResultSize(op.body()).into_iter().collect();
    let (sizes, strides, count) = layout(cx, op, ty, &dynamic)?;
    let alignment = alignment(cx, op);
    let (allocated, aligned) = allocate(cx, count, element, alignment)?;
    if from_shape.rank() != 1 {
        return Err(cx.malformed(op));
    }
    let old_count = descriptor::size(cx, descriptor, &from_shape, 0);
    let shorter = cx.icmp(ICmp::Ult, old_count, count);
    let kept = cx.select(shorter, old_count, count);
    let bytes = cx.size_in_bytes(Index::Value(kept), element);
    let from = base_pointer(cx, descriptor, &from_shape, element);
    let state = cx.state(llvm::MemcpyOp::DEF).operands(&[aligned, from, bytes]).attr(
        &ctx,
        "isVolatile",
        loomir_ir::Attr::FALSE,
    );
    cx.insert(state);
    let old_allocated = descriptor::allocated(cx, descriptor);
    free(cx, old_allocated)?;
    let offset = cx.index(0);
    let new = descriptor::build(cx, new_ty, &Parts { allocated, aligned, offset, sizes, strides });
    cx.set(op.result(0), new);
    Ok(())
}
