//! The ladder of numbers: every algorithm is written once over [`Scalar`] and run over `i64`, then
//! `i128`, then [`Int`], climbing only when a number does not fit.
//!
//! No operation wraps: each yields [`Stop::Overflow`], the run is dropped, and [`ladder!`] starts
//! it again one rung higher. On the last rung nothing overflows. A question that fits `i64`, as
//! nearly all do, never pays for the rest.

use std::fmt::Debug;
use std::hash::Hash;

use crate::int::Int;
use crate::limits::{Exact, Stop};

/// Exact integers of one rung.
pub(crate) trait Scalar: Clone + Ord + Debug + Hash {
    fn zero() -> Self;
    fn one() -> Self;
    fn from_i64(value: i64) -> Self;
    fn to_i64(&self) -> Option<i64>;
    fn from_int(value: &Int) -> Exact<Self>;
    fn to_int(&self) -> Int;
    fn is_zero(&self) -> bool;
    fn signum(&self) -> i32;
    fn add(&self, other: &Self) -> Exact<Self>;
    fn sub(&self, other: &Self) -> Exact<Self>;
    fn mul(&self, other: &Self) -> Exact<Self>;
    fn neg(&self) -> Exact<Self>;
    /// Quotient rounded down; the divisor is not zero.
    fn div_floor(&self, divisor: &Self) -> Exact<Self>;
    /// Remainder of `div_floor`; the divisor is not zero.
    fn rem_floor(&self, divisor: &Self) -> Self;
    fn gcd(&self, other: &Self) -> Exact<Self>;

    /// `row = row * a + other * b`.
    fn combine(row: &mut [Self], a: &Self, other: &[Self], b: &Self) -> Exact<()> {
        for (x, y) in row.iter_mut().zip(other) {
            *x = x.mul(a)?.add(&y.mul(b)?)?;
        }
        Ok(())
    }

    /// About how many steps an operation on this number is worth.
    fn weight(&self) -> usize;

    /// The steps of one operation on each number of a row.
    fn weights(row: &[Self]) -> usize {
        row.iter().map(Self::weight).sum()
    }

    fn is_one(&self) -> bool {
        *self == Self::one()
    }

    /// True if this is 1 or −1.
    fn is_unit(&self) -> bool {
        self.to_i64().is_some_and(|value| value == 1 || value == -1)
    }

    fn abs(&self) -> Exact<Self> {
        if self.signum() < 0 { self.neg() } else { Ok(self.clone()) }
    }

    /// Quotient rounded up; the divisor is not zero.
    fn div_ceil(&self, divisor: &Self) -> Exact<Self> {
        self.neg()?.div_floor(divisor)?.neg()
    }
}

