//! The choice of values that get affine forms.

use std::fmt;
use std::sync::Arc;

use loomir_ir::OpRef;

use super::{AffineForm, Atom};

/// Chooses closed forms of index values over induction variables and parameters.
///
/// **Owed:** whenever the operation executes and is defined, a returned form is its value as an
/// integer, not modulo anything. Nothing is assumed about a value without a form.
pub trait ClosedForms: fmt::Debug + Send + Sync {
    /// True if a form computed from these operands is kept. Operands without a closed form are
    /// `None`. Results of operations unknown to arithmetic come without operands.
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

/// Constants, induction variables and parameters. Computed values get no form.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

/// Linear combinations.
#[derive(Clone, Copy, Debug)]
pub struct Affine;

/// Linear combinations that may contain quotients by constants, and so remainders.
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

/// Returns an implementation by its name.
pub(crate) fn named(name: &str) -> Option<Arc<dyn ClosedForms>> {
    Some(match name {
        "none" => Arc::new(Plain),
        "affine" => Arc::new(Affine),
        "polyhedral" => Arc::new(Polyhedral),
        _ => return None,
    })
}
