//! Execution of the `llvm.intr.` operations that compute. Operations on memory are in
//! [`memory`](super::memory).

use loomir_ir::OpRef;

use super::{Model, fast_math, promises};
use crate::arith::evaluate as arith;
use crate::interp::code::malformed;
use crate::interp::elementwise::{binary, bit_width, map, ternary, unary};
use crate::interp::float::{self, Format, with_format};
use crate::interp::integer::{self, Trouble, Wrap, mask, signed};
use crate::interp::unusable;
use crate::interp::{Cause, Datum, Decoded, Decoder, Fault, Flow, Machine, action};
use crate::math::evaluate::power;

/// Arithmetic of a width that may promise the absence of wrapping.
type Wrapping = fn(u32, Wrap, u128, u128) -> integer::Computed;

/// The promise of signed arithmetic.
const SIGNED: Wrap = Wrap { signed: true, unsigned: false };
/// The promise of unsigned arithmetic.
const UNSIGNED: Wrap = Wrap { signed: false, unsigned: true };

/// Attaches the models.
pub(super) fn register(attach: &mut dyn FnMut(&str, Model)) {
    register_library(attach);
    register_floats(attach);
    register_integers(attach);
    register_reductions(attach);
    attach("intr.expect", |op, d| {
        let (operand, result) = (d.operand(op, 0)?, d.result(op, 0)?);
        Ok(action(move |m| {
            let datum = m.get(operand).clone();
            m.done(result, datum)
        }))
    });
    attach("intr.assume", |op, d| {
        let (condition, bundles, loc) = (d.operand(op, 0)?, promises::decode_bundles(op, d)?, op.loc());
        Ok(action(move |m| match m.condition(condition, "an assumption")? {
            true => {
                for (tag, values) in &bundles {
                    promises::assume(m, tag, values, loc)?;
                }
                Ok(Flow::Next)
            }
            false => Err(Fault::undefined("an assumption does not hold")),
        }))
    });
    attach("intr.trap", |_, _| Ok(action(|_| Machine::trap("the program traps"))));
    attach("intr.debugtrap", |_, _| Ok(action(|_| Machine::trap("the program traps"))));
}

fn register_library(attach: &mut dyn FnMut(&str, Model)) {
    macro_rules! library {
        ($($name:literal = $function:literal),*) => {
            $(attach(concat!("intr.", $name), |op, d| arith::library(op, d, fast_math(op, d), $function));)*
        };
    }
    library!(
        "exp" = "exp",
        "exp2" = "exp2",
        "log" = "log",
        "log2" = "log2",
        "log10" = "log10",
        "sin" = "sin",
        "cos" = "cos",
        "tan" = "tan",
        "asin" = "asin",
        "acos" = "acos",
        "atan" = "atan",
        "atan2" = "atan2",
        "sinh" = "sinh",
        "cosh" = "cosh",
        "tanh" = "tanh",
        "pow" = "pow"
    );
}

fn register_floats(attach: &mut dyn FnMut(&str, Model)) {
    macro_rules! unary {
        ($($name:literal = $f:expr),*) => {
            $(attach(concat!("intr.", $name), |op, d| arith::float_unary(op, d, fast_math(op, d), $f));)*
        };
    }
    unary!(
        "sqrt" = f64::sqrt,
        "floor" = f64::floor,
        "ceil" = f64::ceil,
        "trunc" = f64::trunc,
        "round" = f64::round,
        "roundeven" = f64::round_ties_even,
        "rint" = f64::round_ties_even,
        "nearbyint" = f64::round_ties_even
    );
    macro_rules! binary {
        ($($name:literal = $f:expr),*) => {
            $(attach(concat!("intr.", $name), |op, d| arith::float_binary(op, d, fast_math(op, d), $f));)*
        };
    }
    binary!(
        "maxnum" = float::maxnum,
        "minnum" = float::minnum,
        "maximum" = float::maximum,
        "minimum" = float::minimum
    );
    attach("intr.fabs", |op, d| arith::float_unary_bits(op, d, fast_math(op, d), |sign, x| x & !sign));
    attach("intr.copysign", |op, d| {
        let sign = 1 << (operand_width(op, d)? - 1);
        binary(op, d, move |a, b| Ok((a & !sign) | (b & sign)))
    });
    attach("intr.fma", |op, d| arith::fused_multiply_add(op, d, fast_math(op, d)));
    attach("intr.fmuladd", decode_multiply_add);
    attach("intr.powi", |op, d| {
        d.operand(op, 1)?;
        let ty = op.operand_type(0).scalar(d.ctx());
        let w = bit_width(d.ctx(), op.operand_type(1))?;
        with_format!(d.ctx(), ty, F => binary(op, d, move |a, n| Ok(power::<F>(a, signed(w, n)))))
    });
    attach("intr.ldexp", |op, d| {
        d.operand(op, 1)?;
        let ty = op.operand_type(0).scalar(d.ctx());
        let w = bit_width(d.ctx(), op.operand_type(1).scalar(d.ctx()))?;
        let fast_math = fast_math(op, d);
        with_format!(d.ctx(), ty, F => binary(op, d, move |a, n| {
            let bits = F::scale(a, signed(w, n).clamp(-10_000, 10_000) as i32);
            fast_math.check(&[F::read(a), F::read(bits)], bits)
        }))
    });
    attach("intr.is.fpclass", decode_class);
}

