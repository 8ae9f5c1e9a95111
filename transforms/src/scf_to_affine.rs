//! Writes `scf` and `memref` as `affine` where loops, conditions and subscripts are affine.
//!
//! | operation | becomes | if |
//! | --- | --- | --- |
//! | `scf.for` | `affine.for` | its step is a positive constant; bounds may be `maxsi` and `minsi` of forms |
//! | `scf.parallel` | `affine.parallel` | the same, and it reduces nothing |
//! | `scf.if` | `affine.if` | its condition holds exactly where some forms are not negative |
//! | `memref.load`, `memref.store` | `affine.load`, `affine.store` | all subscripts are affine |
//!
//! A form is affine over induction variables of `affine` loops around and values that do not change
//! in the function. Outer operations come first. The variable of a loop that stays is no operand of
//! an affine map, so what depends on it stays too. Arithmetic on words has a form only if it does
//! not wrap, and a map is written only if it cannot overflow. The computations that maps replace
//! are left to `canonicalize`.
//!
//! MLIR has `affine-raise-from-memref`, for accesses in loops that are affine before.
//!
//! **Assumptions.**
//! - An access out of bounds is undefined, so the subscripts of one are within the memref. Tried
//!   with `fixtures/simplify/scf_to_affine.mlir`.
//! - A condition or bound that is poison is undefined in both dialects.
//!
//! **Cost.** Each block has its own forms: linear in its operations and what they depend on.
//!
//! # Limits
//!
//! - A condition that is a disjunction stays, and so does one whose negation alone is affine.
//! - Loops whose variable is no `index`, or is compared as unsigned, stay.

use hashbrown::HashMap;
use loomir_dialects::{affine, memref, scf};
use loomir_ir::opdef::{OPERAND_SEGMENTS, OpDef};
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{
    AffineExpr, AffineMap, Attr, AttrKind, Block, Body, Builder, Diagnostics, IntegerSet, Op, OperationState,
    Type, Value,
};

use plan::{Bounds, Map, Plan, plans};

mod plan;

/// The pass `raise-scf-to-affine`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "raise-scf-to-affine",
    anchor: None,
    summary: "Write loops, conditions and accesses in the affine dialect where they are affine",
    options: &[],
    make: |_| Ok(Box::new(RaiseScfToAffine)),
};

struct RaiseScfToAffine;

impl Pass for RaiseScfToAffine {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let mut raised = 0;
        body.for_each_body(&mut |body| raised += raise_to_affine(body));
        cx.count("Operations raised", raised as u64);
        Ok(())
    }
}

/// Writes the operations of a body in the `affine` dialect, where possible. Returns their number.
pub fn raise_to_affine(body: &mut Body) -> usize {
    let mut raised = 0;
    let mut pending: Vec<Block> = blocks_of(body, body.root());
    while let Some(block) = pending.pop() {
        let found = plans(body, block);
        raised += found.len();
        let mut written = Written::default();
        for (op, plan) in found {
            written.write(body, op, plan);
        }
        let inside: Vec<Block> = body.ops(block).flat_map(|op| blocks_of(body, op)).collect();
        pending.extend(inside);
    }
    raised
}

fn blocks_of(body: &Body, op: Op) -> Vec<Block> {
    body.own_regions(op).flat_map(|region| body.blocks(region)).collect()
}

/// Values of a block whose operations were replaced, by their replacements.
#[derive(Default)]
struct Written(HashMap<Value, Value>);

impl Written {
    /// Replaces an operation by the planned one.
    fn write(&mut self, body: &mut Body, op: Op, plan: Plan) {
        let new = match plan {
            Plan::For(bounds) => self.write_for(body, op, bounds),
            Plan::Parallel(dimensions) => self.write_parallel(body, op, dimensions),
            Plan::If(set) => self.write_if(body, op, set),
            Plan::Access(map) => self.write_access(body, op, map),
        };
        let attributes = body.attributes(op);
        body.set_attributes(new, attributes);
        let pairs: Vec<(Value, Value)> = body.results(op).zip(body.results(new)).collect();
        for (old, value) in pairs {
            body.replace_all_uses(old, value);
            self.0.insert(old, value);
        }
        body.erase(op);
    }

    /// Returns a map and its operands, as they are now.
    fn map(&self, body: &Body, map: &Map) -> (AffineMap, Vec<Value>) {
        let dims = map.dims.len() as u32;
        let made = AffineMap::new(body.ctx(), dims, map.symbols.len() as u32, &map.results);
        (made, self.operands(map))
    }

    fn operands(&self, map: &Map) -> Vec<Value> {
        let now = |value: &Value| self.0.get(value).copied().unwrap_or(*value);
        map.dims.iter().chain(&map.symbols).map(now).collect()
    }

