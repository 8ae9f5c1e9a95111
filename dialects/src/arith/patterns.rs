//! Patterns of `arith`: sums with two constants, negations, choices.
//!
//! A rewrite drops the overflow flags of what it combines, unless a comment says why they hold: the
//! result without flags is one of the results that they allow. The flag `nsw` of two sums with
//! constants of one sign stays if the sum of the constants does not overflow.

use loomir_ir::rewrite::{Rewriter, constant_of};
use loomir_ir::{Attr, Op, OpDef, OperationState, Type, Value, rewrite};

use super::constant::{Numbers, is_splat_of, mask, signed, width};
use super::{
    AddIOp, AndIOp, CMPI_PREDICATE, CmpIOp, ExtSIOp, ExtUIOp, MulIOp, OVERFLOW, OrIOp, SelectOp, SubIOp,
    XOrIOp, materialize_constant,
};

pub(crate) mod conversions;

rewrite! {
    /// Patterns that make arithmetic simpler.
    pub(crate) PATTERNS;

    /// `(x + a) + b` is `x + (a + b)`, and so for differences with constants.
    sum_of_constants: AddIOp = fold_into_inner_sum;

    /// `(x - a) - b` is `x - (a + b)`, and so for sums with constants.
    difference_of_constants: SubIOp = fold_into_inner_sum;

    /// `x + y * -1` is `x - y`.
    sum_with_negation: AddIOp = |rewriter, op| {
        let [a, b] = operands(rewriter, op);
        for (x, product) in [(a, b), (b, a)] {
            if let Some(y) = times_minus_one(rewriter, product) {
                return rewriter.replace_with(op, binary(rewriter, SubIOp::DEF, [x, y]));
            }
        }
        false
    };

    /// `(x * a) * b` is `x * (a * b)`.
    product_of_constants: MulIOp = |rewriter, op| {
        let [inner, b] = operands(rewriter, op);
        let Some(product) = rewriter.defined_by(inner, MulIOp::DEF) else { return false };
        let [x, a] = operands(rewriter, product);
        let Some(constant) = combine(rewriter, op, [a, b], u128::wrapping_mul) else { return false };
        rewriter.replace_with(op, binary(rewriter, MulIOp::DEF, [x, constant]))
    };

    /// The negation of a comparison is the opposite comparison.
    not_of_comparison: XOrIOp = |rewriter, op| {
        let [x, truth] = operands(rewriter, op);
        let Some(compare) = rewriter.defined_by(x, CmpIOp::DEF) else { return false };
        if !is_splat(rewriter, truth, 1) {
            return false;
        }
        // eq ne slt sle sgt sge ult ule ugt uge
        const OPPOSITE: [u64; 10] = [1, 0, 5, 4, 3, 2, 9, 8, 7, 6];
        let Some(state) = comparison(rewriter, compare, OPPOSITE, false) else { return false };
        rewriter.replace_with(op, state)
    };

    /// A constant moves to the right of a comparison.
    constant_on_the_right: CmpIOp = |rewriter, op| {
        let [a, b] = operands(rewriter, op);
        let is_constant = |value| constant_of(rewriter.body(), value).is_some();
        if !is_constant(a) || is_constant(b) {
            return false;
        }
        const SWAPPED: [u64; 10] = [0, 1, 4, 5, 2, 3, 8, 9, 6, 7];
        let Some(state) = comparison(rewriter, op, SWAPPED, true) else { return false };
        rewriter.replace_with(op, state)
    };

    /// Both operands of a conjunction are extended afterwards.
    conjunction_of_extensions: AndIOp = extend_afterwards;

    /// Both operands of a disjunction are extended afterwards.
    disjunction_of_extensions: OrIOp = extend_afterwards;

    /// Both operands of an exclusive disjunction are extended afterwards.
    exclusive_disjunction_of_extensions: XOrIOp = extend_afterwards;

    /// A choice by a negated condition is the other choice by the condition.
    choice_by_negation: SelectOp[2] = |rewriter, op| {
        let [condition, a, b] = choice(rewriter, op);
        let Some(not) = rewriter.defined_by(condition, XOrIOp::DEF) else { return false };
        let [x, truth] = operands(rewriter, not);
        if !is_splat(rewriter, truth, 1) {
            return false;
        }
        rewriter.replace_with(op, select(rewriter, [x, b, a]))
    };

    /// A choice between 1 and 0 is the extended condition.
    choice_of_one_and_zero: SelectOp = |rewriter, op| {
        let [condition, a, b] = choice(rewriter, op);
        let body = rewriter.body();
        let (from, to) = (body.value_type(condition), body.value_type(a));
        let wide = width(body.ctx(), to).is_some_and(|width| width > 1) && to.integer_width(body.ctx()).is_some();
        if !wide || from != Type::I1 || !is_splat(rewriter, a, 1) || !is_splat(rewriter, b, 0) {
            return false;
        }
        let state = state(rewriter, ExtUIOp::DEF).operands(&[condition]).results(&[to]);
        rewriter.replace_with(op, state)
    };

    /// A choice between 0 and 1 is the extended negated condition.
    choice_of_zero_and_one: SelectOp = |rewriter, op| {
        let [condition, a, b] = choice(rewriter, op);
        let body = rewriter.body();
        let to = body.value_type(a);
        let wide = to.integer_width(body.ctx()).is_some_and(|width| width > 1);
        if !wide || body.value_type(condition) != Type::I1 || !is_splat(rewriter, a, 0) || !is_splat(rewriter, b, 1) {
            return false;
        }
        let truth = rewriter.ctx().int_attr(Type::I1, 1);
        let Some(truth) = make_constant(rewriter, op, truth, Type::I1) else { return false };
        let negated = binary(rewriter, XOrIOp::DEF, [condition, truth]);
        let negated = rewriter.insert_before(op, negated);
        let negated = rewriter.body().result(negated, 0);
        let state = state(rewriter, ExtUIOp::DEF).operands(&[negated]).results(&[to]);
        rewriter.replace_with(op, state)
    };

    /// A choice between false and true is the negated condition.
    choice_of_false_and_true: SelectOp = |rewriter, op| {
        let [condition, a, b] = choice(rewriter, op);
        let body = rewriter.body();
        let is_truth = body.value_type(condition) == Type::I1 && body.value_type(a) == Type::I1;
        if !is_truth || !is_splat(rewriter, a, 0) || !is_splat(rewriter, b, 1) {
            return false;
        }
        rewriter.replace_with(op, binary(rewriter, XOrIOp::DEF, [condition, b]))
    };

    /// A choice inside a choice by the same condition has been made.
    choice_made_before: SelectOp = |rewriter, op| {
        let [condition, a, b] = choice(rewriter, op);
        for (side, value) in [(1, a), (2, b)] {
            if let Some(inner) = rewriter.defined_by(value, SelectOp::DEF)
                && inner != op
                && rewriter.body().operand(inner, 0) == condition
            {
                let value = rewriter.body().operand(inner, side);
                rewriter.set_operand(op, side, value);
                return true;
            }
        }
        false
    };
}

