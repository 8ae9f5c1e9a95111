//! What branches hand to their successors.
//!
//! An operand of a branch is used on the edge it goes along: in the block of the branch, not in the one it leads to. Branches are read and written as a whole, so that a switch
//! costs what it is long, not its square.

use hashbrown::HashSet;
use loomir_dialects::llvm;
use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::{Block, Body, Op, Type, Value};

/// The attribute of a switch that says how many operands each case hands on.
const CASE_SEGMENTS: &str = "case_operand_segments";

/// For each successor of a branch the operands that become its arguments. Linear.
pub(crate) fn successor_operands(body: &Body, op: Op) -> Vec<Vec<Value>> {
    let operands: Vec<Value> = body.operands(op).collect();
    let count = body.successors(op).len();
    let sizes: Vec<usize> = if body.is(op, llvm::BrOp::DEF) {
        vec![operands.len()]
    } else {
        let ints =
            |name: &str| body.attr(op, name).and_then(|a| a.as_dense_ints(body.ctx())).unwrap_or_default();
        let segments = ints(OPERAND_SEGMENTS);
        let all = if body.is(op, llvm::SwitchOp::DEF) {
            segments.get(1).copied().into_iter().chain(ints(CASE_SEGMENTS)).collect()
        } else {
            segments.get(1..).unwrap_or_default().to_vec()
        };
        all.into_iter().map(|n| usize::try_from(n).unwrap_or(0)).collect()
    };
    let total: usize = sizes.iter().sum();
    let mut rest = &operands[operands.len().saturating_sub(total)..];
    (0..count)
        .map(|i| {
            let (own, others) = rest.split_at(sizes.get(i).copied().unwrap_or(0).min(rest.len()));
            rest = others;
            own.to_vec()
        })
        .collect()
}

/// Gives each successor of a branch other operands. Linear.
pub(crate) fn set_successor_operands(body: &mut Body, op: Op, operands: &[Vec<Value>]) {
    let handed = body.operands(op).len() - successor_operands(body, op).iter().map(Vec::len).sum::<usize>();
    let own = body.operands(op).take(handed);
    let all: Vec<Value> = own.chain(operands.iter().flatten().copied()).collect();
    body.set_operands(op, &all);
    if body.is(op, llvm::BrOp::DEF) {
        return;
    }
    let ctx = body.ctx().clone();
    let sizes: Vec<i64> = operands.iter().map(|own| own.len() as i64).collect();
    let mut segments = vec![handed as i64];
    if body.is(op, llvm::SwitchOp::DEF) {
        let (default, cases) = sizes.split_first().map_or((0, &[][..]), |(default, cases)| (*default, cases));
        segments.extend([default, cases.iter().sum()]);
        body.set_attr(op, CASE_SEGMENTS, ctx.dense_ints_attr(Type::I32, cases));
    } else {
        segments.extend(sizes);
    }
    body.set_attr(op, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &segments));
}

/// The branches into some blocks, each once.
pub(crate) fn branches_into(body: &Body, blocks: impl IntoIterator<Item = Block>) -> Vec<Op> {
    let mut seen = HashSet::new();
    let edges = blocks.into_iter().flat_map(|block| body.predecessor_edges(block));
    edges.map(|(op, _)| op).filter(|op| seen.insert(*op)).collect()
}

/// Gives every branch among `branches` other operands where `change` says so; it is told of each successor.
pub(crate) fn change_operands(
    body: &mut Body,
    branches: &[Op],
    mut change: impl FnMut(&Body, Op, Block, &mut Vec<Value>),
) {
    for op in branches {
        let mut operands = successor_operands(body, *op);
        let blocks: Vec<Block> = body.successors(*op).collect();
        for (block, own) in blocks.into_iter().zip(&mut operands) {
            change(body, *op, block, own);
        }
        set_successor_operands(body, *op, &operands);
    }
}
