//! [`Var`] and [`Affine`]: expressions to build constraints from.

use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};

use crate::int::Int;

/// A variable of a [`Conjunction`](crate::Conjunction): a parameter, a dimension, or an existential
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

impl Var {
    /// The variable's position.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An affine expression `c + Σ aᵢ·xᵢ` with integers of any size.
///
/// ```
/// use loomir_polyhedra::{Affine, Var};
/// let (i, n) = (Var(0), Var(1));
/// let bound = Affine::from(n) * 2 - i - 1;
/// assert_eq!(bound.to_string(), "-1 - x0 + 2x1");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Affine {
    constant: Int,
    /// Sorted by variable; no coefficient is zero.
    terms: Vec<(Var, Int)>,
}

impl Affine {
    /// A constant expression.
    pub fn constant(value: impl Into<Int>) -> Affine {
        Affine { constant: value.into(), terms: Vec::new() }
    }

    /// The constant part.
    pub fn constant_term(&self) -> &Int {
        &self.constant
    }

    /// The variables and their coefficients, by variable; none is zero.
    pub fn terms(&self) -> &[(Var, Int)] {
        &self.terms
    }

    /// The coefficient of a variable.
    pub fn coefficient(&self, var: Var) -> Int {
        self.terms.iter().find(|(v, _)| *v == var).map_or(Int::ZERO, |(_, value)| value.clone())
    }

    /// True if no variable occurs.
    pub fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }

    /// `self + factor · other`.
    pub fn add_scaled(&self, other: &Affine, factor: &Int) -> Affine {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let (var, value) = match (a.peek(), b.peek()) {
                (Some((v, x)), Some((w, y))) if v == w => {
                    let sum = x + &(y * factor);
                    let var = *v;
                    a.next();
                    b.next();
                    (var, sum)
                }
                (Some((v, x)), other) if other.is_none_or(|(w, _)| v < w) => {
                    let item = (*v, x.clone());
                    a.next();
                    item
                }
                (_, Some((w, y))) => {
                    let item = (*w, y * factor);
                    b.next();
                    item
                }
                _ => break,
            };
            if !value.is_zero() {
                terms.push((var, value));
            }
        }
        Affine { constant: &self.constant + &(&other.constant * factor), terms }
    }

    /// The expression with every variable replaced.
    pub fn map_vars(&self, mut map: impl FnMut(Var) -> Var) -> Affine {
        let mut out = Affine::constant(self.constant.clone());
        for (var, value) in &self.terms {
            out = out.add_scaled(&Affine::from(map(*var)), value);
        }
        out
    }
}

impl From<Var> for Affine {
    fn from(var: Var) -> Affine {
        Affine { constant: Int::ZERO, terms: vec![(var, Int::ONE)] }
    }
}

impl From<i64> for Affine {
    fn from(value: i64) -> Affine {
        Affine::constant(value)
    }
}

impl From<Int> for Affine {
    fn from(value: Int) -> Affine {
        Affine::constant(value)
    }
}

impl From<&Affine> for Affine {
    fn from(affine: &Affine) -> Affine {
        affine.clone()
    }
}

macro_rules! affine_ops {
    ($($ty:ty),*) => { $(
        impl<A: Into<Affine>> Add<A> for $ty {
            type Output = Affine;
            fn add(self, other: A) -> Affine {
                Affine::from(self).add_scaled(&other.into(), &Int::ONE)
            }
        }
        impl<A: Into<Affine>> Sub<A> for $ty {
            type Output = Affine;
            fn sub(self, other: A) -> Affine {
                Affine::from(self).add_scaled(&other.into(), &Int::from(-1i64))
            }
        }
        impl Mul<i64> for $ty {
            type Output = Affine;
            fn mul(self, factor: i64) -> Affine {
                Affine::default().add_scaled(&Affine::from(self), &Int::from(factor))
            }
        }
        impl Mul<&Int> for $ty {
            type Output = Affine;
            fn mul(self, factor: &Int) -> Affine {
                Affine::default().add_scaled(&Affine::from(self), factor)
            }
        }
        impl Neg for $ty {
            type Output = Affine;
            fn neg(self) -> Affine {
                self * -1
            }
        }
    )* };
}
affine_ops!(Affine, &Affine, Var);

impl fmt::Display for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        if !self.constant.is_zero() || self.terms.is_empty() {
            write!(f, "{}", self.constant)?;
            first = false;
        }
        for (var, value) in &self.terms {
            let size = value.abs();
            match (first, value.signum() < 0) {
                (true, true) => write!(f, "-")?,
                (true, false) => {}
                (false, true) => write!(f, " - ")?,
                (false, false) => write!(f, " + ")?,
            }
            if size != 1 {
                write!(f, "{size}")?;
            }
            write!(f, "x{}", var.0)?;
            first = false;
        }
        Ok(())
    }
}
