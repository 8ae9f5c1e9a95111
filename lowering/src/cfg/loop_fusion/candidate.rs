//! Loops that may be fused, as far as one looks at them alone, and which of them stand behind each other.
//!
//! A candidate has a preheader and one latch, is left from that alone, and it is known how often it runs. Of two that are *adjacent* nothing but straight code runs between: from the exit of the first to the
//! preheader of the second, or, if both are behind guards, to the guard of the second, where the first one's guard leads too.
//!
//! Cost: linear in the loop's edges and in the blocks between.

use hashbrown::{HashMap, HashSet};
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
        let found = Candidate::by_shape(function, analysis, id)?;
        match summary.barrier {
            Some(Barrier::Convergent(op)) => Err(Unfit::Convergent(op)),
            _ if summary.count.is_none() => Err(Unfit::UnknownTripCount),
            _ => Ok(found),
        }
    }

    /// Returns the candidate that a loop is by its blocks alone.
    pub(super) fn by_shape(function: &Body, analysis: &Analysis, id: LoopId) -> Result<Candidate, Unfit> {
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

/// The loops that are adjacent to another one by their shapes, and what is around them.
#[derive(Default)]
pub(super) struct Adjacent {
    /// The loops.
    loops: HashSet<LoopId>,
    /// The loops around them; nothing stands for the function.
    around: HashSet<Option<LoopId>>,
}

impl Adjacent {
    /// Returns those of a function. Loops that are not among them are fused with nothing, whatever
    /// is known
    /// of
    /// them. Linear.
    pub(super) fn of(function: &Body, analysis: &Analysis) -> Adjacent {
        let loops = analysis.loops();
        let inner = loops.iter().map(|(id, own)| (Some(id), own.children.as_slice()));
        let mut found = Adjacent::default();
        for (parent, siblings) in std::iter::once((None, loops.top())).chain(inner) {
            if siblings.len() < 2 {
                continue;
            }
            let shape = |id: &LoopId| Candidate::by_shape(function, analysis, *id).ok();
            let shapes: Vec<Candidate> = siblings.iter().filter_map(shape).collect();
            let entries: HashMap<Block, LoopId> =
                shapes.iter().map(|own| (own.entry(function), own.id)).collect();
            for own in &shapes {
                let next = following(analysis, own).and_then(|next| entries.get(&next));
                if let Some(next) = next {
                    found.loops.extend([own.id, *next]);
                    found.around.insert(parent);
                }
            }
        }
        found
    }

    /// Adds all loops beside and around one, as if they were adjacent.
    pub(super) fn add(&mut self, analysis: &Analysis, id: LoopId) {
        self.loops.insert(id);
        self.around.insert(analysis.loops().get(id).parent);
    }

    /// True if some of the loops are directly in a loop, or in none for `None`; or if that may come
    /// to
    /// be: loops inside two that become one are beside each other then.
    pub(super) fn is_around(&self, analysis: &Analysis, of: Option<LoopId>) -> bool {
        self.around.contains(&of) || of.is_some_and(|of| self.covers(analysis, of))
    }

    /// True if a block is in one of the loops, or beside one.
    pub(super) fn touches(&self, analysis: &Analysis, node: u32) -> bool {
        self.around.contains(&analysis.loops().innermost(node))
            || analysis.loops_around(node).any(|of| self.loops.contains(&of))
    }

    /// True if a loop is one of them, or in one.
    pub(super) fn covers(&self, analysis: &Analysis, id: LoopId) -> bool {
        let loops = analysis.loops();
        let mut outwards = std::iter::successors(Some(id), |of| loops.get(*of).parent);
        outwards.any(|of| self.loops.contains(&of))
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
