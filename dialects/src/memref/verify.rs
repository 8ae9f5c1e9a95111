//! Verifiers of `memref` for memory and accesses: the rules that the operation table does not
//! express. Views are in [`views`], globals in [`globals`].

use loomir_ir::opdef::Trait;
use loomir_ir::text::type_to_string;
use loomir_ir::verifier::op_error;
use loomir_ir::{Attr, AttrKind, Context, Diagnostic, Diagnostics, OpRef, Type, TypeKind};

use super::layout::{Ranked, element_and_space, num_dynamic};
use super::{AllocaScopeOp, AllocaScopeReturnOp, GenericAtomicRMWOp};
use crate::arith::ATOMIC_RMW_KIND;
use crate::checks::{
    check_yields, expect_implicit_terminators, expect_no_region_arguments, expect_parent, types_of,
};
use crate::interfaces::MemoryEffects;

pub(super) mod globals;
pub(super) mod views;

/// Returns an error without the operation's name in front.
fn plain_error(op: OpRef<'_>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(op.loc(), message)
}

fn text(op: OpRef<'_>, ty: Type) -> String {
    type_to_string(op.ctx(), ty)
}

/// True if an attribute is a power of two of type `i64`.
pub(crate) fn is_alignment(ctx: &Context, attr: Attr) -> bool {
    match attr.kind(ctx) {
        AttrKind::Integer { value, ty: Type::I64 } => *value > 0 && value & (value - 1) == 0,
        _ => false,
    }
}

/// True if an attribute is 0, 1, 2 or 3 of type `i32`.
pub(super) fn is_locality(ctx: &Context, attr: Attr) -> bool {
    matches!(attr.kind(ctx), AttrKind::Integer { value, ty: Type::I32 } if (0..=3).contains(value))
}

/// True if atomic operations can read and write the type.
pub(super) fn is_atomic_element(ctx: &Context, ty: Type) -> bool {
    ty.is_signless_integer(ctx) || ty.is_float(ctx)
}

