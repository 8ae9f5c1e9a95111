//! Floating-point numbers of every format MLIR has, to and from decimal text.
//!
//! Bits are kept in the format's own layout, so nothing is lost on the way. Reading rounds to
//! nearest, ties to even, exactly. Printing gives the digits LLVM gives: six significant ones if
//! they read back as the same number, else as many as always suffice, both cut the way LLVM cuts
//! them, which is not always to nearest.

use num_bigint::BigUint;

use crate::types::FloatKind;

/// The special values of a format without infinities.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    /// Infinities, and NaN with the greatest exponent.
    Ieee,
    /// No infinity; NaN is all ones.
    NanAllOnes,
    /// No infinity and no negative zero, whose place NaN takes.
    NanNegativeZero,
    /// Finite numbers only.
    Finite,
}

/// The layout of a format.
struct Layout {
    /// Bits of the significand, the leading one included.
    precision: u32,
    /// Exponents of the smallest and greatest normal number.
    min: i32,
    max: i32,
    special: Special,
}

fn layout(kind: FloatKind) -> Layout {
    let of = |precision, min, max, special| Layout { precision, min, max, special };
    match kind {
        FloatKind::F16 => of(11, -14, 15, Special::Ieee),
        FloatKind::BF16 => of(8, -126, 127, Special::Ieee),
        FloatKind::F32 => of(24, -126, 127, Special::Ieee),
        FloatKind::F64 => of(53, -1022, 1023, Special::Ieee),
        FloatKind::F80 => of(64, -16382, 16383, Special::Ieee),
        FloatKind::F128 => of(113, -16382, 16383, Special::Ieee),
        FloatKind::TF32 => of(11, -126, 127, Special::Ieee),
        FloatKind::F8E5M2 => of(3, -14, 15, Special::Ieee),
        FloatKind::F8E4M3 => of(4, -6, 7, Special::Ieee),
        FloatKind::F8E4M3FN => of(4, -6, 8, Special::NanAllOnes),
        FloatKind::F8E5M2FNUZ => of(3, -15, 15, Special::NanNegativeZero),
        FloatKind::F8E4M3FNUZ => of(4, -7, 7, Special::NanNegativeZero),
        FloatKind::F8E4M3B11FNUZ => of(4, -10, 4, Special::NanNegativeZero),
        FloatKind::F8E3M4 => of(5, -2, 3, Special::Ieee),
        FloatKind::F8E8M0FNU => of(1, -127, 127, Special::NanAllOnes),
        FloatKind::F6E2M3FN => of(4, 0, 2, Special::Finite),
        FloatKind::F6E3M2FN => of(3, -2, 4, Special::Finite),
        FloatKind::F4E2M1FN => of(2, 0, 2, Special::Finite),
    }
}

/// A number taken apart: `±significand * 2^exponent`.
struct Parts {
    negative: bool,
    significand: u128,
    exponent: i32,
}

/// The number of some bits; `None` for infinities and NaN.
fn decode(kind: FloatKind, bits: u128) -> Option<Parts> {
    let l = layout(kind);
    let width = kind.width();
    if kind == FloatKind::F8E8M0FNU {
        // An exponent alone: no sign, no zero.
        return (bits != 0xff).then_some(Parts {
            negative: false,
            significand: 1,
            exponent: bits as i32 - 127,
        });
    }
    let negative = bits >> (width - 1) & 1 == 1;
    let stored = if kind == FloatKind::F80 { l.precision } else { l.precision - 1 };
    let exponent_bits = width - 1 - stored;
    let field = (bits >> stored & ((1 << exponent_bits) - 1)) as i32;
    let fraction = bits & ((1u128 << stored) - 1);
    let top = (1i32 << exponent_bits) - 1;
    let is_special = match l.special {
        Special::Ieee => field == top,
        Special::NanAllOnes => field == top && fraction == (1 << stored) - 1,
        Special::NanNegativeZero => negative && field == 0 && fraction == 0,
        Special::Finite => false,
    };
    if is_special {
        return None;
    }
    let exponent = l.min + field.max(1) - 1 - (l.precision as i32 - 1);
    let implied = if kind == FloatKind::F80 || field == 0 { 0 } else { 1u128 << stored };
    Some(Parts { negative, significand: fraction | implied, exponent })
}

