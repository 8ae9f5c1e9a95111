//! Forms under the assumption that numbers from before the nests are small.
//!
//! Sums and products of words may wrap, and so may addresses. Most programs compute with numbers
//! for which nothing wraps. [`Forms::suppose_small`] narrows the ranges of all numbers that no
//! operation on words computes and that are known before the nests. More results are then affine.
//! [`Forms::small_below`] lists the conditions that a result depends on. A run-time test before the
//! nest may establish them.
//!
//! **Assumptions.**
//! - A form depends on the numbers that the operations behind its value use, and on the bounds of
//!   the loops whose variables it uses. Tried with `fixtures/raising/rows.ll`.
//!
//! **Cost.** Linear in the operations behind a value, at most 256 of them.

use hashbrown::HashSet;
use loomir_dialects::affine::{ApplyOp, MaxOp, MinOp};
use loomir_dialects::interfaces::{Bound, LoopLike, ParallelLike, Step};
use loomir_dialects::llvm::GEPOp;
use loomir_ir::{Value, ValueDef};

use super::operation::Operation;
use super::range::{ALL, Range, both, type_range, width};
use super::{AffineForm, Atom, Forms};

/// The maximal number of values behind a form.
const MAX_VALUES: usize = 256;

/// The magnitude of small numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Small {
    /// Words of more than 32 bits are at most this power of two.
    wide: u32,
    /// Words of 32 bits are at most this power of two, and not negative: then it does not matter if
    /// they are read as signed. `None` if they may be any number.
    narrow: Option<u32>,
}

impl Small {
    /// Powers for which products of two wide numbers are small, or else products of two words of 32
    /// bits and of three wide numbers.
    pub const ALL: [Small; 2] = [Small { wide: 30, narrow: None }, Small { wide: 19, narrow: Some(15) }];

    /// Returns the range of a small word.
    fn range(self, width: u32) -> Range {
        match (width, self.narrow) {
            (32, Some(narrow)) => (0, 1 << narrow),
            (0..=32, _) => ALL,
            _ => (-(1 << self.wide), 1 << self.wide),
        }
    }
}

impl Forms<'_> {
    /// Supposes from now on that the numbers before the nests are small, and that none of these
    /// forms is negative.
    pub fn suppose_small(&mut self, small: Small, constraints: &[AffineForm]) {
        self.small = Some(small);
        self.suppose(constraints);
    }

    /// Returns the range of a number that no operation computes.
    pub(super) fn leaf_range(&mut self, value: Value) -> Range {
        let whole = type_range(self.body, value);
        let Some(small) = self.small.filter(|_| self.is_outside(value)) else { return whole };
        self.narrowed.insert(value);
        both(whole, small.range(width(self.body, value)))
    }

    /// Returns the conditions under which the numbers behind these values are small, as supposed:
    /// forms over parameters that are not negative. `known` holds what is certain. `None` if the
    /// values depend on too many others.
    pub fn small_below(&mut self, values: Vec<Value>, known: &mut Forms<'_>) -> Option<Vec<AffineForm>> {
        let small = self.small?;
        let (mut conditions, mut seen, mut pending) = (Vec::new(), HashSet::new(), values);
        while let Some(value) = pending.pop() {
            if !seen.insert(value) {
                continue;
            }
            if seen.len() > MAX_VALUES {
                return None;
            }
            self.add_sources(value, &mut pending)?;
            if !self.narrowed.contains(&value) {
                continue;
            }
            let (least, most) = small.range(width(self.body, value));
            let certain = known.range_of(value);
            let own = AffineForm::atom(Atom::Param(value));
            if certain.0 < least {
                conditions.push(own.minus(&AffineForm::constant(i64::try_from(least).ok()?))?);
            }
            if certain.1 > most {
                conditions.push(AffineForm::constant(i64::try_from(most).ok()?).minus(&own)?);
            }
        }
        Some(conditions)
    }

    /// Adds the values that the range and the form of a value depend on. `None` if they are
    /// unknown.
    fn add_sources(&self, value: Value, pending: &mut Vec<Value>) -> Option<()> {
        let body = self.body;
        match body.def(value) {
            ValueDef::OpResult { op, .. } => {
                let is_followed = Operation::of(body, op).is_some()
                    || [GEPOp::DEF, ApplyOp::DEF, MinOp::DEF, MaxOp::DEF].iter().any(|def| body.is(op, def));
                if is_followed {
                    pending.extend(body.operands(op));
                }
            }
            ValueDef::BlockArgument { block, index } => {
                let parent = body.op_ref(body.region_parent(body.block_region(block)));
                if parent.info().interface::<dyn ParallelLike>().is_some() {
                    return None;
                }
                let Some(model) = parent.info().interface::<dyn LoopLike>().filter(|_| index == 0) else {
                    return Some(());
                };
                let bounds = model.bounds(parent);
                for bound in [bounds.lower, bounds.upper] {
                    match bound {
                        Bound::Value(value) => pending.push(value),
                        Bound::Map(subscripts) => pending.extend(subscripts.operands),
                    }
                }
                if let Step::Value(step) = bounds.step {
                    pending.push(step);
                }
            }
        }
        Some(())
    }
}