/// Returns the parts of the type of operand `index`, if it is a ranked memref.
fn operand(op: OpRef<'_>, index: usize) -> Option<Ranked<'_>> {
    Ranked::of(op.ctx(), op.operand_type(index))
}

/// Returns the number of symbols of a layout: the symbols of its map, or its dynamic strides and
/// offset.
fn num_symbols(ctx: &Context, memref: &Ranked<'_>) -> usize {
    match memref.layout.map(|layout| layout.kind(ctx)) {
        Some(AttrKind::AffineMap(map)) => map.data(ctx).symbols as usize,
        Some(AttrKind::Strided { offset, strides }) => num_dynamic(strides) + num_dynamic(&[*offset]),
        _ => 0,
    }
}

/// Requires a size for each dynamic dimension, a value for each symbol of the layout.
pub(super) fn alloc(op: OpRef<'_>, out: &mut Diagnostics) {
    let Some(memref) = Ranked::of(op.ctx(), op.result_type(0)) else { return };
    let (sizes, symbols) = (op.operand_group("dynamicSizes").len(), op.operand_group("symbolOperands").len());
    let (expected, declared) = (num_dynamic(memref.shape), num_symbols(op.ctx(), &memref));
    if sizes != expected {
        let message = format!("incorrect number of dynamic sizes, has {sizes}, expected {expected}");
        out.push(op_error(op, message));
    } else if symbols != declared {
        let message = format!(
            "symbol operand count does not equal memref symbol count: expected {declared}, got {symbols}"
        );
        out.push(op_error(op, message));
    }
}

/// Checks as for `alloc`, and that a scope ends the life of the object. An unregistered operation
/// may be one.
pub(super) fn alloca(op: OpRef<'_>, out: &mut Diagnostics) {
    alloc(op, out);
    let mut around = op.parent();
    while let Some(parent) = around {
        if parent.def().is_none() || parent.info().has_trait(Trait::AutomaticAllocationScope) {
            return;
        }
        around = parent.parent();
    }
    out.push(op_error(op, "requires an ancestor op with AutomaticAllocationScope trait"));
}

/// Checks that reallocation keeps element type, memory space and contiguity.
pub(super) fn realloc(op: OpRef<'_>, out: &mut Diagnostics) {
    let (from, to) = (op.operand_type(0), op.result_type(0));
    let (Some(source), Some(result)) = (Ranked::of(op.ctx(), from), Ranked::of(op.ctx(), to)) else { return };
    let (from, to) = (text(op, from), text(op, to));
    let types = format!("specified for source memref type '{from}' and result memref type '{to}'");
    let message = if source.layout.is_some() {
        format!("unsupported layout for source memref type '{from}'")
    } else if result.layout.is_some() {
        format!("unsupported layout for result memref type '{to}'")
    } else if source.space != result.space {
        format!("different memory spaces {types}")
    } else if source.element != result.element {
        format!("different element types {types}")
    } else {
        match (num_dynamic(result.shape), op.num_operands() - 1) {
            (1, 0) => format!("missing dimension operand for result type '{to}'"),
            (0, 1) => format!("unnecessary dimension operand for result type '{to}'"),
            _ => return,
        }
    };
    out.push(plain_error(op, message));
}

/// Requires an index for each dimension.
pub(super) fn load(op: OpRef<'_>, out: &mut Diagnostics) {
    let Some(memref) = operand(op, 0) else { return };
    let (expected, found) = (memref.shape.len(), op.num_operands() - 1);
    if expected != found {
        let message = format!("incorrect number of indices for load, expected {expected} but got {found}");
        out.push(op_error(op, message));
    }
}

/// Requires an index for each dimension.
pub(super) fn store(op: OpRef<'_>, out: &mut Diagnostics) {
    if operand(op, 1).is_some_and(|memref| memref.shape.len() != op.num_operands() - 2) {
        out.push(op_error(op, "store index operand count not equal to memref rank"));
    }
}

/// Requires an index for each dimension.
pub(super) fn prefetch(op: OpRef<'_>, out: &mut Diagnostics) {
    if operand(op, 0).is_some_and(|memref| memref.shape.len() != op.num_operands() - 1) {
        let message = if operand(op, 0).is_some_and(|memref| memref.shape.len() < op.num_operands() - 1) {
            "too many indices"
        } else {
            "too few indices"
        };
        out.push(op_error(op, message));
    }
}

/// Requires one element type and shapes that may be equal.
pub(super) fn copy(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let (source, target) = (op.operand_type(0), op.operand_type(1));
    let element = |ty| element_and_space(ctx, ty).map(|(element, _)| element);
    if element(source) != element(target) {
        out.push(op_error(op, "requires the same element type for all operands"));
    } else if let (Some(a), Some(b)) = (source.shape(ctx), target.shape(ctx))
        && !views::sizes_agree(a, b)
    {
        out.push(op_error(op, "requires the same shape for all operands"));
    }
}

/// Requires a kind for the type, an index for each dimension.
pub(super) fn atomic_rmw(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let Some(memref) = operand(op, 1) else { return };
    let value = op.operand_type(0);
    if value != memref.element {
        out.push(op_error(op, "failed to verify that value type matches element type of memref"));
        return;
    }
    if memref.shape.len() != op.num_operands() - 2 {
        out.push(op_error(op, "expects the number of subscripts to be equal to memref rank"));
        return;
    }
    let Some(kind) = op.attr("kind").and_then(|attr| ATOMIC_RMW_KIND.value(ctx, attr)) else { return };
    let name = ATOMIC_RMW_KIND.text_of(kind).unwrap_or_default();
    let expected = match &*name {
        "assign" => return,
        "addf" | "mulf" | "maximumf" | "maxnumf" | "minimumf" | "minnumf" => {
            if value.is_float(ctx) {
                return;
            }
            "a floating-point type"
        }
        _ => {
            if matches!(value.kind(ctx), TypeKind::Integer { .. }) {
                return;
            }
            "an integer type"
        }
    };
    out.push(op_error(op, format!("with kind '{name}' expects {expected}")));
}

/// Requires an index for each dimension; a region from element to element without effects.
pub(super) fn generic_atomic_rmw(op: OpRef<'_>, out: &mut Diagnostics) {
    let body = op.body();
    let Some(entry) = body.entry_block(op.region(0)) else { return };
    if body.num_arguments(entry) != 1 {
        out.push(op_error(op, "expected single number of entry block arguments"));
        return;
    }
    if body.value_type(body.argument(entry, 0)) != op.result_type(0) {
        out.push(op_error(op, "expected block argument of the same type result type"));
        return;
    }
    if operand(op, 0).is_some_and(|memref| memref.shape.len() != op.num_operands() - 1) {
        out.push(op_error(op, "expects the number of subscripts to be equal to memref rank"));
    }
    let inside = body.preorder(op.op()).skip(1).map(|inner| body.op_ref(inner));
    for inner in inside.filter(|inner| !has_no_effect(*inner)) {
        let message =
            "body of 'memref.generic_atomic_rmw' should contain only operations with no side effects";
        out.push(plain_error(inner, message));
    }
}

/// True if an operation, without its contents, touches no memory.
fn has_no_effect(op: OpRef<'_>) -> bool {
    op.info().has_trait(Trait::Pure)
        || op.info().has_trait(Trait::RecursiveMemoryEffects)
        || op.info().interface::<dyn MemoryEffects>().is_some_and(|model| model.effects(op).is_empty())
}

/// Requires a value with the type of the operation around.
pub(super) fn atomic_yield(op: OpRef<'_>, out: &mut Diagnostics) {
    let before = out.len();
    expect_parent(op, &[GenericAtomicRMWOp::DEF], out);
    let Some(parent) = op.parent().filter(|parent| out.len() == before && parent.num_results() == 1) else {
        return;
    };
    let (own, expected) = (op.operand_type(0), parent.result_type(0));
    if own != expected {
        let message = format!(
            "types mismatch between yield op: '{}' and its parent: '{}'",
            text(op, own),
            text(op, expected)
        );
        out.push(op_error(op, message));
    }
}

/// Its terminator gives its results.
pub(super) fn alloca_scope(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_implicit_terminators(op, AllocaScopeReturnOp::DEF, out);
    expect_no_region_arguments(op, out);
    check_yields(op, AllocaScopeReturnOp::DEF, out);
}

/// Only in `alloca_scope`.
pub(super) fn alloca_scope_return(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_parent(op, &[AllocaScopeOp::DEF], out);
}

/// Requires a power of two.
pub(super) fn assume_alignment(op: OpRef<'_>, out: &mut Diagnostics) {
    let Some(alignment) = op.attr("alignment").and_then(|attr| attr.as_int(op.ctx())) else { return };
    if alignment <= 0 {
        let message = "attribute 'alignment' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive";
        out.push(op_error(op, message));
    } else if alignment & (alignment - 1) != 0 {
        out.push(op_error(op, "alignment must be power of 2"));
    }
}

/// Checks that the results have the types of the operands.
pub(super) fn distinct_objects(op: OpRef<'_>, out: &mut Diagnostics) {
    if op.num_operands() == 0 {
        out.push(op_error(op, "expected at least one operand"));
    } else if types_of(op, op.operands()) != types_of(op, op.results()) {
        out.push(op_error(op, "operand types and result types must match"));
    }
}
