//! The judge of a schedule: pieces of a program, each summarised by its accesses, in a new order.
//!
//! This is how loops of a control flow graph are fused, where there is no tree. A piece is a loop,
//! a part of one, or some operations. Its *old* time says when an instance runs in the program, its
//! *new* time when it shall run. Times are vectors of forms over the levels of the piece, compared
//! from the left; a vector that ends is filled up with zeros.
//!
//! ```text
//!     first loop     old (0, i)    new (0, i, 0)
//!     a store        old (1)       new (-1)            moves to the front
//!     second loop    old (2, i)    new (0, i + 1, 1)   one iteration later
//! ```
//!
//! A schedule is legal if no instance that ran before another one, and depends on it, comes at the
//! same time or later. Instances of one piece with equal old times keep the order that they have.
//! What may not return, and what must not run early or late for that, keep their order in any case.
//!
//! Reference: Kelly and Pugh, *A unifying framework for iteration reordering transformations*,
//! 1995.
//!
//! **Assumptions.**
//! - The new time of a piece is a function of its old time: both count the same levels.
//!   [`Schedule::check`] refuses others.
//! - A piece is everything that moves, and what is in no piece runs before or behind all of them.
//!   Tried with `loop_fusion_traps/`.
//! - A store that [replaces](Piece::replaces) sets all bits of the bytes that its class names.
//!   Tried with `loop_fusion_traps/store_sizes.ll`.
//!
//! **Cost.** For two pieces that may change their order, the pairs of their classes on overlapping
//! objects, times the product of the lengths of their times at most.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use loomir_ir::Op;

use super::merge::{apart, independent};
use super::{Cause, DependenceOracle, Instance, Verdict, Witness};
use crate::access::{Class, LoopContext, Order, Relation};
use crate::affine::{AffineForm, Atom};
use crate::assumption::Assumption;
use crate::tree::access_summary::{AccessSummary, Representative};

/// A part of a program that is moved.
#[derive(Clone, Debug)]
pub struct Piece<'n> {
    /// The accesses. The first level of their own is that of the loop_context's depth.
    pub touches: &'n AccessSummary,
    /// When an instance runs in the program.
    pub old: Vec<AffineForm>,
    /// When it shall run.
    pub new: Vec<AffineForm>,
    /// What keeps it before or behind what may not return.
    pub ending: Ending,
    /// True if all writes are stores of whole bytes whose time nobody can tell, but by reading
    /// them.
    pub replaces: bool,
}

/// What of a piece may not return, or must keep its order with what may not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ending {
    /// An operation that may not return, or end.
    pub barrier: Option<Op>,
    /// An operation that must not run unless all before it returned: it may be undefined, or seen.
    pub late: Option<Op>,
    /// An operation whose effect somebody sees, also if nothing behind it runs.
    pub seen: Option<Op>,
}

/// A new order of pieces that stand in one loop_context.
#[derive(Clone, Debug)]
pub struct Schedule<'n> {
    /// The loops around all of them.
    loop_context: &'n LoopContext,
    /// All that moves, with times of one length.
    pieces: Vec<Piece<'n>>,
}

/// A plan that may be carried out: the judge approved the schedule that it comes to.
///
/// **Invariant.** Only [`Schedule::judge`] makes one, and nothing in it can be changed.
#[derive(Clone, Debug)]
pub struct ApprovedPlan<P>(P);

impl<P> ApprovedPlan<P> {
    /// Returns the plan.
    pub fn plan(&self) -> &P {
        &self.0
    }
}

