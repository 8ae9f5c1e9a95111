//! Puts a copy of a function in the place of a call.

use loomir_dialects::interfaces::{Inlinable, ReturnAsBranch};
use loomir_dialects::llvm::{METADATA, move_metadata};
use loomir_ir::verifier::verify_in_place;
use loomir_ir::{Attr, Block, Body, Import, Loc, LocKind, Op, Trait, Value};

use super::legality::{Callee, Missed, Site};

/// Replaces a call in `to` by a copy of the body in `from`. Changes nothing if the copy is not
/// valid there.
pub(super) fn splice(to: &mut Body, from: &Body, callee: &Callee, site: Site) -> Result<(), Missed> {
    let ctx = to.ctx().clone();
    let caller = to.loc(site.call);
    let mut locate = |callee: Loc| match (callee, caller) {
        (Loc::UNKNOWN, Loc::UNKNOWN) => Loc::UNKNOWN,
        _ => ctx.loc(LocKind::CallSite { callee, caller }),
    };
    let mut import = Import::new(from);
    match from.single_block(callee.region).filter(|_| callee.is_one_block) {
        Some(block) => splice_block(to, block, &site, (from, &mut import), &mut locate)?,
        None => splice_blocks(to, callee, &site, (from, &mut import), &mut locate)?,
    }
    Ok(())
}

type Locate<'l> = &'l mut dyn FnMut(Loc) -> Loc;

/// Replaces a call by the operations of a block.
fn splice_block(
    to: &mut Body,
    block: Block,
    site: &Site,
    (from, import): (&Body, &mut Import<'_>),
    locate: Locate<'_>,
) -> Result<(), Missed> {
    let (call, said) = (site.call, to.attr(site.call, METADATA));
    for (argument, value) in from.arguments(block).zip(&site.arguments) {
        import.map(argument, *value);
    }
    let copies = import.ops_before(to, block, call, locate);
    if let Some(invalid) = invalid(to, &copies) {
        copies.into_iter().rev().for_each(|op| to.erase(op));
        return Err(invalid);
    }
    let end = from.last_op(block);
    let returned = end.into_iter().flat_map(|end| from.operands(end));
    let returned: Vec<Value> = returned.filter_map(|value| import.value(value)).collect();
    for (result, value) in to.results(call).zip(returned) {
        to.replace_all_uses(result, value);
    }
    to.erase(call);
    settle(to, &copies, (site, said), (from, import));
    Ok(())
}

/// Splits the block of a call, and puts copies of blocks between the parts.
fn splice_blocks(
    to: &mut Body,
    callee: &Callee,
    site: &Site,
    (from, import): (&Body, &mut Import<'_>),
    locate: Locate<'_>,
) -> Result<(), Missed> {
    let (call, said) = (site.call, to.attr(site.call, METADATA));
    let (Some(home), Some(next)) = (to.block_of(call), to.next_op(call)) else { return Ok(()) };
    let blocks = import.blocks_after(to, callee.region, home, locate);
    let Some(entry) = blocks.first().copied() else { return Ok(()) };
    let arguments: Vec<Value> = to.arguments(entry).collect();
    for (argument, value) in arguments.into_iter().zip(&site.arguments) {
        to.replace_all_uses(argument, *value);
    }
    let copies: Vec<Op> = blocks.iter().flat_map(|block| to.ops(*block)).collect();
    if let Some(invalid) = invalid(to, &copies) {
        to.erase_blocks(&blocks);
        return Err(invalid);
    }
    let Some(tail) = to.split_block(next) else { return Ok(()) };
    let last = blocks.last().copied();
    to.move_block(tail, to.block_region(home), last);
    for result in to.results(call) {
        let argument = to.add_argument(tail, to.value_type(result));
        to.set_argument_loc(argument, to.loc(call));
        to.replace_all_uses(result, argument);
    }
    let copies: Vec<Op> = copies.into_iter().filter(|op| !to.has_trait(*op, Trait::ReturnLike)).collect();
    for block in &blocks {
        let Some(end) = to.last_op(*block).filter(|end| to.has_trait(*end, Trait::ReturnLike)) else {
            continue;
        };
        let view = to.op_ref(end);
        let Some(model) = view.info().interface::<dyn ReturnAsBranch>() else { continue };
        let operands: Vec<Value> = view.operands().collect();
        let mut state = model.branch(view, tail, &operands);
        state.set_defaults(to.ctx());
        let branch = to.create(state);
        to.append_op(*block, branch);
        to.erase(end);
    }
    to.erase(call);
    to.inline_block(entry, home, None, &site.arguments);
    settle(to, &copies, (site, said), (from, import));
    Ok(())
}

/// Returns the reason why copies are not valid where they stand.
fn invalid(to: &Body, copies: &[Op]) -> Option<Missed> {
    let mut errors = copies
        .iter()
        .filter(|op| !to.has_trait(**op, Trait::ReturnLike))
        .flat_map(|op| to.preorder(*op))
        .flat_map(|op| verify_in_place(to, op));
    let error = errors.next()?;
    Some(Missed::new("NotInlined", format!("a copy of it is not valid at the call: {}", error.message)))
}

/// Moves stack memory to the start of its scope, and lets copies adapt to their new function.
/// `said` is the metadata of the call.
fn settle(
    to: &mut Body,
    copies: &[Op],
    (site, said): (&Site, Option<Attr>),
    (from, import): (&Body, &Import<'_>),
) {
    for (allocation, block) in &site.moved {
        let copy = from.results(*allocation).next().and_then(|value| import.value(value));
        let Some(copy) = copy.and_then(|value| to.defining_op(value)) else { continue };
        let Some(first) = to.first_op(*block) else { continue };
        for value in to.operands(copy).collect::<Vec<_>>() {
            let Some(constant) = to.defining_op(value) else { continue };
            let constant = to.copy_op(constant, &mut Default::default());
            to.insert_before(first, constant);
            for index in 0..to.num_operands(copy) {
                if to.operand(copy, index) == value {
                    to.set_operand(copy, index, to.result(constant, 0));
                }
            }
        }
        if first != copy {
            to.move_before(copy, first);
        }
    }
    let inside: Vec<Op> = copies.iter().flat_map(|op| to.preorder(*op)).collect();
    for op in inside {
        move_metadata(to, op, said);
        let ctx = to.ctx().clone();
        if let Some(model) = ctx.op_info(to.op_name(op)).interface::<dyn Inlinable>() {
            model.was_inlined(to, op);
        }
    }
}
