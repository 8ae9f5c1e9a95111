//! Interfaces of the `memref` operations: effects, accesses, views, names.

use loomir_ir::rewrite::constant_of;
use loomir_ir::symbols::SymbolUser;
use loomir_ir::text::AsmNames;
use loomir_ir::{AffineMap, Body, Loc, Op, OpRef, OperationState, Registry, TypeKind, Value};
use smallvec::SmallVec;

use super::verify::globals::GetGlobal;
use crate::interfaces::{
    Access, Effect, EffectKind, MemoryAccess, MemoryEffects, MemorySlot, OperandEffects, PartIndex, PartUse,
    PromotableAllocation, SplittableAllocation, SplittableUse, StackAllocation, Subscripts, ViewLike,
};
use crate::names::{AsDefined, name_results};
use crate::ub::{PoisonOp, poison_attr};

/// `memref.dim`. It has no effect, but a nonexistent dimension is undefined.
struct Dim;

impl MemoryEffects for Dim {
    fn effects(&self, _: OpRef<'_>) -> Vec<Effect> {
        Vec::new()
    }

    fn may_be_undefined(&self, op: OpRef<'_>) -> bool {
        let ctx = op.ctx();
        let constant = constant_of(op.body(), op.operand(1));
        let dimension = constant.and_then(|attr| usize::try_from(attr.as_int(ctx)?).ok());
        let rank = op.operand_type(0).shape(ctx).map(<[i64]>::len);
        !matches!((dimension, rank), (Some(d), Some(rank)) if d < rank)
    }
}

/// A load or store of one element: the operands from `memref` on are the memref and its indices.
struct ElementAccess {
    memref: usize,
    stored: Option<usize>,
}

impl MemoryAccess for ElementAccess {
    fn access(&self, op: OpRef<'_>) -> Access {
        let operands: SmallVec<[Value; 2]> = op.operands().skip(self.memref + 1).collect();
        let map = AffineMap::identity(op.ctx(), operands.len() as u32);
        Access {
            memref: op.operand(self.memref),
            subscripts: Subscripts { map, operands },
            stored: self.stored.map(|index| op.operand(index)),
        }
    }
}

/// `memref.alloca` of one element.
struct Alloca;

impl PromotableAllocation for Alloca {
    fn slot(&self, op: OpRef<'_>) -> Option<MemorySlot> {
        let ty = op.result_type(0);
        let is_one = ty.shape(op.ctx())?.iter().all(|size| *size == 1);
        if is_one { Some(MemorySlot { pointer: op.result(0), ty: ty.element(op.ctx())? }) } else { None }
    }

    fn default_value(&self, op: OpRef<'_>, slot: MemorySlot) -> OperationState {
        let state = OperationState::of(op.ctx(), PoisonOp::DEF, Loc::UNKNOWN);
        state.attr(op.ctx(), "value", poison_attr(op.ctx())).results(&[slot.ty])
    }
}

impl SplittableAllocation for Alloca {
    /// Several elements in a layout that gives each a place of its own.
    fn has_parts(&self, op: OpRef<'_>) -> bool {
        let TypeKind::MemRef { shape: Some(shape), layout: None, .. } = op.result_type(0).kind(op.ctx())
        else {
            return false;
        };
        op.num_operands() == 0 && !shape.is_empty() && shape.iter().all(|size| *size > 0)
    }

    fn allocate(&self, op: OpRef<'_>, _: &[i64]) -> Option<OperationState> {
        let ctx = op.ctx();
        let TypeKind::MemRef { element, memory_space, .. } = op.result_type(0).kind(ctx) else { return None };
        let (element, memory_space) = (*element, *memory_space);
        let ty = TypeKind::MemRef { shape: Some(Box::new([])), element, layout: None, memory_space };
        let mut state = OperationState::of(ctx, crate::memref::AllocaOp::DEF, op.loc());
        state.set_segments(ctx, &[0, 0]);
        Some(state.results(&[ctx.ty(ty)]))
    }
}

/// A load or store of one element with constant subscripts; `memref` is the operand.
struct ElementUse {
    memref: usize,
}

impl SplittableUse for ElementUse {
    fn part(&self, op: OpRef<'_>, memory: Value, _: OpRef<'_>) -> Option<PartUse> {
        let ctx = op.ctx();
        let is_stored = op.operands().take(self.memref).any(|value| value == memory);
        if is_stored || op.operand(self.memref) != memory {
            return None;
        }
        let shape = op.type_of(memory).shape(ctx)?;
        let index = |value| constant_of(op.body(), value)?.as_int(ctx);
        let indices: PartIndex = op.operands().skip(self.memref + 1).map(index).collect::<Option<_>>()?;
        let is_inside = indices.iter().zip(shape).all(|(index, size)| (0..*size).contains(index));
        (is_inside && indices.len() == shape.len()).then_some(PartUse::Part(indices))
    }

    fn redirect(&self, body: &mut Body, op: Op, part: Value) {
        let mut operands: Vec<Value> = body.operands(op).take(self.memref).collect();
        operands.push(part);
        body.set_operands(op, &operands);
        // The alignment was that of the whole memory.
        if body.attr(op, "alignment").is_some() {
            body.remove_attr(op, "alignment");
        }
    }
}

