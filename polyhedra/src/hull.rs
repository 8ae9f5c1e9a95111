//! The integer affine hull: all equalities a set implies, existential variables included.
//!
//! Points of the set span a lower bound of the hull. A normal of what they span is either an
//! equality of the set or yields a point off the plane, which adds a dimension; so there are at
//! most twice as many emptiness tests as variables. Parametric minimisation needs this for what it
//! starts from, since an equality it does not know about shows only after a cut for every value of
//! a variable, and for the [contexts](crate::lexmin) it passes through.

use crate::conjunction::Conjunction;
use crate::error::Error;
use crate::error::limited;
use crate::int::Int;
use crate::limits::{Budget, Exact, Limits};
use crate::rows::{Rows, evaluate, negate};
use crate::scalar::{Scalar, ladder};
use crate::solve::lattice::echelon;
use crate::solve::solve_apart;

impl Conjunction {
    /// Returns the same set with every equality it implies stated; `None` if it is empty.
    ///
    /// The equalities of the result span the affine hull of the set.
    ///
    /// # Errors
    /// If the limit is reached.
    ///
    /// ```
    /// use loomir_polyhedra::{Conjunction, Limits, Var};
    /// let mut set = Conjunction::new(2);
    /// set.add_le(Var(0), Var(1));
    /// set.add_le(Var(1) + 0, Var(0) + 0);
    /// let stated = set.with_equalities(&Limits::default())?.unwrap();
    /// assert_eq!(stated.equalities().count(), 1);
    /// # Ok::<(), loomir_polyhedra::Error>(())
    /// ```
    pub fn with_equalities(&self, limits: &Limits) -> Result<Option<Conjunction>, Error> {
        limited(limits, |budget| self.with_hull(budget))
    }

    /// The same set in normal form with every implied equality stated; `None` if it is empty.
    pub(crate) fn with_hull(&self, budget: &mut Budget) -> Exact<Option<Conjunction>> {
        let Some(set) = self.simplified_within(budget)? else { return Ok(None) };
        if set.ins.is_empty() {
            return Ok(if set.decide_empty(budget)? { None } else { Some(set) });
        }
        match ladder!(T => equalities_of::<T>(&set, budget))? {
            None => Ok(None),
            Some(rows) if rows.is_empty() => Ok(Some(set)),
            Some(rows) => {
                let mut stated = set;
                for row in rows.iter() {
                    stated.add_scalar_row(row, true);
                }
                stated.simplified_within(budget)
            }
        }
    }
}

/// Equalities the set implies beyond those it states; `None` if it is empty.
fn equalities_of<T: Scalar>(set: &Conjunction, budget: &mut Budget) -> Exact<Option<Rows<Int>>> {
    let system = set.system::<T>();
    let Some(origin) = solve_apart(&system, budget)? else { return Ok(None) };
    let find = |row: &[T], budget: &mut Budget| {
        let mut above = system.clone();
        above.ins.push(row);
        solve_apart(&above, budget)
    };
    implied_equalities(&system.eqs, &[origin], find, budget)?.converted().map(Some)
}

/// Equalities that hold on a set beyond the `stated` ones. Of the set some points are known, and
/// `find` yields one at which a row is not negative, if there is one.
pub(crate) fn implied_equalities<T: Scalar>(
    stated: &Rows<T>,
    points: &[Vec<T>],
    mut find: impl FnMut(&[T], &mut Budget) -> Exact<Option<Vec<T>>>,
    budget: &mut Budget,
) -> Exact<Rows<T>> {
    let vars = stated.width() - 1;
    let mut found = Rows::new(vars + 1);
    let Some((origin, others)) = points.split_first() else { return Ok(found) };
    let mut differences: Rows<T> = Rows::new(vars + 1);
    for point in others {
        push_difference(&mut differences, point, origin)?;
    }
    let mut proven = stated.clone();
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
            if extended == rank {
                proven.drop_last();
                continue;
            }
            plane[0] = evaluate(&plane, origin)?.neg()?;
            for _ in 0..2 {
                negate(&mut plane)?;
                let mut beside = plane.clone();
                beside[0] = beside[0].sub(&T::one())?;
                if let Some(point) = find(&beside, budget)? {
                    proven.drop_last();
                    push_difference(&mut differences, &point, origin)?;
                    continue 'points;
                }
            }
            found.push(&plane);
            rank = extended;
        }
        break;
    }
    Ok(found)
}

fn push_difference<T: Scalar>(differences: &mut Rows<T>, point: &[T], origin: &[T]) -> Exact<()> {
    let difference = differences.push_zeros();
    for ((target, new), old) in difference[1..].iter_mut().zip(point).zip(origin) {
        *target = new.sub(old)?;
    }
    Ok(())
}
