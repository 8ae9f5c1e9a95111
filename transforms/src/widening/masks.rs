//! Masks: conditions that differ from lane to lane.
//!
//! ```text
//!     if %k {                      %any = vector.reduction <or>, %mask
//!       %x = load %a[%i]     =>    scf.if %any {
//!       store %x, %b[%i] }           %x = vector.maskedload %a[%i], %mask, …
//!                                    vector.maskedstore %b[%i], %mask, %x }
//! ```
//!
//! The mask of a side has the lanes that run the side. Operations that are always defined are
//! executed for all lanes. A load or store touches the elements of the mask. A division by
//! a lane that does not run divides by one. What a condition yields is selected, so a lane never
//! uses what another side computes for it, which may be poison.
//!
//! A side with anything else than operations that are always defined runs if any lane runs it.
//! Then what is the same for all lanes may be executed once, as it is executed by one of them.
//!
//! **Assumptions.**
//! - A mask inside of another one is false where the outer one is, whatever the inner condition is.
//!   Masks are never poison, unless a lane that runs branches on poison. Tried with
//!   `fixtures/vectorize/masks.mlir`.
//! - An element that is switched off need not exist. The place of the first lane's element is
//!   computed with sums that wrap, as this lane need not run. Tried with
//!   `fixtures/vectorize/masks.mlir`.
//!
//! **Cost.** Linear in the operations, times the lanes for accesses that are not neighbours.
//!
//! # Limits
//!
//! - Conditions of `scf.if` and `affine.if` become masks.
//! - Of operations that may be undefined, divisions of integers with at least two bits do.

use loomir_dialects::interfaces::{Access, MemoryEffects, is_speculatable};
use loomir_dialects::{affine, arith, scf, ub, vector};
use loomir_ir::opdef::OpDef;
use loomir_ir::{AffineExpr, AffineExprKind, AttrKind, Block, Op, OpRef, Region, Type, Value};

use super::Role;
use super::write::{WRAPPING, Writer, index};

/// Divisions that are defined for all dividends if the divisor is one.
const DIVISIONS: [&OpDef; 7] = [
    arith::DivUIOp::DEF,
    arith::DivSIOp::DEF,
    arith::CeilDivUIOp::DEF,
    arith::CeilDivSIOp::DEF,
    arith::FloorDivSIOp::DEF,
    arith::RemUIOp::DEF,
    arith::RemSIOp::DEF,
];

/// True if a condition can become a mask.
pub(super) fn is_mask(op: OpRef<'_>) -> bool {
    let is_known = [scf::IfOp::DEF, affine::IfOp::DEF].iter().any(|def| op.body().is(op.op(), def));
    // The condition of a lane that does not run is computed too.
    let effects = op.info().interface::<dyn MemoryEffects>();
    is_known && effects.is_none_or(|model| !model.may_be_undefined(op))
}

/// True if an operation can be made to be defined in lanes that do not run.
pub(super) fn is_safe(op: OpRef<'_>) -> bool {
    is_speculatable(op) || is_division(op) && op.operand_type(1).integer_width(op.ctx()) != Some(1)
}

fn is_division(op: OpRef<'_>) -> bool {
    DIVISIONS.iter().any(|def| op.body().is(op.op(), def))
}

