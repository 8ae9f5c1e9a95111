//! Natural loops and their nesting.
//!
//! A *backedge* leads to a node that dominates the one it comes from. The backedges to one node,
//! its *header*, make one *natural loop*: the header and all nodes that reach such an edge without
//! passing it. Two loops are disjoint or one is in the other. What cannot be reached is in no loop.
//! A cycle that is entered at several places has no header and is no natural loop; see
//! [`cycles`](super::cycles).
//!
//! A forest can be kept true while the graph changes: nodes come ([`insert`](LoopForest::insert))
//! and [go](LoopForest::remove), loops [come](LoopForest::add), a loop gets
//! [another header](LoopForest::set_header), an [outer loop](LoopForest::split) of its own, comes
//! to be [around](LoopForest::enclose) what was in none of its own, or
//! [takes in](LoopForest::absorb) another one. What goes is taken out of the lists at the next
//! [`sweep`](LoopForest::sweep), all at once.
//!
//! Orders are LLVM's: of the nodes of a loop the header first, then reverse postorder; of the loops
//! in a loop reverse postorder of their headers; of the outermost loops postorder.

use hashbrown::HashSet;

use super::digraph::{Digraph, MutableDigraph, representative};
use super::dominators::DominatorTree;

/// A loop of a [`LoopForest`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LoopId(u32);

/// One loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NaturalLoop {
    /// The loop around it.
    pub parent: Option<LoopId>,
    /// The loops directly in it.
    pub children: Vec<LoopId>,
    /// All its nodes, those of the loops in it too; the header is the first.
    pub nodes: Vec<u32>,
    /// The number of loops that are around it, itself included.
    pub depth: u32,
}

/// The natural loops of a graph.
#[derive(Clone, Debug, Default)]
pub struct LoopForest {
    loops: Vec<NaturalLoop>,
    top: Vec<LoopId>,
    /// The innermost loop of each node.
    innermost: Vec<Option<LoopId>>,
    /// Of each loop one around it, further out for some than for others, so that few such steps and
    /// steps to a parent lead from a loop to any around it; an outermost loop itself.
    jumps: Vec<LoopId>,
}

impl NaturalLoop {
    /// The node all entries lead to.
    pub fn header(&self) -> u32 {
        self.nodes[0]
    }
}

impl LoopForest {
    /// The loops of what `root` reaches in a graph that may change. Linear, as [`LoopForest::new`].
    pub fn of_mutable(graph: &MutableDigraph, dominators: &DominatorTree, root: u32) -> LoopForest {
        let graph = graph.to_digraph();
        LoopForest::new(&graph, &graph.reversed(), dominators, root)
    }

    /// The loops of what `root` reaches. `reversed` is the graph turned around, `dominators` its
    /// dominator tree. Linear in the graph, but for nodes of nested loops, which count once a loop.
    pub fn new(graph: &Digraph, reversed: &Digraph, dominators: &DominatorTree, root: u32) -> LoopForest {
        let mut forest = LoopForest { innermost: vec![None; graph.len()], ..LoopForest::default() };
        let mut outermost = Vec::new();
        // Inner headers first.
        let order = graph.post_order(root);
        for header in &order {
            let is_back =
                |from: &&u32| dominators.is_reachable(**from) && dominators.dominates(*header, **from);
            let backedges: Vec<u32> = reversed.successors(*header).iter().filter(is_back).copied().collect();
            if !backedges.is_empty() {
                forest.discover(*header, backedges, reversed, dominators, &mut outermost);
            }
        }
        forest.fill(&order);
        forest
    }

