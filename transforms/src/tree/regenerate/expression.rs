//! Affine forms as operations: one `affine.apply` where its operands may be dimensions, else arithmetic.

use loomir_dialects::{affine, arith};
use loomir_ir::opdef::OpDef;
use loomir_ir::{AffineExpr, AffineMap, AttrKind, Builder, Context, InsertPoint, Mapping, Op, Type, Value};

use crate::dependence::form::{Atom, Form};

/// Writes forms over values at a place.
pub(super) struct Expression<'a, 'b> {
    pub builder: Builder<'b>,
    /// What values of the program are there.
    pub mapping: &'a Mapping,
    /// Whether `affine.apply` is wanted.
    pub affine: bool,
}

impl Expression<'_, '_> {
    /// The value of `form`, which is one of type `ty`, an integer or `index`.
    pub(super) fn value(&mut self, form: &Form, ty: Type) -> Value {
        if self.affine
            && form.as_constant().is_none()
            && ty == Type::INDEX
            && let Some((map, operands)) = self.map(std::slice::from_ref(form))
        {
            let ctx = self.builder.ctx();
            let map = ctx.attr(AttrKind::AffineMap(map));
            let state = self.builder.state(affine::ApplyOp::DEF).operands(&operands).results(&[Type::INDEX]);
            return self.builder.value(state.attr(&ctx, "map", map));
        }
        self.arithmetic(form, ty)
    }

    /// One map with these results, and its operands. `None` if one of them may not be a dimension there.
    pub(super) fn map(&mut self, forms: &[Form]) -> Option<(AffineMap, Vec<Value>)> {
        let ctx = self.builder.ctx();
        let mut operands = Vec::new();
        let results = forms.iter().map(|form| self.expr(&ctx, form, &mut operands)).collect();
        let user = self.parent();
        let body = self.builder.body();
        let valid = operands.iter().all(|value| {
            body.value_type(*value) == Type::INDEX
                && affine::validity::is_valid_dim(body.op_ref(user), *value)
        });
        valid.then(|| (AffineMap::new(&ctx, operands.len() as u32, 0, results), operands))
    }

    /// The operation whose block is being written.
    fn parent(&mut self) -> Op {
        let point = self.builder.point();
        let body = self.builder.body();
        let block = match point {
            InsertPoint::Before(op) | InsertPoint::After(op) => body.block_of(op),
            InsertPoint::End(block) | InsertPoint::Start(block) => Some(block),
        };
        // An operation of the block would do as well, but there may be none yet.
        block.map_or(body.root(), |block| {
            let parent = body.region_parent(body.block_region(block));
            body.first_op(block).unwrap_or(parent)
        })
    }

    /// Recurses once a nested quotient, which forms bound.
    fn expr(&self, ctx: &Context, form: &Form, operands: &mut Vec<Value>) -> AffineExpr {
        let mut sum = AffineExpr::constant(ctx, 0);
        for (atom, coefficient) in form.terms() {
            let term = match atom {
                Atom::Level(_) => unreachable!("levels were replaced by values"),
                Atom::Param(value) => {
                    let value = self.mapping.value(*value);
                    let position = operands.iter().position(|v| *v == value).unwrap_or_else(|| {
                        operands.push(value);
                        operands.len() - 1
                    });
                    AffineExpr::dim(ctx, position as u32)
                }
                Atom::FloorDiv(inner, divisor) => {
                    let inner = self.expr(ctx, inner, operands);
                    inner.floordiv(ctx, AffineExpr::constant(ctx, *divisor))
                }
            };
            sum = sum.add(ctx, term.mul(ctx, AffineExpr::constant(ctx, *coefficient)));
        }
        sum.add(ctx, AffineExpr::constant(ctx, form.constant_part()))
    }

    fn arithmetic(&mut self, form: &Form, ty: Type) -> Value {
        let mut sum: Option<Value> = None;
        for (atom, coefficient) in form.terms() {
            let value = match atom {
                Atom::Level(_) => unreachable!("levels were replaced by values"),
                Atom::Param(value) => self.cast(self.mapping.value(*value), ty),
                Atom::FloorDiv(inner, divisor) => {
                    let (inner, divisor) = (self.arithmetic(inner, ty), self.constant(*divisor, ty));
                    self.binary(arith::FloorDivSIOp::DEF, inner, divisor, false)
                }
            };
            sum = Some(match (sum, coefficient) {
                (None, 1) => value,
                (Some(sum), 1) => self.binary(arith::AddIOp::DEF, sum, value, false),
                (Some(sum), -1) => self.binary(arith::SubIOp::DEF, sum, value, false),
                (sum, factor) => {
                    let factor = self.constant(*factor, ty);
                    let product = self.binary(arith::MulIOp::DEF, value, factor, false);
                    match sum {
                        Some(sum) => self.binary(arith::AddIOp::DEF, sum, product, false),
                        None => product,
                    }
                }
            });
        }
        let Some(sum) = sum else { return self.constant(form.constant_part(), ty) };
        if form.constant_part() == 0 {
            return sum;
        }
        let constant = self.constant(form.constant_part(), ty);
        // What one value plus a constant comes to is a value of the program, which is in range. A value that was cut off may not be.
        let is_whole = |value: Value| self.builder.type_of(self.mapping.value(value)) == ty;
        let exact = matches!(form.terms(), [(Atom::Param(value), 1)] if is_whole(*value));
        self.binary(arith::AddIOp::DEF, sum, constant, exact)
    }

    fn binary(&mut self, def: &'static OpDef, a: Value, b: Value, exact: bool) -> Value {
        let ctx = self.builder.ctx();
        let mut state = self.builder.state(def).operands(&[a, b]);
        if exact {
            let nsw = arith::OVERFLOW.attr(&ctx, arith::OVERFLOW.value_of("nsw").unwrap_or(0));
            state = state.attr(&ctx, "overflowFlags", nsw);
        }
        self.builder.value(state)
    }

    fn constant(&mut self, value: i64, ty: Type) -> Value {
        let ctx = self.builder.ctx();
        let state = self.builder.state(arith::ConstantOp::DEF).results(&[ty]);
        self.builder.value(state.attr(&ctx, "value", ctx.int_attr(ty, value)))
    }

    /// The same number in another type, which has it.
    fn cast(&mut self, value: Value, ty: Type) -> Value {
        let from = self.builder.type_of(value);
        if from == ty {
            return value;
        }
        let ctx = self.builder.ctx();
        let def = match (from.integer_width(&ctx), ty.integer_width(&ctx)) {
            (Some(from), Some(to)) if from < to => arith::ExtSIOp::DEF,
            (Some(_), Some(_)) => arith::TruncIOp::DEF,
            _ => arith::IndexCastOp::DEF,
        };
        let state = self.builder.state(def).operands(&[value]).results(&[ty]);
        self.builder.value(state)
    }
}
