//! Directed graphs whose nodes are numbers from 0 on: the form in which algorithms see blocks, and
//! anything else.

/// A directed graph. Edges out of a node have an order; there may be several between two nodes.
///
/// ```
/// use loomir_ir::graph::Digraph;
/// let diamond = Digraph::new(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
/// assert_eq!(diamond.successors(0), [1, 2]);
/// assert_eq!(diamond.reversed().successors(3), [1, 2]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Digraph {
    /// Where the successors of each node begin in `targets`, and where the last ones end.
    offsets: Vec<u32>,
    targets: Vec<u32>,
}

impl Digraph {
    /// The graph of `nodes` nodes with these edges, those out of one node in the order given.
    /// Linear.
    pub fn new(nodes: usize, edges: &[(u32, u32)]) -> Digraph {
        let mut offsets = vec![0u32; nodes + 1];
        for (from, _) in edges {
            offsets[*from as usize + 1] += 1;
        }
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut targets = vec![0; edges.len()];
        for (from, to) in edges {
            let place = &mut next[*from as usize];
            targets[*place as usize] = *to;
            *place += 1;
        }
        Digraph { offsets, targets }
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the edges out of a node lead, in their order.
    pub fn successors(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.targets[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }

    /// All edges, by the node they come from.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.len() as u32).flat_map(|from| self.successors(from).iter().map(move |to| (from, *to)))
    }

    /// The graph with every edge turned around. The edges into a node, now out of it, are in the
    /// order of the nodes they come from. Linear.
    pub fn reversed(&self) -> Digraph {
        let edges: Vec<(u32, u32)> = self.edges().map(|(from, to)| (to, from)).collect();
        Digraph::new(self.len(), &edges)
    }

    /// The nodes that `root` reaches, in the order in which a depth-first walk, which takes edges
    /// in their order, enters them. Linear.
    pub fn pre_order(&self, root: u32) -> Vec<u32> {
        let mut order = Vec::new();
        let mut seen = vec![false; self.len()];
        let mut stack = if self.is_empty() { Vec::new() } else { vec![root] };
        while let Some(node) = stack.pop() {
            if !std::mem::replace(&mut seen[node as usize], true) {
                order.push(node);
                stack.extend(self.successors(node).iter().rev());
            }
        }
        order
    }

    /// The nodes that `root` reaches, each after those that a depth-first walk, which takes edges
    /// in their order, reaches through it first. Linear.
    pub fn post_order(&self, root: u32) -> Vec<u32> {
        let mut order = Vec::new();
        if self.is_empty() {
            return order;
        }
        let mut seen = vec![false; self.len()];
        seen[root as usize] = true;
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.last_mut() {
            match self.successors(*node).get(*next) {
                Some(to) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[*to as usize], true) {
                        stack.push((*to, 0));
                    }
                }
                None => {
                    order.push(*node);
                    stack.pop();
                }
            }
        }
        order
    }
}

/// A directed graph whose edges come and go. Edges are kept both ways; there may be several between
/// two nodes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MutableDigraph {
    successors: Vec<Vec<u32>>,
    predecessors: Vec<Vec<u32>>,
}

impl MutableDigraph {
    /// A graph of `nodes` nodes without edges.
    pub fn new(nodes: usize) -> MutableDigraph {
        MutableDigraph { successors: vec![Vec::new(); nodes], predecessors: vec![Vec::new(); nodes] }
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.successors.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.successors.is_empty()
    }

    /// Where the edges out of a node lead.
    pub fn successors(&self, node: u32) -> &[u32] {
        &self.successors[node as usize]
    }

    /// Where the edges into a node come from.
    pub fn predecessors(&self, node: u32) -> &[u32] {
        &self.predecessors[node as usize]
    }

    /// The graph as it is now. Linear.
    pub fn to_digraph(&self) -> Digraph {
        let edges = |(from, to): (u32, &Vec<u32>)| to.iter().map(move |to| (from, *to)).collect::<Vec<_>>();
        let edges: Vec<(u32, u32)> = (0..).zip(&self.successors).flat_map(edges).collect();
        Digraph::new(self.len(), &edges)
    }

    /// Adds a node, whose number is returned.
    pub fn add_node(&mut self) -> u32 {
        self.successors.push(Vec::new());
        self.predecessors.push(Vec::new());
        self.successors.len() as u32 - 1
    }

    /// Adds an edge behind the others out of `from`.
    pub fn add_edge(&mut self, from: u32, to: u32) {
        self.successors[from as usize].push(to);
        self.predecessors[to as usize].push(from);
    }

    /// Removes one edge from `from` to `to`, if there is one; returns whether. Linear in the edges
    /// of both nodes.
    pub fn remove_edge(&mut self, from: u32, to: u32) -> bool {
        let Some(at) = self.successors[from as usize].iter().position(|node| *node == to) else {
            return false;
        };
        self.successors[from as usize].remove(at);
        if let Some(at) = self.predecessors[to as usize].iter().position(|node| *node == from) {
            self.predecessors[to as usize].remove(at);
        }
        true
    }
}

/// The last of the chain of `next` from `at`, where that leads to itself; chains are halved on the
/// way.
pub(super) fn representative(next: &mut [u32], at: u32) -> u32 {
    let mut at = at;
    while next[at as usize] != at {
        let beyond = next[next[at as usize] as usize];
        next[at as usize] = beyond;
        at = beyond;
    }
    at
}
