//! The complete method behind the cheap steps: decides every system of inequalities, unbounded ones
//! included.
//!
//! 1. A rational point: none means no integer point; an integer one is the answer.
//! 2. *Unbounded directions.* Rows that some direction of the recession cone raises can always be
//!    satisfied by going far enough that way, so they are dropped; what is left depends on a
//!    lattice of lower dimension, on which it is bounded.
//! 3. *Flat directions.* A row whose greatest value is below one is an equality and removes a
//!    variable.
//! 4. *Branching* on the thinnest direction of a lattice basis reduced in the metric of the
//!    polytope (Lenstra): the number of values to try is bounded by the dimension, not by the
//!    coefficients.
//!
//! Each step lowers the dimension, so the recursion is as deep as there are variables at most.

use crate::limits::{Budget, Exact, Stop};
use crate::rows::{Rows, System, evaluate};
use crate::scalar::Scalar;
use crate::solve::lattice::{echelon, reduced_apart};
use crate::solve::solve_part;
use crate::solve::tableau::{Optimum, Tableau};

/// An integer point of `ins ≥ 0`, if there is one.
pub(crate) fn complete<T: Scalar>(ins: &Rows<T>, depth: usize, budget: &mut Budget) -> Exact<Option<Vec<T>>> {
    let used: Vec<usize> =
        (1..ins.width()).filter(|column| ins.iter().any(|row| !row[*column].is_zero())).collect();
    if used.len() + 1 < ins.width() {
        let columns: Vec<usize> = std::iter::once(0).chain(used.iter().copied()).collect();
        let compact = ins.gathered(&columns);
        return Ok(complete(&compact, depth, budget)?.map(|point| {
            let mut whole = vec![T::zero(); ins.width() - 1];
            for (column, value) in used.iter().zip(point) {
                whole[column - 1] = value;
            }
            whole
        }));
    }
    budget.tick(ins.weight())?;
    let mut tableau = Tableau::new(ins, budget)?;
    if !tableau.make_feasible(budget)? {
        return Ok(None);
    }
    if let Some(point) = rounded_point(&tableau, ins)? {
        return Ok(Some(point));
    }
    let direction = recession_direction(ins, budget)?;
    let lineality = tableau.nonbasic.iter().any(|name| *name < tableau.free);
    if lineality || direction.iter().any(|value| !value.is_zero()) {
        return unbounded(ins, &direction, depth, budget);
    }
    bounded(ins, tableau, depth, budget)
}

/// The basic point rounded to the nearest integers, if it lies in the set.
fn rounded_point<T: Scalar>(tableau: &Tableau<T>, ins: &Rows<T>) -> Exact<Option<Vec<T>>> {
    let mut point = Vec::with_capacity(tableau.free);
    for (numerator, denominator) in tableau.point() {
        let half = denominator.div_floor(&T::from_i64(2))?;
        point.push(numerator.add(&half)?.div_floor(&denominator)?);
    }
    for row in ins.iter() {
        if evaluate(row, &point)?.signum() < 0 {
            return Ok(None);
        }
    }
    Ok(Some(point))
}

/// An integer direction of the recession cone on which every row that can be positive there is;
/// zero if none can (the set is then bounded but for lines that no row mentions).
fn recession_direction<T: Scalar>(ins: &Rows<T>, budget: &mut Budget) -> Exact<Vec<T>> {
    let vars = ins.width() - 1;
    let mut direction = vec![T::zero(); vars];
    let mut open: Vec<usize> = (0..ins.len()).collect();
    while !open.is_empty() {
        budget.tick(ins.weight())?;
        let mut cone = Rows::with_capacity(ins.width(), ins.len() + 1);
        let mut sum = vec![T::zero(); ins.width()];
        for (index, row) in ins.iter().enumerate() {
            cone.push(row);
            cone.row_mut(index)[0] = T::zero();
            if open.binary_search(&index).is_ok() {
                T::combine(&mut sum, &T::one(), row, &T::one())?;
            }
        }
        sum[0] = T::zero();
        // 0 ≤ Σ open rows ≤ 1 keeps the program bounded.
        cone.push(&sum);
        let last = cone.len() - 1;
        crate::rows::negate(cone.row_mut(last))?;
        cone.row_mut(last)[0] = T::one();
        let mut tableau = Tableau::new(&cone, budget)?;
        tableau.make_feasible(budget)?;
        match tableau.maximize(&sum, budget)? {
            Optimum::Value(value, _) if value.signum() > 0 => {}
            _ => break,
        }
        let point = tableau.point();
        let mut scale = T::one();
        for (_, denominator) in &point {
            scale = scale.div_floor(&scale.gcd(denominator)?)?.mul(denominator)?;
        }
        for (value, (numerator, denominator)) in direction.iter_mut().zip(&point) {
            *value = value.add(&numerator.mul(&scale.div_floor(denominator)?)?)?;
        }
        let mut left = Vec::with_capacity(open.len());
        for index in open {
            if slope(ins.row(index), &direction)?.signum() <= 0 {
                left.push(index);
            }
        }
        open = left;
    }
    let mut gcd = T::zero();
    for value in &direction {
        gcd = gcd.gcd(value)?;
    }
    if gcd.signum() > 0 && !gcd.is_one() {
        for value in &mut direction {
            *value = value.div_floor(&gcd)?;
        }
    }
    Ok(direction)
}

/// Returns the growth of a row along a direction.
fn slope<T: Scalar>(row: &[T], direction: &[T]) -> Exact<T> {
    evaluate(row, direction)?.sub(&row[0])
}

