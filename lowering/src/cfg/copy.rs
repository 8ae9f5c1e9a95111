//! Copies of blocks, with the loops that are among them.
//!
//! Cost: linear in what is copied, and in how deep loops nest around it.

use hashbrown::HashMap;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Block, Body, Mapping};

use super::Analysis;

impl Analysis {
    /// Copies blocks, among them all of each loop whose header is among them; the copies stand
    /// behind `after`. A loop of the copies is where one of the originals is, within the same
    /// loops; of `opened` the copies are no loop: whoever asks for that leads their backedges
    /// elsewhere. Edges out of the blocks lead where they led.
    ///
    /// The graph knows the copies and not their edges: whoever has led these where they go says so
    /// by [`branch_changed`](Analysis::branch_changed).
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
        // What a loop around a block is around its copy.
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
