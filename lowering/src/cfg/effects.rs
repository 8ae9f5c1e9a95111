//! The effects of operations besides making values, as far as loops care.

use hashbrown::HashMap;
use loomir_dialects::interfaces::{self, EffectKind, MemoryEffects, Resource};
use loomir_dialects::llvm;
use loomir_ir::opdef::Trait;
use loomir_ir::{Body, Op};

/// True if an operation may run where it didn't, or not where it did: it only makes values and
/// can't be undefined.
pub(super) fn is_speculatable(function: &Body, op: Op) -> bool {
    interfaces::is_speculatable(function.op_ref(op)) && !function.has_trait(op, Trait::Terminator)
}

/// True if an operation makes values and at most reads through its pointers. The number of its
/// executions is not observable, but it may be undefined.
pub(super) fn only_reads(function: &Body, op: Op) -> bool {
    let Some(model) = function.info(op).interface::<dyn MemoryEffects>() else { return false };
    let view = function.op_ref(op);
    let is_read = |kind, on| kind == EffectKind::Read && matches!(on, Resource::Value(_));
    !function.has_trait(op, Trait::Terminator)
        && !model.may_not_return(view)
        && model.effects(view).iter().all(|effect| is_read(effect.kind, effect.on))
}

/// True if the execution of an operation is observable, apart from its results and its duration.
/// Undefined behaviour does not count as observable.
pub(crate) fn is_seen(function: &Body, op: Op) -> bool {
    if function.has_trait(op, Trait::Pure) {
        return false;
    }
    let Some(effects) = function.info(op).interface::<dyn MemoryEffects>() else { return true };
    let op = function.op_ref(op);
    let is_harmless = |kind, on| match kind {
        EffectKind::Read => on != Resource::World,
        EffectKind::Allocate => true,
        EffectKind::Write | EffectKind::Free => false,
    };
    effects.may_not_return(op)
        || !effects.effects(op).iter().all(|effect| is_harmless(effect.kind, effect.on))
}

/// True if an operation may read or write memory.
pub(super) fn touches_memory(function: &Body, op: Op) -> bool {
    let is_call = function.is(op, llvm::InvokeOp::DEF);
    if function.has_trait(op, Trait::Pure) || function.has_trait(op, Trait::Terminator) && !is_call {
        return false;
    }
    let effects = function.info(op).interface::<dyn MemoryEffects>();
    effects.is_none_or(|model| {
        let effects = model.effects(function.op_ref(op));
        effects.iter().any(|effect| effect.kind != EffectKind::Allocate)
    })
}

/// True if an operation has exactly one memory effect: a load or a store that is neither volatile
/// nor ordered.
pub(super) fn has_one_effect(function: &Body, op: Op) -> bool {
    let model = function.info(op).interface::<dyn MemoryEffects>();
    model.is_some_and(|model| model.effects(function.op_ref(op)).len() == 1)
}

/// Returns the dead operations: they only make values, or with `loads` only load them, and the
/// values are unused. Users come before their operands. Loads without effect on the result count as
/// pure. Linear.
pub(crate) fn unused(function: &Body, loads: bool) -> Vec<Op> {
    let is_load = |op: Op| function.is(op, llvm::LoadOp::DEF) && has_one_effect(function, op);
    let may_go = |op: Op| is_speculatable(function, op) || loads && is_load(op);
    let uses = |op: Op| function.results(op).map(|value| function.uses(value).count()).sum::<usize>();
    let ops = function.blocks(function.region(function.root(), 0)).flat_map(|block| function.ops(block));
    let all: Vec<(Op, usize)> = ops.filter(|op| may_go(*op)).map(|op| (op, uses(op))).collect();
    let mut unused: Vec<Op> = all.iter().filter(|(_, uses)| *uses == 0).map(|(op, _)| *op).collect();
    let mut used: HashMap<Op, usize> = all.into_iter().collect();
    let mut at = 0;
    while let Some(op) = unused.get(at).copied() {
        for operand in function.operands(op).filter_map(|value| function.defining_op(value)) {
            if let Some(uses) = used.get_mut(&operand) {
                *uses -= 1;
                if *uses == 0 {
                    unused.push(operand);
                }
            }
        }
        at += 1;
    }
    unused
}
