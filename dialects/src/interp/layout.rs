//! How types lie in memory: the one place that knows sizes, alignments and padding.
//!
//! They are those of MLIR's lowering to LLVM on a 64-bit little-endian machine: an element of a memref takes the size LLVM
//! allocates for its type, so `i1` a byte, `i24` four, `index` eight, `vector<3xf32>` sixteen, `vector<12xi1>` two.
//!
//! Cost: linear in the type's nesting; an action asks once, when it is decoded.

use loomir_ir::{Attr, Context, Type, TypeKind};

use super::fault::Fault;

/// How a type lies in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Bytes from one to the next in an array.
    pub size: u64,
    /// A power of two.
    pub align: u64,
    /// What the bytes mean.
    pub repr: Repr,
}

/// What bytes in memory mean.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Repr {
    /// An integer, index or float in little-endian bytes.
    Scalar {
        /// How many bits count.
        bits: u32,
        /// How many bytes are read and written.
        bytes: u32,
    },
    /// A pointer of eight bytes.
    Pointer,
    /// `count` times the same, `stride` bytes apart.
    Sequence {
        /// How many.
        count: u64,
        /// Bytes from one to the next.
        stride: u64,
        /// Each of them.
        element: Box<Repr>,
    },
    /// `count` numbers of `bits` bits each without a gap, the first in the lowest bits: a vector of numbers that are no whole bytes.
    Packed {
        /// How many.
        count: u64,
        /// Bits of each.
        bits: u32,
    },
    /// Fields at their offsets.
    Struct(Box<[(u64, Repr)]>),
}

/// The deepest nesting of aggregates.
const MAX_DEPTH: usize = 64;
/// The longest array of elements without size.
const MAX_EMPTY: u64 = 1 << 10;

impl Layout {
    /// The layout of a type.
    pub fn of(ctx: &Context, ty: Type) -> Result<Layout, Box<Fault>> {
        layout(ctx, ty, 0)
            .ok_or_else(|| Fault::unsupported(format!("the type {} has no known layout", type_text(ctx, ty))))
    }

    fn scalar(bits: u32) -> Option<Layout> {
        if bits == 0 || bits > 128 {
            return None;
        }
        let bytes = bits.div_ceil(8);
        let align = bytes.next_power_of_two().into();
        Some(Layout { size: align, align, repr: Repr::Scalar { bits, bytes } })
    }

    fn structure(fields: impl IntoIterator<Item = Layout>, packed: bool) -> Option<Layout> {
        let (mut end, mut align, mut placed) = (0u64, 1, Vec::new());
        for field in fields {
            let field_align = if packed { 1 } else { field.align };
            let start = end.checked_next_multiple_of(field_align)?;
            end = start.checked_add(field.size)?;
            align = align.max(field_align);
            placed.push((start, field.repr));
        }
        let size = end.checked_next_multiple_of(align)?;
        Some(Layout { size, align, repr: Repr::Struct(placed.into()) })
    }
}

/// A type as text, for messages.
pub(crate) fn type_text(ctx: &Context, ty: Type) -> String {
    format!("`{}`", loomir_ir::text::type_to_string(ctx, ty))
}

/// Recursion is bounded by `MAX_DEPTH`.
fn layout(ctx: &Context, ty: Type, depth: usize) -> Option<Layout> {
    if depth > MAX_DEPTH {
        return None;
    }
    match ty.kind(ctx) {
        TypeKind::Index => Layout::scalar(64),
        TypeKind::Integer { width, .. } => Layout::scalar(*width),
        TypeKind::Float(kind) => Layout::scalar(kind.width()),
        TypeKind::Complex(element) => {
            let part = layout(ctx, *element, depth + 1)?;
            Layout::structure([part.clone(), part], false)
        }
        TypeKind::Vector { shape, scalable, element } if !scalable.contains(&true) => {
            let count = shape.iter().try_fold(1u64, |n, d| n.checked_mul(u64::try_from(*d).ok()?))?;
            let element = layout(ctx, *element, depth + 1)?;
            if let Repr::Scalar { bits, .. } = element.repr
                && u64::from(bits) != element.size * 8
            {
                let bytes = count.checked_mul(bits.into())?.div_ceil(8);
                let size = bytes.max(1).checked_next_power_of_two()?;
                return Some(Layout { size, align: size, repr: Repr::Packed { count, bits } });
            }
            let size = count.checked_mul(element.size)?.max(1).checked_next_power_of_two()?;
            let repr = Repr::Sequence { count, stride: element.size, element: Box::new(element.repr) };
            Some(Layout { size, align: size, repr })
        }
        TypeKind::Dialect { name, params } => dialect_layout(ctx, ctx.str(*name), params, depth),
        _ => None,
    }
}

fn dialect_layout(ctx: &Context, name: &str, params: &[Attr], depth: usize) -> Option<Layout> {
    match name {
        "llvm.ptr" => Some(Layout { size: 8, align: 8, repr: Repr::Pointer }),
        "llvm.array" => {
            let [count, element] = *params else { return None };
            let count = u64::try_from(count.as_int(ctx)?).ok()?;
            let element = layout(ctx, element.as_type(ctx)?, depth + 1)?;
            // Values of no size could be many without end.
            if element.size == 0 && count > MAX_EMPTY {
                return None;
            }
            let size = count.checked_mul(element.size)?;
            let repr = Repr::Sequence { count, stride: element.size, element: Box::new(element.repr) };
            Some(Layout { size, align: element.align, repr })
        }
        "llvm.struct" => {
            let (fields, packed) = struct_fields(ctx, params)?;
            let fields: Option<Vec<Layout>> =
                fields.into_iter().map(|field| layout(ctx, field, depth + 1)).collect();
            Layout::structure(fields?, packed)
        }
        _ => None,
    }
}

/// The types of a struct type's fields, and whether it is packed, from its parameters: a list of types among them, and
/// `true` for a packed one.
pub(crate) fn struct_fields(ctx: &Context, params: &[Attr]) -> Option<(Vec<Type>, bool)> {
    let fields = params.iter().find_map(|p| p.as_array(ctx))?;
    let packed = params.contains(&Attr::TRUE);
    let fields: Option<Vec<Type>> = fields.iter().map(|f| f.as_type(ctx)).collect();
    Some((fields?, packed))
}
