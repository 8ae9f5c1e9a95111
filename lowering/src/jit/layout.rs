//! Types and values that cross into compiled code, and their memory layout.
//!
//! For each function `f` LLVM's engine also offers a packed form. It takes an array of addresses,
//! one of each argument and one for the result, and loads and stores the values in LLVM's own
//! layout. This file computes that layout and moves scalars in and out of it. Aggregates are split
//! into scalars, so a caller sees flat lists only.
//!
//! Invariant: every [`Field`] of a [`Slot`] is within the slot's size. Sizes and alignments are
//! those of Rust's own types of the same width, which follow the platform's data layout as LLVM's
//! do.
//!
//! Cost: number of scalars times depth of the type; types larger than [`MAX_FIELDS`] words are
//! refused.

use std::fmt;

/// Type of one scalar that can be passed to or returned from compiled code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JitType {
    /// An integer of 1 to 64 bits; `index` of the source program is 64.
    Int(u32),
    /// `f32`.
    F32,
    /// `f64`.
    F64,
    /// An address.
    Pointer,
}

impl fmt::Display for JitType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JitType::Int(width) => write!(f, "i{width}"),
            JitType::F32 => f.write_str("f32"),
            JitType::F64 => f.write_str("f64"),
            JitType::Pointer => f.write_str("ptr"),
        }
    }
}

/// One scalar passed to or returned from compiled code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JitValue {
    /// An integer; bits above `width` are zero. [`JitValue::int`] makes one.
    Int {
        /// 1 to 64.
        width: u32,
        /// The value's bits.
        bits: u64,
    },
    /// `f32`.
    F32(f32),
    /// `f64`.
    F64(f64),
    /// An address in this process.
    Pointer(*mut u8),
}

impl JitValue {
    /// Returns the integer of `width` bits that equals `value` modulo 2^width.
    pub fn int(width: u32, value: i64) -> JitValue {
        JitValue::Int { width, bits: value as u64 & mask(width) }
    }

    /// Its type.
    pub fn ty(&self) -> JitType {
        match self {
            JitValue::Int { width, .. } => JitType::Int(*width),
            JitValue::F32(_) => JitType::F32,
            JitValue::F64(_) => JitType::F64,
            JitValue::Pointer(_) => JitType::Pointer,
        }
    }

    /// Returns the value of an integer read as two's complement.
    pub fn as_signed(&self) -> Option<i64> {
        match *self {
            JitValue::Int { width: width @ 1..=64, bits } => {
                Some(((bits << (64 - width)) as i64) >> (64 - width))
            }
            _ => None,
        }
    }
}

/// Returns the bits below `width`.
fn mask(width: u32) -> u64 {
    u64::MAX.checked_shr(64u32.saturating_sub(width)).unwrap_or(0)
}

/// Returns the arguments for one memref of the source program: allocated and aligned address,
/// offset, sizes, strides. The last three count elements.
///
/// `buffer` must be aligned as the element type asks.
pub fn memref_arguments(buffer: *mut u8, offset: i64, sizes: &[i64], strides: &[i64]) -> Vec<JitValue> {
    let mut arguments = vec![JitValue::Pointer(buffer), JitValue::Pointer(buffer), JitValue::int(64, offset)];
    arguments.extend(sizes.iter().chain(strides).map(|&extent| JitValue::int(64, extent)));
    arguments
}

/// The signature of a function, with aggregates split into scalars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Types of the arguments, in order.
    pub arguments: Vec<JitType>,
    /// Types of the results, in order.
    pub results: Vec<JitType>,
}

/// `(i64, ptr)`, for messages.
pub(super) struct TypeList<'a>(pub(super) &'a [JitType]);

impl fmt::Display for TypeList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, ty) in self.0.iter().enumerate() {
            write!(f, "{}{ty}", if i == 0 { "" } else { ", " })?;
        }
        f.write_str(")")
    }
}

/// The maximal size of one argument or result, in words.
const MAX_FIELDS: usize = 1 << 12;

/// A type of LLVM IR, as far as layout goes.
#[derive(Debug)]
pub(super) enum LlvmType {
    /// No value.
    Void,
    /// An integer of this width.
    Int(u32),
    /// `float`.
    Float,
    /// `double`.
    Double,
    /// `ptr`, of the default address space.
    Pointer,
    /// `{ … }` or, if packed, `<{ … }>`.
    Struct { packed: bool, fields: Vec<LlvmType> },
    /// `[n x …]`.
    Array(u64, Box<LlvmType>),
    /// Anything else, as LLVM prints it.
    Other(String),
}

