//! Patterns of conversions: chains of them, and comparisons of converted values.

use loomir_ir::rewrite::{Rewriter, constant_of};
use loomir_ir::{Attr, FloatKind, Op, OpDef, Type, Value, rewrite};

use super::super::constant::{Numbers, mask, signed, width};
use super::super::fold::compare::holds_for_floats;
use super::super::fold::float::kind_of;
use super::super::{
    BitcastOp, CMPF_PREDICATE, CMPI_PREDICATE, CmpFOp, CmpIOp, DivFOp, ExtSIOp, ExtUIOp, MulFOp, NegFOp,
    SIToFPOp, ShRSIOp, ShRUIOp, TruncIOp, UIToFPOp,
};
use super::{binary, constant, make_constant, operands, state};
use crate::float::to_f64;

rewrite! {
    /// Patterns of conversions.
    pub(crate) PATTERNS;

    /// An unsigned extension twice is one.
    unsigned_extension_of_unsigned: ExtUIOp = |rewriter, op| {
        let Some(x) = converted_by(rewriter, op, ExtUIOp::DEF) else { return false };
        convert(rewriter, op, ExtUIOp::DEF, x)
    };

    /// A signed extension of an extended value is the extension of that kind.
    signed_extension_of_extension: ExtSIOp = |rewriter, op| {
        for def in [ExtSIOp::DEF, ExtUIOp::DEF] {
            if let Some(x) = converted_by(rewriter, op, def) {
                return convert(rewriter, op, def, x);
            }
        }
        false
    };

    /// A truncation twice is one.
    truncation_of_truncation: TruncIOp = |rewriter, op| {
        let Some(x) = converted_by(rewriter, op, TruncIOp::DEF) else { return false };
        convert(rewriter, op, TruncIOp::DEF, x)
    };

    /// A truncation of an extended value is a shorter extension, or a truncation.
    truncation_of_extension: TruncIOp = |rewriter, op| {
        for def in [ExtSIOp::DEF, ExtUIOp::DEF] {
            let Some(x) = converted_by(rewriter, op, def) else { continue };
            let body = rewriter.body();
            let bits = |value: Value| width(body.ctx(), body.value_type(value).scalar(body.ctx()));
            let (Some(from), Some(to)) = (bits(x), bits(body.result(op, 0))) else { return false };
            if from == to {
                return false;
            }
            return convert(rewriter, op, if from < to { def } else { TruncIOp::DEF }, x);
        }
        false
    };

    /// The upper bits of a number, shifted down, are the same for both shifts.
    truncation_of_signed_shift: TruncIOp = |rewriter, op| {
        let Some(shift) = rewriter.defined_by(rewriter.body().operand(op, 0), ShRSIOp::DEF) else { return false };
        let [x, by] = operands(rewriter, shift);
        let body = rewriter.body();
        let ctx = body.ctx();
        let bits = |value: Value| width(ctx, body.value_type(value).scalar(ctx));
        let (Some(from), Some(to)) = (bits(x), bits(body.result(op, 0))) else { return false };
        let Some(Numbers::One(by_bits)) = constant(rewriter, by) else { return false };
        if by_bits != u128::from(from.abs_diff(to)) {
            return false;
        }
        let unsigned = binary(rewriter, ShRUIOp::DEF, [x, by]);
        let unsigned = rewriter.insert_before(op, unsigned);
        let unsigned = rewriter.body().result(unsigned, 0);
        convert(rewriter, op, TruncIOp::DEF, unsigned)
    };

    /// A bitcast twice is one.
    bitcast_of_bitcast: BitcastOp = |rewriter, op| {
        let Some(x) = converted_by(rewriter, op, BitcastOp::DEF) else { return false };
        let body = rewriter.body();
        if body.value_type(x) == body.value_type(body.result(op, 0)) {
            return rewriter.replace(op, &[x]);
        }
        convert(rewriter, op, BitcastOp::DEF, x)
    };

    /// Two values are equal if they are when both are extended in one way.
    equality_of_extensions: CmpIOp = |rewriter, op| {
        let Some(predicate) = predicate(rewriter, op) else { return false };
        if predicate > 1 {
            return false;
        }
        let [a, b] = operands(rewriter, op);
        for def in [ExtSIOp::DEF, ExtUIOp::DEF] {
            let (Some(left), Some(right)) = (rewriter.defined_by(a, def), rewriter.defined_by(b, def)) else {
                continue;
            };
            let body = rewriter.body();
            let [x, y] = [left, right].map(|ext| body.operand(ext, 0));
            if body.value_type(x) == body.value_type(y) {
                rewriter.set_operand(op, 0, x);
                rewriter.set_operand(op, 1, y);
                return true;
            }
        }
        false
    };

    /// The product of two negated numbers is that of the numbers.
    product_of_negations: MulFOp = of_negations;

    /// The quotient of two negated numbers is that of the numbers.
    quotient_of_negations: DivFOp = of_negations;

    /// A comparison of a converted integer with a number is one of integers, if every integer of
    /// that width is a number of the format.
    comparison_of_converted_integer: CmpFOp[2] = |rewriter, op| {
        for (def, is_signed) in [(UIToFPOp::DEF, false), (SIToFPOp::DEF, true)] {
            if let Some(conversion) = rewriter.defined_by(rewriter.body().operand(op, 0), def) {
                return compare_as_integer(rewriter, op, conversion, is_signed);
            }
        }
        false
    };
}

