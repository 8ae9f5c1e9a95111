//! The choice of loops of a sequence to fuse.
//!
//! Each loop in turn is tried with the nearest few groups before it. It is fused with the first
//! where that is legal and profitable. If more than one group remains, or a fusion has a cost,
//! other groupings are [searched](super::search). A sequence of at most [`MAX_LOOPS`] loops is
//! searched exhaustively. A longer sequence is split into parts that no group extends beyond, and
//! small parts are searched. Then all loops are fused once more: loops in these parts by the result
//! of the search, others with the groups that exist now. In a larger part only groupings with
//! promising beginnings are searched.
//!
//! The value of a grouping is the sum of the savings of its fusions. The chosen grouping is never
//! worse than fusing each loop with the nearest at any cost. Among equal values the greedy grouping
//! wins.
//!
//! **Assumptions.**
//! - A choice among groupings changes no verdict: each pair that is joined was judged as it is
//!   joined. Tried with `fixtures/fusion/named.mlir` and the campaign `fusion`.
//!
//! **Cost.** Fusing one after the other is linear in the loops, and done at most three times;
//! searches take a bounded number of steps a sequence.

use std::ops::Range;
use std::rc::Rc;

use loomir_ir::{Diagnostic, Loc, Op};

use super::decision::{Attempt, Missed, Stuck};
use super::footprint::Footprint;
use super::group::Group;
use super::grouping::{Grouping, Left, MAX_LOOPS, Name, Outcome, Partner, Said, count_loops, join};
use super::make_adjacent::{Cleared, ENTRIES_PASSED};
use super::remarks;
use super::reshape::Reshaped;
use super::schedule::{self, Entry};
use super::search::Search;
use super::versioned_region::Segment;
use super::{Fusion, Plan};
use crate::access::LoopContext;
use crate::access::base::AliasMode;
use crate::assumption::{self, Assumption};
use crate::cost::{Cost, Saving, Work};
use crate::marks;
use crate::tree::{Green, If, Item};

/// The limit on search steps in one longer sequence.
const MAX_STEPS: usize = 20_000;

