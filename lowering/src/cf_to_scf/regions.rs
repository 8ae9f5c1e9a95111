//! Parts of a function that structured control flow expresses without branches on data.
//!
//! Blocks are merged as long as one of three rules applies:
//!
//! | rule | merged |
//! | --- | --- |
//! | sequence | a block, and its only successor if no other block leads there |
//! | choice | a branch, and the successors that only it leads to, if all meet in one block |
//! | loop | a natural loop that is one block by now, if its last branch repeats or leaves it |
//!
//! A merged block has one entry. It ends with a branch of its own, or leads to one block. The parts
//! worth raising have two counted loops side by side.
//!
//! **Cost.** Each merge is linear in the edges that it removes. Blocks are visited in postorder, in
//! at most 8 rounds.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::llvm;
use loomir_ir::Body;
use loomir_ir::graph::loops::LoopId;

use crate::cfg::Analysis;
use crate::cfg::branch::is_opaque;

/// The maximal number of rounds over all blocks.
const MAX_ROUNDS: usize = 8;

/// A part of a function with one entry.
#[derive(Debug)]
pub(super) struct Part {
    /// The blocks, the entry first.
    pub(super) nodes: Vec<u32>,
    /// The block whose branch ends the part. Without one, the part leads to one block outside.
    pub(super) end: Option<u32>,
}

