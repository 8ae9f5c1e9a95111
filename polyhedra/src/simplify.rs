//! The normal form conjunctions are kept in: few constraints, few existential variables, small
//! coefficients.
//!
//! Nothing here changes the set, and nothing here is a search; redundancy that takes a solver to
//! see is the business of [`gist`](crate::Set::gist) and [`coalesce`](crate::Set::coalesce).
//!
//! - Every row is divided by its gcd, inequalities tightened to integers; parallel rows are merged,
//!   opposite ones that meet become an equality.
//! - An existential variable that an equality gives with coefficient 1 is replaced; of the others
//!   an equality keeps one at most (`g·e = f(x)`, a stride), and that variable occurs in no other
//!   row.
//! - An existential variable whose bounds meet exactly without more rows is eliminated.
//! - A visible variable that an equality gives with coefficient 1 occurs in no other row.
//! - Existential variables with one definition are one variable.

use crate::conjunction::Conjunction;
use crate::limits::{Budget, Exact};
use crate::rows::{Rows, System, content, negate};
use crate::scalar::{Scalar, ladder};
use crate::solve::{Parallel, parallel};

impl Conjunction {
    /// [`simplified`](Conjunction::simplified) as part of a question with a budget.
    pub(crate) fn simplified_within(&self, budget: &mut Budget) -> Exact<Option<Conjunction>> {
        let (rows, width) = (self.constraints(), self.ins.width());
        budget.tick((1 + self.existentials()) * rows * (rows + width))?;
        Ok(self.simplified())
    }

    /// The same set in normal form; `None` if that shows it to be empty.
    pub fn simplified(&self) -> Option<Conjunction> {
        let mut set = self.normalized()?;
        while set.existentials() > 1 && set.merge_twins() {
            set = set.normalized()?;
        }
        Some(set)
    }

    fn normalized(&self) -> Option<Conjunction> {
        match ladder!(T => simplify::<T>(self)) {
            Ok(simple) => simple,
            // The last rung neither overflows nor is limited.
            Err(_) => Some(self.clone()),
        }
    }

    /// Makes existential variables with the same definition one; differences and joins bring such
    /// twins together.
    fn merge_twins(&mut self) -> bool {
        // Variables that stand for multiples are made anew by each normal form: to merge them would
        // never end.
        let multiple = |row: &[i64]| row[self.visible() + 1..].iter().any(Scalar::is_unit);
        if self.eqs.iter().any(multiple) {
            return false;
        }
        let mut known: Vec<(Vec<i64>, usize)> = Vec::new();
        let mut twins: Vec<(usize, usize)> = Vec::new();
        for column in self.visible() + 1..self.ins.width() {
            let Some(definition) = self.sole_value(column) else { continue };
            match known.iter().find(|(other, _)| *other == definition) {
                Some((_, twin)) => twins.push((column, *twin)),
                None => known.push((definition, column)),
            }
        }
        // One by one, so that each twin disappears from every row or, if a sum does not fit, from
        // none.
        let mut merged = false;
        for (column, twin) in twins {
            let sum = |row: &[i64]| row[twin].checked_add(row[column]).filter(|sum| *sum != i64::MIN);
            if self.eqs.iter().chain(self.ins.iter()).any(|row| sum(row).is_none()) {
                continue;
            }
            for row in self.eqs.iter_mut().chain(self.ins.iter_mut()) {
                row[twin] += row[column];
                row[column] = 0;
            }
            merged = true;
        }
        merged
    }

