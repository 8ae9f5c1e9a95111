//! Rules of `mask`, and the operations that it may switch.

use loomir_ir::verifier::op_error;
use loomir_ir::{Diagnostics, OpRef, Type};

use super::product::{indexing_maps, iteration_space, named_dims};
use super::text;
use super::transfer::mask_type;
use crate::checks::expect_no_region_arguments;
use crate::vector::YieldOp;
use crate::vector::shape::{VectorShape, vector};

/// An operation that `mask` may switch.
struct Maskable {
    /// The type of its mask.
    mask: Type,
    /// True if elements that are switched off may come from another vector.
    takes_passthru: bool,
}

/// Returns the mask that an operation takes. `None` if it takes none.
fn maskable(op: OpRef<'_>) -> Option<Maskable> {
    let ctx = op.ctx();
    let bools = |ty: Type| Some(vector(ctx, VectorShape::of(ctx, ty)?.dims(), Type::I1));
    let transferred = |ty: Type| {
        let map = op.attr("permutation_map")?.as_affine_map(ctx)?;
        mask_type(ctx, map, ty)
    };
    let mask = match op.name() {
        "vector.reduction" | "vector.multi_reduction" => bools(op.operand_type(0))?,
        "vector.outerproduct" | "vector.gather" => bools(op.result_type(0))?,
        "vector.transfer_read" => transferred(op.result_type(0))?,
        "vector.transfer_write" => transferred(op.operand_type(0))?,
        "vector.contract" => {
            let dims: Option<Vec<_>> =
                indexing_maps(op).into_iter().map(|map| named_dims(ctx, map)).collect();
            vector(ctx, iteration_space(op, &dims?)?, Type::I1)
        }
        _ => return None,
    };
    Some(Maskable { mask, takes_passthru: op.name() == "vector.transfer_read" })
}

/// Checks that the region holds one operation that a mask may switch, and yields its results.
pub(crate) fn mask(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_no_region_arguments(op, out);
    let (ctx, body) = (op.ctx(), op.body());
    let Some(block) = body.entry_block(op.region(0)) else { return };
    let ops: Vec<OpRef<'_>> = body.ops(block).map(|own| body.op_ref(own)).collect();
    let Some((end, inner)) = ops.split_last().filter(|(end, _)| end.is(YieldOp::DEF)) else {
        out.push(op_error(op, "expects to be terminated with a single yield operation"));
        return;
    };
    let types: Vec<Type> = op.results().map(|result| op.type_of(result)).collect();
    let message = if end.num_operands() != types.len() {
        "expects number of results to match mask region yielded values".to_owned()
    } else if inner.len() > 1 {
        "expects only one operation to mask".into()
    } else if let [inner] = inner {
        let Some(masked) = maskable(*inner) else {
            out.push(op_error(op, "expects a MaskableOpInterface within the mask region"));
            return;
        };
        let has_passthru = !op.operand_group("passthru").is_empty();
        if !end.operands().eq(inner.results()) {
            "expects all the results from the MaskableOpInterface to match all the values returned by \
             the terminator"
                .into()
        } else if !types.iter().copied().eq(inner.results().map(|result| inner.type_of(result))) {
            "expects result type to match maskable operation result type".into()
        } else if types.iter().filter(|ty| VectorShape::of(ctx, **ty).is_some()).count() > 1 {
            "multiple vector results not supported".into()
        } else if op.operand_type(0) != masked.mask {
            format!("expects a '{}' mask for the maskable operation", text(op, masked.mask))
        } else if has_passthru && !masked.takes_passthru {
            "doesn't expect a passthru argument for this maskable operation".into()
        } else {
            return;
        }
    } else {
        return;
    };
    out.push(op_error(op, message));
}
