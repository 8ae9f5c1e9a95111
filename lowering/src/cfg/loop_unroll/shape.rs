//! The shape of a loop to copy, and rules about its exits.
//!
//! A shape names blocks, not numbers of an analysis, so it stays true while other loops change.

use hashbrown::HashSet;
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Block, Body, Op};

use crate::cfg::Analysis;
use crate::cfg::calls;
use crate::cfg::roles::Roles;
use crate::cfg::scev::ScalarEvolution;
use crate::cfg::scev::exits::gcd;
use crate::cfg::scev::expr::ExprId;

/// A loop in loop-simplify form.
#[derive(Clone, Debug)]
pub(in crate::cfg) struct Shape {
    pub(in crate::cfg) preheader: Block,
    pub(in crate::cfg) header: Block,
    pub(in crate::cfg) latch: Block,
    /// All blocks, in the order of the text where possible; the header is the first.
    pub(in crate::cfg) blocks: Vec<Block>,
    pub(in crate::cfg) exits: Vec<Exit>,
}

/// An exiting block.
#[derive(Clone, Debug)]
pub(in crate::cfg) struct Exit {
    pub(in crate::cfg) block: Block,
    /// True for each edge that leads out of the loop.
    pub(in crate::cfg) leaves: Vec<bool>,
    /// True if the block is in no loop inside, so it runs at most once in each iteration.
    pub(in crate::cfg) runs_once: bool,
    /// The blocks that these edges lead to.
    pub(in crate::cfg) targets: Vec<Block>,
    pub(in crate::cfg) rule: ExitRule,
}

/// The iterations in which an exit is taken, counted from zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::cfg) enum ExitRule {
    /// Any.
    Unknown,
    /// This one.
    At(u128),
    /// Some iteration whose successor's number is a multiple of this.
    Before(u128),
    /// None.
    Never,
}

/// The behaviour of an exit in one copy of the loop's body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::cfg) enum Course {
    /// It is tested.
    Tests,
    /// It is not taken.
    Stays,
    /// It is taken.
    Leaves,
}

impl Shape {
    /// Returns the shape of a loop, or `None` if it is not in loop-simplify form.
    pub(in crate::cfg) fn of(scev: &mut ScalarEvolution<'_>, id: LoopId) -> Option<Shape> {
        let analysis = scev.analysis();
        let roles = Roles::of(analysis, id);
        if !roles.is_simplified() {
            return None;
        }
        let counts = scev.counts(id);
        let exits = counts.exits.iter().map(|exit| {
            let rule = match exit.limit.exact {
                _ if exit.limit.never => ExitRule::Never,
                Some(exact) => match scev.as_constant(exact) {
                    Some(count) => ExitRule::At(count),
                    None => ExitRule::Before(scev.multiple_of_next(exact, id)),
                },
                None => ExitRule::Unknown,
            };
            let block = analysis.block(exit.from);
            let to = scev.function().block_successors(block);
            let to: Vec<Block> = to.collect();
            let leaves = |to: &Block| !analysis.loops().contains(id, analysis.number(*to));
            let targets = to.iter().copied().filter(leaves).collect();
            let runs_once = analysis.loops().innermost(exit.from) == Some(id);
            Exit { block, leaves: to.iter().map(leaves).collect(), runs_once, targets, rule }
        });
        Some(Shape {
            preheader: analysis.block(roles.preheader?),
            header: analysis.block(roles.header),
            latch: analysis.block(roles.latch()?),
            exits: exits.collect(),
            blocks: analysis.blocks_in(id).collect(),
        })
    }

    /// Returns the branch of the latch and the number of its edge to the header.
    pub(in crate::cfg) fn backedge(&self, function: &Body) -> Option<(Op, usize)> {
        edge_to(function, self.latch, self.header)
    }

    /// True if a loop that leaves at its latch is worth unrolling at run time, although it also
    /// leaves elsewhere. With several exits, the copies don't become a straight line.
    pub(in crate::cfg) fn has_few_exits(&self, function: &Body, is_predictable: bool) -> bool {
        let latch = self.exits.iter().find(|exit| exit.block == self.latch);
        let [behind] = latch.map_or(&[][..], |latch| &latch.targets) else { return false };
        if self.exits.len() == 1 {
            return true;
        }
        let is_shared = function.predecessor_edges(*behind).nth(1).is_some();
        let others = self.exits.iter().flat_map(|exit| &exit.targets).filter(|to| *to != behind);
        let others: HashSet<Block> = others.copied().collect();
        let is_rare = |exit: &Block| is_predictable || deoptimizes(function, *exit);
        let are_few = others.len() <= 1 && others.iter().all(is_rare);
        !is_shared && self.exits.len() <= 2 && are_few
    }

