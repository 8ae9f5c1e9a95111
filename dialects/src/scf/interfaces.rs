//! Interfaces of the `scf` operations.

use loomir_ir::rewrite::constant_of;
use loomir_ir::{OpRef, Region, Registry, Value};

use super::forall;
use crate::interfaces::{
    Bound, Conditional, Decision, Effect, LoopBounds, LoopLike, MemoryEffects, ParallelLike, Step,
};

/// `scf.for` as a counted loop.
struct For;

impl LoopLike for For {
    fn bounds(&self, op: OpRef<'_>) -> LoopBounds {
        between(op, op.operand(0), op.operand(1), op.operand(2))
    }

    fn body(&self, op: OpRef<'_>) -> Region {
        op.region(0)
    }

    fn inits(&self, op: OpRef<'_>) -> Vec<Value> {
        op.operands().skip(3).collect()
    }

    fn is_unsigned(&self, op: OpRef<'_>) -> bool {
        op.attr("unsignedCmp").is_some()
    }
}

impl MemoryEffects for For {
    fn effects(&self, _op: OpRef<'_>) -> Vec<Effect> {
        Vec::new()
    }

    fn may_be_undefined(&self, op: OpRef<'_>) -> bool {
        positive_constant(op, op.operand(2)).is_none()
    }
}

fn positive_constant(op: OpRef<'_>, value: Value) -> Option<i64> {
    constant_of(op.body(), value)?.as_int(op.ctx()).filter(|number| *number > 0)
}

/// `scf.if`.
struct If;

impl Conditional for If {
    fn decision(&self, op: OpRef<'_>) -> Option<Decision> {
        Some(Decision::Value(op.operand(0)))
    }
}

/// `scf.parallel` and `scf.forall`: undefined for steps that are not positive.
struct Parallel {
    /// The operands that are steps.
    steps: &'static str,
}

impl MemoryEffects for Parallel {
    fn effects(&self, _op: OpRef<'_>) -> Vec<Effect> {
        Vec::new()
    }

    fn may_be_undefined(&self, op: OpRef<'_>) -> bool {
        op.operand_group(self.steps).iter().any(|step| positive_constant(op, *step).is_none())
    }
}

/// `scf.parallel` as a loop whose iterations may run in any order.
struct AnyOrder;

impl ParallelLike for AnyOrder {
    fn dimensions(&self, op: OpRef<'_>) -> Vec<LoopBounds> {
        let [lower, upper, steps] = ["lowerBound", "upperBound", "step"].map(|group| op.operand_group(group));
        let bounds = lower.into_iter().zip(upper).zip(steps);
        bounds.map(|((lower, upper), step)| between(op, lower, upper, step)).collect()
    }

    fn body(&self, op: OpRef<'_>) -> Region {
        op.region(0)
    }
}

/// `scf.forall` as a parallel loop, if it combines no results.
struct Forall;

impl ParallelLike for Forall {
    fn dimensions(&self, op: OpRef<'_>) -> Vec<LoopBounds> {
        forall::iteration_space(op, |step| positive_constant(op, step))
    }

    fn body(&self, op: OpRef<'_>) -> Region {
        op.region(0)
    }
}

/// Returns the iteration domain between values of an operation.
fn between(op: OpRef<'_>, lower: Value, upper: Value, step: Value) -> LoopBounds {
    let step = match positive_constant(op, step) {
        Some(number) => Step::Constant(number),
        None => Step::Value(step),
    };
    LoopBounds { lower: Bound::Value(lower), upper: Bound::Value(upper), step }
}

/// `scf.while`, which may run forever.
struct While;

impl MemoryEffects for While {
    fn effects(&self, _op: OpRef<'_>) -> Vec<Effect> {
        Vec::new()
    }

    fn may_not_return(&self, _op: OpRef<'_>) -> bool {
        true
    }
}

pub(super) fn register(registry: &mut Registry) {
    registry.attach_to::<dyn LoopLike>(crate::scf::ForOp::DEF, Box::new(For));
    registry.attach_to::<dyn MemoryEffects>(crate::scf::ForOp::DEF, Box::new(For));
    registry.attach_to::<dyn Conditional>(crate::scf::IfOp::DEF, Box::new(If));
    registry.attach_to::<dyn ParallelLike>(crate::scf::ParallelOp::DEF, Box::new(AnyOrder));
    registry
        .attach_to::<dyn MemoryEffects>(crate::scf::ParallelOp::DEF, Box::new(Parallel { steps: "step" }));
    registry.attach_to::<dyn ParallelLike>(crate::scf::ForallOp::DEF, Box::new(Forall));
    registry.attach_to::<dyn MemoryEffects>(
        crate::scf::ForallOp::DEF,
        Box::new(Parallel { steps: "dynamicStep" }),
    );
    registry.attach_to::<dyn MemoryEffects>(crate::scf::WhileOp::DEF, Box::new(While));
}
