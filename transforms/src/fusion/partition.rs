//! Which loops of a sequence are fused with which.
//!
//! Each loop in turn is tried with the nearest few groups before it, and fused with the first where that is legal and saves something. Where that
//! leaves more than one group, or costs something, other groupings are [looked at](super::search): all of them if there are at most [`MAX_LOOPS`] loops.
//! Of a longer sequence those parts are looked at that no group reaches out of; then all are fused once more, those in such parts as was found, the others with what is there now. Of a part with
//! more loops that cannot be taken apart, the groupings are looked at that begin well.
//!
//! A grouping is worth the sum of what each of its fusions saves. None is ever taken that is worth less than fusing each loop with the nearest
//! whatever it costs, nor one of equal worth that does not come of it.
//!
//! **Assumptions.**
//! - A choice among groupings changes no verdict: each pair that is joined was judged as it is
//!   joined. Tried with `fixtures/fusion/named.mlir` and the campaign `fusion`.
//!
//! **Cost.** Fusing one after the other is linear in the loops, and done at most three times; searches take a bounded number of steps a sequence.

use std::ops::Range;
use std::rc::Rc;

use loomir_ir::{Diagnostic, Loc, Op};

use super::group::Group;
use super::line::{self, Entry, Footprint};
use super::remarks::{self, Missed};
use super::reshape::{Change, Reshaped};
use super::search::Search;
use super::segment::Segment;
use super::way::{Cleared, ENTRIES_PASSED, Stuck};
use super::{Fusion, Plan, Profitability};
use crate::assumption::{self, Assumption};
use crate::cost::{Saving, Work};
use crate::dependence::nest::Frame;
use crate::tree::{Green, If, Item};

/// How many loops a part of a sequence may have of which all groupings are looked at.
pub(super) const MAX_LOOPS: usize = 8;
/// How many loops a part of a longer sequence may have that cannot be taken apart.
const MAX_WIDE: usize = 24;
/// How many steps searches in one longer sequence may take.
const MAX_STEPS: usize = 20_000;
/// Where a greater part of a loop runs by itself, other groupings are looked at.
const MUCH_APART: f64 = 0.125;
/// How many groups a loop is tried with, from the nearest on.
pub(super) const GROUPS_TRIED: usize = 3;

/// A sequence whose loops were fused as some guide says.
#[derive(Default)]
pub(super) struct Line {
    pub entries: Vec<Entry>,
    /// What each entry is called.
    names: Vec<Name>,
    /// Items that were put together, the former one first.
    joins: Vec<(usize, usize)>,
    /// Items, or what they were put together with, that have changed places for what is assumed.
    pub swapped: Vec<(usize, usize)>,
    said: Vec<Said>,
    /// What was saved, in cycles; and by which item.
    pub saved: f64,
    savings: Vec<(usize, f64)>,
    /// Whether something was fused that costs something beside what it saves.
    has_losses: bool,
    /// Whether loops became one that do not have all iterations in common, or not at once.
    is_cut: bool,
    /// Whether something was not fused for what it costs.
    was_too_dear: bool,
}

/// An entry of a line, by the first item in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Name {
    pub item: usize,
    /// It is what another loop left over when it was distributed so that this item could join the rest of it.
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

/// What was found about an item.
struct Said {
    item: usize,
    /// How it is told, if that is wanted.
    remark: Option<Diagnostic>,
    outcome: Outcome,
}

enum Outcome {
    Fused,
    Refused,
    /// A conditional became one with another, with what was assumed for that.
    Merged(Vec<Assumption>),
    Note,
}

