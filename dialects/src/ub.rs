//! The `ub` dialect: undefined behaviour, deferred and immediate.

use loomir_ir::opdef::StructAttrDef;
use loomir_ir::{Attr, AttrKind, Context, Dict, Loc, OpRef, OperationState, Registry, Type, dialect};

use crate::interfaces::{Effect, MemoryEffects};

pub(crate) mod evaluate;

dialect! {
    /// Undefined behaviour made explicit: a value that is poison, and a place that is never
    /// reached.
    pub UB = "ub" {
        attrs [POISON]
        constant materialize_constant;
    }

    /// Poison: every bit of the value may be read as anything, even differently by two reads.
    /// Results that depend on it are poison too. `value` may narrow poison down to parts of an
    /// aggregate.
    PoisonOp = "poison" {
        results { result: One Any }
        attrs { value: Default = "#ub.poison" Any }
        traits [ConstantLike, Pure]
        format "attr-dict (`<` $value^ `>`)? `:` type($result)"
    }

    /// A place that is never reached: to reach it is undefined behaviour.
    UnreachableOp = "unreachable" {
        traits [Terminator]
        format "attr-dict"
    }
}

/// `#ub.poison`.
const POISON: StructAttrDef =
    StructAttrDef { name: "ub.poison", alias: None, parse: |_| Ok(Vec::new()), print: |_, _| {} };

/// Returns the attribute `#ub.poison`, the constant value of poison.
pub fn poison_attr(ctx: &Context) -> Attr {
    ctx.attr(AttrKind::Dialect { name: ctx.name(POISON.name), params: Dict::EMPTY })
}

/// True if an attribute is `#ub.poison`.
pub fn is_poison(ctx: &Context, attr: Attr) -> bool {
    matches!(attr.kind(ctx), AttrKind::Dialect { name, .. } if ctx.str(*name) == POISON.name)
}

/// Returns `ub.poison` of a type, for the attribute `#ub.poison`. Other attributes belong to other
/// dialects.
pub(crate) fn materialize_constant(ctx: &Context, value: Attr, ty: Type) -> Option<OperationState> {
    is_poison(ctx, value).then(|| {
        OperationState::of(ctx, PoisonOp::DEF, Loc::UNKNOWN).attr(ctx, "value", value).results(&[ty])
    })
}

/// An unreachable operation. It has no effect, but nothing after it runs.
struct Unreachable;

impl MemoryEffects for Unreachable {
    fn effects(&self, _: OpRef<'_>) -> Vec<Effect> {
        Vec::new()
    }

    fn may_not_return(&self, _: OpRef<'_>) -> bool {
        true
    }

    fn may_be_undefined(&self, _: OpRef<'_>) -> bool {
        true
    }
}

/// Registers the dialect with its interfaces.
pub fn register(registry: &mut Registry) {
    registry.dialect(&UB);
    evaluate::register(registry);
    registry.attach_to::<dyn MemoryEffects>(crate::ub::UnreachableOp::DEF, Box::new(Unreachable));
}
