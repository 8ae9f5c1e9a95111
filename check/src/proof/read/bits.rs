//! Bits and products of numbers as forms.

use super::super::form::{Atom, Form};
use super::super::model::{ParamKey, ScopeId};
use super::Reader;

impl Reader<'_, '_> {
    /// Returns the product of two sums of parameters. One of two parameters is an operation like
    /// others, unless it is part of another product.
    pub(super) fn product(&mut self, a: &Form, b: &Form) -> Option<Form> {
        let is_plain = a.is_param() && b.is_param();
        let params = &mut self.params;
        let mut pair = |x: u32, y: u32| {
            let key = ParamKey::Product(x.min(y), x.max(y));
            let param = if is_plain && !params.knows(&key) { None } else { params.product(x, y) };
            param.map(|param| Form::atom(Atom::Param(param)))
        };
        a.product(b, &mut pair)
    }

    /// Returns the bits of two numbers if the first has low bits only and the second none of these.
    pub(super) fn united(&mut self, a: &Form, b: &Form, scope: ScopeId) -> Option<Form> {
        let is_free = |size: &i64| b.modulo(*size).and_then(|rest| rest.as_constant()) == Some(0);
        let size = (1..=32).rev().map(|bits| 1i64 << bits).find(is_free)?;
        (!self.may_leave(a, scope, (0, i128::from(size) - 1))).then(|| a.plus(b)).flatten()
    }
}

/// Returns the low bits of a number, or all others, if the mask says so. In two's complement
/// the low bits are the remainder of a floored division, whatever the sign.
pub(super) fn masked(a: &Form, mask: Option<i64>) -> Option<Form> {
    let mask = mask?;
    let (size, is_low) = match mask {
        0.. => (mask.checked_add(1)?, true),
        _ => (mask.checked_neg()?, false),
    };
    if size < 1 || size & (size - 1) != 0 {
        return None;
    }
    let low = a.modulo(size)?;
    if is_low { Some(low) } else { a.minus(&low) }
}
