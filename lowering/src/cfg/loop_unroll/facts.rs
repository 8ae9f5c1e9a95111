//! Facts about a loop that decide if and how it is unrolled.

use loomir_dialects::llvm;
use loomir_dialects::llvm::types::LlvmType;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Body, Op};
use loomir_transforms::unrolling::Facts;

use super::shape::{ExitRule, Shape};
use super::size;
use crate::cfg::calls;
use crate::cfg::scev::ScalarEvolution;
use crate::ll::{is_for_size, kept_metadata};

/// The greatest trip count that counts as constant.
const MOST: u128 = u32::MAX as u128;

/// Returns the facts about a loop. Linear in the loop.
pub(in crate::cfg) fn facts(
    scev: &mut ScalarEvolution<'_>,
    id: LoopId,
    shape: &Shape,
    symbols: &SymbolTable,
    already_peeled: u64,
) -> Facts {
    let function = scev.function();
    let ops = || shape.blocks.iter().flat_map(|block| function.ops(*block));
    let layout = scev.data_layout();
    let ephemeral = size::ephemeral(function, &shape.blocks);
    let counted = ops().filter(|op| !ephemeral.contains(op));
    let size = counted.map(|op| size::of(function, op, layout, symbols)).sum();
    let trip_count = shape.exits.iter().filter_map(|exit| match exit.rule {
        ExitRule::At(count) if count < MOST => Some(count as u64 + 1),
        _ => None,
    });
    let trip_count = trip_count.min();
    let tested = match &shape.exits[..] {
        [only] => Some(only),
        all => all.iter().find(|exit| exit.block == shape.latch),
    };
    let trip_multiple = match (trip_count, tested.map(|exit| exit.rule)) {
        (Some(count), _) => count,
        (None, Some(ExitRule::Before(multiple))) => u64::try_from(multiple).unwrap_or(1 << 31).min(1 << 31),
        _ => 1,
    };
    let counts = scev.counts(id);
    let most = counts.constant_max.and_then(|most| scev.as_constant(most));
    let root = function.root_ref();
    Facts {
        size,
        trip_count,
        max_trip_count: most.filter(|most| *most < MOST).map(|most| most as u64 + 1),
        max_or_zero: matches!(&counts.exits[..], [only] if only.limit.max_or_zero),
        trip_multiple,
        estimated_trip_count: estimated_trip_count(function, shape),
        already_peeled,
        is_innermost: scev.analysis().loops().get(id).children.is_empty(),
        for_size: is_for_size(root),
        fixed: fixed(function, shape, symbols),
        no_remainder: ops().any(|op| calls::is_convergent(function, op, symbols)),
    }
}

/// Returns the reason why a loop may not be copied.
pub(in crate::cfg) fn fixed(function: &Body, shape: &Shape, symbols: &SymbolTable) -> Option<&'static str> {
    let mut ops = shape.blocks.iter().flat_map(|block| function.ops(*block));
    ops.find_map(|op| {
        let name = function.op_ref(op).name();
        let intrinsic = calls::intrinsic(function, op).unwrap_or_default();
        if calls::is_unique(function, op, symbols) {
            Some("it has an operation that may not be duplicated")
        } else if function.own_regions(op).len() > 0 || name == "llvm.blocktag" {
            Some("it has an operation that stands for its place")
        } else if calls::declares_scopes(function, op) {
            Some("it declares scopes of aliases, which hold for one iteration")
        } else if intrinsic.starts_with("experimental.convergence.") {
            Some("it has tokens of convergence")
        } else if leaks_token(function, op) {
            Some("a token is used behind it")
        } else {
            None
        }
    })
}

/// True if an operation defines a token that is used outside of its block.
fn leaks_token(function: &Body, op: Op) -> bool {
    let ctx = function.ctx();
    let is_token = |value| LlvmType::of(ctx, function.value_type(value)) == Some(LlvmType::Token);
    let block = function.block_of(op);
    function
        .results(op)
        .any(|value| is_token(value) && function.uses(value).any(|used| function.block_of(used.op) != block))
}

/// True if a function was counted, so weights of branches are those of a run.
fn has_profile(function: &Body) -> bool {
    let root = function.root_ref();
    root.attr("function_entry_count").is_some() || kept_metadata(root, "prof").is_some()
}

/// Returns the number of iterations by the weights of the latch's branch, rounded, if it has any.
fn estimated_trip_count(function: &Body, shape: &Shape) -> Option<u64> {
    let (branch, back) = shape.backedge(function)?;
    if !function.is(branch, llvm::CondBrOp::DEF) || !shape.is_rotated() || !has_profile(function) {
        return None;
    }
    let weights = function.attr(branch, "branch_weights")?.as_dense_ints(function.ctx())?;
    let weight = |index: usize| weights.get(index).map(|weight| u64::from(*weight as u32));
    let (stays, leaves) = (weight(back)?, weight(1 - back)?);
    (leaves > 0).then(|| (stays + leaves / 2) / leaves + 1)
}
