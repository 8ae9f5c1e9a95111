//! Execution of the operations of `arith`.

use loomir_ir::{OpRef, Registry, Type, TypeKind};

use crate::interp::constant::constant;
use crate::interp::elementwise::{binary, binary_pair, bit_width, division, map, select, ternary, unary};
use crate::interp::float::{self, FastMath, Format, with_format};
use crate::interp::integer::{self, Computed, Rounding, Trouble, Wrap, mask, signed};
use crate::interp::{Cause, Datum, Decoded, Decoder, Evaluate, Fault, action};

/// Attaches the models.
pub(super) fn register(registry: &mut Registry) {
    let mut attach = |name: &str, model: Model| {
        registry.attach::<dyn Evaluate>(&format!("arith.{name}"), Box::new(model));
    };
    attach("constant", decode_constant);
    attach("addi", |op, d| wrapping(op, d, integer::add));
    attach("subi", |op, d| wrapping(op, d, integer::sub));
    attach("muli", |op, d| wrapping(op, d, integer::mul));
    attach("shli", |op, d| wrapping(op, d, integer::shl));
    attach("addui_extended", |op, d| {
        let m = mask(operand_width(op, d)?);
        binary_pair(op, d, move |a, b| (a.wrapping_add(b), u128::from(a.wrapping_add(b) & m < a)))
    });
    attach("mulsi_extended", |op, d| {
        let w = operand_width(op, d)?;
        binary_pair(op, d, move |a, b| integer::mul_extended(w, true, a, b))
    });
    attach("mului_extended", |op, d| {
        let w = operand_width(op, d)?;
        binary_pair(op, d, move |a, b| integer::mul_extended(w, false, a, b))
    });
    attach("divui", |op, d| divide_unsigned(op, d, Rounding::Truncate));
    attach("ceildivui", |op, d| divide_unsigned(op, d, Rounding::Ceil));
    attach("divsi", |op, d| divide_signed(op, d, Rounding::Truncate));
    attach("ceildivsi", |op, d| divide_signed(op, d, Rounding::Ceil));
    attach("floordivsi", |op, d| divide_signed(op, d, Rounding::Floor));
    attach("remui", remainder_unsigned);
    attach("remsi", remainder_signed);
    attach("andi", |op, d| binary(op, d, |a, b| Ok(a & b)));
    attach("ori", |op, d| binary(op, d, |a, b| Ok(a | b)));
    attach("xori", |op, d| binary(op, d, |a, b| Ok(a ^ b)));
    attach("shrui", |op, d| shift_right(op, d, integer::shift_right_unsigned));
    attach("shrsi", |op, d| shift_right(op, d, integer::shift_right_signed));
    attach("maxsi", |op, d| choose(op, d, |w, a, b| signed(w, a) >= signed(w, b)));
    attach("minsi", |op, d| choose(op, d, |w, a, b| signed(w, a) <= signed(w, b)));
    attach("maxui", |op, d| choose(op, d, |_, a, b| a >= b));
    attach("minui", |op, d| choose(op, d, |_, a, b| a <= b));
    attach("negf", |op, d| float_unary_bits(op, d, fast_math(op, d), |sign, x| x ^ sign));
    attach("addf", |op, d| float_binary(op, d, fast_math(op, d), |a, b| a + b));
    attach("subf", |op, d| float_binary(op, d, fast_math(op, d), |a, b| a - b));
    attach("mulf", |op, d| float_binary(op, d, fast_math(op, d), |a, b| a * b));
    attach("divf", |op, d| float_binary(op, d, fast_math(op, d), |a, b| a / b));
    attach("remf", |op, d| float_binary(op, d, fast_math(op, d), |a, b| a % b));
    attach("maximumf", |op, d| float_binary(op, d, fast_math(op, d), float::maximum));
    attach("minimumf", |op, d| float_binary(op, d, fast_math(op, d), float::minimum));
    attach("maxnumf", |op, d| float_binary(op, d, fast_math(op, d), float::maxnum));
    attach("minnumf", |op, d| float_binary(op, d, fast_math(op, d), float::minnum));
    attach("cmpi", |op, d| compare_integers(op, d, "predicate"));
    attach("cmpf", |op, d| compare_floats(op, d, "predicate", fast_math(op, d)));
    attach("select", select);
    attach("extsi", sign_extend);
    attach("extui", |op, d| zero_extend(op, d, "nonNeg"));
    attach("trunci", |op, d| truncate(op, d, "overflowFlags"));
    attach("extf", |op, d| convert_float(op, d, fast_math(op, d)));
    attach("truncf", round_float);
    attach("sitofp", |op, d| from_integer(op, d, true));
    attach("uitofp", |op, d| from_integer(op, d, false));
    attach("fptosi", |op, d| to_integer(op, d, true));
    attach("fptoui", |op, d| to_integer(op, d, false));
    attach("index_cast", sign_extend);
    attach("index_castui", |op, d| zero_extend(op, d, "nonNeg"));
    attach("bitcast", bitcast);
}

