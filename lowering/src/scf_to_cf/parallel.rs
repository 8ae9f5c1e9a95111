//! `scf.parallel` and `scf.forall` as nests of `scf.for`: the sequential order, outermost dimension
//! first.
//!
//! Reductions become carried values: each iteration combines its contribution with the result so
//! far, by the region of `scf.reduce` inlined in its place.

use loomir_dialects::scf;
use loomir_dialects::scf::forall::{self, Number};
use loomir_ir::{Block, Body, Builder, Diagnostic, InsertPoint, Op, Type, Value};

use crate::emit::{Emit, malformed, replace};

/// Loops inside each other.
pub(super) struct Nest {
    pub(super) outermost: Op,
    pub(super) innermost: Op,
}

/// The bounds of one dimension.
struct Dimension {
    lower: Value,
    upper: Value,
    step: Value,
}

/// Converts bounds by kind to bounds by dimension.
fn dimensions(lowers: Vec<Value>, uppers: Vec<Value>, steps: Vec<Value>) -> Vec<Dimension> {
    let pairs = lowers.into_iter().zip(uppers).zip(steps);
    pairs.map(|((lower, upper), step)| Dimension { lower, upper, step }).collect()
}

/// Creates nested loops before `op` that carry `inits`. Returns the loops, the innermost body
/// without a terminator, and the induction variables.
fn make_nest(
    body: &mut Body,
    op: Op,
    dimensions: &[Dimension],
    inits: &[Value],
) -> Result<(Nest, Block, Vec<Value>), Diagnostic> {
    let types: Vec<Type> = inits.iter().map(|v| body.value_type(*v)).collect();
    let mut b = Builder::before(body, op);
    let mut carried = inits.to_vec();
    let mut variables = Vec::with_capacity(dimensions.len());
    let mut so_far: Option<(Nest, Block)> = None;
    for dimension in dimensions {
        let state = b
            .state(scf::ForOp::DEF)
            .operands(&[dimension.lower, dimension.upper, dimension.step])
            .operands(&carried)
            .results(&types);
        let innermost = b.insert(state);
        if so_far.is_some() {
            // The surrounding loop yields the results of this one.
            let results: Vec<Value> = b.body().results(innermost).collect();
            let state = b.state(scf::YieldOp::DEF).operands(&results);
            b.insert(state);
        }
        let region = b.body().region(innermost, 0);
        let arguments: Vec<Type> =
            [b.type_of(dimension.lower)].into_iter().chain(types.iter().copied()).collect();
        let block = b.body().append_block(region, &arguments);
        variables.push(b.body().argument(block, 0));
        carried = b.body().arguments(block).skip(1).collect();
        let outermost = so_far.map_or(innermost, |(nest, _)| nest.outermost);
        so_far = Some((Nest { outermost, innermost }, block));
        b.set_point(InsertPoint::End(block));
    }
    match so_far {
        Some((nest, block)) => Ok((nest, block, variables)),
        None => Err(malformed(body, op)),
    }
}

/// Replaces `scf.parallel` by loops.
pub(super) fn parallel_to_for(body: &mut Body, op: Op) -> Result<Nest, Diagnostic> {
    let old = scf::ParallelOp(op);
    let (lowers, uppers, steps) = (old.lowerBound(body), old.upperBound(body), old.step(body));
    let inits = old.initVals(body);
    let entry = body.single_block(body.region(op, 0)).ok_or_else(|| malformed(body, op))?;
    let reduce = body.last_op(entry).filter(|t| body.is(*t, scf::ReduceOp::DEF));
    let Some(reduce) = reduce.filter(|reduce| {
        uppers.len() == lowers.len()
            && steps.len() == lowers.len()
            && body.num_arguments(entry) == lowers.len()
            && body.num_operands(*reduce) == inits.len()
            && body.own_regions(*reduce).len() == inits.len()
    }) else {
        return Err(malformed(body, op));
    };
    let (nest, innermost, variables) = make_nest(body, op, &dimensions(lowers, uppers, steps), &inits)?;
    body.inline_block(entry, innermost, None, &variables);

    // The reductions follow the body.
    let carried: Vec<Value> = body.arguments(innermost).skip(1).collect();
    let contributed: Vec<Value> = body.operands(reduce).collect();
    let mut combined = Vec::with_capacity(inits.len());
    for (index, (so_far, new)) in carried.into_iter().zip(contributed).enumerate() {
        let block = body.single_block(body.region(reduce, index));
        let terminator = block.and_then(|block| body.last_op(block));
        let ends = terminator.filter(|t| body.is(*t, scf::ReduceReturnOp::DEF) && body.num_operands(*t) == 1);
        let (Some(block), Some(ends)) = (block, ends) else { return Err(malformed(body, op)) };
        body.inline_block(block, innermost, Some(reduce), &[so_far, new]);
        combined.push(body.operand(ends, 0));
        body.erase(ends);
    }
    replace_terminator(body, reduce, &combined);

    let results: Vec<Value> = body.results(nest.outermost).collect();
    replace(body, op, &results);
    Ok(nest)
}

/// Puts `scf.yield` in place of the operation that ended a parallel body.
fn replace_terminator(body: &mut Body, terminator: Op, operands: &[Value]) {
    let mut b = Builder::before(body, terminator);
    let state = b.state(scf::YieldOp::DEF).operands(operands);
    b.insert(state);
    body.erase(terminator);
}

/// Replaces `scf.forall` by loops.
pub(super) fn forall_to_for(body: &mut Body, op: Op) -> Result<Nest, Diagnostic> {
    let parallel = forall_to_parallel(body, op)?;
    parallel_to_for(body, parallel)
}

/// Replaces `scf.forall` by `scf.parallel`.
pub(crate) fn forall_to_parallel(body: &mut Body, op: Op) -> Result<Op, Diagnostic> {
    let entry = body.single_block(body.region(op, 0)).ok_or_else(|| malformed(body, op))?;
    let terminator = body.last_op(entry).filter(|t| body.is(*t, scf::InParallelOp::DEF));
    let terminator = terminator.ok_or_else(|| malformed(body, op))?;
    let combines = body.own_regions(terminator).any(|r| body.blocks(r).any(|b| body.first_op(b).is_some()));
    if body.num_results(op) > 0 || combines {
        return Err(Diagnostic::error(body.loc(op), "'scf.forall' on tensors cannot be lowered")
            .help("bufferize the program first"));
    }
    let dimensions = forall::dimensions(body.op_ref(op));
    if dimensions.len() != body.num_arguments(entry) {
        return Err(malformed(body, op));
    }
    let mut b = Builder::before(body, op);
    let mut operands = Vec::with_capacity(3 * dimensions.len());
    for part in 0..3 {
        operands.extend(dimensions.iter().map(|own| match own[part] {
            Number::Value(value) => value,
            Number::Constant(number) => b.index(number),
        }));
    }
    let (ctx, count) = (b.ctx(), dimensions.len() as i64);
    let mut state = b.state(scf::ParallelOp::DEF).operands(&operands);
    state.set_segments(&ctx, &[count, count, count, 0]);
    let parallel = b.insert(state);
    body.move_blocks(body.region(op, 0), body.region(parallel, 0));
    let mut b = Builder::before(body, terminator);
    let state = b.state(scf::ReduceOp::DEF);
    b.insert(state);
    body.erase(terminator);
    body.erase(op);
    Ok(parallel)
}
