//! Integer arithmetic of any width to 128 bits, as MLIR and LLVM define it.
//!
//! Pure functions on bits: operands have no bits above the width; results may (the caller cuts them
//! off). Violated wrap flags, shifts by the width or more and inexact results give poison. Division
//! by zero and the one quotient that doesn't fit are undefined behaviour. Exhaustive tests compare
//! them with wide arithmetic at small widths.

use super::datum::Cause;

/// Why there is no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// The result is poison.
    Poison(Cause),
    /// Undefined behaviour, with a description.
    Undefined(&'static str),
}

/// Bits, or the reason why there are none.
pub type Computed = Result<u128, Trouble>;

/// Promises that a result does not wrap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wrap {
    /// Not as a signed number.
    pub signed: bool,
    /// Not as an unsigned number.
    pub unsigned: bool,
}

impl Wrap {
    /// Converts MLIR's flags: bit 0 is `nsw`, bit 1 `nuw`.
    pub fn from_flags(flags: u64) -> Wrap {
        Wrap { signed: flags & 1 != 0, unsigned: flags & 2 != 0 }
    }

    fn check(self, result: u128, signed_wraps: bool, unsigned_wraps: bool) -> Computed {
        if self.signed && signed_wraps {
            return Err(Trouble::Poison(Cause::SignedWrap));
        }
        if self.unsigned && unsigned_wraps {
            return Err(Trouble::Poison(Cause::UnsignedWrap));
        }
        Ok(result)
    }
}

/// Returns all bits below `width`.
#[inline]
pub fn mask(width: u32) -> u128 {
    u128::MAX >> (128 - width.clamp(1, 128))
}

/// Returns the bits read as two's complement.
#[inline]
pub fn signed(width: u32, bits: u128) -> i128 {
    let shift = 128 - width.clamp(1, 128);
    ((bits << shift) as i128) >> shift
}

/// True if a number is in the range of signed integers of this width.
#[inline]
pub fn fits_signed(width: u32, value: i128) -> bool {
    signed(width, value as u128) == value
}

/// Sum.
#[inline]
pub fn add(width: u32, wrap: Wrap, a: u128, b: u128) -> Computed {
    let sum = a.wrapping_add(b) & mask(width);
    let sign = 1 << (width - 1);
    wrap.check(sum, (a ^ sum) & (b ^ sum) & sign != 0, sum < a)
}

/// Difference.
#[inline]
pub fn sub(width: u32, wrap: Wrap, a: u128, b: u128) -> Computed {
    let difference = a.wrapping_sub(b) & mask(width);
    let sign = 1 << (width - 1);
    wrap.check(difference, (a ^ b) & (a ^ difference) & sign != 0, a < b)
}

/// Product.
#[inline]
pub fn mul(width: u32, wrap: Wrap, a: u128, b: u128) -> Computed {
    let product = a.wrapping_mul(b) & mask(width);
    if wrap == Wrap::default() {
        return Ok(product);
    }
    let exact = signed(width, a).checked_mul(signed(width, b));
    let signed_wraps = exact.is_none_or(|p| !fits_signed(width, p));
    wrap.check(product, signed_wraps, a.checked_mul(b).is_none_or(|p| p > mask(width)))
}

/// Shift left.
pub fn shl(width: u32, wrap: Wrap, a: u128, b: u128) -> Computed {
    let amount = shift_amount(width, b)?;
    let result = (a << amount) & mask(width);
    let signed_wraps = signed(width, result) >> amount != signed(width, a);
    wrap.check(result, signed_wraps, result >> amount != a)
}

/// Logical shift right.
pub fn shift_right_unsigned(width: u32, exact: bool, a: u128, b: u128) -> Computed {
    let amount = shift_amount(width, b)?;
    inexact(exact && (a >> amount) << amount != a)?;
    Ok(a >> amount)
}

/// Arithmetic shift right.
pub fn shift_right_signed(width: u32, exact: bool, a: u128, b: u128) -> Computed {
    let amount = shift_amount(width, b)?;
    inexact(exact && (a >> amount) << amount != a)?;
    Ok((signed(width, a) >> amount) as u128)
}

fn shift_amount(width: u32, b: u128) -> Result<u32, Trouble> {
    if b < u128::from(width) { Ok(b as u32) } else { Err(Trouble::Poison(Cause::ShiftTooFar)) }
}

fn inexact(is: bool) -> Result<(), Trouble> {
    if is { Err(Trouble::Poison(Cause::Inexact)) } else { Ok(()) }
}

