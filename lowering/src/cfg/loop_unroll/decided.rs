//! Comparisons in peeled loops that have one outcome now.
//!
//! Peeling is often done to decide a comparison: `i < 2` is false in all iterations that are left
//! when two are peeled. Scalar evolution says so by the range of the counter.
//!
//! **Cost.** Linear in the loops.

use hashbrown::HashSet;
use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::llvm;
use loomir_ir::{Block, Body, Builder, InsertPoint, Op, Type};

use super::tidy_up::tidy_up;
use crate::cfg::Analysis;
use crate::cfg::scev::ScalarEvolution;

/// Folds comparisons in the loops with these headers, and what depends on them. Returns true if
/// there are any.
pub(super) fn fold_decided(function: &mut Body, layout: &DataLayout, headers: &HashSet<Block>) -> bool {
    let analysis = Analysis::of(function);
    let mut found: Vec<(Op, bool)> = Vec::new();
    let mut blocks = Vec::new();
    let mut scev = ScalarEvolution::new(function, &analysis, layout);
    for (id, own) in analysis.loops().iter() {
        if !headers.contains(&analysis.block(own.header())) {
            continue;
        }
        blocks.extend(analysis.blocks_in(id));
        for op in analysis.blocks_in(id).flat_map(|block| function.ops(block)) {
            let Some(predicate) = scev.predicate(op) else { continue };
            let sides = [0, 1].map(|index| function.operand(op, index));
            if sides.iter().any(|side| scev.expr_type(*side).is_none()) {
                continue;
            }
            let [a, b] = sides.map(|side| scev.expr(side));
            let is_known =
                |scev: &mut ScalarEvolution<'_>, predicate| scev.is_known(predicate, a, b, Some(id));
            if is_known(&mut scev, predicate) {
                found.push((op, true));
            } else if is_known(&mut scev, predicate.inverse()) {
                found.push((op, false));
            }
        }
    }
    for (op, outcome) in &found {
        let mut builder = Builder::new(function, InsertPoint::Before(*op));
        let ctx = builder.ctx();
        let state = builder.state(llvm::ConstantOp::DEF).attr(&ctx, "value", ctx.bool_attr(*outcome));
        let constant = builder.value(state.results(&[Type::I1]));
        let result = function.result(*op, 0);
        function.replace_all_uses(result, constant);
    }
    if !found.is_empty() {
        tidy_up(function, &blocks);
    }
    !found.is_empty()
}
