//! The blocks of a region as a graph.

use std::sync::OnceLock;

use hashbrown::HashMap;

use crate::body::Body;
use crate::entity::{Block, Region};

use super::Digraph;

/// The blocks of a region, numbered in the order of the text, and the branches between them, those
/// of a block in the order of its successors. The entry is number 0.
#[derive(Clone, Debug)]
pub struct ControlFlow {
    blocks: Vec<Block>,
    numbers: HashMap<Block, u32>,
    graph: Digraph,
    /// Made when it is first asked for.
    reversed: OnceLock<Digraph>,
}

impl ControlFlow {
    /// The graph of a region as it is now. Linear.
    pub fn of(body: &Body, region: Region) -> ControlFlow {
        let blocks: Vec<Block> = body.blocks(region).collect();
        let numbers: HashMap<Block, u32> = blocks.iter().copied().zip(0..).collect();
        let mut edges = Vec::with_capacity(blocks.len());
        for (number, block) in blocks.iter().enumerate() {
            // A branch into another region is for the verifier.
            let to = body.block_successors(*block).filter_map(|to| numbers.get(&to));
            edges.extend(to.map(|to| (number as u32, *to)));
        }
        let graph = Digraph::new(blocks.len(), &edges);
        ControlFlow { graph, blocks, numbers, reversed: OnceLock::new() }
    }

    /// The blocks, by number.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The block of a number.
    pub fn block(&self, number: u32) -> Block {
        self.blocks[number as usize]
    }

    /// The number of a block of the region.
    ///
    /// # Panics
    /// If the block is in another region.
    pub fn number(&self, block: Block) -> u32 {
        self.numbers[&block]
    }

    /// From blocks to their successors.
    pub fn graph(&self) -> &Digraph {
        &self.graph
    }

    /// From blocks to their predecessors, those of a block in the order of the text.
    pub fn reversed(&self) -> &Digraph {
        self.reversed.get_or_init(|| self.graph.reversed())
    }
}
