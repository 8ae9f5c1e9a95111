//! Remarks about loops that passes on graphs leave as they are, because a call in them may unwind
//! to a landing pad.
//!
//! [`Analysis::of`] takes such loops out, so no pass sees them. Each pass that changes loops says
//! so, once for each loop. Passes that only bring loops into a form are silent.
//!
//! **Cost.** Linear, and without such a call one walk over the blocks.

use hashbrown::HashSet;
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::pass::PassContext;
use loomir_ir::{Block, Body};
use loomir_transforms::remark::{self, Remarks};

use super::branch::is_opaque;
use super::{Analysis, place_of};

/// Reports the loops of a function that a pass leaves out, outer ones first. `what` says what the
/// pass did not do.
pub(super) fn remark(function: &Body, pass: &'static str, what: &str, cx: &mut PassContext<'_>) {
    let region = function.region(function.root(), 0);
    let opaque: Vec<Block> = function.blocks(region).filter(|block| is_opaque(function, *block)).collect();
    if opaque.is_empty() {
        return;
    }
    let analysis = Analysis::with_all_loops(function);
    let mut seen: HashSet<LoopId> = HashSet::new();
    let mut left: Vec<(LoopId, Block)> = Vec::new();
    for block in opaque {
        let around = analysis.loops_around(analysis.number(block));
        left.extend(around.take_while(|id| seen.insert(*id)).map(|id| (id, block)));
    }
    let header = |id: LoopId| analysis.loops().get(id).header();
    left.sort_by_key(|(id, _)| header(*id));
    for (id, block) in left {
        let Some(op) = function.last_op(block) else { continue };
        let is_call = function.is(op, llvm::InvokeOp::DEF);
        let (name, why) = match is_call {
            true => ("MayThrowException", "a call in it may unwind".to_owned()),
            false => {
                let branch = function.op_ref(op).name();
                ("BranchIsFixed", format!("'{branch}' in it can't be made to lead elsewhere"))
            }
        };
        let place = place_of(function, analysis.block(header(id)));
        let remarks = Remarks { body: function, pass };
        let said = remarks.unfit(name, place, what, &why).note(function.loc(op), "it is here");
        let said = said.arg("for", remark::op(function, op));
        cx.remark(match is_call {
            true => said.help("if the function called never throws, say so: noexcept, or nounwind"),
            false => said,
        });
    }
}
