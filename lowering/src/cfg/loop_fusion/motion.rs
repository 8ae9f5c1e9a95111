//! What stands between two loops, moved out of the way: in front of the first or behind the second.
//!
//! An operation may run in front of the first loop if its operands are there, and neither the loop nor what stays behind in between touches what it touches. It may run behind the second if nothing there
//! uses it and the second loop does not touch what it touches. Both loops end, so that it runs is not in question; where both are behind one guard, what is under the second guard is put under the
//! first. What is under no guard comes in front of the first one.
//!
//! Cost: for each operation its operands and uses, and its accesses against those of a loop.

use hashbrown::HashSet;
use loomir_ir::{Block, Body, Op, Trait, Value};
use loomir_transforms::dependence::nest::{Frame, Nest};
use loomir_transforms::legality::{Means, Verdict, independent};

use super::candidate::{Between, Candidate};
use super::def_use::DefUse;
use super::summary::{Summaries, Summary};
use crate::cfg::Analysis;
use crate::cfg::effects::touches_memory;

/// Most operations under the first guard that something is compared with which goes above it.
const MAX_UNDER: usize = 64;

/// Where operations go.
#[derive(Clone, Debug, Default)]
pub(super) struct Motion {
    /// To the end of the first preheader, in order.
    pub(super) hoisted: Vec<Op>,
    /// In front of the first guard, in order.
    pub(super) above: Vec<Op>,
    /// To the start of the second loop's exit, in order.
    pub(super) sunk: Vec<Op>,
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
    pub(super) means: &'a Means<'a>,
    pub(super) first: (&'a Candidate, &'a Summary),
    pub(super) second: (&'a Candidate, &'a Summary),
    /// The loops around both.
    pub(super) frame: &'a Frame,
}

impl Surroundings<'_> {
    /// Where everything between goes, or what can go nowhere, if values go from one loop to the other so.
    pub(super) fn plan(&self, between: &Between, def_use: &DefUse) -> Result<Motion, Stuck> {
        let mut motion = Motion::default();
        // What is there in front of the first loop by then.
        let mut available: HashSet<Op> = HashSet::new();
        let waits: HashSet<Op> = def_use.sunk.iter().copied().collect();
        // What runs behind the second.
        let mut left: Vec<Op> = Vec::new();
        for (block, stuck) in self.blocks(between) {
            let is_guard = Some(block) == between.guard;
            for op in self.function.ops(block) {
                if self.function.has_trait(op, Trait::Terminator) {
                    continue;
                }
                if self.summaries.barrier(op).is_some() {
                    return Err(stuck(op));
                }
                if self.may_hoist(op, between, def_use, &available, &left) {
                    available.insert(op);
                    if is_guard { motion.above.push(op) } else { motion.hoisted.push(op) }
                } else if !is_guard && self.may_sink(op, &waits) {
                    left.push(op);
                } else {
                    return Err(stuck(op));
                }
            }
        }
        if let Some(op) = self.crosses(&motion) {
            return Err(Stuck::AtGuard(op));
        }
        motion.sunk = left;
        Ok(motion)
    }

    /// What would come above the guard, but must not come before something under it. It uses nothing there, but the order of both may matter.
    fn crosses(&self, motion: &Motion) -> Option<Op> {
        let may_matter = |op: &&Op| !self.function.has_trait(**op, Trait::Pure);
        let mut above = motion.above.iter().filter(may_matter).copied().peekable();
        let first = *above.peek()?;
        let ahead = self.function.ops(self.first.0.preheader).chain(motion.hoisted.iter().copied());
        let under: Vec<Op> = ahead.filter(|op| may_matter(&op)).take(MAX_UNDER + 1).collect();
        if under.len() > MAX_UNDER {
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

    fn may_hoist(
        &self,
        op: Op,
        between: &Between,
        def_use: &DefUse,
        available: &HashSet<Op>,
        left: &[Op],
    ) -> bool {
        let is_guard = self.function.block_of(op) == between.guard;
        let is_there = |value: Value| {
            self.function.defining_op(value).is_some_and(|op| available.contains(&op))
                || !is_guard && def_use.is_known(value)
                || self.is_before_first(value, between)
                    && !(is_guard && self.function.value_block(value) == Some(self.first.0.preheader))
        };
        // It must not be undefined in front of a loop that may not end.
        let may_run = self.first.1.barrier.is_none() || self.function.has_trait(op, Trait::Pure);
        may_run
            && self.function.operands(op).all(is_there)
            && self.is_apart(op, self.first.1)
            && left.iter().all(|other| self.are_independent(op, *other))
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

    /// What enters the second loop with something that is not there in front of the first, once operations have moved.
    pub(super) fn enters_late(&self, between: &Between, motion: &Motion, def_use: &DefUse) -> Option<Op> {
        let entering = self.function.terminator(self.second.0.preheader)?;
        let is_moved = |op: Op| motion.hoisted.contains(&op) || motion.above.contains(&op);
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
        match self.summaries.touched(op, self.frame.depth) {
            None => !touches_memory(self.function, op),
            Some(nest) => self.never_meet(nest, &of.nest),
        }
    }

    fn are_independent(&self, a: Op, b: Op) -> bool {
        let [x, y] = [a, b].map(|op| self.summaries.touched(op, self.frame.depth));
        match (x, y) {
            (Some(x), Some(y)) => self.never_meet(x, y),
            (x, y) => {
                (x.is_some() || !touches_memory(self.function, a))
                    && (y.is_some() || !touches_memory(self.function, b))
            }
        }
    }
    /// Whether two that may run in the same iteration of the loops around touch no location in common that one of them writes, whatever holds.
    fn never_meet(&self, a: &Nest, b: &Nest) -> bool {
        let verdict = independent(a, b, self.frame, self.means);
        matches!(verdict, Verdict::Legal { assumed } if assumed.is_empty())
    }
}