/// Returns the operand of the conversion that makes the operand of `op`.
fn converted_by(rewriter: &Rewriter<'_>, op: Op, def: &'static OpDef) -> Option<Value> {
    let body = rewriter.body();
    let inner = rewriter.defined_by(body.operand(op, 0), def)?;
    Some(body.operand(inner, 0))
}

/// Replaces `op` by a conversion of `x` to its type.
fn convert(rewriter: &mut Rewriter<'_>, op: Op, def: &'static OpDef, x: Value) -> bool {
    let ty = rewriter.body().value_type(rewriter.body().result(op, 0));
    let conversion = state(rewriter, def).operands(&[x]).results(&[ty]);
    rewriter.replace_with(op, conversion)
}

fn predicate(rewriter: &Rewriter<'_>, op: Op) -> Option<u64> {
    let body = rewriter.body();
    CMPI_PREDICATE.value(body.ctx(), body.attr(op, "predicate")?)
}

/// Rewrites `-x op -y` to `x op y`. The flags of `op` stay: they speak of its result and of
/// operands that differ in their signs only.
fn of_negations(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let negated = operands(rewriter, op).map(|value| rewriter.defined_by(value, NegFOp::DEF));
    let [Some(left), Some(right)] = negated else { return false };
    for (index, negation) in [left, right].into_iter().enumerate() {
        let value = rewriter.body().operand(negation, 0);
        rewriter.set_operand(op, index, value);
    }
    true
}

/// A comparison of an integer, or its known outcome.
enum Compared {
    Always(bool),
    /// The predicate of `arith.cmpi`, and the bits of the integer on the right.
    With(u64, u128),
}

/// Replaces a comparison of a converted integer with a constant.
fn compare_as_integer(rewriter: &mut Rewriter<'_>, op: Op, conversion: Op, is_signed: bool) -> bool {
    let body = rewriter.body();
    let ctx = body.ctx();
    let (x, number) = (body.operand(conversion, 0), body.operand(op, 1));
    let (ty, result) = (body.value_type(x), body.value_type(body.result(op, 0)));
    let compared = (|| {
        let kind = kind_of(ctx, body.value_type(number).scalar(ctx))?;
        let bits = width(ctx, ty.scalar(ctx))?;
        let Numbers::One(right) = Numbers::of(ctx, constant_of(body, number)?)? else { return None };
        let predicate = CMPF_PREDICATE.value(ctx, body.attr(op, "predicate")?)?;
        compared(predicate, bits, kind, to_f64(kind, right)?, is_signed)
    })();
    let integer = |bits: u128, ty: Type| -> Option<Attr> { Numbers::One(bits).attr(ctx, ty) };
    match compared {
        Some(Compared::Always(outcome)) => {
            let Some(attr) = integer(u128::from(outcome), result) else { return false };
            let Some(value) = make_constant(rewriter, op, attr, result) else { return false };
            rewriter.replace(op, &[value])
        }
        Some(Compared::With(predicate, bits)) => {
            let Some(attr) = integer(bits, ty) else { return false };
            let Some(value) = make_constant(rewriter, op, attr, ty) else { return false };
            let ctx = rewriter.ctx();
            let state = state(rewriter, CmpIOp::DEF).operands(&[x, value]);
            let state = state.attr(&ctx, "predicate", CMPI_PREDICATE.attr(&ctx, predicate));
            rewriter.replace_with(op, state.results(&[result]))
        }
        None => false,
    }
}

/// Returns the comparison of an integer of `bits` bits that has the outcome of comparing it,
/// converted exactly, with `number`.
fn compared(predicate: u64, bits: u32, kind: FloatKind, number: f64, is_signed: bool) -> Option<Compared> {
    // Digits of the format, its leading one included. Its range then holds all such integers.
    let digits = match kind {
        FloatKind::F16 => 11,
        FloatKind::BF16 => 8,
        FloatKind::F32 => 24,
        FloatKind::F64 => 53,
        _ => return None,
    };
    if bits - u32::from(is_signed) > digits || number.is_nan() {
        return None;
    }
    let (low, high) = match is_signed {
        true => (signed(1 << (bits - 1), bits), (1i128 << (bits - 1)) - 1),
        false => (0, mask(bits) as i128),
    };
    // Outcomes for an integer below the number, at it and above it.
    let [below, at, above] = [-1.0, 0.0, 1.0f64].map(|x| holds_for_floats(predicate, x.partial_cmp(&0.0)));
    if number < low as f64 {
        return Some(Compared::Always(above));
    }
    if number > high as f64 {
        return Some(Compared::Always(below));
    }
    // eq ne slt sle sgt sge ult ule ugt uge
    let ordered = |predicate: u64| if is_signed { predicate } else { predicate + 4 };
    let bound = number.trunc() as i128 as u128 & mask(bits);
    let is_whole = number.trunc() == number;
    Some(match (below, at, above) {
        (true, _, true) if at || !is_whole => Compared::Always(true),
        (false, _, false) if !at || !is_whole => Compared::Always(false),
        (true, false, true) => Compared::With(1, bound),
        (false, true, false) => Compared::With(0, bound),
        // Integers below 4.4 are at most 4, and integers below -4.4 are below -4.
        (true, _, false) if is_whole => Compared::With(ordered(if at { 3 } else { 2 }), bound),
        (true, _, false) => Compared::With(ordered(if number > 0.0 { 3 } else { 2 }), bound),
        (false, _, true) if is_whole => Compared::With(ordered(if at { 5 } else { 4 }), bound),
        (false, _, true) => Compared::With(ordered(if number > 0.0 { 4 } else { 5 }), bound),
        _ => return None,
    })
}
