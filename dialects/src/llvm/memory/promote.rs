//! Promotion of memory of the dialect to values.

use loomir_ir::rewrite::constant_of;
use loomir_ir::{Attr, Context, Loc, OpRef, OperationState, Registry, Type, TypeKind};

use crate::interfaces::{MemorySlot, PromotableAccess, PromotableAllocation, SlotAccess};
use crate::llvm::{BitcastOp, UndefOp};

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

    fn reinterpret(&self, ctx: &Context, from: Type, to: Type) -> Option<OperationState> {
        let same = whole_bytes(ctx, from)? == whole_bytes(ctx, to)?;
        same.then(|| OperationState::of(ctx, BitcastOp::DEF, Loc::UNKNOWN).results(&[to]))
    }
}

/// Returns the bytes of an integer, a float or a vector of these, if each element fills whole
/// bytes. A bitcast of such a value has the same bytes in memory, in any order of bytes.
fn whole_bytes(ctx: &Context, ty: Type) -> Option<u64> {
    let scalar = ty.scalar(ctx);
    let bits = match scalar.kind(ctx) {
        TypeKind::Integer { width, .. } => *width,
        TypeKind::Float(kind) => kind.width(),
        _ => return None,
    };
    let elements = match ty.kind(ctx) {
        TypeKind::Vector { scalable, .. } if scalable.contains(&true) => return None,
        TypeKind::Vector { shape, .. } => shape.iter().try_fold(1i64, |n, size| n.checked_mul(*size))?,
        _ if ty == scalar => 1,
        _ => return None,
    };
    // `i24` and `f80` take more bytes than they fill.
    if bits % 8 != 0 || !(bits / 8).is_power_of_two() {
        return None;
    }
    u64::from(bits / 8).checked_mul(u64::try_from(elements).ok()?)
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
