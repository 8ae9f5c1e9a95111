//! Promotion of memory of the dialect to values.

use loomir_ir::rewrite::constant_of;
use loomir_ir::{Attr, Loc, OpRef, OperationState, Registry};

use crate::interfaces::{MemorySlot, PromotableAccess, PromotableAllocation, SlotAccess};
use crate::llvm::UndefOp;

/// `llvm.alloca` of one element.
struct Alloca;

impl PromotableAllocation for Alloca {
    fn slot(&self, op: OpRef<'_>) -> Option<MemorySlot> {
        let elements = constant_of(op.body(), op.operand(0))?.as_int(op.ctx())?;
        if elements != 1 || op.attr("inalloca").is_some() {
            return None;
        }
        Some(MemorySlot { pointer: op.result(0), ty: op.attr("elem_type")?.as_type(op.ctx())? })
    }

    fn default_value(&self, op: OpRef<'_>, slot: MemorySlot) -> OperationState {
        OperationState::of(op.ctx(), UndefOp::DEF, Loc::UNKNOWN).results(&[slot.ty])
    }
}

/// `llvm.load`. Atomicity does not matter for memory that no other thread can access.
struct Load;

impl PromotableAccess for Load {
    fn access(&self, op: OpRef<'_>, _: MemorySlot) -> Option<SlotAccess> {
        (!is_volatile(op)).then(|| SlotAccess::Load(op.result(0)))
    }
}

/// `llvm.store`.
struct Store;

impl PromotableAccess for Store {
    fn access(&self, op: OpRef<'_>, slot: MemorySlot) -> Option<SlotAccess> {
        let is_there = op.operand(1) == slot.pointer;
        (is_there && !is_volatile(op)).then(|| SlotAccess::Store(op.operand(0)))
    }
}

/// The start and the end of a lifetime.
struct Lifetime;

impl PromotableAccess for Lifetime {
    fn access(&self, _: OpRef<'_>, _: MemorySlot) -> Option<SlotAccess> {
        Some(SlotAccess::Marker)
    }
}

fn is_volatile(op: OpRef<'_>) -> bool {
    op.attr("volatile_") == Some(Attr::UNIT)
}

pub(in crate::llvm) fn register(registry: &mut Registry) {
    registry
        .attach_to::<dyn PromotableAllocation>(crate::llvm::AllocaOp::DEF, Box::new(Alloca))
        .attach_to::<dyn PromotableAccess>(crate::llvm::LoadOp::DEF, Box::new(Load))
        .attach_to::<dyn PromotableAccess>(crate::llvm::StoreOp::DEF, Box::new(Store))
        .attach_to::<dyn PromotableAccess>(crate::llvm::LifetimeStartOp::DEF, Box::new(Lifetime))
        .attach_to::<dyn PromotableAccess>(crate::llvm::LifetimeEndOp::DEF, Box::new(Lifetime));
}