fn operands(rewriter: &Rewriter<'_>, op: Op) -> [Value; 2] {
    [0, 1].map(|i| rewriter.body().operand(op, i))
}

fn choice(rewriter: &Rewriter<'_>, op: Op) -> [Value; 3] {
    [0, 1, 2].map(|i| rewriter.body().operand(op, i))
}

fn constant(rewriter: &Rewriter<'_>, value: Value) -> Option<Numbers> {
    let body = rewriter.body();
    Numbers::of(body.ctx(), constant_of(body, value)?)
}

fn is_splat(rewriter: &Rewriter<'_>, value: Value, bits: u128) -> bool {
    let body = rewriter.body();
    constant_of(body, value).is_some_and(|attr| is_splat_of(body.ctx(), attr, bits))
}

fn state(rewriter: &Rewriter<'_>, def: &'static OpDef) -> OperationState {
    OperationState::of(rewriter.body().ctx(), def, loomir_ir::Loc::UNKNOWN)
}

/// An operation on two values, whose result has their type.
fn binary(rewriter: &Rewriter<'_>, def: &'static OpDef, operands: [Value; 2]) -> OperationState {
    state(rewriter, def).operands(&operands).results(&[rewriter.body().value_type(operands[0])])
}

fn select(rewriter: &Rewriter<'_>, operands: [Value; 3]) -> OperationState {
    state(rewriter, SelectOp::DEF).operands(&operands).results(&[rewriter.body().value_type(operands[1])])
}

