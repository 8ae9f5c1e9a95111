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

/// An argument of a header that goes up or down by a constant.
#[derive(Clone)]
pub(super) struct Counter {
    pub(super) argument: Value,
    /// Its value over the variable of the loop.
    pub(super) form: Form,
    /// True if its flags say that counting does not wrap.
    pub(super) is_flagged: bool,
}

/// How often a loop goes on: while each of these is at least zero. They fall in each iteration.
pub(super) struct Test {
    /// The condition under which the loop goes on.
    pub(super) condition: Condition,
    pub(super) rooms: Vec<Form>,
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
        let op = defining(body, next)?;
        let constant = |value: Value| constant_of(body, value)?.as_int(body.ctx());
        let step = match (words::name(op)?, op.operand(0) == argument) {
            ("addi", true) => constant(op.operand(1))?,
            ("addi", false) if op.operand(1) == argument => constant(op.operand(0))?,
            ("subi", true) => constant(op.operand(1))?.checked_neg()?,
            _ => return None,
        };
        let form = first.plus(&Form::dim(depth).times(step)?)?;
        Some(Counter { argument, form, is_flagged: numbers::has_no_signed_wrap(op) })
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
    ) -> Read<'b, Test> {
        let depth = self.scope(scope).depth();
        let body = self.body();
        if let Some(known) = constant_of(body, end.operand(0)).and_then(|known| known.as_int(body.ctx())) {
            if (known != 0) == goes_on_if {
                return self.refuse(end, "the loop is never left");
            }
            return Ok(Test { condition: Condition::constant(false), rooms: vec![Form::constant(-1)] });
        }
        let Some(op) =
            defining(body, end.operand(0)).filter(|op| matches!(op.name(), "llvm.icmp" | "arith.cmpi"))
        else {
            return self.refuse(end, "the loop does not end by a comparison of integers");
        };
        let mut used = Vec::new();
        let sides = [0, 1].map(|index| self.integer(graph, own, counters, op.operand(index), 0, &mut used));
        let [Some(a), Some(b)] = sides else {
            return self.refuse(op, "the bound of the loop is not affine, or nothing counts towards it");
        };
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
            let is_flagged = !used.is_empty() && used.iter().all(|counter: &Counter| counter.is_flagged);
            vec![self.room_to(&difference, depth, is_flagged, scope, op)?]
        } else {
            return self.refuse(op, "the loop may go on at a single iteration");
        };
        let falls = |room: &Form| room.factor_of_dim(depth) <= 0;
        let ends = rooms.iter().any(|room| room.factor_of_dim(depth) < 0 || room.as_constant() == Some(-1));
        if !rooms.iter().all(falls) || !ends {
            return self.refuse(op, "the loop is not known to end: nothing counts towards its bound");
        }
        Ok(Test { condition, rooms })
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
            if scope == 0 && distance.is_invariant() {
                self.params.promised.push(Constraint::at_least_zero(distance.clone()));
            }
        }
        let room = Form::dim(depth).times(-width).and_then(|all| distance.plus(&all)?.offset(-1));
        match room {
            Some(room) => Ok(room),
            None => self.refuse(op, "the bound is too large a sum"),
        }
    }

    /// Returns an integer of a loop's body as a form, as if nothing wrapped.
    fn integer(
        &self,
        graph: &Graph<'b>,
        own: LoopId,
        counters: &[Counter],
        value: Value,
        depth: usize,
        used: &mut Vec<Counter>,
    ) -> Option<Form> {
        let body = self.body();
        if let Some(counter) = counters.iter().find(|counter| counter.argument == value) {
            used.push(counter.clone());
            return Some(counter.form.clone());
        }
        if let Some(constant) = constant_of(body, value) {
            return constant.as_int(body.ctx()).map(Form::constant);
        }
        if body.value_block(value).is_none_or(|block| !graph.contains(own, block)) {
            return self.form(value).cloned();
        }
        let op = defining(body, value).filter(|_| depth < MAX_DEPTH)?;
        let mut operand =
            |index: usize| self.integer(graph, own, counters, op.operand(index), depth + 1, used);
        if op.name() == "llvm.shl" {
            let (a, by) = (operand(0)?, operand(1)?.as_constant().filter(|by| (0..62).contains(by))?);
            return a.times(1i64 << by);
        }
        match words::name(op)? {
            "addi" => operand(0)?.plus(&operand(1)?),
            "subi" => operand(0)?.minus(&operand(1)?),
            "muli" => {
                let (a, b) = (operand(0)?, operand(1)?);
                match (a.as_constant(), b.as_constant()) {
                    (Some(factor), _) => b.times(factor),
                    (_, Some(factor)) => a.times(factor),
                    _ => None,
                }
            }
            "extsi" | "extui" | "trunci" | "index_cast" | "index_castui" => operand(0),
            _ => None,
        }
    }
}

/// True if the one case is that a form is zero.
fn is_equality(cases: &[Vec<Constraint>]) -> bool {
    matches!(cases, [case] if matches!(&case[..], [constraint] if constraint.equality))
}
