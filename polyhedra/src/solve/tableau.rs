//! An exact simplex tableau: rational linear programs over the rungs of the number ladder.
//!
//! Each basic variable is a row over the nonbasic ones: `den · y = Σ aⱼ nⱼ + Σ bₖ rₖ`, where the
//! `rₖ` are right-hand columns that are never pivoted: the constant alone for a linear program, a
//! large number, the parameters and the constant for a parametric one ([`lexmin`](crate::lexmin)).
//! Every row has its own positive denominator and is kept divided by its gcd, so numbers stay
//! small. The steepest choice is tried first; after [`PATIENCE`] pivots Bland's rule takes over,
//! which cannot cycle. No tie is left to chance.

use crate::limits::{Budget, Exact};
use crate::rows::Rows;
use crate::scalar::Scalar;

/// A variable of a tableau: the first ones are free, the others are slacks that may not be
/// negative.
type Name = usize;

/// The name of an objective row, which no rule constrains.
const OBJECTIVE: Name = usize::MAX;

/// The name of the variable that the search for a first feasible point adds.
const ARTIFICIAL: Name = usize::MAX - 1;

/// Pivots by the steepest choice before the rule that cannot cycle takes over.
const PATIENCE: usize = 200;

/// A simplex tableau.
#[derive(Clone, Debug)]
pub(crate) struct Tableau<T> {
    /// Number of free variables; names from here on are slacks.
    pub(crate) free: usize,
    /// Rows: the right-hand columns first, then one column for each nonbasic variable.
    pub(crate) rows: Rows<T>,
    pub(crate) den: Vec<T>,
    pub(crate) basic: Vec<Name>,
    pub(crate) nonbasic: Vec<Name>,
    /// Number of right-hand columns.
    pub(crate) right: usize,
}

/// The result of a maximisation.
#[derive(Clone, Debug)]
pub(crate) enum Optimum<T> {
    /// The greatest value, `numerator / denominator`.
    Value(T, T),
    Unbounded,
}

impl<T: Scalar> Tableau<T> {
    /// The tableau of `ins ≥ 0` over free variables, each made basic if any row mentions it.
    pub(crate) fn new(ins: &Rows<T>, budget: &mut Budget) -> Exact<Tableau<T>> {
        let free = ins.width() - 1;
        let mut tableau = Tableau {
            free,
            rows: ins.clone(),
            den: vec![T::one(); ins.len()],
            basic: (free..free + ins.len()).collect(),
            nonbasic: (0..free).collect(),
            right: 1,
        };
        for var in 0..free {
            budget.tick(tableau.rows.len())?;
            let column = tableau.right + var;
            let row = (0..tableau.rows.len())
                .filter(|row| tableau.basic[*row] >= free && !tableau.rows.row(*row)[column].is_zero())
                .min_by_key(|row| !tableau.rows.row(*row)[column].is_unit());
            if let Some(row) = row {
                tableau.pivot(row, column, budget)?;
            }
        }
        Ok(tableau)
    }

    /// Exchanges the basic variable of `row` with the nonbasic one of `column` (an index into the
    /// row).
    pub(crate) fn pivot(&mut self, row: usize, column: usize, budget: &mut Budget) -> Exact<()> {
        budget.tick(self.rows.len())?;
        // den·y = Σ a n + e·x  becomes  e·x = den·y − Σ a n, with e made positive.
        {
            let den = self.den[row].clone();
            let values = self.rows.row_mut(row);
            let pivot = values[column].clone();
            let positive = pivot.signum() > 0;
            values[column] = den.neg()?;
            if positive {
                crate::rows::negate(values)?;
            }
            self.den[row] = pivot.abs()?;
        }
        self.reduce(row)?;
        for other in (0..self.rows.len()).filter(|other| *other != row) {
            let factor = self.rows.row(other)[column].clone();
            if factor.is_zero() {
                continue;
            }
            let scale = self.den[row].clone();
            let (target, source) = self.rows.pair_mut(other, row);
            target[column] = T::zero();
            T::combine(target, &scale, source, &factor)?;
            budget.tick(T::weights(target))?;
            self.den[other] = self.den[other].mul(&scale)?;
            self.reduce(other)?;
        }
        let nonbasic = column - self.right;
        std::mem::swap(&mut self.basic[row], &mut self.nonbasic[nonbasic]);
        Ok(())
    }

