//! [`Conjunction`]: one set of integer points, the solutions of affine equalities and inequalities.
//!
//! Variables are numbered: the *visible* ones first (what they mean, parameters or dimensions, is
//! the business of a [`Space`](crate::Space)), then *existential* ones. A point is in the set if
//! some integers for the existential variables satisfy every constraint, so strides, `floor` and
//! `mod` are exact.
//!
//! Rows are flat `i64`s, the common case, and stay so: a coefficient that needs more is written
//! with existential variables that stand for multiples, `y = 2³²·x`, which is the same set and
//! again exact. The algorithms run on the ladder of [`scalar`](crate::scalar), so nobody sees the
//! difference.
//!
//! Cost: adding a constraint is one copy of its coefficients; adding an existential variable copies
//! the rows.

use crate::affine::{Affine, Var};
use crate::int::Int;
use crate::limits::{Budget, Exact, LimitReached, Limits};
use crate::rows::{Rows, System};
use crate::scalar::{Scalar, ladder};
use crate::solve;

/// A conjunction of affine constraints over integer variables.
///
/// ```
/// use loomir_polyhedra::{Conjunction, Emptiness, Limits};
/// // { i, n : 0 <= i < n and i = 3 (mod 4) and n <= 3 }
/// let mut set = Conjunction::new(2);
/// let (i, n) = (set.var(0), set.var(1));
/// set.add_ge(i, 0);
/// set.add_lt(i, n);
/// let rest = set.modulo(i, 4);
/// set.add_eq(rest, 3);
/// set.add_le(n, 3);
/// assert_eq!(set.is_empty(&Limits::default()), Emptiness::Empty);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Conjunction {
    visible: u32,
    pub(crate) eqs: Rows<i64>,
    pub(crate) ins: Rows<i64>,
}

/// An integer point.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Point(Vec<Int>);

impl Point {
    /// A point with the given coordinates.
    pub fn new(coordinates: Vec<Int>) -> Point {
        Point(coordinates)
    }

    /// The coordinates.
    pub fn coordinates(&self) -> &[Int] {
        &self.0
    }

    /// The value of a variable; zero for one the point does not have.
    pub fn get(&self, var: Var) -> Int {
        self.0.get(var.index()).cloned().unwrap_or_default()
    }

    /// All coordinates as `i64`s, if they fit.
    pub fn to_i64s(&self) -> Option<Vec<i64>> {
        self.0.iter().map(Int::to_i64).collect()
    }
}

impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(")?;
        for (index, value) in self.0.iter().enumerate() {
            write!(f, "{}{value}", if index == 0 { "" } else { ", " })?;
        }
        f.write_str(")")
    }
}

/// The answer to whether a set has an integer point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Emptiness {
    /// It has none.
    Empty,
    /// It has this one, among others (existential variables left out).
    NonEmpty(Point),
    /// The limit was reached before an answer was found.
    Unknown(LimitReached),
}

impl Emptiness {
    /// True if the set is certainly empty.
    pub fn is_empty(&self) -> bool {
        matches!(self, Emptiness::Empty)
    }

    /// The point, if one was found.
    pub fn point(&self) -> Option<&Point> {
        match self {
            Emptiness::NonEmpty(point) => Some(point),
            _ => None,
        }
    }
}

/// Base of the digits a coefficient beyond `i64` is written in.
const DIGIT_BITS: i64 = 32;

impl Conjunction {
    /// All points over `vars` visible variables.
    pub fn new(vars: usize) -> Conjunction {
        Conjunction { visible: vars as u32, eqs: Rows::new(vars + 1), ins: Rows::new(vars + 1) }
    }

    /// No point at all.
    pub fn empty(vars: usize) -> Conjunction {
        let mut set = Conjunction::new(vars);
        set.ins.push_zeros()[0] = -1;
        set
    }

    /// Number of visible variables.
    pub fn visible(&self) -> usize {
        self.visible as usize
    }

    /// Number of visible and existential variables.
    pub fn vars(&self) -> usize {
        self.ins.width() - 1
    }

    /// Number of existential variables.
    pub fn existentials(&self) -> usize {
        self.vars() - self.visible()
    }

    /// Number of equalities and inequalities.
    pub fn constraints(&self) -> usize {
        self.eqs.len() + self.ins.len()
    }

