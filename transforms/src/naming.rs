//! The names of values in remarks.

use loomir_ir::{Body, Loc, Value, ValueDef};

/// Names a value in a remark, with its kind.
pub(crate) fn called_in_full(body: &Body, value: Value) -> String {
    let ValueDef::BlockArgument { block, .. } = body.def(value) else { return called(body, value) };
    let of = body.region_parent(body.block_region(block));
    match body.loc(of).file_line_col(body.ctx()) {
        _ if of == body.root() => format!("argument {}", called(body, value)),
        Some((_, line, column)) => {
            format!("argument {} of the block at {line}:{column}", called(body, value))
        }
        None => format!("argument {} of a block", called(body, value)),
    }
}

/// Names a value in a remark.
pub(crate) fn called(body: &Body, value: Value) -> String {
    match body.def(value) {
        ValueDef::BlockArgument { index, .. } => format!("#{index}"),
        ValueDef::OpResult { op, .. } => match body.loc(op) {
            Loc::UNKNOWN => format!("the result of '{}'", body.op_ref(op).name()),
            loc => match loc.file_line_col(body.ctx()) {
                Some((_, line, column)) => format!("the result at {line}:{column}"),
                None => format!("the result of '{}'", body.op_ref(op).name()),
            },
        },
    }
}
