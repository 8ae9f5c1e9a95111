//! Functions of the `llvm` dialect as control flow graphs: their loops, and what is known of these.
//!
//! An [`Analysis`] is made once for a function; what changes blocks through it keeps it true. The graph algorithms are those of [`loomir_ir::graph`].
//!
//! | module | holds |
//! | --- | --- |
//! | [`roles`] | what the blocks of a loop are to it: header, latches, exits |
//! | [`edit`] | changes of blocks that keep the analysis true |
//! | [`loop_simplify`] | the pass that gives loops a preheader, one latch and exits of their own |
//! | [`mod@print`] | loops, cycles and dominators as `opt` prints them |

use hashbrown::HashMap;
use loomir_ir::graph::dominators::DominatorTree;
use loomir_ir::graph::loops::LoopForest;
use loomir_ir::graph::{ControlFlow, MutableDigraph};
use loomir_ir::{Block, Body};

pub mod edit;
pub mod loop_simplify;
pub mod print;
pub mod roles;

/// The blocks of a function, with their dominators and loops. Blocks are numbered in the order of the text, new ones behind all others.
#[derive(Clone, Debug)]
pub struct Analysis {
    blocks: Vec<Block>,
    numbers: HashMap<Block, u32>,
    graph: MutableDigraph,
    dominators: DominatorTree,
    loops: LoopForest,
}

impl Analysis {
    /// What a function is now. Linear, but for nested loops (see [`LoopForest`]).
    pub fn of(function: &Body) -> Analysis {
        let flow = ControlFlow::of(function, function.region(function.root(), 0));
        let dominators = DominatorTree::new(flow.graph(), 0);
        let loops = LoopForest::new(flow.graph(), flow.reversed(), &dominators, 0);
        let mut graph = MutableDigraph::new(flow.blocks().len());
        for (from, to) in flow.graph().edges() {
            graph.add_edge(from, to);
        }
        let blocks = flow.blocks().to_vec();
        let numbers = blocks.iter().copied().zip(0..).collect();
        Analysis { blocks, numbers, graph, dominators, loops }
    }

    /// The block of a number.
    pub fn block(&self, number: u32) -> Block {
        self.blocks[number as usize]
    }

    /// The number of a block.
    ///
    /// # Panics
    /// If it is none of the function's.
    pub fn number(&self, block: Block) -> u32 {
        self.numbers[&block]
    }

    /// The branches between blocks.
    pub fn graph(&self) -> &MutableDigraph {
        &self.graph
    }

    /// Who dominates whom.
    pub fn dominators(&self) -> &DominatorTree {
        &self.dominators
    }

    /// The natural loops.
    pub fn loops(&self) -> &LoopForest {
        &self.loops
    }

    /// Whether it says of a function what one made anew would, orders apart. Linear times the depth of nests, and so for tests and `--verify-each`.
    pub fn is_true_of(&self, function: &Body) -> bool {
        let anew = Analysis::of(function);
        let same_number = |block: &Block| self.numbers.contains_key(block);
        if self.blocks.len() != anew.blocks.len() || !anew.blocks.iter().all(same_number) {
            return false;
        }
        let own = |number: u32| self.number(anew.block(number));
        (0..anew.blocks.len() as u32).all(|node| {
            let mut edges: Vec<u32> = anew.graph.successors(node).iter().map(|to| own(*to)).collect();
            let mut known = self.graph.successors(own(node)).to_vec();
            edges.sort_unstable();
            known.sort_unstable();
            edges == known
                && self.dominators.idom(own(node)) == anew.dominators.idom(node).map(own)
                && self.headers_around(own(node))
                    == anew.headers_around(node).into_iter().map(own).collect::<Vec<_>>()
        })
    }

    /// The headers of the loops around a block, from the inside out.
    fn headers_around(&self, node: u32) -> Vec<u32> {
        let innermost = self.loops.innermost(node);
        let around = std::iter::successors(innermost, |id| self.loops.get(*id).parent);
        around.map(|id| self.loops.get(id).header()).collect()
    }
}
