//! Coverage: checks that every instance of every statement still runs once, and nothing else runs.
//!
//! The instances of a statement are the iterations of the original loops around it. A leaf runs the
//! image of its own iterations under its map. The images must be disjoint and cover the whole. A
//! pure operation may run again, or not at all, unobserved. It is therefore exempt: its values are
//! checked at their uses. It may run in new iterations only if it is speculatable. An operation
//! that [anchors a loop](super::carried) with carried values is not exempt.
//!
//! # Assumptions
//!
//! - A pure statement may run again or not at all where it ran; elsewhere only if it is
//!   speculatable. A statement that freezes runs once. Tried in `tests/tests/all/hazards.rs`.
//!
//! **Cost.** Nothing for a leaf inside loops with the original iterations, in any order; else a few
//! conjunctions a leaf and pair of leaves. Statements with equal schedules are asked about once.

use std::hash::{Hash, Hasher};

use hashbrown::{HashMap, HashSet};
use loomir_ir::Value;
use loomir_polyhedra::{Emptiness, Set, Space, Tuple, Var};
use smallvec::SmallVec;

use super::band;
use super::cases::{self, Case};
use super::changed_region::ChangedRegion;
use super::scheduled::{OpaqueCondition, ScheduledStatement};
use super::{Instance, Verdict, Witness, carried};
use crate::affine::system::{Pair, Side, System, Unknowns};
use crate::affine::{AffineForm, Atom};
use crate::assumption::Assumption;
use crate::tree::StatementId;

/// Checks that the leaves run each instance of these statements the required number of times.
pub(super) fn check(
    part: &ChangedRegion<'_>,
    statements: &[ScheduledStatement],
    leaves: &[ScheduledStatement],
) -> Verdict {
    let mut of_statement: HashMap<StatementId, SmallVec<[&ScheduledStatement; 1]>> =
        statements.iter().map(|whole| (whole.statement, SmallVec::new())).collect();
    let mut verdict = Verdict::legal();
    let mut added = Vec::new();
    for leaf in leaves {
        match of_statement.get_mut(&leaf.statement) {
            Some(all) => all.push(leaf),
            None => added.push(leaf),
        }
    }
    let only_computes = |id: StatementId| part.program.statement(id).is_pure(part.body);
    let may_be_added = |id: StatementId| part.program.statement(id).is_speculatable(part.body);
    let is_free = |id: StatementId| may_be_added(id) && carried::anchored(part.program, id).is_none();
    // Statements from outside this part already run elsewhere.
    for leaf in added.into_iter().filter(|leaf| !may_be_added(leaf.statement)) {
        let exact = writes(part, leaf.statement);
        verdict =
            verdict.or(nothing_added(part, leaf, &[AffineForm::constant(-1)], exact, Witness::Repeated));
    }
    let mut answered: HashSet<Asked<'_>> = HashSet::new();
    for whole in statements.iter().filter(|whole| !is_free(whole.statement)) {
        let leaves = &of_statement[&whole.statement];
        // In a version it runs where the tested assumptions hold.
        let version = leaves.first().and_then(|leaf| leaf.version);
        let tested = version.filter(|_| leaves.iter().all(|leaf| leaf.version == version));
        let tested = tested.map_or(&[][..], |(_, id)| part.trees.assumptions(id));
        let tested: Vec<AffineForm> = tested.iter().flat_map(Assumption::facts).collect();
        let anchored = carried::anchored(part.program, whole.statement);
        let times =
            if only_computes(whole.statement) && anchored.is_none() { Times::Any } else { Times::Once };
        let is_plain = anchored.is_none() && part.program.statement(whole.statement).effects.world.is_none();
        let asked = Asked { whole, leaves, times };
        if is_plain && answered.contains(&asked) {
            continue;
        }
        let own = match &tested[..] {
            [] => in_cases(part, whole, leaves, times, MAX_CASES),
            _ => {
                let within = part.loop_context.with_facts(tested);
                in_cases(&part.within(&within), whole, leaves, times, MAX_CASES)
            }
        };
        if is_plain && own.is_legal() {
            answered.insert(asked);
        }
        verdict = verdict.or(match anchored {
            // A pure computation alone may run any number of times.
            Some(info) if only_computes(whole.statement) && !own.is_legal() => {
                Verdict::MayBeIllegal(Witness::Carried(info.op))
            }
            _ => own,
        });
        if matches!(verdict, Verdict::Illegal(_)) {
            break;
        }
    }
    verdict
}

