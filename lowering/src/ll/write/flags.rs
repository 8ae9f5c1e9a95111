//! The flags of instructions.

use loomir_dialects::llvm::attributes::{FASTMATH, OVERFLOW};
use loomir_ir::OpRef;

use super::line::Line;

/// Writes the flags of an instruction, each behind a space.
pub(super) fn flags(line: &mut Line<'_>, op: OpRef<'_>) {
    for (name, word) in [("isDisjoint", " disjoint"), ("nonNeg", " nneg")] {
        if op.attr(name).is_some() {
            line.put(word);
        }
    }
    let overflow = op.attr("overflowFlags").and_then(|o| OVERFLOW.value(&line.m.ctx, o)).unwrap_or(0);
    if overflow != 0 {
        for (name, word) in [("nuw", " nuw"), ("nsw", " nsw")] {
            if OVERFLOW.value_of(name).is_some_and(|bit| overflow & bit != 0) {
                line.put(word);
            }
        }
    }
    if op.attr("isExact").is_some() {
        line.put(" exact");
    }
    fastmath(line, op);
}

/// Writes fast-math flags, each behind a space.
pub(super) fn fastmath(line: &mut Line<'_>, op: OpRef<'_>) {
    let value = op.attr("fastmathFlags").and_then(|f| FASTMATH.value(&line.m.ctx, f)).unwrap_or(0);
    if value == 0 {
        return;
    }
    if FASTMATH.value_of("fast") == Some(value) {
        return line.put(" fast");
    }
    for name in ["reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn"] {
        if FASTMATH.value_of(name).is_some_and(|bit| value & bit != 0) {
            line.put(" ");
            line.put(name);
        }
    }
}
