//! `memref.global` and `memref.get_global`.
//!
//! A global is an array of arrays; its address becomes a descriptor whose allocated pointer is a
//! recognisable invalid one, because it must not be freed.

use loomir_dialects::llvm::attributes::LINKAGE;
use loomir_dialects::llvm::types::{array, pointer_in};
use loomir_dialects::{llvm, memref};
use loomir_ir::symbols::SYMBOL_NAME;
use loomir_ir::{
    Attr, AttrKind, Body, Builder, Context, Diagnostic, InsertPoint, OpRef, OperationState, Registry, Type,
    TypeKind,
};

use super::super::build::{Index, NONE};
use super::super::descriptor::{self, Parts};
use super::super::function::FunctionConverter;
use super::super::types::{TypeConverter, address_space};
use super::super::{Converted, attach};
use super::shape_of;

pub(super) fn register(registry: &mut Registry) {
    attach(registry, "memref.get_global", get_global);
}

/// The allocated pointer in the descriptor of a global, which was never allocated.
const NEVER_ALLOCATED: i64 = 0xdead_beef;

/// Returns the array type that holds a memref of static shape, and its address space.
fn storage_type(ctx: &Context, ty: Type, element: Type) -> Option<(Type, u32)> {
    let TypeKind::MemRef { shape: Some(shape), memory_space, .. } = ty.kind(ctx) else { return None };
    let space = address_space(ctx, *memory_space)?;
    let mut storage = element;
    for size in shape.iter().rev() {
        storage = array(ctx, u64::try_from(*size).ok()?, storage);
    }
    Some((storage, space))
}

/// Converts a `memref.global` to an `llvm.mlir.global`.
pub(in super::super) fn convert_global(op: OpRef<'_>, types: &mut TypeConverter) -> Result<Body, Diagnostic> {
    let ctx = op.ctx();
    let unsupported =
        || Diagnostic::error(op.loc(), "the type of this global has no counterpart in the llvm dialect");
    let ty = op.attr("type").and_then(|ty| ty.as_type(ctx)).ok_or_else(unsupported)?;
    let element =
        ty.element(ctx).and_then(|element| types.convert_element(element)).ok_or_else(unsupported)?;
    let (storage, space) = storage_type(ctx, ty, element).ok_or_else(unsupported)?;
    let private = op.attr("sym_visibility").and_then(|v| v.as_str(ctx)) == Some("private");
    let linkage = LINKAGE.value_of(if private { "private" } else { "external" }).unwrap_or(0);
    let mut state = OperationState::of(ctx, llvm::GlobalOp::DEF, op.loc())
        .attr(ctx, "global_type", ctx.type_attr(storage))
        .attr(ctx, "linkage", LINKAGE.attr(ctx, linkage))
        .attr(ctx, "addr_space", ctx.int_attr(Type::I32, space))
        .regions(1);
    for name in [SYMBOL_NAME, "constant", "alignment"] {
        if let Some(attr) = op.attr(name) {
            state.set_attr(ctx, name, attr);
        }
    }
    let initial = op.attr("initial_value");
    if let Some(value) = initial.filter(|value| *value != Attr::UNIT) {
        state.set_attr(ctx, "value", initial_value(ctx, ty, value).ok_or_else(unsupported)?);
    }
    state.set_defaults(ctx);
    let mut body = Body::new(ctx, state);
    if initial == Some(Attr::UNIT) {
        // A definition with undefined contents.
        let region = body.region(body.root(), 0);
        let block = body.append_block(region, &[]);
        let mut b = Builder::new(&mut body, InsertPoint::End(block));
        b.set_loc(op.loc());
        let undef = b.state(llvm::UndefOp::DEF).results(&[storage]);
        let undef = b.value(undef);
        let returns = b.state(llvm::ReturnOp::DEF).operands(&[undef]);
        b.insert(returns);
    }
    Ok(body)
}

/// Returns the initial value of a global. At rank 0, it is the element itself.
fn initial_value(ctx: &Context, ty: Type, value: Attr) -> Option<Attr> {
    if ty.shape(ctx).is_none_or(|shape| !shape.is_empty()) {
        return Some(value);
    }
    let AttrKind::DenseElements { ty: elements, bytes, .. } = value.kind(ctx) else { return None };
    let element = elements.element(ctx)?;
    let mut wide = [0u8; 16];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let bits = u128::from_le_bytes(wide);
    Some(match element.kind(ctx) {
        TypeKind::Float(_) => ctx.attr(AttrKind::Float { bits, ty: element }),
        TypeKind::Integer { .. } | TypeKind::Index => ctx.int_attr(element, bits as i128),
        _ => return None,
    })
}

fn get_global(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let ctx = cx.ctx();
    let name = memref::GetGlobalOp(op.op()).name(op.body()).ok_or_else(|| cx.malformed(op))?;
    let ty = op.result_type(0);
    let new_ty = cx.convert_type(ty)?;
    let element = cx.element_type(ty)?;
    let shape = shape_of(cx, op, ty)?;
    let (storage, space) = storage_type(&ctx, ty, element).ok_or_else(|| cx.malformed(op))?;
    let ptr = pointer_in(&ctx, space);
    let state = cx.state(llvm::AddressOfOp::DEF).results(&[ptr]).attr(&ctx, "global_name", name);
    let address = cx.emit(state);
    let first = vec![Index::Constant(0); shape.rank() + 1];
    let aligned = cx.gep(address, storage, &first, NONE);
    let marker = cx.index(NEVER_ALLOCATED);
    let allocated = cx.cast(llvm::IntToPtrOp::DEF, marker, ptr);
    let offset = cx.index(0);
    let sizes = shape.sizes.iter().map(|n| cx.index(*n)).collect();
    let strides = shape.strides.iter().map(|n| cx.index(*n)).collect();
    let new = descriptor::build(cx, new_ty, &Parts { allocated, aligned, offset, sizes, strides });
    cx.set(op.result(0), new);
    Ok(())
}
