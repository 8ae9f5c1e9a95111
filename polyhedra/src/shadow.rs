//! The rational shadow of a conjunction: what its constraints say of some variables alone.
//!
//! Equalities are substituted; of what is left each lower bound of a variable is held against each
//! upper bound (Fourier and Motzkin). Every point of the set satisfies what comes out, which over
//! the integers may be satisfied by further ones. That is enough for whoever asks where there
//! certainly is no point, and it needs no existential variables.
//!
//! **Cost.** Each variable is eliminated once, the one that makes fewest rows first; with more rows
//! than allowed it is given up.

use std::collections::BTreeMap;

use crate::affine::{Affine, Var};
use crate::conjunction::Conjunction;
use crate::int::Int;

/// Expressions that are not negative, or zero.
type Rows = Vec<Affine>;

impl Conjunction {
    /// Expressions over the variables for which `is_kept` holds that are not negative wherever the
    /// set has a point. `None` if there were more than `most` on the way, or numbers beyond 128
    /// bits.
    ///
    /// ```
    /// use loomir_polyhedra::{Conjunction, Var};
    /// // Where is there an i with k <= i < n?
    /// let (k, n, i) = (Var(0), Var(1), Var(2));
    /// let mut set = Conjunction::new(3);
    /// set.add_ge(i, k);
    /// set.add_lt(i, n);
    /// let shadow = set.shadow(|var| var != i, 8).expect("it is small");
    /// assert_eq!(shadow[0].to_string(), "-1 - x0 + x1");
    /// ```
    pub fn shadow(&self, is_kept: impl Fn(Var) -> bool, most: usize) -> Option<Vec<Affine>> {
        let (mut zero, mut natural): (Rows, Rows) =
            (self.equalities().collect(), self.inequalities().collect());
        loop {
            natural = tightest(natural)?;
            if natural.len() > most {
                return None;
            }
            let eliminated =
                |row: &Affine| row.terms().iter().map(|(var, _)| *var).find(|var| !is_kept(*var));
            if let Some((at, var)) =
                zero.iter().enumerate().find_map(|(at, row)| Some((at, eliminated(row)?)))
            {
                let by = zero.swap_remove(at);
                zero.iter_mut().chain(&mut natural).for_each(|row| *row = without(row, &by, var));
                zero.retain(|row| !(row.is_constant() && row.constant_term().is_zero()));
                continue;
            }
            let open =
                natural.iter().flat_map(|row| row.terms()).map(|(var, _)| *var).filter(|var| !is_kept(*var));
            let Some(var) = open.min_by_key(|var| (pairs(&natural, *var), *var)) else { break };
            let (bounds, others): (Rows, Rows) =
                natural.into_iter().partition(|row| !row.coefficient(var).is_zero());
            let (lower, upper): (Rows, Rows) =
                bounds.into_iter().partition(|row| row.coefficient(var).signum() > 0);
            natural = others;
            natural
                .extend(lower.iter().flat_map(|low| upper.iter().map(move |high| without(high, low, var))));
        }
        natural.extend(zero.into_iter().flat_map(|row| [-&row, row]));
        tightest(natural)
    }
}

/// Returns the number of rows that come of eliminating a variable.
fn pairs(rows: &[Affine], var: Var) -> usize {
    let with = |sign: i32| rows.iter().filter(|row| row.coefficient(var).signum() == sign).count();
    with(1) * with(-1)
}

/// A positive multiple of `row` and a multiple of `by`, which has the variable, that has it no
/// more. The second one is positive if the signs differ.
fn without(row: &Affine, by: &Affine, var: Var) -> Affine {
    let (own, other) = (row.coefficient(var), by.coefficient(var));
    let factor = if other.signum() < 0 { own.clone() } else { -own };
    (row * &other.abs()).add_scaled(by, &factor)
}

/// The rows divided by what their coefficients have in common, of those with equal terms the one
/// that says most. `None` if a number has more than 128 bits.
fn tightest(rows: Rows) -> Option<Rows> {
    let mut least: BTreeMap<Vec<(Var, Int)>, Int> = BTreeMap::new();
    let within = |value: Int| value.to_i128().map(|_| value);
    for row in rows {
        let common = row.terms().iter().fold(Int::ZERO, |common, (_, value)| common.gcd(value));
        let divisor = if common.is_zero() { Int::ONE } else { common };
        let terms = row.terms().iter().map(|(var, value)| Some((*var, within(value.div_floor(&divisor))?)));
        let terms: Vec<(Var, Int)> = terms.collect::<Option<_>>()?;
        let constant = within(row.constant_term().div_floor(&divisor))?;
        if terms.is_empty() && constant.signum() >= 0 {
            continue;
        }
        let known = least.entry(terms).or_insert_with(|| constant.clone());
        *known = constant.min(known.clone());
    }
    let row = |(terms, constant): (Vec<(Var, Int)>, Int)| {
        let add = |sum: Affine, (var, value): (Var, Int)| sum.add_scaled(&Affine::from(var), &value);
        terms.into_iter().fold(Affine::constant(constant), add)
    };
    Some(least.into_iter().map(row).collect())
}
