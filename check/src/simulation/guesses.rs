//! Guesses: conditions that may hold whenever a pair of places is reached.
//!
//! A value that changes by a number keeps to its steps, and what a loop's test says of its counter
//! bounds it. A guess becomes a fact of a state only if it holds at all visits, as any other fact.

use super::facts::{self, Fact, Facts};
use super::numbers::{Binary, signed};
use super::terms::{Inside, Node, Store, TermId, Try, decided};

/// The most conditions that are tried when a state becomes more general.
const MAX_GUESSES: usize = 200;

/// A value that became more general, with what it was before and at the visit.
pub(super) struct Wider {
    pub(super) general: TermId,
    pub(super) values: [TermId; 2],
    /// The value at the first visit.
    pub(super) start: TermId,
    pub(super) width: u32,
}

/// Returns conditions that may hold at each visit: steps that values keep to, and bounds that the
/// facts of the visit tell of them.
pub(super) fn about(store: &mut Store, wider: &[Wider], facts: &Facts) -> Try<Vec<Fact>> {
    let known = plain_facts(store, facts)?;
    let mut all = Guesses { found: Vec::new() };
    for value in wider.iter().filter(|own| own.width > 1) {
        all.of_steps(store, value)?;
        // Of what says the same, the first guess is kept.
        for fact in known.iter().rev() {
            if let Node::Zero { width, operand } = *store.node(fact.condition)
                && width == value.width
            {
                all.of_equal(store, value, operand, fact.holds)?;
            }
        }
        for fact in known.iter().rev().filter(|fact| !fact.follows) {
            if let Node::Less { unsigned, width, operands } = *store.node(fact.condition)
                && width == value.width
            {
                all.of_less(store, value, (unsigned, operands), fact.holds)?;
            }
        }
    }
    Ok(all.found)
}

/// Returns the facts that are certain, with sums without their promises.
fn plain_facts(store: &mut Store, facts: &Facts) -> Try<Vec<Fact>> {
    let mut plain = facts.plain_sums(store)?;
    let mut known = Vec::new();
    for fact in facts.known.iter().filter(|fact| fact.is_certain) {
        let condition = store.replaced(fact.condition, &mut plain, Inside::Numbers)?;
        let (condition, holds) = facts::plain(store, condition, fact.holds);
        known.push(Fact { condition, holds, ..*fact });
    }
    Ok(known)
}

impl Wider {
    /// Returns the number by which the value changes, if it is known.
    fn stride(&self, store: &Store) -> Option<i64> {
        store.stride(self.width, self.values)
    }

    /// True if the value is known to become less.
    fn is_down(&self, store: &Store) -> bool {
        self.stride(store).is_some_and(|stride| stride < 0)
    }

    /// Returns the way that the value went up to a place, without the turns that it may have made.
    fn way(&self, store: &mut Store, to: TermId) -> Try<TermId> {
        let ends = if self.is_down(store) { [self.start, to] } else { [to, self.start] };
        store.plus(self.width, ends[0], ends[1], u64::MAX)
    }
}

struct Guesses {
    found: Vec<Fact>,
}

impl Guesses {
    fn add(&mut self, condition: TermId, holds: bool) {
        if decided(condition).is_none() && self.found.len() < MAX_GUESSES {
            self.found.push(guess(condition, holds));
        }
    }

    /// Adds that a way is made by whole steps of a value, if these are not single ones.
    fn add_whole_steps(&mut self, store: &mut Store, value: &Wider, way: TermId) -> Try<()> {
        if let Some(stride) = value.stride(store).filter(|stride| stride.unsigned_abs() > 1) {
            let step = store.int(value.width, stride.unsigned_abs())?;
            let rest = store.binary(Binary::RemU, 0, value.width, [way, step])?;
            let zero = store.int(value.width, 0)?;
            self.add(store.equal(value.width, rest, zero)?, true);
        }
        Ok(())
    }

