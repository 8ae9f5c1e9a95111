//! Folding of one operation by its definition's hook.

use smallvec::SmallVec;

use super::constant_of;
use super::constants::materialize;
use super::rewriter::Rewriter;
use crate::attributes::Attr;
use crate::body::Body;
use crate::entity::{Op, Value};
use crate::opdef::{FoldHook, Folded};
use crate::types::Type;

/// The constants that the operands of an operation are.
pub(super) type OperandConstants = SmallVec<[Option<Attr>; 4]>;

/// Returns the constants that the operands of an operation are.
pub(super) fn operand_constants(body: &Body, op: Op) -> OperandConstants {
    body.operands(op).map(|value| constant_of(body, value)).collect()
}

/// Folds an operation to values or constants by its hook. Returns true if it did. A constant is not
/// folded.
pub(super) fn fold(rewriter: &mut Rewriter<'_>, op: Op, hook: FoldHook, constants: &[Option<Attr>]) -> bool {
    let body = &*rewriter.body;
    if body.nested(op).is_some() {
        return false;
    }
    let Some(folded) = hook(body.op_ref(op), constants) else { return false };
    let types: Vec<Type> = body.results(op).map(|v| body.value_type(v)).collect();
    if folded.len() != types.len() || types.is_empty() {
        return false;
    }
    // Where nothing runs, and in graph regions, an operation may use its own result.
    let is_own = |folded: &Folded| matches!(folded, Folded::Value(v) if body.defining_op(*v) == Some(op));
    if folded.iter().any(is_own) {
        return false;
    }
    let ctx = rewriter.ctx();
    let dialect = ctx.str(rewriter.body.info(op).dialect()).to_owned();
    // All constants must be expressible before anything is made.
    let mut states = Vec::new();
    for (folded, ty) in folded.iter().zip(&types) {
        states.push(match folded {
            Folded::Value(_) => None,
            Folded::Constant(attr) => match materialize(&ctx, &dialect, *attr, *ty) {
                Some(state) => Some(state),
                None => return false,
            },
        });
    }
    let loc = rewriter.body.loc(op);
    let values: Vec<Value> = folded
        .into_iter()
        .zip(states)
        .map(|(folded, state)| match (folded, state) {
            (Folded::Value(value), _) => value,
            (Folded::Constant(_), Some(mut state)) => {
                state.loc = loc;
                rewriter.make_constant(op, state)
            }
            (Folded::Constant(_), None) => unreachable!("checked above"),
        })
        .collect();
    rewriter.replace(op, &values)
}

/// Moves the constant operands of a commutative operation behind the others. Returns true if that
/// changed something.
pub(super) fn order_operands(rewriter: &mut Rewriter<'_>, op: Op, constants: &[Option<Attr>]) -> bool {
    if constants.is_sorted_by_key(Option::is_some) {
        return false;
    }
    let body: &Body = rewriter.body;
    let all = || body.operands(op).zip(constants);
    let others = all().filter(|(_, constant)| constant.is_none());
    let ordered = others.chain(all().filter(|(_, constant)| constant.is_some())).map(|(value, _)| value);
    let ordered: SmallVec<[Value; 4]> = ordered.collect();
    rewriter.body.set_operands(op, &ordered);
    rewriter.revisit(op);
    true
}