    /// If an equality or two close bounds leave a variable one value: that row, the variable's
    /// coefficient moved to the end, so that variables with the same value have the same row.
    fn sole_value(&self, column: usize) -> Option<Vec<i64>> {
        let keyed = |row: &[i64], kind: i64| {
            let mut key = row.to_vec();
            key[column] = 0;
            key.extend([row[column], kind]);
            key
        };
        if let Some(row) = self.eqs.iter().find(|row| row[column] != 0) {
            return Some(keyed(row, 0));
        }
        let bounds = || self.ins.iter().filter(|row| row[column] != 0);
        bounds().filter(|upper| upper[column] < 0).find_map(|upper| {
            let close = |lower: &&[i64]| {
                lower[column] > 0
                    && matches!(parallel(upper, lower), Parallel::Opposite)
                    && upper[0].checked_add(lower[0]).is_some_and(|slack| slack < lower[column])
            };
            bounds().find(close).map(|_| keyed(upper, 1))
        })
    }
}

fn simplify<T: Scalar>(set: &Conjunction) -> Exact<Option<Conjunction>> {
    let mut normal =
        Normal { visible: set.visible(), system: set.system::<T>(), strides: Rows::new(set.vars() + 1) };
    if !normal.run()? {
        return Ok(None);
    }
    normal.finish().map(Some)
}

/// A system on its way to normal form.
struct Normal<T> {
    visible: usize,
    system: System<T>,
    /// Finished equalities `g·e = f(x)` with one existential variable each, which occurs nowhere
    /// else.
    strides: Rows<T>,
}

impl<T: Scalar> Normal<T> {
    /// False: the set is empty.
    fn run(&mut self) -> Exact<bool> {
        let mut solved = Rows::new(self.system.ins.width());
        loop {
            while let Some(mut row) = self.system.eqs.pop() {
                let gcd = content(&row)?;
                if gcd.is_zero() {
                    if !row[0].is_zero() {
                        return Ok(false);
                    }
                    continue;
                }
                if !row[0].rem_floor(&gcd).is_zero() {
                    return Ok(false);
                }
                divide(&mut row, &gcd)?;
                match self.place(&mut row, &mut solved)? {
                    Placed::Done => {}
                    Placed::Again => self.system.eqs.push(&row),
                }
            }
            match self.merge()? {
                Merged::Empty => return Ok(false),
                Merged::Equality => continue,
                Merged::Done => {}
            }
            if !self.eliminate_existential()? {
                break;
            }
        }
        self.system.eqs = solved;
        for mut row in std::mem::replace(&mut self.strides, Rows::new(1)).into_rows() {
            if !self.reduce_stride(&mut row)? {
                return Ok(false);
            }
            self.system.eqs.push(&row);
        }
        Ok(true)
    }

    /// Brings a stride `g·e + f(x) = 0` to its smallest coefficients; its variable occurs in no
    /// other row. A stride of one says nothing and becomes zero. False: it has no solution.
    fn reduce_stride(&self, row: &mut [T]) -> Exact<bool> {
        let gcd = content(row)?;
        if gcd.is_zero() {
            return Ok(row[0].is_zero());
        }
        if !row[0].rem_floor(&gcd).is_zero() {
            return Ok(false);
        }
        divide(row, &gcd)?;
        let Some(pivot) = (self.visible + 1..row.len()).find(|column| !row[*column].is_zero()) else {
            return Ok(true);
        };
        if row[pivot].is_unit() {
            row.fill(T::zero());
            return Ok(true);
        }
        let stride = row[pivot].abs()?;
        let half = stride.sub(&T::one())?.div_floor(&T::from_i64(2))?;
        for column in (0..row.len()).filter(|column| *column != pivot) {
            row[column] = row[column].add(&half)?.rem_floor(&stride).sub(&half)?;
        }
        if let Some(first) = (1..row.len()).find(|column| !row[*column].is_zero())
            && row[first].signum() < 0
        {
            negate(row)?;
            // The constant keeps the range (−g/2, g/2].
            row[0] = row[0].add(&half)?.rem_floor(&stride).sub(&half)?;
        }
        // The variable occurs in this row alone, so its sign is free.
        row[pivot] = stride;
        Ok(true)
    }

