//! The order of dependences: checks that every dependence still runs forwards.
//!
//! For each pair of leaves that touch one location, the question is about pairs of instances that
//! the program runs in one order and the tree does not. Both orders are lexicographic: first the
//! iterations of the common loops from the outside, then the place. The set is a union of
//! conjunctions, one for each combination of a program loop and a tree loop at which the two
//! instances may part.
//!
//! A loop of the tree whose iterations may run in any order may run a later one before an earlier
//! one. Reordered instances must be unordered in the program too. Where a loop runs in order,
//! however, even these keep their order, so that the written code behaves the same. Two leaves
//! under a condition and its negation both run only if the condition is evaluated twice; only those
//! pairs count.
//!
//! # Assumptions
//!
//! - Each iteration of the loops around an allocation has an object of its own, so iterations of a
//!   parallel loop do not share it. Tried in `fixtures/parallelize/legal.mlir`.
//! - A header that may be undefined is read with each leaf inside it. Tried in
//!   `fixtures/fusion/may_not_return.mlir`.
//!
//! **Cost.** The kinds of pairs of accesses to overlapping objects with one moved leaf, times the
//! product of the depths. Two leaves with unchanged relative order need no question, nor do copies
//! of an unrolled body that keep theirs.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;
use std::sync::Arc;

use hashbrown::HashSet;
use hashbrown::hash_set::Entry;
use loomir_dialects::interfaces::MemoryAccess;
use loomir_dialects::llvm;
use loomir_ir::{Body, Op, Trait, Value, ValueDef};
use smallvec::{SmallVec, smallvec};

use super::changed_region::ChangedRegion;
use super::meeting::Meeting;
use super::merge::assume_apart;
use super::pairs::{each_pair, every_pair};
use super::schedule::is_contradiction;
use super::scheduled::{Access, Around, OpaqueCondition, ScheduledStatement, is_handed_on, shared};
use super::{Cause, Instance, Verdict, Witness};
use super::{band, carried};
use crate::access::base::{Base, Overlap};
use crate::access::{Answer, Class, Domain, Example, LoopContext, Order, Question, Relation};
use crate::affine::AffineForm;
use crate::affine::system::Side;
use crate::assumption::Assumption;
use crate::tree::AssumptionId;
use crate::tree::access_summary::LoopIteration;

/// Judges all pairs of leaves that were moved relative to each other, one of each kind.
pub(super) fn check(part: &ChangedRegion<'_>, leaves: &[ScheduledStatement]) -> Verdict {
    let mut verdict = Verdict::legal();
    let mut answered = HashSet::with_capacity(leaves.len());
    let pairs = if part.asks_of_all { every_pair } else { each_pair };
    let _ = pairs(part, leaves, &mut |first, second, overlap| {
        let asked = Asked::of(part, first, second);
        let asked = answered.entry(asked);
        if matches!(asked, Entry::Occupied(_)) && !part.asks_of_all {
            return ControlFlow::Continue(());
        }
        let own = pair(part, first, second, overlap);
        if own.is_legal() {
            asked.insert();
        }
        verdict = std::mem::replace(&mut verdict, Verdict::legal()).or(own);
        match verdict {
            Verdict::Illegal(_) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    verdict
}

/// The key of a question about a pair of accesses. Regions of a tree often ask equal questions, and
/// copies of a loop ask those of the first copy, elsewhere: where both subscripts grow by a number,
/// the same instances meet.
#[derive(PartialEq, Eq, Hash)]
struct Asked<'p> {
    sides: [Asker<'p>; 2],
    /// The differences of the constants of both subscripts in each dimension.
    apart: SmallVec<[Option<i128>; 4]>,
    /// The assumptions tested around both.
    tested: Option<AssumptionId>,
    /// For each common loop of the program, true if it is parallel.
    in_program: SmallVec<[bool; 4]>,
    /// For each common loop of the tree, true if its iterations may run in any order, and if they
    /// are lanes.
    in_tree: SmallVec<[(bool, bool); 4]>,
    is_handed_on: bool,
    /// The textual order in the program, and in the tree.
    text: [Ordering; 2],
}

/// One access in the key of a question. The constants of its subscripts do not count.
struct Asker<'p> {
    leaf: &'p ScheduledStatement,
    class: &'p Class,
}

impl PartialEq for Asker<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.class.is_translated(other.class) && self.leaf.runs_like(other.leaf)
    }
}

