//! Parametric integer programming: the lexicographically least point as a function of parameters.
//!
//! The unknowns are minimised in order, for all values of the parameters at once. A tableau whose right-hand sides
//! are affine in the parameters is pivoted by the lexicographic dual simplex method. Where the sign of a right-hand
//! side depends on the parameters, the parameter space is split; where the minimum is not an integer, a cut is added,
//! whose right-hand side may need a new parameter `⌊f(p)/d⌋` (Feautrier). The result is a list of disjoint pieces of
//! parameter space with an affine minimum on each; parameter values without a point are in no piece.
//!
//! Unknowns may have any sign: each is `u = u′ − M` with `u′ ≥ 0` and a symbolic `M`, larger than everything and
//! divisible by everything. A minimum that still mentions `M` is unbounded.
//!
//! Every question about a sign is an integer emptiness test of a context, so pieces are never empty. A few known
//! points of each context answer most of these questions without a solver.

use std::rc::Rc;

use crate::limits::{Budget, Exact, Stop};
use crate::rows::{Rows, System, evaluate};
use crate::scalar::Scalar;
use crate::solve::tableau::Tableau;
use crate::solve::{is_empty, solve};

/// Constraints over parameters and then unknowns.
#[derive(Clone, Debug)]
pub(crate) struct Parametric<T> {
    pub(crate) params: usize,
    pub(crate) eqs: Rows<T>,
    pub(crate) ins: Rows<T>,
}

/// A piece of parameter space and the minimum on it.
#[derive(Clone, Debug)]
pub(crate) struct Piece<T> {
    /// Constraints over the parameters and the new ones, in which each new one is determined.
    pub(crate) context: System<T>,
    /// For each unknown the row `r` and `d` with `d · unknown = r(parameters)`; `None` if it is unbounded below.
    pub(crate) minimum: Vec<Option<(Vec<T>, T)>>,
}

/// Right-hand columns: the constant, the large number, then the parameters.
const LARGE: usize = 1;
const FIXED: usize = 2;

/// Known points kept for each context.
const MAX_POINTS: usize = 8;

/// The lexicographic minimum of the unknowns of `problem`, by disjoint pieces of parameter space.
pub(crate) fn lexmin<T: Scalar>(problem: Parametric<T>, budget: &mut Budget) -> Exact<Vec<Piece<T>>> {
    let mut pieces = Vec::new();
    let mut work = Vec::new();
    work.extend(Node::root(problem, budget)?);
    while let Some(mut node) = work.pop() {
        match node.run(budget)? {
            Outcome::Split(other) => {
                work.push(*other);
                work.push(node);
            }
            Outcome::Infeasible => {}
            Outcome::Optimum => pieces.push(node.piece()),
        }
    }
    Ok(pieces)
}

/// One part of the search: a context and the tableau under it.
#[derive(Clone)]
struct Node<T> {
    context: System<T>,
    /// Some points of the context; never empty.
    points: Vec<Vec<T>>,
    /// A row for each variable, the unknowns first; a nonbasic variable's row is a unit row.
    tableau: Tableau<T>,
    unknowns: usize,
    /// Unknowns given by an equality: their rows are not restricted in sign.
    solved: Vec<bool>,
    /// Definitions of the new parameters: numerator row, divisor, and parameter.
    quotients: Vec<(Vec<T>, T, usize)>,
    /// The constraints as they were given, to see whether the context leaves any point.
    whole: Rc<System<T>>,
    /// Cuts since the context last changed.
    cuts: usize,
}

enum Outcome<T> {
    Optimum,
    Infeasible,
    Split(Box<Node<T>>),
}

enum Sign {
    NonNegative,
    Negative,
    Both,
}

