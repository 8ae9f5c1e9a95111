//! Atomic updates of a tree: updates that happen as a whole, so that their order does not matter.
//!
//! An edit may separate the load and the store of an update. The update stays whole if both run in
//! the same iterations and nothing between them writes its element. Otherwise its parts are
//! ordinary accesses.
//!
//! **Assumptions.**
//! - Iterations of a parallel loop may run at the same time, so no update inside happens as a
//!   whole. Tried with `fixtures/parallelize/reductions.mlir`.
//! - An update happens as a whole if nothing between its load and its store writes its element, in
//!   any iteration of the loops around both. Tried with `fixtures/fusion/updates.mlir`.
//!
//! **Cost.** For each update at most [`MAX_BETWEEN`] leaves; a question for each write between its
//! load and its store.

use hashbrown::HashSet;
use loomir_ir::Op;

use super::changed_region::ChangedRegion;
use super::meeting::Meeting;
use super::merge::assume_apart;
use super::scheduled::{ScheduledStatement, shared};
use crate::access::base::Overlap;
use crate::access::updates::{MAX_BETWEEN, Update, updates_of};
use crate::access::{Answer, Class, Order, Question, Relation};
use crate::affine::AffineForm;
use crate::assumption::{self, Assumption};

/// Turns the accesses of updates that are no longer whole into ordinary ones. Returns the
/// assumptions of the others, as far as they are not tested at their place.
pub(super) fn keep_whole(part: &ChangedRegion<'_>, leaves: &mut [ScheduledStatement]) -> Vec<Assumption> {
    let mut whole: HashSet<(usize, Op)> = HashSet::new();
    let mut assumed = Vec::new();
    let in_order = |leaf: &&ScheduledStatement| !leaf.loops.iter().any(|around| around.parallel);
    for (place, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| in_order(leaf)) {
        let stores = leaf.classes.iter().filter(|(class, _)| class.writes && class.update.is_some());
        for (class, store) in stores {
            for update in updates_of(part.body, *store) {
                if let Some((at, own)) = together(part, leaves, (place, class), &update) {
                    whole.extend([(at, update.load), (place, *store)]);
                    assumption::add(&mut assumed, own);
                }
            }
        }
    }
    for (place, leaf) in leaves.iter_mut().enumerate() {
        for (class, op) in &mut leaf.classes {
            class.update = class.update.filter(|_| whole.contains(&(place, *op)));
        }
    }
    assumed
}

/// Returns the leaf with the load of an update, if the load and its store, of this class, happen as
/// a whole. Also returns the assumptions for that.
fn together(
    part: &ChangedRegion<'_>,
    leaves: &[ScheduledStatement],
    store: (usize, &Class),
    update: &Update,
) -> Option<(usize, Vec<Assumption>)> {
    let (place, class) = store;
    let writer = &leaves[place];
    let has = |leaf: &ScheduledStatement, op: Op| leaf.classes.iter().any(|(_, own)| *own == op);
    let mut assumed = Vec::new();
    // The accesses of one statement stay together.
    if has(writer, update.load) {
        return Some((place, assumed));
    }
    let mut before = (0..place).rev().take(MAX_BETWEEN);
    let at = before.find(|at| has(&leaves[*at], update.load))?;
    let reader = &leaves[at];
    let version = |leaf: &ScheduledStatement| leaf.version.map(|(number, _)| number);
    let is_in_place = version(reader) == version(writer)
        && reader.loops == writer.loops
        && reader.map == writer.map
        && reader.unsaid == writer.unsaid
        && reader.domain.constraints == writer.domain.constraints;
    if !is_in_place {
        return None;
    }
    for leaf in &leaves[at..=place] {
        for (other, op) in &leaf.classes {
            let intervenes = other.writes
                && *op != update.store
                && match part.oracle.overlap(other.base, class.base) {
                    None => false,
                    Some(Overlap::AssumedApart) => {
                        assume_apart(&mut assumed, other.base, class.base);
                        false
                    }
                    Some(overlap) => may_meet(part, (leaf, other), (writer, class), overlap),
                };
            if intervenes {
                return None;
            }
        }
    }
    let tested = writer.version.map_or(&[][..], |(_, id)| part.trees.assumptions(id));
    assumed.retain(|assumption| !tested.contains(assumption));
    Some((at, assumed))
}

/// True if two accesses may touch one element in one iteration of all common loops, given the
/// overlap of their objects.
fn may_meet(
    part: &ChangedRegion<'_>,
    (leaf, class): (&ScheduledStatement, &Class),
    (writer, store): (&ScheduledStatement, &Class),
    overlap: Overlap,
) -> bool {
    let around = part.loop_context.depth + shared(leaf, writer).len() as u32;
    let levels: Vec<AffineForm> = (part.loop_context.depth..around).map(AffineForm::level).collect();
    let relation = |level| Relation { first: level, is: Order::Equal, second: level };
    let order: Vec<Relation<'_>> = levels.iter().map(relation).collect();
    let answer = part.oracle.dependence.meet(&Question {
        first: class,
        second: store,
        loop_context: part.loop_context,
        equal: &Meeting::of(class, store, overlap).pairs,
        order: &order,
        shown: &[],
        limits: part.oracle.limits,
    });
    !matches!(answer, Answer::Never)
}
