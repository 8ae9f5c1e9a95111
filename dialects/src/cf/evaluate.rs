//! Execution of branches between blocks. The branches of the `llvm` dialect are executed the same
//! way.

use hashbrown::HashMap;
use loomir_ir::attributes::AttrKind;
use loomir_ir::{OpRef, Registry};

use crate::func::evaluate::jump;
use crate::interp::code::malformed;
use crate::interp::constant::dense_elements;
use crate::interp::unusable;
use crate::interp::{Decoded, Decoder, Entry, Evaluate, Flow, Machine, Slot, action};

/// Attaches the models.
pub(super) fn register(registry: &mut Registry) {
    registry.attach_to::<dyn Evaluate>(crate::cf::BranchOp::DEF, Box::new(decode_branch));
    registry.attach_to::<dyn Evaluate>(crate::cf::CondBranchOp::DEF, Box::new(decode_conditional_branch));
    registry.attach_to::<dyn Evaluate>(crate::cf::SwitchOp::DEF, Box::new(decode_switch));
    registry.attach_to::<dyn Evaluate>(crate::cf::AssertOp::DEF, Box::new(decode_assert));
}

/// Decodes a branch with all operands.
pub(crate) fn decode_branch(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let block = op.successors().next().ok_or_else(|| malformed("a successor"))?;
    jump(d.block(block), d.slots(op.operands()))
}

/// Decodes a branch to one of two blocks.
pub(crate) fn decode_conditional_branch(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let groups = d.segments(op, 3)?;
    let mut successors = op.successors();
    let (Some(yes), Some(no)) = (successors.next(), successors.next()) else {
        return Err(malformed("two successors"));
    };
    let condition = d.operand(op, 0)?;
    let yes = (d.block(yes), d.slots(groups[1].iter().copied()));
    let no = (d.block(no), d.slots(groups[2].iter().copied()));
    Ok(action(move |m| {
        let (entry, arguments) =
            if m.condition(condition, "the condition of a branch")? { &yes } else { &no };
        m.enter(entry, arguments)
    }))
}

/// Decodes a branch to one of many blocks.
pub(crate) fn decode_switch(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let groups = d.segments(op, 3)?;
    let flag = d.operand(op, 0)?;
    let mut successors = op.successors();
    let default = successors.next().ok_or_else(|| malformed("a default successor"))?;
    let default = (d.block(default), d.slots(groups[1].iter().copied()));
    let values = match op.attr("case_values") {
        Some(attr) if matches!(attr.kind(d.ctx()), AttrKind::DenseElements { .. }) => {
            dense_elements(d.ctx(), attr)?
        }
        Some(_) => return Err(malformed("case values that are dense")),
        None => Vec::new(),
    };
    let sizes = op.attr("case_operand_segments").and_then(|a| a.as_dense_ints(d.ctx()));
    let sizes = sizes.ok_or_else(|| malformed("case operand segments"))?;
    let mut operands = groups[2].iter().copied();
    let mut cases: HashMap<u128, (Entry, Box<[Slot]>)> = HashMap::new();
    for ((value, block), size) in values.into_iter().zip(successors).zip(sizes) {
        let arguments = operands.by_ref().take(usize::try_from(size).unwrap_or(0));
        let to = (d.block(block), d.slots(arguments));
        let value = value.as_bits().ok_or_else(|| malformed("case values that are numbers"))?;
        // The first of equal cases counts.
        cases.entry(value).or_insert(to);
    }
    Ok(action(move |m: &mut Machine| {
        let value = m.get(flag);
        let value = value.as_bits().ok_or_else(|| unusable(value, "the flag of a switch"))?;
        let (entry, arguments) = cases.get(&value).unwrap_or(&default);
        m.enter(entry, arguments)
    }))
}

fn decode_assert(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let condition = d.operand(op, 0)?;
    let message = op.attr("msg").and_then(|a| a.as_str(d.ctx())).unwrap_or_default().to_owned();
    Ok(action(move |m| match m.condition(condition, "the condition of an assertion")? {
        true => Ok(Flow::Next),
        false => Machine::trap(format!("the assertion \"{message}\" does not hold")),
    }))
}
