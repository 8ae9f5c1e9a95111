//! Custom form of functions and indirect calls.

use loomir_ir::symbols::{SYMBOL_NAME, SYMBOL_VISIBILITY};
use loomir_ir::text::{Argument, Delimiter, OpParser, OpPrinter, ParseResult};
use loomir_ir::{Attr, AttrKind, Context, Dict, OpRef, OperationState, Type};

/// Attributes that are printed elsewhere in the text, not in the attribute dictionary.
const SAID: &[&str] = &[SYMBOL_NAME, "function_type", SYMBOL_VISIBILITY, "arg_attrs", "res_attrs"];

/// Arguments of a function, by name or by type alone.
#[derive(Default)]
pub(crate) struct Arguments {
    pub(crate) named: Vec<Argument>,
    pub(crate) types: Vec<Type>,
    pub(crate) attrs: Vec<Dict>,
    /// True if `...` follows the arguments.
    pub(crate) variadic: bool,
}

/// `visibility @name(arguments) -> (results) attributes {…} {…}`.
pub(crate) fn parse_func(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    if let Some(visibility) = ["public", "private", "nested"].into_iter().find(|v| p.accept_keyword(v)) {
        state.set_attr(ctx, SYMBOL_VISIBILITY, ctx.string_attr(visibility));
    }
    let name = p.parse_symbol_name()?;
    let arguments = parse_arguments(p, state, false)?;
    let (results, result_attrs) = parse_results(p, state)?;
    let ty = ctx.type_attr(ctx.function_type(&arguments.types, &results));
    state.set_attrs(ctx, &[(SYMBOL_NAME, name), ("function_type", ty)]);

    let loc = p.loc();
    let mut attributes = OperationState::named(state.name, state.loc);
    p.parse_optional_attr_dict_with_keyword(&mut attributes)?;
    for (name, attr) in [attributes.properties, attributes.attributes].iter().flat_map(|d| d.entries(ctx)) {
        let name = ctx.str(*name);
        if SAID.contains(&name) {
            let message = format!(
                "'{name}' is an inferred attribute and should not be specified in the explicit attribute dictionary"
            );
            return Err(p.error(loc, message));
        }
        state.set_attr(ctx, name, *attr);
    }
    set_dicts(ctx, state, "arg_attrs", &arguments.attrs);
    set_dicts(ctx, state, "res_attrs", &result_attrs);
    parse_body(p, state, &arguments.named)
}

/// Reads the body of a function; without one it is declared.
pub(crate) fn parse_body(
    p: &mut OpParser<'_, '_>,
    state: &mut OperationState,
    arguments: &[Argument],
) -> ParseResult<()> {
    let loc = p.loc();
    if !p.parse_optional_region(state, arguments)? {
        p.add_empty_region(state);
    } else if p.is_region_empty(0) {
        return Err(p.error(loc, "expected non-empty function body"));
    }
    Ok(())
}

/// Sets an array of dictionaries, unless all are empty.
pub(crate) fn set_dicts(ctx: &Context, state: &mut OperationState, name: &str, dicts: &[Dict]) {
    if dicts.iter().any(|dict| !dict.is_empty()) {
        let dicts: Vec<Attr> = dicts.iter().map(|dict| ctx.attr(AttrKind::Dictionary(*dict))).collect();
        state.set_attr(ctx, name, ctx.array_attr(&dicts));
    }
}

/// `(%a: type {…} loc(…), …)` or `(type {…}, …)`, with `...` at the end where that is allowed.
pub(crate) fn parse_arguments(
    p: &mut OpParser<'_, '_>,
    state: &OperationState,
    allow_variadic: bool,
) -> ParseResult<Arguments> {
    let mut arguments = Arguments::default();
    p.parse_list(Delimiter::Paren, |p| {
        let loc = p.loc();
        if arguments.variadic {
            return Err(p.error(loc, "variadic arguments must be in the end of the argument list"));
        }
        if allow_variadic && p.accept("...") {
            arguments.variadic = true;
            return Ok(());
        }
        let operand = p.parse_optional_operand()?;
        if !arguments.types.is_empty() && operand.is_some() == arguments.named.is_empty() {
            let expected =
                if operand.is_some() { "type instead of SSA identifier" } else { "SSA identifier" };
            return Err(p.error(loc, format!("expected {expected}")));
        }
        let ty = match operand {
            Some(_) => p.parse_colon_type()?,
            None => p.parse_type()?,
        };
        let attrs = parse_dict(p, state)?;
        let own_loc = p.parse_optional_loc()?;
        if let Some(operand) = operand {
            arguments.named.push(Argument { operand, ty, attrs, loc: own_loc.unwrap_or(loc) });
        }
        arguments.types.push(ty);
        arguments.attrs.push(attrs);
        Ok(())
    })?;
    Ok(arguments)
}

