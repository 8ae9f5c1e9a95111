//! Whether every dependence still runs forwards.
//!
//! For each pair of leaves that touch one location: the pairs of instances of which the program runs one before the other, and the tree does not.
//! Both orders are lexicographic: the iterations of the loops around both, from the outside, then the place. So the set is a union of
//! conjunctions, one for each loop of the program at which the two may part, and each of the tree.
//!
//! **Cost.** The pairs of classes on overlapping objects, of which one leaf was moved, times the product of the depths.

use hashbrown::HashMap;
use loomir_ir::Op;
use loomir_polyhedra::{Affine, Emptiness};

use super::check::Part;
use super::meeting::Meeting;
use super::merge::assume_apart;
use super::placed::Placed;
use super::{Cause, Instance, Verdict, Witness};
use crate::dependence::access::Class;
use crate::dependence::base::{Base, Overlap};
use crate::dependence::form::Form;
use crate::dependence::system::{Pair, Side};

/// One access of a leaf.
type Access<'p> = (&'p Placed, usize, &'p (Class, Op));

/// Judges all pairs of leaves of which one was moved against the other.
pub(super) fn check(part: &Part<'_>, leaves: &[Placed]) -> Verdict {
    let mut by_base: HashMap<Base, Vec<Access<'_>>> = HashMap::new();
    let mut bases = Vec::new();
    for (place, leaf) in leaves.iter().enumerate() {
        for class in &leaf.classes {
            let all = by_base.entry(class.0.base).or_default();
            if all.is_empty() {
                bases.push(class.0.base);
            }
            all.push((leaf, place, class));
        }
    }
    let mut verdict = Verdict::legal();
    for (i, a) in bases.iter().enumerate() {
        for b in &bases[i..] {
            let overlap = part.bases.overlap(*a, *b);
            if overlap == Overlap::Apart {
                continue;
            }
            for (x, first) in by_base[a].iter().enumerate() {
                // Of one object each pair is looked at once.
                let others = if a == b { &by_base[b][x..] } else { &by_base[b][..] };
                for second in others {
                    verdict = verdict.or(pair(part, first, second, overlap));
                    if matches!(verdict, Verdict::Illegal(_)) {
                        return verdict;
                    }
                }
            }
        }
    }
    verdict
}

/// Judges two accesses, either of which may have been the first.
fn pair(part: &Part<'_>, a: &Access<'_>, b: &Access<'_>, overlap: Overlap) -> Verdict {
    let (s, t) = (&a.2.0, &b.2.0);
    if !(s.writes || t.writes) || !part.is_moved(a.0, b.0) {
        return Verdict::legal();
    }
    // What is assumed apart is judged as if it could meet: only where that would be wrong is there anything to assume.
    let meets = if overlap == Overlap::AssumedApart { Overlap::May } else { overlap };
    let mut verdict = turned_around(part, a, b, meets);
    if !(a.1 == b.1 && std::ptr::eq(a.2, b.2)) {
        verdict = verdict.or(turned_around(part, b, a, meets));
    }
    if overlap != Overlap::AssumedApart || verdict.is_legal() {
        return verdict;
    }
    let version = a.0.version.filter(|own| Some(*own) == b.0.version);
    let is_tested = |pair: &(_, _)| version.is_some_and(|(_, id)| part.forest.assumption(id).contains(pair));
    let mut assumed_apart = Vec::new();
    assume_apart(&mut assumed_apart, s.base, t.base);
    assumed_apart.retain(|pair| !is_tested(pair));
    Verdict::Legal { assumed_apart }
}

/// Judges whether an instance of `a` that the program runs before one of `b` is run after it.
fn turned_around(part: &Part<'_>, a: &Access<'_>, b: &Access<'_>, overlap: Overlap) -> Verdict {
    let ((first, _, (s, op)), (second, _, (t, other))) = (a, b);
    let meeting = Meeting::of(s, t, overlap);
    let maps: Vec<&Form> = first.map.iter().chain(&second.map).collect();
    let meet = meeting.instances(s, t, part.frame, &maps);
    match meet.system.is_empty(&part.frame.facts, part.limits) {
        Emptiness::Empty => return Verdict::legal(),
        Emptiness::Unknown(_) => return Verdict::Unknown { accesses: (*op, *other) },
        Emptiness::NonEmpty(_) => {}
    }
    for before in earlier(part, first, second, meet) {
        for wrong in later(part, a, b, before) {
            let point = match wrong.system.is_empty(&part.frame.facts, part.limits) {
                Emptiness::Empty => continue,
                Emptiness::Unknown(_) => return Verdict::Unknown { accesses: (*op, *other) },
                Emptiness::NonEmpty(point) => point,
            };
            let instance = |leaf: &Placed, op: Op, side: Side| {
                let own = leaf.map.iter().skip(part.frame.depth as usize);
                Instance { op, iteration: wrong.values(&point, own, side) }
            };
            let cause = meeting.cause(s, t, overlap, &wrong, &point);
            let certain = matches!(cause, Cause::Element(_))
                && s.domain.exact
                && t.domain.exact
                && part.frame.exact
                && !part.is_made_inside(s.base);
            let witness = Witness::Order {
                first: instance(first, *op, Side::First),
                second: instance(second, *other, Side::Second),
                writes: [s.writes, t.writes],
                cause,
            };
            return if certain { Verdict::Illegal(witness) } else { Verdict::MayBeIllegal(witness) };
        }
    }
    Verdict::legal()
}

/// The pairs of which the program runs the first before the second: they part at a loop, or come in the order of the text.
fn earlier(part: &Part<'_>, first: &Placed, second: &Placed, meet: Pair) -> Vec<Pair> {
    let shared = part.loops_around_both(first.statement, second.statement);
    let from = part.frame.depth as usize;
    let in_text_order = first.statement < second.statement;
    let pairs: Vec<(&Form, &Form)> = first.map.iter().zip(&second.map).take(shared).skip(from).collect();
    parted(meet, &pairs, in_text_order, |own, x, y| own.system.set.add_lt(x, y))
}

/// Those pairs which the tree runs the other way round.
fn later(part: &Part<'_>, a: &Access<'_>, b: &Access<'_>, before: Pair) -> Vec<Pair> {
    let shared = a.0.loops.iter().zip(&b.0.loops).take_while(|(x, y)| x == y).count();
    let levels: Vec<Form> = (0..shared as u32).map(|k| Form::level(part.frame.depth + k)).collect();
    let pairs: Vec<(&Form, &Form)> = levels.iter().map(|form| (form, form)).collect();
    parted(before, &pairs, b.1 < a.1, |own, x, y| own.system.set.add_gt(x, y))
}

/// For each of `pairs` those instances in which all before it are equal and it is `apart`; and, if wanted, those in which all are equal.
fn parted(
    all: Pair,
    pairs: &[(&Form, &Form)],
    with_equal: bool,
    apart: impl Fn(&mut Pair, Affine, Affine),
) -> Vec<Pair> {
    let mut found = Vec::new();
    let mut equal = all;
    for (x, y) in pairs {
        let (x, y) = (equal.affine(x, Side::First), equal.affine(y, Side::Second));
        let mut own = equal.clone();
        apart(&mut own, x.clone(), y.clone());
        found.push(own);
        equal.system.set.add_eq(x, y);
    }
    if with_equal {
        found.push(equal);
    }
    found
}
