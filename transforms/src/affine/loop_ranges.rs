//! Ranges of forms inside loops, by the constraints of the loops.
//!
//! `n - i` is between 1 and `n` in a loop of `i` from 0 to `n`, which the ranges of `n` and `i` by
//! themselves do not say. Each variable of a loop is replaced by a bound of it, from the inside.
//!
//! **Assumptions.**
//! - In the body of a loop, its constraints hold. They count for values computed there alone.
//!   Tried with `fixtures/raising/rows.ll`.
//!
//! **Cost.** Linear in the constraints and in the depth of the value, for each form.

use loomir_ir::{Block, Value};

use super::range::{Range, both};
use super::{AffineForm, Atom, Forms};

/// The constraints of an entered loop.
#[derive(Clone, Debug)]
pub(super) struct Bounded {
    body: Block,
    /// Forms that are not negative in the body.
    constraints: Vec<AffineForm>,
}

impl Forms<'_> {
    /// Records the constraints of the loop at a level, with the variable that it fixes.
    pub fn bound(&mut self, level: u32, variable: Value, constraints: &[AffineForm]) {
        let Some(body) = self.body.value_block(variable) else { return };
        self.bounded.resize(level as usize, None);
        self.bounded.push(Some(Bounded { body, constraints: constraints.to_vec() }));
    }

    /// Returns the range of a value that has a form.
    pub(crate) fn range_of_located(&mut self, value: Value, form: &AffineForm) -> Range {
        let range = self.range_of(value);
        self.range_at(form, value, super::MAX_CHAIN).map_or(range, |own| both(range, own))
    }

    /// Returns a range of a form of a value, where the value is computed. `None` for a form with a
    /// level that has no bounds there.
    pub(super) fn range_at(&mut self, form: &AffineForm, value: Value, fuel: usize) -> Option<Range> {
        if form.all_atoms(&|atom| !matches!(atom, Atom::Level(_))) {
            return self.range_of_form(form, fuel);
        }
        let least = self.least(form, value)?;
        let most = self.least(&form.times(-1)?, value)?.times(-1)?;
        let (least, most) = (self.range_of_form(&least, fuel)?.0, self.range_of_form(&most, fuel)?.1);
        Some((least, most.max(least)))
    }

    /// Returns a form without levels that a form is never below where a value is computed.
    fn least(&self, form: &AffineForm, value: Value) -> Option<AffineForm> {
        let mut least = form.clone();
        for (level, bounded) in (0..self.bounded.len() as u32).zip(&self.bounded).rev() {
            let around = bounded.iter().filter(|own| self.is_within(value, own.body));
            least = least.least_without(level, around.flat_map(|own| &own.constraints))?;
        }
        least.all_atoms(&|atom| !matches!(atom, Atom::Level(_))).then_some(least)
    }

    /// True if a value is computed in a block, or inside an operation there.
    fn is_within(&self, value: Value, block: Block) -> bool {
        let outer =
            |inner: &Block| self.body.block_of(self.body.region_parent(self.body.block_region(*inner)));
        std::iter::successors(self.body.value_block(value), outer).any(|around| around == block)
    }
}

impl AffineForm {
    /// Returns a form without a level that this one is never below where none of `constraints` is
    /// negative. `None` if none of them bounds the level.
    pub(crate) fn least_without<'f>(
        self,
        level: u32,
        mut constraints: impl Iterator<Item = &'f AffineForm>,
    ) -> Option<AffineForm> {
        let own = self.coefficient_of_level(level);
        if own == 0 {
            return Some(self);
        }
        let (bound, times) = constraints.find_map(|bound| Some((bound, bound.bounds(level, own)?)))?;
        // The bound is not negative, so the form is at least itself without a multiple of it.
        self.plus(bound, times.checked_neg()?)
    }

    /// Returns the positive number of times that the form has to be subtracted from another one to
    /// remove `coefficient` times a level. `None` if it does not, or is about loops further inside.
    fn bounds(&self, level: u32, coefficient: i64) -> Option<i64> {
        let own = self.coefficient_of_level(level);
        let times = coefficient.checked_div(own).filter(|times| *times > 0)?;
        let is_outer = self.all_atoms(&|atom| !matches!(atom, Atom::Level(other) if *other > level));
        (is_outer && times.checked_mul(own) == Some(coefficient)).then_some(times)
    }
}
