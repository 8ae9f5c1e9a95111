//! `lower-affine`: lowers the `affine` dialect to `scf`, `arith` and `memref`.
//!
//! Loops and conditionals keep their regions, which are moved, never copied. Maps and sets become
//! index arithmetic before their operation (see `expand`). The result equals that of MLIR's pass of
//! the same name, operation for operation, with one exception: discardable attributes of loops and
//! conditionals are kept.
//!
//! One walk over the original operations, each replaced in place: linear in the program.

use loomir_dialects::{affine, arith, scf};
use loomir_ir::attributes::AttrKind;
use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::{Attr, Body, Builder, Context, Diagnostic, Diagnostics, InsertPoint, Op, OpDef, Type, Value};

use crate::emit::{Emit, Predicate, malformed, replace};
use expand::{Undefined, expand, expand_combined, expand_map};

mod expand;
mod index;
mod reduction;

/// Replaces every operation of the `affine` dialect in `body` and in the bodies inside it.
///
/// # Errors
/// Operations without a counterpart: a division or remainder by a constant that is not positive.
/// Such operations stay unchanged.
pub fn lower_affine(body: &mut Body) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    body.for_each_body(&mut |body| lower_body(body, &mut diagnostics));
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

type Lowered = Result<(), Diagnostic>;

fn lower_body(body: &mut Body, diagnostics: &mut Diagnostics) {
    // A terminator is erased with its parent operation, so nothing in the list is erased before its
    // turn.
    let ops: Vec<(Op, LowerOp)> =
        body.all_ops().filter_map(|op| Some((op, lowering_of(body, op)?))).collect();
    for (op, lower) in ops {
        if let Err(diagnostic) = lower(body, op) {
            diagnostics.push(diagnostic);
        }
    }
}

type LowerOp = fn(&mut Body, Op) -> Lowered;

