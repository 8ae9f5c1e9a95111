//! The run-time check that two memrefs do not overlap.
//!
//! Two memrefs of the identity layout do not overlap if one ends where, or before, the other
//! begins. Addresses are compared as unsigned numbers. The product of a memref's sizes does not
//! wrap if it has an element, and is zero if it has none, in wrapping arithmetic too.

use loomir_dialects::{arith, memref};
use loomir_ir::opdef::OpDef;
use loomir_ir::{Body, Builder, DYNAMIC, Type, TypeKind, Value};

use crate::access::base::bytes_of_element;

/// Makes the operations of a check at some place.
pub(crate) trait Make {
    /// Returns the body.
    fn body(&mut self) -> &Body;
    /// Returns an index constant.
    fn index(&mut self, number: i64) -> Value;
    /// Makes an operation with one result.
    fn make(&mut self, def: &'static OpDef, operands: &[Value]) -> Value;
    /// Compares two values by a predicate of `arith.cmpi`.
    fn compare(&mut self, predicate: &str, operands: [Value; 2]) -> Value;
}

impl Make for Builder<'_> {
    fn body(&mut self) -> &Body {
        Builder::body(self)
    }

    fn index(&mut self, number: i64) -> Value {
        let ctx = self.ctx();
        let state = self.state(arith::ConstantOp::DEF).attr(&ctx, "value", ctx.index_attr(number));
        self.value(state.results(&[Type::INDEX]))
    }

    fn make(&mut self, def: &'static OpDef, operands: &[Value]) -> Value {
        let state = self.state(def).operands(operands);
        self.value(state)
    }

    fn compare(&mut self, predicate: &str, operands: [Value; 2]) -> Value {
        let ctx = self.ctx();
        let predicate = arith::CMPI_PREDICATE.value_of(predicate).unwrap_or(0);
        let predicate = arith::CMPI_PREDICATE.attr(&ctx, predicate);
        let state = self.state(arith::CmpIOp::DEF).operands(&operands).attr(&ctx, "predicate", predicate);
        self.value(state)
    }
}

/// The address of the first byte of a memref, and the address behind its last byte.
type Bytes = (Value, Value);

/// Checks of pairs of memrefs. Addresses are computed once for each memref.
#[derive(Default)]
pub(crate) struct Overlap {
    known: Vec<(Value, Bytes)>,
}

impl Overlap {
    /// Returns a truth value: two ranked memrefs do not overlap.
    pub(crate) fn apart(&mut self, maker: &mut impl Make, memrefs: [Value; 2]) -> Value {
        let [a, b] = memrefs.map(|value| match self.known.iter().find(|(own, _)| *own == value) {
            Some((_, bytes)) => *bytes,
            None => {
                let bytes = bytes(maker, value);
                self.known.push((value, bytes));
                bytes
            }
        });
        let before = maker.compare("ule", [a.1, b.0]);
        let behind = maker.compare("ule", [b.1, a.0]);
        maker.make(arith::OrIOp::DEF, &[before, behind])
    }
}

fn bytes(maker: &mut impl Make, value: Value) -> Bytes {
    let body = maker.body();
    let ctx = body.ctx().clone();
    let TypeKind::MemRef { shape: Some(shape), element, .. } = body.value_type(value).kind(&ctx) else {
        unreachable!("only ranked memrefs are tested")
    };
    let fixed: i64 = shape.iter().filter(|size| **size != DYNAMIC).fold(1, |a, b| a.wrapping_mul(*b));
    let bytes = bytes_of_element(&ctx, *element).unwrap_or(1);
    let mut size = maker.index(fixed.wrapping_mul(bytes));
    for dim in (0..shape.len()).filter(|i| shape[*i] == DYNAMIC) {
        let index = maker.index(dim as i64);
        let extent = maker.make(memref::DimOp::DEF, &[value, index]);
        size = maker.make(arith::MulIOp::DEF, &[size, extent]);
    }
    let first = maker.make(memref::ExtractAlignedPointerAsIndexOp::DEF, &[value]);
    let behind = maker.make(arith::AddIOp::DEF, &[first, size]);
    (first, behind)
}
