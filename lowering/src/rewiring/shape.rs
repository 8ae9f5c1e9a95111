//! The shape of an operation: everything but its operands and its place.
//!
//! Promises about results (that a word does not wrap, that a float is a number) are not part of it:
//! they are compared separately. Neither is the number of values that a branch passes on.

use hashbrown::HashMap;
use loomir_dialects::branch::CASE_SEGMENTS;
use loomir_dialects::interfaces::{EffectKind, MemoryEffects, Resource};
use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::{Attr, Body, Name, Op, OpName, Trait, Type};

/// Attributes that are promises.
const PROMISES: &[&str] = &[
    "overflowFlags",
    "fastmathFlags",
    "isExact",
    "isDisjoint",
    "nonNeg",
    "noWrapFlags",
    loomir_dialects::llvm::SAME_SIGN,
];

/// The effect of an operation besides making values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Does {
    /// No effect: it may be computed anywhere.
    Nothing,
    /// No effect, but it must not run where it did not.
    MayFail,
    /// It reads memory.
    Reads,
    /// Any other effect.
    Acts,
}

impl Does {
    /// Returns the effect of an operation; the worst case for an unknown one.
    pub(super) fn of(function: &Body, op: Op) -> Does {
        let makes_objects = function.has_trait(op, Trait::DistinctResults);
        if function.has_trait(op, Trait::Pure) && !makes_objects {
            return Does::Nothing;
        }
        let Some(model) = function.info(op).interface::<dyn MemoryEffects>() else { return Does::Acts };
        let view = function.op_ref(op);
        let effects = model.effects(view);
        if makes_objects || model.may_not_return(view) {
            return Does::Acts;
        }
        let reads = |kind, on| kind == EffectKind::Read && on != Resource::World;
        match effects.iter().all(|effect| reads(effect.kind, effect.on)) {
            true if effects.is_empty() => Does::MayFail,
            true => Does::Reads,
            false => Does::Acts,
        }
    }
}

/// A number for each shape; equal shapes are one number.
#[derive(Default)]
pub(super) struct Shapes {
    shapes: HashMap<Shape, u32>,
}

#[derive(PartialEq, Eq, Hash)]
struct Shape {
    name: OpName,
    attributes: Vec<(Name, Attr)>,
    results: Vec<Type>,
}

impl Shapes {
    /// Returns the shape of an operation.
    pub(super) fn of(&mut self, function: &Body, op: Op) -> u32 {
        let ctx = function.ctx();
        let branches = function.successors(op).len() > 0;
        let counts = |name: &str| branches && (name == OPERAND_SEGMENTS || name == CASE_SEGMENTS);
        let attributes = entries(function, op)
            .filter(|(name, _)| !PROMISES.contains(&ctx.str(*name)) && !counts(ctx.str(*name)))
            .collect();
        let results = function.results(op).map(|value| function.value_type(value)).collect();
        let shape = Shape { name: function.op_name(op), attributes, results };
        let next = self.shapes.len() as u32;
        *self.shapes.entry(shape).or_insert(next)
    }
}

/// Returns the promises of an operation about its results.
pub(super) fn promises(function: &Body, op: Op) -> Vec<(Name, Attr)> {
    let ctx = function.ctx();
    entries(function, op).filter(|(name, _)| PROMISES.contains(&ctx.str(*name))).collect()
}

fn entries(function: &Body, op: Op) -> impl Iterator<Item = (Name, Attr)> + '_ {
    let ctx = function.ctx();
    let [own, others] = [function.properties(op), function.attributes(op)].map(|dict| dict.entries(ctx));
    own.iter().chain(others).copied()
}
