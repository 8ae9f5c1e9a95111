//! Rules of memory accesses.

use loomir_ir::text::type_to_string;
use loomir_ir::verifier::op_error;
use loomir_ir::{Attr, Context, Diagnostics, OpRef, Type};

use crate::llvm::attributes::{ATOMIC_BIN_OP, ATOMIC_ORDERING};
use crate::llvm::types::{is_float, is_pointer, literal_struct};

fn ordering(op: OpRef<'_>) -> String {
    ordering_called(op, "ordering")
}

fn ordering_called(op: OpRef<'_>, name: &str) -> String {
    let value = op.attr(name).and_then(|attr| ATOMIC_ORDERING.value(op.ctx(), attr)).unwrap_or(0);
    ATOMIC_ORDERING.text_of(value).unwrap_or_default()
}

/// Checks that an atomic load does not release.
pub(super) fn verify_load(op: OpRef<'_>, out: &mut Diagnostics) {
    verify_access(op, op.result_type(0), &["release", "acq_rel"], out);
}

/// Checks that an atomic store does not acquire.
pub(super) fn verify_store(op: OpRef<'_>, out: &mut Diagnostics) {
    verify_access(op, op.operand_type(0), &["acquire", "acq_rel"], out);
}

fn verify_access(op: OpRef<'_>, ty: Type, unsupported: &[&str], out: &mut Diagnostics) {
    let ctx = op.ctx();
    let ordering = ordering(op);
    if ordering == "not_atomic" {
        if op.attr("syncscope").is_some() {
            out.push(op_error(op, "expected syncscope to be null for non-atomic access"));
        }
        return;
    }
    if !is_atomic_type(ctx, ty) {
        let ty = type_to_string(ctx, ty);
        out.push(op_error(op, format!("unsupported type '{ty}' for atomic access")));
    }
    if unsupported.contains(&ordering.as_str()) {
        out.push(op_error(op, format!("unsupported ordering '{ordering}'")));
    }
    if op.attr("alignment").is_none() {
        out.push(op_error(op, "expected alignment for atomic access"));
    }
}

/// True if a value of this type can be accessed at once: a pointer, or a number of 8, 16, 32, 64 or
/// 128 bits.
fn is_atomic_type(ctx: &Context, ty: Type) -> bool {
    let width = ty.integer_width(ctx).or_else(|| match ty.kind(ctx) {
        loomir_ir::TypeKind::Float(kind) if is_float(ctx, ty) => Some(kind.width()),
        _ => None,
    });
    is_pointer(ctx, ty) || width.is_some_and(|width| [8, 16, 32, 64, 80, 128].contains(&width))
}

/// Checks that the operation fits the type and has an atomic ordering.
pub(super) fn verify_atomic_rmw(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let ty = op.operand_type(1);
    let kind = op.attr("bin_op").and_then(|kind| ATOMIC_BIN_OP.value(ctx, kind)).unwrap_or(0);
    let kind = ATOMIC_BIN_OP.text_of(kind).unwrap_or_default();
    match kind.as_str() {
        "fadd" | "fsub" | "fmin" | "fmax" | "fminimum" | "fmaximum" => {
            if !is_float(ctx, ty.scalar(ctx)) {
                out.push(op_error(op, "expected LLVM IR floating point type"));
            }
        }
        "xchg" => {
            if !is_atomic_type(ctx, ty) {
                out.push(op_error(op, "unexpected LLVM IR type for 'xchg' bin_op"));
            }
        }
        _ => {
            if !(ty.is_signless_integer(ctx) && is_atomic_type(ctx, ty)) {
                out.push(op_error(op, "expected LLVM IR integer type"));
            }
        }
    }
    if ["not_atomic", "unordered"].contains(&ordering(op).as_str()) {
        out.push(op_error(op, "expected at least 'monotonic' ordering"));
    }
}

/// Checks that a fence acquires or releases.
pub(super) fn verify_fence(op: OpRef<'_>, out: &mut Diagnostics) {
    if ["not_atomic", "unordered", "monotonic"].contains(&ordering(op).as_str()) {
        out.push(op_error(op, "can be given only acquire, release, acq_rel, and seq_cst orderings"));
    }
}

/// Checks that the result is the value and a bit, that both orderings are atomic, and that the
/// failure ordering does not release.
pub(super) fn verify_cmpxchg(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let ty = op.operand_type(2);
    if op.result_type(0) != literal_struct(ctx, &[ty, Type::I1]) {
        let message = "failed to verify that result #0 has an LLVM struct type consisting of the type of operand #2 and a bool";
        out.push(op_error(op, message));
    }
    if !is_atomic_type(ctx, ty) {
        out.push(op_error(op, "unexpected LLVM IR type"));
    }
    let orders = ["success_ordering", "failure_ordering"].map(|name| ordering_called(op, name));
    if orders.iter().any(|order| ["not_atomic", "unordered"].contains(&order.as_str())) {
        out.push(op_error(op, "ordering must be at least 'monotonic'"));
    }
    if ["release", "acq_rel"].contains(&orders[1].as_str()) {
        out.push(op_error(op, "failure ordering cannot be 'release' or 'acq_rel'"));
    }
}

/// The ordering of an access relative to other accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// Ordinary: ordered only with writes to the same location.
    Plain,
    /// Ordered among all accesses of its location, which have a single total order (`monotonic`).
    OfLocation,
    /// Ordered among all accesses.
    OfAll,
}

/// Returns the ordering of a memory access.
pub(crate) fn order(op: OpRef<'_>) -> Order {
    if op.attr("volatile_") == Some(Attr::UNIT) {
        return Order::OfAll;
    }
    let orders = match op.attr("success_ordering") {
        Some(_) => vec![ordering_called(op, "success_ordering"), ordering_called(op, "failure_ordering")],
        None => vec![ordering(op)],
    };
    let of = |order: &String| match order.as_str() {
        "not_atomic" | "unordered" => Order::Plain,
        "monotonic" => Order::OfLocation,
        _ => Order::OfAll,
    };
    let orders: Vec<Order> = orders.iter().map(of).collect();
    let strongest = [Order::OfAll, Order::OfLocation].into_iter().find(|order| orders.contains(order));
    strongest.unwrap_or(Order::Plain)
}
