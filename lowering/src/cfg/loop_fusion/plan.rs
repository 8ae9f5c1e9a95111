//! How two adjacent loops may be fused, or why not.
//!
//! Asked in this order: whether they are behind the same guard, what runs between, what becomes of what the second uses of the first, whether one may not end, which iterations run together,
//! and where what runs between goes; if that has no place in front or behind, whether it has one behind iterations that run in front. What is refused as it stands may be legal where a test holds.
//!
//! **Invariants.** Nothing is changed but by [`Fusion::versioned`], and by that only if its plan is carried out.
//!
//! **Cost.** The dependences of the two loops; operations between them; copies of bounded size. Where something is to be kept between, that again for each number of iterations in front.

use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Body, Op, Value};
use loomir_transforms::access::LoopContext;
use loomir_transforms::access::base::{AliasMode, Base, Bases};
use loomir_transforms::fusion::Profitability;
use loomir_transforms::legality::{ApprovedPlan, DependenceOracle, Schedule, Verdict};

use super::candidate::{Between, Candidate, between};
use super::def_use::{DefUse, Entangled};
use super::motion::{Later, Motion, Stuck, Surroundings};
use super::proposal;
use super::remainder::Remainders;
use super::remarks::Missed;
use super::rewire::Plan;
use super::summary::Summary;
use super::version::{self, Test};
use super::{Fusion, Group};
use crate::cfg::conditions::Facts;
use crate::cfg::guards::Guard;

/// Most operations that are copied for one fusion.
const MAX_COPIED: usize = 512;

