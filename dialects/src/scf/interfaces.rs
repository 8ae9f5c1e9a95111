//! Interfaces of the `scf` operations.

use loomir_ir::rewrite::constant_of;
use loomir_ir::{OpRef, Region, Registry, Value};

use super::{ConditionOp, YieldOp, forall};
use crate::interfaces::{
    Bound, Conditional, Constants, Decision, Effect, LoopBounds, LoopLike, MemoryEffects, ParallelLike,
    RegionBranch, RegionEdge, Step,
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

/// Returns an edge that passes the operands from number `from` on.
fn edge(to: Option<usize>, op: OpRef<'_>, from: usize) -> RegionEdge {
    RegionEdge { to, operands: from.min(op.num_operands())..op.num_operands(), first: 0 }
}

/// Returns the edge behind an operation from the end of one of its regions.
fn yields(terminator: OpRef<'_>) -> Option<Vec<RegionEdge>> {
    terminator.is(YieldOp::DEF).then(|| vec![edge(None, terminator, 0)])
}

impl RegionBranch for While {
    fn entry_edges(&self, op: OpRef<'_>, _constants: &Constants<'_>) -> Vec<RegionEdge> {
        vec![edge(Some(0), op, 0)]
    }

    fn exit_edges(
        &self,
        _op: OpRef<'_>,
        _region: usize,
        terminator: OpRef<'_>,
        constants: &Constants<'_>,
    ) -> Option<Vec<RegionEdge>> {
        if terminator.is(YieldOp::DEF) {
            return Some(vec![edge(Some(0), terminator, 0)]);
        }
        if !terminator.is(ConditionOp::DEF) {
            return None;
        }
        let decided = constants(terminator.operand(0)).and_then(|attr| attr.as_int(terminator.ctx()));
        let mut edges = Vec::new();
        if decided != Some(0) {
            edges.push(edge(Some(1), terminator, 1));
        }
        if decided.is_none_or(|number| number == 0) {
            edges.push(edge(None, terminator, 1));
        }
        Some(edges)
    }
}

/// `scf.execute_region`: runs its region once.
struct Once;

impl RegionBranch for Once {
    fn entry_edges(&self, _op: OpRef<'_>, _constants: &Constants<'_>) -> Vec<RegionEdge> {
        vec![RegionEdge { to: Some(0), operands: 0..0, first: 0 }]
    }

    fn exit_edges(
        &self,
        _op: OpRef<'_>,
        _region: usize,
        terminator: OpRef<'_>,
        _constants: &Constants<'_>,
    ) -> Option<Vec<RegionEdge>> {
        yields(terminator)
    }
}

/// `scf.index_switch`: runs one region, the first if no case equals its operand.
struct Switch;

impl RegionBranch for Switch {
    fn entry_edges(&self, op: OpRef<'_>, constants: &Constants<'_>) -> Vec<RegionEdge> {
        let to = |region| RegionEdge { to: Some(region), operands: 0..0, first: 0 };
        let Some(number) = constants(op.operand(0)).and_then(|attr| attr.as_int(op.ctx())) else {
            return (0..op.regions().len()).map(to).collect();
        };
        let cases = op.attr("cases").and_then(|cases| cases.as_dense_ints(op.ctx())).unwrap_or_default();
        let case = cases.iter().position(|case| *case == number);
        vec![to(case.map_or(0, |case| case + 1))]
    }

    fn exit_edges(
        &self,
        _op: OpRef<'_>,
        _region: usize,
        terminator: OpRef<'_>,
        _constants: &Constants<'_>,
    ) -> Option<Vec<RegionEdge>> {
        yields(terminator)
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
    registry.attach_to::<dyn RegionBranch>(crate::scf::WhileOp::DEF, Box::new(While));
    registry.attach_to::<dyn RegionBranch>(crate::scf::ExecuteRegionOp::DEF, Box::new(Once));
    registry.attach_to::<dyn RegionBranch>(crate::scf::IndexSwitchOp::DEF, Box::new(Switch));
}
