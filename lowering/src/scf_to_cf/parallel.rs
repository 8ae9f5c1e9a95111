//! `scf.parallel` and `scf.forall` as nests of `scf.for`: the sequential order, outermost dimension first.
//!
//! Reductions become carried values: each instance combines what it contributes with what came before, by the region of
//! `scf.reduce` written out in place of it.

use loomir_dialects::scf;
use loomir_ir::{Block, Body, Builder, DYNAMIC, Diagnostic, InsertPoint, Op, Type, Value};

use super::{malformed, replace};
use crate::emit::Emit;

/// The bounds of one dimension.
struct Dimension {
    lower: Value,
    upper: Value,
    step: Value,
}

/// Makes nested loops before `op` that carry `inits`. Returns the outermost loop, the innermost body, which has no
/// terminator yet, and the induction variables.
fn make_nest(
    body: &mut Body,
    op: Op,
    dimensions: &[Dimension],
    inits: &[Value],
) -> Option<(Op, Block, Vec<Value>)> {
    let types: Vec<Type> = inits.iter().map(|v| body.value_type(*v)).collect();
    let loc = body.loc(op);
    let mut b = Builder::before(body, op);
    let mut carried = inits.to_vec();
    let (mut outermost, mut innermost, mut variables) = (None, None, Vec::new());
    for dimension in dimensions {
        let state = b
            .state(scf::ForOp::DEF)
            .operands(&[dimension.lower, dimension.upper, dimension.step])
            .operands(&carried)
            .results(&types);
        let nest = b.insert(state);
        if let Some(outer) = innermost {
            // The loop around yields what this one results in.
            let results: Vec<Value> = b.body().results(nest).collect();
            b.set_point(InsertPoint::End(outer));
            let state = b.state(scf::YieldOp::DEF).operands(&results);
            b.insert(state);
        }
        outermost = outermost.or(Some(nest));
        let region = b.body().region(nest, 0);
        let arguments: Vec<Type> =
            [b.type_of(dimension.lower)].into_iter().chain(types.iter().copied()).collect();
        let block = b.body().append_block(region, &arguments);
        variables.push(b.body().argument(block, 0));
        carried = b.body().arguments(block).skip(1).collect();
        innermost = Some(block);
        b.set_point(InsertPoint::End(block));
        b.set_loc(loc);
    }
    Some((outermost?, innermost?, variables))
}

/// Replaces `scf.parallel` by loops; returns the outermost.
pub(super) fn parallel_to_for(body: &mut Body, op: Op) -> Result<Op, Diagnostic> {
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
    let dimensions: Vec<Dimension> = lowers
        .into_iter()
        .zip(uppers)
        .zip(steps)
        .map(|((lower, upper), step)| Dimension { lower, upper, step })
        .collect();
    let Some((outermost, innermost, variables)) = make_nest(body, op, &dimensions, &inits) else {
        return Err(malformed(body, op));
    };
    body.inline_block(entry, innermost, None, &variables);

    // The reductions, written out behind the body.
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
    let mut b = Builder::before(body, reduce);
    let state = b.state(scf::YieldOp::DEF).operands(&combined);
    b.insert(state);
    body.erase(reduce);

    let results: Vec<Value> = body.results(outermost).collect();
    replace(body, op, &results);
    Ok(outermost)
}

/// Replaces `scf.forall` by loops and returns the outermost; `None` if it has no dimension, and its body simply stands there.
pub(super) fn forall_to_for(body: &mut Body, op: Op) -> Result<Option<Op>, Diagnostic> {
    let old = scf::ForallOp(op);
    let entry = body.single_block(body.region(op, 0)).ok_or_else(|| malformed(body, op))?;
    let terminator = body.last_op(entry).filter(|t| body.is(*t, scf::InParallelOp::DEF));
    let terminator = terminator.ok_or_else(|| malformed(body, op))?;
    let combines = body.own_regions(terminator).any(|r| body.blocks(r).any(|b| body.first_op(b).is_some()));
    if body.num_results(op) > 0 || combines {
        return Err(Diagnostic::error(body.loc(op), "'scf.forall' on tensors cannot be lowered")
            .help("bufferize the program first"));
    }
    let ctx = body.ctx().clone();
    let (lowers, uppers, steps) =
        (old.dynamicLowerBound(body), old.dynamicUpperBound(body), old.dynamicStep(body));
    let statics = |name: &str| body.attr(op, name).and_then(|a| a.as_dense_ints(&ctx)).unwrap_or_default();
    let mixed = [
        (statics("staticLowerBound"), lowers),
        (statics("staticUpperBound"), uppers),
        (statics("staticStep"), steps),
    ];
    let rank = body.num_arguments(entry);
    let mut b = Builder::before(body, op);
    let mut values = Vec::with_capacity(3);
    for (statics, dynamics) in mixed {
        let mut dynamics = dynamics.into_iter();
        let all: Option<Vec<Value>> = statics
            .into_iter()
            .map(|n| if n == DYNAMIC { dynamics.next() } else { Some(b.index(n)) })
            .collect();
        values.push(all.filter(|all| all.len() == rank));
    }
    let (Some(Some(steps)), Some(Some(uppers)), Some(Some(lowers))) =
        (values.pop(), values.pop(), values.pop())
    else {
        return Err(malformed(body, op));
    };
    let dimensions: Vec<Dimension> = lowers
        .into_iter()
        .zip(uppers)
        .zip(steps)
        .map(|((lower, upper), step)| Dimension { lower, upper, step })
        .collect();
    let outermost = match make_nest(body, op, &dimensions, &[]) {
        Some((outermost, innermost, variables)) => {
            body.inline_block(entry, innermost, None, &variables);
            let mut b = Builder::before(body, terminator);
            let state = b.state(scf::YieldOp::DEF);
            b.insert(state);
            body.erase(terminator);
            Some(outermost)
        }
        None => return Err(malformed(body, op)),
    };
    body.erase(op);
    Ok(outermost)
}
