//! External functions: functions without a body that the interpreter knows by name.
//!
//! Lowered programs call them: allocation, copies of bytes, and the mathematical library, which is
//! the host's. A call of any other external function is a fault.

use std::cmp::Ordering;

use super::datum::{Datum, Pointer};
use super::fault::Fault;
use super::float::{Double, Format, Library, Library2, Single};
use super::machine::Machine;
use super::memory::ObjectKind;
use super::registers::unusable;

mod format;

/// An external function.
#[derive(Clone, Copy, Debug)]
pub struct External(Kind);

#[derive(Clone, Copy, Debug)]
enum Kind {
    Malloc,
    Calloc,
    AlignedAlloc,
    Free,
    CopyBytes { may_overlap: bool },
    SetBytes,
    CopyMemref,
    AllocateAligned,
    FreeSized,
    Print,
    PrintByte,
    PrintLine,
    Length,
    Compare,
    CopyString { behind: bool },
    GuardAcquire,
    GuardRelease,
    Abort,
    Single(Library),
    Double(Library),
    Single2(Library2),
    Double2(Library2),
}

macro_rules! library {
    ($($name:ident),*; $($name2:ident),*) => {
        /// The functions of one operand with the same name in C and Rust.
        const UNARY: &[(&str, Library)] =
            &[$((stringify!($name), Library { single: f32::$name, double: f64::$name })),*];
        const BINARY: &[(&str, Library2)] =
            &[$((stringify!($name2), Library2 { single: f32::$name2, double: f64::$name2 })),*];
    };
}

library!(sqrt, exp, exp2, log2, log10, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh, cbrt,
         floor, ceil, trunc, round; atan2);

/// Returns a function of the mathematical library by its C name in double precision, such as `exp`
/// or `fabs`.
pub fn library(name: &str) -> Option<Library> {
    let other = match name {
        "log" => Library { single: f32::ln, double: f64::ln },
        "log1p" => Library { single: f32::ln_1p, double: f64::ln_1p },
        "expm1" => Library { single: f32::exp_m1, double: f64::exp_m1 },
        "fabs" => Library { single: f32::abs, double: f64::abs },
        "roundeven" | "rint" | "nearbyint" => {
            Library { single: f32::round_ties_even, double: f64::round_ties_even }
        }
        _ => return UNARY.iter().find(|(own, _)| *own == name).map(|(_, f)| *f),
    };
    Some(other)
}

/// Returns a function of two operands by its C name in double precision, such as `pow`.
pub fn library2(name: &str) -> Option<Library2> {
    let other = match name {
        "pow" => Library2 { single: f32::powf, double: f64::powf },
        "fmod" => Library2 { single: |a, b| a % b, double: |a, b| a % b },
        "hypot" => Library2 { single: f32::hypot, double: f64::hypot },
        "copysign" => Library2 { single: f32::copysign, double: f64::copysign },
        "fmax" => Library2 { single: f32::max, double: f64::max },
        "fmin" => Library2 { single: f32::min, double: f64::min },
        _ => return BINARY.iter().find(|(own, _)| *own == name).map(|(_, f)| *f),
    };
    Some(other)
}

