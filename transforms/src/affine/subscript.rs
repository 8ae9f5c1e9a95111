//! Forms of subscripts at an access.
//!
//! Arithmetic on words wraps, and most operations have no flags that exclude it. But in an access
//! `%i + %m` is between 0 and the size of the memref, or there is no access, because accesses
//! outside of a memref are undefined. Suppose the wrapped sum would be outside. Then it did not
//! wrap in any access that happens. The subscripts of an access are therefore their values in ℤ, as
//! long as no other number inside the memref is the same word.
//!
//! **Assumptions.**
//! - An access outside of its memref is undefined, so one that happens is inside, and a word that
//!   wrapped would not be. Tried with `fixtures/fusion/subscripts.mlir` and `widths.mlir`.
//!
//! **Cost.** Linear in the operations that compute a subscript, up to the first that have forms.
//!
//! # Limits
//!
//! - Wrapping arithmetic is affine only if the result is in range again. A subscript may also rely
//!   on staying inside its memref.

use hashbrown::HashMap;
use loomir_dialects::interfaces::Subscripts;
use loomir_ir::Value;
use loomir_ir::affine::AffineExprKind;

use super::operation::{Binary, Operation};
use super::range::{Range, product, sum, width};
use super::{AffineForm, Atom, Forms, MAX_CHAIN, ring};

/// The value without wrapping, and its range.
type Unwrapped = Option<(AffineForm, Range)>;

impl Forms<'_> {
    /// Returns the forms of the subscripts of an access that happens. `None` for subscripts that
    /// are not affine.
    pub fn of_accessed(&mut self, subscripts: &Subscripts) -> Vec<Option<AffineForm>> {
        let mut forms = self.of_subscripts(subscripts);
        let ctx = self.body.ctx();
        let data = subscripts.map.data(ctx);
        for (form, expr) in forms.iter_mut().zip(&data.results) {
            let operand = match expr.kind(ctx) {
                AffineExprKind::Dim(dim) => Some(dim),
                AffineExprKind::Symbol(symbol) => Some(data.dims + symbol),
                _ => None,
            };
            let operand = operand.and_then(|at| subscripts.operands.get(at as usize).copied());
            if let Some(value) = operand.filter(|value| is_open(form.as_ref(), *value)) {
                *form = self.inside(value).or(form.take());
            }
        }
        forms
    }

    /// Returns the form of a value that is not negative, read as signed.
    fn inside(&mut self, value: Value) -> Option<AffineForm> {
        let body = self.body;
        let mut value = value;
        // Sign extension keeps the sign.
        while let Some(op) = body.defining_op(value)
            && Operation::of(body, op) == Some(Operation::Signed)
            && width(body, body.operand(op, 0)) <= width(body, value)
        {
            value = body.operand(op, 0);
        }
        let (form, (least, greatest)) = self.unwrapped(value, MAX_CHAIN, &mut HashMap::new())?;
        // The nonnegative words are below half of all words. With one more wrap, or one less, the
        // number is another.
        let half = 1i128 << (width(body, value).clamp(1, 64) - 1);
        let is_near = -half <= least && greatest < 2 * half;
        Some(form).filter(|form| {
            is_near && (self.spelled_out || has_level(form)) && self.followed.follows(form, &[])
        })
    }

    fn unwrapped(&mut self, value: Value, fuel: usize, memo: &mut HashMap<Value, Unwrapped>) -> Unwrapped {
        if let Some(known) = memo.get(&value) {
            return known.clone();
        }
        let form = self.form(value, fuel);
        let sum = if is_open(form.as_ref(), value) { self.unwrapped_sum(value, fuel, memo) } else { None };
        let found = sum.or_else(|| Some((form?, self.range(value, fuel))));
        memo.insert(value, found.clone());
        found
    }

    fn unwrapped_sum(
        &mut self,
        value: Value,
        fuel: usize,
        memo: &mut HashMap<Value, Unwrapped>,
    ) -> Unwrapped {
        let (body, fuel) = (self.body, fuel.checked_sub(1)?);
        let op = body.defining_op(value)?;
        let Operation::Binary(binary @ (Binary::Add | Binary::Sub | Binary::Mul)) = Operation::of(body, op)?
        else {
            return None;
        };
        let (a, of_a) = self.unwrapped(body.operand(op, 0), fuel, memo)?;
        let (b, of_b) = self.unwrapped(body.operand(op, 1), fuel, memo)?;
        let range = match binary {
            Binary::Add => sum(of_a, of_b),
            Binary::Sub => sum(of_a, product(of_b, (-1, -1))),
            _ => product(of_a, of_b),
        };
        Some((ring(binary, &a, &b)?, range))
    }
}

/// True if the form of a value says nothing more than the value itself.
fn is_open(form: Option<&AffineForm>, value: Value) -> bool {
    form.is_none_or(|form| form.as_parameter() == Some(value))
}

/// True if a form varies in some loop. A loop-invariant one is better named, as elsewhere.
fn has_level(form: &AffineForm) -> bool {
    form.terms().iter().any(|(atom, _)| matches!(atom, Atom::Level(_)))
}
