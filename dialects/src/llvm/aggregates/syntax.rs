//! Custom forms of operations on parts of values.

use loomir_ir::text::{Delimiter, OpParser, OpPrinter, ParseResult, type_to_string};
use loomir_ir::{Loc, OpRef, OperationState, Type, TypeKind};

use crate::llvm::types::{self, Step};

/// Reads `[1, 0]` as the attribute `name`, an array of integers of the type.
fn parse_numbers(
    p: &mut OpParser<'_, '_>,
    state: &mut OperationState,
    name: &str,
    element: Type,
) -> ParseResult<Vec<i64>> {
    let ctx = p.ctx();
    let numbers = p.parse_list(Delimiter::Square, |p| p.parse_integer())?;
    state.set_attr(ctx, name, ctx.dense_ints_attr(element, &numbers));
    Ok(numbers)
}

fn print_numbers(p: &mut OpPrinter<'_>, op: OpRef<'_>, name: &str) {
    let numbers = op.attr(name).and_then(|a| a.as_dense_ints(op.ctx())).unwrap_or_default();
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    p.write(&format!("[{}]", numbers.join(", ")));
}

/// Returns the type of the part of `container` at a position.
fn part(p: &OpParser<'_, '_>, loc: Loc, container: Type, position: &[i64]) -> ParseResult<Type> {
    match types::part(p.ctx(), container, position) {
        Ok(ty) => Ok(ty),
        Err(Step::OutOfBounds(index)) => Err(p.error(loc, format!("position out of bounds: {index}"))),
        Err(Step::NoAggregate(ty)) => {
            let ty = type_to_string(p.ctx(), ty);
            Err(p.error(loc, format!("expected LLVM IR structure/array type, got: '{ty}'")))
        }
    }
}

/// `llvm.extractvalue %s[1, 0] : !llvm.struct<…>`.
pub(super) fn parse_extract(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let container = p.parse_operand()?;
    let position = parse_numbers(p, state, "position", Type::I64)?;
    p.parse_optional_attr_dict(state)?;
    let ty = p.parse_colon_type()?;
    let loc = p.loc();
    state.result_types.push(part(p, loc, ty, &position)?);
    state.operands.push(p.resolve(container, ty)?);
    Ok(())
}

pub(super) fn print_extract(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operand(op.operand(0));
    print_numbers(p, op, "position");
    p.attr_dict(op, &["position"]);
    p.write(" : ");
    p.ty(op.operand_type(0));
    p.write(" ");
}

/// `llvm.insertvalue %v, %s[1, 0] : !llvm.struct<…>`.
pub(super) fn parse_insert(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let value = p.parse_operand()?;
    p.expect(",")?;
    let container = p.parse_operand()?;
    let position = parse_numbers(p, state, "position", Type::I64)?;
    p.parse_optional_attr_dict(state)?;
    let ty = p.parse_colon_type()?;
    let loc = p.loc();
    let part = part(p, loc, ty, &position)?;
    state.operands.push(p.resolve(container, ty)?);
    state.operands.push(p.resolve(value, part)?);
    state.result_types.push(ty);
    Ok(())
}

pub(super) fn print_insert(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operand(op.operand(1));
    p.write(", ");
    p.operand(op.operand(0));
    print_numbers(p, op, "position");
    p.attr_dict(op, &["position"]);
    p.write(" : ");
    p.ty(op.operand_type(0));
    p.write(" ");
}

/// `llvm.shufflevector %a, %b [0, -1, 5] : vector<4xf32>`.
pub(super) fn parse_shuffle(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    let first = p.parse_operand()?;
    p.expect(",")?;
    let second = p.parse_operand()?;
    let mask = parse_numbers(p, state, "mask", Type::I32)?;
    p.parse_optional_attr_dict(state)?;
    let loc = p.loc();
    let ty = p.parse_colon_type()?;
    let TypeKind::Vector { scalable, element, .. } = ty.kind(ctx) else {
        return Err(p.error(loc, "expected an LLVM compatible vector type"));
    };
    let (shape, scalable) = ([mask.len() as i64].into(), scalable.iter().copied().take(1).collect());
    state.result_types.push(ctx.ty(TypeKind::Vector { shape, scalable, element: *element }));
    state.operands = p.resolve_same(&[first, second], ty)?;
    Ok(())
}

pub(super) fn print_shuffle(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operands(op.operands());
    p.write(" ");
    print_numbers(p, op, "mask");
    p.attr_dict(op, &["mask"]);
    p.write(" : ");
    p.ty(op.operand_type(0));
    p.write(" ");
}
