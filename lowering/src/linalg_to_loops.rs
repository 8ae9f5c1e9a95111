//! `convert-linalg-to-loops` and `convert-linalg-to-affine-loops`: make loop nests of the `linalg`
//! operations on memrefs.
//!
//! Each operation becomes a nest in the order of its loops. The innermost body loads the elements
//! that the computation uses, runs the computation, whose operations are moved, and stores the
//! outputs. The result equals that of MLIR's passes of the same names, up to dead code.
//!
//! One walk over the operations, inner ones first: linear in the program.

use hashbrown::HashMap;
use loomir_dialects::affine::{self, validity};
use loomir_dialects::linalg::{CopyOp, FillOp, IndexOp, Structured};
use loomir_dialects::{memref, scf};
use loomir_ir::affine::AffineExprKind;
use loomir_ir::{
    AffineExpr, AffineMap, Attr, AttrKind, Body, Builder, Context, DYNAMIC, Diagnostic, Diagnostics,
    InsertPoint, Op, OpDef, Type, Value,
};

use crate::emit::{Emit, malformed};

/// The loops to make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loops {
    /// `scf.for` around `memref.load` and `memref.store`.
    Scf,
    /// `affine.for` around `affine.load` and `affine.store`. A trip count must be a constant or a
    /// symbol.
    Affine,
}

/// Replaces every operation of `linalg` on memrefs in `body` and in the bodies inside it by loops.
///
/// # Errors
/// Operations that have no loops of this kind. Such operations stay unchanged.
pub fn convert_linalg_to_loops(body: &mut Body, loops: Loops) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    body.for_each_body(&mut |body| {
        let ops = body.all_ops().filter(|op| Structured::of(body.op_ref(*op)).is_some()).collect();
        diagnostics.append(convert_all(body, ops, loops));
    });
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

/// True if a body has operations that [`convert_computations`] replaces.
pub fn has_computations(body: &Body) -> bool {
    body.all_ops().any(|op| is_computation(body, op))
}

/// Replaces the operations of `linalg` in one body, but not in bodies inside it, by loops of
/// `affine`, or of `scf` where a trip count is no symbol. Fills and copies stay: fusion reads them
/// as they are. So do operations that have no loops.
pub fn convert_computations(body: &mut Body) {
    for loops in [Loops::Affine, Loops::Scf] {
        let ops = body.all_ops().filter(|op| is_computation(body, *op)).collect();
        convert_all(body, ops, loops);
    }
}

/// True for an operation of `linalg` on memrefs that neither fills nor copies.
fn is_computation(body: &Body, op: Op) -> bool {
    let is_whole = body.is(op, FillOp::DEF) || body.is(op, CopyOp::DEF);
    !is_whole && Structured::of(body.op_ref(op)).is_some()
}

fn convert_all(body: &mut Body, ops: Vec<Op>, loops: Loops) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    // Operations inside a computation come later in the order, and are converted first.
    for op in ops.into_iter().rev() {
        if let Err(diagnostic) = convert(body, op, loops) {
            diagnostics.push(diagnostic);
        }
    }
    diagnostics
}

/// The parts of an operation that its loops need.
struct Plan {
    /// The trip count of each loop: the operand and its dimension, and its size.
    extents: Vec<(usize, usize, i64)>,
    maps: Vec<AffineMap>,
    operands: Vec<Value>,
    /// The arguments of the computation that are used, with their operands.
    arguments: Vec<(usize, Value)>,
    /// The operands that are numbers.
    scalars: Vec<bool>,
    num_inputs: usize,
}

impl Plan {
    fn of(body: &Body, op: Op) -> Option<Plan> {
        let (ctx, view) = (body.ctx(), Structured::of(body.op_ref(op))?);
        let operands: Vec<Value> = body.operands(op).collect();
        let size = |(operand, dimension): (usize, usize)| {
            let shape = body.value_type(operands[operand]).shape(ctx)?;
            Some((operand, dimension, *shape.get(dimension)?))
        };
        let used = (0..operands.len()).filter(|index| view.reads(*index));
        Some(Plan {
            extents: view.extents()?.into_iter().map(size).collect::<Option<_>>()?,
            maps: view.maps().to_vec(),
            arguments: used.map(|index| Some((index, view.argument(index)?))).collect::<Option<_>>()?,
            scalars: (0..operands.len()).map(|index| view.is_scalar(index)).collect(),
            num_inputs: view.num_inputs(),
            operands,
        })
    }
}

