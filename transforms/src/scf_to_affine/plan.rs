//! The decision which operations of a block have a form in the `affine` dialect.

use loomir_dialects::affine::validity::{is_valid_dim, is_valid_symbol};
use loomir_dialects::interfaces::{Decision, Subscripts};
use loomir_dialects::{affine, arith, memref, scf};
use loomir_ir::opdef::OpDef;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{AffineExpr, Block, Body, Context, DYNAMIC, Op, Type, TypeKind, Value};

use crate::affine::expression::{Operands, expression, position};
use crate::affine::range::{ALL, Range};
use crate::affine::{AffineForm, Atom, Forms};

/// The maximal number of values whose greatest or least is a bound.
const MAX_BOUNDS: usize = 8;

/// An operation in the `affine` dialect.
pub(super) enum Plan {
    For(Bounds),
    /// The dimensions of a parallel loop.
    Parallel(Vec<Bounds>),
    If(Map),
    Access(Map),
}

/// The iterations of a loop: from the greatest result of `lower`, below the least of `upper`.
pub(super) struct Bounds {
    pub(super) lower: Map,
    pub(super) upper: Map,
    pub(super) step: i64,
}

/// An affine map with its operands.
#[derive(Default)]
pub(super) struct Map {
    pub(super) dims: Vec<Value>,
    pub(super) symbols: Vec<Value>,
    pub(super) results: Vec<AffineExpr>,
    /// For each result of a condition, true if it must be zero; otherwise it must not be negative.
    pub(super) equalities: Vec<bool>,
}

impl Map {
    /// Adds the results of another map.
    pub(super) fn append(&mut self, ctx: &Context, other: &Map) {
        let dims: Vec<AffineExpr> = other.dims.iter().map(|value| self.dim(ctx, *value)).collect();
        let symbols: Vec<AffineExpr> = other.symbols.iter().map(|value| self.symbol(ctx, *value)).collect();
        self.results.extend(other.results.iter().map(|result| result.replace(ctx, &dims, &symbols)));
    }

    fn dim(&mut self, ctx: &Context, value: Value) -> AffineExpr {
        AffineExpr::dim(ctx, position(&mut self.dims, value))
    }

    fn symbol(&mut self, ctx: &Context, value: Value) -> AffineExpr {
        AffineExpr::symbol(ctx, position(&mut self.symbols, value))
    }
}

/// Returns the operations of a block that can be raised, in order.
pub(super) fn plans(body: &Body, block: Block) -> Vec<(Op, Plan)> {
    let is_candidate = |op: &Op| CANDIDATES.iter().any(|def| body.is(*op, def));
    let candidates: Vec<Op> = body.ops(block).filter(is_candidate).collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    let mut forms = Forms::new(body, block);
    let plan = |op: Op| Some((op, Planner { body, forms: &mut forms, op }.plan()?));
    candidates.into_iter().filter_map(plan).collect()
}

const CANDIDATES: [&OpDef; 5] =
    [scf::ForOp::DEF, scf::ParallelOp::DEF, scf::IfOp::DEF, memref::LoadOp::DEF, memref::StoreOp::DEF];

/// Plans one operation.
struct Planner<'p, 'b> {
    body: &'b Body,
    forms: &'p mut Forms<'b>,
    op: Op,
}

impl Planner<'_, '_> {
    fn plan(&mut self) -> Option<Plan> {
        let (body, op) = (self.body, self.op);
        if body.is(op, scf::ForOp::DEF) {
            let [lower, upper, step] = [0, 1, 2].map(|at| body.operand(op, at));
            let counts_so = body.value_type(lower).is_index() && body.attr(op, "unsignedCmp").is_none();
            return counts_so.then(|| self.bounds(lower, upper, step))?.map(Plan::For);
        }
        if body.is(op, scf::ParallelOp::DEF) {
            return self.dimensions().map(Plan::Parallel);
        }
        if body.is(op, scf::IfOp::DEF) {
            return self.condition().map(Plan::If);
        }
        let is_hinted = body.attr(op, "nontemporal").and_then(|hint| hint.as_int(body.ctx())) == Some(1);
        let memref = if body.is(op, memref::LoadOp::DEF) { 0 } else { 1 };
        if is_hinted { None } else { self.subscripts(memref).map(Plan::Access) }
    }

    fn dimensions(&mut self) -> Option<Vec<Bounds>> {
        let view = self.body.op_ref(self.op);
        let [lower, upper, step, inits] =
            ["lowerBound", "upperBound", "step", "initVals"].map(|group| view.operand_group(group));
        if !inits.is_empty() || self.body.num_results(self.op) > 0 {
            return None;
        }
        let all = lower.iter().zip(&upper).zip(&step);
        all.map(|((lower, upper), step)| self.bounds(*lower, *upper, *step)).collect()
    }

