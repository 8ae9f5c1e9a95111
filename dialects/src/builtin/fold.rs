//! Folds of `builtin`.

use loomir_ir::opdef::Folded;
use loomir_ir::{Attr, OpRef, Value};

use super::UnrealizedConversionCastOp;

/// Folds a cast to the same types, and a cast back of all results of another cast.
pub(super) fn unrealized_conversion_cast(op: OpRef<'_>, _: &[Option<Attr>]) -> Option<Vec<Folded>> {
    let has_types_of_results = |values: &[Value]| {
        values.len() == op.num_results()
            && values.iter().zip(op.results()).all(|(v, result)| op.type_of(*v) == op.type_of(result))
    };
    let replaced_by = |values: Vec<Value>| Some(values.into_iter().map(Folded::Value).collect());
    let inputs: Vec<Value> = op.operands().collect();
    if has_types_of_results(&inputs) {
        return replaced_by(inputs);
    }
    let body = op.body();
    let source = body.op_ref(body.defining_op(*inputs.first()?)?);
    if !source.is(UnrealizedConversionCastOp::DEF) || !source.results().eq(inputs.iter().copied()) {
        return None;
    }
    let sources: Vec<Value> = source.operands().collect();
    if has_types_of_results(&sources) { replaced_by(sources) } else { None }
}
