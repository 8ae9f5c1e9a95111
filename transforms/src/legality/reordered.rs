//! The updates that a tree reorders.
//!
//! A legal tree may reorder two updates of one object by one reduction. Flags on their intermediate
//! results are then no longer valid. They stay valid for an update with the same updates before it
//! as in the program. Each pair is examined like any two accesses, without the freedom of updates.
//!
//! **Assumptions.**
//! - Flags of an update hold for the order in which it was written, and for no other. Tried with
//!   `fixtures/fusion/update_flags.mlir` and `update_flags_versioned.mlir`.
//!
//! **Cost.** The accesses of the changed region; for each object a bounded number of pairs. For
//! objects with more updates all are assumed to be reordered.

use hashbrown::{HashMap, HashSet};
use loomir_ir::{Body, Op, Value};

use super::changed_region::ChangedRegion;
use super::order::either_way;
use super::scheduled::{Access, ScheduledStatement};
use crate::access::base::Base;
use crate::access::updates::reduction::has_poison_flags;
use crate::access::updates::{Reduction, combined, updates_of};
use crate::tree::Program;
use crate::tree::program::LoopInfo;

/// The maximal number of updates of an object by one reduction for examining each pair.
const MAX_UPDATES: usize = 16;

/// Updates without order: those of one named object by one reduction.
type Group = (Base, Option<Value>, Reduction);

/// Returns the steps of updates of a program, and of values that loops carry, whose flags may be
/// lost.
pub(super) fn flagged(ir: &Body, program: &Program) -> HashSet<Op> {
    let combining = program.loops().map(|of| program.loop_info(of)).filter(|info| info.combines);
    let carried = combining.flat_map(|info| steps_of(ir, info));
    let classes = program.statements().flat_map(|statement| &statement.effects.classes);
    let stores = classes.filter(|(class, _)| class.writes && class.update.is_some());
    let updates = stores.filter_map(|(_, store)| step(ir, *store));
    updates.chain(carried).filter(|step| has_poison_flags(ir, *step)).collect()
}

/// Returns the steps that combine the values a loop carries.
fn steps_of(ir: &Body, info: &LoopInfo) -> impl Iterator<Item = Op> + use<> {
    combined(ir, info.block).into_iter().flatten().map(|own| own.step)
}

/// Returns the flagged updates whose order may differ in a tree with these leaves.
pub(super) fn steps(
    part: &ChangedRegion<'_>,
    leaves: &[ScheduledStatement],
    flagged: &HashSet<Op>,
) -> HashSet<Op> {
    // In a legal tree, the store of an update determines its time, though other code may run
    // between its parts.
    let mut groups: HashMap<Group, Vec<(Op, Access<'_>)>> = HashMap::new();
    for (place, leaf) in leaves.iter().enumerate() {
        for access in leaf.classes.iter().filter(|(class, _)| class.writes) {
            let (class, store) = access;
            if let Some((by, step)) = class.update.zip(step(part.body, *store)) {
                let group = groups.entry((class.base, class.origin, by)).or_default();
                group.push((step, (leaf, place, access)));
            }
        }
    }
    let mut found = HashSet::new();
    // Lanes combine what iterations of a loop contribute in another order.
    for leaf in leaves.iter().filter(|leaf| leaf.loops.iter().any(|own| own.are_lanes)) {
        let around = part.program.statement(leaf.statement).parent;
        let infos = around.map(|of| part.program.loop_info(of)).filter(|info| info.combines);
        found.extend(
            infos.into_iter().flat_map(|info| steps_of(part.body, info)).filter(|own| flagged.contains(own)),
        );
    }
    for ((base, ..), updates) in groups {
        let Some(overlap) = part.oracle.overlap(base, base) else { continue };
        for (i, (own, a)) in updates.iter().enumerate() {
            for (other, b) in &updates[i..] {
                let is_open = |step: &Op| flagged.contains(step) && !found.contains(step);
                if ![own, other].into_iter().any(is_open) || !part.is_moved(a.0, b.0) {
                    continue;
                }
                if updates.len() > MAX_UPDATES || !either_way(part, a, b, overlap, &[]).is_legal() {
                    found.extend([own, other].into_iter().filter(|step| flagged.contains(*step)));
                }
            }
        }
    }
    found
}

/// Returns the step of a reduction whose result a store writes.
fn step(ir: &Body, store: Op) -> Option<Op> {
    updates_of(ir, store).first().map(|update| update.step)
}
