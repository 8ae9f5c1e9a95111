//! Parametric optima of one conjunction: its lexicographic optimum as a function of its first
//! variables.
//!
//! Existential variables that the fixed ones determine are parameters of the minimisation, like
//! these: they have one value, and as unknowns each would have to be found again by cuts. The
//! others are minimised after the dimensions, so that pieces say where a point exists.

use crate::conjunction::Conjunction;
use crate::int::Int;
use crate::lexmin::{Parametric, lexmin};
use crate::limits::{Budget, Exact};
use crate::resolved::Resolved;
use crate::rows::System;
use crate::scalar::{Scalar, ladder};
use crate::solve::solve_apart;

/// Which end of an order is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Least,
    Greatest,
}

/// For each value of the first `fixed` variables the optimum of the other visible ones, in disjoint
/// conjunctions whose existential variables are determined; `None` if it is unbounded somewhere.
pub(crate) fn parametric_optimum(
    set: &Conjunction,
    fixed: usize,
    end: End,
    budget: &mut Budget,
) -> Exact<Option<Vec<Conjunction>>> {
    let mut resolved = Resolved::new(set)?;
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
    let system = resolved.system.gathered(&order).converted::<T>()?;
    let params = fixed + known.len();
    let Some(point) = solve_apart(&system, budget)? else { return Ok(Some(Vec::new())) };
    let problem = Parametric::within(system, params, dims);
    let mut out = Vec::new();
    for piece in lexmin(problem, &point[..params], budget)?.pieces {
        let columns: Vec<usize> = (0..=piece.context.vars())
            .map(|column| if column <= fixed { column } else { column + dims })
            .collect();
        let width = columns.len() + dims;
        let mut set = conjunction(&piece.context.scattered(width, &columns), resolved.visible);
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

/// The parts of `base` where `other` has no point. The existential variables of `other` that are
/// not determined are the unknowns of a parametric problem in the context of `base`, whose answer
/// says where there is no point.
pub(crate) fn difference(
    base: &Conjunction,
    other: &Resolved,
    budget: &mut Budget,
) -> Exact<Vec<Conjunction>> {
    let (visible, shift) = (other.visible, base.existentials());
    let mut context = base.clone();
    context.widen(other.system.vars() - visible);
    let definitions = other.definitions(visible);
    for definition in &definitions {
        context.add_definition(definition, visible, shift);
    }
    let known = |column: &usize| definitions.iter().any(|definition| definition.column == *column);
    let unknown: Vec<usize> =
        other.occurring().into_iter().filter(|column| !known(column)).map(|column| column + shift).collect();
    // Parameters, in the order of the context, then unknowns.
    let order: Vec<usize> = (0..=context.vars()).filter(|column| !unknown.contains(column)).collect();
    let place: Vec<usize> = order.iter().chain(&unknown).copied().collect();
    ladder!(T => {
        missing::<T>(&context.system().gathered(&order), &other.moved(shift, context.vars()).gathered(&place), budget)
            .map(|parts| parts.iter().map(|part| conjunction(part, visible)).collect())
    })
}

fn missing<T: Scalar>(
    context: &System<i64>,
    system: &System<Int>,
    budget: &mut Budget,
) -> Exact<Vec<System<T>>> {
    let context = context.converted::<T>()?;
    let Some(point) = solve_apart(&context, budget)? else { return Ok(Vec::new()) };
    let problem = Parametric { context, system: system.converted()?, wanted: 0 };
    Ok(lexmin(problem, &point, budget)?.empty)
}

/// The constraints as a conjunction of which the first variables are visible.
fn conjunction<T: Scalar>(system: &System<T>, visible: usize) -> Conjunction {
    let mut set = Conjunction::new(visible);
    set.widen(system.vars() - visible);
    for row in system.eqs.iter() {
        set.add_scalar_row(row, true);
    }
    for row in system.ins.iter() {
        set.add_scalar_row(row, false);
    }
    set
}
