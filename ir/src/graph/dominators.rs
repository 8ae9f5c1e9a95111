//! Dominator trees: made by the semi-NCA algorithm (Georgiadis, *Linear-Time Algorithms for
//! Dominators and Related Problems*, 2005), and kept true when edges come and go by depth-based
//! search (Georgiadis, Italiano, Laura, Santaroni, *An Experimental Study of Dynamic Dominators*,
//! 2012).
//!
//! Making a tree is in practice linear. A change costs what it affects: an edge that comes, the
//! nodes whose dominator changes and those around them; one that goes, the subtree below what
//! dominates both its ends. Nothing recurses. A query is two comparisons of depth-first numbers as
//! long as nothing has changed; after a change it walks up the tree until the tree is
//! [numbered](DominatorTree::renumber) again.

use super::{Digraph, MutableDigraph};

/// The dominator tree of a directed graph. Two are equal if they say the same.
#[derive(Clone, Debug)]
pub struct DominatorTree {
    root: u32,
    /// Immediate dominator; itself for the root; `NONE` for what cannot be reached.
    idom: Vec<u32>,
    /// The depth of each node in the tree.
    level: Vec<u32>,
    /// The nodes a node immediately dominates: the first, and for each the one behind and before
    /// it.
    first_child: Vec<u32>,
    next_sibling: Vec<u32>,
    previous_sibling: Vec<u32>,
    /// When a depth-first walk of the tree enters and leaves a node, if `is_numbered`.
    enter: Vec<u32>,
    leave: Vec<u32>,
    is_numbered: bool,
    /// Numbers of nodes during a walk; `NONE` between walks.
    scratch: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl PartialEq for DominatorTree {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root && self.idom == other.idom
    }
}

impl Eq for DominatorTree {}

/// A walk of part of a graph: nodes in the order they were entered, the first of them
/// the root, and of each its immediate dominator among them.
struct Part {
    order: Vec<u32>,
    /// Places in `order`; that of the root is its own.
    idom: Vec<u32>,
}

impl DominatorTree {
    /// The tree of a graph, from `root`.
    pub fn new(graph: &Digraph, root: u32) -> Self {
        Self::of(graph.len(), root, |node| graph.successors(node))
    }

    /// The tree of a graph that may change, from `root`.
    pub fn of_mutable(graph: &MutableDigraph, root: u32) -> Self {
        Self::of(graph.len(), root, |node| graph.successors(node))
    }

