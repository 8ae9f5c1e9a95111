//! Two neighbours of a sequence: may they run merged, may they change places.
//!
//! Of two loops whose iterations are to be merged, those of the second delayed, the pairs (first loop at s, second loop at t)
//! that touch one location and have s > t + delay would run in the wrong order; there must be none. That every instance still runs once
//! is for the edit to ensure: it merges whole iterations, or splits a loop's into parts that make up the whole.

use loomir_ir::Value;
use loomir_polyhedra::{Affine, Emptiness, Limits};

use super::meeting::Meeting;
use super::{Cause, Instance, Verdict, Witness};
use crate::dependence::base::{Base, Bases, Overlap};
use crate::dependence::form::Form;
use crate::dependence::nest::{Frame, Nest, Representative};
use crate::dependence::system::Side;

/// Whether the iterations of `first` and `second`, neighbours that stand in `frame`, may run merged: those of the second `delay` later than those
/// of equal number of the first, and behind them. Linear in the pairs of access classes on overlapping objects.
pub fn merged(
    first: &Nest,
    second: &Nest,
    delay: i64,
    frame: &Frame,
    bases: &Bases<'_>,
    limits: &Limits,
) -> Verdict {
    let mut assumed: Vec<(Value, Value)> = Vec::new();
    let mut verdict = Verdict::legal();
    for base in second.bases() {
        for other in first.bases_near(base) {
            let overlap = bases.overlap(other, base);
            if overlap == Overlap::Apart {
                continue;
            }
            for a in first.of_base(other) {
                for b in second.of_base(base) {
                    if !a.class.writes && !b.class.writes {
                        continue;
                    }
                    if overlap == Overlap::AssumedApart {
                        assume_apart(&mut assumed, other, base);
                        continue;
                    }
                    verdict = verdict.or(order_kept(a, b, delay, overlap, frame, limits));
                    if matches!(verdict, Verdict::Illegal(_)) {
                        return verdict;
                    }
                }
            }
        }
    }
    verdict.or(Verdict::Legal { assumed_apart: assumed })
}

/// Whether two trees touch nothing in common that one of them writes, so that they may change places. Pairs of arguments
/// that are taken not to overlap for that are added to `assumed`.
pub fn independent(a: &Nest, b: &Nest, bases: &Bases<'_>, assumed: &mut Vec<(Value, Value)>) -> bool {
    b.bases().all(|base| {
        a.bases_near(base).all(|other| {
            let conflict =
                a.of_base(other).any(|x| b.of_base(base).any(|y| x.class.writes || y.class.writes));
            match bases.overlap(other, base) {
                Overlap::Apart => true,
                Overlap::AssumedApart if conflict => {
                    assume_apart(assumed, other, base);
                    true
                }
                _ => !conflict,
            }
        })
    })
}

/// Adds the pair of arguments that two objects are.
pub(super) fn assume_apart(assumed: &mut Vec<(Value, Value)>, a: Base, b: Base) {
    if let (Base::Argument(x), Base::Argument(y)) = (a, b) {
        let pair = if x.index() <= y.index() { (x, y) } else { (y, x) };
        if !assumed.contains(&pair) {
            assumed.push(pair);
        }
    }
}

/// Judges one pair of classes.
fn order_kept(
    a: &Representative,
    b: &Representative,
    delay: i64,
    overlap: Overlap,
    frame: &Frame,
    limits: &Limits,
) -> Verdict {
    let (s, t) = (&a.class, &b.class);
    let meeting = Meeting::of(s, t, overlap);
    let mut pair = meeting.instances(s, t, frame, &[&a.iteration, &b.iteration]);
    let (first, second) = (pair.first(frame.depth), pair.second(frame.depth));
    let late = Affine::constant(delay).add_scaled(&second.into(), &1.into());
    pair.system.set.add_gt(first, late);
    let point = match pair.system.is_empty(&frame.facts, limits) {
        Emptiness::Empty => return Verdict::legal(),
        Emptiness::Unknown(_) => return Verdict::Unknown { accesses: (a.op, b.op) },
        Emptiness::NonEmpty(point) => point,
    };
    let instance = |of: &Representative, side: Side| {
        let inner = (frame.depth + 1..of.class.domain.levels).map(Form::level);
        let iteration: Vec<Form> = [of.iteration.clone()].into_iter().chain(inner).collect();
        Instance { op: of.op, iteration: pair.values(&point, &iteration, side) }
    };
    let cause = meeting.cause(s, t, overlap, &pair, &point);
    let certain = matches!(cause, Cause::Element(_)) && s.domain.exact && t.domain.exact && frame.exact;
    let (first, second) = (instance(a, Side::First), instance(b, Side::Second));
    let witness = Witness::Order { first, second, writes: [s.writes, t.writes], cause };
    if certain { Verdict::Illegal(witness) } else { Verdict::MayBeIllegal(witness) }
}
