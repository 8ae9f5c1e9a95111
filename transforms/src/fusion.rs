//! Loop fusion: neighbouring counted loops become one.
//!
//! Level by level from the outside: in each block, a loop is tried with the next one; where both count the same iterations and
//! [`legality`] finds every dependence kept, the second loop's body is moved behind the first's, and the fused loop is tried with the next (a
//! cascade). Then the bodies are treated the same way. What stands between two loops is moved before the first, if it may be.
//! Whatever is not fused gets a remark that says why, under the names LLVM's `loop-fusion` uses.
//!
//! **Cost.** Each loop is summarised once a level; a pair costs its pairs of access classes (see [`nest`]). Moving a
//! body is linear in its operations.

use loomir_dialects::interfaces::{LoopLike, MemoryEffects};
use loomir_dialects::{affine, arith};
use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{
    AffineExpr, AffineMap, Block, Body, Builder, Diagnostics, Dict, InsertPoint, Op, OperationState, Trait,
    Type, Value,
};
use loomir_polyhedra::Limits;

use crate::dependence::base::{AliasMode, Bases};
use crate::dependence::form::Form;
use crate::dependence::nest::{self, Header, Nest, Surroundings};
use crate::legality::{self, Verdict};
use remarks::Missed;

mod remarks;

/// How to fuse.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What to assume of memrefs about which nothing is known.
    pub alias: AliasMode,
    /// What one question of legality may cost.
    pub limits: Limits,
}

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// A remark for each pair that was fused or refused, in the order they were tried.
    pub remarks: Diagnostics,
    /// How many pairs were fused.
    pub fused: usize,
    /// How many pairs were refused.
    pub refused: usize,
}

/// Fuses the loops of a function. The result is well formed if `body` was, and computes the same.
pub fn fuse(body: &mut Body, options: &Options) -> Report {
    let mut report = Report::default();
    let mut assumed: Vec<(Value, Value)> = Vec::new();
    let mut blocks: Vec<Block> = outermost_blocks(body);
    while let Some(block) = blocks.pop() {
        fuse_block(body, block, options, &mut report, &mut assumed);
        let mark = blocks.len();
        for op in body.ops(block) {
            blocks.extend(body.own_regions(op).flat_map(|region| body.blocks(region)));
        }
        blocks[mark..].reverse();
    }
    if !assumed.is_empty() {
        assumed.sort_by_key(|(a, b)| (a.index(), b.index()));
        report.remarks.push(remarks::assumed(body, &assumed));
    }
    report
}

fn outermost_blocks(body: &Body) -> Vec<Block> {
    let mut blocks: Vec<Block> =
        body.own_regions(body.root()).flat_map(|region| body.blocks(region).collect::<Vec<_>>()).collect();
    blocks.reverse();
    blocks
}

/// A loop that may be the first of a pair, with its summary.
struct Candidate {
    op: Op,
    nest: Nest,
}

/// Fuses the loops that stand directly in `block`. Pairs of arguments taken not to overlap for that go to `assumed`.
fn fuse_block(
    body: &mut Body,
    block: Block,
    options: &Options,
    report: &mut Report,
    assumed: &mut Vec<(Value, Value)>,
) {
    let context = Surroundings::of(body, block);
    let mut current: Option<Candidate> = None;
    let mut between: Vec<Op> = Vec::new();
    let mut next = body.first_op(block);
    while let Some(op) = next {
        next = body.next_op(op);
        let nest = if is_loop(body, op) { Nest::of(body, op, options.alias) } else { None };
        let Some(nest) = nest else {
            between.push(op);
            continue;
        };
        let candidate = Candidate { op, nest };
        current = Some(match current.take() {
            None => candidate,
            Some(first) => match plan(body, &first, &candidate, &between, &context, options) {
                Ok(plan) => {
                    report.fused += 1;
                    report.remarks.push(remarks::fused(body, first.op, op));
                    for pair in &plan.assumed_apart {
                        if !assumed.contains(pair) {
                            assumed.push(*pair);
                        }
                    }
                    apply(body, first, candidate, &between, &plan)
                }
                Err(missed) => {
                    report.refused += 1;
                    report.remarks.push(remarks::missed(body, first.op, op, &missed));
                    candidate
                }
            },
        });
        between.clear();
    }
}

/// Whether an operation is a counted loop of one block that ends in a terminator.
fn is_loop(body: &Body, op: Op) -> bool {
    let view = body.op_ref(op);
    let Some(model) = view.info().interface::<dyn LoopLike>() else { return false };
    body.single_block(model.body(view)).and_then(|block| body.terminator(block)).is_some()
}

/// How a pair will be fused.
struct Plan {
    /// What to add to the first loop's variable to get the second's.
    offset: i64,
    /// Arguments taken not to overlap.
    assumed_apart: Vec<(Value, Value)>,
}