/// `-> type`, `-> (type {…}, …)` or nothing.
pub(crate) fn parse_results(
    p: &mut OpParser<'_, '_>,
    state: &OperationState,
) -> ParseResult<(Vec<Type>, Vec<Dict>)> {
    if !p.accept("->") {
        return Ok((Vec::new(), Vec::new()));
    }
    if !p.accept("(") {
        return Ok((vec![p.parse_type()?], vec![Dict::EMPTY]));
    }
    if p.accept(")") {
        return Ok((Vec::new(), Vec::new()));
    }
    let results = p.parse_list(Delimiter::None, |p| Ok((p.parse_type()?, parse_dict(p, state)?)))?;
    p.expect(")")?;
    Ok(results.into_iter().unzip())
}

/// Returns a dictionary of an argument or result, if one is next.
pub(crate) fn parse_dict(p: &mut OpParser<'_, '_>, state: &OperationState) -> ParseResult<Dict> {
    if !p.is_next("{") {
        return Ok(Dict::EMPTY);
    }
    let mut attributes = OperationState::named(state.name, state.loc);
    p.parse_optional_attr_dict(&mut attributes)?;
    // Inherent attribute names of the function have no special meaning here.
    let parts = [attributes.properties, attributes.attributes];
    Ok(p.ctx().dict(parts.iter().flat_map(|d| d.entries(p.ctx())).copied().collect()))
}

/// Returns the dictionary at `index` in an array of dictionaries.
pub(crate) fn dict_at(ctx: &Context, dicts: Option<Attr>, index: usize) -> Dict {
    match dicts.and_then(|d| d.as_array(ctx)).and_then(|d| d.get(index)).map(|d| d.kind(ctx)) {
        Some(AttrKind::Dictionary(dict)) => *dict,
        _ => Dict::EMPTY,
    }
}

pub(crate) fn print_dict(p: &mut OpPrinter<'_>, dict: Dict) {
    if !dict.is_empty() {
        p.write(" ");
        p.dictionary(dict);
    }
}

pub(crate) fn print_func(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let ctx = op.ctx();
    let text = |name: &str| op.attr(name).and_then(|attr| attr.as_str(ctx));
    p.write(" ");
    if let Some(visibility) = text(SYMBOL_VISIBILITY) {
        p.write(visibility);
        p.write(" ");
    }
    p.symbol_name(text(SYMBOL_NAME).unwrap_or_default());
    let function_type = op.attr("function_type").and_then(|attr| attr.as_type(ctx));
    let (inputs, results) = function_type.and_then(|ty| ty.function(ctx)).unwrap_or_default();
    let entry = op.body().entry_block(op.region(0));
    let arg_attrs = op.attr("arg_attrs");
    p.write("(");
    for (i, ty) in inputs.iter().enumerate() {
        if i > 0 {
            p.write(", ");
        }
        let attrs = dict_at(ctx, arg_attrs, i);
        match entry.filter(|block| i < op.body().num_arguments(*block)) {
            Some(block) => p.argument_with_attrs(op.body().argument(block, i), attrs),
            None => {
                p.ty(*ty);
                print_dict(p, attrs);
            }
        }
    }
    p.write(")");
    print_results(p, op, results);
    p.attr_dict_with_keyword(op, SAID);
    if entry.is_some() {
        p.write(" ");
        p.region(op, 0, false, true);
    }
}

pub(crate) fn print_results(p: &mut OpPrinter<'_>, op: OpRef<'_>, results: &[Type]) {
    let ctx = op.ctx();
    let attrs = |i| dict_at(ctx, op.attr("res_attrs"), i);
    match results {
        [] => {}
        [ty] if attrs(0).is_empty() && ty.function(ctx).is_none() => {
            p.write(" -> ");
            p.ty(*ty);
        }
        _ => {
            p.write(" -> (");
            for (i, ty) in results.iter().enumerate() {
                if i > 0 {
                    p.write(", ");
                }
                p.ty(*ty);
                print_dict(p, attrs(i));
            }
            p.write(")");
        }
    }
}

/// `%callee(%operands) {…} : type of the callee`.
pub(super) fn parse_call_indirect(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let callee = p.parse_operand()?;
    let operands_loc = p.loc();
    let operands = p.parse_operand_list(Delimiter::Paren)?;
    p.parse_optional_attr_dict(state)?;
    let type_loc = p.loc();
    let ty = p.parse_colon_type()?;
    let Some((inputs, results)) = ty.function(p.ctx()) else {
        return Err(p.error(type_loc, "expected a function type"));
    };
    state.operands.push(p.resolve(callee, ty)?);
    state.operands.extend(p.resolve_all(&operands, inputs, operands_loc)?);
    state.result_types.extend_from_slice(results);
    Ok(())
}

pub(super) fn print_call_indirect(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    p.operand(op.operand(0));
    p.write("(");
    p.operands(op.operands().skip(1));
    p.write(")");
    p.attr_dict(op, &[]);
    p.write(" : ");
    p.ty(op.operand_type(0));
}
