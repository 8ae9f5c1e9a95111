//! The cheap and exact steps that settle almost every system: normalisation by gcd, elimination of
//! equalities by unimodular substitutions, and elimination of variables whose bounds meet exactly.
//!
//! Each step keeps "has an integer point" unchanged. A [`Trail`] remembers how to extend a point of
//! what is left to one of the original system. Cost: rows × columns for each variable that is
//! removed.

use crate::limits::{Budget, Exact};
use crate::rows::{Rows, System, compose, content, evaluate};
use crate::scalar::Scalar;

/// The state in which [`presolve`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presolved {
    /// No integer point.
    Empty,
    /// No constraint is left: there are integer points.
    Free,
    /// Inequalities are left that need the complete method.
    Residual,
}

/// The record that turns a point of the residual system into a point of the original.
#[derive(Debug)]
pub(crate) struct Trail<T> {
    steps: Vec<Step>,
    rows: Rows<T>,
}

#[derive(Debug)]
enum Step {
    /// The variable is the value of the row.
    Assign { var: usize, row: usize },
    /// The variable lies between the bounds that the rows state.
    Between { var: usize, first: usize, last: usize },
}

impl<T: Scalar> Trail<T> {
    pub(crate) fn new(vars: usize) -> Trail<T> {
        Trail { steps: Vec::new(), rows: Rows::new(vars + 1) }
    }

    /// Completes `point`, walking the record backwards; free variables take the value nearest to
    /// zero.
    pub(crate) fn extend(&self, point: &mut [T]) -> Exact<()> {
        for step in self.steps.iter().rev() {
            match *step {
                Step::Assign { var, row } => point[var] = evaluate(self.rows.row(row), point)?,
                Step::Between { var, first, last } => {
                    point[var] = T::zero();
                    let (mut low, mut high): (Option<T>, Option<T>) = (None, None);
                    for index in first..last {
                        let row = self.rows.row(index);
                        let (coefficient, rest) = (&row[var + 1], evaluate(row, point)?);
                        if coefficient.signum() > 0 {
                            let bound = rest.neg()?.div_ceil(coefficient)?;
                            low = Some(low.map_or(bound.clone(), |low| low.max(bound)));
                        } else {
                            let bound = rest.div_floor(&coefficient.neg()?)?;
                            high = Some(high.map_or(bound.clone(), |high| high.min(bound)));
                        }
                    }
                    let mut value = T::zero();
                    if let Some(high) = high {
                        value = value.min(high);
                    }
                    if let Some(low) = low {
                        value = value.max(low);
                    }
                    point[var] = value;
                }
            }
        }
        Ok(())
    }

    /// The columns of the variables that no equality gave.
    pub(crate) fn live(&self) -> Vec<usize> {
        let mut live: Vec<usize> = (1..self.rows.width()).collect();
        for step in &self.steps {
            // A variable given in terms of itself is only shifted.
            if let Step::Assign { var, row } = *step
                && self.rows.row(row)[var + 1].is_zero()
            {
                live.retain(|column| *column != var + 1);
            }
        }
        live
    }

    /// Each variable as a row over those that are left, after equalities alone were eliminated.
    pub(crate) fn values(&self) -> Exact<Rows<T>> {
        let mut values = Rows::identity(self.rows.width() - 1);
        for step in self.steps.iter().rev() {
            if let Step::Assign { var, row } = *step {
                let value = compose(self.rows.row(row), &values)?;
                values.row_mut(var).clone_from_slice(&value);
            }
        }
        Ok(values)
    }

    /// Turns a point that satisfies the eliminated equalities into the variables that are left.
    pub(crate) fn reduce(&self, point: &mut [T]) -> Exact<()> {
        for step in &self.steps {
            if let Step::Assign { var, row } = *step
                && !self.rows.row(row)[var + 1].is_zero()
            {
                let shift = evaluate(self.rows.row(row), point)?.sub(&point[var])?;
                point[var] = point[var].sub(&shift)?;
            }
        }
        Ok(())
    }
}

