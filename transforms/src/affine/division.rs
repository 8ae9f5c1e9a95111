//! Quotients and remainders of forms.

use super::{AffineForm, Atom, MAX_NESTING};

impl AffineForm {
    /// `⌊self / divisor⌋` for a positive divisor. Terms whose coefficients it divides come out of
    /// the quotient, and a quotient of a quotient is one quotient.
    pub fn floor_div(&self, divisor: i64) -> Option<AffineForm> {
        if divisor <= 0 {
            return None;
        }
        if divisor == 1 {
            return Some(self.clone());
        }
        let mut outside = AffineForm::constant(self.constant.div_euclid(divisor));
        let mut inside = AffineForm::constant(self.constant.rem_euclid(divisor));
        for (atom, c) in &self.terms {
            let target = if c % divisor == 0 { &mut outside } else { &mut inside };
            target.terms.push((atom.clone(), if c % divisor == 0 { c / divisor } else { *c }));
        }
        if inside.terms.is_empty() {
            return Some(outside);
        }
        // ⌊(⌊form / first⌋ + constant) / divisor⌋ = ⌊(form + first · constant) / (first · divisor)⌋
        if let [(Atom::FloorDiv(form, first), 1)] = &inside.terms[..]
            && let Some(both) = first.checked_mul(divisor)
            && let Some(shift) = first.checked_mul(inside.constant)
            && let Some(form) = form.plus(&AffineForm::constant(shift), 1)
        {
            return outside.plus(&form.floor_div(both)?, 1);
        }
        if inside.nesting() >= MAX_NESTING {
            return None;
        }
        outside.plus(&AffineForm::atom(Atom::FloorDiv(Box::new(inside), divisor)), 1)
    }

    /// `⌈self / divisor⌉`.
    pub fn ceil_div(&self, divisor: i64) -> Option<AffineForm> {
        self.plus(&AffineForm::constant(divisor.checked_sub(1)?), 1)?.floor_div(divisor)
    }

    /// `self mod divisor`, in `[0, divisor)`.
    pub fn modulo(&self, divisor: i64) -> Option<AffineForm> {
        self.plus(&self.floor_div(divisor)?, divisor.checked_neg()?)
    }
}