impl Eq for Asker<'_> {}

impl Hash for Asker<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.class.base.hash(state);
        self.class.writes.hash(state);
        subscripts(self.class).flatten().for_each(|form| form.terms().hash(state));
        self.leaf.hash(state);
    }
}

/// Returns the subscripts of a class.
fn subscripts(class: &Class) -> impl Iterator<Item = Option<&AffineForm>> {
    class.subscripts.iter().flatten().map(Option::as_ref)
}

/// Returns the differences of the constants of two classes' subscripts in each dimension, or all
/// constants if the elements of one are known under conditions.
fn apart(s: &Class, t: &Class) -> SmallVec<[Option<i128>; 4]> {
    let constant = |form: Option<&AffineForm>| form.map(|form| i128::from(form.constant_part()));
    match [s, t].iter().any(|class| class.conditional.is_some()) {
        true => subscripts(s).chain(subscripts(t)).map(constant).collect(),
        false => {
            let gap = |(x, y)| Some(constant(x)? - constant(y)?);
            subscripts(s).zip(subscripts(t)).map(gap).collect()
        }
    }
}

impl<'p> Asked<'p> {
    fn of(part: &ChangedRegion<'_>, a: &Access<'p>, b: &Access<'p>) -> Asked<'p> {
        let side = |(leaf, _, class): &Access<'p>| Asker { leaf, class: &class.0 };
        let both = part.loops_around_both(a.0.statement, b.0.statement);
        let in_program = both.into_iter().skip(part.loop_context.depth as usize);
        Asked {
            sides: [side(a), side(b)],
            apart: apart(&a.2.0, &b.2.0),
            tested: tested_around(a.0, b.0),
            in_program: in_program.map(|of| part.program.loop_info(of).dimension.is_some()).collect(),
            in_tree: shared(a.0, b.0).iter().map(|around| (around.in_any_order, around.are_lanes)).collect(),
            is_handed_on: is_handed_on(a.0, b.0),
            text: [a.0.statement.cmp(&b.0.statement), a.1.cmp(&b.1)],
        }
    }
}

/// Returns the assumptions that are tested around both leaves.
fn tested_around(a: &ScheduledStatement, b: &ScheduledStatement) -> Option<AssumptionId> {
    a.version.filter(|own| Some(*own) == b.version).map(|(_, id)| id)
}

/// Judges two accesses. Either may have been the first.
fn pair(part: &ChangedRegion<'_>, a: &Access<'_>, b: &Access<'_>, overlap: Overlap) -> Verdict {
    let (s, t) = (&a.2.0, &b.2.0);
    // Objects assumed distinct are judged as if they could overlap. An assumption is needed only if
    // that would be illegal.
    let meets = if overlap == Overlap::AssumedApart { Overlap::May } else { overlap };
    let tested = tested_around(a.0, b.0).map_or(&[][..], |id| part.trees.assumptions(id));
    let verdict = match tested {
        [] => either_way(part, a, b, meets, tested),
        _ => {
            let known = part.loop_context.with_facts(tested.iter().flat_map(Assumption::facts));
            either_way(&part.within(&known), a, b, meets, tested)
        }
    };
    if overlap != Overlap::AssumedApart || verdict.is_legal() {
        return verdict;
    }
    let mut assumed = Vec::new();
    assume_apart(&mut assumed, s.base, t.base);
    assumed.retain(|assumption| !tested.contains(assumption));
    Verdict::Legal { assumed }
}

/// Judges two accesses whose objects have this overlap, provided that all tested assumptions hold.
pub(super) fn either_way(
    part: &ChangedRegion<'_>,
    a: &Access<'_>,
    b: &Access<'_>,
    overlap: Overlap,
    tested: &[Assumption],
) -> Verdict {
    if Meetings::of(part, (a, b), overlap, tested).never_happen() {
        return Verdict::legal();
    }
    let verdict = turned_around(part, a, b, overlap, tested);
    let is_one = a.1 == b.1 && std::ptr::eq(a.2, b.2);
    if is_one { verdict } else { verdict.or(turned_around(part, b, a, overlap, tested)) }
}

/// Judges if the tree reverses a dependence: an instance of `a` runs before one of `b` in the
/// program, but after it in the tree, where all `tested` assumptions hold.
fn turned_around(
    part: &ChangedRegion<'_>,
    a: &Access<'_>,
    b: &Access<'_>,
    overlap: Overlap,
    tested: &[Assumption],
) -> Verdict {
    let ((first, _, (s, op)), (second, _, (t, other))) = (a, b);
    let around = shared(first, second);
    let levels: SmallVec<[AffineForm; 2]> =
        (0..around.len() as u32).map(|k| AffineForm::level(part.loop_context.depth + k)).collect();
    let cases = cases(part, (a, b), &levels, around);
    if cases.is_empty() || (tested.is_empty() && band::keeps(part, a, b, overlap)) {
        return Verdict::legal();
    }
    let meetings = Meetings::of(part, (a, b), overlap, tested);
    // If there are many cases, one question answers most of them: the two accesses never meet.
    if cases.len() > 1 {
        match meetings.meet(part.loop_context, (s, t), &[]) {
            Answer::Never => return Verdict::legal(),
            Answer::Unknown => return Verdict::Unknown { accesses: (*op, *other) },
            Answer::Perhaps | Answer::At(_) => {}
        }
    }
    let mut is_unknown = false;
    for (order, loops) in &cases {
        let within = (known_within(s, (first, second), *loops), known_within(t, (second, first), *loops));
        let classes = (within.0.as_ref().unwrap_or(s), within.1.as_ref().unwrap_or(t));
        return match meetings.meet(part.loop_context, classes, order) {
            Answer::Never => continue,
            _ if meetings.are_avoided(classes, order) => continue,
            Answer::Unknown => {
                is_unknown = true;
                continue;
            }
            Answer::Perhaps => meetings.verdict(None),
            Answer::At(example) => meetings.verdict(Some(&example)),
        };
    }
    if is_unknown { Verdict::Unknown { accesses: (*op, *other) } } else { Verdict::legal() }
}

/// Pairs of instances of two accesses that touch one location.
struct Meetings<'q> {
    part: &'q ChangedRegion<'q>,
    first: &'q Access<'q>,
    second: &'q Access<'q>,
    overlap: Overlap,
    meeting: Meeting<'q>,
    /// The iterations of both leaves, which examples show.
    maps: Vec<&'q AffineForm>,
    tested: &'q [Assumption],
}

