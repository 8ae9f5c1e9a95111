//! Scalar expansion: a value that is used within an iteration of a loop is passed on in an array.
//!
//! The array has an element for each iteration. It is written where the value is computed, and read
//! before the named uses. Each read sees the element of its own iteration, and nothing else
//! changes. The loop may then be distributed between the two. [Contraction](crate::contraction) is
//! the inverse.
//!
//! ```text
//!     for i {              t = alloc(n)
//!       a = f(i)           for i {
//!       g(a)        ──>      a = f(i); t[i] = a
//!     }                      b = t[i]; g(b)
//!                          }
//!                          dealloc t
//! ```
//!
//! # Assumptions
//!
//! - A loop over more than 64 bits is not expanded in effect: its index is not followed. Tried with
//!   an `i128` that begins below 2 to the power of 63.
//!
//! **Cost.** Linear in the uses; a few operations for each array.

use loomir_dialects::interfaces::{Bound, LoopBounds, LoopLike, Step, Subscripts};
use loomir_dialects::{affine, arith, memref};
use loomir_ir::affine::ceil_div;
use loomir_ir::opdef::{OPERAND_SEGMENTS, OpDef};
use loomir_ir::rewrite::constant_of;
use loomir_ir::{
    AffineExpr, AffineExprKind, AffineMap, Attr, AttrKind, Body, Builder, DYNAMIC, Op, Type, TypeKind, Value,
};

/// A value to pass on in an array.
pub(crate) struct HandOn {
    /// Computed in the body of the loop.
    pub(crate) value: Value,
    pub(crate) reads: Vec<Read>,
}

/// A read of the array.
pub(crate) struct Read {
    /// The operation before which the array is read.
    pub(crate) before: Op,
    /// The users of the value read. They follow that operation in its block, or are inside.
    pub(crate) users: Vec<Op>,
}

/// The operations of an expansion.
pub(crate) struct Expanded {
    /// The new operations, in the order of creation.
    made: Vec<Op>,
    /// The loads, and the values that they replace.
    read: Vec<(Op, Value)>,
}

impl Expanded {
    /// True if scalar expansion created an operation.
    pub(crate) fn has_made(&self, op: Op) -> bool {
        self.made.contains(&op)
    }

    /// Restores the original code. Nothing else may use the new operations.
    pub(crate) fn undo(self, body: &mut Body) {
        for (load, value) in self.read {
            body.replace_all_uses(body.result(load, 0), value);
        }
        self.made.into_iter().rev().for_each(|op| body.erase(op));
    }
}

/// True if an array may hold values of this type.
pub(crate) fn may_be_element(body: &Body, ty: Type) -> bool {
    matches!(ty.kind(body.ctx()), TypeKind::Index | TypeKind::Integer { .. } | TypeKind::Float(_))
}

/// True if the trip count of a loop can be expressed.
pub(crate) fn has_trip_count(body: &Body, op: Op) -> bool {
    let view = body.op_ref(op);
    view.info().interface::<dyn LoopLike>().is_some_and(|model| !model.is_unsigned(view))
}

