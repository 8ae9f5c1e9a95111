//! Affine forms over values as operands of what is written.
//!
//! Each operand of an affine map must be a valid dimension or symbol at its use.

use loomir_dialects::affine;
use loomir_ir::{AffineExpr, AffineMap, AttrKind, Builder, InsertPoint, Op, Type, Value};

use super::expression::Sum;
use super::{Emit, Reason};
use crate::affine::AffineForm;
use crate::affine::expression::{self, expression, position};
use crate::affine::range::{ALL, Range};

/// The dimensions of a map under construction.
#[derive(Default)]
pub(super) struct Operands(Vec<Value>);

impl Operands {
    /// Returns the dimension of a value.
    pub(super) fn dimension(&mut self, value: Value) -> u32 {
        position(&mut self.0, value)
    }

    /// Returns the map with these results, and its operands.
    pub(super) fn into_map(
        self,
        ctx: &loomir_ir::Context,
        results: Vec<AffineExpr>,
    ) -> (AffineMap, Vec<Value>) {
        (AffineMap::new(ctx, self.0.len() as u32, 0, &results), self.0)
    }
}

/// The operands of a map that is written at a place.
struct Written<'w, 'a> {
    emit: &'w mut Emit<'a>,
    operands: &'w mut Operands,
    at: InsertPoint,
}

impl expression::Operands for Written<'_, '_> {
    type Refusal = Reason;
    const NO_OPERAND: Reason = Reason::NoOperand;
    const MAY_WRAP: Reason = Reason::BoundMayWrap;

    fn range(&mut self, form: &AffineForm) -> Range {
        self.emit.range_of(form)
    }

    fn operand(&mut self, value: Value) -> Result<AffineExpr, Reason> {
        let ctx = self.emit.body.ctx().clone();
        let value = self.emit.dimension(value, self.at)?;
        Ok(AffineExpr::dim(&ctx, self.operands.dimension(value)))
    }
}

impl Emit<'_> {
    /// Returns the result of an `affine.apply` that computes a form over values, which is in range.
    pub(super) fn applied(&mut self, form: &AffineForm, at: InsertPoint) -> Option<Value> {
        let mut operands = Operands::default();
        let result = self.affine_expr(form, true, &mut operands, at).ok()?;
        let ctx = self.body.ctx().clone();
        let (map, operands) = operands.into_map(&ctx, vec![result]);
        let mut builder = Builder::new(self.body, at);
        builder.set_loc(self.loc);
        let state = builder.state(affine::ApplyOp::DEF).operands(&operands).results(&[Type::INDEX]);
        Some(builder.value(state.attr(&ctx, "map", ctx.attr(AttrKind::AffineMap(map)))))
    }

    /// Returns a form over values as an expression. With `is_value`, the form is known to be in
    /// range.
    pub(super) fn affine_expr(
        &mut self,
        form: &AffineForm,
        is_value: bool,
        operands: &mut Operands,
        at: InsertPoint,
    ) -> Result<AffineExpr, Reason> {
        let ctx = self.body.ctx().clone();
        let value = is_value.then_some(ALL);
        expression(&ctx, form, value, &mut Written { emit: self, operands, at })
    }

    /// Returns the dimension for a value of the program, in an operation that is written here.
    pub(super) fn dimension(&mut self, value: Value, at: InsertPoint) -> Result<Value, Reason> {
        let here = self.mapping.value(value);
        let index = self.value_of(Sum::offset(here, 0), Type::INDEX, at);
        if self.may_be_dimension(index, at) { Ok(index) } else { Err(Reason::NoOperand) }
    }

    /// Returns true if a value may be a dimension of an operation that is written here.
    pub(super) fn may_be_dimension(&self, value: Value, at: InsertPoint) -> bool {
        self.body.value_type(value) == Type::INDEX
            && affine::validity::is_valid_dim(self.body.op_ref(self.user(at)), value)
    }

    /// Returns true if the first value in a form may be a symbol of an operation that is written
    /// here.
    pub(super) fn is_of_symbol(&self, form: &AffineForm, at: InsertPoint) -> bool {
        let value = form.terms().first().and_then(|(atom, _)| atom.factors()?.first().copied());
        value.is_some_and(|value| {
            affine::validity::is_valid_symbol(self.body.op_ref(self.user(at)), self.mapping.value(value))
        })
    }

    /// Returns an operation of the block being written, or its parent if there is none.
    fn user(&self, at: InsertPoint) -> Op {
        let block = match at {
            InsertPoint::Before(op) | InsertPoint::After(op) => self.body.block_of(op),
            InsertPoint::End(block) | InsertPoint::Start(block) => Some(block),
        };
        block.map_or(self.body.root(), |block| {
            let parent = self.body.region_parent(self.body.block_region(block));
            self.body.first_op(block).unwrap_or(parent)
        })
    }

    /// Returns the first operation of the `affine` dialect in `op` with an operand that is neither
    /// a dimension nor a symbol.
    pub(super) fn misused(&self, op: Op) -> Option<Op> {
        self.body.preorder(op).find(|inside| {
            let view = self.body.op_ref(*inside);
            let mut errors = loomir_ir::Diagnostics::default();
            if let Some(verify) = view.def().filter(|_| self.is_affine(*inside)).and_then(|def| def.verify) {
                verify(view, &mut errors);
            }
            errors.has_errors()
        })
    }

    fn is_affine(&self, op: Op) -> bool {
        self.body.ctx().str(self.body.info(op).dialect()) == "affine"
    }
}