impl<T: Scalar> Node<T> {
    /// The whole problem, or `None` if it has no point at all.
    fn root(mut problem: Parametric<T>, budget: &mut Budget) -> Exact<Option<Node<T>>> {
        let params = problem.params;
        let unknowns = problem.ins.width() - 1 - params;
        let whole = System { eqs: problem.eqs.clone(), ins: problem.ins.clone() };
        let Some(point) = solve(whole.clone(), budget)? else { return Ok(None) };
        let substituted = substitute_last_unknowns(&mut problem, budget)?;
        let mut context = System::new(params);
        let mut restrictions = Rows::new(problem.ins.width());
        for row in problem.eqs.iter() {
            if row[params + 1..].iter().all(T::is_zero) {
                context.eqs.push(&row[..=params]);
            } else {
                restrictions.push(row);
                restrictions.push(row);
                let last = restrictions.len() - 1;
                crate::rows::negate(restrictions.row_mut(last))?;
            }
        }
        for row in problem.ins.iter() {
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
        Ok(Some(Node {
            context,
            points: vec![point[..params].to_vec()],
            tableau,
            unknowns,
            solved: substituted.iter().map(Option::is_some).collect(),
            quotients: Vec::new(),
            whole: Rc::new(whole),
            cuts: 0,
        }))
    }

    /// Pivots and cuts until the minimum is found, nothing is feasible, or the context must be split.
    fn run(&mut self, budget: &mut Budget) -> Exact<Outcome<T>> {
        'again: loop {
            budget.tick(self.tableau.rows.len())?;
            let mut split = None;
            for row in 0..self.tableau.rows.len() {
                if row < self.unknowns && self.solved[row] {
                    continue;
                }
                match self.sign(row, budget)? {
                    Sign::NonNegative => {}
                    Sign::Negative => match self.entering(row)? {
                        Some(column) => {
                            self.pivot(row, column, budget)?;
                            continue 'again;
                        }
                        None => return Ok(Outcome::Infeasible),
                    },
                    Sign::Both if self.entering(row)?.is_none() => {
                        // Infeasible wherever the right-hand side is negative.
                        let side = self.right_side(row);
                        self.restrict(&side, budget)?;
                    }
                    Sign::Both => split = split.or(Some(row)),
                }
            }
            if let Some(row) = split {
                let side = self.right_side(row);
                let mut negative = side.clone();
                crate::rows::complement(&mut negative)?;
                let mut other = self.clone();
                other.restrict(&negative, budget)?;
                self.restrict(&side, budget)?;
                return Ok(Outcome::Split(Box::new(other)));
            }
            if !self.cut(budget)? {
                return Ok(Outcome::Optimum);
            }
            // Cuts alone may go on for ever where there is no integer point.
            self.cuts += 1;
            if self.cuts.is_power_of_two() && !self.has_point(budget)? {
                return Ok(Outcome::Infeasible);
            }
        }
    }

    /// The right-hand side of a row over the parameters, without the large number.
    fn right_side(&self, row: usize) -> Vec<T> {
        let values = self.tableau.rows.row(row);
        std::iter::once(&values[0]).chain(&values[FIXED..self.tableau.right]).cloned().collect()
    }

    /// The signs a row's right-hand side takes over the context.
    fn sign(&mut self, row: usize, budget: &mut Budget) -> Exact<Sign> {
        let large = self.tableau.rows.row(row)[LARGE].signum();
        if large != 0 {
            return Ok(if large > 0 { Sign::NonNegative } else { Sign::Negative });
        }
        let side = self.right_side(row);
        if side[1..].iter().all(T::is_zero) {
            return Ok(if side[0].signum() >= 0 { Sign::NonNegative } else { Sign::Negative });
        }
        let (mut negative, mut other) = (false, false);
        for point in &self.points {
            if evaluate(&side, point)?.signum() < 0 {
                negative = true;
            } else {
                other = true;
            }
        }
        if !negative {
            let mut below = side.clone();
            crate::rows::complement(&mut below)?;
            negative = self.possible(&below, budget)?;
        }
        if !other {
            other = self.possible(&side, budget)?;
        }
        Ok(match (negative, other) {
            (false, _) => Sign::NonNegative,
            (true, false) => Sign::Negative,
            (true, true) => Sign::Both,
        })
    }

    /// Whether `row ≥ 0` holds somewhere in the context; the point found is kept.
    fn possible(&mut self, row: &[T], budget: &mut Budget) -> Exact<bool> {
        let mut system = self.context.clone();
        system.ins.push(row);
        let Some(point) = solve(system, budget)? else { return Ok(false) };
        if self.points.len() >= MAX_POINTS {
            self.points.remove(0);
        }
        self.points.push(point);
        Ok(true)
    }

