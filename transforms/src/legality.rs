//! Legality: whether an edit of the loop tree keeps every dependence of the original program.
//!
//! A dependence goes from one instance of a statement to a later one when both touch one location and at least one writes. An edit is legal
//! iff every instance still runs once and no dependence is turned around. This module asks that of the order in time: two neighbouring
//! loops whose iterations are to be merged, those of the second delayed. Of the pairs (first loop at s, second loop at t)
//! that touch one location, those with s > t + delay would run in the wrong order; the set of them must be empty. It is
//! a union of integer conjunctions, one a pair of access classes, decided exactly.
//!
//! That every instance still runs once is for the edit to ensure: it merges whole iterations, or splits a loop's into parts that
//! make up the whole.

use loomir_ir::{Op, Value};
use loomir_polyhedra::{Affine, Emptiness, Limits, Var};

use crate::dependence::access::Class;
use crate::dependence::base::{Base, Bases, Overlap};
use crate::dependence::form::Form;
use crate::dependence::nest::{Frame, Nest, Representative};
use crate::dependence::system::Pair;

/// The answer to whether an edit is legal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Every dependence is kept. `assumed_apart` are pairs of arguments that were taken not to overlap for that.
    Legal {
        /// Pairs of function arguments.
        assumed_apart: Vec<(Value, Value)>,
    },
    /// A dependence is certainly turned around.
    Illegal(Witness),
    /// One may be: something was approximated.
    MayBeIllegal(Witness),
    /// The solver's limit was reached.
    Unknown {
        /// An operation of the first loop and one of the second that are open.
        accesses: (Op, Op),
    },
}

/// Two instances whose order would be turned around.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    /// An operation of the first loop, and its iteration from the fused level inwards.
    pub first: (Op, Vec<i64>),
    /// An operation of the second loop, and its iteration.
    pub second: (Op, Vec<i64>),
    /// What they have in common.
    pub cause: Cause,
}

/// Why two operations are taken to touch one location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// They touch one element of one object.
    Element,
    /// They touch one object; which elements is not known exactly.
    Object,
    /// Their objects may overlap; for two arguments of a function, those.
    MayOverlap(Option<(Value, Value)>),
    /// One of them touches the world: an unknown call, for one.
    World,
}

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
    let mut doubt: Option<Verdict> = None;
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
                    match order_lost(a, b, delay, overlap, frame, limits) {
                        None => {}
                        // Certain beats possible, the first of each kind is kept.
                        Some(verdict @ Verdict::Illegal(_)) => return verdict,
                        Some(verdict) => doubt = doubt.or(Some(verdict)),
                    }
                }
            }
        }
    }
    doubt.unwrap_or(Verdict::Legal { assumed_apart: assumed })
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

fn assume_apart(assumed: &mut Vec<(Value, Value)>, a: Base, b: Base) {
    if let (Base::Argument(x), Base::Argument(y)) = (a, b) {
        let pair = if x.index() <= y.index() { (x, y) } else { (y, x) };
        if !assumed.contains(&pair) {
            assumed.push(pair);
        }
    }
}

fn order_lost(
    a: &Representative,
    b: &Representative,
    delay: i64,
    overlap: Overlap,
    frame: &Frame,
    limits: &Limits,
) -> Option<Verdict> {
    let (s, t) = (&a.class, &b.class);
    let same_elements = overlap == Overlap::Same && s.origin == t.origin;
    let subscripts = match (&s.subscripts, &t.subscripts) {
        (Some(x), Some(y)) if same_elements && x.len() == y.len() => Some((x, y)),
        _ => None,
    };
    let pairs: Vec<(&Form, &Form)> = subscripts
        .map(|(x, y)| x.iter().zip(y).filter_map(|(x, y)| x.as_ref().zip(y.as_ref())).collect())
        .unwrap_or_default();
    let exact_element = subscripts.is_some_and(|(x, _)| x.len() == pairs.len());
    let mut pair =
        Pair::new(s.domain.instances(), t.domain.instances(), frame.depth, &frame.constraints, &pairs);
    let (first, second) = (pair.first(frame.depth), pair.second(frame.depth));
    let mut late = Affine::constant(delay);
    late = late.add_scaled(&second.into(), &1.into());
    pair.system.set.add_gt(first, late);
    let point = match pair.system.set.is_empty(limits) {
        Emptiness::Empty => return None,
        Emptiness::Unknown(_) => return Some(Verdict::Unknown { accesses: (a.op, b.op) }),
        Emptiness::NonEmpty(point) => point.to_i64s().unwrap_or_default(),
    };
    let iteration = |class: &Class, var: &dyn Fn(u32) -> Var, delay: i64| {
        let at = |level| point.get(var(level).index()).copied().unwrap_or_default();
        let own = |level| if level == frame.depth { at(level) - delay } else { at(level) };
        (frame.depth..class.domain.levels).map(own).collect::<Vec<i64>>()
    };
    let cause = match (overlap, s.base, t.base) {
        (_, Base::World, _) | (_, _, Base::World) => Cause::World,
        (Overlap::Same, ..) if exact_element => Cause::Element,
        (Overlap::Same, ..) => Cause::Object,
        (_, Base::Argument(x), Base::Argument(y)) => Cause::MayOverlap(Some((x, y))),
        _ => Cause::MayOverlap(None),
    };
    let certain = cause == Cause::Element && s.domain.exact && t.domain.exact && frame.exact;
    let witness = Witness {
        first: (a.op, iteration(s, &|level| pair.first(level), a.delay)),
        second: (b.op, iteration(t, &|level| pair.second(level), b.delay)),
        cause,
    };
    Some(if certain { Verdict::Illegal(witness) } else { Verdict::MayBeIllegal(witness) })
}
