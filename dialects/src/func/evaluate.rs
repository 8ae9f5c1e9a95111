//! Execution of the operations of `func`.

use loomir_ir::{OpRef, Registry};

use crate::interp::code::malformed;
use crate::interp::{Callee, Decoded, Decoder, Entry, Evaluate, Flow, Signature, Slot, action};

/// Attaches the models.
pub(super) fn register(registry: &mut Registry) {
    registry.attach_to::<dyn Evaluate>(crate::func::CallOp::DEF, Box::new(decode_call));
    registry.attach_to::<dyn Evaluate>(crate::func::CallIndirectOp::DEF, Box::new(decode_call_indirect));
    registry.attach_to::<dyn Evaluate>(crate::func::ConstantOp::DEF, Box::new(decode_constant));
    registry.attach_to::<dyn Evaluate>(crate::func::ReturnOp::DEF, Box::new(decode_return));
}

fn decode_call(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let symbol = op.attr("callee").ok_or_else(|| malformed("a callee"))?;
    let arguments = d.slots(op.operands());
    let results = d.slots(op.results());
    call(d.callee(symbol)?, arguments, results)
}

/// Decodes a call of a function that is resolved during decoding.
pub(crate) fn call(callee: Callee, arguments: Box<[Slot]>, results: Box<[Slot]>) -> Decoded {
    Ok(match callee {
        Callee::Defined(function) => action(move |m| {
            m.send(&arguments);
            Ok(Flow::Call(function))
        }),
        Callee::External(external) => action(move |m| {
            m.send(&arguments);
            m.call_external(external, results.len())?;
            m.receive_results(&results)?;
            Ok(Flow::Next)
        }),
    })
}

/// Decodes an indirect call of a function of this signature, through a register.
pub(crate) fn call_through(callee: Slot, arguments: Box<[Slot]>, signature: Signature) -> Decoded {
    Ok(action(move |m| {
        let pointer = m.pointer(callee, "the function called")?;
        let function = m.function_at(pointer, &signature)?;
        m.send(&arguments);
        Ok(Flow::Call(function))
    }))
}

fn decode_call_indirect(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let callee = d.operand(op, 0)?;
    let types = op.operands().skip(1).map(|value| op.type_of(value)).collect();
    let results = op.results().map(|value| op.type_of(value)).collect();
    call_through(callee, d.slots(op.operands().skip(1)), Signature::new(d.ctx(), types, results))
}

fn decode_constant(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let symbol = op.attr("value").ok_or_else(|| malformed("a value"))?;
    let (result, pointer) = (d.result(op, 0)?, d.address_of(symbol)?);
    Ok(action(move |m| m.done(result, pointer.into())))
}

/// Decodes a return of all operands.
pub(crate) fn decode_return(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let values = d.slots(op.operands());
    Ok(action(move |m| {
        m.send(&values);
        Ok(Flow::Return)
    }))
}

/// Decodes a jump to a block with arguments.
pub(crate) fn jump(entry: Entry, arguments: Box<[Slot]>) -> Decoded {
    Ok(action(move |m| m.enter(&entry, &arguments)))
}