    /// Whether any unknowns satisfy all constraints somewhere in the context.
    fn has_point(&self, budget: &mut Budget) -> Exact<bool> {
        let (params, vars) = (self.whole.vars() - self.unknowns, self.context.vars());
        let width = 1 + vars + self.unknowns;
        let columns: Vec<usize> = (0..self.whole.ins.width())
            .map(|column| if column <= params { column } else { column + vars - params })
            .collect();
        let mut system = System {
            eqs: self.context.eqs.widened(self.unknowns),
            ins: self.context.ins.widened(self.unknowns),
        };
        system.eqs.extend(&self.whole.eqs.scattered(width, &columns));
        system.ins.extend(&self.whole.ins.scattered(width, &columns));
        Ok(!is_empty(system, budget)?)
    }

    /// Adds `row ≥ 0` to the context.
    fn restrict(&mut self, row: &[T], budget: &mut Budget) -> Exact<()> {
        let mut normal = row.to_vec();
        let gcd = crate::rows::content(&normal)?;
        if gcd.signum() > 0 && !gcd.is_one() {
            for value in &mut normal {
                *value = value.div_floor(&gcd)?;
            }
        }
        self.context.ins.push(&normal);
        self.cuts = 0;
        let mut kept = Vec::with_capacity(self.points.len());
        for point in std::mem::take(&mut self.points) {
            if evaluate(&normal, &point)?.signum() >= 0 {
                kept.push(point);
            }
        }
        if kept.is_empty() {
            // Callers know the context stays non-empty.
            kept.extend(solve(self.context.clone(), budget)?);
        }
        self.points = kept;
        Ok(())
    }