/// The rounding of a quotient.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// To zero.
    Truncate,
    /// Down.
    Floor,
    /// Up.
    Ceil,
}

/// Unsigned quotient.
pub fn div_unsigned(rounding: Rounding, exact: bool, a: u128, b: u128) -> Computed {
    nonzero(b)?;
    inexact(exact && !a.is_multiple_of(b))?;
    Ok(a / b + u128::from(rounding == Rounding::Ceil && !a.is_multiple_of(b)))
}

/// Signed quotient.
pub fn div_signed(width: u32, rounding: Rounding, exact: bool, a: u128, b: u128) -> Computed {
    let (a, b) = signed_division(width, a, b)?;
    let (quotient, remainder) = (a / b, a % b);
    inexact(exact && remainder != 0)?;
    let adjust = match rounding {
        Rounding::Floor if remainder != 0 && (remainder < 0) != (b < 0) => -1,
        Rounding::Ceil if remainder != 0 && (remainder < 0) == (b < 0) => 1,
        _ => 0,
    };
    Ok((quotient + adjust) as u128)
}

/// Unsigned remainder.
pub fn rem_unsigned(a: u128, b: u128) -> Computed {
    nonzero(b)?;
    Ok(a % b)
}

/// Returns the signed remainder, with the sign of `a`.
pub fn rem_signed(width: u32, a: u128, b: u128) -> Computed {
    let (a, b) = signed_division(width, a, b)?;
    Ok((a % b) as u128)
}

fn nonzero(b: u128) -> Result<(), Trouble> {
    if b == 0 { Err(Trouble::Undefined("division by zero")) } else { Ok(()) }
}

fn signed_division(width: u32, a: u128, b: u128) -> Result<(i128, i128), Trouble> {
    nonzero(b)?;
    if a == 1 << (width - 1) && b == mask(width) {
        return Err(Trouble::Undefined("the quotient of a division overflows"));
    }
    Ok((signed(width, a), signed(width, b)))
}

/// Returns the low and the high half of the product of double width.
pub fn mul_extended(width: u32, is_signed: bool, a: u128, b: u128) -> (u128, u128) {
    // Four partial products of 64-bit halves, of the magnitudes read as unsigned.
    let (low_a, high_a, low_b, high_b) = (a as u64, (a >> 64) as u64, b as u64, (b >> 64) as u64);
    let part = |x: u64, y: u64| u128::from(x) * u128::from(y);
    let cross = part(low_a, high_b);
    let middle = part(high_a, low_b) + (part(low_a, low_b) >> 64) + (cross & u128::from(u64::MAX));
    let low = a.wrapping_mul(b);
    let full_high = part(high_a, high_b) + (middle >> 64) + (cross >> 64);
    let mut high = if width == 128 { full_high } else { (low >> width) | (full_high << (128 - width)) };
    if is_signed {
        if signed(width, a) < 0 {
            high = high.wrapping_sub(b);
        }
        if signed(width, b) < 0 {
            high = high.wrapping_sub(a);
        }
    }
    (low & mask(width), high & mask(width))
}

