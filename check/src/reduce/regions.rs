//! Edits of operations with regions: one iteration in the place of a loop, one side of a
//! conditional.

use loomir_dialects::interfaces::{Bound, Conditional, LoopBounds, LoopLike, ParallelLike};
use loomir_ir::{Body, Loc, Op, OperationState, Region, Type, Value};

/// Puts the first iteration of a loop in its place.
pub(super) fn one_iteration(body: &mut Body, op: Op) -> bool {
    let op_ref = body.op_ref(op);
    let (region, bounds, inits) = if let Some(model) = op_ref.info().interface::<dyn LoopLike>() {
        (model.body(op_ref), vec![model.bounds(op_ref)], model.inits(op_ref))
    } else if let Some(model) = op_ref.info().interface::<dyn ParallelLike>() {
        (model.body(op_ref), model.dimensions(op_ref), Vec::new())
    } else {
        return false;
    };
    let Some(block) = body.single_block(region) else { return false };
    let types: Vec<Type> = body.arguments(block).map(|value| body.value_type(value)).collect();
    let mut arguments = Vec::with_capacity(types.len());
    for (own, ty) in bounds.iter().zip(&types) {
        match first(body, op, own, *ty) {
            Some(value) => arguments.push(value),
            None => return false,
        }
    }
    arguments.extend(inits);
    arguments.len() == types.len() && inline(body, op, region, &arguments)
}

/// Returns the first value of a variable, made in front of a loop if need be.
fn first(body: &mut Body, op: Op, bounds: &LoopBounds, ty: Type) -> Option<Value> {
    let number = match &bounds.lower {
        Bound::Value(value) => return Some(*value),
        Bound::Map(own) => own.map.as_single_constant(body.ctx())?,
    };
    let ctx = body.ctx().clone();
    let mut state = OperationState::new(&ctx, "arith.constant", Loc::UNKNOWN).results(&[ty]);
    state.set_attr(&ctx, "value", ctx.int_attr(ty, number));
    let constant = body.create(state);
    body.insert_before(op, constant);
    Some(body.result(constant, 0))
}

/// Puts a side of a conditional in its place.
pub(super) fn side(body: &mut Body, op: Op, side: usize) -> bool {
    let is_conditional = body.info(op).interface::<dyn Conditional>().is_some();
    let region = body.own_regions(op).nth(side).filter(|_| is_conditional);
    region.is_some_and(|region| inline(body, op, region, &[]))
}

/// Moves the one block of a region in front of its operation, which is erased. Its results become
/// what the block yields.
fn inline(body: &mut Body, op: Op, region: Region, arguments: &[Value]) -> bool {
    let (Some(block), Some(around)) = (body.single_block(region), body.block_of(op)) else { return false };
    let Some(end) = body.terminator(block) else { return false };
    let yielded: Vec<Value> = body.operands(end).collect();
    let results: Vec<Value> = body.results(op).collect();
    if yielded.len() != results.len() || body.own_regions(end).len() > 0 {
        return false;
    }
    // A value that is an argument of the block becomes what is passed for it.
    let passed: Vec<(Value, Value)> = body.arguments(block).zip(arguments.iter().copied()).collect();
    let settled = |value: Value| {
        passed.iter().find(|(argument, _)| *argument == value).map_or(value, |(_, passed)| *passed)
    };
    for (result, value) in results.iter().zip(&yielded) {
        body.replace_all_uses(*result, settled(*value));
    }
    body.erase(end);
    body.inline_block(block, around, Some(op), arguments);
    body.erase(op);
    true
}