    /// The variable at a position.
    #[inline]
    pub fn var(&self, index: usize) -> Var {
        Var(index as u32)
    }

    /// Adds an existential variable.
    pub fn exists(&mut self) -> Var {
        let var = Var(self.vars() as u32);
        self.widen(1);
        var
    }

    /// Adds `extra` existential variables.
    pub(crate) fn widen(&mut self, extra: usize) {
        if extra > 0 {
            self.eqs = self.eqs.widened(extra);
            self.ins = self.ins.widened(extra);
        }
    }

    /// Adds the constraint `left = right`.
    pub fn add_eq(&mut self, left: impl Into<Affine>, right: impl Into<Affine>) {
        self.add_row(&(left.into() - right.into()), true);
    }

    /// Adds the constraint `left ≥ right`.
    pub fn add_ge(&mut self, left: impl Into<Affine>, right: impl Into<Affine>) {
        self.add_row(&(left.into() - right.into()), false);
    }

    /// Adds the constraint `left > right`.
    pub fn add_gt(&mut self, left: impl Into<Affine>, right: impl Into<Affine>) {
        self.add_row(&(left.into() - right.into() - 1), false);
    }

    /// Adds the constraint `left ≤ right`.
    pub fn add_le(&mut self, left: impl Into<Affine>, right: impl Into<Affine>) {
        self.add_ge(right, left);
    }

    /// Adds the constraint `left < right`.
    pub fn add_lt(&mut self, left: impl Into<Affine>, right: impl Into<Affine>) {
        self.add_gt(right, left);
    }

    /// Adds `Σ terms + constant ≥ 0` without an intermediate expression; terms of one variable add
    /// up.
    pub fn add_terms_ge(&mut self, terms: &[(Var, i64)], constant: i64) {
        if !push_terms(&mut self.ins, terms, constant) {
            self.add_row(&affine_of(terms, constant), false);
        }
    }

    /// Adds `Σ terms + constant = 0` without an intermediate expression; terms of one variable add
    /// up.
    pub fn add_terms_eq(&mut self, terms: &[(Var, i64)], constant: i64) {
        if !push_terms(&mut self.eqs, terms, constant) {
            self.add_row(&affine_of(terms, constant), true);
        }
    }

    /// An existential variable that equals `⌊numerator / divisor⌋`; a divisor of zero leaves it
    /// undefined and makes the set empty.
    pub fn floor_div(&mut self, numerator: impl Into<Affine>, divisor: impl Into<Int>) -> Var {
        let (mut numerator, mut divisor): (Affine, Int) = (numerator.into(), divisor.into());
        let quotient = self.exists();
        if divisor.signum() < 0 {
            numerator = -numerator;
            divisor = -divisor;
        }
        if divisor.is_zero() {
            self.ins.push_zeros()[0] = -1;
            return quotient;
        }
        // 0 ≤ numerator − divisor · quotient ≤ divisor − 1
        let rest = numerator - Affine::from(quotient) * &divisor;
        self.add_row(&rest, false);
        self.add_row(&(-rest + divisor - 1), false);
        quotient
    }

    /// An existential variable that equals `⌈numerator / divisor⌉`, as an expression.
    pub fn ceil_div(&mut self, numerator: impl Into<Affine>, divisor: impl Into<Int>) -> Affine {
        -self.floor_div(-numerator.into(), divisor)
    }

    /// `value mod divisor`, of the divisor's sign.
    pub fn modulo(&mut self, value: impl Into<Affine>, divisor: impl Into<Int>) -> Affine {
        let (value, divisor): (Affine, Int) = (value.into(), divisor.into());
        let quotient = self.floor_div(value.clone(), divisor.clone());
        value - Affine::from(quotient) * &divisor
    }

    /// Both conjunctions at once; they must have equally many visible variables (the result has
    /// those of `self`).
    pub fn intersect(&self, other: &Conjunction) -> Conjunction {
        let columns: Vec<usize> = (0..=other.vars())
            .map(|column| if column <= other.visible() { column } else { column + self.existentials() })
            .collect();
        let mut both = self.clone();
        both.append(other, other.existentials(), &columns);
        both
    }

