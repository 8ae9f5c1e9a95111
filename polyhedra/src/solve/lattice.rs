//! Changes of basis of the integer lattice: column echelon forms and reduced bases.
//!
//! A [`Basis`] is a unimodular matrix `U`; new variables `y` stand for `x = U y`. Both functions
//! only choose `U`, so whatever they do, integer points correspond one to one and no answer depends
//! on how good the choice is.

use crate::int::Int;
use crate::limits::{Budget, Exact};
use crate::rows::Rows;
use crate::scalar::{Scalar, ladder};

/// A unimodular matrix, by columns: `columns[j]` is the vector in `x` that variable `yⱼ` moves
/// along.
#[derive(Clone, Debug)]
pub(crate) struct Basis<T> {
    pub(crate) columns: Vec<Vec<T>>,
}

impl<T: Scalar> Basis<T> {
    pub(crate) fn identity(size: usize) -> Basis<T> {
        let columns =
            (0..size).map(|j| (0..size).map(|i| if i == j { T::one() } else { T::zero() }).collect());
        Basis { columns: columns.collect() }
    }

    /// `x = U y`.
    pub(crate) fn apply(&self, y: &[T]) -> Exact<Vec<T>> {
        let mut x = vec![T::zero(); self.columns.len()];
        for (column, value) in self.columns.iter().zip(y) {
            if !value.is_zero() {
                T::combine(&mut x, &T::one(), column, value)?;
            }
        }
        Ok(x)
    }

    /// Rows over `x` rewritten over `y`.
    pub(crate) fn transform(&self, rows: &Rows<T>) -> Exact<Rows<T>> {
        let mut out = Rows::with_capacity(rows.width(), rows.len());
        for row in rows.iter() {
            let target = out.push_zeros();
            target[0] = row[0].clone();
            for (index, column) in self.columns.iter().enumerate() {
                target[index + 1] = dot(&row[1..], column)?;
            }
        }
        Ok(out)
    }
}

fn dot<T: Scalar>(a: &[T], b: &[T]) -> Exact<T> {
    let mut sum = T::zero();
    for (x, y) in a.iter().zip(b) {
        if !x.is_zero() && !y.is_zero() {
            sum = sum.add(&x.mul(y)?)?;
        }
    }
    Ok(sum)
}

/// A basis in which the rows depend on the first variables only, as many as their rank, which is
/// returned.
pub(crate) fn echelon<T: Scalar>(rows: &Rows<T>, budget: &mut Budget) -> Exact<(Basis<T>, usize)> {
    let size = rows.width() - 1;
    let mut basis = Basis::identity(size);
    let mut rank = 0;
    for row in rows.iter() {
        if rank == size {
            break;
        }
        budget.tick(size.saturating_mul(T::weights(row)))?;
        let mut values =
            basis.columns.iter().map(|column| dot(&row[1..], column)).collect::<Exact<Vec<T>>>()?;
        // Euclid on the entries from `rank` on: all but one become zero.
        loop {
            budget.tick(size)?;
            let mut pivot: Option<usize> = None;
            let mut others = false;
            for index in rank..size {
                if values[index].is_zero() {
                    continue;
                }
                match pivot {
                    None => pivot = Some(index),
                    Some(best) => {
                        others = true;
                        if values[index].abs()? < values[best].abs()? {
                            pivot = Some(index);
                        }
                    }
                }
            }
            let Some(pivot) = pivot else { break };
            if !others {
                values.swap(pivot, rank);
                basis.columns.swap(pivot, rank);
                rank += 1;
                break;
            }
            for index in (rank..size).filter(|index| *index != pivot) {
                let quotient = values[index].div_floor(&values[pivot])?;
                if !quotient.is_zero() {
                    let factor = quotient.neg()?;
                    values[index] = values[index].add(&values[pivot].mul(&factor)?)?;
                    let source = basis.columns[pivot].clone();
                    T::combine(&mut basis.columns[index], &T::one(), &source, &factor)?;
                    budget.tick(T::weights(&source))?;
                }
            }
        }
    }
    Ok((basis, rank))
}

/// A basis that is short in the metric `Σ (wᵢ aᵢ·x)²` of the weighted rows (integral
/// Lenstra–Lenstra–Lovász on the Gram matrix). The rows must have full rank.
fn reduced<T: Scalar>(rows: &Rows<T>, weights: &[T], budget: &mut Budget) -> Exact<Basis<T>> {
    let size = rows.width() - 1;
    let mut basis = Basis::identity(size);
    budget.tick(size.saturating_mul(rows.weight()))?;
    let mut gram = vec![vec![T::zero(); size]; size];
    for (row, weight) in rows.iter().zip(weights) {
        let square = weight.mul(weight)?;
        for i in 0..size {
            for j in 0..=i {
                let product = row[i + 1].mul(&row[j + 1])?.mul(&square)?;
                gram[i][j] = gram[i][j].add(&product)?;
            }
        }
    }
    let mut work =
        Reduction { gram, lambda: vec![vec![T::zero(); size]; size], d: vec![T::one(); size + 1], done: 0 };
    let mut k = 1;
    work.orthogonalize(0)?;
    while k < size {
        // Projections, one reduction for each earlier vector, an exchange: all quadratic in the
        // size.
        budget.tick(3 * size * size * work.d[k].weight())?;
        if work.done < k {
            work.orthogonalize(k)?;
        }
        work.size_reduce(&mut basis, k, k - 1)?;
        // Lovász: d[k+1]·d[k−1] ≥ 3/4 d[k]² − λ².
        let lambda = work.lambda[k][k - 1].clone();
        let left = work.d[k + 1].mul(&work.d[k - 1])?.add(&lambda.mul(&lambda)?)?.mul(&T::from_i64(4))?;
        let right = work.d[k].mul(&work.d[k])?.mul(&T::from_i64(3))?;
        if left < right {
            work.swap(&mut basis, k)?;
            k = (k - 1).max(1);
        } else {
            for l in (0..k - 1).rev() {
                work.size_reduce(&mut basis, k, l)?;
            }
            k += 1;
        }
    }
    Ok(basis)
}

