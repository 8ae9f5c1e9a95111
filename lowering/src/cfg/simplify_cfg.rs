//! Simplification of control flow: unreachable blocks, forwarding blocks and undecided branches are
//! removed, and consecutive blocks are merged.
//!
//! | pattern | becomes |
//! | --- | --- |
//! | a branch on a constant; a switch with one common target | a plain branch |
//! | a case with the target of the default | no case |
//! | a conditional branch to one target with a few different operands | `llvm.select` and a plain branch |
//! | a switch of one case | a conditional branch |
//! | an edge to a forwarding block | an edge to its target |
//! | a block whose only predecessor has no other successor | the end of that predecessor |
//! | an argument for which every edge passes the same value | that value |
//! | an argument without uses | nothing |
//! | an unreachable block | nothing |
//!
//! With `keep-loops` the forms of loops stay: loop-simplify, LCSSA, single entries and exits. Kept
//! are an empty preheader, an empty latch unless one block leads to it, and an empty exit. Also
//! kept are an argument that passes a value out of its loop, and a branch on a constant that holds
//! a loop together.
//!
//! **Cost.** Blocks are visited from the end of the function to its beginning, and again after a
//! change near them. Each change removes an edge, a block or an argument, and is linear in the
//! changed branch. Otherwise a round is linear. Changes that only show when unreachable cycles are
//! gone, or loops are dissolved, take another round, of at most 32.
//!
//! # Limits
//!
//! - Works on the `llvm` dialect. Selects among two ways if at most four values differ. Looks at a
//!   function at most 32 times.
//! - If loops must keep their forms, constants in inner loops fold no branch.

use std::collections::VecDeque;

use hashbrown::HashSet;
use loomir_dialects::llvm;
use loomir_ir::graph::ControlFlow;
use loomir_ir::pass::{CanonicalForm, Pass, PassContext, PassInfo};
use loomir_ir::{Block, Body, Diagnostics, Op, Value};

use super::arguments::fold_arguments;
use super::branch::{
    Ending, LOOP_ANNOTATION, Target, all_known, end_block, move_annotation, set_successor_operands,
};
use super::edit::{erase_unreachable, merge_into};
use super::{fix_irreducible, lcssa, loop_simplify, unify_loop_exits};
use fold::{Folded, Ways, erase_unused};
use keep::Keep;

mod fold;
mod keep;

/// The maximal number of rounds over the whole function.
const MAX_ROUNDS: usize = 32;

/// The statistics of simplification.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Simplified {
    /// Branches with fewer targets than before.
    pub branches: usize,
    /// Edges that now skip forwarding blocks.
    pub threaded: usize,
    /// Blocks that were merged into another block.
    pub merged: usize,
    /// Arguments that were one value, or had no use.
    pub arguments: usize,
    /// Erased unreachable blocks.
    pub erased: usize,
}

/// Simplifies the control flow of a function of the dialect. All its branches are known.
pub fn simplify_cfg(function: &mut Body, keep_loops: bool) -> Simplified {
    let mut done = Simplified { erased: erase_unreachable(function), ..Simplified::default() };
    for _ in 0..MAX_ROUNDS {
        let before = done;
        let keep = keep_loops.then(|| Keep::of(function));
        let (pending, is_pending, gone) = (VecDeque::new(), HashSet::new(), HashSet::new());
        Round { function, keep, pending, is_pending, gone, done: &mut done }.run();
        if done == before {
            break;
        }
    }
    done
}

/// A round over all blocks of a function.
struct Round<'f> {
    function: &'f mut Body,
    /// The protected loops, if any.
    keep: Option<Keep>,
    /// Blocks to visit. Blocks to revisit go to the end, so that a block with many changes is
    /// revisited once.
    pending: VecDeque<Block>,
    is_pending: HashSet<Block>,
    gone: HashSet<Block>,
    done: &'f mut Simplified,
}

