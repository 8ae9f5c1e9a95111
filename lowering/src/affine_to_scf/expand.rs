//! Affine expressions as operations of `arith` on `index`.
//!
//! Division and remainder round as affine expressions do: the quotient down (or up), the remainder
//! into `[0, divisor)`. As the divisor is positive, both follow from the machine's truncating
//! operations by a comparison and two selections, without a branch. A product may not overflow
//! (`nsw`): an affine expression is a number, not a machine word. Linear in the expression.
//!
//! # Limits
//!
//! - The quotient of the least number, rounded up, is wrong when `affine` is lowered, as in MLIR.

use loomir_dialects::arith;
use loomir_ir::affine::AffineExprKind as Kind;
use loomir_ir::{AffineExpr, AffineMap, Builder, OpDef, Value};

use crate::emit::{Emit, NSW, Predicate};

/// The reason why an expression has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Undefined {
    /// A division by a constant that is not positive.
    Division,
    /// A remainder by a constant that is not positive.
    Modulo,
    /// More dimensions or symbols in the expression than operands.
    Operands,
}

impl Undefined {
    pub(super) fn message(self) -> &'static str {
        match self {
            Undefined::Division => "division by non-positive value is not supported",
            Undefined::Modulo => "modulo by non-positive value is not supported",
            Undefined::Operands => "the map has more inputs than there are operands",
        }
    }
}

/// Returns the values of all results of a map, given its operands: dimensions, then symbols.
pub(super) fn expand_map(
    b: &mut Builder<'_>,
    map: AffineMap,
    operands: &[Value],
) -> Result<Vec<Value>, Undefined> {
    let ctx = b.ctx();
    let dims = (map.data(&ctx).dims as usize).min(operands.len());
    let (dims, symbols) = operands.split_at(dims);
    map.results(&ctx).iter().map(|expr| expand(b, *expr, dims, symbols)).collect()
}

/// Returns the value of an expression.
pub(super) fn expand(
    b: &mut Builder<'_>,
    expr: AffineExpr,
    dims: &[Value],
    symbols: &[Value],
) -> Result<Value, Undefined> {
    let ctx = b.ctx();
    let mut values: Vec<Value> = Vec::new();
    let mut problem = None;
    expr.visit(&ctx, &mut |kind| {
        if problem.is_some() {
            return;
        }
        let value = match kind {
            Kind::Dim(d) => dims.get(d as usize).copied().ok_or(Undefined::Operands),
            Kind::Symbol(s) => symbols.get(s as usize).copied().ok_or(Undefined::Operands),
            Kind::Constant(value) => Ok(b.index(value)),
            Kind::Add(..) => two(&mut values).map(|(x, y)| b.wrapping(arith::AddIOp::DEF, x, y, 0)),
            Kind::Mul(..) => two(&mut values).map(|(x, y)| b.wrapping(arith::MulIOp::DEF, x, y, NSW)),
            Kind::Mod(_, divisor) | Kind::FloorDiv(_, divisor) | Kind::CeilDiv(_, divisor) => {
                let modulo = matches!(kind, Kind::Mod(..));
                if divisor.as_constant(&ctx).is_some_and(|c| c <= 0) {
                    Err(if modulo { Undefined::Modulo } else { Undefined::Division })
                } else {
                    two(&mut values).map(|(x, y)| match kind {
                        Kind::Mod(..) => modulus(b, x, y),
                        Kind::FloorDiv(..) => floor_div(b, x, y),
                        _ => ceil_div(b, x, y),
                    })
                }
            }
        };
        match value {
            Ok(value) => values.push(value),
            Err(why) => problem = Some(why),
        }
    });
    match problem {
        Some(why) => Err(why),
        None => values.pop().ok_or(Undefined::Operands),
    }
}

/// Pops the two operands on top of the stack and returns them in order.
fn two(values: &mut Vec<Value>) -> Result<(Value, Value), Undefined> {
    let y = values.pop();
    let x = values.pop();
    x.zip(y).ok_or(Undefined::Operands)
}

/// `x mod y` in `[0, y)`.
fn modulus(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let remainder = b.binary(arith::RemSIOp::DEF, x, y);
    let zero = b.index(0);
    into_range(b, remainder, y, zero, 0)
}

/// Returns `remainder` if it is not negative, else `remainder + modulus`.
pub(super) fn into_range(
    b: &mut Builder<'_>,
    remainder: Value,
    modulus: Value,
    zero: Value,
    flags: u64,
) -> Value {
    let negative = b.compare(Predicate::Slt, remainder, zero);
    let moved = b.wrapping(arith::AddIOp::DEF, remainder, modulus, flags);
    b.select(negative, moved, remainder)
}

/// `x floordiv y`: for negative `x` it is `-1 - (-1 - x) / y`.
fn floor_div(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let sub = arith::SubIOp::DEF;
    let zero = b.index(0);
    let minus_one = b.index(-1);
    let negative = b.compare(Predicate::Slt, x, zero);
    let complement = b.wrapping(sub, minus_one, x, 0);
    let dividend = b.select(negative, complement, x);
    let quotient = b.binary(arith::DivSIOp::DEF, dividend, y);
    let corrected = b.wrapping(sub, minus_one, quotient, 0);
    b.select(negative, corrected, quotient)
}

/// Returns `x ceildiv y`. For `x ≤ 0` it is `-(-x / y)`, else `(x - 1) / y + 1`.
fn ceil_div(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let sub = arith::SubIOp::DEF;
    let zero = b.index(0);
    let one = b.index(1);
    let not_positive = b.compare(Predicate::Sle, x, zero);
    let negated = b.wrapping(sub, zero, x, 0);
    let less = b.wrapping(sub, x, one, 0);
    let dividend = b.select(not_positive, negated, less);
    let quotient = b.binary(arith::DivSIOp::DEF, dividend, y);
    let negated = b.wrapping(sub, zero, quotient, 0);
    let more = b.wrapping(arith::AddIOp::DEF, quotient, one, 0);
    b.select(not_positive, negated, more)
}

/// Returns all results of a map, combined by a binary operation (`arith.minsi`, `arith.maxsi`).
pub(super) fn expand_combined(
    b: &mut Builder<'_>,
    map: AffineMap,
    operands: &[Value],
    combine: &OpDef,
) -> Result<Value, Undefined> {
    let values = expand_map(b, map, operands)?;
    values.into_iter().reduce(|x, y| b.binary(combine, x, y)).ok_or(Undefined::Operands)
}
