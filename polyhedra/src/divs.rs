//! Existential variables as functions: what it takes to negate a conjunction.
//!
//! A conjunction whose existential variables are *determined*, each `⌊f / d⌋` of visible variables
//! and earlier ones, is negated constraint by constraint with the definitions kept. Any conjunction
//! becomes a union of such: the variables that are not determined are minimised away,
//! parametrically in the visible ones.

use crate::conjunction::Conjunction;
use crate::int::Int;
use crate::limits::{Budget, Exact, Stop};
use crate::parametric::{End, parametric_optimum};
use crate::resolved::{Definition, Resolved};

impl Conjunction {
    /// Adds the two bounds that make a variable the quotient, the definition's existential columns
    /// moved by `shift`.
    pub(crate) fn add_definition(&mut self, definition: &Definition, visible: usize, shift: usize) {
        let mut row = moved(&definition.row, visible, shift);
        row[definition.column + shift] = -&definition.divisor;
        self.add_scalar_row(&row, false);
        for value in &mut row {
            *value = -&*value;
        }
        row[0] = &row[0] + &(&definition.divisor - &Int::ONE);
        self.add_scalar_row(&row, false);
    }

    /// True if every existential variable is determined.
    pub(crate) fn is_explicit(&self) -> bool {
        self.existentials() == 0 || Resolved::new(self).is_ok_and(|resolved| resolved.is_explicit())
    }

    /// Disjoint conjunctions with the same points together, all of whose existential variables are
    /// determined.
    pub(crate) fn explicit(&self, budget: &mut Budget) -> Exact<Vec<Conjunction>> {
        let existentials = self.existentials();
        budget.tick(existentials * existentials * self.constraints() * self.ins.width())?;
        if self.is_explicit() {
            return Ok(vec![self.clone()]);
        }
        let Some(stated) = self.with_hull(budget)? else { return Ok(Vec::new()) };
        if stated.is_explicit() {
            return Ok(vec![stated]);
        }
        // With every visible variable fixed nothing visible can be unbounded.
        let pieces = parametric_optimum(&stated, stated.visible(), End::Least, budget)?.unwrap_or_default();
        let mut out = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let Some(simple) = piece.simplified_within(budget)? else { continue };
            if simple.is_explicit() {
                out.push(simple);
            } else if piece.is_explicit() {
                out.push(piece);
            } else {
                // Never seen: an answer is refused rather than guessed.
                return Err(Stop::Limit);
            }
        }
        Ok(out)
    }
}

/// A row whose existential columns are moved by `shift`.
fn moved(row: &[Int], visible: usize, shift: usize) -> Vec<Int> {
    let mut out = Vec::with_capacity(row.len() + shift);
    out.extend_from_slice(&row[..=visible]);
    out.resize(visible + 1 + shift, Int::ZERO);
    out.extend_from_slice(&row[visible + 1..]);
    out
}
