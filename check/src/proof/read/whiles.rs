//! `scf.while` that counts: one value goes up by a constant as long as it is less than a bound.
//!
//! The loop is read as a counted one. The operations before the condition run once more than the
//! body, so they are read twice: in the body's scope, and behind the loop with its last values.

use loomir_dialects::interfaces::{Bound, LoopBounds, Step};
use loomir_ir::{Block, OpRef, Value};

use super::super::form::Form;
use super::super::model::{Kind, ScopeId, TermId};
use super::numbers::has_no_signed_wrap;
use super::{Binding, Read, Reader, defining, is_computation};

/// The parts of a loop that counts.
struct Counting {
    /// The position of the counter among the carried values.
    counter: usize,
    upper: Value,
    step: i64,
    /// True if the loop runs for the bound itself, too.
    is_inclusive: bool,
    /// True if the counter and the bound are compared as unsigned.
    is_unsigned: bool,
    /// True if its flags say that counting does not wrap.
    is_flagged: bool,
}

impl<'b> Reader<'b, '_> {
    pub(super) fn while_loop(&mut self, op: OpRef<'b>, scope: ScopeId) -> Read<'b, ()> {
        let body = self.body();
        let blocks = [0, 1].map(|index| body.single_block(op.region(index)));
        let [Some(before), Some(after)] = blocks else {
            return self.refuse(op, "a region of the loop is not one block");
        };
        let Some(counting) = self.counting(before, after) else {
            return self.refuse(op, "'scf.while' is modelled only where it counts up to a bound");
        };
        let inits: Vec<TermId> = op.operands().map(|init| self.value(init, op)).collect::<Read<'b, _>>()?;
        let arguments: Vec<Value> = body.arguments(before).collect();
        if body.value_block(counting.upper) == Some(before)
            && let Some(constant) = defining(body, counting.upper)
        {
            self.operation(constant, scope)?;
        }
        let bounds = LoopBounds {
            lower: Bound::Value(op.operand(counting.counter)),
            upper: Bound::Value(counting.upper),
            step: Step::Constant(counting.step),
        };
        if counting.is_unsigned && !self.is_natural(&bounds, scope, op)? {
            return self.refuse(op, "the loop compares its variable as unsigned");
        }
        let around = match counting.is_inclusive {
            true => self.open_through(op, &bounds, counting.step, scope)?,
            false => self.open_loop(op, &bounds, scope)?,
        };
        let inside = self.program.loops[around].inside;
        let variable = Form::dim(self.scope(scope).depth());
        let ty = body.value_type(arguments[counting.counter]);
        // In the original a counter that wraps is poison, and its use as a condition undefined.
        let is_exact = counting.is_flagged && self.is_original;
        let next = variable
            .offset(counting.step)
            .and_then(|next| if is_exact { Some(next) } else { self.fitting(next, inside, ty) });
        let Some(next) = next else { return self.refuse(op, "the counter of the loop may wrap") };
        for (index, argument) in arguments.iter().enumerate() {
            let kind = match index == counting.counter {
                true => Kind::Number(variable.clone()),
                false => Kind::Carried { around, index },
            };
            let term = self.term(kind, inside, body.value_type(*argument), op);
            self.bind(*argument, term);
        }
        let forwarded = self.condition(op, before, inside)?;
        for (argument, binding) in body.arguments(after).zip(forwarded) {
            self.bindings[argument.index()] = binding;
        }
        self.block(after, inside)?;
        let mut yields = self.yielded(op.region(1), op)?;
        if yields.len() != inits.len() {
            return self.refuse(op, "the loop does not yield its carried values");
        }
        yields[counting.counter] = self.term(Kind::Number(next), inside, ty, op);
        self.program.loops[around].inits = inits;
        self.program.loops[around].yields = yields;
        for (index, argument) in arguments.iter().enumerate() {
            let kind = Kind::Exit { of: around, index };
            let term = self.term(kind, scope, body.value_type(*argument), op);
            self.bind(*argument, term);
        }
        let results = self.condition(op, before, scope)?;
        for (result, binding) in op.results().zip(results) {
            self.bindings[result.index()] = binding;
        }
        Ok(())
    }

    /// Reads what stands before the condition; returns what is passed on behind it.
    fn condition(&mut self, op: OpRef<'b>, before: Block, scope: ScopeId) -> Read<'b, Vec<Binding>> {
        self.block(before, scope)?;
        let body = self.body();
        let Some(end) = body.terminator(before) else { return self.refuse(op, "the loop has no condition") };
        Ok(body.operands(end).skip(1).map(|value| self.bindings[value.index()].clone()).collect())
    }

    /// Returns the counter of a loop whose condition only computes.
    fn counting(&self, before: Block, after: Block) -> Option<Counting> {
        let body = self.body();
        let (condition, end) = (body.terminator(before)?, body.terminator(after)?);
        let is_harmless = |op: OpRef<'_>| is_computation(op) && !self.may_trap(op);
        if !body.ops(before).all(|op| op == condition || is_harmless(body.op_ref(op))) {
            return None;
        }
        let test = defining(body, body.operand(condition, 0))?;
        let predicate = test.attr("predicate")?.as_int(test.ctx())?;
        // slt, sle, ult and ule as they stand; sgt, sge, ugt and uge the other way round.
        let (counter, upper) = match (test.name(), predicate) {
            ("arith.cmpi", 2 | 3 | 6 | 7) => (test.operand(0), test.operand(1)),
            ("arith.cmpi", 4 | 5 | 8 | 9) => (test.operand(1), test.operand(0)),
            _ => return None,
        };
        let (is_inclusive, is_unsigned) = (predicate % 2 == 1, predicate >= 6);
        let counter = body.arguments(before).position(|argument| argument == counter)?;
        // The bound is known before the loop.
        let is_constant = || loomir_ir::rewrite::constant_of(body, upper).is_some();
        match body.value_block(upper) == Some(before) {
            true => is_constant().then_some(())?,
            false => self.form(upper).map(|_| ())?,
        }
        let yielded = body.operand(end, counter);
        // The next value is computed in the body, or before the condition and passed on.
        let forwarded = body
            .arguments(after)
            .position(|argument| argument == yielded)
            .map(|index| body.operand(condition, index + 1));
        let next = defining(body, forwarded.unwrap_or(yielded)).filter(|next| next.name() == "arith.addi")?;
        let constant = |value: Value| {
            loomir_ir::rewrite::constant_of(body, value)?.as_int(body.ctx()).filter(|step| *step > 0)
        };
        let passed = |value: Value| {
            if value == body.argument(before, counter) {
                return Some(());
            }
            let index = body.arguments(after).position(|argument| argument == value)?;
            (body.operand(condition, index + 1) == body.argument(before, counter)).then_some(())
        };
        let step = match (passed(next.operand(0)), passed(next.operand(1))) {
            (Some(()), _) => constant(next.operand(1))?,
            (_, Some(())) => constant(next.operand(0))?,
            _ => return None,
        };
        Some(Counting {
            counter,
            upper,
            step,
            is_inclusive,
            is_unsigned,
            is_flagged: has_no_signed_wrap(next),
        })
    }
}
