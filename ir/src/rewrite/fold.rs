//! Folding of one operation by its definition's hook.

use smallvec::SmallVec;

use super::constant_of;
use super::constants::materialize;
use super::rewriter::Rewriter;
use crate::attributes::Attr;
use crate::body::Body;
use crate::entity::{Op, Value};
use crate::opdef::{Folded, Trait};
use crate::types::Type;

/// Folds an operation to values or constants. Returns true if it did.
pub(super) fn fold(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let body = &*rewriter.body;
    if body.nested(op).is_some() || body.has_trait(op, Trait::ConstantLike) {
        return false;
    }
    let Some(fold) = body.info(op).def().and_then(|def| def.fold) else { return false };
    let constants: SmallVec<[Option<Attr>; 4]> = body.operands(op).map(|v| constant_of(body, v)).collect();
    let Some(folded) = fold(body.op_ref(op), &constants) else { return false };
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
pub(super) fn order_operands(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let body: &Body = rewriter.body;
    if !body.has_trait(op, Trait::Commutative) || body.num_operands(op) < 2 {
        return false;
    }
    let operands: SmallVec<[Value; 4]> = body.operands(op).collect();
    let is_constant = |value: &Value| constant_of(body, *value).is_some();
    if operands.is_sorted_by_key(is_constant) {
        return false;
    }
    let (constants, others): (Vec<Value>, Vec<Value>) = operands.iter().copied().partition(is_constant);
    rewriter.body.set_operands(op, &[others, constants].concat());
    rewriter.revisit(op);
    true
}