    /// True if of `count` copies of the body only the last tests at its latch.
    pub(in crate::cfg) fn tests_last(&self, count: u64) -> bool {
        let latch = self.exits.iter().find(|exit| exit.block == self.latch);
        let tests = |copy: u64| {
            let course = |exit: &Exit| exit.rule.in_copy(u128::from(copy), u128::from(count));
            latch.map(course) == Some(Course::Tests)
        };
        count > 0 && tests(count - 1) && !(0..count - 1).any(tests)
    }

    /// True if the loop is left at the conditional branch of its latch, and nowhere else.
    pub(in crate::cfg) fn leaves_at_latch(&self, function: &Body) -> bool {
        let end = function.terminator(self.latch);
        let is_conditional = end.is_some_and(|op| function.is(op, llvm::CondBrOp::DEF));
        is_conditional
            && matches!(&self.exits[..], [only] if only.block == self.latch && only.targets.len() == 1)
    }

    /// Returns the number of backedges taken before the loop is left at its latch, if it is known.
    pub(in crate::cfg) fn count_at_latch(
        &self,
        scev: &mut ScalarEvolution<'_>,
        id: LoopId,
    ) -> Option<ExprId> {
        let number = scev.analysis().number(self.latch);
        let counts = scev.counts(id);
        let exit = counts.exits.iter().find(|exit| exit.from == number)?;
        exit.limit.exact
    }

    /// True if the latch is an exiting block.
    pub(in crate::cfg) fn is_rotated(&self) -> bool {
        self.exits.iter().any(|exit| exit.block == self.latch)
    }
}

impl Exit {
    /// Returns the only edge that leads out of the loop, or the only one that stays.
    pub(in crate::cfg) fn only_edge(&self, leaves: bool) -> Option<usize> {
        let mut edges = self.leaves.iter().enumerate().filter(|(_, own)| **own == leaves);
        edges.next().map(|(index, _)| index).filter(|_| edges.next().is_none())
    }
}

/// The maximal number of blocks that are followed to a deoptimization.
const MAX_FOLLOWED: usize = 16;

/// True if all ways from a block lead to a call that deoptimizes, which is rarely reached.
fn deoptimizes(function: &Body, from: Block) -> bool {
    let next = |block: &Block| {
        let mut successors = function.block_successors(*block);
        let only = successors.next()?;
        successors.all(|other| other == only).then_some(only)
    };
    let last = std::iter::successors(Some(from), next).take(MAX_FOLLOWED).last();
    let ops: Vec<Op> = last.map(|block| function.ops(block).collect()).unwrap_or_default();
    let [.., call, end] = &ops[..] else { return false };
    function.is(*end, llvm::ReturnOp::DEF) && calls::is_deoptimize(function, *call)
}

/// Returns the headers of the loops inside a loop.
pub(in crate::cfg) fn headers_inside(analysis: &Analysis, id: LoopId) -> Vec<Block> {
    let nodes = analysis.loops().get(id).nodes.iter().filter(|node| {
        let own = analysis.loops().innermost(**node);
        own.is_some_and(|own| own != id && analysis.loops().get(own).header() == **node)
    });
    nodes.map(|node| analysis.block(*node)).collect()
}

/// Returns the branch of a block and the number of its edge to another.
pub(in crate::cfg) fn edge_to(function: &Body, from: Block, to: Block) -> Option<(Op, usize)> {
    let branch = function.terminator(from)?;
    Some((branch, function.successors(branch).position(|own| own == to)?))
}

impl ExitRule {
    /// Returns the course in a copy that runs iteration `number` alone.
    pub(in crate::cfg) fn in_iteration(self, number: u128) -> Course {
        match self {
            ExitRule::Never => Course::Stays,
            ExitRule::At(count) if number < count => Course::Stays,
            ExitRule::At(count) if number == count => Course::Leaves,
            ExitRule::Before(multiple) if multiple > 1 && !(number + 1).is_multiple_of(multiple) => {
                Course::Stays
            }
            _ => Course::Tests,
        }
    }

    /// Returns the course in a copy that runs every iteration `number` modulo `count`.
    pub(in crate::cfg) fn in_copy(self, number: u128, count: u128) -> Course {
        match self {
            ExitRule::Never => Course::Stays,
            ExitRule::At(last) if last % count != number => Course::Stays,
            ExitRule::Before(multiple) => {
                let common = gcd(multiple, count);
                if (number + 1).is_multiple_of(common) { Course::Tests } else { Course::Stays }
            }
            _ => Course::Tests,
        }
    }
}