impl Round<'_> {
    fn run(&mut self) {
        let flow = ControlFlow::of(self.function, self.function.region(self.function.root(), 0));
        flow.graph().post_order(0).into_iter().for_each(|node| self.revisit(flow.block(node)));
        while let Some(block) = self.pending.pop_front() {
            self.is_pending.remove(&block);
            if !self.gone.contains(&block) {
                self.visit(block);
            }
        }
        self.done.erased += erase_unreachable(self.function);
        self.merge();
    }

    /// Merges chains of blocks, each from its first block. No chain is a cycle, because it would be
    /// unreachable.
    fn merge(&mut self) {
        let blocks = self.function.blocks(self.function.region(self.function.root(), 0));
        for block in blocks.collect::<Vec<_>>() {
            if !self.gone.contains(&block) && self.only_branch_into(block).is_none() {
                self.take_in_next(block);
            }
        }
    }

    fn revisit(&mut self, block: Block) {
        if self.is_pending.insert(block) {
            self.pending.push_back(block);
        }
    }

    fn visit(&mut self, block: Block) {
        if !self.function.is_entry(block) {
            if self.function.predecessors(block).next().is_none() {
                return self.abandon(block);
            }
            self.fold_arguments(block);
        }
        let was_empty = self.leads_on(block).is_some();
        self.fold_branch(block);
        self.thread(block);
        if !was_empty && self.leads_on(block).is_some() {
            self.function
                .predecessors(block)
                .collect::<Vec<_>>()
                .into_iter()
                .for_each(|from| self.revisit(from));
        }
    }

    /// Makes an unreachable block end without successors.
    fn abandon(&mut self, block: Block) {
        let behind: Vec<Block> = self.function.block_successors(block).collect();
        end_block(self.function, block, &Ending::Unreachable);
        self.gone.insert(block);
        behind.into_iter().for_each(|to| self.revisit(to));
    }

    fn fold_arguments(&mut self, block: Block) {
        let keep = &self.keep;
        let may_be = |function: &Body, value: Value| {
            keep.as_ref().is_none_or(|keep| keep.may_use(function, value, block))
        };
        let folded = fold_arguments(self.function, block, may_be);
        self.done.arguments += folded.count;
        for user in folded.users {
            // Blocks inside other operations are ignored.
            let Some(at) = self.function.block_of(user) else { continue };
            if self.function.successors(user).len() > 0 {
                self.revisit(at);
                self.function
                    .successors(user)
                    .collect::<Vec<_>>()
                    .into_iter()
                    .for_each(|to| self.revisit(to));
            } else if let Some(branch) = self.function.terminator(at).filter(|_| at != block) {
                // The condition may depend on it.
                if self.function.operands(branch).any(|value| self.function.defining_op(value) == Some(user))
                {
                    self.revisit(at);
                }
            }
        }
    }

    fn fold_branch(&mut self, block: Block) {
        let Some(op) = self.function.terminator(block) else { return };
        let Some(folded) = Folded::of(self.function, op) else { return };
        let before: Vec<Block> = self.function.successors(op).collect();
        let left = folded.blocks();
        let kept: HashSet<Block> = left.iter().copied().collect();
        let loses = before.iter().any(|to| !kept.contains(to));
        if loses && self.keep.as_ref().is_some_and(|keep| !keep.may_lose_others(block, &left)) {
            return;
        }
        let decided_by = self.function.operand(op, 0);
        let ending = folded.build(self.function, op);
        end_block(self.function, block, &ending);
        self.done.branches += 1;
        erase_unused(self.function, decided_by);
        before.into_iter().for_each(|to| self.revisit(to));
    }

    /// Returns the branch of a block without other operations.
    fn leads_on(&self, block: Block) -> Option<Op> {
        let function = &*self.function;
        let branch = function.first_op(block).filter(|op| function.is(*op, llvm::BrOp::DEF))?;
        let is_passed_on = |argument: Value| function.uses(argument).all(|used| used.op == branch);
        let onward = function.successors(branch).next()?;
        let leads_on =
            onward != block && !function.is_entry(block) && function.arguments(block).all(is_passed_on);
        leads_on.then_some(branch)
    }

    /// Redirects the edges out of a block over forwarding blocks.
    fn thread(&mut self, block: Block) {
        let Some(op) = self.function.terminator(block) else { return };
        let mut ways = Ways::of(self.function, op);
        let mut skipped = Vec::new();
        for index in 0..ways.targets().len() {
            let edge = ways.targets()[index].clone();
            let Some((to, says)) = self.skip(block, op, &edge) else { continue };
            let onward = to.block;
            if ways.lead(index, to) {
                skipped.push((index, edge.block, onward));
                if let Some(says) = says {
                    move_annotation(self.function, says, op);
                }
            }
        }
        if skipped.is_empty() {
            return;
        }
        let operands: Vec<Vec<Value>> = ways.targets().iter().map(|to| to.operands.clone()).collect();
        set_successor_operands(self.function, op, &operands);
        self.done.threaded += skipped.len();
        for (index, old, new) in skipped {
            self.function.set_successor(op, index, new);
            self.revisit(old);
            self.revisit(new);
        }
        // The successors may now be a single block.
        self.revisit(block);
    }

    /// Returns the final target of an edge out of `from` behind forwarding blocks, and the branch
    /// among them with a loop annotation. `None` if the edge already leads there.
    fn skip(&self, from: Block, op: Op, edge: &Target) -> Option<(Target, Option<Op>)> {
        let function = &*self.function;
        let mut at = edge.clone();
        let mut passed: HashSet<Block> = HashSet::from_iter([edge.block]);
        let mut says = None;
        while let Some(branch) = self.leads_on(at.block) {
            let onward = function.successors(branch).next()?;
            if function.attr(branch, LOOP_ANNOTATION).is_some() {
                let has_room = says.is_none() && function.attr(op, LOOP_ANNOTATION).is_none();
                let is_only = function.predecessor_edges(at.block).nth(1).is_none();
                let can_say = [llvm::BrOp::DEF, llvm::CondBrOp::DEF].iter().any(|def| function.is(op, def));
                if !has_room || !is_only || !can_say {
                    break;
                }
                says = Some(branch);
            }
            if !self.keep.as_ref().is_none_or(|keep| keep.may_skip(function, at.block, onward, from)) {
                break;
            }
            if !passed.insert(onward) {
                // The blocks form a cycle of their own.
                return None;
            }
            let value = |value: Value| {
                let place = function.arguments(at.block).position(|argument| argument == value);
                place.map_or(value, |place| at.operands[place])
            };
            let operands: Vec<Value> = function.operands(branch).map(value).collect();
            // The result of a call that may unwind is known behind its edge only.
            if operands.iter().any(|operand| function.defining_op(*operand) == Some(op)) {
                break;
            }
            at = Target { block: onward, operands };
        }
        (at.block != edge.block).then_some((at, says))
    }

    /// Returns the only predecessor of a block, if the block is its only successor.
    fn only_branch_into(&self, block: Block) -> Option<Block> {
        let mut edges = self.function.predecessor_edges(block);
        let (Some((op, _)), None) = (edges.next(), edges.next()) else { return None };
        let before = self.function.block_of(op).filter(|before| *before != block)?;
        (self.function.is(op, llvm::BrOp::DEF) && !self.function.is_entry(block)).then_some(before)
    }

    /// Merges successors into a block, as long as each is the only successor and has no other
    /// predecessor.
    fn take_in_next(&mut self, block: Block) {
        while let Some(next) =
            self.function.terminator(block).and_then(|op| self.function.successors(op).next())
        {
            if self.only_branch_into(next) != Some(block) {
                break;
            }
            merge_into(self.function, block, next);
            self.gone.insert(next);
            self.done.merged += 1;
        }
    }
}

