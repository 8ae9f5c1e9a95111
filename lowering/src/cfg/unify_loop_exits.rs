//! Unification of loop exits: exits to several blocks go through one.
//!
//! A loop with several exit blocks gets one block behind it that all its exit edges lead to. An
//! argument tells the block where to continue. The block is in the surrounding loops that it leads
//! back to. Loops are in loop-simplify form and closed. Their live-out values are arguments of
//! their exits and go through the new block, so no other value needs repair. They are in both forms
//! afterwards.
//!
//! A switch may leave by several edges, and only it knows which one. Its exit edges therefore first
//! lead to a block of its own outside of the loop, which switches between them once more.
//!
//! Linear in the blocks of each loop and in the operands of the exit edges, plus the cost of
//! dominators, which are computed anew once.

use hashbrown::HashMap;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::pass::{CanonicalForm, Pass, PassContext, PassInfo};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Op, Type, Value};

use super::branch::{Ending, Target, case_values, end_block, set_successor_operands, targets};
use super::constants::Constants;
use super::hub::{are_one, by_branch, lead_through_hub};
use super::roles::Roles;
use super::{Analysis, LOOPS_IN_FORM, loops_out_of_form};

/// Unifies the exits of every loop of a function in loop-simplify form with closed loops. Returns
/// the number of changed loops.
pub fn unify_loop_exits(function: &mut Body, analysis: &mut Analysis) -> usize {
    analysis.defer_updates();
    let (mut unified, mut constants) = (0, Constants::default());
    let loops: Vec<LoopId> = analysis.loops().iter().map(|(id, _)| id).collect();
    for id in loops {
        if Roles::of(analysis, id).exits.len() > 1 {
            unify(function, analysis, &mut constants, id);
            unified += 1;
            analysis.step(function, NAME);
        }
    }
    analysis.finish(function, NAME);
    unified
}

fn unify(function: &mut Body, analysis: &mut Analysis, constants: &mut Constants, id: LoopId) {
    let mut edges = Vec::new();
    for (op, indices) in by_branch(edges_out(function, analysis, id)) {
        match are_one(function, op, &indices) {
            true => edges.extend(indices.into_iter().map(|index| (op, index))),
            false => edges.extend(switch_again(function, analysis, id, op, &indices)),
        }
    }
    let blocks: Vec<Block> =
        edges.iter().filter_map(|(op, index)| function.successors(*op).nth(*index)).collect();
    let is_several = blocks.windows(2).any(|pair| pair[0] != pair[1]);
    let after = edges.last().and_then(|(op, _)| function.block_of(*op));
    if let (true, Some(after)) = (is_several, after) {
        let around = loop_behind(analysis, id, &blocks);
        lead_through_hub(function, analysis, constants, &edges, after, around);
    }
}

/// Returns the edges out of a loop.
fn edges_out(function: &Body, analysis: &Analysis, id: LoopId) -> Vec<(Op, usize)> {
    let is_inside = |block: Block| analysis.loops().contains(id, analysis.number(block));
    let exiting = Roles::of(analysis, id).exiting;
    let branches = exiting.iter().filter_map(|node| function.terminator(analysis.block(*node)));
    let edges =
        branches.flat_map(|op| function.successors(op).enumerate().map(move |(index, to)| (op, index, to)));
    edges.filter(|(_, _, to)| !is_inside(*to)).map(|(op, index, _)| (op, index)).collect()
}

/// Returns the innermost loop around `id` that contains one of `blocks`.
fn loop_behind(analysis: &Analysis, id: LoopId, blocks: &[Block]) -> Option<LoopId> {
    let mut around =
        std::iter::successors(analysis.loops().get(id).parent, |id| analysis.loops().get(*id).parent);
    around.find(|id| blocks.iter().any(|block| analysis.loops().contains(*id, analysis.number(*block))))
}

/// Redirects the edges of a switch out of a loop to a new block, which switches again. Returns the
/// edges of that block.
fn switch_again(
    function: &mut Body,
    analysis: &mut Analysis,
    id: LoopId,
    op: Op,
    indices: &[usize],
) -> Vec<(Op, usize)> {
    let Some(from) = function.block_of(op) else { return Vec::new() };
    let all = targets(function, op);
    let blocks: Vec<Block> = indices.iter().map(|index| all[*index].block).collect();
    // The block receives the values it uses as arguments: the switched value, and the operands to
    // pass on.
    let mut handed: Vec<Value> = vec![function.operand(op, 0)];
    let mut places: HashMap<Value, usize> = HashMap::from_iter([(handed[0], 0)]);
    for value in indices.iter().flat_map(|index| &all[*index].operands) {
        places.entry(*value).or_insert_with(|| {
            handed.push(*value);
            handed.len() - 1
        });
    }
    let types: Vec<Type> = handed.iter().map(|value| function.value_type(*value)).collect();
    let around = loop_behind(analysis, id, &blocks);
    let block = analysis.new_block(function, &types, from, around);
    let arguments: Vec<Value> = function.arguments(block).collect();
    let onward = |index: usize| {
        let operands = all[index].operands.iter().map(|value| arguments[places[value]]).collect();
        Target { block: all[index].block, operands }
    };
    let values = case_values(function, op);
    // Only values that leave the loop arrive here, so the last of them may become the default.
    let mut order: Vec<usize> = indices.to_vec();
    order.sort_unstable();
    let default = if order[0] == 0 { order.remove(0) } else { order.pop().unwrap_or_default() };
    let cases = order.into_iter().map(|index| (values[index - 1], onward(index))).collect();
    end_block(function, block, &Ending::Switch(arguments[0], onward(default), cases));
    analysis.branch_changed(function, block);
    let mut operands: Vec<Vec<Value>> = all.into_iter().map(|target| target.operands).collect();
    for index in indices {
        function.set_successor(op, *index, block);
        operands[*index].clone_from(&handed);
    }
    set_successor_operands(function, op, &operands);
    analysis.branch_changed(function, from);
    indices.iter().map(|index| (op, *index)).collect()
}

const NAME: &str = "unify-loop-exits";

/// The form: each loop has at most one exit. Includes loop-simplify form and closed loops.
pub static FORM: CanonicalForm =
    CanonicalForm { name: NAME, check, make: || Box::new(UnifyLoopExits { is_asked_for: false }) };

fn check(function: &Body, _: &SymbolTable) -> Result<(), Diagnostic> {
    loops_out_of_form(function, |analysis, id| {
        (Roles::of(analysis, id).exits.len() > 1).then_some("that leads to several blocks")
    })
}

/// The pass `unify-loop-exits` on `llvm.func`.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    anchor: Some("llvm.func"),
    summary: "Let each loop leave to one block",
    options: &[],
    make: |_| Ok(Box::new(UnifyLoopExits { is_asked_for: true })),
};

struct UnifyLoopExits {
    /// True unless another pass needs the form. Then that one has the remarks.
    is_asked_for: bool,
}

impl Pass for UnifyLoopExits {
    fn name(&self) -> &str {
        NAME
    }

    fn requires(&self) -> &[&'static CanonicalForm] {
        LOOPS_IN_FORM
    }

    fn makes(&self) -> &[&'static CanonicalForm] {
        const { &[&FORM] }
    }

    fn preserves(&self) -> &[&'static CanonicalForm] {
        LOOPS_IN_FORM
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        if self.is_asked_for {
            super::unwinding::remark(body, NAME, "Exits of the loop not unified", cx);
        }
        let mut analysis = Analysis::of(body).checked(cx.checks);
        cx.count("Loops with one exit made", unify_loop_exits(body, &mut analysis) as u64);
        Ok(())
    }
}
