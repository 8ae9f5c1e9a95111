//! Transformations of loops as edits of trees.
//!
//! Each function makes edits at a place of a [`Sketch`], and returns the places of the new loops.
//! If that is impossible, it says why, as in "this loop …". None of them asks if it is legal.

use super::site::{Place, Sketch};
use crate::affine::AffineForm;
use crate::tree::edit::counted;
use crate::tree::{Change, MAX_CONDITIONS, Node, Separation, Span};

/// The maximal number of copies of one body.
const MOST_COPIES: i64 = 4096;

/// The maximal number of statements that copies of one body may have.
const MOST_STATEMENTS: usize = 65_536;

/// The reason for an edit that is impossible for none of the usual reasons.
pub(super) const OVERFLOW: &str = "would have a bound that exceeds 64 bits";

/// The reason why loops are not coalesced.
const NOT_COALESCED: &str =
    "is not around a perfect nest of loops that carry no values and whose inner trip counts are constants";

/// The reason why a loop is not unrolled completely.
const NO_TRIP_COUNT: &str = "has a trip count that is no constant";

/// The reason why a loop has no first or last iterations to work with.
const NO_ENDS: &str = "has no first or last iteration that is a single affine form";

/// Makes one edit, or says why it is impossible.
pub(super) fn edit(
    sketch: &mut Sketch<'_>,
    place: &[usize],
    change: Change,
    otherwise: &str,
) -> Result<(), String> {
    match sketch.edit(place, change) {
        Some(()) => Ok(()),
        None => Err(obstacle(sketch, place).unwrap_or(otherwise).to_owned()),
    }
}

