//! Operations that only move elements.
//!
//! Each element of a result is one of the operands' elements, or poison. The interpreter, the
//! lowering and folds read that from one function.

use loomir_ir::{Context, DYNAMIC, OpRef, Type};

use super::shape::{VectorShape, strides};
use super::verify::slice;

/// The maximal number of elements of a vector that is taken apart.
const MAX_ELEMENTS: i64 = 1 << 20;

/// Returns the sizes of a vector of fixed length. A scalar has none. `None` for other vectors and
/// large ones.
pub fn fixed_sizes(ctx: &Context, ty: Type) -> Option<Vec<usize>> {
    let shape = VectorShape::of_part(ctx, ty);
    let is_small = shape.count().is_some_and(|count| count <= MAX_ELEMENTS);
    let sizes = shape.sizes.iter().map(|size| usize::try_from(*size).ok());
    sizes.collect::<Option<_>>().filter(|_| is_small && !shape.is_scalable())
}

/// Calls `f` with each place of an index space, in row-major order.
pub fn for_each_place(sizes: &[usize], mut f: impl FnMut(&[usize])) {
    let mut place = vec![0; sizes.len()];
    if sizes.contains(&0) {
        return;
    }
    loop {
        f(&place);
        let Some(d) = (0..sizes.len()).rev().find(|d| place[*d] + 1 < sizes[*d]) else { return };
        place[d] += 1;
        place[d + 1..].fill(0);
    }
}

/// Returns for each element of a result the number of the element that it is. The elements of all
/// operands are counted, in order. An element without a number is poison. `None` if the operation
/// does anything else, or values decide.
pub fn picks(op: OpRef<'_>, result: usize) -> Option<Vec<Option<usize>>> {
    let ctx = op.ctx();
    let sizes = |value| fixed_sizes(ctx, op.type_of(value));
    let to = sizes(op.results().nth(result)?)?;
    let from = match op.operands().next() {
        Some(first) => sizes(first)?,
        None => Vec::new(),
    };
    let (count, wanted): (usize, usize) = (from.iter().product(), to.iter().product());
    let all = match op.name() {
        "vector.broadcast" => broadcast(&from, &to)?,
        "vector.extract" => {
            let (start, len) = part(&from, &numbers(op, "static_position"))?;
            (0..len).map(|i| Some(start? + i)).collect()
        }
        "vector.insert" => {
            let whole = sizes(op.operand(1))?;
            let (start, len) = part(&whole, &numbers(op, "static_position"))?;
            let mut all: Vec<Option<usize>> = (count..).take(whole.iter().product()).map(Some).collect();
            match start {
                None => all.fill(None),
                Some(start) => {
                    for (own, number) in all.get_mut(start..start + len)?.iter_mut().zip(0..) {
                        *own = Some(number);
                    }
                }
            }
            all
        }
        "vector.shuffle" => {
            let part: usize = from.iter().skip(1).product();
            let row = |at: &i64| {
                let start = usize::try_from(*at).ok().map(|at| at * part);
                (0..part).map(move |i| start.map(|start| start + i))
            };
            numbers(op, "mask").iter().flat_map(row).collect()
        }
        "vector.interleave" => (0..2 * count).map(|i| Some(i / 2 + (i % 2) * count)).collect(),
        "vector.deinterleave" => (result..count).step_by(2).map(Some).collect(),
        "vector.shape_cast" | "vector.from_elements" => (0..wanted).map(Some).collect(),
        "vector.to_elements" => vec![Some(result)],
        "vector.transpose" => transpose(&from, &to, &numbers(op, "permutation"))?,
        "vector.extract_strided_slice" => extract_slice(&from, &to, &slice::numbers(op, "offsets"))?,
        "vector.insert_strided_slice" => {
            insert_slice(&from, &sizes(op.operand(1))?, &slice::numbers(op, "offsets"))?
        }
        _ => return None,
    };
    let total: usize =
        op.operands().map(|value| Some(sizes(value)?.iter().product::<usize>())).sum::<Option<_>>()?;
    let is_sound = all.len() == wanted && all.iter().flatten().all(|own| *own < total);
    is_sound.then_some(all)
}

