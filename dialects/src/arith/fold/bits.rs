//! Bitwise operations and shifts.

use loomir_ir::{Attr, OpRef, Value};

use super::super::constant::{is_splat_of, mask, signed};
use super::super::{AndIOp, XOrIOp};
use super::{Binary, Fold, operands, value};

/// True if `a` is the complement of `b`, `b ^ -1` with its operands in either order.
fn is_complement(binary: &Binary<'_>, a: Value, b: Value) -> bool {
    let Some(xor) = binary.defined_by(a, XOrIOp::DEF) else { return false };
    let ones = |v: Value| {
        loomir_ir::rewrite::constant_of(xor.body(), v)
            .is_some_and(|attr| is_splat_of(xor.ctx(), attr, mask(binary.width)))
    };
    (xor.operand(0) == b && ones(xor.operand(1))) || (xor.operand(1) == b && ones(xor.operand(0)))
}

fn complementary(b: &Binary<'_>) -> bool {
    is_complement(b, b.lhs, b.rhs) || is_complement(b, b.rhs, b.lhs)
}

/// `x & 0`; `x & -1`; `x & x`; `x & ~x`; `x & (x & y)`; constants.
pub(crate) fn andi(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::commutative(op, constants));
    if b.right_is(0) {
        return b.right();
    }
    if b.right_is(mask(b.width)) || b.same() {
        return value(b.lhs);
    }
    if complementary(&b)
        && let Some(zero) = b.all(0)
    {
        return Some(zero);
    }
    for (inner, other) in [(b.lhs, b.rhs), (b.rhs, b.lhs)] {
        if let Some(and) = b.defined_by(inner, AndIOp::DEF)
            && and.operands().any(|v| v == other)
        {
            return value(inner);
        }
    }
    b.evaluate(|x, y| Some(x & y))
}

/// `x | 0`; `x | -1`; `x | x`; `x | ~x`; constants.
pub(crate) fn ori(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::commutative(op, constants));
    if b.right_is(0) || b.same() {
        return value(b.lhs);
    }
    if b.right_is(mask(b.width)) {
        return b.right();
    }
    if complementary(&b)
        && let Some(ones) = b.all(mask(b.width))
    {
        return Some(ones);
    }
    b.evaluate(|x, y| Some(x | y))
}

/// `x ^ 0`; `x ^ x`; `(x ^ y) ^ y`; constants.
pub(crate) fn xori(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let b = operands!(Binary::commutative(op, constants));
    if b.right_is(0) {
        return value(b.lhs);
    }
    if b.same()
        && let Some(zero) = b.all(0)
    {
        return Some(zero);
    }
    for (inner, other) in [(b.lhs, b.rhs), (b.rhs, b.lhs)] {
        if let Some(xor) = b.defined_by(inner, XOrIOp::DEF) {
            let (x, y) = (xor.operand(0), xor.operand(1));
            if x == other {
                return value(y);
            }
            if y == other {
                return value(x);
            }
        }
    }
    b.evaluate(|x, y| Some(x ^ y))
}

/// `x << 0`; constants, unless the distance makes the result poison.
pub(crate) fn shli(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    shift(op, constants, |x, by, _| x << by)
}

/// `x >> 0`; constants, unless the distance makes the result poison.
pub(crate) fn shrui(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    shift(op, constants, |x, by, _| x >> by)
}

/// `x >> 0`; constants, unless the distance makes the result poison.
pub(crate) fn shrsi(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    shift(op, constants, |x, by, width| (signed(x, width) >> by) as u128)
}

fn shift(op: OpRef<'_>, constants: &[Option<Attr>], shifted: fn(u128, u32, u32) -> u128) -> Fold {
    let b = operands!(Binary::new(op, constants));
    if b.right_is(0) {
        return value(b.lhs);
    }
    b.evaluate(|x, y| Some(shifted(x, distance(y, b.width)?, b.width)))
}

/// Returns the distance, if it is below the width.
fn distance(bits: u128, width: u32) -> Option<u32> {
    (bits < u128::from(width)).then_some(bits as u32)
}