    fn bounds(&mut self, lower: Value, upper: Value, step: Value) -> Option<Bounds> {
        let step = constant_of(self.body, step)?.as_int(self.body.ctx()).filter(|step| *step > 0)?;
        let lower = self.bound(lower, arith::MaxSIOp::DEF, affine::MaxOp::DEF)?;
        let upper = self.bound(upper, arith::MinSIOp::DEF, affine::MinOp::DEF)?;
        Some(Bounds { lower, upper, step })
    }

    /// Returns a bound, the result of some operations that choose the greatest or the least value.
    fn bound(&mut self, value: Value, of_two: &'static OpDef, of_map: &'static OpDef) -> Option<Map> {
        let body = self.body;
        let mut map = Map::default();
        let mut pending = vec![value];
        while let Some(value) = pending.pop() {
            let op = body.defining_op(value);
            if let Some(op) = op.filter(|op| body.is(*op, of_two)) {
                pending.extend([1, 0].map(|at| body.operand(op, at)));
            } else if let Some(op) = op.filter(|op| body.is(*op, of_map)) {
                let results = body.attr(op, "map")?.as_affine_map(body.ctx())?;
                let of = Subscripts { map: results, operands: body.operands(op).collect() };
                for form in self.forms.of_subscripts(&of) {
                    self.add(&mut map, &form?, Some(ALL))?;
                }
            } else {
                self.add_value(&mut map, value, ALL)?;
            }
            if map.results.len() + pending.len() > MAX_BOUNDS {
                return None;
            }
        }
        Some(map)
    }

    fn condition(&mut self) -> Option<Map> {
        let decision = Decision::Value(self.body.operand(self.op, 0));
        let holds = self.forms.of_decision(&decision).outcome(true).clone();
        if !holds.exact || holds.constraints.is_empty() {
            return None;
        }
        let mut map = Map::default();
        let mut left = &holds.constraints[..];
        while let Some((form, others)) = left.split_first() {
            let is_equality = others.first().is_some_and(|next| form.times(-1).as_ref() == Some(next));
            self.add(&mut map, form, None)?;
            map.equalities.push(is_equality);
            left = &others[usize::from(is_equality)..];
        }
        Some(map)
    }

    /// Returns the subscripts of an access, whose memref is operand number `memref`.
    fn subscripts(&mut self, memref: usize) -> Option<Map> {
        let body = self.body;
        let TypeKind::MemRef { shape: Some(shape), .. } =
            body.value_type(body.operand(self.op, memref)).kind(body.ctx())
        else {
            return None;
        };
        let mut map = Map::default();
        for (size, value) in shape.iter().zip(body.operands(self.op).skip(memref + 1)) {
            let most = if *size == DYNAMIC { ALL.1 - 1 } else { i128::from(*size) - 1 };
            self.add_value(&mut map, value, (0, most))?;
        }
        Some(map)
    }

    /// Adds a value in a range to the results of a map: its form, or else itself.
    fn add_value(&mut self, map: &mut Map, value: Value, range: Range) -> Option<()> {
        let form = self.forms.of(value);
        if let Some(form) = form
            && self.add(map, &form, Some(range)).is_some()
        {
            return Some(());
        }
        self.add(map, &AffineForm::atom(Atom::Param(value)), Some(range))
    }

    /// Adds a form to the results of a map. With a `value`, the form is in this range.
    fn add(&mut self, map: &mut Map, form: &AffineForm, value: Option<Range>) -> Option<()> {
        let before = (map.dims.len(), map.symbols.len());
        let ctx = self.body.ctx().clone();
        let mut of_map = OfMap { map, planner: self };
        match expression(&ctx, form, value, &mut of_map) {
            Ok(result) => {
                map.results.push(result);
                Some(())
            }
            Err(Refused) => {
                map.dims.truncate(before.0);
                map.symbols.truncate(before.1);
                None
            }
        }
    }
}

/// No expression is possible.
struct Refused;

/// The operands of a map of a planned operation.
struct OfMap<'m, 'p, 'q, 'b> {
    map: &'m mut Map,
    planner: &'p mut Planner<'q, 'b>,
}

impl Operands for OfMap<'_, '_, '_, '_> {
    type Refusal = Refused;
    const NO_OPERAND: Refused = Refused;
    const MAY_WRAP: Refused = Refused;

    fn range(&mut self, form: &AffineForm) -> Range {
        self.planner.forms.range_of_form_over_values(form)
    }

    fn operand(&mut self, value: Value) -> Result<AffineExpr, Refused> {
        let body = self.planner.body;
        let (user, ctx) = (body.op_ref(self.planner.op), body.ctx());
        if body.value_type(value) != Type::INDEX {
            return Err(Refused);
        }
        match () {
            () if is_valid_symbol(user, value) => Ok(self.map.symbol(ctx, value)),
            () if is_valid_dim(user, value) => Ok(self.map.dim(ctx, value)),
            () => Err(Refused),
        }
    }
}
