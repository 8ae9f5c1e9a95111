//! Floating-point formats as bits: reading them as `f64` and rounding an `f64` to them.
//!
//! `f16`, `bf16`, `f32` and `f64` are known; each value of the first three is a value of `f64`. A
//! sum, difference, product, quotient or square root of two of them, computed in `f64` and rounded
//! once more, is the correctly rounded result: `f64` has more than twice the significant bits of
//! `f32` plus two, so the second rounding cannot change the result.

use loomir_ir::FloatKind;

/// Widths of the exponent and of the mantissa without its leading bit.
fn format(kind: FloatKind) -> Option<(u32, u32)> {
    match kind {
        FloatKind::F16 => Some((5, 10)),
        FloatKind::BF16 => Some((8, 7)),
        FloatKind::F32 => Some((8, 23)),
        FloatKind::F64 => Some((11, 52)),
        _ => None,
    }
}

/// Returns the number that `bits` encode. The payload of a NaN is kept in the top bits. Returns
/// `None` for formats not known here.
pub fn to_f64(kind: FloatKind, bits: u128) -> Option<f64> {
    let (exponent_bits, mantissa_bits) = format(kind)?;
    let bits = bits as u64;
    if kind == FloatKind::F64 {
        return Some(f64::from_bits(bits));
    }
    let sign = (bits >> (exponent_bits + mantissa_bits) & 1) << 63;
    let top = (1u64 << exponent_bits) - 1;
    let exponent = bits >> mantissa_bits & top;
    let mantissa = bits & ((1u64 << mantissa_bits) - 1);
    let bias = (top >> 1) as i64;
    let magnitude = if exponent == top {
        0x7ff << 52 | mantissa << (52 - mantissa_bits)
    } else if exponent == 0 {
        // Both factors are exact, and so is the product.
        (mantissa as f64 * 2f64.powi((1 - bias) as i32 - mantissa_bits as i32)).to_bits()
    } else {
        ((exponent as i64 - bias + 1023) as u64) << 52 | mantissa << (52 - mantissa_bits)
    };
    Some(f64::from_bits(sign | magnitude))
}

/// Returns `value` rounded to the nearest number of a format, ties to even. Too large numbers
/// become infinite. A NaN keeps the top of its payload and becomes quiet. `None` for formats that
/// are unknown here.
pub fn from_f64(kind: FloatKind, value: f64) -> Option<u128> {
    let (exponent_bits, mantissa_bits) = format(kind)?;
    let bits = value.to_bits();
    let (sign, exponent, mantissa) = (bits >> 63, bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
    let top = (1u64 << exponent_bits) - 1;
    let bias = (top >> 1) as i64;
    let magnitude = if exponent == 0x7ff {
        let payload = mantissa >> (52 - mantissa_bits);
        let quiet = if mantissa == 0 { 0 } else { 1 << (mantissa_bits - 1) };
        top << mantissa_bits | payload | quiet
    } else if kind == FloatKind::F64 {
        bits & !(1 << 63)
    } else {
        // Denormal numbers of f64 are far below half the least number of any narrower format here.
        let exponent = exponent as i64 - 1023;
        let significand = mantissa | 1 << 52;
        let least = 1 - bias;
        let drop = i64::from(52 - mantissa_bits) + (least - exponent).max(0);
        if drop > 54 {
            0
        } else {
            let kept = significand >> drop;
            let (rest, half) = (significand & ((1 << drop) - 1), 1u64 << (drop - 1));
            let up = u64::from(rest > half || (rest == half && kept & 1 == 1));
            // A carry out of the mantissa increments the exponent, as it should.
            let field = if exponent < least { 0 } else { (exponent + bias - 1) as u64 };
            ((field << mantissa_bits) + kept + up).min(top << mantissa_bits)
        }
    };
    Some(u128::from(sign << (exponent_bits + mantissa_bits) | magnitude))
}

/// True if `bits` encode a NaN. `None` for formats not known here.
pub fn is_nan(kind: FloatKind, bits: u128) -> Option<bool> {
    to_f64(kind, bits).map(f64::is_nan)
}

/// Returns the sign bit of a format of which each number has a negative: its highest bit. `None`
/// for formats without negative numbers, and for those without a negative zero, where this bit
/// alone is NaN.
pub fn sign_bit(kind: FloatKind) -> Option<u128> {
    use FloatKind::{F8E4M3B11FNUZ, F8E4M3FNUZ, F8E5M2FNUZ, F8E8M0FNU};
    let is_odd = matches!(kind, F8E8M0FNU | F8E4M3FNUZ | F8E5M2FNUZ | F8E4M3B11FNUZ);
    (!is_odd).then(|| 1 << (kind.width() - 1))
}

/// Returns the rounded result of an operation on two numbers of a format. A NaN operand is returned
/// unchanged, but quiet. A NaN computed from numbers is the positive quiet NaN on every machine.
pub fn arithmetic(kind: FloatKind, x: u128, y: u128, f: impl Fn(f64, f64) -> f64) -> Option<u128> {
    let quiet = 1u128 << (format(kind)?.1 - 1);
    let (a, b) = (to_f64(kind, x)?, to_f64(kind, y)?);
    if a.is_nan() {
        return Some(x | quiet);
    }
    if b.is_nan() {
        return Some(y | quiet);
    }
    let result = f(a, b);
    from_f64(kind, if result.is_nan() { f64::from_bits(0x7ff8 << 48) } else { result })
}
