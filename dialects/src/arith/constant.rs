//! Constants as numbers, for folds.
//!
//! An integer, float or dense elements attribute is read as bit patterns: one for a scalar or a
//! splat, else one for each element. It is written back as an attribute of a given type. Elements
//! wider than 128 bits are left alone.

use loomir_ir::{Attr, AttrKind, Context, Signedness, Type, TypeKind};

/// The bits of a constant. Bits above the element's width are zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Numbers {
    /// A scalar, or a vector or tensor with equal elements.
    One(u128),
    /// The elements in row-major order.
    Many(Vec<u128>),
}

/// Returns the width in bits of an integer of at most 128 bits, an index (64) or a float.
pub fn width(ctx: &Context, scalar: Type) -> Option<u32> {
    match scalar.kind(ctx) {
        TypeKind::Index => Some(64),
        TypeKind::Integer { width, .. } => (1..=128).contains(width).then_some(*width),
        TypeKind::Float(kind) => Some(kind.width()),
        _ => None,
    }
}

/// Returns a number with the low `width` bits set.
pub fn mask(width: u32) -> u128 {
    u128::MAX >> (128 - width.clamp(1, 128))
}

/// Returns the low `width` bits as a signed number.
pub fn signed(bits: u128, width: u32) -> i128 {
    let shift = 128 - width.clamp(1, 128);
    ((bits << shift) as i128) >> shift
}

impl Numbers {
    /// Returns the numbers of an attribute.
    pub fn of(ctx: &Context, attr: Attr) -> Option<Numbers> {
        match attr.kind(ctx) {
            AttrKind::Integer { value, ty } => Some(Numbers::One(*value as u128 & mask(width(ctx, *ty)?))),
            AttrKind::Float { bits, .. } => Some(Numbers::One(*bits)),
            AttrKind::DenseElements { ty, splat, bytes } => {
                let width = width(ctx, ty.element(ctx)?)?;
                let each = width.div_ceil(8) as usize;
                let mut elements = bytes.chunks_exact(each).map(|chunk| {
                    let mut wide = [0; 16];
                    wide[..each].copy_from_slice(chunk);
                    u128::from_le_bytes(wide) & mask(width)
                });
                if *splat {
                    elements.next().map(Numbers::One)
                } else {
                    Some(Numbers::Many(elements.collect()))
                }
            }
            _ => None,
        }
    }

    /// Returns the attribute of type `ty` with these numbers: a scalar, or a vector or tensor whose
    /// number of elements fits.
    pub fn attr(&self, ctx: &Context, ty: Type) -> Option<Attr> {
        let scalar = ty.scalar(ctx);
        let width = width(ctx, scalar)?;
        if scalar == ty {
            let Numbers::One(bits) = self else { return None };
            let bits = bits & mask(width);
            return Some(match ty.kind(ctx) {
                TypeKind::Float(_) => ctx.attr(AttrKind::Float { bits, ty }),
                _ => ctx.int_attr(ty, signed(bits, width)),
            });
        }
        let count =
            ty.shape(ctx)?.iter().try_fold(1usize, |n, d| n.checked_mul(usize::try_from(*d).ok()?))?;
        let each = width.div_ceil(8) as usize;
        // Elements are padded to whole bytes: truth values and floats with zeros, other integers by
        // their signedness.
        let pad = |bits: u128| match scalar.kind(ctx) {
            TypeKind::Integer { width: 2.., signedness: Signedness::Signless | Signedness::Signed } => {
                signed(bits, width) as u128
            }
            _ => bits & mask(width),
        };
        let write = |bits: &u128| pad(*bits).to_le_bytes().into_iter().take(each);
        let (splat, bytes): (bool, Vec<u8>) = match self {
            _ if count == 0 => return None,
            Numbers::One(bits) => (true, write(bits).collect()),
            Numbers::Many(all) if all.len() != count => return None,
            // Folding may leave bits above the width.
            Numbers::Many(all) if all.iter().all(|own| (own ^ all[0]) & mask(width) == 0) => {
                (true, write(&all[0]).collect())
            }
            Numbers::Many(all) => (false, all.iter().flat_map(write).collect()),
        };
        Some(ctx.attr(AttrKind::DenseElements { ty, splat, bytes: bytes.into() }))
    }

    /// Returns these numbers, each mapped by `f`.
    pub fn map(&self, f: impl Fn(u128) -> Option<u128>) -> Option<Numbers> {
        Some(match self {
            Numbers::One(a) => Numbers::One(f(*a)?),
            Numbers::Many(a) => Numbers::Many(a.iter().map(|a| f(*a)).collect::<Option<_>>()?),
        })
    }

    /// Combines these numbers with others of the same shape, pair by pair, by `f`.
    pub fn zip(&self, other: &Numbers, f: impl Fn(u128, u128) -> Option<u128>) -> Option<Numbers> {
        match (self, other) {
            (a, Numbers::One(b)) => a.map(|a| f(a, *b)),
            (Numbers::One(a), b) => b.map(|b| f(*a, b)),
            (Numbers::Many(a), Numbers::Many(b)) if a.len() == b.len() => {
                let pairs = a.iter().zip(b).map(|(a, b)| f(*a, *b));
                Some(Numbers::Many(pairs.collect::<Option<_>>()?))
            }
            _ => None,
        }
    }
}

/// True if an attribute is a number, or several numbers, of type `ty`. Such an attribute is the
/// value of a constant operation.
pub(crate) fn is_number_of(ctx: &Context, attr: Attr, ty: Type) -> bool {
    let is_number = matches!(
        attr.kind(ctx),
        AttrKind::Integer { .. }
            | AttrKind::WideInteger { .. }
            | AttrKind::Float { .. }
            | AttrKind::DenseElements { .. }
            | AttrKind::DenseResource { .. }
    );
    is_number && attr.ty(ctx) == Some(ty)
}

/// True if every element of a constant has these bits.
pub fn is_splat_of(ctx: &Context, attr: Attr, bits: u128) -> bool {
    Numbers::of(ctx, attr) == Some(Numbers::One(bits))
}
