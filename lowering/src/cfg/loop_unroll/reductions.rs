//! Parallel reductions: each copy of an unrolled loop's body gets an accumulator of its own. Then
//! no copy waits for the one before.
//!
//! ```text
//!     ┌─> s1 = s + a                ┌─> s1 = s + a         s begins as before,
//!     │   s2 = s1 + b    becomes    │   t1 = t + b         t with the neutral element
//!     └── s2 ──> exit               └── s1, t1 ──> s1 + t1 ──> exit
//! ```
//!
//! A reduction is found by [`Reduction`]: words of any kind, and sums and products of floats with
//! `reassoc`. Promises about intermediate results are dropped.
//!
//! **Assumptions.**
//! - The copies are single blocks, one behind the other, and only the last one may leave the loop.
//!   Then all copies run equally often.
//! - An accumulator is used by its step alone, and the result of a step only by the next one and
//!   behind the loop. So nobody sees an intermediate result.
//!
//! **Cost.** Linear in the operands of the copies' branches.

use loomir_dialects::llvm;
use loomir_ir::{Attr, Block, Body, Builder, InsertPoint, Mapping, Op, OperationState, Type, Value};
use loomir_transforms::access::updates::Reduction;
use loomir_transforms::access::updates::reduction::drop_poison_flags;

use super::copies::{Copy, types_of};
use super::shape::{Shape, edge_to};
use crate::cfg::branch::{Ending, Target, end_block, set_successor_operands, successor_operands, targets};

/// The maximal number of copies: each accumulator takes a register.
const MOST_COPIES: usize = 4;

/// A value that all copies of a loop's body combine with others.
struct Accumulator {
    /// The number of the header's argument.
    index: usize,
    /// The steps, one in each copy.
    steps: Vec<Op>,
    neutral: Attr,
    ty: Type,
}

/// Gives each copy of a loop's body its own accumulators, where that is allowed. Returns the number
/// of reductions, and the block behind the loop that combines their results.
pub(super) fn make_parallel(function: &mut Body, shape: &Shape, copies: &[Copy]) -> Option<(usize, Block)> {
    let (last, others) = copies.split_last()?;
    let is_line = shape.blocks.len() == 1
        && (2..=MOST_COPIES).contains(&copies.len())
        && others
            .iter()
            .zip(&copies[1..])
            .all(|(copy, next)| function.block_successors(copy.header).eq([next.header]));
    let (branch, back) = edge_to(function, last.header, shape.header).filter(|_| is_line)?;
    if !function.is(branch, llvm::CondBrOp::DEF) {
        return None;
    }
    let out = 1 - back;
    let (entering, entry) = function.predecessor_edges(shape.header).find(|(op, _)| *op != branch)?;
    let found: Vec<Accumulator> = (0..function.num_arguments(shape.header))
        .filter_map(|index| accumulator(function, copies, index, (branch, back)))
        .collect();
    if found.is_empty() {
        return None;
    }
    for own in &found {
        separate(function, shape, copies, own, [(entering, entry), (branch, back)]);
    }
    // The block behind takes what left the loop, then the results of all copies but the last.
    let leaving = targets(function, branch).swap_remove(out);
    let result = |step: &Op| function.result(*step, 0);
    let partial: Vec<Value> = found.iter().flat_map(|own| &own.steps[..others.len()]).map(result).collect();
    let totals: Vec<Value> = found.iter().filter_map(|own| own.steps.last()).map(result).collect();
    let mut types = types_of(function, leaving.block);
    let handed = types.len();
    types.extend(partial.iter().map(|value| function.value_type(*value)));
    let behind = function.create_block(function.block_region(shape.header), Some(last.last), &types);
    let mut operands = successor_operands(function, branch);
    operands[out].extend(&partial);
    function.set_successor(branch, out, behind);
    set_successor_operands(function, branch, &operands);
    let arguments: Vec<Value> = function.arguments(behind).collect();
    let (passed, parts) = arguments.split_at(handed);
    let mut passed = passed.to_vec();
    for (own, (total, parts)) in found.iter().zip(totals.iter().zip(parts.chunks(others.len()))) {
        let places: Vec<usize> = (0..handed).filter(|at| leaving.operands[*at] == *total).collect();
        let first = places.first().map(|at| passed[*at]);
        let all = parts.iter().copied().chain(first);
        let whole = all.reduce(|a, b| combine(function, own.steps[0], InsertPoint::End(behind), [a, b]));
        whole.into_iter().for_each(|whole| places.iter().for_each(|at| passed[*at] = whole));
    }
    end_block(function, behind, &Ending::Branch(Target { block: leaving.block, operands: passed }));
    let steps = found.iter().flat_map(|own| &own.steps).copied();
    steps.for_each(|step| drop_poison_flags(function, step));
    Some((found.len(), behind))
}

