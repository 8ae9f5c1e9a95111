//! Custom form of `llvm.alloca`.

use loomir_ir::text::{OpParser, OpPrinter, ParseResult};
use loomir_ir::{Attr, OpRef, OperationState};

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
