//! Copies of blocks, with the loops among them.
//!
//! Cost: linear in the copied code, and in the nesting depth of loops around it.

use hashbrown::HashMap;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Block, Body, Mapping};

use super::Analysis;

impl Analysis {
    /// Copies blocks and places the copies behind `after`. If a loop's header is among the blocks,
    /// all of the loop is. A copied loop is in the same surrounding loops as the original. The
    /// copies of `opened` are no loop: the caller redirects their backedges. Edges out of the
    /// blocks keep their targets.
    ///
    /// The graph contains the copies but not their edges. The caller redirects these and reports
    /// them by [`branch_changed`](Analysis::branch_changed).
    pub(super) fn copy_blocks(
        &mut self,
        function: &mut Body,
        blocks: &[Block],
        after: Block,
        opened: Option<LoopId>,
    ) -> (Mapping, Vec<Block>) {
        let mut mapping = Mapping::default();
        let copies = function.copy_blocks(blocks, after, &mut mapping);
        let is_headed = |id: &LoopId, block: &Block| self.block(self.loops.get(*id).header()) == *block;
        let innermost = |block: &Block| self.loops.innermost(self.number(*block));
        let mut whole: Vec<LoopId> =
            blocks.iter().filter_map(|block| innermost(block).filter(|id| is_headed(id, block))).collect();
        whole.sort_by_key(|id| self.loops.get(*id).depth);
        // Maps each loop around a block to the corresponding loop around its copy.
        let mut loops: HashMap<LoopId, Option<LoopId>> = HashMap::new();
        let around = |loops: &HashMap<LoopId, Option<LoopId>>, id: Option<LoopId>| match id {
            Some(id) => loops.get(&id).copied().unwrap_or(Some(id)),
            None => None,
        };
        for id in &whole {
            let parent = around(&loops, self.loops.get(*id).parent);
            let own = if Some(*id) == opened { parent } else { Some(self.loops.add(parent)) };
            loops.insert(*id, own);
        }
        for (block, copy) in blocks.iter().zip(&copies) {
            let innermost = around(&loops, self.loops.innermost(self.number(*block)));
            self.add_block(*copy, innermost);
        }
        for id in whole {
            let header = self.block(self.loops.get(id).header());
            if let Some(own) = loops[&id].filter(|_| Some(id) != opened) {
                let header = self.number(mapping.block(header));
                self.loops.set_header(own, header);
            }
        }
        (mapping, copies)
    }
}
