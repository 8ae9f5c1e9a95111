//! Execution of casts between partly lowered types: numbers of one width are the same number.

use loomir_ir::{OpRef, Registry};

use crate::interp::elementwise::bit_width;
use crate::interp::{Decoded, Decoder, Evaluate, Fault, action};

/// Attaches the model.
pub(super) fn register(registry: &mut Registry) {
    registry
        .attach_to::<dyn Evaluate>(crate::builtin::UnrealizedConversionCastOp::DEF, Box::new(decode_cast));
}

fn decode_cast(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (operand, result) = (d.operand(op, 0)?, d.result(op, 0)?);
    let (from, to) = (op.operand_type(0), op.result_type(0));
    let same = from == to || bit_width(d.ctx(), from)? == bit_width(d.ctx(), to)?;
    if !same || op.num_operands() != 1 || op.num_results() != 1 {
        return Err(Fault::unsupported("a cast between types that are made up differently"));
    }
    Ok(action(move |m| {
        let datum = m.get(operand).clone();
        m.done(result, datum)
    }))
}
