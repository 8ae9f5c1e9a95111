//! The reductions of `affine.parallel`: the operation that combines two partial results, and its
//! neutral element.

use loomir_dialects::{arith, scf};
use loomir_ir::attributes::AttrKind;
use loomir_ir::types::FloatKind;
use loomir_ir::{Attr, Body, Context, Op, OpDef, Type, TypeKind, Value};

use super::enter_new_block;

/// Returns the operation that combines partial results, for a case number of
/// `arith.atomic_rmw_kind`.
fn combiner(kind: u64) -> Option<&'static OpDef> {
    Some(match arith::ATOMIC_RMW_KIND.text_of(kind)?.as_str() {
        "addf" => arith::AddFOp::DEF,
        "addi" => arith::AddIOp::DEF,
        "andi" => arith::AndIOp::DEF,
        "maximumf" => arith::MaximumFOp::DEF,
        "maxnumf" => arith::MaxNumFOp::DEF,
        "maxs" => arith::MaxSIOp::DEF,
        "maxu" => arith::MaxUIOp::DEF,
        "minimumf" => arith::MinimumFOp::DEF,
        "minnumf" => arith::MinNumFOp::DEF,
        "mins" => arith::MinSIOp::DEF,
        "minu" => arith::MinUIOp::DEF,
        "mulf" => arith::MulFOp::DEF,
        "muli" => arith::MulIOp::DEF,
        "ori" => arith::OrIOp::DEF,
        "xori" => arith::XOrIOp::DEF,
        _ => return None,
    })
}

/// Returns the neutral element of the operation that combines two values of type `ty`: exactly, so
/// that of a sum of floats is -0.0. `None` for an operation that combines nothing.
pub(crate) fn neutral(ctx: &Context, info: &loomir_ir::OpInfo, ty: Type) -> Option<Attr> {
    let is_scalar = ty.is_index() || ty.is_signless_integer(ctx) || ty.is_float(ctx);
    if is_scalar && info.is(arith::AddFOp::DEF) {
        let TypeKind::Float(format) = ty.kind(ctx) else { return None };
        ieee(*format)?;
        return Some(ctx.attr(AttrKind::Float { bits: 1 << (format.width() - 1), ty }));
    }
    let mut kinds = arith::ATOMIC_RMW_KIND.cases.iter().map(|(_, kind)| *kind);
    let kind = kinds.find(|kind| combiner(*kind).is_some_and(|def| info.is(def)));
    identity(ctx, kind.filter(|_| is_scalar)?, ty)
}

/// Returns the neutral element of a reduction.
pub(super) fn identity(ctx: &Context, kind: u64, ty: Type) -> Option<Attr> {
    let name = arith::ATOMIC_RMW_KIND.text_of(kind)?;
    if let TypeKind::Float(format) = ty.kind(ctx) {
        let bits = match name.as_str() {
            "addf" => 0,
            "mulf" => one(*format)?,
            "minimumf" => infinity(*format)?,
            "maximumf" => infinity(*format)? | 1 << (format.width() - 1),
            "minnumf" | "maxnumf" => quiet_nan(*format)?,
            _ => return None,
        };
        return Some(ctx.attr(AttrKind::Float { bits, ty }));
    }
    let width = ty.integer_width(ctx).unwrap_or(64);
    if width > 128 {
        return None;
    }
    let highest: i128 = if width == 0 { 0 } else { (1u128 << (width - 1)).wrapping_sub(1) as i128 };
    let value = match name.as_str() {
        "addi" | "ori" | "xori" | "maxu" => 0,
        "muli" => 1,
        "andi" | "minu" => -1,
        "maxs" => -highest - 1,
        "mins" => highest,
        _ => return None,
    };
    Some(ctx.int_attr(ty, value))
}

/// Returns the widths of exponent and fraction of an IEEE format.
fn ieee(format: FloatKind) -> Option<(u32, u32)> {
    Some(match format {
        FloatKind::F16 => (5, 10),
        FloatKind::BF16 => (8, 7),
        FloatKind::F32 => (8, 23),
        FloatKind::F64 => (11, 52),
        FloatKind::F128 => (15, 112),
        _ => return None,
    })
}

fn one(format: FloatKind) -> Option<u128> {
    let (exponent, fraction) = ieee(format)?;
    Some(((1 << (exponent - 1)) - 1) << fraction)
}

fn infinity(format: FloatKind) -> Option<u128> {
    let (exponent, fraction) = ieee(format)?;
    Some(((1 << exponent) - 1) << fraction)
}

fn quiet_nan(format: FloatKind) -> Option<u128> {
    let (_, fraction) = ieee(format)?;
    Some(infinity(format)? | 1 << (fraction - 1))
}

/// Replaces `reduce`, an `scf.reduce` without regions, by one that combines each operand by its
/// kind.
pub(super) fn fill(body: &mut Body, reduce: Op, kinds: &[u64]) {
    let operands: Vec<Value> = body.operands(reduce).collect();
    if operands.is_empty() {
        return;
    }
    let mut b = loomir_ir::Builder::before(body, reduce);
    let state = b.state(scf::ReduceOp::DEF).operands(&operands).regions(operands.len());
    let new = b.insert(state);
    body.erase(reduce);
    for (index, (operand, kind)) in operands.iter().zip(kinds).enumerate() {
        let Some(def) = combiner(*kind) else { continue };
        let ty = body.value_type(*operand);
        let mut b = enter_new_block(body, new, index, &[ty, ty]);
        let region = b.body().region(new, index);
        let Some(block) = b.body().entry_block(region) else { continue };
        let arguments: Vec<Value> = b.body().arguments(block).collect();
        let state = b.state(def).operands(&arguments).results(&[ty]);
        let combined = b.value(state);
        let state = b.state(scf::ReduceReturnOp::DEF).operands(&[combined]);
        b.insert(state);
    }
}
