//! Two neighbours of a sequence: may they run merged, may they change places.
//!
//! Both ask for pairs of instances, one of each, that touch one location in the same iteration of
//! the loops around; there must be none. Of two neighbours that are to change places these are all
//! pairs. Of two loops whose iterations are to be merged, those of the second delayed, they are the
//! pairs (first loop at s, second loop at t) that have s > t + delay: these would run in the wrong
//! order. That every instance still runs once is for the edit to ensure: it merges whole
//! iterations, or splits a loop's into parts that make up the whole. [`Schedule`](super::Schedule)
//! asks the same of any new order.
//!
//! **Assumptions.**
//! - Both neighbours run whole iterations, each once; the edit ensures it. Tried with
//!   `fixtures/fusion/carried_parts.mlir`.
//! - Two updates of one object by one reduction have no order; a read of it outside of an update
//!   has. Tried with `fixtures/fusion/updates.mlir`.
//! - An object of unknown extent is near every other one that may overlap it. Tried with
//!   `fixtures/fusion/same_buffer.mlir`.

use super::avoid::avoiding;
use super::meeting::Meeting;
use super::{Cause, Instance, Means, Verdict, Witness};
use crate::access::base::{Base, Overlap};
use crate::access::{Answer, Frame, Order, Question, Relation};
use crate::affine::Form;
use crate::affine::system::Side;
use crate::assumption::{self, Assumption};
use crate::tree::nest::{Nest, Representative};

/// Whether the iterations of `first` and `second`, neighbours that stand in `frame`, may run
/// merged: those of the second `delay` later than those of equal number of the first, and behind
/// them. Costs what [`independent`] costs.
pub fn merged(first: &Nest, second: &Nest, delay: i64, frame: &Frame, means: &Means<'_>) -> Verdict {
    let level = Form::level(frame.depth);
    let late = level.plus(&Form::constant(delay), 1);
    // Without it more is asked.
    let order = late.as_ref().map(|late| Relation { first: &level, is: Order::Greater, second: late });
    apart(first, second, order.as_slice(), frame, means)
}

/// Whether two trees that stand in `frame` may change places: no instance of the one meets one of
/// the other. Linear in the pairs of access classes on overlapping objects; if all is well, in
/// those of [what stands for many](Nest::hulls).
pub fn independent(first: &Nest, second: &Nest, frame: &Frame, means: &Means<'_>) -> Verdict {
    apart(first, second, &[], frame, means)
}

/// Whether no instance of `first` meets one of `second` that stands to it in this order.
pub(super) fn apart(
    first: &Nest,
    second: &Nest,
    order: &[Relation<'_>],
    frame: &Frame,
    means: &Means<'_>,
) -> Verdict {
    let mut assumed: Vec<Assumption> = Vec::new();
    let mut verdict = Verdict::legal();
    for base in second.bases() {
        for other in means.near(first, base) {
            let Some(overlap) = means.overlap(other, base) else { continue };
            if hulls_are_apart(first, second, (other, base), order, overlap, frame, means) {
                continue;
            }
            for a in first.of_base(other) {
                for b in second.of_base(base) {
                    if !means.may_conflict(&a.class, &b.class) {
                        continue;
                    }
                    if overlap == Overlap::AssumedApart {
                        assume_apart(&mut assumed, other, base);
                        continue;
                    }
                    verdict = verdict.or(never_meet(a, b, order, overlap, frame, means));
                    if matches!(verdict, Verdict::Illegal(_)) {
                        return verdict;
                    }
                }
            }
        }
    }
    verdict.or(Verdict::Legal { assumed })
}

/// True if what stands for many classes says that no two classes of two objects meet.
fn hulls_are_apart(
    first: &Nest,
    second: &Nest,
    (other, base): (Base, Base),
    order: &[Relation<'_>],
    overlap: Overlap,
    frame: &Frame,
    means: &Means<'_>,
) -> bool {
    let (own, others) = (first.hulls(other), second.hulls(base));
    if overlap == Overlap::AssumedApart || (own.is_none() && others.is_none()) {
        return false;
    }
    let of_first: Vec<&Representative> = own.map_or_else(|| first.of_base(other).collect(), Vec::from_iter);
    let of_second: Vec<&Representative> =
        others.map_or_else(|| second.of_base(base).collect(), Vec::from_iter);
    let sure = Means { tested_before: None, ..*means };
    let are_apart = |(a, b): (&Representative, &Representative)| {
        !means.may_conflict(&a.class, &b.class) || never_meet(a, b, order, overlap, frame, &sure).is_legal()
    };
    of_first.iter().all(|a| of_second.iter().all(|b| are_apart((a, b))))
}

/// Adds that the arguments that two objects are do not overlap.
pub(super) fn assume_apart(assumed: &mut Vec<Assumption>, a: Base, b: Base) {
    if let (Base::Argument(x), Base::Argument(y)) = (a, b) {
        assumption::add(assumed, [Assumption::apart(x, y)]);
    }
}

/// Judges one pair of classes.
fn never_meet(
    a: &Representative,
    b: &Representative,
    order: &[Relation<'_>],
    overlap: Overlap,
    frame: &Frame,
    means: &Means<'_>,
) -> Verdict {
    let (s, t) = (&a.class, &b.class);
    let meeting = Meeting::of(s, t, overlap);
    let shown: Vec<&Form> = a.iteration.iter().chain(&*b.iteration).map(|own| &own.number).collect();
    let question = Question {
        first: s,
        second: t,
        frame,
        equal: &meeting.pairs,
        order,
        shown: &shown,
        limits: means.limits,
    };
    let answer = means.dependence.meet(&question);
    if !matches!(answer, Answer::Never)
        && let Some(assumption) = avoiding(&question, means)
    {
        return Verdict::Legal { assumed: vec![assumption] };
    }
    let example = match answer {
        Answer::Never => return Verdict::legal(),
        Answer::Unknown => return Verdict::Unknown { accesses: (a.op, b.op) },
        Answer::Perhaps => None,
        Answer::At(example) => Some(example),
    };
    let instance =
        |of: &Representative, side: Side| Instance::of(of.op, example.as_deref(), &*of.iteration, side);
    let cause = meeting.cause(s, t, overlap, example.as_deref());
    let certain = matches!(cause, Cause::Element(_)) && s.domain.exact && t.domain.exact && frame.exact;
    let (first, second) = (instance(a, Side::First), instance(b, Side::Second));
    let witness = Witness::Order { first, second, writes: [s.writes, t.writes], cause };
    if certain { Verdict::Illegal(witness) } else { Verdict::MayBeIllegal(witness) }
}