    /// Makes the loop of a header, when those in it are there: walks from its backedges against the
    /// edges; what is in another loop already is stepped over, from the header of the outermost.
    /// `outermost` says of each loop one around it, or itself.
    fn discover(
        &mut self,
        header: u32,
        mut pending: Vec<u32>,
        reversed: &Digraph,
        dominators: &DominatorTree,
        outermost: &mut Vec<u32>,
    ) {
        let own = self.loops.len() as u32;
        outermost.push(own);
        self.loops.push(NaturalLoop { parent: None, children: Vec::new(), nodes: vec![header], depth: 0 });
        while let Some(node) = pending.pop() {
            let inner = match self.innermost[node as usize] {
                Some(inner) => representative(outermost, inner.0),
                None => {
                    self.innermost[node as usize] = Some(LoopId(own));
                    own
                }
            };
            let is_new_loop = inner != own;
            if is_new_loop {
                self.loops[inner as usize].parent = Some(LoopId(own));
                outermost[inner as usize] = own;
            }
            let through = if is_new_loop { self.loops[inner as usize].header() } else { node };
            if through == header {
                continue;
            }
            for from in reversed.successors(through) {
                let known = self.innermost[*from as usize].map(|inner| representative(outermost, inner.0));
                if known != Some(own) && dominators.is_reachable(*from) {
                    pending.push(*from);
                }
            }
        }
    }

    /// Nodes and children of all loops, in their order, from a postorder of the nodes.
    fn fill(&mut self, order: &[u32]) {
        for node in order {
            let mut at = self.innermost[*node as usize];
            if let Some(own) = at
                && self.loops[own.0 as usize].header() == *node
            {
                // All that is in it is there, backwards.
                let done = &mut self.loops[own.0 as usize];
                done.nodes[1..].reverse();
                done.children.reverse();
                at = done.parent;
                match at {
                    Some(parent) => self.loops[parent.0 as usize].children.push(own),
                    None => self.top.push(own),
                }
            }
            while let Some(around) = at {
                self.loops[around.0 as usize].nodes.push(*node);
                at = self.loops[around.0 as usize].parent;
            }
        }
        self.place(self.top.clone());
    }

    /// Takes in a new node, the last, which is in `innermost` and the loops around it. It stands
    /// behind their other nodes. Linear in how deep it nests.
    pub fn insert(&mut self, innermost: Option<LoopId>) {
        let node = self.innermost.len() as u32;
        self.innermost.push(innermost);
        let mut at = innermost;
        while let Some(own) = at {
            self.loops[own.0 as usize].nodes.push(node);
            at = self.get(own).parent;
        }
    }

    /// Makes a loop of no nodes yet within `parent`. Its header is [inserted](LoopForest::insert)
    /// first.
    pub fn add(&mut self, parent: Option<LoopId>) -> LoopId {
        let own = LoopId(self.loops.len() as u32);
        self.loops.push(NaturalLoop { parent, children: Vec::new(), nodes: Vec::new(), depth: 0 });
        match parent {
            Some(parent) => self.loops[parent.0 as usize].children.push(own),
            None => self.top.push(own),
        }
        self.place(vec![own]);
        own
    }

    /// Takes a node out of all loops. It stays in their lists until the next
    /// [`sweep`](LoopForest::sweep).
    pub fn remove(&mut self, node: u32) {
        self.innermost[node as usize] = None;
    }

    /// Makes a node of a loop its header. Linear in the loop.
    pub fn set_header(&mut self, id: LoopId, header: u32) {
        let nodes = &mut self.loops[id.0 as usize].nodes;
        if let Some(at) = nodes.iter().position(|node| *node == header) {
            nodes[..=at].rotate_right(1);
        }
    }

    /// Makes two loops of one whose nodes but `inner` belong to a loop around it, of another
    /// header. `inner` begins with the header of the loop that was, which stays that of the inner
    /// loop. Returns the outer one. Linear in the loop.
    pub fn split(&mut self, id: LoopId, header: u32, inner: Vec<u32>) -> LoopId {
        let outer = LoopId(self.loops.len() as u32);
        let nodes = std::mem::replace(&mut self.loops[id.0 as usize].nodes, inner);
        let parent = self.get(id).parent;
        for node in &nodes {
            if self.innermost[*node as usize] == Some(id) {
                self.innermost[*node as usize] = Some(outer);
            }
        }
        for at in 0..self.get(id).nodes.len() {
            let node = self.get(id).nodes[at];
            if self.innermost[node as usize] == Some(outer) {
                self.innermost[node as usize] = Some(id);
            }
        }
        let children = std::mem::take(&mut self.loops[id.0 as usize].children);
        let inner: HashSet<u32> = self.get(id).nodes.iter().copied().collect();
        let is_in_inner = |child: &LoopId| inner.contains(&self.get(*child).header());
        let (own, mut others): (Vec<_>, Vec<_>) = children.into_iter().partition(is_in_inner);
        for child in &others {
            self.loops[child.0 as usize].parent = Some(outer);
        }
        self.loops[id.0 as usize].children = own;
        others.push(id);
        self.replace_child(parent, id, Some(outer));
        self.loops.push(NaturalLoop { parent, children: others, nodes, depth: 0 });
        self.loops[id.0 as usize].parent = Some(outer);
        self.set_header(outer, header);
        self.place(vec![outer]);
        outer
    }