    /// Divides a row and its denominator by their gcd.
    fn reduce(&mut self, row: usize) -> Exact<()> {
        let mut gcd = self.den[row].clone();
        for value in self.rows.row(row) {
            if gcd.is_one() {
                return Ok(());
            }
            if !value.is_zero() {
                gcd = gcd.gcd(value)?;
            }
        }
        if !gcd.is_one() {
            self.den[row] = self.den[row].div_floor(&gcd)?;
            for value in self.rows.row_mut(row) {
                *value = value.div_floor(&gcd)?;
            }
        }
        Ok(())
    }

    /// True if the basic variable of `row` may not be negative.
    fn constrained(&self, row: usize) -> bool {
        self.basic[row] >= self.free && self.basic[row] != OBJECTIVE
    }

    /// Makes every slack non-negative at the basic point, if that is possible. An artificial
    /// variable is added to every slack, which makes the point feasible, and then made as small as
    /// it can be.
    pub(crate) fn make_feasible(&mut self, budget: &mut Budget) -> Exact<bool> {
        let Some(worst) = self.most_negative_row()? else { return Ok(true) };
        let width = self.rows.width();
        self.rows = self.rows.widened(1);
        self.nonbasic.push(ARTIFICIAL);
        for row in 0..self.rows.len() {
            if self.constrained(row) {
                self.rows.row_mut(row)[width] = self.den[row].clone();
            }
        }
        self.pivot(worst, width, budget)?;
        // The objective is the artificial variable, negated.
        let mut objective = self.rows.row(worst).to_vec();
        crate::rows::negate(&mut objective)?;
        self.rows.push(&objective);
        self.den.push(self.den[worst].clone());
        self.basic.push(OBJECTIVE);
        let optimum = self.climb(budget)?;
        self.drop_last_row();
        let feasible = matches!(optimum, Optimum::Value(value, _) if value.signum() >= 0);
        if let Some(row) = self.basic.iter().position(|name| *name == ARTIFICIAL)
            && let Some(column) = (self.right..=width).find(|column| !self.rows.row(row)[*column].is_zero())
        {
            self.pivot(row, column, budget)?;
        }
        if let Some(index) = self.nonbasic.iter().position(|name| *name == ARTIFICIAL) {
            let kept: Vec<usize> = (0..=width).filter(|column| *column != self.right + index).collect();
            self.rows = self.rows.gathered(&kept);
            self.nonbasic.remove(index);
        }
        Ok(feasible)
    }

    /// The row whose slack is most negative at the basic point.
    fn most_negative_row(&self) -> Exact<Option<usize>> {
        let mut worst: Option<usize> = None;
        for row in 0..self.rows.len() {
            if !self.constrained(row) || self.rows.row(row)[0].signum() >= 0 {
                continue;
            }
            let lower = match worst {
                None => true,
                Some(worst) => {
                    let ours = self.rows.row(row)[0].mul(&self.den[worst])?;
                    ours < self.rows.row(worst)[0].mul(&self.den[row])?
                }
            };
            if lower {
                worst = Some(row);
            }
        }
        Ok(worst)
    }

    fn drop_last_row(&mut self) {
        self.rows.drop_last();
        self.den.pop();
        self.basic.pop();
    }

