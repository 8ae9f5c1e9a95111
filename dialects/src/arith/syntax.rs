//! Custom syntax of `arith` that a format cannot express.

use loomir_ir::text::{OpParser, OpPrinter, ParseResult};
use loomir_ir::{AttrKind, OpRef, OperationState, Type, TypeKind};

/// `{attributes} value : type`; the type is the value's.
pub(super) fn parse_constant(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    p.parse_optional_attr_dict(state)?;
    let loc = p.loc();
    let value = p.parse_attr(None)?;
    let Some(ty) = value.ty(p.ctx()) else {
        return Err(p.error(loc, "expected a value with a type: a number, a truth value or elements"));
    };
    state.set_attr(p.ctx(), "value", value);
    state.result_types.push(ty);
    Ok(())
}

pub(super) fn print_constant(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.attr_dict(op, &["value"]);
    p.write(" ");
    if let Some(value) = op.attr("value") {
        p.attr(value);
    }
}

/// `%condition, %true, %false : type`, with the condition's type before it when it is no single
/// truth value.
pub(super) fn parse_select(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let condition = p.parse_operand()?;
    p.expect(",")?;
    let if_true = p.parse_operand()?;
    p.expect(",")?;
    let if_false = p.parse_operand()?;
    p.parse_optional_attr_dict(state)?;
    let mut condition_type = Type::I1;
    let mut ty = p.parse_colon_type()?;
    if p.accept(",") {
        condition_type = ty;
        ty = p.parse_type()?;
    }
    state.operands.push(p.resolve(condition, condition_type)?);
    state.operands.push(p.resolve(if_true, ty)?);
    state.operands.push(p.resolve(if_false, ty)?);
    state.result_types.push(ty);
    Ok(())
}

pub(super) fn print_select(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operands(op.operands());
    p.attr_dict(op, &[]);
    p.write(" : ");
    let condition = op.operand_type(0);
    if condition != Type::I1 {
        p.ty(condition);
        p.write(", ");
    }
    p.ty(op.result_type(0));
}

/// Returns the name of a constant: `c` and its number, `true` or `false`, else `cst`.
pub(super) fn constant_name(op: OpRef<'_>) -> String {
    let ctx = op.ctx();
    let Some(AttrKind::Integer { value, ty }) = op.attr("value").map(|attr| attr.kind(ctx)) else {
        return "cst".into();
    };
    match ty.kind(ctx) {
        TypeKind::Integer { width: 1, .. } => if *value == 0 { "false" } else { "true" }.into(),
        TypeKind::Integer { width, .. } => format!("c{value}_i{width}"),
        _ => format!("c{value}"),
    }
}
