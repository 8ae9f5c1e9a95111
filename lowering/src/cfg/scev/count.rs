//! Counts of comparisons: the number of consecutive iterations, from the first one on, in which a
//! comparison of a recurrence with a loop-invariant value holds. This is the backedge-taken count
//! of a loop that continues under this condition.
//!
//! Counts have the width of the compared values, and are words like all expressions. They count the
//! backedges taken before an exit *if the loop is left there*. If only this exit ends the loop,
//! more may be used: a broken no-wrap promise is undefined behaviour sooner or later, and so is
//! running forever where that is forbidden.
//!
//! **Assumptions.**
//! - Words wrap: a step that does not divide the distance meets the end after wrapping around, or
//!   never.
//! - A promise not to wrap counts only if no other exit, call or inner loop may end the loop first.
//!
//! Tried with `loop_fusion_traps/counts.ll` and `cfg/deletion_audit.mlir`.

use loomir_dialects::interp::integer::mask;
use loomir_ir::graph::loops::LoopId;
use loomir_transforms::affine::operation::Predicate;

use super::ScalarEvolution;
use super::build::inverse;
use super::expr::{Cast, Expr, ExprId, Flags, MinMax};
use super::first::first_in;
use super::range::Range;
use loomir_dialects::ranges::signed_ends;

/// The backedge-taken count of an exit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limit {
    /// The exact number, if the loop is left here.
    pub exact: Option<ExprId>,
    /// An upper bound, if the loop is left here or the exit is tested in each iteration.
    pub symbolic_max: Option<ExprId>,
    /// A constant upper bound under the same condition.
    pub constant_max: Option<ExprId>,
    /// True if the loop is never left here.
    pub never: bool,
    /// True if the exact number is the constant upper bound, or zero.
    pub max_or_zero: bool,
}

impl Limit {
    pub(super) const NEVER: Limit =
        Limit { exact: None, symbolic_max: None, constant_max: None, never: true, max_or_zero: false };
}

/// A recurrence `{start,+,step}` of a loop, where it is compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tested {
    pub(super) start: ExprId,
    /// The range of the start in the compared iterations. It may be narrower than elsewhere.
    pub(super) start_range: Range,
    pub(super) step: ExprId,
    /// The no-wrap facts of the compared iterations.
    pub(super) flags: Flags,
}

/// The other facts about the exit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) of: LoopId,
    /// True if nothing else ends the loop, and each iteration reaches its end.
    pub(super) only: bool,
    /// True if nothing else ends the loop, and it may not run forever.
    pub(super) finite: bool,
}

