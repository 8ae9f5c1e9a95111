//! One part of the search: a tableau whose right-hand sides are affine in the parameters, under a
//! context.
//!
//! The lexicographic dual simplex method: a row whose right-hand side is negative leaves the basis
//! for the column that raises the unknowns least, in their order. Where the minimum is not an
//! integer, Gomory's cut of the first such unknown is added; its right-hand side is the remainder
//! of an affine function of the parameters.

use std::rc::Rc;

use super::Minimum;
use super::context::{Context, Sign};
use crate::limits::{Budget, Exact};
use crate::rows::{System, complement, negate};
use crate::scalar::Scalar;
use crate::solve::tableau::Tableau;

/// Right-hand columns: the constant, the large number, then the parameters.
pub(super) const LARGE: usize = 1;
pub(super) const FIXED: usize = 2;

/// A context and the tableau under it.
#[derive(Clone)]
pub(super) struct Node<T> {
    pub(super) context: Context<T>,
    /// A row for each variable, the unknowns first; a nonbasic variable's row is a unit row.
    pub(super) tableau: Tableau<T>,
    pub(super) unknowns: usize,
    /// Unknowns given by an equality: their rows are not restricted in sign.
    pub(super) solved: Vec<bool>,
    /// The constraints as they were given, to see whether the context leaves any point.
    pub(super) given: Rc<System<T>>,
    /// Cuts since the context last changed.
    pub(super) cuts: usize,
    pub(super) wanted: usize,
    /// True if nothing was taken from the context since the last split.
    pub(super) whole: bool,
}

/// The state in which work on a node ended.
pub(super) enum Outcome<T> {
    Optimum,
    Infeasible,
    /// The row whose sign the context leaves open.
    Split(Vec<T>),
}