/// Returns the comparison of integers with a number of `arith.cmpi` and `llvm.icmp`.
pub fn compare(predicate: u64) -> Option<fn(u32, u128, u128) -> bool> {
    Some(match predicate {
        0 => |_, a, b| a == b,
        1 => |_, a, b| a != b,
        2 => |w, a, b| signed(w, a) < signed(w, b),
        3 => |w, a, b| signed(w, a) <= signed(w, b),
        4 => |w, a, b| signed(w, a) > signed(w, b),
        5 => |w, a, b| signed(w, a) >= signed(w, b),
        6 => |_, a, b| a < b,
        7 => |_, a, b| a <= b,
        8 => |_, a, b| a > b,
        9 => |_, a, b| a >= b,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares each function at widths 1 to 5 with arithmetic in a wider type.
    #[test]
    fn small_widths_agree_with_wide_arithmetic() {
        for w in 1..=5u32 {
            for a in 0..1u128 << w {
                for b in 0..1u128 << w {
                    check_pair(w, a, b);
                }
            }
        }
    }

    fn check_pair(w: u32, a: u128, b: u128) {
        let (sa, sb, m) = (signed(w, a), signed(w, b), mask(w));
        let both = Wrap { signed: true, unsigned: true };
        for (result, exact, unsigned, name) in [
            (add(w, both, a, b), sa + sb, a as i128 + b as i128, "add"),
            (sub(w, both, a, b), sa - sb, a as i128 - b as i128, "sub"),
            (mul(w, both, a, b), sa * sb, a as i128 * b as i128, "mul"),
        ] {
            let fits = fits_signed(w, exact) && (0..=m as i128).contains(&unsigned);
            assert_eq!(result.is_ok(), fits, "{name} {w} {a} {b}");
            if let Ok(bits) = result {
                assert_eq!(signed(w, bits), exact, "{name} {w} {a} {b}");
            }
        }
        let none = Wrap::default();
        assert_eq!(add(w, none, a, b), Ok((a + b) & m));
        assert_eq!(sub(w, none, a, b), Ok((sa - sb) as u128 & m));
        assert_eq!(mul(w, none, a, b), Ok((a * b) & m));
        if b < w.into() {
            assert_eq!(shl(w, none, a, b), Ok((a << b) & m));
            assert_eq!(shl(w, both, a, b).is_ok(), fits_signed(w, sa << b) && a << b <= m);
            assert_eq!(shift_right_unsigned(w, false, a, b), Ok(a >> b));
            assert_eq!(shift_right_signed(w, false, a, b).map(|r| signed(w, r)), Ok(sa >> b));
            assert_eq!(shift_right_signed(w, true, a, b).is_ok(), sa % (1 << b) == 0);
        } else {
            assert_eq!(shl(w, none, a, b), Err(Trouble::Poison(Cause::ShiftTooFar)));
            assert_eq!(shift_right_signed(w, false, a, b), Err(Trouble::Poison(Cause::ShiftTooFar)));
        }
        check_division(w, a, b);
        let (low, high) = mul_extended(w, false, a, b);
        assert_eq!((high << w) | low, a * b);
        let (low, high) = mul_extended(w, true, a, b);
        assert_eq!((signed(w, high) << w) | low as i128, sa * sb);
    }

    fn check_division(w: u32, a: u128, b: u128) {
        let (sa, sb) = (signed(w, a), signed(w, b));
        if b == 0 {
            assert!(div_unsigned(Rounding::Truncate, false, a, b).is_err() && rem_unsigned(a, b).is_err());
            assert!(div_signed(w, Rounding::Floor, false, a, b).is_err() && rem_signed(w, a, b).is_err());
            return;
        }
        assert_eq!(div_unsigned(Rounding::Truncate, false, a, b), Ok(a / b));
        assert_eq!(div_unsigned(Rounding::Ceil, false, a, b), Ok(a.div_ceil(b)));
        assert_eq!(rem_unsigned(a, b), Ok(a % b));
        if !fits_signed(w, sa / sb) {
            assert!(matches!(div_signed(w, Rounding::Truncate, false, a, b), Err(Trouble::Undefined(_))));
            assert!(matches!(rem_signed(w, a, b), Err(Trouble::Undefined(_))));
            return;
        }
        let quotient = |r| div_signed(w, r, false, a, b).map(|q| signed(w, q));
        let exact = sa as f64 / sb as f64;
        assert_eq!(quotient(Rounding::Truncate), Ok(sa / sb));
        assert_eq!(quotient(Rounding::Floor), Ok(exact.floor() as i128));
        assert_eq!(quotient(Rounding::Ceil), Ok(exact.ceil() as i128));
        assert_eq!(rem_signed(w, a, b).map(|r| signed(w, r)), Ok(sa % sb));
        assert_eq!(div_signed(w, Rounding::Truncate, true, a, b).is_ok(), sa % sb == 0);
    }

    #[test]
    fn the_widest_integers_work_too() {
        let max = u128::MAX;
        let both = Wrap { signed: true, unsigned: true };
        assert_eq!(add(128, Wrap::default(), max, 1), Ok(0));
        assert_eq!(add(128, both, max, 1), Err(Trouble::Poison(Cause::UnsignedWrap)));
        assert_eq!(mul(128, both, 1 << 100, 1 << 100), Err(Trouble::Poison(Cause::SignedWrap)));
        assert_eq!(mul_extended(128, false, max, max), (1, max - 1));
        assert_eq!(mul_extended(128, true, max, max), (1, 0));
        assert_eq!(mul_extended(64, false, max >> 64, max >> 64), (1, (max >> 64) - 1));
        assert_eq!(mul_extended(64, true, 1 << 63, 1 << 63), (0, 1 << 62));
    }
}
