//! Numbers: integers of any width, and floats of each format, as LLVM writes them.

use loomir_dialects::interp::float::{Brain, Format, Half};
use loomir_ir::{Attr, AttrKind, Context, FloatKind, Type};

/// The maximal number of decimal digits. Reading them has quadratic cost.
const MAX_DIGITS: usize = 20_000;

/// Returns the integer of a type written as `-12`, `u0x1F` or `s0x1F`, wrapped to its width. `None`
/// if `ty` is no integer type, or the number is too long.
pub(super) fn integer(ctx: &Context, ty: Type, text: &str) -> Option<Attr> {
    let width = ty.integer_width(ctx)?;
    if let (true, Ok(value)) = (width <= 128, text.parse::<i128>()) {
        return Some(ctx.int_attr(ty, value));
    }
    let (mut bytes, negative) = match (text.strip_prefix("u0x"), text.strip_prefix("s0x")) {
        (Some(digits), _) => (hexadecimal(digits)?, false),
        // The highest set bit is the sign: the number is its difference to the next power of two.
        (_, Some(digits)) => {
            let mut bytes = hexadecimal(digits)?;
            if let Some(last) = bytes.last_mut() {
                *last |= 0xffu8.checked_shl(8 - last.leading_zeros()).unwrap_or(0);
            }
            let is_negative = !bytes.is_empty();
            return Some(wrapped(ctx, ty, width, bytes, if is_negative { 0xff } else { 0 }));
        }
        _ => (decimal(text.trim_start_matches('-'))?, text.starts_with('-')),
    };
    let size = (width.div_ceil(8) as usize).max(16);
    bytes.resize(size.max(bytes.len()), 0);
    if negative {
        // The two's complement.
        let mut carry = true;
        for byte in &mut bytes {
            (*byte, carry) = (!*byte).overflowing_add(u8::from(carry));
        }
    }
    Some(wrapped(ctx, ty, width, bytes, if negative { 0xff } else { 0 }))
}

/// Returns an integer with these bytes, least significant first. Further bytes are `fill`.
fn wrapped(ctx: &Context, ty: Type, width: u32, mut bytes: Vec<u8>, fill: u8) -> Attr {
    let size = width.div_ceil(8) as usize;
    bytes.resize(size.max(16), fill);
    if width <= 128 {
        let mut low = [0; 16];
        low.copy_from_slice(&bytes[..16]);
        return ctx.int_attr(ty, i128::from_le_bytes(low));
    }
    let unused = size as u32 * 8 - width;
    bytes[size - 1] = ((bytes[size - 1] << unused).cast_signed() >> unused).cast_unsigned();
    ctx.attr(AttrKind::WideInteger { bytes: bytes.into(), ty })
}

/// Returns the bytes of hexadecimal digits, least significant first, without zeros at the end.
fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(digits.len() / 2 + 1);
    for (i, digit) in digits.bytes().rev().enumerate() {
        let digit = (digit as char).to_digit(16)? as u8;
        match bytes.last_mut() {
            Some(byte) if i % 2 == 1 => *byte |= digit << 4,
            _ => bytes.push(digit),
        }
    }
    bytes.truncate(bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1));
    Some(bytes)
}

/// Returns the bytes of decimal digits, least significant first.
fn decimal(digits: &str) -> Option<Vec<u8>> {
    if digits.len() > MAX_DIGITS {
        return None;
    }
    let mut limbs: Vec<u64> = Vec::new();
    for chunk in digits.as_bytes().chunks(18) {
        let mut carry = std::str::from_utf8(chunk).ok()?.parse::<u128>().ok()?;
        for limb in &mut limbs {
            carry += u128::from(*limb) * 10u128.pow(chunk.len() as u32);
            *limb = carry as u64;
            carry >>= 64;
        }
        if carry != 0 {
            limbs.push(carry as u64);
        }
    }
    Some(limbs.into_iter().flat_map(u64::to_le_bytes).collect())
}

/// Returns the bits of a float in LLVM's syntax. Formats up to `double` are decimal or the bits of
/// a `double`. Other and narrow formats are their own bits.
pub(super) fn float_bits(text: &str, kind: FloatKind) -> Option<u128> {
    let own = match kind {
        FloatKind::F16 => Some('H'),
        FloatKind::BF16 => Some('R'),
        FloatKind::F80 => Some('K'),
        FloatKind::F128 => Some('L'),
        _ => None,
    };
    let hex = text.strip_prefix("0x");
    if let Some(digits) = hex.and_then(|digits| digits.strip_prefix(own?)) {
        let value = u128::from_str_radix(digits, 16).ok()?;
        return Some(match kind {
            // The low half is written first.
            FloatKind::F128 => value.rotate_left(64),
            _ => value,
        });
    }
    let double = match hex {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => text.parse::<f64>().ok()?.to_bits(),
    };
    match kind {
        FloatKind::F64 => Some(u128::from(double)),
        FloatKind::F32 => narrow(double).map(u128::from),
        FloatKind::F16 => exactly::<Half>(double),
        FloatKind::BF16 => exactly::<Brain>(double),
        _ => None,
    }
}

/// Returns the bits of the same value in a narrower format. `None` if the value does not fit
/// exactly.
fn exactly<F: Format>(double: u64) -> Option<u128> {
    let bits = F::write(f64::from_bits(double));
    (F::read(bits).to_bits() == double).then_some(bits)
}

/// Returns the bits of the `float` with the same value, keeping the payload of a NaN. `None` if
/// there is none.
fn narrow(double: u64) -> Option<u32> {
    let value = f64::from_bits(double);
    if value.is_nan() {
        let (sign, fraction) = ((double >> 63) as u32, (double >> 29) as u32 & 0x7f_ffff);
        return (double & 0x1fff_ffff == 0 && fraction != 0).then_some(sign << 31 | 0xff << 23 | fraction);
    }
    let float = value as f32;
    (f64::from(float).to_bits() == double).then_some(float.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_to_their_width() {
        let ctx = loomir_dialects::context();
        let shown = |width: u32, text: &str| {
            let attr = integer(&ctx, ctx.int_type(width), text).expect("a number");
            match attr.kind(&ctx) {
                AttrKind::WideInteger { bytes, .. } => format!("{bytes:02x?}"),
                _ => attr.as_int(&ctx).expect("it is small").to_string(),
            }
        };
        assert_eq!(shown(8, "300"), "44");
        assert_eq!(shown(8, "-1"), "-1");
        assert_eq!(shown(16, "u0xFF"), "255");
        assert_eq!(shown(16, "s0xFF"), "-1");
        assert_eq!(shown(16, "s0x05"), "-3");
        assert_eq!(shown(16, "s0x00"), "0");
        let wide = |last: &str| format!("[{}{last}]", "00, ".repeat(16));
        assert_eq!(shown(136, "340282366920938463463374607431768211456"), wide("01"));
        assert_eq!(shown(136, "-340282366920938463463374607431768211456"), wide("ff"));
        assert_eq!(shown(129, "u0x100000000000000000000000000000000"), wide("ff"));
        assert_eq!(shown(136, "u0x0100000000000000000000000000000000"), wide("01"));
        assert!(integer(&ctx, ctx.int_type(64), &"9".repeat(MAX_DIGITS + 1)).is_none());
    }
}