/// The bits of `±significand * 2^exponent`, `significand` within the format's precision, and not
/// too large.
fn encode(kind: FloatKind, negative: bool, significand: u128, exponent: i32) -> u128 {
    let l = layout(kind);
    let width = kind.width();
    if kind == FloatKind::F8E8M0FNU {
        return (exponent + 127).clamp(0, 254) as u128;
    }
    let stored = if kind == FloatKind::F80 { l.precision } else { l.precision - 1 };
    let leading = 1u128 << (l.precision - 1);
    let field = if significand & leading != 0 { exponent + l.precision as i32 - 1 - l.min + 1 } else { 0 };
    let fraction = if kind == FloatKind::F80 { significand } else { significand & (leading - 1) };
    let zero_has_no_sign = l.special == Special::NanNegativeZero && significand == 0;
    let sign = u128::from(negative && !zero_has_no_sign) << (width - 1);
    sign | (field as u128) << stored | fraction
}

/// The bits of what is too large for a format.
fn overflow(kind: FloatKind, negative: bool) -> u128 {
    let l = layout(kind);
    let width = kind.width();
    if kind == FloatKind::F8E8M0FNU {
        return 0xff;
    }
    let stored = if kind == FloatKind::F80 { l.precision } else { l.precision - 1 };
    let sign = u128::from(negative) << (width - 1);
    let magnitude = (1u128 << (width - 1)) - 1;
    match l.special {
        Special::Ieee if kind == FloatKind::F80 => sign | 0x7fff_8000_0000_0000_0000,
        Special::Ieee => sign | magnitude >> stored << stored,
        Special::NanAllOnes | Special::Finite => sign | magnitude,
        Special::NanNegativeZero => 1 << (width - 1),
    }
}

/// The bits of a literal such as `1.5e-3`. As in MLIR it stands for the double nearest to it, which
/// is then rounded to the format.
pub(crate) fn from_literal(kind: FloatKind, negative: bool, text: &str) -> u128 {
    let value: f64 = text.parse().unwrap_or(0.0);
    let sign = u128::from(negative) << (kind.width() - 1);
    match kind {
        FloatKind::F64 => u128::from(value.to_bits()) | sign,
        FloatKind::F32 => u128::from((value as f32).to_bits()) | sign,
        _ => match decode(FloatKind::F64, u128::from(value.to_bits())) {
            None => overflow(kind, negative),
            Some(parts) if parts.significand == 0 => encode(kind, negative, 0, layout(kind).min),
            Some(parts) => nearest(kind, negative, parts.significand, parts.exponent),
        },
    }
}

/// The bits nearest to `±significand * 2^exponent`, ties to even; `significand` is neither 0 nor
/// above 2^64.
fn nearest(kind: FloatKind, negative: bool, significand: u128, exponent: i32) -> u128 {
    let l = layout(kind);
    let bits = 128 - significand.leading_zeros() as i32;
    let lowest = l.min - (l.precision as i32 - 1);
    let wanted = (exponent + bits - l.precision as i32).max(lowest);
    let shift = wanted - exponent;
    if shift <= 0 {
        return finished(kind, negative, significand << -shift, wanted);
    }
    if shift > 100 {
        return encode(kind, negative, 0, l.min);
    }
    let (quotient, rest, half) =
        (significand >> shift, significand & ((1 << shift) - 1), 1u128 << (shift - 1));
    let up = rest > half || (rest == half && quotient & 1 == 1);
    finished(kind, negative, quotient + u128::from(up), wanted)
}

/// The bits of a rounded number, whose significand may have become one bit too long.
fn finished(kind: FloatKind, negative: bool, mut significand: u128, mut exponent: i32) -> u128 {
    let l = layout(kind);
    if significand >> l.precision != 0 {
        significand >>= 1;
        exponent += 1;
    }
    let is_normal = significand >> (l.precision - 1) != 0;
    if is_normal && exponent + l.precision as i32 - 1 > l.max {
        return overflow(kind, negative);
    }
    let bits = encode(kind, negative, significand, exponent);
    // The greatest numbers of some formats have NaN's neighbours' bits.
    if significand != 0 && decode(kind, bits).is_none() { overflow(kind, negative) } else { bits }
}

