//! Remarks of contraction about an array: its change, or the reason why it stays.

use loomir_ir::text::type_to_string;
use loomir_ir::{Body, Diagnostic, Loc, Type, Value};

use crate::legality::storage::Missed;
use crate::remark::{self, Remarks};

/// Returns the remark about an erased array. `read` is true if it had loads.
pub(super) fn erased(body: &Body, loc: Loc, read: bool) -> Diagnostic {
    let (name, what) = match read {
        true => ("Contracted", "Array contracted to values"),
        false => ("Erased", "Array erased, for nothing reads it"),
    };
    remarks(body).passed(name, loc, what)
}

/// Returns the remark about a folded array.
pub(super) fn folded(body: &Body, array: Value, before: Type) -> Diagnostic {
    let ctx = body.ctx();
    let (before, after) = (type_to_string(ctx, before), type_to_string(ctx, body.value_type(array)));
    let text = format!("Array contracted from {before} to {after}");
    remarks(body).passed("Shrunk", loc(body, array), &text).arg("before", before).arg("after", after)
}

/// Returns the remark about an array that stays.
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
    let remark = remarks(body).missed(id, loc(body, array), "Array not contracted", reason);
    match why {
        Missed::Escapes(op) => {
            remark.note(body.loc(op), "it is passed on here").arg("use", remark::op(body, op))
        }
        Missed::Used(op) => remark.note(body.loc(op), "here").arg("use", remark::op(body, op)),
        Missed::FullSize | Missed::Unbounded | Missed::TooHard => remark,
    }
}

fn remarks(body: &Body) -> Remarks<'_> {
    Remarks { body, pass: super::PASS.name }
}

fn loc(body: &Body, array: Value) -> Loc {
    body.defining_op(array).map_or(Loc::UNKNOWN, |op| body.loc(op))
}
