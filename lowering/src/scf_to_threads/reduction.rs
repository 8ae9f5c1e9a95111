//! Reductions: a loop with results becomes a loop over chunks of iterations, without results.
//!
//! Each chunk combines its iterations, beginning with the neutral element, and stores its results
//! to its own element of a buffer. A loop behind combines them with the initial values, in the
//! order of chunks. The number of chunks does not depend on the number of threads, so the result
//! does not either, also if floats are added.
//!
//! ```text
//!     parallel (c) = 0 .. 256 { partial[c] = sum of a[i] for i in chunk c }
//!     for c in 0 .. 256 { sum = sum + partial[c] }
//! ```
//!
//! Flags that need not hold in another order are dropped.

use loomir_dialects::{arith, memref, scf};
use loomir_ir::{Attr, Body, Builder, Dict, InsertPoint, Loc, Op, OpName, OperationState, Type, Value};
use loomir_transforms::access::updates::Reduction;
use loomir_transforms::access::updates::reduction::{Combining, drop_poison_flags, is_difference};

use super::range::{Counter, Dimension, ENOUGH, emit_for, emit_parallel, emit_yield, end_parallel};
use crate::emit::{Emit, Predicate, replace};
use loomir_dialects::scf::forall::Number;

/// The combination of the results of two iterations: an operation on two values.
pub(super) struct Combination {
    name: OpName,
    loc: Loc,
    properties: Dict,
    attributes: Dict,
    ty: Type,
    neutral: Attr,
}

impl Combination {
    /// Returns the combinations of the results of a parallel loop, whose body ends with `reduce`.
    ///
    /// # Errors
    ///
    /// The reason why another order is not allowed.
    pub(super) fn all(body: &Body, op: Op, reduce: Op) -> Result<Vec<Combination>, &'static str> {
        let regions: Vec<_> = body.own_regions(reduce).collect();
        let fits = regions.len() == body.num_results(op) && regions.len() == body.num_operands(reduce);
        if !body.is(reduce, scf::ReduceOp::DEF) || !fits {
            return Err("its results do not match its reductions");
        }
        let of = |region| {
            let block = body.single_block(region)?;
            let (op, end) = (body.first_op(block)?, body.last_op(block)?);
            let arguments: Vec<Value> = body.arguments(block).collect();
            let operands: Vec<Value> = body.operands(op).collect();
            let is_swapped = operands.iter().rev().eq(&arguments);
            let is_one = body.next_op(op) == Some(end)
                && body.num_results(op) == 1
                && body.operands(end).eq([body.result(op, 0)])
                && (operands == arguments || is_swapped);
            if is_one { Some(op) } else { None }
        };
        let known = |region| {
            let op = of(region).ok_or("one of its reductions is no single operation")?;
            Combination::of(body, op)
        };
        regions.into_iter().map(known).collect()
    }

    fn of(body: &Body, op: Op) -> Result<Combination, &'static str> {
        const ORDER: &str = "the result of one of its reductions depends on the order; \
                             fastmath<reassoc> allows any order of floats";
        let ctx = body.ctx();
        let (reduction, _) = Reduction::of(body, op).ok_or(ORDER)?;
        let has_neutral = match reduction {
            _ if is_difference(body, op) => return Err(ORDER),
            // The neutral element is a NaN or infinite, which these flags may forbid.
            Reduction::Float(Combining::MinNum | Combining::MaxNum, _) => false,
            Reduction::Float(Combining::Minimum | Combining::Maximum, flags) => {
                flags & arith::FASTMATH.value_of("ninf").unwrap_or(u64::MAX) == 0
            }
            _ => true,
        };
        let ty = body.value_type(body.result(op, 0));
        let name = body.op_name(op);
        let neutral = reduction.neutral(ctx, ty).filter(|_| has_neutral);
        Ok(Combination {
            name,
            loc: body.loc(op),
            properties: body.properties(op),
            attributes: body.attributes(op),
            ty,
            neutral: neutral.ok_or("one of its reductions has no neutral element")?,
        })
    }

    /// Emits the combination of two values.
    fn emit(&self, b: &mut Builder<'_>, first: Value, second: Value) -> Value {
        let state = OperationState::named(self.name, self.loc).operands(&[first, second]);
        let mut state = state.results(&[self.ty]);
        (state.properties, state.attributes) = (self.properties, self.attributes);
        let combined = b.value(state);
        if let Some(op) = b.body().defining_op(combined) {
            drop_poison_flags(b.body(), op);
        }
        combined
    }
}

