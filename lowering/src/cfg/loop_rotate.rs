//! Loop rotation: loops are tested at their end, behind a guard.
//!
//! `for (; test; step) body` becomes `if (test) do body step while (test)`. The header, which
//! contains the test, is copied behind the preheader. The copy becomes the guard, and the original
//! joins the latch. The header's successor in the loop is the new header, with a preheader of its
//! own under the guard. Code placed there runs only if the loop does: an invariant load of the body
//! may be hoisted there even if it would fault without an iteration.
//!
//! Operations of the header that are loop-invariant and speculatable are hoisted before it instead
//! of being copied. A guard that is known to be true is omitted. Before that, a latch that only
//! counts joins the block before it if that block leaves the loop: then the loop is already tested
//! at its end.
//!
//! Values defined in the header have two definitions afterwards: the copy's and the original's.
//! They meet in the new header, and at the exits in arguments that loop-closed SSA has made, so no
//! search is needed. Loops are rotated from the inside out, and are in loop-simplify form and
//! closed afterwards. The annotation of the loop moves to the branch of the new latch; branch
//! weights stay unchanged.
//!
//! Linear in the headers and the uses of their values, and in the blocks of each loop.
//!
//! **Assumptions.**
//! - A header is copied only if each operation in it may be: the attributes of a call, and of the
//!   function that it names, may forbid it.
//! - Operations that may be undefined are copied to where they ran, and never hoisted before the
//!   guard.
//!
//! Tried with `cfg/rotation_audit.mlir`.

use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::opdef::Trait;
use loomir_ir::pass::{CanonicalForm, Pass, PassContext, PassInfo};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Mapping, Op, Value};

use super::branch::{
    Ending, LOOP_ANNOTATION, change_operands, end_block, move_annotation, set_successor_operands,
    successor_operands, targets,
};
use super::calls::may_be_copied;
use super::conditions::constant_condition;
use super::effects::is_speculatable;
use super::{Analysis, LOOPS_IN_FORM, loops_out_of_form};

/// The maximal number of copied operations of a header, without constants.
pub(crate) const MAX_HEADER_SIZE: usize = 16;

/// The statistics of rotation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rotated {
    /// Loops that were rotated.
    pub loops: usize,
    /// Guards that were made.
    pub guards: usize,
    /// Latches that joined the block before them.
    pub latches: usize,
    /// Operations that were copied.
    pub copied: usize,
    /// Operations that were hoisted in front of loops.
    pub hoisted: usize,
}

/// Rotates every loop of a function in loop-simplify form and closed, whose header has at most
/// `max_header_size` operations. The symbols are those of the function's module.
pub fn loop_rotate(
    function: &mut Body,
    analysis: &mut Analysis,
    symbols: &SymbolTable,
    max_header_size: usize,
) -> Rotated {
    let mut done = Rotated::default();
    analysis.defer_updates();
    let loops: Vec<LoopId> = analysis.loops().iter().map(|(id, _)| id).collect();
    for id in loops {
        let rotates = shape(function, analysis, symbols, id, max_header_size).is_some();
        if fold_latch(function, analysis, id) {
            done.latches += 1;
            analysis.step(function, NAME);
        }
        if let (true, Some(shape)) = (rotates, Shape::of(function, analysis, id)) {
            rotate(function, analysis, id, &shape, &mut done);
            analysis.step(function, NAME);
        }
    }
    analysis.finish(function, NAME);
    done
}

/// A loop with its exit test in the header.
struct Shape {
    preheader: Block,
    header: Block,
    latch: Block,
    /// The branch of the header.
    test: Op,
    /// The index of its successor in the loop.
    stays: usize,
}

