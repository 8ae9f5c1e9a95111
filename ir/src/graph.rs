//! Graphs over blocks.
//!
//! The algorithms work on any directed graph whose nodes are small numbers, so that one
//! implementation serves the blocks of a region, a reversed control flow graph and the dependences
//! between loops.
//!
//! | module | holds |
//! | --- | --- |
//! | [`Digraph`], [`ControlFlow`] | graphs; the blocks of a region as one |
//! | [`dominators`] | dominator trees |
//! | [`post_dominators`] | the same of the graph turned around |
//! | [`frontiers`] | where definitions meet |
//! | [`loops`] | natural loops and how they nest |
//! | [`cycles`] | the same for cycles that may be entered at several places |
//! | [`components`] | strongly connected components |

mod components;
mod control_flow;
pub mod cycles;
mod digraph;
pub mod dominators;
pub mod frontiers;
pub mod loops;
pub mod post_dominators;

pub use components::components;
pub use control_flow::ControlFlow;
pub use digraph::{Digraph, MutableDigraph};

use hashbrown::HashMap;

use crate::body::{Body, ValueDef};
use crate::entity::{Block, Op, Region, Value};
use crate::opdef::Trait;
use dominators::DominatorTree;

/// Which values may be used where, for all regions of a body. Trees are made on demand, for regions
/// of several blocks only.
///
/// It holds for the body as it was; changing blocks makes it stale, changing operations does not.
#[derive(Debug, Default)]
pub struct Dominance {
    trees: HashMap<Region, RegionTree>,
}

#[derive(Debug)]
struct RegionTree {
    flow: ControlFlow,
    tree: DominatorTree,
}

impl Dominance {
    /// Nothing computed yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// True if every path from the entry of their region to `b` passes `a`; true for `a == b`. What
    /// cannot be reached is dominated by everything.
    pub fn block_dominates(&mut self, body: &Body, a: Block, b: Block) -> bool {
        if a == b || body.is_entry(a) || leads_alone(body, a, b) {
            return true;
        }
        let region = body.block_region(a);
        debug_assert_eq!(region, body.block_region(b));
        let entry = self.trees.entry(region).or_insert_with(|| RegionTree::new(body, region));
        entry.tree.dominates(entry.flow.number(a), entry.flow.number(b))
    }

    /// True if a block can be reached from the entry of its region.
    pub fn is_reachable(&mut self, body: &Body, block: Block) -> bool {
        let region = body.block_region(block);
        if body.single_block(region).is_some() {
            return true;
        }
        let entry = self.trees.entry(region).or_insert_with(|| RegionTree::new(body, region));
        entry.tree.is_reachable(entry.flow.number(block))
    }

    /// True if `value` is defined at every point where `user` runs: before it in its block, or in a
    /// block that dominates it, seen from any region around `user`. Linear in the depth of nesting.
    pub fn value_dominates(&mut self, body: &Body, value: Value, user: Op) -> bool {
        match body.def(value) {
            ValueDef::BlockArgument { block, .. } => {
                let region = body.block_region(block);
                match ancestor_in_region(body, user, region).and_then(|op| body.block_of(op)) {
                    Some(at) => self.block_dominates(body, block, at),
                    None => false,
                }
            }
            ValueDef::OpResult { op, .. } => {
                let Some(block) = body.block_of(op) else { return false };
                let Some(at) = ancestor_in_region(body, user, body.block_region(block)) else { return false };
                match body.block_of(at) {
                    // An operation's own regions do not see its results.
                    Some(at_block) if at_block == block => at != op && body.is_before_in_block(op, at),
                    Some(at_block) => {
                        self.block_dominates(body, block, at_block)
                            && (!body.has_trait(op, Trait::ResultsOnFirstEdge)
                                || self.first_edge_dominates(body, op, at_block))
                    }
                    None => false,
                }
            }
        }
    }

    /// True if every path to a block ends with the edge to the first successor of `branch`, or goes
    /// on from there. Linear in the edges into that successor.
    fn first_edge_dominates(&mut self, body: &Body, branch: Op, at: Block) -> bool {
        let Some(to) = body.successors(branch).next() else { return false };
        if !self.block_dominates(body, to, at) {
            return false;
        }
        let others: Vec<Op> =
            body.predecessor_edges(to).filter(|edge| *edge != (branch, 0)).map(|edge| edge.0).collect();
        let mut is_behind =
            |op: Op| body.block_of(op).is_some_and(|from| self.block_dominates(body, to, from));
        others.into_iter().all(&mut is_behind)
    }
}

/// True if a short way of single edges, with no other edges into it, leads from `a` to `b`: then
/// `a` dominates `b`, and no tree is needed to know.
fn leads_alone(body: &Body, a: Block, b: Block) -> bool {
    const STEPS: usize = 3;
    let only_predecessor = |block: &Block| {
        let mut edges = body.predecessors(*block);
        edges.next().filter(|_| edges.next().is_none())
    };
    std::iter::successors(Some(b), only_predecessor).take(1 + STEPS).any(|block| block == a)
}

impl RegionTree {
    fn new(body: &Body, region: Region) -> Self {
        let flow = ControlFlow::of(body, region);
        RegionTree { tree: DominatorTree::new(flow.graph(), 0), flow }
    }
}

/// `op`, or the operation around it that stands directly in `region`.
fn ancestor_in_region(body: &Body, op: Op, region: Region) -> Option<Op> {
    let mut op = op;
    loop {
        if body.region_of(op)? == region {
            return Some(op);
        }
        op = body.parent_op(op)?;
    }
}