/// Returns the external function of this name.
pub fn external(name: &str) -> Option<External> {
    let kind = match name {
        "malloc" | "_Znwm" | "_Znam" => Kind::Malloc,
        "_ZnwmSt11align_val_t" => Kind::AllocateAligned,
        "_ZdlPv" | "_ZdlPvm" | "_ZdaPv" | "_ZdaPvm" | "_ZdlPvmSt11align_val_t" => Kind::FreeSized,
        "printf" => Kind::Print,
        "putchar" => Kind::PrintByte,
        "puts" => Kind::PrintLine,
        "strlen" => Kind::Length,
        "memcmp" | "bcmp" => Kind::Compare,
        "strcpy" => Kind::CopyString { behind: false },
        "strcat" => Kind::CopyString { behind: true },
        "__cxa_guard_acquire" => Kind::GuardAcquire,
        "__cxa_guard_release" => Kind::GuardRelease,
        "calloc" => Kind::Calloc,
        "aligned_alloc" => Kind::AlignedAlloc,
        "free" => Kind::Free,
        "memcpy" => Kind::CopyBytes { may_overlap: false },
        "memmove" => Kind::CopyBytes { may_overlap: true },
        "memset" => Kind::SetBytes,
        "memrefCopy" => Kind::CopyMemref,
        "abort" => Kind::Abort,
        _ => {
            let single = name.strip_suffix('f');
            if let Some(f) = library(name) {
                Kind::Double(f)
            } else if let Some(f) = library2(name) {
                Kind::Double2(f)
            } else if let Some(f) = single.and_then(library) {
                Kind::Single(f)
            } else {
                Kind::Single2(single.and_then(library2)?)
            }
        }
    };
    Some(External(kind))
}

impl External {
    /// Calls the function and returns its result, if it has one.
    pub fn call(self, m: &mut Machine, arguments: &[Datum]) -> Result<Option<Datum>, Box<Fault>> {
        let given = Given(arguments);
        Ok(match self.0 {
            Kind::Malloc => Some(allocate(m, given.number(0)?, 16)?),
            Kind::AlignedAlloc => Some(allocate(m, given.number(1)?, given.number(0)?)?),
            Kind::AllocateAligned => Some(allocate(m, given.number(0)?, given.number(1)?)?),
            Kind::Calloc => Some(allocate_zeros(m, given.number(0)?, given.number(1)?)?),
            Kind::Free | Kind::FreeSized => {
                m.memory.free(given.pointer(0)?)?;
                None
            }
            Kind::CopyBytes { may_overlap } => {
                copy_bytes(m, given.pointer(0)?, given.pointer(1)?, given.number(2)?, may_overlap)?;
                Some(given.pointer(0)?.into())
            }
            Kind::SetBytes => {
                let size = given.number(2)?;
                m.spend(size / 64)?;
                m.memory.fill(given.pointer(0)?, Some(given.number(1)? as u8), size)?;
                Some(given.pointer(0)?.into())
            }
            Kind::Print => {
                let text = format::formatted(m, given.pointer(0)?, arguments.get(1..).unwrap_or_default())?;
                m.print(&text)?;
                Some(Datum::bits(32, text.len() as u128))
            }
            Kind::PrintByte => {
                m.print(&[given.number(0)? as u8])?;
                Some(given.datum(0))
            }
            Kind::PrintLine => {
                let text = c_string(m, given.pointer(0)?)?;
                m.print(&text)?;
                m.print(b"\n")?;
                Some(Datum::bits(32, 1))
            }
            Kind::Length => Some(Datum::bits(64, c_string(m, given.pointer(0)?)?.len() as u128)),
            Kind::Compare => {
                let order = compare_bytes(m, given.pointer(0)?, given.pointer(1)?, given.number(2)?)?;
                Some(Datum::bits(32, order as i8 as u128))
            }
            Kind::CopyString { behind } => {
                copy_string(m, given.pointer(0)?, given.pointer(1)?, behind)?;
                Some(given.pointer(0)?.into())
            }
            Kind::GuardAcquire => {
                let done = m.memory.bytes(given.pointer(0)?, 1)?[0] != 0;
                Some(Datum::bits(32, u128::from(!done)))
            }
            Kind::GuardRelease => {
                m.memory.fill(given.pointer(0)?, Some(1), 1)?;
                None
            }
            Kind::CopyMemref => {
                copy_unranked(m, given.number(0)?, given.pointer(1)?, given.pointer(2)?)?;
                None
            }
            Kind::Abort => return Err(Fault::new(super::FaultKind::Trap, "the program calls `abort`")),
            Kind::Single(f) => Some(given.map_float(32, |x| Single::library(f, x))?),
            Kind::Double(f) => Some(given.map_float(64, |x| Double::library(f, x))?),
            Kind::Single2(f) => Some(given.map_floats(32, |x, y| Single::library2(f, x, y))?),
            Kind::Double2(f) => Some(given.map_floats(64, |x, y| Double::library2(f, x, y))?),
        })
    }
}

