//! Post-dominator trees: what every way to an exit passes.
//!
//! They are the [dominator tree](DominatorTree) of the graph turned around, below a node in front
//! of everything: the *exit*, which leads to the *roots*. Roots are the nodes that lead nowhere.
//! From a region without a way out, an infinite loop, no exit is reached: of each of its last
//! cycles one node is a root too, the one LLVM takes, so that the tree holds every node. That is
//! the node that a walk comes to last, which goes from the first node of the text that is not
//! reached otherwise to later successors before earlier ones. LLVM starts such a walk from each of
//! these nodes that the walks before do not lead to, which is quadratic; after 16 times the graph,
//! walks here don't enter what others have seen.
//!
//! The tree is kept true as dominator trees are, and at their cost, as long as no region without a
//! way out changes, comes or goes. Which node is its root then is a question of the whole region
//! and of the order of the text: the tree is [stale](PostDominatorTree::is_stale) and to be made
//! anew.

use hashbrown::HashSet;

use super::dominators::DominatorTree;
use super::{Digraph, MutableDigraph};

/// The exit, in the graph turned around. A node is there one further on.
const EXIT: u32 = 0;

/// The most walks through the graph in search of roots.
const MAX_WALKED: usize = 16;

const NONE: u32 = u32::MAX;

/// The post-dominator tree of a directed graph.
#[derive(Clone, Debug)]
pub struct PostDominatorTree {
    reversed: MutableDigraph,
    tree: DominatorTree,
    /// True for each node from which no exit is reached.
    is_endless: Vec<bool>,
    has_endless: bool,
    is_stale: bool,
}

impl PostDominatorTree {
    /// The tree of a graph whose nodes are numbered in the order of the text. Linear.
    pub fn new(graph: &Digraph) -> Self {
        let order: Vec<u32> = (0..graph.len() as u32).collect();
        Self::of(graph.len(), &order, |node| graph.successors(node))
    }

    /// The tree of a graph that may change, with its nodes in the order of the text; others are
    /// none of it. Linear.
    pub fn of_mutable(graph: &MutableDigraph, order: &[u32]) -> Self {
        Self::of(graph.len(), order, |node| graph.successors(node))
    }

