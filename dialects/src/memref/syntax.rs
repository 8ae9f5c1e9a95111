//! Custom syntax of `memref` that a format cannot express.

use loomir_ir::text::{Delimiter, OpParser, OpPrinter, ParseResult, UnresolvedOperand, map_to_string};
use loomir_ir::{AffineExpr, AffineMap, Attr, AttrKind, Context, OpRef, OperationState, Type, TypeKind};

use super::{AllocaScopeReturnOp, layout};
use crate::syntax::{parse_index_list, print_index_list_in, print_result_types};

/// Returns the numbers of a dense array.
fn numbers(op: OpRef<'_>, name: &str) -> Vec<i64> {
    op.attr(name).and_then(|attr| attr.as_dense_ints(op.ctx())).unwrap_or_default()
}

/// A list of offsets, sizes or strides during parsing: the values, and the numbers with gaps for
/// them.
type IndexList = (Vec<UnresolvedOperand>, Vec<i64>);

fn parse_indices(p: &mut OpParser<'_, '_>) -> ParseResult<IndexList> {
    parse_index_list(p, Delimiter::Square)
}

/// Writes `[%a, 4]`: the operands of a name mixed with the numbers of another.
fn print_indices(p: &mut OpPrinter<'_>, op: OpRef<'_>, values: &str, statics: &str) {
    print_index_list_in(p, ["[", "]"], &op.operand_group(values), &numbers(op, statics));
}

const STATICS: [&str; 3] = ["static_offsets", "static_sizes", "static_strides"];
/// Attributes that are printed as lists of offsets, sizes and strides.
const SAID: &[&str] = &["static_offsets", "static_sizes", "static_strides", "operandSegmentSizes"];

/// Reads the end of `subview` and `reinterpret_cast`: `{attributes} : type to type`. Resolves the
/// source and the lists before it.
fn finish_strided_view(
    p: &mut OpParser<'_, '_>,
    state: &mut OperationState,
    source: UnresolvedOperand,
    lists: [IndexList; 3],
) -> ParseResult<()> {
    let ctx = p.ctx();
    p.parse_optional_attr_dict(state)?;
    let source_type = p.parse_colon_type()?;
    p.expect_keyword("to")?;
    state.result_types.push(p.parse_type()?);
    state.operands.push(p.resolve(source, source_type)?);
    let mut segments = vec![1];
    for ((values, numbers), name) in lists.iter().zip(STATICS) {
        for value in values {
            state.operands.push(p.resolve(*value, Type::INDEX)?);
        }
        segments.push(values.len() as i64);
        state.set_attr(ctx, name, ctx.dense_ints_attr(Type::I64, numbers));
    }
    state.set_segments(ctx, &segments);
    Ok(())
}

fn print_types(p: &mut OpPrinter<'_>, op: OpRef<'_>, word: &str) {
    p.write(" : ");
    p.ty(op.operand_type(0));
    p.write(word);
    p.ty(op.result_type(0));
}

/// `%source[offsets] [sizes] [strides] {…} : type to type`.
pub(super) fn parse_subview(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let source = p.parse_operand()?;
    let lists = [parse_indices(p)?, parse_indices(p)?, parse_indices(p)?];
    finish_strided_view(p, state, source, lists)
}

pub(super) fn print_subview(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operand(op.operand(0));
    for (values, statics) in ["offsets", "sizes", "strides"].into_iter().zip(STATICS) {
        print_indices(p, op, values, statics);
        if statics != STATICS[2] {
            p.write(" ");
        }
    }
    p.attr_dict(op, SAID);
    print_types(p, op, " to ");
}

