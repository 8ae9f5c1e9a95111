//! Writing operations on vectors.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interfaces::{Access, Bound, LoopLike, ParallelLike, Step, Subscripts};
use loomir_dialects::{affine, arith, vector};
use loomir_ir::{
    AffineExpr, AffineExprKind, AffineMap, AttrKind, Block, Body, Builder, InsertPoint, Mapping, Op,
    OperationState, Trait, Type, TypeKind, Value,
};

use super::lanes::Numbers;
use super::{Gathers, Role, Values, is_loop, num_bounds, steps, varying};
use crate::access::updates::Combined;

/// Replaces a parallel loop of one dimension with so many iterations, or at most so many if it is
/// masked, by operations on vectors. Returns false, and leaves it, if it is no such loop.
pub(super) fn widen(body: &mut Body, op: Op, (lanes, is_masked): (usize, bool), gathers: Gathers) -> bool {
    let Some(Loop { block, first, step, end }) = Loop::of(body, op) else { return false };
    let variable = body.argument(block, 0);
    let Ok(varying) = varying(body, block, variable, is_masked) else { return false };
    let Ok(steps) = steps(body, block) else { return false };
    let numbers = Numbers::of(body, op, (variable, step), varying);
    let (same, at) = (Mapping::default(), InsertPoint::Before(op));
    let (wide, copies) = (HashMap::new(), HashMap::new());
    let mut writer = Writer {
        body,
        op,
        variable,
        first,
        step,
        lanes,
        numbers,
        same,
        wide,
        copies,
        steps,
        gathers,
        last_block: None,
        mask: None,
        at,
    };
    if is_masked {
        writer.begin_masked(&end);
    }
    writer.ops(block);
    let bounds: HashSet<Op> = body.operands(op).filter_map(|own| body.defining_op(own)).collect();
    body.erase(op);
    let is_unused = |body: &Body, op: Op| {
        body.has_trait(op, Trait::Pure) && body.results(op).all(|own| body.uses(own).next().is_none())
    };
    // They are in no order, and independent: the result is always the same.
    let unused: Vec<Op> = bounds.into_iter().filter(|own| is_unused(body, *own)).collect();
    unused.into_iter().for_each(|own| body.erase(own));
    true
}

/// A parallel loop whose iterations are lanes.
struct Loop {
    block: Block,
    /// The first value of its variable.
    first: First,
    /// The difference of the next value from it.
    step: i64,
    /// The first value that is not reached.
    end: Bound,
}

/// The first value of a variable.
#[derive(Clone)]
enum First {
    Number(i64),
    /// A map with one result, and its operands.
    Map(AffineMap, Vec<Value>),
    Value(Value),
}

impl Loop {
    fn of(body: &Body, op: Op) -> Option<Loop> {
        let view = body.op_ref(op);
        let ctx = body.ctx();
        let (inside, dimensions) = match view.info().interface::<dyn ParallelLike>() {
            Some(model) => (model.body(view), model.dimensions(view)),
            // Only a parallel loop cannot carry values.
            None => {
                let model = view.info().interface::<dyn LoopLike>()?;
                (model.body(view), vec![model.bounds(view)])
            }
        };
        let block = body.entry_block(inside)?;
        let [bounds] = &dimensions[..] else { return None };
        let step = match bounds.step {
            Step::Constant(step) => step,
            Step::Value(step) => constant(body, step)?,
        };
        let first = match &bounds.lower {
            Bound::Map(lower) => match lower.map.results(ctx) {
                [only] => match only.as_constant(ctx) {
                    Some(number) => First::Number(number),
                    None => First::Map(lower.map, lower.operands.to_vec()),
                },
                _ => return None,
            },
            Bound::Value(lower) => First::Value(*lower),
        };
        let end = bounds.upper.clone();
        let is_plain = step > 0 && body.num_arguments(block) == 1 + body.num_results(op);
        is_plain.then_some(Loop { block, first, step, end })
    }
}

/// Returns the number that a value always is.
fn constant(body: &Body, value: Value) -> Option<i64> {
    let op = body.defining_op(value).filter(|op| body.is(*op, arith::ConstantOp::DEF))?;
    body.attr(op, "value").and_then(|own| own.as_int(body.ctx()))
}