impl<'n> Schedule<'n> {
    /// Returns the schedule of some pieces.
    pub fn new(loop_context: &'n LoopContext, mut pieces: Vec<Piece<'n>>) -> Schedule<'n> {
        let length = pieces.iter().map(|own| own.old.len().max(own.new.len())).max().unwrap_or(0);
        for piece in &mut pieces {
            piece.old.resize(length, AffineForm::default());
            piece.new.resize(length, AffineForm::default());
        }
        Schedule { loop_context, pieces }
    }

    /// Judges whether a plan that comes to this schedule may be carried out where all that is
    /// `tested` holds.
    ///
    /// # Errors
    ///
    /// The verdict, if the schedule is not legal, or only under assumptions that are not tested.
    pub fn judge<P>(
        &self,
        plan: P,
        tested: &[Assumption],
        oracle: &DependenceOracle<'_>,
    ) -> Result<ApprovedPlan<P>, Verdict> {
        match self.check(oracle) {
            Verdict::Legal { assumed } if assumed.iter().all(|own| tested.contains(own)) => {
                Ok(ApprovedPlan(plan))
            }
            verdict => Err(verdict),
        }
    }

    /// Returns whether the schedule is legal, with what would go wrong or what is assumed.
    pub fn check(&self, oracle: &DependenceOracle<'_>) -> Verdict {
        let mut verdict = Verdict::legal();
        if let Some(odd) = self.pieces.iter().find(|own| !own.counts_alike()) {
            let op = odd.touches.classes.first().map(|own| own.op);
            return op.map_or(verdict, |op| Verdict::Unknown { accesses: (op, op) });
        }
        for (place, a) in self.pieces.iter().enumerate() {
            for b in &self.pieces[place..] {
                let is_one = std::ptr::eq(a, b);
                verdict = verdict.or(self.turned_around(a, b, oracle));
                if !is_one {
                    verdict = verdict.or(self.turned_around(b, a, oracle));
                }
                if let Verdict::Illegal(_) = verdict {
                    return verdict;
                }
            }
        }
        verdict
    }

    /// Judges whether an instance of `a` that ran before one of `b` does not any more.
    fn turned_around(&self, a: &Piece<'_>, b: &Piece<'_>, oracle: &DependenceOracle<'_>) -> Verdict {
        let mut verdict = Verdict::legal();
        for before in earlier(&a.old, &b.old) {
            for behind in not_earlier(&a.new, &b.new) {
                let order = [&before[..], &behind[..]].concat();
                if is_contradiction(&order) {
                    continue;
                }
                verdict = verdict.or(ends_early(a, b)).or(self.meet(a, b, &order, oracle));
            }
        }
        verdict
    }

    /// Judges the instances that lie to each other like this: one of `a` ran before, and will not.
    fn meet(
        &self,
        a: &Piece<'_>,
        b: &Piece<'_>,
        order: &[Relation<'_>],
        oracle: &DependenceOracle<'_>,
    ) -> Verdict {
        let verdict = apart(a.touches, b.touches, order, self.loop_context, oracle);
        if verdict.is_legal() || !a.comes_before_in_each_iteration(b) {
            return verdict;
        }
        // Who stores to the very same place in the same iteration has the last word, as before.
        let is_replaced = |own: &Representative| {
            own.class.writes
                && b.touches.of_base(own.class.base).any(|other| replaces(&other.class, &own.class))
        };
        let (replaced, others) = parted(a.touches, is_replaced);
        let (_, reads) = parted(b.touches, |other| other.class.writes);
        let is_sure = |verdict: Verdict| matches!(verdict, Verdict::Legal { assumed } if assumed.is_empty());
        let may_be = !replaced.classes.is_empty()
            && is_sure(independent(&replaced, &reads, self.loop_context, oracle))
            && is_sure(apart(&others, b.touches, order, self.loop_context, oracle));
        if may_be { Verdict::legal() } else { verdict }
    }
}

impl Piece<'_> {
    /// Returns true if the old and the new time count the same levels, so that equal old times are
    /// equal new ones and the other way round.
    fn counts_alike(&self) -> bool {
        let levels = |forms: &[AffineForm]| {
            let mut all = BTreeSet::new();
            for (atom, _) in forms.iter().flat_map(AffineForm::terms) {
                match atom {
                    Atom::Level(level) => _ = all.insert(*level),
                    Atom::FloorDiv(..) => return None,
                    Atom::Param(_) | Atom::Product(_) => {}
                }
            }
            Some(all)
        };
        levels(&self.old).is_some_and(|old| Some(old) == levels(&self.new))
    }

    /// Returns true if both store plainly and run together in each iteration, this piece first.
    fn comes_before_in_each_iteration(&self, other: &Piece<'_>) -> bool {
        let ([time @ .., own], [others @ .., place]) = (&self.new[..], &other.new[..]) else { return false };
        let places = own.as_constant().zip(place.as_constant());
        self.replaces && other.replaces && time == others && places.is_some_and(|(own, place)| own < place)
    }
}

