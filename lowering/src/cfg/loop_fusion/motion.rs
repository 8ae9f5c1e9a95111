//! What stands between two loops, moved out of the way: in front of the first, behind the second, or behind the first iterations of the first.
//!
//! An operation may run in front of the first loop if its operands are there, and neither the loop nor what stays behind in between touches what it touches. It may run behind the second if nothing there
//! uses it and the second loop does not touch what it touches. Both loops end, so that it runs is not in question; where both are behind one guard, what is under the second guard is put under the
//! first. What is under no guard comes in front of the first one.
//!
//! What may do neither is *kept between*: where iterations of the first loop run in front of the fused one, it runs behind these, if the other iterations do not touch what it touches. Its operands may be kept, too.
//!
//! **Invariants.** Of two operations between that touch something in common the one that was first stays first, wherever both go. What is kept runs if the first loop does, so what is at the guard never is.
//!
//! **Cost.** For each operation its operands and uses, and its accesses against those of a loop and of a bounded number of operations that are sunk or kept.
//!
//! **Assumptions.**
//! - An allocation on the stack stays in order with what restores the stack.
//!
//! Tried with `loop_fusion_traps/stack.ll`.

use hashbrown::HashSet;
use loomir_ir::{Block, Body, Loc, Op, Trait, Value};
use loomir_transforms::access::LoopContext;
use loomir_transforms::legality::{DependenceOracle, Verdict, independent};
use loomir_transforms::tree::access_summary::AccessSummary;

use super::candidate::{Between, Candidate};
use super::def_use::DefUse;
use super::summary::{Summaries, Summary};
use crate::cfg::Analysis;
use crate::cfg::effects::touches_memory;

/// Most operations that one is compared with which comes before them.
const MAX_COMPARED: usize = 64;

/// Where operations go.
#[derive(Clone, Debug, Default)]
pub(super) struct Motion {
    /// To the end of the first preheader, in order.
    pub(super) hoisted: Vec<Op>,
    /// In front of the first guard, in order.
    pub(super) above: Vec<Op>,
    /// To the start of the second loop's exit, in order.
    pub(super) sunk: Vec<Op>,
    /// To the end of an iteration of the first loop that runs in front of the fused one, in order.
    pub(super) kept: Vec<Op>,
    /// How many iterations those stand behind, if there are any.
    pub(super) kept_behind: u32,
}

/// Which iterations of the first loop run behind what is kept between.
pub(super) struct Later<'w> {
    /// How many it stands behind.
    pub(super) behind: u32,
    /// What the others touch.
    pub(super) nest: AccessSummary,
    /// [What may run behind the second loop](Surroundings::waiting) with all that uses it.
    pub(super) waiting: &'w HashSet<Op>,
}

/// The operations between, as far as it is known where they go.
#[derive(Default)]
struct Moved {
    /// What is there in front of the first loop.
    available: HashSet<Op>,
    /// What runs behind the second.
    left: Placed,
    /// What stays between.
    kept: Placed,
}

/// Operations that go to one place, in order.
#[derive(Default)]
struct Placed {
    ops: Vec<Op>,
    known: HashSet<Op>,
    /// Those that touch memory.
    touching: Vec<Op>,
}

impl Placed {
    fn push(&mut self, op: Op, touches: bool) {
        self.ops.push(op);
        self.known.insert(op);
        self.touching.extend(touches.then_some(op));
    }
}

/// The operation that can go nowhere, and whether it stands behind the first loop, at the guard, or in front of the second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stuck {
    /// Behind the first loop.
    Behind(Op),
    /// In front of the second one's guard.
    AtGuard(Op),
    /// In front of the second.
    Ahead(Op),
}

/// What is moved, and around what.
pub(super) struct Surroundings<'a> {
    pub(super) function: &'a Body,
    pub(super) analysis: &'a Analysis,
    pub(super) summaries: &'a Summaries,
    pub(super) oracle: &'a DependenceOracle<'a>,
    pub(super) first: (&'a Candidate, &'a Summary),
    pub(super) second: (&'a Candidate, &'a Summary),
    /// The loops around both.
    pub(super) loop_context: &'a LoopContext,
    /// Places of operations which rather run behind both loops than in front of them.
    pub(super) behind: &'a [Loc],
}