/// Returns the accumulator that is an argument of the header. `None` if it is none, if its result
/// is not used behind the loop, or if somebody sees its intermediate results.
fn accumulator(
    function: &Body,
    copies: &[Copy],
    index: usize,
    (branch, back): (Op, usize),
) -> Option<Accumulator> {
    let (mut steps, mut kind) = (Vec::new(), None);
    for copy in copies {
        let block = copy.header;
        let argument = function.argument(block, index);
        let step = function.uses(argument).next().map(|own| own.op)?;
        let (reduction, operands) = Reduction::of(function, step)?;
        let is_step = function.has_one_use(argument)
            && function.block_of(step) == Some(block)
            && operands.contains(&Some(argument))
            && *kind.get_or_insert(reduction) == reduction;
        // What is combined with the same number each time is better computed at once.
        let varies = function.operands(step).filter(|own| *own != argument).all(|own| {
            function.value_block(own) == Some(block)
                && function.defining_op(own).is_none_or(|op| !function.is(op, llvm::ConstantOp::DEF))
        });
        let ends = function.terminator(block)?;
        let seen = function.uses(function.result(step, 0)).all(|own| own.op == ends);
        if !is_step || !varies || !seen {
            return None;
        }
        steps.push(step);
    }
    let ty = function.value_type(function.argument(copies.first()?.header, index));
    let neutral = kind?.neutral(function.ctx(), ty)?;
    let (last, others) = steps.split_last()?;
    if others.iter().any(|step| !function.has_one_use(function.result(*step, 0))) {
        return None;
    }
    // The last result goes back as this argument alone, decides nothing, and is used behind.
    let total = function.result(*last, 0);
    let handed = successor_operands(function, branch);
    let places = |edge: usize| handed[edge].iter().filter(|own| **own == total).count();
    let is_closed = handed[back].get(index) == Some(&total)
        && places(back) == 1
        && places(1 - back) > 0
        && function.operand(branch, 0) != total;
    is_closed.then_some(Accumulator { index, steps, neutral, ty })
}

/// Lets each copy begin with an argument of the header, and hand its own result back.
fn separate(
    function: &mut Body,
    shape: &Shape,
    copies: &[Copy],
    own: &Accumulator,
    [(entering, entry), (branch, back)]: [(Op, usize); 2],
) {
    let mut initial = successor_operands(function, entering);
    let mut again = successor_operands(function, branch);
    let result = |function: &Body, copy: usize| function.result(own.steps[copy], 0);
    again[back][own.index] = result(function, 0);
    let mut builder = Builder::new(function, InsertPoint::Before(entering));
    let ctx = builder.ctx();
    let state = builder.state(llvm::ConstantOp::DEF).attr(&ctx, "value", own.neutral).results(&[own.ty]);
    let neutral = builder.value(state);
    for (number, pair) in copies.windows(2).enumerate() {
        let argument = function.add_argument(shape.header, own.ty);
        initial[entry].push(neutral);
        again[back].push(result(function, number + 1));
        let Some((next, edge)) = edge_to(function, pair[0].header, pair[1].header) else { continue };
        let mut operands = successor_operands(function, next);
        operands[edge][own.index] = argument;
        set_successor_operands(function, next, &operands);
    }
    set_successor_operands(function, entering, &initial);
    set_successor_operands(function, branch, &again);
}

/// Combines two results of a reduction with this step.
fn combine(function: &mut Body, step: Op, at: InsertPoint, operands: [Value; 2]) -> Value {
    let ctx = function.ctx().clone();
    let sum = [(llvm::SubOp::DEF, llvm::AddOp::DEF), (llvm::FSubOp::DEF, llvm::FAddOp::DEF)];
    let of = sum.into_iter().find(|(def, _)| function.is(step, def));
    let copy = match of {
        Some((_, def)) => {
            let ty = function.value_type(function.result(step, 0));
            let mut state =
                OperationState::of(&ctx, def, function.loc(step)).operands(&operands).results(&[ty]);
            (state.properties, state.attributes) = (function.properties(step), function.attributes(step));
            function.create(state)
        }
        None => {
            let copy = function.copy_op(step, &mut Mapping::default());
            (0..).zip(operands).for_each(|(at, own)| function.set_operand(copy, at, own));
            copy
        }
    };
    Builder::new(function, at).place(copy);
    drop_poison_flags(function, copy);
    function.result(copy, 0)
}
