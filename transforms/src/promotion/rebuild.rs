//! Loops that carry one more value.

use loomir_ir::{Body, Builder, Op, OperationState, Value};

/// Replaces a loop by one that carries another value, `init` at first. Returns the loop and the
/// value in its block. The terminator does not yield the value yet.
pub(super) fn with_carried(body: &mut Body, loop_op: Op, init: Value) -> (Op, Value) {
    let ctx = body.ctx().clone();
    let ty = body.value_type(init);
    let mut state = OperationState::named(body.op_name(loop_op), body.loc(loop_op)).regions(1);
    state.properties = body.properties(loop_op);
    state.attributes = body.attributes(loop_op);
    state.operands = body.operands(loop_op).chain([init]).collect();
    state.result_types = body.results(loop_op).map(|value| body.value_type(value)).chain([ty]).collect();
    if let Some(sizes) = body.segments(loop_op, false) {
        let mut sizes: Vec<i64> = sizes.collect();
        if let Some(inits) = sizes.last_mut() {
            *inits += 1;
        }
        state.set_segments(&ctx, &sizes);
    }
    let new = Builder::before(body, loop_op).insert(state);
    let (from, to) = (body.region(loop_op, 0), body.region(new, 0));
    body.move_blocks(from, to);
    for (old, new) in body.results(loop_op).zip(body.results(new)) {
        body.replace_all_uses(old, new);
    }
    body.erase(loop_op);
    let block = body.entry_block(to).unwrap_or_else(|| unreachable!("a loop has a block"));
    (new, body.add_argument(block, ty))
}

/// Adds an operand to the terminator of a loop's block.
pub(super) fn yield_also(body: &mut Body, loop_op: Op, value: Value) {
    let block = body.entry_block(body.region(loop_op, 0));
    if let Some(end) = block.and_then(|block| body.terminator(block)) {
        let operands: Vec<Value> = body.operands(end).chain([value]).collect();
        body.set_operands(end, &operands);
    }
}