    /// Makes a loop of nodes, the first of which is its header, within `parent`. What is in another
    /// loop directly in that one comes into the new loop with all of it, a loop of the header
    /// `gone` as its own nodes. Linear in the nodes times how deep they nest.
    pub fn enclose(&mut self, parent: Option<LoopId>, nodes: Vec<u32>, gone: u32) -> LoopId {
        let own = LoopId(self.loops.len() as u32);
        self.loops.push(NaturalLoop { parent, children: Vec::new(), nodes: Vec::new(), depth: 0 });
        for node in &nodes {
            let Some(mut at) = self.innermost[*node as usize].filter(|at| Some(*at) != parent) else {
                self.innermost[*node as usize] = Some(own);
                continue;
            };
            while let Some(around) =
                self.get(at).parent.filter(|around| Some(*around) != parent && *around != own)
            {
                at = around;
            }
            if self.get(at).parent != Some(own) {
                self.replace_child(parent, at, None);
                self.loops[at.0 as usize].parent = Some(own);
                self.loops[own.0 as usize].children.push(at);
            }
        }
        let dissolved =
            self.innermost[gone as usize].filter(|id| *id != own && self.get(*id).header() == gone);
        if let Some(dissolved) = dissolved {
            let inner = std::mem::take(&mut self.loops[dissolved.0 as usize].children);
            for child in &inner {
                self.loops[child.0 as usize].parent = Some(own);
            }
            self.replace_child(Some(own), dissolved, None);
            self.loops[own.0 as usize].children.extend(inner);
            for node in self.loops[dissolved.0 as usize].nodes.drain(..) {
                let innermost = &mut self.innermost[node as usize];
                if *innermost == Some(dissolved) {
                    *innermost = Some(own);
                }
            }
        }
        self.loops[own.0 as usize].nodes = nodes;
        match parent {
            Some(parent) => self.loops[parent.0 as usize].children.push(own),
            None => self.top.push(own),
        }
        self.place(vec![own]);
        own
    }

    /// Puts another loop, or none, in the place of one among those of `parent`.
    fn replace_child(&mut self, parent: Option<LoopId>, child: LoopId, by: Option<LoopId>) {
        let list = match parent {
            Some(parent) => &mut self.loops[parent.0 as usize].children,
            None => &mut self.top,
        };
        if let Some(at) = list.iter().position(|own| *own == child) {
            match by {
                Some(other) => list[at] = other,
                None => drop(list.swap_remove(at)),
            }
        }
    }

    /// Makes one loop of two in one parent: the nodes and loops of `second` are those of `first`
    /// from now on, whose header is the header of both. There is no `second` afterwards. Linear in
    /// the second, and in the loops beside it.
    pub fn absorb(&mut self, first: LoopId, second: LoopId) {
        let NaturalLoop { parent, children, nodes, depth } = self.get(second).clone();
        for node in &nodes {
            let innermost = &mut self.innermost[*node as usize];
            if *innermost == Some(second) {
                *innermost = Some(first);
            }
        }
        for child in &children {
            self.loops[child.0 as usize].parent = Some(first);
        }
        self.replace_child(parent, second, None);
        let own = &mut self.loops[first.0 as usize];
        own.nodes.extend(nodes);
        own.children.extend_from_slice(&children);
        self.loops[second.0 as usize] =
            NaturalLoop { parent: None, children: Vec::new(), nodes: Vec::new(), depth };
        self.place(children);
    }

