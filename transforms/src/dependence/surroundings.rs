//! What is known where a block stands: the loops and conditions around it.

use loomir_dialects::interfaces::LoopLike;
use loomir_ir::{Block, Body, Op};

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
        let mut around = body.region_parent(body.block_region(block));
        while let Some(outer) = body.block_of(around) {
            known.enter(body, around, &mut forms);
            around = body.region_parent(body.block_region(outer));
        }
        known
    }

    fn enter(&mut self, body: &Body, op: Op, forms: &mut Forms<'_>) {
        let view = body.op_ref(op);
        let model = view.info().interface::<dyn LoopLike>().filter(|model| !model.is_unsigned(view));
        let Some((model, inner)) = model.and_then(|m| Some((m, body.entry_block(m.body(view))?))) else {
            // A condition, or a loop nothing is known of.
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
