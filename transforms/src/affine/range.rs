//! Ranges: the least and the greatest number that a value may be, read as signed.
//!
//! A range follows from the operations that compute a value, starting with the types of their
//! leaves, and from [assumptions](Forms::suppose). For poison every range is true, so values that
//! `nsw` excludes are excluded. If code runs only under a condition, the condition applies to all
//! values in it, including values computed before, which have not changed since.
//!
//! **Assumptions.**
//! - The induction variable of a counted loop is between its bounds, unless it counts unsigned.
//!   Tried with `tests/tests/all/forms.rs` and `fixtures/fusion/widths.mlir`.
//!
//! **Cost.** Each value is visited once a [`Forms`].
//!
//! # Limits
//!
//! - Ranges ignore conditions inside the tree; the solver knows these as constraints.

use loomir_dialects::interfaces::{Bound, LoopBounds, LoopLike, ParallelLike, Subscripts};
use loomir_dialects::{affine, memref};
use loomir_ir::affine::AffineExprKind;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{AffineExpr, Attr, Body, Op, Value, ValueDef};

use super::operation::{Binary, Operation, has_no_signed_wrap, is_nonnegative};
use super::{AffineForm, Atom, Forms, MAX_CHAIN, fold_expr};

/// A range of numbers, both ends included. An unbounded end is `i128::MIN` below and `i128::MAX`
/// above.
pub type Range = (i128, i128);

/// Ends beyond this count as unbounded. No 64-bit number, and no sum or product of a few, gets
/// there.
const REACH: i128 = 1 << 120;

/// The numbers of 64 bits.
pub(crate) const ALL: Range = (i64::MIN as i128, i64::MAX as i128);