/// Passes values on in arrays (scalar expansion). Returns `None` without a change if the trip count
/// of the loop cannot be expressed.
pub(crate) fn expand(body: &mut Body, op: Op, values: &[HandOn]) -> Option<Expanded> {
    let view = body.op_ref(op);
    let model = view.info().interface::<dyn LoopLike>().filter(|model| !model.is_unsigned(view))?;
    let (bounds, block) = (model.bounds(view), body.single_block(model.body(view))?);
    let behind = body.next_op(op)?;
    let mut writer = Writer { body, at: op, made: Vec::new() };
    let lower = writer.bound(&bounds.lower, affine::MaxOp::DEF);
    let step = match bounds.step {
        Step::Constant(step) => Index::Number(step),
        Step::Value(value) => writer.index(value),
    };
    let trips = writer.trip_count(&bounds, lower, step);
    let variable = writer.body.argument(block, 0);
    let is_affine = writer.body.is(op, affine::ForOp::DEF);
    let mut read = Vec::new();
    for HandOn { value, reads } in values {
        let Some(next) = writer.body.defining_op(*value).and_then(|op| writer.body.next_op(op)) else {
            continue;
        };
        writer.at = op;
        let array = writer.array(*value, trips);
        // The number of the iteration is computed for each access separately, so it need not be
        // passed on.
        writer.at = next;
        let iteration = writer.iteration(variable, lower, step, is_affine);
        writer.make(memref::StoreOp::DEF, &[*value, array, iteration], &[]);
        let ty = writer.body.value_type(*value);
        for Read { before, users } in reads {
            writer.at = *before;
            let iteration = writer.iteration(variable, lower, step, is_affine);
            let load = writer.make(memref::LoadOp::DEF, &[array, iteration], &[ty]);
            let element = writer.body.result(load, 0);
            writer.body.replace_uses_if(*value, element, |used| users.contains(&used.op));
            read.push((load, *value));
        }
        writer.at = behind;
        writer.make(memref::DeallocOp::DEF, &[array], &[]);
    }
    Some(Expanded { made: writer.made, read })
}

/// A number of type `index`.
#[derive(Clone, Copy)]
enum Index {
    Number(i64),
    Value(Value),
}

/// Writes operations before a place.
struct Writer<'b> {
    body: &'b mut Body,
    at: Op,
    made: Vec<Op>,
}

