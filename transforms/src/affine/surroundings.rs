//! Facts that hold at a block: the loops and conditions around it, earlier assertions and
//! assumptions, and facts about parameters.

use std::sync::Arc;

use loomir_dialects::interfaces::{Conditional, Decision, EffectKind, LoopLike, MemoryEffects, Resource};
use loomir_dialects::{cf, llvm};
use loomir_ir::{Block, Body, Op, Region, Trait, Value};

use super::closed_forms::ClosedForms;
use super::facts::Facts;
use super::saturation::Saturation;
use super::{AffineForm, Atom, Forms};

/// The number of operations at the start of a block that are searched for assertions.
const MAX_LOOKED_AT: usize = 64;

/// The facts that hold at a block: constraints on the induction variables of the surrounding loops,
/// which are parameters inside, and on other parameters.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Forms that are not negative.
    pub constraints: Vec<AffineForm>,
    /// True if no constraint is missing: every combination of values within the constraints occurs.
    pub exact: bool,
    /// The facts that hold for parameters everywhere.
    pub facts: Arc<Facts>,
}

impl Surroundings {
    /// Returns the facts that hold in `block`, and forms that use them, restricted to those that
    /// `followed` follows. Linear in the depth of the block and in the bounds around it.
    pub(crate) fn of<'b>(
        body: &'b Body,
        block: Block,
        followed: &'b dyn ClosedForms,
        saturation: &Arc<Saturation>,
    ) -> (Surroundings, Forms<'b>) {
        let mut known = Surroundings::nothing();
        let mut forms = Forms::followed_by(body, block, followed).with_saturation(saturation);
        known.assertions(body, block, None, &mut forms);
        known.outwards(body, block, forms)
    }

    /// Returns the facts that hold at the start of `block`, without its own assertions.
    pub fn around(body: &Body, block: Block) -> (Surroundings, Forms<'_>) {
        Surroundings::nothing().outwards(body, block, Forms::new(body, block))
    }

    /// Returns no facts.
    pub(crate) fn nothing() -> Surroundings {
        Surroundings { constraints: Vec::new(), exact: true, facts: Arc::default() }
    }

    fn outwards<'b>(self, body: &'b Body, block: Block, mut forms: Forms<'b>) -> (Surroundings, Forms<'b>) {
        let mut known = self;
        let mut inner = block;
        loop {
            known.branches(body, inner, &mut forms);
            let region = body.block_region(inner);
            let op = body.region_parent(region);
            let Some(outer) = body.block_of(op) else { break };
            known.enter(body, region, &mut forms);
            known.assertions(body, outer, Some(op), &mut forms);
            inner = outer;
        }
        forms.suppose(&known.constraints);
        (known, forms)
    }

    /// Adds the facts of assertions and assumptions at the start of a block. With `before`, only
    /// those before that operation count; they hold because the program has passed them. Without
    /// it, they count for the whole block, as long as nothing before them writes.
    fn assertions(&mut self, body: &Body, block: Block, before: Option<Op>, forms: &mut Forms<'_>) {
        for op in body.ops(block).take(MAX_LOOKED_AT).take_while(|op| Some(*op) != before) {
            if let Some(condition) = asserted(body, op) {
                self.decided(&Decision::Value(condition), true, forms);
            } else if before.is_none() && !is_harmless(body, op) {
                break;
            }
        }
    }

    /// Adds the facts of a block that is reached by one branch only, and so on backwards from
    /// there: the direction of the branch, and earlier assertions.
    fn branches(&mut self, body: &Body, mut block: Block, forms: &mut Forms<'_>) {
        for _ in 0..MAX_LOOKED_AT {
            let mut edges = body.predecessor_edges(block);
            let (Some((op, way)), None) = (edges.next(), edges.next()) else { return };
            let Some(from) = body.block_of(op) else { return };
            if body.is(op, cf::CondBranchOp::DEF) || body.is(op, llvm::CondBrOp::DEF) {
                self.decided(&Decision::Value(body.operand(op, 0)), way == 0, forms);
            }
            self.assertions(body, from, Some(op), forms);
            block = from;
        }
    }

    fn decided(&mut self, decision: &Decision, holds: bool, forms: &mut Forms<'_>) {
        let condition = forms.of_decision(decision);
        let outcome = condition.outcome(holds);
        self.constraints.extend_from_slice(&outcome.constraints);
        self.exact &= outcome.exact;
    }

    /// Adds the facts that hold inside a region of an operation.
    fn enter(&mut self, body: &Body, region: Region, forms: &mut Forms<'_>) {
        let view = body.op_ref(body.region_parent(region));
        let conditional = view.info().interface::<dyn Conditional>();
        if let Some(decision) = conditional.and_then(|model| model.decision(view)) {
            return self.decided(&decision, body.region_index(region) == 0, forms);
        }
        let model = view.info().interface::<dyn LoopLike>().filter(|model| !model.is_unsigned(view));
        let Some((model, inner)) = model.and_then(|m| Some((m, body.entry_block(m.body(view))?))) else {
            // An unknown loop or another unknown operation with regions.
            self.exact = false;
            return;
        };
        let variable = AffineForm::atom(Atom::Param(body.argument(inner, 0)));
        let bounds = model.bounds(view);
        let lowers = forms.of_bound(&bounds.lower);
        match (&lowers[..], forms.of_step(bounds.step)) {
            (_, Some(1)) => {}
            // From its single lower bound on, the induction variable takes every step-th value: its
            // remainder modulo the step is not positive.
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
            self.add(last.and_then(|f| f.plus(&AffineForm::constant(1), -1)));
        }
    }

    fn add(&mut self, constraint: Option<AffineForm>) {
        match constraint {
            Some(constraint) => self.constraints.push(constraint),
            None => self.exact = false,
        }
    }
}

/// Returns the condition that holds after an operation.
fn asserted(body: &Body, op: Op) -> Option<Value> {
    let says = [cf::AssertOp::DEF, llvm::AssumeOp::DEF].into_iter().any(|def| body.is(op, def));
    says.then(|| body.operand(op, 0))
}

/// True if an operation always terminates and changes no memory.
pub(crate) fn is_harmless(body: &Body, op: Op) -> bool {
    if body.own_regions(op).len() > 0 || body.nested(op).is_some() {
        return false;
    }
    let view = body.op_ref(op);
    match view.info().interface::<dyn MemoryEffects>() {
        Some(model) => {
            let changes = |effect: &loomir_dialects::interfaces::Effect| {
                matches!(effect.kind, EffectKind::Write | EffectKind::Free) || effect.on == Resource::World
            };
            !model.may_not_return(view) && !model.effects(view).iter().any(changes)
        }
        None => body.has_trait(op, Trait::Pure),
    }
}