/// Chooses the group with which each loop is fused.
#[derive(Clone, Copy)]
pub(super) enum Guide<'a> {
    /// The nearest group with a saving.
    Nearest,
    /// The nearest group that is legal.
    AtAnyCost,
    /// For each item the group it joins.
    Given(&'a [Option<Name>]),
    /// The given groups for the items of some parts, in order. Another guide decides for the
    /// others.
    Regrouped(&'a [Regrouped], &'a Guide<'a>),
}

/// A part of a sequence with a grouping found by search.
pub(super) struct Regrouped {
    part: Range<usize>,
    /// For each item the group it joins.
    partners: Vec<Option<Name>>,
    /// The number of steps of the search.
    steps: usize,
    /// True if no grouping is better.
    is_optimal: bool,
}

impl<'a> Guide<'a> {
    /// Returns the guide of one item.
    fn of(self, item: usize) -> Guide<'a> {
        let Guide::Regrouped(parts, others) = self else { return self };
        let before = parts.partition_point(|regrouped| regrouped.part.end <= item);
        match parts.get(before).filter(|regrouped| regrouped.part.contains(&item)) {
            Some(regrouped) => Guide::Given(&regrouped.partners),
            None => others.of(item),
        }
    }

    /// Accepts a fusion, or returns the reason against it. This guide names the group `wanted`, or
    /// none.
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

impl Fusion<'_> {
    /// Fuses the loops of a sequence with each other.
    pub(super) fn choose(&mut self, items: &[Item], loop_context: &LoopContext) -> Vec<Segment> {
        if self.only.is_some() {
            return self.fuse_only(items, loop_context);
        }
        let choice = self.report.choice;
        let left = self.options.edits.left().map(|left| usize::try_from(left).unwrap_or(usize::MAX));
        self.most = left.map(|left| left.saturating_sub(self.done.len()));
        let line = self.line(items, loop_context);
        if let Some(segments) = self.segments(&line, items, loop_context) {
            self.say(line.said);
            return segments;
        }
        self.report.choice = choice;
        let assumes = std::mem::replace(&mut self.assumes_swaps, false);
        let line = self.line(items, loop_context);
        self.assumes_swaps = assumes;
        self.say(line.said);
        line.entries.into_iter().map(|entry| Segment::alone(entry, self.trees)).collect()
    }

    /// Returns the sequence with the most profitable grouping.
    fn line(&mut self, items: &[Item], loop_context: &LoopContext) -> Grouping {
        let entries = self.entries(items, loop_context);
        self.best(entries, loop_context)
    }

    /// Records the results for the items.
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

    /// Returns the entries of a sequence, each loop with its work.
    pub(super) fn entries(&mut self, items: &[Item], loop_context: &LoopContext) -> Vec<Entry> {
        let mut entries = Vec::with_capacity(items.len());
        for item in items {
            let Some(mut entry) = Entry::of(self.body, self.program, self.trees, *item, loop_context) else {
                continue;
            };
            if let (Item::Other(green), Entry::Group(group)) = (item, &mut entry) {
                Rc::make_mut(group).work = self.work(*green, loop_context);
            }
            entries.push(entry);
        }
        entries
    }

    /// Returns the sequence of these entries with the most profitable grouping.
    pub(super) fn best(&mut self, mut entries: Vec<Entry>, loop_context: &LoopContext) -> Grouping {
        let all = 0..entries.len();
        if self.at_any_cost {
            return self.in_order(all.zip(entries), Guide::AtAnyCost, loop_context);
        }
        let loops = count_loops(&entries);
        // With two loops, no other grouping is possible.
        if loops <= 2 {
            self.report.choice.optimal += usize::from(loops == 2);
            return self.in_order(all.zip(entries), Guide::Nearest, loop_context);
        }
        let mut guide = Guide::Nearest;
        let mut line = self.in_order(within(&entries, &all), guide, loop_context);
        if loops > MAX_LOOPS && line.was_too_dear {
            let other = self.in_order(within(&entries, &all), Guide::AtAnyCost, loop_context);
            if other.saved > line.saved {
                (guide, line) = (Guide::AtAnyCost, other);
            }
        }
        // All loops are one group, at no cost, and each shares all iterations. With remainders the
        // order of fusions matters.
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
            let found = Search::run(self, &mut entries, part.clone(), saved, &mut steps, loop_context);
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
        // Loops behind a part may be fused with its new groups.
        let mut better =
            self.in_order(within(&entries, &all), Guide::Regrouped(&regrouped, &guide), loop_context);
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

    /// Returns the work of a loop, if profitability needs it.
    pub(super) fn work(&mut self, item: Green, loop_context: &LoopContext) -> Option<Rc<Work>> {
        if self.at_any_cost {
            return None;
        }
        if let Some(known) = self.works.get(&(item, loop_context.depth)) {
            return Some(known.clone());
        }
        let place = (self.body, self.program, &*self.trees);
        let work = Rc::new(Work::of(place, &self.cost, item, loop_context)?);
        self.works.insert((item, loop_context.depth), work.clone());
        Some(work)
    }

    /// Fuses entries, which are given with their numbers, one after the other.
    pub(super) fn in_order(
        &mut self,
        entries: impl Iterator<Item = (usize, Entry)>,
        guide: Guide<'_>,
        loop_context: &LoopContext,
    ) -> Grouping {
        let mut line = Grouping::with_room(entries.size_hint().0);
        for (item, entry) in entries {
            let guide = guide.of(item);
            match entry {
                // Nothing more may be fused.
                entry if self.most.is_some_and(|most| line.edits() >= most) => line.push(item, entry),
                Entry::Group(second) => {
                    if let Err(second) = self.try_fuse_into(&mut line, item, second, guide, loop_context) {
                        line.push(item, Entry::Group(second));
                    }
                }
                second @ Entry::If(..) => self.take_in_if(&mut line, item, second, guide, loop_context),
                statement => line.push(item, statement),
            }
        }
        line
    }

    /// Plans the fusion of `second` with `first`, as they are or under assumptions about numbers.
    fn plan_either_way(
        &mut self,
        first: &Group,
        between: &mut [Entry],
        second: &Group,
        loop_context: &LoopContext,
    ) -> Result<Plan, Missed> {
        let plan = match self.plan_reshaped(first, between, second, loop_context) {
            Err(missed) => self.plan_assuming(first, between, second, loop_context, missed),
            plan => plan,
        };
        self.keeps_reductions(first, second, plan?, loop_context).ok_or(Missed::CombinesValues)
    }

    /// True if a run-time check can be written for the assumptions of a plan.
    fn is_testable(&mut self, first: &Group, between: &[Entry], second: &Group, plan: &Plan) -> bool {
        if self.alias != AliasMode::Version || plan.assumed.is_empty() {
            return true;
        }
        let mut items: Vec<Green> = first.originals.iter().chain(&second.originals).copied().collect();
        if !plan.swapped.is_empty() {
            items.extend(between.iter().flat_map(|entry| entry.originals(self.trees)));
        }
        let assumed: Vec<Assumption> = first.assumed.iter().chain(&plan.assumed).cloned().collect();
        self.extents_are_known(&assumed, &items)
    }

    /// Returns the assumptions of a plan and one that `first` has so many iterations, if a run-time
    /// check can be written for all.
    fn testing_length(&self, first: &Group, plan: &Plan, least: i64) -> Option<Vec<Assumption>> {
        let tested = [&plan.assumed[..], &[first.has_times(least, self.program)?]].concat();
        let may_be = self.can_be_tested(&tested) && self.too_many_tests(first, &tested).is_none();
        may_be.then_some(tested)
    }

    /// Plans the fusion of `second` with `first`, and computes its saving.
    pub(super) fn attempt(
        &mut self,
        first: &Group,
        between: &mut [Entry],
        second: &Group,
        loop_context: &LoopContext,
    ) -> Result<Attempt, Missed> {
        let alias = self.alias;
        let is_version = |group: &Group| self.body.attr(group.op(self.program), marks::VERSIONED).is_some();
        let is_versioned = is_version(first) || is_version(second);
        if is_versioned {
            self.alias = alias.untested();
        }
        let mut plan = self.plan_either_way(first, between, second, loop_context);
        if plan.as_ref().is_ok_and(|plan| !self.is_testable(first, between, second, plan)) {
            self.alias = alias.untested();
            plan = self.plan_either_way(first, between, second, loop_context);
        }
        self.alias = alias;
        let mut plan = plan?;
        let Reshaped { first: other, second: others, before, behind, .. } = &mut plan.reshaped;
        for group in [other, others, before, behind].into_iter().flatten() {
            group.work = self.work(group.item, loop_context);
        }
        let others = self.work(plan.joined.item, loop_context);
        let own = plan.reshaped.first.as_deref().unwrap_or(first).work.clone();
        let mut attempt = Attempt { saving: Saving::default(), work: None, plan };
        let Some((own, mut others)) = own.zip(others) else { return Ok(attempt) };
        if attempt.plan.joined.is_of_unknown_length(first) && own.runs_as_often(&others) {
            others = Rc::new(Work::clone(&others).cut());
        }
        let machine = self.cost.machine();
        let (shift, more) = (attempt.plan.joined.shift(), &attempt.plan.assumed);
        let more = more.iter().filter(|assumption| !first.assumed.contains(assumption));
        let (mut saving, lanes) = match more.map(Assumption::comparisons).sum() {
            0 => Saving::of(&own, &others, shift, machine),
            all => Saving::tested(all, first.assumed.is_empty(), (&own, &others), shift, machine),
        };
        if let Some(least) = saving.memory_bound
            && self.options.alias == AliasMode::Version
        {
            // A test leaves short loops apart. Behind it they stay apart.
            let may_test = !is_versioned && alias == AliasMode::Version;
            match may_test.then(|| self.testing_length(first, &attempt.plan, least)).flatten() {
                Some(tested) => attempt.plan.assumed = tested,
                None => saving = saving.of_short_loops(),
            }
        }
        let Reshaped { before, behind, .. } = &attempt.plan.reshaped;
        let left = [before, behind].into_iter().flatten().filter_map(|group| group.work.as_deref());
        let was = [first, second].into_iter().filter_map(|group| group.work.as_deref());
        let was = was.map(|work| work.cycles(machine)).sum::<f64>();
        let parts = [&*own, &*others].into_iter().chain(left).map(|work| work.cycles(machine));
        saving.cycles += was - parts.sum::<f64>();
        // A distributed loop fetches lines twice.
        for (part, rest) in [(&own, before), (&others, behind)] {
            let rest = rest.as_deref().and_then(|group| group.work.as_deref());
            saving.cycles -= rest.map_or(0.0, |rest| part.again_in(rest, machine));
        }
        attempt.saving = saving;
        attempt.work = Some((others, lanes));
        Ok(attempt)
    }

    /// Fuses a loop with a group of the line, or with a loop that is the only one in a conditional
    /// there. Returns the loop as an error if it cannot be fused.
    fn try_fuse_into(
        &mut self,
        line: &mut Grouping,
        item: usize,
        second: Rc<Group>,
        guide: Guide<'_>,
        loop_context: &LoopContext,
    ) -> Result<(), Rc<Group>> {
        let wanted = match guide {
            Guide::Given(partners) => partners[item],
            Guide::Nearest | Guide::AtAnyCost | Guide::Regrouped(..) => None,
        };
        // The reason against fusion with the nearest group that shares memory, or else with the
        // nearest.
        let mut why: Option<((Op, Op), Missed, bool)> = None;
        for (tried, at) in line.nearest(&second, wanted).into_iter().enumerate() {
            if tried > 0 && line.entries.len() - at > ENTRIES_PASSED {
                break;
            }
            let with_guard = self.with_guard_inside(&line.entries[at], loop_context);
            let Some((entry, between)) = line.entries[at..].split_first_mut() else { continue };
            let first = match (&*entry, &with_guard) {
                (Entry::Group(group), _) | (_, Some(group)) => group.clone(),
                _ => continue,
            };
            // A condition in each iteration is worthwhile only if both loops share memory.
            let conditional = with_guard.as_ref().map_or(second.guarded, |own| own.guarded);
            let attempt = match conditional {
                Some(_) if !first.shares_with(&second) => Err(Missed::GuardedAlone),
                _ => self.attempt(&first, between, &second, loop_context),
            };
            let missed = match attempt.and_then(|found| guide.accept(found, wanted, conditional)) {
                Ok(attempt) => {
                    line.note(self, item, (&first, &second), conditional, &attempt);
                    drop(first);
                    if let Some(own) = with_guard {
                        line.entries[at] = Entry::Group(own);
                        let refused = line.refused_inside.remove(&line.names[at].item);
                        line.said.extend(refused);
                    }
                    if let Entry::Group(first) = &mut line.entries[at] {
                        let left = join(Rc::make_mut(first), &second, attempt);
                        line.close_up(at, item, left);
                    }
                    return Ok(());
                }
                Err(missed) => missed,
            };
            line.was_too_dear |= matches!(missed, Missed::NotBeneficial(_));
            let is_near = first.shares_with(&second);
            // A conditional is no neighbour unless it becomes a loop.
            if with_guard.is_none() && why.as_ref().is_none_or(|(.., was_near)| is_near && !was_near) {
                let ops = (first.op(self.program), second.op(self.program));
                why = Some((ops, self.with_shift(missed, &first, &second, loop_context), is_near));
            }
        }
        if let Some((ops, missed, _)) = why {
            let remark = self.told(|| remarks::missed(self.body, self.callees(), ops.0, ops.1, &missed));
            let said = Said { item, remark, outcome: Outcome::Refused };
            match second.guarded {
                Some(_) => _ = line.refused_inside.insert(item, said),
                None => line.said.push(said),
            }
        }
        Err(second)
    }

    /// Returns a remark, if remarks are wanted.
    pub(super) fn told(&self, remark: impl FnOnce() -> Diagnostic) -> Option<Diagnostic> {
        self.options.remarks.then(remark)
    }

    /// Joins a conditional with the last one of the same condition in the line. If the conditional
    /// contains only a loop, tries to fuse that loop. Otherwise adds the conditional to the line.
    fn take_in_if(
        &mut self,
        line: &mut Grouping,
        item: usize,
        mut second: Entry,
        guide: Guide<'_>,
        loop_context: &LoopContext,
    ) {
        let found = self.partner(&mut line.entries, &mut second, loop_context);
        let (remark, outcome) = match found {
            None => {
                let loops = self.with_guard_inside(&second, loop_context);
                return match loops.map(|own| self.try_fuse_into(line, item, own, guide, loop_context)) {
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
                schedule::join_ifs(self.trees, first, second);
                line.close_up(at, item, Left { hoisted, ..Left::default() });
                (remark, Outcome::Merged(assumed))
            }
        };
        line.said.push(Said { item, remark, outcome });
    }

    /// Returns the last entry that a conditional can be merged with. The error is this entry, and
    /// an entry between them that cannot move.
    pub(super) fn partner(
        &mut self,
        entries: &mut [Entry],
        second: &mut Entry,
        loop_context: &LoopContext,
    ) -> Option<Result<Partner, (Op, Box<Stuck>)>> {
        let Entry::If(If { of, map, .. }, _) = *second else { return None };
        let is_same = |entry: &Entry| match entry {
            Entry::If(first, _) => self.program.is_same_condition(
                self.trees,
                (first.of, first.map),
                (of, map),
                loop_context.depth,
            ),
            _ => false,
        };
        let back = entries.iter().rev().take(ENTRIES_PASSED).position(is_same)?;
        let at = entries.len() - 1 - back;
        // Neighbours need no reason.
        if back > 0 || entries[at].footprint().is_some() {
            for entry in entries[at..].iter_mut().chain([&mut *second]) {
                entry.summarise(self.body, self.program, self.trees, loop_context);
            }
        }
        let footprints: Option<(&Footprint, &Footprint)> = entries[at].footprint().zip(second.footprint());
        // Joining conditionals alone saves nothing, so it gets no run-time check.
        let cleared = match footprints {
            Some((first, own)) => {
                match self.make_adjacent(first, own, &entries[at + 1..], loop_context, &self.sure) {
                    Ok(cleared) => cleared,
                    Err(stuck) => return Some(Err((entries[at].op(self.program), stuck))),
                }
            }
            None => Cleared::default(),
        };
        let Cleared { hoisted, assumed, .. } = cleared;
        Some(Ok(Partner { at, hoisted, assumed }))
    }
}

/// Returns copies of the entries of a part, with their numbers.
pub(super) fn within(entries: &[Entry], part: &Range<usize>) -> impl Iterator<Item = (usize, Entry)> {
    part.clone().zip(entries[part.clone()].iter().cloned())
}
