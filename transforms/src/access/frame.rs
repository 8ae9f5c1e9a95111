//! The loops around a place.

use std::sync::Arc;

use loomir_ir::Value;

use crate::affine::Form;
use crate::affine::facts::Facts;

/// The loops of the tree around a place in it.
#[derive(Clone, Debug)]
pub struct Frame {
    /// How many there are; their variables are the levels below this number.
    pub depth: u32,
    /// Forms over them that are not negative.
    pub constraints: Vec<Form>,
    /// Whether these are all there are: every combination they allow occurs.
    pub exact: bool,
    /// For each level a variable of the program that is a multiple of the level plus a number, if there is one, and which multiple.
    pub variables: Vec<Option<(Value, i64)>>,
    /// What is known of parameters.
    pub facts: Arc<Facts>,
}
