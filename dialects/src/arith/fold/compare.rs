//! Comparisons.

use std::cmp::Ordering;

use loomir_ir::{Attr, OpRef};

use super::super::constant::{Numbers, signed};
use super::super::{CMPF_PREDICATE, CMPI_PREDICATE, ExtSIOp, ExtUIOp};
use super::float::kind_of;
use super::{Binary, Fold, constant, operands, poison, value};
use crate::float::to_f64;

/// True if a predicate of `arith.cmpi`, given by number, holds for two integers of `width` bits.
pub(crate) fn holds_for_ints(predicate: u64, x: u128, y: u128, width: u32) -> bool {
    let order =
        if (2..=5).contains(&predicate) { signed(x, width).cmp(&signed(y, width)) } else { x.cmp(&y) };
    match predicate {
        0 => order.is_eq(),
        1 => order.is_ne(),
        2 | 6 => order.is_lt(),
        3 | 7 => order.is_le(),
        4 | 8 => order.is_gt(),
        _ => order.is_ge(),
    }
}

/// True if a predicate of `arith.cmpf`, given by number, holds for two floats with this order.
/// `None` if one is NaN.
pub(crate) fn holds_for_floats(predicate: u64, order: Option<Ordering>) -> bool {
    // The accepted outcomes as bits: equal, greater, less, unordered.
    let accepted = match predicate {
        0..=7 | 15 => predicate,
        14 => 8,
        unordered_or => (unordered_or - 7) | 8,
    };
    let bit = match order {
        Some(Ordering::Equal) => 1,
        Some(Ordering::Greater) => 2,
        Some(Ordering::Less) => 4,
        None => 8,
    };
    accepted & bit != 0
}

/// Folds a comparison by the `arith.cmpi` predicate with number `predicate`. Three cases fold: `x`
/// compared with itself, a truth value (widened or not) compared with zero (`ne`) or one (`eq`),
/// and constants.
pub(crate) fn integers(op: OpRef<'_>, constants: &[Option<Attr>], predicate: u64) -> Fold {
    let b = operands!(Binary::new(op, constants));
    if b.same() {
        return b.all(u128::from(holds_for_ints(predicate, 0, 0, b.width)));
    }
    let (eq, ne) = (predicate == 0, predicate == 1);
    if ne && b.right_is(0) {
        for def in [ExtSIOp::DEF, ExtUIOp::DEF] {
            if let Some(ext) = b.defined_by(b.lhs, def)
                && ext.operand_type(0) == op.result_type(0)
            {
                return value(ext.operand(0));
            }
        }
    }
    if b.width == 1 && ((ne && b.right_is(0)) || (eq && b.right_is(1))) {
        return value(b.lhs);
    }
    b.evaluate(|x, y| Some(u128::from(holds_for_ints(predicate, x, y, b.width))))
}

/// As [`integers`].
pub(in super::super) fn cmpi(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    integers(op, constants, CMPI_PREDICATE.value(op.ctx(), op.attr("predicate")?)?)
}

/// Folds the constant predicates, comparisons with NaN, and constants.
pub(in super::super) fn cmpf(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let ctx = op.ctx();
    if let Some(attr) = poison(ctx, constants) {
        return constant(attr);
    }
    let predicate = CMPF_PREDICATE.value(ctx, op.attr("predicate")?)?;
    let result = |numbers: Numbers| constant(numbers.attr(ctx, op.result_type(0))?);
    if predicate == 0 || predicate == 15 {
        return result(Numbers::One(u128::from(predicate == 15)));
    }
    let kind = kind_of(ctx, op.operand_type(0).scalar(ctx))?;
    let is_nan = |bits| to_f64(kind, bits).is_some_and(f64::is_nan);
    let numbers: Vec<_> = constants.iter().map(|attr| attr.and_then(|attr| Numbers::of(ctx, attr))).collect();
    if numbers.iter().any(|n| matches!(n, Some(Numbers::One(bits)) if is_nan(*bits))) {
        return result(Numbers::One(u128::from(holds_for_floats(predicate, None))));
    }
    let [Some(left), Some(right)] = &numbers[..] else { return None };
    result(left.zip(right, |x, y| {
        let order = to_f64(kind, x)?.partial_cmp(&to_f64(kind, y)?);
        Some(u128::from(holds_for_floats(predicate, order)))
    })?)
}