impl Forms<'_> {
    /// Returns the least and the greatest number that a value may be, read as signed.
    pub fn range_of(&mut self, value: Value) -> Range {
        self.range(value, MAX_CHAIN)
    }

    /// Returns a range that holds every value `value` may have, read as signed.
    pub(super) fn range(&mut self, value: Value, fuel: usize) -> Range {
        if let Some(known) = self.ranges.get(&value) {
            return *known;
        }
        let range = if fuel == 0 { None } else { self.compute_range(value, fuel - 1) };
        let range = range.unwrap_or_else(|| self.leaf_range(value));
        self.ranges.insert(value, range);
        range
    }

    /// Returns a range of a form without levels.
    pub(super) fn range_of_form(&mut self, form: &AffineForm, fuel: usize) -> Option<Range> {
        of_form(form, &mut |unknown| self.range_of_unknown(unknown, fuel))
    }

    /// Returns the least and the greatest number of a form over values, without levels.
    pub(crate) fn range_of_form_over_values(&mut self, form: &AffineForm) -> Range {
        self.range_of_form(form, MAX_CHAIN).unwrap_or((i128::MIN, i128::MAX))
    }

    /// Returns the range of a parameter, or of a product of parameters.
    fn range_of_unknown(&mut self, unknown: &Atom, fuel: usize) -> Option<Range> {
        let ranges: Vec<Range> = unknown.factors()?.iter().map(|value| self.range(*value, fuel)).collect();
        Some(of_product(unknown, &ranges))
    }

    /// Narrows the range of a value by a form that is not negative, if the form has a single value.
    pub(super) fn narrow(&mut self, constraint: &AffineForm) {
        let Some((value, said)) = of_one(constraint) else { return };
        let range = both(self.range(value, MAX_CHAIN), said);
        // Contradictory constraints belong to code that never runs.
        if range.0 <= range.1 {
            self.ranges.insert(value, range);
        }
    }

    /// Returns the range of a sum, difference, product or left shift in ℤ.
    pub(super) fn exact_range(&mut self, op: Op, binary: Binary, fuel: usize) -> Option<Range> {
        let fuel = fuel.checked_sub(1)?;
        let [a, b] = [0, 1].map(|i| self.body.operand(op, i));
        let (a, b) = (self.range(a, fuel), self.range(b, fuel));
        binary_range(binary, a, b, width(self.body, self.body.result(op, 0)))
    }

    fn compute_range(&mut self, value: Value, fuel: usize) -> Option<Range> {
        let body = self.body;
        let ctx = body.ctx();
        match body.def(value) {
            ValueDef::BlockArgument { block, index } => {
                let parent = body.op_ref(body.region_parent(body.block_region(block)));
                if let Some(model) = parent.info().interface::<dyn ParallelLike>() {
                    let dimensions = model.dimensions(parent);
                    return self.induction_range(dimensions.get(index)?, fuel);
                }
                let model = parent.info().interface::<dyn LoopLike>()?;
                if index > 0 || model.is_unsigned(parent) {
                    return None;
                }
                self.induction_range(&model.bounds(parent), fuel)
            }
            ValueDef::OpResult { op, .. } => {
                if let Some(constant) = constant_of(body, value) {
                    return constant.as_int(ctx).map(|c| (c.into(), c.into()));
                }
                if body.is(op, memref::DimOp::DEF) {
                    return Some((0, i64::MAX.into()));
                }
                let (least, greatest) = (body.is(op, affine::MinOp::DEF), body.is(op, affine::MaxOp::DEF));
                if body.is(op, affine::ApplyOp::DEF) || least || greatest {
                    let subscripts = applied(body, op)?;
                    let ranges = self.subscript_ranges(&subscripts, fuel).into_iter();
                    let mut ranges = ranges.map(|range| range.unwrap_or(ALL));
                    return match (least, greatest) {
                        (true, _) => ranges.reduce(lesser),
                        (_, true) => ranges.reduce(greater),
                        _ => ranges.next_back(),
                    };
                }
                let range = self.operation_range(op, Operation::of(body, op)?, fuel)?;
                Some(range).filter(|range| fits(*range, width(body, value)))
            }
        }
    }

    /// Returns the range of the result of an operation on words.
    fn operation_range(&mut self, op: Op, operation: Operation, fuel: usize) -> Option<Range> {
        let body = self.body;
        let result = width(body, body.result(op, 0));
        let operand = |this: &mut Self, i: usize| this.range(body.operand(op, i), fuel);
        match operation {
            Operation::Binary(binary @ (Binary::Add | Binary::Sub | Binary::Mul | Binary::Shl)) => {
                let exact = self.exact_range(op, binary, fuel)?;
                let whole = type_range(body, body.result(op, 0));
                let cut = (exact.0.max(whole.0), exact.1.min(whole.1));
                let kept = fits(exact, result) || (has_no_signed_wrap(body, op) && cut.0 <= cut.1);
                kept.then_some(cut)
            }
            Operation::Binary(binary) => {
                let (a, b) = (operand(self, 0), operand(self, 1));
                binary_range(binary, a, b, result)
            }
            Operation::Compare(_) => None,
            Operation::Select => {
                let (a, b) = (operand(self, 1), operand(self, 2));
                Some((a.0.min(b.0), a.1.max(b.1)))
            }
            // A truncation without loss keeps the number.
            Operation::Signed => {
                let (inner, whole) = (operand(self, 0), type_range(body, body.result(op, 0)));
                let cut = (inner.0.max(whole.0), inner.1.min(whole.1));
                Some(if has_no_signed_wrap(body, op) && cut.0 <= cut.1 { cut } else { inner })
            }
            Operation::Unsigned if is_nonnegative(body, op) => {
                let inner = operand(self, 0);
                (inner.1 >= 0).then_some((inner.0.max(0), inner.1))
            }
            Operation::Unsigned => {
                let (inner, from) = (operand(self, 0), width(body, body.operand(op, 0)));
                if inner.0 >= 0 { Some(inner) } else { (from < result).then(|| (0, (1 << from) - 1)) }
            }
        }
    }

    fn induction_range(&mut self, bounds: &LoopBounds, fuel: usize) -> Option<Range> {
        let lower = self.bound_ranges(&bounds.lower, fuel).into_iter().flatten().map(|r| r.0).max()?;
        let upper = self.bound_ranges(&bounds.upper, fuel).into_iter().flatten().map(|r| r.1).min();
        let upper = upper.unwrap_or(i64::MAX.into());
        // For a loop without iterations, any range is correct.
        Some((lower, upper.saturating_sub(1).max(lower)))
    }

    fn bound_ranges(&mut self, bound: &Bound, fuel: usize) -> Vec<Option<Range>> {
        match bound {
            Bound::Value(value) => vec![Some(self.range(*value, fuel))],
            Bound::Map(subscripts) => self.subscript_ranges(subscripts, fuel),
        }
    }

    fn subscript_ranges(&mut self, subscripts: &Subscripts, fuel: usize) -> Vec<Option<Range>> {
        let ctx = self.body.ctx();
        let operands: Vec<Range> = subscripts.operands.iter().map(|v| self.range(*v, fuel)).collect();
        let data = subscripts.map.data(ctx);
        let (dims, symbols) = operands.split_at((data.dims as usize).min(operands.len()));
        data.results.iter().map(|expr| expr_range(*expr, ctx, dims, symbols)).collect()
    }
}

/// Returns the map that an `affine.apply`, `affine.min` or `affine.max` applies to its operands.
pub(crate) fn applied(body: &Body, op: Op) -> Option<Subscripts> {
    let map = body.attr(op, "map").and_then(|a: Attr| a.as_affine_map(body.ctx()))?;
    Some(Subscripts { map, operands: body.operands(op).collect() })
}