impl Surroundings<'_> {
    /// Where everything between goes, or what can go nowhere, if values go from one loop to the other so. Something is kept between only if there are iterations behind which it can be.
    pub(super) fn plan(
        &self,
        between: &Between,
        def_use: &DefUse,
        later: Option<&Later<'_>>,
    ) -> Result<Motion, Stuck> {
        let mut motion = Motion::default();
        let mut moved = Moved::default();
        let waits: HashSet<Op> = def_use.sunk.iter().copied().collect();
        for (block, stuck) in self.blocks(between) {
            let is_guard = Some(block) == between.guard;
            for op in self.function.ops(block) {
                if self.function.has_trait(op, Trait::Terminator) {
                    continue;
                }
                if self.summaries.barrier(op).is_some() {
                    return Err(stuck(op));
                }
                let may_wait = || match later {
                    Some(later) => later.waiting.contains(&op),
                    None => self.may_sink(op, &waits),
                };
                let rather_waits = self.behind.contains(&self.function.loc(op)) && !is_guard && may_wait();
                if !rather_waits && self.may_hoist(op, between, def_use, &moved) {
                    moved.available.insert(op);
                    if is_guard { motion.above.push(op) } else { motion.hoisted.push(op) }
                } else if !is_guard && may_wait() {
                    moved.left.push(op, self.touches(op));
                } else if !is_guard && later.is_some_and(|l| self.may_keep(op, between, def_use, &moved, l)) {
                    moved.kept.push(op, self.touches(op));
                } else {
                    return Err(stuck(op));
                }
            }
        }
        if let Some(op) = self.crosses(&motion) {
            return Err(Stuck::AtGuard(op));
        }
        motion.kept_behind = later.map_or(0, |later| later.behind);
        Ok(Motion { sunk: moved.left.ops, kept: moved.kept.ops, ..motion })
    }

    /// What may run behind the second loop, with all that uses it between.
    pub(super) fn waiting(&self, between: &Between, def_use: &DefUse) -> HashSet<Op> {
        let waits: HashSet<Op> = def_use.sunk.iter().copied().collect();
        let mut all = HashSet::new();
        let blocks: Vec<Block> = between.blocks().collect();
        let mut ops: Vec<Op> = blocks.iter().flat_map(|block| self.function.ops(*block)).collect();
        while let Some(op) = ops.pop() {
            let is_left_between = |user: Op| {
                self.function.block_of(user).is_some_and(|block| blocks.contains(&block))
                    && !self.function.has_trait(user, Trait::Terminator)
                    && !all.contains(&user)
            };
            let mut uses = self.function.results(op).flat_map(|value| self.function.uses(value));
            if !uses.any(|used| is_left_between(used.op)) && self.may_sink(op, &waits) {
                all.insert(op);
            }
        }
        all
    }

    /// What would come above the guard, but must not come before something under it. It uses nothing there, but the order of both may matter.
    fn crosses(&self, motion: &Motion) -> Option<Op> {
        let may_matter = |op: &&Op| !self.function.has_trait(**op, Trait::Pure);
        let mut above = motion.above.iter().filter(may_matter).copied().peekable();
        let first = *above.peek()?;
        let ahead = self.function.ops(self.first.0.preheader).chain(motion.hoisted.iter().copied());
        let under: Vec<Op> = ahead.filter(|op| may_matter(&op)).take(MAX_COMPARED + 1).collect();
        if under.len() > MAX_COMPARED {
            return Some(first);
        }
        let comes_first = |op: Op, other: Op| {
            !self.function.has_trait(other, Trait::Terminator)
                && (self.summaries.barrier(other).is_some() || !self.are_independent(op, other))
        };
        above.find(|op| under.iter().any(|other| comes_first(*op, *other)))
    }

    fn blocks<'b>(&self, between: &'b Between) -> impl Iterator<Item = (Block, fn(Op) -> Stuck)> + use<'b> {
        let behind = between.behind.iter().map(|block| (*block, Stuck::Behind as fn(Op) -> Stuck));
        let guard = between.guard.iter().map(|block| (*block, Stuck::AtGuard as fn(Op) -> Stuck));
        let ahead = between.ahead.iter().map(|block| (*block, Stuck::Ahead as fn(Op) -> Stuck));
        behind.chain(guard).chain(ahead)
    }

    fn may_hoist(&self, op: Op, between: &Between, def_use: &DefUse, moved: &Moved) -> bool {
        let is_there = |value: Value| self.is_there(op, value, between, def_use, &moved.available);
        self.may_run_earlier(op)
            && self.function.operands(op).all(is_there)
            && self.is_apart(op, self.first.1)
            && [&moved.left, &moved.kept].into_iter().all(|others| self.is_apart_from(op, others))
    }

    /// Whether an operation that is not at the guard may run behind the first iterations of the first loop.
    fn may_keep(
        &self,
        op: Op,
        between: &Between,
        def_use: &DefUse,
        moved: &Moved,
        later: &Later<'_>,
    ) -> bool {
        let is_there = |value: Value| {
            self.function.defining_op(value).is_some_and(|op| moved.kept.known.contains(&op))
                || self.is_there(op, value, between, def_use, &moved.available)
        };
        self.may_run_earlier(op)
            && self.function.operands(op).all(is_there)
            && self.never_meets(op, &later.nest)
            && self.is_apart_from(op, &moved.left)
    }

    /// Whether an operation may run before the first loop is over, as far as it may not be: it must not be undefined in front of a loop that may not end.
    fn may_run_earlier(&self, op: Op) -> bool {
        self.first.1.barrier.is_none() || self.function.has_trait(op, Trait::Pure)
    }

    /// Whether a value that an operation between uses is there in front of the first loop, where these have moved to.
    fn is_there(
        &self,
        op: Op,
        value: Value,
        between: &Between,
        def_use: &DefUse,
        available: &HashSet<Op>,
    ) -> bool {
        let is_guard = self.function.block_of(op) == between.guard;
        self.function.defining_op(value).is_some_and(|op| available.contains(&op))
            || !is_guard && def_use.is_known(value)
            || self.is_before_first(value, between)
                && !(is_guard && self.function.value_block(value) == Some(self.first.0.preheader))
    }

    /// Whether an operation touches nothing in common with any of these that one of the two writes. If they are many, nobody looks, and it is taken to touch something.
    fn is_apart_from(&self, op: Op, others: &Placed) -> bool {
        let are_few = others.touching.len() <= MAX_COMPARED;
        !self.touches(op) || are_few && others.touching.iter().all(|other| self.are_independent(op, *other))
    }

    fn touches(&self, op: Op) -> bool {
        self.summaries.touched(op, self.loop_context.depth).is_some() || touches_memory(self.function, op)
    }

    fn may_sink(&self, op: Op, waits: &HashSet<Op>) -> bool {
        let results: Vec<Value> = self.function.results(op).collect();
        let mut uses = results.into_iter().flat_map(|value| self.function.uses(value));
        let is_behind = |op: Op| {
            self.analysis.number_at(self.function, op).is_some_and(|node| {
                !self.analysis.loops().contains(self.second.0.id, node)
                    && self.analysis.block(node) != self.second.0.preheader
            })
        };
        // What the preheader hands on is used in the loop.
        let is_between = |op: Op| {
            self.function.block_of(op) == Some(self.second.0.preheader)
                && !self.function.has_trait(op, Trait::Terminator)
        };
        // Behind a loop that may not end it might never run.
        let may_wait = self.second.1.barrier.is_none() || self.function.has_trait(op, Trait::Pure);
        may_wait
            && uses.all(|used| is_behind(used.op) || is_between(used.op) || waits.contains(&used.op))
            && self.is_apart(op, self.second.1)
    }

    /// What enters the second loop with something that is not there in front of the fused one, once operations have moved.
    pub(super) fn enters_late(&self, between: &Between, motion: &Motion, def_use: &DefUse) -> Option<Op> {
        let entering = self.function.terminator(self.second.0.preheader)?;
        let is_moved = |op: Op| {
            [&motion.hoisted, &motion.above, &motion.kept].into_iter().any(|moved| moved.contains(&op))
        };
        let is_there = |value: Value| {
            self.function.defining_op(value).is_some_and(is_moved)
                || def_use.is_known(value)
                || self.is_before_first(value, between)
        };
        (!self.function.operands(entering).all(is_there)).then_some(entering)
    }

    /// Whether a value that is used between the loops is there at the end of the first one's preheader: it is defined neither in the loop nor between.
    fn is_before_first(&self, value: Value, between: &Between) -> bool {
        let Some(block) = self.function.value_block(value) else { return false };
        !between.blocks().any(|own| own == block)
            && !self.analysis.loops().contains(self.first.0.id, self.analysis.number(block))
    }

    /// Whether an operation and a loop touch nothing in common that one of them writes.
    pub(super) fn is_apart(&self, op: Op, of: &Summary) -> bool {
        self.never_meets(op, &of.nest)
    }

    fn never_meets(&self, op: Op, others: &AccessSummary) -> bool {
        match self.summaries.touched(op, self.loop_context.depth) {
            None => !touches_memory(self.function, op),
            Some(nest) => self.never_meet(nest, others),
        }
    }

    fn are_independent(&self, a: Op, b: Op) -> bool {
        let [x, y] = [a, b].map(|op| self.summaries.touched(op, self.loop_context.depth));
        match (x, y) {
            (Some(x), Some(y)) => self.never_meet(x, y),
            (x, y) => {
                (x.is_some() || !touches_memory(self.function, a))
                    && (y.is_some() || !touches_memory(self.function, b))
            }
        }
    }
    /// Whether two that may run in the same iteration of the loops around touch no location in common that one of them writes, whatever holds.
    fn never_meet(&self, a: &AccessSummary, b: &AccessSummary) -> bool {
        let verdict = independent(a, b, self.loop_context, self.oracle);
        matches!(verdict, Verdict::Legal { assumed } if assumed.is_empty())
    }
}
