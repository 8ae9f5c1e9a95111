//! Patterns of `affine`: maps in canonical form, bounds, and loops whose body does nothing.

use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::rewrite::Rewriter;
use loomir_ir::{
    AffineExpr, AffineExprKind, AffineMap, Attr, AttrKind, Block, Context, IntegerSet, Loc, Op, OpDef,
    OperationState, Type, Value, rewrite,
};

use super::access::map_of;
use super::flatten::coefficients;
use super::operands::Applied;
use super::{ApplyOp, ForOp, IfOp, LoadOp, MaxOp, MinOp, PrefetchOp, StoreOp, VectorLoadOp, VectorStoreOp};
use crate::memref::patterns::see_through_cast;

rewrite! {
    /// Patterns that make maps and loops simpler.
    pub(crate) PATTERNS;

    /// The map of an application is canonical.
    canonical_apply: ApplyOp = |rewriter, op| with_canonical_map(rewriter, op, 0);

    /// The map of a minimum is canonical: each result is in it once, and results are ordered.
    canonical_min: MinOp = |rewriter, op| with_canonical_map(rewriter, op, 0);

    /// The map of a maximum is canonical: each result is in it once, and results are ordered.
    canonical_max: MaxOp = |rewriter, op| with_canonical_map(rewriter, op, 0);

    /// The least of a minimum and others is one minimum.
    min_of_min: MinOp = |rewriter, op| merge_inner(rewriter, op, MinOp::DEF);

    /// The greatest of a maximum and others is one maximum.
    max_of_max: MaxOp = |rewriter, op| merge_inner(rewriter, op, MaxOp::DEF);

    /// The map of a load is canonical.
    canonical_load: LoadOp = |rewriter, op| with_canonical_map(rewriter, op, 1);

    /// The map of a store is canonical.
    canonical_store: StoreOp = |rewriter, op| with_canonical_map(rewriter, op, 2);

    /// The map of a hint is canonical.
    canonical_prefetch: PrefetchOp = |rewriter, op| with_canonical_map(rewriter, op, 1);

    /// The map of a load of a vector is canonical.
    canonical_vector_load: VectorLoadOp = |rewriter, op| with_canonical_map(rewriter, op, 1);

    /// The map of a store of a vector is canonical.
    canonical_vector_store: VectorStoreOp = |rewriter, op| with_canonical_map(rewriter, op, 2);

    /// A load from a cast loads from what was cast.
    load_of_cast: LoadOp = |rewriter, op| see_through_cast(rewriter, op, 0);

    /// A store into a cast stores into what was cast.
    store_of_cast: StoreOp = |rewriter, op| see_through_cast(rewriter, op, 1);

    /// The least of one result is that result.
    single_min: MinOp = apply_single;

    /// The greatest of one result is that result.
    single_max: MaxOp = apply_single;

    /// The bounds of a loop are canonical, and one number if all that they compare are numbers.
    canonical_bounds: ForOp = |rewriter, op| {
        let body = rewriter.body();
        let ctx = body.ctx().clone();
        let view = body.op_ref(op);
        let (lower, upper) = (view.operand_group("lowerBoundOperands"), view.operand_group("upperBoundOperands"));
        let inits = view.operand_group("inits");
        let bound = |name: &str, operands: &[Value], least: bool| {
            let map = map_of(&ctx, view.attr(name)).data(&ctx);
            let mut applied = Applied::new(&map.results, map.dims, operands).canonical(view);
            keep_distinct(&ctx, &mut applied.exprs, least);
            let new = map_of_exprs(&ctx, &applied);
            (new != map_of(&ctx, view.attr(name)) || applied.operands() != operands)
                .then(|| (new, applied.operands()))
        };
        let new = [bound("lowerBoundMap", &lower, false), bound("upperBoundMap", &upper, true)];
        if new.iter().all(Option::is_none) {
            return false;
        }
        let mut groups = [lower, upper];
        for ((new, name), group) in new.into_iter().zip(["lowerBoundMap", "upperBoundMap"]).zip(&mut groups) {
            if let Some((map, operands)) = new {
                rewriter.body_mut().set_attr(op, name, ctx.attr(AttrKind::AffineMap(map)));
                *group = operands;
            }
        }
        let [lower, upper] = groups;
        let sizes = [lower.len(), upper.len(), inits.len()].map(|size| size as i64);
        rewriter.body_mut().set_attr(op, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &sizes));
        rewriter.set_operands(op, &[lower, upper, inits].concat());
        true
    };

    /// A loop that hands on what it carries is known without being run.
    loop_without_operations: ForOp = |rewriter, op| {
        let body = rewriter.body();
        let Some(block) = body.entry_block(body.region(op, 0)) else { return false };
        let Some(end) = body.first_op(block).filter(|first| body.terminator(block) == Some(*first)) else {
            return false;
        };
        let Some(values) = carried_out(rewriter, op, block, end) else { return false };
        !values.is_empty() && rewriter.replace(op, &values)
    };

    /// The set of a conditional is canonical.
    canonical_set: IfOp = |rewriter, op| {
        let body = rewriter.body();
        let ctx = body.ctx().clone();
        let view = body.op_ref(op);
        let Some(set) = view.attr("condition").and_then(|attr| attr.as_integer_set(&ctx)) else { return false };
        let data = set.data(&ctx);
        let operands: Vec<Value> = view.operands().collect();
        let exprs: Vec<AffineExpr> = data.constraints.iter().map(|(expr, _)| *expr).collect();
        let applied = Applied::new(&exprs, data.dims, &operands).canonical(view);
        let constraints = applied.exprs.iter().copied().zip(data.constraints.iter().map(|(_, eq)| *eq)).collect();
        let (dims, symbols) = (applied.dims.len() as u32, applied.symbols.len() as u32);
        let new = IntegerSet::new(&ctx, dims, symbols, constraints);
        if new == set && applied.operands() == operands {
            return false;
        }
        rewriter.body_mut().set_attr(op, "condition", ctx.attr(AttrKind::IntegerSet(new)));
        rewriter.set_operands(op, &applied.operands());
        true
    };

    /// A conditional whose set holds everywhere or nowhere is one of its branches.
    known_set: IfOp = |rewriter, op| {
        let body = rewriter.body();
        let ctx = body.ctx();
        let set = body.attr(op, "condition").and_then(|attr| attr.as_integer_set(ctx));
        let Some(data) = set.map(|set| set.data(ctx)) else { return false };
        let holds = |(expr, is_equality): &(AffineExpr, bool)| {
            expr.as_constant(ctx).map(|n| if *is_equality { n == 0 } else { n >= 0 })
        };
        let known: Vec<Option<bool>> = data.constraints.iter().map(holds).collect();
        let outcome = match known.contains(&Some(false)) {
            true => false,
            false if known.iter().all(|known| *known == Some(true)) => true,
            false => return false,
        };
        match body.entry_block(body.region(op, usize::from(!outcome))) {
            Some(block) => {
                let values = rewriter.inline_before(op, block, &[]);
                rewriter.replace(op, &values)
            }
            None => body.num_results(op) == 0 && rewriter.replace(op, &[]),
        }
    };
}

