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

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::limits::{Budget, Exact, Stop};
use crate::rows::{Rows, System, evaluate};
use crate::scalar::Scalar;
use crate::solve::tableau::Tableau;
use crate::solve::{is_empty_apart, solve_apart};

/// Constraints over parameters and then unknowns.
#[derive(Clone, Debug)]
pub(crate) struct Parametric<T> {
    pub(crate) params: usize,
    /// The first unknowns whose minimum is asked for; of the others only that they exist.
    pub(crate) wanted: usize,
    pub(crate) eqs: Rows<T>,
    pub(crate) ins: Rows<T>,
}

/// A piece of parameter space and the minimum on it.
#[derive(Clone, Debug)]
pub(crate) struct Piece<T> {
    /// Constraints over the parameters and the new ones, in which each new one is determined.
    pub(crate) context: System<T>,
    /// For each wanted unknown the row `r` and `d` with `d · unknown = r(parameters)`; `None` if it is unbounded below.
    pub(crate) minimum: Vec<Option<(Vec<T>, T)>>,
    /// Whether the context is all of the part of parameter space that the last split left to it.
    whole: bool,
}

/// Right-hand columns: the constant, the large number, then the parameters.
const LARGE: usize = 1;
const FIXED: usize = 2;

/// Known points kept for each context.
const MAX_POINTS: usize = 8;

/// The lexicographic minimum of the unknowns of `problem`, by disjoint pieces of parameter space.
pub(crate) fn lexmin<T: Scalar>(problem: Parametric<T>, budget: &mut Budget) -> Exact<Vec<Piece<T>>> {
    let mut pieces: Vec<Piece<T>> = Vec::new();
    let mut work: Vec<Work<T>> = Vec::new();
    work.extend(Node::root(problem, budget)?.map(Work::Node));
    while let Some(next) = work.pop() {
        match next {
            Work::Node(mut node) => match node.run(budget)? {
                Outcome::Split(row) => {
                    work.push(Work::Join {
                        context: node.context.clone(),
                        whole: node.whole,
                        first: pieces.len(),
                    });
                    let [node, other] = node.split(&row, budget)?;
                    work.push(Work::Node(other));
                    work.push(Work::Node(node));
                }
                Outcome::Infeasible => {}
                Outcome::Optimum => pieces.push(node.piece()),
            },
            Work::Join { context, whole, first } => join(&mut pieces, first, context, whole),
        }
    }
    Ok(pieces)
}

/// What is left to do, a stack that walks the tree of splits in depth.
enum Work<T> {
    Node(Box<Node<T>>),
    /// The pieces from `first` on are those of a part that was split.
    Join {
        context: System<T>,
        whole: bool,
        first: usize,
    },
}

/// Makes the two halves of a split one piece again if both have the same minimum throughout: the split was needed on
/// the way or for unwanted unknowns only.
fn join<T: Scalar>(pieces: &mut Vec<Piece<T>>, first: usize, context: System<T>, whole: bool) {
    if let [left, right] = &pieces[first..]
        && left.whole
        && right.whole
        && same_minimum(left, right, context.vars())
    {
        pieces.truncate(first + 1);
        let params = context.ins.width();
        for (row, _) in pieces[first].minimum.iter_mut().flatten() {
            row.truncate(params);
        }
        pieces[first] = Piece { context, minimum: std::mem::take(&mut pieces[first].minimum), whole };
    } else {
        for piece in &mut pieces[first..] {
            piece.whole = false;
        }
    }
}

/// Whether two minima are one function of the first `params` parameters.
fn same_minimum<T: Scalar>(left: &Piece<T>, right: &Piece<T>, params: usize) -> bool {
    let over = |row: &[T]| row[1 + params..].iter().all(T::is_zero);
    left.minimum.iter().zip(&right.minimum).all(|(left, right)| match (left, right) {
        (Some((left, d)), Some((right, e))) => {
            d == e && over(left) && over(right) && left[..=params] == right[..=params]
        }
        (left, right) => left.is_none() && right.is_none(),
    })
}

/// One part of the search: a context and the tableau under it.
#[derive(Clone)]
struct Node<T> {
    context: System<T>,
    /// Some points of the context; never empty.
    points: Vec<Vec<T>>,
    /// Rows known to be negative throughout the context. It only ever shrinks, so they stay so.
    impossible: BTreeSet<Vec<T>>,
    /// A row for each variable, the unknowns first; a nonbasic variable's row is a unit row.
    tableau: Tableau<T>,
    unknowns: usize,
    /// Unknowns given by an equality: their rows are not restricted in sign.
    solved: Vec<bool>,
    /// Definitions of the new parameters: numerator row, divisor, and parameter.
    quotients: Vec<(Vec<T>, T, usize)>,
    /// The constraints as they were given, to see whether the context leaves any point.
    stated: Rc<System<T>>,
    /// Cuts since the context last changed.
    cuts: usize,
    wanted: usize,
    /// Whether nothing was taken from the context since the last split.
    whole: bool,
}

enum Outcome<T> {
    Optimum,
    Infeasible,
    /// The row whose sign the context leaves open.
    Split(Vec<T>),
}

enum Sign {
    NonNegative,
    Negative,
    Both,
}

