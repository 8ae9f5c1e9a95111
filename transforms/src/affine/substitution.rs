//! Substitution: forms in place of levels and parameters.
//!
//! **Cost.** Linear in the terms of the form and of the forms put in.

use loomir_ir::Value;

use super::{AffineForm, Atom, MAX_TERMS};

impl AffineForm {
    /// Returns the form with another form substituted for each level.
    pub fn substitute(&self, replacement: &mut dyn FnMut(u32) -> Option<AffineForm>) -> Option<AffineForm> {
        let mut sum = AffineForm::constant(self.constant);
        for (atom, coefficient) in &self.terms {
            match atom {
                Atom::Level(level) => sum.add(replacement(*level)?, *coefficient)?,
                Atom::Param(_) | Atom::Product(_) => sum.add_term(atom.clone(), *coefficient)?,
                Atom::FloorDiv(inner, divisor) => {
                    sum.add(inner.substitute(replacement)?.floor_div(*divisor)?, *coefficient)?;
                }
            }
        }
        Some(sum)
    }

    /// Adds `factor · other`. `None` as in [`AffineForm::plus`]; the form is useless then.
    fn add(&mut self, mut other: AffineForm, factor: i64) -> Option<()> {
        match (&other.terms[..], factor) {
            ([] | [_], _) => {
                self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
                let Some((atom, coefficient)) = other.terms.pop() else { return Some(()) };
                self.add_term(atom, coefficient.checked_mul(factor)?)
            }
            (_, 1) if self.terms.is_empty() => {
                other.constant = self.constant.checked_add(other.constant)?;
                *self = other;
                Some(())
            }
            _ => {
                *self = self.plus(&other, factor)?;
                Some(())
            }
        }
    }

    /// Adds a term. `None` as in [`AffineForm::plus`].
    fn add_term(&mut self, atom: Atom, coefficient: i64) -> Option<()> {
        let at = self.terms.iter().position(|(own, _)| own.order(&atom).is_ge());
        match at.map(|at| (at, &mut self.terms[at])) {
            Some((at, (own, sum))) if *own == atom => {
                *sum = sum.checked_add(coefficient)?;
                if *sum == 0 {
                    self.terms.remove(at);
                }
            }
            _ if coefficient == 0 => {}
            Some((at, _)) => self.terms.insert(at, (atom, coefficient)),
            None => self.terms.push((atom, coefficient)),
        }
        (self.terms.len() <= MAX_TERMS).then_some(())
    }

    /// Replaces each level and each parameter by a form. Returns `None` if a form is missing, a
    /// number leaves 64 bits, or a product has no expansion into products of parameters.
    pub fn instantiate(
        &self,
        level: &mut dyn FnMut(u32) -> Option<AffineForm>,
        parameter: &mut dyn FnMut(Value) -> Option<AffineForm>,
    ) -> Option<AffineForm> {
        let mut sum = AffineForm::constant(self.constant);
        for (atom, coefficient) in &self.terms {
            let term = match atom {
                Atom::Level(at) => level(*at)?,
                Atom::FloorDiv(inner, divisor) => inner.instantiate(level, parameter)?.floor_div(*divisor)?,
                Atom::Param(value) => parameter(*value)?,
                Atom::Product(values) => {
                    let mut product = AffineForm::constant(1);
                    for value in values {
                        product = product.product(&parameter(*value)?)?;
                    }
                    product
                }
            };
            sum = sum.plus(&term, *coefficient)?;
        }
        Some(sum)
    }

    /// Returns the form with a level replaced by itself minus `shift`.
    pub fn shifted(&self, level: u32, shift: i64) -> Option<AffineForm> {
        let earlier = AffineForm::level(level).plus(&AffineForm::constant(1), shift.checked_neg()?)?;
        self.substitute(&mut |own| Some(if own == level { earlier.clone() } else { AffineForm::level(own) }))
    }

    /// Returns the form with each level `by` higher: the form inside so many more loops, where
    /// levels count outwards. The terms keep their order.
    pub fn raised(&self, by: u32) -> Option<AffineForm> {
        let mut form = self.clone();
        form.raise(by)?;
        Some(form)
    }

    /// Returns the form with each level counted from the other end of `depth` loops.
    pub(crate) fn levels_reversed(&self, depth: u32) -> Option<AffineForm> {
        // Quotients are the last terms. They may get another order.
        if let Some((Atom::FloorDiv(..), _)) = self.terms.last() {
            return self.substitute(&mut |level| Some(AffineForm::level(depth.checked_sub(level + 1)?)));
        }
        let mut form = self.clone();
        let mut levels = 0;
        for (atom, _) in &mut form.terms {
            let Atom::Level(level) = atom else { break };
            *level = depth.checked_sub(*level)?.checked_sub(1)?;
            levels += 1;
        }
        // Levels are the first terms.
        form.terms[..levels].reverse();
        Some(form)
    }

    fn raise(&mut self, by: u32) -> Option<()> {
        for (atom, _) in &mut self.terms {
            match atom {
                Atom::Level(level) => *level = level.checked_add(by)?,
                Atom::FloorDiv(inner, _) => inner.raise(by)?,
                Atom::Param(_) | Atom::Product(_) => {}
            }
        }
        Some(())
    }
}