    fn of<'g>(nodes: usize, order: &[u32], successors: impl Fn(u32) -> &'g [u32]) -> Self {
        let mut reversed = MutableDigraph::new(nodes + 1);
        for from in order {
            for to in successors(*from) {
                reversed.add_edge(to + 1, from + 1);
            }
        }
        let (roots, is_endless) = Roots::of(&reversed, order, successors).take();
        for root in roots {
            reversed.add_edge(EXIT, root + 1);
        }
        PostDominatorTree {
            tree: DominatorTree::of_mutable(&reversed, EXIT),
            reversed,
            has_endless: is_endless.contains(&true),
            is_endless,
            is_stale: false,
        }
    }

    // Queries. They hold of a tree that is not stale.

    /// True if changes have made it another tree, which is to be made anew.
    pub fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// The nodes right below the exit that it leads to, in LLVM's order.
    pub fn roots(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.reversed.successors(EXIT).iter().map(|root| root - 1)
    }

    /// The immediate post-dominator; `None` if that is the exit.
    pub fn ipdom(&self, node: u32) -> Option<u32> {
        self.tree.idom(node + 1).and_then(|above| above.checked_sub(1))
    }

    /// True if every way from `b` to an exit passes `a`; true for `a == b`.
    pub fn post_dominates(&self, a: u32, b: u32) -> bool {
        self.tree.dominates(a + 1, b + 1)
    }

    /// The first node that every way from either of two to an exit passes; `None` if that is the
    /// exit. Linear in how far it is up.
    pub fn nearest_common(&self, a: u32, b: u32) -> Option<u32> {
        self.tree.nearest_common(a + 1, b + 1).checked_sub(1)
    }

    /// The nodes of the tree below the exit, each with its depth, from one on, before those below
    /// it; those with one parent in the order of a depth-first walk from the roots. Linear.
    pub fn pre_order(&self) -> Vec<(u32, usize)> {
        let children = self.tree.children(&self.reversed.to_digraph());
        let mut order = Vec::new();
        let mut pending = vec![(EXIT, 0)];
        while let Some((node, depth)) = pending.pop() {
            order.extend(node.checked_sub(1).map(|node| (node, depth)));
            pending.extend(children[node as usize].iter().rev().map(|child| (*child, depth + 1)));
        }
        order
    }

    /// Numbers the tree, so that queries are quick again. Linear.
    pub fn renumber(&mut self) {
        self.tree.renumber();
    }

    // Changes.

    /// Says that the graph has changed in ways that nobody told: the tree is to be made anew.
    pub fn invalidate(&mut self) {
        self.is_stale = true;
    }

    /// Makes room for a new node, without edges.
    pub fn add_node(&mut self) {
        if self.is_stale {
            return;
        }
        self.reversed.add_node();
        self.tree.add_node();
        self.is_endless.push(false);
        self.connect(EXIT, self.reversed.len() as u32 - 1);
    }

    /// Takes in an edge that the graph has got.
    pub fn edge_added(&mut self, from: u32, to: u32) {
        if self.is_stale {
            return;
        }
        let (is_endless, to_endless) = (self.is_endless[from as usize], self.is_endless[to as usize]);
        let (from, to) = (from + 1, to + 1);
        let was_root = self.reversed.predecessors(from) == [EXIT];
        let may_be_endless = self.has_endless && (to_endless || !self.reversed.successors(from).is_empty());
        self.is_stale = is_endless || (was_root && may_be_endless);
        if self.is_stale {
            return;
        }
        if was_root {
            self.disconnect(EXIT, from);
        }
        self.connect(to, from);
        self.is_stale = !self.tree.is_reachable(from);
    }

    /// Takes in that the graph has lost an edge.
    pub fn edge_removed(&mut self, from: u32, to: u32) {
        if self.is_stale {
            return;
        }
        let is_endless = |node: u32| self.is_endless[node as usize];
        self.is_stale = is_endless(from) || (self.has_endless && !is_endless(to));
        if self.is_stale {
            return;
        }
        let (from, to) = (from + 1, to + 1);
        self.disconnect(to, from);
        if self.reversed.predecessors(from).is_empty() {
            self.connect(EXIT, from);
        }
        self.is_stale = !self.tree.is_reachable(from);
    }

    /// Takes in a new node, the last, that `graph` has got on some of the edges into `to`. Linear
    /// in the edges into both, and, unless at most one of the nodes in front is immediately
    /// post-dominated by `to`, in all that is.
    pub fn node_inserted(&mut self, graph: &MutableDigraph, to: u32) {
        self.is_stale = self.is_stale || self.is_endless[to as usize];
        if self.is_stale {
            return;
        }
        self.is_endless.push(false);
        let node = self.reversed.add_node();
        for from in graph.predecessors(node - 1) {
            self.reversed.remove_edge(to + 1, from + 1);
            self.reversed.add_edge(node, from + 1);
        }
        self.reversed.add_edge(to + 1, node);
        self.tree.node_inserted_behind(&self.reversed, to + 1);
    }

    /// Takes in that a node is gone, with all its edges.
    pub fn node_removed(&mut self, node: u32) {
        if self.is_stale {
            return;
        }
        self.is_stale = self.is_endless[node as usize] || !self.reversed.successors(node + 1).is_empty();
        if self.is_stale {
            return;
        }
        let node = node + 1;
        for to in self.reversed.predecessors(node).to_vec() {
            self.reversed.remove_edge(to, node);
        }
        self.tree.leaf_removed(node);
    }

    fn connect(&mut self, from: u32, to: u32) {
        self.reversed.add_edge(from, to);
        self.tree.edge_added(&self.reversed, from, to);
    }

    fn disconnect(&mut self, from: u32, to: u32) {
        self.reversed.remove_edge(from, to);
        self.tree.edge_removed(&self.reversed, from, to);
    }
}