    fn write_for(&self, body: &mut Body, op: Op, Bounds { lower, upper, step }: Bounds) -> Op {
        let ctx = body.ctx().clone();
        let inits: Vec<Value> = body.operands(op).skip(3).collect();
        let (lower, lower_operands) = self.map(body, &lower);
        let (upper, upper_operands) = self.map(body, &upper);
        let segments = [lower_operands.len(), upper_operands.len(), inits.len()].map(|count| count as i64);
        let state = state(body, op, affine::ForOp::DEF)
            .operands(&lower_operands)
            .operands(&upper_operands)
            .operands(&inits)
            .attr(&ctx, "lowerBoundMap", ctx.attr(AttrKind::AffineMap(lower)))
            .attr(&ctx, "upperBoundMap", ctx.attr(AttrKind::AffineMap(upper)))
            .attr(&ctx, "step", ctx.index_attr(step))
            .attr(&ctx, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &segments));
        insert_with_regions(body, op, state)
    }

    fn write_parallel(&self, body: &mut Body, op: Op, dimensions: Vec<Bounds>) -> Op {
        let ctx = body.ctx().clone();
        let mut state = state(body, op, affine::ParallelOp::DEF);
        for (side, of) in [("lower", (|own| &own.lower) as fn(&Bounds) -> &Map), ("upper", |own| &own.upper)]
        {
            let mut all = Map::default();
            let mut groups = Vec::new();
            for bounds in &dimensions {
                groups.push(of(bounds).results.len() as u128);
                all.append(&ctx, of(bounds));
            }
            let (map, operands) = self.map(body, &all);
            affine::parallel::set_side(&ctx, &mut state, side, map, groups);
            state = state.operands(&operands);
        }
        let steps: Vec<Attr> =
            dimensions.iter().map(|own| ctx.int_attr(Type::I64, i128::from(own.step))).collect();
        let state =
            state.attr(&ctx, "steps", ctx.array_attr(&steps)).attr(&ctx, "reductions", ctx.array_attr(&[]));
        insert_with_regions(body, op, state)
    }

    fn write_if(&self, body: &mut Body, op: Op, map: Map) -> Op {
        let ctx = body.ctx().clone();
        let (dims, symbols) = (map.dims.len() as u32, map.symbols.len() as u32);
        let constraints: Vec<(AffineExpr, bool)> =
            map.results.iter().copied().zip(map.equalities.iter().copied()).collect();
        let set = IntegerSet::new(&ctx, dims, symbols, constraints);
        let state = state(body, op, affine::IfOp::DEF).operands(&self.operands(&map)).attr(
            &ctx,
            "condition",
            ctx.attr(AttrKind::IntegerSet(set)),
        );
        insert_with_regions(body, op, state)
    }

    fn write_access(&self, body: &mut Body, op: Op, map: Map) -> Op {
        let ctx = body.ctx().clone();
        let is_load = body.is(op, memref::LoadOp::DEF);
        let (def, fixed) = if is_load { (affine::LoadOp::DEF, 1) } else { (affine::StoreOp::DEF, 2) };
        let kept: Vec<Value> = body.operands(op).take(fixed).collect();
        let (map, operands) = self.map(body, &map);
        let state = state(body, op, def).operands(&kept).operands(&operands).attr(
            &ctx,
            "map",
            ctx.attr(AttrKind::AffineMap(map)),
        );
        Builder::before(body, op).insert(state)
    }
}

/// Begins an operation in the place of another, with its location, its results' types and as many
/// regions.
fn state(body: &Body, op: Op, def: &'static OpDef) -> OperationState {
    let types: Vec<Type> = body.results(op).map(|value| body.value_type(value)).collect();
    OperationState::of(body.ctx(), def, body.loc(op)).results(&types).regions(body.own_regions(op).len())
}

/// Inserts an operation before another and gives it the other's regions. They end with
/// `affine.yield`.
fn insert_with_regions(body: &mut Body, op: Op, state: OperationState) -> Op {
    let new = Builder::before(body, op).insert(state);
    let pairs: Vec<_> = body.own_regions(op).zip(body.own_regions(new)).collect();
    for (old, region) in pairs {
        body.move_blocks(old, region);
        let Some(end) = body.single_block(region).and_then(|block| body.last_op(block)) else { continue };
        if body.is(end, scf::YieldOp::DEF) || body.is(end, scf::ReduceOp::DEF) {
            let operands: Vec<Value> = body.operands(end).collect();
            let state = OperationState::of(body.ctx(), affine::YieldOp::DEF, body.loc(end));
            Builder::before(body, end).insert(state.operands(&operands));
            body.erase(end);
        }
    }
    new
}