/// A comparison with the predicate that `replaced` has in place of the one of `op`.
fn comparison(rewriter: &Rewriter<'_>, op: Op, replaced: [u64; 10], swap: bool) -> Option<OperationState> {
    let body = rewriter.body();
    let ctx = body.ctx();
    let predicate = CMPI_PREDICATE.value(ctx, body.attr(op, "predicate")?)?;
    let predicate = CMPI_PREDICATE.attr(ctx, *replaced.get(predicate as usize)?);
    let [a, b] = operands(rewriter, op);
    let operands = if swap { [b, a] } else { [a, b] };
    let state = state(rewriter, CmpIOp::DEF).operands(&operands).attr(ctx, "predicate", predicate);
    Some(state.results(&[body.value_type(body.result(op, 0))]))
}

/// Makes a constant of the type of `a`, from two constants of equal type.
fn combine(
    rewriter: &mut Rewriter<'_>,
    before: Op,
    [a, b]: [Value; 2],
    f: impl Fn(u128, u128) -> u128,
) -> Option<Value> {
    let numbers = constant(rewriter, a)?.zip(&constant(rewriter, b)?, |x, y| Some(f(x, y)))?;
    let ty = rewriter.body().value_type(a);
    make_constant(rewriter, before, numbers.attr(rewriter.body().ctx(), ty)?, ty)
}

fn make_constant(rewriter: &mut Rewriter<'_>, before: Op, attr: Attr, ty: Type) -> Option<Value> {
    let state = materialize_constant(rewriter.body().ctx(), attr, ty)?;
    let op = rewriter.insert_before(before, state);
    Some(rewriter.body().result(op, 0))
}

/// A value with a constant added, or subtracted from a constant.
struct Sum {
    value: Value,
    negated: bool,
    constant: Value,
    /// True if the constant is subtracted.
    subtracts: bool,
}

impl Sum {
    fn of(rewriter: &Rewriter<'_>, op: Op) -> Option<Sum> {
        let body = rewriter.body();
        let [a, b] = operands(rewriter, op);
        let is_constant = |value| constant(rewriter, value).is_some();
        let is_sum = body.is(op, AddIOp::DEF);
        match (is_constant(a), is_constant(b)) {
            (false, true) => Some(Sum { value: a, negated: false, constant: b, subtracts: !is_sum }),
            (true, false) => Some(Sum { value: b, negated: !is_sum, constant: a, subtracts: false }),
            _ => None,
        }
    }
}

