//! Folds of arithmetic.
//!
//! Integers fold as those of `arith`. A result without flags is one of those that the flags allow.

use loomir_ir::opdef::Folded;
use loomir_ir::{Attr, OpRef, Type};
use smallvec::SmallVec;

use crate::arith::fold::{Fold, bits, compare, integer};
use crate::llvm::types::LlvmType;
use crate::llvm::{AllocaOp, ZeroOp};

/// Returns the constants that have the type of their operand. The value of an `llvm.mlir.constant`
/// may have another one.
pub(in crate::llvm) fn typed(op: OpRef<'_>, constants: &[Option<Attr>]) -> SmallVec<[Option<Attr>; 2]> {
    let has_type = |index: usize, attr: Attr| attr.ty(op.ctx()) == Some(op.operand_type(index));
    constants.iter().enumerate().map(|(i, attr)| attr.filter(|attr| has_type(i, *attr))).collect()
}

pub(super) fn fold_add(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    integer::addi(op, &typed(op, constants))
}

pub(super) fn fold_sub(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    integer::subi(op, &typed(op, constants))
}

pub(super) fn fold_mul(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    integer::muli(op, &typed(op, constants))
}

pub(super) fn fold_and(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    bits::andi(op, &typed(op, constants))
}

pub(super) fn fold_or(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    bits::ori(op, &typed(op, constants))
}

pub(super) fn fold_xor(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    bits::xori(op, &typed(op, constants))
}

pub(super) fn fold_shl(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    bits::shli(op, &typed(op, constants))
}

pub(super) fn fold_lshr(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    bits::shrui(op, &typed(op, constants))
}

pub(super) fn fold_ashr(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    bits::shrsi(op, &typed(op, constants))
}

/// `x == x` and `x != x`; a new object and the null pointer; constants.
pub(super) fn fold_icmp(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let predicate = u64::try_from(op.attr("predicate")?.as_int(op.ctx())?).ok()?;
    let is_equality = predicate < 2;
    if op.operand(0) == op.operand(1) && op.result_type(0) == Type::I1 && is_equality {
        return truth(predicate == 0);
    }
    if is_equality && is_object_and_null(op) {
        return truth(predicate == 1);
    }
    compare::integers(op, &typed(op, constants), predicate)
}

fn truth(holds: bool) -> Fold {
    Some(vec![Folded::Constant(if holds { Attr::TRUE } else { Attr::FALSE })])
}

/// True if one operand is an object on the stack in the default address space, and the other one is
/// null.
fn is_object_and_null(op: OpRef<'_>) -> bool {
    let body = op.body();
    let is = |index: usize, def| body.defining_op(op.operand(index)).is_some_and(|own| body.is(own, def));
    let is_default = LlvmType::of(op.ctx(), op.operand_type(0)) == Some(LlvmType::Pointer { space: 0 });
    is_default && [(0, 1), (1, 0)].into_iter().any(|(a, b)| is(a, AllocaOp::DEF) && is(b, ZeroOp::DEF))
}
