//! Sums of products of levels and parameters, exact over ℤ: an address before it is split into
//! subscripts.
//!
//! An [`AffineForm`] has no product of a level with a parameter. `i·m + j` has one until `i` and
//! `j` are subscripts of their own. In between it is a polynomial.

use std::cmp::Ordering;

use loomir_transforms::affine::{AffineForm, Atom, MAX_TERMS};

/// Most factors of a product.
const MAX_FACTORS: usize = 5;

/// Factors in the order of [`Atom::order`]: levels before parameters. None is a
/// [product](Atom::Product).
pub(super) type Monomial = Vec<Atom>;

/// `Σ coefficient · monomial`, monomials in order, no coefficient zero.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Polynomial {
    terms: Vec<(Monomial, i64)>,
}

fn order(a: &[Atom], b: &[Atom]) -> Ordering {
    let lengths = a.len().cmp(&b.len());
    a.iter().zip(b).map(|(x, y)| x.order(y)).fold(lengths, Ordering::then)
}

impl Polynomial {
    pub(super) fn constant(value: i64) -> Polynomial {
        Polynomial { terms: if value == 0 { Vec::new() } else { vec![(Vec::new(), value)] } }
    }

    pub(super) fn atom(atom: Atom) -> Polynomial {
        Polynomial { terms: vec![(vec![atom], 1)] }
    }

    pub(super) fn of(form: &AffineForm) -> Option<Polynomial> {
        form.terms().iter().try_fold(
            Polynomial::constant(form.constant_part()),
            |sum, (atom, coefficient)| {
                let monomial = match atom {
                    Atom::Product(values) => values.iter().map(|value| Atom::Param(*value)).collect(),
                    atom => vec![atom.clone()],
                };
                sum.plus(&Polynomial { terms: vec![(monomial, *coefficient)] }, 1)
            },
        )
    }

    pub(super) fn terms(&self) -> &[(Monomial, i64)] {
        &self.terms
    }

    /// `self + factor · other`; `None` if a coefficient leaves 64 bits or there are too many terms.
    pub(super) fn plus(&self, other: &Polynomial, factor: i64) -> Option<Polynomial> {
        let mut sum = self.clone();
        for (monomial, coefficient) in &other.terms {
            sum.add(monomial, coefficient.checked_mul(factor)?)?;
        }
        (sum.terms.len() <= MAX_TERMS).then_some(sum)
    }

    fn add(&mut self, monomial: &[Atom], coefficient: i64) -> Option<()> {
        if coefficient == 0 {
            return Some(());
        }
        match self.terms.binary_search_by(|(own, _)| order(own, monomial)) {
            Ok(at) => {
                let sum = self.terms[at].1.checked_add(coefficient)?;
                if sum == 0 {
                    self.terms.remove(at);
                } else {
                    self.terms[at].1 = sum;
                }
            }
            Err(at) => self.terms.insert(at, (monomial.to_vec(), coefficient)),
        }
        Some(())
    }

    /// `factor · self`.
    pub(super) fn times(&self, factor: i64) -> Option<Polynomial> {
        Polynomial::default().plus(self, factor)
    }

    /// `self · other`; `None` too if there are too many factors.
    pub(super) fn product(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut product = Polynomial::default();
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                let mut monomial = [&a[..], &b[..]].concat();
                if monomial.len() > MAX_FACTORS {
                    return None;
                }
                monomial.sort_by(Atom::order);
                product.add(&monomial, x.checked_mul(*y)?)?;
            }
        }
        (product.terms.len() <= MAX_TERMS).then_some(product)
    }

    /// Returns the form, if no monomial is a product with a level or a quotient.
    pub(super) fn to_form(&self) -> Option<AffineForm> {
        self.terms.iter().try_fold(AffineForm::default(), |sum, (monomial, coefficient)| {
            let mut factors = monomial.iter().cloned();
            let term = match factors.next() {
                None => AffineForm::constant(1),
                Some(first) => factors.try_fold(AffineForm::atom(first), |product, factor| {
                    product.product(&AffineForm::atom(factor))
                })?,
            };
            sum.plus(&term, *coefficient)
        })
    }

    /// Returns the quotient and the remainder by `coefficient · factors`. The quotient takes the
    /// terms that are multiples of it.
    pub(super) fn divided(&self, coefficient: i64, factors: &[Atom]) -> (Polynomial, Polynomial) {
        let (mut quotient, mut rest) = (Polynomial::default(), Polynomial::default());
        for (monomial, own) in &self.terms {
            match without(monomial, factors).filter(|_| own % coefficient == 0) {
                Some(left) => quotient.terms.push((left, own / coefficient)),
                None => rest.terms.push((monomial.clone(), *own)),
            }
        }
        quotient.terms.sort_by(|(a, _), (b, _)| order(a, b));
        (quotient, rest)
    }
}

/// Returns a product without some of its factors, if it has them.
pub(super) fn without(monomial: &[Atom], factors: &[Atom]) -> Option<Monomial> {
    let mut left = monomial.to_vec();
    for factor in factors {
        left.remove(left.iter().position(|own| own == factor)?);
    }
    Some(left)
}
