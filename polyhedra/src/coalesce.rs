//! Coalescing: a union with fewer members and the same points.
//!
//! Two members become one if the constraints of each that hold on the other describe exactly their
//! union; that is checked by an exact difference, so the result never grows. Members inside others
//! disappear. Existential variables are compared where both members use them alike (the same
//! strides). Cost: quadratic in the number of members, a few emptiness tests each.

use crate::conjunction::Conjunction;
use crate::gist::gist;
use crate::limits::{Budget, Exact};
use crate::rows::Rows;
use crate::union::{is_subset, subtract};

/// The same points in at most as many members.
pub(crate) fn coalesce(pieces: &[Conjunction], budget: &mut Budget) -> Exact<Vec<Conjunction>> {
    let universe = pieces.first().map(|piece| Conjunction::new(piece.visible()));
    let mut out = gist(pieces, universe.as_slice(), budget)?;
    let mut first = 0;
    while first < out.len() {
        let mut second = first + 1;
        let mut merged = false;
        while second < out.len() {
            match merge(&out[first], &out[second], budget)? {
                Some(both) => {
                    out[first] = both;
                    out.swap_remove(second);
                    merged = true;
                }
                None => second += 1,
            }
        }
        // A grown member may now meet earlier ones.
        first = if merged { 0 } else { first + 1 };
    }
    Ok(out)
}

/// One conjunction with the points of both, if that is found.
fn merge(a: &Conjunction, b: &Conjunction, budget: &mut Budget) -> Exact<Option<Conjunction>> {
    if is_subset(std::slice::from_ref(b), std::slice::from_ref(a), budget)? {
        return Ok(Some(a.clone()));
    }
    if is_subset(std::slice::from_ref(a), std::slice::from_ref(b), budget)? {
        return Ok(Some(b.clone()));
    }
    if a.existentials() != b.existentials() {
        return Ok(None);
    }
    let strides = a.existentials() > 0;
    if strides && rows_with_existentials(a) != rows_with_existentials(b) {
        return Ok(None);
    }
    let mut hull = a.clone();
    hull.eqs = Rows::new(a.eqs.width());
    hull.ins = Rows::new(a.ins.width());
    for (from, other) in [(a, b), (b, a)] {
        for (row, equality) in
            from.eqs.iter().map(|row| (row, true)).chain(from.ins.iter().map(|row| (row, false)))
        {
            let existential = row[from.visible() + 1..].iter().any(|value| *value != 0);
            if existential {
                if std::ptr::eq(from, a) {
                    if equality { hull.eqs.push(row) } else { hull.ins.push(row) }
                }
                continue;
            }
            let negated: Vec<i64> = row.iter().map(|value| -value).collect();
            let halves: &[&[i64]] = if equality { &[row, &negated] } else { &[row] };
            for half in halves {
                let mut outside = other.clone();
                outside.add_complement(half);
                if outside.decide_empty(budget)? {
                    hull.ins.push(half);
                }
            }
        }
    }
    let Some(hull) = hull.simplified_within(budget)? else { return Ok(None) };
    let beyond = subtract(std::slice::from_ref(&hull), &[a.clone(), b.clone()], budget)?;
    for piece in beyond {
        if !piece.decide_empty(budget)? {
            return Ok(None);
        }
    }
    let universe = Conjunction::new(hull.visible());
    Ok(gist(&[hull], &[universe], budget)?.pop())
}

fn rows_with_existentials(set: &Conjunction) -> Vec<&[i64]> {
    let used = |row: &&[i64]| row[set.visible() + 1..].iter().any(|value| *value != 0);
    set.eqs.iter().filter(used).chain(set.ins.iter().filter(used)).collect()
}