impl<'q> Meetings<'q> {
    fn of(
        part: &'q ChangedRegion<'q>,
        (first, second): (&'q Access<'q>, &'q Access<'q>),
        overlap: Overlap,
        tested: &'q [Assumption],
    ) -> Meetings<'q> {
        let classes = (&first.2.0, &second.2.0);
        let is_known = |form: &&AffineForm| part.loop_context.implies(form, part.oracle.limits);
        let conditional = Meeting::conditional(classes.0, classes.1, overlap);
        let meeting = match conditional.filter(|(_, conditions)| conditions.iter().all(is_known)) {
            Some((meeting, _)) => meeting,
            None => Meeting::of(classes.0, classes.1, overlap),
        };
        let maps = first.0.map.iter().chain(&*second.0.map).collect();
        Meetings { part, first, second, overlap, meeting, maps, tested }
    }

    /// True if the accesses are of different elements, as far as that is easy to tell.
    fn never_happen(&self) -> bool {
        let classes = (&self.first.2.0, &self.second.2.0);
        self.part.oracle.dependence.never_touch(&self.question(self.part.loop_context, classes, &[]))
    }

    /// Asks the dependence test for a pair in this order. The classes are those of the accesses,
    /// with additional constraints.
    fn meet(&self, loop_context: &LoopContext, classes: (&Class, &Class), order: &[Relation<'_>]) -> Answer {
        self.part.oracle.dependence.meet(&self.question(loop_context, classes, order))
    }

    fn question<'a>(
        &'a self,
        loop_context: &'a LoopContext,
        (first, second): (&'a Class, &'a Class),
        order: &'a [Relation<'a>],
    ) -> Question<'a> {
        let (equal, shown) = (&self.meeting.pairs, &self.maps);
        Question { first, second, loop_context, equal, order, shown, limits: self.part.oracle.limits }
    }

    /// Returns the tested alternatives. One form of each list is not negative.
    fn choices(&self) -> impl Iterator<Item = &'q [AffineForm]> {
        self.tested.iter().map(Assumption::alternatives).filter(|forms| forms.len() > 1)
    }

    /// True if no pair has such an order, for each of some tested alternatives.
    fn are_avoided(&self, classes: (&Class, &Class), order: &[Relation<'_>]) -> bool {
        let never = |form: &AffineForm| {
            let loop_context = self.part.loop_context.with_facts([form.clone()]);
            matches!(self.meet(&loop_context, classes, order), Answer::Never)
        };
        self.choices().any(|forms| forms.iter().all(never))
    }

    /// Returns the verdict on a pair whose order is reversed, or may be if there is no example.
    fn verdict(&self, example: Option<&Example>) -> Verdict {
        let part = self.part;
        let ((first, _, (s, op)), (second, _, (t, other))) = (self.first, self.second);
        if let Base::Carried(_) = s.base {
            return Verdict::MayBeIllegal(Witness::Carried(*op));
        }
        let instance = |leaf: &ScheduledStatement, op: Op, side: Side| {
            let own: Vec<_> = LoopIteration::over(part.program, leaf.statement, &leaf.map).collect();
            Instance::of(op, example, own.iter().skip(part.loop_context.depth as usize), side)
        };
        let cause = self.meeting.cause(s, t, self.overlap, example);
        let certain = matches!(cause, Cause::Element(_))
            && self.choices().next().is_none()
            && s.domain.exact
            && t.domain.exact
            && part.loop_context.exact
            && !part.is_made_inside(s.base)
            && !stores_one_value(part, *op, *other);
        let witness = Witness::Order {
            first: instance(first, *op, Side::First),
            second: instance(second, *other, Side::Second),
            writes: [s.writes, t.writes],
            cause,
        };
        if certain { Verdict::Illegal(witness) } else { Verdict::MayBeIllegal(witness) }
    }
}

