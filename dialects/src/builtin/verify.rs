//! Verifiers of `builtin`: the rules that the operation table does not express.

use loomir_ir::verifier::op_error;
use loomir_ir::{Diagnostics, OpRef};

/// Checks that a module's block has no arguments and that its attributes belong to dialects.
pub(super) fn module(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    if op.body().entry_block(op.region(0)).is_some_and(|block| op.body().num_arguments(block) > 0) {
        out.push(op_error(op, "region should have no arguments"));
    }
    for (name, _) in op.attributes().entries(ctx) {
        let name = ctx.str(*name);
        if !name.contains('.') {
            let message = format!("can only contain attributes with dialect-prefixed names, found: '{name}'");
            out.push(op_error(op, message));
        }
    }
}

/// Requires results.
pub(super) fn unrealized_conversion_cast(op: OpRef<'_>, out: &mut Diagnostics) {
    if op.num_results() == 0 {
        out.push(op_error(op, "expected at least one result for cast operation"));
    }
}
