//! Loads that can move out of a loop once its first iteration is peeled.
//!
//! A load of one address in every iteration is run before the loop only if it can't fault there. If
//! it runs in the first iteration, it can't. This helps loops that leave by errors: nothing writes,
//! all exits but the latch's end in unreachable code, and such an exit depends on the load.
//!
//! The rules are those of LLVM's `LoopPeel`. They say what helps, not what is legal.
//!
//! **Cost.** Linear in the loop and the uses of its values.

use hashbrown::HashSet;
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Body, Op, Value};

use super::shape::Shape;
use crate::cfg::effects::{only_reads, touches_memory};
use crate::cfg::scev::ScalarEvolution;

/// Returns one if the first iteration is to be peeled because of a load, otherwise zero.
pub(super) fn count(scev: &ScalarEvolution<'_>, id: LoopId, shape: &Shape) -> u64 {
    let function = scev.function();
    let others = || shape.exits.iter().filter(|exit| exit.block != shape.latch);
    let ends = |block| function.terminator(block).is_some_and(|op| function.is(op, llvm::UnreachableOp::DEF));
    if shape.exits.len() < 2 || !others().flat_map(|exit| &exit.targets).all(|block| ends(*block)) {
        return 0;
    }
    let mut ops = shape.blocks.iter().flat_map(|block| function.ops(*block));
    if ops.any(|op| touches_memory(function, op) && !only_reads(function, op)) {
        return 0;
    }
    let depending = depending(scev, id, shape);
    let depends = |block| {
        let branch = function.terminator(block);
        let condition = branch.and_then(|branch| function.operands(branch).next());
        condition.and_then(|value| function.defining_op(value)).is_some_and(|op| depending.contains(&op))
    };
    u64::from(shape.exits.iter().any(|exit| depends(exit.block)))
}

/// Returns the loads of one address that run in every iteration but may fault before the loop, and
/// the operations of the loop that depend on them.
fn depending(scev: &ScalarEvolution<'_>, id: LoopId, shape: &Shape) -> HashSet<Op> {
    let (function, analysis) = (scev.function(), scev.analysis());
    let is_inside = |value: Value| {
        let block = function.value_block(value);
        block.is_some_and(|block| analysis.loops().contains(id, analysis.number(block)))
    };
    let latch = analysis.number(shape.latch);
    // Loads of the header run in any case.
    let always = shape.blocks.iter().filter(|block| {
        **block != shape.header && analysis.dominators().dominates(analysis.number(**block), latch)
    });
    let loads = always.flat_map(|block| function.ops(*block)).filter(|op| {
        function.is(*op, llvm::LoadOp::DEF) && {
            let address = function.operand(*op, 0);
            !is_inside(address) && !is_there(function, address)
        }
    });
    let mut pending: Vec<Op> = loads.collect();
    let mut found: HashSet<Op> = pending.iter().copied().collect();
    while let Some(op) = pending.pop() {
        let users = function.results(op).flat_map(|value| function.uses(value));
        pending.extend(users.map(|own| own.op).filter(|own| found.insert(*own)));
    }
    found
}

/// True if an address is that of a variable or of a place on the stack.
fn is_there(function: &Body, address: Value) -> bool {
    let op = function.defining_op(address);
    op.is_some_and(|op| function.is(op, llvm::AllocaOp::DEF) || function.is(op, llvm::AddressOfOp::DEF))
}