    /// Uses one equality.
    fn place(&mut self, row: &mut [T], solved: &mut Rows<T>) -> Exact<Placed> {
        let existential = self.visible + 1..row.len();
        let occurring: Vec<usize> = existential.filter(|column| !row[*column].is_zero()).collect();
        if let Some(unit) = occurring.iter().copied().find(|column| row[*column].is_unit()) {
            self.eliminate(row, unit, solved)?;
            return Ok(Placed::Done);
        }
        if !occurring.is_empty() {
            let mut pivot = occurring[0];
            for column in &occurring {
                if row[*column].abs()? < row[pivot].abs()? {
                    pivot = *column;
                }
            }
            self.shift(row, pivot, solved)?;
            if occurring.len() > 1 {
                return Ok(Placed::Again);
            }
            // The gcd may have changed with the constant: the row stays primitive in its
            // coefficients.
            self.eliminate(row, pivot, solved)?;
            if row[pivot].signum() < 0 {
                negate(row)?;
            }
            self.strides.push(row);
            return Ok(Placed::Done);
        }
        if let Some(unit) = (1..=self.visible).rev().find(|column| row[*column].is_unit()) {
            self.eliminate(row, unit, solved)?;
        }
        if let Some(first) = row[1..].iter().position(|value| !value.is_zero())
            && row[first + 1].signum() < 0
        {
            negate(row)?;
        }
        solved.push(row);
        Ok(Placed::Done)
    }

    /// Removes `column` from every other row by adding multiples of `row = 0`, scaling by its
    /// coefficient if need be.
    fn eliminate(&mut self, row: &[T], column: usize, solved: &mut Rows<T>) -> Exact<()> {
        let pivot = row[column].clone();
        let size = pivot.abs()?;
        let rows = self
            .system
            .eqs
            .iter_mut()
            .chain(self.system.ins.iter_mut())
            .chain(solved.iter_mut())
            .chain(self.strides.iter_mut());
        for other in rows {
            if other[column].is_zero() {
                continue;
            }
            let factor = if pivot.signum() > 0 { other[column].neg()? } else { other[column].clone() };
            T::combine(other, &size, row, &factor)?;
            let gcd = content(other)?.gcd(&other[0])?;
            if !gcd.is_zero() {
                divide(other, &gcd)?;
            }
        }
        Ok(())
    }

    /// Replaces the existential variable of `pivot` by itself minus multiples of the others, so
    /// that the other coefficients of `row` become at most half of its own.
    fn shift(&mut self, row: &mut [T], pivot: usize, solved: &mut Rows<T>) -> Exact<()> {
        let divisor = row[pivot].clone();
        let size = divisor.abs()?;
        let half = size.sub(&T::one())?.div_floor(&T::from_i64(2))?;
        let mut shift = vec![T::zero(); row.len()];
        for (column, value) in row.iter().enumerate() {
            if column != pivot && !value.is_zero() {
                let rounded = value.add(&half)?.div_floor(&size)?;
                shift[column] = if divisor.signum() > 0 { rounded.neg()? } else { rounded };
            }
        }
        let rows = self.system.eqs.iter_mut().chain(self.system.ins.iter_mut());
        for other in rows.chain(solved.iter_mut()).chain(self.strides.iter_mut()).chain(std::iter::once(row))
        {
            if !other[pivot].is_zero() {
                let factor = other[pivot].clone();
                T::combine(other, &T::one(), &shift, &factor)?;
            }
        }
        Ok(())
    }

