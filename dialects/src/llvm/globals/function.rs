//! `llvm.func`: custom form and rules.

use loomir_ir::symbols::SYMBOL_NAME;
use loomir_ir::text::{OpParser, OpPrinter, ParseResult, type_to_string};
use loomir_ir::verifier::op_error;
use loomir_ir::{Attr, AttrKind, Context, Diagnostic, Diagnostics, OpRef, OperationState, Type};

use crate::checks::types_of;
use crate::func::syntax::{
    dict_at, parse_arguments, parse_body, parse_results, print_dict, print_results, set_dicts,
};
use crate::llvm::attributes::{CCONV, LINKAGE, UNNAMED_ADDR, VISIBILITY};
use crate::llvm::control::addresses::verify_tags;
use crate::llvm::control::calls::parse_optional_case;
use crate::llvm::types::{self, LlvmType};

/// Attributes that are printed elsewhere in the text, not in the attribute dictionary.
const SAID: &[&str] = &[
    SYMBOL_NAME,
    "function_type",
    "arg_attrs",
    "res_attrs",
    "linkage",
    "CConv",
    "visibility_",
    "comdat",
    "unnamed_addr",
    "vscale_range",
];

/// Reads `linkage visibility unnamed_addr`, each optional, with `thread_local` before the last if
/// that is allowed. Absent parts get their default as an attribute.
pub(super) fn parse_prefix(p: &mut OpParser<'_, '_>, state: &mut OperationState, thread_local: bool) {
    let ctx = p.ctx();
    if !parse_optional_case(p, state, "linkage", &LINKAGE) {
        state.set_attr(ctx, "linkage", LINKAGE.attr(ctx, 0));
    }
    if !parse_optional_case(p, state, "visibility_", &VISIBILITY) {
        state.set_attr(ctx, "visibility_", VISIBILITY.attr(ctx, 0));
    }
    if thread_local && p.accept_keyword("thread_local") {
        state.set_attr(ctx, "thread_local_", Attr::UNIT);
    }
    if !parse_optional_case(p, state, "unnamed_addr", &UNNAMED_ADDR) {
        state.set_attr(ctx, "unnamed_addr", UNNAMED_ADDR.attr(ctx, 0));
    }
}

/// Writes the keyword of an enumeration attribute and a space, or nothing for a case without a
/// keyword.
pub(super) fn print_case(p: &mut OpPrinter<'_>, op: OpRef<'_>, name: &str, cases: &loomir_ir::EnumDef) {
    let value = op.attr(name).and_then(|attr| cases.value(op.ctx(), attr));
    if let Some(text) = value.and_then(|value| cases.text_of(value)).filter(|text| !text.is_empty()) {
        p.write(&text);
        p.write(" ");
    }
}

/// Reads `comdat(@group::@selector)` if it is next.
pub(super) fn parse_optional_comdat(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    if p.accept_keyword("comdat") {
        p.expect("(")?;
        let comdat = p.parse_attr(None)?;
        p.expect(")")?;
        state.set_attr(p.ctx(), "comdat", comdat);
    }
    Ok(())
}

pub(super) fn print_comdat(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    if let Some(comdat) = op.attr("comdat") {
        p.write(" comdat(");
        p.attr(comdat);
        p.write(")");
    }
}

/// `llvm.func internal fastcc @f(%a: i32) -> f32 attributes {…} {…}`.
pub(super) fn parse(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    parse_prefix(p, state, false);
    if !parse_optional_case(p, state, "CConv", &CCONV) {
        state.set_attr(ctx, "CConv", CCONV.attr(ctx, 0));
    }
    let name = p.parse_symbol_name()?;
    state.set_attr(ctx, SYMBOL_NAME, name);
    let loc = p.loc();
    let arguments = parse_arguments(p, state, true)?;
    let (results, result_attrs) = parse_results(p, state)?;
    let ty = match function_type(ctx, &arguments.types, &results, arguments.variadic) {
        Ok(ty) => ty,
        Err(reason) => return Err(p.error(loc, format!("failed to construct function type: {reason}"))),
    };
    state.set_attr(ctx, "function_type", ctx.type_attr(ty));
    if p.accept_keyword("vscale_range") {
        parse_vscale_range(p, state)?;
    }
    parse_optional_comdat(p, state)?;
    p.parse_optional_attr_dict_with_keyword(state)?;
    set_dicts(ctx, state, "arg_attrs", &arguments.attrs);
    set_dicts(ctx, state, "res_attrs", &result_attrs);
    parse_body(p, state, &arguments.named)
}