fn convert(body: &mut Body, op: Op, loops: Loops) -> Result<(), Diagnostic> {
    let plan = Plan::of(body, op).ok_or_else(|| malformed(body, op))?;
    let block = body.single_block(body.region(op, 0)).ok_or_else(|| malformed(body, op))?;
    let end = body.terminator(block).ok_or_else(|| malformed(body, op))?;
    let yielded: Vec<Value> = body.operands(end).collect();
    if yielded.len() + plan.num_inputs != plan.operands.len() {
        return Err(malformed(body, op));
    }
    let counts = trip_counts(body, op, &plan, loops)?;
    let mut b = Builder::before(body, op);
    let ranges: Vec<Range> = counts.into_iter().map(|count| range(&mut b, count, loops)).collect();
    let point: Vec<Value> = ranges.into_iter().map(|range| enter_loop(&mut b, range)).collect();
    for (operand, argument) in &plan.arguments {
        let value = match plan.scalars[*operand] {
            true => plan.operands[*operand],
            false => load(&mut b, &plan, *operand, &point, loops),
        };
        b.body().replace_all_uses(*argument, value);
    }
    let computation: Vec<Op> = b.body().ops(block).filter(|own| *own != end).collect();
    for own in computation {
        if let Some(iteration) = index_of(b.body(), own, &point) {
            let result = b.body().result(own, 0);
            b.body().replace_all_uses(result, iteration);
            b.body().erase(own);
        } else {
            b.body().detach(own);
            b.place(own);
        }
    }
    let yielded: Vec<Value> = b.body().operands(end).collect();
    for (output, value) in (plan.num_inputs..).zip(yielded) {
        store(&mut b, &plan, output, value, &point, loops);
    }
    body.erase(op);
    Ok(())
}

/// Returns the induction variable that `linalg.index` stands for.
fn index_of(body: &Body, op: Op, point: &[Value]) -> Option<Value> {
    let dim = body.attr(op, "dim").filter(|_| body.is(op, IndexOp::DEF))?.as_int(body.ctx())?;
    point.get(usize::try_from(dim).ok()?).copied()
}

/// The trip count of a loop.
#[derive(Clone, Copy)]
enum Count {
    Constant(i64),
    Value(Value),
}

/// Returns the trip count of each loop, before the operation. Sizes that are not constant are read
/// from their memrefs, in the order of the operands.
fn trip_counts(body: &mut Body, op: Op, plan: &Plan, loops: Loops) -> Result<Vec<Count>, Diagnostic> {
    let mut read: Vec<(usize, usize)> =
        plan.extents.iter().filter(|own| own.2 == DYNAMIC).map(|own| (own.0, own.1)).collect();
    read.sort_unstable();
    let mut sizes: HashMap<(usize, usize), Value> = HashMap::new();
    let mut made: Vec<Op> = Vec::new();
    for (operand, dimension) in read {
        let mut b = Builder::before(body, op);
        let index = b.index(dimension as i64);
        let state = b.state(memref::DimOp::DEF).operands(&[plan.operands[operand], index]);
        let size = b.value(state);
        made.extend([index, size].iter().filter_map(|value| body.defining_op(*value)));
        if loops == Loops::Affine && !validity::is_valid_symbol(body.op_ref(op), size) {
            made.into_iter().rev().for_each(|own| body.erase(own));
            let message = format!(
                "the size of dimension {dimension} of operand #{operand} is no symbol here, so there is no \
                 affine loop over it"
            );
            let help = "make loops of scf: --convert-linalg-to-loops";
            return Err(Diagnostic::error(body.loc(op), message).help(help));
        }
        sizes.insert((operand, dimension), size);
    }
    let count = |(operand, dimension, size): &(usize, usize, i64)| match sizes.get(&(*operand, *dimension)) {
        Some(value) => Count::Value(*value),
        None => Count::Constant(*size),
    };
    Ok(plan.extents.iter().map(count).collect())
}

/// The bounds and the step of a loop.
enum Range {
    Scf([Value; 3]),
    /// The upper bound is a map of these operands.
    Affine(AffineMap, Vec<Value>),
}

/// Makes the values that a loop from zero needs.
fn range(b: &mut Builder<'_>, count: Count, loops: Loops) -> Range {
    let ctx = &b.ctx();
    match (loops, count) {
        (Loops::Scf, Count::Constant(size)) => Range::Scf([b.index(0), b.index(size), b.index(1)]),
        (Loops::Scf, Count::Value(size)) => Range::Scf([b.index(0), size, b.index(1)]),
        (Loops::Affine, Count::Constant(size)) => Range::Affine(AffineMap::constant(ctx, size), Vec::new()),
        (Loops::Affine, Count::Value(size)) => {
            let symbol = AffineMap::new(ctx, 0, 1, &[AffineExpr::symbol(ctx, 0)]);
            Range::Affine(symbol, vec![size])
        }
    }
}