/// `%source to offset: [o], sizes: [s], strides: [s] {…} : type to type`.
pub(super) fn parse_reinterpret_cast(
    p: &mut OpParser<'_, '_>,
    state: &mut OperationState,
) -> ParseResult<()> {
    let source = p.parse_operand()?;
    let list = |p: &mut OpParser<'_, '_>, before: &str, word: &str| {
        if before == "," {
            p.expect(",")?;
        } else {
            p.expect_keyword(before)?;
        }
        p.expect_keyword(word)?;
        p.expect(":")?;
        parse_indices(p)
    };
    let lists = [list(p, "to", "offset")?, list(p, ",", "sizes")?, list(p, ",", "strides")?];
    finish_strided_view(p, state, source, lists)
}

pub(super) fn print_reinterpret_cast(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operand(op.operand(0));
    p.write(" to offset: ");
    print_indices(p, op, "offsets", STATICS[0]);
    p.write(", sizes: ");
    print_indices(p, op, "sizes", STATICS[1]);
    p.write(", strides: ");
    print_indices(p, op, "strides", STATICS[2]);
    p.attr_dict(op, SAID);
    print_types(p, op, " to ");
}

/// `%src [[0, 1]] output_shape [2, %n] {…} : type into type`.
pub(super) fn parse_expand_shape(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    let source = p.parse_operand()?;
    let groups = p.parse_attr(None)?;
    state.set_attr(ctx, "reassociation", groups);
    p.expect_keyword("output_shape")?;
    let (values, numbers) = parse_indices(p)?;
    state.set_attr(ctx, "static_output_shape", ctx.dense_ints_attr(Type::I64, &numbers));
    p.parse_optional_attr_dict(state)?;
    let source_type = p.parse_colon_type()?;
    p.expect_keyword("into")?;
    state.result_types.push(p.parse_type()?);
    state.operands.push(p.resolve(source, source_type)?);
    for value in values {
        state.operands.push(p.resolve(value, Type::INDEX)?);
    }
    Ok(())
}

pub(super) fn print_expand_shape(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operand(op.operand(0));
    p.write(" ");
    if let Some(groups) = op.attr("reassociation") {
        p.attr(groups);
    }
    p.write(" output_shape ");
    print_indices(p, op, "output_shape", "static_output_shape");
    p.attr_dict(op, &["reassociation", "static_output_shape"]);
    print_types(p, op, " into ");
}

/// `%in (d0, d1) -> (d1, d0) {…} : type to type`.
pub(super) fn parse_transpose(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    let source = p.parse_operand()?;
    let dims = p.parse_list(Delimiter::Paren, |p| p.parse_keyword())?;
    p.expect("->")?;
    let loc = p.loc();
    let order = p.parse_list(Delimiter::Paren, |p| {
        let loc = p.loc();
        let name = p.parse_keyword()?;
        let position = dims.iter().position(|dim| *dim == name);
        position.ok_or_else(|| p.error(loc, "expected one of the dimensions listed before the arrow"))
    })?;
    let mut seen = vec![false; dims.len()];
    if order.len() != dims.len() || order.iter().any(|d| std::mem::replace(&mut seen[*d], true)) {
        return Err(p.error(loc, "expected a permutation map"));
    }
    let results: Vec<_> = order.iter().map(|d| AffineExpr::dim(ctx, *d as u32)).collect();
    let map = AffineMap::new(ctx, dims.len() as u32, 0, &results);
    state.set_attr(ctx, "permutation", ctx.attr(AttrKind::AffineMap(map)));
    p.parse_optional_attr_dict(state)?;
    let source_type = p.parse_colon_type()?;
    p.expect_keyword("to")?;
    state.result_types.push(p.parse_type()?);
    state.operands.push(p.resolve(source, source_type)?);
    Ok(())
}

pub(super) fn print_transpose(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operand(op.operand(0));
    p.write(" ");
    if let Some(map) = op.attr("permutation").and_then(|attr| attr.as_affine_map(op.ctx())) {
        p.write(&map_to_string(op.ctx(), map));
    }
    p.attr_dict(op, &["permutation"]);
    print_types(p, op, " to ");
}

