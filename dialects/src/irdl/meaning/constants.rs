//! Constants of loaded dialects: operations with the trait `ConstantLike`.
//!
//! The attribute `value` is the result. Where the type of the result is a loaded one, the attribute
//! has the type that it is stored as. So the values of all constants can be given to meanings.

use loomir_ir::verifier::{self, op_error};
use loomir_ir::{Attr, Body, Context, Diagnostics, Loc, Op, OpRef, OperationState, Trait, Type, TypeKind};

use super::files;
use super::storage::Storages;
use crate::arith;
use crate::builtin::ModuleOp;

/// Checks that the value of a constant has the type of its result, or that of its storage.
///
/// # Errors
/// The types that differ.
pub(in crate::irdl) fn check(op: OpRef<'_>) -> Result<(), String> {
    if !op.info().has_trait(Trait::ConstantLike) {
        return Ok(());
    }
    let (Some(value), Some(result)) = (op.attr("value"), op.results().next()) else { return Ok(()) };
    let ctx = op.ctx();
    let stored = files(ctx).fold(op.type_of(result), |ty, file| file.storages.lower(ctx, ty));
    // The storage of a file that is being loaded is not known yet.
    if matches!(stored.kind(ctx), TypeKind::Dialect { .. }) || value.ty(ctx) == Some(stored) {
        return Ok(());
    }
    Err(unequal(ctx, value, stored))
}

fn unequal(ctx: &Context, value: Attr, stored: Type) -> String {
    let text = |ty: Type| loomir_ir::text::type_to_string(ctx, ty);
    let own = value.ty(ctx).map_or("no type".to_owned(), |ty| format!("the type {}", text(ty)));
    format!("attribute 'value' has {own}, and the result is stored as {}", text(stored))
}

/// Replaces constants, whose names are sorted, by `arith.constant`. Returns their number. Those
/// with a value of another type are errors.
pub(super) fn lower(
    names: &[String],
    storages: &Storages,
    body: &mut Body,
    errors: &mut Diagnostics,
) -> usize {
    if names.is_empty() {
        return 0;
    }
    let ctx = body.ctx().clone();
    let is_own = |op: &Op| names.binary_search_by(|name| (**name).cmp(body.op_ref(*op).name())).is_ok();
    let ops: Vec<Op> = body.all_ops().filter(is_own).collect();
    for op in &ops {
        let (Some(value), Some(result)) = (body.attr(*op, "value"), body.results(*op).next()) else {
            continue;
        };
        let stored = storages.lower(&ctx, body.value_type(result));
        let is_stored = value.ty(&ctx) == Some(stored);
        let state = arith::materialize_constant(&ctx, value, stored).filter(|_| is_stored);
        let Some(mut state) = state else {
            let error = op_error(body.op_ref(*op), unequal(&ctx, value, stored));
            errors.push(error.help("write the value with that type, such as 3 : i32"));
            continue;
        };
        state.loc = body.loc(*op);
        let new = body.create(state);
        body.insert_before(*op, new);
        let value = body.result(new, 0);
        body.replace_all_uses(result, value);
        body.erase(*op);
    }
    ops.len()
}

/// Makes a constant of a loaded type, if a loaded dialect has one whose rule accepts it.
pub(in crate::irdl) fn materialize(ctx: &Context, value: Attr, ty: Type) -> Option<OperationState> {
    if !matches!(ty.kind(ctx), TypeKind::Dialect { .. }) {
        return None;
    }
    files(ctx).find_map(|file| {
        let is_stored = value.ty(ctx) == Some(file.storages.lower(ctx, ty));
        let states = file.constants.iter().filter(|_| is_stored).map(|name| {
            OperationState::new(ctx, name, Loc::UNKNOWN).attr(ctx, "value", value).results(&[ty])
        });
        states.into_iter().find(|state| is_accepted(ctx, state))
    })
}

/// True if the verifier accepts an operation.
fn is_accepted(ctx: &Context, state: &OperationState) -> bool {
    let mut module = ModuleOp::create(ctx, Loc::UNKNOWN);
    let Some(block) = module.entry_block(module.region(module.root(), 0)) else { return false };
    let op = module.create(state.clone());
    module.append_op(block, op);
    !verifier::verify(&module).has_errors()
}
