//! Loops that carry one more value, and loops that run under a condition.

use loomir_dialects::interfaces::{Bound, LoopBounds, LoopLike, Subscripts};
use loomir_dialects::{affine, scf};
use loomir_ir::{AttrKind, Body, Builder, InsertPoint, Op, OpDef, OperationState, Type, Value};

use crate::regenerate::overlap::Make;

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

/// The second side of a conditional around a loop.
pub(super) enum Otherwise {
    /// It runs this operation, which stands nowhere and has results of the same types.
    Runs(Op),
    /// It has these results.
    Is(Vec<Value>),
}

/// Moves a loop into the first side of an `scf.if`, and returns that conditional.
pub(super) fn run_if(body: &mut Body, loop_op: Op, condition: Value, otherwise: Otherwise) -> Op {
    let results: Vec<Value> = body.results(loop_op).collect();
    let types: Vec<Type> = results.iter().map(|value| body.value_type(*value)).collect();
    let mut builder = Builder::before(body, loop_op);
    let state = builder.state(scf::IfOp::DEF).operands(&[condition]).results(&types);
    let around = builder.insert(state);
    for (old, new) in results.iter().zip(body.results(around)) {
        body.replace_all_uses(*old, new);
    }
    body.detach(loop_op);
    fill(body, around, 0, Some(loop_op), &results);
    match otherwise {
        Otherwise::Runs(op) => {
            let results: Vec<Value> = body.results(op).collect();
            fill(body, around, 1, Some(op), &results);
        }
        Otherwise::Is(values) if !values.is_empty() => fill(body, around, 1, None, &values),
        Otherwise::Is(_) => {}
    }
    around
}

/// Fills a side of a conditional with an operation that stands nowhere, and yields values.
fn fill(body: &mut Body, conditional: Op, side: usize, op: Option<Op>, yielded: &[Value]) {
    let loc = body.loc(conditional);
    let block = body.append_block(body.region(conditional, side), &[]);
    let mut builder = Builder::new(body, InsertPoint::End(block));
    builder.set_loc(loc);
    op.into_iter().for_each(|op| builder.place(op));
    builder.build(scf::YieldOp::DEF, &[yielded], &[], &[]);
}

/// Moves a loop into an `scf.if` that runs it if it has an iteration. Else its results are its
/// initial values.
pub(super) fn guard(body: &mut Body, loop_op: Op) {
    let view = body.op_ref(loop_op);
    let Some(model) = view.info().interface::<dyn LoopLike>() else { return };
    let (LoopBounds { lower, upper, .. }, inits) = (model.bounds(view), model.inits(view));
    let predicate = if model.is_unsigned(view) { "ult" } else { "slt" };
    let mut builder = Builder::before(body, loop_op);
    let lower = bound(&mut builder, lower, affine::MaxOp::DEF);
    let upper = bound(&mut builder, upper, affine::MinOp::DEF);
    let runs = builder.compare(predicate, [lower, upper]);
    run_if(body, loop_op, runs, Otherwise::Is(inits));
}

/// Computes a bound of a loop. `of_several` chooses among the results of a map.
fn bound(builder: &mut Builder<'_>, bound: Bound, of_several: &'static OpDef) -> Value {
    let Subscripts { map, operands } = match bound {
        Bound::Value(value) => return value,
        Bound::Map(subscripts) => subscripts,
    };
    let ctx = builder.ctx();
    let is_one = map.data(&ctx).results.len() == 1;
    let def = if is_one { affine::ApplyOp::DEF } else { of_several };
    let attrs = [("map", ctx.attr(AttrKind::AffineMap(map)))];
    let op = builder.build(def, &[&operands], &attrs, &[Type::INDEX]);
    builder.body().result(op, 0)
}
