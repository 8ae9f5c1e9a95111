//! The operands that branches pass to their successors.
//!
//! An operand of a branch is used on its edge: in the block of the branch, not in the successor.
//! Branches are read and written as a whole, so that the cost of a switch is linear, not quadratic,
//! in its length.

use hashbrown::HashSet;
use loomir_dialects::arith::constant::Numbers;
pub(crate) use loomir_dialects::branch::set_successor_operands;
use loomir_dialects::branch::{self, CASE_SEGMENTS};
use loomir_dialects::llvm;
use loomir_ir::{Attr, Block, Body, Context, Diagnostic, Diagnostics, Loc, Op, OperationState, Type, Value};
use loomir_transforms::marks;

/// The attribute of a switch with the values of its cases.
const CASE_VALUES: &str = "case_values";
/// The attribute of a latch's branch with annotations of its loop.
pub(crate) use crate::ll::LOOP_ANNOTATION;

/// Returns the operands of a branch for each successor's block arguments. Linear.
pub(crate) fn successor_operands(body: &Body, op: Op) -> Vec<Vec<Value>> {
    branch::successor_operands(body, op).unwrap_or_else(|| vec![Vec::new(); body.successors(op).len()])
}

/// True for a branch that may be changed as a loop needs it: to any block, with any operands.
pub(crate) fn is_plain(body: &Body, op: Op) -> bool {
    [llvm::BrOp::DEF, llvm::CondBrOp::DEF, llvm::SwitchOp::DEF].into_iter().any(|def| body.is(op, def))
}

/// True if a block ends with a branch that is not [plain](is_plain). One of its edges can't be
/// split or lead elsewhere, and it can't be repeated. Cycles through such a block are no loops.
pub(crate) fn is_opaque(body: &Body, block: Block) -> bool {
    body.last_op(block).is_some_and(|op| body.successors(op).len() > 0 && !is_plain(body, op))
}

/// True if a function has a call that may unwind to a landing pad, or goes on with an exception.
pub(crate) fn has_unwinding(body: &Body) -> bool {
    let unwinds = [llvm::InvokeOp::DEF, llvm::ResumeOp::DEF];
    let region = body.region(body.root(), 0);
    let mut ends = body.blocks(region).filter_map(|block| body.last_op(block));
    ends.any(|op| unwinds.into_iter().any(|def| body.is(op, def)))
}

/// Refuses a function with a branch of another dialect, whose operands are unknown. Calls that may
/// unwind are known, but not [plain](is_plain).
///
/// # Errors
/// The first such branch.
pub(crate) fn all_known(body: &Body) -> Result<(), Diagnostics> {
    all_are(body, |op| is_plain(body, op) || body.is(op, llvm::InvokeOp::DEF))
}

/// Refuses a function with a branch that is not [plain](is_plain).
///
/// # Errors
/// The first such branch.
pub(crate) fn all_plain(body: &Body) -> Result<(), Diagnostics> {
    all_are(body, |op| is_plain(body, op))
}

fn all_are(body: &Body, is_known: impl Fn(Op) -> bool) -> Result<(), Diagnostics> {
    let region = body.region(body.root(), 0);
    let mut branches = body.blocks(region).filter_map(|block| body.last_op(block));
    match branches.find(|op| body.successors(*op).len() > 0 && !is_known(*op)) {
        None => Ok(()),
        Some(op) => {
            let name = body.op_ref(op).name();
            let error = Diagnostic::error(body.loc(op), format!("'{name}' can't be made to lead elsewhere"));
            Err(error.help("branches of the llvm dialect can: run convert-to-llvm first").into())
        }
    }
}

/// Returns the branches into some blocks, each once.
pub(crate) fn branches_into(body: &Body, blocks: impl IntoIterator<Item = Block>) -> Vec<Op> {
    let mut seen = HashSet::new();
    let edges = blocks.into_iter().flat_map(|block| body.predecessor_edges(block));
    edges.map(|(op, _)| op).filter(|op| seen.insert(*op)).collect()
}

/// Changes the operands of the branches among `branches` that `change` names. It is called for each
/// successor.
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

/// The target of a branch, with its operands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Target {
    pub(crate) block: Block,
    pub(crate) operands: Vec<Value>,
}

/// Returns the targets of a branch. Linear.
pub(crate) fn targets(body: &Body, op: Op) -> Vec<Target> {
    let blocks = body.successors(op);
    let targets = blocks.zip(successor_operands(body, op));
    targets.map(|(block, operands)| Target { block, operands }).collect()
}

/// Returns the values of a switch's cases, as bits. The default has no value.
pub(crate) fn case_values(body: &Body, op: Op) -> Vec<u128> {
    let values = body.attr(op, CASE_VALUES).and_then(|values| Numbers::of(body.ctx(), values));
    match values {
        Some(Numbers::Many(values)) => values,
        Some(Numbers::One(value)) => vec![value; body.successors(op).len() - 1],
        None => Vec::new(),
    }
}