/// The bits nearest to a decimal number, exactly, ties to even.
fn from_decimal(kind: FloatKind, negative: bool, text: &str) -> u128 {
    let sign = |bits: u128| bits | u128::from(negative) << (kind.width() - 1);
    match kind {
        FloatKind::F64 => text.parse::<f64>().map_or(0, |v| sign(u128::from(v.to_bits()))),
        FloatKind::F32 => text.parse::<f32>().map_or(0, |v| sign(u128::from(v.to_bits()))),
        _ => from_decimal_exactly(kind, negative, text),
    }
}

fn from_decimal_exactly(kind: FloatKind, negative: bool, text: &str) -> u128 {
    let l = layout(kind);
    let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        // Where there is no zero, the smallest number stands for it.
        return encode(kind, negative, 0, l.min);
    }
    // A power beyond these bounds decides by itself.
    let digit_count = digits.len() as i64;
    let power =
        power.parse::<i64>().unwrap_or(if power.starts_with('-') { i64::MIN / 2 } else { i64::MAX / 2 });
    let power = power.saturating_sub(fraction.len() as i64);
    if power.saturating_add(digit_count) > 6000 {
        return overflow(kind, negative);
    }
    if power.saturating_add(digit_count) < -6000 {
        return encode(kind, negative, 0, l.min);
    }
    let mut numerator = BigUint::parse_bytes(digits.as_bytes(), 10).unwrap_or_default();
    let mut denominator = BigUint::from(1u8);
    let ten = BigUint::from(10u8).pow(power.unsigned_abs() as u32);
    if power >= 0 {
        numerator *= ten;
    } else {
        denominator *= ten;
    }
    // The exponent that leaves `precision` bits in the quotient, or the smallest there is.
    let estimate = numerator.bits() as i64 - denominator.bits() as i64 - i64::from(l.precision);
    let lowest = i64::from(l.min) - i64::from(l.precision - 1);
    let mut exponent = estimate.max(lowest);
    loop {
        let (n, d) = if exponent >= 0 {
            (numerator.clone(), &denominator << exponent as u64)
        } else {
            (&numerator << exponent.unsigned_abs(), denominator.clone())
        };
        let quotient = &n / &d;
        if quotient.bits() > u64::from(l.precision) {
            exponent += 1;
            continue;
        }
        let twice = (n - &quotient * &d) * 2u8;
        let odd = quotient.bit(0);
        let up = twice > d || (twice == d && odd);
        let mut significand = quotient.iter_u64_digits().rev().fold(0u128, |s, d| s << 64 | u128::from(d));
        significand += u128::from(up);
        return finished(kind, negative, significand, exponent as i32);
    }
}

/// The text of a number of a format: decimal, or hexadecimal bits for infinities, NaN, and what is
/// more precise than the double that a literal is read as. The flag says which it is.
pub(crate) fn to_text(kind: FloatKind, bits: u128) -> (String, bool) {
    if let Some(parts) = decode(kind, bits) {
        let is_wide = layout(kind).precision > layout(FloatKind::F64).precision;
        let reads_back =
            |text: &str| !is_wide || from_literal(kind, parts.negative, text.trim_start_matches('-')) == bits;
        let short = decimal(&parts, kind, Some(6));
        let is_exact = from_decimal(kind, parts.negative, short.trim_start_matches('-')) == bits;
        if is_exact && reads_back(&short) {
            return (short, false);
        }
        let long = decimal(&parts, kind, None);
        if long.contains('.') && reads_back(&long) {
            return (long, false);
        }
    }
    (format!("0x{bits:X}"), true)
}

