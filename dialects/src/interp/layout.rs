//! Types in memory: the one place that knows sizes, alignments and padding.
//!
//! They match MLIR's lowering to LLVM for a target's [`DataLayout`]: an element of a memref takes
//! the size LLVM allocates for its type. Without a stated layout that is a byte for `i1`, four for
//! `i24`, eight for `index`, sixteen for `vector<3xf32>`, two for `vector<12xi1>`.
//!
//! A type has two sizes. [`Layout::size`] is the distance between consecutive elements of an array.
//! [`Layout::store_size`] is the number of bytes that a load or a store touches, which may be
//! smaller: three of `i24`, ten of `x86_fp80`, twelve of `vector<3xi32>`.
//!
//! Cost: linear in the type's nesting; an action asks once, when it is decoded.

use loomir_ir::{Attr, Context, Type, TypeKind};

pub use self::data_layout::{DATA_LAYOUT, DataLayout, PointerLayout};
use super::fault::Fault;

mod data_layout;

/// A type's place in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The distance in bytes between elements of an array. LLVM calls it the allocation size.
    pub size: u64,
    /// The number of bytes that a load or a store touches.
    pub store_size: u64,
    /// A power of two.
    pub align: u64,
    /// The representation of the bytes.
    pub repr: Repr,
}

/// The representation of a value as bytes in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Repr {
    /// An integer, index or float in little-endian bytes.
    Scalar {
        /// The number of significant bits.
        bits: u32,
        /// The number of bytes that are read and written.
        bytes: u32,
    },
    /// A pointer.
    Pointer {
        /// Its bytes.
        bytes: u32,
    },
    /// `count` values of one layout, `stride` bytes apart.
    Sequence {
        /// The number of elements.
        count: u64,
        /// The distance in bytes between two values.
        stride: u64,
        /// Each of them.
        element: Box<Repr>,
    },
    /// `count` numbers of `bits` bits each without gaps, the first in the lowest bits: a vector of
    /// numbers that do not fill whole bytes.
    Packed {
        /// The number of elements.
        count: u64,
        /// Bits of each.
        bits: u32,
    },
    /// Fields at their offsets.
    Struct(Box<[(u64, Repr)]>),
}

/// The deepest nesting of aggregates.
const MAX_DEPTH: usize = 64;
/// The maximal length of an array of elements without size.
const MAX_EMPTY: u64 = 1 << 10;

impl Layout {
    /// Returns the layout of a type on a target.
    ///
    /// # Errors
    /// If the type has no size, or an unknown one.
    pub fn of(ctx: &Context, ty: Type, target: &DataLayout) -> Result<Layout, Box<Fault>> {
        let known = if target.is_known() { layout(ctx, ty, target, 0) } else { None };
        known
            .ok_or_else(|| Fault::unsupported(format!("the type {} has no known layout", type_text(ctx, ty))))
    }

    /// True if a store of the type sets every bit of every byte that it touches. The type then has
    /// neither padding nor partly used bytes.
    pub fn fills_its_bytes(&self) -> bool {
        self.repr.whole_bytes() == Some(self.store_size)
    }

    fn scalar(bits: u32, align: u64) -> Option<Layout> {
        if bits == 0 || bits > 128 {
            return None;
        }
        let bytes = bits.div_ceil(8);
        let store_size = u64::from(bytes);
        let size = store_size.checked_next_multiple_of(align)?;
        Some(Layout { size, store_size, align, repr: Repr::Scalar { bits, bytes } })
    }

    fn pointer(own: PointerLayout) -> Option<Layout> {
        let bytes = own.bits.div_ceil(8);
        let size = u64::from(bytes).checked_next_multiple_of(own.align)?;
        Some(Layout { size, store_size: bytes.into(), align: own.align, repr: Repr::Pointer { bytes } })
    }

    fn vector(count: u64, element: Layout, target: &DataLayout) -> Option<Layout> {
        let (bits, repr) = match element.repr {
            Repr::Scalar { bits, .. } if u64::from(bits) != element.size * 8 => {
                (count.checked_mul(bits.into())?, Repr::Packed { count, bits })
            }
            repr => {
                let bits = count.checked_mul(element.size)?.checked_mul(8)?;
                (bits, Repr::Sequence { count, stride: element.size, element: Box::new(repr) })
            }
        };
        let (store_size, align) = (bits.div_ceil(8), target.vector_align(bits)?);
        let size = store_size.max(1).checked_next_multiple_of(align)?;
        Some(Layout { size, store_size, align, repr })
    }

    fn structure(
        fields: impl IntoIterator<Item = Layout>,
        packed: bool,
        target: &DataLayout,
    ) -> Option<Layout> {
        let least = if packed { 1 } else { target.aggregate_align() };
        let (mut end, mut align, mut placed) = (0u64, least, Vec::new());
        for field in fields {
            let field_align = if packed { 1 } else { field.align };
            let start = end.checked_next_multiple_of(field_align)?;
            end = start.checked_add(field.size)?;
            align = align.max(field_align);
            placed.push((start, field.repr));
        }
        let size = end.checked_next_multiple_of(align)?;
        Some(Layout { size, store_size: size, align, repr: Repr::Struct(placed.into()) })
    }
}

