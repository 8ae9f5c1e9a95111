//! Custom forms of `affine.apply`, `min`, `max`, `if`, `for` and of index arithmetic.

use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::text::{Delimiter, OpParser, OpPrinter, ParseResult};
use loomir_ir::{AffineExpr, AffineExprKind, AffineMap, Attr, AttrKind, OpRef, OperationState, Type, Value};

use super::access::map_of;
use super::{ForOp, YieldOp};
use crate::syntax::{entry_arguments, parse_carried, parse_index_list, print_carried, print_index_list};

/// Reads `(%i, %j)[%n]`, the operands of a map or set with these numbers of dimensions and symbols.
fn parse_map_operands(p: &mut OpParser<'_, '_>, dims: u32, symbols: u32) -> ParseResult<Vec<Value>> {
    let mut values = Vec::new();
    let loc = p.loc();
    let lists = [(Delimiter::Paren, dims, "dim"), (Delimiter::OptionalSquare, symbols, "symbol")];
    for (delimiter, count, what) in lists {
        let operands = p.parse_operand_list(delimiter)?;
        if operands.len() != count as usize {
            return Err(p.error(loc, format!("{what} operand count and affine map {what} count must match")));
        }
        for operand in operands {
            values.push(p.resolve(operand, Type::INDEX)?);
        }
    }
    Ok(values)
}

fn print_map_operands(p: &mut OpPrinter<'_>, dims: u32, operands: &[Value]) {
    let (dims, symbols) = operands.split_at(operands.len().min(dims as usize));
    p.write("(");
    p.operands(dims.iter().copied());
    p.write(")");
    if !symbols.is_empty() {
        p.write("[");
        p.operands(symbols.iter().copied());
        p.write("]");
    }
}

/// `affine.apply #map(%i)[%n]`. The syntax of `min` and `max` is the same.
pub(super) fn parse_apply(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let map = p.parse_affine_map()?;
    let ctx = p.ctx();
    let data = map.data(ctx);
    state.set_attr(ctx, "map", ctx.attr(AttrKind::AffineMap(map)));
    state.operands = parse_map_operands(p, data.dims, data.symbols)?;
    state.result_types.push(Type::INDEX);
    p.parse_optional_attr_dict(state)
}

pub(super) fn print_apply(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let map = map_of(op.ctx(), op.attr("map"));
    let operands: Vec<Value> = op.operands().collect();
    p.write(" ");
    p.attr(op.ctx().attr(AttrKind::AffineMap(map)));
    print_map_operands(p, map.data(op.ctx()).dims, &operands);
    p.attr_dict(op, &["map"]);
}

/// `affine.if #set(%i)[%n] -> f32 {…} else {…}`.
pub(super) fn parse_if(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let set = p.parse_integer_set()?;
    let ctx = p.ctx();
    let data = set.data(ctx);
    state.set_attr(ctx, "condition", ctx.attr(AttrKind::IntegerSet(set)));
    state.operands = parse_map_operands(p, data.dims, data.symbols)?;
    state.result_types = p.parse_optional_arrow_types()?;
    p.parse_region(state, &[])?;
    p.ensure_terminator(state, 0, YieldOp::DEF);
    if p.accept_keyword("else") {
        p.parse_region(state, &[])?;
        p.ensure_terminator(state, 1, YieldOp::DEF);
    } else {
        p.add_empty_region(state);
    }
    p.parse_optional_attr_dict(state)
}

pub(super) fn print_if(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let ctx = op.ctx();
    let operands: Vec<Value> = op.operands().collect();
    let terminators = op.num_results() > 0;
    p.write(" ");
    if let Some(condition) = op.attr("condition") {
        p.attr(condition);
        if let AttrKind::IntegerSet(set) = condition.kind(ctx) {
            print_map_operands(p, set.data(ctx).dims, &operands);
        }
    }
    let types: Vec<Type> = op.results().map(|r| op.type_of(r)).collect();
    p.arrow_types(&types);
    p.write(" ");
    p.region(op, 0, false, terminators);
    if op.body().entry_block(op.region(1)).is_some() {
        p.write(" else ");
        p.region(op, 1, false, terminators);
    }
    p.attr_dict(op, &["condition"]);
}

/// `affine.for %i = max #map(%a) to min #map1(%b)[%c] step 2 iter_args(%x = %y) -> (f32) {…}`.
pub(super) fn parse_for(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let mut variable = p.parse_argument(false)?;
    variable.ty = Type::INDEX;
    p.expect("=")?;
    let (lower, of_lower) = parse_bound(p, state, "lower", "max")?;
    p.expect_keyword("to")?;
    let (upper, of_upper) = parse_bound(p, state, "upper", "min")?;
    let ctx = p.ctx();
    let mut step = 1;
    if p.accept_keyword("step") {
        let loc = p.loc();
        step = p.parse_integer()?;
        if step <= 0 {
            return Err(p.error(loc, "expected step to be representable as a positive signed integer"));
        }
    }
    let loc = p.loc();
    let mismatch = "mismatch between the number of loop-carried values and results";
    let (mut arguments, inits) = parse_carried(p, state, mismatch)?;
    let inits = p.resolve_all(&inits, &state.result_types, loc)?;
    arguments.insert(0, variable);
    let segments = [of_lower as i64, of_upper as i64, inits.len() as i64];
    state.set_attrs(
        ctx,
        &[
            ("lowerBoundMap", ctx.attr(AttrKind::AffineMap(lower))),
            ("upperBoundMap", ctx.attr(AttrKind::AffineMap(upper))),
            ("step", ctx.index_attr(step)),
            (OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &segments)),
        ],
    );
    state.operands.extend(inits);
    p.parse_region(state, &arguments)?;
    p.ensure_terminator(state, 0, YieldOp::DEF);
    p.parse_optional_attr_dict(state)
}