/// The key of a question about a statement without unknown effects. Copies of an unrolled loop ask
/// equal questions.
struct Asked<'p> {
    whole: &'p ScheduledStatement,
    leaves: &'p [&'p ScheduledStatement],
    times: Times,
}

impl PartialEq for Asked<'_> {
    fn eq(&self, other: &Self) -> bool {
        let all = |own: &Self| [own.whole].into_iter().chain(own.leaves.iter().copied());
        self.times == other.times
            && self.leaves.len() == other.leaves.len()
            && all(self).zip(all(other)).all(|(own, other)| own.covers_like(other))
    }
}

impl Eq for Asked<'_> {}

impl Hash for Asked<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.whole.domain.constraints.hash(state);
        self.leaves.iter().for_each(|leaf| leaf.map.hash(state));
    }
}

/// The maximal number of conditions with a case for each outcome.
const MAX_CASES: u32 = 8;

/// The required number of runs of each instance of a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Times {
    Once,
    /// Any number, within its own iterations: it is pure, but may be undefined in others.
    Any,
}

/// Judges the leaves of a statement in each case of conditions that are around leaves only.
/// Recurses once for each, up to a number.
fn in_cases(
    part: &ChangedRegion<'_>,
    whole: &ScheduledStatement,
    leaves: &[&ScheduledStatement],
    times: Times,
    left: u32,
) -> Verdict {
    let cases = match cases::of_a_condition(part, whole, leaves) {
        Ok(cases) => cases,
        Err(of) => return Verdict::MayBeIllegal(Witness::Extent(of)),
    };
    let Some((left, cases)) = left.checked_sub(1).zip(cases) else {
        return statement(part, whole, leaves, times);
    };
    cases.iter().fold(Verdict::legal(), |verdict, Case { whole, leaves }| {
        verdict.or(in_cases(part, whole, &leaves.iter().collect::<Vec<_>>(), times, left))
    })
}

/// Judges the leaves of a statement against `whole`, its leaf in the program.
fn statement(
    part: &ChangedRegion<'_>,
    whole: &ScheduledStatement,
    leaves: &[&ScheduledStatement],
    times: Times,
) -> Verdict {
    if let [leaf] = leaves
        && keeps_whole(part, leaf, whole)
    {
        return Verdict::legal();
    }
    // The unknown conditions of the statement must be the same in each of its iterations, or the
    // question cannot be decided.
    for leaf in leaves {
        let own: HashSet<(OpaqueCondition, Vec<AffineForm>)> = leaf.unsaid.iter().cloned().collect();
        let wanted = whole.unsaid.iter().map(|(what, map)| Some((*what, in_place(leaf, map)?)));
        let Some(wanted) = wanted.collect::<Option<HashSet<_>>>() else {
            return part.unknown(leaf.statement);
        };
        if let Some((what, _)) = own.symmetric_difference(&wanted).next() {
            return Verdict::MayBeIllegal(Witness::Extent(match what {
                OpaqueCondition::Extent(of) => part.program.loop_info(*of).op,
                OpaqueCondition::Condition(of, _) => part.program.if_info(*of).op,
            }));
        }
    }
    // A value computed inside the loops is a single number only within one iteration.
    let mut computed: HashMap<Value, &[AffineForm]> = HashMap::new();
    for (value, iteration) in leaves.iter().copied().chain([whole]).flat_map(|leaf| &leaf.computed) {
        if *computed.entry(*value).or_insert(iteration) != &iteration[..] {
            return part.unknown(whole.statement);
        }
    }
    let mut verdict = Verdict::legal();
    for (i, leaf) in leaves.iter().enumerate() {
        let (allowed, exact) = (&whole.domain.constraints, whole.domain.exact);
        verdict = verdict.or(nothing_added(part, leaf, allowed, exact, Witness::Added));
        for other in leaves[..=i].iter().filter(|_| times == Times::Once) {
            verdict = verdict.or(nothing_repeated(part, leaf, other));
        }
    }
    match times {
        Times::Once if verdict.is_legal() => verdict.or(nothing_lost(part, leaves, whole)),
        _ => verdict,
    }
}

