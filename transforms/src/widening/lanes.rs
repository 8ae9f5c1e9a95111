//! The numbers of single lanes, and the distances between them.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interfaces::Access;
use loomir_dialects::{affine, arith};
use loomir_ir::{AffineExpr, AffineExprKind, AttrKind, Body, Op, Trait, Type, TypeKind, Value};

use crate::access::base::bytes_of_element;

/// The known numbers in a loop whose iterations are lanes.
pub(super) struct Numbers {
    /// The values that differ from lane to lane.
    pub(super) varying: HashSet<Value>,
    /// Of those, the indices with the same difference from each lane to the next. Sums may wrap:
    /// elements are inside of their memref, so that their subscripts do not.
    steps: HashMap<Value, i64>,
    /// Of those, the values that can be computed from the number of the lane alone.
    computed: HashSet<Value>,
    /// Of those, the sums that can be computed for a lane that does not run, if they wrap.
    sums: HashSet<Value>,
}

type Steps<'a> = &'a dyn Fn(u32) -> Option<i64>;

impl Numbers {
    /// Returns the numbers in a loop. Linear.
    pub(super) fn of(
        body: &Body,
        op: Op,
        (variable, step): (Value, i64),
        varying: HashSet<Value>,
    ) -> Numbers {
        let (steps, only) = (HashMap::from_iter([(variable, step)]), HashSet::from_iter([variable]));
        let mut numbers = Numbers { varying, steps, computed: only.clone(), sums: only };
        for op in body.preorder(op) {
            let results: Vec<Value> = body.results(op).filter(|own| numbers.varying.contains(own)).collect();
            if results.is_empty() {
                continue;
            }
            let is_repeatable = body.has_trait(op, Trait::Pure) && body.own_regions(op).next().is_none();
            if is_repeatable && body.operands(op).all(|own| numbers.is_computed(own)) {
                numbers.computed.extend(&results);
            }
            if let Some(step) = numbers.step_of_op(body, op) {
                numbers.steps.extend(results.iter().map(|own| (*own, step)));
            }
            if numbers.is_sum_op(body, op) {
                numbers.sums.extend(results);
            }
        }
        numbers
    }

    /// True if a value of a lane can be computed from the number of the lane alone.
    pub(super) fn is_computed(&self, value: Value) -> bool {
        !self.varying.contains(&value) || self.computed.contains(&value)
    }

    /// True if the element of each lane is behind that of the lane before, in a dense dimension.
    pub(super) fn are_neighbours(&self, body: &Body, access: &Access) -> bool {
        let ctx = body.ctx();
        let dims = access.subscripts.map.data(ctx).dims as usize;
        let step = |expr: &AffineExpr| {
            let of = |at: usize| self.step(*access.subscripts.operands.get(at)?);
            step_of_expr(body, *expr, &|dim| of(dim as usize), &|symbol| of(dims + symbol as usize))
        };
        let Some((last, others)) = access.subscripts.map.results(ctx).split_last() else { return false };
        has_dense_rows(body, access) && step(last) == Some(1) && others.iter().all(|own| step(own) == Some(0))
    }

    /// True if the elements of all lanes are in one dense dimension: the other subscripts are the
    /// same for all lanes.
    pub(super) fn are_in_one_row(&self, body: &Body, access: &Access) -> bool {
        let (ctx, map) = (body.ctx(), access.subscripts.map);
        let Some((_, others)) = map.results(ctx).split_last() else { return false };
        let (dims, symbols) = (map.data(ctx).dims, map.data(ctx).symbols);
        let used = AffineExpr::used_inputs(ctx, others, dims, symbols);
        let mut operands = access.subscripts.operands.iter().zip(used);
        has_dense_rows(body, access) && operands.all(|(own, used)| !used || !self.varying.contains(own))
    }

    /// True if the subscripts of an access are sums and products of numbers that are the same for
    /// all lanes, of the variable, and of such sums.
    pub(super) fn are_sums(&self, body: &Body, access: &Access) -> bool {
        let is_plain = |own: &AffineExpr| !divides(body, *own);
        access.subscripts.map.results(body.ctx()).iter().all(is_plain)
            && access.subscripts.operands.iter().all(|own| self.is_sum(*own))
    }

    fn is_sum(&self, value: Value) -> bool {
        !self.varying.contains(&value) || self.sums.contains(&value)
    }

    fn is_sum_op(&self, body: &Body, op: Op) -> bool {
        let map = body.attr(op, "map").and_then(|own| own.as_affine_map(body.ctx()));
        let is_plain = match map.filter(|_| body.is(op, affine::ApplyOp::DEF)) {
            Some(map) => map.results(body.ctx()).iter().all(|own| !divides(body, *own)),
            None => body.is(op, arith::AddIOp::DEF) || body.is(op, arith::SubIOp::DEF),
        };
        is_plain && body.operands(op).all(|own| self.is_sum(own))
    }

    /// Returns the difference of an index from one lane to the next, if it is always the same.
    fn step(&self, value: Value) -> Option<i64> {
        match self.varying.contains(&value) {
            true => self.steps.get(&value).copied(),
            false => Some(0),
        }
    }

    /// Returns the same for the result of an operation, whose operands are known.
    fn step_of_op(&self, body: &Body, op: Op) -> Option<i64> {
        let operand = |at: usize| self.step(body.operand(op, at));
        if body.is(op, affine::ApplyOp::DEF) {
            let map = body.attr(op, "map").and_then(|own| own.as_affine_map(body.ctx()))?;
            let dims = map.data(body.ctx()).dims as usize;
            let [expr] = map.results(body.ctx()) else { return None };
            let symbol = |at: u32| operand(dims + at as usize);
            return step_of_expr(body, *expr, &|dim| operand(dim as usize), &symbol);
        }
        let is_index = body.results(op).all(|own| body.value_type(own) == Type::INDEX);
        match () {
            () if is_index && body.is(op, arith::AddIOp::DEF) => operand(0)?.checked_add(operand(1)?),
            () if is_index && body.is(op, arith::SubIOp::DEF) => operand(0)?.checked_sub(operand(1)?),
            () => None,
        }
    }
}

/// True if neighbours in the last dimension of an accessed memref are neighbours in memory.
fn has_dense_rows(body: &Body, access: &Access) -> bool {
    let ctx = body.ctx();
    let kind = body.value_type(access.memref).kind(ctx);
    let TypeKind::MemRef { shape: Some(shape), layout, element, .. } = kind else { return false };
    // Elements of a vector are packed, those of memory fill bytes.
    if bytes_of_element(ctx, *element).is_none() {
        return false;
    }
    match layout.map(|own| own.kind(ctx)) {
        None => true,
        Some(AttrKind::Strided { strides, .. }) => strides.last() == Some(&1),
        Some(AttrKind::AffineMap(map)) => {
            let strides = map.strides_and_offset(ctx, shape);
            strides.is_some_and(|(strides, _)| strides.last() == Some(&1))
        }
        Some(_) => false,
    }
}

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

/// True if an expression has a division or a remainder.
fn divides(body: &Body, expr: AffineExpr) -> bool {
    let mut found = false;
    expr.visit(body.ctx(), &mut |kind| {
        found |= matches!(
            kind,
            AffineExprKind::Mod(..) | AffineExprKind::FloorDiv(..) | AffineExprKind::CeilDiv(..)
        );
    });
    found
}