/// Makes a loop, and goes to the start of its body. Returns the induction variable.
fn enter_loop(b: &mut Builder<'_>, range: Range) -> Value {
    let ctx = &b.ctx();
    let (state, end) = match range {
        Range::Scf(operands) => (b.state(scf::ForOp::DEF).operands(&operands), scf::YieldOp::DEF),
        Range::Affine(upper, operands) => {
            let map = |map: AffineMap| ctx.attr(AttrKind::AffineMap(map));
            let mut state = b.state(affine::ForOp::DEF).operands(&operands);
            state.set_attrs(
                ctx,
                &[
                    ("lowerBoundMap", map(AffineMap::constant(ctx, 0))),
                    ("upperBoundMap", map(upper)),
                    ("step", ctx.index_attr(1)),
                ],
            );
            state.set_segments(ctx, &[0, operands.len() as i64, 0]);
            (state, affine::YieldOp::DEF)
        }
    };
    let new = b.insert(state);
    let (loc, body) = (b.loc(), b.body());
    let block = body.append_block(body.region(new, 0), &[Type::INDEX]);
    let variable = body.argument(block, 0);
    body.set_argument_loc(variable, loc);
    b.set_point(InsertPoint::End(block));
    let end = b.state(end);
    let end = b.insert(end);
    b.set_point(InsertPoint::Before(end));
    variable
}

/// Returns the subscripts of an operand's element at a point.
fn subscripts(b: &mut Builder<'_>, map: AffineMap, point: &[Value]) -> Vec<Value> {
    let ctx = b.ctx();
    let mut subscript = |expr: &AffineExpr| match expr.kind(&ctx) {
        AffineExprKind::Dim(d) => point[d as usize],
        AffineExprKind::Constant(number) => b.index(number),
        _ => {
            let (map, used) = over_used(&ctx, *expr, point);
            let map = ctx.attr(AttrKind::AffineMap(map));
            let state = b.state(affine::ApplyOp::DEF).operands(&used).results(&[Type::INDEX]);
            b.value(state.attr(&ctx, "map", map))
        }
    };
    map.results(&ctx).iter().map(&mut subscript).collect()
}

/// Returns an expression as a map over those iterations of a point that it uses.
fn over_used(ctx: &Context, expr: AffineExpr, point: &[Value]) -> (AffineMap, Vec<Value>) {
    let mut used: Vec<u32> = Vec::new();
    expr.visit(ctx, &mut |kind| match kind {
        AffineExprKind::Dim(d) if !used.contains(&d) => used.push(d),
        _ => {}
    });
    used.sort_unstable();
    let mut dims = vec![AffineExpr::constant(ctx, 0); point.len()];
    for (at, d) in used.iter().enumerate() {
        dims[*d as usize] = AffineExpr::dim(ctx, at as u32);
    }
    let expr = expr.replace(ctx, &dims, &[]);
    (AffineMap::new(ctx, used.len() as u32, 0, &[expr]), used.iter().map(|d| point[*d as usize]).collect())
}

/// The attributes of an access with these subscripts: in affine loops, the identity map.
fn access_attrs(ctx: &Context, subscripts: &[Value], loops: Loops) -> Vec<(&'static str, Attr)> {
    match loops {
        Loops::Scf => Vec::new(),
        Loops::Affine => {
            let map = AffineMap::identity(ctx, subscripts.len() as u32);
            vec![("map", ctx.attr(AttrKind::AffineMap(map)))]
        }
    }
}

fn load(b: &mut Builder<'_>, plan: &Plan, operand: usize, point: &[Value], loops: Loops) -> Value {
    let def: &OpDef = if loops == Loops::Scf { memref::LoadOp::DEF } else { affine::LoadOp::DEF };
    let (ctx, memref) = (b.ctx(), plan.operands[operand]);
    let subscripts = subscripts(b, plan.maps[operand], point);
    let element = b.type_of(memref).element(&ctx).unwrap_or(Type::NONE);
    let attrs = access_attrs(&ctx, &subscripts, loops);
    let load = b.build(def, &[&[memref], &subscripts], &attrs, &[element]);
    b.body().result(load, 0)
}

fn store(b: &mut Builder<'_>, plan: &Plan, output: usize, value: Value, point: &[Value], loops: Loops) {
    let def: &OpDef = if loops == Loops::Scf { memref::StoreOp::DEF } else { affine::StoreOp::DEF };
    let (ctx, memref) = (b.ctx(), plan.operands[output]);
    let subscripts = subscripts(b, plan.maps[output], point);
    let attrs = access_attrs(&ctx, &subscripts, loops);
    b.build(def, &[&[value], &[memref], &subscripts], &attrs, &[]);
}