/// Converts forms over the iterations of a statement to forms over the levels of one of its leaves.
fn in_place(leaf: &ScheduledStatement, forms: &[AffineForm]) -> Option<Vec<AffineForm>> {
    forms.iter().map(|form| leaf.in_place(form)).collect()
}

/// True if a leaf's loops are the original loops around its statement, in any order.
fn keeps_whole(part: &ChangedRegion<'_>, leaf: &ScheduledStatement, whole: &ScheduledStatement) -> bool {
    if leaf.domain.levels != whole.domain.levels || !leaf.unsaid.is_empty() || !whole.unsaid.is_empty() {
        return false;
    }
    // Most leaves of a large tree have an unchanged schedule.
    let is_level = |(level, form): (u32, &AffineForm)| *form == AffineForm::level(level);
    let is_unchanged = leaf.map.len() == leaf.domain.levels as usize && (0..).zip(&*leaf.map).all(is_level);
    if is_unchanged && leaf.domain.constraints == whole.domain.constraints {
        return true;
    }
    let from = part.loop_context.depth;
    let levels: HashSet<&AffineForm> = leaf.map.iter().skip(from as usize).collect();
    let is_permutation = (from..leaf.domain.levels).all(|level| levels.contains(&AffineForm::level(level)));
    let wanted = in_place(leaf, &whole.domain.constraints).map(HashSet::<AffineForm>::from_iter);
    let own: HashSet<AffineForm> = leaf.domain.constraints.iter().cloned().collect();
    is_permutation && wanted == Some(own)
}

/// Checks that each iteration of a leaf is allowed: it violates none of these constraints.
fn nothing_added(
    part: &ChangedRegion<'_>,
    leaf: &ScheduledStatement,
    constraints: &[AffineForm],
    exact: bool,
    witness: fn(Instance) -> Witness,
) -> Verdict {
    let Some(constraints) = in_place(leaf, constraints) else { return part.unknown(leaf.statement) };
    for constraint in constraints {
        let forms: Vec<&AffineForm> = leaf.map.iter().chain([&constraint]).collect();
        let loop_context = part.loop_context;
        let nothing = (loop_context.depth, &[][..]);
        let around = &loop_context.constraints;
        let mut runs =
            Pair::with_forms(leaf.domain.instances(), nothing, loop_context.depth, around, &[], &forms);
        let broken = runs.affine(&constraint, Side::First);
        runs.system.set.add_lt(broken, 0);
        let fault = |instance| part.at_fault(witness(instance), leaf.domain.exact && exact);
        if let Some(verdict) = found(part, leaf, &runs, fault) {
            return verdict;
        }
    }
    Verdict::legal()
}

/// Leaves that run neighbouring iterations: copies of one, in the same loops.
struct Family<'l> {
    /// The leaf with the least iterations.
    leaf: &'l ScheduledStatement,
    /// For each iteration variable, the number of neighbouring iterations.
    copies: Vec<i64>,
}