impl Fusion<'_> {
    /// How two loops may be fused, or why not.
    pub(super) fn plan(
        &self,
        depth: u32,
        first: &Group,
        second: &Group,
    ) -> Result<ApprovedPlan<Plan>, Missed> {
        let function = &*self.function;
        let (a, b) = (&first.candidate, &second.candidate);
        match (&a.guard, &b.guard) {
            (None, None) => {}
            (Some(own), Some(other)) => {
                if !same_guards(function, own, other) {
                    return Err(Missed::Guards);
                }
            }
            _ => return Err(Missed::OneGuard),
        }
        let between = between(function, self.analysis, a, b).ok_or(Missed::NonAdjacent)?;
        let plan = self.plan_between(depth, [first, second], between)?;
        self.approved(depth, [first, second], plan)
    }

    /// Plans the fusion of two loops with this between them, provided that both run. The error
    /// is the reason why they stay apart.
    fn plan_between(
        &self,
        depth: u32,
        [first, second]: [&Group; 2],
        between: Between,
    ) -> Result<Plan, Missed> {
        let function = &*self.function;
        let counted = second.counted_anew(depth).ok_or(Missed::Unnumbered)?;
        let second = counted.as_ref().unwrap_or(second);
        let (a, b) = (&first.candidate, &second.candidate);
        let bases = Bases::new(function, AliasMode::May);
        let (oracle, loop_context) = (self.oracle(&bases), self.loop_context(depth));
        let surroundings = Surroundings {
            function,
            analysis: self.analysis,
            summaries: &self.summaries,
            oracle: &oracle,
            first: (a, &first.summary),
            second: (b, &second.summary),
            loop_context: &loop_context,
            behind: &self.options.behind,
        };
        let def_use = surroundings.def_use(&between).map_err(Missed::UsesResult)?;
        if let Some((barrier, op)) = first.summary.ends_early(&second.summary) {
            return Err(Missed::EndsEarly(barrier, op));
        }
        let remainders = self.remainders([first, second], &loop_context, &oracle, 0)?;
        let (motion, remainders) = match surroundings.plan(&between, &def_use, None) {
            Ok(motion) => (motion, remainders),
            Err(stuck) => {
                let may_be_kept = self.most_peeled() > 0 && !matches!(stuck, Stuck::AtGuard(_));
                let kept = || self.kept([first, second], &surroundings, &between, &def_use);
                may_be_kept.then(kept).flatten().ok_or(Missed::Stuck(stuck))?
            }
        };
        if let Some(op) = surroundings.enters_late(&between, &motion, &def_use) {
            let why = "the second loop begins with it";
            return Err(Missed::UsesResult(Entangled { op, why }));
        }
        let merged = match remainders.peeled {
            0 => same_counters(&first.summary, &second.summary),
            _ => Vec::new(),
        };
        let late = i64::from(first.start + remainders.peeled);
        let second = second.summary.nest.shifted(depth, late).ok_or(Missed::Unnumbered)?;
        Ok(Plan { between, motion, def_use, merged, remainders, second })
    }

    /// What dependences are told with.
    pub(super) fn oracle<'a>(&'a self, bases: &'a Bases<'a>) -> DependenceOracle<'a> {
        let dependence = self.options.strategy.dependence();
        DependenceOracle { bases, dependence, limits: &self.options.limits, tested_before: None }
    }

    /// So many loops around.
    pub(super) fn loop_context(&self, depth: u32) -> LoopContext {
        LoopContext {
            depth,
            constraints: Vec::new(),
            exact: true,
            variables: vec![None; depth as usize],
            facts: self.summaries.facts.clone(),
        }
    }

    /// Plans the places of what runs between, if some of it is kept behind iterations of the first
    /// loop that run in front; and the iterations that run by themselves then, as few as may be.
    fn kept(
        &self,
        [first, second]: [&Group; 2],
        surroundings: &Surroundings<'_>,
        between: &Between,
        def_use: &DefUse,
    ) -> Option<(Motion, Remainders)> {
        let Surroundings { loop_context, oracle, .. } = *surroundings;
        let most = self.most_peeled();
        let waiting = surroundings.waiting(between, def_use);
        let plan = |behind: u32| {
            let nest =
                first.summary.nest.since(loop_context.depth, i64::from(first.start) + i64::from(behind))?;
            surroundings.plan(between, def_use, Some(&Later { behind, nest, waiting: &waiting })).ok()
        };
        // What cannot be kept behind all that may run in front cannot be behind fewer.
        plan(most)?;
        let mut at_least = 1;
        while at_least <= most {
            let remainders = self.remainders([first, second], loop_context, oracle, at_least).ok()?;
            // The first iteration runs in any case, the others if it is known that they do.
            let behind = if remainders.is_longer { remainders.peeled } else { 1 };
            if let Some(motion) = plan(behind) {
                return Some((motion, remainders));
            }
            at_least = remainders.peeled.checked_add(1).filter(|_| remainders.is_longer)?;
        }
        None
    }

    /// Most iterations of a first loop that run in front of a fused one: each is a copy of at least one operation.
    fn most_peeled(&self) -> u32 {
        if self.options.whole { 0 } else { self.options.peel_max_count.min(MAX_COPIED as u32) }
    }

    /// Which iterations run by themselves where as few as may be do that, but at least so many in front, or why the others may not run together.
    fn remainders(
        &self,
        [first, second]: [&Group; 2],
        loop_context: &LoopContext,
        oracle: &DependenceOracle<'_>,
        at_least: u32,
    ) -> Result<Remainders, Missed> {
        let counts = (first.summary.count, second.summary.count);
        let (Some(own), Some(other)) = counts else { return Err(Missed::TripCounts(counts.0, counts.1)) };
        let verdict = |peeled: u32| {
            let loops = proposal::loops(loop_context.depth, [first, second], 1, first.start + peeled);
            Schedule::new(loop_context, loops.into()).check(oracle)
        };
        let is_legal = |verdict: &Verdict| matches!(verdict, Verdict::Legal { .. });
        let at_once = verdict(at_least);
        let most = self.most_peeled();
        // What may run later, may run later still.
        let least = match is_legal(&at_once) {
            true => Some(at_least),
            false => (at_least..=most).skip(1).find(|peeled| is_legal(&verdict(*peeled))),
        };
        let Some(least) = least else { return Err(Missed::Dependences(at_once)) };
        let all = (least..=most.max(least)).filter_map(|peeled| Remainders::of(own, other, peeled));
        let even = all.clone().find(|remainders| remainders.behind == [false; 2]);
        let Some(remainders) = even.or_else(|| all.min_by_key(|remainders| remainders.peeled)) else {
            return Err(Missed::Dependences(at_once));
        };
        let pair = [first, second];
        if remainders.is_nothing() || (!self.options.whole && self.may_copy(pair, &remainders)) {
            let found = if remainders.peeled == at_least { at_once } else { verdict(remainders.peeled) };
            return if is_legal(&found) { Ok(remainders) } else { Err(Missed::Dependences(found)) };
        }
        let counts = Missed::TripCounts(counts.0, counts.1);
        Err(if least > 0 { Missed::Dependences(at_once) } else { counts })
    }

    /// How two loops may be fused where a test holds, before which they are split into two versions then.
    pub(super) fn versioned(
        &mut self,
        depth: u32,
        [first, second]: [&mut Group; 2],
    ) -> Option<ApprovedPlan<Plan>> {
        if self.options.whole || !self.options.version || !self.summaries.all_may_be_copied() {
            return None;
        }
        let function = &*self.function;
        let (a, b) = (&first.candidate, &second.candidate);
        let blocks = version::as_if_both_run(function, self.analysis, a, b)?;
        let (ahead, behind) = blocks.split_last()?;
        let between = Between { behind: behind.to_vec(), guard: None, ahead: vec![*ahead] };
        let bare = |group: &Group| Group {
            candidate: Candidate { guard: None, ..group.candidate.clone() },
            summary: group.summary.clone(),
            missed: None,
            ..*group
        };
        let bare = [bare(first), bare(second)];
        let groups = [&bare[0], &bare[1]];
        let mut plan = self.plan_between(depth, groups, between).ok()?;
        let copied = Remainders { behind: [true; 2], ..Remainders::default() };
        let is_worth_it = self.may_copy(groups, &copied);
        let test = Test::of(function, [a, b], &blocks).filter(|_| is_worth_it)?;
        // What is tested moves further.
        plan.motion.hoisted.retain(|op| !test.moved.contains(op));
        plan.motion.sunk.retain(|op| !test.moved.contains(op));
        plan.motion.kept.retain(|op| !test.moved.contains(op));
        let plan = self.approved(depth, groups, plan).ok()?;
        let pair = [&mut first.candidate, &mut second.candidate];
        let place = (&mut *self.analysis, &mut self.constants);
        version::split(self.function, place, pair, &blocks, &test, &plan)?;
        self.straighten(&first.candidate, &second.candidate);
        self.report.versions += 1;
        Some(plan)
    }

    /// Whether iterations of two loops may run by themselves: that is worth it, and copies of the loops are what they are.
    fn may_copy(&self, [first, second]: [&Group; 2], remainders: &Remainders) -> bool {
        let is_worth_it = || {
            if self.options.profitability == Profitability::Always {
                return true;
            }
            let mut bases = second.summary.nest.bases();
            bases.any(|base| base != Base::World && first.summary.nest.of_base(base).next().is_some())
        };
        let copies = [
            remainders.peeled as usize + usize::from(remainders.behind[0]),
            usize::from(remainders.behind[1]),
        ];
        let mut left = MAX_COPIED;
        let mut fits = |of: &Candidate, copies: usize| {
            let size = self.size_if_closed(of.id, left / copies.max(1));
            let fits = copies == 0 || size.is_some();
            left -= copies * size.unwrap_or(0).min(left / copies.max(1));
            fits
        };
        fits(&first.candidate, copies[0]) && fits(&second.candidate, copies[1]) && is_worth_it()
    }

    /// Returns the number of operations of a loop that may be copied: they are at most `most`, each
    /// may
    /// be copied, and what the loop defines is used outside only by way of its exit.
    fn size_if_closed(&self, id: LoopId, most: usize) -> Option<usize> {
        let function = &*self.function;
        let loops = self.analysis.loops();
        let is_inside = |op: Op| {
            let node = self.analysis.number_at(function, op);
            node.is_some_and(|node| loops.contains(id, node))
        };
        let mut size = 0;
        for block in self.analysis.blocks_in(id) {
            let results = |op| function.results(op);
            let defined = function.arguments(block).chain(function.ops(block).flat_map(results));
            for value in defined {
                if !function.uses(value).all(|used| is_inside(used.op)) {
                    return None;
                }
            }
            if !function.ops(block).all(|op| self.summaries.may_be_copied(op)) {
                return None;
            }
            size += function.ops(block).count();
            if size > most {
                return None;
            }
        }
        Some(size)
    }
}