/// The arguments that a call passes.
struct Given<'c>(&'c [Datum]);

impl Given<'_> {
    /// Returns argument `i`, or an unset datum if the call passes fewer.
    fn datum(&self, i: usize) -> Datum {
        self.0.get(i).cloned().unwrap_or_default()
    }

    fn pointer(&self, i: usize) -> Result<Pointer, Box<Fault>> {
        match self.datum(i) {
            Datum::Pointer { object, address } => Ok(Pointer { object, address }),
            other => Err(unusable(&other, "an argument of an external function")),
        }
    }

    fn number(&self, i: usize) -> Result<u64, Box<Fault>> {
        match self.datum(i) {
            Datum::Bits(bits) => Ok(bits),
            other => Err(unusable(&other, "an argument of an external function")),
        }
    }

    /// Returns argument `i` as the bits of a float, or nothing if it is poison.
    fn float(&self, i: usize) -> Result<Option<u128>, Box<Fault>> {
        match self.0.get(i) {
            Some(Datum::Poison(_)) => Ok(None),
            _ => self.number(i).map(|bits| Some(bits.into())),
        }
    }

    /// Applies a function to the first argument, a float. Poison passes through.
    fn map_float(&self, width: u32, f: impl Fn(u128) -> u128) -> Result<Datum, Box<Fault>> {
        Ok(self.float(0)?.map_or_else(|| self.datum(0), |x| Datum::bits(width, f(x))))
    }

    /// Applies a function to the first two arguments, floats. Poison passes through.
    fn map_floats(&self, width: u32, f: impl Fn(u128, u128) -> u128) -> Result<Datum, Box<Fault>> {
        Ok(match (self.float(0)?, self.float(1)?) {
            (Some(x), Some(y)) => Datum::bits(width, f(x, y)),
            (None, _) => self.datum(0),
            _ => self.datum(1),
        })
    }
}

fn compare_bytes(m: &mut Machine, a: Pointer, b: Pointer, size: u64) -> Result<Ordering, Box<Fault>> {
    m.spend(size / 64)?;
    Ok(match size {
        0 => Ordering::Equal,
        _ => m.memory.bytes(a, size)?.cmp(m.memory.bytes(b, size)?),
    })
}

/// Copies a string with its zero, to the place or, if `behind`, to the end of the string there.
fn copy_string(m: &mut Machine, to: Pointer, from: Pointer, behind: bool) -> Result<(), Box<Fault>> {
    let skipped = if behind { c_string(m, to)?.len() as i64 } else { 0 };
    let size = c_string(m, from)?.len() as u64 + 1;
    copy_bytes(m, to.offset(skipped), from, size, false)
}

/// Returns the bytes of a string up to the zero behind it.
fn c_string(m: &mut Machine, at: Pointer) -> Result<Vec<u8>, Box<Fault>> {
    let mut text = Vec::new();
    loop {
        match m.memory.bytes(at.offset(text.len() as i64), 1)?[0] {
            0 => break,
            byte => text.push(byte),
        }
    }
    m.spend(text.len() as u64 / 16)?;
    Ok(text)
}

fn allocate(m: &mut Machine, size: u64, align: u64) -> Result<Datum, Box<Fault>> {
    Ok(m.allocate(size, align, ObjectKind::Heap)?.into())
}

fn allocate_zeros(m: &mut Machine, count: u64, size: u64) -> Result<Datum, Box<Fault>> {
    let size = count.saturating_mul(size);
    let pointer = m.allocate(size, 16, ObjectKind::Heap)?;
    m.memory.fill(pointer, Some(0), size)?;
    Ok(pointer.into())
}