/// Relations that hold together.
type Case<'f> = Vec<Relation<'f>>;

/// Returns what the first time being less than the second says of two instances: one of these.
fn earlier<'f>(first: &'f [AffineForm], second: &'f [AffineForm]) -> Vec<Case<'f>> {
    parted_by(first, second, Order::Less).0
}

/// Returns what the first time being greater than, or equal to, the second says: one of these.
fn not_earlier<'f>(first: &'f [AffineForm], second: &'f [AffineForm]) -> Vec<Case<'f>> {
    let (mut found, equal) = parted_by(first, second, Order::Greater);
    found.extend(equal);
    found
}

/// Returns, for each place at which the one may be `apart` from the other with all before it equal,
/// what says so; and what says that all are equal, if they may be.
fn parted_by<'f>(
    first: &'f [AffineForm],
    second: &'f [AffineForm],
    apart: Order,
) -> (Vec<Case<'f>>, Option<Case<'f>>) {
    let mut found = Vec::new();
    let mut equal: Case<'f> = Vec::new();
    let wanted = if apart == Order::Less { Ordering::Less } else { Ordering::Greater };
    for (first, second) in first.iter().zip(second) {
        match first.as_constant().zip(second.as_constant()).map(|(x, y)| x.cmp(&y)) {
            Some(Ordering::Equal) => {}
            Some(order) => {
                if order == wanted {
                    found.push(equal);
                }
                return (found, None);
            }
            None => {
                found.push([&equal[..], &[Relation { first, is: apart, second }]].concat());
                equal.push(Relation { first, is: Order::Equal, second });
            }
        }
    }
    (found, Some(equal))
}

/// Returns true if relations of the same forms exclude each other.
pub(super) fn is_contradiction(all: &[Relation<'_>]) -> bool {
    let differ =
        |(a, b): (&Relation<'_>, &Relation<'_>)| a.is != b.is && (a.first, a.second) == (b.first, b.second);
    all.iter().enumerate().any(|(i, a)| all[i + 1..].iter().any(|b| differ((a, b))))
}

/// Judges two pieces of which the second comes before the first, as far as either may not return.
fn ends_early(first: &Piece<'_>, second: &Piece<'_>) -> Verdict {
    let (a, b) = (&first.ending, &second.ending);
    let Some((one, other)) = a.barrier.zip(b.late).or_else(|| a.seen.zip(b.barrier)) else {
        return Verdict::legal();
    };
    let instance = |op| Instance { op, iteration: Box::default(), symbols: Box::default() };
    let (first, second) = (instance(one), instance(other));
    Verdict::MayBeIllegal(Witness::Order { first, second, writes: [true; 2], cause: Cause::World })
}

/// Returns true if one class stores to the place of another in each iteration in which that does.
fn replaces(class: &Class, other: &Class) -> bool {
    let is_known = |class: &Class| {
        class.subscripts.as_ref().is_some_and(|subscripts| subscripts.iter().all(Option::is_some))
    };
    class.writes
        && class.domain.exact
        && is_known(class)
        && (class.base, class.origin, &class.sizes, &class.subscripts)
            == (other.base, other.origin, &other.sizes, &other.subscripts)
        && class.domain.levels == other.domain.levels
        && class.domain.constraints.iter().all(|form| other.domain.constraints.contains(form))
}

/// Returns the classes of which something holds, and the others.
fn parted(nest: &AccessSummary, holds: impl Fn(&Representative) -> bool) -> (AccessSummary, AccessSummary) {
    let mut parts = (AccessSummary::default(), AccessSummary::default());
    for own in &nest.classes {
        let part = if holds(own) { &mut parts.0 } else { &mut parts.1 };
        part.add(own.clone());
    }
    parts
}
