//! The judge of a schedule: pieces of a program, each summarised by its accesses, in a new order.
//!
//! Loops of a control flow graph, which has no tree, are fused in this way. A piece is a loop, a
//! part of one, or some operations. Its *old* time is the time of an instance in the program, its
//! *new* time the time in the schedule. Times are vectors of forms over the levels of the piece,
//! compared lexicographically; shorter vectors are padded with zeros.
//!
//! ```text
//!     first loop     old (0, i)    new (0, i, 0)
//!     a store        old (1)       new (-1)            moves to the front
//!     second loop    old (2, i)    new (0, i + 1, 1)   one iteration later
//! ```
//!
//! A schedule is legal if no instance that ran before a dependent one now runs at the same time or
//! later. Operations that may not return, and operations that must not move relative to them, keep
//! their order in any case.
//!
//! Reference: Kelly and Pugh, *A unifying framework for iteration reordering transformations*
//! (1995).
//!
//! **Assumptions.**
//! - The new time of a piece is a function of its old time: both count the same levels.
//!   [`Schedule::check`] refuses others.
//! - Everything that moves is in a piece; all other code runs before or behind all pieces. Tried
//!   with `loop_fusion_traps/`.
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

/// A part of a program to be moved.
#[derive(Clone, Debug)]
pub struct Piece<'n> {
    /// The accesses. Their first own level is the depth of the loop context.
    pub touches: &'n AccessSummary,
    /// The schedule of an instance in the program.
    pub old: Vec<AffineForm>,
    /// The new schedule of an instance.
    pub new: Vec<AffineForm>,
    /// The operations that tie it to operations that may not return.
    pub ending: Ending,
    /// True if all writes are stores of whole bytes whose time is observable only by reading them.
    pub replaces: bool,
}

/// The operations of a piece that may not return, or must keep their order with such operations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ending {
    /// An operation that may not return or terminate.
    pub barrier: Option<Op>,
    /// An operation that must not run before all earlier operations returned, because it may be
    /// undefined or observable.
    pub late: Option<Op>,
    /// An operation with an observable effect, even if nothing behind it runs.
    pub seen: Option<Op>,
}

/// A new order of pieces in one loop context.
#[derive(Clone, Debug)]
pub struct Schedule<'n> {
    /// The loops around all pieces.
    loop_context: &'n LoopContext,
    /// All moved pieces, with times of one length.
    pieces: Vec<Piece<'n>>,
}

/// A plan whose schedule the judge approved.
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
    /// Creates the schedule of some pieces.
    pub fn new(loop_context: &'n LoopContext, mut pieces: Vec<Piece<'n>>) -> Schedule<'n> {
        let length = pieces.iter().map(|own| own.old.len().max(own.new.len())).max().unwrap_or(0);
        for piece in &mut pieces {
            piece.old.resize(length, AffineForm::default());
            piece.new.resize(length, AffineForm::default());
        }
        Schedule { loop_context, pieces }
    }

    /// Judges if a plan with this schedule may be carried out where all `tested` assumptions hold.
    ///
    /// # Errors
    ///
    /// The verdict, if the schedule is not legal, or is legal only under assumptions that are not
    /// tested.
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

    /// Returns the verdict on the schedule, with the failure or the assumptions.
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

    /// Judges if an instance of `a` that ran before one of `b` no longer does.
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

    /// Judges the pairs of instances in this order: the one of `a` ran before, and no longer does.
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
        // The last store to the same location in the same iteration wins, as before.
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
    /// True if the old and the new time count the same levels, so that equal old times mean equal
    /// new times and the other way round. A quotient follows from the levels in it, so it counts
    /// none.
    fn counts_alike(&self) -> bool {
        let (mut old, mut new) = (BTreeSet::new(), BTreeSet::new());
        let (mut divided, mut others) = (BTreeSet::new(), BTreeSet::new());
        self.old.iter().for_each(|form| levels(form, &mut old, &mut divided));
        self.new.iter().for_each(|form| levels(form, &mut new, &mut others));
        divided.is_empty() && old == new && others.is_subset(&old)
    }

    /// Returns true if the writes of both pieces are plain stores, and both run in the same
    /// iterations, this piece first.
    fn comes_before_in_each_iteration(&self, other: &Piece<'_>) -> bool {
        let ([time @ .., own], [others @ .., place]) = (&self.new[..], &other.new[..]) else { return false };
        let places = own.as_constant().zip(place.as_constant());
        self.replaces && other.replaces && time == others && places.is_some_and(|(own, place)| own < place)
    }
}

/// Adds the levels that a form counts, and those that it counts in quotients.
fn levels(form: &AffineForm, counted: &mut BTreeSet<u32>, divided: &mut BTreeSet<u32>) {
    for (atom, _) in form.terms() {
        match atom {
            Atom::Level(level) => _ = counted.insert(*level),
            Atom::FloorDiv(inner, _) => {
                let mut within = BTreeSet::new();
                levels(inner, &mut within, divided);
                divided.append(&mut within);
            }
            Atom::Param(_) | Atom::Product(_) => {}
        }
    }
}

/// Relations that hold together.
type Case<'f> = Vec<Relation<'f>>;

/// Returns the alternatives under which the first time is less than the second.
fn earlier<'f>(first: &'f [AffineForm], second: &'f [AffineForm]) -> Vec<Case<'f>> {
    parted_by(first, second, Order::Less).0
}

/// Returns the alternatives under which the first time is greater than or equal to the second.
fn not_earlier<'f>(first: &'f [AffineForm], second: &'f [AffineForm]) -> Vec<Case<'f>> {
    let (mut found, equal) = parted_by(first, second, Order::Greater);
    found.extend(equal);
    found
}

