//! Verifiers of `arith`: the rules that the operation table does not express.

use loomir_ir::text::type_to_string;
use loomir_ir::verifier::op_error;
use loomir_ir::{AttrKind, Context, Diagnostics, OpRef, Type, TypeKind};

/// Checks that the value has the type of the result, that integers are signless, and that only
/// splats fill scalable vectors.
pub(super) fn constant(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let Some(value) = op.attr("value") else { return };
    let ty = op.result_type(0);
    let message = if value.ty(ctx) != Some(ty) {
        "failed to verify that all of {value, result} have same type"
    } else if ty.integer_width(ctx).is_some() && !ty.is_signless_integer(ctx) {
        "integer return type must be signless"
    } else {
        match value.kind(ctx) {
            AttrKind::Integer { .. }
            | AttrKind::WideInteger { .. }
            | AttrKind::Float { .. }
            | AttrKind::Opaque { .. } => return,
            AttrKind::DenseElements { splat: true, .. } => return,
            AttrKind::DenseElements { .. }
            | AttrKind::DenseStrings { .. }
            | AttrKind::DenseResource { .. }
            | AttrKind::Sparse { .. } => match ty.kind(ctx) {
                TypeKind::Vector { scalable, .. } if scalable.contains(&true) => {
                    "initializing scalable vectors with elements attribute is not supported unless it's a vector splat"
                }
                _ => return,
            },
            _ => "value must be an integer, float, or elements attribute",
        }
    };
    out.push(op_error(op, message));
}

/// Checks an elementwise cast: operand and result have one shape and one kind of container.
pub(super) fn cast_shape(op: OpRef<'_>, out: &mut Diagnostics) {
    let _ = same_shape(op, out);
}

fn same_shape(op: OpRef<'_>, out: &mut Diagnostics) -> bool {
    let ctx = op.ctx();
    let (from, to) = (op.operand_type(0), op.result_type(0));
    let message = match container(ctx, from, to) {
        Containers::Same => return true,
        Containers::OtherTensor => "failed to verify that input and output have the same tensor dimensions",
        Containers::Other => "requires the same shape for all operands and results",
    };
    out.push(op_error(op, message));
    false
}

enum Containers {
    Same,
    OtherTensor,
    Other,
}

/// Compares the shapes of two types. A dynamic size of a tensor is compatible with every size, but
/// the types are then not identical.
fn container(ctx: &Context, a: Type, b: Type) -> Containers {
    match (a.kind(ctx), b.kind(ctx)) {
        (TypeKind::Vector { shape: a, scalable: s, .. }, TypeKind::Vector { shape: b, scalable: t, .. }) => {
            if a == b && s == t {
                Containers::Same
            } else {
                Containers::Other
            }
        }
        (TypeKind::Tensor { shape: a, .. }, TypeKind::Tensor { shape: b, .. }) => match (a, b) {
            (Some(a), Some(b)) if a.len() != b.len() => Containers::Other,
            _ if a == b => Containers::Same,
            _ => Containers::OtherTensor,
        },
        (TypeKind::MemRef { shape: a, .. }, TypeKind::MemRef { shape: b, .. }) => {
            if a == b {
                Containers::Same
            } else {
                Containers::Other
            }
        }
        (TypeKind::Tensor { .. }, TypeKind::Vector { .. })
        | (TypeKind::Vector { .. }, TypeKind::Tensor { .. }) => Containers::OtherTensor,
        (TypeKind::Vector { .. } | TypeKind::Tensor { .. } | TypeKind::MemRef { .. }, _)
        | (_, TypeKind::Vector { .. } | TypeKind::Tensor { .. } | TypeKind::MemRef { .. }) => {
            Containers::Other
        }
        _ => Containers::Same,
    }
}

/// Returns the element type of a vector, tensor or memref, else the type.
fn element(ctx: &Context, ty: Type) -> Type {
    ty.element(ctx).unwrap_or(ty)
}

/// Requires a wider float, and one scale or one for each element.
pub(super) fn scaling_extf(op: OpRef<'_>, out: &mut Diagnostics) {
    scaling(op, out, |from, to| from < to);
}

/// Requires a narrower float, and one scale or one for each element.
pub(super) fn scaling_truncf(op: OpRef<'_>, out: &mut Diagnostics) {
    scaling(op, out, |from, to| from > to);
}

