//! Expressions as numbers of 64 bits, which the affine analyses of the tree read without doubt.
//!
//! An expression of fewer bits is computed in 64 instead, from extended values, if none of its sums
//! and products leaves its own width where the loop runs. So `zext(n - 1)` under the guard `n > 1`
//! becomes `sext(n) - 1`, which is a number without flags everywhere.
//!
//! **Assumptions.**
//! - Ranges in a loop hold wherever it is entered; the expression is used there alone.

use loomir_dialects::interp::integer::mask;
use loomir_ir::graph::loops::LoopId;

use super::{Part, Recipe, Stepped, stepped};
use crate::cfg::scev::ScalarEvolution;
use crate::cfg::scev::expr::{Cast, Expr, ExprId, MinMax};

/// The width.
const WIDE: u32 = 64;
/// The greatest depth of an expression.
const MAX_DEPTH: u32 = 24;

impl Recipe {
    /// Returns the recipe of an expression of at most 64 bits before a loop, read as signed, as a
    /// number of 64 bits.
    pub(crate) fn of_number(scev: &mut ScalarEvolution<'_>, before: LoopId, id: ExprId) -> Option<Recipe> {
        wide(scev, before, id, MAX_DEPTH)
    }
}

fn wide(scev: &mut ScalarEvolution<'_>, before: LoopId, id: ExprId, depth: u32) -> Option<Recipe> {
    let width = scev.width(id);
    if width > WIDE {
        return None;
    }
    let own = |part| Some(Recipe { width: WIDE, part });
    let within = |scev: &mut ScalarEvolution<'_>, id: ExprId| scev.range_in(id, Some(before)).signed;
    let depth = depth.checked_sub(1)?;
    let all = |scev: &mut ScalarEvolution<'_>, operands: &[ExprId]| -> Option<Vec<Recipe>> {
        operands.iter().map(|operand| wide(scev, before, *operand, depth)).collect()
    };
    match scev.get(id).clone() {
        Expr::Constant(_, bits) => {
            let number = loomir_dialects::interp::integer::signed(width, bits);
            return own(Part::Constant(number as u128 & u128::from(u64::MAX)));
        }
        Expr::Cast(Cast::SignExtend, inner, _) => return wide(scev, before, inner, depth),
        Expr::Cast(Cast::ZeroExtend, inner, _) if within(scev, inner).0 >= 0 => {
            return wide(scev, before, inner, depth);
        }
        Expr::Add(operands) if width == WIDE || is_exact(scev, before, &operands, width) => {
            let no_pointer = operands.iter().all(|operand| !scev.type_of(*operand).is_pointer());
            if let Some(parts) = all(scev, &operands).filter(|_| no_pointer) {
                return own(Part::Sum(parts));
            }
        }
        Expr::MinMax(kind @ (MinMax::SMin | MinMax::SMax), operands) => {
            if let Some(parts) = all(scev, &operands) {
                return own(Part::Extreme(kind, parts));
            }
        }
        Expr::MinMax(kind @ (MinMax::UMin | MinMax::UMax), operands)
            if operands.iter().all(|operand| within(scev, *operand).0 >= 0) =>
        {
            if let Some(parts) = all(scev, &operands) {
                let kind = if kind == MinMax::UMin { MinMax::SMin } else { MinMax::SMax };
                return own(Part::Extreme(kind, parts));
            }
        }
        Expr::AddRec(..) if width < WIDE => {
            if let Some(wide) = recurrence(scev, before, id, depth) {
                return Some(wide);
            }
        }
        _ => {}
    }
    let narrow = Recipe::of_signed(scev, before, id)?;
    if width == WIDE {
        return Some(narrow);
    }
    own(Part::Cast(Cast::SignExtend, Box::new(narrow)))
}

/// Returns a recurrence that goes up or down with an argument of its loop's header, if the sum
/// stays in its width wherever the loop runs.
fn recurrence(scev: &mut ScalarEvolution<'_>, before: LoopId, id: ExprId, depth: u32) -> Option<Recipe> {
    let width = scev.width(id);
    let Stepped { argument, factor, rest } = stepped(scev, before, id, false)?;
    let (is_up, rest) = (factor == 1, rest?);
    if !is_up && factor != mask(width) {
        return None;
    }
    let number = scev.expr(argument);
    let own = scev.range_in(number, Some(before)).signed;
    let own = if is_up { own } else { (-own.1, -own.0) };
    let more = scev.range_in(rest, Some(before)).signed;
    let limit = 1i128 << (width - 1);
    if scev.type_of(number).is_pointer() || own.0 + more.0 < -limit || own.1 + more.1 >= limit {
        return None;
    }
    let rest = wide(scev, before, rest, depth)?;
    let number = Box::new(Recipe { width, part: Part::Value(argument, false) });
    let number = Recipe { width: WIDE, part: Part::Cast(Cast::SignExtend, number) };
    let factor = if is_up { 1 } else { u128::from(u64::MAX) };
    let factor = Recipe { width: WIDE, part: Part::Constant(factor) };
    let product = Recipe { width: WIDE, part: Part::Product(vec![number, factor]) };
    Some(Recipe { width: WIDE, part: Part::Sum(vec![product, rest]) })
}

/// True if a sum of words, read as signed, stays in its width wherever the loop runs.
fn is_exact(scev: &mut ScalarEvolution<'_>, before: LoopId, operands: &[ExprId], width: u32) -> bool {
    let (mut least, mut greatest) = (0i128, 0i128);
    for operand in operands {
        let range = scev.range_in(*operand, Some(before)).signed;
        least += range.0;
        greatest += range.1;
    }
    let limit = 1i128 << (width - 1);
    -limit <= least && greatest < limit
}