/// Returns the number of bits of a value; 64 if it is no integer.
pub(super) fn width(body: &Body, value: Value) -> u32 {
    body.value_type(value).integer_width(body.ctx()).unwrap_or(64)
}

/// Returns the range of all values that have the type of this one.
pub(crate) fn type_range(body: &Body, value: Value) -> Range {
    match width(body, value) {
        width @ 1..64 => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        64 => ALL,
        // A wider value has no known range.
        _ => (i128::MIN, i128::MAX),
    }
}

/// True if all numbers of a range fit `width` bits, read as signed.
pub fn fits(range: Range, width: u32) -> bool {
    let limit = 1i128 << (width.clamp(1, 64) - 1);
    -limit <= range.0 && range.1 < limit
}

/// Returns the range between two numbers that may have saturated at the ends of 128 bits.
fn reach(lower: i128, upper: i128) -> Range {
    let lower = if lower < -REACH { i128::MIN } else { lower.min(REACH) };
    let upper = if upper > REACH { i128::MAX } else { upper.max(-REACH) };
    (lower, upper)
}

pub(crate) fn sum(a: Range, b: Range) -> Range {
    reach(a.0.saturating_add(b.0), a.1.saturating_add(b.1))
}

pub(crate) fn product(a: Range, b: Range) -> Range {
    let ends = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
    let corners = ends.map(|(x, y)| x.saturating_mul(y));
    reach(corners.into_iter().min().unwrap_or(0), corners.into_iter().max().unwrap_or(0))
}

/// Returns the range of quotients by a positive number, rounded down. An infinite end stays
/// infinite.
fn quotient(range: Range, divisor: i128) -> Range {
    let end = |x: i128| if x == i128::MIN || x == i128::MAX { x } else { x.div_euclid(divisor) };
    (end(range.0), end(range.1))
}

/// Returns a range of a form, given the ranges of its levels, parameters and products.
pub(crate) fn of_form(form: &AffineForm, of: &mut dyn FnMut(&Atom) -> Option<Range>) -> Option<Range> {
    let mut all: Range = (form.constant_part().into(), form.constant_part().into());
    for (atom, coefficient) in form.terms() {
        let atom = match atom {
            Atom::FloorDiv(inner, divisor) => quotient(of_form(inner, of)?, i128::from(*divisor)),
            unknown => of(unknown)?,
        };
        let factor = i128::from(*coefficient);
        all = sum(all, product(atom, (factor, factor)));
    }
    Some(all)
}

/// Returns the range of a parameter or a product, given the ranges of its factors.
pub(crate) fn of_product(unknown: &Atom, ranges: &[Range]) -> Range {
    let all = ranges.iter().copied().reduce(product).unwrap_or((1, 1));
    match unknown {
        // A square is not negative.
        Atom::Product(factors) if matches!(factors[..], [a, b] if a == b) => (all.0.max(0), all.1),
        _ => all,
    }
}

/// Returns the range that a nonnegative form with a single parameter implies for it. Ends that the
/// form does not bound are infinite.
pub fn of_one(form: &AffineForm) -> Option<(Value, Range)> {
    let [(Atom::Param(value), coefficient)] = form.terms() else { return None };
    let (constant, coefficient) = (i128::from(form.constant_part()), i128::from(*coefficient));
    // coefficient · value ≥ -constant
    let range = match coefficient > 0 {
        true => (-(constant.div_euclid(coefficient)), i128::MAX),
        false => (i128::MIN, constant.div_euclid(-coefficient)),
    };
    Some((*value, range))
}

/// Returns the intersection of two ranges.
pub fn both(a: Range, b: Range) -> Range {
    (a.0.max(b.0), a.1.min(b.1))
}

fn lesser(a: Range, b: Range) -> Range {
    (a.0.min(b.0), a.1.min(b.1))
}

fn greater(a: Range, b: Range) -> Range {
    (a.0.max(b.0), a.1.max(b.1))
}

