//! Races of parallel iterations, looked for in one run.

use hashbrown::HashMap;
use loomir_dialects::interfaces::{CallLike, MemoryAccess, MemoryEffects, ParallelLike};
use loomir_dialects::interp::{Datum, Event};
use loomir_ir::{Body, Op, OpRef, Trait, Value};

use super::operations;
use crate::execution::Side;

/// True unless no two iterations of a parallel loop touch one element, one of them writing.
///
/// The terminator of a parallel body ends an iteration. Iterations of inner loops, and functions
/// that are called, belong to the iteration of the outermost parallel loop of the function. A
/// parallel loop in a function that is called counts as one that may race.
pub(super) fn may_race(side: Side<'_>, trace: &[Event]) -> bool {
    let Some(first) = trace.first() else { return false };
    let mut race = Race { of: None, iteration: 0, touched: HashMap::new() };
    let Some(operations) = operations(side, trace) else { return true };
    for (at, (op, event)) in operations.into_iter().enumerate() {
        // A function that calls itself, or that is not known.
        let is_again = at > 0 && (event.function, event.op) == (first.function, first.op);
        let is_call = op.info().interface::<dyn CallLike>().is_some();
        let is_open = is_call && trace.get(at + 1).is_none_or(|next| next.function == event.function);
        let outer = outermost_parallel(op.body(), event.op);
        let is_own = event.function == first.function;
        if is_again || !is_own && outer.is_some() || is_open && (outer.is_some() || race.of.is_some()) {
            return true;
        }
        if is_own {
            race.enter(outer);
        }
        if race.of.is_some() && !is_call && race.is_found(op, event, is_own) {
            return true;
        }
    }
    false
}

/// The elements that the iterations of a parallel loop have touched.
struct Race {
    /// The loop.
    of: Option<Op>,
    iteration: u64,
    /// By buffer and place: the last iteration, and true if one wrote.
    touched: HashMap<(u64, u64), (u64, bool)>,
}

impl Race {
    fn enter(&mut self, outer: Option<Op>) {
        if self.of != outer {
            self.touched.clear();
            self.of = outer;
        }
    }

    /// Adds an operation; true if it may race with those of other iterations.
    fn is_found(&mut self, op: OpRef<'_>, event: &Event, is_own: bool) -> bool {
        if op.successors().len() > 0 {
            return true;
        }
        let (body, is_last) = (op.body(), op.body().next_op(event.op).is_none());
        if is_own && is_last && body.parent_op(event.op) == self.of {
            self.iteration += 1;
            return false;
        }
        let Some(access) = op.info().interface::<dyn MemoryAccess>().map(|model| model.access(op)) else {
            let effects = op.info().interface::<dyn MemoryEffects>().map(|model| model.effects(op));
            let recurses = op.regions().len() > 0;
            let is_silent = effects.is_some_and(|effects| effects.is_empty());
            return !(recurses || is_silent || op.info().has_trait(Trait::Pure) || is_last && !is_own);
        };
        let operand =
            |value: Value| op.operands().position(|own| own == value).and_then(|i| event.operands.get(i));
        let subscripts: Option<Vec<i64>> = access
            .subscripts
            .operands
            .iter()
            .map(|value| operand(*value)?.as_bits().map(|bits| bits as i64))
            .collect();
        let at = subscripts.and_then(|own| access.subscripts.map.evaluate(op.ctx(), &own));
        let (Some(at), Some(Datum::MemRef(memref))) = (at, operand(access.memref)) else { return true };
        let steps = at.iter().zip(&memref.dims).map(|(index, dim)| index.wrapping_mul(dim.stride));
        let linear = steps.fold(memref.offset, i64::wrapping_add) as u64;
        let writes = access.stored.is_some();
        let own = self.touched.entry((memref.aligned.address, linear)).or_insert((self.iteration, writes));
        if own.0 != self.iteration && (own.1 || writes) {
            return true;
        }
        *own = (self.iteration, own.1 || writes);
        false
    }
}

fn outermost_parallel(body: &Body, op: Op) -> Option<Op> {
    let parents = std::iter::successors(body.parent_op(op), |op| body.parent_op(*op));
    parents.filter(|op| body.op_ref(*op).info().interface::<dyn ParallelLike>().is_some()).last()
}
