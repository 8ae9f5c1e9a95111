//! Asynchronous transfers between memories with affine subscripts: `affine.dma_start` and
//! `affine.dma_wait`.
//!
//! The operands of a start are one list, cut by the inputs of the maps `src_map`, `dst_map` and
//! `tag_map`: source, target and tag, each with its subscripts, then the number of elements, and
//! perhaps a stride and the number of elements a stride. The maps are attributes that anyone may
//! add or drop, as in MLIR, and not part of the definition.

use loomir_ir::text::{Delimiter, OpParser, OpPrinter, ParseResult, UnresolvedOperand};
use loomir_ir::verifier::op_error;
use loomir_ir::{AffineMap, AttrKind, Diagnostics, OpRef, OperationState, Type, TypeKind, Value};

use super::validity::{is_valid_dim, is_valid_symbol};

/// A memref with subscripts: its name in messages, and the name of its map.
struct Role {
    name: &'static str,
    indices: &'static str,
    map: &'static str,
}

const SOURCE: Role = Role { name: "DMA source", indices: "src index", map: "src_map" };
const TARGET: Role = Role { name: "DMA destination", indices: "dst index", map: "dst_map" };
const TAG: Role = Role { name: "DMA tag", indices: "tag index", map: "tag_map" };
const WAITED: Role = Role { name: "DMA tag", indices: "index", map: "tag_map" };

const START: &[Role] = &[SOURCE, TARGET, TAG];
const WAIT: &[Role] = &[WAITED];

/// The memrefs of an operation, with the operands behind them.
struct Operands {
    places: Vec<(Value, AffineMap, Vec<Value>)>,
    numbers: Vec<Value>,
}

fn roles(op: OpRef<'_>) -> &'static [Role] {
    if op.is(super::DmaWaitOp::DEF) { WAIT } else { START }
}

/// Returns the operands in their roles, or the error message.
fn operands(op: OpRef<'_>) -> Result<Operands, String> {
    let ctx = op.ctx();
    let mut rest = op.operands();
    let mut places = Vec::new();
    for role in roles(op) {
        let map = op.attr(role.map).and_then(|attr| attr.as_affine_map(ctx));
        let map = map.ok_or_else(|| format!("requires an affine map as attribute '{}'", role.map))?;
        let memref = rest.next().ok_or_else(|| format!("expected a {}", role.name))?;
        let indices: Vec<Value> = rest.by_ref().take(map.num_inputs(ctx)).collect();
        if !matches!(op.type_of(memref).kind(ctx), TypeKind::MemRef { shape: Some(_), .. }) {
            return Err(format!("expected {} to be of memref type", role.name));
        }
        if indices.len() < map.num_inputs(ctx) {
            return Err(format!("expected an operand for each input of '{}'", role.map));
        }
        places.push((memref, map, indices));
    }
    let numbers: Vec<Value> = rest.collect();
    let fits = numbers.len() == 1 || (numbers.len() == 3 && places.len() == 3);
    if fits { Ok(Operands { places, numbers }) } else { Err("incorrect number of operands".into()) }
}

/// Operands in their roles, subscripts that are dimensions or symbols, and numbers of type `index`.
pub(super) fn verify(op: OpRef<'_>, out: &mut Diagnostics) {
    let Operands { places, numbers } = match operands(op) {
        Ok(operands) => operands,
        Err(message) => return out.push(op_error(op, message)),
    };
    for (role, (_, _, indices)) in roles(op).iter().zip(&places) {
        if indices.iter().any(|index| !op.type_of(*index).is_index()) {
            out.push(op_error(op, format!("{} to dma_start must have 'index' type", role.indices)));
        } else if indices.iter().any(|index| !is_valid_dim(op, *index) && !is_valid_symbol(op, *index)) {
            let message = format!("{} must be a valid dimension or symbol identifier", role.indices);
            out.push(op_error(op, message));
        }
    }
    for number in numbers {
        if !op.type_of(number).is_index() {
            out.push(op_error(op, "expected numbers of elements and strides to be of index type"));
        }
    }
}

/// `%src[%i + 1], %dst[%j], %tag[0], %count, %stride, %each {…} : type, type, type`.
pub(super) fn parse_start(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    parse(p, state, START)
}

/// `%tag[%i], %count {…} : type`.
pub(super) fn parse_wait(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    parse(p, state, WAIT)
}

fn parse(p: &mut OpParser<'_, '_>, state: &mut OperationState, roles: &[Role]) -> ParseResult<()> {
    let ctx = p.ctx();
    let mut places: Vec<(UnresolvedOperand, Vec<UnresolvedOperand>)> = Vec::new();
    for role in roles {
        let memref = p.parse_operand()?;
        let (map, indices, _) = p.parse_affine_map_of_ssa_ids(Delimiter::Square)?;
        state.set_attr(ctx, role.map, ctx.attr(AttrKind::AffineMap(map)));
        places.push((memref, indices));
        p.expect(",")?;
    }
    let loc = p.loc();
    let numbers = p.parse_operand_list(Delimiter::None)?;
    match (numbers.len(), roles.len()) {
        (1, _) | (3, 3) => {}
        (_, 3) => return Err(p.error(loc, "expected two stride related operands")),
        _ => return Err(p.error(loc, "expected the number of elements")),
    }
    p.parse_optional_attr_dict(state)?;
    p.expect(":")?;
    let loc = p.loc();
    let types = p.parse_type_list()?;
    if types.len() != places.len() {
        let (expected, found) = (places.len(), types.len());
        return Err(p.error(loc, format!("expected {expected} types of memrefs, found {found}")));
    }
    for ((memref, indices), ty) in places.into_iter().zip(types) {
        state.operands.push(p.resolve(memref, ty)?);
        for index in indices {
            state.operands.push(p.resolve(index, Type::INDEX)?);
        }
    }
    for number in numbers {
        state.operands.push(p.resolve(number, Type::INDEX)?);
    }
    Ok(())
}

pub(super) fn print(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    let Ok(Operands { places, numbers }) = operands(op) else {
        // Without maps, the operands are printed as one list.
        return p.operands(op.operands());
    };
    for (memref, map, indices) in &places {
        p.operand(*memref);
        p.write("[");
        p.affine_map_of_ssa_ids(*map, indices);
        p.write("], ");
    }
    p.operands(numbers);
    p.attr_dict(op, &["src_map", "dst_map", "tag_map"]);
    p.write(" : ");
    p.types(places.iter().map(|(memref, ..)| op.type_of(*memref)));
}