    /// The tree of `nodes` nodes with these successors.
    fn of<'g>(nodes: usize, root: u32, successors: impl Fn(u32) -> &'g [u32]) -> Self {
        let mut tree = DominatorTree::unreached(nodes, root);
        if nodes > 0 {
            tree.idom[root as usize] = root;
            let part = tree.walk(root, successors, |_| true);
            tree.attach(&part);
            tree.renumber();
        }
        tree
    }

    /// The tree of `n` nodes without edges.
    fn unreached(n: usize, root: u32) -> Self {
        DominatorTree {
            root,
            idom: vec![NONE; n],
            level: vec![0; n],
            first_child: vec![NONE; n],
            next_sibling: vec![NONE; n],
            previous_sibling: vec![NONE; n],
            enter: vec![0; n],
            leave: vec![0; n],
            is_numbered: false,
            scratch: vec![NONE; n],
        }
    }

    /// The nodes that `root` reaches through nodes that `enters` accepts, and their dominators in
    /// that part of the graph. Linear in it.
    fn walk<'g>(
        &mut self,
        root: u32,
        successors: impl Fn(u32) -> &'g [u32],
        mut enters: impl FnMut(u32) -> bool,
    ) -> Part {
        let mut order = Vec::new();
        let mut parent = Vec::new();
        let number = &mut self.scratch;
        let mut stack = vec![(root, 0u32)];
        while let Some((node, from)) = stack.pop() {
            if number[node as usize] != NONE {
                continue;
            }
            let me = order.len() as u32;
            number[node as usize] = me;
            parent.push(from);
            order.push(node);
            let to = successors(node).iter().rev();
            stack.extend(to.filter(|to| number[**to as usize] == NONE && enters(**to)).map(|to| (*to, me)));
        }
        let mut edges = Vec::with_capacity(order.len());
        for (from, node) in (0..).zip(&order) {
            let to = successors(*node).iter().map(|to| number[*to as usize]);
            edges.extend(to.filter(|to| *to != NONE).map(|to| (to, from)));
        }
        for node in &order {
            number[*node as usize] = NONE;
        }
        Part { idom: semi_nca(parent, &Digraph::new(order.len(), &edges)), order }
    }

    /// Gives the nodes of a part, but its root, the dominators it says. None of them is in the
    /// tree.
    fn attach(&mut self, part: &Part) {
        for place in 1..part.order.len() {
            self.put_below(part.order[place], part.order[part.idom[place] as usize]);
        }
    }

    /// Puts a node that is nowhere into the tree, without what is below it.
    fn put_below(&mut self, node: u32, parent: u32) {
        let first = self.first_child[parent as usize];
        self.idom[node as usize] = parent;
        self.level[node as usize] = self.level[parent as usize] + 1;
        self.next_sibling[node as usize] = first;
        self.previous_sibling[node as usize] = NONE;
        if first != NONE {
            self.previous_sibling[first as usize] = node;
        }
        self.first_child[parent as usize] = node;
        self.is_numbered = false;
    }

    /// Takes a node from its parent; what is below it stays there.
    fn cut(&mut self, node: u32) {
        let (previous, next) = (self.previous_sibling[node as usize], self.next_sibling[node as usize]);
        match previous {
            NONE => {
                let parent = self.idom[node as usize];
                self.first_child[parent as usize] = next;
            }
            _ => self.next_sibling[previous as usize] = next,
        }
        if next != NONE {
            self.previous_sibling[next as usize] = previous;
        }
        self.idom[node as usize] = NONE;
        self.is_numbered = false;
    }

    /// The nodes at and below `top`, each before those below it. Linear in them.
    fn subtree(&self, top: u32) -> Vec<u32> {
        let mut nodes = vec![top];
        let mut next = 0;
        while let Some(node) = nodes.get(next).copied() {
            nodes.extend(self.children_of(node));
            next += 1;
        }
        nodes
    }

    /// The nodes that a node immediately dominates.
    pub fn children_of(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |node: u32| (node != NONE).then_some(node);
        let first = some(self.first_child[node as usize]);
        std::iter::successors(first, move |child| some(self.next_sibling[*child as usize]))
    }

    // Changes.

    /// Makes room for a new node of the graph, which nothing leads to yet.
    pub fn add_node(&mut self) {
        let all = [&mut self.idom, &mut self.first_child, &mut self.next_sibling, &mut self.previous_sibling];
        for list in all.into_iter().chain([&mut self.scratch]) {
            list.push(NONE);
        }
        for list in [&mut self.level, &mut self.enter, &mut self.leave] {
            list.push(0);
        }
    }

    /// Takes in a new node, the last, that `graph` has got on some of the edges into `to`: they
    /// lead to it now, and it leads there. Linear in the edges into both, and in how far up the
    /// tree what dominates them all is.
    pub fn node_inserted(&mut self, graph: &MutableDigraph, to: u32) {
        self.add_node();
        let node = graph.len() as u32 - 1;
        let from = graph.predecessors(node).iter().copied().filter(|from| self.is_reachable(*from));
        let Some(dominator) = from.reduce(|a, b| self.nearest_common(a, b)) else { return };
        self.put_below(node, dominator);
        // All other ways to `to` pass it.
        let others = graph.predecessors(to).iter().copied().filter(|from| *from != node);
        if others.filter(|from| self.is_reachable(*from)).all(|from| self.dominates(to, from)) {
            self.cut(to);
            self.put_below(to, node);
            self.set_levels_below(to);
        }
    }

    /// Takes in a new node, the last, that `graph` has got on some of the edges out of `from`: it
    /// is reached from there alone, and leads to where they led. Linear in the edges out of the
    /// node and into where it leads, and, if that are several nodes that `from` immediately
    /// dominates, in all that it dominates.
    pub fn node_inserted_behind(&mut self, graph: &MutableDigraph, from: u32) {
        self.add_node();
        let node = graph.len() as u32 - 1;
        if !self.is_reachable(from) {
            return;
        }
        self.put_below(node, from);
        let behind = graph.successors(node).iter().copied();
        let mut below: Vec<u32> =
            behind.filter(|to| *to != from && self.idom[*to as usize] == from).collect();
        below.sort_unstable();
        below.dedup();
        match below[..] {
            [] => {}
            // What it dominates it does through that one.
            [to] => {
                let others = graph.predecessors(to).iter().copied().filter(|other| *other != node);
                if others.filter(|other| self.is_reachable(*other)).all(|other| self.dominates(to, other)) {
                    self.cut(to);
                    self.put_below(to, node);
                    self.set_levels_below(to);
                }
            }
            _ => self.rebuild_below(graph, from),
        }
    }

    /// Takes in that `graph` has lost a node that led nowhere.
    pub fn leaf_removed(&mut self, node: u32) {
        if self.is_reachable(node) {
            self.cut(node);
        }
    }

    /// Takes in an edge that `graph` has got.
    pub fn edge_added(&mut self, graph: &MutableDigraph, from: u32, to: u32) {
        if !self.is_reachable(from) {
            return;
        }
        if self.is_reachable(to) {
            return self.reached_again(graph, from, to);
        }
        // What is reached through it hangs below it; what that leads to elsewhere is reached once
        // more.
        self.put_below(to, from);
        let idom = std::mem::take(&mut self.idom);
        let part = self.walk(to, |node| graph.successors(node), |node| idom[node as usize] == NONE);
        self.idom = idom;
        self.attach(&part);
        for node in &part.order {
            for beyond in graph.successors(*node) {
                self.reached_again(graph, *node, *beyond);
            }
        }
    }

    /// Takes in an edge between two nodes that are reached: the nodes it gives a new way to move up
    /// to what dominates both its ends.
    fn reached_again(&mut self, graph: &MutableDigraph, from: u32, to: u32) {
        let common = self.nearest_common(from, to);
        // Nodes at this level or above keep their dominators.
        let fixed = self.level[common as usize] + 1;
        if self.level[to as usize] <= fixed {
            return;
        }
        let mut affected = Vec::new();
        let mut visited = vec![to];
        self.scratch[to as usize] = 0;
        let mut deepest = std::collections::BinaryHeap::from([(self.level[to as usize], to)]);
        while let Some((level, node)) = deepest.pop() {
            affected.push(node);
            // Through nodes further down, which keep theirs, to others that do not.
            let mut below = vec![node];
            while let Some(node) = below.pop() {
                for next in graph.successors(node) {
                    let own = self.level[*next as usize];
                    if own <= fixed || self.scratch[*next as usize] != NONE {
                        continue;
                    }
                    self.scratch[*next as usize] = 0;
                    visited.push(*next);
                    match own > level {
                        true => below.push(*next),
                        false => deepest.push((own, *next)),
                    }
                }
            }
        }
        for node in visited {
            self.scratch[node as usize] = NONE;
        }
        for node in affected {
            self.cut(node);
            self.put_below(node, common);
            self.set_levels_below(node);
        }
    }

    /// Gives what is below a node its level. Linear in what changes.
    fn set_levels_below(&mut self, top: u32) {
        let mut pending = vec![top];
        while let Some(node) = pending.pop() {
            let level = self.level[node as usize] + 1;
            let mut child = self.first_child[node as usize];
            while child != NONE {
                if self.level[child as usize] != level {
                    self.level[child as usize] = level;
                    pending.push(child);
                }
                child = self.next_sibling[child as usize];
            }
        }
    }

    /// Takes in that `graph` has lost an edge.
    pub fn edge_removed(&mut self, graph: &MutableDigraph, from: u32, to: u32) {
        let is_there = graph.successors(from).contains(&to);
        if is_there || !self.is_reachable(from) || !self.is_reachable(to) {
            return;
        }
        let common = self.nearest_common(from, to);
        if common == to {
            return;
        }
        // Reached still, if something leads there that it does not dominate.
        let supports = |node: &&u32| self.is_reachable(**node) && self.nearest_common(**node, to) != to;
        if self.idom[to as usize] != from || graph.predecessors(to).iter().any(|node| supports(&node)) {
            return self.rebuild_below(graph, common);
        }
        // What was reached through it only goes; other nodes that it led to may have dominators
        // further down now.
        let lost = self.subtree(to);
        let mut top = to;
        for node in &lost {
            for beyond in graph.successors(*node) {
                if self.is_reachable(*beyond) {
                    let common = self.nearest_common(*beyond, to);
                    if common != *beyond && self.level[common as usize] < self.level[top as usize] {
                        top = common;
                    }
                }
            }
        }
        self.cut(to);
        for node in &lost {
            self.idom[*node as usize] = NONE;
            self.first_child[*node as usize] = NONE;
        }
        if top != to {
            self.rebuild_below(graph, top);
        }
    }

    /// Makes what is below a node anew. Linear in it and the edges out of it.
    fn rebuild_below(&mut self, graph: &MutableDigraph, top: u32) {
        let old = self.subtree(top);
        let level = self.level[top as usize];
        let levels = std::mem::take(&mut self.level);
        let idom = std::mem::take(&mut self.idom);
        // An edge out of a subtree leads to nodes of it, or not deeper than its top.
        let enters = |node: u32| idom[node as usize] != NONE && levels[node as usize] > level;
        let part = self.walk(top, |node| graph.successors(node), enters);
        (self.level, self.idom) = (levels, idom);
        for node in &old[1..] {
            self.idom[*node as usize] = NONE;
            self.first_child[*node as usize] = NONE;
        }
        self.first_child[top as usize] = NONE;
        self.is_numbered = false;
        self.attach(&part);
    }

    /// Numbers the tree, so that queries are quick again. Linear.
    pub fn renumber(&mut self) {
        if self.is_numbered || !self.is_reachable(self.root) {
            return;
        }
        let mut clock = 0;
        let mut stack = vec![(self.root, false)];
        while let Some((node, done)) = stack.pop() {
            clock += 1;
            if done {
                self.leave[node as usize] = clock;
            } else {
                self.enter[node as usize] = clock;
                stack.push((node, true));
                stack.extend(self.children_of(node).map(|child| (child, false)));
            }
        }
        self.is_numbered = true;
    }

    // Queries.

    /// The nodes whose immediate dominator each node is, in the order of a depth-first walk of
    /// `graph`. Linear.
    pub fn children(&self, graph: &Digraph) -> Vec<Vec<u32>> {
        let mut children = vec![Vec::new(); graph.len()];
        for node in graph.pre_order(self.root) {
            if let Some(parent) = self.idom(node) {
                children[parent as usize].push(node);
            }
        }
        children
    }

    /// When a depth-first walk of the tree enters a node: those that a node dominates come behind
    /// it, with nothing else between them. It holds of a tree that is
    /// [numbered](DominatorTree::renumber).
    pub fn place(&self, node: u32) -> u32 {
        self.enter[node as usize]
    }

    /// Returns the depth below the root of a node that can be reached.
    pub fn depth(&self, node: u32) -> u32 {
        self.level[node as usize]
    }

    /// The immediate dominator; `None` for the root and for what cannot be reached.
    pub fn idom(&self, node: u32) -> Option<u32> {
        let d = self.idom[node as usize];
        (d != NONE && d != node).then_some(d)
    }

    /// True if the root reaches `node`.
    pub fn is_reachable(&self, node: u32) -> bool {
        self.idom.get(node as usize).is_some_and(|d| *d != NONE)
    }

    /// True if every path from the root to `b` passes `a`. True of `a == b`, and of every `a` if
    /// `b` cannot be reached.
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        if a == b || !self.is_reachable(b) {
            return true;
        }
        if !self.is_reachable(a) {
            return false;
        }
        if self.is_numbered {
            return self.enter[a as usize] <= self.enter[b as usize]
                && self.leave[b as usize] <= self.leave[a as usize];
        }
        let mut at = b;
        while self.level[at as usize] > self.level[a as usize] {
            at = self.idom[at as usize];
        }
        at == a
    }

    /// The lowest node that dominates both of two nodes that can be reached. Linear in how far it
    /// is up.
    pub fn nearest_common(&self, a: u32, b: u32) -> u32 {
        let (mut a, mut b) = (a, b);
        while a != b {
            if self.level[a as usize] < self.level[b as usize] {
                std::mem::swap(&mut a, &mut b);
            }
            a = self.idom[a as usize];
        }
        a
    }
}

