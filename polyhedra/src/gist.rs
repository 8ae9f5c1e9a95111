//! Simplification against a context, and redundancy: constraints that others imply are dropped.
//!
//! A row is implied if the context, the other rows and its negation have no common point. With
//! existential variables this is sufficient (every witness of the rest satisfies the row), so
//! dropping is always sound. Cost: one emptiness test for each row and member of the context.

use crate::conjunction::Conjunction;
use crate::limits::{Budget, Exact};
use crate::rows::Rows;
use crate::union::is_subset;

/// Members that agree with those of `pieces` on the context, with as few constraints as are found.
pub(crate) fn gist(
    pieces: &[Conjunction],
    context: &[Conjunction],
    budget: &mut Budget,
) -> Exact<Vec<Conjunction>> {
    let mut out = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let Some(simple) = piece.simplified_within(budget)? else { continue };
        let mut meets = false;
        for known in context {
            meets |= !simple.intersect(known).decide_empty(budget)?;
        }
        if meets {
            out.extend(gist_of_one(&simple, context, budget)?.simplified_within(budget)?);
        }
    }
    Ok(out)
}

fn gist_of_one(piece: &Conjunction, context: &[Conjunction], budget: &mut Budget) -> Exact<Conjunction> {
    let mut rest = piece.clone();
    // Strides whose variable occurs once may be implied as a whole.
    let mut index = 0;
    while index < rest.eqs.len() {
        let mut without = rest.clone();
        without.eqs.swap_remove(index);
        let known: Vec<Conjunction> = context.iter().map(|known| without.intersect(known)).collect();
        if equality_is_implied(&rest, index, &known, budget)? {
            rest = without;
        } else {
            index += 1;
        }
    }
    let mut index = rest.ins.len();
    while index > 0 {
        index -= 1;
        let row = rest.ins.row(index).to_vec();
        let mut without = rest.clone();
        without.ins.swap_remove(index);
        let mut outside = without.clone();
        outside.add_complement(&row);
        let mut implied = true;
        for known in context {
            implied &= outside.intersect(known).decide_empty(budget)?;
            if !implied {
                break;
            }
        }
        if implied {
            rest = without;
        }
    }
    Ok(rest)
}

/// Returns true if equality `index` of `piece` follows from each of `known`, which hold everything
/// else.
fn equality_is_implied(
    piece: &Conjunction,
    index: usize,
    known: &[Conjunction],
    budget: &mut Budget,
) -> Exact<bool> {
    let row = piece.eqs.row(index);
    let existential: Vec<usize> =
        (piece.visible() + 1..row.len()).filter(|column| row[*column] != 0).collect();
    let others = piece.eqs.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, row)| row);
    let mut others = others.chain(piece.ins.iter());
    if existential.is_empty() {
        let negated: Vec<i64> = row.iter().map(|value| -value).collect();
        for known in known {
            for half in [row, &negated[..]] {
                let mut outside = known.clone();
                outside.add_complement(half);
                if !outside.decide_empty(budget)? {
                    return Ok(false);
                }
            }
        }
        return Ok(true);
    }
    if existential.len() > 1 || others.any(|row| row[existential[0]] != 0) {
        return Ok(false);
    }
    let mut stride = Conjunction::new(piece.visible());
    stride.eqs = Rows::new(row.len());
    stride.ins = Rows::new(row.len());
    stride.eqs.push(row);
    let Some(stride) = stride.simplified_within(budget)? else { return Ok(false) };
    is_subset(known, &[stride], budget)
}
