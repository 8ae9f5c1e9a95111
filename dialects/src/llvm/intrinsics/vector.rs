//! Intrinsics that make vectors, and accesses to some elements of a vector.

use loomir_ir::{
    Context, Diagnostics, OpRef, Type, TypeKind, dialect, opdef::TypeConstraint, verifier::op_error,
};

use crate::llvm::constraints::{IntegerVector, LlvmType, LlvmVector, Pointer};
use crate::llvm::types::{is_pointer, is_vector};

/// A vector of `i1`.
#[allow(non_upper_case_globals)]
const Mask: TypeConstraint = TypeConstraint::Where(
    std::borrow::Cow::Borrowed("LLVM dialect-compatible vector of 1-bit signless integer"),
    |ctx, ty| is_vector(ctx, ty) && ty.scalar(ctx) == Type::I1,
);

/// A vector of pointers.
#[allow(non_upper_case_globals)]
const Pointers: TypeConstraint = TypeConstraint::Where(
    std::borrow::Cow::Borrowed("LLVM dialect-compatible vector of LLVM pointer type"),
    |ctx, ty| is_vector(ctx, ty) && is_pointer(ctx, ty.scalar(ctx)),
);

dialect! {
    /// Intrinsics that make vectors, and accesses to some elements of a vector.
    pub VECTOR_INTRINSICS = "llvm" {}

    /// Reads the elements where the mask is true. The others are those of `pass_thru`.
    MaskedLoadOp = "intr.masked.load" {
        operands { data: One Pointer, mask: One Mask, pass_thru: Variadic LlvmType }
        results { res: One LlvmVector }
        attrs { alignment: Required Integer(32), nontemporal: Optional Unit }
        format "operands attr-dict `:` functional-type(operands, results)"
        verify_signature verify_load;
    }

    /// Writes the elements where the mask is true.
    MaskedStoreOp = "intr.masked.store" {
        operands { value: One LlvmVector, data: One Pointer, mask: One Mask }
        attrs { alignment: Required Integer(32) }
        format "$value `,` $data `,` $mask attr-dict `:` type($value) `,` type($mask) `into` qualified(type($data))"
        verify_signature verify_store;
    }

    /// Reads an element at each pointer, where the mask is true. The others are those of
    /// `pass_thru`.
    MaskedGatherOp = "intr.masked.gather" {
        operands { ptrs: One Pointers, mask: One Mask, pass_thru: Variadic LlvmType }
        results { res: One LlvmVector }
        attrs { alignment: Required Integer(32) }
        format "operands attr-dict `:` functional-type(operands, results)"
        verify_signature verify_load;
    }

    /// Writes an element at each pointer, where the mask is true, the first one first.
    MaskedScatterOp = "intr.masked.scatter" {
        operands { value: One LlvmVector, ptrs: One Pointers, mask: One Mask }
        attrs { alignment: Required Integer(32) }
        format "$value `,` $ptrs `,` $mask attr-dict `:` type($value) `,` type($mask) `into` type($ptrs)"
        verify_signature verify_store;
    }

    /// Reads as many neighbouring elements as the mask has true ones, and spreads them there. The
    /// others are those of `passthru`.
    MaskedExpandLoadOp = "intr.masked.expandload" {
        operands { ptr: One Pointer, mask: One Mask, passthru: One LlvmVector }
        results { res: One SameAs("passthru") }
        attrs { arg_attrs: Optional Array, res_attrs: Optional Array }
        verify_signature verify_load;
    }

    /// Writes the elements whose mask is true to neighbouring places.
    MaskedCompressStoreOp = "intr.masked.compressstore" {
        operands { value: One LlvmVector, ptr: One Pointer, mask: One Mask }
        attrs { arg_attrs: Optional Array, res_attrs: Optional Array }
        verify_signature verify_store;
    }

    /// 0, 1, 2, …
    StepVectorOp = "intr.stepvector" {
        results { res: One IntegerVector }
        traits [Pure]
        format "attr-dict `:` type($res)"
    }

    /// The elements of two vectors in turn.
    VectorInterleave2Op = "intr.vector.interleave2" {
        operands { vec1: One LlvmVector, vec2: One SameAs("vec1") }
        results { res: One LlvmVector }
        traits [Pure]
        verify_signature verify_interleave;
    }
}

/// Returns the number of elements, and true if it is multiplied by the machine's vector scale.
fn length(ctx: &Context, ty: Type) -> Option<(i64, bool)> {
    match ty.kind(ctx) {
        TypeKind::Vector { shape, scalable, .. } => match (&shape[..], &scalable[..]) {
            ([size], [scales]) => Some((*size, *scales)),
            _ => None,
        },
        _ => None,
    }
}

fn check(op: OpRef<'_>, own: Type, others: &[Type], out: &mut Diagnostics) -> bool {
    let same = others.iter().all(|other| length(op.ctx(), *other) == length(op.ctx(), own));
    if !same {
        out.push(op_error(op, "requires vectors of one length"));
    }
    same
}

/// Checks that the mask, the pointers and the other elements fit the result.
fn verify_load(op: OpRef<'_>, out: &mut Diagnostics) {
    let result = op.result_type(0);
    let mut others = vec![op.operand_type(1)];
    if !is_pointer(op.ctx(), op.operand_type(0)) {
        others.push(op.operand_type(0));
    }
    let passed: Vec<Type> = op.operands().skip(2).map(|value| op.type_of(value)).collect();
    if check(op, result, &others, out) && (passed.len() > 1 || passed.iter().any(|ty| *ty != result)) {
        out.push(op_error(op, "requires at most one vector of other elements, of the type of the result"));
    }
}

/// Checks that the mask and the pointers fit the value.
fn verify_store(op: OpRef<'_>, out: &mut Diagnostics) {
    let mut others = vec![op.operand_type(2)];
    if !is_pointer(op.ctx(), op.operand_type(1)) {
        others.push(op.operand_type(1));
    }
    check(op, op.operand_type(0), &others, out);
}

/// Checks that the result is twice as long.
fn verify_interleave(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let (own, result) = (length(ctx, op.operand_type(0)), length(ctx, op.result_type(0)));
    let fits = own
        .zip(result)
        .is_some_and(|(own, result)| own.1 == result.1 && own.0.checked_mul(2) == Some(result.0));
    if !fits || op.operand_type(0).scalar(ctx) != op.result_type(0).scalar(ctx) {
        out.push(op_error(op, "requires a result of the same elements, twice as long"));
    }
}