    /// Normalises the inequalities and merges parallel ones.
    fn merge(&mut self) -> Exact<Merged> {
        let ins = &mut self.system.ins;
        let mut merged: Rows<T> = Rows::with_capacity(ins.width(), ins.len());
        let mut equality = false;
        'rows: for index in 0..ins.len() {
            let row = ins.row_mut(index);
            let gcd = content(row)?;
            if gcd.is_zero() {
                if row[0].signum() < 0 {
                    return Ok(Merged::Empty);
                }
                continue;
            }
            divide(row, &gcd)?;
            for earlier in 0..merged.len() {
                if let Parallel::Same = parallel(merged.row(earlier), row) {
                    let constant = merged.row(earlier)[0].clone().min(row[0].clone());
                    merged.row_mut(earlier)[0] = constant;
                    continue 'rows;
                }
            }
            merged.push(row);
        }
        let mut index = 0;
        while index < merged.len() {
            let mut met = None;
            for other in index + 1..merged.len() {
                if let Parallel::Opposite = parallel(merged.row(index), merged.row(other)) {
                    let slack = merged.row(index)[0].add(&merged.row(other)[0])?;
                    if slack.signum() < 0 {
                        return Ok(Merged::Empty);
                    }
                    if slack.is_zero() {
                        met = Some(other);
                        break;
                    }
                }
            }
            match met {
                Some(other) => {
                    self.system.eqs.push(merged.row(index));
                    merged.swap_remove(other);
                    merged.swap_remove(index);
                    equality = true;
                }
                None => index += 1,
            }
        }
        self.system.ins = merged;
        Ok(if equality { Merged::Equality } else { Merged::Done })
    }

    /// Eliminates one existential variable that occurs in inequalities only, if that is exact and
    /// adds no row.
    fn eliminate_existential(&mut self) -> Exact<bool> {
        let width = self.system.ins.width();
        for column in self.visible + 1..width {
            let ins = &self.system.ins;
            let (mut lower, mut upper, mut lower_unit, mut upper_unit) = (0usize, 0usize, true, true);
            for row in ins.iter() {
                match row[column].signum() {
                    1 => {
                        lower += 1;
                        lower_unit &= row[column].is_unit();
                    }
                    -1 => {
                        upper += 1;
                        upper_unit &= row[column].is_unit();
                    }
                    _ => {}
                }
            }
            if lower + upper == 0 {
                continue;
            }
            let one_sided = lower == 0 || upper == 0;
            if !(one_sided || ((lower_unit || upper_unit) && lower * upper <= lower + upper)) {
                continue;
            }
            let mut rest = Rows::new(width);
            for row in ins.iter().filter(|row| row[column].is_zero()) {
                rest.push(row);
            }
            for low in ins.iter().filter(|row| row[column].signum() > 0) {
                for high in ins.iter().filter(|row| row[column].signum() < 0) {
                    rest.push(low);
                    let last = rest.len() - 1;
                    T::combine(rest.row_mut(last), &high[column].neg()?, high, &low[column])?;
                }
            }
            self.system.ins = rest;
            return Ok(true);
        }
        Ok(false)
    }

    /// The conjunction, without existential variables that no longer occur, rows in a fixed order.
    fn finish(self) -> Exact<Conjunction> {
        let System { eqs, ins } = self.system;
        let width = ins.width();
        let columns: Vec<usize> = (0..width)
            .filter(|column| {
                *column <= self.visible || eqs.iter().chain(ins.iter()).any(|row| !row[*column].is_zero())
            })
            .collect();
        let (eqs, ins) = (eqs.gathered(&columns), ins.gathered(&columns));
        let mut set = Conjunction::new(self.visible);
        set.eqs = Rows::new(columns.len());
        set.ins = Rows::new(columns.len());
        for row in eqs.iter().filter(|row| row.iter().any(|value| !value.is_zero())) {
            set.add_scalar_row(row, true);
        }
        for row in ins.iter() {
            set.add_scalar_row(row, false);
        }
        set.eqs.sort();
        set.ins.sort();
        set.eqs.shrink();
        set.ins.shrink();
        Ok(set)
    }
}

enum Placed {
    Done,
    Again,
}

enum Merged {
    Done,
    Empty,
    Equality,
}

/// Divides a row by a positive number, rounding the constant down.
fn divide<T: Scalar>(row: &mut [T], gcd: &T) -> Exact<()> {
    if !gcd.is_one() {
        for value in row {
            *value = value.div_floor(gcd)?;
        }
    }
    Ok(())
}