    fn of_steps(&mut self, store: &mut Store, value: &Wider) -> Try<()> {
        let way = value.way(store, value.general)?;
        self.add_whole_steps(store, value, way)
    }

    /// Adds what follows from a fact about an operand, which is zero or is not.
    fn of_equal(&mut self, store: &mut Store, value: &Wider, operand: TermId, is_zero: bool) -> Try<()> {
        let Wider { general, values: [old, new], width, .. } = *value;
        if let Some((_, factor)) = store.parts(operand).1.into_iter().find(|own| own.0 == old)
            && let factor @ (1 | -1) = signed(width, factor)
            && !is_zero
        {
            // A value that is compared with its end goes there by whole steps.
            let change = store.plus(width, general, new, u64::MAX)?;
            let mut way = store.plus(width, operand, change, factor as u64)?;
            if value.is_down(store) != (factor == 1) {
                let zero = store.int(width, 0)?;
                way = store.plus(width, zero, way, u64::MAX)?;
            }
            self.add_whole_steps(store, value, way)?;
        }
        for factor in [1, u64::MAX] {
            // The value is equal to this one, or it is not.
            let other = store.plus(width, new, operand, factor)?;
            if is_zero {
                self.add(store.equal(width, general, other)?, true);
                continue;
            }
            for (unsigned, operands) in
                [true, false].into_iter().flat_map(|own| [(own, [general, other]), (own, [other, general])])
            {
                self.add(store.less(unsigned, width, operands)?, true);
            }
            self.add(store.equal(width, general, other)?, false);
            let ways = [value.way(store, general)?, value.way(store, other)?];
            self.add(store.less(true, width, ways)?, true);
        }
        Ok(())
    }

    /// Adds what follows from a fact about two operands, the first of which is less or is not.
    fn of_less(
        &mut self,
        store: &mut Store,
        value: &Wider,
        (unsigned, operands): (bool, [TermId; 2]),
        is_less: bool,
    ) -> Try<()> {
        let width = value.width;
        let change = store.plus(width, value.general, value.values[1], u64::MAX)?;
        for place in [0, 1] {
            let mut own = operands;
            own[place] = store.plus(width, own[place], change, 1)?;
            self.add(store.less(unsigned, width, own)?, is_less);
            // A value that goes on below its end goes there by whole steps.
            let [low, high] = if is_less { own } else { [own[1], own[0]] };
            let last = store.int(width, u64::from(!is_less))?;
            let way = store.plus(width, high, low, u64::MAX)?;
            let way = store.plus(width, way, last, 1)?;
            self.add_whole_steps(store, value, way)?;
        }
        Ok(())
    }
}

/// Returns a fact that holds unless its condition is poison.
pub(super) fn guess(condition: TermId, holds: bool) -> Fact {
    Fact { condition, holds, is_certain: false, ahead: None, follows: false }
}

/// Returns conditions that may hold at each visit, for a value that was `old` before: what facts
/// say that it was equal to.
pub(super) fn equal_to(
    store: &mut Store,
    (general, old, width): (TermId, TermId, u32),
    facts: &[Fact],
) -> Try<Vec<Fact>> {
    let mut guesses = Vec::new();
    for fact in facts.iter().filter(|fact| fact.holds && fact.is_certain) {
        let Node::Zero { width: own, operand } = *store.node(fact.condition) else { continue };
        for factor in [1, u64::MAX] {
            let other = store.plus(width, old, operand, factor)?;
            if own == width && is_gone(store, old, other) {
                guesses.push(guess(store.equal(width, general, other)?, true));
            }
        }
    }
    Ok(guesses)
}

/// True if a sum has no more of a value: something that the value is made of is not in it, or the
/// constant that the value is.
fn is_gone(store: &Store, value: TermId, sum: TermId) -> bool {
    let ((_, own), (constant, products)) = (store.parts(value), store.parts(sum));
    let is_there = |atom: TermId| products.iter().any(|(other, _)| *other == atom);
    if own.is_empty() { constant == 0 } else { own.iter().any(|(atom, _)| !is_there(*atom)) }
}