/// Whether two guards let pass alike: they are one, or the one decides the other.
fn same_guards(function: &Body, own: &Guard, other: &Guard) -> bool {
    if own.enters_if == other.enters_if && same_value(function, own.condition, other.condition) {
        return true;
    }
    [true, false].into_iter().all(|enters| {
        let mut facts = Facts::default();
        facts.learn(function, own.condition, own.enters_if == enters);
        facts.decide(function, other.condition) == Some(other.enters_if == enters)
    })
}

/// Whether two values are one, or computed by equal comparisons of equal operands.
fn same_value(function: &Body, a: Value, b: Value) -> bool {
    if a == b {
        return true;
    }
    let (Some(x), Some(y)) = (function.defining_op(a), function.defining_op(b)) else { return false };
    function.is(x, llvm::ICmpOp::DEF)
        && function.is(y, llvm::ICmpOp::DEF)
        && function.properties(x) == function.properties(y)
        && function
            .operands(x)
            .zip(function.operands(y))
            .all(|(p, q)| p == q || same_constant(function, p, q))
}

/// Whether two values are equal constants.
fn same_constant(function: &Body, a: Value, b: Value) -> bool {
    let (Some(x), Some(y)) = (function.defining_op(a), function.defining_op(b)) else { return false };
    function.is(x, llvm::ConstantOp::DEF)
        && function.is(y, llvm::ConstantOp::DEF)
        && function.value_type(a) == function.value_type(b)
        && function.properties(x) == function.properties(y)
}

/// The arguments of the second header that have the value of the first loop's counter in each iteration. That decides whether it goes on, so it is no poison.
fn same_counters(first: &Summary, second: &Summary) -> Vec<(Value, Value)> {
    let Some(variable) = &first.variable else { return Vec::new() };
    let alike = second.counters.iter().filter(|counter| counter.counts_like(variable));
    alike.map(|counter| (counter.argument, variable.argument)).collect()
}
