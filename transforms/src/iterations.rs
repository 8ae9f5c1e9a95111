//! Arithmetic on numbers of iterations, written before an operation: the bounds of a loop, its trip
//! count, and the number of its current iteration.

use loomir_dialects::interfaces::{Bound, LoopBounds, Step, Subscripts};
use loomir_dialects::{affine, arith};
use loomir_ir::affine::ceil_div;
use loomir_ir::opdef::OpDef;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{AffineExpr, AffineExprKind, AffineMap, Attr, AttrKind, Body, Builder, Op, Type, Value};

/// A number of type `index`.
#[derive(Clone, Copy)]
pub(crate) enum Index {
    Number(i64),
    Value(Value),
}

/// Writes operations before a place.
pub(crate) struct Writer<'b> {
    pub(crate) body: &'b mut Body,
    /// The place.
    pub(crate) at: Op,
    /// The new operations, in the order of creation.
    pub(crate) made: Vec<Op>,
}

impl<'b> Writer<'b> {
    /// Creates a writer of operations before `at`.
    pub(crate) fn before(body: &'b mut Body, at: Op) -> Self {
        Writer { body, at, made: Vec::new() }
    }

    pub(crate) fn make(&mut self, def: &'static OpDef, operands: &[Value], results: &[Type]) -> Op {
        self.with_attr(def, operands, results, None)
    }

    pub(crate) fn with_attr(
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
    pub(crate) fn compute(&mut self, def: &'static OpDef, operands: &[Index]) -> Value {
        let operands: Vec<Value> = operands.iter().map(|operand| self.value(*operand)).collect();
        let op = self.make(def, &operands, &[Type::INDEX]);
        self.body.result(op, 0)
    }

    pub(crate) fn value(&mut self, index: Index) -> Value {
        let number = match index {
            Index::Value(value) => return value,
            Index::Number(number) => number,
        };
        let attr = self.body.ctx().index_attr(number);
        let op = self.with_attr(arith::ConstantOp::DEF, &[], &[Type::INDEX], Some(("value", attr)));
        self.body.result(op, 0)
    }

    /// Converts a value of an integer type to type `index`.
    pub(crate) fn index(&mut self, value: Value) -> Index {
        if let Some(number) = constant_of(self.body, value).and_then(|attr| attr.as_int(self.body.ctx())) {
            return Index::Number(number);
        }
        Index::Value(match self.body.value_type(value) {
            Type::INDEX => value,
            _ => self.compute(arith::IndexCastOp::DEF, &[Index::Value(value)]),
        })
    }

    /// Returns the value of a loop bound. `of_several` combines several bounds.
    pub(crate) fn bound(&mut self, bound: &Bound, of_several: &'static OpDef) -> Index {
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

    /// Returns the step of a loop.
    pub(crate) fn step(&mut self, step: Step) -> Index {
        match step {
            Step::Constant(step) => Index::Number(step),
            Step::Value(value) => self.index(value),
        }
    }

    /// Returns the trip count of a loop. The extent, from the first value to the end or zero, is
    /// correct as an unsigned number for all bounds.
    pub(crate) fn trip_count(&mut self, bounds: &LoopBounds, lower: Index, step: Index) -> Index {
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
    pub(crate) fn iteration(&mut self, variable: Value, lower: Index, step: Index, is_affine: bool) -> Value {
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
                let map = AffineMap::new(&ctx, 1, 0, &[iteration]);
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
}
