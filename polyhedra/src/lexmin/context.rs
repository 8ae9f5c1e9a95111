//! The part of parameter space that a node of the search works on, and what is asked of it.
//!
//! A context is *stated* over the parameters and the new ones, the quotients `⌊f/d⌋` that cuts
//! asked for; that is what a piece of the result says. Questions are answered in *coordinates*: the
//! equalities that all integer points of the context satisfy, its affine hull, make the parameters
//! affine functions of as many free integers as the context has dimensions. So a quotient that the
//! equalities make affine is no variable at all, and a remainder that they fix is a number; deep in
//! a search most are, and without this every question would be about dozens of variables that have
//! one value each.
//!
//! Every question about a sign is an integer emptiness test, so contexts are never empty. A few
//! known points answer most of these questions without a solver, and the rows known to be negative
//! throughout are remembered.

use std::collections::BTreeSet;

use crate::hull::implied_equalities;
use crate::limits::{Budget, Exact, Stop};
use crate::rows::{Rows, System, complement, compose, content, evaluate};
use crate::scalar::Scalar;
use crate::solve::lattice::echelon;
use crate::solve::{is_empty_apart, solve_apart, without_equalities};

/// Known points kept, if there are fewer coordinates than that.
const MAX_POINTS: usize = 8;

/// More new parameters than any search that ends has.
const MAX_PARAMS: usize = 4096;

/// The signs a row takes over a context.
pub(super) enum Sign {
    NonNegative,
    Negative,
    Both,
}

/// A part of parameter space; never empty.
#[derive(Clone, Debug)]
pub(super) struct Context<T> {
    /// The constraints that define it, over the parameters and the new ones.
    stated: System<T>,
    /// The same over coordinates.
    ins: Rows<T>,
    /// Each parameter as a row over the coordinates.
    params: Rows<T>,
    /// Some points, in coordinates.
    points: Vec<Vec<T>>,
    /// Rows over the coordinates known to be negative throughout. The context only ever shrinks, so
    /// they stay so.
    impossible: BTreeSet<Vec<T>>,
    quotients: Vec<Quotient<T>>,
    /// True if the context has shrunk since its equalities were looked for.
    shrunk: bool,
    /// Questions about signs that took a solver since then.
    asked: usize,
}

/// A row `f` whose remainder modulo `d` is known.
#[derive(Clone, Debug)]
struct Quotient<T> {
    /// `f` over the coordinates, reduced modulo `d`.
    numerator: Vec<T>,
    divisor: T,
    /// `f − d·⌊f/d⌋` over the parameters; `None` if it is zero throughout.
    remainder: Option<Vec<T>>,
}

impl<T: Scalar> Context<T> {
    /// The context of constraints over the parameters, one point of which is known.
    pub(super) fn new(stated: System<T>, point: &[T], budget: &mut Budget) -> Exact<Context<T>> {
        let mut context = Context {
            ins: stated.ins.clone(),
            params: Rows::identity(stated.vars()),
            points: vec![point.to_vec()],
            impossible: BTreeSet::new(),
            quotients: Vec::new(),
            shrunk: false,
            asked: 0,
            stated,
        };
        let equalities = context.stated.eqs.clone();
        context.eliminate(equalities, budget)?;
        Ok(context)
    }

    /// Number of parameters, the new ones included.
    pub(super) fn params(&self) -> usize {
        self.params.len()
    }

    fn coordinates(&self) -> usize {
        self.ins.width() - 1
    }

    /// Steps that copying the context is worth.
    pub(super) fn weight(&self) -> usize {
        self.stated.weight()
            + self.params.weight()
            + (self.ins.len() + self.impossible.len()) * self.ins.width()
    }

    /// Returns constraints that define the part where a row over the parameters is negative.
    pub(super) fn part_below(&self, row: &[T], budget: &mut Budget) -> Exact<System<T>> {
        budget.tick(self.stated.weight())?;
        let mut part = self.stated.clone();
        let below = part.ins.push_zeros();
        below[..row.len()].clone_from_slice(row);
        complement(below)?;
        Ok(part)
    }

