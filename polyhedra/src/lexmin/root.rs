//! Where the search begins: the tableau of the whole problem.
//!
//! Unknowns may have any sign: each is `u = u′ − M` with `u′ ≥ 0` and a symbolic `M`, larger than everything and
//! divisible by everything. A minimum that still mentions `M` is unbounded.

use std::rc::Rc;

use super::Parametric;
use super::context::Context;
use super::node::{FIXED, LARGE, Node};
use crate::limits::{Budget, Exact};
use crate::rows::{Rows, System, negate, substitute};
use crate::scalar::Scalar;
use crate::solve::solve_apart;
use crate::solve::tableau::Tableau;

impl<T: Scalar> Node<T> {
    /// The whole problem, or `None` if it has no point at all.
    pub(super) fn root(mut problem: Parametric<T>, budget: &mut Budget) -> Exact<Option<Box<Node<T>>>> {
        let params = problem.params;
        let unknowns = problem.system.ins.width() - 1 - params;
        let given = problem.system.clone();
        let Some(point) = solve_apart(&given, budget)? else { return Ok(None) };
        let substituted = substitute_last_unknowns(&mut problem, budget)?;
        let mut context = System::new(params);
        let mut restrictions = Rows::new(problem.system.ins.width());
        for row in problem.system.eqs.iter() {
            if row[params + 1..].iter().all(T::is_zero) {
                context.eqs.push(&row[..=params]);
            } else {
                restrictions.push(row);
                restrictions.push(row);
                let last = restrictions.len() - 1;
                negate(restrictions.row_mut(last))?;
            }
        }
        for row in problem.system.ins.iter() {
            if row[params + 1..].iter().all(T::is_zero) {
                context.ins.push(&row[..=params]);
            } else {
                restrictions.push(row);
            }
        }
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
        Ok(Some(Box::new(Node {
            context: Context::new(context, &point[..params], budget)?,
            tableau,
            unknowns,
            solved: substituted.iter().map(Option::is_some).collect(),
            given: Rc::new(given),
            cuts: 0,
            wanted: problem.wanted,
            whole: true,
        })))
    }
}

/// Writes a row over parameters and unknowns into a tableau row, with `u = u′ − M` for the unknowns in `free`.
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

/// Removes unknowns that an equality gives with coefficient 1 in terms of earlier ones, so that the lexicographic
/// order is kept; returns for each the row that gives it.
fn substitute_last_unknowns<T: Scalar>(
    problem: &mut Parametric<T>,
    budget: &mut Budget,
) -> Exact<Vec<Option<Vec<T>>>> {
    let first = problem.params + 1;
    let mut substituted: Vec<Option<Vec<T>>> = vec![None; problem.system.ins.width() - first];
    loop {
        let found = (0..problem.system.eqs.len()).find_map(|index| {
            let row = problem.system.eqs.row(index);
            let last = (first..row.len()).rev().find(|column| !row[*column].is_zero())?;
            row[last].is_unit().then_some((index, last))
        });
        let Some((index, column)) = found else { return Ok(substituted) };
        budget.tick(problem.system.weight())?;
        let row = problem.system.eqs.row(index).to_vec();
        problem.system.eqs.swap_remove(index);
        problem.system.substitute(&row, column)?;
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