/// Returns the usual reason why a loop cannot be edited.
fn obstacle(sketch: &Sketch<'_>, place: &[usize]) -> Option<&'static str> {
    let Some(Node::Loop { header, .. }) = sketch.at(place) else { return Some("is gone") };
    let header = sketch.trees.header(header);
    if header.origins.iter().any(|own| sketch.program.loop_info(own.of).space.unsigned) {
        return Some("compares its counter as unsigned");
    }
    if counted(sketch.program, header).is_none() {
        return Some("has a trip count that is no affine form of values known before it");
    }
    let mut infos = header.origins.iter().map(|own| sketch.program.loop_info(own.of));
    let with_results = infos.find(|info| info.has_results())?;
    Some(match with_results.reduced > 0 {
        true => "combines values of its iterations",
        false => "hands values on to its next iteration",
    })
}

/// Returns the trip count, if it is constant.
pub(super) fn trip_count(sketch: &Sketch<'_>, place: &[usize]) -> Option<i64> {
    let Some(Node::Loop { header, .. }) = sketch.at(place) else { return None };
    counted(sketch.program, sketch.trees.header(header))?.span.trip_count()
}

/// Returns the number of copies for a factor: no more than there are iterations.
fn copies(sketch: &Sketch<'_>, place: &[usize], factor: i64) -> Result<Option<usize>, String> {
    let count = trip_count(sketch, place).map_or(factor, |count| count.min(factor));
    if count < 2 { Ok(None) } else { allowed(sketch, place, count).map(Some) }
}

/// Returns a number of copies of a loop's body, if as many are allowed.
fn allowed(sketch: &Sketch<'_>, place: &[usize], count: i64) -> Result<usize, String> {
    let own = usize::try_from(count).ok().filter(|_| count <= MOST_COPIES);
    let own = own.ok_or_else(|| format!("would have {count} copies; {MOST_COPIES} are allowed"))?;
    match sketch.statements(place).saturating_mul(own) {
        ..=MOST_STATEMENTS => Ok(own),
        all => Err(format!("would have {all} statements; {MOST_STATEMENTS} are allowed")),
    }
}

const NOT_UNROLLED: &str = "does not begin at its first iteration, or has no single end";

/// Unrolls a loop.
pub(super) fn unroll(sketch: &mut Sketch<'_>, place: &[usize], factor: i64) -> Result<Vec<Place>, String> {
    if let Some(count) = copies(sketch, place, factor)? {
        edit(sketch, place, Change::Unroll { count }, NOT_UNROLLED)?;
    }
    Ok(Vec::new())
}

/// Unrolls a loop, and runs the copies of its inner loops as one.
pub(super) fn jam(sketch: &mut Sketch<'_>, place: &[usize], factor: i64) -> Result<Vec<Place>, String> {
    if let Some(count) = copies(sketch, place, factor)? {
        let why = sketch.why_not_jammed(place).map(|why| format!("cannot be jammed: {why}"));
        let change = Change::UnrollAndJam { count };
        edit(sketch, place, change, why.as_deref().unwrap_or(NOT_UNROLLED))?;
    }
    Ok(Vec::new())
}

/// Moves the first iteration of a loop out of it, or the last ones that are no whole step.
pub(super) fn peel(sketch: &mut Sketch<'_>, place: &[usize], front: bool) -> Result<Vec<Place>, String> {
    if front {
        let loops = split(sketch, place, AffineForm::constant(1))?;
        return Ok(loops.into_iter().rev().collect());
    }
    let whole = obstacle_or(
        sketch,
        place,
        |sketch| {
            let Some(Node::Loop { header, .. }) = sketch.at(place) else { return None };
            let header = counted(sketch.program, sketch.trees.header(header))?;
            let Span::Range { scale, lower, upper } = header.span else { return None };
            let [end] = &upper[..] else { return None };
            let begins = lower[..] == [AffineForm::constant(0)];
            let divides = end.modulo(scale).is_some_and(|rest| rest == AffineForm::constant(0));
            let whole = end.floor_div(scale).filter(|_| begins)?;
            Some((!divides).then_some(whole))
        },
        NOT_UNROLLED,
    )?;
    match whole {
        Some(whole) => split(sketch, place, whole),
        None => Err("has no partial iteration: the step divides its range".to_owned()),
    }
}

fn obstacle_or<T>(
    sketch: &Sketch<'_>,
    place: &[usize],
    find: impl FnOnce(&Sketch<'_>) -> Option<T>,
    otherwise: &str,
) -> Result<T, String> {
    find(sketch).ok_or_else(|| obstacle(sketch, place).unwrap_or(otherwise).to_owned())
}

/// Moves first and last iterations of a loop out of it.
pub(super) fn peel_ends(
    sketch: &mut Sketch<'_>,
    place: &[usize],
    [first, last]: [i64; 2],
) -> Result<Vec<Place>, String> {
    let count = |own: i64| match own {
        0..=MOST_COPIES => Ok(own as usize),
        _ => Err(format!("would lose {own} iterations; {MOST_COPIES} are allowed")),
    };
    let (first, last) = (count(first)?, count(last)?);
    edit(sketch, place, Change::Peel { first, last }, NO_ENDS)?;
    match sketch.followed.last().map(|own| own.counts()) {
        Some((_, made)) if made == first + last + 1 => {
            let mut remaining = place.to_vec();
            remaining.last_mut().into_iter().for_each(|own| *own += first);
            Ok(vec![remaining])
        }
        _ => Err("has no iterations left; 'transform.loop.unroll' writes all of them".to_owned()),
    }
}

/// Flattens the perfect nest from the outside, as far as possible.
pub(super) fn coalesce(sketch: &mut Sketch<'_>, place: &[usize]) -> Result<Vec<Place>, String> {
    let before = sketch.depth(place);
    for depth in 0..before {
        while sketch.edit(&inside(place, depth), Change::Flatten).is_some() {}
    }
    match sketch.depth(place) == before {
        true => Err(NOT_COALESCED.to_owned()),
        false => Ok(vec![place.to_vec()]),
    }
}

/// Runs all dimensions of a parallel loop in order, one inside the other.
pub(super) fn nested_fors(sketch: &mut Sketch<'_>, place: &[usize]) -> Result<Vec<Place>, String> {
    let loops = in_order(sketch, place)?;
    if loops.is_empty() { Err("is no parallel loop".to_owned()) } else { Ok(loops) }
}

/// Runs all dimensions of a loop in order, if it is parallel. Returns the places of the dimensions.
pub(super) fn in_order(sketch: &mut Sketch<'_>, place: &[usize]) -> Result<Vec<Place>, String> {
    let mut loops = Vec::new();
    while is_dimension(sketch, &inside(place, loops.len()), loops.len()) {
        let dimension = inside(place, loops.len());
        edit(sketch, &dimension, Change::InOrder, OVERFLOW)?;
        loops.push(dimension);
    }
    Ok(loops)
}

/// Runs a loop from its last iteration to its first.
pub(super) fn reverse(sketch: &mut Sketch<'_>, place: &[usize]) -> Result<Vec<Place>, String> {
    edit(sketch, place, Change::Reverse, NO_ENDS)?;
    Ok(vec![place.to_vec()])
}

/// True if a loop is this dimension of a parallel loop.
fn is_dimension(sketch: &Sketch<'_>, place: &[usize], dimension: usize) -> bool {
    match sketch.at(place) {
        Some(Node::Loop { header, .. }) => {
            let lead = sketch.trees.header(header).origins.first();
            lead.is_some_and(|lead| sketch.program.loop_info(lead.of).dimension == Some(dimension))
        }
        _ => false,
    }
}

/// Peels the only iteration, so that it is written without a loop.
pub(super) fn promote(sketch: &mut Sketch<'_>, place: &[usize]) -> Result<Vec<Place>, String> {
    if trip_count(sketch, place) == Some(1) {
        unroll_whole(sketch, place)?;
    }
    Ok(Vec::new())
}

/// Peels all iterations, so that they are written without a loop.
pub(super) fn unroll_whole(sketch: &mut Sketch<'_>, place: &[usize]) -> Result<(), String> {
    let count = obstacle_or(sketch, place, |sketch| trip_count(sketch, place), NO_TRIP_COUNT)?;
    let first = allowed(sketch, place, count)?;
    edit(sketch, place, Change::Peel { first, last: 0 }, NO_ENDS)
}

/// Makes a loop over blocks of iterations around a loop over one block.
pub(super) fn strip_mine(sketch: &mut Sketch<'_>, place: &[usize], size: i64) -> Result<Vec<Place>, String> {
    if size < 1 {
        return Err(format!("would have blocks of {size} iterations"));
    }
    edit(sketch, place, Change::StripMine { size }, OVERFLOW)?;
    Ok(vec![place.to_vec(), inside(place, 1)])
}

/// Makes a loop of the iterations below a form, and one of the others.
pub(super) fn split(sketch: &mut Sketch<'_>, place: &[usize], at: AffineForm) -> Result<Vec<Place>, String> {
    edit(sketch, place, Change::SplitRange { at }, OVERFLOW)?;
    Ok(vec![place.to_vec(), next(place)])
}

/// Skews the only loop inside of a loop.
pub(super) fn skew(sketch: &mut Sketch<'_>, place: &[usize], by: i64) -> Result<Vec<Place>, String> {
    if sketch.depth(place) < 2 {
        return Err("has a body that is more than one loop".to_owned());
    }
    let inner = inside(place, 1);
    match sketch.edit(place, Change::Skew { by }) {
        Some(()) => Ok(vec![place.to_vec(), inner]),
        None => Err(obstacle(sketch, &inner).unwrap_or(OVERFLOW).to_owned()),
    }
}

/// Permutes the loops of a perfect nest.
pub(super) fn interchange(
    sketch: &mut Sketch<'_>,
    place: &[usize],
    order: &[usize],
) -> Result<Vec<Place>, String> {
    edit_nest(sketch, place, Change::Permute { order: order.into() }, order.len())?;
    Ok((0..order.len()).map(|depth| inside(place, depth)).collect())
}

fn not_a_nest(depth: usize) -> String {
    format!("is not the outermost of {depth} loops in each other with nothing between them")
}

/// Edits the outermost of `depth` loops of a perfect nest. If that is impossible, one of them, or
/// something between them, is the reason.
pub(super) fn edit_nest(
    sketch: &mut Sketch<'_>,
    place: &[usize],
    change: Change,
    depth: usize,
) -> Result<(), String> {
    if sketch.depth(place) < depth {
        return Err(not_a_nest(depth));
    }
    if sketch.edit(place, change).is_some() {
        return Ok(());
    }
    let found = (0..depth).find_map(|depth| obstacle(sketch, &inside(place, depth)));
    Err(found.unwrap_or("has bounds that depend on another loop in a way that is not affine").to_owned())
}

/// Runs the iterations of a loop in any order, or at the same time.
pub(super) fn in_any_order(sketch: &mut Sketch<'_>, place: &[usize]) -> Result<Vec<Place>, String> {
    if is_dimension(sketch, place, 0) {
        return Err("is parallel already".to_owned());
    }
    edit(sketch, place, Change::AnyOrder, OVERFLOW)?;
    Ok(vec![place.to_vec()])
}

/// Runs a perfect nest of two loops along Hilbert's curve, in squares that are halved `levels`
/// times.
pub(super) fn hilbert(sketch: &mut Sketch<'_>, place: &[usize], levels: i64) -> Result<Vec<Place>, String> {
    let is_parallel = |place: &[usize]| match sketch.at(place) {
        Some(Node::Loop { header, .. }) => sketch.trees.header(header).parallel,
        _ => false,
    };
    if is_parallel(place) || is_parallel(&inside(place, 1)) {
        return Err("is parallel, or the loop in it is, and would become sequential".to_owned());
    }
    edit_nest(sketch, place, Change::Hilbert { levels: u32::try_from(levels).unwrap_or(0) }, 2)?;
    Ok(vec![place.to_vec()])
}

/// Runs a perfect nest of `depth` loops in Morton order, with tiles that are halved `levels` times.
pub(super) fn morton(
    sketch: &mut Sketch<'_>,
    place: &[usize],
    (depth, levels): (i64, i64),
) -> Result<Vec<Place>, String> {
    let (depth, levels) = (usize::try_from(depth).unwrap_or(0), u32::try_from(levels).unwrap_or(0));
    edit_nest(sketch, place, Change::Morton { depth, levels }, depth)?;
    Ok(vec![place.to_vec()])
}

/// Decides conditions before a loop. Its copies have to be found anew.
pub(super) fn unswitch(
    sketch: &mut Sketch<'_>,
    place: &[usize],
    conditions: i64,
) -> Result<Vec<Place>, String> {
    let conditions = u32::try_from(conditions).unwrap_or(0);
    allowed(sketch, place, 1 << conditions.min(MAX_CONDITIONS))?;
    edit(
        sketch,
        place,
        Change::Unswitch { conditions },
        "has no condition that is the same in all its iterations",
    )?;
    Ok(Vec::new())
}

/// Strip-mines the loops of a perfect nest, and moves the loops over blocks outwards. Returns the
/// loops over tiles and those inside a tile. If full tiles are separate, these are the loops of the
/// full tiles.
pub(super) fn tile(
    sketch: &mut Sketch<'_>,
    place: &[usize],
    (sizes, separate): (&[i64], Separation),
) -> Result<Vec<Place>, String> {
    edit_nest(sketch, place, Change::Tile { sizes: sizes.into(), separate }, sizes.len())?;
    let tiles = sizes.iter().filter(|size| **size != 0).count();
    let is_full = |place: &Place| {
        let mut loops = sizes.iter().zip(0..).filter(|(size, _)| **size != 0);
        loops.all(|(_, depth)| trip_count(sketch, &inside(place, depth)).is_some())
    };
    let inner = match separate {
        Separation::Nowhere => inside(place, tiles),
        _ => tiles_made(sketch, place, tiles).into_iter().find(is_full).ok_or(NO_FULL_TILE)?,
    };
    Ok(loops_of_tile(&inner, tiles, sizes.len()))
}

/// Separates full tiles from partial ones, in a nest of `loops` loops, of which the `depth`
/// outermost are over tiles. Returns the loops of the full tiles.
pub(super) fn separate(
    sketch: &mut Sketch<'_>,
    place: &[usize],
    (depth, all): (usize, bool),
    loops: usize,
) -> Result<Vec<Place>, String> {
    let inner = loops.saturating_sub(depth);
    let constant = |sketch: &Sketch<'_>, place: &Place| {
        (0..inner).filter(|depth| trip_count(sketch, &inside(place, *depth)).is_some()).count()
    };
    if sketch.depth(place) < loops {
        return Err(not_a_nest(loops));
    }
    let before = constant(sketch, &inside(place, depth));
    edit_nest(sketch, place, Change::Separate { depth, all }, loops)?;
    let mut best: Option<(usize, Place)> = None;
    for place in tiles_made(sketch, place, depth) {
        let count = constant(sketch, &place);
        if count > best.as_ref().map_or(before, |(most, _)| *most) {
            best = Some((count, place));
        }
    }
    let (_, inner_place) = best.ok_or("has no partial tile that is known to be the last or the first")?;
    Ok(loops_of_tile(&inner_place, depth, inner))
}

/// Returns the `tiles` loops over tiles around a place, and the `count` loops inside.
fn loops_of_tile(inner: &[usize], tiles: usize, count: usize) -> Vec<Place> {
    let outer = (0..tiles).rev().map(|depth| inner[..inner.len() - depth - 1].to_vec());
    outer.chain((0..count).map(|depth| inside(inner, depth))).collect()
}

/// The reason why there are no loops of full tiles.
const NO_FULL_TILE: &str = "has no full tile";

/// Returns the places of the outermost loops inside tiles, each below `tiles` loops, after the edit
/// of the loop at a place.
fn tiles_made(sketch: &Sketch<'_>, place: &[usize], tiles: usize) -> Vec<Place> {
    let made = sketch.followed.last().map_or(1, |own| own.counts().1);
    let Some((first, parent)) = place.split_last() else { return Vec::new() };
    let mut places: Vec<Place> = (*first..first + made).map(|item| [parent, &[item]].concat()).collect();
    for _ in 0..tiles {
        let below = |item: Place| {
            let count = match sketch.at(&item) {
                Some(Node::Loop { body, .. }) => sketch.trees.items_in(body),
                _ => 0,
            };
            (0..count).map(move |number| [&item[..], &[number]].concat())
        };
        places = places.into_iter().flat_map(below).collect();
    }
    places
}

/// Moves a loop to number `to` of its sequence, and fuses the loops with the numbers `first` and
/// `first + 1` there. Returns the place of the fused loop.
pub(super) fn fuse(
    sketch: &mut Sketch<'_>,
    place: &[usize],
    to: usize,
    first: usize,
    shift: i64,
) -> Result<Place, String> {
    if last(place) != to {
        edit(sketch, place, Change::Move { to }, "has no such place beside it")?;
    }
    let mut pair = place.to_vec();
    pair.last_mut().into_iter().for_each(|own| *own = first);
    edit(
        sketch,
        &pair,
        Change::Fuse { shift },
        "has another step than the other one, or its first iteration varies",
    )?;
    fused(sketch)
}

/// Fuses the loop at a place with the one that is number `to` of their sequence then. They must
/// run the same iterations, in all dimensions.
pub(super) fn fuse_whole(sketch: &mut Sketch<'_>, place: &[usize], to: usize) -> Result<Vec<Place>, String> {
    let fused = fuse(sketch, place, to, to, 0)?;
    if !has_fused_whole(sketch) {
        let why = "runs other iterations than the second one; 'loomir.fuse' makes remainders";
        return Err(why.to_owned());
    }
    fuse_dimensions(sketch, &fused)?;
    Ok(vec![fused])
}

/// True if the loops that were fused last have no remainders.
fn has_fused_whole(sketch: &Sketch<'_>) -> bool {
    sketch.followed.last().is_some_and(|own| own.counts() == (2, 1))
}

/// Fuses the inner dimensions of two parallel loops whose outer dimensions are fused.
fn fuse_dimensions(sketch: &mut Sketch<'_>, fused: &[usize]) -> Result<(), String> {
    let mut pair = inside(fused, 1);
    for dimension in 1.. {
        let is_next = |place: &[usize]| is_dimension(sketch, place, dimension);
        if !is_next(&pair) || !is_next(&next(&pair)) {
            break;
        }
        edit(sketch, &pair, Change::Fuse { shift: 0 }, OVERFLOW)?;
        if !has_fused_whole(sketch) {
            return Err("has an inner dimension that runs other iterations".to_owned());
        }
        pair.push(0);
    }
    Ok(())
}

/// Returns the place of the loop that was fused last.
pub(super) fn fused(sketch: &Sketch<'_>) -> Result<Place, String> {
    sketch.followed.last().map(|own| own.fused()).ok_or_else(|| OVERFLOW.to_owned())
}

/// Returns the number of an item in its sequence.
pub(super) fn last(place: &[usize]) -> usize {
    place.last().copied().unwrap_or(0)
}

/// Returns the place of the next item.
pub(super) fn next(place: &[usize]) -> Place {
    let mut next = place.to_vec();
    next.last_mut().into_iter().for_each(|own| *own += 1);
    next
}

/// Returns the place of the loop at a depth of the perfect nest at a place.
pub(super) fn inside(place: &[usize], depth: usize) -> Place {
    place.iter().copied().chain(std::iter::repeat_n(0, depth)).collect()
}