fn lowering_of(body: &Body, op: Op) -> Option<LowerOp> {
    let table: [(&'static OpDef, LowerOp); 13] = [
        (affine::ForOp::DEF, lower_for),
        (affine::LoadOp::DEF, lower_access),
        (affine::StoreOp::DEF, lower_access),
        (affine::ApplyOp::DEF, lower_apply),
        (affine::IfOp::DEF, lower_if),
        (affine::MinOp::DEF, lower_min_max),
        (affine::MaxOp::DEF, lower_min_max),
        (affine::ParallelOp::DEF, lower_parallel),
        (affine::PrefetchOp::DEF, lower_access),
        (affine::VectorLoadOp::DEF, lower_access),
        (affine::VectorStoreOp::DEF, lower_access),
        (affine::DelinearizeIndexOp::DEF, index::lower_delinearize),
        (affine::LinearizeIndexOp::DEF, index::lower_linearize),
    ];
    let info = body.info(op);
    table.into_iter().find(|(def, _)| info.is(def)).map(|(_, lower)| lower)
}

/// Returns the diagnostic for a map or set of `op` without a value.
fn undefined(body: &Body, op: Op, why: Undefined) -> Diagnostic {
    let loc = body.loc(op);
    Diagnostic::error(loc, why.message())
        .note(loc, format!("in the lowering of '{}'", body.ctx().op_str(body.op_name(op))))
}

fn map_of(body: &Body, op: Op, name: &str) -> Result<loomir_ir::AffineMap, Diagnostic> {
    body.attr(op, name).and_then(|a| a.as_affine_map(body.ctx())).ok_or_else(|| malformed(body, op))
}

// Values.

fn lower_apply(body: &mut Body, op: Op) -> Lowered {
    let map = map_of(body, op, "map")?;
    let operands: Vec<Value> = body.operands(op).collect();
    let values = expand_map(&mut Builder::before(body, op), map, &operands);
    replace(body, op, &values.map_err(|why| undefined(body, op, why))?);
    Ok(())
}

fn lower_min_max(body: &mut Body, op: Op) -> Lowered {
    let map = map_of(body, op, "map")?;
    let operands: Vec<Value> = body.operands(op).collect();
    let combine = if body.is(op, affine::MinOp::DEF) { arith::MinSIOp::DEF } else { arith::MaxSIOp::DEF };
    let value = expand_combined(&mut Builder::before(body, op), map, &operands, combine);
    let value = value.map_err(|why| undefined(body, op, why))?;
    replace(body, op, &[value]);
    Ok(())
}

/// Replaces a load, store or prefetch by the operation of `memref` with subscripts as values.
/// Vector accesses become operations of `vector`.
fn lower_access(body: &mut Body, op: Op) -> Lowered {
    let map = map_of(body, op, "map")?;
    let info = body.info(op);
    let name = if info.is(affine::LoadOp::DEF) {
        "memref.load"
    } else if info.is(affine::StoreOp::DEF) {
        "memref.store"
    } else if info.is(affine::VectorLoadOp::DEF) {
        "vector.load"
    } else if info.is(affine::VectorStoreOp::DEF) {
        "vector.store"
    } else {
        "memref.prefetch"
    };
    let stores = body.num_results(op) == 0 && !info.is(affine::PrefetchOp::DEF);
    let fixed = if stores { 2 } else { 1 };
    let operands: Vec<Value> = body.operands(op).collect();
    if operands.len() < fixed {
        return Err(malformed(body, op));
    }
    let results: Vec<Type> = body.results(op).map(|v| body.value_type(v)).collect();
    let properties = body.properties(op);
    let mut b = Builder::before(body, op);
    let ctx = b.ctx();
    let indices = expand_map(&mut b, map, &operands[fixed..]);
    let indices = match indices {
        Ok(indices) => indices,
        Err(why) => return Err(undefined(body, op, why)),
    };
    let mut state = loomir_ir::OperationState::new(&ctx, name, b.loc())
        .operands(&operands[..fixed])
        .operands(&indices)
        .results(&results);
    for (attr_name, attr) in properties.without(&ctx, "map").entries(&ctx) {
        state.set_attr(&ctx, ctx.str(*attr_name), *attr);
    }
    let access = b.insert(state);
    let values: Vec<Value> = body.results(access).collect();
    replace(body, op, &values);
    Ok(())
}

// Regions.

/// Moves the regions of `from` into those of `to`. They end with `yield_def` in place of
/// `affine.yield`.
fn move_regions(body: &mut Body, from: Op, to: Op, yield_def: &OpDef) {
    let pairs: Vec<_> = body.own_regions(from).zip(body.own_regions(to)).collect();
    for (old, new) in pairs {
        body.move_blocks(old, new);
        let Some(terminator) = body.single_block(new).and_then(|block| body.last_op(block)) else { continue };
        if body.is(terminator, affine::YieldOp::DEF) {
            let operands: Vec<Value> = body.operands(terminator).collect();
            let mut b = Builder::before(body, terminator);
            let state = b.state(yield_def).operands(&operands);
            b.insert(state);
            body.erase(terminator);
        }
    }
}

/// Gives `to` the attributes and results of `from`, and erases `from`.
fn take_place(body: &mut Body, from: Op, to: Op) {
    let attributes = body.attributes(from);
    body.set_attributes(to, attributes);
    let values: Vec<Value> = body.results(to).collect();
    replace(body, from, &values);
}

fn lower_for(body: &mut Body, op: Op) -> Lowered {
    let loop_op = affine::ForOp(op);
    let (lower_map, upper_map) = (map_of(body, op, "lowerBoundMap")?, map_of(body, op, "upperBoundMap")?);
    let step = body.attr(op, "step").and_then(|a| a.as_int(body.ctx())).ok_or_else(|| malformed(body, op))?;
    let (lower_operands, upper_operands) =
        (loop_op.lowerBoundOperands(body), loop_op.upperBoundOperands(body));
    let inits = loop_op.inits(body);
    let results: Vec<Type> = body.results(op).map(|v| body.value_type(v)).collect();
    let mut b = Builder::before(body, op);
    let bounds = expand_combined(&mut b, lower_map, &lower_operands, arith::MaxSIOp::DEF).and_then(|lower| {
        Ok((lower, expand_combined(&mut b, upper_map, &upper_operands, arith::MinSIOp::DEF)?))
    });
    let (lower, upper) = match bounds {
        Ok(bounds) => bounds,
        Err(why) => return Err(undefined(body, op, why)),
    };
    let step = b.index(step);
    let state = b.state(scf::ForOp::DEF).operands(&[lower, upper, step]).operands(&inits).results(&results);
    let new = b.insert(state);
    move_regions(body, op, new, scf::YieldOp::DEF);
    take_place(body, op, new);
    Ok(())
}

fn lower_if(body: &mut Body, op: Op) -> Lowered {
    let ctx = body.ctx().clone();
    let Some(AttrKind::IntegerSet(set)) = body.attr(op, "condition").map(|a| a.kind(&ctx)) else {
        return Err(malformed(body, op));
    };
    let data = set.data(&ctx);
    let operands: Vec<Value> = body.operands(op).collect();
    let results: Vec<Type> = body.results(op).map(|v| body.value_type(v)).collect();
    let (dims, symbols) = operands.split_at((data.dims as usize).min(operands.len()));
    let mut b = Builder::before(body, op);
    let zero = b.index(0);
    let mut condition = None;
    for (expr, is_equality) in &data.constraints {
        let value = match expand(&mut b, *expr, dims, symbols) {
            Ok(value) => value,
            Err(why) => return Err(undefined(body, op, why)),
        };
        let predicate = if *is_equality { Predicate::Eq } else { Predicate::Sge };
        let holds = b.compare(predicate, value, zero);
        condition = Some(match condition {
            Some(others) => b.binary(arith::AndIOp::DEF, others, holds),
            None => holds,
        });
    }
    let condition = condition.unwrap_or_else(|| b.constant(Attr::TRUE, Type::I1));
    let state = b.state(scf::IfOp::DEF).operands(&[condition]).results(&results).regions(2);
    let new = b.insert(state);
    move_regions(body, op, new, scf::YieldOp::DEF);
    take_place(body, op, new);
    Ok(())
}

fn lower_parallel(body: &mut Body, op: Op) -> Lowered {
    let ctx = body.ctx().clone();
    let shape = ParallelShape::of(&ctx, body, op).ok_or_else(|| malformed(body, op))?;
    let operands: Vec<Value> = body.operands(op).collect();
    let (lower_map, upper_map) = (map_of(body, op, "lowerBoundsMap")?, map_of(body, op, "upperBoundsMap")?);
    let lower_inputs = lower_map.num_inputs(&ctx).min(operands.len());
    let (lower_operands, upper_operands) = operands.split_at(lower_inputs);
    let results: Vec<Type> = body.results(op).map(|v| body.value_type(v)).collect();

    let mut b = Builder::before(body, op);
    let (mut lowers, mut uppers) = (Vec::new(), Vec::new());
    let (mut next_lower, mut next_upper) = (0, 0);
    for (lower_count, upper_count) in shape.lower_groups.iter().zip(&shape.upper_groups) {
        let mut bound = |map: loomir_ir::AffineMap, operands: &[Value], next: &mut usize, count, combine| {
            let data = map.data(&ctx);
            let exprs = data.results.get(*next..*next + count).unwrap_or_default();
            *next += count;
            let group = loomir_ir::AffineMap::new(&ctx, data.dims, data.symbols, exprs);
            expand_combined(&mut b, group, operands, combine)
        };
        let pair = bound(lower_map, lower_operands, &mut next_lower, *lower_count, arith::MaxSIOp::DEF)
            .and_then(|lower| {
                let combine = arith::MinSIOp::DEF;
                Ok((lower, bound(upper_map, upper_operands, &mut next_upper, *upper_count, combine)?))
            });
        match pair {
            Ok((lower, upper)) => {
                lowers.push(lower);
                uppers.push(upper);
            }
            Err(why) => return Err(undefined(body, op, why)),
        }
    }
    let steps: Vec<Value> = shape.steps.iter().map(|step| b.index(*step)).collect();
    let mut inits = Vec::new();
    for (kind, ty) in shape.reductions.iter().zip(&results) {
        match reduction::identity(&ctx, *kind, *ty) {
            Some(identity) => inits.push(b.constant(identity, *ty)),
            None => return Err(malformed(body, op)),
        }
    }
    let segments = [lowers.len() as i64, uppers.len() as i64, steps.len() as i64, inits.len() as i64];
    let state = b
        .state(scf::ParallelOp::DEF)
        .operands(&lowers)
        .operands(&uppers)
        .operands(&steps)
        .operands(&inits)
        .results(&results)
        .attr(&ctx, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &segments));
    let new = b.insert(state);
    move_regions(body, op, new, scf::ReduceOp::DEF);
    if let Some(reduce) = body.single_block(body.region(new, 0)).and_then(|block| body.last_op(block)) {
        reduction::fill(body, reduce, &shape.reductions);
    }
    take_place(body, op, new);
    Ok(())
}

