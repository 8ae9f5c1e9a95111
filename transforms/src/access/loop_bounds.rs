//! Bounds and subscripts that are one constant or one value.

use loomir_dialects::interfaces::{Bound, Subscripts};
use loomir_ir::affine::AffineExprKind;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{AffineExpr, Body, Value};

/// Returns the operand that a result of a map is.
pub(crate) fn operand_of(body: &Body, of: &Subscripts, expr: AffineExpr) -> Option<Value> {
    let dims = of.map.data(body.ctx()).dims as usize;
    let at = match expr.kind(body.ctx()) {
        AffineExprKind::Dim(d) => d as usize,
        AffineExprKind::Symbol(s) => dims + s as usize,
        _ => return None,
    };
    of.operands.get(at).copied()
}

/// Returns a bound that is one value.
pub(crate) fn value_bound(body: &Body, bound: &Bound) -> Option<Value> {
    match bound {
        Bound::Value(value) => Some(*value),
        Bound::Map(own) => match own.map.results(body.ctx())[..] {
            [only] => operand_of(body, own, only),
            _ => None,
        },
    }
}

/// Returns a bound that is a constant.
pub(crate) fn constant_bound(body: &Body, bound: &Bound) -> Option<i64> {
    if let Bound::Map(own) = bound
        && let [only] = own.map.results(body.ctx())[..]
        && let AffineExprKind::Constant(number) = only.kind(body.ctx())
    {
        return Some(number);
    }
    constant(body, value_bound(body, bound)?)
}

/// Returns a value that is a constant number.
pub(crate) fn constant(body: &Body, value: Value) -> Option<i64> {
    constant_of(body, value)?.as_int(body.ctx())
}
