//! `exp` and `exp2` of `f32` with the numbers that C libraries give, bit for bit.
//!
//! glibc since 2.27 and musl compute both by one algorithm, in `f64`: the power of two of the
//! nearest multiple of 1/32, which is looked up, times a cubic polynomial of the rest. How close
//! the polynomial is decides how a result is rounded. The last bits of `f64` do not, for any
//! argument, if the rest is exact. So the same polynomial times a power that is computed gives the
//! same results, and needs no table.
//!
//! # Assumptions
//!
//! - All 2^32 results are those of glibc on a processor with fused products, whether the arithmetic
//!   has them or not. Tried with `campaign exponentials`, and with some in
//!   `tests/all/approximation.rs`.

use loomir_dialects::arith;
use loomir_ir::Value;

use super::writer::Writer;

/// The logarithm of e to the base 2, and its two parts. The product of the first part and an `f32`
/// is exact.
const LOG2_E: f64 = std::f64::consts::LOG2_E;
const LOG2_E_IN_PARTS: [f64; 2] = [1.4426950365304947, 4.358468697063245e-9];

/// The coefficients of a polynomial `p`. Libraries take `1 + r * p(r)` as `2^r`, for small `r`.
const REST: [f64; 3] = [0.6931471806916203, 0.2402284522445722, 0.05550361559341535];

/// The multiples for which libraries look up a power.
const UNIT: f64 = 1.0 / 32.0;

/// Arguments of `exp`, and of `exp2`, beyond which results are zero or infinite, and stay so.
pub(super) const RANGE: [[f64; 2]; 2] = [[-150.0, 150.0], [-300.0, 300.0]];

/// Returns e to the power of `x`, an `f32` as an `f64`.
pub(super) fn exp(w: &mut Writer<'_>, x: Value) -> Value {
    let [whole, first, second] = [LOG2_E, LOG2_E_IN_PARTS[0], LOG2_E_IN_PARTS[1]].map(|part| {
        let part = w.number(part);
        w.product(x, part)
    });
    let (power, _) = w.multiple(whole, UNIT);
    let rest = w.difference(first, power);
    let rest = w.sum(rest, second);
    power_of_two(w, power, rest)
}

/// Returns 2 to the power of `x`, an `f32` as an `f64`.
pub(super) fn exp2(w: &mut Writer<'_>, x: Value) -> Value {
    let (power, _) = w.multiple(x, UNIT);
    let rest = w.difference(x, power);
    power_of_two(w, power, rest)
}

/// Returns 2 to the power of a multiple of [`UNIT`] and a rest.
fn power_of_two(w: &mut Writer<'_>, power: Value, rest: Value) -> Value {
    let p = w.polynomial(&REST, rest);
    let p = w.product(p, rest);
    let (whole, bits) = w.multiple(power, 1.0);
    let part = w.difference(power, whole);
    let q = w.polynomial(w.format.exp2, part);
    let q = w.product(q, part);
    let one = w.number(1.0);
    let scale = w.sum(q, one);
    let p = w.product(p, scale);
    let sum = w.sum(p, scale);
    // The sum is normal, and so is its product with the power of two.
    let fraction = w.integer(w.format.fraction);
    let exponent = w.on_bits(arith::ShLIOp::DEF, bits, fraction);
    let sum = w.bits(sum);
    let sum = w.on_bits(arith::AddIOp::DEF, sum, exponent);
    w.number_of(sum)
}