    /// Adds `extra` existential variables and the constraints of `other`, whose column `k` becomes
    /// `columns[k]`.
    pub(crate) fn append(&mut self, other: &Conjunction, extra: usize, columns: &[usize]) {
        let width = self.ins.width() + extra;
        self.widen(extra);
        self.eqs.extend(&other.eqs.scattered(width, columns));
        self.ins.extend(&other.ins.scattered(width, columns));
    }

    /// The conjunction over `visible` variables whose variable `map[v]` is `v` here; existential
    /// ones follow.
    ///
    /// ```
    /// use loomir_polyhedra::{Conjunction, Var};
    /// let mut set = Conjunction::new(2);
    /// set.add_eq(Var(0), 3);
    /// assert_eq!(set.renamed(3, &[2, 0]).equalities().next().unwrap().to_string(), "-3 + x2");
    /// ```
    pub fn renamed(&self, visible: usize, map: &[usize]) -> Conjunction {
        let columns: Vec<usize> = std::iter::once(0)
            .chain((0..self.vars()).map(|var| {
                if var < self.visible() { map[var] + 1 } else { visible + (var - self.visible()) + 1 }
            }))
            .collect();
        let width = visible + self.existentials() + 1;
        Conjunction {
            visible: visible as u32,
            eqs: self.eqs.scattered(width, &columns),
            ins: self.ins.scattered(width, &columns),
        }
    }

    /// Makes the visible variables for which `hide` holds existential. The others keep their order.
    ///
    /// ```
    /// use loomir_polyhedra::Conjunction;
    /// assert_eq!(Conjunction::new(3).hidden(|var| var == 1).visible(), 2);
    /// ```
    pub fn hidden(&self, hide: impl Fn(usize) -> bool) -> Conjunction {
        let (hidden, kept): (Vec<usize>, Vec<usize>) = (0..self.visible()).partition(|var| hide(*var));
        let order: Vec<usize> = std::iter::once(0)
            .chain(kept.iter().map(|var| var + 1))
            .chain(hidden.iter().map(|var| var + 1))
            .chain(self.visible() + 1..=self.vars())
            .collect();
        Conjunction {
            visible: kept.len() as u32,
            eqs: self.eqs.gathered(&order),
            ins: self.ins.gathered(&order),
        }
    }

    /// Returns an integer point, or says that the set has none.
    pub fn is_empty(&self, limits: &Limits) -> Emptiness {
        let mut budget = Budget::new(limits);
        match self.solve(&mut budget) {
            Ok(None) => Emptiness::Empty,
            Ok(Some(point)) => Emptiness::NonEmpty(point),
            Err(_) => Emptiness::Unknown(budget.reached()),
        }
    }

    /// An integer point of the visible variables.
    pub(crate) fn solve(&self, budget: &mut Budget) -> Exact<Option<Point>> {
        budget.tick(self.constraints() * self.ins.width())?;
        ladder!(T => {
            solve::solve::<T>(self.system(), budget).map(|point| {
                point.map(|point| Point(point[..self.visible()].iter().map(|value| value.to_int()).collect()))
            })
        })
    }

    /// Returns true if the set is empty, without looking for a point.
    pub(crate) fn decide_empty(&self, budget: &mut Budget) -> Exact<bool> {
        budget.tick(self.constraints() * self.ins.width())?;
        ladder!(T => solve::is_empty::<T>(self.system(), budget))
    }

    /// The constraints on one rung of the ladder.
    pub(crate) fn system<T: Scalar>(&self) -> System<T> {
        System { eqs: self.eqs.lifted(), ins: self.ins.lifted() }
    }

    /// Returns true if a point of the visible variables is in the set.
    pub fn contains(&self, point: &Point, limits: &Limits) -> Result<bool, LimitReached> {
        let mut fixed = self.clone();
        for (index, value) in point.0.iter().take(self.visible()).enumerate() {
            fixed.add_eq(Var(index as u32), value.clone());
        }
        let mut budget = Budget::new(limits);
        fixed.decide_empty(&mut budget).map(|empty| !empty).map_err(|_| budget.reached())
    }

