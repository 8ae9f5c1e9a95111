//! Types of random programs, and text of their constants.

use std::fmt::{self, Display};

use crate::random::Random;

/// A type of first-class values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Ty {
    Int(u32),
    Half,
    Float,
    Double,
    /// A vector of this many numbers.
    Vector(u32, Box<Ty>),
    Array(u32, Box<Ty>),
    Struct(Vec<Ty>),
    /// A pointer. Values point to at least 16 bytes, which are written and writable.
    Ptr,
}

/// Widths of integers in vectors. For vectors of other widths LLVM's code generator disagrees with
/// its optimiser (quotients, casts of constants).
pub(super) const ELEMENT_WIDTHS: &[u32] = &[1, 8, 16, 32, 64];

/// Widths of integers. The usual ones occur more often.
const WIDTHS: &[u32] = &[
    1, 8, 16, 32, 64, 8, 16, 32, 64, 32, 64, 2, 3, 5, 7, 13, 20, 24, 31, 33, 40, 48, 63, 65, 96, 127, 128,
    128,
];

impl Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Int(width) => write!(f, "i{width}"),
            Ty::Half => f.write_str("half"),
            Ty::Float => f.write_str("float"),
            Ty::Double => f.write_str("double"),
            Ty::Vector(count, scalar) => write!(f, "<{count} x {scalar}>"),
            Ty::Array(count, element) => write!(f, "[{count} x {element}]"),
            Ty::Struct(fields) => {
                let fields: Vec<String> = fields.iter().map(Ty::to_string).collect();
                write!(f, "{{ {} }}", fields.join(", "))
            }
            Ty::Ptr => f.write_str("ptr"),
        }
    }
}

impl Ty {
    pub(super) fn vector(count: u32, scalar: Ty) -> Ty {
        Ty::Vector(count, Box::new(scalar))
    }

    /// Returns an integer type. Half of the time, it has 32 or 64 bits.
    pub(super) fn int(random: &mut Random) -> Ty {
        Ty::Int(if random.chance(50) { 32 << random.below(2) } else { *random.pick(WIDTHS) })
    }

    pub(super) fn float(random: &mut Random) -> Ty {
        [Ty::Half, Ty::Float, Ty::Double][random.weighted(&[10, 40, 50])].clone()
    }

    /// Returns a scalar type.
    pub(super) fn number(random: &mut Random) -> Ty {
        if random.chance(70) { Ty::int(random) } else { Ty::float(random) }
    }

    /// Returns a scalar type or, if possible, a vector of this type.
    pub(super) fn lanes(random: &mut Random, scalar: Ty) -> Ty {
        match scalar.may_be_element() && random.chance(30) {
            true => Ty::vector(*random.pick(&[2, 4, 2, 4, 3, 8, 1]), scalar),
            false => scalar,
        }
    }

    /// True if vectors of this type exist.
    pub(super) fn may_be_element(&self) -> bool {
        if let Ty::Int(width) = self { ELEMENT_WIDTHS.contains(width) } else { true }
    }

    /// Returns the type of a number, a vector or an aggregate, at most `depth` deep.
    pub(super) fn any(random: &mut Random, depth: usize) -> Ty {
        match random.weighted(if depth > 0 { &[50, 30, 20] } else { &[1, 0, 0] }) {
            0 => {
                let scalar = Ty::number(random);
                Ty::lanes(random, scalar)
            }
            1 => Ty::Struct((0..1 + random.below(4)).map(|_| Ty::any(random, depth - 1)).collect()),
            _ => Ty::Array(1 + random.below(4) as u32, Box::new(Ty::any(random, depth - 1))),
        }
    }

    pub(super) fn scalar(&self) -> &Ty {
        if let Ty::Vector(_, scalar) = self { scalar } else { self }
    }

    /// Returns the number of elements of a vector.
    pub(super) fn count(&self) -> Option<u32> {
        if let Ty::Vector(count, _) = self { Some(*count) } else { None }
    }

    /// Returns the same shape with another scalar.
    pub(super) fn with(&self, scalar: Ty) -> Ty {
        match self {
            Ty::Vector(count, _) => Ty::vector(*count, scalar),
            _ => scalar,
        }
    }

    pub(super) fn is_int(&self) -> bool {
        matches!(self.scalar(), Ty::Int(_))
    }

    pub(super) fn is_float(&self) -> bool {
        matches!(self.scalar(), Ty::Half | Ty::Float | Ty::Double)
    }

    /// Returns the bits of a scalar, or of one element of a vector.
    pub(super) fn width(&self) -> u32 {
        match self.scalar() {
            Ty::Int(width) => *width,
            Ty::Half => 16,
            Ty::Float => 32,
            _ => 64,
        }
    }

    /// Returns the bits of a number or vector.
    pub(super) fn bits(&self) -> u32 {
        self.width() * self.count().unwrap_or(1)
    }

