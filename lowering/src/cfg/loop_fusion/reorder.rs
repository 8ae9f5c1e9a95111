//! What is done with one of two neighbours so that they fuse, where dependences alone are in the way, or how often they run.
//!
//! - *Reversal*: one of them [runs backwards](super::backwards). It may if no two of its iterations depend on each other. The second is tried first.
//! - *Interchange*: one of them is a loop with one inside, which [change places](super::interchange). They may if no two iterations depend on each other of which one is earlier in the one loop, the other in the other.
//! - *Distribution*: one of them becomes [two](super::distribute), of which one is fused. The cuts that are tried are those beside the operation that the [witness](Witness) names.
//!
//! Whether the result may be fused is then asked as of any other pair. Nothing is reordered without a fusion.
//!
//! **Cost.** A bounded number of shapes for each pair, each of which costs what is inside the two loops, and only where they share memory.

use loomir_ir::{Loc, Op, Value};
use loomir_transforms::access::base::Base;
use loomir_transforms::affine::AffineForm;
use loomir_transforms::legality::{ApprovedPlan, Verdict, Witness};
use loomir_transforms::tree::access_summary::AccessSummary;

use super::candidate::Candidate;
use super::distribute::{self, Cut, Pieces, Remainder};
use super::exit_values::Finals;
use super::interchange::Interchange;
use super::proposal::Past;
use super::remarks::Missed;
use super::reverse::Reversed;
use super::rewire::Plan;
use super::summary::{Counter, Summary};
use super::{Fusion, Group};
use crate::cfg::effects::touches_memory;

/// How many cuts of a loop are tried from one of its ends, and how many places for each.
const CUTS_TRIED: usize = 3;
const PLACES_TRIED: usize = 8;

/// One of two neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Which {
    First,
    Second,
}

/// What was done with one of two neighbours before they were fused.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// It runs backwards.
    Reversed(Which),
    /// It and the loop inside it have changed places.
    Interchanged(Which),
    /// A part of it is a loop of its own, of which the first operation stood here.
    Distributed(Which, Loc),
}

/// How two loops are fused of which one runs in another order than it did.
pub(super) struct Reordered {
    pub(super) plan: ApprovedPlan<Plan>,
    pub(super) change: Change,
    /// What stays a loop of its own, to be placed once the two are fused.
    pub(super) rest: Option<(Remainder, Summary)>,
}

/// How one of two loops is split.
struct Split {
    plan: ApprovedPlan<Plan>,
    which: Which,
    takes_head: bool,
    pieces: Pieces,
    cut: Cut,
    part: Summary,
    rest: Summary,
    begins: Loc,
}

