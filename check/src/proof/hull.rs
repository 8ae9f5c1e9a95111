//! Equalities that two sets share: the intersection of two spaces of rows.
//!
//! Widening needs it. A claim that recurs with other instances is claimed for the affine hull of
//! all of them, so a recurrence over any number of iterations ends after two rounds.

use loomir_polyhedra::{Affine, Var};

/// Returns a basis of the equalities that follow from `a` and from `b`; `None` if a number does not
/// fit.
pub(super) fn common(a: &[Affine], b: &[Affine], vars: usize) -> Option<Vec<Affine>> {
    // Zassenhaus: the rows (a, a) and (b, 0) in echelon form; rows whose left half is zero hold a
    // basis of the intersection in their right half.
    let width = vars + 1;
    let row = |affine: &Affine| -> Option<Vec<i128>> {
        let mut row = vec![0i128; width];
        for (var, value) in affine.terms() {
            row[var.index()] = i128::from(value.to_i64()?);
        }
        row[vars] = i128::from(affine.constant_term().to_i64()?);
        Some(row)
    };
    let mut rows: Vec<Vec<i128>> = Vec::new();
    for affine in a {
        let left = row(affine)?;
        rows.push(left.iter().chain(&left).copied().collect());
    }
    for affine in b {
        let mut left = row(affine)?;
        left.resize(2 * width, 0);
        rows.push(left);
    }
    let mut done = 0;
    for column in 0..width {
        let Some(pivot) = (done..rows.len()).find(|r| rows[*r][column] != 0) else { continue };
        rows.swap(done, pivot);
        let pivot = rows[done].clone();
        for other in &mut rows[done + 1..] {
            eliminate(other, &pivot, column)?;
        }
        done += 1;
    }
    let mut found = Vec::new();
    for row in &rows[done..] {
        let right = &row[width..];
        if right[..vars].iter().all(|value| *value == 0) {
            continue;
        }
        let mut affine = Affine::constant(i64::try_from(right[vars]).ok()?);
        for (index, value) in right[..vars].iter().enumerate().filter(|(_, value)| **value != 0) {
            affine = affine + Affine::from(Var(index as u32)) * i64::try_from(*value).ok()?;
        }
        found.push(affine);
    }
    Some(found)
}

/// Makes a column of a row zero by a multiple of the pivot row.
fn eliminate(row: &mut [i128], pivot: &[i128], column: usize) -> Option<()> {
    if row[column] == 0 {
        return Some(());
    }
    let divisor = gcd(row[column], pivot[column]);
    let (a, b) = (pivot[column] / divisor, row[column] / divisor);
    for (value, own) in row.iter_mut().zip(pivot) {
        *value = value.checked_mul(a)?.checked_sub(own.checked_mul(b)?)?;
    }
    let content = row.iter().fold(0, |content, value| gcd(content, *value));
    if content > 1 {
        row.iter_mut().for_each(|value| *value /= content);
    }
    Some(())
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_points_share_the_line_through_them() {
        let point = |x: i64, y: i64| vec![Affine::from(Var(0)) - x, Affine::from(Var(1)) - y];
        let line = common(&point(1, 3), &point(2, 5), 2).unwrap();
        assert_eq!(line.len(), 1);
        // On 2x - y + 1 = 0 both points lie, and (0, 1).
        let at = |x: i64, y: i64| {
            line[0].terms().iter().fold(line[0].constant_term().to_i64().unwrap(), |sum, (var, value)| {
                sum + value.to_i64().unwrap() * [x, y][var.index()]
            })
        };
        assert_eq!([at(1, 3), at(2, 5), at(0, 1)], [0, 0, 0]);
        assert_ne!(at(0, 0), 0);
    }

    #[test]
    fn what_one_side_leaves_open_is_not_shared() {
        let x_is_one = [Affine::from(Var(0)) - 1];
        assert!(common(&x_is_one, &[], 2).unwrap().is_empty());
    }
}
