//! Folds of `math`: exact functions of constants.

use loomir_ir::{Attr, FloatKind, OpRef};

use crate::arith::constant::{Numbers, mask, signed, width};
use crate::arith::fold::float::kind_of;
use crate::arith::fold::{Binary, Fold, Unary, constant, operands, value};
use crate::float::{arithmetic, from_f64, is_nan, sign_bit, to_f64};
use crate::interfaces::{Effect, MemoryEffects};

fn kind(op: OpRef<'_>) -> Option<FloatKind> {
    kind_of(op.ctx(), op.operand_type(0).scalar(op.ctx()))
}

/// Folds a constant through a function. Its result in `f64`, rounded, is the result in the format.
fn exact(op: OpRef<'_>, constants: &[Option<Attr>], f: fn(f64) -> Option<f64>) -> Fold {
    let u = operands!(Unary::new(op, constants));
    let kind = kind(op)?;
    u.evaluate(|x| {
        if is_nan(kind, x)? {
            return arithmetic(kind, x, x, |x, _| x);
        }
        from_f64(kind, f(to_f64(kind, x)?)?)
    })
}

pub(super) fn ceil(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    exact(op, constants, |x| Some(x.ceil()))
}

pub(super) fn floor(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    exact(op, constants, |x| Some(x.floor()))
}

pub(super) fn trunc(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    exact(op, constants, |x| Some(x.trunc()))
}

pub(super) fn round(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    exact(op, constants, |x| Some(x.round()))
}

pub(super) fn roundeven(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    exact(op, constants, |x| Some(x.round_ties_even()))
}

/// Folds the square root of constants that are not negative.
pub(super) fn sqrt(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    exact(op, constants, |x| (x >= 0.0).then(|| x.sqrt()))
}

/// `| |x| |`; constants.
pub(super) fn absf(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let u = operands!(Unary::new(op, constants));
    if let Some(inner) = crate::arith::fold::defined_by(op, op.operand(0), super::AbsFOp::DEF) {
        return value(inner.result(0));
    }
    let sign = sign_bit(kind(op)?)?;
    u.evaluate(|x| Some(x & !sign))
}

/// Constants.
pub(super) fn copysign(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::new(op, constants));
    let sign = sign_bit(kind(op)?)?;
    b.evaluate(|x, y| Some(x & !sign | y & sign))
}

/// Folds a constant integer, by a function of its bits and their number.
fn of_bits(op: OpRef<'_>, constants: &[Option<Attr>], f: fn(u128, u32) -> u128) -> Fold {
    let u = operands!(Unary::new(op, constants));
    let width = width(op.ctx(), u.scalar())?;
    u.evaluate(|x| Some(f(x, width)))
}

pub(super) fn absi(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    of_bits(op, constants, |x, width| signed(x, width).unsigned_abs())
}

pub(super) fn ctlz(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    of_bits(op, constants, |x, width| (x.leading_zeros() - (128 - width)).into())
}

pub(super) fn cttz(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    of_bits(op, constants, |x, width| x.trailing_zeros().min(width).into())
}

pub(super) fn ctpop(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    of_bits(op, constants, |x, _| x.count_ones().into())
}

/// Folds constants, except negative powers of zero.
pub(super) fn ipowi(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::new(op, constants));
    b.evaluate(|x, y| integer_power(x, signed(y, b.width), b.width))
}

/// Returns the wrapped power. For negative exponents, returns its reciprocal rounded towards zero,
/// or `None` for a negative power of zero.
fn integer_power(base: u128, exponent: i128, width: u32) -> Option<u128> {
    if exponent < 0 {
        let odd = exponent & 1 == 1;
        return match signed(base, width) {
            0 => None,
            1 => Some(1),
            -1 if odd => Some(base),
            -1 => Some(1),
            _ => Some(0),
        };
    }
    let (mut power, mut square, mut rest) = (1u128, base, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            power = power.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        rest >>= 1;
    }
    Some(power & mask(width))
}

/// `math.ipowi`. It has no effect, but a negative power of zero is undefined.
pub(super) struct IntegerPower;

impl MemoryEffects for IntegerPower {
    fn effects(&self, _: OpRef<'_>) -> Vec<Effect> {
        Vec::new()
    }

    fn may_be_undefined(&self, op: OpRef<'_>) -> bool {
        let ctx = op.ctx();
        let numbers = |i| {
            let attr = loomir_ir::rewrite::constant_of(op.body(), op.operand(i))?;
            Numbers::of(ctx, attr)
        };
        let Some(width) = width(ctx, op.operand_type(0).scalar(ctx)) else { return true };
        let non_zero = numbers(0).is_some_and(|n| n.map(|x| (x != 0).then_some(x)).is_some());
        let non_negative =
            numbers(1).is_some_and(|n| n.map(|x| (signed(x, width) >= 0).then_some(x)).is_some());
        !non_zero && !non_negative
    }
}

/// Folds the classification of a constant float.
fn classify(op: OpRef<'_>, constants: &[Option<Attr>], f: fn(FloatKind, f64) -> bool) -> Fold {
    let u = operands!(Unary::new(op, constants));
    let kind = kind(op)?;
    let ctx = op.ctx();
    let answers = Numbers::of(ctx, u.constant?)?.map(|x| Some(u128::from(f(kind, to_f64(kind, x)?))))?;
    constant(answers.attr(ctx, op.result_type(0))?)
}

pub(super) fn isfinite(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    classify(op, constants, |_, x| x.is_finite())
}

pub(super) fn isinf(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    classify(op, constants, |_, x| x.is_infinite())
}

pub(super) fn isnan(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    classify(op, constants, |_, x| x.is_nan())
}

pub(super) fn isnormal(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    // A normal number of f64 may be denormal in the narrower format.
    classify(op, constants, |kind, x| x.is_finite() && x.abs() >= least_normal(kind))
}

fn least_normal(kind: FloatKind) -> f64 {
    2f64.powi(match kind {
        FloatKind::F16 => -14,
        FloatKind::F64 => -1022,
        _ => -126,
    })
}
