//! The loops around a place.

use std::sync::Arc;

use loomir_ir::Value;

use crate::affine::AffineForm;
use crate::affine::facts::Facts;

/// The loops of the tree around a place in it.
#[derive(Clone, Debug)]
pub struct LoopContext {
    /// The number of loops; their variables are the levels below it.
    pub depth: u32,
    /// Forms over them that are not negative.
    pub constraints: Vec<AffineForm>,
    /// True if every combination that the constraints allow occurs.
    pub exact: bool,
    /// For each level a variable of the program that is a multiple of the level plus a number, if
    /// there is one, and the factor.
    pub variables: Vec<Option<(Value, i64)>>,
    /// The facts about parameters.
    pub facts: Arc<Facts>,
}
