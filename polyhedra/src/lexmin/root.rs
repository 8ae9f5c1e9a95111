//! Where the search begins: the tableau of the whole problem.
//!
//! Unknowns may have any sign: each is `u = u′ − M` with `u′ ≥ 0` and a symbolic `M`, larger than
//! everything and divisible by everything. A minimum that still mentions `M` is unbounded.

use std::rc::Rc;

use super::Parametric;
use super::context::Context;
use super::node::{FIXED, LARGE, Node};
use crate::limits::{Budget, Exact};
use crate::rows::{Rows, System, negate, substitute};
use crate::scalar::Scalar;
use crate::solve::tableau::Tableau;

impl<T: Scalar> Node<T> {
    /// The whole problem.
    pub(super) fn root(mut problem: Parametric<T>, point: &[T], budget: &mut Budget) -> Exact<Box<Node<T>>> {
        let params = problem.context.vars();
        let unknowns = problem.system.vars() - params;
        let given = problem.system.clone();
        let substituted = substitute_last_unknowns(&mut problem.system, params, budget)?;
        // Equalities first: what they give needs no split.
        let mut restrictions = Rows::new(problem.system.ins.width());
        for row in problem.system.eqs.iter() {
            restrictions.push(row);
            restrictions.push(row);
            let last = restrictions.len() - 1;
            negate(restrictions.row_mut(last))?;
        }
        restrictions.extend(&problem.system.ins);
        // Columns of the tableau: unknowns that no equality gives.
        let free: Vec<usize> = (0..unknowns).filter(|unknown| substituted[*unknown].is_none()).collect();
        let right = FIXED + params;
        let mut rows = Rows::new(right + free.len());
        for (unknown, solved) in substituted.iter().enumerate() {
            match solved {
                Some(row) => {
                    let target = rows.push_zeros();
                    shifted_row(row, params, &free, target)?;
                    target[LARGE] = target[LARGE].add(&T::one())?;
                }
                None => {
                    let position = free.iter().position(|other| *other == unknown).unwrap_or_default();
                    rows.push_zeros()[right + position] = T::one();
                }
            }
        }
        for row in restrictions.iter() {
            shifted_row(row, params, &free, rows.push_zeros())?;
        }
        let count = rows.len();
        let tableau = Tableau {
            free: 0,
            den: vec![T::one(); count],
            basic: (0..count).collect(),
            nonbasic: vec![0; free.len()],
            rows,
            right,
        };
        Ok(Box::new(Node {
            context: Context::new(problem.context, point, budget)?,
            tableau,
            unknowns,
            solved: substituted.iter().map(Option::is_some).collect(),
            given: Rc::new(given),
            cuts: 0,
            wanted: problem.wanted,
            whole: true,
        }))
    }
}

/// Writes a row over parameters and unknowns into a tableau row, with `u = u′ − M` for the unknowns
/// in `free`.
fn shifted_row<T: Scalar>(row: &[T], params: usize, free: &[usize], target: &mut [T]) -> Exact<()> {
    target[0] = row[0].clone();
    target[FIXED..FIXED + params].clone_from_slice(&row[1..=params]);
    let mut large = T::zero();
    for (position, unknown) in free.iter().enumerate() {
        let value = &row[params + 1 + unknown];
        target[FIXED + params + position] = value.clone();
        large = large.sub(value)?;
    }
    target[LARGE] = large;
    Ok(())
}

/// Removes unknowns that an equality gives with coefficient 1 in terms of earlier ones, so that the
/// lexicographic order is kept; returns for each the row that gives it.
fn substitute_last_unknowns<T: Scalar>(
    system: &mut System<T>,
    params: usize,
    budget: &mut Budget,
) -> Exact<Vec<Option<Vec<T>>>> {
    let first = params + 1;
    let mut substituted: Vec<Option<Vec<T>>> = vec![None; system.ins.width() - first];
    loop {
        let found = (0..system.eqs.len()).find_map(|index| {
            let row = system.eqs.row(index);
            let last = (first..row.len()).rev().find(|column| !row[*column].is_zero())?;
            row[last].is_unit().then_some((index, last))
        });
        let Some((index, column)) = found else { return Ok(substituted) };
        budget.tick(system.weight())?;
        let row = system.eqs.row(index).to_vec();
        system.eqs.swap_remove(index);
        system.substitute(&row, column)?;
        for other in substituted.iter_mut().flatten() {
            substitute(other, &row, column)?;
        }
        let mut given = row;
        if given[column].signum() > 0 {
            negate(&mut given)?;
        }
        given[column] = T::zero();
        substituted[column - first] = Some(given);
    }
}