fn map_of_exprs(ctx: &Context, applied: &Applied) -> AffineMap {
    AffineMap::new(ctx, applied.dims.len() as u32, applied.symbols.len() as u32, &applied.exprs)
}

/// Makes the map of an operation canonical. Its operands start at `first`.
fn with_canonical_map(rewriter: &mut Rewriter<'_>, op: Op, first: usize) -> bool {
    let body = rewriter.body();
    let ctx = body.ctx().clone();
    let old = map_of(&ctx, body.attr(op, "map"));
    let data = old.data(&ctx);
    let operands: Vec<Value> = body.operands(op).collect();
    let (before, own) = operands.split_at(first);
    let mut applied = Applied::new(&data.results, data.dims, own).canonical(body.op_ref(op));
    if body.is(op, MinOp::DEF) || body.is(op, MaxOp::DEF) {
        keep_distinct(&ctx, &mut applied.exprs, body.is(op, MinOp::DEF));
        order(&ctx, &mut applied);
    }
    let new = map_of_exprs(&ctx, &applied);
    if new == old && applied.operands() == own {
        return false;
    }
    rewriter.body_mut().set_attr(op, "map", ctx.attr(AttrKind::AffineMap(new)));
    rewriter.set_operands(op, &[before, &applied.operands()].concat());
    true
}

/// Keeps one of equal results of a minimum (`least`) or maximum, and one number if all are numbers.
fn keep_distinct(ctx: &Context, exprs: &mut Vec<AffineExpr>, least: bool) {
    let numbers: Option<Vec<i64>> = exprs.iter().map(|expr| expr.as_constant(ctx)).collect();
    let best =
        numbers.and_then(|numbers| if least { numbers.into_iter().min() } else { numbers.into_iter().max() });
    if let Some(best) = best {
        *exprs = vec![AffineExpr::constant(ctx, best)];
        return;
    }
    let mut kept: Vec<AffineExpr> = Vec::new();
    exprs.retain(|expr| {
        let is_new = !kept.contains(expr);
        kept.push(*expr);
        is_new
    });
}

