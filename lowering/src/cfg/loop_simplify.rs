//! Loop-simplify form: each loop has a preheader, one latch, and exits that are reached from it alone.
//!
//! What stands before the loop has a place to go, the preheader; so has what is done at the end of each iteration, and what stands behind the loop. Blocks that
//! nothing leads to go first. Loops are brought into form from the inside out; a block that is put on edges is a block of the analysis at once, so an exit made for an inner
//! loop serves those around it.
//!
//! Never refuses: any branch of the dialect can be made to lead elsewhere. Linear in the blocks of each loop, so in the function times the depth of its nests.

use loomir_ir::graph::loops::LoopId;
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Block, Body, Diagnostics, Op};

use super::Analysis;
use super::edit::erase_unreachable;
use super::roles::Roles;

/// What was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Simplified {
    /// Preheaders that were made.
    pub preheaders: usize,
    /// Latches that were made.
    pub latches: usize,
    /// Exits that were made.
    pub exits: usize,
    /// Blocks that went, as nothing led to them.
    pub erased: usize,
}

/// Brings every loop of a function into form. The analysis that is returned holds for what the function is then.
pub fn loop_simplify(function: &mut Body) -> (Analysis, Simplified) {
    let mut done = Simplified { erased: erase_unreachable(function), ..Simplified::default() };
    let mut analysis = Analysis::of(function);
    let loops: Vec<LoopId> = analysis.loops().iter().map(|(id, _)| id).collect();
    for id in loops {
        simplify(function, &mut analysis, id, &mut done);
    }
    analysis.renumber();
    (analysis, done)
}

fn simplify(function: &mut Body, analysis: &mut Analysis, id: LoopId, done: &mut Simplified) {
    let roles = Roles::of(analysis, id);
    let header = analysis.block(roles.header);
    if roles.preheader.is_none() {
        let (edges, after) = edges_into(function, header, |from| !is_inside(analysis, id, from));
        if let Some(after) = after {
            analysis.insert_block(function, &edges, header, after);
            done.preheaders += 1;
        }
    }
    let (edges, after) = edges_into(function, header, |from| is_inside(analysis, id, from));
    if let (true, Some(after)) = (edges.len() > 1, after) {
        analysis.insert_block(function, &edges, header, after);
        done.latches += 1;
    }
    for exit in roles.exits {
        let exit = analysis.block(exit);
        let is_shared = function.predecessors(exit).any(|from| !is_inside(analysis, id, from));
        if is_shared {
            let (edges, after) = edges_into(function, exit, |from| is_inside(analysis, id, from));
            if let Some(after) = after {
                analysis.insert_block(function, &edges, exit, after);
                done.exits += 1;
            }
        }
    }
}

fn is_inside(analysis: &Analysis, id: LoopId, block: Block) -> bool {
    analysis.loops().contains(id, analysis.number(block))
}

/// The edges into a block from those that `which` accepts, and the last of these.
fn edges_into(
    function: &Body,
    to: Block,
    which: impl Fn(Block) -> bool,
) -> (Vec<(Op, usize)>, Option<Block>) {
    let from = |edge: &(Op, usize)| function.block_of(edge.0).filter(|from| which(*from));
    let edges: Vec<(Op, usize)> =
        function.predecessor_edges(to).filter(|edge| from(edge).is_some()).collect();
    let last = edges.iter().filter_map(from).last();
    (edges, last)
}

/// The pass `loop-simplify` on `llvm.func`.
pub const PASS: PassInfo = PassInfo {
    name: "loop-simplify",
    anchor: Some("llvm.func"),
    summary: "Give each loop a preheader, one latch and exits of its own",
    options: &[],
    make: |_| Ok(Box::new(LoopSimplify)),
};

struct LoopSimplify;

impl Pass for LoopSimplify {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let (_, done) = loop_simplify(body);
        cx.count("Preheaders made", done.preheaders as u64);
        cx.count("Latches made", done.latches as u64);
        cx.count("Exits made", done.exits as u64);
        cx.count("Unreachable blocks erased", done.erased as u64);
        Ok(())
    }
}
