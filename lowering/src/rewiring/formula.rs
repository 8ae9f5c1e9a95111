//! Expressions of scalar evolution that can be written as operations.
//!
//! Linear in the expression, which is of bounded size.

use hashbrown::HashMap;
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Builder, OpDef, Signedness, Type, TypeKind, Value};

use crate::cfg::scev::ScalarEvolution;
use crate::cfg::scev::expr::{Cast, Expr, ExprId};

/// The variables that count loops.
pub(super) type Counters = HashMap<LoopId, Value>;

/// An expression of numbers, values, sums, products, widths and recurrences.
pub(super) enum Formula {
    Number(u32, u128),
    Value(Value),
    Sum(Vec<Formula>),
    Product(Vec<Formula>),
    Cast(Cast, Box<Formula>, u32),
    /// A recurrence of a loop: initial value and step.
    Recurrence(LoopId, Box<[Formula; 2]>),
}

impl Formula {
    /// Returns the formula of an expression, to be used before a loop where its operands are
    /// available.
    pub(super) fn of(scev: &ScalarEvolution<'_>, id: ExprId, before: LoopId) -> Option<Formula> {
        let all = |ids: &[ExprId]| -> Option<Vec<Formula>> {
            ids.iter().map(|id| Formula::of(scev, *id, before)).collect()
        };
        Some(match scev.get(id) {
            Expr::Constant(width, bits) => Formula::Number(*width, *bits),
            Expr::Unknown(value) => {
                let (analysis, function) = (scev.analysis(), scev.function());
                let header = analysis.loops().get(before).header();
                let defined = analysis.number(function.value_block(*value)?);
                let is_there = !analysis.loops().contains(before, defined)
                    && analysis.dominators().dominates(defined, header);
                return is_there.then_some(Formula::Value(*value));
            }
            Expr::Add(terms) => Formula::Sum(all(terms)?),
            Expr::Mul(factors) => Formula::Product(all(factors)?),
            Expr::Cast(cast, operand, width) => {
                Formula::Cast(*cast, Box::new(Formula::of(scev, *operand, before)?), *width)
            }
            Expr::AddRec(of, operands) => {
                let loops = scev.analysis().loops();
                let is_around = *of != before && loops.contains(*of, loops.get(before).header());
                let parts = <[Formula; 2]>::try_from(all(operands)?).ok().filter(|_| is_around)?;
                Formula::Recurrence(*of, Box::new(parts))
            }
            Expr::PtrToInt(_) | Expr::UDiv(..) | Expr::MinMax(..) => return None,
        })
    }

    /// Writes the formula. `replaced` maps values to their replacements. Recurses as deep as the
    /// expression.
    pub(super) fn write(
        &self,
        b: &mut Builder<'_>,
        counters: &Counters,
        replaced: &HashMap<Value, Value>,
    ) -> Option<Value> {
        let ctx = b.ctx();
        let word = |width: u32| ctx.ty(TypeKind::Integer { width, signedness: Signedness::Signless });
        match self {
            Formula::Number(width, bits) => Some(number(b, word(*width), *bits as i128)),
            Formula::Value(value) => Some(replaced.get(value).copied().unwrap_or(*value)),
            Formula::Sum(parts) | Formula::Product(parts) => {
                let def = if matches!(self, Formula::Sum(_)) { llvm::AddOp::DEF } else { llvm::MulOp::DEF };
                let (first, others) = parts.split_first()?;
                let mut value = first.write(b, counters, replaced)?;
                for other in others {
                    let other = other.write(b, counters, replaced)?;
                    value = binary(b, def, value, other);
                }
                Some(value)
            }
            Formula::Cast(cast, operand, width) => {
                let operand = operand.write(b, counters, replaced)?;
                let def = match cast {
                    Cast::Truncate => llvm::TruncOp::DEF,
                    Cast::ZeroExtend => llvm::ZExtOp::DEF,
                    Cast::SignExtend => llvm::SExtOp::DEF,
                };
                let state = b.state(def).operands(&[operand]).results(&[word(*width)]);
                Some(b.value(state))
            }
            Formula::Recurrence(of, parts) => {
                let [start, step] = [&parts[0], &parts[1]].map(|part| part.write(b, counters, replaced));
                let (start, step) = (start?, step?);
                let ty = b.type_of(start);
                b.type_of(start).integer_width(&ctx).filter(|width| *width <= 64)?;
                let count = resize(b, *counters.get(of)?, ty);
                let grown = binary(b, llvm::MulOp::DEF, count, step);
                Some(binary(b, llvm::AddOp::DEF, start, grown))
            }
        }
    }
}

/// Emits a constant.
pub(super) fn number(b: &mut Builder<'_>, ty: Type, bits: i128) -> Value {
    let ctx = b.ctx();
    let state = b.state(llvm::ConstantOp::DEF).attr(&ctx, "value", ctx.int_attr(ty, bits)).results(&[ty]);
    b.value(state)
}

/// Emits an operation with two operands and a result of one type.
pub(super) fn binary(b: &mut Builder<'_>, def: &'static OpDef, x: Value, y: Value) -> Value {
    let ty = b.type_of(x);
    let state = b.state(def).operands(&[x, y]).results(&[ty]);
    b.value(state)
}

/// Emits the low bits of a word of 64 bits.
pub(super) fn resize(b: &mut Builder<'_>, value: Value, ty: Type) -> Value {
    if b.type_of(value) == ty {
        return value;
    }
    let state = b.state(llvm::TruncOp::DEF).operands(&[value]).results(&[ty]);
    b.value(state)
}
