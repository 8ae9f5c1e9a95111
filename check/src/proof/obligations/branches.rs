//! Branches on values that may be poison: undefined, unless the original branches on the same.

use loomir_ir::OpRef;

use super::super::matching::Matcher;
use super::super::sets::{Asked, Pieces, hide, intersect, moved};
use super::guarded;

/// Returns a branch of the second program that is not known to be one of the original.
pub(super) fn unmatched<'b>(matcher: &mut Matcher<'_, 'b>) -> Asked<Option<OpRef<'b>>> {
    let (programs, params) = (matcher.programs, matcher.params);
    for &(condition, scope) in &programs[1].branches {
        let mut covered = Pieces::new();
        for &(other, around) in &programs[0].branches {
            let [x, y] = [programs[0].scopes[around].depth(), programs[1].scopes[scope].depth()];
            let depths = [programs[0].depth(other), programs[1].depth(condition)];
            let all = params + x + y;
            let place = |v: usize| match v {
                _ if v < params + depths[0] => v,
                _ => params + x + (v - params - depths[0]),
            };
            let same: Pieces =
                matcher.claimed([other, condition]).map(|set| moved(set, all, place)).collect();
            let runs: Pieces = programs[0].domains[around].iter().map(|set| moved(set, all, |v| v)).collect();
            let pairs = guarded(matcher, [around, scope], intersect(&same, &runs));
            covered.extend(hide(&pairs, params..params + x));
        }
        let domain = programs[1].domains[scope].clone();
        if !matcher.solver.is_subset(&domain, &covered)? {
            return Ok(Some(programs[1].terms[condition].op));
        }
    }
    Ok(None)
}
