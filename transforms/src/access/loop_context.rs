//! The loops around a place.

use std::sync::Arc;

use loomir_ir::Value;
use loomir_polyhedra::{Emptiness, Limits};

use crate::affine::AffineForm;
use crate::affine::facts::Facts;
use crate::affine::system::System;

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

impl LoopContext {
    /// True if a form over the loops is proved not to be negative.
    pub fn implies(&self, form: &AffineForm, limits: &Limits) -> bool {
        if let Some(number) = form.as_constant() {
            return number >= 0;
        }
        let negative = form.times(-1).and_then(|form| form.plus(&AffineForm::constant(1), -1));
        negative.is_some_and(|negative| {
            let system = System::over(self.depth, self.constraints.iter().chain([&negative]));
            matches!(system.is_empty(&self.facts, limits), Emptiness::Empty)
        })
    }
}
