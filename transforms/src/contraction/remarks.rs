//! What contraction says of an array: what became of it, or why it stays.

use loomir_ir::text::type_to_string;
use loomir_ir::{Body, Diagnostic, Loc, Type, Value};

use super::flowing::Missed;
use crate::remark::remark;

/// The remark for an array that went: `read` if there were loads of it.
pub(super) fn erased(body: &Body, loc: Loc, read: bool) -> Diagnostic {
    let what = if read { "Array contracted to values" } else { "Array erased, for nothing reads it" };
    remark(body, loc, what)
}

/// The remark for an array that became smaller.
pub(super) fn folded(body: &Body, array: Value, before: Type) -> Diagnostic {
    let ctx = body.ctx();
    let (before, after) = (type_to_string(ctx, before), type_to_string(ctx, body.value_type(array)));
    remark(body, loc(body, array), &format!("Array contracted from {before} to {after}"))
}

/// The remark for an array that stays.
pub(super) fn missed(body: &Body, array: Value, why: Missed) -> Diagnostic {
    let (id, reason) = match why {
        Missed::Escapes(_) => ("Escapes", "Others may read it"),
        Missed::Used(_) => ("OtherUse", "It is used by more than loads, stores and frees"),
        Missed::FullSize => ("FullSize", "Most of its elements are alive at a time"),
        Missed::Unbounded => {
            ("Unbounded", "There is no bound on how many of its elements are alive at a time")
        }
        Missed::TooHard => ("TooHard", "It has too many accesses, or the solver's limit was reached"),
    };
    let remark = remark(body, loc(body, array), &format!("Array not contracted [{id}]: {reason}"));
    match why {
        Missed::Escapes(op) => remark.note(body.loc(op), "it is passed on here"),
        Missed::Used(op) => remark.note(body.loc(op), "here"),
        Missed::FullSize | Missed::Unbounded | Missed::TooHard => remark,
    }
}

fn loc(body: &Body, array: Value) -> Loc {
    body.defining_op(array).map_or(Loc::UNKNOWN, |op| body.loc(op))
}
