//! Ranges: the least and the greatest number an expression may be, read as unsigned and as signed.
//!
//! A range holds wherever the expression is defined. A range *in a loop* holds wherever the loop
//! runs, under the conditions of its entry. A recurrence takes no more steps than its loop has
//! backedges, so ranges need counts, and counts need ranges. If a question leads back to itself,
//! the answer is the full range.
//!
//! **Assumptions.**
//! - A range holds wherever the value is not poison. Promised ranges of parameters are such
//!   ranges.
//! - A merge of values is in the union of their ranges, whichever way was taken.
//!
//! Tried with `lowering/tests/scev/random.rs`, which checks each range in each iteration.

use loomir_dialects::interp::integer::{mask, signed};
use loomir_dialects::llvm;
pub use loomir_dialects::ranges::Range;
use loomir_dialects::ranges::{Exact, product, signed_ends, sum, wrapped};
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Value, ValueDef};

use super::ScalarEvolution;
use super::expr::{Cast, Expr, ExprId, MinMax};

/// The number of nested merges to look through.
const MAX_MERGES: u32 = 6;

impl ScalarEvolution<'_> {
    /// Returns the range of an expression wherever it is defined.
    pub fn range(&mut self, id: ExprId) -> Range {
        self.range_in(id, None)
    }

    /// Returns the range of a loop-invariant expression while the loop runs, given the conditions
    /// of its entry.
    pub fn range_in(&mut self, id: ExprId, inside: Option<LoopId>) -> Range {
        self.remembered(
            |this| &mut this.ranges,
            (id, inside),
            |this| {
                let range = this.structural_range(id, inside);
                match inside {
                    Some(inside) => this.narrowed(id, range, inside),
                    None => range,
                }
            },
        )
    }

    fn structural_range(&mut self, id: ExprId, inside: Option<LoopId>) -> Range {
        let width = self.width(id);
        let full = Range::full(width);
        let all = |this: &mut Self, operands: &[ExprId]| -> Vec<Range> {
            operands.iter().map(|operand| this.range_in(*operand, inside)).collect()
        };
        match self.pool.get(id).clone() {
            Expr::Constant(width, bits) => Range::exactly(width, bits),
            Expr::Unknown(value) => self.value_range(value, width),
            Expr::PtrToInt(operand) => self.range_in(operand, inside),
            Expr::Cast(cast, operand, width) => {
                let range = self.range_in(operand, inside);
                match cast {
                    Cast::ZeroExtend => Range::between(width, range.unsigned.0, range.unsigned.1),
                    Cast::SignExtend => Range::between_signed(width, range.signed.0, range.signed.1),
                    Cast::Truncate => wrapped(width, Some(range.unsigned), Some(range.signed)),
                }
            }
            Expr::Add(operands) => {
                let ranges = all(self, &operands);
                let (unsigned, signed) = sum(&ranges);
                let range = wrapped(width, unsigned, signed);
                let flags = self.pool.flags(id);
                let unsigned =
                    unsigned.filter(|_| flags.nuw).map_or((0, u128::MAX), |exact| (exact.0, u128::MAX));
                let signed = signed.filter(|_| flags.nsw).unwrap_or((i128::MIN, i128::MAX));
                let range = range.and(Range { unsigned, signed }, width);
                match self.remainder(&operands) {
                    Some((of, by)) => {
                        let most = self.range_in(of, inside).unsigned.1;
                        range.and(Range::between(width, 0, most.min(by - 1)), width)
                    }
                    None => range,
                }
            }
            Expr::Mul(operands) => {
                let ranges = all(self, &operands);
                let (unsigned, signed) = product(&ranges);
                wrapped(width, unsigned, signed)
            }
            Expr::UDiv(a, b) => {
                let (a, b) = (self.range_in(a, inside).unsigned, self.range_in(b, inside).unsigned);
                Range::between(width, a.0 / b.1.max(1), a.1 / b.0.max(1))
            }
            Expr::MinMax(kind, operands) => {
                let ranges = all(self, &operands);
                let choose = |a: Range, b: Range| match kind {
                    MinMax::UMax => {
                        Range::between(width, a.unsigned.0.max(b.unsigned.0), a.unsigned.1.max(b.unsigned.1))
                    }
                    MinMax::SMax => {
                        Range::between_signed(width, a.signed.0.max(b.signed.0), a.signed.1.max(b.signed.1))
                    }
                    MinMax::UMin | MinMax::SequentialUMin => {
                        Range::between(width, a.unsigned.0.min(b.unsigned.0), a.unsigned.1.min(b.unsigned.1))
                    }
                    MinMax::SMin => {
                        Range::between_signed(width, a.signed.0.min(b.signed.0), a.signed.1.min(b.signed.1))
                    }
                };
                let union = ranges.iter().copied().reduce(Range::or).unwrap_or(full);
                ranges.into_iter().reduce(choose).unwrap_or(full).and(union, width)
            }
            Expr::AddRec(of, operands) => self.recurrence_range(id, of, &operands, inside),
        }
    }

    /// Returns the dividend and the divisor if a sum is an unsigned remainder: `a - (a / n)·n`.
    fn remainder(&mut self, terms: &[ExprId]) -> Option<(ExprId, u128)> {
        let (at, of, by) = terms.iter().enumerate().find_map(|(at, term)| {
            let Expr::Mul(factors) = self.pool.get(*term) else { return None };
            let [factor, quotient] = **factors else { return None };
            let Expr::UDiv(of, by) = *self.pool.get(quotient) else { return None };
            let (factor, by) = (self.as_constant(factor)?, self.as_constant(by)?);
            let is_opposite = factor.wrapping_add(by) & mask(self.width(of)) == 0;
            (is_opposite && by > 0).then_some((at, of, by))
        })?;
        let rest = self.add(&[&terms[..at], &terms[at + 1..]].concat());
        (rest == of).then_some((of, by))
    }

    fn recurrence_range(
        &mut self,
        id: ExprId,
        of: LoopId,
        operands: &[ExprId],
        inside: Option<LoopId>,
    ) -> Range {
        let width = self.width(id);
        let flags = self.pool.flags(id);
        let start = self.range_in(operands[0], inside);
        let mut range = Range::full(width);
        let most = self.constant_max(of);
        if let [_, step] = *operands {
            let step = self.range_in(step, inside);
            if let Some(most) = most {
                let (unsigned, signed) = steps(start, step, most);
                range = wrapped(width, unsigned, signed);
                if let Some(unsigned) = falling(start, step, most) {
                    range = range.and(Range::between(width, unsigned.0, unsigned.1), width);
                }
            }
            if flags.nsw && step.signed.0 >= 0 {
                range = range.and(Range::between_signed(width, start.signed.0, signed_ends(width).1), width);
            }
            if flags.nsw && step.signed.1 <= 0 {
                range = range.and(Range::between_signed(width, signed_ends(width).0, start.signed.1), width);
            }
        } else if let Some(most) = most {
            let (mut greatest, mut times) = (Some(0u128), Some(1u128));
            for (k, operand) in operands.iter().enumerate() {
                let operand = self.range_in(*operand, inside);
                let term = times.and_then(|times| operand.unsigned.1.checked_mul(times));
                greatest = greatest.zip(term).and_then(|(sum, term)| sum.checked_add(term));
                // C(n, k + 1) = C(n, k)·(n - k)/(k + 1).
                times = times.and_then(|times| {
                    Some(times.checked_mul(most.saturating_sub(k as u128))? / (k as u128 + 1))
                });
            }
            range = wrapped(width, greatest.map(|greatest| (start.unsigned.0, greatest)), None);
        }
        if flags.nuw {
            range = range.and(Range::between(width, start.unsigned.0, mask(width)), width);
        }
        range
    }

    /// Returns the range of a value by its operation, if that is no expression.
    fn value_range(&mut self, value: Value, width: u32) -> Range {
        let full = Range::full(width);
        let function = self.function;
        match function.def(value) {
            ValueDef::BlockArgument { block, index } => {
                let node = self.analysis.number(block);
                let is_header = self
                    .analysis
                    .loops()
                    .innermost(node)
                    .is_some_and(|own| self.analysis.loops().get(own).header() == node);
                if function.is_entry(block) {
                    return self.parameter_range(index, width);
                }
                if is_header {
                    return full;
                }
                let incoming = self.incoming(value);
                self.range_of_one(&incoming, width)
            }
            ValueDef::OpResult { op, .. } => {
                let info = function.info(op);
                let operand = |index: usize| function.operand(op, index);
                if info.is(llvm::SelectOp::DEF) {
                    return self.range_of_one(&[operand(1), operand(2)], width);
                }
                if function.num_operands(op) != 2 {
                    return full;
                }
                let Some(by) = self.number(operand(1)) else { return full };
                if info.is(llvm::AndOp::DEF) {
                    Range::between(width, 0, by)
                } else if info.is(llvm::URemOp::DEF) && by > 0 {
                    Range::between(width, 0, by - 1)
                } else if info.is(llvm::SRemOp::DEF) && by > 0 && signed(width, by) > 0 {
                    let most = signed(width, by) - 1;
                    Range::between_signed(width, -most, most)
                } else if info.is(llvm::AShrOp::DEF) && by < u128::from(width) {
                    let (least, greatest) = signed_ends(width);
                    Range::between_signed(width, least >> by, greatest >> by)
                } else {
                    full
                }
            }
        }
    }

    /// Returns the range that the function promises for a parameter.
    fn parameter_range(&self, index: usize, width: u32) -> Range {
        let (function, ctx) = (self.function, self.function.ctx());
        let dicts = function.attr(function.root(), "arg_attrs").and_then(|dicts| dicts.as_array(ctx));
        let promised = dicts.and_then(|dicts| llvm::promised_range(ctx, *dicts.get(index)?));
        match promised {
            Some((first, end)) if first < end => Range::between(width, first, end - 1),
            Some((first, 0)) => Range::between(width, first, mask(width)),
            // The range wraps around the end of the unsigned numbers.
            Some((first, end)) if signed(width, first) < signed(width, end) => {
                Range::between_signed(width, signed(width, first), signed(width, end) - 1)
            }
            _ => Range::full(width),
        }
    }

    /// Returns the hull of the ranges of these values.
    fn range_of_one(&mut self, values: &[Value], width: u32) -> Range {
        if self.merges >= MAX_MERGES || values.is_empty() || values.len() > 16 {
            self.provisional |= self.merges >= MAX_MERGES;
            return Range::full(width);
        }
        self.merges += 1;
        let mut range: Option<Range> = None;
        for value in values {
            let id = self.expr(*value);
            let own = self.range(id);
            range = Some(range.map_or(own, |range| range.or(own)));
        }
        self.merges -= 1;
        range.unwrap_or(Range::full(width))
    }
}

/// Returns the exact range of a recurrence with this start and step within at most `most` steps.
pub(super) fn steps(start: Range, step: Range, most: u128) -> Exact {
    let greatest = most.checked_mul(step.unsigned.1).and_then(|way| way.checked_add(start.unsigned.1));
    let unsigned = greatest.map(|greatest| (start.unsigned.0, greatest));
    let signed = i128::try_from(most).ok().and_then(|most| {
        let down = most.checked_mul(step.signed.0.min(0))?;
        let up = most.checked_mul(step.signed.1.max(0))?;
        Some((start.signed.0.checked_add(down)?, start.signed.1.checked_add(up)?))
    });
    (unsigned, signed)
}

/// Returns the unsigned range of a recurrence with a negative step, if it stays above zero.
pub(super) fn falling(start: Range, step: Range, most: u128) -> Option<(u128, u128)> {
    let way = most.checked_mul(step.signed.0.unsigned_abs())?;
    (step.signed.1 <= 0).then_some(())?;
    Some((start.unsigned.0.checked_sub(way)?, start.unsigned.1))
}
