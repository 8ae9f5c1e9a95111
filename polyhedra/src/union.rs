//! Unions of conjunctions over the same visible variables: the algebra under sets and relations.
//!
//! Difference is the one hard operation: the subtrahend's existential variables are made functions of the visible
//! ones ([`divs`](crate::divs)), then its constraints are negated one after the other, each under those before it, so
//! the pieces of a difference are disjoint. Subset, equality and complement follow.

use crate::conjunction::{Conjunction, Point};
use crate::divs::{Resolved, moved};
use crate::limits::{Budget, Exact};
use crate::rows::{complement, negate};

/// All conjunctions of a member of each union, in normal form, plainly empty ones left out.
pub(crate) fn intersect(a: &[Conjunction], b: &[Conjunction]) -> Vec<Conjunction> {
    let pairs = a.iter().flat_map(|x| b.iter().map(move |y| x.intersect(y)));
    pairs.filter_map(|both| both.simplified()).collect()
}

/// Whether some point is in a member of each.
pub(crate) fn meets(a: &[Conjunction], b: &[Conjunction], budget: &mut Budget) -> Exact<bool> {
    for x in a {
        for y in b {
            if !x.intersect(y).decide_empty(budget)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The points of `a` that are in no member of `b`.
pub(crate) fn subtract(a: &[Conjunction], b: &[Conjunction], budget: &mut Budget) -> Exact<Vec<Conjunction>> {
    let mut rest = a.to_vec();
    for subtrahend in b {
        if rest.is_empty() {
            break;
        }
        let mut parts = None;
        let mut next = Vec::new();
        for piece in rest {
            if piece.intersect(subtrahend).decide_empty(budget)? {
                next.push(piece);
                continue;
            }
            let parts = match &parts {
                Some(parts) => parts,
                None => {
                    let explicit = subtrahend.explicit(budget)?;
                    parts.insert(explicit.iter().map(Resolved::new).collect::<Vec<_>>())
                }
            };
            let mut left = vec![piece];
            for part in parts {
                let mut after = Vec::new();
                for piece in &left {
                    subtract_explicit(piece, part, budget, &mut after)?;
                }
                left = after;
            }
            next.extend(left);
        }
        rest = next;
    }
    Ok(rest)
}

/// Whether every point of `a` is in a member of `b`.
pub(crate) fn is_subset(a: &[Conjunction], b: &[Conjunction], budget: &mut Budget) -> Exact<bool> {
    for piece in a {
        let mut left = vec![piece.clone()];
        for subtrahend in b {
            if left.is_empty() {
                break;
            }
            left = subtract(&left, std::slice::from_ref(subtrahend), budget)?;
        }
        for piece in left {
            if !piece.decide_empty(budget)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Adds the non-empty pieces of `a` minus `b` to `out`. `b` must be explicit.
fn subtract_explicit(
    a: &Conjunction,
    b: &Resolved,
    budget: &mut Budget,
    out: &mut Vec<Conjunction>,
) -> Exact<()> {
    let (visible, shift) = (b.visible, a.existentials());
    let mut base = a.clone();
    let width = base.ins.width() + b.ins.width() - visible - 1;
    base.eqs = base.eqs.widened(width - base.eqs.width());
    base.ins = base.ins.widened(width - base.ins.width());
    for definition in b.definitions(visible) {
        base.add_definition(&definition, visible, shift);
    }
    for (row, equality) in b.eqs.iter().map(|row| (row, true)).chain(b.ins.iter().map(|row| (row, false))) {
        let mut row = moved(row, visible, shift);
        for half in 0..1 + usize::from(equality) {
            let mut outside = base.clone();
            let mut negated = row.clone();
            complement(&mut negated)?;
            outside.add_scalar_row(&negated, false);
            if !outside.decide_empty(budget)? {
                out.extend(outside.simplified_within(budget)?);
            }
            if half == 0 && equality {
                negate(&mut row)?;
            }
        }
        base.add_scalar_row(&row, equality);
    }
    Ok(())
}

/// The same points in members that do not meet.
pub(crate) fn disjoint(pieces: &[Conjunction], budget: &mut Budget) -> Exact<Vec<Conjunction>> {
    let mut out: Vec<Conjunction> = Vec::new();
    for piece in pieces {
        let new = subtract(std::slice::from_ref(piece), &out, budget)?;
        out.extend(new);
    }
    Ok(out)
}

/// Drops the empty members.
pub(crate) fn pruned(pieces: Vec<Conjunction>, budget: &mut Budget) -> Exact<Vec<Conjunction>> {
    let mut out = Vec::with_capacity(pieces.len());
    for piece in pieces {
        if !piece.decide_empty(budget)? {
            out.push(piece);
        }
    }
    Ok(out)
}

/// A point of the union.
pub(crate) fn any_point(pieces: &[Conjunction], budget: &mut Budget) -> Exact<Option<Point>> {
    for piece in pieces {
        if let Some(point) = piece.solve(budget)? {
            return Ok(Some(point));
        }
    }
    Ok(None)
}
