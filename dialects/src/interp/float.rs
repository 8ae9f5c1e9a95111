//! Floating-point arithmetic in `f16`, `bf16`, `f32` and `f64`, rounded once, to nearest even.
//!
//! Operations compute in `f64` and round to the format. For sum, difference, product, quotient and
//! square root of the narrower formats this equals rounding once, because 53 bits are at least
//! twice theirs plus two. Remainders are exact. For fused multiply-add and integers the two would
//! differ, so the intermediate is *rounded to odd*; then only the second rounding counts. Functions
//! of the mathematical library are the host's.

use loomir_ir::{FloatKind, Type, TypeKind};

use super::datum::Cause;
use super::fault::Fault;
use super::integer::{Computed, Trouble, signed};

/// A format: the conversion between bits and numbers.
pub trait Format: Copy + 'static {
    /// Returns the number.
    fn read(bits: u128) -> f64;
    /// Returns the nearest bits.
    fn write(value: f64) -> u128;
    /// `a * b + c`, rounded once.
    fn fma(a: u128, b: u128, c: u128) -> u128 {
        Self::write(fma_to_odd(Self::read(a), Self::read(b), Self::read(c)))
    }
    /// Returns the number times a power of two, rounded once. The power is at most ten thousand in
    /// magnitude.
    fn scale(bits: u128, power: i32) -> u128 {
        // Exact in the wider format for all narrower formats.
        Self::write(Self::read(bits) * 2f64.powi(power.clamp(-600, 600)))
    }
    /// Computes a function of the host's library in this format, or in the next wider one.
    fn library(function: Library, bits: u128) -> u128 {
        Self::write(f64::from((function.single)(Self::read(bits) as f32)))
    }
    /// Likewise for two operands.
    fn library2(function: Library2, a: u128, b: u128) -> u128 {
        Self::write(f64::from((function.single)(Self::read(a) as f32, Self::read(b) as f32)))
    }
}

/// A function of one operand.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// In `f32`.
    pub single: fn(f32) -> f32,
    /// In `f64`.
    pub double: fn(f64) -> f64,
}

/// A function of two operands.
#[derive(Clone, Copy, Debug)]
pub struct Library2 {
    /// In `f32`.
    pub single: fn(f32, f32) -> f32,
    /// In `f64`.
    pub double: fn(f64, f64) -> f64,
}

/// `f16`.
#[derive(Clone, Copy, Debug)]
pub struct Half;
/// `bf16`.
#[derive(Clone, Copy, Debug)]
pub struct Brain;
/// `f32`.
#[derive(Clone, Copy, Debug)]
pub struct Single;
/// `f64`.
#[derive(Clone, Copy, Debug)]
pub struct Double;

impl Format for Half {
    fn read(bits: u128) -> f64 {
        widen(bits as u64, 10, 5)
    }
    fn write(value: f64) -> u128 {
        narrow(value, 10, 5).into()
    }
}

impl Format for Brain {
    fn read(bits: u128) -> f64 {
        f32::from_bits((bits as u32) << 16).into()
    }
    fn write(value: f64) -> u128 {
        narrow(value, 7, 8).into()
    }
}

impl Format for Single {
    #[inline]
    fn read(bits: u128) -> f64 {
        f32::from_bits(bits as u32).into()
    }
    #[inline]
    fn write(value: f64) -> u128 {
        (value as f32).to_bits().into()
    }
    fn fma(a: u128, b: u128, c: u128) -> u128 {
        let [a, b, c] = [a, b, c].map(|x| f32::from_bits(x as u32));
        a.mul_add(b, c).to_bits().into()
    }
}

