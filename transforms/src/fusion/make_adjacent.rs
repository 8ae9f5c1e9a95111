//! Makes two loops adjacent: entries between them are hoisted before the first, or the second loop
//! is moved over them.
//!
//! Two entries may be reordered if no instance of one conflicts with an instance of the other, and
//! neither uses a value computed by the other. Nothing may run that would not have been reached:
//! operations that may not return, or may be undefined, have an access that records this.
//!
//! Distinctness of arguments may be assumed for this; then both entries are in one
//! [version](super::segment). Reordering without assumptions is tried first.
//!
//! **Assumptions.**
//! - An operation that may end the program or be undefined records this as an access, so nothing is
//!   moved over it that must not be. Tried with `fixtures/fusion/may_not_return.mlir`.
//!
//! **Cost.** A swap costs the pairs of access classes on overlapping objects. An entry moves over
//! at most [`ENTRIES_PASSED`] others that stay, so few entries cost that much each.

use super::Fusion;
use super::decision::{Conflict, Stuck};
use super::footprint::Footprint;
use super::schedule::Entry;
use crate::access::LoopContext;
use crate::access::base::Bases;
use crate::assumption::{self, Assumption};
use crate::legality::{self, Verdict};

/// The maximal number of entries that a loop may move past.
pub(super) const ENTRIES_PASSED: usize = 32;

/// The moves that make two entries adjacent.
#[derive(Default)]
pub(super) struct Cleared {
    /// For each entry between them, true if it is hoisted before the first. The second is moved
    /// over the others.
    pub hoisted: Vec<bool>,
    /// The pairs that are reordered under assumptions. The first loop is 0, and the second follows
    /// the entries between.
    pub swapped: Vec<(usize, usize)>,
    /// The assumptions of the moves.
    pub assumed: Vec<Assumption>,
}

impl Fusion<'_> {
    /// Returns the bases for judging swaps of loops and entries between them, with the allowed
    /// assumptions.
    pub(super) fn swaps(&self) -> &Bases<'_> {
        if self.assumes_swaps { self.bases() } else { &self.sure }
    }

    /// Makes two entries neighbours. Loops move before the first entry only if there is no other
    /// way.
    pub(super) fn make_adjacent(
        &self,
        first: &Footprint,
        second: &Footprint,
        between: &[Entry],
        loop_context: &LoopContext,
        bases: &Bases<'_>,
    ) -> Result<Cleared, Box<Stuck>> {
        let by =
            |hoists_loops| self.make_adjacent_by(hoists_loops, first, second, between, loop_context, bases);
        by(false).or_else(|stuck| {
            let has_loop = between.iter().any(|entry| matches!(entry, Entry::Group(_)));
            if has_loop { by(true) } else { Err(stuck) }
        })
    }

    /// Does the same. Loops are hoisted before the first if possible, or never.
    fn make_adjacent_by(
        &self,
        hoists_loops: bool,
        first: &Footprint,
        second: &Footprint,
        between: &[Entry],
        loop_context: &LoopContext,
        bases: &Bases<'_>,
    ) -> Result<Cleared, Box<Stuck>> {
        let mut cleared = Cleared::default();
        // The entries that stay before the next one.
        let mut stay: Vec<(usize, &Footprint)> = vec![(0, first)];
        let last = between.len() + 1;
        for (at, entry) in (1..).zip(between) {
            let stuck = Stuck { op: entry.op(self.program), hoisting: None, passing: None };
            let Some(own) = entry.footprint() else { return Err(Box::new(stuck)) };
            let swap = |before: &Footprint, behind: &Footprint, pair: (usize, usize)| {
                self.swap(before, behind, loop_context, bases).map(|assumed| (pair, assumed))
            };
            let hoist = || -> Result<Vec<_>, Option<Conflict>> {
                if !hoists_loops && matches!(entry, Entry::Group(_)) {
                    return Err(None);
                }
                stay.iter().map(|(other, before)| swap(before, own, (*other, at)).map_err(Some)).collect()
            };
            let pass = || -> Result<Vec<_>, Option<Conflict>> {
                if stay.len() > ENTRIES_PASSED {
                    return Err(None);
                }
                swap(own, second, (at, last)).map(|swap| vec![swap]).map_err(Some)
            };
            let is_sure =
                |swaps: &Vec<(_, Vec<Assumption>)>| swaps.iter().all(|(_, assumed)| assumed.is_empty());
            let (hoists, swaps) = match hoist() {
                Ok(swaps) if is_sure(&swaps) => (true, swaps),
                hoisting => match (hoisting, pass()) {
                    (Ok(_), Ok(swaps)) if is_sure(&swaps) => (false, swaps),
                    (Ok(swaps), _) => (true, swaps),
                    (Err(_), Ok(swaps)) => (false, swaps),
                    (Err(hoisting), Err(passing)) => {
                        return Err(Box::new(Stuck { hoisting, passing, ..stuck }));
                    }
                },
            };
            for (pair, assumed) in swaps.into_iter().filter(|(_, assumed)| !assumed.is_empty()) {
                cleared.swapped.push(pair);
                assumption::add(&mut cleared.assumed, assumed);
            }
            cleared.hoisted.push(hoists);
            if !hoists {
                stay.push((at, own));
            }
        }
        Ok(cleared)
    }

    /// Returns the assumptions under which an entry may run before an earlier one.
    pub(super) fn swap(
        &self,
        before: &Footprint,
        behind: &Footprint,
        loop_context: &LoopContext,
        bases: &Bases<'_>,
    ) -> Result<Vec<Assumption>, Conflict> {
        if before.defines_for(behind) {
            return Err(Conflict::UsesResult);
        }
        match legality::independent(&before.nest, &behind.nest, loop_context, &self.oracle(bases)) {
            Verdict::Legal { assumed } => Ok(assumed),
            verdict => Err(Conflict::Touches(verdict)),
        }
    }
}
