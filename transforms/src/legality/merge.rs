//! Two neighbours of a sequence: may they run merged, may they change places.
//!
//! Of two loops whose iterations are to be merged, those of the second delayed, the pairs (first loop at s, second loop at t)
//! that touch one location and have s > t + delay would run in the wrong order; there must be none. That every instance still runs once
//! is for the edit to ensure: it merges whole iterations, or splits a loop's into parts that make up the whole.

use super::avoid::avoiding;
use super::meeting::Meeting;
use super::{Cause, Instance, Means, Verdict, Witness};
use crate::analyses::{Answer, Order, Question, Relation};
use crate::assumption::{self, Assumption};
use crate::dependence::base::{Base, Overlap};
use crate::dependence::form::Form;
use crate::dependence::nest::{Frame, Nest, Representative};
use crate::dependence::system::Side;

/// Whether the iterations of `first` and `second`, neighbours that stand in `frame`, may run merged: those of the second `delay` later than those
/// of equal number of the first, and behind them. Linear in the pairs of access classes on overlapping objects; if all is well, in those of
/// [what stands for many](Nest::hulls).
pub fn merged(first: &Nest, second: &Nest, delay: i64, frame: &Frame, means: &Means<'_>) -> Verdict {
    let mut assumed: Vec<Assumption> = Vec::new();
    let mut verdict = Verdict::legal();
    for base in second.bases() {
        for other in means.near(first, base) {
            let Some(overlap) = means.overlap(other, base) else { continue };
            if hulls_are_kept(first, second, (other, base), delay, overlap, frame, means) {
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
                    verdict = verdict.or(order_kept(a, b, delay, overlap, frame, means));
                    if matches!(verdict, Verdict::Illegal(_)) {
                        return verdict;
                    }
                }
            }
        }
    }
    verdict.or(Verdict::Legal { assumed })
}

/// Whether what stands for many classes says that all pairs of classes of two objects keep their order.
fn hulls_are_kept(
    first: &Nest,
    second: &Nest,
    (other, base): (Base, Base),
    delay: i64,
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
    let is_kept = |(a, b): (&Representative, &Representative)| {
        !means.may_conflict(&a.class, &b.class) || order_kept(a, b, delay, overlap, frame, &sure).is_legal()
    };
    of_first.iter().all(|a| of_second.iter().all(|b| is_kept((a, b))))
}

/// Whether two trees touch nothing in common that one of them writes, so that they may change places. What is assumed for that
/// is added to `assumed`.
pub fn independent(a: &Nest, b: &Nest, means: &Means<'_>, assumed: &mut Vec<Assumption>) -> bool {
    b.bases().all(|base| {
        means.near(a, base).all(|other| {
            let conflict =
                a.of_base(other).any(|x| b.of_base(base).any(|y| means.may_conflict(&x.class, &y.class)));
            match means.overlap(other, base) {
                None => true,
                Some(Overlap::AssumedApart) if conflict => {
                    assume_apart(assumed, other, base);
                    true
                }
                _ => !conflict,
            }
        })
    })
}

/// Adds that the arguments that two objects are do not overlap.
pub(super) fn assume_apart(assumed: &mut Vec<Assumption>, a: Base, b: Base) {
    if let (Base::Argument(x), Base::Argument(y)) = (a, b) {
        assumption::add(assumed, [Assumption::apart(x, y)]);
    }
}

/// Judges one pair of classes.
fn order_kept(
    a: &Representative,
    b: &Representative,
    delay: i64,
    overlap: Overlap,
    frame: &Frame,
    means: &Means<'_>,
) -> Verdict {
    let (s, t) = (&a.class, &b.class);
    let level = Form::level(frame.depth);
    let Some(late) = level.plus(&Form::constant(delay), 1) else {
        return Verdict::Unknown { accesses: (a.op, b.op) };
    };
    let meeting = Meeting::of(s, t, overlap);
    let question = Question {
        first: s,
        second: t,
        frame,
        equal: &meeting.pairs,
        order: &[Relation { first: &level, is: Order::Greater, second: &late }],
        shown: &[&a.iteration, &b.iteration],
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
    let instance = |of: &Representative, side: Side| {
        let inner = (frame.depth + 1..of.class.domain.levels).map(Form::level);
        let iteration: Vec<Form> = [of.iteration.clone()].into_iter().chain(inner).collect();
        Instance::of(of.op, example.as_deref(), &iteration, side)
    };
    let cause = meeting.cause(s, t, overlap, example.as_deref());
    let certain = matches!(cause, Cause::Element(_)) && s.domain.exact && t.domain.exact && frame.exact;
    let (first, second) = (instance(a, Side::First), instance(b, Side::Second));
    let witness = Witness::Order { first, second, writes: [s.writes, t.writes], cause };
    if certain { Verdict::Illegal(witness) } else { Verdict::MayBeIllegal(witness) }
}