impl ScalarEvolution<'_> {
    /// Returns a limit with this exact count.
    pub(super) fn exactly(&mut self, of: LoopId, exact: ExprId) -> Limit {
        let width = self.width(exact);
        let most = self.range_in(exact, Some(of)).unsigned.1;
        let constant = self.constant(width, most);
        Limit {
            exact: Some(exact),
            symbolic_max: Some(exact),
            constant_max: Some(constant),
            ..Limit::default()
        }
    }

    /// Returns the number of consecutive iterations in which `tested predicate bound` holds.
    pub(super) fn count_while(
        &mut self,
        predicate: Predicate,
        tested: Tested,
        bound: ExprId,
        at: Setting,
    ) -> Limit {
        let numbers = [tested.start, tested.step, bound].map(|id| self.as_constant(id));
        let width = self.width(tested.start);
        if let ([Some(start), Some(step), Some(bound)], true) = (numbers, width <= 64) {
            return match count_constant(predicate, width, start, step, bound) {
                Some(count) => {
                    let count = self.constant(width, count);
                    self.exactly(at.of, count)
                }
                None => Limit::NEVER,
            };
        }
        match predicate {
            Predicate::Ne => self.count_while_different(tested, bound, at),
            Predicate::Eq => self.count_while_equal(tested, bound, at.of),
            _ => self.count_while_ordered(predicate, tested, bound, at),
        }
    }

    /// Returns the number of consecutive iterations in which `start + n·step` differs from the
    /// bound.
    fn count_while_different(&mut self, tested: Tested, bound: ExprId, at: Setting) -> Limit {
        let left = self.minus(bound, tested.start);
        let width = self.width(left);
        let Some(step) = self.as_constant(tested.step).filter(|step| *step != 0) else {
            return Limit::default();
        };
        let is_down = step > mask(width) >> 1;
        let size = if is_down { step.wrapping_neg() & mask(width) } else { step };
        let way = if is_down { self.negate(left) } else { left };
        // A recurrence without self-wrap meets the bound before it wraps, or never.
        if size == 1 || (tested.flags.nw && (at.only || at.finite)) {
            let divisor = self.constant(width, size);
            let count = self.udiv(way, divisor);
            let mut limit = self.exactly(at.of, count);
            let earlier = self.minus(tested.start, tested.step);
            if size == 1 && self.is_known(Predicate::Ne, earlier, bound, Some(at.of)) {
                // The recurrence does not go through all values of the width.
                self.limit_to(&mut limit, mask(width) - 1);
            }
            return limit;
        }
        let twos = step.trailing_zeros();
        if self.trailing_zeros(left) >= twos {
            let factor = self.constant(width, inverse(step >> twos));
            let divisor = self.constant(width, 1 << twos);
            let multiple = if size == 1 << twos { way } else { self.mul(&[factor, left]) };
            let count = self.udiv(multiple, divisor);
            return self.exactly(at.of, count);
        }
        Limit::default()
    }

    /// Lowers the constant maximum of a limit to a number.
    fn limit_to(&mut self, limit: &mut Limit, most: u128) {
        if let Some(id) = limit.constant_max
            && let Some(known) = self.as_constant(id)
        {
            limit.constant_max = Some(self.constant(self.width(id), most.min(known)));
        }
    }

    /// Counts iterations in which it equals the bound: at most one, if it moves.
    fn count_while_equal(&mut self, tested: Tested, bound: ExprId, of: LoopId) -> Limit {
        let left = self.minus(tested.start, bound);
        let width = self.width(left);
        let one = self.constant(width, 1);
        if self.range(tested.step).unsigned.0 == 0 {
            return Limit::default();
        }
        let differs = self.min_max(MinMax::UMin, &[left, one]);
        let count = self.minus(one, differs);
        self.exactly(of, count)
    }

    /// Counts iterations in which it is less, or greater, than the bound.
    fn count_while_ordered(
        &mut self,
        predicate: Predicate,
        tested: Tested,
        bound: ExprId,
        at: Setting,
    ) -> Limit {
        let signed = predicate.is_signed();
        let width = self.width(bound);
        let is_up = matches!(predicate.unsigned(), Predicate::Ult | Predicate::Ule);
        let is_strict = matches!(predicate.unsigned(), Predicate::Ult | Predicate::Ugt);
        let step = self.range_in(tested.step, Some(at.of));
        let sizes = if is_up {
            step.signed
        } else {
            (step.signed.1.saturating_neg(), step.signed.0.saturating_neg())
        };
        let sizes = if sizes.0 > 0 && sizes.1 <= signed_ends(width).1 {
            (sizes.0 as u128, sizes.1 as u128)
        } else if is_up && !signed && tested.flags.nuw && step.unsigned.0 > 0 {
            // A negative step is a large unsigned step up, which can be taken once.
            step.unsigned
        } else {
            return Limit::default();
        };
        let size = if is_up { tested.step } else { self.negate(tested.step) };
        let flagged = if signed { tested.flags.nsw } else { tested.flags.nuw && is_up };
        // To pass its start, the recurrence would have to repeat, and then the loop would never
        // end.
        let repeats = at.finite && self.as_constant(size).is_some_and(u128::is_power_of_two);
        let no_wrap =
            (flagged && at.only) || repeats || self.stays(is_up, signed, sizes.1, bound, is_strict, at.of);
        let promised = flagged || no_wrap;
        if !promised {
            return Limit::default();
        }
        let ends = Ends { is_up, signed, width };
        let (mut bound, mut last) = (bound, None);
        if !is_strict {
            // The exclusive bound is the next number. It exists by range, or by assumption.
            let range = self.range_in(bound, Some(at.of));
            if ends.last_of(range) == ends.last() && !((flagged && at.only) || at.finite) {
                return Limit::default();
            }
            last = Some(bound);
            let next = self.constant(width, if is_up { 1 } else { u128::MAX });
            bound = self.add(&[bound, next]);
        }
        self.count_to(ends, tested, size, sizes, (bound, last), at.of)
    }

    /// True if a step from a number before the bound stays in the range of the width.
    fn stays(
        &mut self,
        is_up: bool,
        signed: bool,
        size: u128,
        bound: ExprId,
        is_strict: bool,
        of: LoopId,
    ) -> bool {
        let ends = Ends { is_up, signed, width: self.width(bound) };
        let range = self.range_in(bound, Some(of));
        let room = ends.room_behind(range);
        room >= size - u128::from(is_strict)
    }

    /// Returns the number of steps from the start until the bound is reached or passed; zero if the
    /// start is there. The bound may be the next number of another one.
    fn count_to(
        &mut self,
        ends: Ends,
        tested: Tested,
        size: ExprId,
        sizes: (u128, u128),
        (bound, last): (ExprId, Option<ExprId>),
        of: LoopId,
    ) -> Limit {
        let (width, start) = (ends.width, tested.start);
        let towards = ends.predicate();
        let way = |this: &mut Self, from: ExprId, to: ExprId| {
            if ends.is_up { this.minus(to, from) } else { this.minus(from, to) }
        };
        let not_before = [towards, Predicate::Eq];
        let back = self.negate(size);
        let earlier = self.add(&[start, if ends.is_up { back } else { size }]);
        let is_one = self.as_constant(size) == Some(1);
        let one = self.constant(width, 1);
        let is_reached = |this: &mut Self, from: ExprId| {
            let is_within = |last| this.is_known(ends.predicate_or_equal(), from, last, Some(of));
            last.is_some_and(is_within) || this.is_known(towards, from, bound, Some(of))
        };
        let exact = if is_reached(self, earlier)
            && (is_one || ends.room_behind(self.range_in(earlier, Some(of))) >= sizes.1)
        {
            // The value before the start has not reached the bound: ⌈(bound - start)/size⌉ =
            // ⌊(bound - earlier - 1)/size⌋.
            let way = way(self, earlier, bound);
            let before = self.minus(way, one);
            self.udiv(before, size)
        } else {
            let is_behind = not_before.iter().any(|known| self.is_known(*known, start, bound, Some(of)))
                || self.is_known(ends.predicate_or_equal(), start, bound, Some(of));
            let end = if is_behind { bound } else { self.min_max(ends.farther(), &[bound, start]) };
            let way = way(self, start, end);
            let room = ends.room_behind(self.range_in(bound, Some(of)));
            let most = self.range_in(way, Some(of)).unsigned.1;
            if is_one {
                way
            } else if room >= sizes.1 - 1
                || most.checked_add(sizes.1 - 1).is_some_and(|sum| sum <= mask(width))
            {
                let sum = self.add(&[way, size]);
                let sum = self.minus(sum, one);
                self.udiv(sum, size)
            } else {
                self.udiv_ceil(way, size)
            }
        };
        let mut limit = self.exactly(of, exact);
        let straight = way(self, start, bound);
        if let (Some(way), Some(size)) = (self.as_constant(straight), self.as_constant(size)) {
            // The start is this far from the bound, or behind it.
            limit.max_or_zero = true;
            self.limit_to(&mut limit, way.div_ceil(size));
        }
        let (first, bound) = (ends.first_of(tested.start_range), self.range_in(bound, Some(of)));
        // The last step stays in the range of the width, too.
        let most = ends.distance(first, ends.last_of(bound)).div_ceil(sizes.0);
        let before = limit.constant_max;
        self.limit_to(&mut limit, most.min(ends.distance(first, ends.last()) / sizes.0));
        limit.max_or_zero &= limit.constant_max == before;
        limit
    }

    /// Returns the number of low bits of an expression that are certainly zero.
    pub(super) fn trailing_zeros(&self, id: ExprId) -> u32 {
        let width = self.width(id);
        let least = |operands: &[ExprId]| {
            operands.iter().map(|operand| self.trailing_zeros(*operand)).min().unwrap_or(0)
        };
        match self.pool.get(id) {
            Expr::Constant(_, bits) => bits.trailing_zeros().min(width),
            Expr::Unknown(_) => 0,
            Expr::PtrToInt(_) => 0,
            Expr::Cast(cast, operand, width) => {
                let zeros = self.trailing_zeros(*operand);
                // All bits of zero are.
                let all = zeros == self.width(*operand) && *cast != Cast::Truncate;
                if all { *width } else { zeros.min(*width) }
            }
            Expr::Add(operands) | Expr::AddRec(_, operands) | Expr::MinMax(_, operands) => least(operands),
            Expr::Mul(operands) => {
                operands.iter().map(|operand| self.trailing_zeros(*operand)).sum::<u32>().min(width)
            }
            Expr::UDiv(a, b) => match self.as_constant(*b) {
                Some(divisor) if divisor.is_power_of_two() => {
                    self.trailing_zeros(*a).saturating_sub(divisor.trailing_zeros())
                }
                _ => 0,
            },
        }
    }
}