    /// The column to enter for a row: of those with a positive entry, the one whose column, divided by that entry, is
    /// lexicographically least.
    fn entering(&self, row: usize) -> Exact<Option<usize>> {
        let tableau = &self.tableau;
        let values = tableau.rows.row(row);
        let mut best: Option<usize> = None;
        'columns: for column in tableau.right..tableau.rows.width() {
            if values[column].signum() <= 0 {
                continue;
            }
            let Some(least) = best else {
                best = Some(column);
                continue;
            };
            for unknown in 0..self.unknowns {
                let entries = tableau.rows.row(unknown);
                if entries[column].is_zero() && entries[least].is_zero() {
                    continue;
                }
                let ours = entries[column].mul(&values[least])?;
                let theirs = entries[least].mul(&values[column])?;
                if ours < theirs {
                    best = Some(column);
                }
                if ours != theirs {
                    continue 'columns;
                }
            }
        }
        Ok(best)
    }

    /// Makes the variable of `row` nonbasic.
    fn pivot(&mut self, row: usize, column: usize, budget: &mut Budget) -> Exact<()> {
        self.tableau.pivot(row, column, budget)?;
        let values = self.tableau.rows.row_mut(row);
        values.fill(T::zero());
        values[column] = T::one();
        self.tableau.den[row] = T::one();
        Ok(())
    }

    /// Cuts off the minimum if some unknown is not an integer there. False: all are integers.
    fn cut(&mut self, budget: &mut Budget) -> Exact<bool> {
        for unknown in 0..self.unknowns {
            let den = self.tableau.den[unknown].clone();
            if den.is_one() {
                continue;
            }
            // Σ αⱼ nⱼ ≡ h(p) (mod den) must hold at integer points.
            let mut rest = self.right_side(unknown);
            for value in &mut rest {
                *value = value.neg()?.rem_floor(&den);
            }
            if rest.iter().all(T::is_zero) {
                continue;
            }
            let constant = rest[1..].iter().all(T::is_zero);
            let quotient = if constant { None } else { Some(self.quotient(&rest, &den)?) };
            if let Some(quotient) = quotient {
                rest.resize(self.context.ins.width(), T::zero());
                rest[quotient + 1] = rest[quotient + 1].sub(&den)?;
                // rest = h − den·⌊h/den⌋, the remainder; zero throughout the context means integers.
                let mut above = rest.clone();
                above[0] = above[0].sub(&T::one())?;
                let known =
                    self.points.iter().map(|point| evaluate(&above, point)).collect::<Exact<Vec<T>>>()?;
                if known.iter().all(|value| value.signum() < 0) && !self.possible(&above, budget)? {
                    continue;
                }
            }
            let right = self.tableau.right;
            let alphas: Vec<T> =
                self.tableau.rows.row(unknown)[right..].iter().map(|value| value.rem_floor(&den)).collect();
            let row = self.tableau.rows.push_zeros();
            row[0] = rest[0].neg()?;
            for (target, value) in row[FIXED..right].iter_mut().zip(&rest[1..]) {
                *target = value.neg()?;
            }
            row[right..].clone_from_slice(&alphas);
            self.tableau.den.push(den);
            self.tableau.basic.push(0);
            let last = self.tableau.rows.len() - 1;
            if let Some(column) = self.entering(last)? {
                self.pivot(last, column, budget)?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// The parameter that is `⌊row / den⌋`, added unless it is there.
    fn quotient(&mut self, row: &[T], den: &T) -> Exact<usize> {
        let same = |(numerator, divisor, _): &&(Vec<T>, T, usize)| {
            divisor == den
                && numerator.iter().zip(row).all(|(a, b)| a == b)
                && numerator[numerator.len().min(row.len())..].iter().all(T::is_zero)
                && row[numerator.len().min(row.len())..].iter().all(T::is_zero)
        };
        if let Some((_, _, param)) = self.quotients.iter().find(same) {
            return Ok(*param);
        }
        let param = self.context.vars();
        if param > 4096 {
            return Err(Stop::Limit);
        }
        self.context = System { eqs: self.context.eqs.widened(1), ins: self.context.ins.widened(1) };
        let lower = self.context.ins.push_zeros();
        lower[..row.len()].clone_from_slice(row);
        lower[param + 1] = den.neg()?;
        let mut upper = lower.to_vec();
        crate::rows::negate(&mut upper)?;
        upper[0] = upper[0].add(den)?.sub(&T::one())?;
        self.context.ins.push(&upper);
        for point in &mut self.points {
            let value = evaluate(row, point)?.div_floor(den)?;
            point.push(value);
        }
        // A right-hand column more, before the nonbasic ones.
        let (right, width) = (self.tableau.right, self.tableau.rows.width());
        let columns: Vec<usize> = (0..width).map(|column| column + usize::from(column >= right)).collect();
        self.tableau.rows = self.tableau.rows.scattered(width + 1, &columns);
        self.tableau.right += 1;
        self.quotients.push((row.to_vec(), den.clone(), param));
        Ok(param)
    }

    /// The finished piece.
    fn piece(self) -> Piece<T> {
        let minimum = (0..self.unknowns)
            .map(|unknown| {
                let den = &self.tableau.den[unknown];
                (self.tableau.rows.row(unknown)[LARGE] == *den)
                    .then(|| (self.right_side(unknown), den.clone()))
            })
            .collect();
        Piece { context: self.context, minimum }
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
    let mut substituted: Vec<Option<Vec<T>>> = vec![None; problem.ins.width() - first];
    loop {
        let found = (0..problem.eqs.len()).find_map(|index| {
            let row = problem.eqs.row(index);
            let last = (first..row.len()).rev().find(|column| !row[*column].is_zero())?;
            row[last].is_unit().then_some((index, last))
        });
        let Some((index, column)) = found else { return Ok(substituted) };
        budget.tick(problem.eqs.len() + problem.ins.len())?;
        let row = problem.eqs.row(index).to_vec();
        problem.eqs.swap_remove(index);
        let positive = row[column].signum() > 0;
        let rows = problem.eqs.iter_mut().chain(problem.ins.iter_mut());
        for other in rows.chain(substituted.iter_mut().flatten().map(Vec::as_mut_slice)) {
            if !other[column].is_zero() {
                let factor = if positive { other[column].neg()? } else { other[column].clone() };
                T::combine(other, &T::one(), &row, &factor)?;
            }
        }
        let mut given = row;
        if positive {
            crate::rows::negate(&mut given)?;
        }
        given[column] = T::zero();
        substituted[column - first] = Some(given);
    }
}
