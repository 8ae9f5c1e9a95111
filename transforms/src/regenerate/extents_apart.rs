//! The run-time check that accesses through two pointers do not overlap.
//!
//! Two ranges of addresses do not overlap if the way from the start of each to the start of the
//! other is at least as long as the range. Ways are counted in 64 bits, where addresses wrap;
//! lengths are numbers of elements in 128 bits. A range of negative length has no access.

use loomir_dialects::llvm::types::pointer;
use loomir_dialects::{arith, llvm};
use loomir_ir::opdef::OpDef;
use loomir_ir::{AttrKind, Builder, InsertPoint, Mapping, Name, Type, Value};

use super::Emit;
use super::expression::Sum;
use super::extents::{BITS, Extent};
use crate::access::base::Named;
use crate::affine::AffineForm;

/// A range of addresses.
#[derive(Clone, Copy)]
pub(super) struct Stretch {
    /// The first address, of 64 bits.
    start: Value,
    /// The number of elements, in a wide type.
    length: Value,
    /// The bytes of an element.
    unit: i64,
}

impl Emit<'_> {
    /// Returns a truth value: two ranges do not overlap.
    pub(super) fn are_apart(&mut self, [a, b]: [Stretch; 2], at: InsertPoint) -> Value {
        let ahead = self.is_out_of_reach(a, b.start, at);
        let behind = self.is_out_of_reach(b, a.start, at);
        self.make(arith::AndIOp::DEF, &[ahead, behind], at)
    }

    /// Computes the range of addresses behind a pointer or in a global. None of `defined` is
    /// poison.
    pub(super) fn stretch(
        &mut self,
        (object, extent): (Named, &Extent),
        defined: &[Value],
        at: InsertPoint,
    ) -> Stretch {
        let (wide, unit) = (self.body.ctx().int_type(BITS), extent.unit);
        let address = match object {
            Named::Value(pointer) => self.frozen(pointer, defined, at),
            Named::Global(name) => self.address_of(name, at),
        };
        let address = self.cast(llvm::PtrToIntOp::DEF, address, Type::I64, at);
        let upper = self.outermost_bound(&extent.upper, arith::MaxSIOp::DEF, wide, defined, at);
        if extent.lower.iter().all(|bound| bound.as_constant() == Some(0)) {
            return Stretch { start: address, length: upper, unit };
        }
        let lower = self.outermost_bound(&extent.lower, arith::MinSIOp::DEF, wide, defined, at);
        let offset = self.cast(arith::TruncIOp::DEF, lower, Type::I64, at);
        let unit_here = self.number(unit, Type::I64, at);
        let offset = self.make(arith::MulIOp::DEF, &[offset, unit_here], at);
        let start = self.make(arith::AddIOp::DEF, &[address, offset], at);
        Stretch { start, length: self.make(arith::SubIOp::DEF, &[upper, lower], at), unit }
    }

    /// Returns the least or the greatest of some bounds.
    fn outermost_bound(
        &mut self,
        bounds: &[AffineForm],
        pick: &'static OpDef,
        wide: Type,
        defined: &[Value],
        at: InsertPoint,
    ) -> Value {
        let mut found = None;
        for bound in bounds {
            let mut values = Mapping::default();
            bound.each_parameter(&mut |value| values.map(value, self.frozen(value, defined, at)));
            // An extent has no quotients.
            let sum = Sum::of(bound, &values, &|_| None).unwrap_or_else(|| Sum::constant(0));
            let value = self.value_of(sum, wide, at);
            found = Some(found.map_or(value, |other| self.make(pick, &[other, value], at)));
        }
        // Nothing is accessed.
        found.unwrap_or_else(|| self.number(0, wide, at))
    }

    /// True if an address comes only behind a stretch, going up from its start.
    fn is_out_of_reach(&mut self, stretch: Stretch, address: Value, at: InsertPoint) -> Value {
        let wide = self.body.value_type(stretch.length);
        let mut way = self.make(arith::SubIOp::DEF, &[address, stretch.start], at);
        if stretch.unit > 1 {
            // Whole elements: what is left over is no further one.
            let unit = self.number(stretch.unit, Type::I64, at);
            way = self.make(arith::DivUIOp::DEF, &[way, unit], at);
        }
        let way = self.cast(arith::ExtUIOp::DEF, way, wide, at);
        self.compare("sge", [way, stretch.length], at)
    }

    /// Returns the address of a global.
    fn address_of(&mut self, name: Name, at: InsertPoint) -> Value {
        let mut builder = Builder::new(self.body, at);
        builder.set_loc(self.loc);
        let ctx = builder.ctx();
        let name = [("global_name", ctx.attr(AttrKind::Symbol { root: name, nested: Box::default() }))];
        let address = builder.build(llvm::AddressOfOp::DEF, &[], &name, &[pointer(&ctx)]);
        builder.body().result(address, 0)
    }

    fn cast(&mut self, def: &'static OpDef, value: Value, ty: Type, at: InsertPoint) -> Value {
        let mut builder = Builder::new(self.body, at);
        builder.set_loc(self.loc);
        let state = builder.state(def).operands(&[value]).results(&[ty]);
        builder.value(state)
    }
}
