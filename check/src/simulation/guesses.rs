//! Guesses: conditions that may hold whenever a pair of places is reached.
//!
//! A value that changes by a number keeps to its steps, and what a loop's test says of its counter
//! bounds it. A guess becomes a fact of a state only if it holds at all visits, as any other fact.

use super::facts::{Fact, Facts};
use super::numbers::{Binary, signed};
use super::terms::{Node, Store, TermId, Try, decided};

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
    let mut guesses = Vec::new();
    for Wider { general, values: [old, new], start, width } in wider.iter().filter(|own| own.width > 1) {
        let (general, old, new, start, width) = (*general, *old, *new, *start, *width);
        let mut guess = |condition: TermId, holds: bool| {
            if decided(condition).is_none() && guesses.len() < MAX_GUESSES {
                guesses.push(Fact { condition, holds, is_certain: false, ahead: None, follows: false });
            }
        };
        let stride = store.stride(width, [old, new]);
        let is_down = stride.is_some_and(|stride| stride < 0);
        // The way that the value went, without the turns that it may have made.
        let way = |store: &mut Store, to: TermId| {
            let ends = if is_down { [start, to] } else { [to, start] };
            store.plus(width, ends[0], ends[1], u64::MAX)
        };
        if let Some(stride) = stride.filter(|stride| stride.unsigned_abs() > 1) {
            let apart = way(store, general)?;
            let step = store.int(width, stride.unsigned_abs())?;
            let rest = store.binary(Binary::RemU, 0, width, [apart, step])?;
            let zero = store.int(width, 0)?;
            guess(store.equal(width, rest, zero)?, true);
        }
        // Of what says the same, the first guess is kept.
        for fact in facts.known.iter().rev() {
            if let Node::Zero { width: own, operand } = *store.node(fact.condition)
                && own == width
            {
                if let Some(stride) = stride.filter(|stride| !fact.holds && stride.unsigned_abs() > 1)
                    && let Some((_, factor)) = store.parts(operand).1.into_iter().find(|own| own.0 == old)
                    && matches!(signed(width, factor), 1 | -1)
                {
                    // A value that is compared with its end goes there by whole steps.
                    let change = store.plus(width, general, old, u64::MAX)?;
                    let apart = store.plus(width, operand, change, factor)?;
                    let zero = store.int(width, 0)?;
                    let apart = match is_down == (signed(width, factor) == 1) {
                        true => apart,
                        false => store.plus(width, zero, apart, u64::MAX)?,
                    };
                    let step = store.int(width, stride.unsigned_abs())?;
                    let rest = store.binary(Binary::RemU, 0, width, [apart, step])?;
                    guess(store.equal(width, rest, zero)?, true);
                }
                for factor in [1, u64::MAX] {
                    // The value is equal to this one, or it is not.
                    let other = store.plus(width, new, operand, factor)?;
                    if fact.holds {
                        guess(store.equal(width, general, other)?, true);
                        continue;
                    }
                    for (unsigned, operands) in [true, false]
                        .into_iter()
                        .flat_map(|own| [(own, [general, other]), (own, [other, general])])
                    {
                        guess(store.less(unsigned, width, operands)?, true);
                    }
                    guess(store.equal(width, general, other)?, false);
                    let ways = [way(store, general)?, way(store, other)?];
                    guess(store.less(true, width, ways)?, true);
                }
            }
        }
        for fact in facts.known.iter().rev().filter(|fact| !fact.follows) {
            if let Node::Less { unsigned, width: own, operands: [a, b] } = *store.node(fact.condition)
                && own == width
            {
                let change = store.plus(width, general, new, u64::MAX)?;
                let [x, y] = [store.plus(width, a, change, 1)?, store.plus(width, b, change, 1)?];
                guess(store.less(unsigned, width, [x, b])?, fact.holds);
                guess(store.less(unsigned, width, [a, y])?, fact.holds);
            }
        }
    }
    Ok(guesses)
}
