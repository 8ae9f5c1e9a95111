//! Branches and returns: custom form of the switch, verifiers.

use loomir_ir::text::{OpParser, OpPrinter, ParseResult};
use loomir_ir::verifier::op_error;
use loomir_ir::{Diagnostics, OpRef, OperationState};

use crate::branch::{self, Branch, Cases, CondBranch, Switch};
use crate::checks::types_of;
use crate::llvm::globals::FuncOp;
use crate::llvm::types::LlvmType;

pub(super) fn verify_br(op: OpRef<'_>, out: &mut Diagnostics) {
    branch::verify_successors(op, &Branch, out);
}

pub(super) fn verify_cond_br(op: OpRef<'_>, out: &mut Diagnostics) {
    branch::verify_successors(op, &CondBranch, out);
}

pub(super) fn verify_switch(op: OpRef<'_>, out: &mut Diagnostics) {
    if branch::verify_cases(op, out) {
        branch::verify_successors(op, &Switch, out);
    }
}

/// `llvm.switch %n : i32, ^bb1(%a : f32) [1: ^bb2, 2: ^bb3]`.
pub(super) fn parse_switch(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let value = p.parse_operand()?;
    let loc = p.loc();
    let ty = p.parse_colon_type()?;
    if !ty.is_signless_integer(p.ctx()) {
        return Err(p.error(loc, "expected a signless integer type"));
    }
    state.operands.push(p.resolve(value, ty)?);
    p.expect(",")?;
    let (block, defaults) = p.parse_successor_and_operands()?;
    state.successors.push(block);
    state.operands.extend(&defaults);
    let mut cases = Cases::default();
    p.expect("[")?;
    if !p.accept("]") {
        loop {
            cases.parse(p, state, ty)?;
            if !p.accept(",") {
                break;
            }
        }
        p.expect("]")?;
    }
    cases.finish(p.ctx(), state, ty, defaults.len());
    p.parse_optional_attr_dict(state)
}

pub(super) fn print_switch(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operand(op.operand(0));
    p.write(" : ");
    p.ty(op.operand_type(0));
    p.write(", ");
    if let Some(block) = op.successors().next() {
        p.successor(block, &branch::passed(op, &Switch, 0));
    }
    p.write(" [");
    branch::print_cases(p, op, true);
    p.newline();
    p.write("]");
    p.attr_dict(op, &["case_values", "case_operand_segments", "operandSegmentSizes"]);
}

/// Checks that a return in a function returns the result type of the function.
pub(super) fn verify_return(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let Some(function) = op.parent().filter(|parent| parent.is(FuncOp::DEF)) else { return };
    let ty = function.attr("function_type").and_then(|ty| ty.as_type(ctx));
    let Some(LlvmType::Function { result, .. }) = ty.and_then(|ty| LlvmType::of(ctx, ty)) else { return };
    let is_void = LlvmType::of(ctx, result) == Some(LlvmType::Void);
    let returned = types_of(op, op.operands());
    let message = match *returned {
        [] if is_void => return,
        [ty] if ty == result => return,
        _ if is_void => "expected no operands",
        [] => "expected 1 operand",
        _ => "mismatching result types",
    };
    out.push(op_error(op, message).note(function.loc(), "when returning from function"));
}
