//! Backedge-taken counts, of each exit and of the loop.
//!
//! An exit that is tested in each iteration bounds the count, whatever else there is. The count is
//! exact if all exits that can be taken are such and countable: it is the least of theirs. The
//! *trip count* is the number of times the header runs, one more, which may need one bit more.
//!
//! **Assumptions.**
//! - A loop that may be left abnormally (a call that may not return) has no exact count.
//! - If two conditions are joined by `and` or `or`, poison in one makes the branch undefined.
//!   Joined by `select`, the second does not count if the first decides.
//!
//! Tried with `loop_fusion_traps/counts.ll` and `no_return.ll`.

use std::rc::Rc;

use loomir_dialects::interp::integer::mask;
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Op, Value};
use loomir_transforms::affine::operation::Predicate;

use super::ScalarEvolution;
use super::count::{Limit, Setting, Tested};
use super::expr::{Cast, Expr, ExprId, Flags, MinMax};
use super::facts::Connective;
use super::range::Range;
use loomir_dialects::ranges::sum;

/// The maximal number of loops whose counts are being computed, each for another one.
const MAX_ACTIVE: usize = 8;
/// The maximal number of loops examined for one.
const MAX_NESTED: usize = 16;
/// The maximal nesting of conditions to examine.
const MAX_CONDITIONS: u32 = 12;
/// The maximal number of switch cases that are counted.
const MAX_CASES: usize = 16;

/// One exit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exit {
    /// The number of the exiting block.
    pub from: u32,
    /// The backedge-taken count before this exit.
    pub limit: Limit,
}

/// The backedge-taken counts of a loop, each time it is entered.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// The exits, in the order of the loop's blocks.
    pub exits: Vec<Exit>,
    /// The exact count.
    pub exact: Option<ExprId>,
    /// A symbolic upper bound.
    pub symbolic_max: Option<ExprId>,
    /// A constant upper bound.
    pub constant_max: Option<ExprId>,
}

/// A number that another one extends.
#[derive(Clone, Copy)]
enum Narrow {
    Value(Value),
    Expr(ExprId),
}

