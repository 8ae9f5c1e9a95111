//! Rules of constants and of tables of symbols.

use loomir_ir::verifier::op_error;
use loomir_ir::{
    Attr, AttrKind, Context, Diagnostic, Diagnostics, Loc, OpRef, OperationState, Signedness, Type, TypeKind,
};

use super::{ComdatSelectorOp, ConstantOp};
use crate::arith::constant::is_number_of;
use crate::llvm::types::{self, LlvmType};

/// Checks that the attribute's kind and size fit the type.
pub(super) fn verify(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let Some(value) = op.attr("value") else { return };
    let ty = op.result_type(0);
    let view = LlvmType::of(ctx, ty);
    let message = match value.kind(ctx) {
        AttrKind::String(bytes) => {
            let length = bytes.len() as u64;
            if view == Some(LlvmType::Array { length, element: Type::I8 }) {
                return;
            }
            format!("expected array type of {length} i8 elements for the string constant")
        }
        AttrKind::Array(elements) if matches!(view, Some(LlvmType::Struct(_))) => {
            let Some(LlvmType::Struct(s)) = view else { return };
            let body = s.body.unwrap_or_default();
            if elements.len() != body.len() {
                format!("expected array attribute of size {}", body.len())
            } else if let Some(i) = (0..body.len()).find(|i| elements[*i].ty(ctx) != Some(body[*i])) {
                format!("struct element at index {i} is of wrong type")
            } else {
                return;
            }
        }
        _ if matches!(view, Some(LlvmType::Struct(_))) => "expected array attribute for struct type".into(),
        AttrKind::Integer { .. } | AttrKind::WideInteger { .. } => {
            if !ty.is_signless_integer(ctx) {
                "expected integer type".into()
            } else if is_extended_with_zeros(ctx, value, ty) {
                EXTENDED_WITH_ZEROS.into()
            } else {
                return;
            }
        }
        AttrKind::Float { ty: own, .. } => match (ty.integer_width(ctx), own.kind(ctx)) {
            (None, _) if *own == ty => return,
            (Some(width), TypeKind::Float(kind)) if width == kind.width() => return,
            // MLIR accepts the bits of any float as an integer.
            (Some(_), _) => return,
            _ => "attribute and type have different float semantics".into(),
        },
        AttrKind::DenseElements { ty: own, .. }
        | AttrKind::DenseResource { ty: own, .. }
        | AttrKind::Sparse { ty: own, .. } => match (count(ctx, ty), count(ctx, *own)) {
            (Some(wanted), Some(given)) if wanted == given => return,
            (Some(wanted), Some(given)) => {
                format!("type and attribute have a different number of elements: {wanted} vs. {given}")
            }
            _ => "expected vector or array type".into(),
        },
        AttrKind::Array(_) if matches!(view, Some(LlvmType::Array { .. })) => return,
        AttrKind::Opaque { body, .. } if body.starts_with("undef") || body.starts_with("zero") => return,
        _ => "only supports integer, float, string or elements attributes".into(),
    };
    out.push(op_error(op, message));
}

/// Refuses what [`is_extended_with_zeros`].
pub(super) const EXTENDED_WITH_ZEROS: &str =
    "a number of one bit or of an unsigned type is not extended here; write it with the type of the constant";

/// True if an attribute is a number that MLIR extends with zeros to this type, unlike all others:
/// one bit, or an unsigned type.
pub(super) fn is_extended_with_zeros(ctx: &Context, value: Attr, ty: Type) -> bool {
    let (AttrKind::Integer { ty: own, .. } | AttrKind::WideInteger { ty: own, .. }) = value.kind(ctx) else {
        return false;
    };
    let TypeKind::Integer { width, signedness } = own.kind(ctx) else { return false };
    *own != ty && (*width == 1 || *signedness == Signedness::Unsigned)
}

/// Returns the number of scalars in a vector, tensor or (nested) array. `None` for other types.
fn count(ctx: &Context, ty: Type) -> Option<i64> {
    let mut total = 1i64;
    let mut current = ty;
    let mut shaped = false;
    loop {
        if let Some(LlvmType::Array { length, element }) = LlvmType::of(ctx, current) {
            total = total.checked_mul(i64::try_from(length).ok()?)?;
            current = element;
        } else if let Some(shape) = current.shape(ctx) {
            total = shape.iter().try_fold(total, |n, d| n.checked_mul(*d))?;
            current = current.element(ctx)?;
        } else {
            return shaped.then_some(total);
        }
        shaped = true;
    }
}

/// Checks that a comdat holds only selectors.
pub(super) fn verify_comdat(op: OpRef<'_>, out: &mut Diagnostics) {
    let body = op.body();
    for inner in op.regions().flat_map(|region| body.blocks(region)).flat_map(|block| body.ops(block)) {
        if !body.is(inner, ComdatSelectorOp::DEF) {
            let message = "only comdat selector symbols can appear in a comdat region";
            out.push(Diagnostic::error(body.loc(inner), message));
        }
    }
}

/// Returns a constant operation for an attribute with the type of the result.
pub(crate) fn materialize(ctx: &Context, value: loomir_ir::Attr, ty: Type) -> Option<OperationState> {
    if !is_number_of(ctx, value, ty) || !types::is_compatible(ctx, ty) {
        return None;
    }
    Some(OperationState::of(ctx, ConstantOp::DEF, Loc::UNKNOWN).attr(ctx, "value", value).results(&[ty]))
}
