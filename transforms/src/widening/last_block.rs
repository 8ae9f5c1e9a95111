//! The last block of lanes: masks instead of a loop over the iterations left over.
//!
//! ```text
//!     for i by 4 {                          for i by 4 {
//!       parallel l in i..min(i + 4, %n)  =>   %end = affine.min (%i + 4, %n)
//!         store %x, %b[l] }                   %left = arith.subi %end, %i
//!                                             %mask = arith.cmpi slt, [0, 1, 2, 3], %left
//!                                             vector.maskedstore %b[%i], %mask, %x }
//! ```
//!
//! The mask has the lanes that have an iteration. They are the first ones. All of the loop is
//! written as a side of a condition with this [mask](super::masks) is. The first lane always runs,
//! so what is the same for all lanes is executed as before, and the place of the first lane's
//! element exists.
//!
//! **Assumptions.**
//! - A marked loop has an iteration wherever it is reached: the tree's loop around it has only
//!   blocks that begin before the end. Tried with `fixtures/vectorize/last_block.mlir`.
//! - A marked loop ends at most so many steps behind its first value, so that the distance of both
//!   does not wrap. Numbers of lanes behind the end may wrap. Tried with
//!   `fixtures/vectorize/last_block.mlir`.

use loomir_dialects::interfaces::{Bound, Subscripts};
use loomir_dialects::{affine, arith};
use loomir_ir::{AttrKind, Type, Value};

use super::write::{Writer, applied, index};

impl Writer<'_> {
    /// Begins a loop that may have fewer iterations than lanes, before `end`.
    pub(super) fn begin_masked(&mut self, end: &Bound) {
        let op = self.op;
        let end = match end {
            Bound::Map(end) => self.least(end),
            Bound::Value(end) => *end,
        };
        let left = self.left_before(end);
        let numbers = self.lane_numbers();
        let (ty, element) = (self.body.value_type(numbers), Type::I32);
        let mut builder = self.builder(op);
        let state = builder.state(arith::IndexCastOp::DEF).operands(&[left]).results(&[element]);
        let left = builder.value(state);
        let left = self.spread(op, left, ty);
        let mask = Some(self.compare(op, "slt", [numbers, left]));
        (self.last_block, self.mask) = (mask, mask);
    }

    /// Writes the numbers of the lanes. They have 32 bits each: a register holds more of these than
    /// indices.
    fn lane_numbers(&mut self) -> Value {
        let (ty, lanes) = (self.vector(Type::I32), self.lanes as i32);
        let bytes = (0..lanes).flat_map(i32::to_le_bytes).collect();
        let mut builder = self.builder(self.op);
        let ctx = builder.ctx();
        let numbers = ctx.attr(AttrKind::DenseElements { ty, splat: false, bytes });
        let state = builder.state(arith::ConstantOp::DEF).results(&[ty]);
        builder.value(state.attr(&ctx, "value", numbers))
    }

    /// True if the first lane runs: only lanes without an iteration do not.
    pub(super) fn first_runs(&self) -> bool {
        self.mask == self.last_block
    }

    /// Writes the least result of a map.
    fn least(&mut self, end: &Subscripts) -> Value {
        let mut builder = self.builder(self.op);
        if let [_] = end.map.results(&builder.ctx()) {
            return applied(&mut builder, end.map, &end.operands);
        }
        let ctx = builder.ctx();
        let map = ctx.attr(AttrKind::AffineMap(end.map));
        let state = builder.state(affine::MinOp::DEF).operands(&end.operands).attr(&ctx, "map", map);
        builder.value(state.results(&[Type::INDEX]))
    }

    /// Returns the number of iterations before the end.
    fn left_before(&mut self, end: Value) -> Value {
        let (op, step) = (self.op, self.step);
        let first = self.of_lane(op, self.variable, 0);
        let left = self.compute(op, arith::SubIOp::DEF, &[end, first]);
        if step == 1 {
            return left;
        }
        let behind = index(&mut self.builder(op), step - 1);
        let step = index(&mut self.builder(op), step);
        let rounded = self.compute(op, arith::AddIOp::DEF, &[left, behind]);
        self.compute(op, arith::DivUIOp::DEF, &[rounded, step])
    }
}
