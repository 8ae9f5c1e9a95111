//! `transfer_read` and `transfer_write`: a map that is the identity of the last dimensions, and
//! `in_bounds` that is false everywhere, are left out.

use loomir_ir::text::{Delimiter, OpParser, OpPrinter, ParseResult, UnresolvedOperand};
use loomir_ir::{AffineMap, Attr, AttrKind, Context, Diagnostic, Loc, OpRef, OperationState, Type, TypeKind};

use super::bool_array;
use crate::vector::shape::VectorShape;
use crate::vector::verify::transfer::{mask_type, minor_identity};

/// `%m[%i, %j], %padding, %mask {…} : memref<8x8xf32>, vector<4xf32>`.
pub(crate) fn parse_read(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let base = p.parse_operand()?;
    let indices = p.parse_operand_list(Delimiter::Square)?;
    p.expect(",")?;
    let padding = p.parse_operand()?;
    let mask = parse_mask(p)?;
    let types = parse_types(p, state)?;
    let [(shaped, element), (vector, _)] = types.read()?;
    finish(p, state, [shaped, vector], &types)?;
    state.operands.push(p.resolve(base, shaped)?);
    state.operands.extend(p.resolve_same(&indices, Type::INDEX)?);
    state.operands.push(p.resolve(padding, element)?);
    add_mask(p, state, mask, vector, &types)?;
    state.set_segments(p.ctx(), &[1, indices.len() as i64, 1, i64::from(mask.is_some())]);
    state.result_types.push(vector);
    Ok(())
}

/// `%v, %m[%i, %j], %mask {…} : vector<4xf32>, memref<8x8xf32>`.
pub(crate) fn parse_write(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let value = p.parse_operand()?;
    p.expect(",")?;
    let base = p.parse_operand()?;
    let indices = p.parse_operand_list(Delimiter::Square)?;
    let mask = parse_mask(p)?;
    let types = parse_types(p, state)?;
    let [(vector, _), (shaped, _)] = types.write()?;
    finish(p, state, [shaped, vector], &types)?;
    state.operands.push(p.resolve(value, vector)?);
    state.operands.push(p.resolve(base, shaped)?);
    state.operands.extend(p.resolve_same(&indices, Type::INDEX)?);
    add_mask(p, state, mask, vector, &types)?;
    state.set_segments(p.ctx(), &[1, 1, indices.len() as i64, i64::from(mask.is_some())]);
    if matches!(shaped.kind(p.ctx()), TypeKind::Tensor { .. }) {
        state.result_types.push(shaped);
    }
    Ok(())
}

fn parse_mask(p: &mut OpParser<'_, '_>) -> ParseResult<Option<UnresolvedOperand>> {
    if p.accept(",") { Ok(Some(p.parse_operand()?)) } else { Ok(None) }
}

/// The two types of a transfer, each with the type of its elements.
struct Types {
    ctx: Context,
    loc: Loc,
    types: Vec<Type>,
}