/// `%source : type -> types {…}`.
pub(super) fn parse_extract_strided_metadata(
    p: &mut OpParser<'_, '_>,
    state: &mut OperationState,
) -> ParseResult<()> {
    let source = p.parse_operand()?;
    let ty = p.parse_colon_type()?;
    p.expect("->")?;
    state.result_types = p.parse_type_list()?;
    p.parse_optional_attr_dict(state)?;
    state.operands.push(p.resolve(source, ty)?);
    Ok(())
}

pub(super) fn print_extract_strided_metadata(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operand(op.operand(0));
    p.write(" : ");
    p.ty(op.operand_type(0));
    p.write(" -> ");
    p.types(op.results().map(|v| op.type_of(v)));
    p.attr_dict(op, &[]);
}

/// `%a, %b {…} : types`. The results have the same types.
pub(super) fn parse_distinct_objects(
    p: &mut OpParser<'_, '_>,
    state: &mut OperationState,
) -> ParseResult<()> {
    let loc = p.loc();
    let operands = p.parse_operand_list(Delimiter::None)?;
    p.parse_optional_attr_dict(state)?;
    p.expect(":")?;
    let types = p.parse_type_list()?;
    state.operands = p.resolve_all(&operands, &types, loc)?;
    state.result_types = types;
    Ok(())
}

pub(super) fn print_distinct_objects(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operands(op.operands());
    p.attr_dict(op, &[]);
    p.write(" : ");
    p.types(op.operands().map(|v| op.type_of(v)));
}

/// Returns the type that holds the elements of a memref as a constant.
pub(super) fn tensor_of(ctx: &Context, memref: Type) -> Option<Type> {
    let memref = layout::Ranked::of(ctx, memref)?;
    Some(ctx.ty(TypeKind::Tensor {
        shape: Some(memref.shape.into()),
        element: memref.element,
        encoding: None,
    }))
}

/// `"visibility" constant @name : type = value {…}`.
pub(super) fn parse_global(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    if let Some(visibility) = p.parse_optional_string()? {
        state.set_attr(ctx, "sym_visibility", ctx.string_attr(&visibility));
    }
    if p.accept_keyword("constant") {
        state.set_attr(ctx, "constant", Attr::UNIT);
    }
    let name = p.parse_symbol_name()?;
    state.set_attr(ctx, "sym_name", name);
    let loc = p.loc();
    let ty = p.parse_colon_type()?;
    state.set_attr(ctx, "type", ctx.type_attr(ty));
    if p.accept("=") {
        let value = if p.accept_keyword("uninitialized") {
            Attr::UNIT
        } else {
            let Some(tensor) = tensor_of(ctx, ty) else {
                return Err(p.error(loc, "type should be static shaped memref"));
            };
            p.parse_attr(Some(tensor))?
        };
        state.set_attr(ctx, "initial_value", value);
    }
    p.parse_optional_attr_dict(state)
}

pub(super) fn print_global(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let ctx = op.ctx();
    p.write(" ");
    if let Some(AttrKind::String(visibility)) = op.attr("sym_visibility").map(|attr| attr.kind(ctx)) {
        p.string(visibility);
        p.write(" ");
    }
    if op.attr("constant").is_some() {
        p.write("constant ");
    }
    p.symbol_name(op.attr("sym_name").and_then(|attr| attr.as_str(ctx)).unwrap_or_default());
    p.write(" : ");
    if let Some(ty) = op.attr("type").and_then(|attr| attr.as_type(ctx)) {
        p.ty(ty);
    }
    match op.attr("initial_value") {
        None => {}
        Some(Attr::UNIT) => p.write(" = uninitialized"),
        Some(value) => {
            p.write(" = ");
            p.attr_without_type(value);
        }
    }
    p.attr_dict(op, &["sym_name", "sym_visibility", "type", "initial_value", "constant"]);
}

