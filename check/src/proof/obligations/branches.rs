//! Branches on values that may be poison: undefined, unless the original branches on the same.

use loomir_ir::OpRef;

use super::super::matching::{Goal, Matcher};
use super::super::model::{ScopeId, TermId};
use super::super::sets::{Asked, Pieces, hide, intersect, moved};
use super::guarded;
use super::unused::relations;

/// The most attempts for one branch.
const MAX_ATTEMPTS: usize = 24;

/// Returns a branch of the second program that is not known to be one of the original.
pub(super) fn unmatched<'b>(matcher: &mut Matcher<'_, 'b>) -> Asked<Option<OpRef<'b>>> {
    let programs = matcher.programs;
    for &branch in &programs[1].branches {
        if !is_matched(matcher, branch)? && !is_claimed(matcher, branch)? {
            return Ok(Some(programs[1].terms[branch.0].op));
        }
    }
    Ok(None)
}

/// True if claims show that the original branches on the condition wherever a branch runs.
fn is_matched(matcher: &mut Matcher<'_, '_>, (condition, scope): (TermId, ScopeId)) -> Asked<bool> {
    let (programs, params) = (matcher.programs, matcher.params);
    let mut covered = Pieces::new();
    for &(other, around) in &programs[0].branches {
        let [x, y] = [programs[0].scopes[around].depth(), programs[1].scopes[scope].depth()];
        let depths = [programs[0].depth(other), programs[1].depth(condition)];
        let all = params + x + y;
        let place = |v: usize| match v {
            _ if v < params + depths[0] => v,
            _ => params + x + (v - params - depths[0]),
        };
        let same: Pieces = matcher.claimed([other, condition]).map(|set| moved(set, all, place)).collect();
        let runs: Pieces = programs[0].domains[around].iter().map(|set| moved(set, all, |v| v)).collect();
        let pairs = guarded(matcher, [around, scope], intersect(&same, &runs));
        covered.extend(hide(&pairs, params..params + x));
    }
    let domain = programs[1].domains[scope].clone();
    matcher.solver.is_subset(&domain, &covered)
}

/// True if more claims can be shown by which the original branches on the condition. No result may
/// depend on a branch.
fn is_claimed(matcher: &mut Matcher<'_, '_>, branch: (TermId, ScopeId)) -> Asked<bool> {
    let programs = matcher.programs;
    let mut attempts = 0;
    for &(other, _) in &programs[0].branches {
        let terms = [other, branch.0];
        let scopes = [0, 1].map(|side| programs[side].terms[terms[side]].scope);
        for pairs in relations(programs, matcher.params, scopes) {
            attempts += 1;
            if attempts > MAX_ATTEMPTS {
                return Ok(false);
            }
            if matcher.tried(Goal { terms, pairs })? && is_matched(matcher, branch)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
