//! Cycles and their nesting: natural loops, and what is entered at several places.
//!
//! A depth-first walk from the root gives every strongly connected set of nodes a first one, its
//! *header*; the set is a *cycle*, and what remains of it without the header has cycles of its own,
//! its children. Nodes of a cycle to which edges from outside lead are its *entries*; with more
//! than one the cycle is irreducible, and which one is the header depends on the walk. Walk and
//! orders are LLVM's, so that what is printed can be compared: it takes the last edge out of a node
//! first.

use super::digraph::{Digraph, representative};

/// A cycle of a [`CycleForest`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct CycleId(u32);

/// One cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// The cycle around it.
    pub parent: Option<CycleId>,
    /// The cycles directly in it.
    pub children: Vec<CycleId>,
    /// Where it is entered; the header is the first.
    pub entries: Vec<u32>,
    /// All its nodes, those of the cycles in it too; the header is the first.
    pub nodes: Vec<u32>,
    /// The number of cycles that are around it, itself included.
    pub depth: u32,
}

/// The cycles of a graph.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CycleForest {
    cycles: Vec<Cycle>,
    top: Vec<CycleId>,
    /// The innermost cycle of each node.
    innermost: Vec<Option<CycleId>>,
}

/// The state of a search for cycles.
#[derive(Default)]
struct Search {
    /// Of each cycle one around it, or itself.
    outermost: Vec<u32>,
    /// Where among the outermost each cycle is.
    place: Vec<usize>,
}

impl Cycle {
    /// The first entry.
    pub fn header(&self) -> u32 {
        self.entries[0]
    }

    /// True if it is entered at one place: then it is a natural loop.
    pub fn is_reducible(&self) -> bool {
        self.entries.len() == 1
    }
}

/// When a depth-first walk enters and leaves nodes; 0 if it doesn't.
struct Walk {
    start: Vec<u32>,
    end: Vec<u32>,
    order: Vec<u32>,
}

impl Walk {
    fn new(graph: &Digraph, root: u32) -> Walk {
        let n = graph.len();
        let mut walk = Walk { start: vec![0; n], end: vec![0; n], order: Vec::with_capacity(n) };
        if n == 0 {
            return walk;
        }
        let mut open: Vec<usize> = Vec::new();
        let mut pending = vec![root];
        while let Some(&node) = pending.last() {
            if walk.start[node as usize] == 0 {
                open.push(pending.len());
                pending.extend_from_slice(graph.successors(node));
                walk.order.push(node);
                walk.start[node as usize] = walk.order.len() as u32;
                continue;
            }
            if open.last() == Some(&pending.len()) {
                walk.end[node as usize] = walk.order.len() as u32;
                open.pop();
            }
            pending.pop();
        }
        walk
    }

    fn is_reached(&self, node: u32) -> bool {
        self.start[node as usize] != 0
    }

    /// True if the walk enters `b` between entering and leaving `a`.
    fn is_ancestor(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        self.start[a] <= self.start[b] && self.end[b] <= self.end[a] && self.start[b] != 0
    }
}

impl CycleForest {
    /// The cycles of what `root` reaches; `reversed` is the graph turned around. Linear in the
    /// graph, but for nodes of nested cycles, which count once a cycle.
    pub fn new(graph: &Digraph, reversed: &Digraph, root: u32) -> CycleForest {
        let walk = Walk::new(graph, root);
        let mut forest = CycleForest { innermost: vec![None; graph.len()], ..CycleForest::default() };
        let mut search = Search::default();
        for header in walk.order.iter().rev() {
            // LLVM goes through the edges into a node from the last one made on.
            let from = reversed.successors(*header).iter().rev();
            let pending: Vec<u32> = from.filter(|from| walk.is_ancestor(*header, **from)).copied().collect();
            if !pending.is_empty() {
                forest.discover(*header, pending, reversed, &walk, &mut search);
            }
        }
        let mut pending = forest.top.clone();
        while let Some(id) = pending.pop() {
            let around = forest.get(id).parent.map_or(0, |parent| forest.get(parent).depth);
            forest.cycles[id.0 as usize].depth = around + 1;
            pending.extend_from_slice(&forest.cycles[id.0 as usize].children);
        }
        forest
    }

    fn discover(
        &mut self,
        header: u32,
        mut pending: Vec<u32>,
        reversed: &Digraph,
        walk: &Walk,
        search: &mut Search,
    ) {
        let own = CycleId(self.cycles.len() as u32);
        search.outermost.push(own.0);
        search.place.push(usize::MAX);
        self.cycles.push(Cycle {
            parent: None,
            children: Vec::new(),
            entries: vec![header],
            nodes: vec![header],
            depth: 0,
        });
        let inner = self.innermost[header as usize].replace(own);
        debug_assert!(inner.is_none(), "a header is taken out before what is in its cycle");
        while let Some(node) = pending.pop() {
            if node == header {
                continue;
            }
            let entries = match self.innermost[node as usize]
                .map(|inner| representative(&mut search.outermost, inner.0))
            {
                Some(inner) if inner == own.0 => continue,
                Some(inner) => {
                    self.move_into(CycleId(inner), own, search);
                    self.cycles[inner as usize].entries.clone()
                }
                None => {
                    self.innermost[node as usize] = Some(own);
                    self.cycles[own.0 as usize].nodes.push(node);
                    vec![node]
                }
            };
            for node in entries {
                let mut is_entry = false;
                for from in reversed.successors(node).iter().rev() {
                    if walk.is_ancestor(header, *from) {
                        pending.push(*from);
                    } else {
                        is_entry |= walk.is_reached(*from);
                    }
                }
                if is_entry {
                    self.cycles[own.0 as usize].entries.push(node);
                }
            }
        }
        search.place[own.0 as usize] = self.top.len();
        self.top.push(own);
    }

    /// Makes an outermost cycle a child of another one, which is not among the outermost yet. The
    /// last of the outermost takes its place.
    fn move_into(&mut self, child: CycleId, parent: CycleId, search: &mut Search) {
        let at = search.place[child.0 as usize];
        self.top.swap_remove(at);
        if let Some(moved) = self.top.get(at) {
            search.place[moved.0 as usize] = at;
        }
        search.outermost[child.0 as usize] = parent.0;
        let nodes = self.cycles[child.0 as usize].nodes.clone();
        self.cycles[child.0 as usize].parent = Some(parent);
        let around = &mut self.cycles[parent.0 as usize];
        around.children.push(child);
        around.nodes.extend(nodes);
    }

    /// The number of cycles.
    pub fn len(&self) -> usize {
        self.cycles.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.cycles.is_empty()
    }

    /// The cycles that are in no other.
    pub fn top(&self) -> &[CycleId] {
        &self.top
    }

    /// A cycle.
    pub fn get(&self, id: CycleId) -> &Cycle {
        &self.cycles[id.0 as usize]
    }

    /// All cycles, inner ones before those around them.
    pub fn iter(&self) -> impl Iterator<Item = (CycleId, &Cycle)> {
        self.cycles.iter().enumerate().map(|(id, own)| (CycleId(id as u32), own))
    }

    /// The innermost cycle that holds a node.
    pub fn innermost(&self, node: u32) -> Option<CycleId> {
        self.innermost[node as usize]
    }
}
