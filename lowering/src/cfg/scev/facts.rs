//! Guards in force: the facts that hold where a loop is entered, from branches that led there, or
//! from assumptions.
//!
//! The search upwards is bounded in dominators and in conditions.
//!
//! **Assumptions.**
//! - A branch on poison is undefined, and so is an assumption of it: both make facts.
//! - The condition of a branch still holds where its block dominates, because expressions do not
//!   change inside.
//!
//! Tried with `lowering/tests/scev/generated.rs` and `loop_fusion_traps/guards.ll`.

use std::rc::Rc;

use loomir_dialects::interp::integer::{mask, signed};
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Op, Value};
use loomir_transforms::affine::operation::Predicate;

use super::ScalarEvolution;
use super::expr::{Cast, Expr, ExprId};
use super::range::Range;
use loomir_dialects::ranges::signed_ends;

/// The number of dominators searched for conditions.
const MAX_BLOCKS: usize = 256;
/// Most conditions.
const MAX_FACTS: usize = 24;
/// Most parts of one condition.
const MAX_PARTS: usize = 16;

/// A comparison that holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fact {
    /// The predicate that holds of the two.
    pub predicate: Predicate,
    /// The left side.
    pub a: ExprId,
    /// The right side.
    pub b: ExprId,
}

impl ScalarEvolution<'_> {
    /// Returns the facts that hold where a loop is entered.
    pub fn facts(&mut self, of: LoopId) -> Rc<[Fact]> {
        self.remembered(|this| &mut this.entry_facts, of, |this| this.collect_facts(of).into())
    }

    fn collect_facts(&mut self, of: LoopId) -> Vec<Fact> {
        let mut facts = Vec::new();
        let mut below = self.analysis.loops().get(of).header();
        for _ in 0..MAX_BLOCKS {
            let Some(above) = self.analysis.dominators().idom(below) else { break };
            // If control returns to a block, the condition above it still holds: all compared
            // values dominate the block.
            let comes_first = |from: &&u32| !self.analysis.dominators().dominates(below, **from);
            let edges = self.analysis.graph().predecessors(below).iter().filter(comes_first).count();
            if edges == 1 {
                self.facts_of_edge(above, below, &mut facts);
            }
            for op in self.assumptions.get(&above).cloned().unwrap_or_default() {
                self.facts_of_condition(self.function.operand(op, 0), true, &mut facts);
            }
            if facts.len() >= MAX_FACTS {
                break;
            }
            below = above;
        }
        facts
    }

    /// Adds the facts of a branch on an edge to a block that it alone leads to.
    fn facts_of_edge(&mut self, from: u32, to: u32, facts: &mut Vec<Fact>) {
        let Some(branch) = self.function.terminator(self.analysis.block(from)) else { return };
        let to = self.analysis.block(to);
        let successors: Vec<_> = self.function.successors(branch).collect();
        if self.function.is(branch, llvm::CondBrOp::DEF) && successors[0] != successors[1] {
            let condition = self.function.operand(branch, 0);
            self.facts_of_condition(condition, successors[0] == to, facts);
        } else if self.function.is(branch, llvm::SwitchOp::DEF)
            && successors.iter().filter(|own| **own == to).count() == 1
        {
            let flag = self.function.operand(branch, 0);
            let (a, cases) = (self.expr(flag), self.case_values(branch));
            let width = self.width(a);
            let own = successors.iter().position(|own| *own == to).unwrap_or(0);
            let (predicate, cases) = match own {
                0 => (Predicate::Ne, &cases[..cases.len().min(MAX_PARTS)]),
                own => (Predicate::Eq, cases.get(own - 1..own).unwrap_or_default()),
            };
            for bits in cases {
                let b = self.constant(width, *bits);
                facts.push(Fact { predicate, a, b });
            }
        }
    }

    /// Adds the facts of a condition that is true, or false.
    fn facts_of_condition(&mut self, condition: Value, is_true: bool, facts: &mut Vec<Fact>) {
        let mut pending = vec![(condition, is_true)];
        for _ in 0..MAX_PARTS {
            let Some((condition, is_true)) = pending.pop() else { return };
            let Some(op) = self.function.defining_op(condition) else { continue };
            match self.connective(op) {
                Some(Connective::Not(inner)) => pending.push((inner, !is_true)),
                Some(Connective::Both { conjunction, operands, .. }) if conjunction == is_true => {
                    pending.extend(operands.map(|operand| (operand, is_true)));
                }
                Some(Connective::Both { .. }) => {}
                None => {
                    facts.extend(self.comparison(op, is_true));
                    facts.extend(self.comparison_before_step(op, is_true));
                }
            }
        }
    }

    /// Returns the comparison of an operation, or its opposite, over expressions.
    pub(super) fn comparison(&mut self, op: Op, is_true: bool) -> Option<Fact> {
        let predicate = self.predicate(op)?;
        let predicate = if is_true { predicate } else { predicate.inverse() };
        let [a, b] = [0, 1].map(|index| self.function.operand(op, index));
        self.expr_type(a)?;
        let (a, b) = (self.expr(a), self.expr(b));
        Some(Fact { predicate, a, b })
    }

    /// Returns the comparison of a number with a constant that a comparison implies of the number
    /// plus another constant. The sum does not wrap, or the branch would be undefined.
    fn comparison_before_step(&mut self, op: Op, is_true: bool) -> Option<Fact> {
        let predicate = self.predicate(op).filter(|predicate| predicate.is_signed())?;
        let predicate = if is_true { predicate } else { predicate.inverse() };
        let [a, b] = [0, 1].map(|index| self.function.operand(op, index));
        let (predicate, sum, bound) = match (self.number(a), self.number(b)) {
            (None, Some(bound)) => (predicate, a, bound),
            (Some(bound), None) => (predicate.swapped(), b, bound),
            _ => return None,
        };
        let width = self.expr_type(sum)?.width();
        let step = self.function.defining_op(sum)?;
        let is_sum = [llvm::AddOp::DEF, llvm::SubOp::DEF].iter().any(|def| self.function.is(step, def));
        if !is_sum || !self.wrap(step).signed || width > 64 {
            return None;
        }
        let by = signed(width, self.number(self.function.operand(step, 1))?);
        let by = if self.function.is(step, llvm::SubOp::DEF) { -by } else { by };
        let (least, greatest) = signed_ends(width);
        let bound = signed(width, bound) - by;
        let (a, b) = (self.expr(self.function.operand(step, 0)), bound as u128 & mask(width));
        let fits = (least..=greatest).contains(&bound);
        fits.then(|| Fact { predicate, a, b: self.constant(width, b) })
    }

    /// Returns the predicate of a comparison of integers or addresses.
    pub fn predicate(&self, op: Op) -> Option<Predicate> {
        if !self.function.is(op, llvm::ICmpOp::DEF) {
            return None;
        }
        let number = llvm::attributes::ICMP_PREDICATE
            .value(self.function.ctx(), self.function.attr(op, "predicate")?)?;
        Predicate::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// Returns the range of an expression where a loop is entered, within its known range.
    pub(super) fn narrowed(&mut self, id: ExprId, mut range: Range, inside: LoopId) -> Range {
        let width = self.width(id);
        for fact in self.facts(inside).iter() {
            for (predicate, own, other) in
                [(fact.predicate, fact.a, fact.b), (fact.predicate.swapped(), fact.b, fact.a)]
            {
                let is_alike = self.type_of(own) == self.type_of(id) && self.as_constant(own).is_none();
                let Some(by) = self.constant_distance(own, id).filter(|_| is_alike) else { continue };
                // A shifted expression has a shifted range.
                let (known, other) = (self.range(own), self.range(other));
                let said = known.and(satisfying(predicate, known, other, width), width);
                range = range.and(said.moved(by, width), width);
            }
        }
        range
    }

    /// Returns the distance between two expressions, if it is an obvious constant: sums that differ
    /// in their constants, or recurrences that differ in their starts. Makes no expressions.
    fn constant_distance(&self, from: ExprId, to: ExprId) -> Option<u128> {
        let (mut from, mut to) = (from, to);
        // The start of a recurrence is less deep than the recurrence.
        while let (Expr::AddRec(of, a), Expr::AddRec(other, b)) = (self.get(from), self.get(to)) {
            if from == to {
                return Some(0);
            }
            if of != other || a[1..] != b[1..] {
                return None;
            }
            (from, to) = (a[0], b[0]);
        }
        let ((a, x), (b, y)) = (self.without_constant(&from), self.without_constant(&to));
        (a == b).then(|| y.wrapping_sub(x))
    }

    /// Returns the terms of a sum without its constant, and the constant.
    fn without_constant<'e>(&'e self, id: &'e ExprId) -> (&'e [ExprId], u128) {
        let terms = if let Expr::Add(terms) = self.get(*id) { terms } else { std::slice::from_ref(id) };
        match terms.first().and_then(|first| self.as_constant(*first)) {
            Some(bits) => (&terms[1..], bits),
            None => (terms, 0),
        }
    }

    /// True if a comparison holds, optionally inside a loop: by ranges, or by a guard in force.
    pub fn is_known(&mut self, predicate: Predicate, a: ExprId, b: ExprId, inside: Option<LoopId>) -> bool {
        use Predicate::{Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
        if a == b {
            return predicate.implied_by(Predicate::Eq);
        }
        let (x, y) = (self.range_in(a, inside), self.range_in(b, inside));
        let by_range = match predicate {
            Predicate::Eq => x.unsigned.0 == x.unsigned.1 && x == y,
            Predicate::Ne => {
                x.unsigned.1 < y.unsigned.0
                    || y.unsigned.1 < x.unsigned.0
                    || x.signed.1 < y.signed.0
                    || y.signed.1 < x.signed.0
            }
            Slt => x.signed.1 < y.signed.0,
            Sle => x.signed.1 <= y.signed.0,
            Sgt => x.signed.0 > y.signed.1,
            Sge => x.signed.0 >= y.signed.1,
            Ult => x.unsigned.1 < y.unsigned.0,
            Ule => x.unsigned.1 <= y.unsigned.0,
            Ugt => x.unsigned.0 > y.unsigned.1,
            Uge => x.unsigned.0 >= y.unsigned.1,
        };
        if by_range {
            return true;
        }
        let Some(of) = inside else { return false };
        // Two numbers that are not negative compare alike in both readings.
        let same_sign = x.signed.0 >= 0 && y.signed.0 >= 0;
        let facts = self.facts(of);
        let says = |a: ExprId, b: ExprId, wanted: Predicate| {
            facts.iter().any(|fact| {
                let stated = if (fact.a, fact.b) == (a, b) {
                    Some(fact.predicate)
                } else if (fact.b, fact.a) == (a, b) {
                    Some(fact.predicate.swapped())
                } else {
                    None
                };
                stated.is_some_and(|stated| wanted.implied_by(stated))
            })
        };
        if says(a, b, predicate) || (same_sign && says(a, b, predicate.with_other_sign())) {
            return true;
        }
        // Numbers extended in the same way compare as before.
        let inner = |id: ExprId| match self.pool.get(id) {
            Expr::Cast(cast @ (Cast::ZeroExtend | Cast::SignExtend), inner, _) => Some((*cast, *inner)),
            _ => None,
        };
        match (inner(a), inner(b)) {
            (Some((x, a)), Some((y, b))) if x == y && self.width(a) == self.width(b) => match x {
                // Zero-extended numbers compare as unsigned in both readings.
                Cast::ZeroExtend => says(a, b, predicate.unsigned()),
                _ => says(a, b, predicate),
            },
            _ => false,
        }
    }

    /// Returns the logical connective of an operation, if it joins conditions.
    pub(crate) fn connective(&self, op: Op) -> Option<Connective> {
        let function = self.function;
        let operand = |index: usize| function.operand(op, index);
        let is_one = |value: Value| self.number(value) == Some(1);
        let is_bit =
            function.value_type(function.results(op).next()?).integer_width(function.ctx()) == Some(1);
        if !is_bit {
            return None;
        }
        if function.is(op, llvm::AndOp::DEF) || function.is(op, llvm::OrOp::DEF) {
            let conjunction = function.is(op, llvm::AndOp::DEF);
            return Some(Connective::Both {
                conjunction,
                operands: [operand(0), operand(1)],
                sequential: false,
            });
        }
        if function.is(op, llvm::XOrOp::DEF) {
            return if is_one(operand(1)) {
                Some(Connective::Not(operand(0)))
            } else {
                is_one(operand(0)).then(|| Connective::Not(operand(1)))
            };
        }
        if function.is(op, llvm::SelectOp::DEF) {
            let both = |conjunction, other| Connective::Both {
                conjunction,
                operands: [operand(0), other],
                sequential: true,
            };
            if self.number(operand(2)) == Some(0) {
                return Some(both(true, operand(1)));
            }
            if is_one(operand(1)) {
                return Some(both(false, operand(2)));
            }
        }
        None
    }
}