/// One scalar within a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    offset: usize,
    ty: JitType,
}

/// The memory of one argument or result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    size: usize,
    fields: Vec<Field>,
}

impl Slot {
    /// Returns the slot of `ty`, or the reason why there is none.
    pub(super) fn of(ty: &LlvmType) -> Result<Slot, String> {
        let size = extent(ty)?.size;
        let mut fields = Vec::new();
        place(ty, 0, &mut fields)?;
        Ok(Slot { size, fields })
    }

    /// Types of its scalars.
    pub(super) fn types(&self) -> impl Iterator<Item = JitType> {
        self.fields.iter().map(|field| field.ty)
    }

    /// Number of its scalars.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// Returns zeroed memory for the value, aligned to 8 bytes and never empty.
    pub(super) fn memory(&self) -> Vec<u64> {
        vec![0; self.size.div_ceil(8).max(1)]
    }

    /// Writes `values`, one for each scalar and of its type, into `memory`.
    pub(super) fn write(&self, memory: &mut [u64], values: &[JitValue]) {
        for (field, value) in self.fields.iter().zip(values) {
            let bits = match *value {
                JitValue::Int { width, bits } => bits & mask(width),
                JitValue::F32(value) => value.to_bits().into(),
                JitValue::F64(value) => value.to_bits(),
                JitValue::Pointer(address) => address.expose_provenance() as u64,
            };
            for (i, byte) in significant_bytes(bits, store_size(field.ty)).enumerate() {
                let at = field.offset + i;
                let mut word = memory[at / 8].to_ne_bytes();
                word[at % 8] = byte;
                memory[at / 8] = u64::from_ne_bytes(word);
            }
        }
    }

    /// Reads the scalars out of `memory`.
    pub(super) fn read(&self, memory: &[u64]) -> Vec<JitValue> {
        let byte = |at: usize| memory[at / 8].to_ne_bytes()[at % 8];
        let value = |field: &Field| {
            let bytes = (0..store_size(field.ty)).map(|i| byte(field.offset + i));
            let shift_in = |bits: u64, byte: u8| bits << 8 | u64::from(byte);
            let bits = if cfg!(target_endian = "little") {
                bytes.rev().fold(0, shift_in)
            } else {
                bytes.fold(0, shift_in)
            };
            match field.ty {
                JitType::Int(width) => JitValue::Int { width, bits: bits & mask(width) },
                JitType::F32 => JitValue::F32(f32::from_bits(bits as u32)),
                JitType::F64 => JitValue::F64(f64::from_bits(bits)),
                JitType::Pointer => JitValue::Pointer(std::ptr::with_exposed_provenance_mut(bits as usize)),
            }
        };
        self.fields.iter().map(value).collect()
    }
}

/// Returns the low `size` bytes of `bits` in memory order.
fn significant_bytes(bits: u64, size: usize) -> impl Iterator<Item = u8> {
    let skip = if cfg!(target_endian = "little") { 0 } else { 8 - size };
    bits.to_ne_bytes().into_iter().skip(skip).take(size)
}

/// Returns the number of bytes that a load or store of `ty` touches.
fn store_size(ty: JitType) -> usize {
    match ty {
        JitType::Int(width) => width.div_ceil(8) as usize,
        JitType::F32 => 4,
        JitType::F64 => 8,
        JitType::Pointer => size_of::<usize>(),
    }
}

/// Size with padding, and alignment.
#[derive(Clone, Copy)]
struct Extent {
    size: usize,
    align: usize,
}

