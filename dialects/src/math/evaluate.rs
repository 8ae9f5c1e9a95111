//! Execution of the operations of `math`.

use loomir_ir::{OpRef, Registry};

use crate::arith::evaluate::{
    fast_math, float_binary, float_unary, float_unary_bits, fused_multiply_add, library,
};
use crate::interp::elementwise::{binary, bit_width, ternary, unary};
use crate::interp::float::{self, Format, with_format};
use crate::interp::integer::Trouble;
use crate::interp::integer::{mask, signed};
use crate::interp::{Datum, Decoded, Decoder, Evaluate, Fault, Flow, action};

/// The functions of the mathematical library, by the name of the operation and in C.
const LIBRARY: &[(&str, &str)] = &[
    ("acos", "acos"),
    ("acosh", "acosh"),
    ("asin", "asin"),
    ("asinh", "asinh"),
    ("atan", "atan"),
    ("atan2", "atan2"),
    ("atanh", "atanh"),
    ("cbrt", "cbrt"),
    ("cos", "cos"),
    ("cosh", "cosh"),
    ("exp", "exp"),
    ("exp2", "exp2"),
    ("expm1", "expm1"),
    ("log", "log"),
    ("log10", "log10"),
    ("log1p", "log1p"),
    ("log2", "log2"),
    ("powf", "pow"),
    ("sin", "sin"),
    ("sinh", "sinh"),
    ("tan", "tan"),
    ("tanh", "tanh"),
];

/// Attaches the models.
pub(super) fn register(registry: &mut Registry) {
    for (op, function) in LIBRARY {
        let model = move |op: OpRef<'_>, d: &mut Decoder<'_>| library(op, d, fast_math(op, d), function);
        registry.attach::<dyn Evaluate>(&format!("math.{op}"), Box::new(model));
    }
    let mut attach = |name: &str, model: fn(OpRef<'_>, &mut Decoder<'_>) -> Decoded| {
        registry.attach::<dyn Evaluate>(&format!("math.{name}"), Box::new(model));
    };
    attach("sqrt", |op, d| float_unary(op, d, fast_math(op, d), f64::sqrt));
    attach("rsqrt", decode_rsqrt);
    attach("floor", |op, d| float_unary(op, d, fast_math(op, d), f64::floor));
    attach("ceil", |op, d| float_unary(op, d, fast_math(op, d), f64::ceil));
    attach("trunc", |op, d| float_unary(op, d, fast_math(op, d), f64::trunc));
    attach("round", |op, d| float_unary(op, d, fast_math(op, d), f64::round));
    attach("roundeven", |op, d| float_unary(op, d, fast_math(op, d), f64::round_ties_even));
    attach("absf", |op, d| float_unary_bits(op, d, fast_math(op, d), |sign, x| x & !sign));
    attach("copysign", decode_copysign);
    attach("fma", |op, d| fused_multiply_add(op, d, fast_math(op, d)));
    attach("clampf", decode_clamp);
    attach("sincos", decode_sincos);
    attach("isnan", |op, d| classify(op, d, f64::is_nan));
    attach("isinf", |op, d| classify(op, d, f64::is_infinite));
    attach("isfinite", |op, d| classify(op, d, f64::is_finite));
    attach("isnormal", decode_isnormal);
    attach("absi", |op, d| {
        let w = integer_width(op, d)?;
        unary(op, d, move |a| Ok(signed(w, a).unsigned_abs()))
    });
    attach("ctlz", |op, d| {
        let w = integer_width(op, d)?;
        unary(op, d, move |a| Ok((a.leading_zeros() - (128 - w)).into()))
    });
    attach("cttz", |op, d| {
        let w = integer_width(op, d)?;
        unary(op, d, move |a| Ok(a.trailing_zeros().min(w).into()))
    });
    attach("ctpop", |op, d| unary(op, d, |a| Ok(a.count_ones().into())));
    attach("ipowi", decode_integer_power);
    attach("fpowi", decode_float_power);
}

fn integer_width(op: OpRef<'_>, d: &Decoder<'_>) -> Result<u32, Box<Fault>> {
    d.operand(op, 0)?;
    bit_width(d.ctx(), op.operand_type(0).scalar(d.ctx()))
}

/// Decodes the reciprocal of the square root, each step rounded.
fn decode_rsqrt(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    d.operand(op, 0)?;
    let (ty, fast_math) = (op.operand_type(0).scalar(d.ctx()), fast_math(op, d));
    with_format!(d.ctx(), ty, F => unary(op, d, move |a| {
        let x = F::read(a);
        let bits = F::write(1.0 / F::read(F::write(x.sqrt())));
        fast_math.check(&[x, F::read(bits)], bits)
    }))
}

