//! When what is inside conditionals runs.
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

/// What is known of conditionals.
///
/// **Owed:** the constraints of an outcome are necessary for it, and it is said to be exact only if
/// they are sufficient too.
pub trait ControlFlow: fmt::Debug + Send + Sync {
    /// True if a conditional is a guard of the tree, so that what is inside it is moved by itself.
    /// If not, it is a statement.
    fn is_guard(&self, op: OpRef<'_>) -> bool;

    /// What is known of what decides a conditional.
    fn condition(&self, forms: &mut Forms<'_>, decision: &Decision) -> Condition;
}

/// As a control-flow graph has it: there are branches, and each may be taken.
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

/// An implementation by its name.
pub(super) fn named(name: &str) -> Option<Arc<dyn ControlFlow>> {
    Some(match name {
        "cfg" => Arc::new(Cfg),
        "predicates" => Arc::new(Predicates),
        _ => return None,
    })
}
