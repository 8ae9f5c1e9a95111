//! Facts: conditions that hold on a path.
//!
//! A comparison of one value with constants says in which intervals the value is. The intervals of
//! all facts about a value together decide other comparisons of it.

use super::numbers::{Binary, NO_SIGNED_WRAP, NO_UNSIGNED_WRAP, mask, signed};
use super::terms::{Node, Store, TermId, Try, decided};

/// The most facts that are kept. Older ones are forgotten.
const MAX_FACTS: usize = 64;
/// The most sums that are looked through for the numbers that a value may be.
const MAX_STEPS: usize = 4;

/// A condition with its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fact {
    pub(super) condition: TermId,
    pub(super) holds: bool,
    /// True if the first program branches on it, so it is not poison. Any other fact holds unless
    /// its values are poison.
    pub(super) is_certain: bool,
}

/// The facts of a path.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) known: Vec<Fact>,
}

/// Numbers as ascending intervals of bits, both ends included.
type Intervals = Vec<(u64, u64)>;

impl Facts {
    /// Adds a condition.
    pub(super) fn add(&mut self, store: &Store, condition: TermId, holds: bool, is_certain: bool) {
        let (condition, holds) = plain(store, condition, holds);
        if decided(condition).is_some() {
            return;
        }
        if let Some(known) = self.known.iter_mut().find(|fact| fact.condition == condition) {
            known.is_certain |= is_certain;
            return;
        }
        if self.known.len() >= MAX_FACTS {
            self.known.remove(0);
        }
        self.known.push(Fact { condition, holds, is_certain });
    }

    /// Returns the value of a condition, as far as the facts decide it. On request, only by facts
    /// that are certain.
    pub(super) fn decide(&self, store: &mut Store, condition: TermId, certainly: bool) -> Try<Option<bool>> {
        let (condition, sign) = plain(store, condition, true);
        let holds = |value: bool| Ok(Some(value == sign));
        if let Some(value) = decided(condition) {
            return holds(value);
        }
        let usable = self.known.iter().filter(|fact| fact.is_certain || !certainly);
        let facts: Vec<Fact> = usable.copied().collect();
        if let Some(fact) = facts.iter().rev().find(|fact| fact.condition == condition) {
            return holds(fact.holds);
        }
        if let Some(value) = by_intervals(store, &facts, condition, certainly) {
            return holds(value);
        }
        let value = match *store.node(condition) {
            Node::Zero { width, operand } => is_zero(store, &facts, width, operand)?,
            Node::Less { unsigned, width, operands } => is_less(store, &facts, unsigned, width, operands)?,
            _ => None,
        };
        Ok(value.map(|value| value == sign))
    }
}

fn is_zero(store: &mut Store, facts: &[Fact], width: u32, operand: TermId) -> Try<Option<bool>> {
    for fact in facts.iter().filter(|fact| fact.holds) {
        match *store.node(fact.condition) {
            // Two differences that are apart by a constant are not both zero.
            Node::Zero { width: own, operand: other } if own == width => {
                let apart = [u64::MAX, 1].map(|factor| store.distance(width, operand, other, factor));
                if let Some(value) = apart.into_iter().flatten().next() {
                    return Ok(Some(value == 0));
                }
            }
            Node::Less { width: own, operands: [a, b], .. } if own == width => {
                let condition = store.equal(width, a, b)?;
                if matches!(*store.node(condition), Node::Zero { operand: other, .. } if other == operand) {
                    return Ok(Some(false));
                }
            }
            _ => {}
        }
    }
    Ok(None)
}

fn is_less(
    store: &mut Store,
    facts: &[Fact],
    unsigned: bool,
    width: u32,
    [a, b]: [TermId; 2],
) -> Try<Option<bool>> {
    let value_of =
        |condition: TermId| facts.iter().find(|fact| fact.condition == condition).map(|fact| fact.holds);
    let same = store.equal(width, a, b)?;
    if value_of(same) == Some(true) {
        return Ok(Some(false));
    }
    let reverse = store.less(unsigned, width, [b, a])?;
    Ok(match value_of(reverse) {
        Some(true) => Some(false),
        Some(false) if value_of(same) == Some(false) => Some(true),
        _ => None,
    })
}

/// Decides a comparison of a value with constants by all facts about the value.
///
/// On request, only if one of the facts shows that the value is not poison.
fn by_intervals(store: &Store, facts: &[Fact], condition: TermId, certainly: bool) -> Option<bool> {
    let (value, width, wanted) = solutions(store, condition)?;
    let is_about = |fact: &Fact| solutions(store, fact.condition).is_some_and(|own| own.0 == value);
    if certainly && !facts.iter().any(is_about) {
        return None;
    }
    let possible = possible(store, facts, value, width, if certainly { 0 } else { MAX_STEPS });
    if common(&possible, &wanted).is_empty() {
        return Some(false);
    }
    common(&possible, &others(width, &wanted)).is_empty().then_some(true)
}