/// The search for roots.
struct Roots<'r, S> {
    reversed: &'r MutableDigraph,
    order: &'r [u32],
    successors: S,
    is_endless: Vec<bool>,
    /// The root that a node leads to, by its place among all that are found.
    root_of: Vec<u32>,
    found: Vec<u32>,
}

impl<'r, 'g, S: Fn(u32) -> &'g [u32]> Roots<'r, S> {
    fn of(reversed: &'r MutableDigraph, order: &'r [u32], successors: S) -> Self {
        let nodes = reversed.len() - 1;
        let (is_endless, root_of) = (vec![false; nodes], vec![NONE; nodes]);
        Roots { reversed, order, successors, is_endless, root_of, found: Vec::new() }
    }

    /// The roots, nodes that lead nowhere and one of each last cycle; and which nodes lead to no
    /// exit.
    fn take(mut self) -> (Vec<u32>, Vec<bool>) {
        for node in self.order {
            if (self.successors)(*node).is_empty() {
                self.mark(*node);
            }
        }
        let exits = self.found.len();
        for node in self.order {
            self.is_endless[*node as usize] = self.root_of[*node as usize] == NONE;
        }
        self.mark_endless();
        // One that leads to another is none; the last takes its place.
        let mut roots = self.found.clone();
        let mut places: Vec<u32> = (0..roots.len() as u32).collect();
        let mut at = exits;
        while at < roots.len() {
            if self.leads_on(places[at]) {
                roots.swap_remove(at);
                places.swap_remove(at);
            } else {
                at += 1;
            }
        }
        (roots, self.is_endless)
    }

    /// Makes a node a root, of all that lead to it and to no root before.
    fn mark(&mut self, root: u32) {
        let place = self.found.len() as u32;
        self.found.push(root);
        let mut pending = vec![root];
        while let Some(node) = pending.pop() {
            if self.root_of[node as usize] == NONE {
                self.root_of[node as usize] = place;
                pending.extend(self.reversed.successors(node + 1).iter().map(|from| from - 1));
            }
        }
    }

    fn mark_endless(&mut self) {
        if !self.is_endless.contains(&true) {
            return;
        }
        let nodes = self.is_endless.len();
        let mut rank = vec![0u32; nodes];
        for (place, node) in (0..).zip(self.order) {
            rank[*node as usize] = place;
        }
        let all: usize = self.order.iter().map(|node| 1 + (self.successors)(*node).len()).sum();
        let (mut left, mut seen, mut walk) = (MAX_WALKED * all, vec![NONE; nodes], 0);
        let order = self.order;
        for (start, node) in (0..).zip(order) {
            if self.root_of[*node as usize] != NONE {
                continue;
            }
            if left > 0 {
                walk = start;
            }
            let mut furthest = *node;
            let mut pending = vec![*node];
            while let Some(at) = pending.pop() {
                if std::mem::replace(&mut seen[at as usize], walk) == walk {
                    continue;
                }
                furthest = at;
                let first = pending.len();
                pending.extend((self.successors)(at));
                left = left.saturating_sub(1 + pending.len() - first);
                pending[first..].sort_unstable_by_key(|to| rank[*to as usize]);
            }
            self.mark(furthest);
        }
    }

    /// True if a root of a region without a way out leads to another one. Linear in the cycle it is
    /// in.
    fn leads_on(&self, place: u32) -> bool {
        let root = self.found[place as usize];
        let mut seen: HashSet<u32> = HashSet::from_iter([root]);
        let mut pending = vec![root];
        while let Some(node) = pending.pop() {
            for to in (self.successors)(node) {
                if self.root_of[*to as usize] != place {
                    return true;
                }
                if seen.insert(*to) {
                    pending.push(*to);
                }
            }
        }
        false
    }
}
