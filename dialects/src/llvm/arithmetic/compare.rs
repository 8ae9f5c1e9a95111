//! Custom forms of comparisons: `llvm.icmp "slt" %a, %b : i32`.

use loomir_ir::text::{OpParser, OpPrinter, ParseResult};
use loomir_ir::{EnumDef, OpRef, OperationState, Type};

use crate::llvm::attributes::{FCMP_PREDICATE, ICMP_PREDICATE};

pub(super) fn parse_icmp(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    parse(p, state, &ICMP_PREDICATE)
}

pub(super) fn parse_fcmp(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    parse(p, state, &FCMP_PREDICATE)
}

fn parse(p: &mut OpParser<'_, '_>, state: &mut OperationState, predicates: &EnumDef) -> ParseResult<()> {
    let ctx = p.ctx();
    let loc = p.loc();
    let predicate = p.parse_string()?;
    let Some(value) = predicates.value_of(&predicate) else {
        let message = format!("'{predicate}' is an incorrect value of the 'predicate' attribute");
        return Err(p.error(loc, message));
    };
    state.set_attr(ctx, "predicate", predicates.attr(ctx, value));
    let lhs = p.parse_operand()?;
    p.expect(",")?;
    let rhs = p.parse_operand()?;
    p.parse_optional_attr_dict(state)?;
    let ty = p.parse_colon_type()?;
    state.operands = p.resolve_same(&[lhs, rhs], ty)?;
    state.result_types.push(ty.with_scalar(ctx, Type::I1));
    Ok(())
}

pub(super) fn print_icmp(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    print(p, op, &ICMP_PREDICATE);
}

pub(super) fn print_fcmp(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    print(p, op, &FCMP_PREDICATE);
}

fn print(p: &mut OpPrinter<'_>, op: OpRef<'_>, predicates: &EnumDef) {
    let value = op.attr("predicate").and_then(|predicate| predicates.value(op.ctx(), predicate));
    let predicate = value.and_then(|value| predicates.text_of(value)).unwrap_or_default();
    p.write(&format!(" \"{predicate}\" "));
    p.operands(op.operands());
    p.attr_dict(op, &["predicate"]);
    p.write(" : ");
    p.ty(op.operand_type(0));
}