/// Simplifies `system` in place until it is decided or no cheap exact step is left.
pub(crate) fn presolve<T: Scalar>(
    system: &mut System<T>,
    mut trail: Option<&mut Trail<T>>,
    budget: &mut Budget,
) -> Exact<Presolved> {
    let mut fresh = 0;
    loop {
        if !eliminate_equalities(system, &mut trail, budget, &mut fresh)? {
            return Ok(Presolved::Empty);
        }
        // Each new row is held against all others, and each variable looked up in all.
        let rows = system.ins.len();
        budget.tick((rows - fresh.min(rows)) * rows + system.ins.weight())?;
        match normalize_from(system, &mut fresh)? {
            Normalized::Empty => return Ok(Presolved::Empty),
            Normalized::Equality => continue,
            Normalized::Done => {}
        }
        if system.ins.is_empty() {
            return Ok(Presolved::Free);
        }
        let Some(var) = exact_variable(&system.ins) else { return Ok(Presolved::Residual) };
        fresh = eliminate_variable(system, var, &mut trail)?;
    }
}

/// The inequalities once every equality, given or implied by opposite inequalities, is substituted,
/// and the record of that; integer points correspond one to one. `None`: there is none.
pub(crate) fn without_equalities<T: Scalar>(
    mut system: System<T>,
    budget: &mut Budget,
) -> Exact<Option<(Rows<T>, Trail<T>)>> {
    let mut trail = Trail::new(system.vars());
    let mut fresh = 0;
    loop {
        if !eliminate_equalities(&mut system, &mut Some(&mut trail), budget, &mut fresh)? {
            return Ok(None);
        }
        budget.tick(system.ins.len() * system.ins.len() + system.ins.weight())?;
        match normalize_from(&mut system, &mut fresh)? {
            Normalized::Empty => return Ok(None),
            Normalized::Equality => continue,
            Normalized::Done => return Ok(Some((system.ins, trail))),
        }
    }
}

/// Removes every equality by substitution. `fresh` is set to 0 if inequalities changed. False: no
/// integer point.
fn eliminate_equalities<T: Scalar>(
    system: &mut System<T>,
    trail: &mut Option<&mut Trail<T>>,
    budget: &mut Budget,
    fresh: &mut usize,
) -> Exact<bool> {
    while !system.eqs.is_empty() {
        budget.tick(system.weight())?;
        let last = system.eqs.len() - 1;
        let row = system.eqs.row_mut(last);
        let gcd = content(row)?;
        if gcd.is_zero() {
            if !row[0].is_zero() {
                return Ok(false);
            }
            system.eqs.drop_last();
            continue;
        }
        if !gcd.is_one() {
            if !row[0].rem_floor(&gcd).is_zero() {
                return Ok(false);
            }
            for value in row.iter_mut() {
                *value = value.div_floor(&gcd)?;
            }
        }
        *fresh = 0;
        if let Some(column) = (1..row.len()).find(|column| row[*column].is_unit()) {
            if let Some(row) = system.eqs.pop() {
                substitute_unit(system, &row, column, trail)?;
            }
        } else {
            shrink_equality(system, trail)?;
        }
    }
    Ok(true)
}

/// Uses the equality `row = 0`, whose coefficient in `column` is 1 or −1, to remove that variable
/// everywhere.
fn substitute_unit<T: Scalar>(
    system: &mut System<T>,
    row: &[T],
    column: usize,
    trail: &mut Option<&mut Trail<T>>,
) -> Exact<()> {
    system.substitute(row, column)?;
    if let Some(trail) = trail {
        let kept = trail.rows.push_zeros();
        kept.clone_from_slice(row);
        if row[column].signum() > 0 {
            crate::rows::negate(kept)?;
        }
        kept[column] = T::zero();
        let index = trail.rows.len() - 1;
        trail.steps.push(Step::Assign { var: column - 1, row: index });
    }
    Ok(())
}

