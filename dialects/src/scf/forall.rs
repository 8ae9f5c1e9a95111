//! `scf.forall`: its dimensions, each bounded by numbers or values.
//!
//! The bounds and steps of all dimensions are three lists of numbers, in which [`DYNAMIC`] stands
//! for the next operand of the list's group.

use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::{AffineMap, Attr, DYNAMIC, OpRef, OperationState, Type, Value};
use smallvec::SmallVec;

use crate::interfaces::{Bound, LoopBounds, Step, Subscripts};

/// A bound, or a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// A constant of the program.
    Constant(i64),
    /// An operand.
    Value(Value),
}

/// The lists of numbers and the groups of operands, in the order of the operation.
const LISTS: [(&str, &str); 3] = [
    ("staticLowerBound", "dynamicLowerBound"),
    ("staticUpperBound", "dynamicUpperBound"),
    ("staticStep", "dynamicStep"),
];

/// Returns the lower bound, upper bound and step of each dimension.
pub fn dimensions(op: OpRef<'_>) -> Vec<[Number; 3]> {
    let [lower, upper, step] = LISTS.map(|(numbers, values)| {
        let mut values = op.operand_group(values).into_iter();
        let numbers = op.attr(numbers).and_then(|list| list.as_dense_ints(op.ctx())).unwrap_or_default();
        let number = |number: i64| match number {
            DYNAMIC => values.next().map(Number::Value),
            number => Some(Number::Constant(number)),
        };
        numbers.into_iter().map_while(number).collect::<Vec<Number>>()
    });
    let bounds = lower.into_iter().zip(upper).zip(step);
    bounds.map(|((lower, upper), step)| [lower, upper, step]).collect()
}

/// Returns the iteration domain of each dimension. Empty if results are combined, or a step is a
/// constant that is not positive.
pub(super) fn iteration_space(op: OpRef<'_>, positive: impl Fn(Value) -> Option<i64>) -> Vec<LoopBounds> {
    let body = op.body();
    let end = body.single_block(op.region(0)).and_then(|block| body.terminator(block));
    let mut combined = end.into_iter().flat_map(|end| body.own_regions(end)).flat_map(|r| body.blocks(r));
    if op.num_results() > 0 || combined.any(|block| body.first_op(block).is_some()) {
        return Vec::new();
    }
    let bound = |number: Number| match number {
        Number::Value(value) => Bound::Value(value),
        Number::Constant(number) => {
            Bound::Map(Subscripts { map: AffineMap::constant(op.ctx(), number), operands: SmallVec::new() })
        }
    };
    let space = |[lower, upper, step]: [Number; 3]| {
        let step = match step {
            Number::Constant(number) => Step::Constant(Some(number).filter(|number| *number > 0)?),
            Number::Value(value) => positive(value).map_or(Step::Value(value), Step::Constant),
        };
        Some(LoopBounds { lower: bound(lower), upper: bound(upper), step })
    };
    dimensions(op).into_iter().map(space).collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// Gives `state`, an operation like `op`, some of its dimensions in this order, with their
/// mappings.
pub fn set_dimensions(op: OpRef<'_>, picked: &[usize], state: &mut OperationState) {
    let ctx = op.ctx();
    let all = dimensions(op);
    let own: Vec<[Number; 3]> = picked.iter().filter_map(|dimension| all.get(*dimension)).copied().collect();
    state.operands.clear();
    let mut segments = Vec::new();
    for (list, (numbers, _)) in LISTS.into_iter().enumerate() {
        let before = state.operands.len();
        let number = |dimension: &[Number; 3]| match dimension[list] {
            Number::Constant(number) => number,
            Number::Value(value) => {
                state.operands.push(value);
                DYNAMIC
            }
        };
        let all: Vec<i64> = own.iter().map(number).collect();
        segments.push((state.operands.len() - before) as i64);
        state.set_attr(ctx, numbers, ctx.dense_ints_attr(Type::I64, &all));
    }
    segments.push(0);
    state.set_attr(ctx, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &segments));
    if let Some(all) = op.attr("mapping").and_then(|mapping| mapping.as_array(ctx)) {
        let own: Vec<Attr> = picked.iter().filter_map(|dimension| all.get(*dimension)).copied().collect();
        state.set_attr(ctx, "mapping", ctx.array_attr(&own));
    }
}
