//! Folds of quotients and remainders.
//!
//! A division by zero and the one signed quotient that overflows are undefined behaviour. They are
//! not folded and remain in the program. In one bit the number one is minus one. A division by it
//! is undefined or changes nothing, so the identities of one still hold.

use loomir_ir::{Attr, OpRef};

use super::super::constant::signed;
use super::super::{MulIOp, OVERFLOW};
use super::{Binary, Fold, operands, value};

/// `no signed wrap` and `no unsigned wrap` in [`OVERFLOW`].
const NSW: u64 = 1;
const NUW: u64 = 2;

/// `(x * y) / y` and `(y * x) / y`, given that the product does not wrap.
fn cancelled(b: &Binary<'_>, flag: u64) -> Fold {
    let product = b.defined_by(b.lhs, MulIOp::DEF)?;
    let flags = OVERFLOW.value(product.ctx(), product.attr("overflowFlags")?)?;
    if flags & flag == 0 {
        return None;
    }
    if product.operand(1) == b.rhs {
        value(product.operand(0))
    } else if product.operand(0) == b.rhs {
        value(product.operand(1))
    } else {
        None
    }
}

/// `x / 1`; `(x * y) / y`; constants.
pub(crate) fn divui(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::new(op, constants));
    if b.right_is(1) {
        return value(b.lhs);
    }
    cancelled(&b, NUW).or_else(|| b.evaluate(|x, y| x.checked_div(y)))
}

/// Returns the quotient of signed numbers of `width` bits. `round` computes it from the quotient
/// towards zero and from the sign of the remainder: `Some(true)` if it differs from the divisor's,
/// `Some(false)` if it is the same, `None` if the remainder is zero. Returns `None` if the result
/// does not fit.
fn quotient(x: u128, y: u128, width: u32, round: impl Fn(i128, Option<bool>) -> i128) -> Option<u128> {
    let (x, y) = (signed(x, width), signed(y, width));
    let (towards_zero, rest) = (x.checked_div(y)?, x.checked_rem(y)?);
    let result = round(towards_zero, (rest != 0).then_some((rest < 0) != (y < 0)));
    (signed(result as u128, width) == result).then_some(result as u128)
}

/// `x / 1`; `(x * y) / y`; constants.
pub(crate) fn divsi(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::new(op, constants));
    if b.right_is(1) {
        return value(b.lhs);
    }
    cancelled(&b, NSW).or_else(|| b.evaluate(|x, y| quotient(x, y, b.width, |q, _| q)))
}

/// `x / 1`; constants.
pub(crate) fn ceildivui(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::new(op, constants));
    if b.right_is(1) {
        return value(b.lhs);
    }
    b.evaluate(|x, y| (y != 0).then(|| x.div_ceil(y)))
}

/// `x / 1`; constants.
pub(crate) fn ceildivsi(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::new(op, constants));
    if b.right_is(1) {
        return value(b.lhs);
    }
    b.evaluate(|x, y| quotient(x, y, b.width, |q, rest| q + i128::from(rest == Some(false))))
}

/// `x / 1`; constants.
pub(crate) fn floordivsi(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::new(op, constants));
    if b.right_is(1) {
        return value(b.lhs);
    }
    b.evaluate(|x, y| quotient(x, y, b.width, |q, rest| q - i128::from(rest == Some(true))))
}

/// `x % 1`; constants.
pub(crate) fn remui(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::new(op, constants));
    if b.right_is(1) {
        return b.all(0);
    }
    b.evaluate(|x, y| x.checked_rem(y))
}

/// `x % 1`; constants.
pub(crate) fn remsi(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::new(op, constants));
    if b.right_is(1) {
        return b.all(0);
    }
    b.evaluate(|x, y| {
        // The remainder is undefined where the quotient is.
        quotient(x, y, b.width, |q, _| q)?;
        Some((signed(x, b.width) % signed(y, b.width)) as u128)
    })
}
