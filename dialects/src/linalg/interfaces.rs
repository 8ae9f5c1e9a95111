//! Interfaces of the `linalg` operations: effects, and names of arguments.

use loomir_ir::text::AsmNames;
use loomir_ir::{OpRef, Region, Registry, TypeKind, Value};

use super::{GenericOp, LINALG, Structured};
use crate::interfaces::{Effect, EffectKind, MemoryEffects, Resource};

/// The effects of a loop nest around a computation, without those of the computation.
struct Elements;

impl MemoryEffects for Elements {
    fn effects(&self, op: OpRef<'_>) -> Vec<Effect> {
        let ctx = op.ctx();
        let view = Structured::of(op);
        let mut effects = Vec::new();
        for (index, value) in op.operands().enumerate() {
            if !matches!(op.operand_type(index).kind(ctx), TypeKind::MemRef { .. }) {
                continue;
            }
            let on = Resource::Value(value);
            if view.as_ref().is_none_or(|view| view.reads(index)) {
                effects.push(Effect { kind: EffectKind::Read, on });
            }
            if view.as_ref().is_none_or(|view| index >= view.num_inputs()) {
                effects.push(Effect { kind: EffectKind::Write, on });
            }
        }
        effects
    }

    // Sizes that do not fit each other are subscripts out of bounds.
    fn may_be_undefined(&self, _: OpRef<'_>) -> bool {
        true
    }
}

/// `%in` and `%out`, the arguments of `linalg.generic`.
struct Arguments;

impl AsmNames for Arguments {
    fn argument_names(&self, op: OpRef<'_>, region: Region) -> Vec<(Value, String)> {
        let body = op.body();
        let Some(block) = body.entry_block(region) else { return Vec::new() };
        let inputs = op.operand_group("inputs").len();
        let name = |index: usize| if index < inputs { "in" } else { "out" };
        body.arguments(block).enumerate().map(|(index, value)| (value, name(index).to_owned())).collect()
    }
}

pub(super) fn register(registry: &mut Registry) {
    for def in LINALG.ops.iter().filter(|def| !def.regions.is_empty()) {
        registry.attach_to::<dyn MemoryEffects>(def, Box::new(Elements));
    }
    registry.attach_to::<dyn AsmNames>(GenericOp::DEF, Box::new(Arguments));
}
