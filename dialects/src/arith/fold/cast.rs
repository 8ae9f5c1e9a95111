//! Conversions.

use loomir_ir::{Attr, FloatKind, OpDef, OpRef};

use super::super::constant::{mask, signed, width};
use super::super::{BitcastOp, ExtFOp, ExtSIOp, ExtUIOp, FASTMATH, IndexCastOp, IndexCastUIOp, TruncFOp};
use super::float::kind_of;
use super::{Fold, Unary, defined_by, operands, value};
use crate::float::{from_f64, to_f64};

/// `contract` in [`FASTMATH`].
const CONTRACT: u64 = 32;

/// Returns the widths of an element of the operand and of the result.
fn widths(u: &Unary<'_>) -> Option<(u32, u32)> {
    Some((width(u.op.ctx(), u.scalar())?, width(u.op.ctx(), u.result_scalar())?))
}

/// Formats of operand and result.
fn kinds(u: &Unary<'_>) -> Option<(FloatKind, FloatKind)> {
    Some((kind_of(u.op.ctx(), u.scalar())?, kind_of(u.op.ctx(), u.result_scalar())?))
}

/// Returns the operand of the preceding cast, if it has the type of the result.
fn undone(op: OpRef<'_>, def: &'static OpDef) -> Fold {
    let inner = defined_by(op, op.operand(0), def)?;
    if inner.operand_type(0) == op.result_type(0) { value(inner.operand(0)) } else { None }
}

/// Constants.
pub(crate) fn extui(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let u = operands!(Unary::new(op, constants));
    u.evaluate(Some)
}

/// Constants.
pub(crate) fn extsi(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let u = operands!(Unary::new(op, constants));
    let (from, _) = widths(&u)?;
    u.evaluate(|x| Some(signed(x, from) as u128))
}

/// Folds a truncation that undoes an extension, and truncations of constants.
pub(crate) fn trunci(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let u = operands!(Unary::new(op, constants));
    if let Some(folded) = undone(op, ExtUIOp::DEF).or_else(|| undone(op, ExtSIOp::DEF)) {
        return Some(folded);
    }
    u.evaluate(Some)
}

/// Folds an extension of a truncation, if both may be contracted, and constants.
pub(in super::super) fn extf(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let u = operands!(Unary::new(op, constants));
    let contracts = |op: OpRef<'_>| {
        op.attr("fastmath").and_then(|attr| FASTMATH.value(op.ctx(), attr)).is_some_and(|f| f & CONTRACT != 0)
    };
    if contracts(op)
        && defined_by(op, op.operand(0), TruncFOp::DEF).is_some_and(contracts)
        && let Some(folded) = undone(op, TruncFOp::DEF)
    {
        return Some(folded);
    }
    convert(&u)
}

/// Folds a truncation that undoes an extension, and truncations of constants that lose nothing.
pub(in super::super) fn truncf(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let u = operands!(Unary::new(op, constants));
    undone(op, ExtFOp::DEF).or_else(|| convert(&u))
}

/// Converts constants to another format, if that is exact.
fn convert(u: &Unary<'_>) -> Fold {
    let (from, to) = kinds(u)?;
    u.evaluate(|x| {
        let converted = from_f64(to, to_f64(from, x)?)?;
        (from_f64(from, to_f64(to, converted)?)? == x).then_some(converted)
    })
}

/// Constants.
pub(in super::super) fn uitofp(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let u = operands!(Unary::new(op, constants));
    let to = kind_of(op.ctx(), u.result_scalar())?;
    u.evaluate(|x| nearest(to, x, false))
}

/// Constants.
pub(in super::super) fn sitofp(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let u = operands!(Unary::new(op, constants));
    let (to, from) = (kind_of(op.ctx(), u.result_scalar())?, width(op.ctx(), u.scalar())?);
    u.evaluate(|x| {
        let x = signed(x, from);
        nearest(to, x.unsigned_abs(), x < 0)
    })
}

/// Returns the float of a format nearest to an integer, ties to even.
fn nearest(kind: FloatKind, magnitude: u128, negative: bool) -> Option<u128> {
    let value = if kind == FloatKind::F64 {
        magnitude as f64
    } else {
        // Rounded to odd: the first 52 bits, then a sticky bit for all bits below. Narrower formats
        // can then be rounded correctly from this number.
        let extra = (128 - magnitude.leading_zeros()).saturating_sub(52);
        let rest = magnitude & !(u128::MAX << extra);
        ((magnitude >> extra) << 1 | u128::from(rest != 0)) as f64 * 2f64.powi(extra as i32 - 1)
    };
    from_f64(kind, if negative { -value } else { value })
}

/// Constants that fit.
pub(in super::super) fn fptoui(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let u = operands!(Unary::new(op, constants));
    let (from, to) = (kind_of(op.ctx(), u.scalar())?, width(op.ctx(), u.result_scalar())?);
    u.evaluate(|x| {
        let whole = to_f64(from, x)?.trunc();
        // Both bounds are exact, and the comparison is false for NaN.
        (whole >= 0.0 && whole < 2f64.powi(to as i32)).then_some(whole as u128)
    })
}

/// Constants that fit.
pub(in super::super) fn fptosi(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let u = operands!(Unary::new(op, constants));
    let (from, to) = (kind_of(op.ctx(), u.scalar())?, width(op.ctx(), u.result_scalar())?);
    u.evaluate(|x| {
        let whole = to_f64(from, x)?.trunc();
        let bound = 2f64.powi(to as i32 - 1);
        (whole >= -bound && whole < bound).then_some(whole as i128 as u128)
    })
}

/// Folds a cast back from a type that is at least as wide, and constants.
pub(in super::super) fn index_cast(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let u = operands!(Unary::new(op, constants));
    index_cast_by(&u, IndexCastOp::DEF, |x, from| signed(x, from) as u128)
}

/// Folds a cast back from a type that is at least as wide, and constants.
pub(in super::super) fn index_castui(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let u = operands!(Unary::new(op, constants));
    index_cast_by(&u, IndexCastUIOp::DEF, |x, _| x)
}

fn index_cast_by(u: &Unary<'_>, def: &'static OpDef, extend: fn(u128, u32) -> u128) -> Fold {
    let (from, to) = widths(u)?;
    if from >= to
        && let Some(folded) = undone(u.op, def)
    {
        return Some(folded);
    }
    u.evaluate(|x| Some(extend(x, from) & mask(to)))
}

/// Folds a bitcast of a bitcast, and constants.
pub(in super::super) fn bitcast(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let u = operands!(Unary::new(op, constants));
    if op.operand_type(0) == op.result_type(0) {
        return value(op.operand(0));
    }
    if let Some(folded) = undone(op, BitcastOp::DEF) {
        return Some(folded);
    }
    u.evaluate(Some)
}