impl ScalarEvolution<'_> {
    /// Returns the backedge-taken counts of a loop.
    pub fn counts(&mut self, of: LoopId) -> Rc<Counts> {
        if let Some((known, is_provisional)) = self.loop_counts.get(&of) {
            self.provisional |= is_provisional;
            return known;
        }
        if self.active.contains(&of) || self.active.len() >= MAX_ACTIVE || self.nested >= MAX_NESTED {
            self.provisional = true;
            return Rc::default();
        }
        let before = std::mem::replace(&mut self.provisional, false);
        self.active.push(of);
        self.nested += 1;
        let counts = Rc::new(self.compute_counts(of));
        self.active.pop();
        if self.active.is_empty() && self.in_progress.is_empty() {
            // Intermediate answers may be less precise than they can be now.
            self.forget_provisional();
            self.provisional = false;
        }
        self.loop_counts.insert(of, counts.clone(), self.provisional);
        self.provisional |= before;
        counts
    }

    /// Returns the greatest backedge-taken count, if it is bounded.
    pub(super) fn constant_max(&mut self, of: LoopId) -> Option<u128> {
        let most = self.counts(of).constant_max?;
        self.as_constant(most)
    }

    /// Returns the trip count: the number of times the header runs each time the loop is entered.
    /// It has one more bit if all words are backedge-taken counts.
    pub fn trip_count(&mut self, of: LoopId) -> Option<ExprId> {
        let exact = self.counts(of).exact?;
        Some(self.next(exact, of))
    }

    /// Returns a divisor of the trip count.
    pub fn trip_multiple(&mut self, of: LoopId) -> u128 {
        let Some(exact) = self.counts(of).exact else { return 1 };
        self.multiple_of_next(exact, of)
    }

    /// Returns a divisor of the number behind a backedge-taken count of a loop.
    pub(crate) fn multiple_of_next(&mut self, exact: ExprId, of: LoopId) -> u128 {
        let next = self.next(exact, of);
        // Modulo the width, the next number keeps its factors of two.
        let (width, one) = (self.width(exact), self.constant(self.width(exact), 1));
        let wrapped = self.add(&[exact, one]);
        let twos = 1 << self.trailing_zeros(wrapped).min(width).min(127);
        self.multiple(next).max(twos)
    }

    /// Returns a count plus one, with one more bit if all words are possible.
    fn next(&mut self, exact: ExprId, of: LoopId) -> ExprId {
        let width = self.width(exact);
        let is_whole = self.range_in(exact, Some(of)).unsigned.1 == mask(width);
        let count = if is_whole { self.zero_extend(exact, width + 1) } else { exact };
        let one = self.constant(self.width(count), 1);
        self.add(&[count, one])
    }

    /// Returns a divisor of an expression. The divisor of zero is zero.
    fn multiple(&mut self, id: ExprId) -> u128 {
        let twos = self.trailing_zeros(id);
        let by_two = if twos >= 127 { 0 } else { 1 << twos };
        let all = |this: &mut Self, operands: &[ExprId]| {
            operands.iter().fold(0, |known, operand| gcd(known, this.multiple(*operand)))
        };
        match self.pool.get(id).clone() {
            Expr::Constant(_, bits) => bits,
            Expr::Cast(Cast::ZeroExtend, operand, _) => self.multiple(operand),
            // A sum that wraps keeps only powers of two as divisors.
            Expr::Add(operands) | Expr::AddRec(_, operands) if self.flags(id).nuw => {
                all(self, &operands).max(by_two)
            }
            Expr::Mul(operands) if self.flags(id).nuw => {
                let product = operands
                    .iter()
                    .try_fold(1u128, |product, operand| product.checked_mul(self.multiple(*operand)));
                product.unwrap_or(by_two)
            }
            Expr::MinMax(_, operands) => all(self, &operands),
            _ => by_two,
        }
    }

    /// Returns the latches of a loop.
    pub(crate) fn latches(&self, of: LoopId) -> Vec<u32> {
        let loops = self.analysis.loops();
        let header = loops.get(of).header();
        let predecessors = self.analysis.graph().predecessors(header);
        predecessors.iter().copied().filter(|from| loops.contains(of, *from)).collect()
    }

    fn compute_counts(&mut self, of: LoopId) -> Counts {
        let latches = self.latches(of);
        let exiting = self.exiting_blocks(of);
        let is_only = exiting.len() == 1;
        let mut counts = Counts::default();
        let (mut exact, mut symbolic, mut is_exact) = (Vec::new(), Vec::new(), true);
        let mut must = None::<ExprId>;
        for from in exiting.iter().copied() {
            let is_regular = latches.iter().all(|latch| self.analysis.dominators().dominates(from, *latch));
            let limit = if is_regular { self.exit_limit(of, from, is_only) } else { Limit::default() };
            counts.exits.push(Exit { from, limit });
            if limit.never {
                continue;
            }
            match limit.exact {
                Some(count) => exact.push(count),
                None => is_exact = false,
            }
            symbolic.extend(limit.symbolic_max);
            if let Some(most) = limit.constant_max {
                must = Some(match must {
                    Some(known) if self.as_constant(known) <= self.as_constant(most) => known,
                    _ => most,
                });
            }
        }
        if is_exact && !exact.is_empty() {
            counts.exact = Some(self.least(&exact));
        }
        if !symbolic.is_empty() {
            counts.symbolic_max = Some(self.least(&symbolic));
        }
        counts.constant_max = must;
        if let (Some(exact), Some(most)) = (counts.exact, must)
            && self.as_constant(exact).is_some_and(|exact| Some(exact) < self.as_constant(most))
        {
            counts.constant_max = Some(exact);
        }
        counts
    }

    /// Returns the exiting blocks of a loop. Linear in the loop, once.
    fn exiting_blocks(&mut self, of: LoopId) -> Rc<[u32]> {
        self.remembered(
            |this| &mut this.exiting,
            of,
            |this| {
                let loops = this.analysis.loops();
                let graph = this.analysis.graph();
                let leaves = |node: &u32| graph.successors(*node).iter().any(|to| !loops.contains(of, *to));
                loops.get(of).nodes.iter().copied().filter(leaves).collect()
            },
        )
    }

    /// Returns the least of counts of any widths. Counts behind a deciding one are not evaluated.
    fn least(&mut self, counts: &[ExprId]) -> ExprId {
        let width = counts.iter().map(|count| self.width(*count)).max().unwrap_or(1);
        let counts: Vec<ExprId> = counts.iter().map(|count| self.zero_extend(*count, width)).collect();
        self.min_max(MinMax::SequentialUMin, &counts)
    }

    fn exit_limit(&mut self, of: LoopId, from: u32, is_only: bool) -> Limit {
        let loops = self.analysis.loops();
        let Some(branch) = self.function.terminator(self.analysis.block(from)) else {
            return Limit::default();
        };
        let leaves: Vec<bool> = self
            .function
            .successors(branch)
            .map(|to| !loops.contains(of, self.analysis.number(to)))
            .collect();
        if leaves.iter().all(|leaves| *leaves) {
            let zero = self.constant(1, 0);
            return self.exactly(of, zero);
        }
        let finite = is_only && self.is_finite(of);
        let at = Setting { of, only: is_only && !self.may_stop(of), finite };
        if self.function.is(branch, llvm::CondBrOp::DEF) {
            return self.condition_limit(self.function.operand(branch, 0), leaves[0], at, MAX_CONDITIONS);
        }
        if self.function.is(branch, llvm::SwitchOp::DEF) {
            return self.switch_limit(branch, &leaves, at);
        }
        Limit::default()
    }

    /// Returns the limit of an exit by some cases of a switch, or by all cases but one.
    fn switch_limit(&mut self, branch: Op, leaves: &[bool], at: Setting) -> Limit {
        let cases = self.case_values(branch);
        let flag = self.function.operand(branch, 0);
        let wanted: Vec<u128> = leaves[1..]
            .iter()
            .zip(cases)
            .filter(|(leaves_by, _)| **leaves_by != leaves[0])
            .map(|(_, bits)| bits)
            .collect();
        let width = self.expr_type(flag).map_or(1, |ty| ty.width());
        if wanted.is_empty() || wanted.len() > MAX_CASES || (leaves[0] && wanted.len() > 1) {
            return Limit::default();
        }
        let at = Setting { only: at.only && wanted.len() == 1, finite: at.finite && wanted.len() == 1, ..at };
        // An exit by the default: the loop continues while the flag is the only remaining case.
        let goes_on = if leaves[0] { Predicate::Eq } else { Predicate::Ne };
        let limits: Vec<Limit> = wanted
            .into_iter()
            .map(|bits| {
                let bound = self.constant(width, bits);
                self.while_limit(goes_on, flag, bound, at)
            })
            .collect();
        limits.into_iter().reduce(|a, b| self.either(a, b, false)).unwrap_or_default()
    }

    /// Returns the limit of an exit at a condition that is true, or false.
    fn condition_limit(&mut self, condition: Value, leaves_if: bool, at: Setting, depth: u32) -> Limit {
        if let Some(bits) = self.number(condition) {
            if (bits != 0) != leaves_if {
                return Limit::NEVER;
            }
            let zero = self.constant(1, 0);
            return self.exactly(at.of, zero);
        }
        if let Some(op) = self.function.defining_op(condition)
            && depth > 0
        {
            match self.connective(op) {
                Some(Connective::Not(inner)) => {
                    return self.condition_limit(inner, !leaves_if, at, depth - 1);
                }
                Some(Connective::Both { conjunction, operands, sequential }) => {
                    let either = conjunction != leaves_if;
                    let inner = if either { Setting { only: false, finite: false, ..at } } else { at };
                    let [a, b] =
                        operands.map(|operand| self.condition_limit(operand, leaves_if, inner, depth - 1));
                    let limit = if either { self.either(a, b, sequential) } else { both(a, b) };
                    if limit != Limit::default() {
                        return limit;
                    }
                }
                None => {
                    if let Some(predicate) = self.predicate(op) {
                        let goes_on = if leaves_if { predicate.inverse() } else { predicate };
                        let limit = self.comparison_limit(goes_on, op, at);
                        if limit != Limit::default() {
                            return limit;
                        }
                    }
                }
            }
        }
        self.count_by_running(condition, leaves_if, at.of)
    }

    /// Returns the count of an exit taken if the first of two conditions requires it.
    fn either(&mut self, a: Limit, b: Limit, sequential: bool) -> Limit {
        if a.never || b.never {
            return if a.never { b } else { a };
        }
        let kind = if sequential { MinMax::SequentialUMin } else { MinMax::UMin };
        let mut least = |a: Option<ExprId>, b: Option<ExprId>, all: bool| match (a, b) {
            (Some(a), Some(b)) => {
                let width = self.width(a).max(self.width(b));
                let both = [a, b].map(|count| self.zero_extend(count, width));
                Some(self.min_max(kind, &both))
            }
            (a, b) => {
                if all {
                    None
                } else {
                    a.or(b)
                }
            }
        };
        Limit {
            exact: least(a.exact, b.exact, true),
            symbolic_max: least(a.symbolic_max, b.symbolic_max, false),
            constant_max: least(a.constant_max, b.constant_max, false),
            ..Limit::default()
        }
    }

    /// Returns the count of a loop that continues while a comparison of two values holds.
    fn comparison_limit(&mut self, goes_on: Predicate, op: Op, at: Setting) -> Limit {
        let [a, b] = [0, 1].map(|index| self.function.operand(op, index));
        if self.expr_type(a).is_none() {
            return Limit::default();
        }
        let (x, y) = (self.expr(a), self.expr(b));
        let (x, y) = (self.at_scope(x, Some(at.of)), self.at_scope(y, Some(at.of)));
        match (self.is_available(x, at.of), self.is_available(y, at.of)) {
            (true, true) => self.fixed_limit(goes_on, x, y, at.of),
            (true, false) => match self.while_limit(goes_on.swapped(), b, x, at) {
                limit if limit == Limit::default() => self.extended_limit(goes_on.swapped(), b, x, at),
                limit => limit,
            },
            (false, true) => match self.while_limit(goes_on, a, y, at) {
                limit if limit == Limit::default() => self.extended_limit(goes_on, a, y, at),
                limit => limit,
            },
            (false, false) if matches!(goes_on, Predicate::Eq | Predicate::Ne) => {
                self.distance_limit(goes_on, x, y, at)
            }
            (false, false) => {
                let first = self.farthest_limit(goes_on, a, y, at);
                let second = self.farthest_limit(goes_on.swapped(), b, x, at);
                self.either(first, second, false)
            }
        }
    }

    /// Returns the count of a loop that continues while an extended number compares like this with
    /// a bound that is extended in the same way. They compare as the narrow numbers do, which may
    /// wrap.
    fn extended_limit(&mut self, goes_on: Predicate, value: Value, bound: ExprId, at: Setting) -> Limit {
        let Some((is_signed, narrow)) = self.extended(value) else { return Limit::default() };
        let width = match narrow {
            Narrow::Value(value) => self.expr_type(value).map_or(0, |ty| ty.width()),
            Narrow::Expr(id) => self.width(id),
        };
        let bound = match self.get(bound).clone() {
            Expr::Cast(Cast::SignExtend, inner, _) if is_signed && self.width(inner) == width => inner,
            Expr::Cast(Cast::ZeroExtend, inner, _) if !is_signed && self.width(inner) == width => inner,
            Expr::Constant(wide, _) => {
                let low = self.truncate(bound, width);
                let again = if is_signed { self.sign_extend(low, wide) } else { self.zero_extend(low, wide) };
                if again != bound {
                    return Limit::default();
                }
                low
            }
            _ => return Limit::default(),
        };
        // Both readings of zero-extended numbers are the unsigned one.
        let goes_on = if is_signed { goes_on } else { goes_on.unsigned() };
        match narrow {
            Narrow::Value(value) => self.while_limit(goes_on, value, bound, at),
            Narrow::Expr(id) => self.recurrence_limit(goes_on, id, bound, at),
        }
    }

    /// Returns the narrow number that a value extends, and true if its sign is extended. A mask of
    /// low bits extends them.
    fn extended(&mut self, value: Value) -> Option<(bool, Narrow)> {
        let op = self.function.defining_op(value)?;
        let (signed, unsigned) =
            (self.function.is(op, llvm::SExtOp::DEF), self.function.is(op, llvm::ZExtOp::DEF));
        if signed || unsigned {
            return Some((signed, Narrow::Value(self.function.operand(op, 0))));
        }
        let id = self.expr(value);
        match self.get(id) {
            Expr::Cast(Cast::ZeroExtend, inner, _) => Some((false, Narrow::Expr(*inner))),
            _ => None,
        }
    }

    /// Returns the count of a loop that continues while a recurrence compares like this with a
    /// loop-invariant bound.
    fn recurrence_limit(&mut self, goes_on: Predicate, id: ExprId, bound: ExprId, at: Setting) -> Limit {
        match self.pool.get(id) {
            Expr::AddRec(own, operands) if *own == at.of && operands.len() == 2 => {
                let (start, step) = (operands[0], operands[1]);
                let start_range = self.range_in(start, Some(at.of));
                let tested = Tested { start, start_range, step, flags: self.pool.flags(id) };
                self.count_while(goes_on, tested, bound, at)
            }
            _ => Limit::default(),
        }
    }

    /// Returns the count of a loop that continues while a value compares like this with a varying
    /// one. The count is at most that for the last value of the range of the latter.
    fn farthest_limit(&mut self, goes_on: Predicate, value: Value, other: ExprId, at: Setting) -> Limit {
        let (width, range) = (self.width(other), self.range(other));
        let bound = match goes_on {
            Predicate::Slt | Predicate::Sle => range.signed.1 as u128,
            Predicate::Sgt | Predicate::Sge => range.signed.0 as u128,
            Predicate::Ult | Predicate::Ule => range.unsigned.1,
            _ => range.unsigned.0,
        };
        let bound = self.constant(width, bound);
        let at = Setting { only: false, finite: false, ..at };
        let limit = self.while_limit(goes_on, value, bound, at);
        if limit.never {
            return Limit::default();
        }
        Limit { exact: None, ..limit }
    }

    /// Returns the limit of a loop-invariant condition: the loop exits at once or never.
    fn fixed_limit(&mut self, goes_on: Predicate, a: ExprId, b: ExprId, of: LoopId) -> Limit {
        if self.is_known(goes_on, a, b, Some(of)) {
            return Limit::NEVER;
        }
        if self.is_known(goes_on.inverse(), a, b, Some(of)) {
            let zero = self.constant(1, 0);
            return self.exactly(of, zero);
        }
        Limit::default()
    }

    /// Returns the limit of a comparison of two recurrences, by the distance between them.
    fn distance_limit(&mut self, goes_on: Predicate, a: ExprId, b: ExprId, at: Setting) -> Limit {
        let distance = self.minus(a, b);
        let zero = self.constant(self.width(distance), 0);
        match self.is_available(distance, at.of) {
            true => self.fixed_limit(goes_on, distance, zero, at.of),
            false => self.recurrence_limit(goes_on, distance, zero, at),
        }
    }

    /// Returns the count of a loop that continues while a value compares like this with a
    /// loop-invariant bound.
    fn while_limit(&mut self, goes_on: Predicate, value: Value, bound: ExprId, at: Setting) -> Limit {
        if self.expr_type(value).is_none() || !self.is_available(bound, at.of) {
            return Limit::default();
        }
        let Some(mut tested) = self.tested(value, at.of, 2) else {
            let id = self.expr(value);
            if self.is_available(id, at.of) {
                return self.fixed_limit(goes_on, id, bound, at.of);
            }
            let is_until_zero = goes_on == Predicate::Ne && self.as_constant(bound) == Some(0);
            return if is_until_zero { self.shifted_limit(value, at.of) } else { Limit::default() };
        };
        tested.start = self.ptr_to_int(tested.start);
        let bound = self.ptr_to_int(bound);
        self.count_while(goes_on, tested, bound, at)
    }

    /// Returns the count of a loop that continues while bits remain of a value that is shifted
    /// right in each iteration.
    fn shifted_limit(&mut self, value: Value, of: LoopId) -> Limit {
        let header = self.analysis.block(self.analysis.loops().get(of).header());
        let arguments: Vec<Value> = self.function.arguments(header).collect();
        for argument in arguments {
            let Some(own) =
                self.header_argument(argument).filter(|own| argument == value || own.next == value)
            else {
                continue;
            };
            let Some(op) =
                self.function.defining_op(own.next).filter(|op| self.function.is(*op, llvm::LShrOp::DEF))
            else {
                continue;
            };
            let by = self.number(self.function.operand(op, 1)).filter(|by| *by > 0);
            let (Some(by), Some(ty)) = (by, self.expr_type(argument)) else { continue };
            if self.function.operand(op, 0) == argument {
                let most = self.constant(ty.width(), u128::from(ty.width()).div_ceil(by));
                return Limit {
                    exact: None,
                    symbolic_max: Some(most),
                    constant_max: Some(most),
                    ..Limit::default()
                };
            }
        }
        Limit::default()
    }

    /// Returns the recurrence of a value, with the no-wrap facts that hold if it is used so that it
    /// must not be poison.
    fn tested(&mut self, value: Value, of: LoopId, depth: u32) -> Option<Tested> {
        let id = self.expr(value);
        if let Expr::AddRec(own, operands) = self.pool.get(id).clone() {
            let [start, step] = *operands else { return None };
            let used = self.promised(value, of, step);
            let flags = self.flags(id).and(used);
            let start_range = self.first_range(value, of, start, step, used);
            return (own == of).then_some(Tested { start, start_range, step, flags });
        }
        // An extension is poison where its operand is, so the operand's promises count.
        let op = self.function.defining_op(value).filter(|_| depth > 0)?;
        let (signed, unsigned) =
            (self.function.is(op, llvm::SExtOp::DEF), self.function.is(op, llvm::ZExtOp::DEF));
        if !signed && !unsigned {
            return None;
        }
        let inner = self.tested(self.function.operand(op, 0), of, depth - 1)?;
        let width = self.width(id);
        if signed && inner.flags.nsw {
            let (start, step) = (self.sign_extend(inner.start, width), self.sign_extend(inner.step, width));
            let start_range = self.range_in(start, Some(of));
            return Some(Tested {
                start,
                start_range,
                step,
                flags: Flags { nw: true, nuw: false, nsw: true },
            });
        }
        if unsigned && inner.flags.nuw {
            let (start, step) = (self.zero_extend(inner.start, width), self.zero_extend(inner.step, width));
            let start_range = self.range_in(start, Some(of));
            return Some(Tested {
                start,
                start_range,
                step,
                flags: Flags { nw: true, nuw: true, nsw: true },
            });
        }
        None
    }

    /// Returns the range of the first value that returns to a header: one step, promised not to
    /// wrap, from the initial value.
    fn first_range(
        &mut self,
        value: Value,
        of: LoopId,
        start: ExprId,
        step: ExprId,
        promised: Flags,
    ) -> Range {
        let range = self.range_in(start, Some(of));
        if self.function.defining_op(value).is_none() {
            return range;
        }
        let width = self.width(start);
        let (entered, step) = (self.minus(start, step), self.range_in(step, Some(of)));
        let entered = self.range_in(entered, Some(of));
        let (unsigned, signed) = sum(&[entered, step]);
        let full = Range::full(width);
        let mut first = full;
        if let Some(exact) = unsigned.filter(|exact| promised.nuw && exact.0 <= full.unsigned.1) {
            first = Range::between(width, exact.0, exact.1.min(full.unsigned.1));
        }
        if let Some(exact) =
            signed.filter(|exact| promised.nsw && exact.0 <= full.signed.1 && exact.1 >= full.signed.0)
        {
            let signed = Range::between_signed(width, exact.0.max(full.signed.0), exact.1.min(full.signed.1));
            first = first.and(signed, width);
        }
        range.and(first, width)
    }

    /// Returns the promises of a header's argument, or of the value that returns to it, if it is
    /// not poison: each step so far kept them.
    pub(crate) fn promised(&self, value: Value, of: LoopId, step: ExprId) -> Flags {
        let header = self.analysis.block(self.analysis.loops().get(of).header());
        let is_one = |argument: &Value| {
            *argument == value || self.header_argument(*argument).is_some_and(|header| header.next == value)
        };
        let Some(argument) = self.function.arguments(header).find(is_one) else { return Flags::NONE };
        let Some(header) = self.header_argument(argument) else { return Flags::NONE };
        let adds_to_it = self
            .function
            .defining_op(header.next)
            .is_some_and(|op| self.function.operands(op).any(|operand| operand == argument));
        if adds_to_it { self.step_flags(header.next, step) } else { Flags::NONE }
    }
}

/// Combines two limits that both must allow the exit. Known only if they are equal.
fn both(a: Limit, b: Limit) -> Limit {
    if a.never || b.never {
        return Limit::NEVER;
    }
    if a == b { a } else { Limit::default() }
}

/// Returns the greatest common divisor; that of zero and a number is the number.
pub(crate) fn gcd(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
