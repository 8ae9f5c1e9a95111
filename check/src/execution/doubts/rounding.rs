//! Runs in which no rounding happens, whatever the order of computation.
//!
//! Fast-math flags allow to compute a real number in another way: in another order, with fewer
//! roundings, or by the distributive law. If all numbers are small multiples of one power of two,
//! every such way is exact, and gives the same result. Then a difference is certain in spite of the
//! flags.
//!
//! **Assumptions.**
//! - A rewritten computation has no more operands than the run has operations with flags, and
//!   multiplies no more than two of the numbers that the run has seen before it adds. Tried in
//!   `tests/execution.rs`.
//! - The order of a sum or product of exact numbers does not change the sign of a zero result. The
//!   distributive law may, and needs `nsz`. With `nsz` a run with a result of zero decides nothing.

use loomir_dialects::interp::float::{Brain, Double, Format, Half, Single};
use loomir_dialects::interp::{Datum, Event};
use loomir_ir::{FloatKind, OpRef, TypeKind};

use super::{FUSED, has_flag, is_loose, operations};
use crate::execution::Side;

/// Operations that are exact on small multiples of a power of two. Others round, or approximate.
const EXACT: [&str; 11] = [
    "arith.addf",
    "arith.subf",
    "arith.mulf",
    "arith.negf",
    "arith.maximumf",
    "arith.minimumf",
    "llvm.fadd",
    "llvm.fsub",
    "llvm.fmul",
    "llvm.fneg",
    FUSED,
];

/// Returns true if fast-math flags change nothing in a run.
pub(super) fn is_exact(side: Side<'_>, trace: &[Event]) -> bool {
    let Some(operations) = operations(side, trace) else { return false };
    let mut seen = Numbers { operations: 0.0, greatest: 0.0, unit: 0, digits: u32::MAX };
    for (op, event) in operations {
        if !(is_loose(op) || op.name() == FUSED) {
            continue;
        }
        // A comparison with flags gives no number.
        let Some(kind) = float_kind(op) else { return false };
        let may_be_zero = !has_flag(op, &["nsz", "fast"]);
        let is_exact = EXACT.contains(&op.name())
            && event.operands.iter().all(|own| seen.add(kind, own))
            && event.results.iter().all(|own| seen.add(kind, own))
            && (may_be_zero || event.results.iter().all(|own| number(kind, own) != Some(0.0)));
        if !is_exact {
            return false;
        }
        seen.operations += 1.0;
    }
    seen.are_exact()
}

/// The numbers that a run computes with.
struct Numbers {
    operations: f64,
    greatest: f64,
    /// All are multiples of this power of two.
    unit: i32,
    /// The bits of a mantissa, in the narrowest format.
    digits: u32,
}

impl Numbers {
    /// Adds a number; false if it is none that is finite.
    fn add(&mut self, kind: FloatKind, datum: &Datum) -> bool {
        let Some(value) = number(kind, datum).filter(|value| value.is_finite()) else { return false };
        self.greatest = self.greatest.max(value.abs());
        self.digits = self.digits.min(digits(kind));
        let mut scaled = value;
        let mut unit = 0;
        while scaled.fract() != 0.0 {
            (scaled, unit) = (scaled * 2.0, unit - 1);
        }
        self.unit = self.unit.min(unit);
        true
    }

    /// Returns true if sums of all products of two numbers fit into a mantissa.
    fn are_exact(&self) -> bool {
        let units = self.greatest * 2f64.powi(-self.unit);
        (self.operations + 1.0) * units * units <= 2f64.powi(self.digits.min(53) as i32)
    }
}

fn float_kind(op: OpRef<'_>) -> Option<FloatKind> {
    let result = op.results().next()?;
    match op.body().value_type(result).kind(op.ctx()) {
        TypeKind::Float(kind) => Some(*kind),
        _ => None,
    }
}

/// Returns the value of a float; `None` for poison, vectors and formats that are not executed.
fn number(kind: FloatKind, datum: &Datum) -> Option<f64> {
    let bits = datum.as_bits()?;
    match kind {
        FloatKind::F16 => Some(Half::read(bits)),
        FloatKind::BF16 => Some(Brain::read(bits)),
        FloatKind::F32 => Some(Single::read(bits)),
        FloatKind::F64 => Some(Double::read(bits)),
        _ => None,
    }
}

/// Returns the bits of a mantissa, the hidden one included.
fn digits(kind: FloatKind) -> u32 {
    match kind {
        FloatKind::BF16 => 8,
        FloatKind::F16 => 11,
        FloatKind::F32 => 24,
        _ => 53,
    }
}