/// Immediate dominators, as places, from the parents of a depth-first walk and a graph with edges
/// to the predecessors of each node.
fn semi_nca(parent: Vec<u32>, predecessors: &Digraph) -> Vec<u32> {
    let reached = parent.len();
    // Semidominators, with path compression over the forest of what is done.
    let mut semi: Vec<u32> = (0..reached as u32).collect();
    let mut label: Vec<u32> = (0..reached as u32).collect();
    let mut ancestor = parent.clone();
    let mut path = Vec::new();
    for w in (1..reached as u32).rev() {
        let mut best = parent[w as usize];
        for &v in predecessors.successors(w) {
            let candidate = match v <= w {
                true => v,
                false => semi[eval(v, w, &mut ancestor, &mut label, &semi, &mut path) as usize],
            };
            best = best.min(candidate);
        }
        semi[w as usize] = best;
    }
    // The immediate dominator is the nearest ancestor not below the semidominator.
    let mut idom = parent;
    for w in 1..reached {
        let mut d = idom[w];
        while d > semi[w] {
            d = idom[d as usize];
        }
        idom[w] = d;
    }
    idom
}

/// The node of least semidominator on the path from `v` up to, not including, the nodes numbered
/// below `last`.
fn eval(
    v: u32,
    last: u32,
    ancestor: &mut [u32],
    label: &mut [u32],
    semi: &[u32],
    path: &mut Vec<u32>,
) -> u32 {
    path.clear();
    let mut u = v;
    while ancestor[u as usize] > last {
        path.push(u);
        u = ancestor[u as usize];
    }
    // `u` is the topmost whose ancestor is at or above `last`; compress everything below onto it.
    while let Some(p) = path.pop() {
        let a = ancestor[p as usize];
        if semi[label[a as usize] as usize] < semi[label[p as usize] as usize] {
            label[p as usize] = label[a as usize];
        }
        ancestor[p as usize] = ancestor[a as usize];
    }
    label[v as usize]
}
