//! Carried values that the iterations of a loop combine.
//!
//! Each iteration contributes a value: `x = op(x, f)`, where nothing else uses `x` or the result.
//! The iterations may then be combined in any order, by [`Reduction`].
//!
//! **Assumptions.**
//! - The carried value and the result of the step have one use each, so that no iteration sees the
//!   order. Tried with `fixtures/vectorize/reductions.mlir`.

use loomir_ir::{Block, Body, Op, Value};

use super::only_user;
use super::reduction::Reduction;

/// A carried value that iterations combine.
#[derive(Clone, Copy, Debug)]
pub struct Combined {
    /// The carried value.
    pub carried: Value,
    /// The reduction.
    pub by: Reduction,
    /// The step of the reduction.
    pub step: Op,
    /// The number of the step's operand that an iteration contributes.
    pub contributed: usize,
}

/// Returns the carried values of a loop with this block, if iterations do nothing else with all of
/// them than to combine them. Linear in their number.
pub fn combined(body: &Body, block: Block) -> Option<Vec<Combined>> {
    let end = body.terminator(block)?;
    let carried = body.arguments(block).skip(1);
    if body.num_operands(end) != carried.clone().count() {
        return None;
    }
    carried.zip(body.operands(end)).map(|(own, yielded)| combined_by(body, (end, own), yielded)).collect()
}

fn combined_by(body: &Body, (end, carried): (Op, Value), yielded: Value) -> Option<Combined> {
    let step = only_user(body, carried)?;
    let is_last = body.results(step).next() == Some(yielded) && only_user(body, yielded) == Some(end);
    let (by, operands) = Reduction::of(body, step).filter(|_| is_last)?;
    let place = operands.iter().position(|own| *own == Some(carried))?;
    by.neutral(body.ctx(), body.value_type(carried))?;
    Some(Combined { carried, by, step, contributed: 1 - place })
}
