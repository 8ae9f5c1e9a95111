//! Iterated dominance frontiers: where what is defined in several places has to be told apart.
//!
//! A node is in the *frontier* of one that dominates a node in front of it but not, strictly, the
//! node itself. Where values that are given in some nodes meet is the frontier of those nodes and
//! of all that is in it. It is found from the deepest nodes of the dominator tree upwards (Sreedhar
//! and Gao, *A Linear Time Algorithm for Placing φ-Nodes*, 1995), and only among nodes where the
//! value is live: what is below a node of the tree is looked at through live nodes alone. A meeting
//! of two ways to a use is not missed by that: on one that comes from a definition last everything
//! is live, and each node of the frontier on it leads to the next.
//!
//! **Cost.** Linear in the definitions and the live nodes, and in the edges into these, times a
//! logarithm; what else definitions dominate or lead to is not looked at.

use std::collections::BinaryHeap;

use hashbrown::{HashMap, HashSet};

use super::Digraph;
use super::dominators::DominatorTree;

/// The nodes among `live`, those where a value is needed when they are entered, that several of its
/// definitions reach. `reversed` leads from nodes to those in front of them. Definitions that can't
/// be reached are none, and such nodes are not live.
pub fn iterated_frontier(
    reversed: &Digraph,
    tree: &DominatorTree,
    definitions: &[u32],
    live: &[u32],
) -> Vec<u32> {
    // From nodes to the live ones: where edges lead, and what is below in the tree.
    let mut edges: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut below: HashMap<u32, Vec<u32>> = HashMap::new();
    for node in live {
        for from in reversed.successors(*node) {
            edges.entry(*from).or_default().push(*node);
        }
        if let Some(parent) = tree.idom(*node) {
            below.entry(parent).or_default().push(*node);
        }
    }
    let reached = definitions.iter().filter(|node| tree.is_reachable(**node));
    let mut deepest: BinaryHeap<(u32, u32)> = reached.map(|node| (tree.depth(*node), *node)).collect();
    let (mut walked, mut is_found) = (HashSet::new(), HashSet::new());
    let mut found = Vec::new();
    while let Some((depth, root)) = deepest.pop() {
        walked.insert(root);
        let mut pending = vec![root];
        while let Some(node) = pending.pop() {
            for to in edges.get(&node).into_iter().flatten() {
                if tree.depth(*to) <= depth && is_found.insert(*to) {
                    found.push(*to);
                    deepest.push((tree.depth(*to), *to));
                }
            }
            pending.extend(below.get(&node).into_iter().flatten().filter(|child| walked.insert(**child)));
        }
    }
    found
}