impl<T: Scalar> Node<T> {
    /// Pivots and cuts until the minimum is found, nothing is feasible, or the context must be
    /// split. Parts of the context without a point are taken from it and added to `empty`.
    pub(super) fn run(&mut self, empty: &mut Vec<System<T>>, budget: &mut Budget) -> Exact<Outcome<T>> {
        'again: loop {
            budget.tick(self.tableau.rows.weight())?;
            let mut open: Vec<usize> = Vec::new();
            for row in 0..self.tableau.rows.len() {
                if row < self.unknowns && self.solved[row] {
                    continue;
                }
                match self.sign(row, budget)? {
                    Sign::NonNegative => {}
                    Sign::Negative => match self.entering(row)? {
                        Some(column) => {
                            self.pivot(row, column, budget)?;
                            continue 'again;
                        }
                        None => return Ok(Outcome::Infeasible),
                    },
                    Sign::Both if self.entering(row)?.is_none() => {
                        // Infeasible wherever the right-hand side is negative.
                        let side = self.right_side(row);
                        empty.push(self.context.part_below(&side, budget)?);
                        self.restrict(&side, budget)?;
                        self.whole = false;
                    }
                    Sign::Both => open.push(row),
                }
            }
            if !open.is_empty() {
                return Ok(Outcome::Split(self.best_split(&open, budget)?));
            }
            if !self.cut(budget)? {
                return Ok(Outcome::Optimum);
            }
            // Cuts alone may go on for ever where there is no integer point.
            self.cuts += 1;
            if self.cuts.is_power_of_two() && !self.context.meets(&self.given, self.unknowns, budget)? {
                return Ok(Outcome::Infeasible);
            }
        }
    }

    /// Steps that copying the node is worth.
    fn weight(&self) -> usize {
        self.context.weight() + self.tableau.rows.weight()
    }

    /// Of the rows whose sign is open the side to split on: one that, where it is not negative,
    /// makes most of the others so too.
    fn best_split(&self, open: &[usize], budget: &mut Budget) -> Exact<Vec<T>> {
        let mut best = self.right_side(open[0]);
        for row in &open[1..] {
            let side = self.right_side(*row);
            if self.context.implies(&side, &best, budget)? {
                best = side;
            }
        }
        Ok(best)
    }

    /// The parts where `row` is not negative and where it is.
    pub(super) fn split(mut self: Box<Self>, row: &[T], budget: &mut Budget) -> Exact<[Box<Node<T>>; 2]> {
        self.whole = true;
        let mut negative = row.to_vec();
        complement(&mut negative)?;
        budget.tick(self.weight())?;
        let mut other = self.clone();
        other.restrict(&negative, budget)?;
        self.restrict(row, budget)?;
        Ok([self, other])
    }

    fn restrict(&mut self, row: &[T], budget: &mut Budget) -> Exact<()> {
        self.cuts = 0;
        self.context.restrict(row, budget)
    }

    /// The right-hand side of a row over the parameters, without the large number.
    fn right_side(&self, row: usize) -> Vec<T> {
        let values = self.tableau.rows.row(row);
        std::iter::once(&values[0]).chain(&values[FIXED..self.tableau.right]).cloned().collect()
    }

    /// The signs a row's right-hand side takes over the context.
    fn sign(&mut self, row: usize, budget: &mut Budget) -> Exact<Sign> {
        match self.tableau.rows.row(row)[LARGE].signum() {
            0 => self.context.sign(&self.right_side(row), budget),
            1 => Ok(Sign::NonNegative),
            _ => Ok(Sign::Negative),
        }
    }

    /// The column to enter for a row: of those with a positive entry, the one whose column, divided
    /// by that entry, is lexicographically least.
    fn entering(&self, row: usize) -> Exact<Option<usize>> {
        let tableau = &self.tableau;
        let values = tableau.rows.row(row);
        let mut best: Option<usize> = None;
        'columns: for column in tableau.right..tableau.rows.width() {
            if values[column].signum() <= 0 {
                continue;
            }
            let Some(least) = best else {
                best = Some(column);
                continue;
            };
            for unknown in 0..self.unknowns {
                let entries = tableau.rows.row(unknown);
                if entries[column].is_zero() && entries[least].is_zero() {
                    continue;
                }
                let ours = entries[column].mul(&values[least])?;
                let theirs = entries[least].mul(&values[column])?;
                if ours < theirs {
                    best = Some(column);
                }
                if ours != theirs {
                    continue 'columns;
                }
            }
        }
        Ok(best)
    }

    /// Makes the variable of `row` nonbasic.
    fn pivot(&mut self, row: usize, column: usize, budget: &mut Budget) -> Exact<()> {
        self.tableau.pivot(row, column, budget)?;
        let values = self.tableau.rows.row_mut(row);
        values.fill(T::zero());
        values[column] = T::one();
        self.tableau.den[row] = T::one();
        Ok(())
    }

    /// Cuts off the minimum if some unknown is not an integer there. False: all are integers.
    fn cut(&mut self, budget: &mut Budget) -> Exact<bool> {
        budget.tick(self.tableau.rows.weight())?;
        for unknown in 0..self.unknowns {
            let den = self.tableau.den[unknown].clone();
            if den.is_one() {
                continue;
            }
            // Σ αⱼ nⱼ ≡ −side(p) (mod den) must hold at integer points, so the sum is at least that
            // remainder.
            let mut side = self.right_side(unknown);
            negate(&mut side)?;
            let Some(remainder) = self.context.remainder(&side, &den, budget)? else { continue };
            self.widen();
            let right = self.tableau.right;
            let alphas: Vec<T> =
                self.tableau.rows.row(unknown)[right..].iter().map(|value| value.rem_floor(&den)).collect();
            let row = self.tableau.rows.push_zeros();
            row[0] = remainder[0].neg()?;
            for (target, value) in row[FIXED..right].iter_mut().zip(&remainder[1..]) {
                *target = value.neg()?;
            }
            row[right..].clone_from_slice(&alphas);
            self.tableau.den.push(den);
            self.tableau.basic.push(0);
            let last = self.tableau.rows.len() - 1;
            if let Some(column) = self.entering(last)? {
                self.pivot(last, column, budget)?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Makes right-hand columns for the parameters that are new.
    fn widen(&mut self) {
        let (right, width) = (self.tableau.right, self.tableau.rows.width());
        let new = FIXED + self.context.params() - right;
        if new > 0 {
            let columns: Vec<usize> =
                (0..width).map(|column| if column < right { column } else { column + new }).collect();
            self.tableau.rows = self.tableau.rows.scattered(width + new, &columns);
            self.tableau.right += new;
        }
    }

    /// The minimum that was found.
    pub(super) fn minimum(&self) -> Minimum<T> {
        (0..self.wanted)
            .map(|unknown| {
                let den = &self.tableau.den[unknown];
                (self.tableau.rows.row(unknown)[LARGE] == *den)
                    .then(|| (self.right_side(unknown), den.clone()))
            })
            .collect()
    }
}