const NAME: &str = "simplify-cfg";

/// The pass `simplify-cfg` on `llvm.func`.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    anchor: Some("llvm.func"),
    summary: "Take detours out of the control flow",
    options: &[(
        "keep-loops",
        "false",
        "Leave loops in their forms: with preheaders, latches and exits of their own, closed",
    )],
    make: |options| Ok(Box::new(SimplifyCfg { keep_loops: options.parse("keep-loops", false)? })),
};

struct SimplifyCfg {
    keep_loops: bool,
}

impl Pass for SimplifyCfg {
    fn name(&self) -> &str {
        NAME
    }

    fn preserves(&self) -> &[&'static CanonicalForm] {
        const KEPT: &[&CanonicalForm] =
            &[&loop_simplify::FORM, &lcssa::FORM, &fix_irreducible::FORM, &unify_loop_exits::FORM];
        if self.keep_loops { KEPT } else { &[] }
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        all_known(body)?;
        let done = simplify_cfg(body, self.keep_loops);
        cx.count("Branches folded", done.branches as u64);
        cx.count("Edges threaded", done.threaded as u64);
        cx.count("Blocks merged", done.merged as u64);
        cx.count("Arguments folded", done.arguments as u64);
        cx.count("Unreachable blocks erased", done.erased as u64);
        Ok(())
    }
}
