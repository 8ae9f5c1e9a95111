//! Conditionals around loops: a loop that runs under a condition, or only if it has an iteration.

use loomir_dialects::interfaces::{Bound, LoopBounds, LoopLike, Subscripts};
use loomir_dialects::{affine, scf};
use loomir_ir::{AttrKind, Body, Builder, InsertPoint, Op, OpDef, Type, Value};

use super::overlap::Make;

/// The second side of a conditional around a loop.
pub(crate) enum Otherwise {
    /// It runs this operation, which stands nowhere and has results of the same types.
    Runs(Op),
    /// It has these results.
    Is(Vec<Value>),
}

/// Moves a loop into the first side of an `scf.if`, and returns that conditional.
pub(crate) fn run_if(body: &mut Body, loop_op: Op, condition: Value, otherwise: Otherwise) -> Op {
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
/// initial values. Returns the conditional; `None` if the operation is no loop with one counter.
pub(crate) fn guard(body: &mut Body, loop_op: Op) -> Option<Op> {
    let view = body.op_ref(loop_op);
    let model = view.info().interface::<dyn LoopLike>()?;
    let (LoopBounds { lower, upper, .. }, inits) = (model.bounds(view), model.inits(view));
    let predicate = if model.is_unsigned(view) { "ult" } else { "slt" };
    let mut builder = Builder::before(body, loop_op);
    let lower = bound(&mut builder, lower, affine::MaxOp::DEF);
    let upper = bound(&mut builder, upper, affine::MinOp::DEF);
    let runs = builder.compare(predicate, [lower, upper]);
    Some(run_if(body, loop_op, runs, Otherwise::Is(inits)))
}

/// Computes a bound of a loop. `of_several` chooses among the results of a map.
fn bound(builder: &mut Builder<'_>, bound: Bound, of_several: &'static OpDef) -> Value {
    let Subscripts { map, operands } = match bound {
        Bound::Value(value) => return value,
        Bound::Map(subscripts) => subscripts,
    };
    let ctx = builder.ctx();
    if let Some(number) = map.as_single_constant(&ctx) {
        return builder.index(number);
    }
    let is_one = map.data(&ctx).results.len() == 1;
    let def = if is_one { affine::ApplyOp::DEF } else { of_several };
    let attrs = [("map", ctx.attr(AttrKind::AffineMap(map)))];
    let op = builder.build(def, &[&operands], &attrs, &[Type::INDEX]);
    builder.body().result(op, 0)
}
