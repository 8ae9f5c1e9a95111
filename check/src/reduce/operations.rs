//! Edits of single operations: erased, or branches that lead to one place.

use hashbrown::HashSet;
use loomir_dialects::branch::successor_operands;
use loomir_ir::{Block, Body, Loc, Op, OperationState, Type, TypeKind, Value};

use super::constants::CONSTANTS;

/// Erases an operation. Its results become operands or arguments of their types, or zero. False if
/// there is no value that can stand for a result.
pub(super) fn erase(body: &mut Body, op: Op) -> bool {
    let results: Vec<Value> = body.results(op).filter(|result| body.is_used(*result)).collect();
    let mut others = Vec::with_capacity(results.len());
    for result in results {
        match substitute(body, op, result) {
            Some(other) => others.push((result, other)),
            None => return false,
        }
    }
    for (result, other) in others {
        body.replace_all_uses(result, other);
    }
    body.erase(op);
    true
}

/// Returns a value that can stand for a result: an operand or an argument of the type, or a
/// constant.
fn substitute(body: &mut Body, op: Op, result: Value) -> Option<Value> {
    let ty = body.value_type(result);
    let operand = body.operands(op).find(|value| body.value_type(*value) == ty && *value != result);
    // A constant that became another constant would go on for ever.
    let is_constant = CONSTANTS.contains(&body.op_ref(op).name());
    operand.or_else(|| argument(body, ty)).or_else(|| if is_constant { None } else { zero(body, op, ty) })
}

/// Returns an argument of the function of this type.
fn argument(body: &Body, ty: Type) -> Option<Value> {
    let region = body.own_regions(body.root()).next()?;
    let entry = body.entry_block(region)?;
    body.arguments(entry).find(|value| body.value_type(*value) == ty)
}

/// Makes a constant in front of an operation: zero of a type of numbers.
fn zero(body: &mut Body, op: Op, ty: Type) -> Option<Value> {
    let ctx = body.ctx().clone();
    let value = match ty.kind(&ctx) {
        TypeKind::Index | TypeKind::Integer { .. } => ctx.int_attr(ty, 0),
        TypeKind::Float(_) => ctx.float_attr(ty, 0.0),
        _ => return None,
    };
    let name = if is_llvm(body) { "llvm.mlir.constant" } else { "arith.constant" };
    let mut state = OperationState::new(&ctx, name, Loc::UNKNOWN).results(&[ty]);
    state.set_attr(&ctx, "value", value);
    let constant = body.create(state);
    body.insert_before(op, constant);
    Some(body.result(constant, 0))
}

fn is_llvm(body: &Body) -> bool {
    body.root_ref().name() == "llvm.func"
}

/// Leads a branch to one of its successors, and erases the blocks that nothing reaches any more.
pub(super) fn branch(body: &mut Body, op: Op, to: usize) -> bool {
    if body.has_used_results(op) {
        return false;
    }
    let (Some(block), Some(all)) = (body.block_of(op), successor_operands(body, op)) else { return false };
    let (Some(operands), Some(target)) = (all.get(to).cloned(), body.successors(op).nth(to)) else {
        return false;
    };
    let ctx = body.ctx().clone();
    let name = if body.op_ref(op).name().starts_with("llvm.") { "llvm.br" } else { "cf.br" };
    let state = OperationState::new(&ctx, name, body.loc(op)).operands(&operands).successors(&[target]);
    body.erase(op);
    let new = body.create(state);
    body.append_op(block, new);
    erase_unreachable(body, block);
    true
}

/// Erases the blocks of the region of `block` that its entry does not reach.
fn erase_unreachable(body: &mut Body, block: Block) {
    let region = body.block_region(block);
    let mut seen: HashSet<Block> = HashSet::new();
    let mut pending: Vec<Block> = body.entry_block(region).into_iter().collect();
    while let Some(block) = pending.pop() {
        if seen.insert(block) {
            pending.extend(body.block_successors(block));
        }
    }
    let gone: Vec<Block> = body.blocks(region).filter(|block| !seen.contains(block)).collect();
    let inside: Vec<Op> = gone.iter().flat_map(|block| body.ops(*block)).collect();
    // Values of one such block may be used in another, in any order.
    for op in &inside {
        let nested: Vec<Op> = body.preorder(*op).collect();
        nested.into_iter().for_each(|op| body.set_operands(op, &[]));
    }
    inside.into_iter().rev().for_each(|op| body.erase(op));
    gone.into_iter().for_each(|block| body.erase_block(block));
}
