//! Fusion of parallel loops that combine values: all dimensions of an operation are fused, or none.
//!
//! A loop tree has one loop for each dimension, and fusion proceeds level by level. With the
//! outermost dimensions fused and the next ones apart, neither operation could have its results. So
//! both loops must have equally many dimensions, and all of them must fuse. Inside such a loop the
//! next dimensions are fused at any cost.

use loomir_dialects::interfaces::ParallelLike;
use loomir_ir::{Body, Op};

use super::group::Group;
use super::{Fusion, Plan};
use crate::access::LoopContext;
use crate::tree::{Green, Header, Node};

impl Fusion<'_> {
    /// Returns a planned fusion, if it keeps all results of parallel loops.
    pub(super) fn keeps_reductions(
        &mut self,
        first: &Group,
        second: &Group,
        plan: Plan,
        loop_context: &LoopContext,
    ) -> Option<Plan> {
        if ![first, second].into_iter().any(|group| group.begins_reduction) {
            return Some(plan);
        }
        let ops = || first.ops().chain(second.ops());
        let needed = ops().map(|op| dimensions(self.body, op)).max()?;
        if ops().any(|op| dimensions(self.body, op) != needed) {
            return None;
        }
        if needed == 1 {
            return Some(plan);
        }
        let plan = Ok(plan);
        let fuses_all = first.ops().len() == 1 && self.levels(first, &plan, loop_context) >= needed;
        plan.ok().filter(|_| fuses_all)
    }

    /// Returns the loop `item` with fusion inside it. A body of statements stays unchanged.
    pub(super) fn finish_inside(&mut self, item: Green, loop_context: &LoopContext) -> Green {
        let Node::Loop { header, body } = self.trees.get(item) else { return item };
        if self.trees.items(body).all(|item| matches!(self.trees.get(item), Node::Leaf { .. })) {
            return item;
        }
        let at_any_cost = self.at_any_cost;
        self.at_any_cost |= self.is_inside_reduction(self.trees.header(header));
        let loop_context = loop_context.inside(self.program, self.trees, header);
        let body = self.sequence(body, &loop_context);
        self.at_any_cost = at_any_cost;
        self.trees.with_header(header, body)
    }

    /// True if a loop is a dimension, but not the last, of a parallel loop with results.
    fn is_inside_reduction(&self, header: &Header) -> bool {
        let infos = header.origins.iter().map(|own| self.program.loop_info(own.of));
        infos.filter(|info| info.reduced > 0).any(|info| {
            info.dimension.is_some_and(|dimension| dimension + 1 < dimensions(self.body, info.op))
        })
    }
}

/// Returns the number of dimensions of a loop: its arguments, if it is parallel.
fn dimensions(body: &Body, op: Op) -> usize {
    if body.info(op).interface::<dyn ParallelLike>().is_none() {
        return 1;
    }
    body.single_block(body.region(op, 0)).map_or(1, |block| body.num_arguments(block))
}
