//! Forms of numbers whose bits are masked or inverted.

use loomir_ir::Op;

use super::operation::{Binary, Operation};
use super::range::width;
use super::{AffineForm, Forms};

impl Forms<'_> {
    /// Returns the form of a number whose low or high bits are cleared, or whose bits are all
    /// inverted.
    pub(super) fn masked(&mut self, op: Op, fuel: usize) -> Option<AffineForm> {
        let body = self.body;
        let mask = self.form(body.operand(op, 1), fuel)?.as_constant()?;
        let number = self.form(body.operand(op, 0), fuel)?;
        let is_and = Operation::of(body, op) == Some(Operation::Binary(Binary::And));
        let next = mask.checked_add(1)?;
        let is_power = |number: i64| number > 1 && number & (number - 1) == 0;
        match mask {
            _ if width(body, body.result(op, 0)) == 1 => None,
            -1 if !is_and => AffineForm::constant(-1).minus(&number),
            // The low bits are the distance from the multiple below, whatever the sign.
            _ if is_and && is_power(next) => number.modulo(next),
            _ if is_and && is_power(mask.checked_neg()?) => {
                let size = mask.checked_neg()?;
                number.floor_div(size)?.times(size)
            }
            _ => None,
        }
    }
}
