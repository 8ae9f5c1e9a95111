//! Functions of the `llvm` dialect as control flow graphs: their loops, and what is known of these.
//!
//! | module | holds |
//! | --- | --- |
//! | [`print`] | loops, cycles and dominators as `opt` prints them |
//!
//! The graphs and their trees are those of [`loomir_ir::graph`].

use loomir_ir::Body;
use loomir_ir::graph::ControlFlow;
use loomir_ir::graph::cycles::CycleForest;
use loomir_ir::graph::dominators::DominatorTree;
use loomir_ir::graph::loops::LoopForest;

pub mod print;

/// The blocks of a function, with their dominators, loops and cycles.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// The graph.
    pub flow: ControlFlow,
    /// Who dominates whom.
    pub dominators: DominatorTree,
    /// Natural loops.
    pub loops: LoopForest,
}

impl Analysis {
    /// What a function is now. Linear, but for nested loops (see [`LoopForest`]).
    pub fn of(function: &Body) -> Analysis {
        let flow = ControlFlow::of(function, function.region(function.root(), 0));
        let dominators = DominatorTree::new(flow.graph(), 0);
        let loops = LoopForest::new(flow.graph(), flow.reversed(), &dominators, 0);
        Analysis { flow, dominators, loops }
    }

    /// The cycles: the loops, and what is entered at several places.
    pub fn cycles(&self) -> CycleForest {
        CycleForest::new(self.flow.graph(), self.flow.reversed(), 0)
    }
}