impl Writer<'_> {
    /// Writes a condition that differs from lane to lane. Recurses once for each region; verified
    /// programs bound their nesting.
    pub(super) fn masked(&mut self, op: Op) {
        let condition = self.condition(op);
        let regions: Vec<Region> = self.body.own_regions(op).collect();
        let mut sides = Vec::new();
        for (number, region) in regions.into_iter().enumerate() {
            let Some(block) = self.body.entry_block(region) else { continue };
            sides.push(match self.is_free(block) {
                true => self.yielded_by(op, block),
                false => {
                    let mask = self.mask_of_side(op, condition, number == 0);
                    self.side(op, block, mask)
                }
            });
        }
        let [first, second] = &sides[..] else { return };
        let results: Vec<Value> = self.body.results(op).collect();
        for ((result, a), b) in results.into_iter().zip(first).zip(second) {
            let chosen = self.compute(op, arith::SelectOp::DEF, &[condition, *a, *b]);
            self.wide.insert(result, chosen);
        }
    }

    /// True if all of a block is always defined, and touches no memory. Recurses once for each
    /// region.
    fn is_free(&mut self, block: Block) -> bool {
        let end = self.body.terminator(block);
        let ops: Vec<Op> = self.body.ops(block).filter(|op| Some(*op) != end).collect();
        ops.into_iter().all(|op| {
            if self.body.own_regions(op).next().is_none() {
                return is_speculatable(self.body.op_ref(op));
            }
            let regions = self.body.own_regions(op);
            let blocks: Vec<Block> = regions.filter_map(|own| self.body.entry_block(own)).collect();
            matches!(self.role(op), Ok(Role::Masked)) && blocks.into_iter().all(|own| self.is_free(own))
        })
    }

    /// Returns the condition of each lane.
    fn condition(&mut self, op: Op) -> Value {
        let set = self.body.attr(op, "condition").map(|own| own.kind(self.body.ctx()).clone());
        let Some(AttrKind::IntegerSet(set)) = set else { return self.wide(op, self.body.operand(op, 0)) };
        let operands: Vec<Value> = self.body.operands(op).collect();
        let operands: Vec<Value> = operands.into_iter().map(|own| self.wide(op, own)).collect();
        let ty = self.vector(Type::INDEX);
        let zero = self.number(op, 0, ty);
        let (ctx, mut all) = (self.body.ctx().clone(), None);
        let data = set.data(&ctx);
        for (expr, is_equality) in &data.constraints {
            let value = self.expanded(op, *expr, (data.dims, &operands), ty);
            let own = self.compare(op, if *is_equality { "eq" } else { "sge" }, [value, zero]);
            all = Some(match all {
                Some(all) => self.compute(op, arith::AndIOp::DEF, &[all, own]),
                None => own,
            });
        }
        all.unwrap_or_else(|| self.compare(op, "eq", [zero, zero]))
    }

    /// Returns the lanes that run a side of a condition.
    fn mask_of_side(&mut self, op: Op, condition: Value, holds: bool) -> Value {
        let ty = self.vector(Type::I1);
        let own = match holds {
            true => condition,
            false => {
                let yes = self.bits(op, true, ty);
                self.compute(op, arith::XOrIOp::DEF, &[condition, yes])
            }
        };
        let Some(around) = self.mask else { return own };
        // The condition of a lane that does not run may be poison.
        let no = self.bits(op, false, ty);
        self.compute(op, arith::SelectOp::DEF, &[around, own, no])
    }

    /// Writes a side that runs if any lane runs it. Returns the vectors of what it yields.
    fn side(&mut self, op: Op, block: Block, mask: Value) -> Vec<Value> {
        let mut builder = self.builder(op);
        let ctx = builder.ctx();
        let kind = vector::COMBINING_KIND.attr(&ctx, vector::COMBINING_KIND.value_of("or").unwrap_or(0));
        let state = builder.state(vector::ReductionOp::DEF).operands(&[mask]).results(&[Type::I1]);
        let any = builder.value(state.attr(&ctx, "kind", kind));
        let types: Vec<Type> = self.body.results(op).map(|own| self.body.value_type(own)).collect();
        let types: Vec<Type> = types.into_iter().map(|own| self.vector(own)).collect();
        self.if_any(op, any, &types, |writer| {
            let around = writer.mask.replace(mask);
            let yielded = writer.yielded_by(op, block);
            writer.mask = around;
            yielded
        })
    }

    /// Writes the load or store of a lane, if the lane runs. Returns the loaded element.
    pub(super) fn if_it_runs(&mut self, op: Op, mask: Value, lane: usize) -> Option<Value> {
        let runs = self.element(op, mask, lane);
        let types: Vec<Type> = self.body.results(op).map(|own| self.body.value_type(own)).collect();
        let loaded = |writer: &mut Self| writer.access_of_lane(op, lane).into_iter().collect();
        self.if_any(op, runs, &types, loaded).into_iter().next()
    }

    /// Writes an `scf.if` around operations. Its results are poison if they do not run.
    fn if_any(
        &mut self,
        op: Op,
        condition: Value,
        types: &[Type],
        write: impl FnOnce(&mut Self) -> Vec<Value>,
    ) -> Vec<Value> {
        let mut builder = self.builder(op);
        let state = builder.state(scf::IfOp::DEF).operands(&[condition]).results(types).regions(2);
        let new = builder.insert(state);
        let [then, other] = [0, 1].map(|at| self.body.region(new, at));
        let block = self.body.append_block(then, &[]);
        self.within(block, |writer| {
            let yielded = write(writer);
            writer.yields(op, &yielded);
        });
        if !types.is_empty() {
            let block = self.body.append_block(other, &[]);
            self.within(block, |writer| {
                let nothing: Vec<Value> = types.iter().map(|ty| writer.poison(op, *ty)).collect();
                writer.yields(op, &nothing);
            });
        }
        self.body.results(new).collect()
    }

    fn yields(&mut self, op: Op, values: &[Value]) {
        let mut builder = self.builder(op);
        let state = builder.state(scf::YieldOp::DEF).operands(values);
        builder.insert(state);
    }

    /// Writes a load or store of the neighbours that the mask switches on.
    pub(super) fn masked_access(&mut self, op: Op, access: &Access, mask: Value) {
        let mut all = vec![self.same.value(access.memref)];
        all.extend(match self.first_runs() {
            true => self.subscripts(op, access),
            false => self.wrapping_subscripts(op, access),
        });
        all.push(mask);
        self.access_by((vector::MaskedLoadOp::DEF, vector::MaskedStoreOp::DEF), op, access, all);
    }

    /// Writes an access as one of two operations on vectors, a load and a store. Both take these
    /// operands, and then what lanes that do not run get, or what is stored.
    pub(super) fn access_by(
        &mut self,
        (load, store): (&'static OpDef, &'static OpDef),
        op: Op,
        access: &Access,
        mut operands: Vec<Value>,
    ) {
        if let Some(stored) = access.stored {
            operands.push(self.wide(op, stored));
            let mut builder = self.builder(op);
            let state = builder.state(store).operands(&operands);
            builder.insert(state);
        } else if let Some(result) = self.body.results(op).next() {
            let ty = self.vector(self.body.value_type(result));
            operands.push(self.poison(op, ty));
            let mut builder = self.builder(op);
            let state = builder.state(load).operands(&operands).results(&[ty]);
            let new = builder.value(state);
            self.wide.insert(result, new);
        }
    }

    /// Returns the subscripts of the first lane's element, which need not exist.
    fn wrapping_subscripts(&mut self, op: Op, access: &Access) -> Vec<Value> {
        let ctx = self.body.ctx().clone();
        let operands = access.subscripts.operands.to_vec();
        let operands: Vec<Value> = operands.into_iter().map(|own| self.first_of(op, own)).collect();
        let (map, dims) = (access.subscripts.map, access.subscripts.map.data(&ctx).dims);
        let expanded = |expr: &AffineExpr| self.expanded(op, *expr, (dims, &operands), Type::INDEX);
        map.results(&ctx).iter().map(expanded).collect()
    }

    /// Returns an index of the first lane, as a sum that wraps. Recurses once for each operation
    /// that computes it.
    fn first_of(&mut self, op: Op, value: Value) -> Value {
        if value == self.variable {
            return self.of_lane(op, value, 0);
        }
        let by = self.body.defining_op(value).filter(|_| self.varies(value));
        let Some(by) = by else { return self.same.value(value) };
        if let Some(own) = self.copies.get(&(value, WRAPPING)) {
            return *own;
        }
        let operands: Vec<Value> = self.body.operands(by).collect();
        let operands: Vec<Value> = operands.into_iter().map(|own| self.first_of(op, own)).collect();
        let ctx = self.body.ctx().clone();
        let map = self.body.attr(by, "map").and_then(|own| own.as_affine_map(&ctx));
        let own = match map.and_then(|map| Some((map, *map.results(&ctx).first()?))) {
            Some((map, expr)) => self.expanded(op, expr, (map.data(&ctx).dims, &operands), Type::INDEX),
            None => {
                let is_sum = self.body.is(by, arith::AddIOp::DEF);
                let def = if is_sum { arith::AddIOp::DEF } else { arith::SubIOp::DEF };
                self.compute(op, def, &operands)
            }
        };
        self.copies.insert((value, WRAPPING), own);
        own
    }

    /// Makes an operation that may be undefined defined in lanes that do not run.
    pub(super) fn make_defined(&mut self, op: Op, operands: &mut [Value]) {
        let Some(mask) = self.mask else { return };
        let view = self.body.op_ref(op);
        if let [_, divisor] = operands
            && !is_speculatable(view)
            && is_division(view)
        {
            let ty = self.body.value_type(*divisor);
            let one = self.constant_of(op, 1, ty);
            *divisor = self.compute(op, arith::SelectOp::DEF, &[mask, *divisor, one]);
        }
    }

    /// Writes an expression of indices, or of vectors of them, with sums that wrap. Recurses once
    /// for each operator of the expression.
    pub(super) fn expanded(&mut self, op: Op, expr: AffineExpr, values: (u32, &[Value]), ty: Type) -> Value {
        let ctx = self.body.ctx().clone();
        let (dims, operands) = values;
        let (def, a, b) = match expr.kind(&ctx) {
            AffineExprKind::Dim(at) => return operands[at as usize],
            AffineExprKind::Symbol(at) => return operands[(dims + at) as usize],
            AffineExprKind::Constant(number) => return self.number(op, number, ty),
            AffineExprKind::Add(a, b) => (arith::AddIOp::DEF, a, b),
            AffineExprKind::Mul(a, b) => (arith::MulIOp::DEF, a, b),
            AffineExprKind::FloorDiv(a, b) => (arith::FloorDivSIOp::DEF, a, b),
            AffineExprKind::CeilDiv(a, b) => (arith::CeilDivSIOp::DEF, a, b),
            AffineExprKind::Mod(a, b) => {
                let a = self.expanded(op, a, values, ty);
                let b = self.expanded(op, b, values, ty);
                let whole = self.compute(op, arith::FloorDivSIOp::DEF, &[a, b]);
                let whole = self.compute(op, arith::MulIOp::DEF, &[whole, b]);
                return self.compute(op, arith::SubIOp::DEF, &[a, whole]);
            }
        };
        let a = self.expanded(op, a, values, ty);
        let b = self.expanded(op, b, values, ty);
        self.compute(op, def, &[a, b])
    }

    pub(super) fn compute(&mut self, op: Op, def: &'static OpDef, operands: &[Value]) -> Value {
        let ty = self.body.value_type(*operands.last().unwrap_or(&operands[0]));
        let mut builder = self.builder(op);
        let state = builder.state(def).operands(operands).results(&[ty]);
        builder.value(state)
    }

    pub(super) fn compare(&mut self, op: Op, predicate: &str, operands: [Value; 2]) -> Value {
        let ty = self.vector(Type::I1);
        let mut builder = self.builder(op);
        let ctx = builder.ctx();
        let predicate =
            arith::CMPI_PREDICATE.attr(&ctx, arith::CMPI_PREDICATE.value_of(predicate).unwrap_or(0));
        let state = builder.state(arith::CmpIOp::DEF).operands(&operands).results(&[ty]);
        builder.value(state.attr(&ctx, "predicate", predicate))
    }

    /// Writes an index, in all places of a vector type.
    fn number(&mut self, op: Op, number: i64, ty: Type) -> Value {
        let number = index(&mut self.builder(op), number);
        if ty == Type::INDEX { number } else { self.spread(op, number, ty) }
    }

    /// Writes the mask in which all lanes run.
    pub(super) fn all_lanes(&mut self, op: Op) -> Value {
        let ty = self.vector(Type::I1);
        self.bits(op, true, ty)
    }

    /// Writes a vector of equal bits.
    fn bits(&mut self, op: Op, bit: bool, ty: Type) -> Value {
        self.constant_of(op, i128::from(bit), ty)
    }

    /// Writes a vector of equal integers.
    fn constant_of(&mut self, op: Op, number: i128, ty: Type) -> Value {
        let element = ty.scalar(self.body.ctx());
        let mut builder = self.builder(op);
        let ctx = builder.ctx();
        let state = builder.state(arith::ConstantOp::DEF).results(&[element]);
        let number = builder.value(state.attr(&ctx, "value", ctx.int_attr(element, number)));
        self.spread(op, number, ty)
    }

    pub(super) fn spread(&mut self, op: Op, value: Value, ty: Type) -> Value {
        let mut builder = self.builder(op);
        let state = builder.state(vector::BroadcastOp::DEF).operands(&[value]).results(&[ty]);
        builder.value(state)
    }

    pub(super) fn poison(&mut self, op: Op, ty: Type) -> Value {
        let mut builder = self.builder(op);
        let ctx = builder.ctx();
        let state = builder.state(ub::PoisonOp::DEF).results(&[ty]);
        builder.value(state.attr(&ctx, "value", ub::poison_attr(&ctx)))
    }
}