type Model = fn(OpRef<'_>, &mut Decoder<'_>) -> Decoded;

/// Returns the promises of an `arith.fastmath` attribute.
pub(crate) fn fast_math(op: OpRef<'_>, d: &Decoder<'_>) -> FastMath {
    let flags = d.enum_value(op, "fastmath", 0);
    FastMath { no_nans: flags & 2 != 0, no_infinities: flags & 4 != 0 }
}

fn operand_width(op: OpRef<'_>, d: &Decoder<'_>) -> Result<u32, Box<Fault>> {
    d.operand(op, 0)?;
    bit_width(d.ctx(), op.operand_type(0).scalar(d.ctx()))
}

fn float_type(op: OpRef<'_>, d: &Decoder<'_>) -> Result<Type, Box<Fault>> {
    d.operand(op, 0)?;
    Ok(op.operand_type(0).scalar(d.ctx()))
}

/// Decodes a constant, in the attribute `value`.
pub(crate) fn decode_constant(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let result = d.result(op, 0)?;
    let value = op.attr("value").ok_or_else(|| crate::interp::code::malformed("a value"))?;
    let datum = constant(d.ctx(), value, op.result_type(0))?;
    Ok(action(move |m| m.done(result, datum.clone())))
}

/// Arithmetic with `nsw` and `nuw`, kept in `overflowFlags`.
pub(crate) fn wrapping(
    op: OpRef<'_>,
    d: &mut Decoder<'_>,
    f: impl Fn(u32, Wrap, u128, u128) -> Computed + 'static,
) -> Decoded {
    let (w, wrap) = (operand_width(op, d)?, Wrap::from_flags(d.enum_value(op, "overflowFlags", 0)));
    binary(op, d, move |a, b| f(w, wrap, a, b))
}

/// Unsigned division, with `exact`.
pub(crate) fn divide_unsigned(op: OpRef<'_>, d: &mut Decoder<'_>, rounding: Rounding) -> Decoded {
    let exact = op.attr("isExact").is_some();
    division(op, d, move |a, b| integer::div_unsigned(rounding, exact, a, b))
}

/// Signed division, with `exact`.
pub(crate) fn divide_signed(op: OpRef<'_>, d: &mut Decoder<'_>, rounding: Rounding) -> Decoded {
    let (w, exact) = (operand_width(op, d)?, op.attr("isExact").is_some());
    division(op, d, move |a, b| integer::div_signed(w, rounding, exact, a, b))
}

/// Unsigned remainder.
pub(crate) fn remainder_unsigned(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    division(op, d, integer::rem_unsigned)
}

/// Signed remainder.
pub(crate) fn remainder_signed(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let w = operand_width(op, d)?;
    division(op, d, move |a, b| integer::rem_signed(w, a, b))
}

/// Decodes a shift right, with `exact`.
pub(crate) fn shift_right(
    op: OpRef<'_>,
    d: &mut Decoder<'_>,
    f: impl Fn(u32, bool, u128, u128) -> Computed + 'static,
) -> Decoded {
    let (w, exact) = (operand_width(op, d)?, op.attr("isExact").is_some());
    binary(op, d, move |a, b| f(w, exact, a, b))
}

/// Selects the first operand if `first` holds for the two operands, else the second.
pub(crate) fn choose(
    op: OpRef<'_>,
    d: &mut Decoder<'_>,
    first: impl Fn(u32, u128, u128) -> bool + 'static,
) -> Decoded {
    let w = operand_width(op, d)?;
    binary(op, d, move |a, b| Ok(if first(w, a, b) { a } else { b }))
}

/// Decodes a comparison of integers by the predicate in `attribute`.
pub(crate) fn compare_integers(op: OpRef<'_>, d: &mut Decoder<'_>, attribute: &str) -> Decoded {
    let w = operand_width(op, d)?;
    let predicate = d.enum_value(op, attribute, u64::MAX);
    let holds = integer::compare(predicate).ok_or_else(|| crate::interp::code::malformed("a predicate"))?;
    binary(op, d, move |a, b| Ok(holds(w, a, b).into()))
}

/// Decodes a comparison of floats by the predicate in `attribute`.
pub(crate) fn compare_floats(
    op: OpRef<'_>,
    d: &mut Decoder<'_>,
    attribute: &str,
    fast_math: FastMath,
) -> Decoded {
    let ty = float_type(op, d)?;
    let predicate = d.enum_value(op, attribute, 0);
    with_format!(d.ctx(), ty, F => binary(op, d, move |a, b| {
        let (x, y) = (F::read(a), F::read(b));
        fast_math.check(&[x, y], float::compare(predicate, x, y).into())
    }))
}