/// Makes a loop with results a loop over chunks, followed by a loop that combines their results.
/// Returns the parallel loop with its counter. `None` if the function has no entry.
pub(super) fn in_chunks(
    body: &mut Body,
    op: Op,
    counter: Counter,
    combinations: &[Combination],
) -> Option<(Op, Counter)> {
    if combinations.is_empty() {
        return Some((op, counter));
    }
    let chunks = counter.total().map_or(ENOUGH, |total| total.min(ENOUGH)) as i64;
    let buffers = buffers(body, op, combinations, chunks)?;
    let inits = scf::ParallelOp(op).initVals(body);
    let [lower, upper, step] = [0, chunks, 1].map(Number::Constant);
    let mut b = Builder::before(body, op);
    let total = counter.emit_total(&mut b);
    let count = b.index(chunks);
    let quotient = b.binary(arith::DivUIOp::DEF, total, count);
    let rest = b.binary(arith::RemUIOp::DEF, total, count);
    let (parallel, block) = emit_parallel(&mut b, &[Dimension { lower, upper, step }], &[]);
    let at = b.set_point(InsertPoint::End(block));
    let chunk = b.body().argument(block, 0);
    let range = range_of(&mut b, chunk, quotient, rest);
    let neutrals: Vec<Value> = combinations.iter().map(|own| b.constant(own.neutral, own.ty)).collect();
    let nest = counter.emit(&mut b, range, &neutrals);
    let results: Vec<Value> = b.body().results(nest.outermost).collect();
    for (result, buffer) in results.iter().zip(&buffers) {
        let state = b.state(memref::StoreOp::DEF).operands(&[*result, *buffer, chunk]);
        b.insert(state);
    }

    // The results of all chunks, one after the other.
    b.set_point(at);
    let (zero, one) = (b.index(0), b.index(1));
    let (combine, inside) = emit_for(&mut b, [zero, count], one, &inits);
    b.set_point(InsertPoint::End(inside));
    let chunk = b.body().argument(inside, 0);
    let mut combined = Vec::with_capacity(inits.len());
    for (index, (own, buffer)) in combinations.iter().zip(&buffers).enumerate() {
        let so_far = b.body().argument(inside, index + 1);
        let state = b.state(memref::LoadOp::DEF).operands(&[*buffer, chunk]).results(&[own.ty]);
        let partial = b.value(state);
        combined.push(own.emit(&mut b, so_far, partial));
    }
    emit_yield(&mut b, &combined);

    fill(body, op, &counter, (nest.block, &nest.variables), combinations)?;
    end_parallel(body, block);
    let results: Vec<Value> = body.results(combine).collect();
    replace(body, op, &results);
    let counter = Counter::of(body, vec![[lower, upper, step]]).ok()?;
    Some((parallel, counter))
}

/// Returns a buffer for each result, with an element for each chunk. It is on the stack of the
/// whole function, because the loop may run many times.
fn buffers(body: &mut Body, op: Op, combinations: &[Combination], chunks: i64) -> Option<Vec<Value>> {
    let (ctx, loc) = (body.ctx().clone(), body.loc(op));
    let entry = body.entry_block(body.region(body.root(), 0))?;
    let mut b = Builder::new(body, InsertPoint::Start(entry));
    b.set_loc(loc);
    let buffer = |own: &Combination| {
        let mut state = b.state(memref::AllocaOp::DEF).results(&[ctx.memref_type(&[chunks], own.ty)]);
        state.set_segments(&ctx, &[0, 0]);
        b.value(state)
    };
    Some(combinations.iter().map(buffer).collect())
}

/// Emits the range of a chunk. The first chunks have one iteration more than the others.
fn range_of(b: &mut Builder<'_>, chunk: Value, quotient: Value, rest: Value) -> [Value; 2] {
    let (zero, one) = (b.index(0), b.index(1));
    let before = b.binary(arith::MulIOp::DEF, chunk, quotient);
    let longer = b.binary(arith::MinUIOp::DEF, chunk, rest);
    let low = b.binary(arith::AddIOp::DEF, before, longer);
    let is_longer = b.compare(Predicate::Ult, chunk, rest);
    let more = b.select(is_longer, one, zero);
    let high = b.binary(arith::AddIOp::DEF, low, quotient);
    [low, b.binary(arith::AddIOp::DEF, high, more)]
}

/// Moves the body of the loop `op` into a loop over the counter. The other dimensions stay a
/// parallel loop inside.
fn fill(
    body: &mut Body,
    op: Op,
    counter: &Counter,
    (block, variables): (loomir_ir::Block, &[Value]),
    combinations: &[Combination],
) -> Option<()> {
    let entry = body.single_block(body.region(op, 0))?;
    let loc = body.loc(op);
    let carried: Vec<Value> = body.arguments(block).skip(1).collect();
    let mut b = Builder::new(body, InsertPoint::End(block));
    b.set_loc(loc);
    if !counter.others().is_empty() {
        let (inner, inside) = emit_parallel(&mut b, counter.others(), &carried);
        let results: Vec<Value> = b.body().results(inner).collect();
        emit_yield(&mut b, &results);
        let own: Vec<Value> = body.arguments(inside).collect();
        body.inline_block(entry, inside, None, &[variables, &own].concat());
        let regions = body.own_regions(body.last_op(inside)?);
        let steps = regions.filter_map(|region| body.first_op(body.single_block(region)?));
        for step in steps.collect::<Vec<Op>>() {
            drop_poison_flags(body, step);
        }
        return Some(());
    }
    body.inline_block(entry, block, None, variables);
    let reduce = body.last_op(block)?;
    let contributed: Vec<Value> = body.operands(reduce).collect();
    let mut b = Builder::before(body, reduce);
    let pairs = combinations.iter().zip(carried).zip(contributed);
    let combined: Vec<Value> = pairs.map(|((own, so_far), new)| own.emit(&mut b, so_far, new)).collect();
    emit_yield(&mut b, &combined);
    body.erase(reduce);
    Some(())
}