/// Returns the numbers that a value may be, unless it is poison.
fn possible(store: &Store, facts: &[Fact], value: TermId, width: u32, steps: usize) -> Intervals {
    let mut possible: Intervals = vec![(0, mask(width))];
    for fact in facts {
        if let Some((own, wide, numbers)) = solutions(store, fact.condition) {
            if own == value && wide == width {
                let numbers = if fact.holds { numbers } else { others(width, &numbers) };
                possible = common(&possible, &numbers);
            }
        } else if let Node::Less { unsigned, width: wide, operands: [a, b] } = *store.node(fact.condition)
            && wide == width
            && fact.holds
        {
            // What is less than another number is not the greatest one, nor the other way round.
            let (least, most) = ends(unsigned, width);
            for (side, end) in [(a, most), (b, least)] {
                if let Some((_, factor, constant)) = line(store, width, side).filter(|own| own.0 == value) {
                    possible = common(&possible, &others(width, &moved(width, (end, end), factor, constant)));
                }
            }
        }
    }
    if let Node::Binary { code: Binary::Add, flags, operands: [a, b], .. } = *store.node(value)
        && steps > 0
        && let Some((inner, step)) =
            store.constant(a).map(|step| (b, step)).or(store.constant(b).map(|step| (a, step)))
    {
        let before = self::possible(store, facts, inner, width, steps - 1);
        for (flag, unsigned) in [(NO_UNSIGNED_WRAP, true), (NO_SIGNED_WRAP, false)] {
            if flags & flag != 0 {
                // Without a wrap the operand is far enough from the end.
                let (least, most) = ends(unsigned, width);
                let is_up = unsigned || signed(width, step) > 0;
                let fits = match is_up {
                    true => moved(width, (least, most.wrapping_sub(step)), 1, 0),
                    false => moved(width, (least.wrapping_sub(step), most), 1, 0),
                };
                let moves = |(low, high): &(u64, u64)| {
                    moved(width, (low.wrapping_add(step), high.wrapping_add(step)), 1, 0)
                };
                let mut after: Intervals = common(&before, &fits).iter().flat_map(moves).collect();
                after.sort_unstable();
                possible = common(&possible, &after);
            }
        }
    }
    possible
}

/// Returns the least and greatest number of a width.
fn ends(unsigned: bool, width: u32) -> (u64, u64) {
    if unsigned { (0, mask(width)) } else { (1 << (width - 1), mask(width) >> 1) }
}

/// Returns the value that a condition compares with constants, its width, and the numbers for which
/// the condition holds.
fn solutions(store: &Store, condition: TermId) -> Option<(TermId, u32, Intervals)> {
    match *store.node(condition) {
        Node::Zero { width, operand } => {
            let (value, factor, constant) = line(store, width, operand)?;
            let bits = if factor == 1 { constant.wrapping_neg() } else { constant } & mask(width);
            Some((value, width, vec![(bits, bits)]))
        }
        Node::Less { unsigned, width, operands: [a, b] } => {
            let (least, most) = ends(unsigned, width);
            match (store.constant(a), store.constant(b)) {
                // All numbers from the least one to the one before the bound.
                (_, Some(bound)) if bound != least => {
                    let (value, factor, constant) = line(store, width, a)?;
                    Some((value, width, moved(width, (least, bound.wrapping_sub(1)), factor, constant)))
                }
                (Some(bound), _) if bound != most => {
                    let (value, factor, constant) = line(store, width, b)?;
                    Some((value, width, moved(width, (bound.wrapping_add(1), most), factor, constant)))
                }
                (None, None) => {
                    let ((value, 1, x), (other, 1, y)) = (line(store, width, a)?, line(store, width, b)?)
                    else {
                        return None;
                    };
                    if value != other {
                        return None;
                    }
                    // `v < v + d` holds unless the sum wraps; a negative step has to wrap.
                    let step = y.wrapping_sub(x) & mask(width);
                    let last = most.wrapping_sub(step);
                    let is_up = unsigned || signed(width, step) > 0;
                    let own = match is_up {
                        true => (least, last),
                        false => (least, least.wrapping_sub(step).wrapping_sub(1)),
                    };
                    Some((value, width, moved(width, own, 1, x)))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns an integer as `factor · value + constant`, where the factor is 1 or -1.
fn line(store: &Store, width: u32, term: TermId) -> Option<(TermId, u64, u64)> {
    let (constant, products) = store.parts(term);
    match products[..] {
        [(value, factor)] if factor == 1 || factor == mask(width) => Some((value, factor, constant)),
        _ => None,
    }
}

/// Returns the values for which `factor · value + constant` is in a circular interval.
fn moved(width: u32, (low, high): (u64, u64), factor: u64, constant: u64) -> Intervals {
    let [low, high] = [low, high].map(|end| end.wrapping_sub(constant));
    let [low, high] = if factor == 1 { [low, high] } else { [high.wrapping_neg(), low.wrapping_neg()] };
    let [low, high] = [low, high].map(|end| end & mask(width));
    if low <= high { vec![(low, high)] } else { vec![(0, high), (low, mask(width))] }
}

/// Returns the numbers that are not in some intervals.
fn others(width: u32, intervals: &Intervals) -> Intervals {
    let mut out = Vec::new();
    let mut next = Some(0);
    for (low, high) in intervals {
        if let Some(start) = next.filter(|start| start < low) {
            out.push((start, low - 1));
        }
        next = high.checked_add(1).filter(|end| *end <= mask(width));
    }
    out.extend(next.map(|start| (start, mask(width))));
    out
}

/// Returns the numbers that are in both.
fn common(a: &Intervals, b: &Intervals) -> Intervals {
    let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x.0.max(y.0), x.1.min(y.1))));
    pairs.filter(|(low, high)| low <= high).collect()
}

/// Returns a condition that is no negation, and the value that it has.
pub(super) fn plain(store: &Store, condition: TermId, holds: bool) -> (TermId, bool) {
    match *store.node(condition) {
        Node::Not(inner) => (inner, !holds),
        _ => (condition, holds),
    }
}