/// Decodes an operation on two floats.
pub(crate) fn float_binary(
    op: OpRef<'_>,
    d: &mut Decoder<'_>,
    fast_math: FastMath,
    f: impl Fn(f64, f64) -> f64 + 'static,
) -> Decoded {
    let ty = float_type(op, d)?;
    if fast_math == FastMath::default() {
        return with_format!(d.ctx(), ty, F => binary(op, d, move |a, b| Ok(F::write(f(F::read(a), F::read(b))))));
    }
    with_format!(d.ctx(), ty, F => binary(op, d, move |a, b| {
        let (x, y) = (F::read(a), F::read(b));
        let bits = F::write(f(x, y));
        fast_math.check(&[x, y, F::read(bits)], bits)
    }))
}

/// Decodes an operation on one float.
pub(crate) fn float_unary(
    op: OpRef<'_>,
    d: &mut Decoder<'_>,
    fast_math: FastMath,
    f: impl Fn(f64) -> f64 + 'static,
) -> Decoded {
    let ty = float_type(op, d)?;
    with_format!(d.ctx(), ty, F => unary(op, d, move |a| {
        let x = F::read(a);
        let bits = F::write(f(x));
        fast_math.check(&[x, F::read(bits)], bits)
    }))
}

/// Decodes an operation on the bits of a float. `f` gets the sign bit.
pub(crate) fn float_unary_bits(
    op: OpRef<'_>,
    d: &mut Decoder<'_>,
    fast_math: FastMath,
    f: impl Fn(u128, u128) -> u128 + 'static,
) -> Decoded {
    let ty = float_type(op, d)?;
    let sign = 1 << (bit_width(d.ctx(), ty)? - 1);
    if fast_math == FastMath::default() {
        return unary(op, d, move |a| Ok(f(sign, a)));
    }
    with_format!(d.ctx(), ty, F => unary(op, d, move |a| fast_math.check(&[F::read(a)], f(sign, a))))
}

/// `a * b + c`, fused.
pub(crate) fn fused_multiply_add(op: OpRef<'_>, d: &mut Decoder<'_>, fast_math: FastMath) -> Decoded {
    let ty = float_type(op, d)?;
    with_format!(d.ctx(), ty, F => ternary(op, d, move |a, b, c| {
        let bits = F::fma(a, b, c);
        fast_math.check(&[F::read(a), F::read(b), F::read(c), F::read(bits)], bits)
    }))
}

/// Decodes a function of the mathematical library.
pub(crate) fn library(op: OpRef<'_>, d: &mut Decoder<'_>, fast_math: FastMath, name: &str) -> Decoded {
    let ty = float_type(op, d)?;
    let unknown = || Fault::unsupported(format!("the function `{name}` is not known"));
    if let Some(f) = crate::interp::external::library(name) {
        return with_format!(d.ctx(), ty, F => unary(op, d, move |a| {
            let bits = F::library(f, a);
            fast_math.check(&[F::read(a), F::read(bits)], bits)
        }));
    }
    let f = crate::interp::external::library2(name).ok_or_else(unknown)?;
    with_format!(d.ctx(), ty, F => binary(op, d, move |a, b| {
        let bits = F::library2(f, a, b);
        fast_math.check(&[F::read(a), F::read(b), F::read(bits)], bits)
    }))
}

/// Decodes a signed conversion to a wider or narrower width.
pub(crate) fn sign_extend(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let w = operand_width(op, d)?;
    unary(op, d, move |a| Ok(signed(w, a) as u128))
}

/// Decodes an unsigned conversion to another width. The attribute `flag` promises that the number
/// is not negative.
pub(crate) fn zero_extend(op: OpRef<'_>, d: &mut Decoder<'_>, flag: &str) -> Decoded {
    let (w, flag) = (operand_width(op, d)?, op.attr(flag).is_some());
    unary(op, d, move |a| match flag && signed(w, a) < 0 {
        true => Err(Trouble::Poison(Cause::Negative)),
        false => Ok(a),
    })
}

/// Decodes a truncation with `nsw` and `nuw`.
pub(crate) fn truncate(op: OpRef<'_>, d: &mut Decoder<'_>, attribute: &str) -> Decoded {
    d.result(op, 0)?;
    let (from, to) = (operand_width(op, d)?, bit_width(d.ctx(), op.result_type(0).scalar(d.ctx()))?);
    let wrap = Wrap::from_flags(d.enum_value(op, attribute, 0));
    unary(op, d, move |a| {
        if wrap.signed && signed(to, a) != signed(from, a) {
            return Err(Trouble::Poison(Cause::SignedWrap));
        }
        if wrap.unsigned && a > mask(to) {
            return Err(Trouble::Poison(Cause::UnsignedWrap));
        }
        Ok(a)
    })
}