/// [`reduced`] on a ladder of its own: its determinants are far larger than the basis it finds.
pub(crate) fn reduced_apart<T: Scalar>(
    rows: &Rows<T>,
    weights: &[T],
    budget: &mut Budget,
) -> Exact<Basis<T>> {
    let columns = ladder!(U => {
        let weights: Exact<Vec<U>> = weights.iter().map(|weight| U::from_int(&weight.to_int())).collect();
        weights.and_then(|weights| reduced::<U>(&rows.converted()?, &weights, budget)).map(|basis| {
            basis.columns.iter().map(|column| column.iter().map(U::to_int).collect()).collect::<Vec<Vec<Int>>>()
        })
    })?;
    let columns =
        columns.iter().map(|column| column.iter().map(T::from_int).collect()).collect::<Exact<_>>()?;
    Ok(Basis { columns })
}

/// The state of the integral reduction: Gram matrix (lower half), scaled projections, and
/// determinants `d[i+1]`.
struct Reduction<T> {
    gram: Vec<Vec<T>>,
    lambda: Vec<Vec<T>>,
    d: Vec<T>,
    done: usize,
}

impl<T: Scalar> Reduction<T> {
    fn entry(&self, i: usize, j: usize) -> &T {
        if i >= j { &self.gram[i][j] } else { &self.gram[j][i] }
    }

    /// Computes the projections of vector `k`.
    fn orthogonalize(&mut self, k: usize) -> Exact<()> {
        for j in 0..=k {
            let mut u = self.entry(k, j).clone();
            for i in 0..j {
                let product = self.lambda[k][i].mul(&self.lambda[j][i])?;
                u = self.d[i + 1].mul(&u)?.sub(&product)?.div_floor(&self.d[i])?;
            }
            if j < k {
                self.lambda[k][j] = u;
            } else {
                self.d[k + 1] = u;
            }
        }
        self.done = k;
        Ok(())
    }

    /// Subtracts a multiple of vector `l` from vector `k` so that the projection is at most a half.
    fn size_reduce(&mut self, basis: &mut Basis<T>, k: usize, l: usize) -> Exact<()> {
        let d = self.d[l + 1].clone();
        let twice = self.lambda[k][l].mul(&T::from_i64(2))?;
        let quotient = twice.add(&d)?.div_floor(&d.mul(&T::from_i64(2))?)?;
        if quotient.is_zero() {
            return Ok(());
        }
        let factor = quotient.neg()?;
        let source = basis.columns[l].clone();
        T::combine(&mut basis.columns[k], &T::one(), &source, &factor)?;
        // Gram: b_k ← b_k + factor·b_l.
        let size = self.gram.len();
        let cross = self.entry(k, l).clone();
        let square = self.gram[l][l].clone();
        let new_kk = self.gram[k][k]
            .add(&cross.mul(&factor)?.mul(&T::from_i64(2))?)?
            .add(&square.mul(&factor)?.mul(&factor)?)?;
        for j in (0..size).filter(|j| *j != k) {
            let value = self.entry(k, j).add(&self.entry(l, j).mul(&factor)?)?;
            if k >= j {
                self.gram[k][j] = value;
            } else {
                self.gram[j][k] = value;
            }
        }
        self.gram[k][k] = new_kk;
        self.lambda[k][l] = self.lambda[k][l].add(&d.mul(&factor)?)?;
        for i in 0..l {
            let value = self.lambda[k][i].add(&self.lambda[l][i].mul(&factor)?)?;
            self.lambda[k][i] = value;
        }
        Ok(())
    }

    /// Exchanges vectors `k` and `k − 1`.
    fn swap(&mut self, basis: &mut Basis<T>, k: usize) -> Exact<()> {
        basis.columns.swap(k, k - 1);
        let size = self.gram.len();
        let full: Vec<Vec<T>> =
            (0..size).map(|i| (0..size).map(|j| self.entry(i, j).clone()).collect()).collect();
        let place = |i: usize| {
            if i == k {
                k - 1
            } else if i == k - 1 {
                k
            } else {
                i
            }
        };
        for i in 0..size {
            for j in 0..=i {
                self.gram[i][j] = full[place(i)][place(j)].clone();
            }
        }
        for j in 0..k - 1 {
            let (left, right) = self.lambda.split_at_mut(k);
            std::mem::swap(&mut left[k - 1][j], &mut right[0][j]);
        }
        let lambda = self.lambda[k][k - 1].clone();
        let b = self.d[k - 1].mul(&self.d[k + 1])?.add(&lambda.mul(&lambda)?)?.div_floor(&self.d[k])?;
        for i in k + 1..=self.done {
            let t = self.lambda[i][k].clone();
            let upper = self.lambda[i][k - 1].clone();
            // λ[i][k] ← (d[k+1]·λ[i][k−1] − λ·t) / d[k]
            let new_k = self.d[k + 1].mul(&upper)?.sub(&lambda.mul(&t)?)?.div_floor(&self.d[k])?;
            // λ[i][k−1] ← (b·t + λ·λ[i][k]) / d[k+1]
            let new_upper = b.mul(&t)?.add(&lambda.mul(&new_k)?)?.div_floor(&self.d[k + 1])?;
            self.lambda[i][k] = new_k;
            self.lambda[i][k - 1] = new_upper;
        }
        self.d[k] = b;
        Ok(())
    }
}
