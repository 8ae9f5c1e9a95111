//! Sums, differences and products.

use loomir_ir::opdef::Folded;
use loomir_ir::{Attr, OpRef};

use super::super::constant::{mask, signed};
use super::super::{AddIOp, SubIOp};
use super::{Binary, Fold, operands, value};

/// `x + 0`; `(x - y) + y`; constants.
pub(crate) fn addi(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::commutative(op, constants));
    if b.right_is(0) {
        return value(b.lhs);
    }
    for (difference, other) in [(b.lhs, b.rhs), (b.rhs, b.lhs)] {
        if let Some(sub) = b.defined_by(difference, SubIOp::DEF)
            && sub.operand(1) == other
        {
            return value(sub.operand(0));
        }
    }
    b.evaluate(|x, y| Some(x.wrapping_add(y)))
}

/// `x + 0`; constants.
pub(in super::super) fn addui_extended(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::commutative(op, constants));
    if b.right_is(0) {
        return Some(vec![Folded::Value(b.lhs), b.splat(1, 0)?]);
    }
    let carry = |x: u128, y: u128| match x.checked_add(y) {
        Some(sum) => u128::from(sum > mask(b.width)),
        None => 1,
    };
    Some(vec![b.compute(0, |x, y| Some(x.wrapping_add(y)))?, b.compute(1, |x, y| Some(carry(x, y)))?])
}

/// `x - 0`; `x - x`; `(x + y) - y`; constants.
pub(crate) fn subi(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::new(op, constants));
    if b.same()
        && let Some(zero) = b.all(0)
    {
        return Some(zero);
    }
    if b.right_is(0) {
        return value(b.lhs);
    }
    if let Some(add) = b.defined_by(b.lhs, AddIOp::DEF) {
        if add.operand(1) == b.rhs {
            return value(add.operand(0));
        }
        if add.operand(0) == b.rhs {
            return value(add.operand(1));
        }
    }
    b.evaluate(|x, y| Some(x.wrapping_sub(y)))
}

/// `x * 0`; `x * 1`; constants.
pub(crate) fn muli(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::commutative(op, constants));
    if b.right_is(0) {
        return b.right();
    }
    if b.right_is(1) {
        return value(b.lhs);
    }
    b.evaluate(|x, y| Some(x.wrapping_mul(y)))
}

/// `x * 0`; constants.
pub(in super::super) fn mulsi_extended(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::commutative(op, constants));
    if b.right_is(0) {
        return Some(vec![b.splat(0, 0)?, b.splat(1, 0)?]);
    }
    let high = |x, y| {
        let (x, y) = (signed(x, b.width), signed(y, b.width));
        let (low, high) = widening_product(x.unsigned_abs(), y.unsigned_abs());
        let (low, high) = if (x < 0) != (y < 0) { negated(low, high) } else { (low, high) };
        Some(upper_half(low, high, b.width))
    };
    Some(vec![b.compute(0, |x, y| Some(x.wrapping_mul(y)))?, b.compute(1, high)?])
}

/// `x * 0`; `x * 1`; constants.
pub(in super::super) fn mului_extended(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::commutative(op, constants));
    if b.right_is(0) {
        return Some(vec![b.splat(0, 0)?, b.splat(1, 0)?]);
    }
    // In one bit, 1 is the only number besides 0, and still the identity.
    if b.right_is(1) {
        return Some(vec![Folded::Value(b.lhs), b.splat(1, 0)?]);
    }
    let high = |x, y| {
        let (low, high) = widening_product(x, y);
        Some(upper_half(low, high, b.width))
    };
    Some(vec![b.compute(0, |x, y| Some(x.wrapping_mul(y)))?, b.compute(1, high)?])
}

/// Returns the low and the high half of a product of 256 bits.
fn widening_product(x: u128, y: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (x0, x1, y0, y1) = (x & LOW, x >> 64, y & LOW, y >> 64);
    let (low, middle) = (x0 * y0, x1 * y0);
    let middle = middle + (low >> 64);
    let other = x0 * y1 + (middle & LOW);
    (other << 64 | low & LOW, x1 * y1 + (middle >> 64) + (other >> 64))
}

/// Returns the negative of a number of 256 bits.
fn negated(low: u128, high: u128) -> (u128, u128) {
    let (low, carry) = (!low).overflowing_add(1);
    (low, (!high).wrapping_add(u128::from(carry)))
}

/// Returns bits `width` to `2 * width` of a number of 256 bits.
fn upper_half(low: u128, high: u128, width: u32) -> u128 {
    if width == 128 { high } else { low >> width | high << (128 - width) }
}
