//! Operations that are followed while their body changes.
//!
//! A rewrite may move an operation, replace it by another one, copy it or erase it. A [`Trail`]
//! in the body writes that down at the place where it happens, so that no pattern, fold or pass
//! can forget to. Nothing is added to the program: an attribute would make equal operations
//! different.
//!
//! An operation is replaced if all its results were, before it was erased, by those of one other
//! operation. Several copies, or values of several operations, leave no single operation.
//!
//! **Invariant.** While a trail exists, no slot of an erased operation is used again. A copy of the
//! body has none.
//!
//! **Cost.** A change costs a look-up in a hash table, and only while operations are followed.

use hashbrown::HashMap;

use super::{Body, ERASED, ValueDef};
use crate::entity::{Op, Value};

/// The fate of a followed operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The operation is there, or another one in its place.
    Is(Op),
    /// Nothing replaced it.
    Erased,
    /// There are several copies.
    Copied,
    /// Its results were replaced by values that are not the results of one operation.
    Split,
}

/// The followed operations of a body. See the [module](self).
#[derive(Default)]
pub(super) struct Trail {
    fates: Vec<Followed>,
    /// The followed operations that an operation stands for, by number.
    stands_for: HashMap<u32, Vec<usize>>,
    /// The operations whose results replaced a result: of that operation, with that number.
    replaced: HashMap<(u32, u32), Option<u32>>,
    /// The slots of erased operations.
    pub(super) held: Vec<u32>,
}

/// One followed operation.
struct Followed {
    /// The operations that stand for it now.
    now: Vec<u32>,
    is_split: bool,
}

impl Trail {
    /// Lets `new` stand for all that `old` stands for.
    fn add(&mut self, old: u32, new: u32) {
        for number in self.stands_for.get(&old).cloned().unwrap_or_default() {
            if !self.fates[number].now.contains(&new) {
                self.fates[number].now.push(new);
                self.stands_for.entry(new).or_default().push(number);
            }
        }
    }
}

impl Body {
    /// Follows these operations until [`take_followed`](Body::take_followed). Those that are
    /// followed already are forgotten.
    pub fn follow(&mut self, ops: &[Op]) {
        drop(self.take_followed());
        let mut trail = Box::new(Trail::default());
        for (number, op) in ops.iter().enumerate() {
            let op = op.raw(self.arena);
            trail.fates.push(Followed { now: vec![op], is_split: false });
            trail.stands_for.entry(op).or_default().push(number);
        }
        self.trail = Some(trail);
    }

    /// Says that `copy` was made from `op`, or in its place.
    pub fn was_copied(&mut self, op: Op, copy: Op) {
        if let Some(trail) = &mut self.trail {
            trail.add(op.raw(self.arena), copy.raw(self.arena));
        }
    }

    /// Returns what became of the followed operations, in their order, and follows them no longer.
    pub fn take_followed(&mut self) -> Vec<Fate> {
        let Some(trail) = self.trail.take() else { return Vec::new() };
        let Trail { fates, held, .. } = *trail;
        self.free_ops.extend(held);
        let fate = |own: Followed| match own.now[..] {
            [op] => Fate::Is(self.op(op)),
            [] if own.is_split => Fate::Split,
            [] => Fate::Erased,
            _ => Fate::Copied,
        };
        fates.into_iter().map(fate).collect()
    }

    /// Writes down that one value replaces another.
    pub(super) fn trace_replaced(&mut self, from: Value, to: Value) {
        if self.trail.is_none() {
            return;
        }
        let ValueDef::OpResult { op, index } = self.def(from) else { return };
        let by = self.defining_op(to).map(|by| by.raw(self.arena));
        if let Some(trail) = &mut self.trail {
            trail.replaced.insert((op.raw(self.arena), index as u32), by);
        }
    }

    /// Writes down that an operation is erased.
    pub(super) fn trace_erased(&mut self, op: u32) {
        let results = self.ops[op as usize].num_results;
        let Some(trail) = &mut self.trail else { return };
        let replaced: Vec<Option<Option<u32>>> =
            (0..results).map(|index| trail.replaced.remove(&(op, index))).collect();
        if !trail.stands_for.contains_key(&op) {
            return;
        }
        let mut by = replaced.iter().flatten().copied();
        let first = by.next();
        let is_one = first.is_some() && replaced.iter().all(|own| *own == first);
        let new = first.flatten().filter(|new| is_one && self.ops[*new as usize].block != ERASED);
        if let Some(new) = new.filter(|new| *new != op) {
            trail.add(op, new);
        }
        for number in trail.stands_for.remove(&op).unwrap_or_default() {
            let own = &mut trail.fates[number];
            own.now.retain(|now| *now != op);
            own.is_split |= new.is_none() && first.is_some();
        }
    }
}
