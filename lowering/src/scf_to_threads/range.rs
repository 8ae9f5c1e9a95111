//! One counter for several dimensions of a parallel loop.
//!
//! The counter numbers iterations in lexicographic order, from 0. A part of its range is a nest of
//! loops whose bounds are clamped to that part, so that only two divisions a loop are needed:
//!
//! ```text
//!     for x in lo / s .. ceil(hi / s) {                      s: iterations of the inner dimensions
//!       for y in max(lo - x * s, 0) .. min(hi - x * s, s) { … } }
//! ```
//!
//! A counter of one dimension is an unsigned number of 64 bits, because a trip count may be any.
//! With several dimensions, all trip counts are constants, and their product is a signed number.

use loomir_dialects::scf::forall::Number;
use loomir_dialects::{arith, scf};
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Attr, Block, Body, Builder, InsertPoint, Op, Type, Value};

use crate::emit::{Emit, Predicate};

/// Dimensions share a counter until it has so many iterations: more than there are threads, with
/// little left over for the last one.
pub(super) const ENOUGH: u64 = 256;

/// A dimension of a loop.
#[derive(Clone, Copy)]
pub(super) struct Dimension {
    pub(super) lower: Number,
    pub(super) upper: Number,
    pub(super) step: Number,
}

impl Dimension {
    /// Returns the trip count if it is a constant.
    fn trips(&self) -> Option<u64> {
        let (Number::Constant(lower), Number::Constant(upper), Number::Constant(step)) =
            (self.lower, self.upper, self.step)
        else {
            return None;
        };
        if lower >= upper {
            return Some(0);
        }
        let apart = upper.abs_diff(lower);
        Some(apart.div_ceil(u64::try_from(step).ok().filter(|step| *step > 0)?))
    }
}

/// The dimensions of a loop, the leading ones of which share a counter.
#[derive(Clone)]
pub(super) struct Counter {
    all: Vec<Dimension>,
    /// For each leading dimension, the number of iterations of those behind it.
    inner: Vec<u64>,
    /// The number of iterations, if it is a constant.
    total: Option<u64>,
}

/// A nest of loops under construction.
pub(super) struct Nest {
    /// The outermost loop.
    pub(super) outermost: Op,
    /// The innermost body, without a terminator.
    pub(super) block: Block,
    /// The induction variables.
    pub(super) variables: Vec<Value>,
}

