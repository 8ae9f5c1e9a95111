//! Gathers and scatters: accesses to elements of one row that are not neighbours.
//!
//! ```text
//!     parallel l in 0..4 {                 %at = [0, 3, 6, 9] + 3 * %i
//!       %x = load %a[%j, 3 * (%i + l)] =>  %x = vector.gather %a[%j, 0] [%at], %mask, …
//!       store %x, %b[%p[%i + l]] }         %to = vector.load %p[%i]
//!                                          vector.scatter %b[0] [%to], %mask, %x }
//! ```
//!
//! The last subscript is a vector of indices, and the others are the same for all lanes. Where
//! those differ too, each lane has an access of its own.
//!
//! Machines without such instructions do the same as for one access a lane. Where all lanes run
//! that takes them longer, by up to two times. Where a lane need not run, each access of a lane is
//! a branch, and a machine with such instructions takes a fifth of the time.
//!
//! **Assumptions.**
//! - No two lanes write one element, as iterations are independent. So the order of lanes in a
//!   scatter does not matter. Tried with `fixtures/vectorize/gathers_refused.mlir`.
//! - Indices of lanes that do not run may wrap, and need not be elements. Tried with
//!   `fixtures/vectorize/gathers.mlir`.

use loomir_dialects::interfaces::Access;
use loomir_dialects::{affine, vector};
use loomir_ir::{Op, Type, Value};

use super::Gathers;
use super::write::{IN_VECTOR, Writer, index};

impl Writer<'_> {
    /// True if an access that is not one to neighbours is written as a gather or scatter.
    pub(super) fn is_gathered(&self, access: &Access) -> bool {
        let is_asked = match self.gathers {
            Gathers::Never => false,
            Gathers::Masked => self.mask.is_some(),
            Gathers::Always => true,
        };
        is_asked && self.numbers.are_in_one_row(self.body, access)
    }

    /// Writes an access as a gather or scatter.
    pub(super) fn gather(&mut self, op: Op, access: &Access) {
        let ctx = self.body.ctx().clone();
        let map = access.subscripts.map;
        let Some((last, others)) = map.results(&ctx).split_last() else { return };
        let operands = access.subscripts.operands.to_vec();
        let mut all = vec![self.same.value(access.memref)];
        let same: Vec<Value> = operands.iter().map(|own| self.same.value(*own)).collect();
        for expr in others {
            all.push(self.subscript(op, map, *expr, &same));
        }
        all.push(index(&mut self.builder(op), 0));
        let ty = self.vector(Type::INDEX);
        let indices: Vec<Value> = operands.into_iter().map(|own| self.indices(op, own)).collect();
        all.push(self.expanded(op, *last, (map.data(&ctx).dims, &indices), ty));
        let mask = self.mask;
        all.push(mask.unwrap_or_else(|| self.all_lanes(op)));
        self.access_by((vector::GatherOp::DEF, vector::ScatterOp::DEF), op, access, all);
    }

    /// Returns the vector of an index. Sums of it are computed as vectors. Recurses once for each
    /// operation that computes it.
    fn indices(&mut self, op: Op, value: Value) -> Value {
        let ctx = self.body.ctx().clone();
        let by = self.body.defining_op(value).filter(|_| self.varies(value));
        let map = by.filter(|own| self.body.is(*own, affine::ApplyOp::DEF)).and_then(|own| {
            let map = self.body.attr(own, "map")?.as_affine_map(&ctx)?;
            Some((own, map, *map.results(&ctx).first()?))
        });
        let Some((by, map, expr)) = map else { return self.wide(op, value) };
        if let Some(own) = self.copies.get(&(value, IN_VECTOR)) {
            return *own;
        }
        let operands: Vec<Value> = self.body.operands(by).collect();
        let operands: Vec<Value> = operands.into_iter().map(|own| self.indices(op, own)).collect();
        let ty = self.vector(Type::INDEX);
        let own = self.expanded(op, expr, (map.data(&ctx).dims, &operands), ty);
        self.copies.insert((value, IN_VECTOR), own);
        own
    }
}
