//! Quick questions about two neighbours of a sequence: may they run merged, may they be reordered.
//!
//! Both questions look for pairs of instances, one of each neighbour, that touch one location in
//! the same iteration of the surrounding loops; there must be none. For reordering, all such pairs
//! count. For merging two loops, the second shifted, only the pairs (first loop at s, second loop
//! at t) with s > t + shift count: these would run in the wrong order. The edit itself must ensure
//! that every instance still runs once: it merges whole iterations, or splits a loop's into parts
//! that cover the whole. [`Schedule`](super::Schedule) asks the same about any new order.
//!
//! **Assumptions.**
//! - Both neighbours run whole iterations, each once; the edit ensures it. Tried with
//!   `fixtures/fusion/carried_parts.mlir`.
//! - Two updates of one object by one reduction have no order; a read of it outside of an update
//!   has. Tried with `fixtures/fusion/updates.mlir`.
//! - An object of unknown extent is compared with every other one that may overlap it. Tried with
//!   `fixtures/fusion/same_buffer.mlir`.

use super::meeting::Meeting;
use super::runtime_checks::{apart_under_conditions, avoiding};
use super::{Cause, DependenceOracle, Instance, Verdict, Witness};
use crate::access::base::{Base, Overlap};
use crate::access::{Answer, LoopContext, Order, Question, Relation};
use crate::affine::AffineForm;
use crate::affine::system::Side;
use crate::assumption::{self, Assumption};
use crate::tree::access_summary::{AccessSummary, Representative};

/// Judges if the iterations of `first` and `second`, neighbours in `loop_context`, may run merged.
/// An iteration of the second runs after the iteration of the first whose number is greater by
/// `shift`. Costs as much as [`independent`].
pub fn merged(
    first: &AccessSummary,
    second: &AccessSummary,
    shift: i64,
    loop_context: &LoopContext,
    oracle: &DependenceOracle<'_>,
) -> Verdict {
    let level = AffineForm::level(loop_context.depth);
    let late = level.plus(&AffineForm::constant(shift), 1);
    // Without the order the question covers more pairs.
    let order = late.as_ref().map(|late| Relation { first: &level, is: Order::Greater, second: late });
    apart(first, second, order.as_slice(), loop_context, oracle)
}

/// Judges if two trees in `loop_context` may be reordered: no instance of one conflicts with an
/// instance of the other. Linear in the pairs of access classes on overlapping objects; if legal,
/// usually in the pairs of [hulls](AccessSummary::hulls).
pub fn independent(
    first: &AccessSummary,
    second: &AccessSummary,
    loop_context: &LoopContext,
    oracle: &DependenceOracle<'_>,
) -> Verdict {
    apart(first, second, &[], loop_context, oracle)
}

/// Judges if no instance of `first` conflicts with an instance of `second` in this order.
pub(super) fn apart(
    first: &AccessSummary,
    second: &AccessSummary,
    order: &[Relation<'_>],
    loop_context: &LoopContext,
    oracle: &DependenceOracle<'_>,
) -> Verdict {
    let mut assumed: Vec<Assumption> = Vec::new();
    let mut verdict = Verdict::legal();
    for base in second.bases() {
        for other in oracle.near(first, base) {
            let Some(overlap) = oracle.overlap(other, base) else { continue };
            if hulls_are_apart(first, second, (other, base), order, overlap, loop_context, oracle) {
                continue;
            }
            for a in first.of_base(other) {
                for b in second.of_base(base) {
                    if !oracle.may_conflict(&a.class, &b.class) {
                        continue;
                    }
                    if overlap == Overlap::AssumedApart {
                        assume_apart(&mut assumed, other, base);
                        continue;
                    }
                    verdict = verdict.or(never_meet(a, b, order, overlap, loop_context, oracle));
                    if matches!(verdict, Verdict::Illegal(_)) {
                        return verdict;
                    }
                }
            }
        }
    }
    verdict.or(Verdict::Legal { assumed })
}

/// True if the hulls of two objects' classes prove that no two classes conflict.
fn hulls_are_apart(
    first: &AccessSummary,
    second: &AccessSummary,
    (other, base): (Base, Base),
    order: &[Relation<'_>],
    overlap: Overlap,
    loop_context: &LoopContext,
    oracle: &DependenceOracle<'_>,
) -> bool {
    let (own, others) = (first.hulls(other), second.hulls(base));
    if overlap == Overlap::AssumedApart || (own.is_none() && others.is_none()) {
        return false;
    }
    let of_first: Vec<&Representative> = own.map_or_else(|| first.of_base(other).collect(), Vec::from_iter);
    let of_second: Vec<&Representative> =
        others.map_or_else(|| second.of_base(base).collect(), Vec::from_iter);
    let sure = DependenceOracle { tested_before: None, ..*oracle };
    let are_apart = |(a, b): (&Representative, &Representative)| {
        !oracle.may_conflict(&a.class, &b.class)
            || never_meet(a, b, order, overlap, loop_context, &sure).is_legal()
    };
    of_first.iter().all(|a| of_second.iter().all(|b| are_apart((a, b))))
}

/// Adds the assumption that two objects do not overlap, if values name both.
pub(super) fn assume_apart(assumed: &mut Vec<Assumption>, a: Base, b: Base) {
    if let (Some(x), Some(y)) = (a.named_by(), b.named_by()) {
        assumption::add(assumed, [Assumption::apart(x, y)]);
    }
}

/// Judges one pair of classes.
fn never_meet(
    a: &Representative,
    b: &Representative,
    order: &[Relation<'_>],
    overlap: Overlap,
    loop_context: &LoopContext,
    oracle: &DependenceOracle<'_>,
) -> Verdict {
    let (s, t) = (&a.class, &b.class);
    let meeting = Meeting::of(s, t, overlap);
    let shown: Vec<&AffineForm> = a.iteration.iter().chain(&*b.iteration).map(|own| &own.number).collect();
    let question = Question {
        first: s,
        second: t,
        loop_context,
        equal: &meeting.pairs,
        order,
        shown: &shown,
        limits: oracle.limits,
    };
    let answer = oracle.dependence.meet(&question);
    if !matches!(answer, Answer::Never)
        && let Some(assumed) = apart_under_conditions(&question, overlap, oracle)
            .or_else(|| avoiding(&question, oracle).map(|one| vec![one]))
    {
        return Verdict::Legal { assumed };
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
    let certain =
        matches!(cause, Cause::Element(_)) && s.domain.exact && t.domain.exact && loop_context.exact;
    let (first, second) = (instance(a, Side::First), instance(b, Side::Second));
    let witness = Witness::Order { first, second, writes: [s.writes, t.writes], cause };
    if certain { Verdict::Illegal(witness) } else { Verdict::MayBeIllegal(witness) }
}