fn round_float(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    if d.enum_value(op, "roundingmode", 0) != 0 {
        return Err(Fault::unsupported("a rounding mode other than to nearest even"));
    }
    convert_float(op, d, fast_math(op, d))
}

/// Decodes a conversion to another float format, rounded to nearest even.
pub(crate) fn convert_float(op: OpRef<'_>, d: &mut Decoder<'_>, fast_math: FastMath) -> Decoded {
    d.result(op, 0)?;
    let (from, to) = (float_type(op, d)?, op.result_type(0).scalar(d.ctx()));
    with_format!(d.ctx(), from, F => with_format!(d.ctx(), to, G => unary(op, d, move |a| {
        let x = F::read(a);
        fast_math.check(&[x], G::write(x))
    })))
}

/// Decodes a conversion of an integer to the nearest float.
pub(crate) fn from_integer(op: OpRef<'_>, d: &mut Decoder<'_>, is_signed: bool) -> Decoded {
    d.result(op, 0)?;
    let (w, to) = (operand_width(op, d)?, op.result_type(0).scalar(d.ctx()));
    let non_negative = op.attr("nonNeg").is_some();
    with_format!(d.ctx(), to, F => unary(op, d, move |a| {
        if non_negative && signed(w, a) < 0 {
            return Err(Trouble::Poison(Cause::Negative));
        }
        Ok(float::from_integer::<F>(w, is_signed, a))
    }))
}

/// Decodes a conversion of a float to an integer, rounded towards zero.
pub(crate) fn to_integer(op: OpRef<'_>, d: &mut Decoder<'_>, is_signed: bool) -> Decoded {
    d.result(op, 0)?;
    let (from, w) = (float_type(op, d)?, bit_width(d.ctx(), op.result_type(0).scalar(d.ctx()))?);
    with_format!(d.ctx(), from, F => unary(op, d, move |a| float::to_integer(w, is_signed, F::read(a))))
}

/// Decodes a bitcast, which may change the length of a vector.
pub(crate) fn bitcast(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (operand, result) = (d.operand(op, 0)?, d.result(op, 0)?);
    let (from, to) = (op.operand_type(0), op.result_type(0));
    let width = |ty: Type| bit_width(d.ctx(), ty.scalar(d.ctx()));
    let (Ok(a), Ok(b)) = (width(from), width(to)) else {
        // Pointers to pointers.
        return Ok(action(move |m| {
            let datum = m.get(operand).clone();
            m.done(result, datum)
        }));
    };
    if a == b {
        let from_vector = matches!(from.kind(d.ctx()), TypeKind::Vector { .. });
        let to_vector = matches!(to.kind(d.ctx()), TypeKind::Vector { .. });
        return Ok(action(move |m| {
            let datum = match (from_vector, to_vector, m.get(operand)) {
                (true, false, Datum::Aggregate(parts)) if parts.len() == 1 => parts[0].clone(),
                (false, true, one) => Datum::aggregate(vec![one.clone()]),
                (_, _, same) => map([same], |[x]| Ok(x.clone()))?,
            };
            m.done(result, datum)
        }));
    }
    let whole = matches!(to.kind(d.ctx()), TypeKind::Vector { .. });
    Ok(action(move |m| {
        let datum = recut(m.get(operand), a, b, whole);
        m.done(result, datum)
    }))
}

/// Recuts bits of elements of width `a` into elements of width `b`, the lowest first. An element is
/// poison if any of its bits is poison.
fn recut(datum: &Datum, a: u32, b: u32, vector: bool) -> Datum {
    if let Datum::Poison(_) = datum {
        return datum.clone();
    }
    let one = [datum.clone()];
    let parts: &[Datum] = if let Datum::Aggregate(parts) = datum { parts } else { &one };
    let total = parts.len() as u32 * a;
    let bit = |i: u32| match &parts[(i / a) as usize] {
        Datum::Poison(poison) => Err(*poison),
        part => Ok(part.as_bits().unwrap_or(0) >> (i % a) & 1),
    };
    let element = |k: u32| {
        let bits = (0..b).try_fold(0u128, |bits, i| Ok(bits | bit(k * b + i)? << i));
        bits.map_or_else(Datum::Poison, |bits| Datum::bits(b, bits))
    };
    if vector { Datum::aggregate((0..total / b).map(element).collect()) } else { element(0) }
}