impl<T: Scalar> Node<T> {
    /// The whole problem, or `None` if it has no point at all.
    fn root(mut problem: Parametric<T>, budget: &mut Budget) -> Exact<Option<Box<Node<T>>>> {
        let params = problem.params;
        let unknowns = problem.ins.width() - 1 - params;
        let stated = System { eqs: problem.eqs.clone(), ins: problem.ins.clone() };
        let Some(point) = solve_apart(&stated, budget)? else { return Ok(None) };
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
        Ok(Some(Box::new(Node {
            context,
            points: vec![point[..params].to_vec()],
            impossible: BTreeSet::new(),
            tableau,
            unknowns,
            solved: substituted.iter().map(Option::is_some).collect(),
            quotients: Vec::new(),
            stated: Rc::new(stated),
            cuts: 0,
            wanted: problem.wanted,
            whole: true,
        })))
    }

    /// Pivots and cuts until the minimum is found, nothing is feasible, or the context must be split.
    fn run(&mut self, budget: &mut Budget) -> Exact<Outcome<T>> {
        'again: loop {
            budget.tick(self.tableau.rows.weight())?;
            let mut open: Vec<usize> = Vec::new();
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
                        self.whole = false;
                    }
                    Sign::Both => open.push(row),
                }
            }
            if !open.is_empty() {
                return Ok(Outcome::Split(self.best_split(&open, budget)?));
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

    /// Steps that copying the node is worth.
    fn weight(&self) -> usize {
        self.context.weight() + self.tableau.rows.weight() + self.impossible.len() * self.context.ins.width()
    }

    /// Of the rows whose sign is open the side to split on: one that, where it is not negative, makes most of the
    /// others so too.
    fn best_split(&mut self, open: &[usize], budget: &mut Budget) -> Exact<Vec<T>> {
        let mut best = self.right_side(open[0]);
        for row in &open[1..] {
            let side = self.right_side(*row);
            // Where the side is not negative, is the best one so too?
            let mut system = self.context.clone();
            system.ins.push(&side);
            let mut below = best.clone();
            crate::rows::complement(&mut below)?;
            system.ins.push(&below);
            if is_empty_apart(&system, budget)? {
                best = side;
            }
        }
        Ok(best)
    }

    /// The parts where `row` is not negative and where it is.
    fn split(mut self: Box<Self>, row: &[T], budget: &mut Budget) -> Exact<[Box<Node<T>>; 2]> {
        self.whole = true;
        let mut negative = row.to_vec();
        crate::rows::complement(&mut negative)?;
        budget.tick(self.weight())?;
        let mut other = self.clone();
        other.restrict(&negative, budget)?;
        self.restrict(row, budget)?;
        Ok([self, other])
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
        budget.tick(self.points.len() * T::weights(&side))?;
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
        let row = primitive(row)?;
        if self.impossible.contains(&row) {
            return Ok(false);
        }
        budget.tick(self.context.weight())?;
        let mut system = self.context.clone();
        system.ins.push_zeros()[..row.len()].clone_from_slice(&row);
        let Some(point) = solve_apart(&system, budget)? else {
            self.impossible.insert(row);
            return Ok(false);
        };
        if self.points.len() >= MAX_POINTS {
            self.points.remove(0);
        }
        self.points.push(point);
        Ok(true)
    }

    /// Whether any unknowns satisfy all constraints somewhere in the context.
    fn has_point(&self, budget: &mut Budget) -> Exact<bool> {
        let (params, vars) = (self.stated.vars() - self.unknowns, self.context.vars());
        let width = 1 + vars + self.unknowns;
        let columns: Vec<usize> = (0..self.stated.ins.width())
            .map(|column| if column <= params { column } else { column + vars - params })
            .collect();
        let mut system = System {
            eqs: self.context.eqs.widened(self.unknowns),
            ins: self.context.ins.widened(self.unknowns),
        };
        system.eqs.extend(&self.stated.eqs.scattered(width, &columns));
        system.ins.extend(&self.stated.ins.scattered(width, &columns));
        Ok(!is_empty_apart(&system, budget)?)
    }

    /// Adds `row ≥ 0` to the context.
    fn restrict(&mut self, row: &[T], budget: &mut Budget) -> Exact<()> {
        let normal = primitive(row)?;
        self.context.ins.push_zeros()[..normal.len()].clone_from_slice(&normal);
        self.cuts = 0;
        let mut kept = Vec::with_capacity(self.points.len());
        for point in std::mem::take(&mut self.points) {
            if evaluate(&normal, &point)?.signum() >= 0 {
                kept.push(point);
            }
        }
        if kept.is_empty() {
            // Callers know the context stays non-empty.
            kept.extend(solve_apart(&self.context, budget)?);
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
        budget.tick(self.tableau.rows.weight())?;
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
    fn piece(self: Box<Self>) -> Piece<T> {
        let minimum = (0..self.wanted)
            .map(|unknown| {
                let den = &self.tableau.den[unknown];
                (self.tableau.rows.row(unknown)[LARGE] == *den)
                    .then(|| (self.right_side(unknown), den.clone()))
            })
            .collect();
        Piece { context: self.context, minimum, whole: self.whole }
    }
}

/// The same inequality with coprime coefficients and without zeros at its end.
fn primitive<T: Scalar>(row: &[T]) -> Exact<Vec<T>> {
    let length = 1 + row.iter().rposition(|value| !value.is_zero()).unwrap_or(0);
    let gcd = crate::rows::content(&row[..length])?;
    if gcd.is_zero() || gcd.is_one() {
        return Ok(row[..length].to_vec());
    }
    row[..length].iter().map(|value| value.div_floor(&gcd)).collect()
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
        budget.tick(problem.eqs.weight() + problem.ins.weight())?;
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