/// A logical connective of conditions.
pub(crate) enum Connective {
    /// The opposite.
    Not(Value),
    /// A conjunction, or else a disjunction.
    Both {
        conjunction: bool,
        operands: [Value; 2],
        /// True if the second operand is not evaluated when the first decides.
        sequential: bool,
    },
}

/// Returns the part of a range that may satisfy a comparison with a number in another range.
fn satisfying(predicate: Predicate, own: Range, other: Range, width: u32) -> Range {
    let (least, greatest) = signed_ends(width);
    let full = Range::full(width);
    let empty = own;
    match predicate {
        Predicate::Eq => other,
        Predicate::Ne if other.unsigned.0 == other.unsigned.1 => {
            let (bits, number) = (other.unsigned.0, other.signed.0);
            let mut range = own;
            range.unsigned.0 += u128::from(own.unsigned.0 == bits && bits < own.unsigned.1);
            range.unsigned.1 -= u128::from(own.unsigned.1 == bits && bits > own.unsigned.0);
            range.signed.0 += i128::from(own.signed.0 == number && number < own.signed.1);
            range.signed.1 -= i128::from(own.signed.1 == number && number > own.signed.0);
            range
        }
        Predicate::Ne => full,
        Predicate::Ult if other.unsigned.1 == 0 => empty,
        Predicate::Ult => Range::between(width, 0, other.unsigned.1 - 1),
        Predicate::Ule => Range::between(width, 0, other.unsigned.1),
        Predicate::Ugt if other.unsigned.0 == full.unsigned.1 => empty,
        Predicate::Ugt => Range::between(width, other.unsigned.0 + 1, full.unsigned.1),
        Predicate::Uge => Range::between(width, other.unsigned.0, full.unsigned.1),
        Predicate::Slt if other.signed.1 == least => empty,
        Predicate::Slt => Range::between_signed(width, least, other.signed.1 - 1),
        Predicate::Sle => Range::between_signed(width, least, other.signed.1),
        Predicate::Sgt if other.signed.0 == greatest => empty,
        Predicate::Sgt => Range::between_signed(width, other.signed.0 + 1, greatest),
        Predicate::Sge => Range::between_signed(width, other.signed.0, greatest),
    }
}
