//! Optima of unions: lexicographic ones as pieces, those of one expression as numbers, and small sample points.

use crate::affine::{Affine, Var};
use crate::conjunction::{Conjunction, Point};
use crate::int::Int;
use crate::lexmin::{Parametric, lexmin};
use crate::limits::{Budget, Exact, Stop};
use crate::rows::Rows;
use crate::scalar::{Scalar, ladder};
use crate::solve::{Least, minimize};
use crate::union::subtract;

/// Which end of an order is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Least,
    Greatest,
}

/// The result of a lexicographic optimisation.
pub(crate) enum Optimum {
    Pieces(Vec<Conjunction>),
    Unbounded,
}

/// For each value of the first `fixed` variables the lexicographic optimum of the others.
pub(crate) fn optimum(pieces: &[Conjunction], fixed: usize, end: End, budget: &mut Budget) -> Exact<Optimum> {
    let mut best: Vec<Conjunction> = Vec::new();
    for piece in pieces {
        let Some(new) = optimum_of_one(piece, fixed, end, budget)? else { return Ok(Optimum::Unbounded) };
        if best.is_empty() {
            best = new;
            continue;
        }
        let kept = subtract(&best, &beaten_by(&new, fixed, end, false), budget)?;
        let added = subtract(&new, &beaten_by(&best, fixed, end, true), budget)?;
        best = kept;
        best.extend(added);
    }
    Ok(Optimum::Pieces(best))
}

/// `None`: unbounded somewhere.
fn optimum_of_one(
    piece: &Conjunction,
    fixed: usize,
    end: End,
    budget: &mut Budget,
) -> Exact<Option<Vec<Conjunction>>> {
    if fixed == 0 {
        return constant_optimum(piece, end, budget);
    }
    let Some(piece) = piece.with_hull(budget)? else { return Ok(Some(Vec::new())) };
    ladder!(T => parametric_optimum::<T>(&piece, fixed, end, budget))
}

fn parametric_optimum<T: Scalar>(
    piece: &Conjunction,
    fixed: usize,
    end: End,
    budget: &mut Budget,
) -> Exact<Option<Vec<Conjunction>>> {
    let dims = piece.visible() - fixed;
    let mirrored = |rows: &Rows<i64>| -> Exact<Rows<T>> {
        let mut rows = rows.lifted::<T>();
        if end == End::Greatest {
            for row in rows.iter_mut() {
                for value in &mut row[fixed + 1..=fixed + dims] {
                    *value = value.neg()?;
                }
            }
        }
        Ok(rows)
    };
    let problem = Parametric { params: fixed, eqs: mirrored(&piece.eqs)?, ins: mirrored(&piece.ins)? };
    let mut out = Vec::new();
    for found in lexmin(problem, budget)? {
        let extra = found.context.vars() - fixed;
        let width = 1 + piece.visible() + extra;
        let columns: Vec<usize> =
            (0..=fixed + extra).map(|column| if column <= fixed { column } else { column + dims }).collect();
        let mut set = Conjunction::new(piece.visible());
        set.eqs = Rows::new(width);
        set.ins = Rows::new(width);
        for row in found.context.eqs.scattered(width, &columns).iter() {
            set.add_scalar_row(row, true);
        }
        for row in found.context.ins.scattered(width, &columns).iter() {
            set.add_scalar_row(row, false);
        }
        for (dim, minimum) in found.minimum.iter().take(dims).enumerate() {
            let Some((row, den)) = minimum else { return Ok(None) };
            let mut equality = vec![T::zero(); width];
            for (value, column) in row.iter().zip(&columns) {
                equality[*column] = value.clone();
            }
            equality[1 + fixed + dim] = if end == End::Least { den.neg()? } else { den.clone() };
            set.add_scalar_row(&equality, true);
        }
        out.extend(set.simplified());
    }
    Ok(Some(out))
}

/// The optimum of a set without parameters: one coordinate after the other.
fn constant_optimum(piece: &Conjunction, end: End, budget: &mut Budget) -> Exact<Option<Vec<Conjunction>>> {
    let mut point = piece.clone();
    let sign = if end == End::Least { 1 } else { -1 };
    for dim in 0..piece.visible() {
        let var = Var(dim as u32);
        match least(std::slice::from_ref(&point), &(var * sign), budget)? {
            Least::Empty => return Ok(Some(Vec::new())),
            Least::Unbounded => return Ok(None),
            Least::Value(value) => point.add_eq(var * sign, value),
        }
    }
    let mut single = Conjunction::new(piece.visible());
    match point.solve(budget)? {
        None => Ok(Some(Vec::new())),
        Some(found) => {
            for (dim, value) in found.coordinates().iter().enumerate() {
                single.add_eq(Var(dim as u32), value.clone());
            }
            Ok(Some(vec![single]))
        }
    }
}

