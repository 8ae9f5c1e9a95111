//! Folds of `arith`: identities and constant folding.
//!
//! Constants are folded element by element and exactly. Integers wrap and floats are rounded as the
//! operation defines. Undefined behaviour (a division by zero) is never folded. A result that would
//! be poison is not folded either, unless an operand is poison: poison operands make poison
//! results. Flags are dropped with the operation, because the result without flags is one of the
//! results that they allow. The arithmetic here is written apart from the interpreter's, so that
//! each is a test of the other.

use loomir_ir::opdef::Folded;
use loomir_ir::{Attr, Context, OpDef, OpRef, Type, Value};

use super::constant::{Numbers, is_splat_of, width};
use crate::ub::is_poison;

pub(crate) mod bits;
pub(crate) mod cast;
pub(crate) mod compare;
pub(crate) mod division;
pub(crate) mod float;
pub(crate) mod integer;
pub(crate) mod minmax;
pub(super) mod select;

/// The result of a fold hook.
pub(crate) type Fold = Option<Vec<Folded>>;

/// Folds the only result to an existing value.
pub(crate) fn value(value: Value) -> Fold {
    Some(vec![Folded::Value(value)])
}

/// Folds the only result to a constant.
pub(crate) fn constant(attr: Attr) -> Fold {
    Some(vec![Folded::Constant(attr)])
}

/// Returns the first of the operands' constants that is poison.
pub(crate) fn poison(ctx: &Context, constants: &[Option<Attr>]) -> Option<Attr> {
    constants.iter().flatten().copied().find(|attr| is_poison(ctx, *attr))
}

/// Returns the operation of this definition that computes `value`, if there is one.
pub(crate) fn defined_by<'b>(op: OpRef<'b>, value: Value, def: &'static OpDef) -> Option<OpRef<'b>> {
    let body = op.body();
    body.defining_op(value).filter(|op| body.is(*op, def)).map(|op| body.op_ref(op))
}

/// An operation with one operand and one result.
pub(crate) struct Unary<'b> {
    pub(crate) op: OpRef<'b>,
    pub(crate) constant: Option<Attr>,
}

impl<'b> Unary<'b> {
    /// Returns the operation, unless its operand is poison.
    pub(crate) fn new(op: OpRef<'b>, constants: &[Option<Attr>]) -> Result<Self, Fold> {
        match poison(op.ctx(), constants) {
            Some(attr) => Err(constant(attr)),
            None => Ok(Unary { op, constant: constants[0] }),
        }
    }

    /// Returns the element type of the operand.
    pub(crate) fn scalar(&self) -> Type {
        self.op.operand_type(0).scalar(self.op.ctx())
    }

    /// Returns the element type of the result.
    pub(crate) fn result_scalar(&self) -> Type {
        self.op.result_type(0).scalar(self.op.ctx())
    }

    /// Folds a constant operand, each element through `f`.
    pub(crate) fn evaluate(&self, f: impl Fn(u128) -> Option<u128>) -> Fold {
        let ctx = self.op.ctx();
        constant(Numbers::of(ctx, self.constant?)?.map(f)?.attr(ctx, self.op.result_type(0))?)
    }
}

/// An operation with two operands of one type.
pub(crate) struct Binary<'b> {
    pub(crate) op: OpRef<'b>,
    pub(crate) lhs: Value,
    pub(crate) rhs: Value,
    left: Option<Attr>,
    right: Option<Attr>,
    /// The width of an element of the operands.
    pub(crate) width: u32,
}

impl<'b> Binary<'b> {
    /// Returns the operation, unless an operand is poison, which makes the results poison.
    pub(crate) fn new(op: OpRef<'b>, constants: &[Option<Attr>]) -> Result<Self, Fold> {
        let ctx = op.ctx();
        if let Some(attr) = poison(ctx, constants) {
            return Err(Some(vec![Folded::Constant(attr); op.num_results()]));
        }
        let width = width(ctx, op.operand_type(0).scalar(ctx)).ok_or(None)?;
        let (lhs, rhs) = (op.operand(0), op.operand(1));
        Ok(Binary { op, lhs, rhs, left: constants[0], right: constants[1], width })
    }

    /// Like [`Binary::new`], but a single constant moves to the right.
    pub(crate) fn commutative(op: OpRef<'b>, constants: &[Option<Attr>]) -> Result<Self, Fold> {
        let mut binary = Self::new(op, constants)?;
        if binary.left.is_some() && binary.right.is_none() {
            std::mem::swap(&mut binary.lhs, &mut binary.rhs);
            std::mem::swap(&mut binary.left, &mut binary.right);
        }
        Ok(binary)
    }

    /// True if every element of the right operand is a constant with these bits.
    pub(crate) fn right_is(&self, bits: u128) -> bool {
        self.right.is_some_and(|attr| is_splat_of(self.op.ctx(), attr, bits))
    }

    /// Folds to the right operand, a constant.
    pub(crate) fn right(&self) -> Fold {
        constant(self.right?)
    }

    /// True if the two operands are one value.
    pub(crate) fn same(&self) -> bool {
        self.lhs == self.rhs
    }

    /// Folds result `index` to `bits` in every element, if its type has constants.
    pub(crate) fn splat(&self, index: usize, bits: u128) -> Option<Folded> {
        Numbers::One(bits).attr(self.op.ctx(), self.op.result_type(index)).map(Folded::Constant)
    }

    /// Folds the only result to `bits` in every element.
    pub(crate) fn all(&self, bits: u128) -> Fold {
        Some(vec![self.splat(0, bits)?])
    }

    /// Computes result `index` of constant operands, each pair of elements through `f`.
    pub(crate) fn compute(&self, index: usize, f: impl Fn(u128, u128) -> Option<u128>) -> Option<Folded> {
        let ctx = self.op.ctx();
        let (left, right) = (Numbers::of(ctx, self.left?)?, Numbers::of(ctx, self.right?)?);
        left.zip(&right, f)?.attr(ctx, self.op.result_type(index)).map(Folded::Constant)
    }

    /// Folds the only result from constant operands, each pair of elements through `f`.
    pub(crate) fn evaluate(&self, f: impl Fn(u128, u128) -> Option<u128>) -> Fold {
        Some(vec![self.compute(0, f)?])
    }

    /// Returns the operation of this definition that computes `value`, if there is one.
    pub(crate) fn defined_by(&self, value: Value, def: &'static OpDef) -> Option<OpRef<'b>> {
        defined_by(self.op, value, def)
    }
}

/// Unwraps the operands, or returns the folded result that poison among them causes.
macro_rules! operands {
    ($operands:expr) => {
        match $operands {
            Ok(operands) => operands,
            Err(folded) => return folded,
        }
    };
}
pub(crate) use operands;