    /// The equalities as expressions that are zero.
    pub fn equalities(&self) -> impl Iterator<Item = Affine> + '_ {
        self.eqs.iter().map(affine_of_row)
    }

    /// The inequalities as expressions that are not negative.
    pub fn inequalities(&self) -> impl Iterator<Item = Affine> + '_ {
        self.ins.iter().map(affine_of_row)
    }

    /// Bytes the conjunction takes, its heap included.
    pub fn bytes(&self) -> usize {
        size_of::<Conjunction>() + self.eqs.heap_bytes() + self.ins.heap_bytes()
    }

    /// Adds a row of any size.
    pub(crate) fn add_row(&mut self, affine: &Affine, equality: bool) {
        let mut small: Vec<(usize, i64)> = Vec::with_capacity(affine.terms().len() + 1);
        let constant = std::iter::once((0, affine.constant_term()));
        for (column, value) in
            constant.chain(affine.terms().iter().map(|(var, value)| (var.index() + 1, value)))
        {
            match value.to_i64().filter(|value| *value != i64::MIN) {
                Some(value) => small.push((column, value)),
                None => self.push_digits(column, value, &mut small),
            }
        }
        let rows = if equality { &mut self.eqs } else { &mut self.ins };
        let row = rows.push_zeros();
        for (column, value) in small {
            row[column] += value;
        }
    }

    /// Writes `value · column` as digits over existential variables `2³²·column`, `2⁶⁴·column`, …
    fn push_digits(&mut self, column: usize, value: &Int, out: &mut Vec<(usize, i64)>) {
        let base = Int::from(1i64 << DIGIT_BITS);
        let (mut column, mut value) = (column, value.clone());
        loop {
            if let Some(last) = value.to_i64().filter(|value| *value != i64::MIN) {
                out.push((column, last));
                return;
            }
            let digit = value.rem_floor(&base);
            value = value.div_floor(&base);
            out.push((column, digit.to_i64().unwrap_or_default()));
            let multiple = self.exists();
            let row = self.eqs.push_zeros();
            row[multiple.index() + 1] = -1;
            row[column] = 1 << DIGIT_BITS;
            column = multiple.index() + 1;
        }
    }

    /// Adds the negation of `row ≥ 0`; the row may be shorter than this conjunction's.
    pub(crate) fn add_complement(&mut self, row: &[i64]) {
        if row[0] < i64::MAX && row.iter().all(|value| *value != i64::MIN) {
            let target = self.ins.push_zeros();
            for (target, value) in target.iter_mut().zip(row) {
                *target = -value;
            }
            target[0] -= 1;
        } else {
            self.add_row(&(-affine_of_row(row) - 1), false);
        }
    }

    /// Adds a row of one rung of the ladder.
    pub(crate) fn add_scalar_row<T: Scalar>(&mut self, row: &[T], equality: bool) {
        let small: Option<Vec<i64>> =
            row.iter().map(|value| value.to_i64().filter(|v| *v != i64::MIN)).collect();
        match small {
            Some(small) => {
                let rows = if equality { &mut self.eqs } else { &mut self.ins };
                rows.push_zeros()[..small.len()].copy_from_slice(&small);
            }
            None => {
                let mut affine = Affine::constant(row[0].to_int());
                for (index, value) in row[1..].iter().enumerate() {
                    affine = affine.add_scaled(&Affine::from(Var(index as u32)), &value.to_int());
                }
                self.add_row(&affine, equality);
            }
        }
    }
}

/// Appends a row made of terms; false if a sum does not fit.
fn push_terms(rows: &mut Rows<i64>, terms: &[(Var, i64)], constant: i64) -> bool {
    let row = rows.push_zeros();
    row[0] = constant;
    for (var, value) in terms {
        match row[var.index() + 1].checked_add(*value) {
            Some(sum) if sum != i64::MIN => row[var.index() + 1] = sum,
            _ => {
                rows.drop_last();
                return false;
            }
        }
    }
    if constant == i64::MIN {
        rows.drop_last();
        return false;
    }
    true
}

fn affine_of(terms: &[(Var, i64)], constant: i64) -> Affine {
    terms.iter().fold(Affine::from(constant), |sum, (var, value)| sum + Affine::from(*var) * *value)
}

fn affine_of_row(row: &[i64]) -> Affine {
    row[1..]
        .iter()
        .enumerate()
        .filter(|(_, value)| **value != 0)
        .fold(Affine::from(row[0]), |sum, (index, value)| {
            sum.add_scaled(&Affine::from(Var(index as u32)), &Int::from(*value))
        })
}
