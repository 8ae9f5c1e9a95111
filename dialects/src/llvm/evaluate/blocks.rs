//! Execution of branches to addresses.
//!
//! A block whose address is taken is an object without bytes. An address may be stored, loaded and
//! converted to a number and back, also with the distance of two of them in between. A branch to
//! anything but one of its own targets is undefined.

use hashbrown::HashMap;
use loomir_ir::OpRef;

use super::Model;
use crate::branch::successor_operands;
use crate::interp::code::malformed;
use crate::interp::{Decoded, Decoder, Entry, Fault, Flow, Slot, action};
use crate::llvm::control::addresses::{named_by_symbol, tag_of};

/// Attaches the models.
pub(super) fn register(attach: &mut dyn FnMut(&str, Model)) {
    attach("blocktag", |_, _| Ok(action(|_| Ok(Flow::Next))));
    attach("blockaddress", decode_address);
    attach("indirectbr", decode_branch);
}

fn decode_address(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let result = d.result(op, 0)?;
    let (function, tag) = named_by_symbol(op).ok_or_else(|| malformed("an address"))?;
    let pointer = d.block_address(function, tag)?;
    Ok(action(move |m| m.done(result, pointer.into())))
}

/// Decodes a branch to an address. Linear in the blocks that it may reach.
fn decode_branch(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (address, function, body) = (d.operand(op, 0)?, d.function_id(), op.body());
    let mut targets: HashMap<i64, (Entry, Box<[Slot]>)> = HashMap::new();
    let operands = successor_operands(body, op.op()).ok_or_else(|| malformed("operands of its edges"))?;
    for (block, operands) in op.successors().zip(operands) {
        let passed = d.slots(operands);
        for tag in body.ops(block).filter_map(|inner| tag_of(body.op_ref(inner))) {
            let (_, known) = targets.entry(tag).or_insert_with(|| (d.block(block), passed.clone()));
            if *known != passed {
                return Err(Fault::unsupported("two edges to one block that pass different values"));
            }
        }
    }
    Ok(action(move |m| {
        let pointer = m.pointer(address, "the address of a branch")?;
        match targets.get(&m.tag_at(pointer, function)?) {
            Some((entry, arguments)) => m.enter(entry, arguments),
            None => Err(Fault::undefined("branches to a block that is not among its targets")),
        }
    }))
}
