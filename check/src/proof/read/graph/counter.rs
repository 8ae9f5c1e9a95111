//! Counters of loops, and the tests that end them.
//!
//! The numbers of a loop are first taken to be integers. Over them the test says how often the loop
//! runs. The walk through the body then reads the test again, with what is known of the iterations:
//! if it is the same condition, no number on the way wraps, by induction over the iterations.

use loomir_ir::graph::loops::LoopId;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{OpRef, Value};

use super::super::super::form::{Condition, Constraint, Form};
use super::super::super::model::ScopeId;
use super::super::numbers::{self, NATURAL};
use super::super::{Binding, Read, Reader, defining, words};
use super::Graph;

/// The deepest nesting of operations between a counter and its test.
const MAX_DEPTH: usize = 8;
/// The most sums that make one step of a counter, as unrolling leaves them.
const MAX_CHAIN: usize = 1_100;

/// An argument of a header that goes up or down by a constant.
#[derive(Clone)]
pub(super) struct Counter {
    pub(super) argument: Value,
    /// Its value over the variable of the loop.
    pub(super) form: Form,
    /// True if its flags say that counting does not wrap.
    pub(super) is_flagged: bool,
    /// True if its flags say so of unsigned numbers.
    is_unsigned: bool,
}

/// The test of a loop, which goes on while each of these is at least zero. They fall in each
/// iteration.
pub(super) struct Test<'b> {
    /// The condition under which the loop goes on.
    pub(super) condition: Condition,
    pub(super) rooms: Vec<Form>,
    /// The difference that is compared with zero, if numbers that may wrap are compared.
    modulo: Option<(Form, u32)>,
    steps: Vec<Step<'b>>,
    used: Vec<Counter>,
}

/// An operation between a counter and its test, with its result and operands over the integers.
struct Step<'b> {
    op: OpRef<'b>,
    form: Form,
    operands: [Form; 2],
}

/// The numbers that a test compares, while they are looked for.
struct Search<'s, 'b> {
    graph: &'s Graph<'b>,
    own: LoopId,
    counters: &'s [Counter],
    /// True if numbers from before the loop may wrap, too.
    is_modulo: bool,
    /// True if numbers from before the loop were taken apart.
    is_apart: bool,
    /// True if a counter is compared that is poison where it wraps, and each step to the test is.
    is_certain: bool,
    /// True if a number is cut, or extended as unsigned, on the way.
    is_cast: bool,
    used: Vec<Counter>,
    steps: Vec<Step<'b>>,
}

