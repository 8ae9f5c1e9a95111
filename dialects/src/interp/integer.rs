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