impl Counter {
    /// Chooses the dimensions of a loop that share a counter.
    ///
    /// # Errors
    ///
    /// The reason why there is nothing to share.
    pub(super) fn of(body: &Body, dimensions: Vec<[Number; 3]>) -> Result<Counter, &'static str> {
        let known = |number| match number {
            Number::Value(value) => {
                let constant = constant_of(body, value).and_then(|own| own.as_int(body.ctx()));
                constant.map_or(number, Number::Constant)
            }
            Number::Constant(_) => number,
        };
        let all: Vec<Dimension> = dimensions
            .into_iter()
            .map(|own| own.map(known))
            .map(|[lower, upper, step]| Dimension { lower, upper, step })
            .collect();
        if all.iter().any(|own| matches!(own.step, Number::Constant(..=0))) {
            return Err("a step is not positive");
        }
        let (Some(first), others) = (all.first().map(Dimension::trips), &all[1..]) else {
            return Err("it has no dimension");
        };
        let mut shared = vec![first.unwrap_or(0)];
        let mut total = first;
        for trips in others.iter().map(Dimension::trips) {
            let product = total.filter(|own| *own < ENOUGH).zip(trips);
            let product = product.and_then(|(own, trips)| own.checked_mul(trips));
            let Some(product) = product.filter(|own| i64::try_from(*own).is_ok()) else { break };
            shared.extend(trips);
            total = Some(product);
        }
        match total {
            Some(0) => return Err("it has no iterations"),
            Some(1) => return Err("it has one iteration"),
            _ => {}
        }
        let mut inner = vec![1; shared.len()];
        for at in (1..shared.len()).rev() {
            inner[at - 1] = inner[at] * shared[at];
        }
        Ok(Counter { all, inner, total })
    }

    /// Returns the number of dimensions that share the counter.
    pub(super) fn dimensions(&self) -> usize {
        self.inner.len()
    }

    /// Returns the other dimensions.
    pub(super) fn others(&self) -> &[Dimension] {
        &self.all[self.inner.len()..]
    }

    /// Returns the number of iterations, if it is a constant.
    pub(super) fn total(&self) -> Option<u64> {
        self.total
    }

    /// Returns the values that loops over the counter use, and those of the other dimensions.
    pub(super) fn values(&self) -> impl Iterator<Item = Value> {
        let shared = self.all.iter().take(self.inner.len()).flat_map(|own| [own.lower, own.step]);
        let others = self.others().iter().flat_map(|own| [own.lower, own.upper, own.step]);
        shared.chain(others).filter_map(|number| match number {
            Number::Value(value) => Some(value),
            Number::Constant(_) => None,
        })
    }

    /// Returns the counter with other values.
    pub(super) fn mapped(&self, with: &dyn Fn(Value) -> Value) -> Counter {
        let number = |number| match number {
            Number::Value(value) => Number::Value(with(value)),
            Number::Constant(_) => number,
        };
        let shared = self.inner.len();
        let all = self.all.iter().enumerate().map(|(at, own)| Dimension {
            lower: number(own.lower),
            // The number of iterations is known where the counter is used.
            upper: if at < shared { Number::Constant(0) } else { number(own.upper) },
            step: number(own.step),
        });
        Counter { all: all.collect(), ..self.clone() }
    }

    /// Emits the number of iterations.
    pub(super) fn emit_total(&self, b: &mut Builder<'_>) -> Value {
        if let Some(total) = self.total {
            return b.index(total as i64);
        }
        let Dimension { lower, upper, step } = self.all[0];
        let (lower, upper) = (value(b, lower), value(b, upper));
        let (zero, one) = (b.index(0), b.index(1));
        let is_some = b.compare(Predicate::Slt, lower, upper);
        let apart = b.binary(arith::SubIOp::DEF, upper, lower);
        let apart = b.binary(arith::SubIOp::DEF, apart, one);
        // A step of a loop without iterations may be anything.
        let steps = match step {
            Number::Constant(1) => apart,
            _ => {
                let step = value(b, step);
                let step = b.binary(arith::MaxSIOp::DEF, step, one);
                b.binary(arith::DivUIOp::DEF, apart, step)
            }
        };
        let trips = b.binary(arith::AddIOp::DEF, steps, one);
        b.select(is_some, trips, zero)
    }

    /// Emits loops over the iterations `range` that carry `inits`. Each loop around another yields
    /// its results.
    pub(super) fn emit(&self, b: &mut Builder<'_>, range: [Value; 2], inits: &[Value]) -> Nest {
        let [mut low, mut high] = range;
        let mut carried = inits.to_vec();
        let mut variables = Vec::with_capacity(self.inner.len());
        let mut outermost = None;
        let (around, one) = (b.point(), b.index(1));
        for (at, (own, inner)) in self.all.iter().zip(&self.inner).enumerate() {
            let is_last = at + 1 == self.inner.len();
            let size = (!is_last).then(|| b.index(*inner as i64));
            let bounds = match size {
                None => [low, high],
                Some(size) => {
                    let last = b.binary(arith::AddIOp::DEF, high, size);
                    let last = b.binary(arith::SubIOp::DEF, last, one);
                    [low, last].map(|own| b.binary(arith::DivUIOp::DEF, own, size))
                }
            };
            let (op, block) = emit_for(b, bounds, one, &carried);
            if outermost.is_some() {
                let results: Vec<Value> = b.body().results(op).collect();
                emit_yield(b, &results);
            }
            outermost.get_or_insert((op, block)).1 = block;
            b.set_point(InsertPoint::End(block));
            let count = b.body().argument(block, 0);
            carried = b.body().arguments(block).skip(1).collect();
            variables.push(variable(b, own, count));
            if let Some(size) = size {
                let base = b.binary(arith::MulIOp::DEF, count, size);
                let zero = b.index(0);
                low = b.binary(arith::SubIOp::DEF, low, base);
                low = b.binary(arith::MaxSIOp::DEF, low, zero);
                high = b.binary(arith::SubIOp::DEF, high, base);
                high = b.binary(arith::MinSIOp::DEF, high, size);
            }
        }
        // There is at least one dimension.
        b.set_point(around);
        let (outermost, block) = outermost.unwrap_or_else(|| emit_for(b, range, one, inits));
        Nest { outermost, block, variables }
    }
}