/// Stands for the first lane in the values of lanes: sums that wrap, so that they are right for the
/// lanes that run.
pub(super) const WRAPPING: usize = usize::MAX;

/// Stands for all lanes in the values of lanes: a vector of indices.
pub(super) const IN_VECTOR: usize = WRAPPING - 1;

/// The state of writing.
pub(super) struct Writer<'b> {
    pub(super) body: &'b mut Body,
    /// The loop.
    pub(super) op: Op,
    pub(super) variable: Value,
    first: First,
    pub(super) step: i64,
    pub(super) lanes: usize,
    pub(super) numbers: Numbers,
    /// The copies of what is the same for all lanes.
    pub(super) same: Mapping,
    /// The vectors of what differs.
    pub(super) wide: HashMap<Value, Value>,
    /// The values of single lanes in the block that is written.
    pub(super) copies: HashMap<(Value, usize), Value>,
    /// The steps of reductions.
    steps: HashMap<Op, Combined>,
    /// The accesses that are gathers and scatters.
    pub(super) gathers: Gathers,
    /// The lanes that have an iteration, if there may be fewer iterations than lanes.
    pub(super) last_block: Option<Value>,
    /// The lanes that run, if they need not all run.
    pub(super) mask: Option<Value>,
    pub(super) at: InsertPoint,
}

