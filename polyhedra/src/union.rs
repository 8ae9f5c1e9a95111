//! Unions of conjunctions over the same visible variables: the algebra under sets and relations.
//!
//! Difference is the one hard operation. Where the subtrahend's existential variables are functions
//! of the visible ones ([`divs`](crate::divs)), its constraints are negated one after the other,
//! each under those before it, so the pieces of a difference are disjoint; else a parametric search
//! for a witness says where there is none. Subset, equality and complement follow.

use crate::conjunction::{Conjunction, Point};
use crate::limits::{Budget, Exact};
use crate::parametric::difference;
use crate::resolved::Resolved;
use crate::rows::{System, complement, negate};

/// All conjunctions of a member of each union, in normal form, plainly empty ones left out.
pub(crate) fn intersect(a: &[Conjunction], b: &[Conjunction]) -> Vec<Conjunction> {
    let pairs = a.iter().flat_map(|x| b.iter().map(move |y| x.intersect(y)));
    pairs.filter_map(|both| both.simplified()).collect()
}

/// Returns true if some point is in a member of each.
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
        let mut other = None;
        let mut next = Vec::new();
        for piece in rest {
            if piece.intersect(subtrahend).decide_empty(budget)? {
                next.push(piece);
                continue;
            }
            let other = match &other {
                Some(other) => other,
                None => other.insert(Subtrahend::new(subtrahend, budget)?),
            };
            match other {
                Subtrahend::Empty => next.push(piece),
                Subtrahend::Explicit(other) => subtract_explicit(&piece, other, budget, &mut next)?,
                Subtrahend::Implicit(other) => {
                    for part in difference(&piece, other, budget)? {
                        next.extend(part.simplified_within(budget)?);
                    }
                }
            }
        }
        rest = next;
    }
    Ok(rest)
}

/// A set to subtract, by the way in which it is done.
enum Subtrahend {
    Empty,
    /// Every existential variable is determined: each constraint is negated.
    Explicit(Resolved),
    /// A parametric search tells where there is no witness.
    Implicit(Resolved),
}

impl Subtrahend {
    fn new(set: &Conjunction, budget: &mut Budget) -> Exact<Subtrahend> {
        let resolved = Resolved::new(set)?;
        if resolved.is_explicit() {
            return Ok(Subtrahend::Explicit(resolved));
        }
        let Some(stated) = set.with_hull(budget)? else { return Ok(Subtrahend::Empty) };
        let resolved = Resolved::new(&stated)?;
        Ok(if resolved.is_explicit() {
            Subtrahend::Explicit(resolved)
        } else {
            Subtrahend::Implicit(resolved)
        })
    }
}

/// Returns true if every point of `a` is in a member of `b`.
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
    base.widen(b.system.vars() - visible);
    for definition in b.definitions(visible) {
        base.add_definition(&definition, visible, shift);
    }
    let System { eqs, ins } = b.moved(shift, base.vars());
    for (row, equality) in eqs.iter().map(|row| (row, true)).chain(ins.iter().map(|row| (row, false))) {
        let mut row = row.to_vec();
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
