//! Attributes that mark the output of fusion for later runs.
//!
//! Without them a second run would treat a remainder like any other loop and split it again, or
//! return a part of a loop to its origin. All are discardable: a program without them behaves the
//! same.

use loomir_ir::{Attr, Context, OperationState, Type};

use crate::directive::DIRECTIVE;

/// Marks a loop over the iterations that fusion left over. It is not fused again.
pub(crate) const REMAINDER: &str = "loomir.remainder";

/// Marks a loop that contains a part of another loop. It is not distributed for another fusion.
pub(crate) const DISTRIBUTED: &str = "loomir.distributed";

/// Marks the run-time check of a versioned nest, or a loop on one of its sides. Nothing inside is
/// versioned again.
pub const VERSIONED: &str = "loomir.versioned";

/// Marks the branch of a run-time check in a function that becomes branches.
pub const CHECK: &str = "loomir.check";

/// Marks a parallel loop whose iterations become operations on vectors: their number. It is gone
/// after that, and of no meaning in a program that is read.
pub(crate) const LANES: &str = "loomir.lanes";

/// Marks such a loop that may have fewer iterations than [lanes](LANES).
pub(crate) const MASKED: &str = "loomir.masked";

/// Lists the tested objects of an access in a versioned arm: the object behind which it lies, and
/// those from which the test found it apart, by number.
pub const APART: &str = "loomir.apart";

/// Marks a loop that a directive made. The source says how it runs, so it is not fused.
pub const OBEYED: &str = "loomir.obeyed";

/// Marks a nest that fusion wrote for a copy or a fill of a whole memref: the name of that
/// operation. It is gone after fusion.
pub(crate) const WHOLE: &str = "loomir.whole";

/// Marks a function that a pass made of a part of another one. Its arguments may overlap, whatever
/// the user says of arguments.
pub const OVERLAPPING: &str = "loomir.overlapping";

/// Marks a call of a function over a range, its first two operands: calls for parts of the range
/// may take its place, in any order and at the same time.
pub const THREADS: &str = "loomir.threads";

/// The marks of loops, and the attribute with their directives.
pub const OF_LOOPS: [&str; 5] = [REMAINDER, DISTRIBUTED, VERSIONED, OBEYED, DIRECTIVE];

/// Marks a new loop as that of so many [lanes](LANES), or with [fewer](MASKED) iterations.
pub(crate) fn set_lanes(ctx: &Context, (count, masked): (u32, bool), state: &mut OperationState) {
    state.set_attr(ctx, LANES, ctx.int_attr(Type::I64, i64::from(count)));
    if masked {
        state.set_attr(ctx, MASKED, Attr::UNIT);
    }
}
