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
//! - Blocks whose address is taken stay, with all blocks of their function.
//!
//! **Cost.** Linear in the blocks, edges and moved operations, at most eight times.

use hashbrown::HashMap;
use loomir_dialects::branch::{set_successor_operands, successor_operands};
use loomir_dialects::interfaces::BranchLike;
use loomir_dialects::llvm::control::addresses::has_fixed_blocks;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Block, Body, Op, Region, Trait, Value};

/// The most rounds of simplification. A change may make another one possible.
const MAX_ROUNDS: usize = 8;

/// Simplifies the graphs of a body, without the bodies nested in it. Returns the number of changes.
pub(super) fn simplify(body: &mut Body) -> usize {
    let mut regions = graphs(body);
    let mut count = 0;
    while let Some(region) = regions.pop() {
        for _ in 0..MAX_ROUNDS {
            let before = count;
            count += decide(body, region) + merge(body, region);
            count += skip(body, region) + erase_unreachable(body, region);
            if count == before {
                break;
            }
        }
    }
    count
}

/// Erases the blocks of a body that no path reaches, without the bodies nested in it. Operations
/// there may use their own results, which patterns do not expect. Returns the number of blocks.
pub(super) fn erase_unreached(body: &mut Body) -> usize {
    let mut count = 0;
    let mut regions = graphs(body);
    while let Some(region) = regions.pop() {
        count += erase_unreachable(body, region);
    }
    count
}

/// Returns the regions that are graphs of several blocks, outer ones first. Inner ones are
/// simplified first: they go with a block around them that is never reached.
fn graphs(body: &Body) -> Vec<Region> {
    if body.num_block_slots() < 2 {
        return Vec::new();
    }
    if has_fixed_blocks(body) {
        return Vec::new();
    }
    let is_graph = |region: &Region| {
        let parent = body.region_parent(*region);
        body.blocks(*region).nth(1).is_some()
            && body.info(parent).def().is_some()
            && !body.has_trait(parent, Trait::GraphRegion)
    };
    body.all_regions().filter(is_graph).collect()
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

/// Lets branches to a block that only branches on go to its target. Later blocks come first, so
/// that a chain of such blocks is followed in one step.
fn skip(body: &mut Body, region: Region) -> usize {
    let mut count = 0;
    for block in body.blocks(region).collect::<Vec<_>>().into_iter().rev() {
        let Some(from) = body.last_op(block) else { continue };
        let Some(mut operands) = successor_operands(body, from) else { continue };
        let mut targets: Vec<Block> = body.successors(from).collect();
        // For each target the first edge to it.
        let mut edges: HashMap<Block, usize> = HashMap::new();
        for (index, target) in targets.iter().enumerate() {
            edges.entry(*target).or_insert(index);
        }
        let mut skipped = Vec::new();
        for index in 0..targets.len() {
            if let Some((target, passed)) = behind(body, from, targets[index], &operands[index]) {
                // Two edges between two blocks pass the same, because LLVM's phis need that.
                let is_same = |other: &usize| targets[*other] == target && operands[*other] == passed;
                if !edges.get(&target).is_none_or(is_same) {
                    continue;
                }
                edges.entry(target).or_insert(index);
                (targets[index], operands[index]) = (target, passed);
                skipped.push(index);
            }
        }
        if skipped.is_empty() {
            continue;
        }
        count += skipped.len();
        skipped.into_iter().for_each(|index| body.set_successor(from, index, targets[index]));
        set_successor_operands(body, from, &operands);
    }
    count
}

/// Returns the target behind a block that only branches on, and the operands for it, given those
/// that the branch `from` passes to the block.
fn behind(body: &Body, from: Op, block: Block, given: &[Value]) -> Option<(Block, Vec<Value>)> {
    let (end, target, passed) = plain_jump(body, block)?;
    let is_empty = body.first_op(block) == Some(end) && target != block && !body.is_entry(block);
    let arguments: Vec<Value> = body.arguments(block).collect();
    let is_passed_only = |argument: &Value| body.uses(*argument).all(|used| used.op == end);
    if !is_empty || end == from || !arguments.iter().all(is_passed_only) {
        return None;
    }
    let value = |value: &Value| {
        let place = arguments.iter().position(|argument| argument == value);
        place.map_or(*value, |place| given[place])
    };
    let passed: Vec<Value> = passed.iter().map(value).collect();
    // A result of the branch may be known on one edge alone.
    let is_own = |value: &Value| body.defining_op(*value) == Some(from);
    (!passed.iter().any(is_own)).then_some((target, passed))
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
