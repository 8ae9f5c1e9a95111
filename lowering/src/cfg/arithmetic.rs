//! Integer arithmetic in the `llvm` dialect, as new code of graphs needs it.

use std::cmp::Ordering;

use loomir_dialects::interp::integer::{mask, signed};
use loomir_dialects::llvm;
use loomir_dialects::llvm::memory::DYNAMIC_INDEX;
use loomir_dialects::llvm::types::array;
use loomir_ir::{Builder, OpDef, Type, Value};
use loomir_transforms::affine::operation::Predicate;

/// Writes a constant of `width` bits.
pub(crate) fn constant(builder: &mut Builder<'_>, width: u32, bits: u128) -> Value {
    let ctx = builder.ctx();
    let ty = ctx.int_type(width);
    let number = signed(width, bits & mask(width));
    let state = builder.state(llvm::ConstantOp::DEF).attr(&ctx, "value", ctx.int_attr(ty, number));
    builder.value(state.results(&[ty]))
}

/// Writes an operation on two values of one type, which is also that of the result.
pub(crate) fn binary(builder: &mut Builder<'_>, def: &'static OpDef, a: Value, b: Value) -> Value {
    let ty: Type = builder.body().value_type(a);
    let state = builder.state(def).operands(&[a, b]).results(&[ty]);
    builder.value(state)
}

/// Writes an integer with another number of bits: the low ones, or filled with zeros.
pub(crate) fn resized(builder: &mut Builder<'_>, value: Value, width: u32) -> Value {
    let ctx = builder.ctx();
    let own = builder.type_of(value).integer_width(&ctx).unwrap_or(width);
    let def = match own.cmp(&width) {
        Ordering::Equal => return value,
        Ordering::Greater => llvm::TruncOp::DEF,
        Ordering::Less => llvm::ZExtOp::DEF,
    };
    let ty = ctx.int_type(width);
    let state = builder.state(def).operands(&[value]).results(&[ty]);
    builder.value(state)
}

/// Writes an address behind another one, with these no-wrap flags: `index` times `unit` bytes.
pub(crate) fn address(
    builder: &mut Builder<'_>,
    base: Value,
    (index, unit): (Value, u32),
    flags: i64,
) -> Value {
    let (ctx, ty) = (builder.ctx(), builder.type_of(base));
    let element = if unit == 1 { Type::I8 } else { array(&ctx, u64::from(unit), Type::I8) };
    let indices = ctx.dense_ints_attr(Type::I32, &[DYNAMIC_INDEX]);
    let state = builder.state(llvm::GEPOp::DEF).operands(&[base, index]).results(&[ty]);
    let state = state.attr(&ctx, "rawConstantIndices", indices);
    let state = state.attr(&ctx, "elem_type", ctx.type_attr(element));
    builder.value(state.attr(&ctx, "noWrapFlags", ctx.int_attr(Type::I32, flags)))
}

/// Writes a comparison of two integers.
pub(crate) fn compare(builder: &mut Builder<'_>, predicate: Predicate, a: Value, b: Value) -> Value {
    let ctx = builder.ctx();
    // Predicates of both are numbered alike.
    let predicate = ctx.int_attr(Type::I64, predicate as i128);
    let state = builder.state(llvm::ICmpOp::DEF).operands(&[a, b]).attr(&ctx, "predicate", predicate);
    builder.value(state.results(&[Type::I1]))
}
