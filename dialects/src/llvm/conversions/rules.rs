//! Verifiers and folds of conversions.

use loomir_ir::opdef::Folded;
use loomir_ir::verifier::op_error;
use loomir_ir::{Attr, Diagnostic, Diagnostics, OpRef, TypeKind};

use crate::arith::fold::{Fold, cast};
use crate::llvm::arithmetic::typed;
use crate::llvm::types::{LlvmType, is_pointer};

/// Checks that pointers are only cast to pointers of the same space.
pub(super) fn verify_bitcast(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let (from, to) = (op.operand_type(0), op.result_type(0));
    let shape = |ty: loomir_ir::Type| match ty.kind(ctx) {
        TypeKind::Vector { shape, scalable, .. } => Some((shape.clone(), scalable.clone())),
        _ => None,
    };
    let (from_scalar, to_scalar) = (from.scalar(ctx), to.scalar(ctx));
    if is_pointer(ctx, from_scalar) != is_pointer(ctx, to_scalar) {
        out.push(op_error(op, "can only cast pointers from and to pointers"));
        return;
    }
    if !is_pointer(ctx, from_scalar) {
        return;
    }
    if shape(from) != shape(to) {
        out.push(op_error(op, "cannot cast between vectors of pointers of different shapes"));
    }
    if from_scalar != to_scalar {
        let message = "cannot cast pointers of different address spaces, use 'llvm.addrspacecast' instead";
        out.push(op_error(op, message));
    }
}

/// Requires a wider integer, or a vector of the same shape.
pub(super) fn verify_extension(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let (from, to) = (op.operand_type(0), op.result_type(0));
    let (from_vector, to_vector) = (from.shape(ctx), to.shape(ctx));
    let message = match (from_vector, to_vector) {
        (Some(_), None) => "input type is a vector but output type is an integer",
        (None, Some(_)) => "input type is an integer but output type is a vector",
        (Some(_), Some(_)) if from.with_scalar(ctx, to.scalar(ctx)) != to => {
            "input and output vectors are of incompatible shape"
        }
        _ if to.scalar(ctx).integer_width(ctx) <= from.scalar(ctx).integer_width(ctx) => {
            "integer width of the output type is smaller or equal to the integer width of the input type"
        }
        _ => return,
    };
    out.push(Diagnostic::error(op.loc(), message));
}

/// Folds a cast to the operand's own type, and a cast that undoes a cast by the same operation.
pub(super) fn fold_bitcast(op: OpRef<'_>, _constants: &[Option<Attr>]) -> Option<Vec<Folded>> {
    let body = op.body();
    let (source, target) = (op.operand(0), op.result_type(0));
    if op.type_of(source) == target {
        return Some(vec![Folded::Value(source)]);
    }
    let inner = body.op_ref(body.defining_op(source)?);
    let back = inner.name() == op.name() && op.type_of(inner.operand(0)) == target;
    // Casting a pointer to another address space and back may lose bits that the other space lacks.
    let lossless = LlvmType::of(op.ctx(), target.scalar(op.ctx())).is_none();
    (back && lossless).then(|| vec![Folded::Value(inner.operand(0))])
}

/// Constants.
pub(super) fn fold_zext(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    cast::extui(op, &typed(op, constants))
}

/// Constants.
pub(super) fn fold_sext(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    cast::extsi(op, &typed(op, constants))
}

/// Constants.
pub(super) fn fold_trunc(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    cast::trunci(op, &typed(op, constants))
}