/// Returns the leaves with neighbours taken together. Linear.
fn families<'l>(leaves: &[&'l ScheduledStatement]) -> Vec<Family<'l>> {
    let constants =
        |leaf: &ScheduledStatement| -> Vec<i64> { leaf.map.iter().map(AffineForm::constant_part).collect() };
    let mut groups: HashMap<_, usize> = HashMap::new();
    let mut listed: Vec<Vec<&'l ScheduledStatement>> = Vec::new();
    for leaf in leaves {
        let terms: Vec<_> = leaf.map.iter().map(AffineForm::terms).collect();
        let place = *groups.entry((&leaf.domain, terms)).or_insert(listed.len());
        match listed.get_mut(place) {
            Some(group) => group.push(leaf),
            None => listed.push(vec![leaf]),
        }
    }
    let alone = |leaf: &'l ScheduledStatement| Family { leaf, copies: vec![1; leaf.map.len()] };
    let mut all = Vec::new();
    for group in listed {
        let points: HashSet<Vec<i64>> = group.iter().map(|leaf| constants(leaf)).collect();
        let least = group.iter().copied().min_by_key(|leaf| constants(leaf));
        let bounds = (0..least.map_or(0, |least| least.map.len())).map(|place| {
            let own = || points.iter().map(|point| point[place]);
            own().max()?.checked_sub(own().min()?)?.checked_add(1)
        });
        let copies: Option<Vec<i64>> = bounds.collect();
        let volume = copies.as_ref().and_then(|all| all.iter().try_fold(1i64, |a, b| a.checked_mul(*b)));
        match (least, copies) {
            // A box of iterations, without gaps, begins at its least point.
            (Some(leaf), Some(copies)) if volume == Some(points.len() as i64) => {
                all.push(Family { leaf, copies });
            }
            _ => all.extend(group.into_iter().map(alone)),
        }
    }
    all
}

/// True if two leaves run iterations of different remainders by a step.
fn are_interleaved(a: &ScheduledStatement, b: &ScheduledStatement) -> bool {
    a.map.iter().zip(&*b.map).any(|(own, other)| match own.terms() {
        [(Atom::Level(_), step)] if own.terms() == other.terms() => {
            let gap = own.constant_part().checked_sub(other.constant_part());
            gap.is_some_and(|gap| gap.checked_rem(*step).is_some_and(|rest| rest != 0))
        }
        _ => false,
    })
}

/// Checks that no two iterations of one leaf, or of two leaves, run the same instance of the
/// statement.
fn nothing_repeated(part: &ChangedRegion<'_>, a: &ScheduledStatement, b: &ScheduledStatement) -> Verdict {
    let loop_context = part.loop_context;
    // Numbers with other digits are other numbers.
    let has_digits = || {
        let from = loop_context.depth as usize;
        std::ptr::eq(a, b) && band::counts_upwards(a, from, a.domain.levels as usize - from)
    };
    if are_interleaved(a, b) || has_digits() {
        return Verdict::legal();
    }
    let maps: Vec<(&AffineForm, &AffineForm)> =
        a.map.iter().zip(&*b.map).skip(loop_context.depth as usize).collect();
    let forms: Vec<&AffineForm> = a.map.iter().chain(&*b.map).collect();
    let (first, second) = (a.domain.instances(), b.domain.instances());
    let mut both =
        Pair::with_forms(first, second, loop_context.depth, &loop_context.constraints, &maps, &forms);
    // Two different iterations of one leaf differ at some level. Without loss of generality one is
    // less there.
    let mut repeated = Vec::new();
    if std::ptr::eq(a, b) {
        for level in loop_context.depth..a.domain.levels {
            let (x, y) = (both.first(level), both.second(level));
            let mut apart = both.clone();
            apart.system.set.add_lt(x, y);
            repeated.push(apart);
            both.system.set.add_eq(x, y);
        }
    } else {
        repeated.push(both);
    }
    let exact = a.domain.exact && b.domain.exact && writes(part, a.statement);
    let fault = |instance| part.at_fault(Witness::Repeated(instance), exact);
    let verdict = repeated.iter().find_map(|pairs| found(part, a, pairs, fault));
    verdict.unwrap_or(Verdict::legal())
}

