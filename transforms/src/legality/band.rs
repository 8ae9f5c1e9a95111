//! Bands: tiles of tiles of a nest, in which no dependence goes backwards in any loop.
//!
//! A tree may run a nest in tiles, these in smaller tiles, and so on: many loops for each loop of
//! the program. The question about the order of all of them is then hard. It has a simple answer if
//! each tree loop advances one program loop, and the tree loops of one program loop count its
//! iterations upwards, as digits do. Call such a tree a *band*.
//!
//! **Rule.** A band keeps a dependence if its distance is not negative in each loop of the program.
//! *Proof.* Let the tree run the sink before the source. At the first tree loop where both differ,
//! the sink has the smaller value. Let it advance program loop `k`. The digits of `k` before are
//! equal, so the sink has the smaller iteration of `k`: the distance is negative there.
//!
//! The converse holds for tiles that are large enough, but not for each size. So the rule only ever
//! allows; whatever it does not allow is judged by its order.
//!
//! **Assumptions.**
//! - The digits of the inner loops stay below the weight of the next outer one. Constants in the
//!   domain of the leaf prove it. Tried with `fixtures/morton/orders.mlir`, and with random tiles
//!   in `tests/tests/all/legality.rs`.
//!
//! **Cost.** Half of the square of the program's depth questions about the program's own accesses.

use std::sync::Arc;

use loomir_ir::Op;
use smallvec::SmallVec;

use super::changed_region::ChangedRegion;
use super::meeting::Meeting;
use super::scheduled::{Access, ScheduledStatement, shared};
use crate::access::base::{Base, Overlap};
use crate::access::{Answer, Class, Domain, Order, Question, Relation};
use crate::affine::{AffineForm, Atom};
use crate::tree::LoopId;
use crate::tree::access_summary::in_place;

/// True if the tree runs both leaves in one band, and no instance of `a` that the program runs
/// before one of `b` at the same location is behind it in a loop of the program.
pub(super) fn keeps(part: &ChangedRegion<'_>, a: &Access<'_>, b: &Access<'_>, overlap: Overlap) -> bool {
    let ((first, place, (s, op)), (second, other_place, (t, other))) = (a, b);
    let from = part.loop_context.depth as usize;
    let loops = part.loops_around_both(first.statement, second.statement);
    let around = shared(first, second).len();
    let is_deep = around > loops.len().saturating_sub(from);
    let is_one_band = around == first.loops.len() && around == second.loops.len() && first.map == second.map;
    let is_whole = [first, second].iter().all(|leaf| leaf.map.len() == loops.len());
    let is_unordered = first.loops.iter().any(|own| own.in_any_order)
        || loops.iter().any(|of| part.program.loop_info(*of).dimension.is_some());
    let turns_text = first.statement < second.statement && other_place < place;
    let is_carried = [s, t].iter().any(|class| matches!(class.base, Base::Carried(_)));
    if !is_deep || !is_one_band || !is_whole || is_unordered || turns_text || is_carried {
        return false;
    }
    if ![first, second].iter().all(|leaf| counts_upwards(leaf, from, around)) {
        return false;
    }
    let domain = domain(part, &loops);
    let sources = classes(part, first, (s, *op), &domain);
    let sinks = classes(part, second, (t, *other), &domain);
    !sources.is_empty()
        && !sinks.is_empty()
        && sources.iter().all(|s| sinks.iter().all(|t| is_forward(part, (s, t), loops.len(), overlap)))
}

/// Returns the iterations of loops of the program, as far as values from outside of the judged part
/// bound them.
fn domain(part: &ChangedRegion<'_>, loops: &[LoopId]) -> Arc<Domain> {
    let known = part.loop_context.depth;
    let all = loops.iter().flat_map(|of| &part.program.loop_info(*of).space.domain.constraints);
    let constraints = all.filter(|form| part.program.is_known(form, known)).cloned().collect();
    Arc::new(Domain { levels: loops.len() as u32, constraints, exact: true })
}