impl StackAllocation for Alloca {
    fn ends_with_scope(&self, _: OpRef<'_>) -> bool {
        true
    }
}

/// The first operand seen through.
struct View;

impl ViewLike for View {
    fn source(&self, op: OpRef<'_>) -> Value {
        op.operand(0)
    }
}

const READ: EffectKind = EffectKind::Read;
const WRITE: EffectKind = EffectKind::Write;
const ALLOCATE: EffectKind = EffectKind::Allocate;
const FREE: EffectKind = EffectKind::Free;

/// Kinds of effects on the operands or results of a name.
type Named = &'static [(EffectKind, &'static str)];

/// Effects of operations, and true if some operands make them undefined.
const EFFECTS: &[(&str, Named, bool)] = &[
    ("memref.alloc", &[(ALLOCATE, "memref")], true),
    ("memref.alloca", &[(ALLOCATE, "memref")], true),
    ("memref.realloc", &[(READ, "source"), (FREE, "source"), (ALLOCATE, "result"), (WRITE, "result")], true),
    ("memref.dealloc", &[(FREE, "memref")], true),
    ("memref.load", &[(READ, "memref")], true),
    ("memref.store", &[(WRITE, "memref")], true),
    ("memref.copy", &[(READ, "source"), (WRITE, "target")], true),
    ("memref.reshape", &[(READ, "shape")], true),
    ("memref.atomic_rmw", &[(READ, "memref"), (WRITE, "memref")], true),
    ("memref.generic_atomic_rmw", &[(READ, "memref"), (WRITE, "memref")], true),
    ("memref.prefetch", &[(WRITE, "memref")], true),
    ("memref.global", &[], false),
    // The claimed sizes, strides and bounds have to hold.
    ("memref.cast", &[], true),
    ("memref.subview", &[], true),
    ("memref.view", &[], true),
    ("memref.expand_shape", &[], true),
    ("memref.collapse_shape", &[], true),
    ("memref.assume_alignment", &[], true),
    ("memref.distinct_objects", &[], true),
];

/// Operations whose first result refers to the object of their first operand.
const VIEWS: &[&str] = &[
    "memref.cast",
    "memref.memory_space_cast",
    "memref.subview",
    "memref.view",
    "memref.reinterpret_cast",
    "memref.reshape",
    "memref.expand_shape",
    "memref.collapse_shape",
    "memref.transpose",
    "memref.extract_strided_metadata",
    "memref.assume_alignment",
];

const NAMES: &[(&str, &str)] = &[
    ("memref.alloc", "alloc"),
    ("memref.alloca", "alloca"),
    ("memref.assume_alignment", "assume_align"),
    ("memref.cast", "cast"),
    ("memref.collapse_shape", "collapse_shape"),
    ("memref.dim", "dim"),
    ("memref.expand_shape", "expand_shape"),
    ("memref.extract_aligned_pointer_as_index", "intptr"),
    ("memref.memory_space_cast", "memspacecast"),
    ("memref.reinterpret_cast", "reinterpret_cast"),
    ("memref.reshape", "reshape"),
    ("memref.subview", "subview"),
    ("memref.transpose", "transpose"),
    ("memref.view", "view"),
];

pub(super) fn register(registry: &mut Registry) {
    for (op, effects, may_be_undefined) in EFFECTS {
        let model = OperandEffects::new(effects);
        let model = if *may_be_undefined { model.possibly_undefined() } else { model };
        registry.attach::<dyn MemoryEffects>(op, Box::new(model));
    }
    for op in VIEWS {
        registry.attach::<dyn ViewLike>(op, Box::new(View));
    }
    name_results(registry, NAMES);
    registry
        .attach_to::<dyn MemoryEffects>(crate::memref::DimOp::DEF, Box::new(Dim))
        .attach_to::<dyn PromotableAllocation>(crate::memref::AllocaOp::DEF, Box::new(Alloca))
        .attach_to::<dyn SplittableAllocation>(crate::memref::AllocaOp::DEF, Box::new(Alloca))
        .attach_to::<dyn SplittableUse>(crate::memref::LoadOp::DEF, Box::new(ElementUse { memref: 0 }))
        .attach_to::<dyn SplittableUse>(crate::memref::StoreOp::DEF, Box::new(ElementUse { memref: 1 }))
        .attach_to::<dyn StackAllocation>(crate::memref::AllocaOp::DEF, Box::new(Alloca))
        .attach_to::<dyn MemoryAccess>(
            crate::memref::LoadOp::DEF,
            Box::new(ElementAccess { memref: 0, stored: None }),
        )
        .attach_to::<dyn MemoryAccess>(
            crate::memref::StoreOp::DEF,
            Box::new(ElementAccess { memref: 1, stored: Some(0) }),
        )
        .attach_to::<dyn AsmNames>(crate::memref::ExtractStridedMetadataOp::DEF, Box::new(AsDefined))
        .attach_to::<dyn SymbolUser>(crate::memref::GetGlobalOp::DEF, Box::new(GetGlobal));
}
