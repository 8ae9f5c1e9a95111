//! The reductions of `affine.parallel`: the operation that combines two partial results, and its
//! neutral element.

use loomir_dialects::{arith, scf};
use loomir_ir::attributes::AttrKind;
use loomir_ir::{Attr, Body, Context, Op, OpDef, Type, Value};
use loomir_transforms::access::updates::Reduction;
use loomir_transforms::access::updates::reduction::Combining;
use loomir_transforms::affine::operation::Binary;

use super::enter_new_block;

/// Returns the operation that combines partial results, and what it is a step of, for a case number
/// of `arith.atomic_rmw_kind`.
fn combiner(kind: u64) -> Option<(&'static OpDef, Reduction)> {
    let float = |combining| Reduction::Float(combining, 0);
    Some(match arith::ATOMIC_RMW_KIND.text_of(kind)?.as_str() {
        "addf" => (arith::AddFOp::DEF, float(Combining::Add)),
        "addi" => (arith::AddIOp::DEF, Reduction::Word(Binary::Add)),
        "andi" => (arith::AndIOp::DEF, Reduction::Word(Binary::And)),
        "maximumf" => (arith::MaximumFOp::DEF, float(Combining::Maximum)),
        "maxnumf" => (arith::MaxNumFOp::DEF, float(Combining::MaxNum)),
        "maxs" => (arith::MaxSIOp::DEF, Reduction::Word(Binary::MaxS)),
        "maxu" => (arith::MaxUIOp::DEF, Reduction::Word(Binary::MaxU)),
        "minimumf" => (arith::MinimumFOp::DEF, float(Combining::Minimum)),
        "minnumf" => (arith::MinNumFOp::DEF, float(Combining::MinNum)),
        "mins" => (arith::MinSIOp::DEF, Reduction::Word(Binary::MinS)),
        "minu" => (arith::MinUIOp::DEF, Reduction::Word(Binary::MinU)),
        "mulf" => (arith::MulFOp::DEF, float(Combining::Mul)),
        "muli" => (arith::MulIOp::DEF, Reduction::Word(Binary::Mul)),
        "ori" => (arith::OrIOp::DEF, Reduction::Word(Binary::Or)),
        "xori" => (arith::XOrIOp::DEF, Reduction::Word(Binary::Xor)),
        _ => return None,
    })
}

/// Returns the value that a reduction begins with: 0.0 for a sum of floats, and the neutral element
/// for all others.
pub(super) fn identity(ctx: &Context, kind: u64, ty: Type) -> Option<Attr> {
    let (_, reduction) = combiner(kind)?;
    let neutral = reduction.neutral(ctx, ty)?;
    let is_sum = matches!(reduction, Reduction::Float(Combining::Add, _));
    Some(if is_sum { ctx.attr(AttrKind::Float { bits: 0, ty }) } else { neutral })
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
        let Some((def, _)) = combiner(*kind) else { continue };
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
