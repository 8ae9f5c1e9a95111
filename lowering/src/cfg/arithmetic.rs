//! Integer arithmetic in the `llvm` dialect, as new code of graphs needs it.

use loomir_dialects::interp::integer::{mask, signed};
use loomir_dialects::llvm;
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

/// Writes a comparison of two integers.
pub(crate) fn compare(builder: &mut Builder<'_>, predicate: Predicate, a: Value, b: Value) -> Value {
    let ctx = builder.ctx();
    // Predicates of both are numbered alike.
    let predicate = ctx.int_attr(Type::I64, predicate as i128);
    let state = builder.state(llvm::ICmpOp::DEF).operands(&[a, b]).attr(&ctx, "predicate", predicate);
    builder.value(state.results(&[Type::I1]))
}
