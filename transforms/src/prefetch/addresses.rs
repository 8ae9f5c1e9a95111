//! Streams of loads through pointers, in raised LLVM IR.
//!
//! The address of a load is computed again for the iteration to come: the operations between the
//! variable and the address are copied, with another number in its place. That iteration runs, and
//! computes the same. So a copy promises nothing that the program does not.
//!
//! **Cost.** At most [`MAX_OPS`] operations are visited for each load.

use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::llvm::memory::address::byte_offsets;
use loomir_dialects::{arith, llvm};
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Body, Builder, Mapping, Op, OpDef, Value, ValueDef};

/// The most operations that compute an address in a loop.
const MAX_OPS: usize = 32;

/// Bytes that stand for a factor that is no constant.
const LARGE: i64 = u16::MAX as i64;

/// The address of a load, and the operations in the loop that compute it, in their order.
#[derive(PartialEq, Eq)]
pub(super) struct Address {
    pointer: Value,
    ops: Vec<Op>,
}

/// An address that is read.
struct Reading<'b> {
    body: &'b Body,
    around: Op,
    variable: Value,
    layout: &'b DataLayout,
    ops: Vec<Op>,
}

impl Address {
    /// Returns the address of a plain load in the body of a loop, and the distance in bytes of two
    /// values of the variable that differ by one.
    pub(super) fn of(
        body: &Body,
        load: Op,
        (around, variable): (Op, Value),
        layout: &DataLayout,
    ) -> Option<(Address, i64)> {
        let view = body.op_ref(load);
        let is_atomic = view.attr("ordering").and_then(|own| own.as_int(body.ctx())).unwrap_or(0) != 0;
        if !view.is(llvm::LoadOp::DEF) || view.attr("volatile_").is_some() || is_atomic {
            return None;
        }
        let mut reading = Reading { body, around, variable, layout, ops: Vec::new() };
        let pointer = view.operand(0);
        let stride = reading.factor(pointer)?;
        (stride != 0).then_some((Address { pointer, ops: reading.ops }, stride.saturating_abs()))
    }

    /// Writes a prefetch of the address, for another value of the variable.
    pub(super) fn write(&self, b: &mut Builder<'_>, (variable, next): (Value, Value)) {
        let mut mapping = Mapping::default();
        mapping.map(variable, next);
        for op in &self.ops {
            let copy = b.body().copy_op(*op, &mut mapping);
            b.place(copy);
        }
        let ctx = b.ctx();
        let number = |number| ctx.int_attr(loomir_ir::Type::I32, number);
        let attrs = [("rw", number(0)), ("hint", number(3)), ("cache", number(1))];
        b.build(llvm::PrefetchOp::DEF, &[&[mapping.value(self.pointer)]], &attrs, &[]);
    }
}

impl Reading<'_> {
    /// Returns the factor of the variable in a value. Collects the operations that compute the
    /// value in the loop. `None` if one of them is not known. Recurses once for each operand.
    fn factor(&mut self, value: Value) -> Option<i64> {
        let body = self.body;
        if value == self.variable {
            return Some(1);
        }
        if !body.is_defined_within(value, self.around) {
            return Some(0);
        }
        let ValueDef::OpResult { op, .. } = body.def(value) else { return None };
        if self.ops.len() >= MAX_OPS {
            return None;
        }
        let is_one_of = |defs: &[&'static OpDef]| defs.iter().any(|def| body.is(op, def));
        let factor = if is_one_of(&[llvm::GEPOp::DEF]) {
            let (_, scaled) = byte_offsets(body.op_ref(op), self.layout).ok()?;
            let mut sum = self.factor(body.operand(op, 0))?;
            for (index, bytes) in scaled {
                sum = sum.saturating_add(self.factor(index)?.saturating_mul(bytes));
            }
            sum
        } else if is_one_of(&CASTS) {
            self.factor(body.operand(op, 0))?
        } else if is_one_of(&[arith::AddIOp::DEF, llvm::AddOp::DEF]) {
            let [a, b] = self.both(op)?;
            a.saturating_add(b)
        } else if is_one_of(&[arith::SubIOp::DEF, llvm::SubOp::DEF]) {
            let [a, b] = self.both(op)?;
            a.saturating_sub(b)
        } else if is_one_of(&[arith::MulIOp::DEF, llvm::MulOp::DEF]) {
            let [a, b] = self.both(op)?;
            let number = |at| constant_of(body, body.operand(op, at))?.as_int(body.ctx());
            match (a, b) {
                (_, 0) => a.saturating_mul(number(1).unwrap_or(LARGE)),
                (0, _) => b.saturating_mul(number(0).unwrap_or(LARGE)),
                _ => return None,
            }
        } else {
            return None;
        };
        if !self.ops.contains(&op) {
            self.ops.push(op);
        }
        Some(factor)
    }

    fn both(&mut self, op: Op) -> Option<[i64; 2]> {
        Some([self.factor(self.body.operand(op, 0))?, self.factor(self.body.operand(op, 1))?])
    }
}

/// Operations that change the type of a number.
const CASTS: [&OpDef; 8] = [
    arith::IndexCastOp::DEF,
    arith::IndexCastUIOp::DEF,
    arith::ExtSIOp::DEF,
    arith::ExtUIOp::DEF,
    arith::TruncIOp::DEF,
    llvm::SExtOp::DEF,
    llvm::ZExtOp::DEF,
    llvm::TruncOp::DEF,
];
