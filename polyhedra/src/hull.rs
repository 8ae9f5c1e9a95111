//! The integer affine hull: all equalities a conjunction implies, existential variables included.
//!
//! Points of the set span a lower bound of the hull. A normal of what they span is either an equality of the set or
//! yields a point off the plane, which adds a dimension; so there are at most twice as many emptiness tests as
//! variables. Parametric minimisation needs this: an equality it does not know about shows only after a cut for every
//! value of a variable.

use crate::conjunction::Conjunction;
use crate::limits::{Budget, Exact};
use crate::rows::{Rows, System};
use crate::scalar::{Scalar, ladder};
use crate::solve::lattice::echelon;
use crate::solve::solve_apart;

impl Conjunction {
    /// The same set in normal form with every implied equality stated; `None` if it is empty.
    pub(crate) fn with_hull(&self, budget: &mut Budget) -> Exact<Option<Conjunction>> {
        let Some(set) = self.simplified_within(budget)? else { return Ok(None) };
        if set.ins.is_empty() {
            return Ok(if set.decide_empty(budget)? { None } else { Some(set) });
        }
        match ladder!(T => implied_equalities::<T>(&set, budget))? {
            None => Ok(None),
            Some(rows) if rows.is_empty() => Ok(Some(set)),
            Some(rows) => {
                let mut stated = set;
                for (row, constant) in rows {
                    let mut affine = crate::affine::Affine::constant(constant);
                    for (index, value) in row.iter().enumerate() {
                        let var = crate::affine::Var(index as u32);
                        affine = affine.add_scaled(&var.into(), value);
                    }
                    stated.add_row(&affine, true);
                }
                stated.simplified_within(budget)
            }
        }
    }
}

/// An equality: coefficients and constant.
type Equality = (Vec<crate::int::Int>, crate::int::Int);

/// Equalities the set implies beyond those it states; `None` if it is empty.
fn implied_equalities<T: Scalar>(set: &Conjunction, budget: &mut Budget) -> Exact<Option<Vec<Equality>>> {
    let system = set.system::<T>();
    let vars = system.vars();
    let Some(origin) = solve_apart(&system, budget)? else { return Ok(None) };
    let mut differences: Rows<T> = Rows::new(vars + 1);
    let mut proven: Rows<T> = Rows::new(vars + 1);
    for row in system.eqs.iter() {
        proven.push(row);
    }
    let stated = proven.len();
    let mut rank = echelon(&proven, budget)?.1;
    'points: loop {
        let (basis, dimension) = echelon(&differences, budget)?;
        for normal in &basis.columns[dimension..] {
            if rank == vars - dimension {
                break 'points;
            }
            let mut plane = vec![T::zero()];
            plane.extend_from_slice(normal);
            proven.push(&plane);
            let extended = echelon(&proven, budget)?.1;
            proven.drop_last();
            if extended == rank {
                continue;
            }
            let value = crate::rows::evaluate(&plane, &origin)?;
            plane[0] = value.neg()?;
            if let Some(point) = beside(&system, &plane, budget)? {
                let difference = differences.push_zeros();
                for ((target, new), old) in difference[1..].iter_mut().zip(&point).zip(&origin) {
                    *target = new.sub(old)?;
                }
                continue 'points;
            }
            proven.push(&plane);
            rank = extended;
        }
        break;
    }
    let new = (stated..proven.len()).map(|index| {
        let row = proven.row(index);
        (row[1..].iter().map(T::to_int).collect(), row[0].to_int())
    });
    Ok(Some(new.collect()))
}

/// A point of the system off the plane `row = 0`.
fn beside<T: Scalar>(system: &System<T>, row: &[T], budget: &mut Budget) -> Exact<Option<Vec<T>>> {
    let mut above = system.clone();
    let target = above.ins.push_zeros();
    target.clone_from_slice(row);
    target[0] = target[0].sub(&T::one())?;
    if let Some(point) = solve_apart(&above, budget)? {
        return Ok(Some(point));
    }
    let mut below = system.clone();
    let target = below.ins.push_zeros();
    target.clone_from_slice(row);
    crate::rows::complement(target)?;
    solve_apart(&below, budget)
}
