//! Simplification of graphs of blocks: branches that a constant decides, blocks that are never
//! reached, blocks that only branch on, and blocks with one predecessor that leads nowhere else.
//!
//! A part of [`canonicalize`](super::canonicalize), as in `mlir-opt`. Conditions must be constants
//! already.
//!
//! **Assumptions.**
//! - A branch with attributes may say something about a loop. It is not merged away. Tried in
//!   `fixtures/simplify/canonicalize_blocks.mlir`.
//!
//! **Cost.** Linear in the blocks, edges and moved operations, at most eight times.

use loomir_dialects::branch::{set_successor_operands, successor_operands};
use loomir_dialects::interfaces::BranchLike;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Block, Body, Op, Region, Trait, Value};

/// The most rounds of simplification. A change may make another one possible.
const MAX_ROUNDS: usize = 8;

/// Simplifies the graphs of a body, without the bodies nested in it. Returns the number of changes.
pub(super) fn simplify(body: &mut Body) -> usize {
    let is_graph = |region: &Region| {
        let parent = body.region_parent(*region);
        body.blocks(*region).nth(1).is_some()
            && body.info(parent).def().is_some()
            && !body.has_trait(parent, Trait::GraphRegion)
    };
    // Inner regions are simplified first. They go with a block around them that is never reached.
    let mut regions: Vec<Region> = body.all_regions().filter(is_graph).collect();
    let mut count = 0;
    while let Some(region) = regions.pop() {
        for _ in 0..MAX_ROUNDS {
            let before = count;
            count += decide(body, region) + skip(body, region);
            count += erase_unreachable(body, region) + merge(body, region);
            if count == before {
                break;
            }
        }
    }
    count
}

/// Returns the single target of a branch without attributes, with the operands it passes on.
fn plain_jump(body: &Body, block: Block) -> Option<(Op, Block, Vec<Value>)> {
    let end = body.last_op(block)?;
    let (1, true) = (body.successors(end).len(), body.attributes(end).is_empty()) else { return None };
    if !body.properties(end).is_empty() || body.own_regions(end).len() > 0 || body.num_results(end) > 0 {
        return None;
    }
    let operands = successor_operands(body, end)?.pop()?;
    let target = body.successors(end).next()?;
    (operands.len() == body.num_operands(end)).then_some((end, target, operands))
}

/// Replaces branches whose condition is constant.
fn decide(body: &mut Body, region: Region) -> usize {
    let mut count = 0;
    for block in body.blocks(region).collect::<Vec<_>>() {
        let Some(end) = body.last_op(block).filter(|end| body.successors(*end).len() > 1) else { continue };
        let view = body.op_ref(end);
        let Some(model) = view.info().interface::<dyn BranchLike>() else { continue };
        let Some(taken) = model.taken(view, &|value| constant_of(body, value)) else { continue };
        let operands: Vec<Value> =
            model.successor_operands(view, taken).map(|index| view.operand(index)).collect();
        let target = view.successors().nth(taken);
        let Some(state) = target.and_then(|to| model.jump(view, to, &operands)) else { continue };
        let jump = body.create(state);
        body.append_op(block, jump);
        body.erase(end);
        count += 1;
    }
    count
}

/// Lets branches to a block that only branches on go to its target.
fn skip(body: &mut Body, region: Region) -> usize {
    let mut count = 0;
    for block in body.blocks(region).skip(1).collect::<Vec<_>>() {
        let Some((end, target, passed)) = plain_jump(body, block) else { continue };
        let is_empty = body.first_op(block) == Some(end) && target != block;
        let arguments: Vec<Value> = body.arguments(block).collect();
        let is_passed_only = |argument: &Value| body.uses(*argument).all(|used| used.op == end);
        if !is_empty || !arguments.iter().all(is_passed_only) {
            continue;
        }
        for (from, index) in body.predecessor_edges(block).collect::<Vec<_>>() {
            let Some(mut operands) = successor_operands(body, from) else { continue };
            let given = &operands[index];
            let value = |value: &Value| {
                let place = arguments.iter().position(|argument| argument == value);
                place.map_or(*value, |place| given[place])
            };
            operands[index] = passed.iter().map(value).collect();
            // Two edges between two blocks pass the same, because LLVM's phis need that.
            let successors: Vec<Block> = body.successors(from).collect();
            let mut others = (0..successors.len()).filter(|i| *i != index && successors[*i] == target);
            if !others.all(|i| operands[i] == operands[index]) {
                continue;
            }
            set_successor_operands(body, from, &operands);
            body.set_successor(from, index, target);
            count += 1;
        }
    }
    count
}

/// Erases the blocks that no path from the first one reaches.
fn erase_unreachable(body: &mut Body, region: Region) -> usize {
    let mut is_reached = vec![false; body.num_block_slots()];
    let mut pending: Vec<Block> = body.entry_block(region).into_iter().collect();
    while let Some(block) = pending.pop() {
        if !std::mem::replace(&mut is_reached[block.index()], true) {
            pending.extend(body.block_successors(block));
        }
    }
    let gone: Vec<Block> = body.blocks(region).filter(|block| !is_reached[block.index()]).collect();
    body.erase_blocks(&gone);
    gone.len()
}

/// Merges blocks with their only predecessor, if that leads nowhere else.
fn merge(body: &mut Body, region: Region) -> usize {
    let follower = |body: &Body, block: Block| {
        let (end, target, operands) = plain_jump(body, block)?;
        let is_only = body.predecessor_edges(target).nth(1).is_none();
        (is_only && target != block && !body.is_entry(target)).then_some((end, target, operands))
    };
    let mut is_absorbed = vec![false; body.num_block_slots()];
    let blocks: Vec<Block> = body.blocks(region).collect();
    for block in &blocks {
        if let Some((_, target, _)) = follower(body, *block) {
            is_absorbed[target.index()] = true;
        }
    }
    // A chain is merged from its head on, so each operation moves once.
    let mut count = 0;
    for block in blocks.into_iter().filter(|block| !is_absorbed[block.index()]) {
        while let Some((end, target, operands)) = follower(body, block) {
            body.erase(end);
            body.inline_block(target, block, None, &operands);
            count += 1;
        }
    }
    count
}
