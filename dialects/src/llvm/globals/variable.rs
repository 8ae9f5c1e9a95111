//! `llvm.mlir.global`: custom form and rules; references to globals.

use loomir_ir::symbols::{SYMBOL_NAME, SymbolTable, SymbolUser};
use loomir_ir::text::{OpParser, OpPrinter, ParseResult, type_to_string};
use loomir_ir::verifier::op_error;
use loomir_ir::{Attr, AttrKind, Context, Diagnostic, Diagnostics, OpRef, OperationState, Trait, Type};

use super::constant::{EXTENDED_WITH_ZEROS, is_extended_with_zeros};
use super::function::{parse_optional_comdat, parse_prefix, print_case, print_comdat};
use super::{AliasOp, FuncOp, GlobalOp, IFuncOp};
use crate::arith::constant::is_splat_of;
use crate::interfaces::{EffectKind, MemoryEffects};
use crate::llvm::attributes::{LINKAGE, UNNAMED_ADDR, VISIBILITY};
use crate::llvm::control::ReturnOp;
use crate::llvm::types::{self, LlvmType};

/// Attributes that are printed elsewhere in the text, not in the attribute dictionary.
const SAID: &[&str] = &[
    SYMBOL_NAME,
    "global_type",
    "constant",
    "value",
    "linkage",
    "unnamed_addr",
    "thread_local_",
    "visibility_",
    "comdat",
];

/// `llvm.mlir.global internal constant @g(42 : i32) {…} : i32`, or with a region that returns the
/// initial value.
pub(super) fn parse(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    parse_prefix(p, state, true);
    if p.accept_keyword("constant") {
        state.set_attr(ctx, "constant", Attr::UNIT);
    }
    let name = p.parse_symbol_name()?;
    state.set_attr(ctx, SYMBOL_NAME, name);
    p.expect("(")?;
    let mut value = None;
    if !p.accept(")") {
        let attr = p.parse_attr(None)?;
        value = Some(attr);
        state.set_attr(ctx, "value", attr);
        p.expect(")")?;
    }
    parse_optional_comdat(p, state)?;
    p.parse_optional_attr_dict(state)?;
    if state.properties.get(ctx, "addr_space").is_none() {
        state.set_attr(ctx, "addr_space", ctx.int_attr(Type::I32, 0));
    }
    let loc = p.loc();
    let ty = if p.accept(":") {
        p.parse_type()?
    } else if let Some(AttrKind::String(bytes)) = value.map(|value| value.kind(ctx)) {
        types::array(ctx, bytes.len() as u64, Type::I8)
    } else {
        return Err(p.error(loc, "type can only be omitted for string globals"));
    };
    state.set_attr(ctx, "global_type", ctx.type_attr(ty));
    if !p.parse_optional_region(state, &[])? {
        p.add_empty_region(state);
    }
    Ok(())
}

pub(super) fn print(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let ctx = op.ctx();
    p.write(" ");
    print_case(p, op, "linkage", &LINKAGE);
    print_case(p, op, "visibility_", &VISIBILITY);
    if op.attr("thread_local_").is_some() {
        p.write("thread_local ");
    }
    print_case(p, op, "unnamed_addr", &UNNAMED_ADDR);
    if op.attr("constant").is_some() {
        p.write("constant ");
    }
    p.symbol_name(op.attr(SYMBOL_NAME).and_then(|name| name.as_str(ctx)).unwrap_or_default());
    p.write("(");
    let value = op.attr("value");
    if let Some(value) = value {
        p.attr(value);
    }
    p.write(")");
    print_comdat(p, op);
    p.attr_dict(op, SAID);
    if matches!(value.map(|value| value.kind(ctx)), Some(AttrKind::String(_))) {
        return;
    }
    p.write(" : ");
    if let Some(ty) = op.attr("global_type").and_then(|ty| ty.as_type(ctx)) {
        p.ty(ty);
    }
    if op.body().entry_block(op.region(0)).is_some() {
        p.write(" ");
        p.region(op, 0, false, true);
    }
}

