//! Run-time values.
//!
//! A [`Datum`] is 16 bytes. A value of at most 64 bits is stored directly. An integer or `index` is
//! its bits, with zeros above its width; a float is its bits in its own format. Larger values are
//! shared behind a pointer, so copying a datum never copies the value behind it.
//!
//! **Poison** is a datum of its own. It remembers its cause and location, for the fault that
//! reports its use. Undefined bits (`llvm.mlir.undef`, bytes never written) are poison too: any use
//! that relies on them is reported. `freeze` turns both into zero.

use std::fmt;
use std::sync::Arc;

use loomir_ir::Loc;

/// A value of a running program.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Datum {
    /// Nothing was computed yet.
    #[default]
    Unset,
    /// No usable value.
    Poison(Poison),
    /// An integer, index or float of at most 64 bits; higher bits are zero.
    Bits(u64),
    /// An integer of 65 to 128 bits; higher bits are zero.
    Wide(Box<u128>),
    /// A pointer: an address, and the object it may be used to reach. Read it by
    /// [`Datum::as_pointer`].
    Pointer {
        /// The object.
        object: ObjectId,
        /// The address.
        address: u64,
    },
    /// A ranked or unranked memref.
    MemRef(Arc<MemRef>),
    /// A vector, struct, array or complex number: its elements, in row-major order.
    Aggregate(Arc<Vec<Datum>>),
}

const _: () = assert!(size_of::<Datum>() == 16);

/// The number of an object of [`Memory`](super::memory::Memory). It is never reused in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObjectId(pub(super) u32);

impl ObjectId {
    /// No object: the provenance of null and of addresses converted from integers.
    pub const NONE: ObjectId = ObjectId(u32::MAX);
}

/// A pointer: an address, and the object it may be used to reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pointer {
    /// The object.
    pub object: ObjectId,
    /// The address.
    pub address: u64,
}

impl Pointer {
    /// Address zero, no object.
    pub const NULL: Pointer = Pointer { object: ObjectId::NONE, address: 0 };

    /// Returns the pointer to the same object, `bytes` further.
    #[must_use]
    pub fn offset(self, bytes: i64) -> Pointer {
        Pointer { address: self.address.wrapping_add_signed(bytes), ..self }
    }
}

/// A memref: its pointers and its layout. Offset, sizes and strides count elements.
#[derive(Clone, PartialEq, Debug)]
pub struct MemRef {
    /// The pointer to deallocate.
    pub allocated: Pointer,
    /// The pointer that offset 0 refers to.
    pub aligned: Pointer,
    /// The distance of the first element from the base.
    pub offset: i64,
    /// The size and stride of each dimension.
    pub dims: Box<[Dim]>,
}

/// One dimension of a [`MemRef`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dim {
    /// The number of elements; never negative.
    pub size: i64,
    /// Distance of neighbours.
    pub stride: i64,
}

impl MemRef {
    /// Returns the number of elements, or `None` if it overflows.
    pub fn num_elements(&self) -> Option<u64> {
        if self.dims.iter().any(|d| d.size == 0) {
            return Some(0);
        }
        self.dims.iter().try_fold(1u64, |n, d| n.checked_mul(d.size as u64))
    }

    /// Strides of a dense row-major layout of these sizes.
    pub fn dense(sizes: &[i64]) -> Box<[Dim]> {
        let mut stride = 1i64;
        let mut dims: Vec<Dim> = Vec::with_capacity(sizes.len());
        for &size in sizes.iter().rev() {
            dims.push(Dim { size, stride });
            stride = stride.saturating_mul(size);
        }
        dims.reverse();
        dims.into()
    }

    /// True if the memref is dense and row-major. Strides of dimensions of size one do not count.
    pub fn is_dense(&self) -> bool {
        let mut expected = 1i64;
        self.dims.iter().rev().all(|d| {
            let fits = d.size <= 1 || d.stride == expected;
            expected = expected.saturating_mul(d.size);
            fits
        })
    }

    /// Returns the linear offset of each element in row-major order, the memref's own offset
    /// included.
    pub fn offsets(&self) -> Offsets<'_> {
        let empty = self.dims.iter().any(|d| d.size == 0);
        Offsets { dims: &self.dims, index: vec![0; self.dims.len()], next: (!empty).then_some(self.offset) }
    }
}

/// The linear offsets of a memref's elements.
#[derive(Clone, Debug)]
pub struct Offsets<'m> {
    dims: &'m [Dim],
    index: Vec<i64>,
    next: Option<i64>,
}

impl Iterator for Offsets<'_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let current = self.next?;
        let mut linear = current;
        self.next = None;
        for (index, Dim { size, stride }) in self.index.iter_mut().zip(self.dims).rev() {
            *index += 1;
            linear = linear.wrapping_add(*stride);
            if *index < *size {
                self.next = Some(linear);
                break;
            }
            linear = linear.wrapping_sub(stride.wrapping_mul(*size));
            *index = 0;
        }
        Some(current)
    }
}

/// The cause of a poison datum, and the operation that made it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Poison {
    /// The cause.
    pub cause: Cause,
    /// The location of the operation.
    pub loc: Loc,
}

macro_rules! causes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The cause of poison.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Cause {
            $($(#[$doc])* $name,)*
        }

        impl fmt::Display for Cause {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Cause::$name => $text,)* })
            }
        }
    };
}