/// The points that a point of `others`, with the same fixed variables, beats in the order; `ties` count as beaten if
/// asked for.
fn beaten_by(others: &[Conjunction], fixed: usize, end: End, ties: bool) -> Vec<Conjunction> {
    let mut out = Vec::new();
    for other in others {
        let dims = other.visible() - fixed;
        let levels = if ties { dims + 1 } else { dims };
        for level in 0..levels {
            // Visible: fixed, dims; then the other point, hidden below.
            let map: Vec<usize> = (0..fixed).chain(fixed + dims..fixed + 2 * dims).collect();
            let mut both = other.renamed(fixed + 2 * dims, &map);
            let ours = |dim: usize| Var((fixed + dim) as u32);
            let theirs = |dim: usize| Var((fixed + dims + dim) as u32);
            for dim in 0..level.min(dims) {
                both.add_eq(ours(dim), theirs(dim));
            }
            if level < dims {
                match end {
                    End::Least => both.add_lt(theirs(level), ours(level)),
                    End::Greatest => both.add_gt(theirs(level), ours(level)),
                }
            }
            out.extend(both.hidden(|var| var >= fixed + dims).simplified());
        }
    }
    out
}

/// The least value of an expression over a union.
pub(crate) fn least(pieces: &[Conjunction], objective: &Affine, budget: &mut Budget) -> Exact<Least<Int>> {
    let mut result = Least::Empty;
    for piece in pieces {
        match ladder!(T => least_of_one::<T>(piece, objective, budget))? {
            Least::Empty => {}
            Least::Unbounded => return Ok(Least::Unbounded),
            Least::Value(value) => {
                result = match result {
                    Least::Value(least) if least <= value => Least::Value(least),
                    _ => Least::Value(value),
                }
            }
        }
    }
    Ok(result)
}

fn least_of_one<T: Scalar>(
    piece: &Conjunction,
    objective: &Affine,
    budget: &mut Budget,
) -> Exact<Least<Int>> {
    let mut row = vec![T::zero(); piece.vars() + 1];
    row[0] = T::from_int(objective.constant_term())?;
    for (var, value) in objective.terms() {
        match row.get_mut(var.index() + 1) {
            Some(target) => *target = T::from_int(value)?,
            None => return Err(Stop::Limit),
        }
    }
    Ok(match minimize(&piece.system::<T>(), &row, budget)? {
        Least::Empty => Least::Empty,
        Least::Unbounded => Least::Unbounded,
        Least::Value(value) => Least::Value(value.to_int()),
    })
}

/// A small, readable point: of the points whose largest coordinate is least in size, the one whose coordinates, in
/// order, are each nearest to zero, positive before negative.
pub(crate) fn smallest_point(pieces: &[Conjunction], budget: &mut Budget) -> Exact<Option<Point>> {
    let Some(mut known) = crate::union::any_point(pieces, budget)? else { return Ok(None) };
    let boxed = |size: &Int| -> Vec<Conjunction> {
        pieces
            .iter()
            .map(|piece| {
                let mut inside = piece.clone();
                for var in 0..piece.visible() {
                    inside.add_le(Var(var as u32), size.clone());
                    inside.add_ge(Var(var as u32), -size);
                }
                inside
            })
            .collect()
    };
    let size = |point: &Point| point.coordinates().iter().map(Int::abs).max().unwrap_or_default();
    let (mut low, mut high) = (Int::ZERO, size(&known));
    while low < high {
        let middle = (&low + &high).div_floor(&Int::from(2));
        match crate::union::any_point(&boxed(&middle), budget)? {
            Some(point) => {
                high = size(&point);
                known = point;
            }
            None => low = middle + Int::ONE,
        }
    }
    let mut inside = boxed(&high);
    for index in 0..known.coordinates().len() {
        let var = Var(index as u32);
        // Nearest to zero: |x| ≤ r, by bisection from the known point.
        let (mut low, mut high) = (Int::ZERO, known.get(var).abs());
        while low < high {
            let middle = (&low + &high).div_floor(&Int::from(2));
            match crate::union::any_point(&between(&inside, var, &-&middle, &middle), budget)? {
                Some(point) => {
                    high = point.get(var).abs();
                    known = point;
                }
                None => low = middle + Int::ONE,
            }
        }
        if known.get(var).signum() < 0
            && let Some(point) = crate::union::any_point(&between(&inside, var, &high, &high), budget)?
        {
            known = point;
        }
        let value = known.get(var);
        inside = between(&inside, var, &value, &value);
    }
    Ok(Some(known))
}

fn between(pieces: &[Conjunction], var: Var, low: &Int, high: &Int) -> Vec<Conjunction> {
    pieces
        .iter()
        .map(|piece| {
            let mut inside = piece.clone();
            inside.add_ge(var, low.clone());
            inside.add_le(var, high.clone());
            inside
        })
        .collect()
}