impl<'b> Reader<'b, '_> {
    /// Returns the counter that an argument of a header is.
    pub(super) fn counter(
        &self,
        argument: Value,
        first: &Binding,
        next: Value,
        depth: usize,
    ) -> Option<Counter> {
        let body = self.body();
        numbers::range_of(body.ctx(), body.value_type(argument))?;
        let Binding::Term(first) = first else { return None };
        let first = self.form_of(*first)?.clone();
        let (mut value, mut step) = (next, 0i64);
        let (mut is_flagged, mut is_unsigned) = (true, true);
        for _ in 0..MAX_CHAIN {
            let op = defining(body, value).filter(|op| op.num_operands() == 2)?;
            let constant = |index: usize| constant_of(body, op.operand(index))?.as_int(body.ctx());
            let (from, by) = match (words::name(op)?, constant(1)) {
                ("addi", Some(by)) => (op.operand(0), by),
                ("addi", None) => (op.operand(1), constant(0)?),
                ("subi", Some(by)) => (op.operand(0), by.checked_neg()?),
                _ => return None,
            };
            step = step.checked_add(by)?;
            is_flagged &= numbers::has_no_signed_wrap(op);
            is_unsigned &= words::bits(op, "overflowFlags") & 2 != 0;
            if from == argument {
                let form = first.plus(&Form::dim(depth).times(step)?)?;
                return Some(Counter { argument, form, is_flagged, is_unsigned });
            }
            value = from;
        }
        None
    }

    /// Returns the test of a loop over the integers.
    pub(super) fn test(
        &mut self,
        graph: &Graph<'b>,
        own: LoopId,
        counters: &[Counter],
        end: OpRef<'b>,
        goes_on_if: bool,
        scope: ScopeId,
    ) -> Read<'b, Test<'b>> {
        let depth = self.scope(scope).depth();
        let body = self.body();
        if let Some(known) = constant_of(body, end.operand(0)).and_then(|known| known.as_int(body.ctx())) {
            if (known != 0) == goes_on_if {
                return self.refuse(end, "the loop is never left");
            }
            let (condition, rooms) = (Condition::constant(false), vec![Form::constant(-1)]);
            return Ok(Test { condition, rooms, modulo: None, steps: Vec::new(), used: Vec::new() });
        }
        let Some(op) =
            defining(body, end.operand(0)).filter(|op| matches!(op.name(), "llvm.icmp" | "arith.cmpi"))
        else {
            return self.refuse(end, "the loop does not end by a comparison of integers");
        };
        let is_modulo = matches!(numbers::predicate(op).as_deref(), Some("eq" | "ne"));
        let mut search = Search {
            graph,
            own,
            counters,
            is_modulo,
            is_apart: false,
            is_certain: true,
            is_cast: false,
            used: Vec::new(),
            steps: Vec::new(),
        };
        let sides = [0, 1].map(|index| self.integer(&mut search, op.operand(index), 0));
        let [Some(a), Some(b)] = sides else {
            return self.refuse(op, "the bound of the loop is not affine, or nothing counts towards it");
        };
        let predicate = numbers::predicate(op).unwrap_or_default();
        let counts_unsigned = is_modulo && search.used.iter().all(|own| own.is_unsigned && !own.is_flagged);
        if predicate.starts_with('u') && !words::is_same_sign(op) || counts_unsigned {
            self.assume_unsigned(&[&a, &b], op, scope);
        }
        let Some(difference) = a.minus(&b) else { return self.refuse(op, "the bound is too large a sum") };
        let holds = numbers::compared(op, &a, &b);
        let Some(condition) = holds.map(|holds| if goes_on_if { holds } else { holds.not() }) else {
            return self.refuse(op, "the comparison is not understood");
        };
        if difference.has_dim_in_quotient(depth) {
            return self.refuse(op, "the counter of the loop is divided in its test");
        }
        let rooms: Vec<Form> = if let ([all], false) = (&condition.holds[..], is_equality(&condition.holds)) {
            all.iter().map(|constraint| constraint.form.clone()).collect()
        } else if condition.holds.is_empty() {
            vec![Form::constant(-1)]
        } else if is_equality(&condition.fails) {
            let is_flagged = !search.used.is_empty() && search.is_certain && !search.is_apart;
            vec![self.room_to(&difference, depth, is_flagged, scope, op)?]
        } else {
            return self.refuse(op, "the loop may go on at a single iteration");
        };
        let falls = |room: &Form| room.factor_of_dim(depth) <= 0;
        let ends = rooms.iter().any(|room| room.factor_of_dim(depth) < 0 || room.as_constant() == Some(-1));
        if !rooms.iter().all(falls) || !ends {
            return self.refuse(op, "the loop is not known to end: nothing counts towards its bound");
        }
        let width = body.value_type(op.operand(0)).integer_width(body.ctx());
        let modulo = width.filter(|_| search.is_apart && !search.is_cast).map(|width| (difference, width));
        Ok(Test { condition, rooms, modulo, steps: search.steps, used: search.used })
    }

    /// True if numbers that may wrap are equal only if the integers are that they stand for: these
    /// are less than one turn apart, and no step breaks a promise.
    pub(super) fn is_exact_modulo(&mut self, test: &Test<'b>, inside: ScopeId) -> bool {
        let Some((difference, width)) = &test.modulo else { return false };
        if !(2..=64).contains(width) {
            return false;
        }
        let turn = 1i128 << width;
        if self.may_leave(difference, inside, (1 - turn, turn - 1)) {
            return false;
        }
        for counter in &test.used {
            let ty = self.body().value_type(counter.argument);
            if self.counted(counter, ty, inside).is_none() {
                return false;
            }
        }
        test.steps.iter().all(|step| {
            let ty = step.op.result_type(0);
            let is_ring = matches!(step.op.name(), "llvm.add" | "llvm.sub" | "llvm.mul" | "llvm.shl");
            let flags = words::bits(step.op, "overflowFlags");
            let is_kept = self.is_original
                || (flags & 1 == 0 || self.fitting(step.form.clone(), inside, ty).is_some())
                    && (flags & 2 == 0
                        || !self.may_leave(&step.form, inside, (0, turn - 1))
                            && step.operands.iter().all(|own| !self.may_leave(own, inside, NATURAL)));
            is_ring && is_kept && ty.integer_width(step.op.ctx()) == Some(*width)
        })
    }

    /// Assumes that a bound of the original which is compared as unsigned is less than 2^63.
    fn assume_unsigned(&mut self, sides: &[&Form; 2], op: OpRef<'b>, scope: ScopeId) {
        // The function around a call may use the same number as signed.
        let is_called = self.calls > 0;
        if !self.is_original || is_called || op.operand_type(0).integer_width(op.ctx()) != Some(64) {
            return;
        }
        for (index, side) in sides.iter().enumerate() {
            let is_unsigned = side.is_param() && self.is_unsigned_alone(op.operand(index));
            if is_unsigned && self.may_leave(side, scope, NATURAL) {
                let fact = Constraint::at_least_zero((*side).clone());
                for case in &mut self.program.scopes[scope].domain {
                    case.push(fact.clone());
                }
                self.params.promised.push(fact);
                self.program.assumed_bounds = true;
            }
        }
    }

    /// True if no use of a number takes it as signed, or as a value.
    fn is_unsigned_alone(&self, value: Value) -> bool {
        let body = self.body();
        body.uses(value).map(|user| body.op_ref(user.op)).all(|user| match user.name() {
            "llvm.icmp" => !numbers::predicate(user).is_none_or(|own| own.starts_with('s')),
            "llvm.add" | "llvm.sub" | "llvm.and" | "llvm.lshr" | "llvm.udiv" | "llvm.urem"
            | "llvm.intr.umin" | "llvm.intr.umax" => true,
            _ => false,
        })
    }

    /// Returns what falls below zero when a difference is zero first. It has to become zero.
    fn room_to(
        &mut self,
        difference: &Form,
        depth: usize,
        is_flagged: bool,
        scope: ScopeId,
        op: OpRef<'b>,
    ) -> Read<'b, Form> {
        let step = difference.factor_of_dim(depth);
        let start = difference.with_dim(depth, &Form::default());
        let distance = start.and_then(|start| if step > 0 { start.times(-1) } else { Some(start) });
        let (Some(distance), Some(width)) = (distance.filter(|_| step != 0), step.checked_abs()) else {
            return self.refuse(op, "the loop is not known to end: nothing counts towards its bound");
        };
        let is_hit = width == 1 || distance.modulo(width).and_then(|rest| rest.as_constant()) == Some(0);
        if !is_hit {
            return self.refuse(op, "the counter may step over the bound that it is compared with");
        }
        if self.may_leave(&distance, scope, NATURAL) {
            // In the original the counter would wrap, be poison, and be compared.
            if !(self.is_original && is_flagged) {
                return self.refuse(op, "the counter may be beyond the bound that it is compared with");
            }
            if distance.is_invariant() && self.always_runs(scope) {
                self.params.promised.push(Constraint::at_least_zero(distance.clone()));
            }
        }
        let room = Form::dim(depth).times(-width).and_then(|all| distance.plus(&all)?.offset(-1));
        match room {
            Some(room) => Ok(room),
            None => self.refuse(op, "the bound is too large a sum"),
        }
    }

    /// True if the first iteration of a scope is there for all parameters that the original allows,
    /// as the promises say that are known.
    fn always_runs(&mut self, scope: ScopeId) -> bool {
        let scope = self.scope(scope).clone();
        let depth = scope.depth();
        scope.guards.is_empty()
            && scope.domain.iter().any(|case| case.iter().all(|own| self.holds_at_first(own, depth)))
    }

    fn holds_at_first(&mut self, constraint: &Constraint, depth: usize) -> bool {
        let zero = Form::default();
        let first = (0..depth).try_fold(constraint.form.clone(), |form, dim| form.with_dim(dim, &zero));
        let Some(form) = first else { return false };
        if constraint.equality {
            return form.as_constant() == Some(0);
        }
        let promised = self.params.promised.clone();
        !self.may_leave_in(&form, &promised, 0, (0, i128::MAX))
    }

    /// Returns an integer as a form, as if nothing wrapped.
    fn integer(&self, search: &mut Search<'_, 'b>, value: Value, depth: usize) -> Option<Form> {
        let body = self.body();
        if let Some(counter) = search.counters.iter().find(|counter| counter.argument == value) {
            search.used.push(counter.clone());
            search.is_certain &= counter.is_flagged;
            return Some(counter.form.clone());
        }
        if let Some(constant) = constant_of(body, value) {
            return constant.as_int(body.ctx()).map(Form::constant);
        }
        let op = defining(body, value).filter(|_| depth < MAX_DEPTH);
        if body.value_block(value).is_none_or(|block| !search.graph.contains(search.own, block)) {
            let form = self.form(value)?.clone();
            // A sum that may wrap is a number of its own. Comparisons may do with less.
            if search.is_modulo
                && form.is_param()
                && let Some(op) = op.filter(|op| matches!(op.name(), "llvm.add" | "llvm.sub"))
                && let Some(sum) = self.sum(search, op, depth)
            {
                search.is_apart = true;
                return Some(sum);
            }
            return Some(form);
        }
        let op = op?;
        match words::name(op) {
            Some("extsi") => self.integer(search, op.operand(0), depth + 1),
            Some("extui" | "trunci" | "index_cast" | "index_castui") => {
                (search.is_certain, search.is_cast) = (false, true);
                self.integer(search, op.operand(0), depth + 1)
            }
            _ => self.sum(search, op, depth),
        }
    }

    /// Returns a sum or product of integers as a form.
    fn sum(&self, search: &mut Search<'_, 'b>, op: OpRef<'b>, depth: usize) -> Option<Form> {
        if op.num_operands() != 2 {
            return None;
        }
        let a = self.integer(search, op.operand(0), depth + 1)?;
        let b = self.integer(search, op.operand(1), depth + 1)?;
        let form = match (words::name(op), op.name()) {
            (_, "llvm.shl") => a.times(1i64 << b.as_constant().filter(|by| (0..62).contains(by))?)?,
            (Some("addi"), _) => a.plus(&b)?,
            (Some("subi"), _) => a.minus(&b)?,
            (Some("muli"), _) => match (a.as_constant(), b.as_constant()) {
                (Some(factor), _) => b.times(factor)?,
                (_, Some(factor)) => a.times(factor)?,
                _ => return None,
            },
            _ => return None,
        };
        search.is_certain &= numbers::has_no_signed_wrap(op);
        search.steps.push(Step { op, form: form.clone(), operands: [a, b] });
        Some(form)
    }
}

/// True if the one case is that a form is zero.
fn is_equality(cases: &[Vec<Constraint>]) -> bool {
    matches!(cases, [case] if matches!(&case[..], [constraint] if constraint.equality))
}