impl Shape {
    /// Returns the shape of a loop whose header is an exiting block and not its latch.
    fn of(function: &Body, analysis: &Analysis, id: LoopId) -> Option<Shape> {
        let header = analysis.loops().get(id).header();
        let is_inside = |block: Block| analysis.loops().contains(id, analysis.number(block));
        let mut outside = analysis
            .graph()
            .predecessors(header)
            .iter()
            .filter(|from| !analysis.loops().contains(id, **from));
        let mut inside =
            analysis.graph().predecessors(header).iter().filter(|from| analysis.loops().contains(id, **from));
        let (preheader, latch) = (analysis.block(*outside.next()?), analysis.block(*inside.next()?));
        let header = analysis.block(header);
        let test = function.terminator(header)?;
        if latch == header || !function.is(test, llvm::CondBrOp::DEF) {
            return None;
        }
        let staying: Vec<bool> = function.successors(test).map(is_inside).collect();
        let stays = match staying[..] {
            [true, false] => 0,
            [false, true] => 1,
            _ => return None,
        };
        Some(Shape { preheader, header, latch, test, stays })
    }
}

/// Returns the shape of a loop to rotate. Its latch does not exit, and its header may be copied.
fn shape(
    function: &Body,
    analysis: &Analysis,
    symbols: &SymbolTable,
    id: LoopId,
    max_header_size: usize,
) -> Option<Shape> {
    let shape = Shape::of(function, analysis, id)?;
    let is_tested_at_end =
        function.block_successors(shape.latch).any(|to| !analysis.loops().contains(id, analysis.number(to)));
    let is_constant = |op: &Op| function.has_trait(*op, Trait::ConstantLike);
    let mut size = 0;
    for op in function.ops(shape.header).filter(|op| !is_constant(op)) {
        size += 1;
        if size > max_header_size
            || !may_be_copied(function, op, symbols)
            || function.own_regions(op).len() > 0
        {
            return None;
        }
    }
    (!is_tested_at_end).then_some(shape)
}

/// Merges a nearly empty latch into the block before it, if that leaves the loop. The latch may
/// then run once too often.
fn fold_latch(function: &mut Body, analysis: &mut Analysis, id: LoopId) -> bool {
    let Some((before, branch, latch)) = foldable_latch(function, analysis, id) else { return false };
    let Some(last) = function.terminator(latch) else { return false };
    let edge = function.successors(branch).position(|to| to == latch).unwrap_or_default();
    let header = analysis.block(analysis.loops().get(id).header());
    let mut operands = successor_operands(function, branch);
    let arguments: Vec<Value> = function.arguments(latch).collect();
    for (argument, handed) in arguments.into_iter().zip(std::mem::take(&mut operands[edge])) {
        function.replace_all_uses(argument, handed);
    }
    for op in function.ops(latch).filter(|op| *op != last).collect::<Vec<_>>() {
        function.move_before(op, branch);
    }
    operands[edge] = successor_operands(function, last).swap_remove(0);
    function.set_successor(branch, edge, header);
    set_successor_operands(function, branch, &operands);
    move_annotation(function, last, branch);
    analysis.branch_changed(function, before);
    analysis.erase_block(function, latch);
    true
}

/// Returns the block in front of a latch that may be merged with it, and its branch.
fn foldable_latch(function: &Body, analysis: &Analysis, id: LoopId) -> Option<(Block, Op, Block)> {
    let header = analysis.loops().get(id).header();
    let mut latches =
        analysis.graph().predecessors(header).iter().filter(|from| analysis.loops().contains(id, **from));
    let latch = *latches.next()?;
    let ([to], [before]) = (analysis.graph().successors(latch), analysis.graph().predecessors(latch)) else {
        return None;
    };
    let is_inside = |node: &u32| analysis.loops().contains(id, *node);
    if latch == header || *to != header || analysis.graph().successors(*before).iter().all(is_inside) {
        return None;
    }
    let (before, latch) = (analysis.block(*before), analysis.block(latch));
    let branch = function.terminator(before).filter(|op| function.is(*op, llvm::CondBrOp::DEF))?;
    let last = function.terminator(latch)?;
    let (mut counts, mut is_cheap) = (0, true);
    for op in function.ops(latch).filter(|op| *op != last) {
        is_cheap &= is_speculatable(function, op);
        if !function.has_trait(op, Trait::ConstantLike) {
            counts += 1;
            is_cheap &= has_constant_operand(function, op) || function.operands(op).len() == 1;
        }
    }
    (counts <= 1 && is_cheap).then_some((before, branch, latch))
}

