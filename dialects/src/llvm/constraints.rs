//! Constraints on types that the tables of this dialect share, with the words MLIR uses for them.
#![allow(non_upper_case_globals)]

use loomir_ir::opdef::TypeConstraint as T;
use loomir_ir::{Context, Type, TypeKind};
use std::borrow::Cow;

use super::types;

const fn named(text: &'static str, accepts: fn(&Context, Type) -> bool) -> T {
    T::Where(Cow::Borrowed(text), accepts)
}

/// Any type of LLVM IR.
pub(super) const LlvmType: T = named("LLVM dialect-compatible type", types::is_compatible);
/// Any type of LLVM IR that a value may be stored as a part of another.
pub(super) const Primitive: T = named("primitive LLVM type", types::is_primitive);
/// A type with a size.
pub(super) const Loadable: T = named("LLVM type with size", types::is_loadable);
/// Neither struct nor array.
pub(super) const NonAggregate: T = named("LLVM-compatible non-aggregate type", |ctx, ty| {
    types::is_compatible(ctx, ty) && !types::is_aggregate(ctx, ty)
});
/// A struct or array.
pub(super) const Aggregate: T = named("LLVM aggregate type", types::is_aggregate);
/// A pointer.
pub(super) const Pointer: T = named("LLVM pointer type", types::is_pointer);
/// The types that an atomic compare-and-exchange accepts.
pub(super) const AtomicExchanged: T = named("signless integer or LLVM pointer type", |ctx, ty| {
    ty.is_signless_integer(ctx) || types::is_pointer(ctx, ty)
});
/// A token.
pub(super) const Token: T =
    named("LLVM token type", |ctx, ty| ty.dialect_params(ctx, "llvm.token").is_some());
/// A vector of scalars.
pub(super) const LlvmVector: T = named("LLVM dialect-compatible vector type", types::is_vector);
/// `iN`.
pub(super) const Integer: T = T::SignlessInteger;
/// `iN` or a vector of them.
pub(super) const IntegerOrVector: T =
    named("signless integer or LLVM dialect-compatible vector of signless integer", |ctx, ty| {
        scalar_or_vector(ctx, ty, |ctx, ty| ty.is_signless_integer(ctx))
    });
/// `i1` or a vector of them.
pub(super) const BoolOrVector: T =
    named("1-bit signless integer or LLVM dialect-compatible vector of 1-bit signless integer", |ctx, ty| {
        scalar_or_vector(ctx, ty, |_, ty| ty == Type::I1)
    });
/// A float or a vector of them.
pub(super) const FloatOrVector: T = named(
    "floating point LLVM type or LLVM dialect-compatible vector of floating point LLVM type",
    |ctx, ty| scalar_or_vector(ctx, ty, types::is_float),
);
/// A pointer or a vector of them.
pub(super) const PointerOrVector: T =
    named("LLVM pointer type or LLVM dialect-compatible vector of LLVM pointer type", |ctx, ty| {
        scalar_or_vector(ctx, ty, types::is_pointer)
    });
/// An integer or pointer, or a vector of either.
pub(super) const IntegerOrPointer: T = named(
    "signless integer or LLVM dialect-compatible vector of signless integer or LLVM pointer type or LLVM dialect-compatible vector of LLVM pointer type",
    |ctx, ty| scalar_or_vector(ctx, ty, |ctx, ty| ty.is_signless_integer(ctx) || types::is_pointer(ctx, ty)),
);
/// A vector of integers.
pub(super) const IntegerVector: T = named("LLVM dialect-compatible vector of signless integer", |ctx, ty| {
    types::is_vector(ctx, ty) && ty.scalar(ctx).is_signless_integer(ctx)
});
/// A vector of floats.
pub(super) const FloatVector: T = named("LLVM dialect-compatible vector of floating-point", |ctx, ty| {
    types::is_vector(ctx, ty) && types::is_float(ctx, ty.scalar(ctx))
});
fn scalar_or_vector(ctx: &Context, ty: Type, accepts: fn(&Context, Type) -> bool) -> bool {
    match ty.kind(ctx) {
        TypeKind::Vector { element, .. } => types::is_vector(ctx, ty) && accepts(ctx, *element),
        _ => accepts(ctx, ty),
    }
}
