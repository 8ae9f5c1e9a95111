//! Custom forms of the `linalg` operations.
//!
//! A named operation is written without its region, which the reader builds. Tensors are read, so
//! that the verifier can say what to do about them.

use loomir_ir::text::{Delimiter, OpParser, OpPrinter, ParseResult};
use loomir_ir::{Attr, AttrKind, Dict, Name, OpRef, OperationState, Trait, Type, TypeKind, Value};

use super::attributes::element_type;
use super::named::Named;
use super::{GenericOp, ITERATOR_TYPE, TYPE_FN};

/// An attribute that MLIR keeps on operations and does not write.
const MEMOIZED: &str = "linalg.memoized_indexing_maps";

/// The inherent attributes of `linalg.generic`, which it writes in front of its operands.
const GENERIC_ATTRS: [&str; 4] = ["doc", "indexing_maps", "iterator_types", "library_call"];

/// Reads `ins(%x, %y : f32, f32)` after its keyword.
fn parse_operands(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<usize> {
    p.expect("(")?;
    let loc = p.loc();
    let operands = p.parse_operand_list(Delimiter::None)?;
    let mut types = Vec::new();
    if !operands.is_empty() {
        p.expect(":")?;
        types = p.parse_type_list()?;
    }
    p.expect(")")?;
    let values = p.resolve_all(&operands, &types, loc)?;
    state.operands.extend(values);
    Ok(operands.len())
}

/// Reads `{attributes} ins(…) outs(…)`.
fn parse_parts(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    p.parse_optional_attr_dict(state)?;
    let mut segments = [0; 2];
    for (keyword, segment) in ["ins", "outs"].into_iter().zip(&mut segments) {
        if p.accept_keyword(keyword) {
            *segment = parse_operands(p, state)? as i64;
        }
    }
    if p.ctx().op_info(state.name).has_trait(Trait::AttrSizedOperandSegments) {
        state.set_segments(p.ctx(), &segments);
    }
    Ok(())
}

/// Writes ` ins(…) outs(…)`.
fn print_parts(p: &mut OpPrinter<'_>, op: OpRef<'_>, inputs: &[Value], outputs: &[Value]) {
    for (keyword, values) in [(" ins(", inputs), (" outs(", outputs)] {
        if !values.is_empty() {
            p.write(keyword);
            p.operands(values.iter().copied());
            p.write(" : ");
            p.types(values.iter().map(|value| op.type_of(*value)));
            p.write(")");
        }
    }
}

/// Builds the region of a named operation from the types of its operands.
fn build_region(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let (ctx, loc) = (p.ctx(), state.loc);
    let named = ctx.op_info(state.name).def().and_then(Named::of);
    let Some(named) = named else { return Err(p.error(loc, "expected a named operation")) };
    let types: Vec<Type> = state.operands.iter().map(|v| element_type(ctx, p.type_of(*v))).collect();
    if types.len() != named.num_operands() {
        let name = ctx.op_str(state.name);
        let (expected, got) = (named.num_operands(), types.len());
        return Err(p.error(loc, format!("'{name}' has {expected} operands, and {got} are given")));
    }
    let cast = state.properties.get(ctx, "cast").and_then(|cast| TYPE_FN.value(ctx, cast));
    let error = p.error(loc, format!("'{}' is not defined for these types", ctx.op_str(state.name)));
    p.build_region(state, &types, |b, arguments| named.build(b, arguments, cast == Some(1)).ok_or(error))
}

/// `linalg.matmul {attributes} ins(%a, %b : …) outs(%c : …)`.
pub(super) fn parse_named(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    if p.accept_keyword("indexing_maps") {
        p.expect("=")?;
        let maps = p.parse_attr(None)?;
        state.set_attr(p.ctx(), "indexing_maps", maps);
    }
    parse_parts(p, state)?;
    state.result_types = p.parse_optional_arrow_types()?;
    build_region(p, state)
}

pub(super) fn print_named(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let ctx = op.ctx();
    let defaults = op.info().default_attrs(ctx);
    if let Some(maps) = op.attr("indexing_maps")
        && !defaults.iter().any(|default| default.value == maps)
    {
        p.write(" indexing_maps = ");
        p.attr(maps);
    }
    p.attr_dict(op, &["indexing_maps", MEMOIZED]);
    print_parts(p, op, &op.operand_group("inputs"), &op.operand_group("outputs"));
    let types: Vec<Type> = op.results().map(|result| op.type_of(result)).collect();
    p.arrow_types(&types);
}

/// Reads `ins(%a : …) outs(%b : …) name = [1, 0]`. Tensors among the outputs are results.
fn parse_reordering(p: &mut OpParser<'_, '_>, state: &mut OperationState, name: &str) -> ParseResult<()> {
    parse_parts(p, state)?;
    p.expect_keyword(name)?;
    p.expect("=")?;
    let numbers = p.parse_list(Delimiter::Square, |p| p.parse_integer())?;
    let ctx = p.ctx();
    state.set_attr(ctx, name, ctx.dense_ints_attr(Type::I64, &numbers));
    p.parse_optional_attr_dict(state)?;
    let is_tensor = |ty: &Type| matches!(ty.kind(ctx), TypeKind::Tensor { .. });
    state.result_types = state.operands.iter().skip(1).map(|v| p.type_of(*v)).filter(is_tensor).collect();
    build_region(p, state)
}

fn print_reordering(p: &mut OpPrinter<'_>, op: OpRef<'_>, name: &str) {
    print_parts(p, op, &op.operand_group("input"), &op.operand_group("init"));
    let numbers = op.attr(name).and_then(|attr| attr.as_dense_ints(op.ctx())).unwrap_or_default();
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    p.write(&format!(" {name} = [{}] ", numbers.join(", ")));
    p.attr_dict(op, &[name, MEMOIZED]);
}

/// `linalg.transpose ins(%a : …) outs(%b : …) permutation = [1, 0]`.
pub(super) fn parse_transpose(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    parse_reordering(p, state, "permutation")
}

pub(super) fn print_transpose(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    print_reordering(p, op, "permutation");
}

/// `linalg.broadcast ins(%a : …) outs(%b : …) dimensions = [1]`.
pub(super) fn parse_broadcast(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    parse_reordering(p, state, "dimensions")
}

pub(super) fn print_broadcast(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    print_reordering(p, op, "dimensions");
}

/// `linalg.generic {indexing_maps = […], iterator_types = […]} ins(…) outs(…) attrs = {…}`, and the
/// region.
pub(super) fn parse_generic(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let (ctx, loc) = (p.ctx(), p.loc());
    let attrs = p.parse_attr(None)?;
    let AttrKind::Dictionary(attrs) = attrs.kind(ctx) else {
        return Err(p.error(loc, "expected a dictionary of attributes"));
    };
    for (name, attr) in attrs.entries(ctx) {
        let name = ctx.str(*name);
        let attr = if name == "iterator_types" { iterator_types(p, *attr)? } else { *attr };
        state.set_attr(ctx, name, attr);
    }
    parse_parts(p, state)?;
    if p.accept_keyword("attrs") {
        p.expect("=")?;
        p.parse_optional_attr_dict(state)?;
    }
    p.parse_region(state, &[])?;
    state.result_types = p.parse_optional_arrow_types()?;
    Ok(())
}

/// Returns iterator types that are written as strings.
fn iterator_types(p: &mut OpParser<'_, '_>, names: Attr) -> ParseResult<Attr> {
    let (ctx, loc) = (p.ctx(), p.loc());
    let mut types = Vec::new();
    for name in names.as_array(ctx).unwrap_or_default() {
        let value = name.as_str(ctx).and_then(|name| ITERATOR_TYPE.value_of(name));
        match value.or_else(|| ITERATOR_TYPE.value(ctx, *name)) {
            Some(value) => types.push(ITERATOR_TYPE.attr(ctx, value)),
            None => {
                let name = name.as_str(ctx).unwrap_or("not a string");
                return Err(p.error(loc, format!("unexpected iterator_type ({name})")));
            }
        }
    }
    Ok(ctx.array_attr(&types))
}

pub(super) fn print_generic(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    let dict = written_attrs(op);
    p.dictionary(dict);
    print_parts(p, op, &op.operand_group("inputs"), &op.operand_group("outputs"));
    let ctx = op.ctx();
    if op.attributes().entries(ctx).iter().any(|(name, _)| ctx.str(*name) != MEMOIZED) {
        p.write(" attrs = ");
        p.attr_dict(op, &[&GENERIC_ATTRS[..], &[MEMOIZED]].concat());
    }
    p.write(" ");
    p.region(op, 0, true, true);
    let types: Vec<Type> = op.results().map(|result| op.type_of(result)).collect();
    p.arrow_types(&types);
}

/// Returns the inherent attributes, with iterator types as strings.
fn written_attrs(op: OpRef<'_>) -> Dict {
    let ctx = op.ctx();
    let as_string = |ty: &Attr| {
        let name = ITERATOR_TYPE.value(ctx, *ty).and_then(|value| ITERATOR_TYPE.text_of(value));
        name.map_or(*ty, |name| ctx.string_attr(&name))
    };
    let written = |(name, attr): &(Name, Attr)| {
        let text = ctx.str(*name);
        let attr = match attr.as_array(ctx) {
            Some(types) if text == "iterator_types" => {
                ctx.array_attr(&types.iter().map(as_string).collect::<Vec<_>>())
            }
            _ => *attr,
        };
        GENERIC_ATTRS.contains(&text).then_some((*name, attr))
    };
    debug_assert!(op.is(GenericOp::DEF));
    ctx.dict(op.properties().entries(ctx).iter().filter_map(written).collect())
}
