//! Expressions of values: the results of operations.
//!
//! Values are visited operands first, on an explicit stack. A header's argument is a recurrence if
//! the value that returns to it is the argument plus loop-invariant or recurrent terms. During that
//! computation the argument stands for itself, and answers about other values are provisional.
//!
//! **Assumptions.**
//! - An operation without operands, such as a call or inline assembly, stands for itself.
//! - Indices of address arithmetic are truncated or extended to the width in the data layout.
//! - A quotient or shift is followed only if its divisor or distance leaves it defined.
//! - `freeze` stands for itself: two of one value may be two numbers.
//!
//! Tried with `loop_fusion_traps/no_operands.ll`, `layout_i386.ll` and `counts.ll`.

use loomir_dialects::arith::constant::Numbers;
use loomir_dialects::interp::integer::{Wrap, mask, signed};
use loomir_dialects::llvm;
use loomir_dialects::llvm::memory::address::{NUSW, NUW, byte_offsets, no_wrap_flags};
use loomir_dialects::llvm::types::LlvmType;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::opdef::Folded;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Op, Value, ValueDef};
use loomir_transforms::affine::operation::Predicate;

use super::ScalarEvolution;
use super::expr::{Cast, Expr, ExprId, ExprType, Flags, MinMax};

/// The maximal number of operations between a header's argument and the value that returns to it.
const MAX_CHAIN: usize = 32;
/// The maximal number of values examined on the way from one to the other.
const MAX_SEARCH: usize = 128;

/// A summand added to a header's argument before it returns.
#[derive(Clone, Copy)]
enum Addend {
    Plus(Value),
    Minus(Value),
    /// The offset of an address computation.
    Offset(Op),
}

/// A header's argument with its initial value and its next value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeaderArgument {
    /// The loop.
    pub of: LoopId,
    /// The initial value.
    pub start: Value,
    /// The value of the next iteration.
    pub next: Value,
}

const MIN_MAX: [(&loomir_ir::OpDef, MinMax); 4] = [
    (llvm::SMaxOp::DEF, MinMax::SMax),
    (llvm::SMinOp::DEF, MinMax::SMin),
    (llvm::UMaxOp::DEF, MinMax::UMax),
    (llvm::UMinOp::DEF, MinMax::UMin),
];