/// True if two operations store one value that is the same in all judged iterations. Nothing shows
/// which one was the first then.
fn stores_one_value(part: &ChangedRegion<'_>, a: Op, b: Op) -> bool {
    let body = part.body;
    let Some(value) = stored(body, a).filter(|own| stored(body, b) == Some(*own)) else { return false };
    match body.def(value) {
        ValueDef::OpResult { op, .. } => {
            let depth = part.program.depth_of(body, op);
            body.has_trait(op, Trait::ConstantLike) || depth.is_some_and(|own| own <= part.loop_context.depth)
        }
        ValueDef::BlockArgument { block, .. } => body.region_parent(body.block_region(block)) == body.root(),
    }
}

/// Returns the stored value of a store.
fn stored(body: &Body, op: Op) -> Option<Value> {
    let view = body.op_ref(op);
    match view.info().interface::<dyn MemoryAccess>() {
        Some(model) => model.access(view).stored,
        None => body.is(op, llvm::StoreOp::DEF).then(|| body.operand(op, 0)),
    }
}

/// Returns the orders in which the program runs `a` before `b`, and the tree may run `b` first.
/// With each order comes the number of loops that run the same iteration for both.
fn cases<'f>(
    part: &ChangedRegion<'_>,
    (a, b): (&Access<'f>, &Access<'f>),
    levels: &'f [AffineForm],
    around: &[Around],
) -> Cases<'f> {
    let ((first, _, (s, _)), (second, ..)) = (a, b);
    let run_before = earlier(part, first, second);
    let run_later = match s.base {
        // A loop-carried value that is not passed on allows no order.
        Base::Carried(_) if !is_handed_on(first, second) => smallvec![Ordered::default()],
        // Lanes may combine values in any order.
        Base::Carried(_)
            if carried::anchored(part.program, first.statement).is_some_and(|of| of.combines) =>
        {
            let around: SmallVec<[Around; 4]> = around.iter().map(Around::with_lanes_in_order).collect();
            later(levels, &around, b.1 < a.1)
        }
        _ => later(levels, around, b.1 < a.1),
    };
    let (decided, computed) = (decided_apart(part, first, second), computed_alike(part, first, second));
    let made_in = made_in(part, s, &b.2.0);
    let mut cases = Cases::new();
    for before in &run_before {
        let is_free = before.in_any_order || before.part_within(made_in);
        for behind in run_later.iter().filter(|behind| !(is_free && behind.in_any_order)) {
            let all = decided.iter().flat_map(|apart| computed.iter().map(move |alike| (apart, alike)));
            for (apart, (loops, alike)) in all {
                let order = [&before.relations, &behind.relations, apart, alike];
                let order: Relations<'_> = order.into_iter().flatten().copied().collect();
                if !is_contradiction(&order) {
                    cases.push((order, *loops));
                }
            }
        }
    }
    cases
}

