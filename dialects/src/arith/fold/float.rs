//! Arithmetic on floats.
//!
//! Constants of `f16`, `bf16`, `f32` and `f64` are folded, with the rounding the operation has when
//! it runs. A NaN operand is returned unchanged, but quiet. A NaN computed from numbers is the
//! positive quiet NaN. No identity is used that signed zeros, infinities or NaNs break, unless the
//! flags allow it.

use loomir_ir::{Attr, Context, FloatKind, OpRef, Type, TypeKind};

use super::super::constant::Numbers;
use super::super::{FASTMATH, NegFOp};
use super::{Binary, Fold, Unary, operands, value};
use crate::float::{arithmetic, from_f64, sign_bit, to_f64};

/// Returns the format of a float type.
pub(crate) fn kind_of(ctx: &Context, scalar: Type) -> Option<FloatKind> {
    match scalar.kind(ctx) {
        TypeKind::Float(kind) => Some(*kind),
        _ => None,
    }
}

/// Returns the format of the operands.
fn kind(b: &Binary<'_>) -> Option<FloatKind> {
    kind_of(b.op.ctx(), b.op.operand_type(0).scalar(b.op.ctx()))
}

/// Returns the flags of an operation.
fn flags(op: OpRef<'_>) -> u64 {
    op.attr("fastmath").and_then(|attr| FASTMATH.value(op.ctx(), attr)).unwrap_or(0)
}

/// `nnan` and `nsz`.
const NO_NANS_NO_SIGNED_ZEROS: u64 = 2 | 8;

/// True if the right operand is this number in every element, its sign included.
fn right_is(b: &Binary<'_>, number: f64) -> bool {
    kind(b).and_then(|kind| from_f64(kind, number)).is_some_and(|bits| b.right_is(bits))
}

/// Folds constants through `f`, computed in `f64` and rounded to their format.
fn evaluate(b: &Binary<'_>, f: fn(f64, f64) -> f64) -> Fold {
    let kind = kind(b)?;
    b.evaluate(|x, y| arithmetic(kind, x, y, f))
}

/// `-(-x)`; constants.
pub(in super::super) fn negf(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let u = operands!(Unary::new(op, constants));
    if let Some(inner) = super::defined_by(op, op.operand(0), NegFOp::DEF) {
        return value(inner.operand(0));
    }
    let sign = sign_bit(kind_of(op.ctx(), u.scalar())?)?;
    u.evaluate(|x| Some(x ^ sign))
}

/// `x + -0`; constants.
pub(in super::super) fn addf(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::commutative(op, constants));
    if right_is(&b, -0.0) {
        return value(b.lhs);
    }
    evaluate(&b, |x, y| x + y)
}

/// `x - 0`; constants.
pub(in super::super) fn subf(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::new(op, constants));
    if right_is(&b, 0.0) {
        return value(b.lhs);
    }
    evaluate(&b, |x, y| x - y)
}

/// `x * 1`; `x * 0` without NaNs and signed zeros; constants.
pub(in super::super) fn mulf(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::commutative(op, constants));
    if right_is(&b, 1.0) {
        return value(b.lhs);
    }
    if flags(op) & NO_NANS_NO_SIGNED_ZEROS == NO_NANS_NO_SIGNED_ZEROS && right_is(&b, 0.0) {
        return b.right();
    }
    evaluate(&b, |x, y| x * y)
}

/// `x / 1`; constants.
pub(in super::super) fn divf(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::new(op, constants));
    if right_is(&b, 1.0) {
        return value(b.lhs);
    }
    evaluate(&b, |x, y| x / y)
}

/// Constants.
pub(in super::super) fn remf(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::new(op, constants));
    evaluate(&b, |x, y| x % y)
}

/// Returns the greater number, `0.0` above `-0.0`. Neither is NaN.
fn greater(x: f64, y: f64) -> f64 {
    if x > y || (x == y && y.is_sign_negative()) { x } else { y }
}

/// Returns the lesser number, `-0.0` below `0.0`. Neither is NaN.
fn lesser(x: f64, y: f64) -> f64 {
    if x < y || (x == y && x.is_sign_negative()) { x } else { y }
}

/// `x` with itself; with minus infinity; constants.
pub(in super::super) fn maximumf(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::commutative(op, constants));
    if b.same() || right_is(&b, f64::NEG_INFINITY) {
        return value(b.lhs);
    }
    evaluate(&b, greater)
}

/// `x` with itself; with infinity; constants.
pub(in super::super) fn minimumf(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::commutative(op, constants));
    if b.same() || right_is(&b, f64::INFINITY) {
        return value(b.lhs);
    }
    evaluate(&b, lesser)
}

/// `x` with itself; with NaN; constants.
pub(in super::super) fn maxnumf(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    number(op, constants, greater)
}

/// `x` with itself; with NaN; constants.
pub(in super::super) fn minnumf(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    number(op, constants, lesser)
}

fn number(op: OpRef<'_>, constants: &[Option<Attr>], choose: fn(f64, f64) -> f64) -> Fold {
    let b = operands!(Binary::commutative(op, constants));
    let kind = kind(&b)?;
    let is_nan = |bits| to_f64(kind, bits).is_some_and(f64::is_nan);
    let right = constants.iter().flatten().next_back().and_then(|attr| Numbers::of(op.ctx(), *attr));
    let nan_right = matches!(right, Some(Numbers::One(bits)) if is_nan(bits));
    if b.same() || (nan_right && constants.iter().flatten().count() == 1) {
        return value(b.lhs);
    }
    b.evaluate(|x, y| match (is_nan(x), is_nan(y)) {
        (true, false) => Some(y),
        (false, true) => Some(x),
        _ => arithmetic(kind, x, y, choose),
    })
}
