//! The structural requirements on a graph after the fusion of two loops, whatever they compute.
//!
//! The fused loop has the preheader and the header of the first, the latch and the exit of the
//! second, and the blocks of both, some of which may be merged. The second loop is gone, and its
//! inner loops are in the first. The function is well formed, and the analysis equals a fresh one.
//!
//! Cost: linear times the nesting depth of loops.

use hashbrown::HashSet;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Block, Body, verifier};

use crate::cfg::Analysis;
use crate::cfg::roles::Roles;

/// Two loops before they are fused.
pub(super) struct Before {
    pair: [LoopId; 2],
    blocks: [Vec<Block>; 2],
    /// The headers of the outermost loops inside each loop.
    inside: [Vec<Block>; 2],
    first: [Option<Block>; 3],
    second: [Option<Block>; 3],
}

/// Returns preheader, header and latch, exit: the blocks that are compared.
fn corners(analysis: &Analysis, id: LoopId) -> ([Option<Block>; 3], [Option<Block>; 3]) {
    let roles = Roles::of(analysis, id);
    let block = |node: u32| analysis.block(node);
    let exit = if let [exit] = roles.exits[..] { Some(block(exit)) } else { None };
    let header = Some(block(roles.header));
    ([roles.preheader.map(block), header, exit], [roles.latch().map(block), header, exit])
}

impl Before {
    /// Returns the facts about two loops before their fusion.
    pub(super) fn of(analysis: &Analysis, pair: [LoopId; 2]) -> Before {
        let loops = analysis.loops();
        let blocks = pair.map(|id| loops.get(id).nodes.iter().map(|node| analysis.block(*node)).collect());
        let inside = pair.map(|id| {
            let header = |child: &LoopId| analysis.block(loops.get(*child).header());
            loops.get(id).children.iter().map(header).collect()
        });
        let (first, _) = corners(analysis, pair[0]);
        let (_, second) = corners(analysis, pair[1]);
        Before { pair, blocks, inside, first, second }
    }

    /// Returns the requirement that is violated after the fusion, if any.
    pub(super) fn broken(&self, function: &Body, analysis: &Analysis) -> Option<&'static str> {
        if verifier::verify(function).has_errors() {
            return Some("the function is not well formed");
        }
        if !analysis.is_true_of(function) {
            return Some("the kept blocks, dominators and loops differ from fresh ones");
        }
        let loops = analysis.loops();
        let fused = self.pair[0];
        if !loops.iter().any(|(id, _)| id == fused) || loops.iter().any(|(id, _)| id == self.pair[1]) {
            return Some("the second loop is not part of the first");
        }
        let ([preheader, header, _], [latch, _, exit]) = corners(analysis, fused);
        if [preheader, header] != [self.first[0], self.first[1]] {
            return Some("the fused loop does not have the first one's preheader and header");
        }
        let there: HashSet<Block> = function.blocks(function.region(function.root(), 0)).collect();
        let is_latch = |of: Option<Block>| latch == of;
        // The header of the second loop may be merged into the first loop's latch and into its own
        // latch.
        let may_be_merged = self.second[0].is_some_and(|latch| !there.contains(&latch));
        if !is_latch(self.second[0]) && !may_be_merged {
            return Some("the fused loop does not have the second one's latch");
        }
        if exit != self.second[2] {
            return Some("the fused loop does not have the second one's exit");
        }
        let own: HashSet<Block> = loops.get(fused).nodes.iter().map(|node| analysis.block(*node)).collect();
        let both: HashSet<Block> = self.blocks.iter().flatten().copied().collect();
        if !own.is_subset(&both) || both.iter().any(|block| there.contains(block) && !own.contains(block)) {
            return Some("the fused loop does not have the blocks of both");
        }
        let inside: HashSet<Block> =
            loops.get(fused).children.iter().map(|id| analysis.block(loops.get(*id).header())).collect();
        let were: HashSet<Block> = self.inside.iter().flatten().copied().collect();
        // The header of a loop at the start of the second body may be merged into its predecessor.
        let kept = were.iter().filter(|block| there.contains(*block));
        if inside.len() != were.len() || kept.into_iter().any(|block| !inside.contains(block)) {
            return Some("the loops inside both are not those inside the fused one");
        }
        None
    }
}