fn decode_copysign(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let sign = 1 << (integer_width(op, d)? - 1);
    let fast_math = fast_math(op, d);
    if fast_math != Default::default() {
        return float_binary(op, d, fast_math, f64::copysign);
    }
    binary(op, d, move |a, b| Ok((a & !sign) | (b & sign)))
}

fn decode_clamp(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    d.operand(op, 0)?;
    let (ty, fast_math) = (op.operand_type(0).scalar(d.ctx()), fast_math(op, d));
    with_format!(d.ctx(), ty, F => ternary(op, d, move |value, low, high| {
        let [x, low, high] = [value, low, high].map(F::read);
        fast_math.check(&[x, low, high], F::write(float::minimum(float::maximum(x, low), high)))
    }))
}

fn decode_sincos(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    use crate::interp::external::library;
    let operand = d.operand(op, 0)?;
    let (sine, cosine) = (d.result(op, 0)?, d.result(op, 1)?);
    let ty = op.operand_type(0);
    let width = bit_width(d.ctx(), ty)?;
    let (Some(sin), Some(cos)) = (library("sin"), library("cos")) else {
        return Err(Fault::unsupported("sine and cosine"));
    };
    with_format!(d.ctx(), ty, F => Ok(action(move |m| {
        let datum = m.get(operand).clone();
        let (s, c) = match datum.as_bits() {
            Some(a) => (Datum::bits(width, F::library(sin, a)), Datum::bits(width, F::library(cos, a))),
            None => (datum.clone(), datum),
        };
        m.set(sine, s);
        m.set(cosine, c);
        Ok(Flow::Next)
    })))
}

fn classify(op: OpRef<'_>, d: &mut Decoder<'_>, is: fn(f64) -> bool) -> Decoded {
    d.operand(op, 0)?;
    let ty = op.operand_type(0).scalar(d.ctx());
    with_format!(d.ctx(), ty, F => unary(op, d, move |a| Ok(is(F::read(a)).into())))
}

/// Decodes `isnormal`: true if the exponent is neither the one of zero and subnormals nor the one
/// of infinities and NaNs.
fn decode_isnormal(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    d.operand(op, 0)?;
    let ty = op.operand_type(0).scalar(d.ctx());
    let infinity = with_format!(d.ctx(), ty, F => F::write(f64::INFINITY));
    unary(op, d, move |a| Ok((a & infinity != 0 && a & infinity != infinity).into()))
}

/// Decodes a power with an integer exponent. A negative exponent divides one.
fn decode_integer_power(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let w = integer_width(op, d)?;
    binary(op, d, move |base, exponent| {
        let (x, n) = (signed(w, base), signed(w, exponent));
        if n < 0 {
            return match x {
                0 => Err(Trouble::Undefined("zero to a negative power")),
                1 => Ok(1),
                -1 => Ok(if n % 2 == 0 { 1 } else { mask(w) }),
                _ => Ok(0),
            };
        }
        let (mut result, mut square, mut rest) = (1u128, base, n);
        while rest > 0 {
            if rest & 1 == 1 {
                result = result.wrapping_mul(square);
            }
            square = square.wrapping_mul(square);
            rest >>= 1;
        }
        Ok(result & mask(w))
    })
}

/// Decodes a power with an integer exponent by repeated squaring. Each product is rounded, as in
/// the compiler's run-time library.
fn decode_float_power(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    d.operand(op, 1)?;
    let ty = op.operand_type(0).scalar(d.ctx());
    let w = bit_width(d.ctx(), op.operand_type(1).scalar(d.ctx()))?;
    with_format!(d.ctx(), ty, F => binary(op, d, move |base, exponent| {
        Ok(power::<F>(base, signed(w, exponent)))
    }))
}

/// `base` to the power `exponent`.
pub(crate) fn power<F: Format>(base: u128, exponent: i128) -> u128 {
    let (mut square, mut result, mut rest) = (F::read(base), 1.0, exponent);
    loop {
        if rest & 1 != 0 {
            result = F::read(F::write(result * square));
        }
        rest /= 2;
        if rest == 0 {
            break;
        }
        square = F::read(F::write(square * square));
    }
    F::write(if exponent < 0 { 1.0 / result } else { result })
}