/// Reads a bound: a number, a value, or a map with its operands, with the word `max` or `min` if it
/// has several results. Returns the map and the number of added operands.
fn parse_bound(
    p: &mut OpParser<'_, '_>,
    state: &mut OperationState,
    side: &str,
    word: &str,
) -> ParseResult<(AffineMap, usize)> {
    let ctx = p.ctx();
    let several = p.accept_keyword(word);
    if let Some(operand) = p.parse_optional_operand()? {
        state.operands.push(p.resolve(operand, Type::INDEX)?);
        return Ok((AffineMap::new(ctx, 0, 1, &[AffineExpr::symbol(ctx, 0)]), 1));
    }
    let loc = p.loc();
    let bound = p.parse_attr(Some(Type::INDEX))?;
    match bound.kind(ctx) {
        AttrKind::AffineMap(map) => {
            let data = map.data(ctx);
            let operands = parse_map_operands(p, data.dims, data.symbols)?;
            if data.results.len() > 1 && !several {
                let message =
                    format!("{side} loop bound affine map with multiple results requires '{word}' prefix");
                return Err(p.error(loc, message));
            }
            state.operands.extend(&operands);
            Ok((*map, operands.len()))
        }
        AttrKind::Integer { .. } => Ok((AffineMap::constant(ctx, bound.as_int(ctx).unwrap_or(0)), 0)),
        _ => Err(p.error(loc, "expected valid affine map representation for loop bounds")),
    }
}

fn print_bound(p: &mut OpPrinter<'_>, map: AffineMap, operands: &[Value], word: &str) {
    let ctx = p.ctx();
    let data = map.data(ctx);
    if let [result] = *data.results {
        match (result.kind(ctx), data.dims, data.symbols, operands) {
            (AffineExprKind::Constant(number), 0, 0, _) => return p.write(&number.to_string()),
            (AffineExprKind::Symbol(0), 0, 1, [operand]) => return p.operand(*operand),
            _ => {}
        }
    } else {
        p.write(word);
        p.write(" ");
    }
    p.attr(ctx.attr(AttrKind::AffineMap(map)));
    print_map_operands(p, data.dims, operands);
}

pub(super) fn print_for(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let (ctx, body, own) = (op.ctx(), op.body(), ForOp(op.op()));
    let arguments = entry_arguments(op, 0);
    let inits = own.inits(body);
    p.write(" ");
    if let Some(variable) = arguments.first() {
        p.argument_without_type(*variable);
    }
    p.write(" = ");
    print_bound(p, map_of(ctx, own.lowerBoundMap(body)), &own.lowerBoundOperands(body), "max");
    p.write(" to ");
    print_bound(p, map_of(ctx, own.upperBoundMap(body)), &own.upperBoundOperands(body), "min");
    match own.step(body).and_then(|step| step.as_int(ctx)) {
        Some(1) | None => {}
        Some(step) => p.write(&format!(" step {step}")),
    }
    print_carried(p, op, &arguments, &inits);
    p.write(" ");
    p.region(op, 0, false, !inits.is_empty());
    p.attr_dict(op, &["lowerBoundMap", "upperBoundMap", "step", "operandSegmentSizes"]);
}

/// `affine.delinearize_index %n into (2, %b) : index, index`.
pub(super) fn parse_delinearize(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let index = p.parse_operand()?;
    state.operands.push(p.resolve(index, Type::INDEX)?);
    p.expect_keyword("into")?;
    parse_basis(p, state)?;
    p.parse_optional_attr_dict(state)?;
    p.expect(":")?;
    state.result_types = p.parse_type_list()?;
    Ok(())
}

/// Reads `(2, %b)` and returns the number of values.
fn parse_basis(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<usize> {
    let (values, numbers) = parse_index_list(p, Delimiter::Paren)?;
    for value in &values {
        state.operands.push(p.resolve(*value, Type::INDEX)?);
    }
    let ctx = p.ctx();
    state.set_attr(ctx, "static_basis", ctx.dense_ints_attr(Type::I64, &numbers));
    Ok(values.len())
}

fn print_basis(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let numbers = op.attr("static_basis").and_then(|a| a.as_dense_ints(op.ctx())).unwrap_or_default();
    print_index_list(p, &op.operand_group("dynamic_basis"), &numbers);
}

pub(super) fn print_delinearize(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operand(op.operand(0));
    p.write(" into ");
    print_basis(p, op);
    p.attr_dict(op, &["static_basis"]);
    p.write(" : ");
    p.types(op.results().map(|r| op.type_of(r)));
}

/// `affine.linearize_index disjoint [%i, %j] by (4, %b) : index`.
pub(super) fn parse_linearize(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    if p.accept_keyword("disjoint") {
        state.set_attr(ctx, "disjoint", Attr::UNIT);
    }
    let indices = p.parse_operand_list(Delimiter::Square)?;
    for index in &indices {
        state.operands.push(p.resolve(*index, Type::INDEX)?);
    }
    p.expect_keyword("by")?;
    let basis = parse_basis(p, state)?;
    state.set_segments(ctx, &[indices.len() as i64, basis as i64]);
    p.parse_optional_attr_dict(state)?;
    state.result_types.push(p.parse_colon_type()?);
    Ok(())
}

pub(super) fn print_linearize(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(if op.attr("disjoint") == Some(Attr::UNIT) { " disjoint [" } else { " [" });
    p.operands(op.operand_group("multi_index"));
    p.write("] by ");
    print_basis(p, op);
    p.attr_dict(op, &["static_basis", "disjoint", "operandSegmentSizes"]);
    p.write(" : ");
    p.ty(op.result_type(0));
}
