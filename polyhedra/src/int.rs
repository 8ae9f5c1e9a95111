//! [`Int`]: an integer of any size that costs an `i64` while it fits one.
//!
//! Points, counts, and the coefficients of expressions are `Int`s. The value is canonical: `Big`
//! holds only what does not fit an `i64`, so equality and hashing are structural. Sums and products
//! of small values are one checked machine operation; only an overflow allocates.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use num_bigint::{BigInt, Sign};

/// An integer of unlimited size, an `i64` inside while it fits.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Int(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64),
    Big(Box<BigInt>),
}

impl Int {
    /// Zero.
    pub const ZERO: Int = Int(Repr::Small(0));
    /// One.
    pub const ONE: Int = Int(Repr::Small(1));

    /// The value as an `i64`, if it fits.
    #[inline]
    pub fn to_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Small(value) => Some(value),
            Repr::Big(_) => None,
        }
    }

    /// The value as an `i128`, if it fits.
    pub fn to_i128(&self) -> Option<i128> {
        match &self.0 {
            Repr::Small(value) => Some((*value).into()),
            Repr::Big(value) => i128::try_from(value.as_ref()).ok(),
        }
    }

    /// The value as a big integer of `num-bigint`.
    pub fn to_big(&self) -> BigInt {
        match &self.0 {
            Repr::Small(value) => BigInt::from(*value),
            Repr::Big(value) => (**value).clone(),
        }
    }

    /// −1, 0 or 1.
    #[inline]
    pub fn signum(&self) -> i32 {
        match &self.0 {
            Repr::Small(value) => value.signum() as i32,
            Repr::Big(value) => match value.sign() {
                Sign::Minus => -1,
                Sign::NoSign => 0,
                Sign::Plus => 1,
            },
        }
    }

    /// Number of 64-bit words the value takes.
    pub(crate) fn words(&self) -> usize {
        match &self.0 {
            Repr::Small(_) => 1,
            Repr::Big(value) => value.bits() as usize / 64 + 1,
        }
    }

    /// True if this is zero.
    #[inline]
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Repr::Small(0))
    }

    /// The absolute value.
    pub fn abs(&self) -> Int {
        if self.signum() < 0 { -self } else { self.clone() }
    }

    /// Quotient rounded down; a divisor of zero yields zero.
    pub fn div_floor(&self, divisor: &Int) -> Int {
        if divisor.is_zero() {
            return Int::ZERO;
        }
        if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &divisor.0)
            && let Some(quotient) = a.checked_div(*b)
        {
            let inexact = a % b != 0 && (a ^ b) < 0;
            return Int(Repr::Small(quotient - i64::from(inexact)));
        }
        let (a, b) = (self.to_big(), divisor.to_big());
        let (quotient, rest) = (&a / &b, &a % &b);
        let inexact = rest.sign() != Sign::NoSign && rest.sign() != b.sign();
        Int::from(if inexact { quotient - 1 } else { quotient })
    }

    /// Remainder of [`Int::div_floor`]: of the divisor's sign, so never negative for a positive
    /// divisor.
    pub fn rem_floor(&self, divisor: &Int) -> Int {
        self - &(&self.div_floor(divisor) * divisor)
    }

    /// Greatest common divisor, not negative.
    pub fn gcd(&self, other: &Int) -> Int {
        let (mut a, mut b) = (self.abs(), other.abs());
        while !b.is_zero() {
            let rest = a.rem_floor(&b);
            a = b;
            b = rest;
        }
        a
    }

    /// Reads a decimal number with an optional sign.
    pub fn parse(text: &str) -> Option<Int> {
        match text.parse::<i64>() {
            Ok(value) => Some(Int::from(value)),
            Err(_) => BigInt::parse_bytes(text.as_bytes(), 10).map(Int::from),
        }
    }
}

impl Default for Int {
    fn default() -> Int {
        Int::ZERO
    }
}

impl From<i64> for Int {
    #[inline]
    fn from(value: i64) -> Int {
        Int(Repr::Small(value))
    }
}

impl From<i32> for Int {
    #[inline]
    fn from(value: i32) -> Int {
        Int(Repr::Small(value.into()))
    }
}

impl From<i128> for Int {
    fn from(value: i128) -> Int {
        match i64::try_from(value) {
            Ok(small) => Int::from(small),
            Err(_) => Int(Repr::Big(Box::new(BigInt::from(value)))),
        }
    }
}

impl From<BigInt> for Int {
    fn from(value: BigInt) -> Int {
        match i64::try_from(&value) {
            Ok(small) => Int::from(small),
            Err(_) => Int(Repr::Big(Box::new(value))),
        }
    }
}

macro_rules! binary {
    ($op:ident, $method:ident, $checked:ident) => {
        impl $op<&Int> for &Int {
            type Output = Int;
            #[inline]
            fn $method(self, other: &Int) -> Int {
                if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &other.0)
                    && let Some(value) = a.$checked(*b)
                {
                    return Int(Repr::Small(value));
                }
                Int::from(self.to_big().$method(other.to_big()))
            }
        }
        impl $op for Int {
            type Output = Int;
            #[inline]
            fn $method(self, other: Int) -> Int {
                (&self).$method(&other)
            }
        }
    };
}
binary!(Add, add, checked_add);
binary!(Sub, sub, checked_sub);
binary!(Mul, mul, checked_mul);

impl AddAssign<&Int> for Int {
    fn add_assign(&mut self, other: &Int) {
        *self = &*self + other;
    }
}

impl Neg for &Int {
    type Output = Int;
    fn neg(self) -> Int {
        &Int::ZERO - self
    }
}

impl Neg for Int {
    type Output = Int;
    fn neg(self) -> Int {
        -&self
    }
}

impl Ord for Int {
    fn cmp(&self, other: &Int) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small(a), Repr::Small(b)) => a.cmp(b),
            _ => self.to_big().cmp(&other.to_big()),
        }
    }
}

impl PartialOrd for Int {
    fn partial_cmp(&self, other: &Int) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq<i64> for Int {
    fn eq(&self, other: &i64) -> bool {
        self.to_i64() == Some(*other)
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(value) => fmt::Display::fmt(value, f),
            Repr::Big(value) => fmt::Display::fmt(value, f),
        }
    }
}

impl fmt::Debug for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
