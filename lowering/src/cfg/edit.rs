//! Changes of blocks that keep the analysis true.

use hashbrown::HashSet;
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Block, Body, Builder, InsertPoint, Op, Type, Value};

use super::Analysis;

impl Analysis {
    /// Puts a new block on some of the edges into `to`, given by branch and number of the successor. It takes the arguments of `to` and hands them on, and stands behind
    /// `after` in the text. There is an edge among them. Linear in the edges into `to`, and in how deep loops nest and dominators lie there.
    pub fn insert_block(
        &mut self,
        function: &mut Body,
        edges: &[(Op, usize)],
        to: Block,
        after: Block,
    ) -> Block {
        let region = function.block_region(to);
        let types: Vec<Type> = function.arguments(to).map(|argument| function.value_type(argument)).collect();
        let block = function.create_block(region, Some(after), &types);
        let arguments: Vec<Value> = function.arguments(block).collect();
        let mut builder = Builder::new(function, InsertPoint::End(block));
        let state = builder.state(llvm::BrOp::DEF).operands(&arguments).successors(&[to]);
        builder.insert(state);
        let node = self.graph.add_node();
        self.blocks.push(block);
        self.numbers.insert(block, node);
        let to = self.number(to);
        for (branch, index) in edges {
            function.set_successor(*branch, *index, block);
            if let Some(from) = function.block_of(*branch).map(|block| self.number(block)) {
                self.graph.remove_edge(from, to);
                self.graph.add_edge(from, node);
            }
        }
        self.graph.add_edge(node, to);
        self.dominators.node_inserted(&self.graph, to);
        // It is in a loop that it both comes from and leads back to.
        let mut around = std::iter::successors(self.loops.innermost(to), |id| self.loops.get(*id).parent);
        let comes_from =
            |id: &LoopId| self.graph.predecessors(node).iter().any(|from| self.loops.contains(*id, *from));
        let innermost = around.find(comes_from);
        self.loops.insert(innermost);
        block
    }

    /// Numbers the dominators, so that questions about them are quick again. Linear.
    pub fn renumber(&mut self) {
        self.dominators.renumber();
    }
}

/// Erases the blocks of a function that nothing leads to; returns how many. Linear.
pub fn erase_unreachable(function: &mut Body) -> usize {
    let region = function.region(function.root(), 0);
    let Some(entry) = function.entry_block(region) else { return 0 };
    let mut reached = HashSet::new();
    reached.insert(entry);
    let mut pending = vec![entry];
    while let Some(block) = pending.pop() {
        pending.extend(function.block_successors(block).filter(|to| reached.insert(*to)));
    }
    let blocks: Vec<Block> = function.blocks(region).filter(|block| !reached.contains(block)).collect();
    // Their operations may use each other's results in any order.
    for block in &blocks {
        let mut ops: Vec<Op> = function.ops(*block).collect();
        while let Some(op) = ops.pop() {
            function.set_operands(op, &[]);
        }
    }
    for block in &blocks {
        let ops: Vec<Op> = function.ops(*block).collect();
        for op in ops.into_iter().rev() {
            function.erase(op);
        }
    }
    for block in &blocks {
        function.erase_block(*block);
    }
    blocks.len()
}
