//! Intrinsics: functions LLVM knows by their names.
//!
//! The overloaded types of an intrinsic are part of its name, and some of its arguments are
//! attributes in the dialect. [`INTRINSICS`] lists both.

/// A type in an intrinsic's name.
#[derive(Clone, Copy)]
pub(super) enum Overload {
    /// The type of the result.
    Result,
    /// The type of an operand.
    Operand(usize),
}

/// An argument that is an attribute of the operation, not an operand.
#[derive(Clone, Copy)]
pub(super) enum Immediate {
    /// `i1`.
    Bool(&'static str),
    /// `i32`.
    I32(&'static str),
}

use Immediate::{Bool, I32};
use Overload::{Operand, Result as Res};

/// The name behind `intr.`, the types in the intrinsic's name, the arguments behind the operands.
const INTRINSICS: &[(&str, &[Overload], &[Immediate])] = &[
    ("abs", &[Res], &[Bool("is_int_min_poison")]),
    ("assume", &[], &[]),
    ("ctlz", &[Res], &[Bool("is_zero_poison")]),
    ("cttz", &[Res], &[Bool("is_zero_poison")]),
    ("debugtrap", &[], &[]),
    ("is.fpclass", &[Operand(0)], &[I32("bit")]),
    ("ldexp", &[Res, Operand(1)], &[]),
    ("lifetime.end", &[Operand(0)], &[]),
    ("lifetime.start", &[Operand(0)], &[]),
    ("lrint", &[Res, Operand(0)], &[]),
    ("lround", &[Res, Operand(0)], &[]),
    ("llrint", &[Res, Operand(0)], &[]),
    ("llround", &[Res, Operand(0)], &[]),
    ("masked.compressstore", &[Operand(0)], &[]),
    ("masked.expandload", &[Res], &[]),
    ("masked.gather", &[Res, Operand(0)], &[]),
    ("masked.load", &[Res, Operand(0)], &[]),
    ("masked.scatter", &[Operand(0), Operand(1)], &[]),
    ("masked.store", &[Operand(0), Operand(1)], &[]),
    ("memcpy", &[Operand(0), Operand(1), Operand(2)], &[Bool("isVolatile")]),
    ("memmove", &[Operand(0), Operand(1), Operand(2)], &[Bool("isVolatile")]),
    ("memset", &[Operand(0), Operand(2)], &[Bool("isVolatile")]),
    ("powi", &[Res, Operand(1)], &[]),
    ("prefetch", &[Operand(0)], &[I32("rw"), I32("hint"), I32("cache")]),
    ("sadd.with.overflow", &[Operand(0)], &[]),
    ("scmp", &[Res, Operand(0)], &[]),
    ("smul.with.overflow", &[Operand(0)], &[]),
    ("ssub.with.overflow", &[Operand(0)], &[]),
    ("stackrestore", &[Operand(0)], &[]),
    ("stacksave", &[Res], &[]),
    ("trap", &[], &[]),
    ("uadd.with.overflow", &[Operand(0)], &[]),
    ("ucmp", &[Res, Operand(0)], &[]),
    ("umul.with.overflow", &[Operand(0)], &[]),
    ("usub.with.overflow", &[Operand(0)], &[]),
    ("vector.reduce.add", &[Operand(0)], &[]),
    ("vector.reduce.and", &[Operand(0)], &[]),
    ("vector.reduce.fadd", &[Operand(1)], &[]),
    ("vector.reduce.fmax", &[Operand(0)], &[]),
    ("vector.reduce.fmaximum", &[Operand(0)], &[]),
    ("vector.reduce.fmin", &[Operand(0)], &[]),
    ("vector.reduce.fminimum", &[Operand(0)], &[]),
    ("vector.reduce.fmul", &[Operand(1)], &[]),
    ("vector.reduce.mul", &[Operand(0)], &[]),
    ("vector.reduce.or", &[Operand(0)], &[]),
    ("vector.reduce.smax", &[Operand(0)], &[]),
    ("vector.reduce.smin", &[Operand(0)], &[]),
    ("vector.reduce.umax", &[Operand(0)], &[]),
    ("vector.reduce.umin", &[Operand(0)], &[]),
    ("vector.reduce.xor", &[Operand(0)], &[]),
];

fn entry(name: &str) -> Option<&'static (&'static str, &'static [Overload], &'static [Immediate])> {
    INTRINSICS.iter().find(|(own, ..)| *own == name)
}

/// Returns the types in the name of an intrinsic. Intrinsics that are not listed are overloaded on
/// their one type.
pub(super) fn overloads(name: &str) -> &'static [Overload] {
    entry(name).map_or(&[Res], |(_, overloads, _)| overloads)
}

/// Returns the arguments of an intrinsic that are attributes. They follow the others.
pub(super) fn immediates(name: &str) -> &'static [Immediate] {
    entry(name).map_or(&[], |(_, _, immediates)| immediates)
}

/// Returns the argument of an intrinsic whose alignment is the attribute `alignment` of the
/// operation, not of the argument.
pub(super) fn aligned_argument(name: &str) -> Option<usize> {
    match name {
        "masked.load" | "masked.gather" => Some(0),
        "masked.store" | "masked.scatter" => Some(1),
        _ => None,
    }
}