impl Format for Double {
    #[inline]
    fn read(bits: u128) -> f64 {
        f64::from_bits(bits as u64)
    }
    #[inline]
    fn write(value: f64) -> u128 {
        value.to_bits().into()
    }
    fn fma(a: u128, b: u128, c: u128) -> u128 {
        let [a, b, c] = [a, b, c].map(|x| f64::from_bits(x as u64));
        a.mul_add(b, c).to_bits().into()
    }
    fn scale(bits: u128, power: i32) -> u128 {
        // Scales in steps of representable powers. Downward steps stay 53 bits above the range
        // where bits are lost, until the last.
        let (mut value, mut left) = (f64::from_bits(bits as u64), power);
        for _ in 0..2 {
            let step = left.clamp(53 - 1022, 1023);
            if (-1022..=1023).contains(&left) {
                break;
            }
            value *= 2f64.powi(step);
            left -= step;
        }
        Self::write(value * 2f64.powi(left.clamp(-1022, 1023)))
    }
    fn library(function: Library, bits: u128) -> u128 {
        (function.double)(f64::from_bits(bits as u64)).to_bits().into()
    }
    fn library2(function: Library2, a: u128, b: u128) -> u128 {
        (function.double)(f64::from_bits(a as u64), f64::from_bits(b as u64)).to_bits().into()
    }
}

/// Runs `$body` with `$format` standing for the [`Format`] of a type. Returns a fault if there is
/// none.
macro_rules! with_format {
    ($ctx:expr, $ty:expr, $format:ident => $body:expr) => {{
        use $crate::interp::float::{Brain, Double, Half, Single, format_kind};
        match format_kind($ctx, $ty)? {
            loomir_ir::FloatKind::F16 => {
                type $format = Half;
                $body
            }
            loomir_ir::FloatKind::BF16 => {
                type $format = Brain;
                $body
            }
            loomir_ir::FloatKind::F32 => {
                type $format = Single;
                $body
            }
            _ => {
                type $format = Double;
                $body
            }
        }
    }};
}
pub(crate) use with_format;

/// Returns the format of a scalar type, one of the four supported ones.
pub(crate) fn format_kind(ctx: &loomir_ir::Context, ty: Type) -> Result<FloatKind, Box<Fault>> {
    match ty.kind(ctx) {
        TypeKind::Float(kind @ (FloatKind::F16 | FloatKind::BF16 | FloatKind::F32 | FloatKind::F64)) => {
            Ok(*kind)
        }
        TypeKind::Float(kind) => {
            Err(Fault::unsupported(format!("arithmetic in {} is not known", kind.name())))
        }
        _ => Err(Fault::unsupported("floating-point arithmetic on something that is no float")),
    }
}

/// Promises about operands and results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FastMath {
    /// No NaN.
    pub no_nans: bool,
    /// No infinity.
    pub no_infinities: bool,
}

impl FastMath {
    /// Returns the bits, if the promises hold for all these numbers.
    #[inline]
    pub fn check(self, numbers: &[f64], bits: u128) -> Computed {
        if self.no_nans && numbers.iter().any(|x| x.is_nan()) {
            return Err(Trouble::Poison(Cause::NotANumber));
        }
        if self.no_infinities && numbers.iter().any(|x| x.is_infinite()) {
            return Err(Trouble::Poison(Cause::Infinite));
        }
        Ok(bits)
    }
}

/// IEEE 754 maximum: NaN if either is, and -0 below +0.
pub fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    if a == b { if a.is_sign_positive() { a } else { b } } else { a.max(b) }
}

/// IEEE 754 minimum: NaN if either is, and -0 below +0.
pub fn minimum(a: f64, b: f64) -> f64 {
    -maximum(-a, -b)
}

/// Returns the larger number. A number prevails over NaN. Of zeros with both signs, +0 is returned,
/// although either is allowed.
pub fn maxnum(a: f64, b: f64) -> f64 {
    if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else {
        maximum(a, b)
    }
}

/// Returns the smaller number. A number prevails over NaN. Of zeros with both signs, -0 is
/// returned, although either is allowed.
pub fn minnum(a: f64, b: f64) -> f64 {
    if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else {
        minimum(a, b)
    }
}

/// True if a predicate holds for two floats. Predicates are numbered as in `arith.cmpf` and
/// `llvm.fcmp`.
pub fn compare(predicate: u64, a: f64, b: f64) -> bool {
    // The accepted outcomes as a set: equal, greater, less, unordered.
    let accepted = match predicate {
        ordered @ 0..=7 => ordered,
        unordered @ 8..=13 => unordered + 1,
        14 => 8,
        _ => 15,
    };
    let bit = if a == b {
        0
    } else if a > b {
        1
    } else if a < b {
        2
    } else {
        3
    };
    accepted >> bit & 1 != 0
}