fn plan(
    body: &Body,
    first: &Candidate,
    second: &Candidate,
    between: &[Op],
    context: &Surroundings,
    options: &Options,
) -> Result<Plan, Missed> {
    if body.op_name(first.op) != body.op_name(second.op) {
        return Err(Missed::DifferentKinds);
    }
    for op in [first.op, second.op] {
        let view = body.op_ref(op);
        if view.info().interface::<dyn LoopLike>().is_none_or(|model| model.is_unsigned(view)) {
            return Err(Missed::Unsigned(op));
        }
    }
    let offset = same_iterations(&first.nest.header, &second.nest.header)?;
    if let Some(user) = uses_results(body, first.op, second.op) {
        return Err(Missed::UsesResult(user));
    }
    let bases = Bases::new(body, options.alias);
    let mut moved_past = Vec::new();
    for op in between {
        if !may_move_before(body, *op, first, &bases, options, &mut moved_past) {
            return Err(Missed::NonAdjacent(*op));
        }
    }
    match legality::fusion(&first.nest, &second.nest, context, &bases, &options.limits) {
        Verdict::Legal { mut assumed_apart } => {
            moved_past.retain(|pair| !assumed_apart.contains(pair));
            assumed_apart.append(&mut moved_past);
            Ok(Plan { offset, assumed_apart })
        }
        verdict => Err(Missed::Dependences(verdict)),
    }
}

/// Whether both loops count the same iterations; if so, the difference of their variables in each.
fn same_iterations(first: &Header, second: &Header) -> Result<i64, Missed> {
    if first.bounds == second.bounds {
        return Ok(0);
    }
    let (Some(step), Some(other)) = (first.step, second.step) else { return Err(Missed::UnknownStep) };
    if step != other {
        return Err(Missed::Steps(step, other));
    }
    match (&first.extents, &second.extents, &first.lower, &second.lower) {
        (Some(a), Some(b), Some(lower), Some(other)) if a == b => {
            other.minus(lower).and_then(|d| d.as_constant()).ok_or(Missed::UnknownOffset)
        }
        (Some(a), Some(b), ..) => Err(Missed::TripCounts(constant_trips(a, step), constant_trips(b, step))),
        _ => Err(Missed::TripCounts(None, None)),
    }
}

/// The number of iterations, where it is a number.
fn constant_trips(extents: &[Form], step: i64) -> Option<i64> {
    let extent = extents.iter().map(Form::as_constant).collect::<Option<Vec<_>>>()?.into_iter().min()?;
    loomir_ir::affine::ceil_div(extent.max(0), step)
}

/// An operation of `second` that uses a result of `first`.
fn uses_results(body: &Body, first: Op, second: Op) -> Option<Op> {
    body.results(first).flat_map(|v| body.uses(v)).map(|u| u.op).find(|user| body.is_within(*user, second))
}

/// Whether an operation between two loops may run before the first; arguments taken not to overlap for that go to `assumed`.
fn may_move_before(
    body: &Body,
    op: Op,
    first: &Candidate,
    bases: &Bases<'_>,
    options: &Options,
    assumed: &mut Vec<(Value, Value)>,
) -> bool {
    if body.operands(op).any(|v| body.defining_op(v) == Some(first.op))
        || body.own_regions(op).len() > 0
        || body.nested(op).is_some()
        || body.has_trait(op, Trait::Terminator)
    {
        return false;
    }
    if body.has_trait(op, Trait::Pure) {
        return true;
    }
    // What may be undefined, or fail, must not come before something that may not return.
    let view = body.op_ref(op);
    let known = view.info().interface::<dyn MemoryEffects>().is_some_and(|model| !model.may_not_return(view));
    let effects = nest::effects_of(body, op, options.alias);
    known
        && first.nest.world.is_none()
        && effects.is_some_and(|classes| legality::may_precede(&classes, &first.nest, bases, assumed))
}

/// Makes one loop of two, as planned, and summarises it.
fn apply(body: &mut Body, first: Candidate, second: Candidate, between: &[Op], plan: &Plan) -> Candidate {
    for op in between {
        body.move_before(*op, first.op);
    }
    let fused = if body.num_results(second.op) == 0 {
        first.op
    } else {
        with_more_carried(body, first.op, second.op)
    };
    let into = loop_block(body, fused);
    let from = loop_block(body, second.op);

    let own_carried = body.num_results(fused) - body.num_results(second.op);
    let variable = shifted_variable(body, fused, into, plan.offset, body.is_used(body.argument(from, 0)));
    let mut arguments = vec![variable];
    arguments.extend(body.arguments(into).skip(1 + own_carried));

    // Both terminators become one that yields what each did.
    let terminator = body.last_op(into);
    let other = body.last_op(from);
    body.inline_block(from, into, terminator, &arguments);
    if let (Some(terminator), Some(other)) = (terminator, other) {
        let yielded: Vec<Value> = body.operands(terminator).chain(body.operands(other)).collect();
        body.set_operands(terminator, &yielded);
        body.erase(other);
    }
    // What was stated of either loop (that it is parallel, how to unroll it) need not hold for both.
    body.set_attributes(fused, Dict::EMPTY);
    let results: Vec<Value> = body.results(second.op).collect();
    for (i, result) in results.into_iter().enumerate() {
        let replacement = body.result(fused, own_carried + i);
        body.replace_all_uses(result, replacement);
    }
    body.erase(second.op);

    let mut nest = first.nest;
    nest.merge(second.nest);
    Candidate { op: fused, nest }
}

