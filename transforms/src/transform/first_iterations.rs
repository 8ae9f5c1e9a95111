//! Peel counts: after how many first iterations a loop of the tree becomes simpler.
//!
//! A carried value is the same from some iteration on if it is yielded from outside of the loop, or
//! is computed from values that are. That helps if so many iterations run in any case. A comparison
//! of the induction variable with a constant is decided from some iteration on. Both follow LLVM's
//! `LoopPeel`.
//!
//! **Cost.** Linear in the loop's operations; a comparison is tried at most once for each iteration
//! that may be peeled.

use hashbrown::HashMap;
use loomir_dialects::{arith, scf};
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Body, Op, Trait, Value, ValueDef};

use super::LoopRef;

/// The maximal number of values followed for one loop.
const MOST_VALUES: usize = 256;

/// Returns the number of first iterations, at most `max`, whose peeling makes carried values
/// invariant or comparisons known. Zero if there is none.
pub(super) fn peel_count(target: &LoopRef<'_>, max: u64) -> u64 {
    let body = target.body();
    let mut values = Values { body, target, known: HashMap::new(), left: MOST_VALUES };
    let carried = body.arguments(target.block()).skip(1);
    let of_values = carried.filter_map(|value| values.iterations(value)).filter(|count| *count <= max);
    // If the loop may end before, the values behind peeled iterations are not those of the last.
    let runs = target.trip_count().unwrap_or(0);
    let of_values = of_values.max().filter(|count| *count < runs).unwrap_or(0);
    let inside = body.preorder(target.op()).filter(|op| body.is(*op, arith::CmpIOp::DEF));
    let compared = inside.filter_map(|op| decided_after(target, op, max));
    of_values.max(compared.max().unwrap_or(0))
}

/// The values of a loop, with the iterations after which they are invariant.
struct Values<'a> {
    body: &'a Body,
    target: &'a LoopRef<'a>,
    /// `None` while a value is being followed, and if it varies.
    known: HashMap<Value, Option<u64>>,
    left: usize,
}

impl Values<'_> {
    /// Returns the number of iterations after which a value is invariant, if it becomes so.
    /// Recurses at most [`MOST_VALUES`] times.
    fn iterations(&mut self, value: Value) -> Option<u64> {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        self.left = self.left.checked_sub(1)?;
        self.known.insert(value, None);
        let found = match self.body.def(value) {
            ValueDef::BlockArgument { block, index } if block == self.target.block() => {
                let end = self.body.terminator(block)?;
                let yielded = self.body.operands(end).nth(index.checked_sub(1)?)?;
                self.iterations(yielded).map(|count| count + 1)
            }
            ValueDef::OpResult { op, .. } if self.body.is_within(op, self.target.op()) => {
                self.of_operation(op)
            }
            ValueDef::BlockArgument { block, .. } => {
                let around = self.body.region_parent(self.body.block_region(block));
                (!self.body.is_within(around, self.target.op())).then_some(0)
            }
            ValueDef::OpResult { .. } => Some(0),
        };
        self.known.insert(value, found);
        found
    }

    fn of_operation(&mut self, op: Op) -> Option<u64> {
        let computes = self.body.has_trait(op, Trait::Pure) && self.body.own_regions(op).len() == 0;
        if !computes {
            return None;
        }
        let operands: Vec<Value> = self.body.operands(op).collect();
        let mut most = 0;
        for operand in operands {
            most = most.max(self.iterations(operand)?);
        }
        Some(most)
    }
}

/// Returns the number of iterations after which a comparison that decides something is known.
fn decided_after(target: &LoopRef<'_>, op: Op, max: u64) -> Option<u64> {
    let body = target.body();
    let decides = |user: Op| body.is(user, scf::IfOp::DEF) || body.is(user, arith::SelectOp::DEF);
    if !body.uses(body.result(op, 0)).any(|own| decides(own.op)) {
        return None;
    }
    let (first, step) = target.values()?;
    let (left, right) = (body.operand(op, 0), body.operand(op, 1));
    let other = if left == target.variable() { right } else { left };
    if (left == target.variable()) == (right == target.variable()) {
        return None;
    }
    let number = constant_of(body, other)?.as_int(body.ctx())?;
    let is_natural = first >= 0 && step > 0 && number >= 0;
    let predicate = arith::CMPI_PREDICATE.value(body.ctx(), body.attr(op, "predicate")?)?;
    let holds = |iteration: u64| {
        let value = first.checked_add(step.checked_mul(i64::try_from(iteration).ok()?)?)?;
        let (a, b) = if left == target.variable() { (value, number) } else { (number, value) };
        // eq ne slt sle sgt sge ult ule ugt uge
        Some(match predicate {
            0 => a == b,
            1 => a != b,
            6.. if !is_natural => return None,
            2 | 6 => a < b,
            3 | 7 => a <= b,
            4 | 8 => a > b,
            5 | 9 => a >= b,
            _ => return None,
        })
    };
    let begins = holds(0)?;
    let change = (1..=max).find(|iteration| holds(*iteration) != Some(begins))?;
    // An equality holds once, and then never again.
    let is_once = holds(change + 1)? == begins;
    let count = change + u64::from(is_once);
    (count <= max && target.trip_count().is_none_or(|own| count < own)).then_some(count)
}
