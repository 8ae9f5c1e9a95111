//! Custom forms of accesses: `affine.load %m[%i + 1, %j * 2 + symbol(%n)] : memref<8x8xf32>`.

use loomir_ir::text::{Delimiter, OpParser, OpPrinter, ParseResult, UnresolvedOperand};
use loomir_ir::{Attr, AttrKind, Context, OpRef, OperationState, Type, TypeKind, Value};

use crate::interfaces::Subscripts;

/// A parsed memref with subscripts. The operands of the map are resolved after the memref.
struct Access {
    memref: UnresolvedOperand,
    indices: Vec<UnresolvedOperand>,
}

/// Reads `%m[…]`; the map becomes the attribute `map`.
fn parse_access(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<Access> {
    let memref = p.parse_operand()?;
    let (map, indices, _) = p.parse_affine_map_of_ssa_ids(Delimiter::Square)?;
    let ctx = p.ctx();
    state.set_attr(ctx, "map", ctx.attr(AttrKind::AffineMap(map)));
    Ok(Access { memref, indices })
}

/// Reads a ranked memref type.
fn parse_memref_type(p: &mut OpParser<'_, '_>) -> ParseResult<Type> {
    let loc = p.loc();
    let ty = p.parse_type()?;
    match ty.kind(p.ctx()) {
        TypeKind::MemRef { shape: Some(_), .. } => Ok(ty),
        _ => Err(p.error(loc, "expected a ranked memref type")),
    }
}

/// Adds the memref, of type `ty`, and its subscripts to the operands.
fn resolve(
    p: &mut OpParser<'_, '_>,
    state: &mut OperationState,
    access: Access,
    ty: Type,
) -> ParseResult<()> {
    state.operands.push(p.resolve(access.memref, ty)?);
    for index in access.indices {
        let index = p.resolve(index, Type::INDEX)?;
        state.operands.push(index);
    }
    Ok(())
}

/// Returns the operand index of the memref of an access.
fn memref_place(op: OpRef<'_>) -> usize {
    usize::from(op.def().is_some_and(|def| &*def.operands[0].name == "value"))
}

/// Returns the memref of an access.
pub(super) fn memref(op: OpRef<'_>) -> Value {
    op.operand(memref_place(op))
}

/// Returns the memref and the subscripts of an access.
pub(super) fn subscripts(op: OpRef<'_>) -> (Value, Subscripts) {
    let first = memref_place(op);
    let map = map_of(op.ctx(), op.attr("map"));
    (op.operand(first), Subscripts { map, operands: op.operands().skip(first + 1).collect() })
}

/// Returns the map of an attribute that the tables require, or a map without results if it is
/// missing.
pub(super) fn map_of(ctx: &Context, attr: Option<Attr>) -> loomir_ir::AffineMap {
    let map = attr.and_then(|attr| attr.as_affine_map(ctx));
    map.unwrap_or_else(|| loomir_ir::AffineMap::new(ctx, 0, 0, &[]))
}

fn print_access(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let (memref, subscripts) = subscripts(op);
    p.operand(memref);
    p.write("[");
    p.affine_map_of_ssa_ids(subscripts.map, &subscripts.operands);
    p.write("]");
}

/// Returns the type of the accessed memref.
fn memref_type(op: OpRef<'_>) -> Type {
    op.type_of(memref(op))
}

/// `affine.load %m[%i] : memref<8xf32>`.
pub(super) fn parse_load(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let access = parse_access(p, state)?;
    p.parse_optional_attr_dict(state)?;
    p.expect(":")?;
    let ty = parse_memref_type(p)?;
    state.result_types.extend(ty.element(p.ctx()));
    resolve(p, state, access, ty)
}

pub(super) fn print_load(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    print_access(p, op);
    p.attr_dict(op, &["map"]);
    p.write(" : ");
    p.ty(memref_type(op));
}

/// `affine.store %v, %m[%i] : memref<8xf32>`.
pub(super) fn parse_store(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let value = p.parse_operand()?;
    p.expect(",")?;
    let access = parse_access(p, state)?;
    p.parse_optional_attr_dict(state)?;
    p.expect(":")?;
    let ty = parse_memref_type(p)?;
    if let Some(element) = ty.element(p.ctx()) {
        state.operands.push(p.resolve(value, element)?);
    }
    resolve(p, state, access, ty)
}

pub(super) fn print_store(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operand(op.operand(0));
    p.write(", ");
    print_access(p, op);
    p.attr_dict(op, &["map"]);
    p.write(" : ");
    p.ty(memref_type(op));
}

/// `affine.vector_load %m[%i] : memref<8xf32>, vector<4xf32>`.
pub(super) fn parse_vector_load(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let access = parse_access(p, state)?;
    p.parse_optional_attr_dict(state)?;
    p.expect(":")?;
    let ty = parse_memref_type(p)?;
    p.expect(",")?;
    state.result_types.push(p.parse_type()?);
    resolve(p, state, access, ty)
}

pub(super) fn print_vector_load(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    print_load(p, op);
    p.write(", ");
    p.ty(op.result_type(0));
}

/// `affine.vector_store %v, %m[%i] : memref<8xf32>, vector<4xf32>`.
pub(super) fn parse_vector_store(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let value = p.parse_operand()?;
    p.expect(",")?;
    let access = parse_access(p, state)?;
    p.parse_optional_attr_dict(state)?;
    p.expect(":")?;
    let ty = parse_memref_type(p)?;
    p.expect(",")?;
    let vector = p.parse_type()?;
    state.operands.push(p.resolve(value, vector)?);
    resolve(p, state, access, ty)
}

pub(super) fn print_vector_store(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    print_store(p, op);
    p.write(", ");
    p.ty(op.operand_type(0));
}

/// `affine.prefetch %m[%i], read, locality<3>, data : memref<8xf32>`.
pub(super) fn parse_prefetch(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let access = parse_access(p, state)?;
    p.expect(",")?;
    let write = choice(p, "read", "write")?;
    p.expect(",")?;
    p.expect_keyword("locality")?;
    p.expect("<")?;
    let locality = p.parse_integer()?;
    p.expect(">")?;
    p.expect(",")?;
    let data = choice(p, "instr", "data")?;
    let ctx = p.ctx();
    state.set_attr(ctx, "isWrite", ctx.bool_attr(write));
    state.set_attr(ctx, "localityHint", ctx.int_attr(Type::I32, locality));
    state.set_attr(ctx, "isDataCache", ctx.bool_attr(data));
    p.parse_optional_attr_dict(state)?;
    p.expect(":")?;
    let ty = parse_memref_type(p)?;
    resolve(p, state, access, ty)
}

/// Reads one of two keywords. Returns true for the second.
fn choice(p: &mut OpParser<'_, '_>, no: &str, yes: &str) -> ParseResult<bool> {
    let loc = p.loc();
    if p.accept_keyword(no) {
        Ok(false)
    } else if p.accept_keyword(yes) {
        Ok(true)
    } else {
        Err(p.error(loc, format!("expected '{no}' or '{yes}'")))
    }
}

pub(super) fn print_prefetch(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let is = |name: &str| op.attr(name) == Some(Attr::TRUE);
    let locality = op.attr("localityHint").and_then(|a| a.as_int(op.ctx())).unwrap_or(0);
    p.write(" ");
    print_access(p, op);
    p.write(if is("isWrite") { ", write" } else { ", read" });
    p.write(&format!(", locality<{locality}>, "));
    p.write(if is("isDataCache") { "data" } else { "instr" });
    p.attr_dict(op, &["map", "isWrite", "localityHint", "isDataCache"]);
    p.write(" : ");
    p.ty(memref_type(op));
}
