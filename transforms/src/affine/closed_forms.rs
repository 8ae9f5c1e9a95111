//! Which values are followed as affine forms.

use std::fmt;
use std::sync::Arc;

use loomir_ir::OpRef;

use super::{AffineForm, Atom};

/// Chooses closed forms of index values over induction variables and parameters.
///
/// **Owed:** whenever the operation executes and is defined, a returned form is its value as an
/// integer, not modulo anything. Nothing is assumed about a value without a form.
pub trait ClosedForms: fmt::Debug + Send + Sync {
    /// True if a form is followed that was computed from these. Forms of operands that are not
    /// followed are missing; of the results of operations that arithmetic knows none are given.
    fn follows(&self, form: &AffineForm, operands: &[Option<AffineForm>]) -> bool;

    /// Returns the form of the only result of an operation that is unknown to arithmetic. `operand`
    /// returns the forms of its operands.
    fn of_result(
        &self,
        op: OpRef<'_>,
        operand: &mut dyn FnMut(usize) -> Option<AffineForm>,
    ) -> Option<AffineForm> {
        let _ = (op, operand);
        None
    }
}

/// Numbers, variables of loops and parameters; nothing that is computed from them.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

/// Sums of multiples.
#[derive(Clone, Copy, Debug)]
pub struct Affine;

/// Sums of multiples, of quotients by numbers too: so remainders.
#[derive(Clone, Copy, Debug)]
pub struct Polyhedral;

impl ClosedForms for Plain {
    fn follows(&self, form: &AffineForm, operands: &[Option<AffineForm>]) -> bool {
        form.as_constant().is_some() || operands.iter().flatten().any(|operand| operand == form)
    }
}

impl ClosedForms for Affine {
    fn follows(&self, form: &AffineForm, _: &[Option<AffineForm>]) -> bool {
        !form.terms().iter().any(|(atom, _)| matches!(atom, Atom::FloorDiv(..)))
    }
}

impl ClosedForms for Polyhedral {
    fn follows(&self, _: &AffineForm, _: &[Option<AffineForm>]) -> bool {
        true
    }
}

/// An implementation by its name.
pub(crate) fn named(name: &str) -> Option<Arc<dyn ClosedForms>> {
    Some(match name {
        "none" => Arc::new(Plain),
        "affine" => Arc::new(Affine),
        "polyhedral" => Arc::new(Polyhedral),
        _ => return None,
    })
}
