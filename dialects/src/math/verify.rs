//! Verifiers of `math`: the rules that the operation table does not express.

use loomir_ir::verifier::op_error;
use loomir_ir::{Diagnostics, OpRef, Type};

/// Checks that base and exponent have one shape.
pub(super) fn fpowi(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let as_bools = |i| op.operand_type(i).with_scalar(ctx, Type::I1);
    if as_bools(0) != as_bools(1) {
        out.push(op_error(op, "requires the same shape for all operands and results"));
    }
}
