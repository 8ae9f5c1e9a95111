//! Exceptions: calls that may unwind, landing pads, and the way on from them.
//!
//! An invoke calls a function. If the function returns, control goes to the first successor, and
//! the result is known there. If it throws, control goes to the second, which begins with a landing
//! pad. A landing pad is entered in no other way, and is the first operation of its block.

use loomir_ir::text::{OpParser, OpPrinter, ParseResult};
use loomir_ir::verifier::op_error;
use loomir_ir::{Attr, Block, Body, Diagnostic, Diagnostics, Op, OpRef, OperationState, Trait, Value};

use super::calls::{Callee, INVOKE_SAID, parse_optional_case, print_callee, print_rest, verify_call};
use super::{CatchSwitchOp, CleanupPadOp, InvokeOp, LandingpadOp};
use crate::branch::{self, Invoke, passed};
use crate::llvm::attributes::CCONV;
use crate::llvm::globals::FuncOp;
use crate::llvm::types::LlvmType;
use crate::llvm::{GEPOp, InsertElementOp, InsertValueOp};

/// The most operations between the parts of a clause and the clause.
const MAX_CLAUSE: usize = 1 << 12;

/// `llvm.invoke fastcc @f(%a) to ^bb1(%b : i32) unwind ^bb2 vararg(!llvm.func<…>) ["tag"()] {…} :
/// (i32) -> f32`, or with a pointer as callee and its type before the signature.
pub(super) fn parse_invoke(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    if !parse_optional_case(p, state, "CConv", &CCONV) {
        state.set_attr(ctx, "CConv", CCONV.attr(ctx, 0));
    }
    let callee = Callee::parse(p, state)?;
    let mut passed = Vec::new();
    for word in ["to", "unwind"] {
        p.expect_keyword(word)?;
        let (block, values) = p.parse_successor_and_operands()?;
        state.successors.push(block);
        passed.push(values);
    }
    let bundles = callee.parse_rest(p, state)?;
    let mut segments = vec![state.operands.len() as i64];
    for values in passed {
        segments.push(values.len() as i64);
        state.operands.extend(values);
    }
    segments.push(bundles.finish(ctx, state));
    state.set_segments(ctx, &segments);
    Ok(())
}

pub(super) fn print_invoke(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let ctx = op.ctx();
    p.write(" ");
    match op.attr("CConv").and_then(|attr| CCONV.value(ctx, attr)) {
        Some(value) if value != 0 => {
            p.write(&CCONV.text_of(value).unwrap_or_default());
            p.write(" ");
        }
        _ => {}
    }
    let (pointer, arguments) = print_callee(p, op);
    for ((index, block), word) in op.successors().enumerate().zip([" to ", " unwind "]) {
        p.write(word);
        p.successor(block, &passed(op, &Invoke, index));
    }
    print_rest(p, op, (pointer, &arguments), INVOKE_SAID);
}

/// Requires what a call requires, that the edges pass what their blocks take, and that a landing
/// pad is where control goes if the function throws, and nowhere else.
pub(super) fn verify_invoke(op: OpRef<'_>, out: &mut Diagnostics) {
    verify_call(op, out);
    branch::verify_successors(op, &Invoke, out);
    let is_pad = |block: Block| {
        let first = op.body().first_op(block);
        first.is_some_and(|first| op.body().is(first, LandingpadOp::DEF))
    };
    let mut successors = op.successors();
    if successors.next().is_some_and(is_pad) {
        out.push(op_error(op, "normal destination must not begin with a llvm.landingpad operation"));
    }
    let is_other_pad = |block: Block| {
        let pads = [CatchSwitchOp::DEF, CleanupPadOp::DEF];
        let first = op.body().first_op(block);
        first.is_some_and(|first| pads.into_iter().any(|def| op.body().is(first, def)))
    };
    if successors.next().is_some_and(|block| !is_pad(block) && !is_other_pad(block)) {
        let message = "first operation in unwind destination should be a llvm.landingpad operation";
        out.push(Diagnostic::error(op.loc(), message));
    }
}

/// `llvm.landingpad cleanup (catch %0 : !llvm.ptr) (filter %1 : !llvm.array<1 x ptr>) : i32`.
pub(super) fn parse_landingpad(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    if p.accept_keyword("cleanup") {
        state.set_attr(ctx, "cleanup", Attr::UNIT);
    }
    while p.accept("(") {
        let loc = p.loc();
        let is_filter = p.accept_keyword("filter");
        if !is_filter && !p.accept_keyword("catch") {
            return Err(p.error(loc, "expected 'catch' or 'filter'"));
        }
        let operand = p.parse_operand()?;
        let loc = p.loc();
        let ty = p.parse_colon_type()?;
        if is_filter != is_array(ctx, ty) {
            return Err(p.error(loc, "a filter is an array, and what is caught is none"));
        }
        state.operands.push(p.resolve(operand, ty)?);
        p.expect(")")?;
    }
    p.parse_optional_attr_dict(state)?;
    let ty = p.parse_colon_type()?;
    state.result_types = vec![ty];
    Ok(())
}