    /// Returns constraints that define the context, over the parameters and the new ones, with
    /// every equality that was found.
    pub(super) fn into_stated(mut self, budget: &mut Budget) -> Exact<System<T>> {
        if self.coordinates() == self.params() {
            return Ok(self.stated);
        }
        let mut slopes = Rows::with_capacity(1 + self.params(), self.coordinates());
        for coordinate in 1..self.params.width() {
            for (target, param) in slopes.push_zeros()[1..].iter_mut().zip(self.params.iter()) {
                *target = param[coordinate].clone();
            }
        }
        let origin: Vec<T> = self.params.iter().map(|param| param[0].clone()).collect();
        // Combinations of the parameters in which no coordinate is left are constant.
        let (basis, rank) = echelon(&slopes, budget)?;
        for normal in &basis.columns[rank..] {
            let equality = self.stated.eqs.push_zeros();
            equality[1..].clone_from_slice(normal);
            equality[0] = evaluate(equality, &origin)?.neg()?;
        }
        Ok(self.stated)
    }

    /// A row over the parameters, or over the first of them, in coordinates.
    pub(super) fn located(&self, row: &[T], budget: &mut Budget) -> Exact<Vec<T>> {
        let used = row.iter().filter(|value| !value.is_zero()).count();
        budget.tick(row.len() + used * self.params.width() * T::one().weight())?;
        compose(row, &self.params)
    }

    /// The signs a row over the parameters takes.
    pub(super) fn sign(&mut self, row: &[T], budget: &mut Budget) -> Exact<Sign> {
        let of_constant = |row: &[T]| {
            let sign = if row[0].signum() < 0 { Sign::Negative } else { Sign::NonNegative };
            row[1..].iter().all(T::is_zero).then_some(sign)
        };
        if let Some(sign) = of_constant(row) {
            return Ok(sign);
        }
        self.reduce(budget)?;
        let row = self.located(row, budget)?;
        if let Some(sign) = of_constant(&row) {
            return Ok(sign);
        }
        budget.tick(self.points.len() * T::weights(&row))?;
        let (mut negative, mut other) = (false, false);
        for point in &self.points {
            if evaluate(&row, point)?.signum() < 0 {
                negative = true;
            } else {
                other = true;
            }
        }
        if !negative {
            let mut below = row.clone();
            complement(&mut below)?;
            negative = self.point_where(&below, budget)?.is_some();
        }
        if !other {
            other = self.point_where(&row, budget)?.is_some();
        }
        Ok(match (negative, other) {
            (false, _) => Sign::NonNegative,
            (true, false) => Sign::Negative,
            (true, true) => Sign::Both,
        })
    }

