//! Folding of what became constant in copies of a loop's body.
//!
//! One sweep over the changed blocks, in their order: arguments of blocks with one edge become its
//! operands, operations fold, and branches on constants lead one way. A block that nothing leads to
//! any more loses its branch at once, so blocks behind it have fewer edges. Straight lines of
//! blocks are merged at the end.
//!
//! **Cost.** Linear in the changed blocks and the uses of their values.

use hashbrown::HashSet;
use loomir_dialects::llvm;
use loomir_ir::rewrite::Greedy;
use loomir_ir::{Block, Body, Op};

use crate::cfg::arguments::fold_arguments;
use crate::cfg::branch::{Ending, end_block, taken_edge, targets};
use crate::cfg::conditions::constant_bits;
use crate::cfg::edit::{erase_unreachable, merge_into};

/// Tidies up the changed blocks of a function.
pub(super) fn tidy_up(function: &mut Body, changed: &[Block]) {
    let mut fold = Greedy::new(&[]).keeps_constants();
    for block in changed.iter().copied() {
        if is_dead(function, block) {
            kill(function, block);
            continue;
        }
        if function.predecessor_edges(block).nth(1).is_none() {
            fold_arguments(function, block, |_, _| true);
        }
        let ops: Vec<Op> = function.ops(block).collect();
        fold.run_on(function, ops);
        fold_branch(function, block);
    }
    erase_unreachable(function);
    merge(function, changed);
}

/// True if no edge leads to a block that is not the entry.
fn is_dead(function: &Body, block: Block) -> bool {
    !function.is_entry(block) && function.predecessor_edges(block).next().is_none()
}

/// Lets a block that is never reached, and those that only it leads to, lead nowhere.
fn kill(function: &mut Body, block: Block) {
    let mut pending = vec![block];
    while let Some(block) = pending.pop() {
        let after: Vec<Block> = function.block_successors(block).collect();
        if !after.is_empty() {
            end_block(function, block, &Ending::Unreachable);
            pending.extend(after.into_iter().filter(|after| is_dead(function, *after)));
        }
    }
}

/// Lets a branch on a constant lead one way.
fn fold_branch(function: &mut Body, block: Block) {
    let Some(branch) = function.terminator(block) else { return };
    let Some(condition) = function.operands(branch).next() else { return };
    let bits = constant_bits(function, condition).map(|(bits, _)| bits);
    let Some(taken) = bits.and_then(|bits| taken_edge(function, branch, bits)) else { return };
    let mut all = targets(function, branch);
    let taken = all.swap_remove(taken);
    let other: Vec<Block> = all.into_iter().map(|to| to.block).filter(|to| *to != taken.block).collect();
    end_block(function, block, &Ending::Branch(taken));
    for block in other {
        if is_dead(function, block) {
            kill(function, block);
        }
    }
}

/// Merges blocks that only follow each other.
fn merge(function: &mut Body, changed: &[Block]) {
    let region = function.region(function.root(), 0);
    let mut live: HashSet<Block> = function.blocks(region).collect();
    let changed: HashSet<Block> = changed.iter().copied().filter(|block| live.contains(block)).collect();
    for first in function.blocks(region).collect::<Vec<_>>() {
        while live.contains(&first) {
            let next = function.terminator(first).filter(|op| function.is(*op, llvm::BrOp::DEF));
            let Some(next) = next.and_then(|_| function.block_successors(first).next()) else { break };
            let is_straight = next != first
                && !function.is_entry(next)
                && function.predecessor_edges(next).nth(1).is_none()
                && changed.contains(&next)
                && changed.contains(&first);
            if !is_straight {
                break;
            }
            merge_into(function, first, next);
            live.remove(&next);
        }
    }
}
