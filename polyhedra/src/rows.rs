//! Rows of coefficients in one flat vector, and the systems of constraints made of them.
//!
//! Column 0 is the constant, column `v + 1` is variable `v`. All rows of a [`Rows`] have one width,
//! so a row is a slice and no constraint allocates by itself.

use crate::limits::Exact;
use crate::scalar::Scalar;

/// Equally long rows in one allocation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Rows<T> {
    width: usize,
    data: Vec<T>,
}

impl<T: Scalar> Rows<T> {
    pub(crate) fn new(width: usize) -> Rows<T> {
        Rows { width, data: Vec::new() }
    }

    pub(crate) fn with_capacity(width: usize, rows: usize) -> Rows<T> {
        Rows { width, data: Vec::with_capacity(width * rows) }
    }

    /// For each of `vars` variables the row that is its value.
    pub(crate) fn identity(vars: usize) -> Rows<T> {
        let mut rows = Rows::with_capacity(vars + 1, vars);
        for var in 0..vars {
            rows.push_zeros()[var + 1] = T::one();
        }
        rows
    }

    #[inline]
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.data.len() / self.width
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    #[inline]
    pub(crate) fn row(&self, index: usize) -> &[T] {
        &self.data[index * self.width..(index + 1) * self.width]
    }

    #[inline]
    pub(crate) fn row_mut(&mut self, index: usize) -> &mut [T] {
        &mut self.data[index * self.width..(index + 1) * self.width]
    }

    #[inline]
    pub(crate) fn iter(&self) -> std::slice::ChunksExact<'_, T> {
        self.data.chunks_exact(self.width)
    }

    #[inline]
    pub(crate) fn iter_mut(&mut self) -> std::slice::ChunksExactMut<'_, T> {
        self.data.chunks_exact_mut(self.width)
    }

    #[inline]
    pub(crate) fn push(&mut self, row: &[T]) {
        debug_assert_eq!(row.len(), self.width);
        self.data.extend_from_slice(row);
    }

    /// Appends a row of zeros and returns it.
    pub(crate) fn push_zeros(&mut self) -> &mut [T] {
        let start = self.data.len();
        self.data.resize(start + self.width, T::zero());
        &mut self.data[start..]
    }

    pub(crate) fn extend(&mut self, other: &Rows<T>) {
        debug_assert_eq!(other.width, self.width);
        self.data.extend_from_slice(&other.data);
    }

    /// Each row by itself.
    pub(crate) fn into_rows(self) -> impl Iterator<Item = Vec<T>> {
        let width = self.width;
        let mut values = self.data.into_iter();
        std::iter::from_fn(move || {
            let row: Vec<T> = values.by_ref().take(width).collect();
            (row.len() == width).then_some(row)
        })
    }

    pub(crate) fn pop(&mut self) -> Option<Vec<T>> {
        let start = self.data.len().checked_sub(self.width)?;
        Some(self.data.split_off(start))
    }

    /// Drops the last row.
    pub(crate) fn drop_last(&mut self) {
        self.data.truncate(self.data.len().saturating_sub(self.width));
    }

    /// Removes a row; the last one takes its place.
    pub(crate) fn swap_remove(&mut self, index: usize) {
        let last = self.len() - 1;
        if index != last {
            let (head, tail) = self.data.split_at_mut(last * self.width);
            head[index * self.width..(index + 1) * self.width].clone_from_slice(tail);
        }
        self.drop_last();
    }

    /// Two different rows, both to be written.
    pub(crate) fn pair_mut(&mut self, a: usize, b: usize) -> (&mut [T], &mut [T]) {
        let width = self.width;
        if a < b {
            let (head, tail) = self.data.split_at_mut(b * width);
            (&mut head[a * width..(a + 1) * width], &mut tail[..width])
        } else {
            let (head, tail) = self.data.split_at_mut(a * width);
            (&mut tail[..width], &mut head[b * width..(b + 1) * width])
        }
    }

    /// The same rows with `extra` columns of zeros appended.
    pub(crate) fn widened(&self, extra: usize) -> Rows<T> {
        let mut wide = Rows::with_capacity(self.width + extra, self.len());
        for row in self.iter() {
            wide.push_zeros()[..self.width].clone_from_slice(row);
        }
        wide
    }

    /// Rows of `width` whose column `columns[k]` is column `k` of these; the others are zero.
    pub(crate) fn scattered(&self, width: usize, columns: &[usize]) -> Rows<T> {
        let mut out = Rows::with_capacity(width, self.len());
        for row in self.iter() {
            let target = out.push_zeros();
            for (value, column) in row.iter().zip(columns) {
                target[*column] = value.clone();
            }
        }
        out
    }

    /// Rows made of the columns `columns` of these, in that order.
    pub(crate) fn gathered(&self, columns: &[usize]) -> Rows<T> {
        let mut out = Rows::with_capacity(columns.len(), self.len());
        for row in self.iter() {
            out.data.extend(columns.iter().map(|column| row[*column].clone()));
        }
        out
    }

    /// The same rows over another rung of the ladder.
    pub(crate) fn converted<U: Scalar>(&self) -> Exact<Rows<U>> {
        let convert = |value: &T| match value.to_i64() {
            Some(small) => Ok(U::from_i64(small)),
            None => U::from_int(&value.to_int()),
        };
        let data = self.data.iter().map(convert).collect::<Exact<_>>()?;
        Ok(Rows { width: self.width, data })
    }

    /// The steps of one operation on every number.
    pub(crate) fn weight(&self) -> usize {
        T::weights(&self.data)
    }

    /// Bytes of heap in use.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.data.capacity() * size_of::<T>()
    }

    pub(crate) fn shrink(&mut self) {
        self.data.shrink_to_fit();
    }
}

