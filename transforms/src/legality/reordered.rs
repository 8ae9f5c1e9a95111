//! Which updates a tree runs in another order.
//!
//! A legal tree may do that with two updates of one object by one reduction. What is promised of
//! their results on the way holds no more then; it still does of an update that has the same ones
//! before it as ever. Each pair is asked about as any two accesses are, but for the freedom.
//!
//! **Assumptions.**
//! - Flags of an update hold of the order in which it was written, and of no other. Tried with
//!   `fixtures/fusion/update_flags.mlir` and `update_flags_versioned.mlir`.
//!
//! **Cost.** The accesses of the part that was changed; of each object a bounded number of pairs.
//! Of those with more updates all are taken to be reordered.

use hashbrown::{HashMap, HashSet};
use loomir_ir::{Body, Op, Value};

use super::changed_region::ChangedRegion;
use super::order::either_way;
use super::scheduled::{Access, ScheduledStatement};
use crate::access::base::Base;
use crate::access::updates::reduction::has_poison_flags;
use crate::access::updates::{Reduction, updates_of};
use crate::tree::Program;

/// Most updates of an object by one reduction of which each pair is asked about.
const MAX_UPDATES: usize = 16;

/// Updates that have no order: those of an object, as it is known, by one reduction.
type Group = (Base, Option<Value>, Reduction);

/// The steps of updates of a program that have flags to lose.
pub(super) fn flagged(ir: &Body, program: &Program) -> HashSet<Op> {
    let classes = program.statements().flat_map(|statement| &statement.effects.classes);
    let stores = classes.filter(|(class, _)| class.writes && class.update.is_some());
    stores.filter_map(|(_, store)| step(ir, *store)).filter(|step| has_poison_flags(ir, *step)).collect()
}

/// Those of them whose order in a tree with these leaves may be another one.
pub(super) fn steps(
    part: &ChangedRegion<'_>,
    leaves: &[ScheduledStatement],
    flagged: &HashSet<Op>,
) -> HashSet<Op> {
    // In a legal tree, where an update is written says when it runs, though something else may run
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

/// The step of the reduction whose result a store writes.
fn step(ir: &Body, store: Op) -> Option<Op> {
    updates_of(ir, store).first().map(|update| update.step)
}