/// A counting direction among words of a width, read as signed or unsigned.
#[derive(Clone, Copy)]
struct Ends {
    is_up: bool,
    signed: bool,
    width: u32,
}

impl Ends {
    /// Returns the predicate for values before the end.
    fn predicate(self) -> Predicate {
        match (self.is_up, self.signed) {
            (true, true) => Predicate::Slt,
            (true, false) => Predicate::Ult,
            (false, true) => Predicate::Sgt,
            (false, false) => Predicate::Ugt,
        }
    }

    fn predicate_or_equal(self) -> Predicate {
        self.predicate().swapped().inverse()
    }

    /// Returns the operation that selects the farther of two words.
    fn farther(self) -> MinMax {
        match (self.is_up, self.signed) {
            (true, true) => MinMax::SMax,
            (true, false) => MinMax::UMax,
            (false, true) => MinMax::SMin,
            (false, false) => MinMax::UMin,
        }
    }

    /// Maps words to their distance in the direction of counting: zero is the first.
    fn place(self, signed: i128, unsigned: u128) -> u128 {
        // Arithmetic modulo two to the power of 128 covers the largest width.
        let above =
            if self.signed { signed.wrapping_sub(signed_ends(self.width).0) as u128 } else { unsigned };
        if self.is_up { above } else { mask(self.width) - above }
    }