fn has_constant_operand(function: &Body, op: Op) -> bool {
    let is_constant = |op| function.has_trait(op, Trait::ConstantLike);
    function.operands(op).any(|value| function.defining_op(value).is_some_and(is_constant))
}

fn rotate(function: &mut Body, analysis: &mut Analysis, id: LoopId, shape: &Shape, done: &mut Rotated) {
    let Shape { preheader, header, latch, test, stays } = *shape;
    let Some(entering) = function.terminator(preheader) else { return };
    let body = function.successors(test).nth(stays).unwrap_or(header);
    let exit = function.successors(test).nth(1 - stays).unwrap_or(header);
    let mut copies = Mapping::default();
    let handed = successor_operands(function, entering).swap_remove(0);
    for (argument, handed) in function.arguments(header).collect::<Vec<_>>().into_iter().zip(handed) {
        copies.map(argument, handed);
    }
    copy_header(function, analysis, id, shape, &mut copies, done);
    // The body gets the header's values from both.
    let carried = used_in_rest(function, analysis, id, header);
    let guard = function.copy_op(test, &mut copies);
    function.remove_attr(guard, LOOP_ANNOTATION);
    function.insert_before(entering, guard);
    function.erase(entering);
    for value in &carried {
        let argument = function.add_argument(body, function.value_type(*value));
        let is_rest = |op| {
            let at = analysis.number_at(function, op)?;
            Some(analysis.loops().contains(id, at) && analysis.block(at) != header)
        };
        let uses: Vec<_> = function.uses(*value).filter(|used| is_rest(used.op) == Some(true)).collect();
        for used in uses {
            function.set_operand(used.op, used.index, argument);
        }
    }
    change_operands(function, &[guard, test], |_, op, to, operands| {
        if to == body {
            operands
                .extend(carried.iter().map(|value| if op == guard { copies.value(*value) } else { *value }));
        }
    });
    let is_known = constant_condition(function, function.operand(guard, 0)) == Some(stays == 0);
    if is_known {
        let to = targets(function, guard).swap_remove(stays);
        end_block(function, preheader, &Ending::Branch(to));
    }
    analysis.branch_changed(function, preheader);
    let body_number = analysis.number(body);
    analysis.loops_mut().set_header(id, body_number);
    if !is_known {
        done.guards += 1;
        keep_simple(function, analysis, id, guard, stays, (body, exit));
    }
    let old = function.terminator(latch);
    if let Some(old) = old {
        move_annotation(function, old, test);
    }
    if function.block_successors(latch).len() == 1 {
        analysis.merge_blocks(function, latch, header);
    }
    done.loops += 1;
}

/// Copies the operations of the header before the preheader's branch. Loop-invariant operations are
/// moved.
fn copy_header(
    function: &mut Body,
    analysis: &Analysis,
    id: LoopId,
    shape: &Shape,
    copies: &mut Mapping,
    done: &mut Rotated,
) {
    let Some(entering) = function.terminator(shape.preheader) else { return };
    for op in function.ops(shape.header).filter(|op| *op != shape.test).collect::<Vec<_>>() {
        let is_outside = |value| {
            let block = function.value_block(value).map(|block| analysis.number(block));
            block.is_none_or(|at| !analysis.loops().contains(id, at))
        };
        if is_speculatable(function, op) && function.operands(op).all(is_outside) {
            function.move_before(op, entering);
            done.hoisted += 1;
        } else {
            let copy = function.copy_op(op, copies);
            function.insert_before(entering, copy);
            done.copied += 1;
        }
    }
}

