//! Reductions: values that iterations combine, in each lane.
//!
//! ```text
//!     for i by 4, x = %s {              for i by 4, v = neutral {
//!       lanes l, y = x {                  %f = vector.load %a[%i]
//!         %f = load %a[%i + l]     =>     yield addi v, %f }
//!         yield addi y, %f } }          %r = vector.reduction <add>, v, %s
//! ```
//!
//! Each lane begins with the neutral element. The results of the lanes, and the value before the
//! loop, are combined behind the loop around the lanes. Without such a loop that happens at once.
//! A lane that has no iteration in the [last block](super::last_block) keeps its value.
//!
//! **Assumptions.**
//! - Lanes are combined in any order: the [judge](crate::legality) knows the reductions, and
//!   nothing else sees the values. Promises about intermediate results and about operands hold for
//!   no neutral element, and are dropped. Tried with `fixtures/vectorize/reductions.mlir`.

use loomir_dialects::interfaces::LoopLike;
use loomir_dialects::{arith, vector};
use loomir_ir::{Block, Body, Builder, InsertPoint, Op, OperationState, Value};

use super::num_bounds;
use super::write::Writer;
use crate::access::updates::Combined;
use crate::access::updates::reduction::drop_promises;

/// The loop around lanes, and its value that they combine.
struct Around {
    op: Op,
    block: Block,
    /// The number of the value among those that the loop carries.
    number: usize,
}

impl Around {
    /// Returns the loop around lanes that passes its value `number` on to them, and theirs to its
    /// next iteration.
    fn of(body: &Body, lanes: Op, number: usize) -> Option<Around> {
        let (op, block) = (body.parent_op(lanes)?, body.block_of(lanes)?);
        body.info(op).interface::<dyn LoopLike>()?;
        let init = body.operand(lanes, num_bounds(body, lanes) + number);
        let own = body.arguments(block).skip(1).position(|argument| argument == init)?;
        let end = body.terminator(block)?;
        let only = |value: Value| {
            let mut uses = body.uses(value);
            uses.next().filter(|_| uses.next().is_none())
        };
        let yielded = only(body.result(lanes, number))?;
        let is_passed = yielded.op == end && body.operand(end, own) == body.result(lanes, number);
        (only(init).is_some() && is_passed).then_some(Around { op, block, number: own })
    }
}

impl Writer<'_> {
    /// Writes the step of a reduction.
    pub(super) fn step(&mut self, own: &Combined) {
        let op = own.step;
        let Some(number) = self.number_of(own) else { return };
        let init = self.body.operand(self.op, num_bounds(self.body, self.op) + number);
        let result = self.body.result(self.op, number);
        let contributed = self.body.operand(op, own.contributed);
        let contributed = self.wide(op, contributed);
        let Some(around) = Around::of(self.body, self.op, number) else {
            let neutral = self.neutral(own);
            let lanes = self.stepped(own, neutral, contributed);
            let joined = self.joined(own, lanes, init);
            self.body.replace_all_uses(result, joined);
            return;
        };
        // The loop around carries the lanes.
        let inside = std::mem::replace(&mut self.at, InsertPoint::Before(around.op));
        let neutral = self.neutral(own);
        let place = num_bounds(self.body, around.op) + around.number;
        let first = self.body.operand(around.op, place);
        self.body.set_operand(around.op, place, neutral);
        let (ty, last) = (self.body.value_type(neutral), self.body.result(around.op, around.number));
        let carried = self.body.argument(around.block, around.number + 1);
        self.body.set_value_type(carried, ty);
        self.body.set_value_type(last, ty);
        if let Some(next) = self.body.next_op(around.op) {
            self.at = InsertPoint::Before(next);
            let joined = self.joined(own, last, first);
            let by = self.body.defining_op(joined);
            self.body.replace_uses_if(last, joined, |used| Some(used.op) != by);
        }
        self.at = inside;
        let lanes = self.stepped(own, carried, contributed);
        self.body.replace_all_uses(result, lanes);
    }

    /// Returns the number of a value among those that the lanes combine.
    fn number_of(&self, own: &Combined) -> Option<usize> {
        let block = self.body.block_of(own.step)?;
        self.body.arguments(block).skip(1).position(|argument| argument == own.carried)
    }

    /// Writes the neutral element in each lane.
    fn neutral(&mut self, own: &Combined) -> Value {
        let element = self.body.value_type(own.carried);
        let value = own.by.neutral(self.body.ctx(), element);
        let ty = self.vector(element);
        let mut builder = self.builder(own.step);
        let ctx = builder.ctx();
        let mut state = builder.state(arith::ConstantOp::DEF).results(&[element]);
        if let Some(value) = value {
            state.set_attr(&ctx, "value", value);
        }
        let value = builder.value(state);
        self.spread(own.step, value, ty)
    }

    /// Writes the step in all lanes.
    fn stepped(&mut self, own: &Combined, carried: Value, contributed: Value) -> Value {
        let op = own.step;
        let operands = if own.contributed == 0 { [contributed, carried] } else { [carried, contributed] };
        let mut state = OperationState::named(self.body.op_name(op), self.body.loc(op)).operands(&operands);
        state.result_types = [self.body.value_type(carried)].into();
        (state.properties, state.attributes) = (self.body.properties(op), self.body.attributes(op));
        let new = Builder::new(self.body, self.at).insert(state);
        drop_promises(self.body, new);
        let all = self.body.result(new, 0);
        match self.mask {
            Some(mask) => self.compute(op, arith::SelectOp::DEF, &[mask, all, carried]),
            None => all,
        }
    }

    /// Writes the combination of all lanes and of a scalar.
    fn joined(&mut self, own: &Combined, lanes: Value, scalar: Value) -> Value {
        let ty = self.body.value_type(own.carried);
        let flags = self.body.attr(own.step, "fastmath");
        let mut builder = self.builder(own.step);
        let ctx = builder.ctx();
        let kind = own.by.kind().and_then(|name| vector::COMBINING_KIND.value_of(name)).unwrap_or(0);
        let state = builder.state(vector::ReductionOp::DEF).operands(&[lanes, scalar]).results(&[ty]);
        let mut state = state.attr(&ctx, "kind", vector::COMBINING_KIND.attr(&ctx, kind));
        if let Some(flags) = flags {
            state.set_attr(&ctx, "fastmath", flags);
        }
        let joined = builder.insert(state);
        drop_promises(self.body, joined);
        self.body.result(joined, 0)
    }
}