    fn first_of(self, range: Range) -> u128 {
        let (signed, unsigned) =
            if self.is_up { (range.signed.0, range.unsigned.0) } else { (range.signed.1, range.unsigned.1) };
        self.place(signed, unsigned)
    }

    fn last_of(self, range: Range) -> u128 {
        let (signed, unsigned) =
            if self.is_up { (range.signed.1, range.unsigned.1) } else { (range.signed.0, range.unsigned.0) };
        self.place(signed, unsigned)
    }

    fn last(self) -> u128 {
        mask(self.width)
    }

    /// Returns the number of words behind the whole range.
    fn room_behind(self, range: Range) -> u128 {
        self.last() - self.last_of(range)
    }

    fn distance(self, from: u128, to: u128) -> u128 {
        to.saturating_sub(from)
    }
}

/// Returns the number of consecutive `n` for which `start + n·step predicate bound` holds, for
/// constants. `None` if forever.
fn count_constant(predicate: Predicate, width: u32, start: u128, step: u128, bound: u128) -> Option<u128> {
    let last = mask(width);
    // Signed words are rotated by half a turn.
    let turn = if predicate.is_signed() { (last >> 1) + 1 } else { 0 };
    let (start, bound) = (start.wrapping_add(turn) & last, bound.wrapping_add(turn) & last);
    let left = match predicate.unsigned() {
        Predicate::Eq if start != bound => return Some(0),
        Predicate::Eq => return (step != 0).then_some(1),
        Predicate::Ne => Some((bound, bound)),
        Predicate::Ult => Some((bound, last)),
        Predicate::Ule => bound.checked_add(1).filter(|next| *next <= last).map(|next| (next, last)),
        Predicate::Ugt => Some((0, bound)),
        _ => bound.checked_sub(1).map(|before| (0, before)),
    };
    let (least, greatest) = left?;
    first_in(width, start, step, least, greatest)
}