/// Returns the classes of the program's own statement that a class of its leaf stands for.
fn classes(
    part: &ChangedRegion<'_>,
    leaf: &ScheduledStatement,
    (class, op): (&Class, Op),
    domain: &Arc<Domain>,
) -> Vec<Class> {
    let own: Vec<AffineForm> = (0..domain.levels).rev().map(AffineForm::level).collect();
    let all = in_place(part.program, leaf.statement, &own, domain, part.loop_context.depth);
    let is_own = |own: &(Class, Op)| own.1 == op && own.0.base == class.base && own.0.writes == class.writes;
    all.filter(is_own).map(|(class, _)| class).collect()
}

/// True if each of `count` tree loops advances one program loop, and those of one program loop
/// count upwards together: the weight of each is more than all inner ones add up to. Each iteration
/// of the program then has one iteration of the tree at most.
pub(super) fn counts_upwards(leaf: &ScheduledStatement, from: usize, count: usize) -> bool {
    let mut seen = vec![false; count];
    let mut add = |form: &AffineForm| {
        let mut digits: SmallVec<[(u32, i64); 8]> = SmallVec::new();
        for (atom, weight) in form.terms() {
            let Atom::Level(level) = atom else { return false };
            let Some(known) = (*level as usize).checked_sub(from).and_then(|at| seen.get_mut(at)) else {
                return false;
            };
            if std::mem::replace(known, true) {
                return false;
            }
            digits.push((*level, *weight));
        }
        digits.sort_unstable();
        // The most that the inner digits add up to. No weight that is negative is above it.
        let mut inner = 0_i64;
        digits.iter().rev().enumerate().all(|(at, (level, weight))| {
            let is_above = *weight > inner;
            let is_outermost = at + 1 == digits.len();
            let own = if is_outermost { Some(0) } else { extent(leaf, *level) };
            let all = own.and_then(|own| weight.checked_mul(own)).and_then(|own| inner.checked_add(own));
            all.is_some_and(|all| {
                inner = all;
                is_above
            })
        })
    };
    leaf.map.iter().skip(from).all(&mut add) && seen.into_iter().all(|own| own)
}

/// Returns the greatest value of a level minus its least one, if constants bound them.
fn extent(leaf: &ScheduledStatement, level: u32) -> Option<i64> {
    let (mut least, mut most) = (None, None);
    for form in &leaf.domain.constraints {
        let [(Atom::Level(own), weight)] = form.terms() else { continue };
        if *own != level {
            continue;
        }
        // weight · level + constant ≥ 0
        let constant = form.constant_part();
        if *weight > 0 {
            let bound = constant.checked_neg()?.checked_add(weight - 1)?.div_euclid(*weight);
            least = Some(least.map_or(bound, |own: i64| own.max(bound)));
        } else {
            let bound = constant.div_euclid(weight.checked_neg()?);
            most = Some(most.map_or(bound, |own: i64| own.min(bound)));
        }
    }
    Some(most?.checked_sub(least?)?.max(0))
}

/// True if no instance of `s` before one of `t` at the same location has a greater iteration of a
/// loop of the program.
fn is_forward(part: &ChangedRegion<'_>, (s, t): (&Class, &Class), depth: usize, overlap: Overlap) -> bool {
    let meeting = Meeting::of(s, t, overlap);
    let from = part.loop_context.depth as usize;
    let levels: SmallVec<[AffineForm; 4]> = (0..depth as u32).map(AffineForm::level).collect();
    let relation = |level: usize, is| Relation { first: &levels[level], is, second: &levels[level] };
    let goes_back = |parting: usize, back: usize| {
        let mut order: SmallVec<[Relation<'_>; 4]> =
            (from..parting).map(|level| relation(level, Order::Equal)).collect();
        order.extend([relation(parting, Order::Less), relation(back, Order::Greater)]);
        let question = Question {
            first: s,
            second: t,
            loop_context: part.loop_context,
            equal: &meeting.pairs,
            order: &order,
            shown: &[],
            limits: part.oracle.limits,
        };
        !matches!(part.oracle.dependence.meet(&question), Answer::Never)
    };
    !(from..depth).any(|back| (from..back).any(|parting| goes_back(parting, back)))
}
