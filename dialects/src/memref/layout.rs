//! Memref types taken apart, and the types of their views.
//!
//! Sizes, strides and offsets are numbers, or [`DYNAMIC`] if they are known only at run time. A
//! computation with a dynamic number is dynamic, except that zero times it is zero.

use loomir_ir::{Attr, AttrKind, Context, DYNAMIC, Type, TypeKind};

/// A ranked memref type.
#[derive(Clone, Debug)]
pub(crate) struct Ranked<'c> {
    /// Its sizes.
    pub(crate) shape: &'c [i64],
    /// Type of an element.
    pub(crate) element: Type,
    /// Its layout, `None` for the identity.
    pub(crate) layout: Option<Attr>,
    /// Its memory space.
    pub(crate) space: Option<Attr>,
}

impl<'c> Ranked<'c> {
    /// Returns the parts of a type, if it is a ranked memref.
    pub(crate) fn of(ctx: &'c Context, ty: Type) -> Option<Self> {
        match ty.kind(ctx) {
            TypeKind::MemRef { shape: Some(shape), element, layout, memory_space } => {
                Some(Ranked { shape, element: *element, layout: *layout, space: *memory_space })
            }
            _ => None,
        }
    }

    /// True if the layout is known to be contiguous in row-major order: no layout, or one dimension
    /// of stride one.
    fn is_identity(&self, ctx: &Context) -> bool {
        match self.layout.map(|layout| layout.kind(ctx)) {
            None => true,
            Some(AttrKind::Strided { offset: 0, strides }) => **strides == [1],
            Some(_) => false,
        }
    }

    /// Returns a memref of the same elements in the same space with other sizes and layout.
    pub(crate) fn with(&self, ctx: &Context, shape: &[i64], layout: Option<Attr>) -> Type {
        ctx.ty(TypeKind::MemRef {
            shape: Some(shape.into()),
            element: self.element,
            layout,
            memory_space: self.space,
        })
    }

    /// Like [`Ranked::with`], with strides and offset as the layout.
    pub(crate) fn strided(&self, ctx: &Context, shape: &[i64], strides: &[i64], offset: i64) -> Type {
        let layout = ctx.attr(AttrKind::Strided { offset, strides: strides.into() });
        self.with(ctx, shape, Some(layout))
    }
}

/// Element type and memory space of a ranked or unranked memref.
pub(super) fn element_and_space(ctx: &Context, ty: Type) -> Option<(Type, Option<Attr>)> {
    match ty.kind(ctx) {
        TypeKind::MemRef { element, memory_space, .. } => Some((*element, *memory_space)),
        _ => None,
    }
}

/// Returns the number of dynamic sizes.
pub(super) fn num_dynamic(shape: &[i64]) -> usize {
    shape.iter().filter(|size| **size == DYNAMIC).count()
}