/// Drops the rows that grow along `direction`, solves the rest in its own lattice, and walks back
/// along `direction`.
fn unbounded<T: Scalar>(
    ins: &Rows<T>,
    direction: &[T],
    depth: usize,
    budget: &mut Budget,
) -> Exact<Option<Vec<T>>> {
    let mut kept = Rows::new(ins.width());
    for row in ins.iter() {
        if slope(row, direction)?.is_zero() {
            kept.push(row);
        }
    }
    let (basis, rank) = echelon(&kept, budget)?;
    let columns: Vec<usize> = (0..=rank).collect();
    budget.tick(ins.width().saturating_mul(kept.weight()))?;
    let low = basis.transform(&kept)?.gathered(&columns);
    let system = System { eqs: Rows::new(low.width()), ins: low };
    let Some(mut inner) = solve_part(&system, depth + 1, budget)? else { return Ok(None) };
    inner.resize(basis.columns.len(), T::zero());
    let mut point = basis.apply(&inner)?;
    let mut steps = T::zero();
    for row in ins.iter() {
        let (value, slope) = (evaluate(row, &point)?, slope(row, direction)?);
        if value.signum() < 0 && slope.signum() > 0 {
            steps = steps.max(value.neg()?.div_ceil(&slope)?);
        }
    }
    T::combine(&mut point, &T::one(), direction, &steps)?;
    Ok(Some(point))
}

/// Solves a bounded polytope that is rationally non-empty.
fn bounded<T: Scalar>(
    ins: &Rows<T>,
    mut tableau: Tableau<T>,
    depth: usize,
    budget: &mut Budget,
) -> Exact<Option<Vec<T>>> {
    let mut widths = Vec::with_capacity(ins.len());
    for (index, row) in ins.iter().enumerate() {
        let Optimum::Value(numerator, denominator) = tableau.maximize(row, budget)? else {
            return Err(Stop::Limit);
        };
        let width = numerator.div_floor(&denominator)?;
        if width.is_zero() {
            let mut rest = ins.clone();
            rest.swap_remove(index);
            let mut eqs = Rows::new(ins.width());
            eqs.push(row);
            return solve_part(&System { eqs, ins: rest }, depth + 1, budget);
        }
        widths.push(width);
    }
    // Rows weigh in inverse proportion to their widths, so that the metric fits the polytope.
    let largest = widths.iter().max().cloned().unwrap_or_else(T::one).min(T::from_i64(1 << 20));
    let mut weights = Vec::with_capacity(widths.len());
    for width in &widths {
        weights.push(largest.div_floor(width)?.max(T::one()));
    }
    let basis = reduced_apart(ins, &weights, budget)?;
    budget.tick(ins.width().saturating_mul(ins.weight()))?;
    let rows = basis.transform(ins)?;
    let mut tableau = Tableau::new(&rows, budget)?;
    tableau.make_feasible(budget)?;
    let Some((var, low, high)) = thinnest(&mut tableau, budget)? else { return Ok(None) };
    // From the middle outwards: points are likeliest there.
    let middle = low.add(&high)?.div_floor(&T::from_i64(2))?;
    let mut offset = T::zero();
    loop {
        let (below, above) = (middle.sub(&offset)?, middle.add(&offset)?);
        let mut outside = true;
        for (value, inside) in [(&below, below >= low), (&above, above <= high && !offset.is_zero())] {
            if !inside {
                continue;
            }
            outside = false;
            budget.tick(rows.weight())?;
            if let Some(point) = solve_slice(&rows, var, value, depth, budget)? {
                return Ok(Some(basis.apply(&point)?));
            }
        }
        if outside && above > high {
            return Ok(None);
        }
        offset = offset.add(&T::one())?;
    }
}

/// The variable with the fewest integer values, and their range. `None`: some variable has no
/// integer value.
fn thinnest<T: Scalar>(tableau: &mut Tableau<T>, budget: &mut Budget) -> Exact<Option<(usize, T, T)>> {
    let mut best: Option<(T, usize, T, T)> = None;
    let mut objective = vec![T::zero(); tableau.free + 1];
    for var in (0..tableau.free).rev() {
        objective[var + 1] = T::one();
        let Optimum::Value(n, d) = tableau.maximize(&objective, budget)? else { return Err(Stop::Limit) };
        let high = n.div_floor(&d)?;
        objective[var + 1] = T::one().neg()?;
        let Optimum::Value(n, d) = tableau.maximize(&objective, budget)? else { return Err(Stop::Limit) };
        let low = n.div_floor(&d)?.neg()?;
        objective[var + 1] = T::zero();
        if low > high {
            return Ok(None);
        }
        let width = high.sub(&low)?;
        if best.as_ref().is_none_or(|(least, ..)| width < *least) {
            best = Some((width, var, low, high));
        }
    }
    Ok(best.map(|(_, var, low, high)| (var, low, high)))
}

/// A point of the slice where `var` has `value`.
fn solve_slice<T: Scalar>(
    rows: &Rows<T>,
    var: usize,
    value: &T,
    depth: usize,
    budget: &mut Budget,
) -> Exact<Option<Vec<T>>> {
    let columns: Vec<usize> = (0..rows.width()).filter(|column| *column != var + 1).collect();
    let mut slice = rows.gathered(&columns);
    for (target, row) in slice.iter_mut().zip(rows.iter()) {
        target[0] = target[0].add(&row[var + 1].mul(value)?)?;
    }
    let system = System { eqs: Rows::new(slice.width()), ins: slice };
    Ok(solve_part(&system, depth + 1, budget)?.map(|mut point| {
        point.insert(var, value.clone());
        point
    }))
}
