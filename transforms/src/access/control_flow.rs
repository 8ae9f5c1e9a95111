//! The conditions under which the bodies of conditionals run.
//!
//! # Limits
//!
//! - Only affine conjuncts of a condition restrict an access. Under any other condition the access
//!   counts as if it always happened.

use std::fmt;
use std::sync::Arc;

use loomir_dialects::interfaces::Decision;
use loomir_ir::OpRef;

use crate::affine::Forms;
use crate::affine::condition::Condition;

/// Decides the conditions of conditionals.
///
/// **Owed:** the constraints of an outcome are necessary for it. The outcome is exact only if they
/// are sufficient too.
pub trait ControlFlow: fmt::Debug + Send + Sync {
    /// True if a conditional is a guard of the tree, so that its contents are moved separately.
    /// Otherwise the whole conditional is a statement.
    fn is_guard(&self, op: OpRef<'_>) -> bool;

    /// Returns the constraints that a decision implies.
    fn condition(&self, forms: &mut Forms<'_>, decision: &Decision) -> Condition;
}

/// Conditions as in a control-flow graph: there are branches, and each may be taken.
#[derive(Clone, Copy, Debug)]
pub struct Cfg;

/// Conditions as affine constraints.
#[derive(Clone, Copy, Debug)]
pub struct Predicates;

impl ControlFlow for Cfg {
    fn is_guard(&self, _: OpRef<'_>) -> bool {
        false
    }

    fn condition(&self, _: &mut Forms<'_>, _: &Decision) -> Condition {
        Condition::opaque()
    }
}

impl ControlFlow for Predicates {
    fn is_guard(&self, _: OpRef<'_>) -> bool {
        true
    }

    fn condition(&self, forms: &mut Forms<'_>, decision: &Decision) -> Condition {
        forms.of_decision(decision)
    }
}

/// Returns an implementation by its name.
pub(super) fn named(name: &str) -> Option<Arc<dyn ControlFlow>> {
    Some(match name {
        "cfg" => Arc::new(Cfg),
        "predicates" => Arc::new(Predicates),
        _ => return None,
    })
}
