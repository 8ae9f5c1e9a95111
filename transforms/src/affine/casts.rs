//! Forms of numbers that are cast to another width.
//!
//! **Assumptions.**
//! - A cast with a flag that excludes a loss is poison where there is one.

use loomir_ir::Op;

use super::operation::{
    Binary, Operation, has_no_signed_wrap, is_nonnegative, unsigned_original, untruncated,
};
use super::range::{both, fits, width};
use super::{AffineForm, Forms};

impl Forms<'_> {
    /// Returns the form of the result of a cast, if it is the same number as the operand, both read
    /// as signed.
    pub(super) fn cast_form(&mut self, op: Op, cast: Operation, fuel: usize) -> Option<AffineForm> {
        let body = self.body;
        let (first, result) = (body.operand(op, 0), body.result(op, 0));
        let whole = width(body, result);
        let mut range = self.range(first, fuel);
        if !fits(range, whole) || (cast == Operation::Unsigned && range.0 < 0) {
            let inside = self.form(first, fuel).and_then(|form| self.range_at(&form, result, fuel));
            range = inside.map_or(range, |inside| both(range, inside));
        }
        let is_in_range = fits(range, whole);
        let keeps = match cast {
            Operation::Signed => is_in_range || has_no_signed_wrap(body, op),
            _ => is_in_range && (range.0 >= 0 || is_nonnegative(body, op)),
        };
        if keeps {
            return self.form(first, fuel);
        }
        if cast != Operation::Unsigned {
            return None;
        }
        let original = unsigned_original(body, first, result)?;
        let is_natural = self.range(original, fuel).0 >= 0;
        self.form(original, fuel).filter(|_| is_natural)
    }

    /// Returns the form of an unsigned quotient, remainder or right shift of a number that was
    /// truncated without loss as an unsigned number. By two or more the result, read as signed, is
    /// not negative.
    pub(super) fn unsigned_quotient(&mut self, op: Op, binary: Binary, fuel: usize) -> Option<AffineForm> {
        let body = self.body;
        let divisor = match binary {
            Binary::ShrU => self.shift(op, fuel)?,
            Binary::DivU | Binary::RemU => self.form(body.operand(op, 1), fuel)?.as_constant()?,
            _ => return None,
        };
        let original = untruncated(body, body.operand(op, 0)).filter(|_| divisor >= 2)?;
        let form = self.form(original, fuel)?;
        let is_natural = self.range(original, fuel).0 >= 0
            || self.range_at(&form, original, fuel).is_some_and(|range| range.0 >= 0);
        let form = Some(form).filter(|_| is_natural)?;
        if binary == Binary::RemU { form.modulo(divisor) } else { form.floor_div(divisor) }
    }
}
