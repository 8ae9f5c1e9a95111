//! Delinearization of byte offsets: `(i·m + j)·8` becomes `[i][8·j]` of rows of `8·m` bytes if
//! `0 ≤ j` and `j < m`.
//!
//! Sizes are read off the offset: the parameters that multiply a level are the size of all inner
//! dimensions. A digit must be at least zero and, with the bytes of the access, within its size.
//! The integer sets that decide dependences prove this wherever the access happens; without the
//! proof nothing follows.
//!
//! Cost: linear in the terms of the offset; two integer questions a dimension and piece.

use loomir_transforms::affine::facts::Facts;
use loomir_transforms::affine::{AffineForm, Atom};

use super::polynomial::{Monomial, Polynomial, without};
use super::space::follows;

/// Most dimensions.
const MAX_DIMENSIONS: usize = 6;

/// Bytes by their digits.
#[derive(Clone, Debug)]
pub(super) struct Subscripts {
    /// The digits, the highest dimension first. The last counts bytes.
    pub(super) digits: Vec<AffineForm>,
    /// The sizes of all dimensions but the first; the last counts bytes.
    pub(super) sizes: Vec<AffineForm>,
}

/// An access of at most `bytes` bytes behind an offset, in these iterations.
pub(super) struct Place<'p> {
    pub(super) offset: &'p Polynomial,
    pub(super) bytes: &'p AffineForm,
    pub(super) levels: u32,
    pub(super) pieces: &'p [Vec<AffineForm>],
    pub(super) facts: &'p Facts,
}

impl Place<'_> {
    /// Returns the subscripts. An affine offset is one subscript. `None` if the offset is neither
    /// affine nor separable into subscripts.
    pub(super) fn subscripts(&self) -> Option<Subscripts> {
        if let Some(form) = self.offset.to_form() {
            return Some(Subscripts { digits: vec![form], sizes: Vec::new() });
        }
        let sizes = self.sizes()?;
        let (mut digits, mut found) = (Vec::new(), Vec::new());
        let mut rest = self.offset.clone();
        for (at, (coefficient, factors)) in sizes.iter().enumerate() {
            let (higher, digit) = rest.divided(*coefficient, factors);
            let size = factors.iter().try_fold(AffineForm::constant(*coefficient), |size, factor| {
                size.product(&AffineForm::atom(factor.clone()))
            })?;
            let digit = digit.to_form()?;
            let width = if at == 0 { self.bytes.clone() } else { AffineForm::constant(1) };
            if !self.is_proper(&digit, &width, &size) {
                return None;
            }
            digits.push(digit);
            found.push(size);
            rest = higher;
        }
        digits.push(rest.to_form()?);
        digits.reverse();
        found.reverse();
        Some(Subscripts { digits, sizes: found })
    }

    /// Returns the factors of the levels, from the inside. Each is a multiple of the one before,
    /// and is given as the factor between them.
    fn sizes(&self) -> Option<Vec<(i64, Monomial)>> {
        let is_level = |atom: &Atom| !matches!(atom, Atom::Param(_));
        let mut strides: Vec<(Monomial, i64)> = Vec::new();
        for (monomial, coefficient) in self.offset.terms() {
            let factors: Monomial = monomial.iter().filter(|atom| !is_level(atom)).cloned().collect();
            if factors.is_empty() || factors.len() == monomial.len() {
                continue;
            }
            match strides.iter_mut().find(|(known, _)| *known == factors) {
                Some((_, known)) => *known = gcd(*known, *coefficient),
                None => strides.push((factors, coefficient.checked_abs()?)),
            }
        }
        if strides.len() > MAX_DIMENSIONS {
            return None;
        }
        strides.sort_by_key(|(factors, _)| factors.len());
        let unit = strides.iter().fold(0, |all, (_, coefficient)| gcd(all, *coefficient));
        // For dense elements the width is the unit.
        let unit = self.bytes.as_constant().filter(|bytes| *bytes > 0 && unit % bytes == 0).unwrap_or(unit);
        let (mut sizes, mut inner, mut coefficient) = (Vec::new(), Monomial::new(), unit);
        for (factors, _) in strides {
            sizes.push((coefficient, without(&factors, &inner)?));
            (inner, coefficient) = (factors, 1);
        }
        Some(sizes)
    }

    /// True if a digit is at least zero, and the digit plus a width is within a size, whenever the
    /// access happens.
    fn is_proper(&self, digit: &AffineForm, width: &AffineForm, size: &AffineForm) -> bool {
        let left = size.minus(digit).and_then(|left| left.minus(width));
        left.is_some_and(|left| {
            let is_inside = |piece: &Vec<AffineForm>| {
                [digit, &left].into_iter().all(|form| follows(piece, form, self.levels, self.facts))
            };
            self.pieces.iter().all(is_inside)
        })
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}
