//! Loops that stay apart for what lies between them: no straight code, so that nobody asks any further.
//!
//! Of two loops that follow each other beside each other, the first one's entry dominates that of the second and is
//! post-dominated by it: if the one runs, so does the other. What is in conditionals is no neighbour.
//!
//! **Cost.** Post-dominators of functions that have such loops; else linear.

use loomir_ir::graph::loops::LoopId;
use loomir_ir::graph::post_dominators::PostDominatorTree;
use loomir_ir::{Body, Diagnostic, Op};

use super::candidate::{Candidate, following};
use super::remarks;
use crate::cfg::Analysis;

/// The remarks for the neighbours of a function that are candidates by their shapes, but not adjacent.
pub(super) fn remarks(function: &Body, analysis: &Analysis) -> Vec<Diagnostic> {
    let loops = analysis.loops();
    let mut pairs = Vec::new();
    let outermost: Vec<LoopId> = loops.top().iter().rev().copied().collect();
    let inner = loops.iter().map(|(_, own)| own.children.as_slice());
    for siblings in std::iter::once(&outermost[..]).chain(inner) {
        if siblings.len() < 2 {
            continue;
        }
        let shapes: Vec<Option<Candidate>> =
            siblings.iter().map(|id| Candidate::by_shape(function, analysis, *id).ok()).collect();
        for pair in shapes.windows(2) {
            if let [Some(first), Some(second)] = pair
                && following(analysis, first) != Some(second.entry(function))
            {
                pairs.push([first.clone(), second.clone()]);
            }
        }
    }
    if pairs.is_empty() {
        return Vec::new();
    }
    let blocks = function.blocks(function.region(function.root(), 0));
    let order: Vec<u32> = blocks.map(|block| analysis.number(block)).collect();
    let mut behind = PostDominatorTree::of_mutable(analysis.graph(), &order);
    behind.renumber();
    let mut said = Vec::new();
    for [first, second] in &pairs {
        let [a, b] = [first, second].map(|own| analysis.number(own.entry(function)));
        if analysis.dominators().dominates(a, b) && behind.post_dominates(b, a) {
            said.push(remarks::apart(function, [first, second], branching(function, analysis, first)));
        }
    }
    said
}

/// The first operation behind a loop that leads to several blocks, or into another loop.
fn branching(function: &Body, analysis: &Analysis, first: &Candidate) -> Option<Op> {
    let mut at = first.guard.map_or(analysis.number(first.exit), |guard| guard.skips_to);
    let home = analysis.loops().get(first.id).parent;
    for _ in 0..super::candidate::MAX_BETWEEN {
        match analysis.graph().successors(at) {
            [next] if analysis.loops().innermost(*next) == home => at = *next,
            _ => break,
        }
    }
    function.terminator(analysis.block(at))
}
