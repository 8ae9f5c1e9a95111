//! Forms of numbers that are cast to another width.
//!
//! **Assumptions.**
//! - A cast with a flag that excludes a loss is poison where there is one.

use loomir_ir::Op;

use super::operation::{Operation, has_no_signed_wrap, is_nonnegative, unsigned_original};
use super::range::{fits, width};
use super::{AffineForm, Forms};

impl Forms<'_> {
    /// Returns the form of the result of a cast, if it is the same number as the operand, both read
    /// as signed.
    pub(super) fn cast_form(&mut self, op: Op, cast: Operation, fuel: usize) -> Option<AffineForm> {
        let body = self.body;
        let (first, result) = (body.operand(op, 0), body.result(op, 0));
        let range = self.range(first, fuel);
        let is_in_range = fits(range, width(body, result));
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
}