/// Folds the constant of a sum or difference into that of another one, which is its operand.
fn fold_into_inner_sum(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let Some(outer) = Sum::of(rewriter, op) else { return false };
    let inner =
        rewriter.defined_by(outer.value, AddIOp::DEF).or(rewriter.defined_by(outer.value, SubIOp::DEF));
    let Some(inner_op) = inner else { return false };
    let Some(inner) = Sum::of(rewriter, inner_op) else { return false };
    let sign = |negative: bool, x: u128| if negative { x.wrapping_neg() } else { x };
    let subtracts = outer.subtracts && inner.subtracts;
    let total = |x: u128, y: u128| {
        let x = sign(outer.negated, sign(inner.subtracts, x));
        sign(subtracts, x.wrapping_add(sign(outer.subtracts, y)))
    };
    let flags = kept_flags(rewriter, [inner_op, op], [inner.constant, outer.constant]);
    let Some(constant) = combine(rewriter, op, [inner.constant, outer.constant], total) else { return false };
    let state = match (outer.negated != inner.negated, subtracts) {
        (true, _) => binary(rewriter, SubIOp::DEF, [constant, inner.value]),
        (false, true) => binary(rewriter, SubIOp::DEF, [inner.value, constant]),
        (false, false) => binary(rewriter, AddIOp::DEF, [inner.value, constant]),
    };
    let state = match flags {
        Some(flags) => state.attr(rewriter.body().ctx(), "overflowFlags", flags),
        None => state,
    };
    rewriter.replace_with(op, state)
}

/// Returns the overflow flags that two sums have in common and their combination keeps: the
/// constants are added without overflow, and have one sign.
fn kept_flags(rewriter: &Rewriter<'_>, sums: [Op; 2], constants: [Value; 2]) -> Option<Attr> {
    let body = rewriter.body();
    let ctx = body.ctx();
    if sums.iter().any(|op| !body.is(*op, AddIOp::DEF)) {
        return None;
    }
    let flags = sums.map(|op| body.attr(op, "overflowFlags").and_then(|attr| OVERFLOW.value(ctx, attr)));
    let common = flags[0]? & flags[1]?;
    let bits = width(ctx, body.value_type(constants[0]).scalar(ctx))?;
    let [Numbers::One(x), Numbers::One(y)] =
        [constant(rewriter, constants[0])?, constant(rewriter, constants[1])?]
    else {
        return None;
    };
    let (a, b) = (signed(x, bits), signed(y, bits));
    let total = a.checked_add(b)?;
    let fits_signed = (a < 0) == (b < 0) && total == signed(total as u128 & mask(bits), bits);
    let fits_unsigned = x.checked_add(y).is_some_and(|total| total <= mask(bits));
    let kept = common & (u64::from(fits_signed) | u64::from(fits_unsigned) << 1);
    (kept != 0).then(|| OVERFLOW.attr(ctx, kept))
}

/// Returns `y` if `value` is `y * -1`.
fn times_minus_one(rewriter: &Rewriter<'_>, value: Value) -> Option<Value> {
    let product = rewriter.defined_by(value, MulIOp::DEF)?;
    let [y, factor] = operands(rewriter, product);
    let body = rewriter.body();
    let bits = width(body.ctx(), body.value_type(y).scalar(body.ctx()))?;
    is_splat(rewriter, factor, mask(bits)).then_some(y)
}

/// Rewrites `ext x op ext y` to `ext (x op y)`, for a bitwise operation.
fn extend_afterwards(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let [a, b] = operands(rewriter, op);
    for def in [ExtUIOp::DEF, ExtSIOp::DEF] {
        let (Some(left), Some(right)) = (rewriter.defined_by(a, def), rewriter.defined_by(b, def)) else {
            continue;
        };
        let body = rewriter.body();
        let [x, y] = [left, right].map(|ext| body.operand(ext, 0));
        if body.value_type(x) != body.value_type(y) {
            continue;
        }
        let Some(own) = rewriter.body().info(op).def().map(|def| def.name.clone()) else { return false };
        let def_of = [AndIOp::DEF, OrIOp::DEF, XOrIOp::DEF].into_iter().find(|def| def.name == own);
        let Some(def_of) = def_of else { return false };
        let narrow = binary(rewriter, def_of, [x, y]);
        let wide = rewriter.body().value_type(a);
        let narrow = rewriter.insert_before(op, narrow);
        let narrow = rewriter.body().result(narrow, 0);
        let state = state(rewriter, def).operands(&[narrow]).results(&[wide]);
        return rewriter.replace_with(op, state);
    }
    false
}
