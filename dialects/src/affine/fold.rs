//! Folds: maps of constants, maps that are one operand, loops that never run.

use loomir_ir::affine::floor_div;
use loomir_ir::opdef::Folded;
use loomir_ir::{AffineExprKind, Attr, Context, DYNAMIC, OpRef};

use super::access::map_of;

/// Returns the numbers of constants, if all are known.
fn numbers(ctx: &Context, constants: &[Option<Attr>]) -> Option<Vec<i64>> {
    constants.iter().map(|c| c.and_then(|c| c.as_int(ctx))).collect()
}

fn constant(ctx: &Context, number: i64) -> Folded {
    Folded::Constant(ctx.index_attr(number))
}

/// Returns the operand, if it is the only result of the map.
fn operand_of_map(op: OpRef<'_>) -> Option<Folded> {
    let data = map_of(op.ctx(), op.attr("map")).data(op.ctx());
    let [result] = *data.results else { return None };
    let index = match result.kind(op.ctx()) {
        AffineExprKind::Dim(d) => d,
        AffineExprKind::Symbol(s) => data.dims + s,
        _ => return None,
    };
    op.operands().nth(index as usize).map(Folded::Value)
}

/// Returns the results of the map for constant operands.
fn constant_results(op: OpRef<'_>, constants: &[Option<Attr>]) -> Option<Vec<i64>> {
    let ctx = op.ctx();
    let map = map_of(ctx, op.attr("map"));
    let data = map.data(ctx);
    if data.results.iter().all(|r| r.as_constant(ctx).is_some()) {
        return data.results.iter().map(|r| r.as_constant(ctx)).collect();
    }
    map.evaluate(ctx, &numbers(ctx, constants)?)
}

/// Folds to an operand or a constant.
pub(super) fn fold_apply(op: OpRef<'_>, constants: &[Option<Attr>]) -> Option<Vec<Folded>> {
    if let Some(results) = constant_results(op, constants) {
        return Some(vec![constant(op.ctx(), *results.first()?)]);
    }
    Some(vec![operand_of_map(op)?])
}

/// Folds to the only operand or a constant.
pub(super) fn fold_min(op: OpRef<'_>, constants: &[Option<Attr>]) -> Option<Vec<Folded>> {
    if let Some(results) = constant_results(op, constants) {
        return Some(vec![constant(op.ctx(), *results.iter().min()?)]);
    }
    Some(vec![operand_of_map(op)?])
}

/// Folds to the only operand or a constant.
pub(super) fn fold_max(op: OpRef<'_>, constants: &[Option<Attr>]) -> Option<Vec<Folded>> {
    if let Some(results) = constant_results(op, constants) {
        return Some(vec![constant(op.ctx(), *results.iter().max()?)]);
    }
    Some(vec![operand_of_map(op)?])
}

/// Folds to the initial values, if the loop never runs.
pub(super) fn fold_for(op: OpRef<'_>, constants: &[Option<Attr>]) -> Option<Vec<Folded>> {
    let ctx = op.ctx();
    let (lower, upper) = (map_of(ctx, op.attr("lowerBoundMap")), map_of(ctx, op.attr("upperBoundMap")));
    let known = |from: usize, count: usize| numbers(ctx, constants.get(from..from + count)?);
    let split = lower.num_inputs(ctx);
    let lower = lower.evaluate(ctx, &known(0, split)?)?;
    let upper = upper.evaluate(ctx, &known(split, upper.num_inputs(ctx))?)?;
    let never = lower.iter().max()? >= upper.iter().min()?;
    never.then(|| op.operand_group("inits").into_iter().map(Folded::Value).collect())
}

fn basis(op: OpRef<'_>, dynamic: &[Option<Attr>]) -> Option<Vec<i64>> {
    let mut dynamic = dynamic.iter();
    let basis = op.attr("static_basis")?.as_dense_ints(op.ctx())?;
    let number = |n| if n == DYNAMIC { (*dynamic.next()?)?.as_int(op.ctx()) } else { Some(n) };
    basis.into_iter().map(number).collect()
}

/// Folds to the digits of a constant.
pub(super) fn fold_delinearize(op: OpRef<'_>, constants: &[Option<Attr>]) -> Option<Vec<Folded>> {
    let ctx = op.ctx();
    if op.num_results() == 1 && op.attr("static_basis")?.as_dense_ints(ctx)?.is_empty() {
        return Some(vec![Folded::Value(op.operand(0))]);
    }
    let (index, dynamic) = constants.split_first()?;
    let mut rest = (*index)?.as_int(ctx)?;
    let basis = basis(op, dynamic)?;
    // The first digit is the quotient that the other digits leave, even if a base bounds it.
    let inner = &basis[basis.len() - (op.num_results() - 1).min(basis.len())..];
    let mut digits = Vec::new();
    for base in inner.iter().rev() {
        if *base <= 0 {
            return None;
        }
        digits.push(rest.rem_euclid(*base));
        rest = floor_div(rest, *base)?;
    }
    digits.push(rest);
    Some(digits.into_iter().rev().map(|digit| constant(ctx, digit)).collect())
}

/// Folds constant digits to their number.
pub(super) fn fold_linearize(op: OpRef<'_>, constants: &[Option<Attr>]) -> Option<Vec<Folded>> {
    let ctx = op.ctx();
    let indices = op.operand_group("multi_index");
    if indices.is_empty() {
        return Some(vec![constant(ctx, 0)]);
    }
    if let [only] = *indices {
        return Some(vec![Folded::Value(only)]);
    }
    let (digits, dynamic) = constants.split_at_checked(indices.len())?;
    let digits = numbers(ctx, digits)?;
    let basis = basis(op, dynamic)?;
    let inner = &basis[basis.len().checked_sub(digits.len() - 1)?..];
    let mut number = digits[0];
    for (digit, base) in digits[1..].iter().zip(inner) {
        number = number.checked_mul(*base)?.checked_add(*digit)?;
    }
    Some(vec![constant(ctx, number)])
}
