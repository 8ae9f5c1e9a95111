//! Handles while the text changes: operations are followed by the bodies that hold them.
//!
//! A body tells what became of an operation ([`Fate`]). The handle of a replaced operation refers
//! to what replaced it, if that is an operation of the same name or a constant. Handles to erased
//! operations are empty. All others are invalid, and say why when they are used.

use hashbrown::HashMap;
use loomir_ir::{Fate, Loc, Op, OpName, Trait};

use super::payload::{BodyPath, Entity, Payload, Thing};

/// The entities of a body that are followed.
pub(super) struct Following {
    path: BodyPath,
    /// The operations, with their names. An operation that owns a body may have no entity.
    ops: Vec<(Op, OpName, Option<Entity>)>,
}

impl Payload<'_> {
    /// Follows the operations with entities in the bodies at or below a path.
    pub(super) fn follow(&mut self, path: &[Op]) -> Vec<Following> {
        let mut all: Vec<Following> = Vec::new();
        let mut numbers: HashMap<BodyPath, usize> = HashMap::new();
        let mut add = |path: &[Op], op: Op, name: OpName, entity: Option<Entity>| {
            let path = BodyPath::from(path);
            let number = *numbers.entry(path.clone()).or_insert_with(|| {
                all.push(Following { path, ops: Vec::new() });
                all.len() - 1
            });
            all[number].ops.push((op, name, entity));
        };
        for (entity, own, op) in self.ops_below(path) {
            // The owner of a body below the path may be copied or erased with it.
            for end in path.len()..own.len() {
                if let Some(body) = self.body(&own[..end]) {
                    add(&own[..end], own[end], body.op_name(own[end]), None);
                }
            }
            let Some(body) = self.body(&own) else { continue };
            if op != body.root() {
                add(&own, op, body.op_name(op), Some(entity));
            }
        }
        // Bodies on the outside come first.
        all.sort_by_key(|own| own.path.len());
        for Following { path, ops } in &all {
            if let Some(body) = self.body_mut(path) {
                let ops: Vec<Op> = ops.iter().map(|(op, ..)| *op).collect();
                body.follow(&ops);
            }
        }
        all
    }

    /// Finds the operations that were followed while an operation of the schedule changed the text.
    /// With `is_silent`, handles of operations that are lost become empty.
    pub(super) fn find_followed(&mut self, following: Vec<Following>, by: Loc, is_silent: bool) {
        let mut moved: Vec<(Entity, Thing)> = Vec::new();
        let mut lost: Vec<BodyPath> = Vec::new();
        for Following { path, ops } in following {
            if lost.iter().any(|around| path.starts_with(around)) {
                moved.extend(ops.iter().filter_map(|(.., entity)| Some(((*entity)?, Thing::Erased))));
                continue;
            }
            let Some(body) = self.body_mut(&path) else { continue };
            let fates = body.take_followed();
            for ((op, name, entity), fate) in ops.into_iter().zip(fates) {
                let thing = match fate {
                    Fate::Is(now) if now == op => continue,
                    Fate::Is(now)
                        if body.op_name(now) == name || body.has_trait(now, Trait::ConstantLike) =>
                    {
                        Thing::Op(path.clone(), now)
                    }
                    Fate::Erased => Thing::Erased,
                    _ if is_silent => Thing::Erased,
                    Fate::Copied => Thing::Invalid(by, "its operation has several copies behind this step"),
                    Fate::Is(_) => {
                        Thing::Invalid(by, "its operation was replaced by one of another kind in this step")
                    }
                    Fate::Split => {
                        Thing::Invalid(by, "its operation was replaced by other values in this step")
                    }
                };
                match entity {
                    Some(entity) => moved.push((entity, thing)),
                    None => lost.push(path.iter().copied().chain([op]).collect()),
                }
            }
        }
        self.set_things(moved);
    }
}