/// Returns the parts with two neighbours among the counted loops, in the order of their entries.
/// `postorder` holds all blocks.
pub(super) fn parts(
    body: &Body,
    analysis: &Analysis,
    postorder: &[u32],
    is_counted: &dyn Fn(LoopId) -> bool,
) -> Vec<Part> {
    let mut merging = Merging::new(body, analysis);
    for _ in 0..MAX_ROUNDS {
        let mut changed = false;
        for node in postorder {
            while !merging.is_gone[*node as usize] && merging.merge(*node) {
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    merging.parts(is_counted)
}

/// The graph of merged blocks. A merged block is known by its entry.
struct Merging<'a> {
    body: &'a Body,
    analysis: &'a Analysis,
    /// The different successors of each block.
    successors: Vec<Vec<u32>>,
    predecessors: Vec<HashSet<u32>>,
    /// The block whose branch ends a merged block, if there is one.
    ends: Vec<Option<u32>>,
    /// The blocks that were merged into each.
    merged: Vec<Vec<u32>>,
    is_gone: Vec<bool>,
    /// The loops that were merged, with their headers.
    loops: HashMap<u32, LoopId>,
}

impl<'a> Merging<'a> {
    fn new(body: &'a Body, analysis: &'a Analysis) -> Merging<'a> {
        let graph = analysis.graph();
        let mut predecessors = vec![HashSet::new(); graph.len()];
        let mut successors = Vec::with_capacity(graph.len());
        for node in 0..graph.len() as u32 {
            let mut seen = HashSet::new();
            let all = graph.successors(node).iter().copied().filter(|to| seen.insert(*to));
            let all: Vec<u32> = all.collect();
            for to in &all {
                predecessors[*to as usize].insert(node);
            }
            successors.push(all);
        }
        Merging {
            body,
            analysis,
            successors,
            predecessors,
            ends: (0..graph.len() as u32).map(Some).collect(),
            merged: vec![Vec::new(); graph.len()],
            is_gone: vec![false; graph.len()],
            loops: HashMap::new(),
        }
    }

    /// Applies a rule to a block. Returns true if one applied.
    fn merge(&mut self, node: u32) -> bool {
        match self.successors[node as usize][..] {
            [] => false,
            [only] => self.sequence(node, only),
            _ => self.repeats(node) || self.choice(node),
        }
    }

    /// True if a block is the only predecessor of another one.
    fn owns(&self, node: u32, to: u32) -> bool {
        let before = &self.predecessors[to as usize];
        before.len() == 1 && before.contains(&node) && to != node
    }

    fn sequence(&mut self, node: u32, next: u32) -> bool {
        if !self.owns(node, next) || next == 0 || self.begins_with_pad(node) {
            return false;
        }
        self.take(node, next);
        let after = std::mem::take(&mut self.successors[next as usize]);
        for to in &after {
            self.predecessors[*to as usize].remove(&next);
            self.predecessors[*to as usize].insert(node);
        }
        self.successors[node as usize] = after;
        self.ends[node as usize] = self.ends[next as usize];
        true
    }

    /// Merges a loop that consists of one merged block.
    fn repeats(&mut self, node: u32) -> bool {
        let [first, second] = self.successors[node as usize][..] else { return false };
        let Some(end) = self.ends[node as usize].filter(|_| first == node || second == node) else {
            return false;
        };
        let branch = self.body.terminator(self.analysis.block(end));
        let loops = self.analysis.loops();
        let around = loops.innermost(node).filter(|own| loops.get(*own).header() == node);
        let Some(of) = around.filter(|_| branch.is_some_and(|op| self.body.is(op, llvm::CondBrOp::DEF)))
        else {
            return false;
        };
        self.predecessors[node as usize].remove(&node);
        self.successors[node as usize].retain(|to| *to != node);
        self.ends[node as usize] = None;
        self.loops.insert(node, of);
        true
    }

    /// True if a block begins with a landing pad, which must stay the first operation there.
    fn begins_with_pad(&self, node: u32) -> bool {
        let first = self.body.first_op(self.analysis.block(node));
        first.is_some_and(|op| self.body.is(op, llvm::LandingpadOp::DEF))
    }

    /// Merges the sides of a branch that meet in one block.
    fn choice(&mut self, node: u32) -> bool {
        let end = self.ends[node as usize];
        let may_go = end.is_some_and(|end| !is_opaque(self.body, self.analysis.block(end)));
        if !may_go || self.begins_with_pad(node) {
            return false;
        }
        let all = &self.successors[node as usize];
        // A side is a region of its own only if a single edge leads there.
        let is_side = |to: &u32| {
            self.owns(node, *to)
                && self.analysis.graph().predecessors(*to).len() == 1
                && self.successors[*to as usize].len() == 1
        };
        let sides: Vec<u32> = all.iter().copied().filter(is_side).collect();
        let Some(meeting) = sides.first().map(|side| self.successors[*side as usize][0]) else {
            return false;
        };
        let meets = |to: &u32| *to == meeting || (is_side(to) && self.successors[*to as usize][0] == meeting);
        if meeting == node || !all.iter().all(meets) || sides.contains(&meeting) {
            return false;
        }
        for side in sides {
            self.take(node, side);
            self.successors[side as usize].clear();
            self.predecessors[meeting as usize].remove(&side);
        }
        self.successors[node as usize] = vec![meeting];
        self.predecessors[meeting as usize].insert(node);
        self.ends[node as usize] = None;
        true
    }

    fn take(&mut self, node: u32, other: u32) {
        self.is_gone[other as usize] = true;
        self.merged[node as usize].push(other);
    }

    /// Returns the merged blocks with two counted loops side by side.
    fn parts(self, is_counted: &dyn Fn(LoopId) -> bool) -> Vec<Part> {
        let mut parts = Vec::new();
        for entry in (0..self.is_gone.len()).filter(|node| !self.is_gone[*node]) {
            // A loop without a preheader would need the values that enter it.
            if self.merged[entry].is_empty() || self.loops.contains_key(&(entry as u32)) {
                continue;
            }
            let mut nodes = vec![entry as u32];
            let mut next = 0;
            while let Some(node) = nodes.get(next) {
                nodes.extend_from_slice(&self.merged[*node as usize]);
                next += 1;
            }
            if self.has_neighbours(&nodes, is_counted) {
                parts.push(Part { nodes, end: self.ends[entry] });
            }
        }
        parts
    }

    /// True if two counted loops among some blocks are in the same loop.
    fn has_neighbours(&self, nodes: &[u32], is_counted: &dyn Fn(LoopId) -> bool) -> bool {
        let mut seen = HashSet::new();
        let own = nodes.iter().filter_map(|node| self.loops.get(node)).filter(|own| is_counted(**own));
        own.map(|own| self.analysis.loops().get(*own).parent).any(|around| !seen.insert(around))
    }
}
