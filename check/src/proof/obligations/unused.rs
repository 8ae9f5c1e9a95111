//! Claims for accesses that no claim of the proof is about: of values that nobody uses.
//!
//! Such an access is still to be one that the original makes. Each access of the original that may
//! be it is tried, with loop variables that are equal in some order.

use super::super::matching::{Goal, Matcher};
use super::super::model::{AccessId, Kind, Program, ScopeId, TermId};
use super::super::sets::{Asked, Pieces, intersect, moved, var};
use super::is_claimed;

/// The most attempts for one access.
const MAX_ATTEMPTS: usize = 24;

/// Claims, where that can be shown, that accesses of the second program are ones of the original.
pub(super) fn claim(matcher: &mut Matcher<'_, '_>) -> Asked<()> {
    let programs = matcher.programs;
    for (id, own) in programs[1].accesses.iter().enumerate() {
        if own.is_virtual {
            continue;
        }
        let is_local = !programs[1].objects[own.object].is_visible();
        let reads = own.stored.is_none() && is_local;
        let is_open = own.element.is_none() || (reads && matcher.flow_of(1, id)?.is_none());
        if !is_open || is_claimed(matcher, id, reads)? {
            continue;
        }
        let mut attempts = 0;
        for (other, access) in programs[0].accesses.iter().enumerate() {
            let is_alike = access.op.name() == own.op.name() && !access.is_virtual;
            let Some(terms) = terms(programs, [other, id]).filter(|_| is_alike) else { continue };
            for pairs in relations(programs, matcher.params, [access.scope, own.scope]) {
                attempts += 1;
                let is_new = attempts <= MAX_ATTEMPTS && matcher.tried(Goal { terms, pairs })?;
                if is_new && is_claimed(matcher, id, reads)? {
                    attempts = MAX_ATTEMPTS;
                }
            }
            if attempts >= MAX_ATTEMPTS {
                break;
            }
        }
    }
    Ok(())
}

/// Returns terms that are claimed to be equal only if the subscripts of two accesses are.
fn terms(programs: [&Program<'_>; 2], ids: [AccessId; 2]) -> Option<[TermId; 2]> {
    let accesses = [0, 1].map(|side| &programs[side].accesses[ids[side]]);
    let objects = [0, 1].map(|side| &programs[side].objects[accesses[side].object]);
    if objects[0].is_visible() != objects[1].is_visible() || objects[0].ty != objects[1].ty {
        return None;
    }
    let find = |side: usize, wanted: &dyn Fn(&Kind) -> bool| {
        programs[side].terms.iter().position(|term| wanted(&term.kind))
    };
    let one = |side: usize| match accesses[side].stored {
        Some(_) => accesses[side].update,
        None if objects[side].is_visible() => {
            find(side, &|kind| matches!(kind, Kind::Initial(id) if *id == ids[side]))
        }
        None => find(side, &|kind| matches!(kind, Kind::Load(id) if *id == ids[side])),
    };
    Some([one(0)?, one(1)?])
}

/// Returns relations between the instances of two scopes: loop variables of one are variables of
/// the other one, in their order.
pub(super) fn relations(programs: [&Program<'_>; 2], params: usize, scopes: [ScopeId; 2]) -> Vec<Pieces> {
    let [x, y] = [0, 1].map(|side| programs[side].scopes[scopes[side]].depth());
    let all = params + x + y;
    let firsts: Pieces = programs[0].domains[scopes[0]].iter().map(|set| moved(set, all, |v| v)).collect();
    let place = |v: usize| if v < params { v } else { v + x };
    let seconds: Pieces = programs[1].domains[scopes[1]].iter().map(|set| moved(set, all, place)).collect();
    let both: Pieces = intersect(&firsts, &seconds);
    let (few, many) = (x.min(y), x.max(y));
    let mut found = Vec::new();
    // Choices of variables as bits: point loops of tiles are the inner ones.
    for choice in (0u32..1 << many.min(8)).rev().filter(|choice| choice.count_ones() as usize == few) {
        let chosen = (0..many.min(8)).filter(|k| choice & (1 << k) != 0);
        let mut related = both.clone();
        for (k, position) in chosen.enumerate() {
            let (a, b) = if x <= y { (k, position) } else { (position, k) };
            related.iter_mut().for_each(|set| set.add_eq(var(params + a), var(params + x + b)));
        }
        found.push(related);
    }
    found
}
