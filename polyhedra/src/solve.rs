//! Integer points of a system of constraints: the engine under every question of the crate.
//!
//! [`solve`] decides any system exactly. Cheap exact steps come first ([`presolve`](mod@presolve));
//! what they leave goes to a complete method ([`complete`](mod@complete)). All of it is written
//! over [`Scalar`] and run on the ladder of numbers.

mod complete;
pub(crate) mod lattice;
mod presolve;
pub(crate) mod tableau;

use crate::int::Int;
use crate::limits::{Budget, Exact, Stop};
use crate::rows::{Rows, System};
use crate::scalar::{Scalar, ladder};
use complete::complete;
pub(crate) use presolve::{Parallel, parallel, without_equalities};
use presolve::{Presolved, Trail, presolve};
use tableau::{Optimum, Tableau};

/// Deeper than any problem that could finish; keeps the stack bounded.
const MAX_DEPTH: usize = 256;

/// An integer point of the system, if there is one.
pub(crate) fn solve<T: Scalar>(system: System<T>, budget: &mut Budget) -> Exact<Option<Vec<T>>> {
    solve_at(system, 0, budget)
}

fn solve_at<T: Scalar>(mut system: System<T>, depth: usize, budget: &mut Budget) -> Exact<Option<Vec<T>>> {
    if depth > MAX_DEPTH {
        return Err(Stop::Limit);
    }
    let mut trail = Trail::new(system.vars());
    let mut point = match presolve(&mut system, Some(&mut trail), budget)? {
        Presolved::Empty => return Ok(None),
        Presolved::Free => vec![T::zero(); system.vars()],
        Presolved::Residual => match complete(&system.ins, depth, budget)? {
            Some(point) => point,
            None => return Ok(None),
        },
    };
    trail.extend(&mut point)?;
    Ok(Some(point))
}

/// Returns true if the system has no integer point; cheaper than [`solve`] when no point is asked
/// for.
pub(crate) fn is_empty<T: Scalar>(mut system: System<T>, budget: &mut Budget) -> Exact<bool> {
    match presolve(&mut system, None, budget)? {
        Presolved::Empty => Ok(true),
        Presolved::Free => Ok(false),
        Presolved::Residual => Ok(complete(&system.ins, 0, budget)?.is_none()),
    }
}

/// [`solve`] on a ladder of its own, from the lowest rung: a search in the middle of a long
/// computation may need wider numbers than that, or be content with narrower ones.
pub(crate) fn solve_apart<T: Scalar>(system: &System<T>, budget: &mut Budget) -> Exact<Option<Vec<T>>> {
    solve_part(system, 0, budget)
}

fn solve_part<T: Scalar>(system: &System<T>, depth: usize, budget: &mut Budget) -> Exact<Option<Vec<T>>> {
    let point = ladder!(U => {
        system.converted::<U>().and_then(|system| solve_at(system, depth, budget)).map(|point| {
            point.map(|point| point.iter().map(U::to_int).collect::<Vec<Int>>())
        })
    })?;
    point.map(|point| point.iter().map(T::from_int).collect()).transpose()
}

/// [`is_empty`] on a ladder of its own.
pub(crate) fn is_empty_apart<T: Scalar>(system: &System<T>, budget: &mut Budget) -> Exact<bool> {
    ladder!(U => system.converted::<U>().and_then(|system| is_empty(system, budget)))
}

/// The least integer value of an affine row over the integer points of a system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Least<T> {
    Empty,
    Unbounded,
    Value(T),
}

/// The least value of `objective` over the integer points of `system`: a rational bound from below,
/// a point from above, and bisection between them, so the number of tests is the logarithm of the
/// gap.
pub(crate) fn minimize<T: Scalar>(
    system: &System<T>,
    objective: &[T],
    budget: &mut Budget,
) -> Exact<Least<T>> {
    // One variable more, equal to the objective.
    let value = system.vars();
    let mut wide = system.widened(1);
    let row = wide.eqs.push_zeros();
    row[..=value].clone_from_slice(objective);
    row[value + 1] = T::one().neg()?;
    let Some(point) = solve(wide.clone(), budget)? else { return Ok(Least::Empty) };
    let mut high = point[value].clone();
    let mut relaxed = Rows::new(wide.ins.width());
    for row in wide.eqs.iter() {
        relaxed.push(row);
        relaxed.push(row);
        let last = relaxed.len() - 1;
        crate::rows::negate(relaxed.row_mut(last))?;
    }
    relaxed.extend(&wide.ins);
    let mut tableau = Tableau::new(&relaxed, budget)?;
    tableau.make_feasible(budget)?;
    let mut negated = vec![T::zero(); value + 2];
    negated[value + 1] = T::one().neg()?;
    let mut low = match tableau.maximize(&negated, budget)? {
        Optimum::Unbounded => return Ok(Least::Unbounded),
        Optimum::Value(numerator, denominator) => numerator.div_floor(&denominator)?.neg()?,
    };
    let mut first = true;
    while low < high {
        // The rational bound is often reached: try it before bisecting.
        let middle = if first { low.clone() } else { low.add(&high.sub(&low)?.div_floor(&T::from_i64(2))?)? };
        first = false;
        let mut half = wide.clone();
        let row = half.ins.push_zeros();
        row[0] = middle.clone();
        row[value + 1] = T::one().neg()?;
        let row = half.ins.push_zeros();
        row[0] = low.neg()?;
        row[value + 1] = T::one();
        match solve(half, budget)? {
            Some(point) => high = point[value].clone(),
            None => low = middle.add(&T::one())?,
        }
    }
    Ok(Least::Value(high))
}
