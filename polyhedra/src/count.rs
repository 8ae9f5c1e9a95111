//! Exact counts of bounded sets.
//!
//! Members are made disjoint and explicit, so each point has one witness and the points of a system
//! are the set's. Equalities are removed by unimodular substitutions (one to one), independent
//! groups of variables are multiplied, one variable is an interval, and two are a polygon, counted
//! column by column with floor sums in logarithmic time. Of more variables the one with the fewest
//! values is enumerated, so the work grows with those, not with the count.

use crate::conjunction::Conjunction;
use crate::int::Int;
use crate::limits::{Budget, Exact, Stop};
use crate::rows::{Rows, System};
use crate::scalar::{Scalar, ladder};
use crate::solve::tableau::{Optimum, Tableau};
use crate::solve::{is_empty, without_equalities};
use crate::union::disjoint;

/// The number of points of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    Finite(Int),
    Infinite,
}

/// Planar pieces with more edges than this are enumerated by columns.
const MAX_EDGES: usize = 2_000;

/// The number of points in a union.
pub(crate) fn count(pieces: &[Conjunction], budget: &mut Budget) -> Exact<Count> {
    let mut total = Int::ZERO;
    for piece in disjoint(pieces, budget)? {
        for part in piece.explicit(budget)? {
            match ladder!(T => count_system(part.system::<T>(), 0, budget))? {
                Count::Finite(number) => total += &number,
                Count::Infinite => return Ok(Count::Infinite),
            }
        }
    }
    Ok(Count::Finite(total))
}

fn count_system<T: Scalar>(system: System<T>, depth: usize, budget: &mut Budget) -> Exact<Count> {
    budget.tick(1 + system.ins.len())?;
    if depth > 256 {
        return Err(Stop::Limit);
    }
    let Some((ins, trail)) = without_equalities(system, budget)? else { return Ok(Count::Finite(Int::ZERO)) };
    let groups = groups(&ins, &trail.live());
    let mut product = Int::ONE;
    let mut infinite = false;
    for columns in groups {
        let kept: Vec<usize> = std::iter::once(0).chain(columns.iter().copied()).collect();
        let mut group = Rows::new(kept.len());
        for row in ins.iter().filter(|row| columns.iter().any(|column| !row[*column].is_zero())) {
            let mut rows = Rows::new(row.len());
            rows.push(row);
            group.extend(&rows.gathered(&kept));
        }
        match count_group(&group, depth, budget)? {
            Count::Finite(number) if number.is_zero() => return Ok(Count::Finite(number)),
            Count::Finite(number) => product = product * number,
            Count::Infinite => infinite = true,
        }
    }
    Ok(if infinite { Count::Infinite } else { Count::Finite(product) })
}

/// The live columns, grouped so that no row mentions two groups.
fn groups<T: Scalar>(ins: &Rows<T>, live: &[usize]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = live.iter().map(|column| vec![*column]).collect();
    for row in ins.iter() {
        let (mut touched, rest): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.iter().any(|column| !row[*column].is_zero()));
        groups = rest;
        if !touched.is_empty() {
            let mut merged: Vec<usize> = touched.drain(..).flatten().collect();
            merged.sort_unstable();
            groups.push(merged);
        }
    }
    groups
}

/// Counts inequalities over variables that belong together.
fn count_group<T: Scalar>(ins: &Rows<T>, depth: usize, budget: &mut Budget) -> Exact<Count> {
    let vars = ins.width() - 1;
    if is_empty(System { eqs: Rows::new(ins.width()), ins: ins.clone() }, budget)? {
        return Ok(Count::Finite(Int::ZERO));
    }
    let mut tableau = Tableau::new(ins, budget)?;
    tableau.make_feasible(budget)?;
    let mut best: Option<(Int, usize, Int, Int)> = None;
    for var in 0..vars {
        let mut objective = vec![T::zero(); vars + 1];
        objective[var + 1] = T::one();
        let Optimum::Value(n, d) = tableau.maximize(&objective, budget)? else { return Ok(Count::Infinite) };
        let high = n.div_floor(&d)?.to_int();
        objective[var + 1] = T::one().neg()?;
        let Optimum::Value(n, d) = tableau.maximize(&objective, budget)? else { return Ok(Count::Infinite) };
        let low = -n.div_floor(&d)?.to_int();
        let width = &high - &low;
        if best.as_ref().is_none_or(|(least, ..)| width < *least) {
            best = Some((width, var, low, high));
        }
    }
    let Some((width, var, low, high)) = best else { return Ok(Count::Finite(Int::ONE)) };
    if vars == 1 {
        return Ok(Count::Finite(width + Int::ONE));
    }
    if vars == 2 && ins.len() <= MAX_EDGES {
        return polygon(ins, var, &low, &high, budget).map(Count::Finite);
    }
    let columns: Vec<usize> = (0..ins.width()).filter(|column| *column != var + 1).collect();
    let (mut value, mut total) = (low, Int::ZERO);
    while value <= high {
        let fixed = T::from_int(&value)?;
        let mut slice = ins.gathered(&columns);
        for (target, row) in slice.iter_mut().zip(ins.iter()) {
            target[0] = target[0].add(&row[var + 1].mul(&fixed)?)?;
        }
        match count_system(System { eqs: Rows::new(slice.width()), ins: slice }, depth + 1, budget)? {
            Count::Finite(number) => total += &number,
            Count::Infinite => return Ok(Count::Infinite),
        }
        value = value + Int::ONE;
    }
    Ok(Count::Finite(total))
}