fn operand_width(op: OpRef<'_>, d: &Decoder<'_>) -> Result<u32, Box<Fault>> {
    d.operand(op, 0)?;
    bit_width(d.ctx(), op.operand_type(0).scalar(d.ctx()))
}

/// Decodes `a * b + c`, fused or rounded twice, depending on the target.
fn decode_multiply_add(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    if d.fuses_multiply_add() {
        return arith::fused_multiply_add(op, d, fast_math(op, d));
    }
    d.operand(op, 0)?;
    let (ty, fast_math) = (op.operand_type(0).scalar(d.ctx()), fast_math(op, d));
    with_format!(d.ctx(), ty, F => ternary(op, d, move |a, b, c| {
        let [x, y, z] = [a, b, c].map(F::read);
        let bits = F::write(F::read(F::write(x * y)) + z);
        fast_math.check(&[x, y, z, F::read(bits)], bits)
    }))
}

/// Decodes `is.fpclass`: true if a float is in one of the classes of a mask. The classes are
/// signalling and quiet NaN, then from -inf up to +inf.
fn decode_class(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let w = operand_width(op, d)?;
    let ty = op.operand_type(0).scalar(d.ctx());
    let classes = op.attr("bit").and_then(|a| a.as_int(d.ctx())).ok_or_else(|| malformed("a mask"))?;
    let infinity = with_format!(d.ctx(), ty, F => F::write(f64::INFINITY));
    let quiet = with_format!(d.ctx(), ty, F => F::write(f64::NAN)) & !infinity & (mask(w) >> 1);
    unary(op, d, move |a| {
        let (negative, magnitude) = (a >> (w - 1) != 0, a & (mask(w) >> 1));
        let class = if magnitude > infinity {
            i64::from(magnitude & quiet != 0)
        } else {
            // The classes zero, subnormal, normal and infinite have the numbers 0 to 3.
            let step = match magnitude {
                0 => 0,
                m if m == infinity => 3,
                m if m & infinity == 0 => 1,
                _ => 2,
            };
            if negative { 5 - step } else { 6 + step }
        };
        Ok((classes >> class & 1 != 0).into())
    })
}

