//! The lattice of integer ranges: the least and the greatest number that a word may be, read as
//! unsigned and as signed, together with the [constants](super::constants).
//!
//! Words have at most 64 bits, and an `index` has 64. `arith`, `index` and `affine` operations are
//! known; others say what they know by [`InferRanges`].

use loomir_dialects::arith::constant::Numbers;
use loomir_dialects::interfaces::{InferRanges, LoopBounds};
use loomir_dialects::interp::integer::mask;
use loomir_dialects::ranges::{Range, signed_ends};
use loomir_ir::{Attr, Body, OpRef, Value, ValueDef};

use super::constants::{Constancy, folded};
use super::forward::Analysis;
use crate::affine::operation::width;
use crate::affine::word_range::{of_induction, of_result};

/// The fact of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// The constant that the value is.
    pub constant: Constancy,
    /// The range of the value, if it is a word of at most 64 bits.
    pub range: Option<Range>,
}

/// The analysis of integer ranges.
#[derive(Clone, Copy, Debug)]
pub struct RangeAnalysis;

/// Returns the fact of a value of which a constant or a range is known.
fn bounds(body: &Body, value: Value, constant: Constancy, range: Option<Range>) -> Bounds {
    let ctx = body.ctx();
    let Some(width) = width(body, value) else { return Bounds { constant, range: None } };
    let range = range.unwrap_or(Range::full(width));
    match constant {
        Constancy::Constant(attr) => match Numbers::of(ctx, attr) {
            Some(Numbers::One(bits)) if attr.ty(ctx) == Some(body.value_type(value)) => {
                Bounds { constant, range: Some(Range::exactly(width, bits)) }
            }
            _ => Bounds { constant, range: Some(Range::full(width)) },
        },
        Constancy::Varies if range.unsigned.0 == range.unsigned.1 => {
            let attr = Numbers::One(range.unsigned.0).attr(ctx, body.value_type(value));
            Bounds { constant: attr.map_or(constant, Constancy::Constant), range: Some(range) }
        }
        Constancy::Varies => Bounds { constant, range: Some(range) },
    }
}

impl Analysis for RangeAnalysis {
    type Fact = Bounds;

    fn unknown(&self, body: &Body, value: Value) -> Bounds {
        Bounds { constant: Constancy::Varies, range: width(body, value).map(Range::full) }
    }

    fn join(&self, a: &Bounds, b: &Bounds) -> Bounds {
        let range = a.range.zip(b.range).map(|(a, b)| a.or(b));
        Bounds { constant: a.constant.join(b.constant), range }
    }

    fn transfer(&self, op: OpRef<'_>, operands: &[Bounds]) -> Vec<Bounds> {
        let constants: Vec<Constancy> = operands.iter().map(|fact| fact.constant).collect();
        let constants = folded(op, &constants).unwrap_or_default();
        let ranges: Vec<Option<Range>> = operands.iter().map(|fact| fact.range).collect();
        let ranges = match op.info().interface::<dyn InferRanges>() {
            Some(model) => model.ranges(op, &ranges),
            None => vec![of_result(op, &ranges)],
        };
        let facts = op.results().enumerate().map(|(i, value)| {
            let constant = constants.get(i).copied().unwrap_or(Constancy::Varies);
            bounds(op.body(), value, constant, ranges.get(i).copied().flatten())
        });
        facts.collect()
    }

    fn widen(&self, body: &Body, value: Value, old: &Bounds, risen: Bounds) -> Bounds {
        let (Some(from), Some(to), Some(width)) = (old.range, risen.range, width(body, value)) else {
            return risen;
        };
        let ends = signed_ends(width);
        let unsigned = (
            if to.unsigned.0 < from.unsigned.0 { 0 } else { to.unsigned.0 },
            if to.unsigned.1 > from.unsigned.1 { mask(width) } else { to.unsigned.1 },
        );
        let signed = (
            if to.signed.0 < from.signed.0 { ends.0 } else { to.signed.0 },
            if to.signed.1 > from.signed.1 { ends.1 } else { to.signed.1 },
        );
        Bounds { constant: risen.constant, range: Some(Range { unsigned, signed }) }
    }

    fn constant(&self, _: &Body, _: Value, fact: &Bounds) -> Option<Attr> {
        fact.constant.constant()
    }

    fn induction(
        &self,
        body: &Body,
        variable: Value,
        loop_bounds: &LoopBounds,
        is_unsigned: bool,
        facts: &dyn Fn(Value) -> Option<Bounds>,
    ) -> Option<Bounds> {
        let ValueDef::BlockArgument { block, .. } = body.def(variable) else { return None };
        let op = body.op_ref(body.region_parent(body.block_region(block)));
        let ranges = |value| facts(value).and_then(|fact| fact.range);
        let range = of_induction(op, variable, loop_bounds, is_unsigned, &ranges);
        let unknown = self.unknown(body, variable);
        match width(body, variable) {
            Some(_) => range.map(|range| bounds(body, variable, Constancy::Varies, Some(range))),
            None => Some(unknown),
        }
    }
}
