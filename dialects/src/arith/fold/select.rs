//! Choices.

use loomir_ir::{Attr, OpRef};

use super::super::constant::{Numbers, is_splat_of};
use super::super::{CMPI_PREDICATE, CmpIOp};
use super::{Fold, constant, defined_by, value};
use crate::ub::is_poison;

/// Folds a known condition, equal values, poison on one side, a selection of the condition itself,
/// `x == y ? x : y`, and constants.
pub(in super::super) fn select(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let ctx = op.ctx();
    let (condition, if_true, if_false) = (op.operand(0), op.operand(1), op.operand(2));
    if if_true == if_false {
        return value(if_true);
    }
    if let Some(attr) = constants[0] {
        if is_splat_of(ctx, attr, 1) {
            return value(if_true);
        }
        if is_splat_of(ctx, attr, 0) {
            return value(if_false);
        }
        if is_poison(ctx, attr) {
            return constant(attr);
        }
    }
    let poisoned = |attr: Option<Attr>| attr.is_some_and(|attr| is_poison(ctx, attr));
    if poisoned(constants[1]) {
        return value(if_false);
    }
    if poisoned(constants[2]) {
        return value(if_true);
    }
    let is = |attr: Option<Attr>, bits| attr.is_some_and(|attr| is_splat_of(ctx, attr, bits));
    if op.operand_type(0) == op.result_type(0) && is(constants[1], 1) && is(constants[2], 0) {
        return value(condition);
    }
    // The choice does not matter if both values are equal.
    if let Some(compare) = defined_by(op, condition, CmpIOp::DEF) {
        let (x, y) = (compare.operand(0), compare.operand(1));
        if (x == if_true && y == if_false) || (x == if_false && y == if_true) {
            match compare.attr("predicate").and_then(|attr| CMPI_PREDICATE.value(ctx, attr)) {
                Some(0) => return value(if_false),
                Some(1) => return value(if_true),
                _ => {}
            }
        }
    }
    elementwise(op, constants)
}

/// Folds a constant vector condition that selects between constants.
fn elementwise(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let ctx = op.ctx();
    let numbers = |i: usize| constants[i].and_then(|attr| Numbers::of(ctx, attr));
    let (Numbers::Many(condition), if_true, if_false) = (numbers(0)?, numbers(1)?, numbers(2)?) else {
        return None;
    };
    let element = |numbers: &Numbers, i: usize| match numbers {
        Numbers::One(bits) => Some(*bits),
        Numbers::Many(all) => all.get(i).copied(),
    };
    let chosen =
        condition.iter().enumerate().map(|(i, bit)| element(if *bit == 1 { &if_true } else { &if_false }, i));
    constant(Numbers::Many(chosen.collect::<Option<_>>()?).attr(ctx, op.result_type(0))?)
}
