//! Segments: the versioned regions of a sequence.
//!
//! Reordering that relies on a run-time check is valid only on the checked path. The reordered
//! entries are therefore in one version, with all entries between them. Its fallback is the
//! original items, in their order. Items in different segments keep their order, or may be
//! reordered unconditionally. Any combination of versions and fallbacks is therefore valid. An
//! entry that could run before the segment is taken out of it: its results can then be tested, and
//! used behind.
//!
//! ```text
//!     program    a[i] =      c[0] =      = a[i]
//!     line       c[0] =      a[i] = , = a[i]            under assumptions
//!     segment    [ c[0] =    a[i] = , = a[i] ]
//! ```
//!
//! Inside of loops everything is in one version anyway.
//!
//! **Assumptions.**
//! - Where an assumption does not hold, everything reordered under it runs in the original order.
//!   Tried with `fixtures/fusion/between_versioned.mlir`.
//!
//! **Cost.** Nothing without such reordering. Else linear in the entries for each reordered pair,
//! plus the swaps in the segments.

use hashbrown::HashSet;
use loomir_ir::{Body, Op, Trait};

use super::Fusion;
use super::grouping::Grouping;
use super::schedule::Entry;
use crate::access::LoopContext;
use crate::access::base::AliasMode;
use crate::assumption::is_computed_by;
use crate::assumption::{self, Assumption};
use crate::regenerate::extents;
use crate::tree::{Green, Item, TreeStore};

/// Neighbouring entries that are in one version, if they have assumptions.
pub(super) struct Segment {
    pub entries: Vec<Entry>,
    /// The original items in the program.
    pub originals: Vec<Green>,
}

impl Segment {
    /// Returns the segment with a single entry.
    pub(super) fn alone(entry: Entry, trees: &mut TreeStore) -> Segment {
        Segment { originals: entry.originals(trees), entries: vec![entry] }
    }

    /// Returns the operations of the region, if it has more than one entry.
    pub(super) fn operations(&self) -> Option<HashSet<Op>> {
        let footprints = self.entries.iter().filter_map(Entry::footprint);
        (self.entries.len() > 1).then(|| footprints.flat_map(|own| &own.ops).copied().collect())
    }

    /// Returns the assumptions of its groups.
    fn assumed(&self) -> Vec<Assumption> {
        let mut all = Vec::new();
        for entry in &self.entries {
            if let Entry::Group(group) = entry {
                assumption::add(&mut all, group.assumed.iter().cloned());
            }
        }
        all
    }
}

impl Fusion<'_> {
    /// Returns the segments of a grouping of `items`. `None` if a segment needs too many run-time
    /// checks, or computes a tested value itself, or cannot be versioned.
    pub(super) fn segments(
        &mut self,
        line: &Grouping,
        items: &[Item],
        loop_context: &LoopContext,
    ) -> Option<Vec<Segment>> {
        let is_versioned =
            self.alias == AliasMode::Version && loop_context.depth == 0 && self.inside.is_none();
        if line.swapped.is_empty() || !is_versioned {
            let alone = |entry: &Entry| Segment::alone(entry.clone(), self.trees);
            return Some(line.entries.iter().map(alone).collect());
        }
        let originals: Vec<Vec<Green>> =
            self.entries(items, loop_context).iter().map(|entry| entry.originals(self.trees)).collect();
        let ties = Ties::of(line, originals.len());
        let mut segments = Vec::new();
        let mut at = 0;
        while at < line.entries.len() {
            let end = ties.end(at);
            let mut entries: Vec<(usize, Entry)> =
                (at..).zip(line.entries[at..=end].iter().cloned()).collect();
            if end > at {
                for (_, entry) in &mut entries {
                    entry.summarise(self.body, self.program, self.trees, loop_context);
                }
                let (kept, taken_out) = self.taken_out(entries, &ties, loop_context);
                segments.extend(taken_out.into_iter().map(|entry| Segment::alone(entry, self.trees)));
                entries = kept;
            }
            let inside: HashSet<usize> = entries.iter().map(|(at, _)| ties.group[*at]).collect();
            let own = originals.iter().enumerate().filter(|(item, _)| inside.contains(&ties.together[*item]));
            let originals = own.flat_map(|(_, originals)| originals).copied().collect();
            let entries: Vec<Entry> = entries.into_iter().map(|(_, entry)| entry).collect();
            segments.push(match <[Entry; 1]>::try_from(entries) {
                Ok([entry]) => Segment::alone(entry, self.trees),
                Err(entries) => Segment { entries, originals },
            });
            at = end + 1;
        }
        let mut is_fine = |segment: &Segment| {
            segment.operations().is_none_or(|ops| {
                let assumed = segment.assumed();
                let extents_are_known = self.extents_are_known(&assumed, &segment.originals);
                // The terminator of a conditional with results must stay inside the conditional.
                let yields = ops.iter().any(|op| self.body.has_trait(*op, Trait::Terminator));
                extents_are_known
                    && !yields
                    && assumed.len() <= self.options.max_tests
                    && !tests_any_of(self.body, &assumed, &ops)
            })
        };
        segments.iter().all(&mut is_fine).then_some(segments)
    }

    /// True if the bytes are known that these items access behind each pointer that assumptions are
    /// about. Inside of loops, the items are those of the segment around.
    pub(super) fn extents_are_known(&mut self, assumed: &[Assumption], items: &[Green]) -> bool {
        let items = if self.originals.is_empty() { items } else { &self.originals };
        let code = (self.body, self.program, &*self.trees);
        assumed.iter().flat_map(Assumption::apart_objects).all(|object| {
            !extents::is_pointer(self.body, object) || self.reached.behind(code, items, object).is_some()
        })
    }

    /// Returns the entries of a segment without those that may unconditionally run before it, and
    /// the latter.
    fn taken_out(
        &self,
        entries: Vec<(usize, Entry)>,
        ties: &Ties,
        loop_context: &LoopContext,
    ) -> (Vec<(usize, Entry)>, Vec<Entry>) {
        let (mut kept, mut out): (Vec<(usize, Entry)>, Vec<Entry>) = (Vec::new(), Vec::new());
        for (at, entry) in entries {
            let may_go = |(_, before): &(usize, Entry)| {
                let footprints = before.footprint().zip(entry.footprint());
                let swap = footprints.map(|(before, own)| self.swap(before, own, loop_context, &self.sure));
                matches!(swap, Some(Ok(_)))
            };
            if !ties.is_tied(at) && kept.iter().all(may_go) {
                out.push(entry);
            } else {
                kept.push((at, entry));
            }
        }
        (kept, out)
    }
}

