//! The parts of a random C function that its body and its calls depend on.

use super::types::Type;

/// The form of a loop's header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// From a constant up to `n`, which is in the text.
    Up { from: i64, to: &'static str, step: i64 },
    /// From `n - 1` down to 0, with a sign.
    Down,
    /// From `n` down to 0, without a sign.
    CountDown,
    /// From `lo` to `m`, which are `n` apart.
    Window,
    /// From `lo` until `lo + n`, which may wrap.
    Wrapping,
    /// Up to a constant.
    Constant(i64),
}

/// The parts of a C function that decide how it is called.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    /// The bytes of an element behind each pointer.
    pub(super) bytes: Vec<i64>,
    /// The type of counters, and of `n`, `m` and `lo`.
    pub(super) counter: Type,
    /// The type of `k`.
    pub(super) scalar: Type,
    pub(super) shape: Shape,
    pub(super) is_restrict: bool,
    pub(super) is_packed: bool,
    /// The global variable that the function accesses.
    pub(super) variable: Option<usize>,
}

/// The memory behind a pointer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Pointee {
    Elements(Type),
    /// Rows of 16 elements.
    Rows(Type),
    /// A structure with these fields.
    Fields(Vec<Type>),
}

impl Pointee {
    /// Returns the bytes of what is behind the pointer.
    pub(super) fn bytes(&self) -> i64 {
        match self {
            Pointee::Elements(ty) => ty.bytes,
            Pointee::Rows(ty) => 16 * ty.bytes,
            Pointee::Fields(fields) => {
                let widest = fields.iter().filter(|ty| !ty.is_packed).map(|ty| ty.bytes).max().unwrap_or(1);
                let end = fields.iter().fold(0, |at, ty| {
                    let align = if ty.is_packed { 1 } else { ty.bytes };
                    (at + align - 1) / align * align + ty.bytes
                });
                (end + widest - 1) / widest * widest
            }
        }
    }
}
