//! The roles of blocks in a loop, in LLVM's terms.
//!
//! A block may have several roles, in one loop or in several: latch and exiting block of a loop,
//! header of an inner one and exit of a third.

use loomir_ir::graph::loops::LoopId;

use super::Analysis;

/// The roles of blocks in one loop, by number. Blocks are in the order of the loop's, each once a
/// role.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Roles {
    /// The block that dominates the loop, its only entry.
    pub header: u32,
    /// The predecessors of the header outside of the loop.
    pub entering: Vec<u32>,
    /// The only entering block, if it has no other successor.
    pub preheader: Option<u32>,
    /// The predecessors of the header in the loop.
    pub latches: Vec<u32>,
    /// The number of backedges. A branch may have several.
    pub backedges: usize,
    /// The blocks in the loop with an edge out of it.
    pub exiting: Vec<u32>,
    /// The edges out of the loop, one for each branch.
    pub exit_edges: Vec<(u32, u32)>,
    /// The blocks outside of the loop that an edge from the loop leads to.
    pub exits: Vec<u32>,
    /// True if all predecessors of each exit are in the loop.
    pub dedicated_exits: bool,
}

impl Roles {
    /// Returns the roles of blocks in a loop. Linear in the loop and the edges into its header and
    /// exits.
    pub fn of(analysis: &Analysis, id: LoopId) -> Roles {
        let (graph, loops, own) = (&analysis.graph, &analysis.loops, analysis.loops.get(id));
        let header = own.header();
        let mut entering: Vec<u32> = Vec::new();
        for from in graph.predecessors(header) {
            if !loops.contains(id, *from) && !entering.contains(from) {
                entering.push(*from);
            }
        }
        let preheader = match entering[..] {
            [only] if graph.successors(only).len() == 1 => Some(only),
            _ => None,
        };
        let backedges = graph.predecessors(header).iter().filter(|from| loops.contains(id, **from)).count();
        let (mut latches, mut exiting, mut exit_edges) = (Vec::new(), Vec::new(), Vec::new());
        for node in &own.nodes {
            let edges = exit_edges.len();
            let successors = graph.successors(*node);
            exit_edges
                .extend(successors.iter().filter(|to| !loops.contains(id, **to)).map(|to| (*node, *to)));
            if exit_edges.len() > edges {
                exiting.push(*node);
            }
            if successors.contains(&header) {
                latches.push(*node);
            }
        }
        let mut exits: Vec<u32> = exit_edges.iter().map(|(_, to)| *to).collect();
        exits.sort_unstable();
        exits.dedup();
        let from_inside = |exit: &u32| graph.predecessors(*exit).iter().all(|from| loops.contains(id, *from));
        let dedicated_exits = exits.iter().all(from_inside);
        Roles { header, entering, preheader, latches, backedges, exiting, exit_edges, exits, dedicated_exits }
    }

    /// Returns the only latch, if there is a single backedge.
    pub fn latch(&self) -> Option<u32> {
        if let ([latch], 1) = (&self.latches[..], self.backedges) { Some(*latch) } else { None }
    }

    /// True if the loop is in [loop-simplify form](super::loop_simplify).
    pub fn is_simplified(&self) -> bool {
        self.preheader.is_some() && self.latch().is_some() && self.dedicated_exits
    }

    /// True if the latch exits the loop, so the loop is tested at its end.
    pub fn is_rotated(&self) -> bool {
        self.latch().is_some_and(|latch| self.exiting.contains(&latch))
    }
}
