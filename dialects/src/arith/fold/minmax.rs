//! The lesser and the greater of two integers.

use loomir_ir::{Attr, OpRef};

use super::super::constant::{mask, signed};
use super::{Binary, Fold, operands, value};

/// `x` with itself; with the number no other precedes in the order (`absorbing`), and with the last
/// one; constants.
fn fold(
    op: OpRef<'_>,
    constants: &[Option<Attr>],
    extremes: fn(u32) -> (u128, u128),
    first: fn(u128, u128, u32) -> bool,
) -> Fold {
    let b = operands!(Binary::commutative(op, constants));
    let (absorbing, neutral) = extremes(b.width);
    if b.same() || b.right_is(neutral) {
        return value(b.lhs);
    }
    if b.right_is(absorbing) {
        return b.right();
    }
    b.evaluate(|x, y| Some(if first(x, y, b.width) { x } else { y }))
}

/// Returns the least and the greatest signed number.
fn signed_range(width: u32) -> (u128, u128) {
    (1 << (width - 1), mask(width) >> 1)
}

pub(crate) fn maxsi(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let extremes = |width| (signed_range(width).1, signed_range(width).0);
    fold(op, constants, extremes, |x, y, width| signed(x, width) >= signed(y, width))
}

pub(crate) fn minsi(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    fold(op, constants, signed_range, |x, y, width| signed(x, width) <= signed(y, width))
}

pub(crate) fn maxui(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    fold(op, constants, |width| (mask(width), 0), |x, y, _| x >= y)
}

pub(crate) fn minui(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    fold(op, constants, |width| (0, mask(width)), |x, y, _| x <= y)
}