/// True if a statement writes memory. One that only reads must run once, because it may be
/// undefined behaviour, but it is not certain that a repetition shows.
fn writes(part: &ChangedRegion<'_>, id: StatementId) -> bool {
    part.program.statement(id).effects.classes.iter().any(|(class, _)| class.writes)
}

/// Returns the verdict for the existence of such instances of a leaf.
fn found(
    part: &ChangedRegion<'_>,
    leaf: &ScheduledStatement,
    of: &Pair,
    fault: impl Fn(Instance) -> Verdict,
) -> Option<Verdict> {
    match of.system.is_empty(&part.loop_context.facts, part.oracle.limits) {
        Emptiness::Empty => None,
        Emptiness::Unknown(_) => Some(part.unknown(leaf.statement)),
        Emptiness::NonEmpty(point) => {
            let value = |form: &AffineForm| of.value(&point, form, Side::First);
            Some(fault(part.instance(leaf.statement, &leaf.map, &value)))
        }
    }
}

/// Checks that the leaves cover the statement: no iteration of it is outside of their images.
fn nothing_lost(
    part: &ChangedRegion<'_>,
    leaves: &[&ScheduledStatement],
    whole: &ScheduledStatement,
) -> Verdict {
    let id = whole.statement;
    let depth = whole.domain.levels;
    let mut unknowns = Unknowns::default();
    let constraints = whole.domain.constraints.iter().chain(&part.loop_context.constraints);
    for form in
        constraints.chain(leaves.iter().flat_map(|leaf| leaf.domain.constraints.iter().chain(&*leaf.map)))
    {
        unknowns.add(form);
    }
    let unknowns = unknowns.listed;
    let names: Vec<String> = (0..unknowns.len()).map(|i| format!("p{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let space = Space::set(&names, Tuple::unnamed("", depth as usize));
    let of_whole: Vec<Var> = (0..depth as usize).map(|index| space.dim(index)).collect();
    let mut all = System::new(space.vars(), Var(0), unknowns.clone());
    let constraints = part.loop_context.constraints.iter().chain(&whole.domain.constraints);
    all.constrain(constraints, &|level| of_whole[level as usize]);
    let images = families(leaves).into_iter().map(|Family { leaf, copies }| {
        let mut image = System::new(space.vars(), Var(0), unknowns.clone());
        let mut levels = of_whole[..part.loop_context.depth as usize].to_vec();
        levels.extend((part.loop_context.depth..leaf.domain.levels).map(|_| image.set.exists()));
        let level = |level: u32| levels[level as usize];
        image.constrain(&leaf.domain.constraints, &level);
        let places = leaf.map.iter().zip(&of_whole).zip(copies);
        for ((form, var), copies) in places.skip(part.loop_context.depth as usize) {
            let mut form = image.affine(form, &level);
            if copies > 1 {
                let copy = image.set.exists();
                image.set.add_ge(copy, 0);
                image.set.add_lt(copy, copies);
                form = form + copy;
            }
            image.set.add_eq(*var, form);
        }
        image.set
    });
    let images = Set::from_conjunctions(space.clone(), images.collect());
    let lost = |all: &System| {
        let all = Set::from_conjunctions(space.clone(), vec![all.set.clone()]);
        all.subtract(&images, part.oracle.limits)?.sample(part.oracle.limits)
    };
    let facts = &part.loop_context.facts;
    let found = match lost(&all) {
        Ok(Some(point)) if !all.agrees(facts, &point) => lost(&all.with_facts(facts)),
        found => found,
    };
    match found {
        Ok(None) => Verdict::legal(),
        Ok(Some(point)) => {
            let at = |var: Var| point.get(var).to_i64();
            let unknown = |atom: &Atom| at(Var(unknowns.iter().position(|own| own == atom)? as u32));
            let level = |level: u32| at(*of_whole.get(level as usize)?);
            let value = |form: &AffineForm| form.evaluate_with(&level, &unknown);
            let witness = Witness::Lost(part.instance(id, &whole.map, &value));
            part.at_fault(witness, whole.domain.exact)
        }
        Err(_) => part.unknown(id),
    }
}
