//! Bits of a position, as operations: words of `arith`, or maps of `affine`.

use loomir_dialects::{affine, arith};
use loomir_ir::opdef::OpDef;
use loomir_ir::{AffineExpr, AffineMap, AttrKind, Builder, Context, InsertPoint, Type, Value};

use super::hilbert::{self, Bits};
use crate::regenerate::Emit;

/// Bits that are computed by operations of `arith`: words whose lowest bit counts.
pub(super) struct Words<'w, 'a> {
    emit: &'w mut Emit<'a>,
    position: Value,
    ty: Type,
    at: InsertPoint,
}

impl<'w, 'a> Words<'w, 'a> {
    /// Creates the writer of words for a position.
    pub(super) fn of(emit: &'w mut Emit<'a>, position: Value, at: InsertPoint) -> Self {
        let ty = emit.body.value_type(position);
        Words { emit, position, ty, at }
    }

    /// Returns the row and the column of the position in a square of so many levels.
    pub(super) fn place(mut self, levels: u32) -> [Value; 2] {
        hilbert::place(levels, &mut self).map(|digits| {
            let mut sum: Option<Value> = None;
            for digit in digits {
                let digit = self.make(arith::AndIOp::DEF, digit, 1);
                sum = Some(match sum {
                    None => digit,
                    Some(sum) => {
                        let twice = self.make(arith::ShLIOp::DEF, sum, 1);
                        self.emit.make(arith::OrIOp::DEF, &[twice, digit], self.at)
                    }
                });
            }
            sum.unwrap_or(self.position)
        })
    }

    /// Returns the result of an operation with a word and a number.
    fn make(&mut self, def: &'static OpDef, word: Value, number: i64) -> Value {
        let number = self.emit.number(number, self.ty, self.at);
        self.emit.make(def, &[word, number], self.at)
    }
}

impl Bits for Words<'_, '_> {
    type Bit = Value;

    fn digit(&mut self, place: u32) -> Value {
        match place {
            0 => self.position,
            _ => self.make(arith::ShRUIOp::DEF, self.position, place.into()),
        }
    }

    fn both(&mut self, a: Value, b: Value) -> Value {
        self.emit.make(arith::AndIOp::DEF, &[a, b], self.at)
    }

    fn odd(&mut self, bits: &[Value], opposite: bool) -> Value {
        let (emit, at) = (&mut *self.emit, self.at);
        let sum = bits.iter().copied().reduce(|a, b| emit.make(arith::XOrIOp::DEF, &[a, b], at));
        let sum = sum.unwrap_or(self.position);
        if opposite { self.make(arith::XOrIOp::DEF, sum, 1) } else { sum }
    }
}

/// Bits that are computed by `affine.apply`: expressions over the position and over results.
pub(super) struct Maps<'w, 'a> {
    emit: &'w mut Emit<'a>,
    ctx: Context,
    /// The value of each dimension. The first one is the position.
    values: Vec<Value>,
    at: InsertPoint,
}

impl<'w, 'a> Maps<'w, 'a> {
    /// Creates the writer of maps for a position.
    pub(super) fn of(emit: &'w mut Emit<'a>, position: Value, at: InsertPoint) -> Self {
        let ctx = emit.body.ctx().clone();
        Maps { emit, ctx, values: vec![position], at }
    }

    /// Returns the row and the column of the position in a square of so many levels.
    pub(super) fn place(mut self, levels: u32) -> [Value; 2] {
        hilbert::place(levels, &mut self).map(|digits| {
            let zero = AffineExpr::constant(&self.ctx, 0);
            let twice = |sum: AffineExpr| sum.mul(&self.ctx, AffineExpr::constant(&self.ctx, 2));
            let sum = digits.into_iter().fold(zero, |sum, digit| twice(sum).add(&self.ctx, digit));
            self.applied(sum)
        })
    }

    /// Returns the result of an `affine.apply` of an expression.
    fn applied(&mut self, expression: AffineExpr) -> Value {
        let ctx = &self.ctx;
        let used = AffineExpr::used_inputs(ctx, &[expression], self.values.len() as u32, 0);
        let (mut operands, mut dims) = (Vec::new(), Vec::with_capacity(used.len()));
        for (value, is_used) in self.values.iter().zip(used) {
            dims.push(AffineExpr::dim(ctx, operands.len() as u32));
            operands.extend(is_used.then_some(*value));
        }
        let map = AffineMap::new(ctx, operands.len() as u32, 0, &[expression.replace(ctx, &dims, &[])]);
        let mut builder = Builder::new(self.emit.body, self.at);
        builder.set_loc(self.emit.loc);
        let state = builder.state(affine::ApplyOp::DEF).operands(&operands).results(&[Type::INDEX]);
        builder.value(state.attr(ctx, "map", ctx.attr(AttrKind::AffineMap(map))))
    }

    fn number(&self, number: i64) -> AffineExpr {
        AffineExpr::constant(&self.ctx, number)
    }
}

impl Bits for Maps<'_, '_> {
    type Bit = AffineExpr;

    fn digit(&mut self, place: u32) -> AffineExpr {
        let position = AffineExpr::dim(&self.ctx, 0);
        position.floordiv(&self.ctx, self.number(1 << place)).modulo(&self.ctx, self.number(2))
    }

    fn both(&mut self, a: AffineExpr, b: AffineExpr) -> AffineExpr {
        a.add(&self.ctx, b).floordiv(&self.ctx, self.number(2))
    }

    fn odd(&mut self, bits: &[AffineExpr], opposite: bool) -> AffineExpr {
        let begin = self.number(opposite.into());
        let sum = bits.iter().fold(begin, |sum, bit| sum.add(&self.ctx, *bit));
        let value = self.applied(sum.modulo(&self.ctx, self.number(2)));
        self.values.push(value);
        AffineExpr::dim(&self.ctx, self.values.len() as u32 - 1)
    }
}