/// Makes the coefficients of the last equality smaller: the variable of the smallest one, `x`, is
/// replaced by `x − Σ qᵢ xᵢ`, which reduces every other coefficient to at most half of it.
fn shrink_equality<T: Scalar>(system: &mut System<T>, trail: &mut Option<&mut Trail<T>>) -> Exact<()> {
    let row = system.eqs.row(system.eqs.len() - 1);
    let mut pivot = 0;
    let mut least = T::zero();
    for (column, value) in row.iter().enumerate().skip(1) {
        let size = value.abs()?;
        if !size.is_zero() && (pivot == 0 || size < least) {
            pivot = column;
            least = size;
        }
    }
    let divisor = row[pivot].clone();
    let half = divisor.abs()?.div_floor(&T::from_i64(2))?;
    let mut shift = vec![T::zero(); row.len()];
    for (column, value) in row.iter().enumerate() {
        if column != pivot && !value.is_zero() {
            let rounded = value.add(&half)?.div_floor(&divisor.abs()?)?;
            shift[column] = if divisor.signum() > 0 { rounded.neg()? } else { rounded };
        }
    }
    for other in system.eqs.iter_mut().chain(system.ins.iter_mut()) {
        if !other[pivot].is_zero() {
            let factor = other[pivot].clone();
            T::combine(other, &T::one(), &shift, &factor)?;
        }
    }
    if let Some(trail) = trail {
        shift[pivot] = T::one();
        trail.rows.push(&shift);
        let index = trail.rows.len() - 1;
        trail.steps.push(Step::Assign { var: pivot - 1, row: index });
    }
    Ok(())
}

enum Normalized {
    Done,
    Empty,
    Equality,
}

/// Divides the inequalities from `fresh` on by their gcd, tightening the constants, and drops those
/// another row of the same coefficients implies. Opposite rows that leave one value become an
/// equality.
fn normalize_from<T: Scalar>(system: &mut System<T>, fresh: &mut usize) -> Exact<Normalized> {
    let mut index = *fresh;
    'rows: while index < system.ins.len() {
        let row = system.ins.row_mut(index);
        let gcd = content(row)?;
        if gcd.is_zero() {
            if row[0].signum() < 0 {
                return Ok(Normalized::Empty);
            }
            system.ins.swap_remove(index);
            continue;
        }
        if !gcd.is_one() {
            for value in row.iter_mut() {
                *value = value.div_floor(&gcd)?;
            }
        }
        for earlier in 0..index {
            let (a, b) = (system.ins.row(earlier), system.ins.row(index));
            match parallel(a, b) {
                Parallel::No => {}
                Parallel::Same => {
                    if b[0] < a[0] {
                        let constant = b[0].clone();
                        system.ins.row_mut(earlier)[0] = constant;
                        // The tightened row must meet its opposites again.
                        if let Some(outcome) = meet_opposites(system, earlier, index)? {
                            *fresh = 0;
                            return Ok(outcome);
                        }
                    }
                    system.ins.swap_remove(index);
                    continue 'rows;
                }
                Parallel::Opposite => {
                    let slack = a[0].add(&b[0])?;
                    if slack.signum() < 0 {
                        return Ok(Normalized::Empty);
                    }
                    if slack.is_zero() {
                        let row = b.to_vec();
                        system.eqs.push(&row);
                        system.ins.swap_remove(index);
                        system.ins.swap_remove(earlier);
                        *fresh = 0;
                        return Ok(Normalized::Equality);
                    }
                }
            }
        }
        index += 1;
    }
    *fresh = index;
    Ok(Normalized::Done)
}