/// Orders results by their coefficients, if none has quotients.
fn order(ctx: &Context, applied: &mut Applied) {
    let (dims, symbols) = (applied.dims.len() as u32, applied.symbols.len() as u32);
    let keyed = applied.exprs.iter().map(|expr| Some((coefficients(ctx, *expr, dims, symbols)?, *expr)));
    if let Some(mut keyed) = keyed.collect::<Option<Vec<_>>>() {
        keyed.sort_by(|a, b| a.0.cmp(&b.0));
        applied.exprs = keyed.into_iter().map(|(_, expr)| expr).collect();
    }
}

/// The most results of a minimum or maximum that another one is merged into.
const MAX_RESULTS: usize = 32;

/// Replaces each result of a minimum or maximum that is the result of another one by the results of
/// that one.
fn merge_inner(rewriter: &mut Rewriter<'_>, op: Op, def: &'static OpDef) -> bool {
    let body = rewriter.body();
    let ctx = body.ctx().clone();
    let applied_by = |op: Op| {
        let map = map_of(&ctx, body.attr(op, "map")).data(&ctx);
        Applied::new(&map.results, map.dims, &body.operands(op).collect::<Vec<Value>>())
    };
    let mut own = applied_by(op);
    let inner_of = |own: &Applied, expr: AffineExpr| {
        let value = match expr.kind(&ctx) {
            AffineExprKind::Dim(d) => own.dims[d as usize],
            AffineExprKind::Symbol(s) => own.symbols[s as usize],
            _ => return None,
        };
        body.defining_op(value).filter(|inner| *inner != op && body.is(*inner, def))
    };
    let (mut results, mut is_changed) = (Vec::new(), false);
    for expr in own.exprs.clone() {
        match inner_of(&own, expr).filter(|_| results.len() < MAX_RESULTS) {
            Some(inner) => {
                is_changed = true;
                results.extend(own.append(&ctx, applied_by(inner)));
            }
            None => results.push(expr),
        }
    }
    if !is_changed || results.len() > MAX_RESULTS {
        return false;
    }
    own.exprs = results;
    rewriter.body_mut().set_attr(op, "map", ctx.attr(AttrKind::AffineMap(map_of_exprs(&ctx, &own))));
    rewriter.set_operands(op, &own.operands());
    true
}

/// Replaces a minimum or maximum of one result by its application.
fn apply_single(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let body = rewriter.body();
    let ctx = body.ctx().clone();
    let map: Option<Attr> = body.attr(op, "map");
    if map_of(&ctx, map).results(&ctx).len() != 1 {
        return false;
    }
    let (Some(map), ty) = (map, body.value_type(body.result(op, 0))) else { return false };
    let operands: Vec<Value> = body.operands(op).collect();
    let state = OperationState::of(&ctx, ApplyOp::DEF, Loc::UNKNOWN);
    rewriter.replace_with(op, state.operands(&operands).results(&[ty]).attr(&ctx, "map", map))
}

/// Returns the results of a loop whose body is its terminator `end`.
fn carried_out(rewriter: &Rewriter<'_>, op: Op, block: Block, end: Op) -> Option<Vec<Value>> {
    let body = rewriter.body();
    let inits = body.op_ref(op).operand_group("inits");
    let arguments: Vec<Value> = body.arguments(block).collect();
    let trips = trip_count(rewriter, op);
    let mut values = Vec::new();
    for (i, yielded) in body.operands(end).enumerate() {
        match arguments.iter().position(|argument| *argument == yielded) {
            // Handed on to the next iteration in the same place.
            Some(place) if place == i + 1 => values.push(inits[i]),
            Some(0) => return None,
            Some(place) if trips == Some(1) => values.push(*inits.get(place - 1)?),
            Some(_) => return None,
            None if trips.is_some_and(|trips| trips > 0) => values.push(yielded),
            None => return None,
        }
    }
    Some(values)
}

/// Returns the number of iterations of a loop with constant bounds.
fn trip_count(rewriter: &Rewriter<'_>, op: Op) -> Option<i64> {
    let body = rewriter.body();
    let ctx = body.ctx();
    let bound = |name: &str| map_of(ctx, body.attr(op, name)).as_single_constant(ctx);
    let (lower, upper) = (bound("lowerBoundMap")?, bound("upperBoundMap")?);
    let step = body.attr(op, "step")?.as_int(ctx).filter(|step| *step > 0)?;
    let span = upper.checked_sub(lower)?.max(0);
    Some(span / step + i64::from(span % step != 0))
}
