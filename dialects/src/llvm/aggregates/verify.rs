//! Rules of operations on parts of values.

use loomir_ir::text::type_to_string;
use loomir_ir::verifier::op_error;
use loomir_ir::{Diagnostics, OpRef, Type, TypeKind};

use crate::llvm::types::{self, Step};

/// Returns the type of the part that an operation names. Reports an invalid position.
fn part(op: OpRef<'_>, out: &mut Diagnostics) -> Option<Type> {
    let ctx = op.ctx();
    let position = op.attr("position").and_then(|a| a.as_dense_ints(ctx)).unwrap_or_default();
    let message = match types::part(ctx, op.operand_type(0), &position) {
        Ok(ty) => return Some(ty),
        Err(Step::OutOfBounds(index)) => format!("position out of bounds: {index}"),
        Err(Step::NoAggregate(ty)) => {
            format!("expected LLVM IR structure/array type, got: '{}'", type_to_string(ctx, ty))
        }
    };
    out.push(op_error(op, message));
    None
}

/// Checks that the result has the type of the part.
pub(super) fn verify_extract(op: OpRef<'_>, out: &mut Diagnostics) {
    let Some(part) = part(op, out) else { return };
    if part != op.result_type(0) {
        let name = |ty| type_to_string(op.ctx(), ty);
        let (container, part, result) = (name(op.operand_type(0)), name(part), name(op.result_type(0)));
        let message = format!(
            "Type mismatch: extracting from '{container}' should produce '{part}' but this op returns '{result}'"
        );
        out.push(op_error(op, message));
    }
}

/// Checks that the value has the type of the part.
pub(super) fn verify_insert(op: OpRef<'_>, out: &mut Diagnostics) {
    let Some(part) = part(op, out) else { return };
    if part != op.operand_type(1) {
        let name = |ty| type_to_string(op.ctx(), ty);
        let (container, value) = (name(op.operand_type(0)), name(op.operand_type(1)));
        out.push(op_error(op, format!("Type mismatch: cannot insert '{value}' into '{container}'")));
    }
}

/// Checks that the result is as long as the mask and that the mask's numbers are in range. Scalable
/// vectors are only broadcast.
pub(super) fn verify_shuffle(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let mask = op.attr("mask").and_then(|a| a.as_dense_ints(ctx)).unwrap_or_default();
    let (TypeKind::Vector { shape, scalable, element }, TypeKind::Vector { shape: result, element: own, .. }) =
        (op.operand_type(0).kind(ctx), op.result_type(0).kind(ctx))
    else {
        return;
    };
    if scalable.contains(&true) && mask.iter().any(|n| *n != 0) {
        out.push(op_error(op, "expected a splat operation for scalable vectors"));
    }
    if **result != [mask.len() as i64] || own != element {
        let result = type_to_string(ctx, op.result_type(0));
        let message =
            format!("expected a result of {} elements of the operands' type, got '{result}'", mask.len());
        out.push(op_error(op, message));
    }
    let length = shape.first().copied().unwrap_or(0);
    if let Some(number) = mask.iter().find(|n| **n < -1 || **n >= 2 * length) {
        out.push(op_error(op, format!("mask element {number} is out of range for two vectors of {length}")));
    }
}