    /// Takes out each loop that holds one of some nodes. Loops in it that hold none of them stay,
    /// and have no loop around. Linear in the loops and in the nodes of the graph.
    pub fn dissolve(&mut self, nodes: impl IntoIterator<Item = u32>) {
        let mut is_gone = vec![false; self.loops.len()];
        let mut any = false;
        for node in nodes {
            let mut at = self.innermost[node as usize];
            while let Some(own) = at.filter(|own| !is_gone[own.0 as usize]) {
                is_gone[own.0 as usize] = true;
                any = true;
                at = self.get(own).parent;
            }
        }
        if !any {
            return;
        }
        let order = self.outer_first();
        self.top.retain(|id| !is_gone[id.0 as usize]);
        let mut freed = Vec::new();
        for id in order.into_iter().filter(|id| is_gone[id.0 as usize]) {
            let own = &mut self.loops[id.0 as usize];
            own.nodes.clear();
            own.parent = None;
            freed.extend(std::mem::take(&mut own.children).into_iter().filter(|id| !is_gone[id.0 as usize]));
        }
        for id in &freed {
            self.loops[id.0 as usize].parent = None;
        }
        self.top.extend(&freed);
        for innermost in &mut self.innermost {
            *innermost = innermost.filter(|id| !is_gone[id.0 as usize]);
        }
        self.place(freed);
    }

    /// Gives loops, and those in them, the depth and the jump that follow from their parents'. A
    /// loop jumps as far as its parent's two jumps lead if these are equally long, else to its
    /// parent: so the way to a loop `n` further out has O(log n) steps.
    fn place(&mut self, mut pending: Vec<LoopId>) {
        self.jumps.resize(self.loops.len(), LoopId(0));
        while let Some(id) = pending.pop() {
            let (depth, jump) = self.get(id).parent.map_or((1, id), |parent| {
                let once = self.jump(parent);
                let twice = self.jump(once);
                let length = |from, to| self.get(from).depth - self.get(to).depth;
                let is_even = length(parent, once) == length(once, twice);
                (self.get(parent).depth + 1, if is_even { twice } else { parent })
            });
            self.loops[id.0 as usize].depth = depth;
            self.jumps[id.0 as usize] = jump;
            pending.extend_from_slice(&self.loops[id.0 as usize].children);
        }
    }

    fn jump(&self, id: LoopId) -> LoopId {
        self.jumps[id.0 as usize]
    }

    /// Takes what was removed out of the lists. Linear in the nodes, counted once a loop.
    pub fn sweep(&mut self) {
        for own in &mut self.loops {
            own.nodes.retain(|node| self.innermost[*node as usize].is_some());
        }
    }

    /// True if there are no loops.
    pub fn is_empty(&self) -> bool {
        self.top.is_empty()
    }

    /// The loops that are in no other.
    pub fn top(&self) -> &[LoopId] {
        &self.top
    }

    /// A loop.
    pub fn get(&self, id: LoopId) -> &NaturalLoop {
        &self.loops[id.0 as usize]
    }

    /// All loops, inner ones before those around them.
    pub fn iter(&self) -> impl Iterator<Item = (LoopId, &NaturalLoop)> {
        self.outer_first().into_iter().rev().map(|id| (id, self.get(id)))
    }

    /// All loops, each before those in it.
    pub fn outer_first(&self) -> Vec<LoopId> {
        let mut order = Vec::new();
        let mut pending = self.top.clone();
        while let Some(id) = pending.pop() {
            order.push(id);
            pending.extend(self.get(id).children.iter().rev());
        }
        order
    }

    /// The innermost loop that holds a node.
    pub fn innermost(&self, node: u32) -> Option<LoopId> {
        self.innermost[node as usize]
    }

    /// True if a loop holds a node. Logarithmic in how deep the node's loop nests below.
    pub fn contains(&self, id: LoopId, node: u32) -> bool {
        let depth = self.get(id).depth;
        let mut at = self.innermost[node as usize];
        while let Some(own) = at.filter(|own| self.get(*own).depth > depth) {
            let jump = self.jump(own);
            at = if self.get(jump).depth >= depth { Some(jump) } else { self.get(own).parent };
        }
        at == Some(id)
    }
}
