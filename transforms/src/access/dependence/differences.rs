//! Dependences by the difference of both places in one iteration: what fusion by scalar evolution
//! asks.
//!
//! Asked is whether the first access, in an iteration of a loop, and the second in an earlier one
//! can touch one element. In one and the same iteration their subscripts differ by something; with
//! each iteration between them that grows by the step of either subscript. So if the step is
//! positive and the difference, one step on, is at least one, they never are equal; and if the step
//! is negative, the other way round. A subscript that stays where it is says nothing: a place that
//! both touch in every iteration they touch in the wrong order.
//!
//! The difference is bounded by what is known of parameters, and by bounds of levels that are
//! numbers. Nothing is said of divisibility, of distances beyond a loop's end, or where another
//! order is asked about. So it says less than the exact answer, and never more.

use hashbrown::HashMap;

use super::directions::{Known, Range, Row, Unknown};
use super::{Order, Question, Relation};
use crate::affine::facts::Facts;
use crate::affine::system::Side;
use crate::affine::{AffineForm, Atom};

/// True if there are certainly no two instances as asked.
pub(super) fn never(question: &Question<'_>) -> bool {
    let Some((level, distance)) = question.order.iter().find_map(apart) else { return false };
    // What is shared is one iteration.
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

/// The level in which the first instance is later, and by how much at least.
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

/// How two subscripts differ in the iteration of a loop that one of the instances is in, and the
/// step of the other's.
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

/// The least and the greatest number that a parameter may be, where there are such numbers.
fn range(facts: &Facts, atom: &Atom) -> Range {
    let (least, greatest) = facts.range(atom, &HashMap::new()).unwrap_or((i128::MIN, i128::MAX));
    ((least != i128::MIN).then_some(least), (greatest != i128::MAX).then_some(greatest))
}