/// Returns, for each place, the relations for equal earlier places and this one `apart`. Also
/// returns the relations for all places equal, if that is possible.
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

/// Returns true if relations of equal forms contradict each other, or of forms that are multiples
/// of levels, plus constants; or if a relation of constants does not hold.
pub(super) fn is_contradiction(all: &[Relation<'_>]) -> bool {
    let differ =
        |a: &Relation<'_>, b: &Relation<'_>| a.is != b.is && (a.first, a.second) == (b.first, b.second);
    let exclude = |a: &Relation<'_>, b: &Relation<'_>| excludes(a, b) == Some(true);
    all.iter().enumerate().any(|(i, a)| {
        is_wrong(a) || all[i + 1..].iter().any(|b| differ(a, b) || exclude(a, b) || exclude(b, a))
    })
}

/// Returns true if a relation of constants does not hold.
fn is_wrong(own: &Relation<'_>) -> bool {
    let constants = own.first.as_constant().zip(own.second.as_constant());
    constants.is_some_and(|(first, second)| match own.is {
        Order::Less => first >= second,
        Order::Equal => first != second,
        Order::Greater => first <= second,
    })
}

/// Returns true if a relation of two forms cannot hold where another one of two levels `f` and `g`
/// does. `None` if the forms are not `k · f + c` and `k · g + d`, with one positive `k`.
fn excludes(own: &Relation<'_>, levels: &Relation<'_>) -> Option<bool> {
    let multiple = |form: &AffineForm, level: &AffineForm| {
        let &[(Atom::Level(number), 1)] = level.terms() else { return None };
        let times = form.coefficient_of_level(number);
        Some((times, form.plus(level, times.checked_neg()?)?.as_constant()?))
    };
    let ((times, c), (others, d)) =
        (multiple(own.first, levels.first)?, multiple(own.second, levels.second)?);
    let (times, gap) = (i128::from(times), i128::from(d) - i128::from(c));
    if times <= 0 || times != i128::from(others) {
        return None;
    }
    // The forms are in relation iff `k · (f - g)` is in the same relation to the gap.
    Some(match (own.is, levels.is) {
        (Order::Less, Order::Less) | (Order::Greater, Order::Greater) => false,
        (Order::Less, Order::Equal) => gap <= 0,
        (Order::Less, Order::Greater) => gap <= times,
        (Order::Equal, Order::Less) => gap > -times,
        (Order::Equal, Order::Equal) => gap != 0,
        (Order::Equal, Order::Greater) => gap < times,
        (Order::Greater, Order::Less) => gap >= -times,
        (Order::Greater, Order::Equal) => gap >= 0,
    })
}

/// Judges two pieces whose second comes before the first, as far as either may not return.
fn ends_early(first: &Piece<'_>, second: &Piece<'_>) -> Verdict {
    let (a, b) = (&first.ending, &second.ending);
    let Some((one, other)) = a.barrier.zip(b.late).or_else(|| a.seen.zip(b.barrier)) else {
        return Verdict::legal();
    };
    let instance = |op| Instance { op, iteration: Box::default(), symbols: Box::default() };
    let (first, second) = (instance(one), instance(other));
    Verdict::MayBeIllegal(Witness::Order { first, second, writes: [true; 2], cause: Cause::World })
}

/// True if one class stores to the element of another in each iteration of the other.
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

/// Splits the classes by a predicate.
fn parted(nest: &AccessSummary, holds: impl Fn(&Representative) -> bool) -> (AccessSummary, AccessSummary) {
    let mut parts = (AccessSummary::default(), AccessSummary::default());
    for own in &nest.classes {
        let part = if holds(own) { &mut parts.0 } else { &mut parts.1 };
        part.add(own.clone());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::excludes;
    use crate::access::{Order, Relation};
    use crate::affine::AffineForm;

    #[test]
    fn relations_exclude_each_other_if_no_numbers_satisfy_both() {
        let holds = |first: i64, is, second: i64| match is {
            Order::Less => first < second,
            Order::Equal => first == second,
            Order::Greater => first > second,
        };
        let orders = [Order::Less, Order::Equal, Order::Greater];
        let levels = [AffineForm::level(0), AffineForm::level(1)];
        let form = |level: usize, times, constant| {
            levels[level].times(times)?.plus(&AffineForm::constant(constant), 1)
        };
        for (times, gap) in (1..=3).flat_map(|times| (-5..=5).map(move |gap| (times, gap))) {
            let [first, second] = [form(0, times, 7), form(1, times, gap + 7)].map(Option::unwrap);
            for (is, outer) in orders.into_iter().flat_map(|is| orders.map(|outer| (is, outer))) {
                let own = Relation { first: &first, is, second: &second };
                let other = Relation { first: &levels[0], is: outer, second: &levels[1] };
                let both = (-9..=9).any(|apart| holds(apart, outer, 0) && holds(times * apart, is, gap));
                // A gap between two multiples excludes equality, which is not seen.
                let known = excludes(&own, &other);
                let is_known = known == Some(!both) || (known == Some(false) && is == Order::Equal);
                assert!(is_known, "{times} {gap} {is:?} {outer:?}: {known:?}");
            }
        }
        // Without a common positive factor nothing is known.
        for (own, other) in [(1, 2), (0, 0), (-1, -1)] {
            let [first, second] = [form(0, own, 0), form(1, other, 0)].map(Option::unwrap);
            let own = Relation { first: &first, is: Order::Less, second: &second };
            let other = Relation { first: &levels[0], is: Order::Greater, second: &levels[1] };
            assert_eq!(excludes(&own, &other), None);
        }
    }
}