/// The partition of the entries of a grouping into segments.
struct Ties {
    /// For each item the representative of its group.
    together: Vec<usize>,
    /// For each entry the representative of its items.
    group: Vec<usize>,
    /// The entries of each group, and true if one of them was reordered under assumptions.
    entries: Vec<(Vec<usize>, bool)>,
    /// For each entry, true if it is in the segment of the one before it.
    joined: Vec<bool>,
}

impl Ties {
    fn of(line: &Grouping, items: usize) -> Ties {
        let together = line.together(items);
        let group: Vec<usize> = line.names().iter().map(|name| together[name.item]).collect();
        let mut entries = vec![(Vec::new(), false); items];
        for (at, group) in group.iter().enumerate() {
            entries[*group].0.push(at);
        }
        let mut ties = Ties { together, joined: vec![false; group.len()], group, entries };
        for (a, b) in &line.swapped {
            let pair = [*a, *b].map(|item| ties.together[item]);
            pair.into_iter().for_each(|group| ties.entries[group].1 = true);
            let all: Vec<usize> = pair.into_iter().flat_map(|group| ties.entries[group].0.clone()).collect();
            ties.join(&all);
        }
        // All entries made from one item are in one segment, or in none with others.
        while let Some(parted) =
            ties.entries.iter().map(|(all, _)| all).find(|all| ties.is_parted(all)).cloned()
        {
            ties.join(&parted);
        }
        ties
    }

    /// Joins everything between the first and the last of some entries into one segment.
    fn join(&mut self, all: &[usize]) {
        if let (Some(first), Some(last)) = (all.iter().min(), all.iter().max()) {
            self.joined[first + 1..=*last].fill(true);
        }
    }

    /// True if some but not all of these entries share a segment with others.
    fn is_parted(&self, all: &[usize]) -> bool {
        let has_others = |at: &usize| self.joined[*at] || self.end(*at) > *at;
        let (first, last) = (all.iter().min().copied(), all.iter().max().copied());
        all.iter().any(has_others) && first.is_some_and(|first| Some(self.end(first)) < last)
    }

    /// Returns the last entry of the segment of an entry.
    fn end(&self, at: usize) -> usize {
        at + self.joined[at + 1..].iter().take_while(|joined| **joined).count()
    }

    /// True if an entry must stay in its segment.
    fn is_tied(&self, at: usize) -> bool {
        let (all, has_swapped) = &self.entries[self.group[at]];
        *has_swapped || all.len() > 1
    }
}

/// True if an assumption is about a value computed by these operations, or inside them.
pub(super) fn tests_any_of(ir: &Body, assumed: &[Assumption], ops: &HashSet<Op>) -> bool {
    assumed.iter().any(|assumption| {
        let mut found = false;
        assumption.each_parameter(&mut |value| found |= is_computed_by(ir, value, ops));
        found
    })
}
