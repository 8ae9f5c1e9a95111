//! Memrefs as structs of LLVM IR: reading their parts, and building them.
//!
//! `(allocated pointer, aligned pointer, offset, sizes, strides)`. `dealloc` frees the allocated
//! pointer; accesses start from the aligned one. Static facts of the memref's type (a size, a
//! stride of 1) are not read from the struct.
//!
//! A bare pointer is the aligned pointer. The memref that is made of it has the same pointer to
//! free, so objects with an alignment come from `aligned_alloc` where pointers are bare.

use loomir_dialects::llvm::types::{LlvmType, pointer_in};
use loomir_ir::{DYNAMIC, Type, TypeKind, Value};

use super::function::FunctionConverter;
use super::types::bare_pointer;

/// Position of the allocated pointer.
pub const ALLOCATED: i64 = 0;
/// Position of the aligned pointer.
pub const ALIGNED: i64 = 1;
/// Position of the offset.
pub const OFFSET: i64 = 2;
/// Position of the sizes.
pub const SIZES: i64 = 3;
/// Position of the strides.
pub const STRIDES: i64 = 4;

/// All a descriptor holds.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The pointer to free.
    pub allocated: Value,
    /// The pointer to access through.
    pub aligned: Value,
    /// In elements.
    pub offset: Value,
    /// One a dimension.
    pub sizes: Vec<Value>,
    /// One a dimension, in elements.
    pub strides: Vec<Value>,
}

/// Returns the type of the pointers of a descriptor type.
fn pointer_type(cx: &FunctionConverter<'_>, descriptor: Type) -> Type {
    let ctx = cx.ctx();
    match LlvmType::of(&ctx, descriptor) {
        Some(LlvmType::Struct(s)) => {
            let is_pointer = |ty: &Type| matches!(LlvmType::of(&ctx, *ty), Some(LlvmType::Pointer { .. }));
            s.body.into_iter().flatten().find(is_pointer)
        }
        _ => None,
    }
    .unwrap_or_else(|| pointer_in(&ctx, 0))
}

/// Builds a descriptor of type `ty` from its parts in the order of arguments. The parts of a ranked
/// memref are pointers, offset, sizes and strides; of an unranked one rank and pointer.
pub fn from_parts(cx: &mut FunctionConverter<'_>, ty: Type, parts: &[Value]) -> Value {
    let mut value = cx.poison(ty);
    let rank = parts.len().saturating_sub(3) / 2;
    for (i, part) in parts.iter().enumerate() {
        let position = match i {
            0..3 => vec![i as i64],
            _ if i - 3 < rank => vec![SIZES, (i - 3) as i64],
            _ => vec![STRIDES, (i - 3 - rank) as i64],
        };
        value = cx.insert_value(value, *part, &position);
    }
    value
}

/// Returns a descriptor of type `ty`.
pub fn build(cx: &mut FunctionConverter<'_>, ty: Type, parts: &Parts) -> Value {
    let mut all = vec![parts.allocated, parts.aligned, parts.offset];
    all.extend(&parts.sizes);
    all.extend(&parts.strides);
    from_parts(cx, ty, &all)
}

/// Builds the descriptor of the memref type `memref`, whose sizes, strides and offset are static,
/// from the pointer that it is passed as. `None` for any other type.
pub fn from_bare_pointer(cx: &mut FunctionConverter<'_>, memref: Type, pointer: Value) -> Option<Value> {
    bare_pointer(&cx.ctx(), memref)?;
    let shape = Shape::of(cx, memref)?;
    let ty = cx.convert_type(memref).ok()?;
    let offset = cx.index(shape.offset);
    let sizes = shape.sizes.iter().map(|size| cx.index(*size)).collect();
    let strides = shape.strides.iter().map(|stride| cx.index(*stride)).collect();
    let parts = Parts { allocated: pointer, aligned: pointer, offset, sizes, strides };
    Some(build(cx, ty, &parts))
}