causes! {
    /// `nsw`.
    SignedWrap = "a signed result that `nsw` promises not to overflow",
    /// `nuw`.
    UnsignedWrap = "an unsigned result that `nuw` promises not to overflow",
    /// A shift by its width or more.
    ShiftTooFar = "a shift by the width or more",
    /// `exact`.
    Inexact = "a remainder where `exact` promises none",
    /// `disjoint`.
    NotDisjoint = "common bits where `disjoint` promises none",
    /// `nneg`.
    Negative = "a negative operand where `nneg` promises none",
    /// `samesign`.
    DifferentSigns = "operands of different signs where `samesign` promises one sign",
    /// A float outside the integer type.
    FloatToInteger = "a float that does not fit the integer type",
    /// `nnan`.
    NotANumber = "a NaN where fast-math flag `nnan` promises none",
    /// `ninf`.
    Infinite = "an infinity where fast-math flag `ninf` promises none",
    /// `inbounds`.
    PointerOutOfBounds = "an address outside its object where `inbounds` promises none",
    /// An intrinsic excluded it by a flag.
    MinimumSigned = "the least signed value, excluded by a flag",
    /// Zero, excluded by a flag.
    Zero = "zero, excluded by a flag",
    /// `nonnull`.
    Null = "a null pointer where `nonnull` promises none",
    /// `align`.
    NotAligned = "an address that is not aligned as `align` promises",
    /// `range`.
    OutsideRange = "a number outside the range that `range` promises",
    /// An element beyond a vector.
    ElementOutOfBounds = "an element index outside the vector",
    /// A constant.
    Explicit = "a poison constant",
    /// `undef`.
    Undefined = "an undef constant",
    /// Bytes never written.
    Uninitialised = "memory that was never written",
    /// Bytes of an object before `lifetime.start` or behind `lifetime.end`.
    OutsideLifetime = "memory outside of its object's lifetime",
    /// Bytes written with poison.
    Stored = "poison that was stored to memory",
    /// Bits beside a number that is no whole bytes.
    BitsOutside = "memory that holds bits outside the type, which was written as another",
    /// `nuw`, `nusw`.
    AddressWrap = "an address that overflows where `nuw`, `nusw` or `inbounds` promises not to",
    /// The overflow of an affine expression.
    AffineOverflow = "an affine expression that overflows 64 bits",
    /// An assumption on a memref's alignment.
    Misaligned = "a memref whose alignment was assumed wrongly",
}

impl Datum {
    /// Poison.
    pub fn poison(cause: Cause, loc: Loc) -> Datum {
        Datum::Poison(Poison { cause, loc })
    }

    /// Returns an integer or float of `width` bits; higher bits of `bits` are dropped.
    #[inline]
    pub fn bits(width: u32, bits: u128) -> Datum {
        if width <= 64 { Datum::Bits(bits as u64 & low_mask(width)) } else { Datum::wide(width, bits) }
    }

    #[cold]
    fn wide(width: u32, bits: u128) -> Datum {
        Datum::Wide(Box::new(if width < 128 { bits & ((1 << width) - 1) } else { bits }))
    }

    /// Returns the same number in the representation of its width.
    pub(super) fn narrowed(self) -> Datum {
        match self {
            Datum::Wide(bits) if *bits <= u64::MAX.into() => Datum::Bits(*bits as u64),
            other => other,
        }
    }

    /// Returns an `index` or `i64`.
    #[inline]
    pub fn index(value: i64) -> Datum {
        Datum::Bits(value as u64)
    }

    /// Returns an `i1`.
    #[inline]
    pub fn bool(value: bool) -> Datum {
        Datum::Bits(value.into())
    }

    /// Returns a vector, struct, array or complex number.
    pub fn aggregate(elements: Vec<Datum>) -> Datum {
        Datum::Aggregate(Arc::new(elements))
    }

    /// Returns the bits of an integer or float.
    #[inline]
    pub fn as_bits(&self) -> Option<u128> {
        match self {
            Datum::Bits(bits) => Some((*bits).into()),
            Datum::Wide(bits) => Some(**bits),
            _ => None,
        }
    }

    /// Returns the pointer.
    pub fn as_pointer(&self) -> Option<Pointer> {
        match *self {
            Datum::Pointer { object, address } => Some(Pointer { object, address }),
            _ => None,
        }
    }

    /// Returns the poison of a scalar, or the first poison inside an aggregate. Looks at every
    /// scalar inside.
    pub fn find_poison(&self) -> Option<Poison> {
        let mut stack = vec![self];
        while let Some(datum) = stack.pop() {
            match datum {
                Datum::Poison(poison) => return Some(*poison),
                Datum::Aggregate(elements) => stack.extend(elements.iter().rev()),
                _ => {}
            }
        }
        None
    }

    /// Returns the kind of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Datum::Unset => "a value that was never computed",
            Datum::Poison(_) => "poison",
            Datum::Bits(_) | Datum::Wide(_) => "a number",
            Datum::Pointer { .. } => "a pointer",
            Datum::MemRef(_) => "a memref",
            Datum::Aggregate(_) => "an aggregate",
        }
    }
}

impl From<Pointer> for Datum {
    fn from(pointer: Pointer) -> Datum {
        Datum::Pointer { object: pointer.object, address: pointer.address }
    }
}

impl From<MemRef> for Datum {
    fn from(memref: MemRef) -> Datum {
        Datum::MemRef(Arc::new(memref))
    }
}

/// Returns the bits below `width`, which is at most 64.
#[inline]
fn low_mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}