/// After row `index` was tightened: its opposite, if any row before `end` is one, may now leave one
/// value or none.
fn meet_opposites<T: Scalar>(system: &mut System<T>, index: usize, end: usize) -> Exact<Option<Normalized>> {
    for other in (0..end).filter(|other| *other != index) {
        let (a, b) = (system.ins.row(index), system.ins.row(other));
        if let Parallel::Opposite = parallel(a, b) {
            let slack = a[0].add(&b[0])?;
            if slack.signum() < 0 {
                return Ok(Some(Normalized::Empty));
            }
            if slack.is_zero() {
                let row = a.to_vec();
                system.eqs.push(&row);
                system.ins.swap_remove(index.max(other));
                system.ins.swap_remove(index.min(other));
                return Ok(Some(Normalized::Equality));
            }
        }
    }
    Ok(None)
}

/// The relation of two rows' coefficients.
pub(crate) enum Parallel {
    No,
    Same,
    Opposite,
}

#[inline]
pub(crate) fn parallel<T: Scalar>(a: &[T], b: &[T]) -> Parallel {
    let mut same = true;
    let mut opposite = true;
    for (x, y) in a[1..].iter().zip(&b[1..]) {
        if x != y {
            same = false;
        }
        if opposite && !(x.is_zero() && y.is_zero()) {
            opposite = x.signum() == -y.signum() && x.neg().is_ok_and(|x| x == *y);
        }
        if !same && !opposite {
            return Parallel::No;
        }
    }
    if same { Parallel::Same } else { Parallel::Opposite }
}

/// The bounds a variable has in a set of inequalities.
#[derive(Clone, Copy, Default)]
struct Bounds {
    lower: usize,
    upper: usize,
    lower_general: bool,
    upper_general: bool,
}

/// The variable whose elimination is exact over the integers and costs least, if one is cheap
/// enough: no bound on one side, or unit coefficients in all bounds of one side.
fn exact_variable<T: Scalar>(ins: &Rows<T>) -> Option<usize> {
    const GROWTH: isize = 4;
    let mut best: Option<(isize, usize)> = None;
    for column in 1..ins.width() {
        let mut bounds = Bounds::default();
        for row in ins.iter() {
            let value = &row[column];
            match value.signum() {
                0 => {}
                1 => {
                    bounds.lower += 1;
                    bounds.lower_general |= !value.is_unit();
                }
                _ => {
                    bounds.upper += 1;
                    bounds.upper_general |= !value.is_unit();
                }
            }
        }
        let (lower, upper) = (bounds.lower as isize, bounds.upper as isize);
        if lower + upper == 0 {
            continue;
        }
        let exact = lower == 0 || upper == 0 || !bounds.lower_general || !bounds.upper_general;
        let growth = lower * upper - lower - upper;
        if exact && growth <= GROWTH && best.is_none_or(|(least, _)| growth < least) {
            if lower == 0 || upper == 0 {
                return Some(column - 1);
            }
            best = Some((growth, column - 1));
        }
    }
    best.map(|(_, var)| var)
}

/// Replaces the bounds of `var` by all sums of a lower and an upper one. Returns the index of the
/// first new row.
fn eliminate_variable<T: Scalar>(
    system: &mut System<T>,
    var: usize,
    trail: &mut Option<&mut Trail<T>>,
) -> Exact<usize> {
    let column = var + 1;
    let ins = &mut system.ins;
    let mut bounds = Rows::new(ins.width());
    let mut index = 0;
    while index < ins.len() {
        if ins.row(index)[column].is_zero() {
            index += 1;
        } else {
            let row = ins.row(index);
            bounds.push(row);
            ins.swap_remove(index);
        }
    }
    let fresh = ins.len();
    for lower in bounds.iter().filter(|row| row[column].signum() > 0) {
        for upper in bounds.iter().filter(|row| row[column].signum() < 0) {
            ins.push(lower);
            let last = ins.len() - 1;
            T::combine(ins.row_mut(last), &upper[column].neg()?, upper, &lower[column])?;
        }
    }
    if let Some(trail) = trail {
        let first = trail.rows.len();
        trail.rows.extend(&bounds);
        trail.steps.push(Step::Between { var, first, last: trail.rows.len() });
    }
    Ok(fresh)
}
