//! Loops that may be fused, as far as one looks at them alone, and which of them stand behind each other.
//!
//! A candidate has a preheader and one latch, is left from that alone, and it is known how often it runs. Of two that are *adjacent* nothing but straight code runs between: from the exit of the first to the
//! preheader of the second, or, if both are behind guards, to the guard of the second, where the first one's guard leads too.
//!
//! Cost: linear in the loop's edges and in the blocks between.

use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Block, Body, Op};

use super::summary::{Barrier, Summary};
use crate::cfg::Analysis;
use crate::cfg::guards::{Guard, guard};
use crate::cfg::roles::Roles;

/// Most blocks of straight code between two loops.
pub(super) const MAX_BETWEEN: usize = 16;

/// A loop that may be fused.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) id: LoopId,
    pub(super) preheader: Block,
    pub(super) header: Block,
    pub(super) latch: Block,
    pub(super) exit: Block,
    pub(super) guard: Option<Guard>,
}

/// Why a loop is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unfit {
    /// No preheader, several latches, or exits that are not its own.
    NotSimplified,
    /// It is not tested at its end, or left elsewhere too.
    NotRotated,
    /// How often it runs is not known.
    UnknownTripCount,
    /// Threads come together in it.
    Convergent(Op),
}

impl Candidate {
    /// That of a loop, or why it is none.
    pub(super) fn of(
        function: &Body,
        analysis: &Analysis,
        id: LoopId,
        summary: &Summary,
    ) -> Result<Candidate, Unfit> {
        let roles = Roles::of(analysis, id);
        let (Some(preheader), Some(latch), true) = (roles.preheader, roles.latch(), roles.is_simplified())
        else {
            return Err(Unfit::NotSimplified);
        };
        let branch = function.terminator(analysis.block(latch));
        let is_test = branch.is_some_and(|op| function.is(op, llvm::CondBrOp::DEF));
        let ([exit], true, true) = (&roles.exits[..], is_test, roles.exiting == [latch]) else {
            return Err(Unfit::NotRotated);
        };
        if let Some(Barrier::Convergent(op)) = summary.barrier {
            return Err(Unfit::Convergent(op));
        }
        if summary.count.is_none() {
            return Err(Unfit::UnknownTripCount);
        }
        let [preheader, header, latch, exit] =
            [preheader, roles.header, latch, *exit].map(|node| analysis.block(node));
        Ok(Candidate { id, preheader, header, latch, exit, guard: guard(function, analysis, id) })
    }

    /// The first block of it that is run, whether it is entered or not.
    pub(super) fn entry(&self, function: &Body) -> Block {
        let guard = self.guard.and_then(|guard| function.block_of(guard.branch));
        guard.unwrap_or(self.preheader)
    }
}

/// What runs between two adjacent loops.
#[derive(Clone, Debug, Default)]
pub(super) struct Between {
    /// Behind the first, if it runs.
    pub(super) behind: Vec<Block>,
    /// The guard of the second, if it has one.
    pub(super) guard: Option<Block>,
    /// In front of the second, if it runs: its preheader.
    pub(super) ahead: Vec<Block>,
}

impl Between {
    /// All of them, in order.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Block> + '_ {
        self.behind.iter().chain(&self.guard).chain(&self.ahead).copied()
    }
}

/// What follows a candidate: the first block of the next one, if it is adjacent. Nothing if what follows is no straight code.
pub(super) fn following(analysis: &Analysis, first: &Candidate) -> Option<Block> {
    let until = first.guard.map(|guard| guard.skips_to);
    let mut at = first.exit;
    for _ in 0..MAX_BETWEEN {
        let node = analysis.number(at);
        if Some(node) == until {
            return Some(at);
        }
        let [next] = analysis.graph().successors(node)[..] else {
            // Perhaps a guard of the next one alone.
            return until.is_none().then_some(at);
        };
        // The preheader of a loop without a guard.
        if until.is_none() && analysis.loops().innermost(next) != analysis.loops().innermost(node) {
            return Some(at);
        }
        let is_straight = Some(next) == until || analysis.graph().predecessors(next).len() == 1;
        at = is_straight.then(|| analysis.block(next))?;
    }
    None
}

/// What runs between two loops, if they are adjacent: the first block of the second one is what [follows](following) the first.
pub(super) fn between(
    function: &Body,
    analysis: &Analysis,
    first: &Candidate,
    second: &Candidate,
) -> Option<Between> {
    let until = second.entry(function);
    let mut found = Between::default();
    let mut at = first.exit;
    while at != until {
        found.behind.push(at);
        let [next] = analysis.graph().successors(analysis.number(at))[..] else { return None };
        at = analysis.block(next);
        if found.behind.len() > MAX_BETWEEN {
            return None;
        }
    }
    if second.guard.is_some() {
        // Only the first loop, and the way around it, lead there.
        if analysis.graph().predecessors(analysis.number(until)).len() != 2 {
            return None;
        }
        found.guard = Some(until);
    }
    found.ahead.push(second.preheader);
    Some(found)
}
