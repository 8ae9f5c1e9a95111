//! The numbers of single lanes, and the distances between them.

use hashbrown::HashSet;
use loomir_dialects::interfaces::Access;
use loomir_dialects::{affine, arith};
use loomir_ir::{AffineExpr, AffineExprKind, AttrKind, Body, Op, Trait, TypeKind, Value, ValueDef};

use crate::access::base::bytes_of_element;

/// The numbers of lanes.
#[derive(Clone, Copy)]
pub(super) struct Lanes<'a> {
    pub(super) body: &'a Body,
    /// The variable of the loop, and its difference from one lane to the next.
    pub(super) variable: Value,
    pub(super) step: i64,
    /// The values that differ from lane to lane.
    pub(super) varying: &'a HashSet<Value>,
}

/// True if the element of each lane is behind that of the lane before, in a dense dimension.
pub(super) fn are_neighbours(lanes: Lanes<'_>, access: &Access) -> bool {
    let body = lanes.body;
    let ctx = body.ctx();
    let kind = body.value_type(access.memref).kind(ctx);
    let TypeKind::MemRef { shape: Some(shape), layout, element, .. } = kind else { return false };
    // Elements of a vector are packed, those of memory fill bytes.
    if bytes_of_element(ctx, *element).is_none() {
        return false;
    }
    let is_dense = match layout.map(|own| own.kind(ctx)) {
        None => true,
        Some(AttrKind::Strided { strides, .. }) => strides.last() == Some(&1),
        Some(AttrKind::AffineMap(map)) => {
            let strides = map.strides_and_offset(ctx, shape);
            strides.is_some_and(|(strides, _)| strides.last() == Some(&1))
        }
        Some(_) => false,
    };
    let results = access.subscripts.map.results(ctx);
    let dims = access.subscripts.map.data(ctx).dims as usize;
    let step = |expr: &AffineExpr| {
        let of = |at: usize| step_of_value(lanes, *access.subscripts.operands.get(at)?);
        step_of_expr(body, *expr, &|dim| of(dim as usize), &|symbol| of(dims + symbol as usize))
    };
    let Some((last, others)) = results.split_last() else { return false };
    is_dense && step(last) == Some(1) && others.iter().all(|own| step(own) == Some(0))
}

type Steps<'a> = &'a dyn Fn(u32) -> Option<i64>;

/// Returns the difference of an expression from one lane to the next, if it is always the same.
/// Recurses once for each operator of the expression.
fn step_of_expr(body: &Body, expr: AffineExpr, dims: Steps<'_>, symbols: Steps<'_>) -> Option<i64> {
    let ctx = body.ctx();
    let of = |own: AffineExpr| step_of_expr(body, own, dims, symbols);
    match expr.kind(ctx) {
        AffineExprKind::Dim(dim) => dims(dim),
        AffineExprKind::Symbol(symbol) => symbols(symbol),
        AffineExprKind::Constant(_) => Some(0),
        AffineExprKind::Add(a, b) => of(a)?.checked_add(of(b)?),
        AffineExprKind::Mul(a, b) => match (of(a)?, of(b)?) {
            (0, 0) => Some(0),
            (step, 0) => step.checked_mul(b.as_constant(ctx)?),
            (0, step) => step.checked_mul(a.as_constant(ctx)?),
            _ => None,
        },
        AffineExprKind::Mod(a, b) | AffineExprKind::FloorDiv(a, b) | AffineExprKind::CeilDiv(a, b) => {
            (of(a)? == 0 && of(b)? == 0).then_some(0)
        }
    }
}

/// Returns the difference of an index from one lane to the next, if it is always the same. Sums may
/// wrap: elements are inside of their memref, so that their subscripts do not. Recurses once for
/// each operation that computes it.
fn step_of_value(lanes: Lanes<'_>, value: Value) -> Option<i64> {
    let body = lanes.body;
    if value == lanes.variable {
        return Some(lanes.step);
    }
    if !lanes.varying.contains(&value) {
        return Some(0);
    }
    let op = body.defining_op(value)?;
    let operand = |at: usize| step_of_value(lanes, body.operand(op, at));
    if body.is(op, affine::ApplyOp::DEF) {
        let map = body.attr(op, "map").and_then(|own| own.as_affine_map(body.ctx()))?;
        let dims = map.data(body.ctx()).dims as usize;
        let [expr] = map.results(body.ctx()) else { return None };
        return step_of_expr(body, *expr, &|dim| operand(dim as usize), &|own| operand(dims + own as usize));
    }
    if body.is(op, arith::AddIOp::DEF) {
        return operand(0)?.checked_add(operand(1)?);
    }
    if body.is(op, arith::SubIOp::DEF) {
        return operand(0)?.checked_sub(operand(1)?);
    }
    None
}

/// True if a value of a lane can be computed from the number of the lane alone. Recurses once for
/// each operation that computes it.
pub(super) fn is_computed(lanes: Lanes<'_>, value: Value) -> bool {
    let body = lanes.body;
    if value == lanes.variable || !lanes.varying.contains(&value) {
        return true;
    }
    let ValueDef::OpResult { op, .. } = body.def(value) else { return false };
    is_repeatable(body, op) && body.operands(op).all(|own| is_computed(lanes, own))
}

/// True if an operation may be computed again for a lane.
fn is_repeatable(body: &Body, op: Op) -> bool {
    body.has_trait(op, Trait::Pure) && body.own_regions(op).next().is_none()
}
