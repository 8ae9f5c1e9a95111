//! Whether every dependence still runs forwards.
//!
//! For each pair of leaves that touch one location: the pairs of instances of which the program runs one before the other, and the tree does not.
//! Both orders are lexicographic: the iterations of the loops around both, from the outside, then the place. So the set is a union of
//! conjunctions, one for each loop of the program at which the two may part, and each of the tree.
//!
//! **Cost.** The pairs of classes on overlapping objects, of which one leaf was moved, times the product of the depths.

use std::sync::Arc;

use hashbrown::HashMap;
use loomir_ir::Op;

use super::check::Part;
use super::meeting::Meeting;
use super::merge::assume_apart;
use super::placed::Placed;
use super::{Cause, Instance, Verdict, Witness};
use crate::analyses::{Answer, Order, Question, Relation};
use crate::dependence::access::{Class, Domain};
use crate::dependence::base::{Base, Overlap};
use crate::dependence::form::Form;
use crate::dependence::system::Side;

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
            let Some(overlap) = part.means.overlap(*a, *b) else { continue };
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
    if !part.means.may_conflict(s, t) || !part.is_moved(a.0, b.0) {
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
    let meet = |(s, t): (&Class, &Class), order: &[Relation<'_>]| {
        part.means.dependence.meet(&Question {
            first: s,
            second: t,
            frame: part.frame,
            equal: &meeting.pairs,
            order,
            shown: &maps,
            limits: part.means.limits,
        })
    };
    match meet((s, t), &[]) {
        Answer::Never => return Verdict::legal(),
        Answer::Unknown => return Verdict::Unknown { accesses: (*op, *other) },
        Answer::Perhaps | Answer::At(_) => {}
    }
    let levels = shared_levels(part, first, second);
    let run_later = later(&levels, b.1 < a.1);
    // Where both run in one iteration of the loops around what is computed inside, that is one number.
    let inner = first.within.depth.max(second.within.depth);
    let within = (inner > 0).then(|| (known_within(s, first), known_within(t, second)));
    for before in earlier(part, first, second) {
        let equal = before.iter().take_while(|relation| relation.is == Order::Equal).count();
        let is_one = part.frame.depth as usize + equal >= inner;
        let classes = within.as_ref().filter(|_| is_one).map_or((s, t), |(s, t)| (s, t));
        for behind in &run_later {
            let order: Vec<Relation<'_>> = before.iter().chain(behind).copied().collect();
            let example = match meet(classes, &order) {
                Answer::Never => continue,
                Answer::Unknown => return Verdict::Unknown { accesses: (*op, *other) },
                Answer::Perhaps => None,
                Answer::At(example) => Some(example),
            };
            let instance = |leaf: &Placed, op: Op, side: Side| {
                let own = leaf.map.iter().skip(part.frame.depth as usize);
                Instance::of(op, example.as_deref(), own, side)
            };
            let cause = meeting.cause(s, t, overlap, example.as_deref());
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

/// A class with all that is known of when its leaf runs.
fn known_within(class: &Class, leaf: &Placed) -> Class {
    let constraints = class.domain.constraints.iter().chain(&leaf.within.constraints).cloned().collect();
    Class { domain: Arc::new(Domain { constraints, ..*class.domain }), ..class.clone() }
}

/// The pairs of which the program runs the first before the second: they part at a loop, or come in the order of the text.
fn earlier<'l>(part: &Part<'_>, first: &'l Placed, second: &'l Placed) -> Vec<Vec<Relation<'l>>> {
    let shared = part.loops_around_both(first.statement, second.statement);
    let from = part.frame.depth as usize;
    let in_text_order = first.statement < second.statement;
    parted(first.map.iter().zip(&second.map).take(shared).skip(from), in_text_order, Order::Less)
}

/// The levels of the loops of the tree around two leaves.
fn shared_levels(part: &Part<'_>, a: &Placed, b: &Placed) -> Vec<Form> {
    let shared = a.loops.iter().zip(&b.loops).take_while(|(x, y)| x == y).count();
    (0..shared as u32).map(|k| Form::level(part.frame.depth + k)).collect()
}

/// Those pairs which the tree runs the other way round.
fn later(levels: &[Form], with_equal: bool) -> Vec<Vec<Relation<'_>>> {
    parted(levels.iter().map(|form| (form, form)), with_equal, Order::Greater)
}

/// For each of `pairs` those instances in which all before it are equal and it is `apart`; and, if wanted, those in which all are equal.
fn parted<'f>(
    pairs: impl Iterator<Item = (&'f Form, &'f Form)>,
    with_equal: bool,
    apart: Order,
) -> Vec<Vec<Relation<'f>>> {
    let mut found = Vec::new();
    let mut equal = Vec::new();
    for (first, second) in pairs {
        let mut own = equal.clone();
        own.push(Relation { first, is: apart, second });
        found.push(own);
        equal.push(Relation { first, is: Order::Equal, second });
    }
    if with_equal {
        found.push(equal);
    }
    found
}