impl Fusion<'_> {
    /// How two loops may be fused of which one runs in another order than it did: it does, if so.
    pub(super) fn reordered(
        &mut self,
        depth: u32,
        pair: [&mut Group; 2],
        missed: &Missed,
    ) -> Option<Reordered> {
        let verdict = match missed {
            Missed::Dependences(verdict) => Some(verdict),
            Missed::TripCounts(..) => None,
            _ => return None,
        };
        let [first, second] = pair;
        let (a, b) = (&first.summary.nest, &second.summary.nest);
        if self.options.whole || !self.options.reorder || !share_memory(a, b) {
            return None;
        }
        let backwards = |which| self.reverse(depth, [&*first, &*second], which);
        let backwards = verdict.and_then(|_| backwards(Which::Second).or_else(|| backwards(Which::First)));
        if let Some((plan, which, way, nest)) = backwards {
            let above = first.candidate.preheader;
            let own = if which == Which::First { first } else { second };
            way.write(self.function, &own.candidate, above, &plan);
            own.summary.nest = nest;
            return Some(Reordered { plan, change: Change::Reversed(which), rest: None });
        }
        let interchanged = |which| self.interchanged(depth, [&*first, &*second], which);
        let interchanged = interchanged(Which::Second).or_else(|| interchanged(Which::First));
        if let Some((plan, which, way, summary)) = interchanged {
            way.write(self.function, first.candidate.preheader, &plan)?;
            let own = if which == Which::First { first } else { second };
            own.summary = summary;
            return Some(Reordered { plan, change: Change::Interchanged(which), rest: None });
        }
        let split = self.distributed(depth, [first, second], verdict?)?;
        let Split { plan, which, takes_head, pieces, cut, part, rest, begins } = split;
        let above = first.candidate.preheader;
        let own = if which == Which::First { first } else { second };
        let way = (which, takes_head);
        let loops = (&own.candidate, above);
        let left = distribute::split(self.function, self.analysis, loops, &pieces, &cut, way, &plan)?;
        own.summary = part;
        left.moved.iter().for_each(|(op, _)| self.summaries.forget(*op));
        let rest = rest.of_others(&left.moved);
        Some(Reordered { plan, change: Change::Distributed(which, begins), rest: Some((left, rest)) })
    }

    /// Places what a split left, once the part is in a fused loop. Returns that, what it touches, and what is tried with the next loop instead of it, if there is something.
    pub(super) fn placed(
        &mut self,
        place: usize,
        fused: Candidate,
        summary: &mut Summary,
        which: Which,
        (rest, own): (Remainder, Summary),
    ) -> (Candidate, Option<Group>) {
        let rename = |counter: &Counter| {
            counter.renamed(rest.renamed.get(&counter.argument).copied().unwrap_or(counter.argument))
        };
        let counters = own.counters.iter().map(rename).collect();
        let own = Summary { variable: own.variable.as_ref().map(rename), counters, ..own };
        let (fused, candidate) = rest.place(self.function, self.analysis, fused);
        if fused.guard.is_some() {
            // What is moved in front of the guard passes both.
            summary.nest.merge(&own.nest);
            return (fused, None);
        }
        let is_last = which == Which::Second;
        (fused, is_last.then(|| Group { has_grown: true, ..Group::of(place, candidate, own) }))
    }

    /// How two loops that run equally often may be fused if one of them runs backwards, how that does, and what it touches then.
    fn reverse(
        &self,
        depth: u32,
        [first, second]: [&Group; 2],
        which: Which,
    ) -> Option<(ApprovedPlan<Plan>, Which, Reversed, AccessSummary)> {
        let own = if which == Which::First { first } else { second };
        let last = own.summary.last.as_ref().filter(|_| own.start == 0)?;
        if own.summary.barrier.is_some() || first.summary.count != second.summary.count {
            return None;
        }
        let way = Reversed::of(self.function, self.analysis, &own.candidate, last)?;
        let nest = own.summary.nest.reversed(depth, last)?;
        let summary = Summary { nest: nest.clone(), ..own.summary.clone() };
        let past = Past { time: vec![last.minus(&AffineForm::level(depth))?], rest: None };
        let reversed = Group { past: Some(past), ..Group::of(own.place, own.candidate.clone(), summary) };
        let plan = self.plan_changed(depth, [first, second], which, &reversed)?;
        self.are_ahead(way.needs(), [first, second], plan.plan()).then_some((plan, which, way, nest))
    }

    /// Whether values are there in front of the first of two loops.
    fn are_ahead(&self, mut values: impl Iterator<Item = Value>, pair: [&Group; 2], plan: &Plan) -> bool {
        values.all(|value| {
            let Some(block) = self.function.value_block(value) else { return false };
            let node = self.analysis.number(block);
            let is_in = |of: &Group| self.analysis.loops().contains(of.candidate.id, node);
            !plan.between.blocks().any(|own| own == block) && !pair.into_iter().any(is_in)
        })
    }

    /// How two loops may be fused, all of both together, with this in the place of one of them.
    fn plan_changed(
        &self,
        depth: u32,
        [first, second]: [&Group; 2],
        which: Which,
        changed: &Group,
    ) -> Option<ApprovedPlan<Plan>> {
        let plan = match which {
            Which::First => self.plan(depth, changed, second),
            Which::Second => self.plan(depth, first, changed),
        };
        let is_whole = |plan: &Plan| plan.remainders.is_nothing() && plan.def_use.is_nothing();
        plan.ok().filter(|approved| is_whole(approved.plan()))
    }

    /// How two loops may be fused of which one changes places with the loop inside it, how it does, and what is known of it then.
    fn interchanged(
        &self,
        depth: u32,
        [first, second]: [&Group; 2],
        which: Which,
    ) -> Option<(ApprovedPlan<Plan>, Which, Interchange, Summary)> {
        let (own, other) = if which == Which::First { (first, second) } else { (second, first) };
        let (id, summary) = (own.candidate.id, &own.summary);
        let [inner] = self.analysis.loops().get(id).children[..] else { return None };
        let within = self.summaries.get(inner)?;
        if own.start != 0
            || self.shifted.contains(&id)
            || summary.barrier.is_some()
            || within.count.is_none()
            || within.count != other.summary.count
        {
            return None;
        }
        let inner = Candidate::of(self.function, self.analysis, inner, within).ok()?;
        let lasts = [summary.last.as_ref()?, within.last.as_ref()?];
        let way = Interchange::of(self.function, self.analysis, [&own.candidate, &inner], lasts)?;
        let summary = Summary {
            count: within.count,
            last: within.last.clone(),
            nest: summary.nest.interchanged(depth)?,
            variable: None,
            counters: Vec::new(),
            finals: Finals::default(),
            ..summary.clone()
        };
        let past =
            Past { time: [1, 0].map(|inwards| AffineForm::level(depth + inwards)).to_vec(), rest: None };
        let changed = Group { past: Some(past), ..Group::of(own.place, own.candidate.clone(), summary) };
        let plan = self.plan_changed(depth, [first, second], which, &changed)?;
        let is_there = self.are_ahead(way.needs(), [first, second], plan.plan());
        is_there.then_some((plan, which, way, changed.summary))
    }

    /// How two loops that run equally often may be fused if one of them is split: a part of it that does not hold what is at fault, from either end.
    fn distributed(&self, depth: u32, pair: [&Group; 2], verdict: &Verdict) -> Option<Split> {
        let faults = at_fault(verdict)?;
        for which in [Which::Second, Which::First] {
            let is_first = which == Which::First;
            let own = pair[usize::from(!is_first)];
            if own.start != 0 || self.shifted.contains(&own.candidate.id) || own.summary.barrier.is_some() {
                continue;
            }
            let Some(pieces) = Pieces::of(self.function, &own.candidate) else { continue };
            for takes_head in [!is_first, is_first] {
                let mut fault = faults[usize::from(!is_first)];
                for _ in 0..CUTS_TRIED {
                    let Some((cut, part, rest)) = self.cut(depth, own, &pieces, fault, takes_head) else {
                        break;
                    };
                    let time = vec![AffineForm::level(depth)];
                    let past = Some(Past { time, rest: Some((rest.clone(), !takes_head)) });
                    let group = Group { past, ..Group::of(own.place, own.candidate.clone(), part) };
                    let [first, second] = if is_first { [&group, pair[1]] } else { [pair[0], &group] };
                    if !share_memory(&first.summary.nest, &second.summary.nest) {
                        break;
                    }
                    match self.plan(depth, first, second) {
                        Ok(approved) => {
                            let plan = approved.plan();
                            let begins =
                                pieces.whole(&cut, !takes_head).next().map(|op| self.function.loc(op))?;
                            if !plan.remainders.is_nothing()
                                || !plan.def_use.is_nothing()
                                || !self.moves_values(plan)
                            {
                                break;
                            }
                            let (part, plan) = (group.summary, approved);
                            return Some(Split { plan, which, takes_head, pieces, cut, part, rest, begins });
                        }
                        Err(Missed::Dependences(verdict)) => match at_fault(&verdict) {
                            Some(next) => fault = next[usize::from(!is_first)],
                            None => break,
                        },
                        Err(_) => break,
                    }
                }
            }
        }
        None
    }

    /// The nearest cut of a loop beside an operation that may be made, and what is known of the part that does not hold it, and of the rest.
    fn cut(
        &self,
        depth: u32,
        of: &Group,
        pieces: &Pieces,
        fault: Op,
        takes_head: bool,
    ) -> Option<(Cut, Summary, Summary)> {
        let place = pieces.place(fault)?;
        let places = pieces.cuts_beside(place, takes_head);
        let cut = places.into_iter().take(PLACES_TRIED).find_map(|at| pieces.cut(self.function, at))?;
        let head = self.touched(depth, pieces.whole(&cut, true))?;
        let tail = self.touched(depth, pieces.whole(&cut, false))?;
        let is_in_both = |counter: &Counter| {
            let place = pieces.argument(counter.argument);
            place.is_some_and(|place| cut.is_in_both(place))
        };
        let counters: Vec<Counter> =
            of.summary.counters.iter().filter(|counter| is_in_both(counter)).cloned().collect();
        let known = |nest, is_head| {
            // Either may hold what is late, or seen; one operation of it stands for that.
            let op = pieces.whole(&cut, is_head).next();
            let (late, seen) = (of.summary.late.and(op), of.summary.seen.and(op));
            Summary { nest, late, seen, counters: counters.clone(), ..of.summary.clone() }
        };
        let (head, tail) = (known(head, true), known(tail, false));
        let (part, rest) = if takes_head { (head, tail) } else { (tail, head) };
        Some((cut, part, rest))
    }

    /// What operations touch in a loop inside so many others.
    fn touched(&self, depth: u32, ops: impl Iterator<Item = Op>) -> Option<AccessSummary> {
        let mut all = AccessSummary::default();
        for op in ops {
            match self.summaries.touched(op, depth) {
                Some(nest) => all.merge(nest),
                None if touches_memory(self.function, op) => return None,
                None => {}
            }
        }
        Some(all)
    }

    /// Whether nothing that moves touches memory: the rest of a loop is in its way too then.
    fn moves_values(&self, plan: &Plan) -> bool {
        let motion = &plan.motion;
        let mut moved = motion.hoisted.iter().chain(&motion.above).chain(&motion.sunk).chain(&motion.kept);
        moved.all(|op| !touches_memory(self.function, *op))
    }
}

/// The two operations that a verdict names.
fn at_fault(verdict: &Verdict) -> Option<[Op; 2]> {
    match verdict {
        Verdict::Illegal(Witness::Order { first, second, .. })
        | Verdict::MayBeIllegal(Witness::Order { first, second, .. }) => Some([first.op, second.op]),
        Verdict::Unknown { accesses: (first, second) } => Some([*first, *second]),
        _ => None,
    }
}

/// Whether two nests touch an object in common that one of them writes.
fn share_memory(first: &AccessSummary, second: &AccessSummary) -> bool {
    second.bases().filter(|base| *base != Base::World).any(|base| {
        let writes = |nest: &AccessSummary| nest.of_base(base).any(|own| own.class.writes);
        first.of_base(base).next().is_some() && (writes(first) || writes(second))
    })
}