/// Returns the range of the result of an operation on words of `width` bits in these ranges, before
/// it is truncated. Operands that make it undefined or poison are left out.
pub fn binary_range(binary: Binary, a: Range, b: Range, width: u32) -> Option<Range> {
    let positive = (b.0 >= 1).then_some(b);
    let divisor = positive.filter(|b| b.0 == b.1).map(|b| b.0);
    let is_natural = a.0 >= 0 && b.0 >= 0;
    let below_power = |x: i128, y: i128| (1i128 << (128 - (x | y).leading_zeros())) - 1;
    let up = |x: i128, d: i128| -((-x).div_euclid(d));
    // Wider numbers are not supported; their range is unknown.
    if width > 64 || !fits(a, 64) || !fits(b, 64) {
        return None;
    }
    match binary {
        Binary::Add => Some(sum(a, b)),
        Binary::Sub => Some(reach(a.0.saturating_sub(b.1), a.1.saturating_sub(b.0))),
        Binary::Mul => Some(product(a, b)),
        Binary::Shl if 0 <= b.0 && b.1 < 64 => Some(product(a, (1 << b.0, 1 << b.1))),
        Binary::DivU | Binary::CeilDivU | Binary::RemU if a.0 < 0 => match (binary, positive) {
            (Binary::RemU, Some(b)) => Some((0, b.1 - 1)),
            _ => None,
        },
        Binary::DivS | Binary::DivU => match divisor {
            Some(d) => Some((a.0 / d, a.1 / d)),
            None => positive.map(|_| (a.0.min(0), a.1.max(0))),
        },
        Binary::FloorDivS => match divisor {
            Some(d) => Some((a.0.div_euclid(d), a.1.div_euclid(d))),
            None => positive.map(|_| (a.0.min(0), a.1.max(0))),
        },
        Binary::CeilDivS | Binary::CeilDivU => match divisor {
            Some(d) => Some((up(a.0, d), up(a.1, d))),
            None => positive.map(|_| (a.0.min(0), a.1.max(0))),
        },
        // The remainder has the sign of the dividend.
        Binary::RemS | Binary::RemU => positive.map(|b| {
            let most = b.1 - 1;
            (if a.0 >= 0 { 0 } else { a.0.max(-most) }, most.min(a.1.max(0)))
        }),
        Binary::And if is_natural => Some((0, a.1.min(b.1))),
        Binary::And if a.0 >= 0 || b.0 >= 0 => Some((0, if a.0 >= 0 { a.1 } else { b.1 })),
        Binary::Or if is_natural => Some((a.0.max(b.0), below_power(a.1, b.1))),
        Binary::Xor if b == (-1, -1) => Some((-1 - a.1, -1 - a.0)),
        Binary::Xor if is_natural => Some((0, below_power(a.1, b.1))),
        // A shift by the width or more is poison.
        Binary::ShrS if b.0 == b.1 && (0..i128::from(width)).contains(&b.0) => Some((a.0 >> b.0, a.1 >> b.0)),
        Binary::ShrS => Some((a.0.min(0), a.1.max(0))),
        Binary::ShrU if a.0 >= 0 => Some((0, a.1)),
        Binary::ShrU if (1..i128::from(width)).contains(&b.0) && b.0 == b.1 => {
            Some((0, (1i128 << (i128::from(width) - b.0)) - 1))
        }
        Binary::MinS => Some(lesser(a, b)),
        Binary::MaxS => Some(greater(a, b)),
        Binary::MinU if is_natural => Some(lesser(a, b)),
        Binary::MinU if a.0 >= 0 || b.0 >= 0 => Some((0, if a.0 >= 0 { a.1 } else { b.1 })),
        Binary::MaxU if is_natural => Some(greater(a, b)),
        _ => None,
    }
}

/// Returns the range of an affine expression, given those of its dimensions and symbols.
pub(crate) fn expr_range(
    expr: AffineExpr,
    ctx: &loomir_ir::Context,
    dims: &[Range],
    symbols: &[Range],
) -> Option<Range> {
    // Affine arithmetic does not wrap. A result outside 64 bits is undefined behaviour, so the
    // range may be clamped.
    let cut = |r: Range| Some((r.0.clamp(ALL.0, ALL.1), r.1.clamp(ALL.0, ALL.1)));
    fold_expr(
        expr,
        ctx,
        |kind| match kind {
            AffineExprKind::Dim(d) => dims.get(d as usize).copied(),
            AffineExprKind::Symbol(s) => symbols.get(s as usize).copied(),
            AffineExprKind::Constant(c) => Some((c.into(), c.into())),
            _ => None,
        },
        |kind, a, b| match kind {
            AffineExprKind::Add(..) => cut(sum(a, b)),
            AffineExprKind::Mul(..) => cut(product(a, b)),
            _ if b.0 != b.1 || b.0 <= 0 => Some(ALL),
            AffineExprKind::FloorDiv(..) => Some((a.0.div_euclid(b.0), a.1.div_euclid(b.0))),
            AffineExprKind::CeilDiv(..) => {
                let up = |x: i128| x.saturating_add(b.0 - 1).div_euclid(b.0);
                Some((up(a.0), up(a.1)))
            }
            _ => Some((0, b.0 - 1)),
        },
    )
}