/// Returns the function type of arguments and at most one result.
fn function_type(
    ctx: &Context,
    arguments: &[Type],
    results: &[Type],
    variadic: bool,
) -> Result<Type, &'static str> {
    if !arguments.iter().all(|ty| types::is_primitive(ctx, *ty)) {
        return Err("expected LLVM type for function arguments");
    }
    let result = match *results {
        [] => types::void(ctx),
        [ty] if types::is_compatible(ctx, ty) => ty,
        [_] => return Err("expected LLVM type for function results"),
        _ => return Err("expected zero or one function result"),
    };
    Ok(types::function(ctx, result, arguments, variadic))
}

/// Reads `(1, 16)`, kept as `#llvm.vscale_range<minRange = 1 : i32, maxRange = 16 : i32>`.
fn parse_vscale_range(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    p.expect("(")?;
    let least = p.parse_integer()?;
    p.expect(",")?;
    let greatest = p.parse_integer()?;
    p.expect(")")?;
    let range = [("minRange", least), ("maxRange", greatest)];
    let range = range.map(|(name, number)| (ctx.name(name), ctx.int_attr(Type::I32, number)));
    let kind = AttrKind::Dialect { name: ctx.name("llvm.vscale_range"), params: ctx.dict(range.to_vec()) };
    state.set_attr(ctx, "vscale_range", ctx.attr(kind));
    Ok(())
}

/// Returns the two numbers of `#llvm.vscale_range<minRange = 1 : i32, maxRange = 16 : i32>`.
fn vscale_range(ctx: &Context, attr: Attr) -> Option<(i64, i64)> {
    let AttrKind::Dialect { params, .. } = attr.kind(ctx) else { return None };
    let number = |name: &str| params.get(ctx, name)?.as_int(ctx);
    Some((number("minRange")?, number("maxRange")?))
}

/// Returns the argument types and the result type of a function, and true if it is variadic.
pub(crate) fn signature(op: OpRef<'_>) -> Option<(Vec<Type>, Type, bool)> {
    let ty = op.attr("function_type")?.as_type(op.ctx())?;
    match LlvmType::of(op.ctx(), ty)? {
        LlvmType::Function { result, params, variadic } => Some((params, result, variadic)),
        _ => None,
    }
}

pub(super) fn print(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let (ctx, body) = (op.ctx(), op.body());
    p.write(" ");
    if op.attr("linkage") != Some(LINKAGE.attr(ctx, 0)) {
        print_case(p, op, "linkage", &LINKAGE);
    }
    print_case(p, op, "visibility_", &VISIBILITY);
    print_case(p, op, "unnamed_addr", &UNNAMED_ADDR);
    if op.attr("CConv") != Some(CCONV.attr(ctx, 0)) {
        print_case(p, op, "CConv", &CCONV);
    }
    p.symbol_name(op.attr(SYMBOL_NAME).and_then(|name| name.as_str(ctx)).unwrap_or_default());
    let (params, result, variadic) = signature(op).unwrap_or_else(|| (Vec::new(), types::void(ctx), false));
    let entry = body.entry_block(op.region(0));
    p.write("(");
    for (i, ty) in params.iter().enumerate() {
        if i > 0 {
            p.write(", ");
        }
        let attrs = dict_at(ctx, op.attr("arg_attrs"), i);
        match entry.filter(|block| i < body.num_arguments(*block)) {
            Some(block) => p.argument_with_attrs(body.argument(block, i), attrs),
            None => {
                p.ty(*ty);
                print_dict(p, attrs);
            }
        }
    }
    if variadic {
        p.write(if params.is_empty() { "..." } else { ", ..." });
    }
    p.write(")");
    let is_void = LlvmType::of(ctx, result) == Some(LlvmType::Void);
    let own_attrs = !dict_at(ctx, op.attr("res_attrs"), 0).is_empty();
    print_results(p, op, if is_void && !own_attrs { &[] } else { std::slice::from_ref(&result) });
    if let Some((least, greatest)) = op.attr("vscale_range").and_then(|range| vscale_range(ctx, range)) {
        p.write(&format!(" vscale_range({least}, {greatest})"));
    }
    print_comdat(p, op);
    p.attr_dict_with_keyword(op, SAID);
    if entry.is_some() {
        p.write(" ");
        p.region(op, 0, false, true);
    }
}

