//! Operations without effects: numbers, parameters and all others.
//!
//! A value that no loop changes is a parameter, the same in both programs if it is computed alike.
//! The operands of parameters are kept beside them, for where the other program has an operation.

use loomir_dialects::interfaces::MemoryEffects;
use loomir_ir::OpRef;
use loomir_ir::rewrite::constant_of;

use super::super::form::{Atom, Condition, Form};
use super::super::model::{Invariant, Kind, ParamKey, ScopeId, TermId};
use super::numbers::range_of;
use super::{Read, Reader, is_computation, numbers, promises};

impl<'b> Reader<'b, '_> {
    /// Reads an operation without effects.
    pub(super) fn computation(&mut self, op: OpRef<'b>, scope: ScopeId) -> Read<'b, ()> {
        let ctx = op.ctx();
        if op.name() == "arith.select" && numbers::is_buffer(ctx, op.result_type(0)) {
            return self.selected_buffer(op, scope);
        }
        if self.constant(op) {
            return Ok(());
        }
        if op.num_results() == 1
            && let Some(kind) = self.number(op, scope)?
        {
            let term = self.term(kind, scope, op.result_type(0), op);
            self.mark_strict(term, op);
            let operands: Read<'b, Vec<TermId>> =
                op.operands().map(|operand| self.value(operand, op)).collect();
            if let Ok(operands) = operands
                && is_computation(op)
                && op.name() != "llvm.freeze"
                && matches!(self.program.terms[term].kind, Kind::Number(_) | Kind::Truth(_))
            {
                self.program.computed.insert(term, (operands, 0));
            }
            self.bind(op.result(0), term);
            return Ok(());
        }
        if !is_computation(op) {
            return self.refuse(op, format!("'{}' is not modelled", op.name()));
        }
        let operands: Vec<TermId> =
            op.operands().map(|operand| self.value(operand, op)).collect::<Read<'b, _>>()?;
        let invariant = self.invariants(&operands);
        for (index, result) in op.results().enumerate().collect::<Vec<_>>() {
            let ty = op.type_of(result);
            let key = |operands: &[Invariant]| ParamKey::Computed {
                name: op.body().op_name(op.op()),
                properties: op.properties(),
                operands: operands.to_vec(),
                result: index,
                ty,
            };
            let is_param = |operands: &Vec<Invariant>| {
                !promises::is_undefined(op)
                    && (self.is_original || !promises::has_other_promises(op))
                    && (self.is_original || !self.may_be_poison(op) || self.params.knows(&key(operands)))
            };
            let kind = match invariant.as_ref().filter(|operands| is_param(operands)) {
                Some(operands) if ty.integer_width(ctx) == Some(1) => {
                    let truth = self.truth_param(key(operands));
                    if self.is_risk(op, operands) {
                        let forms = truth.holds.iter().flatten().map(|constraint| &constraint.form);
                        forms.for_each(|form| form.for_each_param(&mut |param| self.poison.push(param)));
                    }
                    Kind::Truth(truth)
                }
                Some(operands) if let Some(range) = range_of(ctx, ty) => {
                    let param = self.param(op, key(operands), range);
                    if self.is_risk(op, operands) && !self.params.certain.contains(&param) {
                        self.poison.push(param);
                    }
                    Kind::Number(Form::atom(Atom::Param(param)))
                }
                _ => Kind::Operation { operands: operands.clone(), result: index },
            };
            let is_operation = matches!(kind, Kind::Operation { .. });
            let term = self.term(kind, scope, ty, op);
            if !is_operation {
                self.program.computed.insert(term, (operands.clone(), index));
            }
            self.bind(result, term);
            if index == 0 && self.may_trap(op) {
                self.program.traps.push(term);
            }
        }
        Ok(())
    }

    /// Reads an operation as a constant, if it is one.
    fn constant(&mut self, op: OpRef<'b>) -> bool {
        let ctx = op.ctx();
        let mut results = op.results();
        let (Some(result), None) = (results.next(), results.next()) else { return false };
        let Some(constant) = constant_of(self.body(), result) else { return false };
        let ty = op.type_of(result);
        let kind = match constant.as_int(ctx) {
            Some(value) if ty.integer_width(ctx) == Some(1) => Kind::Truth(Condition::constant(value != 0)),
            Some(value) if range_of(ctx, ty).is_some() => Kind::Number(Form::constant(value)),
            _ => Kind::Constant(constant),
        };
        let term = self.term(kind, 0, ty, op);
        self.bind(result, term);
        true
    }

    /// Marks a choice of the other program whose condition, or what it compares, may be poison.
    fn mark_strict(&mut self, term: TermId, op: OpRef<'b>) {
        if self.is_original || !matches!(self.program.terms[term].kind, Kind::Choice { .. }) {
            return;
        }
        let is_free = match op.name() {
            "arith.select" | "llvm.select" => self.is_never_poison(op.operand(0)),
            _ => op.operands().all(|operand| self.is_never_poison(operand)),
        };
        if !is_free {
            self.program.strict.insert(term);
        }
    }

    /// True if a parameter of the other program may be poison.
    fn is_risk(&self, op: OpRef<'b>, operands: &[Invariant]) -> bool {
        let is_poisoned = || operands.iter().any(|operand| self.is_poisoned_operand(operand));
        !self.is_original && (self.may_be_poison(op) || is_poisoned())
    }

    /// Returns the parameter that an operation computes. Flags are promises, which the other
    /// program need not make.
    fn param(&mut self, op: OpRef<'b>, key: ParamKey, range: (i128, i128)) -> u32 {
        let mut plain = key.clone();
        if let ParamKey::Computed { properties, .. } = &mut plain {
            *properties = properties.without(op.ctx(), "overflowFlags");
        }
        let has_flags = promises::flags(op, "overflowFlags") != 0;
        if !self.is_original
            && !has_flags
            && !self.params.knows(&key)
            && let Some(param) = self.params.flagged(&plain)
        {
            return param;
        }
        let param = self.params.number(key, range);
        if self.is_original && has_flags {
            self.params.drop_flags(plain, param);
        }
        param
    }

    pub(super) fn may_trap(&self, op: OpRef<'_>) -> bool {
        op.info().interface::<dyn MemoryEffects>().is_some_and(|model| model.may_be_undefined(op))
    }

    /// Returns the operands as parts of a parameter's computation, if none varies in a loop.
    fn invariants(&self, operands: &[TermId]) -> Option<Vec<Invariant>> {
        let one = |term: &TermId| {
            let term = &self.program.terms[*term];
            match &term.kind {
                Kind::Number(form) if form.is_invariant() => Some(Invariant::Number(form.clone(), term.ty)),
                Kind::Truth(condition) if condition.is_invariant() => {
                    Some(Invariant::Truth(condition.clone()))
                }
                Kind::Constant(attr) => Some(Invariant::Constant(*attr)),
                Kind::Argument(index) => Some(Invariant::Argument(*index)),
                Kind::Address(index) => Some(Invariant::Address(*index)),
                _ => None,
            }
        };
        operands.iter().map(one).collect()
    }
}
