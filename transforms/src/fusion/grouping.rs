//! A grouping of the loops of a sequence: its entries, and the decisions on the way.

use std::ops::Range;
use std::rc::Rc;

use hashbrown::HashMap;
use loomir_ir::{Diagnostic, Op};

use super::decision::{Attempt, Change};
use super::group::Group;
use super::schedule::{self, Entry};
use super::{Fusion, Plan, remarks};
use crate::assumption::{self, Assumption};

/// The maximal number of loops in a part of a sequence for an exhaustive search of groupings.
pub(super) const MAX_LOOPS: usize = 8;
/// The maximal number of groups that a loop is tried with, the nearest first.
pub(super) const GROUPS_TRIED: usize = 3;
/// Other groupings are searched if a greater part of a loop is peeled.
pub(super) const MUCH_APART: f64 = 0.125;
/// The maximal number of loops in an inseparable part of a longer sequence.
pub(super) const MAX_WIDE: usize = 24;

/// A sequence whose loops were fused under the decisions of a guide.
#[derive(Default)]
pub(super) struct Grouping {
    pub entries: Vec<Entry>,
    /// The name of each entry.
    pub names: Vec<Name>,
    /// Items that were joined, the earlier one first.
    pub joins: Vec<(usize, usize)>,
    /// Pairs of items, or of their groups, that were reordered under assumptions.
    pub swapped: Vec<(usize, usize)>,
    pub said: Vec<Said>,
    /// Refusals of loops that fill conditionals, by their items. They matter once such a loop is
    /// fused, for then it stands beside other loops.
    pub refused_inside: HashMap<usize, Said>,
    /// The saved cycles, and the item that saved them.
    pub saved: f64,
    pub savings: Vec<(usize, f64)>,
    /// True if a fusion has a cost besides its saving.
    pub has_losses: bool,
    /// True if some fused loops do not share all iterations, or not at the same time.
    pub is_cut: bool,
    /// True if a pair was not fused because of its cost.
    pub was_too_dear: bool,
}

/// An entry of a line, by the first item in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Name {
    pub item: usize,
    /// True for the remainder of a loop that was distributed so that this item could join a part of
    /// it.
    pub is_rest: bool,
}

impl Name {
    pub(super) fn of(item: usize) -> Name {
        Name { item, is_rest: false }
    }

    pub(super) fn rest(item: usize) -> Name {
        Name { item, is_rest: true }
    }
}

/// A finding about an item.
#[derive(Clone)]
pub(super) struct Said {
    pub item: usize,
    /// The remark, if remarks are wanted.
    pub remark: Option<Diagnostic>,
    pub outcome: Outcome,
}

#[derive(Clone)]
pub(super) enum Outcome {
    Fused,
    Refused,
    /// Two conditionals were merged under these assumptions.
    Merged(Vec<Assumption>),
    Note,
}

/// The remainders beside a fused loop.
#[derive(Default)]
pub(super) struct Left {
    /// The entries between the two that are hoisted before the first.
    pub hoisted: Vec<bool>,
    /// A part of the first loop that runs before the fused loop.
    pub before: Option<Rc<Group>>,
    /// A part of the second loop that runs behind all entries so far.
    pub behind: Option<Rc<Group>>,
    /// The pairs of entries, counted from the first, that are reordered under assumptions.
    pub swapped: Vec<(usize, usize)>,
}

/// The conditional that another one can be merged with.
pub(super) struct Partner {
    pub at: usize,
    pub hoisted: Vec<bool>,
    pub assumed: Vec<Assumption>,
}

impl Grouping {
    /// Returns an empty grouping with room for remarks on `items` items.
    pub(super) fn with_room(items: usize) -> Grouping {
        Grouping { said: Vec::with_capacity(items), ..Grouping::default() }
    }

    /// Returns the places of the entries to try a loop with, the nearest first. If a group is
    /// `wanted`, it is the only one.
    pub(super) fn nearest(&self, second: &Group, wanted: Option<Name>) -> Vec<usize> {
        let is_near = |(at, entry): &(usize, &Entry)| match entry {
            Entry::Group(_) => wanted.is_none_or(|wanted| self.names[*at] == wanted),
            Entry::If(..) => wanted.is_none() && second.guarded.is_none(),
            Entry::Statement(..) => false,
        };
        let entries = self.entries.iter().enumerate().rev();
        entries.filter(is_near).map(|(at, _)| at).take(GROUPS_TRIED).collect()
    }

    /// Records an upcoming fusion: its remark, its saving and its cost.
    pub(super) fn note(
        &mut self,
        fusion: &Fusion<'_>,
        item: usize,
        (first, second): (&Group, &Group),
        conditional: Option<Op>,
        attempt: &Attempt,
    ) {
        let ops = (first.op(fusion.program), second.op(fusion.program));
        let loops = first.originals.len() + second.originals.len();
        let remark = fusion.told(|| remarks::fused(fusion.body, ops, conditional, attempt, loops));
        self.said.push(Said { item, remark, outcome: Outcome::Fused });
        self.saved += attempt.saving.cycles;
        self.has_losses |= !attempt.saving.losses.is_empty() || attempt.saving.apart > MUCH_APART;
        self.is_cut |= !attempt.plan.joined.whole;
        self.savings.push((item, attempt.saving.cycles));
    }

    pub(super) fn push(&mut self, item: usize, entry: Entry) {
        self.entries.push(entry);
        self.names.push(Name::of(item));
    }