impl Rows<i64> {
    /// The same rows over a rung of the ladder, without a detour.
    #[inline]
    pub(crate) fn lifted<U: Scalar>(&self) -> Rows<U> {
        Rows { width: self.width, data: self.data.iter().map(|value| U::from_i64(*value)).collect() }
    }

    pub(crate) fn sort(&mut self) {
        if self.len() < 2 {
            return;
        }
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|a, b| {
            self.row(*a)[1..].cmp(&self.row(*b)[1..]).then(self.row(*a)[0].cmp(&self.row(*b)[0]))
        });
        self.data = order.iter().flat_map(|index| self.row(*index).to_vec()).collect();
    }
}

/// Equalities `row = 0` and inequalities `row ≥ 0` over the same variables.
#[derive(Clone, Debug)]
pub(crate) struct System<T> {
    pub(crate) eqs: Rows<T>,
    pub(crate) ins: Rows<T>,
}

impl<T: Scalar> System<T> {
    /// No constraint over `vars` variables.
    pub(crate) fn new(vars: usize) -> System<T> {
        System { eqs: Rows::new(vars + 1), ins: Rows::new(vars + 1) }
    }

    /// The same system over another rung of the ladder.
    pub(crate) fn converted<U: Scalar>(&self) -> Exact<System<U>> {
        Ok(System { eqs: self.eqs.converted()?, ins: self.ins.converted()? })
    }

    /// The steps of one operation on every number.
    pub(crate) fn weight(&self) -> usize {
        self.eqs.weight() + self.ins.weight()
    }

    /// See [`Rows::gathered`].
    pub(crate) fn gathered(&self, columns: &[usize]) -> System<T> {
        System { eqs: self.eqs.gathered(columns), ins: self.ins.gathered(columns) }
    }

    /// See [`Rows::scattered`].
    pub(crate) fn scattered(&self, width: usize, columns: &[usize]) -> System<T> {
        System { eqs: self.eqs.scattered(width, columns), ins: self.ins.scattered(width, columns) }
    }

    /// See [`Rows::widened`].
    pub(crate) fn widened(&self, extra: usize) -> System<T> {
        System { eqs: self.eqs.widened(extra), ins: self.ins.widened(extra) }
    }

    #[inline]
    pub(crate) fn vars(&self) -> usize {
        self.ins.width() - 1
    }

    /// Puts the value that the equality `row = 0` gives the variable of `column`, where its
    /// coefficient is 1 or −1, into every constraint.
    pub(crate) fn substitute(&mut self, row: &[T], column: usize) -> Exact<()> {
        self.eqs.iter_mut().chain(self.ins.iter_mut()).try_for_each(|other| substitute(other, row, column))
    }
}

/// Puts the value that the equality `row = 0` gives the variable of `column`, where its coefficient
/// is 1 or −1, into another row.
#[inline]
pub(crate) fn substitute<T: Scalar>(other: &mut [T], row: &[T], column: usize) -> Exact<()> {
    if other[column].is_zero() {
        return Ok(());
    }
    let factor = if row[column].signum() > 0 { other[column].neg()? } else { other[column].clone() };
    T::combine(other, &T::one(), row, &factor)
}

/// The row with each variable replaced by its value, a row over other variables.
pub(crate) fn compose<T: Scalar>(row: &[T], values: &Rows<T>) -> Exact<Vec<T>> {
    let mut out = vec![T::zero(); values.width()];
    out[0] = row[0].clone();
    for (coefficient, value) in row[1..].iter().zip(values.iter()) {
        if !coefficient.is_zero() {
            T::combine(&mut out, &T::one(), value, coefficient)?;
        }
    }
    Ok(out)
}

/// The value of an affine row at a point.
pub(crate) fn evaluate<T: Scalar>(row: &[T], point: &[T]) -> Exact<T> {
    let mut sum = row[0].clone();
    for (coefficient, value) in row[1..].iter().zip(point) {
        if !coefficient.is_zero() && !value.is_zero() {
            sum = sum.add(&coefficient.mul(value)?)?;
        }
    }
    Ok(sum)
}

/// Greatest common divisor of the coefficients, the constant left out; zero if all are zero.
#[inline]
pub(crate) fn content<T: Scalar>(row: &[T]) -> Exact<T> {
    let mut gcd = T::zero();
    for value in &row[1..] {
        if !value.is_zero() {
            gcd = gcd.gcd(value)?;
            if gcd.is_one() {
                break;
            }
        }
    }
    Ok(gcd)
}

/// Replaces a row by its negation.
pub(crate) fn negate<T: Scalar>(row: &mut [T]) -> Exact<()> {
    for value in row {
        *value = value.neg()?;
    }
    Ok(())
}

/// Turns `row ≥ 0` into its negation over the integers, `−row − 1 ≥ 0`.
pub(crate) fn complement<T: Scalar>(row: &mut [T]) -> Exact<()> {
    negate(row)?;
    row[0] = row[0].sub(&T::one())?;
    Ok(())
}
