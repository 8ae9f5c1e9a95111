//! Folds of arithmetic.

use loomir_ir::opdef::Folded;
use loomir_ir::{Attr, OpRef, Type};

use crate::arith::constant::is_splat_of;

/// True if operand `index` is the constant zero.
fn is_zero(op: OpRef<'_>, constants: &[Option<Attr>], index: usize) -> bool {
    constants.get(index).copied().flatten().is_some_and(|constant| is_splat_of(op.ctx(), constant, 0))
}

/// `x | 0`.
pub(super) fn fold_or(op: OpRef<'_>, constants: &[Option<Attr>]) -> Option<Vec<Folded>> {
    let value = if is_zero(op, constants, 1) {
        op.operand(0)
    } else if is_zero(op, constants, 0) {
        op.operand(1)
    } else {
        return None;
    };
    Some(vec![Folded::Value(value)])
}

/// `x << 0`.
pub(super) fn fold_shl(op: OpRef<'_>, constants: &[Option<Attr>]) -> Option<Vec<Folded>> {
    is_zero(op, constants, 1).then(|| vec![Folded::Value(op.operand(0))])
}

/// `x == x` and `x != x`, of scalars.
pub(super) fn fold_icmp(op: OpRef<'_>, _constants: &[Option<Attr>]) -> Option<Vec<Folded>> {
    if op.operand(0) != op.operand(1) || op.result_type(0) != Type::I1 {
        return None;
    }
    match op.attr("predicate")?.as_int(op.ctx())? {
        0 => Some(vec![Folded::Constant(Attr::TRUE)]),
        1 => Some(vec![Folded::Constant(Attr::FALSE)]),
        _ => None,
    }
}
