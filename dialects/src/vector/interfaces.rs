//! Interfaces of the `vector` operations: effects, accesses, names, masks.
//!
//! An access says which elements it may touch: neighbours along the last dimension if the vector
//! has one dimension, else any of the memref. Operations on tensors touch no memory.

use loomir_ir::text::AsmNames;
use loomir_ir::{AffineMap, Attr, OpRef, Registry, Type, TypeKind, Value};
use smallvec::SmallVec;

use super::shape::VectorShape;
use super::verify::transfer::{Along, along, minor_identity};
use crate::interfaces::{
    Access, Effect, EffectKind, MemoryEffects, Resource, Subscripts, VectorAccess, ViewLike,
};
use crate::names::{AsDefined, Named};

/// Returns the dimension of memory behind each dimension of a transferred vector. `None` stands for
/// a dimension that repeats elements. Without an answer the map has other results.
pub fn transferred_dims(op: OpRef<'_>) -> Option<Vec<Option<usize>>> {
    let ctx = op.ctx();
    let map = op.attr("permutation_map").and_then(|map| map.as_affine_map(ctx))?;
    let dim = |own| match own {
        Along::Dim(d) => Some(d),
        Along::Repeat => None,
    };
    Some(along(ctx, map)?.into_iter().map(dim).collect())
}

/// True if the dimensions of a transferred vector are the last ones of the memref, in their order.
pub fn is_minor_identity(op: OpRef<'_>) -> bool {
    let ctx = op.ctx();
    let map = op.attr("permutation_map").and_then(|map| map.as_affine_map(ctx));
    let base = Touch::base(op).map(|base| op.type_of(base));
    let vector = match op.operand_group("valueToStore").first() {
        Some(value) => Some(op.type_of(*value)),
        None => op.results().next().map(|result| op.type_of(result)),
    };
    let own = base.zip(vector).and_then(|(base, vector)| minor_identity(ctx, base, vector));
    map.is_some() && map == own
}

/// Loads and stores of vectors: the memref, the vector, and the effect.
#[derive(Clone, Copy)]
struct Touch {
    kind: EffectKind,
    /// The name of the operands that place the first element.
    indices: &'static str,
    shape: Shape,
}

/// The elements that an access touches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// All neighbours.
    Neighbours,
    /// Some of the neighbours.
    Masked,
    /// The elements of a transfer.
    Transfer,
    /// Any.
    Anywhere,
}

const READ: EffectKind = EffectKind::Read;
const WRITE: EffectKind = EffectKind::Write;

const TOUCHES: &[(&str, Touch)] = &[
    ("vector.load", Touch { kind: READ, indices: "indices", shape: Shape::Neighbours }),
    ("vector.store", Touch { kind: WRITE, indices: "indices", shape: Shape::Neighbours }),
    ("vector.maskedload", Touch { kind: READ, indices: "indices", shape: Shape::Masked }),
    ("vector.maskedstore", Touch { kind: WRITE, indices: "indices", shape: Shape::Masked }),
    ("vector.expandload", Touch { kind: READ, indices: "indices", shape: Shape::Masked }),
    ("vector.compressstore", Touch { kind: WRITE, indices: "indices", shape: Shape::Masked }),
    ("vector.transfer_read", Touch { kind: READ, indices: "indices", shape: Shape::Transfer }),
    ("vector.transfer_write", Touch { kind: WRITE, indices: "indices", shape: Shape::Transfer }),
    ("vector.gather", Touch { kind: READ, indices: "offsets", shape: Shape::Anywhere }),
    ("vector.scatter", Touch { kind: WRITE, indices: "offsets", shape: Shape::Anywhere }),
];

impl Touch {
    fn base(op: OpRef<'_>) -> Option<Value> {
        op.operand_group("base").first().copied()
    }

    /// Returns the vector that is read or written.
    fn vector(self, op: OpRef<'_>) -> Option<Type> {
        match self.kind {
            EffectKind::Write => op.operand_group("valueToStore").first().map(|value| op.type_of(*value)),
            _ => op.results().next().map(|result| op.type_of(result)),
        }
    }