    /// Returns the suffix of an intrinsic's name for this type.
    pub(super) fn mangled(&self) -> String {
        match self {
            Ty::Vector(count, scalar) => format!("v{count}{}", scalar.mangled()),
            Ty::Half => "f16".into(),
            Ty::Float => "f32".into(),
            Ty::Double => "f64".into(),
            other => other.to_string(),
        }
    }

    /// Returns the types of the parts of an aggregate.
    pub(super) fn parts(&self) -> Vec<Ty> {
        match self {
            Ty::Struct(fields) => fields.clone(),
            Ty::Array(count, element) => vec![(**element).clone(); *count as usize],
            _ => Vec::new(),
        }
    }

    /// Returns the size in an array and the alignment, in bytes, on x86-64.
    pub(super) fn layout(&self) -> (u64, u64) {
        let round = |size: u64, align: u64| size.next_multiple_of(align);
        match self {
            Ty::Ptr => (8, 8),
            Ty::Array(count, element) => {
                let (size, align) = element.layout();
                (size * u64::from(*count), align)
            }
            Ty::Struct(fields) => {
                let (mut end, mut widest) = (0, 1);
                for (size, align) in fields.iter().map(Ty::layout) {
                    end = round(end, align) + size;
                    widest = align.max(widest);
                }
                (round(end, widest), widest)
            }
            number => {
                let align = u64::from(number.bits().div_ceil(8).next_power_of_two());
                // Integers are aligned to at most 16 bytes. Vectors are, too, because none that is
                // larger has a power of two as size.
                (align, align)
            }
        }
    }
}

/// Returns all bits of a width.
pub(super) fn mask(width: u32) -> u128 {
    u128::MAX >> (128 - width)
}

/// Returns an integer as text.
pub(super) fn integer(width: u32, bits: u128) -> String {
    let shift = 128 - width;
    match width {
        1 => (bits & 1 == 1).to_string(),
        _ => (((bits << shift) as i128) >> shift).to_string(),
    }
}

/// Returns a constant with the same integer in each element, as text.
pub(super) fn splat(ty: &Ty, bits: u128) -> String {
    elements(ty, || integer(ty.width(), bits))
}

/// Returns a constant with the same float in each element, as text. It is exact in every format.
pub(super) fn splat_float(ty: &Ty, value: f64) -> String {
    elements(ty, || float(ty.scalar(), value))
}

/// Returns a random constant of a number or vector.
pub(super) fn constant(random: &mut Random, ty: &Ty) -> String {
    elements(ty, || match ty.scalar() {
        Ty::Int(width) => {
            let sign = 1 << (width - 1);
            let bits = match random.below(8) {
                0 => 0,
                1 => 1,
                2 => mask(*width),
                3 => sign,
                4 => sign - 1,
                5 => random.range(-20, 20) as i128 as u128,
                _ => u128::from(random.bits()) << 64 | u128::from(random.bits()),
            };
            integer(*width, bits)
        }
        Ty::Half => format!("0xH{:04X}", random.pick(HALVES)),
        Ty::Float if random.chance(30) => single(f32::from_bits(*random.pick(SINGLES))),
        Ty::Double if random.chance(30) => format!("0x{:016X}", random.pick(DOUBLES)),
        scalar => float(scalar, random.range(-1000, 1000) as f64 / 8.0),
    })
}

/// Zeros, one, the ends of the ranges of normal and other numbers, infinities, and a quiet NaN.
const HALVES: &[u16] =
    &[0, 0x8000, 0x3c00, 0xbe00, 0x0001, 0x03ff, 0x0400, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x4248, 0xd640];
const SINGLES: &[u32] =
    &[0, 1 << 31, 1, 0x7f_ffff, 0x80_0000, 0x7f7f_ffff, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x4f00_0000];
const DOUBLES: &[u64] = &[
    0,
    1 << 63,
    1,
    (1 << 52) - 1,
    1 << 52,
    0x7fe << 52,
    0x7ff << 52,
    0xfff << 52,
    0x7ff8 << 48,
    0x43e << 52,
];

/// Returns a float as text. It is exact in its format.
fn float(ty: &Ty, value: f64) -> String {
    match ty {
        Ty::Half => {
            let bits = value.to_bits();
            let magnitude = if value == 0.0 { 0 } else { (bits << 1 >> 43) - ((1023 - 15) << 10) };
            format!("0xH{:04X}", bits >> 63 << 15 | magnitude)
        }
        Ty::Float => single(value as f32),
        _ => format!("0x{:016X}", value.to_bits()),
    }
}

/// Returns the text of a single-precision number, which is written like a double.
fn single(value: f32) -> String {
    format!("0x{:016X}", f64::from(value).to_bits())
}

fn elements(ty: &Ty, mut one: impl FnMut() -> String) -> String {
    let Some(count) = ty.count() else { return one() };
    let parts: Vec<String> = (0..count).map(|_| format!("{} {}", ty.scalar(), one())).collect();
    format!("<{}>", parts.join(", "))
}