/// Returns all parts of the descriptor of a memref of rank `rank`, in the order of arguments.
pub fn to_parts(cx: &mut FunctionConverter<'_>, descriptor: Value, rank: usize) -> Vec<Value> {
    let pointer = pointer_type(cx, cx.type_of(descriptor));
    let mut parts = vec![
        cx.extract(descriptor, &[ALLOCATED], pointer),
        cx.extract(descriptor, &[ALIGNED], pointer),
        cx.extract(descriptor, &[OFFSET], Type::I64),
    ];
    for field in [SIZES, STRIDES] {
        parts.extend((0..rank as i64).map(|i| cx.extract(descriptor, &[field, i], Type::I64)));
    }
    parts
}

/// Returns the two parts of the descriptor of an unranked memref: its rank, and the pointer to a
/// ranked descriptor.
pub fn unranked_parts(cx: &mut FunctionConverter<'_>, descriptor: Value) -> (Value, Value) {
    let pointer = pointer_type(cx, cx.type_of(descriptor));
    (cx.extract(descriptor, &[0], Type::I64), cx.extract(descriptor, &[1], pointer))
}

/// Returns the allocated pointer.
pub fn allocated(cx: &mut FunctionConverter<'_>, descriptor: Value) -> Value {
    let pointer = pointer_type(cx, cx.type_of(descriptor));
    cx.extract(descriptor, &[ALLOCATED], pointer)
}

/// Returns the aligned pointer.
pub fn aligned(cx: &mut FunctionConverter<'_>, descriptor: Value) -> Value {
    let pointer = pointer_type(cx, cx.type_of(descriptor));
    cx.extract(descriptor, &[ALIGNED], pointer)
}

/// The static facts of a memref's type: sizes, strides and offset, [`DYNAMIC`] if they are not
/// known.
#[derive(Clone, Debug)]
pub struct Shape {
    /// One a dimension.
    pub sizes: Vec<i64>,
    /// One a dimension.
    pub strides: Vec<i64>,
    /// The offset.
    pub offset: i64,
    /// True if the layout is the identity.
    pub is_identity: bool,
}

impl Shape {
    /// Returns the static facts of a ranked, strided memref type.
    pub fn of(cx: &FunctionConverter<'_>, ty: Type) -> Option<Shape> {
        let ctx = cx.ctx();
        let sizes = ty.shape(&ctx)?.to_vec();
        let (strides, offset) = ty.strides_and_offset(&ctx)?;
        let is_identity = matches!(ty.kind(&ctx), TypeKind::MemRef { layout: None, .. });
        Some(Shape { sizes, strides, offset, is_identity })
    }

    /// Returns the number of dimensions.
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// True if the type guarantees that the elements are contiguous in row-major order.
    pub fn is_contiguous(&self) -> bool {
        if self.is_identity {
            return true;
        }
        let mut expected = 1i64;
        for (size, stride) in self.sizes.iter().zip(&self.strides).rev() {
            if *size == 1 {
                continue;
            }
            if expected == DYNAMIC || *stride != expected {
                return false;
            }
            expected = if *size == DYNAMIC { DYNAMIC } else { expected.saturating_mul(*size) };
        }
        true
    }
}

/// Returns size `dimension`: a constant if it is static.
pub fn size(cx: &mut FunctionConverter<'_>, descriptor: Value, shape: &Shape, dimension: usize) -> Value {
    match shape.sizes[dimension] {
        DYNAMIC => cx.extract(descriptor, &[SIZES, dimension as i64], Type::I64),
        known => cx.index(known),
    }
}

/// Returns stride `dimension`: a constant if it is static.
pub fn stride(cx: &mut FunctionConverter<'_>, descriptor: Value, shape: &Shape, dimension: usize) -> Value {
    match shape.strides[dimension] {
        DYNAMIC => cx.extract(descriptor, &[STRIDES, dimension as i64], Type::I64),
        known => cx.index(known),
    }
}

/// Returns the offset: a constant if it is static.
pub fn offset(cx: &mut FunctionConverter<'_>, descriptor: Value, shape: &Shape) -> Value {
    match shape.offset {
        DYNAMIC => cx.extract(descriptor, &[OFFSET], Type::I64),
        known => cx.index(known),
    }
}