/// Checks that declarations are external, that the entry block takes the arguments, and that
/// attributes of arguments fit.
pub(super) fn verify(op: OpRef<'_>, out: &mut Diagnostics) {
    let (ctx, body) = (op.ctx(), op.body());
    let Some((params, ..)) = signature(op) else { return };
    let linkage = op.attr("linkage").and_then(|linkage| LINKAGE.value(ctx, linkage)).unwrap_or(0);
    let linkage = LINKAGE.text_of(linkage).unwrap_or_default();
    if linkage == "common" {
        out.push(op_error(op, "functions cannot have 'common' linkage"));
        return;
    }
    for (name, count) in [("arg_attrs", params.len()), ("res_attrs", 1)] {
        let dicts = op.attr(name).and_then(|dicts| dicts.as_array(ctx)).unwrap_or_default();
        if !dicts.is_empty() && dicts.len() != count {
            let message = format!("expects attribute '{name}' to have {count} elements, got {}", dicts.len());
            out.push(op_error(op, message));
        }
    }
    for (i, ty) in params.iter().enumerate() {
        verify_argument_attributes(op, *ty, dict_at(ctx, op.attr("arg_attrs"), i), out);
    }
    let Some(entry) = body.entry_block(op.region(0)) else {
        if !["external", "extern_weak"].contains(&linkage.as_str()) {
            out.push(op_error(op, "external functions must have 'external' or 'extern_weak' linkage"));
        }
        return;
    };
    let arguments = types_of(op, body.arguments(entry));
    if arguments.len() != params.len() {
        let message = format!("entry block must have {} arguments to match function signature", params.len());
        out.push(op_error(op, message));
        return;
    }
    verify_tags(op, out);
    for (i, (argument, param)) in arguments.iter().zip(&params).enumerate() {
        if argument != param {
            let (argument, param) = (type_to_string(ctx, *argument), type_to_string(ctx, *param));
            let message = format!(
                "type of entry block argument #{i}('{argument}') must match the type of the corresponding argument in function signature('{param}')"
            );
            out.push(op_error(op, message));
        }
    }
}

/// Attributes that only pointers may have. [`UNIT_ATTRIBUTES`] lists the attributes without a
/// value.
const POINTER_ATTRIBUTES: [&str; 7] = [
    "llvm.noalias",
    "llvm.nocapture",
    "llvm.nofree",
    "llvm.nonnull",
    "llvm.readonly",
    "llvm.writeonly",
    "llvm.readnone",
];
const UNIT_ATTRIBUTES: [&str; 12] = [
    "llvm.noalias",
    "llvm.nocapture",
    "llvm.nofree",
    "llvm.nonnull",
    "llvm.readonly",
    "llvm.writeonly",
    "llvm.readnone",
    "llvm.noundef",
    "llvm.signext",
    "llvm.zeroext",
    "llvm.inreg",
    "llvm.returned",
];

fn verify_argument_attributes(op: OpRef<'_>, ty: Type, attrs: loomir_ir::Dict, out: &mut Diagnostics) {
    let ctx = op.ctx();
    for (name, attr) in attrs.entries(ctx) {
        let name = ctx.str(*name);
        if UNIT_ATTRIBUTES.contains(&name) && *attr != Attr::UNIT {
            out.push(Diagnostic::error(op.loc(), format!("\"{name}\" should be a unit attribute")));
        } else if POINTER_ATTRIBUTES.contains(&name) && !types::is_pointer(ctx, ty.scalar(ctx)) {
            let message = format!("\"{name}\" attribute attached to non-pointer LLVM type");
            out.push(Diagnostic::error(op.loc(), message));
        }
    }
}