fn register_integers(attach: &mut dyn FnMut(&str, Model)) {
    attach("intr.smax", |op, d| arith::choose(op, d, |w, a, b| signed(w, a) >= signed(w, b)));
    attach("intr.smin", |op, d| arith::choose(op, d, |w, a, b| signed(w, a) <= signed(w, b)));
    attach("intr.umax", |op, d| arith::choose(op, d, |_, a, b| a >= b));
    attach("intr.umin", |op, d| arith::choose(op, d, |_, a, b| a <= b));
    attach("intr.sadd.sat", |op, d| saturating(op, d, SIGNED, signed_end, integer::add));
    attach("intr.ssub.sat", |op, d| saturating(op, d, SIGNED, signed_end, integer::sub));
    attach("intr.sshl.sat", |op, d| saturating(op, d, SIGNED, signed_end, integer::shl));
    attach("intr.uadd.sat", |op, d| saturating(op, d, UNSIGNED, |w, _| mask(w), integer::add));
    attach("intr.usub.sat", |op, d| saturating(op, d, UNSIGNED, |_, _| 0, integer::sub));
    attach("intr.ushl.sat", |op, d| saturating(op, d, UNSIGNED, |w, _| mask(w), integer::shl));
    attach("intr.sadd.with.overflow", |op, d| overflowing(op, d, SIGNED, integer::add));
    attach("intr.uadd.with.overflow", |op, d| overflowing(op, d, UNSIGNED, integer::add));
    attach("intr.ssub.with.overflow", |op, d| overflowing(op, d, SIGNED, integer::sub));
    attach("intr.usub.with.overflow", |op, d| overflowing(op, d, UNSIGNED, integer::sub));
    attach("intr.smul.with.overflow", |op, d| overflowing(op, d, SIGNED, integer::mul));
    attach("intr.umul.with.overflow", |op, d| overflowing(op, d, UNSIGNED, integer::mul));
    attach("intr.bitreverse", |op, d| {
        let w = operand_width(op, d)?;
        unary(op, d, move |a| Ok(a.reverse_bits() >> (128 - w)))
    });
    attach("intr.bswap", |op, d| {
        let w = operand_width(op, d)?;
        unary(op, d, move |a| Ok(a.swap_bytes() >> (128 - w)))
    });
    attach("intr.ctpop", |op, d| unary(op, d, |a| Ok(a.count_ones().into())));
    attach("intr.ctlz", |op, d| count_zeros(op, d, |w, a| a.leading_zeros() - (128 - w)));
    attach("intr.cttz", |op, d| count_zeros(op, d, |w, a| a.trailing_zeros().min(w)));
    attach("intr.abs", |op, d| {
        let (w, strict) = (operand_width(op, d)?, flag(op, "is_int_min_poison"));
        unary(op, d, move |a| match strict && a == 1 << (w - 1) {
            true => Err(Trouble::Poison(Cause::MinimumSigned)),
            false => Ok(signed(w, a).unsigned_abs()),
        })
    });
    attach("intr.fshl", |op, d| funnel(op, d, true));
    attach("intr.fshr", |op, d| funnel(op, d, false));
    attach("intr.scmp", |op, d| three_way(op, d, |w, a, b| signed(w, a).cmp(&signed(w, b))));
    attach("intr.ucmp", |op, d| three_way(op, d, |_, a, b| a.cmp(&b)));
}

fn flag(op: OpRef<'_>, name: &str) -> bool {
    op.attr(name) == Some(loomir_ir::Attr::TRUE)
}

/// Decodes saturating arithmetic. The width and the first operand determine the end of the range.
fn saturating(
    op: OpRef<'_>,
    d: &mut Decoder<'_>,
    strict: Wrap,
    end: fn(u32, u128) -> u128,
    f: Wrapping,
) -> Decoded {
    let w = operand_width(op, d)?;
    binary(op, d, move |a, b| {
        // A result that is poison without a promise stays poison.
        f(w, Wrap::default(), a, b)?;
        Ok(f(w, strict, a, b).unwrap_or_else(|_| end(w, a)))
    })
}

/// Returns the least or the largest number, on the side of a first operand.
fn signed_end(w: u32, a: u128) -> u128 {
    if a >> (w - 1) != 0 { 1 << (w - 1) } else { mask(w) >> 1 }
}

/// Decodes arithmetic that returns a struct of the wrapped result and an overflow bit.
fn overflowing(op: OpRef<'_>, d: &mut Decoder<'_>, strict: Wrap, f: Wrapping) -> Decoded {
    let w = operand_width(op, d)?;
    let (a, b, result) = (d.operand(op, 0)?, d.operand(op, 1)?, d.result(op, 0)?);
    let part = move |operands: [&Datum; 2], first: bool| match operands {
        [Datum::Poison(poison), _] | [_, Datum::Poison(poison)] => Ok(Datum::Poison(*poison)),
        [x, y] => match (x.as_bits(), y.as_bits()) {
            (Some(x), Some(y)) if first => Ok(Datum::bits(w, f(w, Wrap::default(), x, y).unwrap_or(0))),
            (Some(x), Some(y)) => Ok(Datum::bool(f(w, strict, x, y).is_err())),
            _ => Err(unusable(x, "an operand")),
        },
    };
    Ok(action(move |m| {
        let value = map([m.get(a), m.get(b)], |x| part(x, true))?;
        let wrapped = map([m.get(a), m.get(b)], |x| part(x, false))?;
        m.done(result, Datum::aggregate(vec![value, wrapped]))
    }))
}

fn count_zeros(op: OpRef<'_>, d: &mut Decoder<'_>, count: fn(u32, u128) -> u32) -> Decoded {
    let (w, strict) = (operand_width(op, d)?, flag(op, "is_zero_poison"));
    unary(op, d, move |a| match strict && a == 0 {
        true => Err(Trouble::Poison(Cause::Zero)),
        false => Ok(count(w, a).into()),
    })
}

