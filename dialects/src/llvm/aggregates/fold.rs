//! Folds of operations on parts of values.

use loomir_ir::opdef::Folded;
use loomir_ir::{Attr, OpRef};

use super::{ExtractValueOp, InsertValueOp};

/// The most insertions that are looked through. Where nothing runs, they may form a circle.
const MAX_INSERTIONS: usize = 256;

/// Folds to the value inserted at this position. Insertions at other positions may follow it.
pub(super) fn fold_extract(op: OpRef<'_>, _constants: &[Option<Attr>]) -> Option<Vec<Folded>> {
    let (ctx, body) = (op.ctx(), op.body());
    let extract = ExtractValueOp(op.op());
    let position = extract.position(body)?.as_dense_ints(ctx)?;
    let mut container = extract.container(body);
    if position.is_empty() {
        return Some(vec![Folded::Value(container)]);
    }
    for _ in 0..MAX_INSERTIONS {
        let insert = body.defining_op(container).and_then(|op| InsertValueOp::cast(body, op))?;
        let inserted = insert.position(body)?.as_dense_ints(ctx)?;
        if inserted == position {
            return Some(vec![Folded::Value(insert.value(body))]);
        }
        // One position contains the other: the extracted part lies inside the inserted one, or was
        // changed in part.
        if inserted.starts_with(&position) || position.starts_with(&inserted) {
            return None;
        }
        container = insert.container(body);
    }
    None
}