impl Writer<'_> {
    fn make(&mut self, def: &'static OpDef, operands: &[Value], results: &[Type]) -> Op {
        self.with_attr(def, operands, results, None)
    }

    fn with_attr(
        &mut self,
        def: &'static OpDef,
        operands: &[Value],
        results: &[Type],
        attr: Option<(&str, Attr)>,
    ) -> Op {
        let ctx = self.body.ctx().clone();
        let mut builder = Builder::before(self.body, self.at);
        let mut state = builder.state(def).operands(operands).results(results);
        if let Some((name, attr)) = attr {
            state.set_attr(&ctx, name, attr);
        }
        let op = builder.insert(state);
        self.made.push(op);
        op
    }

    /// Emits an operation on numbers of type `index` and returns its result.
    fn compute(&mut self, def: &'static OpDef, operands: &[Index]) -> Value {
        let operands: Vec<Value> = operands.iter().map(|operand| self.value(*operand)).collect();
        let op = self.make(def, &operands, &[Type::INDEX]);
        self.body.result(op, 0)
    }

    fn value(&mut self, index: Index) -> Value {
        let number = match index {
            Index::Value(value) => return value,
            Index::Number(number) => number,
        };
        let attr = self.body.ctx().index_attr(number);
        let op = self.with_attr(arith::ConstantOp::DEF, &[], &[Type::INDEX], Some(("value", attr)));
        self.body.result(op, 0)
    }

    /// Converts a value of an integer type to type `index`.
    fn index(&mut self, value: Value) -> Index {
        if let Some(number) = constant_of(self.body, value).and_then(|attr| attr.as_int(self.body.ctx())) {
            return Index::Number(number);
        }
        Index::Value(match self.body.value_type(value) {
            Type::INDEX => value,
            _ => self.compute(arith::IndexCastOp::DEF, &[Index::Value(value)]),
        })
    }

    /// Returns the value of a loop bound. `of_several` combines several bounds.
    fn bound(&mut self, bound: &Bound, of_several: &'static OpDef) -> Index {
        let Subscripts { map, operands } = match bound {
            Bound::Value(value) => return self.index(*value),
            Bound::Map(subscripts) => subscripts,
        };
        let ctx = self.body.ctx().clone();
        let data = map.data(&ctx);
        let def = match data.results[..] {
            [only] => match only.kind(&ctx) {
                AffineExprKind::Constant(number) => return Index::Number(number),
                AffineExprKind::Dim(at) => return self.index(operands[at as usize]),
                AffineExprKind::Symbol(at) => return self.index(operands[(data.dims + at) as usize]),
                _ => affine::ApplyOp::DEF,
            },
            _ => of_several,
        };
        let map = ctx.attr(AttrKind::AffineMap(*map));
        let op = self.with_attr(def, operands, &[Type::INDEX], Some(("map", map)));
        Index::Value(self.body.result(op, 0))
    }

    /// Returns the trip count of a loop. The extent, from the first value to the end or zero, is
    /// correct as an unsigned number for all bounds.
    fn trip_count(&mut self, bounds: &LoopBounds, lower: Index, step: Index) -> Index {
        let upper = self.bound(&bounds.upper, affine::MinOp::DEF);
        if let (Index::Number(lower), Index::Number(upper), Index::Number(step)) = (lower, upper, step)
            && let Some(extent) = upper.max(lower).checked_sub(lower)
            && let Some(trips) = ceil_div(extent, step.max(1))
        {
            return Index::Number(trips);
        }
        let mut extent = self.compute(arith::MaxSIOp::DEF, &[upper, lower]);
        if !matches!(lower, Index::Number(0)) {
            extent = self.compute(arith::SubIOp::DEF, &[Index::Value(extent), lower]);
        }
        if !matches!(step, Index::Number(1)) {
            extent = self.compute(arith::CeilDivUIOp::DEF, &[Index::Value(extent), step]);
        }
        Index::Value(extent)
    }

    /// Returns the number of the current iteration, from 0 on. The computation is visibly affine if
    /// the distance from the first value certainly is a signed number. Otherwise it is unsigned.
    fn iteration(&mut self, variable: Value, lower: Index, step: Index, is_affine: bool) -> Value {
        let ctx = self.body.ctx().clone();
        let is_natural = matches!(lower, Index::Number(number) if number >= 0);
        match (lower, step) {
            (Index::Number(0), Index::Number(1)) => {
                let number = self.index(variable);
                self.value(number)
            }
            (Index::Number(lower), Index::Number(step)) if is_affine && is_natural => {
                let offset = AffineExpr::dim(&ctx, 0).add(&ctx, AffineExpr::constant(&ctx, -lower));
                let iteration = offset.floordiv(&ctx, AffineExpr::constant(&ctx, step));
                let map = AffineMap::new(&ctx, 1, 0, vec![iteration]);
                let map = Some(("map", ctx.attr(AttrKind::AffineMap(map))));
                let op = self.with_attr(affine::ApplyOp::DEF, &[variable], &[Type::INDEX], map);
                self.body.result(op, 0)
            }
            _ => {
                let variable = self.index(variable);
                let operands = [self.value(variable), self.value(lower)];
                let flags = arith::OVERFLOW.attr(&ctx, arith::OVERFLOW.value_of("nsw").unwrap_or(0));
                let flags = is_natural.then_some(("overflowFlags", flags));
                let op = self.with_attr(arith::SubIOp::DEF, &operands, &[Type::INDEX], flags);
                let offset = Index::Value(self.body.result(op, 0));
                match step {
                    Index::Number(1) => self.value(offset),
                    _ if is_natural => self.compute(arith::FloorDivSIOp::DEF, &[offset, step]),
                    _ => self.compute(arith::DivUIOp::DEF, &[offset, step]),
                }
            }
        }
    }

    /// Allocates a new array for values like this one.
    fn array(&mut self, value: Value, trips: Index) -> Value {
        let ctx = self.body.ctx().clone();
        let (size, sizes) = match trips {
            Index::Number(number) => (number, Vec::new()),
            Index::Value(value) => (DYNAMIC, vec![value]),
        };
        let element = self.body.value_type(value);
        let kind = TypeKind::MemRef { shape: Some([size].into()), element, layout: None, memory_space: None };
        let segments = ctx.dense_ints_attr(Type::I32, &[sizes.len() as i64, 0]);
        let attr = Some((OPERAND_SEGMENTS, segments));
        let op = self.with_attr(memref::AllocOp::DEF, &sizes, &[ctx.ty(kind)], attr);
        self.body.result(op, 0)
    }
}