    /// Returns true if two values, rows over the first parameters and divisors, are equal
    /// throughout.
    pub(super) fn is_same(
        &self,
        (a, d): (&[T], &T),
        (b, e): &(Vec<T>, T),
        budget: &mut Budget,
    ) -> Exact<bool> {
        let (a, b) = (self.located(a, budget)?, self.located(b, budget)?);
        for (a, b) in a.iter().zip(&b) {
            if a.mul(e)? != b.mul(d)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns true if `other ≥ 0` holds wherever `row ≥ 0` does.
    pub(super) fn implies(&self, row: &[T], other: &[T], budget: &mut Budget) -> Exact<bool> {
        let mut ins = self.ins.clone();
        ins.push(&self.located(row, budget)?);
        let mut below = self.located(other, budget)?;
        complement(&mut below)?;
        ins.push(&below);
        budget.tick(ins.weight())?;
        is_empty_apart(&System { eqs: Rows::new(ins.width()), ins }, budget)
    }

    /// Returns true if constraints over the parameters the context began with and then `unknowns`
    /// more variables hold anywhere.
    pub(super) fn meets(&self, other: &System<T>, unknowns: usize, budget: &mut Budget) -> Exact<bool> {
        let split = other.ins.width() - unknowns;
        let mut system =
            System { eqs: Rows::new(self.ins.width() + unknowns), ins: self.ins.widened(unknowns) };
        for (rows, target) in [(&other.eqs, &mut system.eqs), (&other.ins, &mut system.ins)] {
            for row in rows.iter() {
                let mut located = self.located(&row[..split], budget)?;
                located.extend_from_slice(&row[split..]);
                target.push(&located);
            }
        }
        Ok(!is_empty_apart(&system, budget)?)
    }

    /// A point where a row over the coordinates is not negative; it is kept.
    fn point_where(&mut self, row: &[T], budget: &mut Budget) -> Exact<Option<&Vec<T>>> {
        let row = primitive(row)?;
        if self.impossible.contains(&row) {
            return Ok(None);
        }
        self.asked += 1;
        budget.tick(self.ins.weight())?;
        let mut ins = self.ins.clone();
        ins.push_zeros()[..row.len()].clone_from_slice(&row);
        let Some(point) = solve_apart(&System { eqs: Rows::new(ins.width()), ins }, budget)? else {
            self.impossible.insert(row);
            return Ok(None);
        };
        if self.points.len() >= MAX_POINTS.max(self.ins.width()) {
            self.points.remove(0);
        }
        self.points.push(point);
        Ok(self.points.last())
    }

    /// Takes the part where a row over the parameters is not negative, which must not be empty.
    pub(super) fn restrict(&mut self, row: &[T], budget: &mut Budget) -> Exact<()> {
        let located = primitive(&self.located(row, budget)?)?;
        let row = primitive(row)?;
        self.stated.ins.push_zeros()[..row.len()].clone_from_slice(&row);
        self.ins.push_zeros()[..located.len()].clone_from_slice(&located);
        let mut kept = Vec::with_capacity(self.points.len());
        for point in std::mem::take(&mut self.points) {
            if evaluate(&located, &point)?.signum() >= 0 {
                kept.push(point);
            }
        }
        if kept.is_empty() {
            kept.extend(solve_apart(
                &System { eqs: Rows::new(self.ins.width()), ins: self.ins.clone() },
                budget,
            )?);
        }
        self.points = kept;
        self.shrunk = true;
        Ok(())
    }

    /// Finds the equalities between the coordinates and replaces these by fewer. That takes about
    /// two questions for each coordinate, so it waits until as many were asked: it never more than
    /// doubles the work.
    fn reduce(&mut self, budget: &mut Budget) -> Exact<()> {
        if !self.shrunk || self.asked < 2 * self.coordinates() {
            return Ok(());
        }
        self.shrunk = false;
        let none = Rows::new(self.ins.width());
        let points = self.points.clone();
        let find =
            |row: &[T], budget: &mut Budget| self.point_where(row, budget).map(Option::<&Vec<T>>::cloned);
        let equalities = implied_equalities(&none, &points, find, budget)?;
        self.asked = 0;
        self.eliminate(equalities, budget)
    }

    /// Replaces the coordinates by fewer, which equalities between them leave free.
    fn eliminate(&mut self, eqs: Rows<T>, budget: &mut Budget) -> Exact<()> {
        if eqs.is_empty() {
            return Ok(());
        }
        let ins = std::mem::replace(&mut self.ins, Rows::new(1));
        let Some((ins, trail)) = without_equalities(System { eqs, ins }, budget)? else {
            // Callers know of a point.
            return Err(Stop::Limit);
        };
        budget.tick((self.params.weight() + self.quotients.len()) * self.params.width())?;
        let live = trail.live();
        let columns: Vec<usize> = std::iter::once(0).chain(live.iter().copied()).collect();
        let values = trail.values()?.gathered(&columns);
        self.ins = ins.gathered(&columns);
        let mut params = Rows::with_capacity(values.width(), self.params.len());
        for row in self.params.iter() {
            params.push(&compose(row, &values)?);
        }
        self.params = params;
        for quotient in &mut self.quotients {
            quotient.numerator = modulo(&compose(&quotient.numerator, &values)?, &quotient.divisor);
        }
        for point in &mut self.points {
            trail.reduce(point)?;
            *point = live.iter().map(|column| point[column - 1].clone()).collect();
        }
        self.impossible.clear();
        Ok(())
    }

    /// The remainder of a row over the parameters modulo `divisor`, as a row over them; `None` if
    /// it is zero throughout. It may need a new parameter, the quotient.
    pub(super) fn remainder(&mut self, row: &[T], divisor: &T, budget: &mut Budget) -> Exact<Option<Vec<T>>> {
        self.reduce(budget)?;
        let row = modulo(row, divisor);
        let located = self.located(&row, budget)?;
        let mut numerator = modulo(&located, divisor);
        if numerator[1..].iter().all(T::is_zero) {
            return Ok((!numerator[0].is_zero()).then(|| numerator[..1].to_vec()));
        }
        budget.tick(self.quotients.len() * numerator.len())?;
        let same = |known: &&Quotient<T>| known.divisor == *divisor && known.numerator == numerator;
        if let Some(known) = self.quotients.iter().find(same) {
            return Ok(known.remainder.clone());
        }
        let remainder = if self.is_multiple(&numerator, divisor, budget)? {
            None
        } else {
            Some(self.add_quotient(row, &located, &numerator, divisor, budget)?)
        };
        numerator.resize(self.ins.width(), T::zero());
        self.quotients.push(Quotient { numerator, divisor: divisor.clone(), remainder: remainder.clone() });
        Ok(remainder)
    }

    /// Returns true if a row over the coordinates is a multiple of `divisor` throughout.
    fn is_multiple(&self, row: &[T], divisor: &T, budget: &mut Budget) -> Exact<bool> {
        for point in &self.points {
            if !evaluate(row, point)?.rem_floor(divisor).is_zero() {
                return Ok(false);
            }
        }
        let [mut remainder, below] = quotient_bounds(row, divisor)?;
        remainder[0] = remainder[0].sub(&T::one())?;
        let mut ins = self.ins.widened(1);
        ins.push(&remainder);
        ins.push(&below);
        budget.tick(ins.weight())?;
        is_empty_apart(&System { eqs: Rows::new(ins.width()), ins }, budget)
    }

    /// Adds the parameter `⌊row / divisor⌋`, and a coordinate for what is not affine in it. Returns
    /// the remainder.
    fn add_quotient(
        &mut self,
        mut row: Vec<T>,
        located: &[T],
        numerator: &[T],
        divisor: &T,
        budget: &mut Budget,
    ) -> Exact<Vec<T>> {
        if self.params() >= MAX_PARAMS {
            return Err(Stop::Limit);
        }
        budget.tick(self.weight())?;
        row.resize(1 + self.params(), T::zero());
        self.stated = self.stated.widened(1);
        let [remainder, above] = quotient_bounds(&row, divisor)?;
        self.stated.ins.push(&remainder);
        self.stated.ins.push(&above);
        self.ins = self.ins.widened(1);
        for bound in quotient_bounds(numerator, divisor)? {
            self.ins.push(&bound);
        }
        for point in &mut self.points {
            let value = evaluate(numerator, point)?.div_floor(divisor)?;
            point.push(value);
        }
        for quotient in &mut self.quotients {
            quotient.numerator.push(T::zero());
        }
        // ⌊row / divisor⌋ = (located − numerator) / divisor + ⌊numerator / divisor⌋
        self.params = self.params.widened(1);
        let value = self.params.push_zeros();
        for ((target, whole), part) in value.iter_mut().zip(located).zip(numerator) {
            *target = whole.sub(part)?.div_floor(divisor)?;
        }
        value[located.len()] = T::one();
        Ok(remainder)
    }
}

/// The bounds of `⌊row / divisor⌋`, a variable more than the row has: the remainder is not
/// negative, and below the divisor.
fn quotient_bounds<T: Scalar>(row: &[T], divisor: &T) -> Exact<[Vec<T>; 2]> {
    let mut remainder = row.to_vec();
    remainder.push(divisor.neg()?);
    let mut below = remainder.clone();
    complement(&mut below)?;
    below[0] = below[0].add(divisor)?;
    Ok([remainder, below])
}

/// The row with every coefficient reduced modulo `divisor`.
fn modulo<T: Scalar>(row: &[T], divisor: &T) -> Vec<T> {
    row.iter().map(|value| value.rem_floor(divisor)).collect()
}

/// The same inequality with coprime coefficients and without zeros at its end.
fn primitive<T: Scalar>(row: &[T]) -> Exact<Vec<T>> {
    let length = 1 + row.iter().rposition(|value| !value.is_zero()).unwrap_or(0);
    let gcd = content(&row[..length])?;
    if gcd.is_zero() || gcd.is_one() {
        return Ok(row[..length].to_vec());
    }
    row[..length].iter().map(|value| value.div_floor(&gcd)).collect()
}