    /// The greatest value of an affine row over the free variables; the tableau must be feasible
    /// and stays so.
    pub(crate) fn maximize(&mut self, objective: &[T], budget: &mut Budget) -> Exact<Optimum<T>> {
        self.push_row(OBJECTIVE, objective, budget)?;
        let result = self.climb(budget);
        self.drop_last_row();
        result
    }

    /// Adds a row that is affine in the free variables.
    fn push_row(&mut self, name: Name, affine: &[T], budget: &mut Budget) -> Exact<()> {
        self.rows.push_zeros()[0] = affine[0].clone();
        self.den.push(T::one());
        self.basic.push(name);
        let last = self.rows.len() - 1;
        for var in 0..self.free {
            if affine[var + 1].is_zero() {
                continue;
            }
            budget.tick(self.rows.len() + T::weights(self.rows.row(last)))?;
            if let Some(row) = self.basic.iter().position(|basic| *basic == var) {
                // last/den_last += affine · row/den_row
                let factor = affine[var + 1].mul(&self.den[last])?;
                let scale = self.den[row].clone();
                let (target, source) = self.rows.pair_mut(last, row);
                T::combine(target, &scale, source, &factor)?;
                self.den[last] = self.den[last].mul(&scale)?;
                self.reduce(last)?;
            } else if let Some(index) = self.nonbasic.iter().position(|nonbasic| *nonbasic == var) {
                let value = affine[var + 1].mul(&self.den[last])?;
                self.rows.row_mut(last)[self.right + index] = value;
            }
        }
        Ok(())
    }

    /// Pivots until the last row, the objective, is as great as it can be.
    fn climb(&mut self, budget: &mut Budget) -> Exact<Optimum<T>> {
        let last = self.rows.len() - 1;
        let mut turn = 0;
        loop {
            turn += 1;
            budget.tick(self.rows.len() + self.rows.width())?;
            let free_column = (self.right..self.rows.width()).find(|column| {
                self.nonbasic[*column - self.right] < self.free && !self.rows.row(last)[*column].is_zero()
            });
            if free_column.is_some() {
                // No constraint mentions this variable, but the objective does.
                return Ok(Optimum::Unbounded);
            }
            let rising =
                (self.right..self.rows.width()).filter(|column| self.rows.row(last)[*column].signum() > 0);
            let column = if turn < PATIENCE {
                rising.max_by(|a, b| self.rows.row(last)[*a].cmp(&self.rows.row(last)[*b]).then(b.cmp(a)))
            } else {
                rising.min_by_key(|column| self.nonbasic[*column - self.right])
            };
            let Some(column) = column else {
                return Ok(Optimum::Value(self.rows.row(last)[0].clone(), self.den[last].clone()));
            };
            let mut leaving: Option<usize> = None;
            for row in 0..last {
                if !self.constrained(row) || self.rows.row(row)[column].signum() >= 0 {
                    continue;
                }
                let Some(best) = leaving else {
                    leaving = Some(row);
                    continue;
                };
                // Compare const/−coefficient of the two rows.
                let ours = self.rows.row(row)[0].mul(&self.rows.row(best)[column].neg()?)?;
                let theirs = self.rows.row(best)[0].mul(&self.rows.row(row)[column].neg()?)?;
                // The artificial variable leaves as soon as it can.
                let key = |row: usize| (self.basic[row] != ARTIFICIAL, self.basic[row]);
                if ours < theirs || (ours == theirs && key(row) < key(best)) {
                    leaving = Some(row);
                }
            }
            let Some(row) = leaving else { return Ok(Optimum::Unbounded) };
            self.pivot(row, column, budget)?;
        }
    }

    /// The basic point: numerator and denominator of each free variable.
    pub(crate) fn point(&self) -> Vec<(T, T)> {
        let mut point = vec![(T::zero(), T::one()); self.free];
        for (row, name) in self.basic.iter().enumerate() {
            if *name < self.free {
                point[*name] = (self.rows.row(row)[0].clone(), self.den[row].clone());
            }
        }
        point
    }
}