/// `%memref[%i] : type {…}` with a region, and its attributes behind it.
pub(super) fn parse_generic_atomic_rmw(
    p: &mut OpParser<'_, '_>,
    state: &mut OperationState,
) -> ParseResult<()> {
    let memref = p.parse_operand()?;
    let indices = p.parse_operand_list(Delimiter::Square)?;
    let loc = p.loc();
    let ty = p.parse_colon_type()?;
    let Some(ranked) = layout::Ranked::of(p.ctx(), ty) else {
        return Err(p.error(loc, "expected a memref type"));
    };
    state.operands.push(p.resolve(memref, ty)?);
    for index in indices {
        state.operands.push(p.resolve(index, Type::INDEX)?);
    }
    state.result_types.push(ranked.element);
    p.parse_region(state, &[])?;
    p.parse_optional_attr_dict(state)
}

pub(super) fn print_generic_atomic_rmw(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operand(op.operand(0));
    p.write("[");
    p.operands(op.operands().skip(1));
    p.write("] : ");
    p.ty(op.operand_type(0));
    p.write(" ");
    p.region(op, 0, true, true);
    p.attr_dict(op, &[]);
}

/// `-> (types)` if there are results, the region, then attributes.
pub(super) fn parse_alloca_scope(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    state.result_types = p.parse_optional_arrow_types()?;
    p.parse_region(state, &[])?;
    p.ensure_terminator(state, 0, AllocaScopeReturnOp::DEF);
    p.parse_optional_attr_dict(state)
}

pub(super) fn print_alloca_scope(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let has_results = op.num_results() > 0;
    p.write(" ");
    print_result_types(p, op);
    p.write(" ");
    p.region(op, 0, false, has_results);
    p.attr_dict(op, &[]);
}

/// `%memref[%i], read, locality<3>, data {…} : type`.
pub(super) fn parse_prefetch(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    let choice = |p: &mut OpParser<'_, '_>, yes: &str, no: &str, message: &str| {
        let loc = p.loc();
        match p.parse_keyword()? {
            word if word == yes => Ok(Attr::TRUE),
            word if word == no => Ok(Attr::FALSE),
            _ => Err(p.error(loc, message)),
        }
    };
    let memref = p.parse_operand()?;
    let indices = p.parse_operand_list(Delimiter::Square)?;
    p.expect(",")?;
    let is_write = choice(p, "write", "read", "rw specifier has to be 'read' or 'write'")?;
    state.set_attr(ctx, "isWrite", is_write);
    p.expect(",")?;
    p.expect_keyword("locality")?;
    p.expect("<")?;
    let hint = p.parse_attr(Some(Type::I32))?;
    state.set_attr(ctx, "localityHint", hint);
    p.expect(">")?;
    p.expect(",")?;
    let is_data = choice(p, "data", "instr", "cache type has to be 'data' or 'instr'")?;
    state.set_attr(ctx, "isDataCache", is_data);
    p.parse_optional_attr_dict(state)?;
    let ty = p.parse_colon_type()?;
    state.operands.push(p.resolve(memref, ty)?);
    for index in indices {
        state.operands.push(p.resolve(index, Type::INDEX)?);
    }
    Ok(())
}

pub(super) fn print_prefetch(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let is = |name: &str| op.attr(name) == Some(Attr::TRUE);
    p.write(" ");
    p.operand(op.operand(0));
    p.write("[");
    p.operands(op.operands().skip(1));
    p.write("], ");
    p.write(if is("isWrite") { "write" } else { "read" });
    p.write(", locality<");
    if let Some(hint) = op.attr("localityHint") {
        p.attr_without_type(hint);
    }
    p.write(">, ");
    p.write(if is("isDataCache") { "data" } else { "instr" });
    p.attr_dict(op, &["isWrite", "localityHint", "isDataCache"]);
    p.write(" : ");
    p.ty(op.operand_type(0));
}
