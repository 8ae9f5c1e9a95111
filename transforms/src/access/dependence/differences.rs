//! Dependences by the difference of both addresses in one iteration: the test that fusion by scalar
//! evolution uses.
//!
//! The question is if the first access, in some iteration of a loop, and the second in an earlier
//! one can touch one element. In the same iteration their subscripts have some difference. Each
//! iteration between them adds the step of one subscript. If the step is positive, and the
//! difference plus one step is at least one, the subscripts are never equal. A negative step is
//! symmetric. A loop-invariant subscript excludes nothing: both accesses touch the same element in
//! every iteration, also in the wrong order.
//!
//! The difference is bounded by facts about parameters, and by constant bounds of levels.
//! Divisibility, distances beyond the trip count, and other orders are not examined. The test is
//! less precise than the exact one, and never more.

use hashbrown::HashMap;

use super::directions::{Known, Range, Row, Unknown};
use super::{Order, Question, Relation};
use crate::affine::facts::Facts;
use crate::affine::system::Side;
use crate::affine::{AffineForm, Atom};

/// True if certainly no two such instances exist.
pub(super) fn never(question: &Question<'_>) -> bool {
    let Some((level, distance)) = question.order.iter().find_map(apart) else { return false };
    // Both instances share one iteration of the common loops.
    if level < question.loop_context.depth {
        return false;
    }
    let Some(mut known) = Known::of(question) else { return true };
    question.equal.iter().any(|(x, y)| {
        [Side::First, Side::Second].into_iter().any(|side| {
            let parts = difference(question, x, y, level, side);
            parts.is_some_and(|(row, step)| is_apart(&mut known, row, step, distance, question))
        })
    })
}

/// Returns the level in which the first instance is later, and the least distance.
fn apart(relation: &Relation<'_>) -> Option<(u32, i128)> {
    let Relation { first, is: Order::Greater, second } = relation else { return None };
    let level = |form: &AffineForm| match form.terms() {
        [(Atom::Level(level), 1)] => Some(*level),
        _ => None,
    };
    let (own, other) = (level(first)?, level(second)?);
    let late = i128::from(second.constant_part()) - i128::from(first.constant_part());
    (own == other).then_some((own, late + 1))
}

/// Returns the difference of two subscripts in the same iteration of a loop, the iteration of one
/// of the instances, and the step of the other subscript.
fn difference<'f>(
    question: &Question<'f>,
    x: &'f AffineForm,
    y: &'f AffineForm,
    level: u32,
    side: Side,
) -> Option<(Row<'f>, i128)> {
    let depth = question.loop_context.depth;
    let [mut own, mut other] = [Row::of(x, Side::First, depth)?, Row::of(y, Side::Second, depth)?];
    let (first, second) = (Unknown::First(level), Unknown::Second(level));
    let (moved, step_of, from, to) = match side {
        Side::First => (&mut other, y, second, first),
        Side::Second => (&mut own, x, first, second),
    };
    moved.terms.iter_mut().filter(|(unknown, _)| *unknown == from).for_each(|(unknown, _)| *unknown = to);
    let step = step_of.coefficient_of_level(level).into();
    Some((own.plus(&other, -1)?, step))
}

/// True if a difference that grows by `step` with each of at least `distance` iterations is never
/// zero.
fn is_apart<'f>(
    known: &mut Known<'f>,
    mut row: Row<'f>,
    step: i128,
    distance: i128,
    question: &Question<'_>,
) -> bool {
    for (unknown, _) in &row.terms {
        if let Unknown::Parameter(atom) = unknown {
            known.narrow(*unknown, range(&question.loop_context.facts, atom));
        }
    }
    let Some(on) = step.checked_mul(distance).and_then(|grown| row.constant.checked_add(grown)) else {
        return false;
    };
    row.constant = on;
    match (step.signum(), known.range_of(&row)) {
        (1, (Some(least), _)) => least > 0,
        (-1, (_, Some(greatest))) => greatest < 0,
        _ => false,
    }
}

/// Returns the least and the greatest value of a parameter, if bounded.
fn range(facts: &Facts, atom: &Atom) -> Range {
    let (least, greatest) = facts.range(atom, &HashMap::new()).unwrap_or((i128::MIN, i128::MAX));
    ((least != i128::MIN).then_some(least), (greatest != i128::MAX).then_some(greatest))
}
