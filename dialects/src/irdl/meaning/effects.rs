//! The memory effects of a function that is the meaning of an operation.

use loomir_ir::{Body, OpRef, Trait, Value};

use super::{Declared, entry};
use crate::interfaces::{EffectKind, MemoryEffects, Resource};

/// The effects of a function, seen from outside. Memory that it allocates for itself has none.
#[derive(Clone, Debug, Default)]
pub(super) struct FunctionEffects {
    /// Effects on the objects of arguments, by their numbers.
    pub(super) on_arguments: Vec<(EffectKind, usize)>,
    /// True if it may touch anything else.
    pub(super) is_unknown: bool,
    pub(super) may_not_return: bool,
    pub(super) may_be_undefined: bool,
}

impl FunctionEffects {
    /// Returns the effects of the operations in a function.
    pub(super) fn of(body: &Body) -> FunctionEffects {
        let mut effects = FunctionEffects::default();
        for op in body.all_ops().filter(|op| *op != body.root()) {
            effects.add(body.op_ref(op));
        }
        effects.on_arguments.sort_by_key(|(kind, at)| (*at, *kind as u8));
        effects.on_arguments.dedup();
        effects
    }

    fn add(&mut self, op: OpRef<'_>) {
        let info = op.info();
        let model = info.interface::<dyn MemoryEffects>();
        let is_pure = info.has_trait(Trait::Pure);
        if model.is_none() && !is_pure && !info.has_trait(Trait::RecursiveMemoryEffects) {
            self.is_unknown = true;
            self.may_not_return = true;
            self.may_be_undefined = true;
            return;
        }
        self.may_not_return |= op.regions().any(|region| op.body().blocks(region).nth(1).is_some());
        let Some(model) = model else { return };
        self.may_not_return |= model.may_not_return(op);
        self.may_be_undefined |= model.may_be_undefined(op);
        for effect in if is_pure { Vec::new() } else { model.effects(op) } {
            match effect.on {
                Resource::Value(value) => self.touch(op.body(), effect.kind, value),
                Resource::Global(_) | Resource::World => self.is_unknown = true,
            }
        }
    }

    /// Notes an effect on the object of a value.
    fn touch(&mut self, body: &Body, kind: EffectKind, value: Value) {
        let argument = entry(body).and_then(|block| body.arguments(block).position(|own| own == value));
        match argument {
            Some(at) => self.on_arguments.push((kind, at)),
            None if is_local(body, value) => {}
            None => self.is_unknown = true,
        }
    }

    /// Returns an effect that an operation does not declare, as a verb.
    pub(super) fn undeclared(&self, declared: &Declared) -> Option<String> {
        if !declared.is_pure && declared.effects.is_none() {
            return None;
        }
        if self.is_unknown {
            return Some("may touch any memory".into());
        }
        if self.may_not_return {
            return Some("may not return".into());
        }
        let missing = self.on_arguments.iter().find(|(kind, at)| {
            let name = declared.operands.get(*at);
            let list = declared.effects.iter().flat_map(|own| &own.effects);
            !list.into_iter().any(|(own, value)| own == kind && Some(value) == name)
        });
        let Some((kind, at)) = missing else {
            // Pure operations run where they would not have run.
            let is_undeclared = declared.is_pure && self.may_be_undefined;
            return is_undeclared.then(|| "is undefined for some operands".into());
        };
        let verb = match kind {
            EffectKind::Read => "reads",
            EffectKind::Write => "writes",
            EffectKind::Allocate => "allocates",
            EffectKind::Free => "frees",
        };
        Some(format!("{verb} argument #{at}"))
    }
}

/// True if a value is memory that the function allocates and uses by itself.
fn is_local(body: &Body, value: Value) -> bool {
    let Some(op) = body.defining_op(value) else { return false };
    let info = body.info(op);
    let is_new = info.has_trait(Trait::DistinctResults);
    let stays = |user: OpRef<'_>| {
        let model = user.info().interface::<dyn MemoryEffects>();
        let stores_it = user.info().interface::<dyn crate::interfaces::MemoryAccess>();
        let is_stored =
            stores_it.is_some_and(|model| model.access(user).stored.is_some_and(|stored| stored == value));
        model.is_some() && user.num_results() <= 1 && !is_stored && !user.info().has_trait(Trait::Terminator)
    };
    let is_element =
        |user: OpRef<'_>| user.info().interface::<dyn crate::interfaces::MemoryAccess>().is_some();
    let is_free = |user: OpRef<'_>| user.num_results() == 0 && user.regions().len() == 0;
    let mut users = body.uses(value).map(|used| body.op_ref(used.op));
    is_new && users.all(|user| stays(user) && (is_element(user) || is_free(user)))
}