/// Returns the values that the header defines and the rest of the loop uses.
fn used_in_rest(function: &Body, analysis: &Analysis, id: LoopId, header: Block) -> Vec<Value> {
    let results = function.ops(header).flat_map(|op| function.results(op));
    let is_rest = |op| {
        let at = analysis.number_at(function, op);
        at.is_some_and(|at| analysis.loops().contains(id, at) && analysis.block(at) != header)
    };
    let values = function.arguments(header).chain(results);
    values.filter(|value| function.uses(*value).any(|used| is_rest(used.op))).collect()
}

/// Gives a guarded loop a preheader and dedicated exits, and preserves the dedicated exits of loops
/// around it.
fn keep_simple(
    function: &mut Body,
    analysis: &mut Analysis,
    id: LoopId,
    guard: Op,
    stays: usize,
    (body, exit): (Block, Block),
) {
    let Some(before) = function.block_of(guard) else { return };
    analysis.insert_block(function, &[(guard, stays)], body, before);
    let is_inside = |edge: &(Op, usize)| {
        let from = function.block_of(edge.0).map(|block| analysis.number(block));
        from.is_some_and(|from| analysis.loops().contains(id, from))
    };
    let edges: Vec<(Op, usize)> = function.predecessor_edges(exit).filter(is_inside).collect();
    if let Some(after) = edges.first().and_then(|edge| function.block_of(edge.0)) {
        analysis.insert_block(function, &edges, exit, after);
    }
    // The edge that skips the loop may leave outer loops that do not contain the exit.
    let around = analysis.loops().innermost(analysis.number(before));
    if around.is_some_and(|around| !analysis.loops().contains(around, analysis.number(exit))) {
        analysis.insert_block(function, &[(guard, 1 - stays)], exit, before);
    }
}

const NAME: &str = "loop-rotate";

/// The form: loops are tested at their end, if their header may be copied and leaves the loop.
/// Requires loop-simplify form and closed loops.
pub static FORM: CanonicalForm = CanonicalForm {
    name: NAME,
    check,
    make: || Box::new(LoopRotate { max_header_size: MAX_HEADER_SIZE, is_asked_for: false }),
};

fn check(function: &Body, symbols: &SymbolTable) -> Result<(), Diagnostic> {
    loops_out_of_form(function, |analysis, id| {
        let rotates = shape(function, analysis, symbols, id, MAX_HEADER_SIZE).is_some();
        rotates.then_some("that is tested at its start")
    })
}

/// The pass `loop-rotate` on `llvm.func`.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    anchor: Some("llvm.func"),
    summary: "Test loops at their end, behind a guard",
    options: &[("rotation-max-header-size", "16", "the most operations of a header that are copied")],
    make: |options| {
        let max_header_size = options.parse("rotation-max-header-size", MAX_HEADER_SIZE)?;
        Ok(Box::new(LoopRotate { max_header_size, is_asked_for: true }))
    },
};

struct LoopRotate {
    max_header_size: usize,
    /// True unless another pass needs the form. Then that one has the remarks.
    is_asked_for: bool,
}

impl Pass for LoopRotate {
    fn name(&self) -> &str {
        NAME
    }

    fn requires(&self) -> &[&'static CanonicalForm] {
        LOOPS_IN_FORM
    }

    fn makes(&self) -> &[&'static CanonicalForm] {
        match self.max_header_size {
            MAX_HEADER_SIZE.. => const { &[&FORM] },
            _ => &[],
        }
    }

    fn preserves(&self) -> &[&'static CanonicalForm] {
        LOOPS_IN_FORM
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        if self.is_asked_for {
            super::unwinding::remark(body, NAME, "Loop not rotated", cx);
        }
        let mut analysis = Analysis::of(body).checked(cx.checks);
        let done = loop_rotate(body, &mut analysis, cx.symbols, self.max_header_size);
        cx.count("Loops rotated", done.loops as u64);
        cx.count("Guards made", done.guards as u64);
        cx.count("Latches folded", done.latches as u64);
        cx.count("Operations copied", done.copied as u64);
        cx.count("Operations hoisted", done.hoisted as u64);
        Ok(())
    }
}