fn scaling(op: OpRef<'_>, out: &mut Diagnostics, compatible: fn(u32, u32) -> bool) {
    let ctx = op.ctx();
    let [from, scale, to] = [op.operand_type(0), op.operand_type(1), op.result_type(0)];
    if scale.scalar(ctx) != scale && !matches!(container(ctx, from, scale), Containers::Same) {
        out.push(op_error(op, "all non-scalar operands/results must have the same shape and base type"));
    } else if same_shape(op, out) {
        let width = |ty| bit_width(ctx, element(ctx, ty)).unwrap_or(0);
        if !compatible(width(from), width(to)) {
            let [from, scale, to] = [from, scale, to].map(|ty| type_to_string(ctx, ty));
            let message =
                format!("operand types '{from}', '{scale}' and result type '{to}' are cast incompatible");
            out.push(op_error(op, message));
        }
    }
}

fn check_compatible(op: OpRef<'_>, out: &mut Diagnostics, compatible: fn(&Context, Type, Type) -> bool) {
    if !same_shape(op, out) {
        return;
    }
    let ctx = op.ctx();
    let (from, to) = (op.operand_type(0), op.result_type(0));
    if !compatible(ctx, element(ctx, from), element(ctx, to)) {
        let message = format!(
            "operand type '{}' and result type '{}' are cast incompatible",
            type_to_string(ctx, from),
            type_to_string(ctx, to)
        );
        out.push(op_error(op, message));
    }
}

/// Returns the width of any integer or float.
fn bit_width(ctx: &Context, ty: Type) -> Option<u32> {
    match ty.kind(ctx) {
        TypeKind::Integer { width, .. } => Some(*width),
        TypeKind::Float(kind) => Some(kind.width()),
        _ => None,
    }
}

/// To a wider integer.
pub(super) fn extend_int(op: OpRef<'_>, out: &mut Diagnostics) {
    check_compatible(op, out, |ctx, from, to| bit_width(ctx, from) < bit_width(ctx, to));
}

/// To a wider float.
pub(super) fn extend_float(op: OpRef<'_>, out: &mut Diagnostics) {
    check_compatible(op, out, |ctx, from, to| bit_width(ctx, from) < bit_width(ctx, to));
}

/// To a narrower integer.
pub(super) fn truncate_int(op: OpRef<'_>, out: &mut Diagnostics) {
    check_compatible(op, out, |ctx, from, to| bit_width(ctx, from) > bit_width(ctx, to));
}

/// To a narrower float.
pub(super) fn truncate_float(op: OpRef<'_>, out: &mut Diagnostics) {
    check_compatible(op, out, |ctx, from, to| bit_width(ctx, from) > bit_width(ctx, to));
}

/// Between index and integer.
pub(crate) fn index_cast(op: OpRef<'_>, out: &mut Diagnostics) {
    check_compatible(op, out, |_, from, to| from.is_index() != to.is_index());
}

/// Between types of one width.
pub(super) fn bitcast(op: OpRef<'_>, out: &mut Diagnostics) {
    check_compatible(op, out, |ctx, from, to| bit_width(ctx, from) == bit_width(ctx, to));
}

/// True if `index_cast` accepts the type as operand and result.
pub(super) fn is_index_castable(ctx: &Context, ty: Type) -> bool {
    let element = castable_element(ctx, ty);
    element.is_signless_integer(ctx) || element.is_index()
}

/// True if `bitcast` accepts the type as operand and result.
pub(super) fn is_bitcastable(ctx: &Context, ty: Type) -> bool {
    let element = castable_element(ctx, ty);
    element.is_signless_integer(ctx) || element.is_float(ctx)
}

/// Returns the element type of a vector, tensor or ranked memref, else the type.
fn castable_element(ctx: &Context, ty: Type) -> Type {
    match ty.kind(ctx) {
        TypeKind::MemRef { shape: Some(_), element, .. } => *element,
        _ => ty.scalar(ctx),
    }
}

/// Checks that the condition is one truth value, or one for each element.
pub(super) fn select(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let (condition, result) = (op.operand_type(0), op.result_type(0));
    if condition == Type::I1 {
        return;
    }
    if condition.shape(ctx).is_none() && !matches!(condition.kind(ctx), TypeKind::Tensor { .. })
        || condition.shape(ctx) != result.shape(ctx)
    {
        out.push(op_error(op, "failed to verify that condition is signless i1 or has matching shape"));
    } else if result.with_scalar(ctx, Type::I1) != condition {
        out.push(op_error(op, "all non-scalar operands/results must have the same shape and base type"));
    }
}