/// With which group each loop is fused.
#[derive(Clone, Copy)]
pub(super) enum Guide<'a> {
    /// The nearest with which that saves something.
    Nearest,
    /// The nearest with which it may be.
    AtAnyCost,
    /// For each item the group it joins.
    Given(&'a [Option<Name>]),
    /// That for the items of some parts, in order; others as another guide says.
    Regrouped(&'a [Regrouped], &'a Guide<'a>),
}

/// A part of a sequence whose loops are grouped otherwise than one after the other.
pub(super) struct Regrouped {
    part: Range<usize>,
    /// For each item the group it joins.
    partners: Vec<Option<Name>>,
    /// How many steps it took to find that.
    steps: usize,
    /// Whether there is no better one.
    is_optimal: bool,
}

impl<'a> Guide<'a> {
    /// What is said of one item.
    fn of(self, item: usize) -> Guide<'a> {
        let Guide::Regrouped(parts, others) = self else { return self };
        let before = parts.partition_point(|regrouped| regrouped.part.end <= item);
        match parts.get(before).filter(|regrouped| regrouped.part.contains(&item)) {
            Some(regrouped) => Guide::Given(&regrouped.partners),
            None => others.of(item),
        }
    }

    /// Accepts a fusion, or says why it is not done. This guide names the group `wanted`, or none.
    fn accept(
        self,
        attempt: Attempt,
        wanted: Option<Name>,
        conditional: Option<Op>,
    ) -> Result<Attempt, Missed> {
        match self {
            Guide::Nearest | Guide::Given(_) if wanted.is_none() && attempt.saving.cycles < 0.0 => {
                Err(Missed::NotBeneficial(attempt.saving))
            }
            Guide::Given(_) if wanted.is_none() && conditional.is_none() => Err(Missed::OthersSaveMore),
            _ => Ok(attempt),
        }
    }
}

/// A fusion that may be done.
pub(super) struct Attempt {
    pub plan: Plan,
    pub saving: Saving,
    /// What the second costs, as it is joined, and how many iterations of both can run at once.
    work: Option<(Rc<Work>, Option<f64>)>,
}

impl Attempt {
    /// How many cycles it saves, if that was asked.
    pub(super) fn saved_cycles(&self) -> Option<i64> {
        self.work.is_some().then(|| self.saving.cycles.round() as i64)
    }
}

/// What is left beside a fused loop.
#[derive(Default)]
pub(super) struct Left {
    /// Which of the entries between the two are moved before the first.
    pub hoisted: Vec<bool>,
    /// A part of the first that runs before that.
    pub before: Option<Rc<Group>>,
    /// A part of the second that runs behind all that is there.
    pub behind: Option<Rc<Group>>,
    /// Which of all these, counted from the first on, change places for what is assumed.
    pub swapped: Vec<(usize, usize)>,
}

/// The conditional with which another one can become one.
pub(super) struct Partner {
    pub at: usize,
    pub hoisted: Vec<bool>,
    assumed: Vec<Assumption>,
}