/// Decimal digits. With a precision: scientific, that many digits and zeros behind; without: as
/// many digits as always suffice, plain where that is short.
fn decimal(parts: &Parts, kind: FloatKind, precision: Option<usize>) -> String {
    let mut text = String::new();
    if parts.negative {
        text.push('-');
    }
    if parts.significand == 0 {
        text.push_str(if precision.is_some() { "0.000000e+00" } else { "0.0E+0" });
        return text;
    }
    let digits_wanted = precision.unwrap_or(2 + layout(kind).precision as usize * 59 / 196);
    let (mut digits, mut power) = significant_digits(parts, digits_wanted);
    round_digits(&mut digits, &mut power, digits_wanted);
    let count = digits.len() as i32;
    let leading = power + count - 1;
    let scientific = precision.is_some()
        || if power >= 0 {
            power > 3 || digits.len() + power as usize > digits_wanted
        } else {
            leading < 0 && -leading > 3
        };
    if scientific {
        text.push(digits[0] as char);
        text.push('.');
        text.extend(digits[1..].iter().map(|d| *d as char));
        let (mark, zeros) = match precision {
            Some(wanted) => ('e', wanted - (digits.len() - 1)),
            None => ('E', usize::from(digits.len() == 1)),
        };
        text.extend(std::iter::repeat_n('0', zeros));
        text.extend([mark, if leading < 0 { '-' } else { '+' }]);
        let size = leading.unsigned_abs();
        if precision.is_some() && size < 10 {
            text.push('0');
        }
        text.push_str(&size.to_string());
        return text;
    }
    let plain: String = digits.iter().map(|d| *d as char).collect();
    if power >= 0 {
        text.push_str(&plain);
        text.extend(std::iter::repeat_n('0', power as usize));
    } else if leading >= 0 {
        let (whole, fraction) = plain.split_at(leading as usize + 1);
        text.push_str(whole);
        text.push('.');
        text.push_str(fraction);
    } else {
        text.push_str("0.");
        text.extend(std::iter::repeat_n('0', (-leading - 1) as usize));
        text.push_str(&plain);
    }
    text
}

/// ASCII digits without trailing zeros, and the power of ten of the last: at least the wanted
/// number of digits, the rest cut off.
fn significant_digits(parts: &Parts, wanted: usize) -> (Vec<u8>, i32) {
    let zeros = parts.significand.trailing_zeros();
    let (significand, exponent) = (parts.significand >> zeros, parts.exponent + zeros as i32);
    // N * 2^-e = (N * 5^e) * 10^-e.
    let factor_bits = exponent.unsigned_abs() as f64 * if exponent < 0 { 2.33 } else { 1.0 };
    let bits = 128 - significand.leading_zeros();
    let mut power = exponent.min(0);
    let bits_required = (wanted as u32 * 196).div_ceil(59);
    let removable = |bits: u32| bits.saturating_sub(bits_required) * 59 / 196;
    let text = if f64::from(bits) + factor_bits < 126.0 {
        let mut value = if exponent < 0 {
            significand * 5u128.pow(exponent.unsigned_abs())
        } else {
            significand << exponent
        };
        let tens = removable(128 - value.leading_zeros());
        if tens > 0 {
            value /= 10u128.pow(tens);
            power += tens as i32;
        }
        // Most are short, and shorter numbers take less time.
        u64::try_from(value).map_or_else(|_| value.to_string(), |short| short.to_string())
    } else {
        let mut value = BigUint::from(significand);
        if exponent < 0 {
            value *= BigUint::from(5u8).pow(exponent.unsigned_abs());
        } else {
            value <<= exponent as u64;
        }
        let tens = removable(value.bits() as u32);
        value /= BigUint::from(10u8).pow(tens);
        power += tens as i32;
        value.to_string()
    };
    let mut digits = text.into_bytes();
    while digits.len() > 1 && digits.last() == Some(&b'0') {
        digits.pop();
        power += 1;
    }
    (digits, power)
}

/// Rounds to a number of digits, halves up, and drops zeros at the end.
fn round_digits(digits: &mut Vec<u8>, power: &mut i32, wanted: usize) {
    if digits.len() <= wanted {
        return;
    }
    *power += (digits.len() - wanted) as i32;
    let up = digits[wanted] >= b'5';
    digits.truncate(wanted);
    if up {
        while digits.last() == Some(&b'9') {
            digits.pop();
            *power += 1;
        }
        match digits.last_mut() {
            Some(last) => *last += 1,
            None => digits.push(b'1'),
        }
    } else {
        while digits.len() > 1 && digits.last() == Some(&b'0') {
            digits.pop();
            *power += 1;
        }
    }
}