/// Returns a class of a leaf with constraints on values computed inside of the loops, given that it
/// and another leaf run the same iteration of `loops` loops. `None` if there are no such
/// constraints. A value computed inside of more loops may differ for the other leaf, so only one of
/// the leaves may constrain it.
fn known_within(
    class: &Class,
    (leaf, other): (&ScheduledStatement, &ScheduledStatement),
    loops: usize,
) -> Option<Class> {
    let is_alone = other.within.inside(usize::MAX).count() == other.within.inside(loops).count();
    let mut known = leaf.within.inside(if is_alone { usize::MAX } else { loops }).peekable();
    known.peek()?;
    let constraints = class.domain.constraints.iter().chain(known).cloned().collect();
    Some(Class { domain: Arc::new(Domain { constraints, ..*class.domain }), ..class.clone() })
}

/// The relations that a pair of instances satisfies.
type Relations<'f> = SmallVec<[Relation<'f>; 2]>;

/// Alternatives. Inside one loop there are one or two.
type Either<T> = SmallVec<[T; 2]>;

/// Orders of a pair, each with the number of loops that run the same iteration for both instances.
type Cases<'f> = Either<(Relations<'f>, usize)>;

/// Pairs of instances, one before the other.
#[derive(Default)]
struct Ordered<'f> {
    /// The relations of the instances.
    relations: Relations<'f>,
    /// True if the instances differ first at a loop whose iterations may run in any order.
    in_any_order: bool,
}

impl Ordered<'_> {
    /// True if the instances are in different iterations of one of the outermost `loops` loops.
    fn part_within(&self, loops: usize) -> bool {
        self.relations.iter().take(loops).any(|relation| relation.is != Order::Equal)
    }
}

/// Returns the number of loops around the allocation of the object of both accesses, in the judged
/// part. Instances in different iterations of these loops touch different objects. 0 for other
/// objects.
fn made_in(part: &ChangedRegion<'_>, s: &Class, t: &Class) -> usize {
    match (s.base, t.base) {
        (Base::Allocation(value), Base::Allocation(other)) if value == other => {
            let around = part.program.loop_around(part.body, value);
            let loops = around.map_or(0, |of| part.program.loop_info(of).depth + 1);
            loops.saturating_sub(part.loop_context.depth) as usize
        }
        _ => 0,
    }
}

/// Returns the pairs whose first instance the program runs before the second: they part at a loop,
/// or follow the order of the text.
fn earlier<'l>(
    part: &ChangedRegion<'_>,
    first: &'l ScheduledStatement,
    second: &'l ScheduledStatement,
) -> Either<Ordered<'l>> {
    let from = part.loop_context.depth as usize;
    let loops = part.loops_around_both(first.statement, second.statement).into_iter().skip(from);
    let pairs = first.map.iter().zip(&*second.map).skip(from).zip(loops);
    let pairs = pairs.map(|(pair, of)| (pair, part.program.loop_info(of).dimension.is_some()));
    let mut found = Either::new();
    let equal = parted(pairs, Order::Less, &mut found);
    if first.statement < second.statement {
        found.push(Ordered { relations: equal, in_any_order: false });
    }
    found
}

