//! Vector types taken apart, and the constraints of the table.

use loomir_ir::{Context, Type, TypeKind};

/// A vector type.
#[derive(Clone, Copy, Debug)]
pub struct VectorShape<'c> {
    /// Its sizes.
    pub sizes: &'c [i64],
    /// For each dimension true if its size is multiplied by the machine's vector scale.
    pub scalable: &'c [bool],
    /// Type of an element.
    pub element: Type,
}

impl<'c> VectorShape<'c> {
    /// Returns the parts of a type, if it is a vector.
    pub fn of(ctx: &'c Context, ty: Type) -> Option<Self> {
        match ty.kind(ctx) {
            TypeKind::Vector { shape, scalable, element } => {
                Some(VectorShape { sizes: shape, scalable, element: *element })
            }
            _ => None,
        }
    }

    /// Returns the parts of a type. A scalar is a vector without dimensions.
    pub fn of_part(ctx: &'c Context, ty: Type) -> Self {
        Self::of(ctx, ty).unwrap_or(VectorShape { sizes: &[], scalable: &[], element: ty })
    }

    /// Returns the number of dimensions.
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// True if a dimension is scalable.
    pub fn is_scalable(&self) -> bool {
        self.scalable.contains(&true)
    }

    /// Returns the number of elements, if it fits; for a scalable vector that of the smallest
    /// machine.
    pub fn count(&self) -> Option<i64> {
        self.sizes.iter().try_fold(1i64, |count, size| count.checked_mul(*size))
    }

    /// Each dimension: its size, and true if it is scalable.
    pub fn dims(&self) -> impl ExactSizeIterator<Item = (i64, bool)> + DoubleEndedIterator + use<'c> {
        self.sizes.iter().copied().zip(self.scalable.iter().copied())
    }

    /// Returns the type of the parts behind the first `depth` dimensions: a vector, or an element
    /// if no dimension is left.
    pub fn part(&self, ctx: &Context, depth: usize) -> Type {
        if depth >= self.rank() {
            return self.element;
        }
        vector(ctx, self.dims().skip(depth), self.element)
    }
}

/// Returns a vector type with these dimensions.
pub fn vector(ctx: &Context, dims: impl IntoIterator<Item = (i64, bool)>, element: Type) -> Type {
    let (sizes, scalable): (Vec<i64>, Vec<bool>) = dims.into_iter().unzip();
    ctx.ty(TypeKind::Vector { shape: sizes.into(), scalable: scalable.into(), element })
}

/// Returns the vector type of fixed length with these sizes.
pub fn fixed_vector(ctx: &Context, sizes: &[i64], element: Type) -> Type {
    vector(ctx, sizes.iter().map(|size| (*size, false)), element)
}

/// Returns the row-major distance of neighbours in each dimension.
pub fn strides(sizes: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; sizes.len()];
    for d in (1..sizes.len()).rev() {
        strides[d - 1] = strides[d] * sizes[d];
    }
    strides
}

fn is_where(ctx: &Context, ty: Type, test: impl Fn(&VectorShape<'_>) -> bool) -> bool {
    VectorShape::of(ctx, ty).is_some_and(|shape| test(&shape))
}

/// True for a vector with dimensions.
pub(super) fn is_ranked(ctx: &Context, ty: Type) -> bool {
    is_where(ctx, ty, |shape| shape.rank() > 0)
}

/// True for a vector without scalable dimensions.
pub(super) fn is_fixed(ctx: &Context, ty: Type) -> bool {
    is_where(ctx, ty, |shape| !shape.is_scalable())
}

/// True for a vector of `i1`.
pub(super) fn is_bools(ctx: &Context, ty: Type) -> bool {
    is_where(ctx, ty, |shape| shape.element == Type::I1)
}

/// True for a vector of `i1` with dimensions.
pub(super) fn is_ranked_bools(ctx: &Context, ty: Type) -> bool {
    is_ranked(ctx, ty) && is_bools(ctx, ty)
}

/// True for a vector of `i1` with dimensions, none of them scalable.
pub(super) fn is_fixed_bools(ctx: &Context, ty: Type) -> bool {
    is_ranked_bools(ctx, ty) && is_fixed(ctx, ty)
}

/// True for a vector of floats.
pub(super) fn is_floats(ctx: &Context, ty: Type) -> bool {
    is_where(ctx, ty, |shape| shape.element.is_float(ctx))
}

/// True for a vector of integers or indices with dimensions.
pub(super) fn is_integers(ctx: &Context, ty: Type) -> bool {
    is_where(ctx, ty, |shape| {
        let element = shape.element;
        shape.rank() > 0 && (element.is_index() || element.integer_width(ctx).is_some())
    })
}

/// True for a vector of one dimension.
pub(super) fn is_line(ctx: &Context, ty: Type) -> bool {
    is_where(ctx, ty, |shape| shape.rank() == 1)
}

/// True for a vector of indices of one dimension.
pub(super) fn is_line_of_index(ctx: &Context, ty: Type) -> bool {
    is_where(ctx, ty, |shape| shape.rank() == 1 && shape.element.is_index())
}

/// True for a scalable vector of one dimension.
pub(super) fn is_scalable_line(ctx: &Context, ty: Type) -> bool {
    is_where(ctx, ty, |shape| shape.rank() == 1 && shape.is_scalable())
}

/// True for a memref or tensor.
pub(super) fn is_base(ctx: &Context, ty: Type) -> bool {
    matches!(ty.kind(ctx), TypeKind::MemRef { .. } | TypeKind::Tensor { .. })
}

/// True for a memref, tensor or vector.
pub(super) fn is_shaped(ctx: &Context, ty: Type) -> bool {
    is_base(ctx, ty) || VectorShape::of(ctx, ty).is_some()
}

/// True for a tensor of known rank.
pub(super) fn is_ranked_tensor(ctx: &Context, ty: Type) -> bool {
    matches!(ty.kind(ctx), TypeKind::Tensor { shape: Some(_), .. })
}

/// True for a number or vector.
pub(super) fn is_printable(ctx: &Context, ty: Type) -> bool {
    VectorShape::of(ctx, ty).is_some()
        || matches!(ty.kind(ctx), TypeKind::Integer { .. } | TypeKind::Index | TypeKind::Float(_))
}