/// Rounds a float towards zero to an integer of `width` bits. The result is poison if it does not
/// fit.
pub fn to_integer(width: u32, is_signed: bool, value: f64) -> Computed {
    let whole = value.trunc();
    let limit = 2f64.powi(width as i32 - i32::from(is_signed));
    let fits = if is_signed { whole >= -limit && whole < limit } else { whole >= 0.0 && whole < limit };
    if !fits {
        return Err(Trouble::Poison(Cause::FloatToInteger));
    }
    Ok(if is_signed { whole as i128 as u128 } else { whole as u128 })
}

/// Returns the float nearest to an integer of `width` bits.
pub fn from_integer<F: Format>(width: u32, is_signed: bool, bits: u128) -> u128 {
    let (negative, magnitude) = if is_signed {
        let value = signed(width, bits);
        (value < 0, value.unsigned_abs())
    } else {
        (false, bits)
    };
    let value = if F::write(1.0) == Double::write(1.0) {
        magnitude as f64
    } else {
        // Round to odd: 53 bits, the last of which is set if any dropped bit is set.
        let excess = (128 - magnitude.leading_zeros()).saturating_sub(53);
        let kept = magnitude >> excess;
        let sticky = u128::from(kept << excess != magnitude);
        (kept | sticky) as f64 * 2f64.powi(excess as i32)
    };
    F::write(if negative { -value } else { value })
}

/// `a * b + c` of operands whose product is exact, rounded to odd.
fn fma_to_odd(a: f64, b: f64, c: f64) -> f64 {
    let product = a * b;
    let sum = product + c;
    if !sum.is_finite() {
        return sum;
    }
    // What rounding lost, exactly.
    let other = sum - product;
    let error = (product - (sum - other)) + (c - other);
    if error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    if error > 0.0 { sum.next_up() } else { sum.next_down() }
}

/// Converts a number from a narrower format.
fn widen(bits: u64, mantissa: u32, exponent: u32) -> f64 {
    let negative = bits >> (mantissa + exponent) & 1 != 0;
    let field = bits >> mantissa & ((1 << exponent) - 1);
    let fraction = bits & ((1 << mantissa) - 1);
    let minimum = 2 - (1 << (exponent - 1));
    let value = if field == (1 << exponent) - 1 {
        if fraction == 0 {
            f64::INFINITY
        } else {
            return f64::from_bits(u64::from(negative) << 63 | 0x7ff << 52 | fraction << (52 - mantissa));
        }
    } else if field == 0 {
        fraction as f64 * 2f64.powi(minimum - mantissa as i32)
    } else {
        (fraction | 1 << mantissa) as f64 * 2f64.powi(field as i32 - 1 + minimum - mantissa as i32)
    };
    if negative { -value } else { value }
}

/// Returns the nearest number of a narrower format, ties to even.
fn narrow(value: f64, mantissa: u32, exponent: u32) -> u32 {
    let bits = value.to_bits();
    let sign = ((bits >> 63) as u32) << (mantissa + exponent);
    let infinity = ((1u32 << exponent) - 1) << mantissa;
    if value.is_nan() {
        let payload = (bits >> (52 - mantissa)) as u32 & ((1 << mantissa) - 1);
        return sign | infinity | 1 << (mantissa - 1) | payload;
    }
    if value.is_infinite() {
        return sign | infinity;
    }
    let minimum = 2 - (1i32 << (exponent - 1));
    let power = (bits >> 52 & 0x7ff) as i32 - 1023;
    let shift = 52 - mantissa as i32 + (minimum - power).max(0);
    if power == -1023 || shift > 54 {
        return sign;
    }
    let significand = bits & ((1 << 52) - 1) | 1 << 52;
    let kept = significand >> shift;
    let rest = significand & ((1 << shift) - 1);
    let half = 1u64 << (shift - 1);
    let rounded = kept + u64::from(rest > half || (rest == half && kept & 1 == 1));
    let scaled = (((power - minimum).max(0) as u64) << mantissa) + rounded;
    sign | (scaled.min(infinity.into()) as u32)
}
