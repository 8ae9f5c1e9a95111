//! Globals and references to them.

use loomir_ir::symbols::{SymbolTable, SymbolUser};
use loomir_ir::text::{attr_to_string, type_to_string};
use loomir_ir::verifier::op_error;
use loomir_ir::{Attr, AttrKind, Context, Diagnostics, OpRef, Type};

use super::super::GlobalOp;
use super::super::layout::{Ranked, is_static};
use super::text;

/// True if an attribute is the type of a ranked memref.
pub(in super::super) fn is_memref_type(ctx: &Context, attr: Attr) -> bool {
    attr.as_type(ctx).is_some_and(|ty| Ranked::of(ctx, ty).is_some())
}

/// Requires a static shape, and an initial value that fills it.
pub(in super::super) fn global(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let Some(ty) = op.attr("type").and_then(|attr| attr.as_type(ctx)) else { return };
    let Some(memref) = Ranked::of(ctx, ty) else { return };
    if !is_static(ctx, ty) {
        let message = format!("type should be static shaped memref, but got '{}'", text(op, ty));
        out.push(op_error(op, message));
        return;
    }
    let Some(value) = op.attr("initial_value").filter(|value| *value != Attr::UNIT) else { return };
    let elements = match value.kind(ctx) {
        AttrKind::DenseElements { ty, .. }
        | AttrKind::DenseStrings { ty, .. }
        | AttrKind::DenseResource { ty, .. }
        | AttrKind::Sparse { ty, .. } => *ty,
        _ => {
            let message = format!(
                "initial value should be a unit or elements attribute, but got {}",
                attr_to_string(ctx, value)
            );
            out.push(op_error(op, message));
            return;
        }
    };
    if let Some(message) = mismatch(ctx, &memref, elements) {
        out.push(op_error(op, message));
    }
}

/// Returns the reason why elements of a type do not fill a memref.
fn mismatch(ctx: &Context, memref: &Ranked<'_>, elements: Type) -> Option<String> {
    let element = elements.element(ctx)?;
    if element != memref.element {
        let (expected, found) = (type_to_string(ctx, memref.element), type_to_string(ctx, element));
        return Some(format!(
            "initial value element expected to be of type '{expected}', but was of type '{found}'"
        ));
    }
    let shape = elements.shape(ctx).unwrap_or_default();
    let list = |sizes: &[i64]| sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    (shape != memref.shape)
        .then(|| format!("initial value shape expected to be {} but was {}", list(memref.shape), list(shape)))
}

/// A reference to an existing global, with the type of the result.
pub(in super::super) struct GetGlobal;

impl SymbolUser for GetGlobal {
    fn verify_symbols(&self, op: OpRef<'_>, table: &SymbolTable, out: &mut Diagnostics) {
        let ctx = op.ctx();
        let reference = op.attr("name");
        let name = reference.and_then(|attr| attr.as_flat_symbol(ctx)).map_or("", |name| ctx.str(name));
        let symbol = reference.and_then(|attr| table.resolve(ctx, attr));
        let global = symbol.filter(|symbol| ctx.op_info(symbol.name).is(GlobalOp::DEF));
        let Some(ty) = global.and_then(|global| global.attr(ctx, "type")?.as_type(ctx)) else {
            out.push(op_error(op, format!("'{name}' does not reference a valid global memref")));
            return;
        };
        let own = op.result_type(0);
        if own != ty {
            let message = format!(
                "result type '{}' does not match type '{}' of the global memref @{name}",
                text(op, own),
                text(op, ty)
            );
            out.push(op_error(op, message));
        }
    }
}
