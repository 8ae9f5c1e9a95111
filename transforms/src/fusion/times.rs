//! Times of loops: bounds as forms over the surrounding levels.
//!
//! **Assumptions.**
//! - A bound is left out only if another one is proved to be at least as tight wherever the loops
//!   are reached. The judge proves again that each iteration runs once. Tried with
//!   `fixtures/fusion/lower_bounds.mlir`.

use loomir_polyhedra::Limits;

use crate::access::LoopContext;
use crate::affine::AffineForm;
use crate::tree::levels::absolute;
use crate::tree::{Origin, Program};

/// The maximal number of starts of a group among which the greatest is unknown, and of ends among
/// which the least is unknown. Each further one may leave one more loop.
const MAX_BOUNDS: usize = 2;

/// The maximal number of starts and ends together: at most two remainders of each loop may have
/// iterations at run time.
pub(super) const MAX_ALL: usize = 3;

/// The limits on the comparison of two bounds.
const COMPARISON: Limits = Limits::steps(10_000);

/// Returns the upper bounds of a loop of the program minus its lower bound, if all are known.
pub(super) fn extents(
    origin: &Origin,
    program: &Program,
    loop_context: &LoopContext,
) -> Option<Vec<AffineForm>> {
    let space = &program.loop_info(origin.of).space;
    let all = if space.is_counted() { space.extents()? } else { return None };
    all.iter().map(|form| here(origin, form, loop_context.depth)).collect()
}

/// Returns the difference between the trip counts of two loops that have one extent each.
pub(super) fn gap(own: &[AffineForm], others: &[AffineForm]) -> Option<AffineForm> {
    let ([own], [other]) = (own, others) else { return None };
    own.minus(other)
}

/// Converts a form over the levels of a loop of the program to a form over the levels of the tree.
pub(super) fn here(origin: &Origin, form: &AffineForm, depth: u32) -> Option<AffineForm> {
    form.substitute(&mut |level| absolute(origin.map.get(level as usize)?, depth + 1))
}

/// Returns the least of all ends, without those that another one is proved not to exceed. `None` if
/// there are no ends or too many.
pub(super) fn earliest(
    ends: &[AffineForm],
    more: &[AffineForm],
    loop_context: &LoopContext,
) -> Option<Vec<AffineForm>> {
    tightest(ends, more, &|a, b| is_at_least(b, a, loop_context))
}

/// Returns the greatest of all starts, without those that another one is proved to reach. `None` if
/// there are no starts or too many.
pub(super) fn latest(
    starts: &[AffineForm],
    more: &[AffineForm],
    loop_context: &LoopContext,
) -> Option<Vec<AffineForm>> {
    tightest(starts, more, &|a, b| is_at_least(a, b, loop_context))
}

/// Returns the bounds for which no other one is at least as tight.
fn tightest(
    bounds: &[AffineForm],
    more: &[AffineForm],
    is_as_tight: &dyn Fn(&AffineForm, &AffineForm) -> bool,
) -> Option<Vec<AffineForm>> {
    let mut kept = bounds.to_vec();
    for bound in more {
        if kept.iter().any(|known| is_as_tight(known, bound)) {
            continue;
        }
        let at = kept.iter().position(|known| is_as_tight(bound, known)).unwrap_or(kept.len());
        kept.retain(|known| !is_as_tight(bound, known));
        kept.insert(at, bound.clone());
    }
    (1..=MAX_BOUNDS).contains(&kept.len()).then_some(kept)
}

/// True if the form `a` is proved to be at least `b` wherever the loops are reached.
fn is_at_least(a: &AffineForm, b: &AffineForm, loop_context: &LoopContext) -> bool {
    a.minus(b).is_some_and(|gap| loop_context.implies(&gap, &COMPARISON))
}

/// True if it is known that no times are from all starts on and before all ends.
pub(super) fn are_none(starts: &[AffineForm], ends: &[AffineForm], loop_context: &LoopContext) -> bool {
    starts.iter().any(|start| ends.iter().any(|end| is_at_least(start, end, loop_context)))
}
