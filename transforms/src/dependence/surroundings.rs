//! What is known where a block stands: the loops and conditions around it.

use loomir_dialects::interfaces::{Conditional, LoopLike};
use loomir_ir::{Block, Body, Region};

use super::form::{Atom, Form, Forms};

/// What is known where a block stands: constraints on the induction variables of the loops around, which are parameters of what is inside.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Forms that are not negative.
    pub constraints: Vec<Form>,
    /// Whether these are all there are: every combination they allow occurs.
    pub exact: bool,
}

impl Surroundings {
    /// What is known in `block`. Linear in its depth and in the bounds around it.
    pub fn of(body: &Body, block: Block) -> Surroundings {
        let mut known = Surroundings { constraints: Vec::new(), exact: true };
        let mut forms = Forms::new(body, block);
        let mut region = body.block_region(block);
        while let Some(outer) = body.block_of(body.region_parent(region)) {
            known.enter(body, region, &mut forms);
            region = body.block_region(outer);
        }
        known
    }

    /// Adds what is known inside a region of an operation.
    fn enter(&mut self, body: &Body, region: Region, forms: &mut Forms<'_>) {
        let view = body.op_ref(body.region_parent(region));
        let conditional = view.info().interface::<dyn Conditional>();
        if let Some(decision) = conditional.and_then(|model| model.decision(view)) {
            let condition = forms.of_decision(&decision);
            let outcome = condition.outcome(body.region_index(region) == 0);
            self.constraints.extend_from_slice(&outcome.constraints);
            self.exact &= outcome.exact;
            return;
        }
        let model = view.info().interface::<dyn LoopLike>().filter(|model| !model.is_unsigned(view));
        let Some((model, inner)) = model.and_then(|m| Some((m, body.entry_block(m.body(view))?))) else {
            // A loop nothing is known of, or the like.
            self.exact = false;
            return;
        };
        let variable = Form::atom(Atom::Param(body.argument(inner, 0)));
        let bounds = model.bounds(view);
        let lowers = forms.of_bound(&bounds.lower);
        match (&lowers[..], forms.of_step(bounds.step)) {
            (_, Some(1)) => {}
            // From one lower bound on, the variable takes every step-th value: what it is beyond a whole number of steps is not positive.
            ([Some(lower)], Some(step)) => {
                let beyond = variable.minus(lower).and_then(|d| d.modulo(step));
                self.add(beyond.and_then(|d| d.times(-1)));
            }
            _ => self.exact = false,
        }
        for lower in lowers {
            self.add(lower.and_then(|lower| variable.minus(&lower)));
        }
        for upper in forms.of_bound(&bounds.upper) {
            let last = upper.and_then(|upper| upper.minus(&variable));
            self.add(last.and_then(|f| f.plus(&Form::constant(1), -1)));
        }
    }

    fn add(&mut self, constraint: Option<Form>) {
        match constraint {
            Some(constraint) => self.constraints.push(constraint),
            None => self.exact = false,
        }
    }
}
