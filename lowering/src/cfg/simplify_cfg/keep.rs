//! The blocks and edges that must be kept so that loops keep their forms.

use loomir_ir::graph::ControlFlow;
use loomir_ir::graph::cycles::CycleForest;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Block, Body, Value};

use crate::cfg::Analysis;

/// The original loops of a function. The allowed changes leave each loop its blocks, except for
/// erased ones.
pub(super) struct Keep {
    analysis: Analysis,
    /// For each block, true if it is in a cycle that is no loop.
    is_irregular: Vec<bool>,
}

impl Keep {
    /// Collects the loops of a function. Linear in its size times the nesting depth.
    pub(super) fn of(function: &Body) -> Keep {
        let flow = ControlFlow::of(function, function.region(function.root(), 0));
        let cycles = CycleForest::new(flow.graph(), flow.reversed(), 0);
        let analysis = Analysis::of(function);
        let mut is_irregular = vec![false; flow.blocks().len()];
        let mut pending = cycles.top().to_vec();
        while let Some(id) = pending.pop() {
            let cycle = cycles.get(id);
            if analysis.is_irregular(&flow, cycle) {
                cycle.nodes.iter().for_each(|node| is_irregular[*node as usize] = true);
            } else {
                pending.extend(&cycle.children);
            }
        }
        Keep { analysis, is_irregular }
    }

    fn innermost(&self, block: Block) -> Option<LoopId> {
        self.analysis.loops().innermost(self.analysis.number(block))
    }

    fn contains(&self, id: LoopId, block: Block) -> bool {
        self.analysis.loops().contains(id, self.analysis.number(block))
    }

    fn is_header(&self, block: Block) -> Option<LoopId> {
        let id = self.innermost(block)?;
        (self.analysis.loops().get(id).header() == self.analysis.number(block)).then_some(id)
    }

    /// True if a block is in all loops around the definition of a value, so it may use the value.
    pub(super) fn may_use(&self, function: &Body, value: Value, block: Block) -> bool {
        let defining = function.value_block(value).and_then(|at| self.innermost(at));
        defining.is_none_or(|id| self.contains(id, block))
    }

    /// True if edges from `from` may skip a forwarding block. The block is no header, no preheader,
    /// no exit, and a latch only if it has one predecessor.
    pub(super) fn may_skip(&self, function: &Body, block: Block, onward: Block, from: Block) -> bool {
        let is_exit = self.innermost(from).is_some_and(|id| !self.contains(id, block));
        let holds_header = self.is_header(onward).is_some_and(|id| {
            !self.contains(id, block) || function.predecessor_edges(block).nth(1).is_some()
        });
        self.is_header(block).is_none() && !is_exit && !holds_header
    }

    /// True if a block may lose all successors except `left`: its loop stays a loop. False in
    /// nested loops, because paths through the exits of inner loops are not searched.
    pub(super) fn may_lose_others(&self, from: Block, left: &[Block]) -> bool {
        let Some(id) = self.innermost(from) else { return true };
        let is_irregular = self.is_irregular[self.analysis.number(from) as usize];
        let is_outermost = self.analysis.loops().get(id).parent.is_none();
        !is_irregular && is_outermost && left.iter().any(|to| self.contains(id, *to))
    }
}