fn numbers(op: OpRef<'_>, name: &str) -> Vec<i64> {
    op.attr(name).and_then(|attr| attr.as_dense_ints(op.ctx())).unwrap_or_default()
}

fn broadcast(from: &[usize], to: &[usize]) -> Option<Vec<Option<usize>>> {
    let lead = to.len().checked_sub(from.len())?;
    let own = strides(from);
    let mut all = Vec::new();
    for_each_place(to, |place| {
        let step = |d: usize| if from[d] == 1 { 0 } else { place[lead + d] * own[d] };
        all.push(Some((0..from.len()).map(step).sum()));
    });
    Some(all)
}

/// Returns the number of the first element at a constant position, and the number of elements
/// there. There is no first one if the position is outside.
fn part(sizes: &[usize], position: &[i64]) -> Option<(Option<usize>, usize)> {
    if position.contains(&DYNAMIC) || position.len() > sizes.len() {
        return None;
    }
    let len = sizes[position.len()..].iter().product();
    let mut start = 0;
    for ((at, size), step) in position.iter().zip(sizes).zip(strides(sizes)) {
        match usize::try_from(*at).ok().filter(|at| at < size) {
            Some(at) => start += at * step,
            None => return Some((None, len)),
        }
    }
    Some((Some(start), len))
}

fn transpose(from: &[usize], to: &[usize], permutation: &[i64]) -> Option<Vec<Option<usize>>> {
    let own = strides(from);
    let step = |d: &i64| usize::try_from(*d).ok().and_then(|d| own.get(d).copied());
    let steps: Vec<usize> = permutation.iter().map(step).collect::<Option<_>>()?;
    if steps.len() != to.len() {
        return None;
    }
    let mut all = Vec::new();
    for_each_place(to, |place| all.push(Some(place.iter().zip(&steps).map(|(at, step)| at * step).sum())));
    Some(all)
}

/// Returns offsets, one for each dimension of a vector.
fn all_offsets(offsets: &[i64], rank: usize) -> Option<Vec<usize>> {
    let mut all: Vec<usize> = offsets.iter().map(|own| usize::try_from(*own).ok()).collect::<Option<_>>()?;
    if all.len() > rank {
        return None;
    }
    all.resize(rank, 0);
    Some(all)
}

fn extract_slice(from: &[usize], to: &[usize], offsets: &[i64]) -> Option<Vec<Option<usize>>> {
    let (own, offsets) = (strides(from), all_offsets(offsets, from.len())?);
    if to.len() != from.len() {
        return None;
    }
    let mut all = Vec::new();
    for_each_place(to, |place| {
        let step = |(d, at): (usize, &usize)| (offsets[d] + at) * own[d];
        all.push(Some(place.iter().enumerate().map(step).sum()));
    });
    Some(all)
}

fn insert_slice(part: &[usize], whole: &[usize], offsets: &[i64]) -> Option<Vec<Option<usize>>> {
    let lead = whole.len().checked_sub(part.len())?;
    let (own, offsets) = (strides(whole), all_offsets(offsets, whole.len())?);
    // The elements of the part come first.
    let count: usize = part.iter().product();
    let mut all: Vec<Option<usize>> = (count..).take(whole.iter().product()).map(Some).collect();
    let base: usize = (0..lead).map(|d| offsets[d] * own[d]).sum();
    let mut next = 0;
    for_each_place(part, |place| {
        let step = |(d, at): (usize, &usize)| (offsets[lead + d] + at) * own[lead + d];
        let at = base + place.iter().enumerate().map(step).sum::<usize>();
        if let Some(own) = all.get_mut(at) {
            *own = Some(next);
        }
        next += 1;
    });
    Some(all)
}