    /// Moves the entries between two that were fused, the second of them `item`, and adds the
    /// remainders.
    pub(super) fn close_up(&mut self, at: usize, item: usize, left: Left) {
        self.joins.push((self.names[at].item, item));
        let item_at = |place: usize| self.names.get(at + place).map_or(item, |name| name.item);
        let swapped = left.swapped.iter().map(|(a, b)| (item_at(*a), item_at(*b)));
        self.swapped.extend(swapped.collect::<Vec<_>>());
        schedule::hoist(&mut self.entries, at, &left.hoisted);
        schedule::hoist(&mut self.names, at, &left.hoisted);
        if let Some(before) = left.before {
            self.entries.insert(at, Entry::Group(before));
            self.names.insert(at, Name::rest(item));
        }
        if let Some(behind) = left.behind {
            self.push(item, Entry::Group(behind));
        }
    }

    /// Returns the number of loops that joined a group.
    #[cfg(test)]
    pub(super) fn fused(&self) -> usize {
        self.savings.len()
    }

    /// Returns the number of fusions. Linear in the remarks.
    pub(super) fn edits(&self) -> usize {
        let is_edit = |own: &&Said| matches!(own.outcome, Outcome::Fused | Outcome::Merged(_));
        self.said.iter().filter(is_edit).count()
    }

    /// Returns, for each of `items` items, the representative of its group.
    pub(super) fn together(&self, items: usize) -> Vec<usize> {
        let mut group: Vec<usize> = (0..items).collect();
        // What joins is one item.
        for (first, item) in &self.joins {
            group[*item] = group[*first];
        }
        group
    }

    /// Returns the name of each entry.
    pub(super) fn names(&self) -> &[Name] {
        &self.names
    }

    pub(super) fn saved_in(&self, part: &Range<usize>) -> f64 {
        let inside = self.savings.iter().filter(|(item, _)| part.contains(item));
        inside.map(|(_, saved)| saved).sum()
    }

    /// Returns the parts of the sequence with more than one group, such that no group extends
    /// beyond its part. A part has at most [`MAX_LOOPS`] loops or, if it is inseparable,
    /// [`MAX_WIDE`]. Two parts may overlap.
    pub(super) fn parts(&self, entries: &[Entry]) -> Vec<Range<usize>> {
        let mut reach: Vec<usize> = (0..entries.len()).collect();
        for (first, item) in &self.joins {
            reach[*first] = reach[*first].max(*item);
        }
        // The beginning of each separable part, with the number of loops before it.
        let mut cuts = vec![(0, 0)];
        let (mut furthest, mut loops) = (0, 0);
        for (at, entry) in entries.iter().enumerate() {
            furthest = furthest.max(reach[at]);
            loops += usize::from(matches!(entry, Entry::Group(_)));
            if furthest == at {
                cuts.push((at + 1, loops));
            }
        }
        let mut parts: Vec<Range<usize>> = Vec::new();
        let mut next = 0;
        while let Some((start, before)) = cuts.get(next).copied() {
            let fits = cuts[next..].partition_point(|(_, loops)| loops - before <= MAX_LOOPS);
            let wide = cuts.get(next + 1).filter(|(_, loops)| fits == 1 && loops - before <= MAX_WIDE);
            let end = wide.unwrap_or(&cuts[next + fits.max(1) - 1]).0;
            if count_loops(&entries[start..end]) > 2 && parts.last().is_none_or(|last| last.end < end) {
                parts.push(start..end);
            }
            next += (fits / 2).max(1);
        }
        parts
    }

    /// Adds a remark about a part with first item `item` whose loops were regrouped: the saved
    /// cycles, the steps of the search, and if the grouping is optimal.
    pub(super) fn say_regrouped(
        &mut self,
        fusion: &Fusion<'_>,
        entries: &[Entry],
        item: usize,
        (more, steps, is_optimal): (f64, usize, bool),
    ) {
        let mut loops = entries.iter().filter(|entry| matches!(entry, Entry::Group(_)));
        if let Some(first) = loops.next() {
            let first = first.op(fusion.program);
            let remark = fusion.told(|| remarks::regrouped(fusion.body, first, more, steps, is_optimal));
            let at = self.said.partition_point(|said| said.item < item);
            self.said.insert(at, Said { item, remark, outcome: Outcome::Note });
        }
    }
}

/// Returns the number of loops.
pub(super) fn count_loops(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| matches!(entry, Entry::Group(_))).count()
}

/// Fuses `second` with a group according to the attempt.
pub(super) fn join(first: &mut Group, second: &Group, attempt: Attempt) -> Left {
    let Attempt { plan: Plan { assumed, joined, hoisted, swapped, reshaped, .. }, work, .. } = attempt;
    if let Some(reshaped) = reshaped.first {
        *first = *reshaped;
    }
    assumption::add(&mut first.assumed, assumed);
    if let (Some(own), Some((others, lanes))) = (&mut first.work, work) {
        Rc::make_mut(own).merge(&others, joined.shift(), lanes);
    }
    first.join(reshaped.second.as_deref().unwrap_or(second), joined);
    first.has_part |= matches!(reshaped.change, Some(Change::Distributed(..)));
    let group = |group: Option<Box<Group>>| group.map(|group| Rc::new(*group));
    Left { hoisted, before: group(reshaped.before), behind: group(reshaped.behind), swapped }
}