fn ranked_where(ctx: &Context, ty: Type, test: impl Fn(&Ranked<'_>) -> bool) -> bool {
    Ranked::of(ctx, ty).is_some_and(|memref| test(&memref))
}

/// True if it is a ranked memref with strides.
pub(super) fn is_strided(ctx: &Context, ty: Type) -> bool {
    ty.strides_and_offset(ctx).is_some()
}

/// True if it is a memref of rank zero with strides.
pub(super) fn is_strided_scalar(ctx: &Context, ty: Type) -> bool {
    is_strided(ctx, ty) && ranked_where(ctx, ty, |memref| memref.shape.is_empty())
}

/// True if it is a memref all of whose sizes are known.
pub(super) fn is_static(ctx: &Context, ty: Type) -> bool {
    ranked_where(ctx, ty, |memref| num_dynamic(memref.shape) == 0)
}

/// True if it is a memref of one dimension.
pub(super) fn is_one_dimensional(ctx: &Context, ty: Type) -> bool {
    ranked_where(ctx, ty, |memref| memref.shape.len() == 1)
}

/// True if it is a memref of `i8` of one dimension.
pub(super) fn is_byte_buffer(ctx: &Context, ty: Type) -> bool {
    ranked_where(ctx, ty, |memref| memref.shape.len() == 1 && memref.element == Type::I8)
}

/// True if it is a memref of integers or indices of one dimension.
pub(super) fn is_shape_buffer(ctx: &Context, ty: Type) -> bool {
    ranked_where(ctx, ty, |memref| {
        memref.shape.len() == 1 && (memref.element.is_signless_integer(ctx) || memref.element.is_index())
    })
}

/// True if it is a memref of unknown rank, or of one that is not zero.
pub(super) fn has_dimensions(ctx: &Context, ty: Type) -> bool {
    match ty.kind(ctx) {
        TypeKind::MemRef { shape, .. } => shape.as_ref().is_none_or(|shape| !shape.is_empty()),
        _ => false,
    }
}

/// True if it is a memref of integers or floats.
pub(super) fn is_atomic_memref(ctx: &Context, ty: Type) -> bool {
    ranked_where(ctx, ty, |memref| memref.element.is_signless_integer(ctx) || memref.element.is_float(ctx))
}

/// Returns the product, or [`DYNAMIC`] if it is unknown or does not fit.
fn times(a: i64, b: i64) -> i64 {
    match (a, b) {
        (0, _) | (_, 0) => 0,
        (DYNAMIC, _) | (_, DYNAMIC) => DYNAMIC,
        _ => a.checked_mul(b).unwrap_or(DYNAMIC),
    }
}

/// Returns the sum, or [`DYNAMIC`] if it is unknown or does not fit.
fn plus(a: i64, b: i64) -> i64 {
    if a == DYNAMIC || b == DYNAMIC { DYNAMIC } else { a.checked_add(b).unwrap_or(DYNAMIC) }
}

/// Returns the type of a part of a strided memref without dropped dimensions. The lists are as long
/// as its rank.
pub(crate) fn subview_type(
    ctx: &Context,
    source: Type,
    offsets: &[i64],
    sizes: &[i64],
    strides: &[i64],
) -> Option<Type> {
    let (own_strides, own_offset) = source.strides_and_offset(ctx)?;
    let offset = own_strides.iter().zip(offsets).fold(own_offset, |sum, (s, o)| plus(sum, times(*s, *o)));
    let strides: Vec<i64> = own_strides.iter().zip(strides).map(|(a, b)| times(*a, *b)).collect();
    Some(Ranked::of(ctx, source)?.strided(ctx, sizes, &strides, offset))
}

/// Returns, for each dimension of `full`, true if it is dropped in `reduced`. Only dimensions of
/// size one may be dropped. Both lists hold a size and a description of each dimension. Returns
/// `None` if `reduced` is not `full` without some of its unit dimensions.
///
/// Greedy matching is complete. Had a fitting dimension been dropped for a later one, the later one
/// would have the same description and size one too, and could be dropped instead.
pub(crate) fn dropped_dimensions<T: PartialEq>(full: &[(i64, T)], reduced: &[(i64, T)]) -> Option<Vec<bool>> {
    let mut next = 0;
    let mut dropped = Vec::with_capacity(full.len());
    for dimension in full {
        let kept = reduced.get(next) == Some(dimension);
        if !kept && dimension.0 != 1 {
            return None;
        }
        next += usize::from(kept);
        dropped.push(!kept);
    }
    (next == reduced.len()).then_some(dropped)
}

/// Returns the groups of an attribute such as `[[0, 1], [2]]`.
pub(crate) fn reassociation(ctx: &Context, attr: Attr) -> Option<Vec<Vec<i64>>> {
    let group = |attr: &Attr| attr.as_array(ctx)?.iter().map(|i| i.as_int(ctx)).collect();
    attr.as_array(ctx)?.iter().map(group).collect()
}

/// Returns the type of a strided memref after each dimension is split into a group of these sizes.
pub(super) fn expanded_type(ctx: &Context, source: Type, shape: &[i64], groups: &[Vec<i64>]) -> Option<Type> {
    let memref = Ranked::of(ctx, source)?;
    if memref.is_identity(ctx) {
        return Some(memref.with(ctx, shape, None));
    }
    let (own_strides, offset) = source.strides_and_offset(ctx)?;
    let mut strides = vec![1; shape.len()];
    for (group, stride) in groups.iter().zip(own_strides) {
        let mut stride = stride;
        for dimension in group.iter().rev() {
            let dimension = usize::try_from(*dimension).ok().filter(|d| *d < shape.len())?;
            strides[dimension] = stride;
            stride = times(stride, shape[dimension]);
        }
    }
    Some(memref.strided(ctx, shape, &strides, offset))
}

/// Returns the type of a strided memref after each group of dimensions is joined into one of
/// `shape`. `None` if a group is certainly not contiguous.
pub(super) fn collapsed_type(
    ctx: &Context,
    source: Type,
    shape: &[i64],
    groups: &[Vec<i64>],
) -> Option<Type> {
    let memref = Ranked::of(ctx, source)?;
    if memref.is_identity(ctx) {
        return Some(memref.with(ctx, shape, None));
    }
    let (own_strides, offset) = source.strides_and_offset(ctx)?;
    let mut strides = Vec::with_capacity(groups.len());
    for group in groups {
        let group: Vec<usize> = group.iter().map(|d| usize::try_from(*d).ok()).collect::<Option<_>>()?;
        strides.push(joined_stride(memref.shape, &own_strides, &group)?);
    }
    Some(memref.strided(ctx, shape, &strides, offset))
}

/// Returns the stride of the joined dimensions of a group: the stride of the last dimension whose
/// size is not one.
fn joined_stride(shape: &[i64], strides: &[i64], group: &[usize]) -> Option<i64> {
    // The stride of a dimension of size one has no meaning.
    let mut last = group.len().checked_sub(1)?;
    while last > 0 && shape[group[last]] == 1 {
        last -= 1;
    }
    // A dynamic size may turn out to be one.
    let stride = if shape[group[last]] == DYNAMIC && last > 0 { DYNAMIC } else { strides[group[last]] };
    let mut expected = stride;
    for pair in group.windows(2).rev() {
        expected = times(expected, shape[pair[1]]);
        let known = expected != DYNAMIC && strides[pair[0]] != DYNAMIC;
        if shape[pair[0]] != 1 && known && expected != strides[pair[0]] {
            return None;
        }
    }
    Some(stride)
}
