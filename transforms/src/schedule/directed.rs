//! Directives as edits of trees.
//!
//! A directive becomes the edits that steps of a schedule make. It leaves a nest of loops, or a
//! sequence. The next directive transforms the only loop of the sequence, or the outermost loop of
//! the nest. None of this asks if it is legal: the judge sees all directives of a loop together.

use super::edits::{
    OVERFLOW, edit, edit_nest, fuse, inside, interchange, last, reverse, split, tile, trip_count, unroll,
    unroll_whole,
};
use super::site::{Place, Sketch, follow};
use crate::affine::AffineForm;
use crate::directive::{Apply, Directive, Factor, Part, Transformation};
use crate::tree::edit::counted;
use crate::tree::{Change, Node, Separation, Span};

/// The trip count up to which `unroll` leaves no loop.
const FEW: i64 = 8;

/// The number of iterations that an unrolled loop runs at once, if the directive does not say it.
const FACTOR: i64 = 4;

/// The places of the loops that a directive makes.
pub(super) enum Made {
    /// A perfect nest, the outermost loop first, in two groups. The second may be empty.
    Nest(Vec<Place>, Vec<Place>),
    /// Loops in one body, the first one first.
    Sequence(Vec<Place>),
}

impl Made {
    /// Returns the loops of a sequence. Of a nest it is the outermost loop.
    pub(super) fn into_sequence(self) -> Vec<Place> {
        match self {
            Made::Nest(first, _) => first.into_iter().take(1).collect(),
            Made::Sequence(all) => all,
        }
    }

    /// Returns the places of a part of the loops.
    fn part(&self, part: Part) -> &[Place] {
        match (self, part) {
            (Made::Sequence(all) | Made::Nest(all, _), Part::First) => all,
            (Made::Nest(_, all), Part::Second) => all,
            (Made::Sequence(_), Part::Second) => &[],
        }
    }
}

/// The side of items between fused loops on which the fused loop runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Items between two loops run behind the fused loop.
    Before,
    /// They run before the fused loop.
    Behind,
}

/// Makes the edits of directives, from the last one to the first one. They transform loops in one
/// body. Returns the places of the loops that the first directive makes.
///
/// # Errors
///
/// The reason why an edit is impossible, as in "this loop …".
pub(super) fn transform(
    sketch: &mut Sketch<'_>,
    loops: Vec<Place>,
    directives: &[Directive],
    side: Side,
) -> Result<Made, String> {
    let mut made = Made::Sequence(loops);
    for directive in directives.iter().rev() {
        let loops = made.into_sequence();
        let changed = match (&directive.change, &loops[..]) {
            (Transformation::Fuse(range), _) => fuse_sequence(sketch, loops, *range, side)?,
            (change, [place]) => one(sketch, place, change)?,
            (_, []) => return Err(format!("is no single loop any more before '{}'", directive.text)),
            (_, all) => return Err(format!("becomes {} loops; '{}' needs one", all.len(), directive.text)),
        };
        made = apply(sketch, changed, &directive.apply, side)?;
    }
    Ok(made)
}

/// Makes the edits of one directive for one loop.
fn one(sketch: &mut Sketch<'_>, place: &[usize], change: &Transformation) -> Result<Made, String> {
    let nest = |loops: Vec<Place>| Made::Nest(loops, Vec::new());
    Ok(match change {
        Transformation::Nothing | Transformation::Fuse(_) => nest(vec![place.to_vec()]),
        Transformation::Tile(sizes) => {
            let mut grid = tile(sketch, place, (sizes, Separation::Nowhere))?;
            let points = grid.split_off(sizes.len());
            Made::Nest(grid, points)
        }
        Transformation::Stripe(sizes) => stripe(sketch, place, sizes)?,
        Transformation::Unroll(factor) => unroll_by(sketch, place, *factor)?,
        Transformation::Reverse => nest(reverse(sketch, place)?),
        Transformation::Interchange(order) => nest(interchange(sketch, place, order)?),
        Transformation::Split(counts) => Made::Sequence(split_by(sketch, place, counts)?),
        Transformation::Flatten(depth) => {
            for _ in 1..*depth {
                edit(sketch, place, Change::Flatten, NOT_FLATTENED)?;
            }
            nest(vec![place.to_vec()])
        }
    })
}

/// The reason why a nest is not flattened.
const NOT_FLATTENED: &str =
    "is not around a perfect nest of as many loops whose inner trip counts are constants";

/// Unrolls a loop.
fn unroll_by(sketch: &mut Sketch<'_>, place: &[usize], factor: Factor) -> Result<Made, String> {
    let partial = match (factor, trip_count(sketch, place)) {
        (Factor::Full, _) | (Factor::Any, Some(..=FEW)) => None,
        (Factor::Any | Factor::Partial(None), _) => Some(FACTOR),
        (Factor::Partial(Some(number)), _) => Some(number),
    };
    match partial {
        Some(number) => {
            unroll(sketch, place, number)?;
            Ok(Made::Nest(vec![place.to_vec()], Vec::new()))
        }
        None => {
            unroll_whole(sketch, place)?;
            Ok(Made::Sequence(Vec::new()))
        }
    }
}