fn is_array(ctx: &loomir_ir::Context, ty: loomir_ir::Type) -> bool {
    matches!(LlvmType::of(ctx, ty), Some(LlvmType::Array { .. }))
}

pub(super) fn print_landingpad(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    if op.attr("cleanup").is_some() {
        p.write(" cleanup");
    }
    for clause in op.operands() {
        let ty = op.type_of(clause);
        p.write(if is_array(op.ctx(), ty) { " (filter " } else { " (catch " });
        p.operand(clause);
        p.write(" : ");
        p.ty(ty);
        p.write(")");
    }
    p.attr_dict(op, &["cleanup"]);
    p.write(" : ");
    p.ty(op.result_type(0));
}

/// Requires a personality, a clause, constants as clauses, and that the landing pad is the first
/// operation of a block that only unwinding enters.
pub(super) fn verify_landingpad(op: OpRef<'_>, out: &mut Diagnostics) {
    let Some(function) = function_around(op, out) else { return };
    if op.num_operands() == 0 && op.attr("cleanup").is_none() {
        let message = "landingpad instruction expects at least one clause or cleanup attribute";
        out.push(Diagnostic::error(op.loc(), message));
    }
    for (index, clause) in op.operands().enumerate() {
        let ty = op.type_of(clause);
        if !is_array(op.ctx(), ty) && !crate::llvm::types::is_pointer(op.ctx(), ty) {
            out.push(op_error(op, format!("clause #{index} is neither a pointer nor an array")));
        } else if !is_constant(op.body(), clause) {
            out.push(op_error(op, format!("clause #{index} is no constant")));
        }
    }
    let body = op.body();
    let Some(block) = body.block_of(op.op()) else { return };
    let is_unwinding = |(from, index): (Op, usize)| body.is(from, InvokeOp::DEF) && index == 1;
    if body.first_op(block) != Some(op.op()) {
        out.push(op_error(op, "must be the first operation of its block"));
    } else if function.op() != body.root() || body.is_entry(block) {
        out.push(op_error(op, "must be in a block that only unwinding enters"));
    } else if let Some((from, _)) = body.predecessor_edges(block).find(|edge| !is_unwinding(*edge)) {
        let error = op_error(op, "must be in a block that only unwinding enters");
        out.push(error.note(body.loc(from), "this is another way in"));
    }
}

/// Requires a personality of the function around.
pub(super) fn verify_resume(op: OpRef<'_>, out: &mut Diagnostics) {
    function_around(op, out);
}

/// Returns the function around an operation, which must have a personality.
fn function_around<'b>(op: OpRef<'b>, out: &mut Diagnostics) -> Option<OpRef<'b>> {
    let around = std::iter::successors(op.parent(), |op| op.parent());
    let function = around.into_iter().find(|op| op.is(FuncOp::DEF));
    let has_personality =
        |op: OpRef<'_>| op.attr("personality").is_some() || op.attr("llvm.personality").is_some();
    if let Some(function) = function.filter(|op| has_personality(*op)) {
        return Some(function);
    }
    out.push(Diagnostic::error(
        op.loc(),
        format!("{} needs to be in a function with a personality", op.name()),
    ));
    None
}

/// True if a value is made of constants alone.
fn is_constant(body: &Body, value: Value) -> bool {
    let mut pending = vec![value];
    let mut left = MAX_CLAUSE;
    while let Some(op) = pending.pop().map(|value| body.defining_op(value)) {
        let Some(op) = op.filter(|_| left > 0) else { return false };
        left -= 1;
        let is_part = [InsertValueOp::DEF, InsertElementOp::DEF, GEPOp::DEF];
        let is_part =
            is_part.into_iter().any(|def| body.is(op, def)) || CASTS.contains(&body.op_ref(op).name());
        if is_part {
            pending.extend(body.operands(op));
        } else if !body.has_trait(op, Trait::ConstantLike) && body.num_operands(op) > 0
            || !body.has_trait(op, Trait::Pure)
        {
            return false;
        }
    }
    true
}

/// Conversions that constants may consist of.
const CASTS: [&str; 4] = ["llvm.bitcast", "llvm.addrspacecast", "llvm.inttoptr", "llvm.ptrtoint"];
