//! Dominator trees by the semi-NCA algorithm (Georgiadis, *Linear-Time Algorithms for Dominators and Related Problems*, 2005).
//!
//! O(n log n) in practice linear, without recursion. A query is two comparisons of depth-first numbers in the tree.

use super::Digraph;

/// The dominator tree of a directed graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DominatorTree {
    /// Immediate dominator; itself for the root; `NONE` for what cannot be reached.
    idom: Vec<u32>,
    /// When a depth-first walk of the tree enters and leaves a node.
    enter: Vec<u32>,
    leave: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl DominatorTree {
    /// The tree of a graph, from `root`.
    pub fn new(graph: &Digraph, root: u32) -> Self {
        let n = graph.len();
        let mut tree = DominatorTree { idom: vec![NONE; n], enter: vec![0; n], leave: vec![0; n] };
        if n == 0 {
            return tree;
        }
        // Depth-first numbering.
        let mut order = Vec::with_capacity(n);
        let mut number = vec![NONE; n];
        let mut parent = Vec::with_capacity(n);
        let mut stack = vec![(root, 0u32)];
        while let Some((node, from)) = stack.pop() {
            if number[node as usize] != NONE {
                continue;
            }
            number[node as usize] = order.len() as u32;
            parent.push(from);
            order.push(node);
            let me = number[node as usize];
            stack.extend(graph.successors(node).iter().rev().map(|s| (*s, me)));
        }
        let reached = order.len();
        let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); reached];
        for (i, node) in order.iter().enumerate() {
            for s in graph.successors(*node) {
                predecessors[number[*s as usize] as usize].push(i as u32);
            }
        }
        // Semidominators, with path compression over the forest of what is done.
        let mut semi: Vec<u32> = (0..reached as u32).collect();
        let mut label: Vec<u32> = (0..reached as u32).collect();
        let mut ancestor = parent.clone();
        let mut path = Vec::new();
        for w in (1..reached as u32).rev() {
            let mut best = parent[w as usize];
            for &v in &predecessors[w as usize] {
                let candidate =
                    if v <= w { v } else { eval(v, w, &mut ancestor, &mut label, &semi, &mut path) };
                let candidate = if v <= w { candidate } else { semi[candidate as usize] };
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
        for w in 0..reached {
            tree.idom[order[w] as usize] = order[idom[w] as usize];
        }
        tree.number_tree(&order, &idom);
        tree
    }

    fn number_tree(&mut self, order: &[u32], idom: &[u32]) {
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); order.len()];
        for w in 1..order.len() {
            children[idom[w] as usize].push(w as u32);
        }
        let mut clock = 0;
        let mut stack = vec![(0u32, false)];
        while let Some((w, done)) = stack.pop() {
            clock += 1;
            let node = order[w as usize] as usize;
            if done {
                self.leave[node] = clock;
            } else {
                self.enter[node] = clock;
                stack.push((w, true));
                stack.extend(children[w as usize].iter().rev().map(|c| (*c, false)));
            }
        }
    }

    /// The nodes whose immediate dominator each node is, in the order of a depth-first walk of `graph` from `root`. Linear.
    pub fn children(&self, graph: &Digraph, root: u32) -> Vec<Vec<u32>> {
        let mut children = vec![Vec::new(); graph.len()];
        for node in graph.pre_order(root) {
            if let Some(parent) = self.idom(node) {
                children[parent as usize].push(node);
            }
        }
        children
    }

    /// The immediate dominator; `None` for the root and for what cannot be reached.
    pub fn idom(&self, node: u32) -> Option<u32> {
        let d = self.idom[node as usize];
        (d != NONE && d != node).then_some(d)
    }

    /// Whether the root reaches `node`.
    pub fn is_reachable(&self, node: u32) -> bool {
        self.idom[node as usize] != NONE
    }

    /// Whether every path from the root to `b` passes `a`. True of `a == b`, and of every `a` if `b` cannot be reached.
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        if a == b || !self.is_reachable(b) {
            return true;
        }
        self.is_reachable(a)
            && self.enter[a as usize] <= self.enter[b as usize]
            && self.leave[b as usize] <= self.leave[a as usize]
    }
}

/// The node of least semidominator on the path from `v` up to, not including, the nodes numbered below `last`.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Dominance by its definition: `b` is not reached when `a` is taken out.
    fn dominates_by_removal(successors: &[Vec<u32>], a: u32, b: u32) -> bool {
        let mut seen = vec![false; successors.len()];
        let mut stack = if a == 0 { vec![] } else { vec![0u32] };
        while let Some(n) = stack.pop() {
            if n == a || std::mem::replace(&mut seen[n as usize], true) {
                continue;
            }
            stack.extend(&successors[n as usize]);
        }
        a == b || !seen[b as usize]
    }

    #[test]
    fn agrees_with_the_definition_on_random_graphs() {
        let mut state = 1u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for _ in 0..2000 {
            let n = 1 + random(9);
            let graph: Vec<Vec<u32>> =
                (0..n).map(|_| (0..random(4)).map(|_| random(n) as u32).collect()).collect();
            let edges = graph.iter().enumerate().flat_map(|(a, to)| to.iter().map(move |b| (a as u32, *b)));
            let tree = DominatorTree::new(&Digraph::new(n as usize, &edges.collect::<Vec<_>>()), 0);
            for a in 0..n as u32 {
                for b in 0..n as u32 {
                    // A node that is not reached dominates only what is not reached either.
                    let expected = dominates_by_removal(&graph, a, b)
                        && (a == b || tree.is_reachable(a) || !tree.is_reachable(b));
                    assert_eq!(tree.dominates(a, b), expected, "{a} over {b} in {graph:?}");
                }
            }
        }
    }
}