/// A bound `⌊(slope·x + constant) / divisor⌋` of `y`, with a positive divisor.
struct Edge {
    slope: Int,
    constant: Int,
    divisor: Int,
}

impl Edge {
    /// Compares the heights of this edge and of `other` at `x`.
    fn compare(&self, other: &Edge, x: &Int) -> std::cmp::Ordering {
        let ours = (&(&self.slope * x) + &self.constant) * other.divisor.clone();
        let theirs = (&(&other.slope * x) + &other.constant) * self.divisor.clone();
        ours.cmp(&theirs)
    }

    /// The integer at or left of the place where two edges cross.
    fn crossing(&self, other: &Edge) -> Option<Int> {
        let slope = &(&self.slope * &other.divisor) - &(&other.slope * &self.divisor);
        let constant = &(&other.constant * &self.divisor) - &(&self.constant * &other.divisor);
        if slope.is_zero() {
            return None;
        }
        Some(if slope.signum() > 0 { constant.div_floor(&slope) } else { (-constant).div_floor(&-slope) })
    }
}

/// The points of a bounded planar piece: `x` is the variable with the range, `y` the other.
fn polygon<T: Scalar>(ins: &Rows<T>, var: usize, low: &Int, high: &Int, budget: &mut Budget) -> Exact<Int> {
    let (x, y) = (var + 1, 2 - var);
    // Lower bounds are kept as upper bounds of −y, so both are floors.
    let (mut below, mut above) = (Vec::new(), Vec::new());
    for row in ins.iter() {
        let (slope, constant, divisor) = (row[x].to_int(), row[0].to_int(), row[y].to_int());
        match divisor.signum() {
            1 => below.push(Edge { slope, constant, divisor }),
            -1 => above.push(Edge { slope, constant, divisor: -divisor }),
            _ => {}
        }
    }
    let mut ends: Vec<Int> = Vec::new();
    for edges in [&below, &above] {
        for (index, edge) in edges.iter().enumerate() {
            for other in &edges[index + 1..] {
                budget.tick(1)?;
                ends.extend(edge.crossing(other).filter(|at| at >= low && at < high));
            }
        }
    }
    ends.push(high.clone());
    ends.sort();
    ends.dedup();
    let mut total = Int::ZERO;
    let mut start = low.clone();
    for end in ends {
        let least = |edges: &[Edge]| -> Option<usize> {
            (0..edges.len()).min_by(|a, b| {
                let (a, b) = (&edges[*a], &edges[*b]);
                a.compare(b, &start).then_with(|| a.compare(b, &end))
            })
        };
        let (Some(lower), Some(upper)) = (least(&below), least(&above)) else { return Err(Stop::Limit) };
        let columns = &(&end - &start) + &Int::ONE;
        budget.tick(64)?;
        total += &floor_sum(&columns, &start, &above[upper]);
        total += &floor_sum(&columns, &start, &below[lower]);
        total += &columns;
        start = end + Int::ONE;
    }
    Ok(total)
}

/// `Σ ⌊(slope·x + constant) / divisor⌋` for `columns` values of `x` from `start` on.
fn floor_sum(columns: &Int, start: &Int, edge: &Edge) -> Int {
    let mut total = Int::ZERO;
    let (mut n, mut m, mut a) = (columns.clone(), edge.divisor.clone(), edge.slope.clone());
    let mut b = &edge.constant + &(&edge.slope * start);
    // Σ over 0 ≤ i < n of ⌊(a·i + b)/m⌋, exchanging the roles of a and m as Euclid does.
    loop {
        let whole = a.div_floor(&m);
        let pairs = (&n * &(&n - &Int::ONE)).div_floor(&Int::from(2));
        total += &(&pairs * &whole);
        a = a.rem_floor(&m);
        total += &(&n * &b.div_floor(&m));
        b = b.rem_floor(&m);
        // Now 0 ≤ a, b < m; count lattice points under the line by rows instead of columns.
        let top = &(&a * &n) + &b;
        let rows = top.div_floor(&m);
        if rows.is_zero() {
            return total;
        }
        let rest = top.rem_floor(&m);
        // Σ = Σ over rows of ⌊(m·j + rest)/a⌋
        (n, b) = (rows, rest);
        std::mem::swap(&mut a, &mut m);
    }
}