impl Fusion<'_> {
    /// Fuses the loops of a sequence with each other.
    pub(super) fn choose(&mut self, items: &[Item], frame: &Frame) -> Vec<Segment> {
        if self.only.is_some() {
            return self.fuse_only(items, frame);
        }
        let choice = self.report.choice;
        let left = self.options.edits.left().map(|left| usize::try_from(left).unwrap_or(usize::MAX));
        self.most = left.map(|left| left.saturating_sub(self.done.len()));
        let line = self.line(items, frame);
        if let Some(segments) = self.segments(&line, items, frame) {
            self.say(line.said);
            return segments;
        }
        self.report.choice = choice;
        let assumes = std::mem::replace(&mut self.assumes_swaps, false);
        let line = self.line(items, frame);
        self.assumes_swaps = assumes;
        self.say(line.said);
        line.entries.into_iter().map(|entry| Segment::alone(entry, self.forest)).collect()
    }

    /// The sequence with the grouping of most worth.
    fn line(&mut self, items: &[Item], frame: &Frame) -> Line {
        let entries = self.entries(items, frame);
        self.best(entries, frame)
    }

    /// Takes down what was found.
    fn say(&mut self, said: Vec<Said>) {
        for Said { remark, outcome, .. } in said {
            if let Outcome::Fused | Outcome::Merged(_) = outcome {
                self.done.push(remark.as_ref().map_or(Loc::UNKNOWN, |own| own.loc));
            }
            if let Some(remark) = remark {
                self.report.remarks.push(remark);
            }
            match outcome {
                Outcome::Fused => self.report.fused += 1,
                Outcome::Refused => self.report.refused += 1,
                Outcome::Merged(assumed) => assumption::add(&mut self.report.assumed, assumed),
                Outcome::Note => {}
            }
        }
    }

    /// What stands in a sequence, each loop with what it costs.
    pub(super) fn entries(&mut self, items: &[Item], frame: &Frame) -> Vec<Entry> {
        let mut entries = Vec::with_capacity(items.len());
        for item in items {
            let Some(mut entry) = Entry::of(self.body, self.program, self.forest, *item, frame) else {
                continue;
            };
            if let (Item::Other(green), Entry::Group(group)) = (item, &mut entry) {
                Rc::make_mut(group).work = self.work(*green, frame);
            }
            entries.push(entry);
        }
        entries
    }

    /// The sequence of these entries with the grouping of most worth.
    pub(super) fn best(&mut self, mut entries: Vec<Entry>, frame: &Frame) -> Line {
        let all = 0..entries.len();
        if self.options.profitability == Profitability::Always {
            return self.in_order(all.zip(entries), Guide::AtAnyCost, frame);
        }
        let loops = count_loops(&entries);
        // Fused or not: there is nothing to look at again.
        if loops <= 2 {
            self.report.choice.optimal += usize::from(loops == 2);
            return self.in_order(all.zip(entries), Guide::Nearest, frame);
        }
        let mut guide = Guide::Nearest;
        let mut line = self.in_order(within(&entries, &all), guide, frame);
        if loops > MAX_LOOPS && line.was_too_dear {
            let other = self.in_order(within(&entries, &all), Guide::AtAnyCost, frame);
            if other.saved > line.saved {
                (guide, line) = (Guide::AtAnyCost, other);
            }
        }
        // All as one, at no cost, and each with all iterations at once: of others it is open which of them are best done first.
        let is_plain = !line.has_losses && (loops > MAX_LOOPS || !line.is_cut);
        if count_loops(&line.entries) == 1 && is_plain {
            self.report.choice.optimal += 1;
            return line;
        }
        let parts = if loops <= MAX_LOOPS { vec![all.clone()] } else { line.parts(&entries) };
        let mut steps = if loops <= MAX_LOOPS { Search::MAX_STEPS } else { MAX_STEPS };
        let before = steps;
        let mut is_optimal = loops <= MAX_LOOPS;
        let mut regrouped: Vec<Regrouped> = Vec::new();
        for part in parts {
            if regrouped.last().is_some_and(|last| part.start < last.part.end) {
                continue;
            }
            let was = steps;
            let saved = line.saved_in(&part);
            let found = Search::run(self, &mut entries, part.clone(), saved, &mut steps, frame);
            is_optimal &= found.is_complete;
            let of =
                |partners| Regrouped { part, partners, steps: was - steps, is_optimal: found.is_complete };
            regrouped.extend(found.partners.map(of));
        }
        let choice = &mut self.report.choice;
        choice.steps += before - steps;
        choice.optimal += usize::from(is_optimal);
        choice.bounded += usize::from(!is_optimal);
        if regrouped.is_empty() {
            return line;
        }
        // What stands behind a part may be fused with what there is in it now.
        let mut better = self.in_order(within(&entries, &all), Guide::Regrouped(&regrouped, &guide), frame);
        if better.saved <= line.saved {
            return line;
        }
        self.report.choice.regrouped += 1;
        for Regrouped { part, steps, is_optimal, .. } in regrouped {
            let more = better.saved_in(&part) - line.saved_in(&part);
            better.say_regrouped(
                self,
                &entries[part.clone()],
                part.start,
                (more, steps, is_optimal && loops <= MAX_LOOPS),
            );
        }
        better
    }

    /// What a loop costs, if that matters.
    pub(super) fn work(&mut self, item: Green, frame: &Frame) -> Option<Rc<Work>> {
        if self.options.profitability == Profitability::Always {
            return None;
        }
        if let Some(known) = self.works.get(&(item, frame.depth)) {
            return Some(known.clone());
        }
        let place = (self.body, self.program, &*self.forest);
        let work = Rc::new(Work::of(place, &*self.options.cost, item, frame)?);
        self.works.insert((item, frame.depth), work.clone());
        Some(work)
    }

    /// Fuses entries, which are given with their numbers, one after the other.
    pub(super) fn in_order(
        &mut self,
        entries: impl Iterator<Item = (usize, Entry)>,
        guide: Guide<'_>,
        frame: &Frame,
    ) -> Line {
        let mut line = Line::default();
        for (item, entry) in entries {
            let guide = guide.of(item);
            match entry {
                // Nothing more may be fused.
                entry if self.most.is_some_and(|most| line.edits() >= most) => line.push(item, entry),
                Entry::Group(second) => {
                    if let Err(second) = self.take_in(&mut line, item, second, guide, frame) {
                        line.push(item, Entry::Group(second));
                    }
                }
                second @ Entry::If(..) => self.take_in_if(&mut line, item, second, guide, frame),
                statement => line.push(item, statement),
            }
        }
        line
    }

    /// How `second` may be fused with `first`, and what that saves.
    pub(super) fn attempt(
        &mut self,
        first: &Group,
        between: &mut [Entry],
        second: &Group,
        frame: &Frame,
    ) -> Result<Attempt, Missed> {
        let mut plan = match self.plan_reshaped(first, between, second, frame) {
            Err(missed) => self.plan_assuming(first, between, second, frame, missed)?,
            Ok(plan) => plan,
        };
        let Reshaped { first: other, second: others, before, behind, .. } = &mut plan.reshaped;
        for group in [other, others, before, behind].into_iter().flatten() {
            group.work = self.work(group.item, frame);
        }
        let others = self.work(plan.joined.item, frame);
        let own = plan.reshaped.first.as_deref().unwrap_or(first).work.clone();
        let mut attempt = Attempt { saving: Saving::default(), work: None, plan };
        let Some((own, mut others)) = own.zip(others) else { return Ok(attempt) };
        if attempt.plan.joined.is_of_unknown_length(first) && own.runs_as_often(&others) {
            others = Rc::new(Work::clone(&others).cut());
        }
        let machine = self.options.cost.machine();
        let (delay, more) = (attempt.plan.joined.delay(), &attempt.plan.assumed);
        let more = more.iter().filter(|assumption| !first.assumed.contains(assumption));
        let (mut saving, lanes) = match more.map(Assumption::comparisons).sum() {
            0 => Saving::of(&own, &others, delay, machine),
            all => Saving::tested(all, first.assumed.is_empty(), (&own, &others), delay, machine),
        };
        let Reshaped { before, behind, .. } = &attempt.plan.reshaped;
        let left = [before, behind].into_iter().flatten().filter_map(|group| group.work.as_deref());
        let was = [first, second].into_iter().filter_map(|group| group.work.as_deref());
        saving.cycles += was.map(|work| work.cycles(machine)).sum::<f64>();
        saving.cycles -=
            [&*own, &*others].into_iter().chain(left).map(|work| work.cycles(machine)).sum::<f64>();
        attempt.saving = saving;
        attempt.work = Some((others, lanes));
        Ok(attempt)
    }

    /// Does that.
    pub(super) fn join(&mut self, first: &mut Group, second: &Group, attempt: Attempt) -> Left {
        let Attempt { plan: Plan { assumed, joined, hoisted, swapped, reshaped, .. }, work, .. } = attempt;
        if let Some(reshaped) = reshaped.first {
            *first = *reshaped;
        }
        assumption::add(&mut first.assumed, assumed);
        if let (Some(own), Some((others, lanes))) = (&mut first.work, work) {
            Rc::make_mut(own).merge(&others, joined.delay(), lanes);
        }
        first.join(self.forest, reshaped.second.as_deref().unwrap_or(second), joined);
        first.has_part |= matches!(reshaped.change, Some(Change::Distributed(..)));
        let group = |group: Option<Box<Group>>| group.map(|group| Rc::new(*group));
        Left { hoisted, before: group(reshaped.before), behind: group(reshaped.behind), swapped }
    }

    /// Fuses a loop with a group of the line, or with a loop that is all of a conditional there. The error is that loop.
    fn take_in(
        &mut self,
        line: &mut Line,
        item: usize,
        second: Rc<Group>,
        guide: Guide<'_>,
        frame: &Frame,
    ) -> Result<(), Rc<Group>> {
        let wanted = match guide {
            Guide::Given(partners) => partners[item],
            Guide::Nearest | Guide::AtAnyCost | Guide::Regrouped(..) => None,
        };
        // Why not, with the nearest it has memory in common with, or else the nearest.
        let mut why: Option<((Op, Op), Missed, bool)> = None;
        for (tried, at) in line.nearest(&second, wanted).into_iter().enumerate() {
            if tried > 0 && line.entries.len() - at > ENTRIES_PASSED {
                break;
            }
            let with_guard = self.with_guard_inside(&line.entries[at], frame);
            let Some((entry, between)) = line.entries[at..].split_first_mut() else { continue };
            let first = match (&*entry, &with_guard) {
                (Entry::Group(group), _) | (_, Some(group)) => group.clone(),
                _ => continue,
            };
            // A condition in each iteration is for what both touch.
            let conditional = with_guard.as_ref().map_or(second.guarded, |own| own.guarded);
            if conditional.is_some() && !first.shares_with(&second) {
                continue;
            }
            let attempt = self.attempt(&first, between, &second, frame);
            let missed = match attempt.and_then(|found| guide.accept(found, wanted, conditional)) {
                Ok(attempt) => {
                    line.note(self, item, (&first, &second), conditional, &attempt);
                    drop(first);
                    if let Some(own) = with_guard {
                        line.entries[at] = Entry::Group(own);
                    }
                    if let Entry::Group(first) = &mut line.entries[at] {
                        let left = self.join(Rc::make_mut(first), &second, attempt);
                        line.close_up(at, item, left);
                    }
                    return Ok(());
                }
                Err(missed) => missed,
            };
            line.was_too_dear |= matches!(missed, Missed::NotBeneficial(_));
            let is_near = first.shares_with(&second);
            // Of conditionals it is said only that they were.
            if conditional.is_none() && why.as_ref().is_none_or(|(.., was_near)| is_near && !was_near) {
                let ops = (first.op(self.program), second.op(self.program));
                why = Some((ops, self.with_delay(missed, &first, &second, frame), is_near));
            }
        }
        if let Some((ops, missed, _)) = why {
            let remark = self.told(|| remarks::missed(self.body, self.callees(), ops.0, ops.1, &missed));
            line.said.push(Said { item, remark, outcome: Outcome::Refused });
        }
        Err(second)
    }

    /// A remark, if remarks are wanted.
    fn told(&self, remark: impl FnOnce() -> Diagnostic) -> Option<Diagnostic> {
        self.options.remarks.then(remark)
    }

    /// Makes a conditional one with the last one in the line that has the same condition; or if it is all around a loop, that one with another. Or adds it to
    /// the line if neither may be.
    fn take_in_if(
        &mut self,
        line: &mut Line,
        item: usize,
        mut second: Entry,
        guide: Guide<'_>,
        frame: &Frame,
    ) {
        let found = self.partner(&mut line.entries, &mut second, frame);
        let (remark, outcome) = match found {
            None => {
                let loops = self.with_guard_inside(&second, frame);
                return match loops.map(|own| self.take_in(line, item, own, guide, frame)) {
                    Some(Ok(())) => {}
                    Some(Err(_)) | None => line.push(item, second),
                };
            }
            Some(Err((first, stuck))) => {
                let own = second.op(self.program);
                line.push(item, second);
                (
                    self.told(|| remarks::not_merged(self.body, self.callees(), first, own, &stuck)),
                    Outcome::Note,
                )
            }
            Some(Ok(Partner { at, hoisted, assumed })) => {
                let first = &mut line.entries[at];
                let ops = (first.op(self.program), second.op(self.program));
                let remark = self.told(|| remarks::merged(self.body, ops.0, ops.1));
                line::join_ifs(self.forest, first, second);
                line.close_up(at, item, Left { hoisted, ..Left::default() });
                (remark, Outcome::Merged(assumed))
            }
        };
        line.said.push(Said { item, remark, outcome });
    }

    /// The last of some entries with which a conditional can become one. The error is that one, and what stands between and cannot move.
    pub(super) fn partner(
        &mut self,
        entries: &mut [Entry],
        second: &mut Entry,
        frame: &Frame,
    ) -> Option<Result<Partner, (Op, Box<Stuck>)>> {
        let Entry::If(If { of, map, .. }, _) = *second else { return None };
        let is_same = |entry: &Entry| match entry {
            Entry::If(first, _) => {
                self.program.is_same_condition(self.forest, (first.of, first.map), (of, map), frame.depth)
            }
            _ => false,
        };
        let back = entries.iter().rev().take(ENTRIES_PASSED).position(is_same)?;
        let at = entries.len() - 1 - back;
        // Neighbours need no reason.
        if back > 0 || entries[at].footprint().is_some() {
            for entry in entries[at..].iter_mut().chain([&mut *second]) {
                entry.summarise(self.body, self.program, self.forest, frame);
            }
        }
        let footprints: Option<(&Footprint, &Footprint)> = entries[at].footprint().zip(second.footprint());
        // Nothing is gained by that alone, so nothing is tested for it.
        let cleared = match footprints {
            Some((first, own)) => match self.clear_way(first, own, &entries[at + 1..], frame, &self.sure) {
                Ok(cleared) => cleared,
                Err(stuck) => return Some(Err((entries[at].op(self.program), stuck))),
            },
            None => Cleared::default(),
        };
        let Cleared { hoisted, assumed, .. } = cleared;
        Some(Ok(Partner { at, hoisted, assumed }))
    }
}