/// Copies bytes as `memcpy` (ranges that overlap are undefined behaviour unless equal) or
/// `memmove`.
pub fn copy_bytes(
    m: &mut Machine,
    to: Pointer,
    from: Pointer,
    size: u64,
    may_overlap: bool,
) -> Result<(), Box<Fault>> {
    m.spend(size / 64)?;
    let distance = to.address.abs_diff(from.address);
    if !may_overlap && to.object == from.object && distance != 0 && distance < size {
        return Err(Fault::undefined(format!("copies {size} bytes between ranges {distance} bytes apart")));
    }
    m.memory.copy(to, from, size)
}

/// MLIR's run-time function that copies memrefs of any layout: each argument points to a rank and a
/// descriptor.
fn copy_unranked(m: &mut Machine, size: u64, from: Pointer, to: Pointer) -> Result<(), Box<Fault>> {
    let source = read_unranked(m, from)?;
    let target = read_unranked(m, to)?;
    copy_elements(m, &source, &target, size)
}

fn read_word(m: &Machine, at: Pointer, index: u64) -> Result<i64, Box<Fault>> {
    let bytes = m.memory.bytes(at.offset((index * 8) as i64), 8)?;
    Ok(i64::from_le_bytes(bytes.try_into().unwrap_or_default()))
}

fn read_pointer(m: &Machine, at: Pointer, index: u64) -> Result<Pointer, Box<Fault>> {
    use super::layout::Repr;
    let datum = m.memory.load(at.offset((index * 8) as i64), &Repr::POINTER, loomir_ir::Loc::UNKNOWN)?;
    datum.as_pointer().ok_or_else(|| unusable(&datum, "an address in a memref descriptor"))
}

fn read_unranked(m: &Machine, at: Pointer) -> Result<super::MemRef, Box<Fault>> {
    let rank = u64::try_from(read_word(m, at, 0)?).ok().filter(|r| *r <= 64);
    let rank = rank.ok_or_else(|| Fault::undefined("an unranked memref of impossible rank"))?;
    let descriptor = read_pointer(m, at, 1)?;
    let dim = |d: u64| {
        let size = read_word(m, descriptor, 3 + d)?;
        let stride = read_word(m, descriptor, 3 + rank + d)?;
        Ok(super::Dim { size: size.max(0), stride })
    };
    Ok(super::MemRef {
        allocated: read_pointer(m, descriptor, 0)?,
        aligned: read_pointer(m, descriptor, 1)?,
        offset: read_word(m, descriptor, 2)?,
        dims: (0..rank).map(dim).collect::<Result<_, Box<Fault>>>()?,
    })
}

/// Copies a memref into another of the same shape, each element `size` bytes with its states.
/// Overlap of different places is undefined behaviour.
pub fn copy_elements(
    m: &mut Machine,
    source: &super::MemRef,
    target: &super::MemRef,
    size: u64,
) -> Result<(), Box<Fault>> {
    let sizes = |memref: &super::MemRef| memref.dims.iter().map(|d| d.size).collect::<Vec<_>>();
    if sizes(source) != sizes(target) {
        let (a, b) = (sizes(source), sizes(target));
        return Err(Fault::undefined(format!("copies a memref of sizes {a:?} into one of sizes {b:?}")));
    }
    let count = source.num_elements().unwrap_or(u64::MAX);
    m.spend(count)?;
    let at = |base: Pointer, linear: i64| base.offset(linear.wrapping_mul(size as i64));
    if source.is_dense() && target.is_dense() {
        let (from, to) = (at(source.aligned, source.offset), at(target.aligned, target.offset));
        return copy_bytes(m, to, from, count.saturating_mul(size), false);
    }
    for (from, to) in source.offsets().zip(target.offsets()) {
        m.memory.copy(at(target.aligned, to), at(source.aligned, from), size)?;
    }
    Ok(())
}
