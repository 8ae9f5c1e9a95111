//! Parametric optima of one conjunction: its lexicographic optimum as a function of its first variables.
//!
//! Existential variables that the fixed ones determine are parameters of the minimisation, like these: they have one
//! value, and as unknowns each would have to be found again by cuts. The others are minimised after the dimensions, so
//! that pieces say where a point exists.

use crate::conjunction::Conjunction;
use crate::divs::Resolved;
use crate::lexmin::{Parametric, lexmin};
use crate::limits::{Budget, Exact};
use crate::rows::{Rows, System};
use crate::scalar::{Scalar, ladder};

/// Which end of an order is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Least,
    Greatest,
}

/// For each value of the first `fixed` variables the optimum of the other visible ones, in disjoint conjunctions whose
/// existential variables are determined; `None` if it is unbounded somewhere.
pub(crate) fn parametric_optimum(
    set: &Conjunction,
    fixed: usize,
    end: End,
    budget: &mut Budget,
) -> Exact<Option<Vec<Conjunction>>> {
    let mut resolved = Resolved::new(set);
    if end == End::Greatest {
        resolved.mirror(fixed + 1..=resolved.visible)?;
    }
    ladder!(T => optimum::<T>(&resolved, fixed, end, budget))
}

fn optimum<T: Scalar>(
    resolved: &Resolved,
    fixed: usize,
    end: End,
    budget: &mut Budget,
) -> Exact<Option<Vec<Conjunction>>> {
    let dims = resolved.visible - fixed;
    let known: Vec<usize> = resolved.definitions(fixed).iter().map(|definition| definition.column).collect();
    let unknown = resolved.occurring().into_iter().filter(|column| !known.contains(column));
    let order: Vec<usize> =
        (0..=fixed).chain(known.iter().copied()).chain(fixed + 1..=resolved.visible).chain(unknown).collect();
    let problem = Parametric {
        params: fixed + known.len(),
        wanted: dims,
        system: System { eqs: resolved.eqs.gathered(&order), ins: resolved.ins.gathered(&order) }.converted::<T>()?,
    };
    let mut out = Vec::new();
    for piece in lexmin(problem, budget)? {
        let params = piece.context.vars();
        let width = 1 + params + dims;
        let columns: Vec<usize> =
            (0..=params).map(|column| if column <= fixed { column } else { column + dims }).collect();
        let mut set = Conjunction::new(resolved.visible);
        set.eqs = Rows::new(width);
        set.ins = Rows::new(width);
        for row in piece.context.eqs.scattered(width, &columns).iter() {
            set.add_scalar_row(row, true);
        }
        for row in piece.context.ins.scattered(width, &columns).iter() {
            set.add_scalar_row(row, false);
        }
        for (dim, minimum) in piece.minimum.iter().enumerate() {
            let Some((row, den)) = minimum else { return Ok(None) };
            let mut equality = vec![T::zero(); width];
            for (value, column) in row.iter().zip(&columns) {
                equality[*column] = value.clone();
            }
            equality[1 + fixed + dim] = if end == End::Least { den.neg()? } else { den.clone() };
            set.add_scalar_row(&equality, true);
        }
        out.push(set);
    }
    Ok(Some(out))
}
