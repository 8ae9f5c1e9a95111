//! `llvm.mlir.alias` and `llvm.mlir.ifunc`: other names of globals and functions, the second chosen
//! when the program is loaded.

use loomir_ir::symbols::{SYMBOL_NAME, SymbolTable, SymbolUser};
use loomir_ir::text::{OpParser, OpPrinter, ParseResult};
use loomir_ir::verifier::op_error;
use loomir_ir::{Attr, Diagnostic, Diagnostics, OpRef, OperationState, Type};

use super::function::{parse_prefix, print_case};
use super::{AliasOp, FuncOp};
use crate::llvm::attributes::{LINKAGE, UNNAMED_ADDR, VISIBILITY};
use crate::llvm::control::ReturnOp;
use crate::llvm::types;

/// Attributes of an alias that are printed elsewhere in the text, not in the attribute dictionary.
const SAID: &[&str] = &[SYMBOL_NAME, "alias_type", "linkage", "unnamed_addr", "thread_local_", "visibility_"];

/// Attributes of an ifunc that are printed elsewhere in the text, not in the attribute dictionary.
const SAID_OF_IFUNC: &[&str] = &[
    SYMBOL_NAME,
    "i_func_type",
    "resolver",
    "resolver_type",
    "linkage",
    "unnamed_addr",
    "visibility_",
    "address_space",
];

/// Linkages of symbols that are not defined here, or do not have exactly one definition.
const NOT_OF_ALIASES: &[&str] = &["appending", "common", "extern_weak"];

/// `llvm.mlir.alias external @name {…} : i32 {…}`.
pub(super) fn parse(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    parse_prefix(p, state, true);
    parse_name(p, state)?;
    p.parse_optional_attr_dict(state)?;
    let ty = p.parse_colon_type()?;
    state.set_attr(p.ctx(), "alias_type", p.ctx().type_attr(ty));
    p.parse_region(state, &[])
}

fn parse_name(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let name = p.parse_symbol_name()?;
    state.set_attr(p.ctx(), SYMBOL_NAME, name);
    Ok(())
}

/// Prints the name and the keywords before it.
fn print_head(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    print_case(p, op, "linkage", &LINKAGE);
    print_case(p, op, "visibility_", &VISIBILITY);
    if op.attr("thread_local_").is_some() {
        p.write("thread_local ");
    }
    print_case(p, op, "unnamed_addr", &UNNAMED_ADDR);
    p.symbol_name(op.attr(SYMBOL_NAME).and_then(|name| name.as_str(op.ctx())).unwrap_or_default());
}

fn print_type(p: &mut OpPrinter<'_>, op: OpRef<'_>, name: &str) {
    if let Some(ty) = op.attr(name).and_then(|ty| ty.as_type(op.ctx())) {
        p.ty(ty);
    }
}

pub(super) fn print(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    print_head(p, op);
    p.attr_dict(op, SAID);
    p.write(" : ");
    print_type(p, op, "alias_type");
    p.write(" ");
    p.region(op, 0, false, true);
}

/// Requires a type with a size, the linkage of a definition, and a region that only computes an
/// address.
pub(super) fn verify(op: OpRef<'_>, out: &mut Diagnostics) {
    let (ctx, body) = (op.ctx(), op.body());
    let ty = op.attr("alias_type").and_then(|ty| ty.as_type(ctx));
    let is_function = ty.is_some_and(|ty| ty.dialect_params(ctx, "llvm.func").is_some());
    if ty.is_some_and(|ty| !types::is_loadable(ctx, ty) && !is_function) {
        out.push(op_error(op, "expects type to be a valid element type for an LLVM global alias"));
    }
    let others =
        "private, internal, linkonce, weak, linkonce_odr, weak_odr, external or available_externally";
    verify_linkage(op, "aliases", others, out);
    let Some(block) = body.entry_block(op.region(0)) else { return };
    for inner in body.ops(block).map(|inner| body.op_ref(inner)) {
        if inner.is(ReturnOp::DEF) {
            let returned = inner.operands().next().map(|value| body.value_type(value));
            if !returned.is_some_and(|ty| types::is_pointer(ctx, ty)) {
                out.push(op_error(op, "initializer region must always return a pointer"));
            }
        } else if !inner.info().has_trait(loomir_ir::Trait::Pure) {
            let message = "ops with side effects are not allowed in alias initializers";
            out.push(Diagnostic::error(inner.loc(), message));
        }
    }
}

fn verify_linkage(op: OpRef<'_>, what: &str, others: &str, out: &mut Diagnostics) {
    let linkage = op.attr("linkage").and_then(|linkage| LINKAGE.value(op.ctx(), linkage)).unwrap_or(0);
    let linkage = LINKAGE.text_of(linkage).unwrap_or_default();
    if NOT_OF_ALIASES.contains(&linkage.as_str()) {
        let message = format!("'{linkage}' linkage not supported in {what}, available options: {others}");
        out.push(op_error(op, message));
    }
}

/// `llvm.mlir.ifunc external @name : !llvm.func<i32 (i32)>, !llvm.ptr @resolver {…}`.
pub(super) fn parse_ifunc(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    parse_prefix(p, state, false);
    parse_name(p, state)?;
    let ty = p.parse_colon_type()?;
    state.set_attr(ctx, "i_func_type", ctx.type_attr(ty));
    p.expect(",")?;
    let ty = p.parse_type()?;
    state.set_attr(ctx, "resolver_type", ctx.type_attr(ty));
    let resolver: Attr = p.parse_attr(None)?;
    state.set_attr(ctx, "resolver", resolver);
    state.set_attr(ctx, "address_space", ctx.int_attr(Type::I32, 0));
    p.parse_optional_attr_dict(state)
}

pub(super) fn print_ifunc(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    print_head(p, op);
    p.write(" : ");
    print_type(p, op, "i_func_type");
    p.write(", ");
    print_type(p, op, "resolver_type");
    p.write(" ");
    if let Some(resolver) = op.attr("resolver") {
        p.attr(resolver);
    }
    let space = op.attr("address_space").and_then(|space| space.as_int(op.ctx()));
    let said = if space == Some(0) { SAID_OF_IFUNC } else { &SAID_OF_IFUNC[..SAID_OF_IFUNC.len() - 1] };
    p.attr_dict(op, said);
}

pub(super) fn verify_ifunc(op: OpRef<'_>, out: &mut Diagnostics) {
    let others = "private, internal, linkonce, weak, linkonce_odr, weak_odr, or external linkage";
    verify_linkage(op, "ifuncs", others, out);
}

/// The resolver of an ifunc is a function or an alias of one.
pub(crate) struct Resolver;

impl SymbolUser for Resolver {
    fn verify_symbols(&self, op: OpRef<'_>, table: &SymbolTable, out: &mut Diagnostics) {
        let ctx = op.ctx();
        let symbol = op.attr("resolver").and_then(|name| table.resolve(ctx, name));
        let info = symbol.map(|symbol| ctx.op_info(symbol.name));
        if !info.is_some_and(|info| info.is(FuncOp::DEF) || info.is(AliasOp::DEF)) {
            out.push(op_error(op, "must have a function resolver"));
        }
    }
}