impl Repr {
    /// A pointer of eight bytes.
    pub const POINTER: Repr = Repr::Pointer { bytes: 8 };

    /// Returns the size of a pointer in the type, if it is not eight bytes. Recursion as for
    /// [`whole_bytes`](Self::whole_bytes).
    pub(super) fn odd_pointer(&self) -> Option<u32> {
        match self {
            Repr::Pointer { bytes } => Some(*bytes).filter(|bytes| *bytes != 8),
            Repr::Sequence { element, .. } => element.odd_pointer(),
            Repr::Struct(fields) => fields.iter().find_map(|(_, field)| field.odd_pointer()),
            Repr::Scalar { .. } | Repr::Packed { .. } => None,
        }
    }

    /// Returns the number of bytes that hold the value; `None` if some byte holds only a part of
    /// the value's bits. Recursion is bounded by `MAX_DEPTH`, as the type was.
    fn whole_bytes(&self) -> Option<u64> {
        match self {
            Repr::Scalar { bits, bytes } => (*bits == bytes * 8).then_some(u64::from(*bytes)),
            Repr::Pointer { bytes } => Some(u64::from(*bytes)),
            Repr::Sequence { count, element, .. } => element.whole_bytes()?.checked_mul(*count),
            Repr::Packed { count, bits } => {
                let bits = count.checked_mul(u64::from(*bits))?;
                bits.is_multiple_of(8).then_some(bits / 8)
            }
            Repr::Struct(fields) => {
                fields.iter().try_fold(0u64, |sum, (_, field)| sum.checked_add(field.whole_bytes()?))
            }
        }
    }
}

/// Returns a type as text, for messages.
pub(crate) fn type_text(ctx: &Context, ty: Type) -> String {
    format!("`{}`", loomir_ir::text::type_to_string(ctx, ty))
}

/// Recursion is bounded by `MAX_DEPTH`.
fn layout(ctx: &Context, ty: Type, target: &DataLayout, depth: usize) -> Option<Layout> {
    if depth > MAX_DEPTH {
        return None;
    }
    match ty.kind(ctx) {
        TypeKind::Index => Layout::scalar(64, 8),
        TypeKind::Integer { width, .. } => Layout::scalar(*width, target.integer_align(*width)),
        TypeKind::Float(kind) => Layout::scalar(kind.width(), target.float_align(kind.width())),
        TypeKind::Complex(element) => {
            let part = layout(ctx, *element, target, depth + 1)?;
            Layout::structure([part.clone(), part], false, target)
        }
        TypeKind::Vector { shape, scalable, element } if !scalable.contains(&true) => {
            let count = shape.iter().try_fold(1u64, |n, d| n.checked_mul(u64::try_from(*d).ok()?))?;
            Layout::vector(count, layout(ctx, *element, target, depth + 1)?, target)
        }
        TypeKind::Dialect { name, params } => dialect_layout(ctx, ctx.str(*name), params, target, depth),
        _ => None,
    }
}

fn dialect_layout(
    ctx: &Context,
    name: &str,
    params: &[Attr],
    target: &DataLayout,
    depth: usize,
) -> Option<Layout> {
    match name {
        "llvm.ptr" => {
            let space = params.first().map_or(Some(0), |space| u32::try_from(space.as_int(ctx)?).ok())?;
            Layout::pointer(target.pointer(space))
        }
        "llvm.array" => {
            let [count, element] = *params else { return None };
            let count = u64::try_from(count.as_int(ctx)?).ok()?;
            let element = layout(ctx, element.as_type(ctx)?, target, depth + 1)?;
            // The number of values without size is unbounded.
            if element.size == 0 && count > MAX_EMPTY {
                return None;
            }
            let size = count.checked_mul(element.size)?;
            let repr = Repr::Sequence { count, stride: element.size, element: Box::new(element.repr) };
            Some(Layout { size, store_size: size, align: element.align, repr })
        }
        "llvm.struct" => {
            let (fields, packed) = struct_fields(ctx, params)?;
            let fields: Option<Vec<Layout>> =
                fields.into_iter().map(|field| layout(ctx, field, target, depth + 1)).collect();
            Layout::structure(fields?, packed, target)
        }
        _ => None,
    }
}

/// Returns the types of a struct type's fields, and true for a packed struct, from its parameters:
/// a list of types among them, and `true` for a packed struct.
pub(crate) fn struct_fields(ctx: &Context, params: &[Attr]) -> Option<(Vec<Type>, bool)> {
    let fields = params.iter().find_map(|p| p.as_array(ctx))?;
    let packed = params.contains(&Attr::TRUE);
    let fields: Option<Vec<Type>> = fields.iter().map(|f| f.as_type(ctx)).collect();
    Some((fields?, packed))
}
