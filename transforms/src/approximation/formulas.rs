//! The formulas of functions. The numbers in comments are bounds of the exact values.

use loomir_dialects::arith;
use loomir_ir::Value;

use super::writer::Writer;

/// Returns e to the power of `x`: the power of two `n` nearest to it, times `exp(r)` for the rest.
pub(super) fn exp(w: &mut Writer<'_>, x: Value) -> Value {
    let x = w.clamped(x, w.format.exp_range);
    exp_in_range(w, x)
}

/// Returns e to the power of `x`, which is within the range of the format.
fn exp_in_range(w: &mut Writer<'_>, x: Value) -> Value {
    let (n, power) = w.rounded(x, Some(w.format.log2_e));
    let mut r = x;
    for part in w.format.ln_2 {
        let part = w.number(part);
        let product = w.product(n, part);
        r = w.difference(r, product);
    }
    let q = w.polynomial(w.format.exp, r);
    let q = w.product(q, r);
    let q = w.product(q, r);
    let q = w.sum(q, r);
    one_plus_scaled(w, q, power)
}

/// Returns 2 to the power of `x`.
pub(super) fn exp2(w: &mut Writer<'_>, x: Value) -> Value {
    let x = w.clamped(x, w.format.exp2_range);
    let (n, power) = w.rounded(x, None);
    let r = w.difference(x, n);
    let q = w.polynomial(w.format.exp2, r);
    let q = w.product(q, r);
    one_plus_scaled(w, q, power)
}

/// Returns `(1 + x) * power`. The first product is exact, so that a subnormal result is rounded
/// once.
fn one_plus_scaled(w: &mut Writer<'_>, x: Value, power: [Value; 2]) -> Value {
    let one = w.number(1.0);
    let sum = w.sum(x, one);
    power.into_iter().fold(sum, |all, factor| w.product(all, factor))
}

/// The coefficients of a polynomial `q`: `log(1 + f)` is `f - f * f / 2 + f * f * f * q(f)` for
/// `1 + f` between the square roots of 1/2 and 2.
const LOG: [f64; 8] = [
    0.3333333134651184,
    -0.250008225440979,
    0.20001228153705597,
    -0.1662333607673645,
    0.1420171856880188,
    -0.13160362839698792,
    0.12761962413787842,
    -0.07634491473436356,
];

/// The bits of the square root of 1/2.
const ROOT: i64 = 0x3f35_04f3;

/// Returns the natural logarithm of `x`, which is `2^k * (1 + f)`.
pub(super) fn log(w: &mut Writer<'_>, x: Value) -> Value {
    let [zero, infinity] = [0.0, f64::INFINITY].map(|value| w.number(value));
    let (k, f) = power_and_rest(w, x);
    let q = w.polynomial(&LOG, f);
    let q = w.product(q, f);
    let half = w.number(0.5);
    let q = w.difference(q, half);
    let square = w.product(f, f);
    let small = w.product(q, square);
    let [great_part, small_part] = w.format.ln_2.map(|part| {
        let part = w.number(part);
        w.product(k, part)
    });
    let small = w.sum(small, small_part);
    let rest = w.sum(f, small);
    let log = w.sum(great_part, rest);
    // Infinity and NaN are their own logarithms.
    let [none, lowest] = [f64::NAN, f64::NEG_INFINITY].map(|value| w.number(value));
    let is_negative = w.compare("olt", x, zero);
    let special = w.select(is_negative, none, x);
    let is_zero = w.compare("oeq", x, zero);
    let special = w.select(is_zero, lowest, special);
    let is_below = w.compare("olt", x, infinity);
    let log = w.select(is_below, log, special);
    let is_above = w.compare("ogt", x, zero);
    w.select(is_above, log, special)
}

/// Returns `k` and `f` of a positive number `2^k * (1 + f)`, with `1 + f` between the square roots
/// of 1/2 and 2. Any two numbers for others.
fn power_and_rest(w: &mut Writer<'_>, x: Value) -> (Value, Value) {
    let fraction = w.format.fraction;
    let [least_normal, up] =
        [f64::from(f32::MIN_POSITIVE), (fraction as f64).exp2()].map(|own| w.number(own));
    let is_subnormal = w.compare("olt", x, least_normal);
    let scaled = w.product(x, up);
    let normal = w.select(is_subnormal, scaled, x);
    let bits = w.bits(normal);
    let [root, shift, mask] = [ROOT, fraction, (1 << fraction) - 1].map(|own| w.integer(own));
    let above = w.on_bits(arith::SubIOp::DEF, bits, root);
    let power = w.on_bits(arith::ShRSIOp::DEF, above, shift);
    let power = w.nearest(power);
    let [none, down] = [0.0, fraction as f64].map(|own| w.number(own));
    let lost = w.select(is_subnormal, down, none);
    let power = w.difference(power, lost);
    let rest = w.on_bits(arith::AndIOp::DEF, above, mask);
    let rest = w.on_bits(arith::AddIOp::DEF, rest, root);
    let rest = w.number_of(rest);
    let one = w.number(1.0);
    (power, w.difference(rest, one))
}

/// The coefficients of a polynomial `t`: `tanh(x)` is `x + x * z * t(z)` with `z = x * x`, for
/// small `x`.
const TANH: [f64; 5] = [
    -0.3333331346511841,
    0.13332480192184448,
    -0.0538405179977417,
    0.02102055586874485,
    -0.006198725663125515,
];

/// The number up to which `x` is small.
const SMALL: f64 = 0.55;

/// The number from which on the hyperbolic tangent is one.
const GREAT: f64 = 10.0;

/// Returns the hyperbolic tangent of `x`: a polynomial for a small `x`, and `1 - 2 / (exp(2x) + 1)`
/// for a great one.
pub(super) fn tanh(w: &mut Writer<'_>, x: Value) -> Value {
    let magnitude = w.absolute(x);
    let z = w.product(magnitude, magnitude);
    let t = w.polynomial(&TANH, z);
    let t = w.product(t, z);
    let t = w.product(t, magnitude);
    let if_small = w.sum(t, magnitude);
    let great = w.clamped(magnitude, [0.0, GREAT]);
    let double = w.sum(great, great);
    let power = exp_in_range(w, double);
    let [one, two, small] = [1.0, 2.0, SMALL].map(|own| w.number(own));
    let power = w.sum(power, one);
    let quotient = w.quotient(two, power);
    let if_great = w.difference(one, quotient);
    let is_small = w.compare("olt", magnitude, small);
    let result = w.select(is_small, if_small, if_great);
    w.with_sign(result, x)
}