/// Checks that the type has a size, that an initial value fits the type and the linkage, and that
/// an initializer only computes the value.
pub(super) fn verify(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let Some(ty) = op.attr("global_type").and_then(|ty| ty.as_type(ctx)) else { return };
    let view = LlvmType::of(ctx, ty);
    if !types::is_loadable(ctx, ty) {
        out.push(op_error(op, "expects type to be a valid element type for an LLVM global"));
        return;
    }
    if op.attr("addr_space").and_then(|space| space.as_int(ctx)).is_some_and(|space| space < 0) {
        let message = "attribute 'addr_space' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative";
        out.push(op_error(op, message));
    }
    if let Some(alignment) = op.attr("alignment").and_then(|alignment| alignment.as_int(ctx))
        && (alignment <= 0 || !alignment.cast_unsigned().is_power_of_two())
    {
        out.push(Diagnostic::error(op.loc(), "alignment attribute is not a power of 2"));
    }
    let value = op.attr("value");
    if let Some(AttrKind::String(bytes)) = value.map(|value| value.kind(ctx)) {
        let length = bytes.len() as u64;
        if view != Some(LlvmType::Array { length, element: Type::I8 }) {
            let message = "requires an i8 array type of the length equal to that of the string attribute";
            out.push(op_error(op, message));
        }
    }
    if value.is_some_and(|value| is_extended_with_zeros(ctx, value, ty)) {
        out.push(op_error(op, EXTENDED_WITH_ZEROS));
    }
    let linkage = op.attr("linkage").and_then(|linkage| LINKAGE.value(ctx, linkage)).unwrap_or(0);
    let linkage = LINKAGE.text_of(linkage).unwrap_or_default();
    if linkage == "common" && value.is_some_and(|value| !is_zero(ctx, value)) {
        out.push(op_error(op, "expected zero value for 'common' linkage"));
    }
    if linkage == "appending" && !matches!(view, Some(LlvmType::Array { .. })) {
        out.push(op_error(op, "expected array type for 'appending' linkage"));
    }
    verify_initializer(op, ty, out);
}

fn is_zero(ctx: &Context, value: Attr) -> bool {
    match value.kind(ctx) {
        AttrKind::Integer { .. } | AttrKind::Float { .. } | AttrKind::DenseElements { .. } => {
            is_splat_of(ctx, value, 0)
        }
        AttrKind::Opaque { .. } => true,
        _ => false,
    }
}

fn verify_initializer(op: OpRef<'_>, ty: Type, out: &mut Diagnostics) {
    let (ctx, body) = (op.ctx(), op.body());
    let Some(block) = body.entry_block(op.region(0)) else { return };
    if op.attr("value").is_some() && body.last_op(block).is_some_and(|last| body.num_operands(last) > 0) {
        out.push(op_error(op, "cannot have both initializer value and region"));
    }
    for inner in body.ops(block) {
        let view = body.op_ref(inner);
        if view.is(ReturnOp::DEF) {
            match view.operands().next().map(|value| body.value_type(value)) {
                None => out.push(op_error(op, "initializer region cannot return void")),
                Some(own) if own != ty => {
                    let (own, ty) = (type_to_string(ctx, own), type_to_string(ctx, ty));
                    let message =
                        format!("initializer region type '{own}' does not match global type '{ty}'");
                    out.push(op_error(op, message));
                }
                Some(_) => {}
            }
            continue;
        }
        let effects = view.info().interface::<dyn MemoryEffects>();
        let harmless = view.info().has_trait(Trait::Pure)
            || effects.is_some_and(|model| model.effects(view).iter().all(|e| e.kind == EffectKind::Read));
        if !harmless {
            let message = "ops with side effects not allowed in global initializers";
            out.push(Diagnostic::error(view.loc(), message));
        }
    }
}

/// A reference to an existing global or function, in its address space.
pub(crate) struct AddressOf;

impl SymbolUser for AddressOf {
    fn verify_symbols(&self, op: OpRef<'_>, table: &SymbolTable, out: &mut Diagnostics) {
        let ctx = op.ctx();
        let symbol = op.attr("global_name").and_then(|name| table.resolve(ctx, name));
        let info = symbol.map(|symbol| ctx.op_info(symbol.name));
        let has_address = [GlobalOp::DEF, FuncOp::DEF, AliasOp::DEF, IFuncOp::DEF];
        let Some(symbol) =
            symbol.filter(|_| info.is_some_and(|info| has_address.iter().any(|def| info.is(def))))
        else {
            let message = "must reference a global defined by 'llvm.mlir.global', 'llvm.mlir.alias' or 'llvm.func' or 'llvm.mlir.ifunc'";
            out.push(op_error(op, message));
            return;
        };
        if !info.is_some_and(|info| info.is(GlobalOp::DEF)) {
            return;
        }
        let space = symbol.attr(ctx, "addr_space").and_then(|space| space.as_int(ctx)).unwrap_or(0);
        let own = match LlvmType::of(ctx, op.result_type(0)) {
            Some(LlvmType::Pointer { space }) => i64::from(space),
            _ => 0,
        };
        if own != space {
            let message = "pointer address space must match address space of the referenced global or alias";
            out.push(op_error(op, message));
        }
    }
}