fn parse_types(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<Types> {
    p.parse_optional_attr_dict(state)?;
    p.expect(":")?;
    let loc = p.loc();
    let types = p.parse_type_list()?;
    if types.len() != 2 {
        return Err(p.error(loc, "requires two types"));
    }
    Ok(Types { ctx: p.ctx().clone(), loc, types })
}

impl Types {
    fn error<T>(&self, message: &str) -> ParseResult<T> {
        Err(Box::new(Diagnostic::error(self.loc, message)))
    }

    fn shaped(&self, index: usize) -> ParseResult<(Type, Type)> {
        let ty = self.types[index];
        let element = match ty.kind(&self.ctx) {
            TypeKind::MemRef { shape: Some(_), element, .. }
            | TypeKind::Tensor { shape: Some(_), element, .. } => *element,
            _ => return self.error("requires memref or ranked tensor type"),
        };
        Ok((ty, element))
    }

    fn vector(&self, index: usize) -> ParseResult<(Type, Type)> {
        let ty = self.types[index];
        match VectorShape::of(&self.ctx, ty) {
            Some(shape) => Ok((ty, shape.element)),
            None => self.error("requires vector type"),
        }
    }

    fn read(&self) -> ParseResult<[(Type, Type); 2]> {
        Ok([self.shaped(0)?, self.vector(1)?])
    }

    fn write(&self) -> ParseResult<[(Type, Type); 2]> {
        let vector = self.vector(0)?;
        Ok([vector, self.shaped(1)?])
    }
}

/// Sets the attributes that are left out.
fn finish(
    p: &OpParser<'_, '_>,
    state: &mut OperationState,
    [shaped, vector]: [Type; 2],
    types: &Types,
) -> ParseResult<()> {
    let ctx = p.ctx();
    if state.properties.get(ctx, "permutation_map").is_none() {
        let Some(map) = minor_identity(ctx, shaped, vector) else {
            return types.error("expected a custom permutation_map when rank(source) != rank(destination)");
        };
        state.set_attr(ctx, "permutation_map", ctx.attr(AttrKind::AffineMap(map)));
    }
    if state.properties.get(ctx, "in_bounds").is_none() {
        let results =
            map_of(ctx, state.properties.get(ctx, "permutation_map")).map_or(0, |map| map.results(ctx).len());
        state.set_attr(ctx, "in_bounds", bool_array(p, &vec![false; results]));
    }
    Ok(())
}

fn map_of(ctx: &Context, attr: Option<Attr>) -> Option<AffineMap> {
    attr.and_then(|attr| attr.as_affine_map(ctx))
}

/// Adds the mask. Its type follows from the type of the vector and the map.
fn add_mask(
    p: &mut OpParser<'_, '_>,
    state: &mut OperationState,
    mask: Option<UnresolvedOperand>,
    vector: Type,
    types: &Types,
) -> ParseResult<()> {
    let Some(mask) = mask else { return Ok(()) };
    let ctx = p.ctx();
    if VectorShape::of(ctx, types.shaped(0).or_else(|_| types.shaped(1))?.1).is_some() {
        return types.error("does not support masks with vector element type");
    }
    let map = map_of(ctx, state.properties.get(ctx, "permutation_map"));
    let ty = map.and_then(|map| mask_type(ctx, map, vector));
    let Some(ty) = ty else {
        return types.error("expected the same rank for the vector and the results of the permutation map");
    };
    state.operands.push(p.resolve(mask, ty)?);
    Ok(())
}

/// Writes ` {…} : type, type`.
fn print_end(p: &mut OpPrinter<'_>, op: OpRef<'_>, shaped: Type, vector: Type, types: [Type; 2]) {
    let ctx = op.ctx();
    let mut elided = vec!["operandSegmentSizes"];
    let map = map_of(ctx, op.attr("permutation_map"));
    if map.is_some() && map == minor_identity(ctx, shaped, vector) {
        elided.push("permutation_map");
    }
    let in_bounds = op.attr("in_bounds").and_then(|attr| attr.as_array(ctx)).unwrap_or_default();
    if in_bounds.iter().all(|own| *own == Attr::FALSE) {
        elided.push("in_bounds");
    }
    p.attr_dict(op, &elided);
    p.write(" : ");
    p.types(types);
}

fn print_access(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.operands(op.operand_group("base"));
    p.write("[");
    p.operands(op.operand_group("indices"));
    p.write("]");
}

fn print_optional(p: &mut OpPrinter<'_>, op: OpRef<'_>, name: &str) {
    for value in op.operand_group(name) {
        p.write(", ");
        p.operand(value);
    }
}

pub(crate) fn print_read(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    print_access(p, op);
    print_optional(p, op, "padding");
    print_optional(p, op, "mask");
    let (shaped, vector) = (op.operand_type(0), op.result_type(0));
    print_end(p, op, shaped, vector, [shaped, vector]);
}

pub(crate) fn print_write(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operand(op.operand(0));
    p.write(", ");
    print_access(p, op);
    print_optional(p, op, "mask");
    let (vector, shaped) = (op.operand_type(0), op.operand_type(1));
    print_end(p, op, shaped, vector, [vector, shaped]);
}
