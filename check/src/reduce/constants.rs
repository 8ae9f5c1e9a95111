//! Edits of numbers: constants, and constant bounds of loops.

use loomir_ir::{AffineMap, AttrKind, Body, Op, OpRef};

/// A smaller number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Less {
    /// Zero, or one from two on.
    Small,
    /// Half of it.
    Half,
    /// One less.
    One,
}

/// Attributes that hold numbers which may be smaller.
const BOUNDS: [&str; 1] = ["upperBoundMap"];
/// Operations that are a number.
pub(super) const CONSTANTS: [&str; 2] = ["arith.constant", "llvm.mlir.constant"];

impl Less {
    /// Returns the smaller number; `None` if there is none.
    fn of(self, number: i128) -> Option<i128> {
        let less = match self {
            Less::Small => i128::from(number > 1),
            Less::Half => number / 2,
            Less::One => number - number.signum(),
        };
        (less.unsigned_abs() < number.unsigned_abs()).then_some(less)
    }
}

/// True if an operation holds a number that may be smaller.
pub(super) fn can_shrink(op: OpRef<'_>, less: Less) -> bool {
    number(op).is_some_and(|(_, number)| less.of(number).is_some())
}

/// Makes the number that an operation holds smaller.
pub(super) fn shrink(body: &mut Body, op: Op, less: Less) -> bool {
    let Some((name, number)) = number(body.op_ref(op)) else { return false };
    let Some(number) = less.of(number) else { return false };
    let ctx = body.ctx().clone();
    let attr = match body.attr(op, name).map(|attr| attr.kind(&ctx)) {
        Some(AttrKind::Integer { ty, .. }) => ctx.int_attr(*ty, number),
        Some(AttrKind::AffineMap(_)) => {
            let Ok(number) = i64::try_from(number) else { return false };
            ctx.attr(AttrKind::AffineMap(AffineMap::constant(&ctx, number)))
        }
        _ => return false,
    };
    body.set_attr(op, name, attr);
    true
}

/// Returns the number that an operation holds, and the attribute that holds it.
fn number(op: OpRef<'_>) -> Option<(&'static str, i128)> {
    let ctx = op.ctx();
    if CONSTANTS.contains(&op.name()) {
        return match op.attr("value")?.kind(ctx) {
            AttrKind::Integer { value, .. } => Some(("value", *value)),
            _ => None,
        };
    }
    BOUNDS.iter().find_map(|name| match op.attr(name)?.kind(ctx) {
        AttrKind::AffineMap(map) => map.as_single_constant(ctx).map(|number| (*name, number.into())),
        _ => None,
    })
}
