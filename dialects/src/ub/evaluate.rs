//! Execution of the operations of `ub`.

use loomir_ir::{OpRef, Registry};

use crate::interp::{Cause, Datum, Decoded, Decoder, Evaluate, Fault, action};

/// Attaches the models.
pub(super) fn register(registry: &mut Registry) {
    registry.attach_to::<dyn Evaluate>(crate::ub::PoisonOp::DEF, Box::new(decode_poison));
    registry.attach_to::<dyn Evaluate>(crate::ub::UnreachableOp::DEF, Box::new(decode_unreachable));
}

/// Decodes a poison constant.
pub(crate) fn decode_poison(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (result, loc) = (d.result(op, 0)?, op.loc());
    Ok(action(move |m| m.done(result, Datum::poison(Cause::Explicit, loc))))
}

/// Decodes an unreachable place.
pub(crate) fn decode_unreachable(_op: OpRef<'_>, _d: &mut Decoder<'_>) -> Decoded {
    Ok(action(|_| Err(Fault::undefined("control comes to a place said to be unreachable"))))
}