impl Writer<'_> {
    pub(super) fn varies(&self, value: Value) -> bool {
        self.numbers.varying.contains(&value)
    }

    /// Writes the operations of a block, but for its terminator. Recurses once for each region;
    /// verified programs bound their nesting.
    pub(super) fn ops(&mut self, block: Block) {
        let end = self.body.terminator(block);
        let ops: Vec<Op> = self.body.ops(block).filter(|op| Some(*op) != end).collect();
        for op in ops {
            match self.role(op) {
                Ok(Role::Same) => {
                    let copy = self.body.copy_op(op, &mut self.same);
                    Builder::new(self.body, self.at).place(copy);
                }
                Ok(Role::Wide) => self.widened(op),
                Ok(Role::Access(access)) => self.access(op, &access),
                Ok(Role::Around) => self.around(op),
                Ok(Role::Masked) => self.masked(op),
                Ok(Role::Step(own)) => self.step(&own),
                Ok(Role::PerLane) | Err(_) => {}
            }
        }
    }

    /// Returns the role of an operation.
    pub(super) fn role(&mut self, op: Op) -> Result<Role, &'static str> {
        let varying = std::mem::take(&mut self.numbers.varying);
        let steps = std::mem::take(&mut self.steps);
        let (depths, is_masked) = (HashMap::new(), self.mask.is_some());
        let values = Values { body: self.body, varying, depths, steps, is_masked };
        let role = values.role(op);
        (self.numbers.varying, self.steps) = (values.varying, values.steps);
        role
    }

    pub(super) fn builder(&mut self, op: Op) -> Builder<'_> {
        let loc = self.body.loc(op);
        let mut builder = Builder::new(self.body, self.at);
        builder.set_loc(loc);
        builder
    }

    /// Returns the type of a vector of elements of a type.
    pub(super) fn vector(&self, element: Type) -> Type {
        let shape = vec![self.lanes as i64].into();
        self.body.ctx().ty(TypeKind::Vector { shape, scalable: vec![false].into(), element })
    }

    /// Writes an operation that computes each element by itself.
    fn widened(&mut self, op: Op) {
        let operands: Vec<Value> = self.body.operands(op).collect();
        let mut operands: Vec<Value> = operands.into_iter().map(|own| self.wide(op, own)).collect();
        self.make_defined(op, &mut operands);
        let types: Vec<Type> = self.body.results(op).map(|own| self.body.value_type(own)).collect();
        let mut state = OperationState::named(self.body.op_name(op), self.body.loc(op)).operands(&operands);
        state.result_types = types.into_iter().map(|own| self.vector(own)).collect();
        (state.properties, state.attributes) = (self.body.properties(op), self.body.attributes(op));
        let new = self.builder(op).insert(state);
        let pairs: Vec<(Value, Value)> = self.body.results(op).zip(self.body.results(new)).collect();
        self.wide.extend(pairs);
    }

    /// Returns the vector of a value for an operation.
    pub(super) fn wide(&mut self, op: Op, value: Value) -> Value {
        if let Some(own) = self.wide.get(&value) {
            return *own;
        }
        let ty = self.vector(self.body.value_type(value));
        if !self.varies(value) {
            let scalar = self.same.value(value);
            let mut builder = self.builder(op);
            let state = builder.state(vector::BroadcastOp::DEF).operands(&[scalar]).results(&[ty]);
            return builder.value(state);
        }
        if value == self.variable {
            return self.numbers(op, ty);
        }
        let elements: Vec<Value> = (0..self.lanes).map(|lane| self.of_lane(op, value, lane)).collect();
        self.gathered(op, &elements, ty)
    }

    /// Returns the variable of the loop in all lanes.
    fn numbers(&mut self, op: Op, ty: Type) -> Value {
        let (first, step) = (self.of_lane(op, self.variable, 0), self.step);
        let mut builder = self.builder(op);
        let ctx = builder.ctx();
        let state = builder.state(vector::StepOp::DEF).results(&[ty]);
        let mut lanes = builder.value(state);
        let spread = |builder: &mut Builder<'_>, value: Value| {
            let state = builder.state(vector::BroadcastOp::DEF).operands(&[value]).results(&[ty]);
            builder.value(state)
        };
        if step != 1 {
            let number = index(&mut builder, step);
            let number = spread(&mut builder, number);
            let state = builder.state(arith::MulIOp::DEF).operands(&[lanes, number]).results(&[ty]);
            lanes = builder.value(state);
        }
        let first = spread(&mut builder, first);
        let mut state = builder.state(arith::AddIOp::DEF).operands(&[first, lanes]).results(&[ty]);
        state.set_defaults(&ctx);
        builder.value(state)
    }

    /// Returns a vector of elements.
    fn gathered(&mut self, op: Op, elements: &[Value], ty: Type) -> Value {
        let mut builder = self.builder(op);
        let state = builder.state(vector::FromElementsOp::DEF).operands(elements).results(&[ty]);
        builder.value(state)
    }

    /// Returns the value of a lane for an operation. Each is computed once in a block.
    pub(super) fn of_lane(&mut self, op: Op, value: Value, lane: usize) -> Value {
        if let Some(own) = self.copies.get(&(value, lane)) {
            return *own;
        }
        let own = self.made_of_lane(op, value, lane);
        self.copies.insert((value, lane), own);
        own
    }

    /// Writes the value of a lane. Recurses once for each operation that computes it.
    fn made_of_lane(&mut self, op: Op, value: Value, lane: usize) -> Value {
        if value == self.variable {
            return self.number_of_lane(op, lane);
        }
        if !self.varies(value) {
            return self.same.value(value);
        }
        let by = self.body.defining_op(value);
        let is_cheap = self.numbers.is_computed(value) || !self.wide.contains_key(&value);
        let Some(by) = by.filter(|_| is_cheap) else {
            return self.extracted(op, value, lane);
        };
        let mut mapping = Mapping::default();
        let operands: Vec<Value> = self.body.operands(by).collect();
        for own in operands {
            let copy = self.of_lane(op, own, lane);
            mapping.map(own, copy);
        }
        let copy = self.body.copy_op(by, &mut mapping);
        Builder::new(self.body, self.at).place(copy);
        mapping.value(value)
    }

    /// Returns the element of a lane of a value's vector.
    fn extracted(&mut self, op: Op, value: Value, lane: usize) -> Value {
        let from = self.wide(op, value);
        self.element(op, from, lane)
    }

    /// Returns an element of a vector that is written.
    pub(super) fn element(&mut self, op: Op, from: Value, lane: usize) -> Value {
        let element = self.body.value_type(from).scalar(self.body.ctx());
        let mut builder = self.builder(op);
        let ctx = builder.ctx();
        let place = ctx.dense_ints_attr(Type::I64, &[lane as i64]);
        let state = builder.state(vector::ExtractOp::DEF).operands(&[from]).results(&[element]);
        builder.value(state.attr(&ctx, "static_position", place))
    }

    /// Returns the variable of the loop in a lane.
    fn number_of_lane(&mut self, op: Op, lane: usize) -> Value {
        let (first, ahead) = (self.first.clone(), self.step.wrapping_mul(lane as i64));
        let mut builder = self.builder(op);
        let ctx = builder.ctx();
        match first {
            First::Number(number) => index(&mut builder, number.wrapping_add(ahead)),
            First::Value(value) if lane == 0 => value,
            First::Map(map, operands) => {
                let data = map.data(&ctx);
                let number = AffineExpr::constant(&ctx, ahead);
                let sum = map.results(&ctx)[0].add(&ctx, number);
                let map = AffineMap::new(&ctx, data.dims, data.symbols, &[sum]);
                applied(&mut builder, map, &operands)
            }
            First::Value(value) => {
                let number = index(&mut builder, ahead);
                let state = builder.state(arith::AddIOp::DEF).operands(&[value, number]);
                builder.value(state.results(&[Type::INDEX]))
            }
        }
    }

    /// Writes a load or store of an element of each lane.
    fn access(&mut self, op: Op, access: &Access) {
        let result = self.body.results(op).next();
        let are_neighbours = self.numbers.are_neighbours(self.body, access)
            && (self.first_runs() || self.numbers.are_sums(self.body, access));
        match self.mask {
            _ if !are_neighbours && self.is_gathered(access) => return self.gather(op, access),
            _ if !are_neighbours => return self.one_by_one(op, access),
            Some(mask) => return self.masked_access(op, access, mask),
            None => {}
        }
        let places = self.subscripts(op, access);
        let memref = self.same.value(access.memref);
        let stored = access.stored.map(|own| self.wide(op, own));
        let ty = result.map(|own| self.vector(self.body.value_type(own)));
        let mut builder = self.builder(op);
        match (stored, ty) {
            (Some(stored), _) => {
                let state = builder.state(vector::StoreOp::DEF).operands(&[stored, memref]);
                builder.insert(state.operands(&places));
            }
            (None, Some(ty)) => {
                let state = builder.state(vector::LoadOp::DEF).operands(&[memref]).operands(&places);
                let new = builder.value(state.results(&[ty]));
                self.wide.extend(result.map(|own| (own, new)));
            }
            (None, None) => {}
        }
    }

    /// Returns the subscripts of the first lane's element.
    pub(super) fn subscripts(&mut self, op: Op, access: &Access) -> Vec<Value> {
        let ctx = self.body.ctx().clone();
        let map = access.subscripts.map;
        let operands: Vec<Value> =
            access.subscripts.operands.iter().map(|own| self.of_lane(op, *own, 0)).collect();
        map.results(&ctx).iter().map(|own| self.subscript(op, map, *own, &operands)).collect()
    }

    /// Returns the value of a result of a map.
    pub(super) fn subscript(
        &mut self,
        op: Op,
        map: AffineMap,
        expr: AffineExpr,
        operands: &[Value],
    ) -> Value {
        let ctx = self.body.ctx().clone();
        let data = map.data(&ctx);
        let map = AffineMap::new(&ctx, data.dims, data.symbols, &[expr]);
        let one = Subscripts { map, operands: operands.into() }.without_unused(&ctx);
        applied(&mut self.builder(op), one.map, &one.operands)
    }

    /// Writes an access as one for each lane.
    fn one_by_one(&mut self, op: Op, access: &Access) {
        let mut loaded = Vec::new();
        for lane in 0..self.lanes {
            loaded.extend(match self.mask.filter(|_| lane > 0 || !self.first_runs()) {
                Some(mask) => self.if_it_runs(op, mask, lane),
                None => self.access_of_lane(op, lane),
            });
        }
        if access.stored.is_some() {
            return;
        }
        let Some(result) = self.body.results(op).next() else { return };
        let ty = self.vector(self.body.value_type(result));
        let new = self.gathered(op, &loaded, ty);
        self.wide.insert(result, new);
    }

    /// Writes the load or store of a lane. Returns the loaded element.
    pub(super) fn access_of_lane(&mut self, op: Op, lane: usize) -> Option<Value> {
        let mut mapping = Mapping::default();
        let operands: Vec<Value> = self.body.operands(op).collect();
        for own in operands {
            let copy = self.of_lane(op, own, lane);
            mapping.map(own, copy);
        }
        let copy = self.body.copy_op(op, &mut mapping);
        Builder::new(self.body, self.at).place(copy);
        self.body.results(copy).next()
    }

    /// Writes a loop or a condition that all lanes run together.
    fn around(&mut self, op: Op) {
        let (is_loop, bounds) = (is_loop(self.body, op), num_bounds(self.body, op));
        let operands: Vec<Value> = self.body.operands(op).collect();
        let operands: Vec<Value> = operands
            .into_iter()
            .enumerate()
            .map(|(at, own)| if at < bounds { self.same.value(own) } else { self.wide(op, own) })
            .collect();
        let types: Vec<Type> = self.body.results(op).map(|own| self.body.value_type(own)).collect();
        let mut state = OperationState::named(self.body.op_name(op), self.body.loc(op)).operands(&operands);
        state.result_types = types.into_iter().map(|own| self.vector(own)).collect();
        (state.properties, state.attributes) = (self.body.properties(op), self.body.attributes(op));
        state.num_regions = self.body.own_regions(op).count();
        let new = self.builder(op).insert(state);
        let regions: Vec<_> = self.body.own_regions(op).zip(self.body.own_regions(new)).collect();
        for (old, new) in regions {
            let Some(block) = self.body.entry_block(old) else { continue };
            self.region(op, block, new, is_loop);
        }
        let pairs: Vec<(Value, Value)> = self.body.results(op).zip(self.body.results(new)).collect();
        self.wide.extend(pairs);
    }

    /// Writes the block of a loop or of a side of a condition.
    fn region(&mut self, op: Op, block: Block, into: loomir_ir::Region, is_loop: bool) {
        let arguments: Vec<Value> = self.body.arguments(block).collect();
        let types: Vec<Type> = arguments
            .iter()
            .enumerate()
            .map(|(at, own)| {
                let ty = self.body.value_type(*own);
                if is_loop && at == 0 { ty } else { self.vector(ty) }
            })
            .collect();
        let new = self.body.append_block(into, &types);
        for (at, own) in arguments.into_iter().enumerate() {
            let copy = self.body.argument(new, at);
            match is_loop && at == 0 {
                true => self.same.map(own, copy),
                false => _ = self.wide.insert(own, copy),
            }
        }
        self.within(new, |writer| {
            let yielded = writer.yielded_by(op, block);
            let Some(end) = writer.body.terminator(block) else { return };
            let body = &writer.body;
            let mut state = OperationState::named(body.op_name(end), body.loc(end)).operands(&yielded);
            (state.properties, state.attributes) = (body.properties(end), body.attributes(end));
            writer.builder(end).insert(state);
        });
    }

    /// Writes the operations of a block. Returns the vectors of what it yields.
    pub(super) fn yielded_by(&mut self, op: Op, block: Block) -> Vec<Value> {
        self.ops(block);
        let end = self.body.terminator(block);
        let yielded: Vec<Value> = end.into_iter().flat_map(|end| self.body.operands(end)).collect();
        yielded.into_iter().map(|own| self.wide(op, own)).collect()
    }

    /// Writes into a block. The values of lanes that are computed there are not visible outside.
    pub(super) fn within<T>(&mut self, block: Block, write: impl FnOnce(&mut Self) -> T) -> T {
        let around = std::mem::replace(&mut self.at, InsertPoint::End(block));
        let copies = std::mem::take(&mut self.copies);
        let result = write(self);
        (self.at, self.copies) = (around, copies);
        result
    }
}

/// Writes a number.
pub(super) fn index(builder: &mut Builder<'_>, number: i64) -> Value {
    let ctx = builder.ctx();
    let state = builder.state(arith::ConstantOp::DEF).attr(&ctx, "value", ctx.index_attr(number));
    builder.value(state.results(&[Type::INDEX]))
}

/// Writes the result of a map, if it is no operand.
pub(super) fn applied(builder: &mut Builder<'_>, map: AffineMap, operands: &[Value]) -> Value {
    let ctx = builder.ctx();
    match map.results(&ctx)[0].kind(&ctx) {
        AffineExprKind::Constant(number) => return index(builder, number),
        AffineExprKind::Dim(at) => return operands[at as usize],
        AffineExprKind::Symbol(at) => return operands[(map.data(&ctx).dims + at) as usize],
        _ => {}
    }
    let map = ctx.attr(AttrKind::AffineMap(map));
    let state = builder.state(affine::ApplyOp::DEF).operands(operands).attr(&ctx, "map", map);
    builder.value(state.results(&[Type::INDEX]))
}
