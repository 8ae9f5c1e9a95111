//! Interfaces of the `arith` operations: effects, names, constants.

use loomir_ir::text::AsmNames;
use loomir_ir::{Attr, Context, Loc, OpRef, OperationState, Registry, Type, Value};

use super::constant::{Numbers, is_number_of, mask, width};
use super::{ConstantOp, syntax};
use crate::interfaces::{Effect, MemoryEffects};
use crate::names::AsDefined;

/// Returns an operation that yields a constant: `arith.constant`, or `ub.poison` for poison.
pub(crate) fn materialize_constant(ctx: &Context, value: Attr, ty: Type) -> Option<OperationState> {
    // The integers of `arith` are signless.
    let is_signed = ty.integer_width(ctx).is_some() && !ty.is_signless_integer(ctx);
    if !is_signed && is_number_of(ctx, value, ty) {
        let state = OperationState::of(ctx, ConstantOp::DEF, Loc::UNKNOWN);
        return Some(state.attr(ctx, "value", value).results(&[ty]));
    }
    crate::ub::materialize_constant(ctx, value, ty)
}

struct ConstantNames;

impl AsmNames for ConstantNames {
    fn result_names(&self, op: OpRef<'_>) -> Vec<(Value, String)> {
        vec![(op.result(0), syntax::constant_name(op))]
    }
}

/// An integer division. It has no effect, but some divisors are undefined.
pub(crate) struct Division {
    /// True if the least integer divided by minus one is undefined too.
    pub(crate) signed: bool,
}

impl MemoryEffects for Division {
    fn effects(&self, _: OpRef<'_>) -> Vec<Effect> {
        Vec::new()
    }

    fn may_be_undefined(&self, op: OpRef<'_>) -> bool {
        let ctx = op.ctx();
        let divisors = loomir_ir::rewrite::constant_of(op.body(), op.operand(1));
        let (Some(numbers), Some(width)) =
            (divisors.and_then(|attr| Numbers::of(ctx, attr)), width(ctx, op.operand_type(1).scalar(ctx)))
        else {
            return true;
        };
        let unsafe_divisor = |bits: &u128| *bits == 0 || (self.signed && *bits == mask(width));
        match &numbers {
            Numbers::One(bits) => unsafe_divisor(bits),
            Numbers::Many(all) => all.iter().any(unsafe_divisor),
        }
    }
}

pub(super) fn register(registry: &mut Registry) {
    registry.attach_to::<dyn AsmNames>(crate::arith::ConstantOp::DEF, Box::new(ConstantNames));
    for op in ["arith.addui_extended", "arith.mulsi_extended", "arith.mului_extended"] {
        registry.attach::<dyn AsmNames>(op, Box::new(AsDefined));
    }
    for op in ["arith.divui", "arith.ceildivui", "arith.remui"] {
        registry.attach::<dyn MemoryEffects>(op, Box::new(Division { signed: false }));
    }
    for op in ["arith.divsi", "arith.ceildivsi", "arith.floordivsi", "arith.remsi"] {
        registry.attach::<dyn MemoryEffects>(op, Box::new(Division { signed: true }));
    }
}