/// The attributes of `affine.parallel` as numbers.
struct ParallelShape {
    lower_groups: Vec<usize>,
    upper_groups: Vec<usize>,
    steps: Vec<i64>,
    reductions: Vec<u64>,
}

impl ParallelShape {
    fn of(ctx: &Context, body: &Body, op: Op) -> Option<ParallelShape> {
        let ints = |name: &str| -> Option<Vec<i64>> {
            body.attr(op, name)?.as_array(ctx)?.iter().map(|a| a.as_int(ctx)).collect()
        };
        let steps = ints("steps")?;
        let groups = |name: &str| -> Option<Vec<usize>> {
            let AttrKind::DenseElements { splat, bytes, .. } = body.attr(op, name)?.kind(ctx) else {
                return None;
            };
            let mut sizes: Vec<usize> = bytes
                .chunks_exact(4)
                .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]) as usize)
                .collect();
            if *splat {
                sizes = vec![*sizes.first()?; steps.len()];
            }
            (sizes.len() == steps.len()).then_some(sizes)
        };
        let reductions = ints("reductions")?.into_iter().map(|n| n as u64).collect();
        let (lower_groups, upper_groups) = (groups("lowerBoundsGroups")?, groups("upperBoundsGroups")?);
        Some(ParallelShape { lower_groups, upper_groups, steps, reductions })
    }
}

/// Adds a block with arguments to region `index` of `op` and moves to its end.
fn enter_new_block<'b>(body: &'b mut Body, op: Op, index: usize, arguments: &[Type]) -> Builder<'b> {
    let region = body.region(op, index);
    let block = body.append_block(region, arguments);
    let loc = body.loc(op);
    let mut b = Builder::new(body, InsertPoint::End(block));
    b.set_loc(loc);
    b
}
