//! Stores of the first loop that the second overwrites in the same iteration: whether they come before or behind its other stores does not matter.
//!
//! Fused, a store of the first loop may come behind one of the second that it came before. Nobody sees that, if each time the second loop stores to the very same place in the same iteration, and reads nothing
//! that the first stored: the last word on that place is the second loop's, as before, and its stores keep their order among each other. What the first loop reads is asked about as ever.
//!
//! **Assumptions.** Every store of both loops sets all bits of the bytes it touches, and those
//! bytes are
//! its class: a store of `i24` is three bytes, and one of `i5` or of a padded struct overwrites
//! nothing
//! for sure. Tried with `loop_fusion_traps/store_sizes.ll`.
//!
//! Cost: linear in the classes of accesses of both.

use loomir_transforms::dependence::access::Class;
use loomir_transforms::dependence::nest::{Frame, Nest, Representative};
use loomir_transforms::legality::{Means, Verdict, independent, merged};

use super::summary::Summary;

/// Whether the iterations of both loops may run merged.
pub(super) fn merged_but_overwritten(
    first: &Summary,
    second: &Summary,
    frame: &Frame,
    means: &Means<'_>,
) -> Verdict {
    let verdict = merged(&first.nest, &second.nest, 0, frame, means);
    if verdict.is_legal() || !(first.stores_plainly && second.stores_plainly) {
        return verdict;
    }
    let is_killed = |own: &Representative| {
        own.class.writes && second.nest.of_base(own.class.base).any(|other| covers(&other.class, &own.class))
    };
    let (killed, others) = parted(&first.nest, is_killed);
    if killed.classes.is_empty() {
        return verdict;
    }
    let (_, reads) = parted(&second.nest, |other| other.class.writes);
    let is_sure = |verdict: Verdict| matches!(verdict, Verdict::Legal { assumed } if assumed.is_empty());
    let may_be = is_sure(independent(&killed, &reads, frame, means))
        && is_sure(merged(&others, &second.nest, 0, frame, means));
    if may_be { Verdict::Legal { assumed: Vec::new() } } else { verdict }
}

/// Whether one class stores to the place of another in each iteration in which that does.
fn covers(class: &Class, of: &Class) -> bool {
    let is_known = |class: &Class| {
        class.subscripts.as_ref().is_some_and(|subscripts| subscripts.iter().all(Option::is_some))
    };
    class.writes
        && class.domain.exact
        && is_known(class)
        && (class.base, class.origin, &class.sizes, &class.subscripts)
            == (of.base, of.origin, &of.sizes, &of.subscripts)
        && class.domain.levels == of.domain.levels
        && class.domain.constraints.iter().all(|form| of.domain.constraints.contains(form))
}

/// The classes of which something holds, and the others.
fn parted(nest: &Nest, holds: impl Fn(&Representative) -> bool) -> (Nest, Nest) {
    let mut parts = (Nest::default(), Nest::default());
    for own in &nest.classes {
        let part = if holds(own) { &mut parts.0 } else { &mut parts.1 };
        part.add(own.clone());
    }
    parts
}