/// Returns the number of the edge that a conditional branch or a switch takes for a value of its
/// condition. `None` for another operation.
pub(crate) fn taken_edge(body: &Body, op: Op, bits: u128) -> Option<usize> {
    if body.is(op, llvm::CondBrOp::DEF) {
        return Some(usize::from(bits == 0));
    }
    let cases = body.is(op, llvm::SwitchOp::DEF).then(|| case_values(body, op))?;
    Some(cases.iter().position(|case| *case == bits).map_or(0, |at| at + 1))
}

/// The ending of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    /// `llvm.unreachable`.
    Unreachable,
    /// `llvm.br`.
    Branch(Target),
    /// `llvm.cond_br`: the targets for a true and a false condition.
    Conditional(Value, [Target; 2]),
    /// `llvm.switch`: the value, the default, and the cases.
    Switch(Value, Target, Vec<(u128, Target)>),
}

/// Moves the annotation of a loop from one branch to another. Without one the target's own is kept.
pub(crate) fn move_annotation(body: &mut Body, from: Op, to: Op) {
    for (name, attr) in annotations(body, from) {
        body.remove_attr(from, name);
        body.set_attr(to, name, attr);
    }
}

/// Takes what is said of a loop from a branch that is no latch any more.
pub(crate) fn forget_annotation(body: &mut Body, op: Op) {
    for (name, _) in annotations(body, op) {
        body.remove_attr(op, name);
    }
}

/// Returns the attributes of a latch's branch that are about its loop: the annotation, and marks of
/// fusion.
pub(crate) fn annotations(body: &Body, op: Op) -> Vec<(&'static str, Attr)> {
    let names = std::iter::once(LOOP_ANNOTATION).chain(marks::OF_LOOPS);
    names.filter_map(|name| Some((name, body.attr(op, name)?))).collect()
}

/// Replaces the terminator of a block, if it has one. Its location is kept, and its loop annotation
/// where possible.
pub(crate) fn end_block(body: &mut Body, block: Block, ending: &Ending) -> Op {
    let old = body.terminator(block);
    let loc = old.map_or(Loc::UNKNOWN, |old| body.loc(old));
    let kept = old.map_or_else(Vec::new, |old| annotations(body, old));
    if let Some(old) = old {
        forget_results(body, old);
        body.erase(old);
    }
    let ctx = body.ctx().clone();
    let state = |def, operands: &[Value], successors: &[Block]| {
        OperationState::of(&ctx, def, loc).operands(operands).successors(successors)
    };
    let mut state = match ending {
        Ending::Unreachable => state(llvm::UnreachableOp::DEF, &[], &[]),
        Ending::Branch(to) => state(llvm::BrOp::DEF, &to.operands, &[to.block]),
        Ending::Conditional(condition, [yes, no]) => {
            let operands = [&[*condition], &yes.operands[..], &no.operands[..]].concat();
            let mut state = state(llvm::CondBrOp::DEF, &operands, &[yes.block, no.block]);
            state.set_segments(&ctx, &[1, yes.operands.len() as i64, no.operands.len() as i64]);
            state
        }
        Ending::Switch(value, default, cases) => {
            let mut operands = vec![*value];
            let all = || std::iter::once(default).chain(cases.iter().map(|(_, to)| to));
            operands.extend(all().flat_map(|to| &to.operands));
            let blocks: Vec<Block> = all().map(|to| to.block).collect();
            let mut state = state(llvm::SwitchOp::DEF, &operands, &blocks);
            let sizes: Vec<i64> = cases.iter().map(|(_, to)| to.operands.len() as i64).collect();
            state.set_segments(&ctx, &[1, default.operands.len() as i64, sizes.iter().sum()]);
            state.set_attr(&ctx, CASE_SEGMENTS, ctx.dense_ints_attr(Type::I32, &sizes));
            let ty = body.value_type(*value);
            if let Some(values) = elements(&ctx, ty, cases.iter().map(|(value, _)| *value).collect()) {
                state.set_attr(&ctx, CASE_VALUES, values);
            }
            state
        }
    };
    let can_say = matches!(ending, Ending::Branch(_) | Ending::Conditional(..));
    for (name, attr) in kept.into_iter().filter(|_| can_say) {
        state.set_attr(&ctx, name, attr);
    }
    state.set_defaults(&ctx);
    let op = body.create(state);
    body.append_op(block, op);
    op
}

/// Puts poison in place of the results of a branch that goes. Nothing that runs uses them.
fn forget_results(body: &mut Body, branch: Op) {
    let results: Vec<Value> = body.results(branch).filter(|result| body.is_used(*result)).collect();
    let ctx = body.ctx().clone();
    for result in results {
        let state = OperationState::of(&ctx, llvm::PoisonOp::DEF, body.loc(branch));
        let poison = body.create(state.results(&[body.value_type(result)]));
        body.insert_before(branch, poison);
        body.replace_all_uses(result, body.result(poison, 0));
    }
}

/// Returns a vector constant of numbers. `None` if there are no numbers.
fn elements(ctx: &Context, ty: Type, values: Vec<u128>) -> Option<Attr> {
    if values.is_empty() {
        return None;
    }
    let shaped = ctx.vector_type(&[values.len() as i64], ty);
    Numbers::Many(values).attr(ctx, shaped)
}
