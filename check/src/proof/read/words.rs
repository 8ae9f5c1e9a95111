//! Integer operations of `llvm` as forms, in the terms of `arith`.
//!
//! The model reads numbers by the names that `arith` has for operations. Names of `llvm` are
//! translated, and shifts and masks by constants are products and remainders.

use loomir_ir::{AttrKind, OpRef, Value};

use super::super::form::{Condition, Form};
use super::super::model::{Kind, ScopeId};
use super::bits::masked;
use super::{Read, Reader, defining};

/// The numbers from zero on.
pub(super) const NATURAL: (i128, i128) = (0, i128::MAX);
/// The most uses looked through for what is an address alone.
const MAX_USES: usize = 64;
/// The most sums in sums that are read again at a use.
const MAX_NESTED: usize = 4;

/// Returns the name that an operation on integers has in `arith`, without the dialect.
pub(super) fn name(op: OpRef<'_>) -> Option<&str> {
    let (dialect, name) = op.name().split_once('.')?;
    match dialect {
        "arith" | "index" => Some(name),
        "llvm" => Some(match name {
            "add" => "addi",
            "sub" => "subi",
            "mul" => "muli",
            "sdiv" => "divsi",
            "udiv" => "divui",
            "srem" => "remsi",
            "urem" => "remui",
            "intr.smin" => "minsi",
            "intr.smax" => "maxsi",
            "sext" => "extsi",
            "zext" => "extui",
            "trunc" => "trunci",
            _ => return None,
        }),
        _ => None,
    }
}

/// Returns the bits of a flag, however its enumeration is kept.
pub(crate) fn bits(op: OpRef<'_>, name: &str) -> u64 {
    match op.attr(name).map(|attr| (attr, attr.kind(op.ctx()))) {
        Some((_, AttrKind::Enum { value, .. })) => *value,
        Some((attr, _)) => {
            attr.as_int(op.ctx()).and_then(|bits| u64::try_from(bits).ok()).unwrap_or(u64::MAX)
        }
        None => 0,
    }
}

pub(super) fn has_no_signed_wrap(op: OpRef<'_>) -> bool {
    bits(op, "overflowFlags") & 1 != 0
}

/// True for a comparison that promises operands of one sign.
pub(super) fn is_same_sign(op: OpRef<'_>) -> bool {
    op.attr(loomir_dialects::llvm::SAME_SIGN).is_some()
}