/// Returns the size and alignment of `ty`, or the reason why it can't be passed. The recursion is
/// bounded by the depth of `ty`, which is bounded where it is made.
fn extent(ty: &LlvmType) -> Result<Extent, String> {
    let (size, align) = match ty {
        LlvmType::Void => (0, 1),
        LlvmType::Int(1..=8) => (1, align_of::<u8>()),
        LlvmType::Int(9..=16) => (2, align_of::<u16>()),
        LlvmType::Int(17..=32) => (4, align_of::<u32>()),
        LlvmType::Int(33..=64) => (8, align_of::<u64>()),
        LlvmType::Float => (4, align_of::<f32>()),
        LlvmType::Double => (8, align_of::<f64>()),
        LlvmType::Pointer => (size_of::<usize>(), align_of::<usize>()),
        LlvmType::Struct { packed, fields } => {
            let mut whole = Extent { size: 0, align: 1 };
            for field in fields {
                let part = extent(field)?;
                let align = if *packed { 1 } else { part.align };
                whole.size = whole.size.next_multiple_of(align) + part.size;
                whole.align = whole.align.max(align);
            }
            (whole.size.next_multiple_of(whole.align), whole.align)
        }
        LlvmType::Array(length, element) => {
            let part = extent(element)?;
            let length = usize::try_from(*length).ok().filter(|&length| length <= MAX_FIELDS);
            (part.size * length.ok_or_else(too_large)?, part.align)
        }
        LlvmType::Int(width) => return Err(format!("i{width} is wider than 64 bits")),
        LlvmType::Other(ty) => return Err(format!("type {ty} can't be passed as plain scalars")),
    };
    // The sizes of nested arrays multiply. The limit is far below any overflow.
    if size > 8 * MAX_FIELDS { Err(too_large()) } else { Ok(Extent { size, align }) }
}

fn too_large() -> String {
    format!("it is larger than {MAX_FIELDS} scalars")
}

/// Appends the scalars of `ty`, placed at `offset`.
fn place(ty: &LlvmType, offset: usize, fields: &mut Vec<Field>) -> Result<(), String> {
    let ty = match ty {
        LlvmType::Int(width) => JitType::Int(*width),
        LlvmType::Float => JitType::F32,
        LlvmType::Double => JitType::F64,
        LlvmType::Pointer => JitType::Pointer,
        LlvmType::Void | LlvmType::Other(_) => return Ok(()),
        LlvmType::Struct { packed, fields: members } => {
            let mut end = offset;
            for member in members {
                let part = extent(member)?;
                let start = if *packed { end } else { end.next_multiple_of(part.align) };
                place(member, start, fields)?;
                end = start + part.size;
            }
            return Ok(());
        }
        LlvmType::Array(length, element) => {
            let part = extent(element)?;
            return (0..*length as usize).try_for_each(|i| place(element, offset + i * part.size, fields));
        }
    };
    fields.push(Field { offset, ty });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(ty: &LlvmType) -> (usize, Vec<usize>) {
        let slot = Slot::of(ty).expect("it can be passed");
        (slot.size, slot.fields.iter().map(|field| field.offset).collect())
    }

    #[test]
    fn structs_are_laid_out_as_the_platform_does() {
        use LlvmType::*;
        let mixed = |packed| Struct { packed, fields: vec![Int(1), Int(32), Int(8), Double, Int(16)] };
        assert_eq!(offsets(&mixed(false)), (32, vec![0, 4, 8, 16, 24]));
        assert_eq!(offsets(&mixed(true)), (16, vec![0, 1, 5, 6, 14]));
        let nested = Struct { packed: false, fields: vec![Int(8), Array(2, Box::new(mixed(false)))] };
        assert_eq!(offsets(&nested).0, 72);
        assert_eq!(offsets(&nested).1[..3], [0, 8, 12]);
    }

    #[test]
    fn values_come_back_as_they_went_in() {
        use LlvmType::*;
        let ty = Struct { packed: true, fields: vec![Int(1), Int(24), Float, Int(64), Double, Pointer] };
        let slot = Slot::of(&ty).expect("it can be passed");
        let mut byte = 7u8;
        let values = [
            JitValue::int(1, -1),
            JitValue::int(24, -2),
            JitValue::F32(1.5),
            JitValue::int(64, i64::MIN),
            JitValue::F64(-0.25),
            JitValue::Pointer(&raw mut byte),
        ];
        let mut memory = slot.memory();
        slot.write(&mut memory, &values);
        assert_eq!(slot.read(&memory), values);
        assert_eq!(values[1].as_signed(), Some(-2));
    }

    #[test]
    fn what_is_too_large_or_strange_is_refused() {
        use LlvmType::*;
        assert!(Slot::of(&Int(65)).is_err());
        assert!(Slot::of(&Other("<4 x float>".into())).is_err());
        assert!(Slot::of(&Array(u64::MAX, Box::new(Int(8)))).is_err());
        let square = Array(4000, Box::new(Array(4000, Box::new(Int(8)))));
        assert!(Slot::of(&square).is_err());
    }
}