/// Decodes a funnel shift: a shift of two joined numbers that keeps the high or the low half.
fn funnel(op: OpRef<'_>, d: &mut Decoder<'_>, left: bool) -> Decoded {
    let w = operand_width(op, d)?;
    ternary(op, d, move |a, b, c| {
        let amount = (c % u128::from(w)) as u32;
        Ok(match (amount, left) {
            (0, true) => a,
            (0, false) => b,
            (n, true) => (a << n) | (b >> (w - n)),
            (n, false) => (a << (w - n)) | (b >> n),
        })
    })
}

fn three_way(
    op: OpRef<'_>,
    d: &mut Decoder<'_>,
    order: fn(u32, u128, u128) -> std::cmp::Ordering,
) -> Decoded {
    let w = operand_width(op, d)?;
    binary(op, d, move |a, b| Ok(order(w, a, b) as i8 as i128 as u128))
}

fn register_reductions(attach: &mut dyn FnMut(&str, Model)) {
    attach("intr.vector.reduce.add", |op, d| reduce_integers(op, d, |_, a, b| a.wrapping_add(b)));
    attach("intr.vector.reduce.mul", |op, d| reduce_integers(op, d, |_, a, b| a.wrapping_mul(b)));
    attach("intr.vector.reduce.and", |op, d| reduce_integers(op, d, |_, a, b| a & b));
    attach("intr.vector.reduce.or", |op, d| reduce_integers(op, d, |_, a, b| a | b));
    attach("intr.vector.reduce.xor", |op, d| reduce_integers(op, d, |_, a, b| a ^ b));
    attach("intr.vector.reduce.umax", |op, d| reduce_integers(op, d, |_, a, b| a.max(b)));
    attach("intr.vector.reduce.umin", |op, d| reduce_integers(op, d, |_, a, b| a.min(b)));
    attach("intr.vector.reduce.smax", |op, d| {
        reduce_integers(op, d, |w, a, b| if signed(w, a) >= signed(w, b) { a } else { b })
    });
    attach("intr.vector.reduce.smin", |op, d| {
        reduce_integers(op, d, |w, a, b| if signed(w, a) <= signed(w, b) { a } else { b })
    });
    attach("intr.vector.reduce.fadd", |op, d| reduce_floats(op, d, true, |a, b| a + b));
    attach("intr.vector.reduce.fmul", |op, d| reduce_floats(op, d, true, |a, b| a * b));
    attach("intr.vector.reduce.fmax", |op, d| reduce_floats(op, d, false, float::maxnum));
    attach("intr.vector.reduce.fmin", |op, d| reduce_floats(op, d, false, float::minnum));
    attach("intr.vector.reduce.fmaximum", |op, d| reduce_floats(op, d, false, float::maximum));
    attach("intr.vector.reduce.fminimum", |op, d| reduce_floats(op, d, false, float::minimum));
}

fn reduce_integers(op: OpRef<'_>, d: &mut Decoder<'_>, f: fn(u32, u128, u128) -> u128) -> Decoded {
    let w = operand_width(op, d)?;
    reduce(op, d, w, false, move |a, b| f(w, a, b) & mask(w))
}

/// Decodes a reduction from the first element to the last. Each step is rounded.
fn reduce_floats(op: OpRef<'_>, d: &mut Decoder<'_>, with_start: bool, f: fn(f64, f64) -> f64) -> Decoded {
    let w = operand_width(op, d)?;
    let ty = op.operand_type(0).scalar(d.ctx());
    with_format!(d.ctx(), ty, F => reduce(op, d, w, with_start, move |a, b| F::write(f(F::read(a), F::read(b)))))
}

fn reduce(
    op: OpRef<'_>,
    d: &mut Decoder<'_>,
    width: u32,
    with_start: bool,
    f: impl Fn(u128, u128) -> u128 + 'static,
) -> Decoded {
    let start = if with_start { Some(d.operand(op, 0)?) } else { None };
    let (vector, result) = (d.operand(op, usize::from(with_start))?, d.result(op, 0)?);
    Ok(action(move |m| {
        let parts = match m.get(vector) {
            Datum::Aggregate(parts) => parts.clone(),
            Datum::Poison(poison) => return m.done(result, Datum::Poison(*poison)),
            other => return Err(unusable(other, "the vector")),
        };
        let mut sum: Option<u128> = None;
        let start = start.map(|slot| m.get(slot).clone());
        for part in start.iter().chain(parts.iter()) {
            let value = match part {
                Datum::Poison(poison) => return m.done(result, Datum::Poison(*poison)),
                part => part.as_bits().ok_or_else(|| unusable(part, "an element"))?,
            };
            sum = Some(sum.map_or(value, |sum| f(sum, value)));
        }
        m.done(result, Datum::bits(width, sum.unwrap_or(0)))
    }))
}