impl<'b> Reader<'b, '_> {
    /// Returns the form of a value in a scope. A sum that may wrap where it stands may be exact
    /// under the conditions around its use.
    pub(super) fn form_in(&mut self, value: Value, scope: ScopeId) -> Option<Form> {
        let form = self.form(value)?.clone();
        let is_sum = |op: &OpRef<'b>| {
            matches!(op.name(), "llvm.add" | "llvm.sub" | "llvm.mul" | "llvm.shl") && !self.may_be_poison(*op)
        };
        if form.is_param()
            && self.nested_sums < MAX_NESTED
            && let Some(op) = defining(self.body(), value).filter(is_sum)
        {
            self.nested_sums += 1;
            let sum = self.arithmetic(op, scope);
            self.nested_sums -= 1;
            if let Some(Kind::Number(sum)) = sum
                && sum.is_invariant()
            {
                return Some(sum);
            }
        }
        Some(form)
    }

    /// Reads a shift or a mask by a constant; `None` if it is neither, or no form.
    pub(super) fn bitwise(&mut self, op: OpRef<'b>, scope: ScopeId) -> Option<Form> {
        let own = self.form_in(op.operand(0), scope)?;
        let form = self.shifted_or_masked(op, scope)?;
        let form = self.with_named_quotients(form);
        (!self.forgets_poison([&own, &own], &form)).then_some(form)
    }

    fn shifted_or_masked(&mut self, op: OpRef<'b>, scope: ScopeId) -> Option<Form> {
        let ty = op.result_type(0);
        let width = ty.integer_width(op.ctx())?;
        let (a, b) = (self.form_in(op.operand(0), scope)?, self.form_in(op.operand(1), scope)?);
        if op.name() == "llvm.or" {
            let is_promised = self.is_original && op.attr("isDisjoint").is_some();
            let is_sum = is_promised || self.are_apart(&a, &b, scope) || self.are_apart(&b, &a, scope);
            return if is_sum { a.plus(&b) } else { None };
        }
        let constant = b.as_constant()?;
        let is_shift = (0..i64::from(width) - 1).contains(&constant) && constant < 62;
        let power = || 1i64 << constant;
        match op.name() {
            "llvm.shl" if is_shift => {
                let form = a.times(power())?;
                if self.breaks_no_unsigned_wrap(op, &[&a, &form], scope) {
                    return None;
                }
                let flagged = has_no_signed_wrap(op);
                self.exact(form, scope, ty, flagged, op)
            }
            "llvm.lshr" | "llvm.ashr" if is_shift => {
                let is_unsigned = op.name() == "llvm.lshr";
                if is_unsigned && self.may_leave(&a, scope, NATURAL) || self.may_leave_a_rest(op, &a, power())
                {
                    return None;
                }
                a.floor_div(power())
            }
            "llvm.and" => {
                if let Some(form) = masked(&a, Some(constant)) {
                    return Some(form);
                }
                // All high bits but the sign, of a number that has none.
                let high = if width == 64 { i64::MAX } else { (1i64 << (width.min(63) - 1)) - 1 };
                let low = high.checked_sub(constant)?.checked_add(1)?;
                let is_power = low > 0 && low.count_ones() == 1;
                if !is_power || self.may_leave(&a, scope, NATURAL) {
                    return None;
                }
                a.minus(&a.modulo(low)?)
            }
            _ => None,
        }
    }

    /// True if bits that one number may have are clear in another one, of which it is the low part.
    fn are_apart(&mut self, high: &Form, low: &Form, scope: ScopeId) -> bool {
        let is_multiple = |power: i64| high.modulo(power).is_some_and(|rest| rest.as_constant() == Some(0));
        let powers = (0..62).map(|exponent| 1i64 << exponent);
        let Some(power) = powers.take_while(|power| is_multiple(*power)).last() else { return false };
        !self.may_leave(low, scope, (0, i128::from(power) - 1))
    }

    /// True if a number of the original is used for values alone: for no address, comparison or
    /// argument of a block.
    pub(super) fn is_value_alone(&self, value: Value) -> bool {
        let body = self.body();
        let (mut pending, mut seen) = (vec![value], 0);
        while let Some(value) = pending.pop() {
            for user in body.uses(value).map(|user| body.op_ref(user.op)) {
                seen += 1;
                match user.name() {
                    _ if seen > MAX_USES => return false,
                    "llvm.return" | "llvm.store" | "llvm.sitofp" | "llvm.uitofp" => {}
                    _ if name(user).is_some() => pending.push(user.result(0)),
                    _ => return false,
                }
            }
        }
        true
    }

    /// True if a number of 64 bits is used for nothing but addresses.
    pub(super) fn is_address_alone(&self, value: Value) -> bool {
        let body = self.body();
        let (mut pending, mut seen) = (vec![value], 0);
        while let Some(value) = pending.pop() {
            if body.value_type(value).integer_width(body.ctx()) != Some(64) {
                return false;
            }
            for user in body.uses(value).map(|user| body.op_ref(user.op)) {
                seen += 1;
                match user.name() {
                    _ if seen > MAX_USES => return false,
                    "llvm.getelementptr" => {}
                    "llvm.add" | "llvm.sub" | "llvm.mul" | "llvm.shl" => pending.push(user.result(0)),
                    _ => return false,
                }
            }
        }
        true
    }

    /// Reads a choice between truth values; `None` if one of them is no condition.
    pub(super) fn chosen_truth(&mut self, op: OpRef<'b>) -> Option<Condition> {
        if op.result_type(0).integer_width(op.ctx()) != Some(1) || !self.poison.is_empty() {
            return None;
        }
        if !self.is_original && !self.is_never_poison(op.operand(0)) {
            return None;
        }
        let [condition, yes, no] = [0, 1, 2].map(|index| self.truth(op.operand(index)).cloned());
        let (condition, yes, no) = (condition?, yes?, no?);
        condition.and(&yes)?.or(&condition.clone().not().and(&no)?)
    }

    /// Reads a choice of one of two values.
    pub(super) fn selection(&mut self, op: OpRef<'b>) -> Read<'b, Kind> {
        if let Some(truth) = self.chosen_truth(op) {
            return Ok(Kind::Truth(truth));
        }
        let [condition, yes, no] = [0, 1, 2].map(|index| self.value(op.operand(index), op));
        Ok(Kind::Choice { condition: condition?, yes: yes?, no: no? })
    }
}
