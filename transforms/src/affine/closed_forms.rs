//! Which values are followed as affine forms.

use std::fmt;
use std::sync::Arc;

use loomir_ir::OpRef;

use super::{AffineForm, Atom};

/// Closed forms of index values over the variables of loops and parameters.
///
/// **Owed:** a form that is given out is what the value is whenever the operation executes and is
/// defined, as an integer, not modulo anything; of what has no form nothing is assumed.
pub trait ClosedForms: fmt::Debug + Send + Sync {
    /// True if a form is followed that was computed from these. Forms of operands that are not
    /// followed are missing; of the results of operations that arithmetic knows none are given.
    fn follows(&self, form: &AffineForm, operands: &[Option<AffineForm>]) -> bool;

    /// The form of the one result of an operation that arithmetic does not know, `operand` being
    /// those of its operands.
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
