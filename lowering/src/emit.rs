//! Shorthands for the most frequent operations of lowering, index arithmetic and branches, and for
//! replacing other operations.
//!
//! Everything uses the location and the insertion point of a [`Builder`].

use loomir_dialects::{arith, cf};
use loomir_ir::{Attr, Block, Body, Builder, Diagnostic, Op, OpDef, Type, Value};

/// Flag `nsw` of `arith.overflow`.
pub(crate) const NSW: u64 = 1;
/// Flag `nuw` of `arith.overflow`.
pub(crate) const NUW: u64 = 2;

/// Predicates of `arith.cmpi` and `llvm.icmp`, with their numbers in both.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub(crate) enum Predicate {
    Eq = 0,
    Slt = 2,
    Sle = 3,
    Sge = 5,
    Ult = 6,
}

/// Makes `arith` and `cf` operations.
pub(crate) trait Emit {
    /// `arith.constant` of a typed attribute.
    fn constant(&mut self, value: Attr, ty: Type) -> Value;
    /// `arith.constant value : index`.
    fn index(&mut self, value: i64) -> Value;
    /// Emits an operation with two operands and a result of their type.
    fn binary(&mut self, def: &OpDef, lhs: Value, rhs: Value) -> Value;
    /// `binary` with overflow flags.
    fn wrapping(&mut self, def: &OpDef, lhs: Value, rhs: Value, flags: u64) -> Value;
    /// `arith.cmpi`.
    fn compare(&mut self, predicate: Predicate, lhs: Value, rhs: Value) -> Value;
    /// `arith.select`.
    fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value;
    /// `cf.br`.
    fn branch(&mut self, dest: Block, operands: &[Value]);
    /// `cf.cond_br`.
    fn cond_branch(&mut self, condition: Value, yes: (Block, &[Value]), no: (Block, &[Value]));
}

impl Emit for Builder<'_> {
    fn constant(&mut self, value: Attr, ty: Type) -> Value {
        let ctx = self.ctx();
        let state = self.state(arith::ConstantOp::DEF).results(&[ty]).attr(&ctx, "value", value);
        self.value(state)
    }

    fn index(&mut self, value: i64) -> Value {
        let attr = self.ctx().index_attr(value);
        self.constant(attr, Type::INDEX)
    }

    fn binary(&mut self, def: &OpDef, lhs: Value, rhs: Value) -> Value {
        let ty = self.type_of(lhs);
        let state = self.state(def).operands(&[lhs, rhs]).results(&[ty]);
        self.value(state)
    }

    fn wrapping(&mut self, def: &OpDef, lhs: Value, rhs: Value, flags: u64) -> Value {
        let (ctx, ty) = (self.ctx(), self.type_of(lhs));
        let flags = arith::OVERFLOW.attr(&ctx, flags);
        let state = self.state(def).operands(&[lhs, rhs]).results(&[ty]).attr(&ctx, "overflowFlags", flags);
        self.value(state)
    }

    fn compare(&mut self, predicate: Predicate, lhs: Value, rhs: Value) -> Value {
        let ctx = self.ctx();
        let ty = self.type_of(lhs).with_scalar(&ctx, Type::I1);
        let predicate = ctx.int_attr(Type::I64, predicate as i64);
        let state = self.state(arith::CmpIOp::DEF).operands(&[lhs, rhs]).results(&[ty]).attr(
            &ctx,
            "predicate",
            predicate,
        );
        self.value(state)
    }

    fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        let ty = self.type_of(yes);
        let state = self.state(arith::SelectOp::DEF).operands(&[condition, yes, no]).results(&[ty]);
        self.value(state)
    }

    fn branch(&mut self, dest: Block, operands: &[Value]) {
        let state = self.state(cf::BranchOp::DEF).operands(operands).successors(&[dest]);
        self.insert(state);
    }

    fn cond_branch(&mut self, condition: Value, yes: (Block, &[Value]), no: (Block, &[Value])) {
        let ctx = self.ctx();
        let segments = [1, yes.1.len() as i64, no.1.len() as i64];
        let state = self
            .state(cf::CondBranchOp::DEF)
            .operands(&[condition])
            .operands(yes.1)
            .operands(no.1)
            .successors(&[yes.0, no.0])
            .attr(&ctx, loomir_ir::opdef::OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &segments));
        self.insert(state);
    }
}

/// Replaces the results of `op` and erases it.
pub(crate) fn replace(body: &mut Body, op: Op, values: &[Value]) {
    for (result, value) in body.results(op).zip(values) {
        body.replace_all_uses(result, *value);
    }
    body.erase(op);
}

/// Returns the diagnostic for an operation that the verifier would refuse.
pub(crate) fn malformed(body: &Body, op: Op) -> Diagnostic {
    let name = body.ctx().op_str(body.op_name(op));
    Diagnostic::error(body.loc(op), format!("'{name}' is malformed and cannot be lowered"))
}
