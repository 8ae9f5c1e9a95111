//! Store-to-load forwarding and dead stores within an iteration: a load is replaced by the value
//! last seen in the element, and a store that is overwritten before it is read is removed.
//!
//! *Forwarding* looks for the nearest earlier load or store of the same element whose block is
//! around the load. Such an access ran in the same iteration of all its loops, whatever the
//! conditions there. It is the last writer if no possible write of the element lies between.
//! Conversely, a store is *dead* if a later store of the same element in its block or a surrounding
//! one comes before any read.
//!
//! **Cost.** Each access is compared with at most [`MAX_CANDIDATES`] earlier ones of equal
//! subscripts and with at most [`MAX_BETWEEN`] accesses between.

use std::hash::Hash;

use hashbrown::HashMap;
use loomir_ir::{Body, Op, Value};

use super::{Forwarded, StorageJudge, Unneeded};
use crate::access::base::Base;
use crate::affine::AffineForm;
use crate::flow::Flow;
use crate::flow::timeline::{Access, AccessId, Timeline};

/// The number of accesses of one element to try, from the nearest on.
const MAX_CANDIDATES: usize = 8;
/// The maximal number of examined accesses between two.
const MAX_BETWEEN: usize = 64;

/// An element of an object, as the accesses of one iteration name it.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Element {
    base: Base,
    origin: Option<Value>,
    sizes: Vec<AffineForm>,
    subscripts: Vec<AffineForm>,
}

impl Element {
    /// Returns the element that a load or store outside compounds accesses.
    pub(super) fn of(access: &Access) -> Option<Element> {
        access.element().and_then(|_| Element::of_any(access))
    }

    /// Returns the element of a load or store that may be inside a compound.
    fn of_any(access: &Access) -> Option<Element> {
        let class = Some(&access.class).filter(|_| !access.called)?;
        let subscripts = class.subscripts.as_ref()?.iter().cloned().collect::<Option<_>>()?;
        Some(Element { base: class.base, origin: class.origin, sizes: class.sizes.clone(), subscripts })
    }
}

/// Accesses by element, the nearest last.
#[derive(Default)]
struct Elements(HashMap<Element, Vec<AccessId>>);

impl Elements {
    fn nearest(&self, element: &Element) -> impl Iterator<Item = AccessId> + '_ {
        self.0.get(element).into_iter().flatten().rev().take(MAX_CANDIDATES).copied()
    }

    fn add(&mut self, element: Element, id: AccessId) {
        self.0.entry(element).or_default().push(id);
    }
}

impl StorageJudge<'_> {
    /// Returns the redundant loads, each with the earlier access that has its value. That access is
    /// never a redundant load itself.
    pub(crate) fn forwarded(&self) -> Vec<Forwarded> {
        forwarded(self.body, self.timeline, self.flow)
    }

    /// Returns the stores that are overwritten before any read.
    pub(crate) fn overwritten(&self) -> Vec<Unneeded> {
        overwritten(self.body, self.timeline, self.flow)
    }
}

fn forwarded(body: &Body, timeline: &Timeline, flow: &Flow<'_>) -> Vec<Forwarded> {
    let mut seen = Elements::default();
    let mut sources: HashMap<AccessId, AccessId> = HashMap::new();
    let mut found = Vec::new();
    for id in timeline.accesses() {
        let access = timeline.get(id);
        let Some(element) = Element::of_any(access) else { continue };
        if !access.class.writes
            && let Some(source) = source(body, timeline, flow, id, seen.nearest(&element))
        {
            // A redundant load has the value of its own source.
            let source = sources.get(&source).copied().unwrap_or(source);
            sources.insert(id, source);
            found.push(Forwarded { load: id, source });
        }
        if access.element().is_some() {
            seen.add(element, id);
        }
    }
    found
}

/// Returns the nearest of these accesses that certainly precedes `load`, if no write to the element
/// comes in between.
fn source(
    body: &Body,
    timeline: &Timeline,
    flow: &Flow<'_>,
    load: AccessId,
    candidates: impl Iterator<Item = AccessId>,
) -> Option<AccessId> {
    let access = timeline.get(load);
    for candidate in candidates {
        let from = timeline.get(candidate);
        let Some(item) = later_item(body, from.op, access.op) else { continue };
        let last = timeline.extent(item, access.order).1;
        let mut between = timeline
            .near(access.class.base, from.order + 1, last)
            .filter(|id| timeline.get(*id).class.writes);
        let clear = none_of(&mut between, |id| flow.may_meet(id, load, from.depth()));
        return clear.then_some(candidate);
    }
    None
}

fn overwritten(body: &Body, timeline: &Timeline, flow: &Flow<'_>) -> Vec<Unneeded> {
    let mut later = Elements::default();
    let mut dead = Vec::new();
    for id in timeline.accesses().rev() {
        let access = timeline.get(id);
        let Some(element) = Element::of(access).filter(|_| access.class.writes) else { continue };
        if is_overwritten(body, timeline, flow, id, later.nearest(&element)) {
            dead.push(Unneeded(id));
        }
        // A removed store is itself overwritten before anything reads it.
        later.add(element, id);
    }
    dead
}

/// True if the nearest store that certainly follows `store` precedes every read of the element.
fn is_overwritten(
    body: &Body,
    timeline: &Timeline,
    flow: &Flow<'_>,
    store: AccessId,
    candidates: impl Iterator<Item = AccessId>,
) -> bool {
    let access = timeline.get(store);
    for candidate in candidates {
        let until = timeline.get(candidate);
        let Some(item) = earlier_item(body, access.op, until.op) else { continue };
        let first = timeline.extent(item, access.order).0;
        let mut between =
            timeline.near(access.class.base, first, until.order - 1).filter(|id| timeline.get(*id).reads());
        return none_of(&mut between, |id| flow.may_meet(store, id, until.depth()));
    }
    false
}

/// True if none of the accesses fulfils a condition, and there are only a few.
fn none_of(accesses: &mut impl Iterator<Item = AccessId>, mut so: impl FnMut(AccessId) -> bool) -> bool {
    let few = accesses.by_ref().take(MAX_BETWEEN).all(|id| !so(id));
    few && accesses.next().is_none()
}

/// Returns `op`, or its ancestor, in the block of `first`, if it is after `first`.
fn later_item(body: &Body, first: Op, op: Op) -> Option<Op> {
    let item = body.ancestor_in_block(op, body.block_of(first)?)?;
    body.is_before_in_block(first, item).then_some(item)
}

/// Returns `op`, or its ancestor, in the block of `last`, if it is before `last`.
fn earlier_item(body: &Body, op: Op, last: Op) -> Option<Op> {
    let item = body.ancestor_in_block(op, body.block_of(last)?)?;
    body.is_before_in_block(item, last).then_some(item)
}
