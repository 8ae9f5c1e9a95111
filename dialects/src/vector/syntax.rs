//! Custom forms of the `vector` operations.

use loomir_ir::text::{Delimiter, OpParser, OpPrinter, ParseResult, UnresolvedOperand};
use loomir_ir::{AttrKind, OpRef, OperationState, Type, TypeKind};

use super::shape::{VectorShape, vector};
use crate::syntax::{parse_index_list, print_index_list_in};

pub(super) mod mask;
pub(super) mod product;
pub(super) mod transfer;

/// A parsed position: the values, and the numbers with gaps for them.
type Position = (Vec<UnresolvedOperand>, Vec<i64>);

/// Reads a vector type.
fn parse_vector(p: &mut OpParser<'_, '_>) -> ParseResult<Type> {
    let loc = p.loc();
    let ty = p.parse_type()?;
    match ty.kind(p.ctx()) {
        TypeKind::Vector { .. } => Ok(ty),
        _ => Err(p.error(loc, "expected a vector type")),
    }
}

/// Adds the values of a position to the operands, and its numbers to the attributes.
fn finish_position(
    p: &mut OpParser<'_, '_>,
    state: &mut OperationState,
    (values, numbers): &Position,
) -> ParseResult<()> {
    let values = p.resolve_same(values, Type::INDEX)?;
    state.operands.extend(values);
    let ctx = p.ctx();
    state.set_attr(ctx, "static_position", ctx.dense_ints_attr(Type::I64, numbers));
    Ok(())
}

fn print_position(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let numbers = op.attr("static_position").and_then(|attr| attr.as_dense_ints(op.ctx()));
    let values = op.operand_group("dynamic_position");
    print_index_list_in(p, ["[", "]"], &values, &numbers.unwrap_or_default());
}

/// `%v[%i, 2] : f32 from vector<4x4xf32>`.
pub(super) fn parse_extract(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let source = p.parse_operand()?;
    let position = parse_index_list(p, Delimiter::Square)?;
    p.parse_optional_attr_dict(state)?;
    state.result_types.push(p.parse_colon_type()?);
    p.expect_keyword("from")?;
    let ty = p.parse_type()?;
    state.operands.push(p.resolve(source, ty)?);
    finish_position(p, state, &position)
}

pub(super) fn print_extract(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operand(op.operand(0));
    print_position(p, op);
    p.attr_dict(op, &["static_position"]);
    p.write(" : ");
    p.ty(op.result_type(0));
    p.write(" from ");
    p.ty(op.operand_type(0));
}

/// `%x, %v [%i, 2] : f32 into vector<4x4xf32>`.
pub(super) fn parse_insert(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let value = p.parse_operand()?;
    p.expect(",")?;
    let dest = p.parse_operand()?;
    let position = parse_index_list(p, Delimiter::Square)?;
    p.parse_optional_attr_dict(state)?;
    let value_type = p.parse_colon_type()?;
    p.expect_keyword("into")?;
    let ty = p.parse_type()?;
    state.result_types.push(ty);
    state.operands.push(p.resolve(value, value_type)?);
    state.operands.push(p.resolve(dest, ty)?);
    finish_position(p, state, &position)
}

pub(super) fn print_insert(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operands([op.operand(0), op.operand(1)]);
    p.write(" ");
    print_position(p, op);
    p.attr_dict(op, &["static_position"]);
    p.write(" : ");
    p.ty(op.operand_type(0));
    p.write(" into ");
    p.ty(op.operand_type(1));
}

/// `%a, %b [0, 5, 2] : vector<4xf32>, vector<4xf32>`. The type of the result follows: parts of the
/// first vector, one for each number.
pub(super) fn parse_shuffle(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let loc = p.loc();
    let operands = p.parse_operand_list(Delimiter::None)?;
    let numbers = p.parse_list(Delimiter::Square, |p| p.parse_integer())?;
    p.parse_optional_attr_dict(state)?;
    p.expect(":")?;
    let first = parse_vector(p)?;
    p.expect(",")?;
    let types = [first, p.parse_type()?];
    state.operands = p.resolve_all(&operands, &types, loc)?;
    let ctx = p.ctx();
    state.set_attr(ctx, "mask", ctx.dense_ints_attr(Type::I64, &numbers));
    if let Some(shape) = VectorShape::of(ctx, first) {
        let dims = [(numbers.len() as i64, false)].into_iter().chain(shape.dims().skip(1));
        state.result_types.push(vector(ctx, dims, shape.element));
    }
    Ok(())
}

pub(super) fn print_shuffle(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operands(op.operands());
    p.write(" [");
    let numbers = op.attr("mask").and_then(|mask| mask.as_dense_ints(op.ctx())).unwrap_or_default();
    p.write(&numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", "));
    p.write("]");
    p.attr_dict(op, &["mask"]);
    p.write(" : ");
    p.types(op.operands().map(|value| op.type_of(value)));
}

/// The number of results that a vector may be taken apart into.
const MAX_ELEMENTS: i64 = 1 << 16;

/// `%v : vector<4xf32>`. There is a result for each element.
pub(super) fn parse_to_elements(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let source = p.parse_operand()?;
    p.parse_optional_attr_dict(state)?;
    p.expect(":")?;
    let loc = p.loc();
    let ty = parse_vector(p)?;
    let Some(shape) = VectorShape::of(p.ctx(), ty) else { return Ok(()) };
    match shape.count() {
        Some(count @ 0..=MAX_ELEMENTS) => state.result_types = vec![shape.element; count as usize],
        _ => return Err(p.error(loc, format!("expected at most {MAX_ELEMENTS} elements"))),
    }
    state.operands.push(p.resolve(source, ty)?);
    Ok(())
}

pub(super) fn print_to_elements(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operand(op.operand(0));
    p.attr_dict(op, &[]);
    p.write(" : ");
    p.ty(op.operand_type(0));
}

/// Returns the attribute of an array of booleans.
fn bool_array(p: &OpParser<'_, '_>, values: &[bool]) -> loomir_ir::Attr {
    let ctx = p.ctx();
    ctx.attr(AttrKind::Array(values.iter().map(|value| ctx.bool_attr(*value)).collect()))
}