/// Returns the pairs whose second instance the tree may run before the first. They include pairs
/// with equal iterations of all common loops if the second leaf `stands_before` the first.
fn later<'f>(levels: &'f [AffineForm], around: &[Around], stands_before: bool) -> Either<Ordered<'f>> {
    let pairs = levels.iter().map(|form| (form, form));
    let mut found = Either::new();
    let equal = parted(pairs.clone().map(|pair| (pair, false)), Order::Greater, &mut found);
    if stands_before {
        found.push(Ordered { relations: equal, in_any_order: false });
    }
    if around.iter().any(|own| own.in_any_order) {
        let mut forwards = Either::new();
        parted(pairs.zip(around.iter().map(|own| own.in_any_order)), Order::Less, &mut forwards);
        found.extend(forwards.into_iter().filter(|own| own.in_any_order));
    }
    found
}

/// Adds, for each loop's pair in `pairs`, the instances with equal earlier pairs and this one
/// `apart`. Returns the relations for all pairs equal.
fn parted<'f>(
    pairs: impl Iterator<Item = ((&'f AffineForm, &'f AffineForm), bool)>,
    apart: Order,
    found: &mut Either<Ordered<'f>>,
) -> Relations<'f> {
    let mut equal = Relations::new();
    for ((first, second), in_any_order) in pairs {
        let mut relations = equal.clone();
        relations.push(Relation { first, is: apart, second });
        found.push(Ordered { relations, in_any_order });
        equal.push(Relation { first, is: Order::Equal, second });
    }
    equal
}

/// Returns further relations between instances that both run, as alternatives. If one leaf runs
/// under a condition, and the other under its negation, the two evaluations are in different
/// iterations.
fn decided_apart<'l>(
    part: &ChangedRegion<'_>,
    first: &'l ScheduledStatement,
    second: &'l ScheduledStatement,
) -> Either<Relations<'l>> {
    let from = part.loop_context.depth as usize;
    let opposite = first.unsaid.iter().filter_map(|(what, map)| {
        let OpaqueCondition::Condition(of, holds) = *what else { return None };
        let (_, others) =
            second.unsaid.iter().find(|(what, _)| *what == OpaqueCondition::Condition(of, !holds))?;
        Some((map, others))
    });
    let Some((map, others)) = opposite.min_by_key(|(map, others)| map.len().min(others.len())) else {
        return smallvec![Relations::new()];
    };
    let mut found = Either::new();
    for apart in [Order::Less, Order::Greater] {
        let pairs = map.iter().zip(others).skip(from).map(|pair| (pair, false));
        parted(pairs, apart, &mut found);
    }
    found.into_iter().map(|pairs| pairs.relations).collect()
}

/// Splits pairs of instances by the number of common loops in which they run the same iteration,
/// with the relations for each case. A value computed in one iteration is one number.
fn computed_alike<'l>(
    part: &ChangedRegion<'_>,
    first: &'l ScheduledStatement,
    second: &'l ScheduledStatement,
) -> Either<(usize, Relations<'l>)> {
    let from = part.loop_context.depth as usize;
    let (own, others) = (&first.within.iteration, &second.within.iteration);
    let all = own.len().min(others.len());
    if all <= from {
        return smallvec![(0, Relations::new())];
    }
    let pairs = || own.iter().zip(others).skip(from).map(|pair| (pair, false));
    let (mut less, mut greater) = (Either::new(), Either::new());
    let equal = parted(pairs(), Order::Less, &mut less);
    parted(pairs(), Order::Greater, &mut greater);
    let apart = (from..).zip(less).chain((from..).zip(greater));
    apart.map(|(loops, pairs)| (loops, pairs.relations)).chain([(all, equal)]).collect()
}
