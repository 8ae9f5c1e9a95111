//! Ranges of sums of values in a new loop.
//!
//! A bound is written only if its computation cannot wrap, or if it is cut off in a wider type.
//! This needs a range of the sum. Induction variables of new loops are replaced by their own
//! bounds, from the inside: `n - i` is at least 1 where `i` runs below `n`. The remaining values
//! are bounded by their types and by [facts](crate::affine::facts).
//!
//! # Assumptions
//!
//! - A 64-bit induction variable that starts early and has a small step does not come near the end
//!   of its type: no machine runs as many iterations. Not tried, for that reason.
//!
//! **Cost.** At most [`MAX_REPLACED`] induction variables are replaced by their bounds.

use hashbrown::HashMap;
use loomir_ir::Value;

use super::Emit;
use crate::affine::range::{Range, both, fits, of_form, of_product, type_range};
use crate::affine::{AffineForm, Atom};

/// The greatest start of a loop that cannot come near the end of its type.
const EARLY: i64 = 1 << 62;

/// The greatest step of such a loop.
const SMALL_STEP: i64 = 64;

/// The distance that such a loop stays below, even if it runs for weeks.
const FAR: i64 = 1 << 58;

/// The maximal number of induction variables replaced by bounds for one sum.
const MAX_REPLACED: u32 = 64;

/// The bounds of a new loop's induction variable, as forms over values.
#[derive(Clone, Default)]
pub(super) struct Between {
    /// The variable is at least each of these.
    pub lower: Vec<AffineForm>,
    /// The variable is less than each of these.
    pub upper: Vec<AffineForm>,
    /// The greatest value in any run.
    pub most: Option<i64>,
}

impl Emit<'_> {
    /// Returns the bounds of an induction variable with these values and the step of a loop of the
    /// program.
    pub(super) fn between(
        &self,
        lower: Vec<AffineForm>,
        upper: Vec<AffineForm>,
        step: Option<i64>,
    ) -> Between {
        let most = self.reached(&lower, step);
        Between { lower, upper, most }
    }

    /// Returns a number that the induction variable of a loop never reaches in practice, if it
    /// starts at the greatest of these and has the step of a loop of the program.
    pub(super) fn reached(&self, lower: &[AffineForm], step: Option<i64>) -> Option<i64> {
        let begin = lower.iter().map(|form| self.range_of(form).1).max()?;
        let begin = i64::try_from(begin).ok().filter(|begin| *begin <= EARLY)?;
        step.filter(|step| *step <= SMALL_STEP)?;
        begin.checked_add(FAR)
    }

    /// True if a form over values always fits a number of bits.
    pub(super) fn always_fits(&self, form: &AffineForm, width: u32) -> bool {
        fits(self.range_of(form), width)
    }

    /// Returns the known least and greatest value of a form over values.
    pub(super) fn range_of(&self, form: &AffineForm) -> Range {
        let greatest = |form: &AffineForm| self.greatest(form, &mut { MAX_REPLACED });
        let least = form.times(-1).map_or(i128::MIN, |opposite| greatest(&opposite).saturating_neg());
        (least, greatest(form))
    }

    /// Recurses once for each new loop around.
    fn greatest(&self, form: &AffineForm, left: &mut u32) -> i128 {
        let mut greatest = of_form(form, &mut |atom| self.range_of_atom(atom)).map_or(i128::MAX, |all| all.1);
        let coefficient = |value: Value| {
            let own = form.terms().iter().find(|(atom, _)| *atom == Atom::Param(value));
            own.map(|(_, coefficient)| *coefficient)
        };
        let innermost = self.scopes.iter().rev().find_map(|own| Some((own, coefficient(own.variable)?)));
        let Some((scope, coefficient)) = innermost else { return greatest };
        let variable = AffineForm::atom(Atom::Param(scope.variable));
        let (bounds, last) =
            if coefficient > 0 { (&scope.between.upper, -1) } else { (&scope.between.lower, 0) };
        for bound in bounds {
            let Some(fewer) = left.checked_sub(1) else { break };
            *left = fewer;
            let end = bound.plus(&AffineForm::constant(last), 1).and_then(|end| end.minus(&variable));
            let replaced = end.and_then(|gap| form.plus(&gap, coefficient));
            greatest = greatest.min(replaced.map_or(i128::MAX, |form| self.greatest(&form, left)));
        }
        greatest
    }

    fn range_of_atom(&self, atom: &Atom) -> Option<Range> {
        let ranges: Vec<Range> = atom.factors()?.iter().map(|value| self.range_of_value(*value)).collect();
        Some(of_product(atom, &ranges))
    }

    fn range_of_value(&self, value: Value) -> Range {
        let of_type = type_range(self.body, value);
        if let Some(scope) = self.scopes.iter().find(|own| own.variable == value) {
            let most = scope.between.most.map_or(i128::MAX, i128::from);
            let numbers = |forms: &[AffineForm]| -> Vec<i128> {
                forms.iter().filter_map(|form| form.as_constant().map(i128::from)).collect()
            };
            let least = numbers(&scope.between.lower).into_iter().max().unwrap_or(i128::MIN);
            let end = numbers(&scope.between.upper).into_iter().min().map_or(i128::MAX, |end| end - 1);
            // A loop without iterations may have bounds that contradict each other.
            return both(of_type, (least, most.min(end).max(least)));
        }
        let known = self.program.surroundings.facts.range(&Atom::Param(value), &HashMap::new());
        known.map_or(of_type, |known| both(known, of_type))
    }
}