impl ScalarEvolution<'_> {
    /// Returns the type of a value's expression. `None` if it is neither an integer of at most 128
    /// bits nor an address that is a number. Addresses have the width of the data layout.
    pub fn expr_type(&self, value: Value) -> Option<ExprType> {
        let (ctx, ty) = (self.function.ctx(), self.function.value_type(value));
        if let Some(LlvmType::Pointer { space }) = LlvmType::of(ctx, ty) {
            let own = self.data_layout.pointer(space);
            let is_word = self.data_layout.is_integral(space) && own.bits <= 64;
            return is_word.then_some(ExprType::Pointer(own.bits));
        }
        ty.integer_width(ctx).filter(|width| (1..=128).contains(width)).map(ExprType::Integer)
    }

    /// Returns the value of a constant.
    pub(crate) fn number(&self, value: Value) -> Option<u128> {
        match Numbers::of(self.function.ctx(), constant_of(self.function, value)?)? {
            Numbers::One(bits) => Some(bits),
            Numbers::Many(_) => None,
        }
    }

    /// Returns the expression of a value with a [type of expressions](Self::expr_type).
    pub fn expr(&mut self, value: Value) -> ExprId {
        if let Some((known, is_provisional)) = self.exprs.get(&value) {
            self.provisional |= is_provisional;
            return known;
        }
        let mut stack = vec![value];
        while let Some(value) = stack.last().copied() {
            if self.exprs.get(&value).is_some() {
                stack.pop();
                self.in_progress.remove(&value);
                continue;
            }
            if self.in_progress.insert(value, ()).is_none() {
                let missing: Vec<Value> = self
                    .needs(value)
                    .into_iter()
                    .filter(|need| self.exprs.get(need).is_none() && !self.in_progress.contains_key(need))
                    .collect();
                if !missing.is_empty() {
                    stack.extend(missing);
                    continue;
                }
            }
            let before = std::mem::replace(&mut self.provisional, false);
            let mut id = self.compute(value);
            if !self.pool.is_small(id) {
                id = self.itself(value);
            }
            self.exprs.insert(value, id, self.provisional);
            self.provisional |= before;
            self.in_progress.remove(&value);
            stack.pop();
        }
        self.operand_expr(value)
    }

    /// Returns an expression that stands for the value itself.
    fn itself(&mut self, value: Value) -> ExprId {
        let ty = self.expr_type(value).unwrap_or(ExprType::Pointer(64));
        self.unknown(value, ty)
    }

    /// Returns the expression of an operand. An operand whose expression is still being computed
    /// stands for itself.
    fn operand_expr(&mut self, value: Value) -> ExprId {
        match self.exprs.get(&value) {
            Some((known, is_provisional)) => {
                self.provisional |= is_provisional;
                known
            }
            None => {
                self.provisional = true;
                self.itself(value)
            }
        }
    }

    /// Returns the values whose expressions are needed first. Values without expressions are not
    /// needed.
    fn needs(&mut self, value: Value) -> Vec<Value> {
        let function = self.function;
        let needs: Vec<Value> = match function.def(value) {
            ValueDef::BlockArgument { .. } => match self.header_argument(value) {
                Some(header) => {
                    let mut needs = vec![header.start];
                    if self.is_an_iteration_behind(value, &header) {
                        needs.push(header.next);
                    }
                    for addend in self.addends(value, header.next).unwrap_or_default() {
                        match addend {
                            Addend::Plus(value) | Addend::Minus(value) => needs.push(value),
                            Addend::Offset(op) => needs.extend(function.operands(op).skip(1)),
                        }
                    }
                    needs
                }
                None => self.only_incoming(value).into_iter().collect(),
            },
            ValueDef::OpResult { op, .. } => match self.extracted(op) {
                Some(part) => vec![part],
                None if self.is_followed(op) => function.operands(op).collect(),
                None => Vec::new(),
            },
        };
        needs.into_iter().filter(|need| self.expr_type(*need).is_some()).collect()
    }

    fn is_followed(&self, op: Op) -> bool {
        let function = self.function;
        function.num_results(op) == 1
            && function.num_operands(op) > 0
            && !function.is(op, llvm::LoadOp::DEF)
            && !function.is(op, llvm::CallOp::DEF)
    }

    /// Returns the value that an operation extracts from an aggregate, if it was inserted there.
    /// Linear in later insertions.
    pub(crate) fn extracted(&self, op: Op) -> Option<Value> {
        let view = self.function.op_ref(op);
        let fold = llvm::ExtractValueOp::DEF.fold.filter(|_| view.is(llvm::ExtractValueOp::DEF))?;
        match fold(view, &[None])?[..] {
            [Folded::Value(part)] => Some(part),
            _ => None,
        }
    }

    /// Returns the values that a block's argument may have, each once.
    pub(super) fn incoming(&self, argument: Value) -> Vec<Value> {
        let ValueDef::BlockArgument { block, index } = self.function.def(argument) else { return Vec::new() };
        let mut values: Vec<Value> = Vec::new();
        for (_, operands) in self.edges.get(&block).map_or(&[][..], Vec::as_slice) {
            let value = operands.get(index).copied();
            values.extend(value.filter(|value| !values.contains(value)));
        }
        values
    }

    /// Returns the only value that a block's argument can have, unless the block is a loop's
    /// header.
    pub(crate) fn only_incoming(&self, argument: Value) -> Option<Value> {
        let block = self.function.value_block(argument)?;
        let node = self.analysis.number(block);
        let loops = self.analysis.loops();
        if loops.innermost(node).is_some_and(|own| loops.get(own).header() == node) {
            return None;
        }
        match self.incoming(argument)[..] {
            [only] if only != argument => Some(only),
            _ => None,
        }
    }

    /// Returns the initial and the next value, if each is unique.
    pub fn header_argument(&self, argument: Value) -> Option<HeaderArgument> {
        let ValueDef::BlockArgument { block, index } = self.function.def(argument) else { return None };
        let node = self.analysis.number(block);
        let loops = self.analysis.loops();
        let of = loops.innermost(node).filter(|own| loops.get(*own).header() == node)?;
        let (mut start, mut next) = (None, None);
        for (from, operands) in self.edges.get(&block)? {
            let side = if loops.contains(of, *from) { &mut next } else { &mut start };
            let value = *operands.get(index)?;
            if side.is_some_and(|known| known != value) {
                return None;
            }
            *side = Some(value);
        }
        Some(HeaderArgument { of, start: start?, next: next? })
    }

    /// Returns the summands added to a header's argument on the way to its next value.
    fn addends(&self, argument: Value, next: Value) -> Option<Vec<Addend>> {
        let function = self.function;
        let (mut at, mut addends) = (next, Vec::new());
        for _ in 0..MAX_CHAIN {
            if at == argument {
                return Some(addends);
            }
            let Some(op) = function.defining_op(at) else {
                at = self.only_incoming(at)?;
                continue;
            };
            let operand = |index: usize| function.operand(op, index);
            if function.is(op, llvm::AddOp::DEF) || is_disjoint_or(self, op) {
                let (a, b) = (operand(0), operand(1));
                let (way, other) = if self.leads_to(a, argument) { (a, b) } else { (b, a) };
                addends.push(Addend::Plus(other));
                at = way;
            } else if function.is(op, llvm::SubOp::DEF) {
                addends.push(Addend::Minus(operand(1)));
                at = operand(0);
            } else if function.is(op, llvm::GEPOp::DEF) {
                addends.push(Addend::Offset(op));
                at = operand(0);
            } else {
                return None;
            }
        }
        None
    }

    /// True if a chain of sums leads from a value back to an argument.
    fn leads_to(&self, from: Value, argument: Value) -> bool {
        let function = self.function;
        let mut pending = vec![from];
        for _ in 0..MAX_SEARCH {
            let Some(at) = pending.pop() else { return false };
            if at == argument {
                return true;
            }
            match function.defining_op(at) {
                None => pending.extend(self.only_incoming(at)),
                Some(op) if function.is(op, llvm::AddOp::DEF) || is_disjoint_or(self, op) => {
                    pending.extend(function.operands(op));
                }
                Some(op) if function.is(op, llvm::SubOp::DEF) || function.is(op, llvm::GEPOp::DEF) => {
                    pending.push(function.operand(op, 0));
                }
                Some(_) => {}
            }
        }
        false
    }

    fn compute(&mut self, value: Value) -> ExprId {
        let computed = match self.function.def(value) {
            ValueDef::BlockArgument { .. } => match self.header_argument(value) {
                Some(header) => self.header_expr(value, &header),
                None => self.only_incoming(value).map(|only| self.operand_expr(only)),
            },
            ValueDef::OpResult { op, .. } => self.result_expr(op, value),
        };
        computed.unwrap_or_else(|| self.itself(value))
    }

    /// Returns the recurrence of a header argument.
    fn header_expr(&mut self, argument: Value, header: &HeaderArgument) -> Option<ExprId> {
        self.expr_type(argument)?;
        let of = header.of;
        if self.is_an_iteration_behind(argument, header) {
            return self.shifted(header);
        }
        let addends = self.addends(argument, header.next)?;
        let width = self.expr_type(argument)?.width();
        let mut terms = vec![self.constant(width, 0)];
        for addend in &addends {
            terms.push(match addend {
                Addend::Plus(value) => self.operand_expr(*value),
                Addend::Minus(value) => {
                    let value = self.operand_expr(*value);
                    self.negate(value)
                }
                Addend::Offset(op) => self.offset(*op, width)?,
            });
        }
        let step = self.add(&terms);
        let step = if self.is_available(step, of) { step } else { self.at_scope(step, Some(of)) };
        let start = self.operand_expr(header.start);
        if !self.is_available(start, of) {
            return None;
        }
        let mut operands = vec![start];
        match self.pool.get(step) {
            Expr::AddRec(own, steps) if *own == of => operands.extend_from_slice(steps),
            _ if self.is_available(step, of) => operands.push(step),
            _ => return None,
        }
        let recurrence = self.recurrence(of, &operands);
        if let ([_], [_, step]) = (&addends[..], &operands[..]) {
            let flags = self.step_flags(header.next, *step);
            if flags != Flags::NONE && self.is_never_poison_again(of, argument, header.next) {
                self.note_recurrence(recurrence, of, &operands, flags);
            }
        }
        Some(recurrence)
    }

    /// True if the next value of a header's argument is another argument of the header, plus
    /// constants, which steps by a constant.
    fn is_an_iteration_behind(&self, argument: Value, header: &HeaderArgument) -> bool {
        let is_number = |addend: &Addend| match addend {
            Addend::Plus(value) | Addend::Minus(value) => self.number(*value).is_some(),
            Addend::Offset(_) => false,
        };
        let mut at = header.next;
        for _ in 0..MAX_CHAIN {
            if let Some(other) = self.header_argument(at) {
                let steps = || self.addends(at, other.next).is_some_and(|steps| steps.iter().all(is_number));
                return at != argument && other.of == header.of && steps();
            }
            let only = match self.function.defining_op(at) {
                Some(op) if self.function.is(op, llvm::AddOp::DEF) => {
                    self.number(self.function.operand(op, 1)).map(|_| self.function.operand(op, 0))
                }
                Some(_) => None,
                None => self.only_incoming(at),
            };
            match only {
                Some(only) => at = only,
                None => return false,
            }
        }
        false
    }

    /// Returns the expression of the next value shifted back by one iteration, if it holds for the
    /// start too.
    fn shifted(&mut self, header: &HeaderArgument) -> Option<ExprId> {
        let next = self.operand_expr(header.next);
        let Expr::AddRec(of, operands) = self.pool.get(next) else { return None };
        let [first, step] = **operands else { return None };
        if *of != header.of {
            return None;
        }
        let before = self.minus(first, step);
        let start = self.operand_expr(header.start);
        (before == start).then(|| self.recurrence(header.of, &[start, step]))
    }

    /// Returns the no-wrap promises about a recurrence of an operation that adds its step.
    pub(super) fn step_flags(&self, next: Value, step: ExprId) -> Flags {
        let Some(op) = self.function.defining_op(next) else { return Flags::NONE };
        let function = self.function;
        if function.is(op, llvm::GEPOp::DEF) {
            let bits = no_wrap_flags(function.op_ref(op));
            let width = self.width_of(next);
            let step = self.as_constant(step).map(|step| signed(width, step));
            let is_up = step.is_some_and(|step| step > 0);
            let nuw = bits & NUW != 0 || (bits & NUSW != 0 && is_up);
            return Flags { nw: nuw || (bits & NUSW != 0 && step.is_some()), nuw, nsw: false };
        }
        let wrap = self.wrap(op);
        // A decreasing `a - b` does not wrap as unsigned, but the equal sum with `-b` wraps.
        let is_sum = !function.is(op, llvm::SubOp::DEF);
        // The least number is its own negation.
        let fits =
            is_sum || self.as_constant(step).is_some_and(|step| step != (mask(self.width_of(next)) >> 1) + 1);
        Flags { nw: wrap.unsigned || wrap.signed, nuw: wrap.unsigned && is_sum, nsw: wrap.signed && fits }
    }

    fn width_of(&self, value: Value) -> u32 {
        self.expr_type(value).map_or(64, ExprType::width)
    }

    /// Returns the no-wrap promises of an operation.
    pub(crate) fn wrap(&self, op: Op) -> Wrap {
        let ctx = self.function.ctx();
        let flags = self.function.attr(op, "overflowFlags");
        if is_disjoint_or(self, op) {
            return Wrap { signed: true, unsigned: true };
        }
        let flags = flags.and_then(|flags| llvm::attributes::OVERFLOW.value(ctx, flags));
        Wrap::from_flags(flags.unwrap_or(0))
    }

    /// Returns the bytes that an address computation adds, as a word of an address's width.
    fn offset(&mut self, op: Op, width: u32) -> Option<ExprId> {
        let (fixed, indices) = byte_offsets(self.function.op_ref(op), &self.data_layout).ok()?;
        let mut terms = vec![self.constant(width, fixed as i128 as u128)];
        for (index, scale) in indices {
            self.expr_type(index)?;
            let index = self.operand_expr(index);
            let index = if self.width(index) < width {
                self.sign_extend(index, width)
            } else {
                self.truncate(index, width)
            };
            let scale = self.constant(width, i128::from(scale) as u128);
            terms.push(self.mul(&[scale, index]));
        }
        Some(self.add(&terms))
    }

    fn result_expr(&mut self, op: Op, value: Value) -> Option<ExprId> {
        let ty = self.expr_type(value)?;
        let width = ty.width();
        let function = self.function;
        if let Some(bits) = self.number(value) {
            return Some(self.constant(width, bits));
        }
        let info = function.info(op);
        let is = |def: &'static loomir_ir::OpDef| info.is(def);
        if is(llvm::ZeroOp::DEF) && ty.is_pointer() {
            return Some(self.constant(width, 0));
        }
        if let Some(part) = self.extracted(op) {
            return Some(self.operand_expr(part));
        }
        if !self.is_followed(op) || function.operands(op).any(|operand| self.expr_type(operand).is_none()) {
            return None;
        }
        let operand = |this: &mut Self, index: usize| this.operand_expr(function.operand(op, index));
        let a = operand(self, 0);
        let cast = [
            (llvm::TruncOp::DEF, Cast::Truncate),
            (llvm::ZExtOp::DEF, Cast::ZeroExtend),
            (llvm::SExtOp::DEF, Cast::SignExtend),
        ];
        if let Some((_, cast)) = cast.iter().find(|(def, _)| is(def)) {
            return Some(self.cast(*cast, a, width));
        }
        if is(llvm::PtrToIntOp::DEF) {
            let number = self.ptr_to_int(a);
            return Some(self.resize(number, width));
        }
        if is(llvm::BitcastOp::DEF) && self.pool.ty(a) == ty {
            return Some(a);
        }
        if is(llvm::GEPOp::DEF) {
            let offset = self.offset(op, width)?;
            return Some(self.add(&[a, offset]));
        }
        if is(llvm::SelectOp::DEF) {
            return self.select_expr(op);
        }
        if function.num_operands(op) != 2 {
            return None;
        }
        let b = operand(self, 1);
        if let Some((_, kind)) = MIN_MAX.iter().find(|(def, _)| is(def)) {
            return Some(self.min_max(*kind, &[a, b]));
        }
        if is(llvm::AddOp::DEF) || is_disjoint_or(self, op) {
            let sum = self.add(&[a, b]);
            self.note_flags(op, value, &[a, b], sum);
            return Some(sum);
        }
        if is(llvm::SubOp::DEF) {
            let difference = self.minus(a, b);
            let is_plain = self.as_constant(b).is_some_and(|b| b != (mask(width) >> 1) + 1);
            if is_plain && self.wrap(op).signed {
                self.note_flags(op, value, &[a, b], difference);
            }
            return Some(difference);
        }
        if is(llvm::MulOp::DEF) {
            let product = self.mul(&[a, b]);
            self.note_flags(op, value, &[a, b], product);
            return Some(product);
        }
        self.bits_expr(op, a, b, width)
    }

    /// Shifts, quotients, remainders and masks.
    fn bits_expr(&mut self, op: Op, a: ExprId, b: ExprId, width: u32) -> Option<ExprId> {
        let info = self.function.info(op);
        let is = |def: &'static loomir_ir::OpDef| info.is(def);
        let by = self.as_constant(b);
        let shift = by.filter(|by| *by < u128::from(width));
        let above_zero = |this: &mut Self, id: ExprId| this.range(id).signed.0 >= 0;
        if is(llvm::UDivOp::DEF) {
            return Some(self.udiv(a, b));
        }
        if is(llvm::SDivOp::DEF) && above_zero(self, a) && above_zero(self, b) {
            return Some(self.udiv(a, b));
        }
        if is(llvm::URemOp::DEF) || (is(llvm::SRemOp::DEF) && above_zero(self, a) && above_zero(self, b)) {
            let bits = by.filter(|by| by.is_power_of_two()).map(u128::trailing_zeros);
            return Some(match bits {
                Some(0) => self.constant(width, 0),
                Some(bits) => {
                    let low = self.truncate(a, bits);
                    self.zero_extend(low, width)
                }
                None => {
                    let quotient = self.udiv(a, b);
                    let product = self.mul(&[quotient, b]);
                    self.minus(a, product)
                }
            });
        }
        if is(llvm::ShlOp::DEF) {
            let factor = self.constant(width, 1 << shift?);
            return Some(self.mul(&[a, factor]));
        }
        if is(llvm::LShrOp::DEF) {
            let divisor = self.constant(width, 1 << shift?);
            return Some(self.udiv(a, divisor));
        }
        if is(llvm::AShrOp::DEF) && above_zero(self, a) {
            let divisor = self.constant(width, 1 << shift?);
            return Some(self.udiv(a, divisor));
        }
        if is(llvm::XOrOp::DEF) && by == Some(mask(width)) {
            let negated = self.negate(a);
            let minus_one = self.constant(width, mask(width));
            return Some(self.add(&[negated, minus_one]));
        }
        if is(llvm::AndOp::DEF)
            && let Some(by) = by
        {
            if by == 0 {
                return Some(b);
            }
            // The mask has set bits behind some zero bits.
            let (zeros, end) = (by.trailing_zeros(), 128 - by.leading_zeros());
            if by >> zeros == mask(end - zeros) {
                let divisor = self.constant(width, 1 << zeros);
                let high = self.udiv(a, divisor);
                let low = self.truncate(high, end - zeros);
                let low = self.zero_extend(low, width);
                let kept = self.mul(&[low, divisor]);
                if zeros > 0 {
                    self.note(kept, Flags { nw: true, nuw: true, nsw: false });
                }
                return Some(kept);
            }
        }
        None
    }

    /// Returns the expression of a selection. A selection by a comparison of its own operands is a
    /// minimum or maximum.
    fn select_expr(&mut self, op: Op) -> Option<ExprId> {
        let function = self.function;
        let [condition, yes, no] = [0, 1, 2].map(|index| function.operand(op, index));
        if let Some(bits) = self.number(condition) {
            return Some(self.operand_expr(if bits == 0 { no } else { yes }));
        }
        let compare = function.defining_op(condition)?;
        let predicate = self.predicate(compare)?;
        let (x, y) = (function.operand(compare, 0), function.operand(compare, 1));
        let (x, y) = (self.expr(x), self.expr(y));
        let (mut yes, mut no) = (self.operand_expr(yes), self.operand_expr(no));
        let mut predicate = predicate;
        if (x, y) == (no, yes) {
            (yes, no) = (no, yes);
            predicate = predicate.inverse();
        }
        // The compared values may have any width. Only the selected values themselves count.
        if (x, y) != (yes, no) {
            return None;
        }
        let kind = match predicate {
            Predicate::Slt | Predicate::Sle => MinMax::SMin,
            Predicate::Sgt | Predicate::Sge => MinMax::SMax,
            Predicate::Ult | Predicate::Ule => MinMax::UMin,
            Predicate::Ugt | Predicate::Uge => MinMax::UMax,
            Predicate::Eq => return Some(no),
            Predicate::Ne => return Some(yes),
        };
        Some(self.min_max(kind, &[yes, no]))
    }

    /// Records the flags of an operation as facts of its expression, if they hold for the
    /// expression.
    fn note_flags(&mut self, op: Op, value: Value, operands: &[ExprId], id: ExprId) {
        let wrap = self.wrap(op);
        let is_sum = !self.function.is(op, llvm::SubOp::DEF);
        if !(wrap.signed || wrap.unsigned) || !self.keeps_terms(op, operands, id) {
            return;
        }
        let flags = Flags { nw: true, nuw: wrap.unsigned && is_sum, nsw: wrap.signed };
        let Some((block, after)) = self.defined_behind(operands) else { return };
        let base =
            operands.iter().copied().find(|operand| matches!(self.pool.get(*operand), Expr::AddRec(..)));
        let base = base.map_or(Flags { nw: true, nuw: true, nsw: true }, |base| self.flags(base));
        let flags = Flags { nw: true, nuw: flags.nuw && base.nuw, nsw: flags.nsw && base.nsw };
        if (flags.nuw || flags.nsw) && self.is_never_poison_after(block, after, value) {
            self.note(id, flags);
        }
    }

    /// True if an expression adds or multiplies the same operands as the operation, so that both
    /// have the same no-wrap facts.
    fn keeps_terms(&self, op: Op, operands: &[ExprId], id: ExprId) -> bool {
        match (self.pool.get(id), operands) {
            // {a,+,s} + c is {a + c,+,s}: each value is the exact sum if the recurrence itself does
            // not wrap.
            (Expr::AddRec(of, sum), [a, b]) if !self.function.is(op, llvm::MulOp::DEF) => {
                let own = |id: &ExprId| matches!(self.pool.get(*id), Expr::AddRec(own, _) if own == of);
                let [recurrence, constant] = if own(a) { [*a, *b] } else { [*b, *a] };
                own(&recurrence) && self.as_constant(constant).is_some() && sum.len() == 2
            }
            (Expr::Add(terms), [a, b]) => {
                terms.len() == 2
                    && [a, b]
                        .iter()
                        .all(|operand| terms.contains(operand) || self.as_constant(**operand).is_some())
            }
            (Expr::Mul(factors), [a, b]) => {
                factors.len() == 2 && [a, b].iter().all(|operand| factors.contains(operand))
            }
            _ => false,
        }
    }

    /// Returns the place behind which all values of an expression are defined: a block, or an
    /// operation in it.
    fn defined_behind(&self, operands: &[ExprId]) -> Option<(loomir_ir::Block, Option<Op>)> {
        let function = self.function;
        let dominators = self.analysis.dominators();
        let entry = self.analysis.block(0);
        let mut last = (entry, None);
        let mut later = |block: loomir_ir::Block, op: Option<Op>| {
            let (node, known) = (self.analysis.number(block), self.analysis.number(last.0));
            if node == known {
                let is_behind = match (op, last.1) {
                    (Some(op), Some(known)) => function.is_before_in_block(known, op),
                    (op, known) => op.is_some() && known.is_none(),
                };
                if is_behind {
                    last = (block, op);
                }
                return true;
            }
            if dominators.dominates(known, node) {
                last = (block, op);
                return true;
            }
            dominators.dominates(node, known)
        };
        for operand in operands {
            let mut pending = vec![*operand];
            while let Some(id) = pending.pop() {
                let expr = self.pool.get(id);
                let is_ordered = match expr {
                    Expr::Unknown(value) => {
                        later(function.value_block(*value)?, function.defining_op(*value))
                    }
                    Expr::AddRec(of, _) => {
                        later(self.analysis.block(self.analysis.loops().get(*of).header()), None)
                    }
                    _ => true,
                };
                if !is_ordered {
                    return None;
                }
                expr.each_operand(&mut |operand| pending.push(operand));
            }
        }
        Some(last)
    }
}

fn is_disjoint_or(scev: &ScalarEvolution<'_>, op: Op) -> bool {
    scev.function.is(op, llvm::OrOp::DEF) && scev.function.attr(op, "isDisjoint").is_some()
}