macro_rules! machine_scalar {
    ($ty:ty, $weight:literal, $from_int:expr) => {
        impl Scalar for $ty {
            #[inline]
            fn weight(&self) -> usize {
                $weight
            }
            #[inline]
            fn weights(row: &[Self]) -> usize {
                $weight * row.len()
            }
            #[inline]
            fn zero() -> Self {
                0
            }
            #[inline]
            fn one() -> Self {
                1
            }
            #[inline]
            fn from_i64(value: i64) -> Self {
                value.into()
            }
            #[inline]
            fn to_i64(&self) -> Option<i64> {
                (*self).try_into().ok()
            }
            #[inline]
            fn from_int(value: &Int) -> Exact<Self> {
                $from_int(value).ok_or(Stop::Overflow)
            }
            fn to_int(&self) -> Int {
                Int::from(*self)
            }
            #[inline]
            fn is_zero(&self) -> bool {
                *self == 0
            }
            #[inline]
            fn signum(&self) -> i32 {
                (*self > 0) as i32 - (*self < 0) as i32
            }
            #[inline]
            fn add(&self, other: &Self) -> Exact<Self> {
                self.checked_add(*other).ok_or(Stop::Overflow)
            }
            #[inline]
            fn sub(&self, other: &Self) -> Exact<Self> {
                self.checked_sub(*other).ok_or(Stop::Overflow)
            }
            #[inline]
            fn mul(&self, other: &Self) -> Exact<Self> {
                self.checked_mul(*other).ok_or(Stop::Overflow)
            }
            #[inline]
            fn neg(&self) -> Exact<Self> {
                self.checked_neg().ok_or(Stop::Overflow)
            }
            #[inline]
            fn div_floor(&self, divisor: &Self) -> Exact<Self> {
                let quotient = self.checked_div(*divisor).ok_or(Stop::Overflow)?;
                let inexact = quotient * divisor != *self && (self ^ divisor) < 0;
                Ok(quotient - inexact as $ty)
            }
            #[inline]
            fn rem_floor(&self, divisor: &Self) -> Self {
                let rest = self.checked_rem(*divisor).unwrap_or(0);
                if rest != 0 && (rest ^ divisor) < 0 { rest + divisor } else { rest }
            }
            #[inline]
            fn gcd(&self, other: &Self) -> Exact<Self> {
                let (mut a, mut b) = (self.unsigned_abs(), other.unsigned_abs());
                if a == 1 || b == 1 {
                    return Ok(1);
                }
                while b != 0 {
                    (a, b) = (b, a % b);
                }
                <$ty>::try_from(a).map_err(|_| Stop::Overflow)
            }
            #[inline]
            fn combine(row: &mut [Self], a: &Self, other: &[Self], b: &Self) -> Exact<()> {
                let mut overflow = false;
                if *a == 1 {
                    for (x, y) in row.iter_mut().zip(other) {
                        let (product, o1) = y.overflowing_mul(*b);
                        let (sum, o2) = x.overflowing_add(product);
                        overflow |= o1 | o2;
                        *x = sum;
                    }
                } else {
                    for (x, y) in row.iter_mut().zip(other) {
                        let (first, o1) = x.overflowing_mul(*a);
                        let (second, o2) = y.overflowing_mul(*b);
                        let (sum, o3) = first.overflowing_add(second);
                        overflow |= o1 | o2 | o3;
                        *x = sum;
                    }
                }
                if overflow { Err(Stop::Overflow) } else { Ok(()) }
            }
            #[inline]
            fn is_unit(&self) -> bool {
                *self == 1 || *self == -1
            }
        }
    };
}
machine_scalar!(i64, 1, |value: &Int| value.to_i64());
machine_scalar!(i128, 4, |value: &Int| value.to_i128());

impl Scalar for Int {
    fn zero() -> Self {
        Int::ZERO
    }
    fn one() -> Self {
        Int::ONE
    }
    fn from_i64(value: i64) -> Self {
        Int::from(value)
    }
    fn to_i64(&self) -> Option<i64> {
        Int::to_i64(self)
    }
    fn from_int(value: &Int) -> Exact<Self> {
        Ok(value.clone())
    }
    fn to_int(&self) -> Int {
        self.clone()
    }
    fn is_zero(&self) -> bool {
        Int::is_zero(self)
    }
    fn signum(&self) -> i32 {
        Int::signum(self)
    }
    fn add(&self, other: &Self) -> Exact<Self> {
        Ok(self + other)
    }
    fn sub(&self, other: &Self) -> Exact<Self> {
        Ok(self - other)
    }
    fn mul(&self, other: &Self) -> Exact<Self> {
        Ok(self * other)
    }
    fn neg(&self) -> Exact<Self> {
        Ok(-self)
    }
    fn div_floor(&self, divisor: &Self) -> Exact<Self> {
        Ok(Int::div_floor(self, divisor))
    }
    fn rem_floor(&self, divisor: &Self) -> Self {
        Int::rem_floor(self, divisor)
    }
    fn gcd(&self, other: &Self) -> Exact<Self> {
        Ok(Int::gcd(self, other))
    }
    fn weight(&self) -> usize {
        let words = self.words();
        if words <= 1 { 8 } else { 64 + words * words }
    }
}

/// Runs `body`, an `Exact<_>`, with `$scalar` standing for `i64`, then `i128`, then [`Int`], until
/// no number overflows; a limit that is reached ends it.
macro_rules! ladder {
    ($scalar:ident => $body:expr) => {{
        use $crate::limits::{Exact, Stop};
        let narrow = {
            type $scalar = i64;
            $body
        };
        let wide = match narrow {
            Err(Stop::Overflow) => {
                type $scalar = i128;
                $body
            }
            other => other,
        };
        let result: Exact<_> = match wide {
            Err(Stop::Overflow) => {
                type $scalar = $crate::int::Int;
                $body
            }
            other => other,
        };
        result
    }};
}
pub(crate) use ladder;