impl Line {
    /// Returns the places of the entries to try a loop with, the nearest first. If a group is
    /// `wanted`, it is the only one.
    fn nearest(&self, second: &Group, wanted: Option<Name>) -> Vec<usize> {
        let is_near = |(at, entry): &(usize, &Entry)| match entry {
            Entry::Group(_) => wanted.is_none_or(|wanted| self.names[*at] == wanted),
            Entry::If(..) => wanted.is_none() && second.guarded.is_none(),
            Entry::Statement(..) => false,
        };
        let entries = self.entries.iter().enumerate().rev();
        entries.filter(is_near).map(|(at, _)| at).take(GROUPS_TRIED).collect()
    }

    /// Notes a fusion that is about to be done: its remark, what it saves and what it costs.
    fn note(
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

    fn push(&mut self, item: usize, entry: Entry) {
        self.entries.push(entry);
        self.names.push(Name::of(item));
    }

    /// Moves what stands between two entries that became one, the second of them `item`, and adds what is left of them.
    fn close_up(&mut self, at: usize, item: usize, left: Left) {
        self.joins.push((self.names[at].item, item));
        let item_at = |place: usize| self.names.get(at + place).map_or(item, |name| name.item);
        let swapped = left.swapped.iter().map(|(a, b)| (item_at(*a), item_at(*b)));
        self.swapped.extend(swapped.collect::<Vec<_>>());
        line::hoist(&mut self.entries, at, &left.hoisted);
        line::hoist(&mut self.names, at, &left.hoisted);
        if let Some(before) = left.before {
            self.entries.insert(at, Entry::Group(before));
            self.names.insert(at, Name::rest(item));
        }
        if let Some(behind) = left.behind {
            self.push(item, Entry::Group(behind));
        }
    }

    /// How many loops joined a group.
    #[cfg(test)]
    pub(super) fn fused(&self) -> usize {
        self.savings.len()
    }

    /// Returns the number of fusions in it. Linear in what is said.
    fn edits(&self) -> usize {
        let is_edit = |own: &&Said| matches!(own.outcome, Outcome::Fused | Outcome::Merged(_));
        self.said.iter().filter(is_edit).count()
    }

    /// For each of so many items one of those it was put together with, the same for all of them.
    pub(super) fn together(&self, items: usize) -> Vec<usize> {
        let mut group: Vec<usize> = (0..items).collect();
        // What joins is one item.
        for (first, item) in &self.joins {
            group[*item] = group[*first];
        }
        group
    }

    /// What each entry is called.
    pub(super) fn names(&self) -> &[Name] {
        &self.names
    }

    fn saved_in(&self, part: &Range<usize>) -> f64 {
        let inside = self.savings.iter().filter(|(item, _)| part.contains(item));
        inside.map(|(_, saved)| saved).sum()
    }

    /// Parts of the sequence that no group reaches out of, and in which there is more than one group, with at most [`MAX_LOOPS`] loops or, if they have no
    /// such part at their beginning, [`MAX_WIDE`]. Two may overlap.
    fn parts(&self, entries: &[Entry]) -> Vec<Range<usize>> {
        let mut reach: Vec<usize> = (0..entries.len()).collect();
        for (first, item) in &self.joins {
            reach[*first] = reach[*first].max(*item);
        }
        // Where each begins that nothing reaches out of, and how many loops are before it.
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

    /// Says of a part whose first item is `item` that its loops were grouped in another way: how much that saves, how many steps it took to find,
    /// and whether there is none better.
    fn say_regrouped(
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

/// Copies of the entries of a part, with their numbers.
pub(super) fn within(entries: &[Entry], part: &Range<usize>) -> impl Iterator<Item = (usize, Entry)> {
    part.clone().zip(entries[part.clone()].iter().cloned())
}

/// How many loops there are.
pub(super) fn count_loops(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| matches!(entry, Entry::Group(_))).count()
}
