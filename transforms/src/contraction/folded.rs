//! Folding of array dimensions: a smaller allocation, and accesses whose subscripts count modulo
//! its sizes.
//!
//! A window of several elements becomes a rotating buffer, not a set of loop-carried values. This
//! works wherever the writes are, including conditional writes, several writes and writes outside
//! of the loop. It keeps the inner dimensions of an array. With a constant size LLVM turns it into
//! registers if that is better.
//!
//! **Cost.** Linear in the accesses.

use hashbrown::HashMap;
use loomir_dialects::interfaces::MemoryAccess;
use loomir_dialects::{affine, arith};
use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{
    AffineExpr, AffineExprKind, AffineMap, AttrKind, Body, Builder, Context, DYNAMIC, Op, OperationState,
    Type, TypeKind, Value,
};

use crate::legality::storage::{Fold, Folds};

/// Replaces the allocation of `old` by a smaller one. All of its uses except frees are `accesses`.
/// Returns the new allocation; the old one is unused afterwards.
pub(super) fn fold(body: &mut Body, old: Op, folds: &Folds, accesses: &[Op]) -> Option<Value> {
    let folds = folds.dimensions();
    let ctx = body.ctx().clone();
    let allocation = body.result(old, 0);
    let ty = body.value_type(allocation);
    let (ty, sizes) = folded_type(&ctx, ty, folds)?;
    let sizes: Vec<Value> = sizes.into_iter().map(|at| body.operand(old, at)).collect();
    let mut state = OperationState::named(body.op_name(old), body.loc(old)).operands(&sizes).results(&[ty]);
    state.properties = body.properties(old);
    state.attributes = body.attributes(old);
    let segments = [sizes.len() as i64, 0];
    state.set_attr(&ctx, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &segments));
    let new = Builder::before(body, old).value(state);
    let mut constants = Constants { before: old, known: HashMap::new() };
    for op in accesses {
        rewrite_access(body, *op, new, folds, &mut constants);
    }
    body.replace_all_uses(allocation, new);
    Some(new)
}

/// Returns the type of a folded array, and the indices of its remaining dynamic sizes.
fn folded_type(ctx: &Context, ty: Type, folds: &[Fold]) -> Option<(Type, Vec<usize>)> {
    let TypeKind::MemRef { shape: Some(shape), element, layout: None, memory_space } = ty.kind(ctx) else {
        return None;
    };
    let (mut sizes, mut kept, mut dynamic) = (Vec::new(), Vec::new(), 0);
    for (size, fold) in shape.iter().zip(folds) {
        match fold {
            Fold::Keep => {
                sizes.push(*size);
                kept.extend((*size == DYNAMIC).then_some(dynamic));
            }
            Fold::Modulo(1) => {}
            Fold::Modulo(window) => sizes.push(*window),
        }
        dynamic += usize::from(*size == DYNAMIC);
    }
    let kind = TypeKind::MemRef {
        shape: Some(sizes.into()),
        element: *element,
        layout: None,
        memory_space: *memory_space,
    };
    Some((ctx.ty(kind), kept))
}

/// Redirects a load or store to the folded array.
fn rewrite_access(body: &mut Body, op: Op, memref: Value, folds: &[Fold], constants: &mut Constants) {
    let view = body.op_ref(op);
    let Some(access) = view.info().interface::<dyn MemoryAccess>().map(|model| model.access(view)) else {
        return;
    };
    let mut operands: Vec<Value> = access.stored.into_iter().chain([memref]).collect();
    if body.attr(op, "map").is_some()
        && (body.is(op, affine::LoadOp::DEF) || body.is(op, affine::StoreOp::DEF))
    {
        let ctx = body.ctx().clone();
        let (map, indices) = folded_map(&ctx, access.subscripts.map, &access.subscripts.operands, folds);
        operands.extend(indices);
        body.set_attr(op, "map", ctx.attr(AttrKind::AffineMap(map)));
    } else {
        for (index, fold) in access.subscripts.operands.iter().zip(folds) {
            match fold {
                Fold::Keep => operands.push(*index),
                Fold::Modulo(1) => {}
                Fold::Modulo(window) => operands.push(remainder(body, op, *index, *window, constants)),
            }
        }
    }
    body.set_operands(op, &operands);
    // The alignment was stated for another address.
    body.remove_attr(op, "alignment");
}

/// Returns the map of the folded subscripts, without unused operands.
fn folded_map(ctx: &Context, map: AffineMap, operands: &[Value], folds: &[Fold]) -> (AffineMap, Vec<Value>) {
    let data = map.data(ctx);
    let results: Vec<AffineExpr> = data
        .results
        .iter()
        .zip(folds)
        .filter_map(|(expr, fold)| match fold {
            Fold::Keep => Some(*expr),
            Fold::Modulo(1) => None,
            Fold::Modulo(window) => Some(expr.modulo(ctx, AffineExpr::constant(ctx, *window))),
        })
        .collect();
    let (num_dims, num_symbols) = (data.dims as usize, data.symbols as usize);
    let mut used = vec![false; num_dims + num_symbols];
    for expr in &results {
        expr.visit(ctx, &mut |kind| match kind {
            AffineExprKind::Dim(at) => used[at as usize] = true,
            AffineExprKind::Symbol(at) => used[num_dims + at as usize] = true,
            _ => {}
        });
    }
    let renumbered = |from: std::ops::Range<usize>, make: fn(&Context, u32) -> AffineExpr| {
        let mut next = 0;
        let of = |used: &bool| {
            let expr = make(ctx, next);
            next += u32::from(*used);
            expr
        };
        let exprs: Vec<AffineExpr> = used[from].iter().map(of).collect();
        (exprs, next)
    };
    let (dims, dim_count) = renumbered(0..num_dims, AffineExpr::dim);
    let (symbols, symbol_count) = renumbered(num_dims..num_dims + num_symbols, AffineExpr::symbol);
    let results: Vec<_> = results.into_iter().map(|expr| expr.replace(ctx, &dims, &symbols)).collect();
    let kept = operands.iter().zip(&used).filter(|(_, used)| **used).map(|(value, _)| *value).collect();
    (AffineMap::new(ctx, dim_count, symbol_count, &results), kept)
}

/// `index` modulo `window`, before an access; an index in bounds is not negative.
fn remainder(body: &mut Body, op: Op, index: Value, window: i64, constants: &mut Constants) -> Value {
    if let Some(number) = constant_of(body, index).and_then(|attr| attr.as_int(body.ctx())) {
        return constants.get(body, number.rem_euclid(window));
    }
    let window = constants.get(body, window);
    let mut builder = Builder::before(body, op);
    let state = builder.state(arith::RemUIOp::DEF).operands(&[index, window]);
    builder.value(state)
}

/// Constants of type `index`, each created once, before an operation that dominates all accesses.
struct Constants {
    before: Op,
    known: HashMap<i64, Value>,
}

impl Constants {
    fn get(&mut self, body: &mut Body, number: i64) -> Value {
        *self.known.entry(number).or_insert_with(|| {
            let mut builder = Builder::before(body, self.before);
            let ctx = builder.ctx();
            let state = builder.state(arith::ConstantOp::DEF).results(&[Type::INDEX]);
            builder.value(state.attr(&ctx, "value", ctx.index_attr(number)))
        })
    }
}