    /// True if the elements are neighbours along the last dimension.
    fn is_along_last(self, op: OpRef<'_>) -> bool {
        match self.shape {
            Shape::Neighbours | Shape::Masked => true,
            Shape::Anywhere => false,
            Shape::Transfer => is_minor_identity(op),
        }
    }
}

impl MemoryEffects for Touch {
    fn effects(&self, op: OpRef<'_>) -> Vec<Effect> {
        let base = Self::base(op).filter(|base| {
            // A tensor is a value.
            !matches!(op.type_of(*base).kind(op.ctx()), TypeKind::Tensor { .. })
        });
        base.map(|base| Effect { kind: self.kind, on: Resource::Value(base) }).into_iter().collect()
    }

    fn may_be_undefined(&self, _: OpRef<'_>) -> bool {
        true
    }
}

impl VectorAccess for Touch {
    fn first(&self, op: OpRef<'_>) -> Access {
        let operands: SmallVec<[Value; 2]> = op.operand_group(self.indices).into();
        let map = AffineMap::identity(op.ctx(), operands.len() as u32);
        let stored = op.operand_group("valueToStore").first().copied();
        Access {
            memref: Self::base(op).unwrap_or_else(|| op.operand(0)),
            subscripts: Subscripts { map, operands },
            stored: stored.filter(|_| self.kind == EffectKind::Write),
        }
    }

    fn count(&self, op: OpRef<'_>) -> Option<i64> {
        let ctx = op.ctx();
        let shape = VectorShape::of(ctx, self.vector(op)?)?;
        let base = Self::base(op).map(|base| op.type_of(base))?;
        // A memref of vectors has other elements than the vector.
        let is_plain = base.element(ctx) == Some(shape.element) && !shape.is_scalable();
        let is_line = shape.rank() == 1 && base.shape(ctx).is_some_and(|sizes| !sizes.is_empty());
        let count = *shape.sizes.first()?;
        (is_plain && is_line && count > 0 && self.is_along_last(op)).then_some(count)
    }

    fn is_partial(&self, op: OpRef<'_>) -> bool {
        let is_inside = || {
            let bounds = op.attr("in_bounds").and_then(|bounds| bounds.as_array(op.ctx()));
            bounds.is_some_and(|bounds| bounds.iter().all(|own| *own == Attr::TRUE))
        };
        match self.shape {
            Shape::Neighbours => false,
            Shape::Transfer => !op.operand_group("mask").is_empty() || !is_inside(),
            Shape::Masked | Shape::Anywhere => true,
        }
    }

    fn stays_in_row(&self, _: OpRef<'_>) -> bool {
        self.shape == Shape::Transfer
    }
}

/// `print`.
struct Prints;

impl MemoryEffects for Prints {
    fn effects(&self, _: OpRef<'_>) -> Vec<Effect> {
        vec![Effect { kind: WRITE, on: Resource::World }]
    }

    fn may_be_undefined(&self, _: OpRef<'_>) -> bool {
        true
    }
}

/// The memref of `type_cast` seen through.
struct View;

impl ViewLike for View {
    fn source(&self, op: OpRef<'_>) -> Value {
        op.operand(0)
    }
}

pub(super) fn register(registry: &mut Registry) {
    for (name, touch) in TOUCHES {
        registry.attach::<dyn MemoryEffects>(name, Box::new(*touch));
        registry.attach::<dyn VectorAccess>(name, Box::new(*touch));
    }
    registry
        .attach_to::<dyn MemoryEffects>(super::PrintOp::DEF, Box::new(Prints))
        .attach_to::<dyn ViewLike>(super::TypeCastOp::DEF, Box::new(View))
        .attach_to::<dyn AsmNames>(super::DeinterleaveOp::DEF, Box::new(AsDefined))
        .attach_to::<dyn AsmNames>(super::ScanOp::DEF, Box::new(AsDefined))
        .attach_to::<dyn AsmNames>(super::VectorScaleOp::DEF, Box::new(Named("vscale")));
}