/// Strip-mines the loops of a perfect nest, and moves the loops over offsets outwards.
fn stripe(sketch: &mut Sketch<'_>, place: &[usize], sizes: &[i64]) -> Result<Made, String> {
    let depth = sizes.len();
    // Asked first, so that the reason is about the nest as it was.
    if sketch.depth(place) < depth {
        return edit_nest(
            sketch,
            place,
            Change::Tile { sizes: sizes.into(), separate: Separation::Nowhere },
            depth,
        )
        .map(|()| Made::Sequence(Vec::new()));
    }
    for (number, size) in sizes.iter().enumerate().rev() {
        edit(sketch, &inside(place, number), Change::StripMine { size: *size }, OVERFLOW)?;
    }
    let order: Vec<usize> = (0..depth).map(|own| 2 * own + 1).chain((0..depth).map(|own| 2 * own)).collect();
    let mut offsets = interchange(sketch, place, &order)?;
    let grid = offsets.split_off(depth);
    Ok(Made::Nest(offsets, grid))
}

/// Splits the range of a loop. The counts before `None` are of first iterations, those behind it of
/// last ones.
fn split_by(sketch: &mut Sketch<'_>, place: &[usize], counts: &[Option<i64>]) -> Result<Vec<Place>, String> {
    let sum =
        |counts: &[Option<i64>]| counts.iter().flatten().try_fold(0_i64, |sum, own| sum.checked_add(*own));
    let is_last = counts.last().is_some_and(Option::is_none);
    let end = if is_last { None } else { Some(trip_count_form(sketch, place)?) };
    let mut loops = vec![place.to_vec()];
    for number in 1..counts.len() {
        let (before, behind) = counts.split_at(number);
        let at = match before.iter().all(Option::is_some) {
            true => sum(before).map(AffineForm::constant),
            false => {
                let behind = sum(behind).map(AffineForm::constant);
                end.as_ref().zip(behind).and_then(|(end, behind)| end.minus(&behind))
            }
        };
        let rest = loops.pop().unwrap_or_default();
        loops.extend(split(sketch, &rest, at.ok_or_else(|| OVERFLOW.to_owned())?)?);
    }
    Ok(loops)
}

/// Returns the trip count as a form over the loops around.
fn trip_count_form(sketch: &Sketch<'_>, place: &[usize]) -> Result<AffineForm, String> {
    let count = || {
        let Some(Node::Loop { header, .. }) = sketch.at(place) else { return None };
        let Span::Range { scale, lower, upper } = counted(sketch.program, sketch.trees.header(header))?.span
        else {
            return None;
        };
        let ([begin], [end]) = (&lower[..], &upper[..]) else { return None };
        (*begin == AffineForm::constant(0)).then(|| end.ceil_div(scale)).flatten()
    };
    count().ok_or_else(|| "has a trip count that is no affine form of values known before it".to_owned())
}

/// Fuses loops of a sequence, each with the loop before it.
fn fuse_sequence(
    sketch: &mut Sketch<'_>,
    mut loops: Vec<Place>,
    range: Option<[usize; 2]>,
    side: Side,
) -> Result<Made, String> {
    let [first, count] = range.unwrap_or([0, loops.len()]);
    let end = first.checked_add(count).filter(|end| *end <= loops.len());
    let Some(end) = end.filter(|_| count > 0) else {
        return Err(format!("is in a sequence of {} loops; 'looprange' names others", loops.len()));
    };
    for _ in first + 1..end {
        let [one, other] = [&loops[first], &loops[first + 1]];
        let (from, to) = (last(one), last(other));
        let made = sketch.followed.len();
        let fused = match side {
            Side::Before => fuse(sketch, &other.clone(), from + 1, from, 0)?,
            Side::Behind => fuse(sketch, &one.clone(), to.saturating_sub(1), to.saturating_sub(1), 0)?,
        };
        let followed = &sketch.followed[made..];
        let mut all = Vec::with_capacity(loops.len());
        for (number, place) in loops.iter().enumerate() {
            match number {
                _ if number == first => all.push(fused.clone()),
                _ if number == first + 1 => {}
                _ => all.push(follow(followed, place).ok_or_else(|| "has several copies".to_owned())?),
            }
        }
        loops = all;
    }
    Ok(Made::Sequence(loops))
}

/// Obeys the directives for the loops that a directive made. Inner loops come first, and later ones
/// before earlier ones, so that places stay.
fn apply(sketch: &mut Sketch<'_>, made: Made, clauses: &[Apply], side: Side) -> Result<Made, String> {
    let mut tasks: Vec<(&Place, &Directive)> = Vec::new();
    for Apply { part, numbers, directives } in clauses {
        let loops = made.part(*part);
        let all: Vec<usize> = numbers.clone().unwrap_or_else(|| (0..directives.len()).collect());
        for (number, directive) in all.iter().zip(directives) {
            let place = loops
                .get(*number)
                .ok_or_else(|| format!("has no part {} for '{}'", number + 1, directive.text))?;
            tasks.push((place, directive));
        }
    }
    tasks.sort_by(|(a, _), (b, _)| b.cmp(a));
    let outermost = made.part(Part::First).first().cloned();
    let mut is_replaced = false;
    for (place, directive) in tasks {
        let loops = transform(sketch, vec![place.clone()], std::slice::from_ref(directive), side)?;
        is_replaced |= Some(place) == outermost.as_ref() && loops.into_sequence() != [place.clone()];
    }
    let is_sequence = matches!(made, Made::Sequence(_));
    match is_replaced || (is_sequence && !clauses.is_empty()) {
        // Other directives find no single loop here.
        true => Ok(Made::Sequence(Vec::new())),
        false => Ok(made),
    }
}