/// Emits a number as a value.
pub(super) fn value(b: &mut Builder<'_>, number: Number) -> Value {
    match number {
        Number::Value(value) => value,
        Number::Constant(number) => b.index(number),
    }
}

/// Emits the induction variable of iteration `count` of a dimension. No intermediate result of a
/// wrapping computation matters.
fn variable(b: &mut Builder<'_>, own: &Dimension, count: Value) -> Value {
    let offset = match own.step {
        Number::Constant(1) => count,
        step => {
            let step = value(b, step);
            b.binary(arith::MulIOp::DEF, count, step)
        }
    };
    match own.lower {
        Number::Constant(0) => offset,
        lower => {
            let lower = value(b, lower);
            b.binary(arith::AddIOp::DEF, lower, offset)
        }
    }
}

/// Emits a loop over unsigned numbers that carries `inits`. Returns it with its empty block.
pub(super) fn emit_for(
    b: &mut Builder<'_>,
    [lower, upper]: [Value; 2],
    step: Value,
    inits: &[Value],
) -> (Op, Block) {
    let ctx = b.ctx();
    let carried: Vec<Type> = inits.iter().map(|value| b.type_of(*value)).collect();
    let state = b.state(scf::ForOp::DEF).operands(&[lower, upper, step]).operands(inits).results(&carried);
    let op = b.insert(state.attr(&ctx, "unsignedCmp", Attr::UNIT));
    let arguments: Vec<Type> = [Type::INDEX].into_iter().chain(carried).collect();
    let region = b.body().region(op, 0);
    (op, b.body().append_block(region, &arguments))
}

/// Emits `scf.yield`.
pub(super) fn emit_yield(b: &mut Builder<'_>, operands: &[Value]) -> Op {
    let state = b.state(scf::YieldOp::DEF).operands(operands);
    b.insert(state)
}

/// Emits `scf.parallel` over dimensions, with a block that has its variables and no operations.
pub(super) fn emit_parallel(b: &mut Builder<'_>, dimensions: &[Dimension], inits: &[Value]) -> (Op, Block) {
    let ctx = b.ctx();
    let mut operands = Vec::with_capacity(3 * dimensions.len() + inits.len());
    for part in 0..3 {
        let numbers = dimensions.iter().map(|own| [own.lower, own.upper, own.step][part]);
        operands.extend(numbers.map(|number| value(b, number)));
    }
    operands.extend(inits);
    let types: Vec<Type> = inits.iter().map(|value| b.type_of(*value)).collect();
    let mut state = b.state(scf::ParallelOp::DEF).operands(&operands).results(&types);
    let count = dimensions.len() as i64;
    state.set_segments(&ctx, &[count, count, count, inits.len() as i64]);
    let op = b.insert(state);
    let region = b.body().region(op, 0);
    (op, b.body().append_block(region, &vec![Type::INDEX; dimensions.len()]))
}

/// Ends the block of a parallel loop without results.
pub(super) fn end_parallel(body: &mut Body, block: Block) -> Op {
    let mut b = Builder::new(body, InsertPoint::End(block));
    let state = b.state(scf::ReduceOp::DEF);
    b.insert(state)
}
