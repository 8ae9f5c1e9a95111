//! Paths on which the first program stays where it is while the second one goes on.
//!
//! For each block of the first program, these paths are edges between blocks of the second one.
//! They have no cycle, so nobody waits for ever: each endless run of the second program leaves them
//! again and again, and the first program goes on there.

use hashbrown::{HashMap, HashSet};
use loomir_ir::Block;

use super::terms::Try;

/// The edges between blocks of the second program, by the block where the first one stays.
#[derive(Default)]
pub(super) struct Waits {
    edges: HashMap<Block, Vec<[Block; 2]>>,
}

impl Waits {
    /// True if the first program may stay at a block while the second one takes an edge.
    pub(super) fn allows(&self, at: Block, [from, to]: [Block; 2]) -> bool {
        let edges = self.edges.get(&at).map_or(&[][..], |edges| edges);
        let (mut pending, mut seen) = (vec![to], HashSet::new());
        while let Some(block) = pending.pop() {
            if block == from {
                return false;
            }
            if seen.insert(block) {
                pending.extend(edges.iter().filter(|edge| edge[0] == block).map(|edge| edge[1]));
            }
        }
        true
    }

    /// Adds an edge.
    ///
    /// # Errors
    ///
    /// If the first program might wait for ever.
    pub(super) fn add(&mut self, at: Block, edge: [Block; 2]) -> Try<()> {
        if !self.allows(at, edge) {
            return Err("the first program may wait for ever");
        }
        let edges = self.edges.entry(at).or_default();
        if !edges.contains(&edge) {
            edges.push(edge);
        }
        Ok(())
    }
}
