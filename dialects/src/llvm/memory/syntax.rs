//! Custom forms of `llvm.alloca` and `llvm.cmpxchg`.

use loomir_ir::text::{OpParser, OpPrinter, ParseResult};
use loomir_ir::{Attr, OpRef, OperationState, Type};

use crate::llvm::attributes::ATOMIC_ORDERING;
use crate::llvm::types::literal_struct;

/// `llvm.alloca inalloca %n x f32 {alignment = 8 : i64} : (i64) -> !llvm.ptr`.
pub(super) fn parse_alloca(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    if p.accept_keyword("inalloca") {
        state.set_attr(ctx, "inalloca", Attr::UNIT);
    }
    let size = p.parse_operand()?;
    p.expect_keyword("x")?;
    let element = p.parse_type()?;
    state.set_attr(ctx, "elem_type", ctx.type_attr(element));
    p.parse_optional_attr_dict(state)?;
    let loc = p.loc();
    let ty = p.parse_colon_type()?;
    let Some(([input], [result])) = ty.function(ctx) else {
        return Err(p.error(loc, "expected trailing function type with one argument and one result"));
    };
    if state.properties.get(ctx, "alignment").and_then(|a| a.as_int(ctx)) == Some(0) {
        state.properties = state.properties.without(ctx, "alignment");
    }
    state.operands.push(p.resolve(size, *input)?);
    state.result_types.push(*result);
    Ok(())
}

pub(super) fn print_alloca(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(if op.attr("inalloca").is_some() { " inalloca " } else { " " });
    p.operand(op.operand(0));
    p.write(" x ");
    if let Some(element) = op.attr("elem_type").and_then(|ty| ty.as_type(op.ctx())) {
        p.ty(element);
    }
    p.attr_dict(op, &["elem_type", "inalloca"]);
    p.write(" : ");
    p.functional_type([op.operand_type(0)], [op.result_type(0)]);
}

/// `llvm.cmpxchg weak volatile %p, %cmp, %val syncscope("x") acq_rel monotonic {…} : !llvm.ptr, i32`.
pub(super) fn parse_cmpxchg(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    for (keyword, name) in [("weak", "weak"), ("volatile", "volatile_")] {
        if p.accept_keyword(keyword) {
            state.set_attr(ctx, name, Attr::UNIT);
        }
    }
    let pointer = p.parse_operand()?;
    p.expect(",")?;
    let compared = p.parse_operand()?;
    p.expect(",")?;
    let value = p.parse_operand()?;
    if p.accept_keyword("syncscope") {
        p.expect("(")?;
        let scope = p.parse_string()?;
        p.expect(")")?;
        state.set_attr(ctx, "syncscope", ctx.string_attr(&scope));
    }
    for name in ["success_ordering", "failure_ordering"] {
        let ordering = p.parse_enum(&ATOMIC_ORDERING)?;
        state.set_attr(ctx, name, ordering);
    }
    p.parse_optional_attr_dict(state)?;
    let pointer_type = p.parse_colon_type()?;
    p.expect(",")?;
    let ty = p.parse_type()?;
    state.operands.push(p.resolve(pointer, pointer_type)?);
    state.operands.extend(p.resolve_same(&[compared, value], ty)?);
    state.result_types.push(literal_struct(ctx, &[ty, Type::I1]));
    Ok(())
}

pub(super) fn print_cmpxchg(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let ctx = op.ctx();
    p.write(if op.attr("weak").is_some() { " weak " } else { " " });
    p.write(if op.attr("volatile_").is_some() { "volatile " } else { "" });
    p.operands(op.operands());
    if let Some(scope) = op.attr("syncscope") {
        p.write(" syncscope(");
        p.attr(scope);
        p.write(")");
    }
    for name in ["success_ordering", "failure_ordering"] {
        let value = op.attr(name).and_then(|attr| ATOMIC_ORDERING.value(ctx, attr)).unwrap_or(0);
        p.write(&format!(" {}", ATOMIC_ORDERING.text_of(value).unwrap_or_default()));
    }
    p.attr_dict(op, &["weak", "volatile_", "syncscope", "success_ordering", "failure_ordering"]);
    p.write(" : ");
    p.types([op.operand_type(0), op.operand_type(2)]);
}