fn loop_block(body: &Body, op: Op) -> Block {
    let view = body.op_ref(op);
    let region = view.info().interface::<dyn LoopLike>().map(|model| model.body(view));
    region.and_then(|r| body.entry_block(r)).unwrap_or_else(|| unreachable!("`is_loop` found a block"))
}

/// A loop like `first` that also carries what `second` carries, with `first`'s body, in its place.
fn with_more_carried(body: &mut Body, first: Op, second: Op) -> Op {
    let ctx = body.ctx().clone();
    let view = body.op_ref(second);
    let inits = view.info().interface::<dyn LoopLike>().map(|model| model.inits(view)).unwrap_or_default();
    let mut state = OperationState::named(body.op_name(first), body.loc(first)).regions(1);
    state.operands = body.operands(first).chain(inits.iter().copied()).collect();
    state.result_types =
        body.results(first).chain(body.results(second)).map(|v| body.value_type(v)).collect();
    state.properties = body.properties(first);
    // The carried values are the last operands of a loop.
    if let Some(mut segments) = body.segments(first, false) {
        if let Some(last) = segments.last_mut() {
            *last += inits.len() as i64;
        }
        state.set_attr(&ctx, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &segments));
    }
    let fused = Builder::before(body, first).insert(state);
    let (from, to) = (body.region(first, 0), body.region(fused, 0));
    body.move_blocks(from, to);
    if let Some(block) = body.entry_block(to) {
        for init in inits {
            let ty = body.value_type(init);
            body.add_argument(block, ty);
        }
    }
    let results: Vec<Value> = body.results(first).collect();
    for (i, result) in results.into_iter().enumerate() {
        let replacement = body.result(fused, i);
        body.replace_all_uses(result, replacement);
    }
    body.erase(first);
    fused
}

/// The fused loop's variable plus `offset`, computed at the start of its body if it is needed.
fn shifted_variable(body: &mut Body, fused: Op, block: Block, offset: i64, needed: bool) -> Value {
    let variable = body.argument(block, 0);
    if offset == 0 || !needed {
        return variable;
    }
    let ctx = body.ctx().clone();
    let loc = body.loc(fused);
    let is_affine = body.is(fused, affine::ForOp::DEF);
    let mut builder = Builder::new(body, InsertPoint::Start(block));
    builder.set_loc(loc);
    if is_affine {
        let sum = AffineExpr::dim(&ctx, 0).add(&ctx, AffineExpr::constant(&ctx, offset));
        let map = ctx.attr(loomir_ir::AttrKind::AffineMap(AffineMap::new(&ctx, 1, 0, vec![sum])));
        let state = builder.state(affine::ApplyOp::DEF).operands(&[variable]).results(&[Type::INDEX]);
        return builder.value(state.attr(&ctx, "map", map));
    }
    let ty = builder.type_of(variable);
    let constant = builder.state(arith::ConstantOp::DEF).results(&[ty]);
    let constant = builder.value(constant.attr(&ctx, "value", ctx.int_attr(ty, offset)));
    // The sum is a value of the second loop's variable, which does not overflow.
    let nsw = arith::OVERFLOW.attr(&ctx, arith::OVERFLOW.value_of("nsw").unwrap_or(0));
    let state = builder.state(arith::AddIOp::DEF).operands(&[variable, constant]).results(&[ty]);
    builder.value(state.attr(&ctx, "overflowFlags", nsw))
}

/// The pass `loop-fusion` on `func.func`.
pub const PASS: PassInfo = PassInfo {
    name: "loop-fusion",
    anchor: Some("func.func"),
    summary: "Fuse neighbouring loops where every dependence is kept",
    options: &[("alias", "may", "what to assume of memrefs nothing is known of: may, distinct")],
    make: |options| {
        let alias = options.parse("alias", AliasMode::May)?;
        Ok(Box::new(LoopFusion { options: Options { alias, ..Options::default() } }))
    },
};

struct LoopFusion {
    options: Options,
}

impl Pass for LoopFusion {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let report = fuse(body, &self.options);
        cx.count("Loops fused", report.fused as u64);
        cx.count("Pairs refused", report.refused as u64);
        for remark in report.remarks {
            cx.remark(remark);
        }
        Ok(())
    }
}
