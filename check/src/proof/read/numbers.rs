//! Integers and truth values as forms and conditions.
//!
//! Machine arithmetic is a form only where it provably does not wrap: by its flags in the original,
//! by the iteration domain and the ranges of parameters elsewhere. Arithmetic on `index` that can
//! be shown neither way is taken to be exact; the program then says that it assumed so.

use loomir_dialects::interfaces::Subscripts;
use loomir_ir::affine::AffineExprKind;
use loomir_ir::{AffineExpr, AffineMap, Context, OpRef, Type, TypeKind, Value};
use loomir_polyhedra::{Affine, Conjunction};

use super::super::form::{Atom, Cases, Condition, Constraint, Form, both};
use super::super::model::{Kind, ParamKey, ScopeId, TermId};
use super::bits::masked;
use super::{Binding, Read, Reader, promises, words};
pub(super) use words::{NATURAL, has_no_signed_wrap};

/// A bound of numbers that may be outside of their type.
const ANY: i128 = 1 << 100;
/// The most numbers of which the least or greatest is looked for.
const MAX_COMPARED: usize = 4;

/// Returns the signed range of an integer type of 2 to 128 bits, or of `index`.
pub(super) fn range_of(ctx: &Context, ty: Type) -> Option<(i128, i128)> {
    let width = if ty.is_index() { 64 } else { ty.integer_width(ctx)? };
    if !ty.is_index() && !ty.is_signless_integer(ctx) {
        return None;
    }
    (2..=128).contains(&width).then(|| (i128::MIN >> (128 - width), i128::MAX >> (128 - width)))
}

pub(super) fn is_buffer(ctx: &Context, ty: Type) -> bool {
    matches!(ty.kind(ctx), TypeKind::MemRef { shape: Some(_), .. })
}

pub(super) fn is_unranked_buffer(ctx: &Context, ty: Type) -> bool {
    matches!(ty.kind(ctx), TypeKind::MemRef { shape: None, .. })
}

impl<'b> Reader<'b, '_> {
    /// True if a form may have a value outside of a range in some iteration of a scope.
    pub(super) fn may_leave(&mut self, form: &Form, scope: ScopeId, (least, greatest): (i128, i128)) -> bool {
        if let Some(value) = form.as_constant() {
            return i128::from(value) < least || i128::from(value) > greatest;
        }
        let scope = self.scope(scope).clone();
        scope.domain.iter().any(|case| self.may_leave_in(form, case, scope.depth(), (least, greatest)))
    }

    /// True if a form over the variables of `depth` loops may have a value outside of a range where
    /// some constraints hold.
    pub(super) fn may_leave_in(
        &mut self,
        form: &Form,
        case: &[Constraint],
        depth: usize,
        (least, greatest): (i128, i128),
    ) -> bool {
        let count = self.params.len();
        let mut set = Conjunction::new(count + depth);
        let mut used = Vec::new();
        form.for_each_param(&mut |param| used.push(param));
        for constraint in case {
            constraint.form.for_each_param(&mut |param| used.push(param));
            constraint.add_to(&mut set, count);
        }
        for constraint in self.params.definitions(&mut used) {
            constraint.add_to(&mut set, count);
        }
        used.sort_unstable();
        used.dedup();
        used.iter().for_each(|param| self.params.bound(&mut set, *param));
        let value = form.expression(&mut set, count);
        let mut outside = Vec::new();
        if least > i128::MIN {
            let mut below = set.clone();
            below.add_lt(value.clone(), Affine::constant(least));
            outside.push(below);
        }
        if greatest < i128::MAX {
            set.add_gt(value, Affine::constant(greatest));
            outside.push(set);
        }
        outside.iter().any(|outside| !self.solver.is_empty(outside).unwrap_or(false))
    }

    /// Returns a form that provably stays in the range of a type.
    pub(super) fn fitting(&mut self, form: Form, scope: ScopeId, ty: Type) -> Option<Form> {
        let range = range_of(self.body().ctx(), ty)?;
        (!self.may_leave(&form, scope, range)).then_some(form)
    }

    /// Returns a number that arithmetic of type `ty` yields, if it is exact.
    pub(super) fn exact(
        &mut self,
        form: Form,
        scope: ScopeId,
        ty: Type,
        flagged: bool,
        op: OpRef<'b>,
    ) -> Option<Form> {
        let range = range_of(self.body().ctx(), ty)?;
        if !self.may_leave(&form, scope, range) {
            return Some(form);
        }
        if flagged && self.is_original {
            // The other program, which has to show that it does not wrap, may keep it as it is.
            let is_kept = op.name().starts_with("llvm.")
                && form.is_invariant()
                && op.num_results() == 1
                && self.is_value_alone(op.result(0));
            return (!is_kept).then_some(form);
        }
        let is_address = ty.is_index()
            || op.name() != "llvm.getelementptr"
                && op.num_results() == 1
                && op.name().starts_with("llvm.")
                && self.is_address_alone(op.result(0));
        if is_address && !ty.is_index() {
            self.program.assumed_subscripts = true;
            return Some(form);
        }
        if is_address {
            self.program.assumed_exact.get_or_insert(op);
            return Some(form);
        }
        None
    }

    /// Reads an operation on integers or truth values; `None` if its result is neither.
    pub(super) fn number(&mut self, op: OpRef<'b>, scope: ScopeId) -> Read<'b, Option<Kind>> {
        let (ctx, name) = (op.ctx(), op.name());
        match name {
            "affine.apply" | "affine.min" | "affine.max" => {
                let map = op.attr("map").and_then(|attr| attr.as_affine_map(ctx));
                let operands: Vec<Value> = op.operands().collect();
                let Some(mut forms) = map.and_then(|map| self.apply(map, &operands)) else {
                    return self.refuse(op, "the map is not affine in loop variables and parameters");
                };
                for form in &forms {
                    self.exact(form.clone(), scope, Type::INDEX, true, op);
                }
                for operand in &operands {
                    let form = self.form(*operand).cloned().unwrap_or_default();
                    if forms.iter().all(|own| self.forgets_poison([&form, &form], own)) {
                        return self.refuse(op, "the map leaves out a number that may be poison");
                    }
                }
                if name == "affine.apply" {
                    return Ok(forms.pop().map(Kind::Number));
                }
                return Ok(self.extreme(forms, name == "affine.min", scope, Type::INDEX, op));
            }
            "arith.select" | "llvm.select" if op.operand_type(0).integer_width(ctx) == Some(1) => {
                if !self.is_original && self.may_be_poison(op) {
                    return self.refuse(op, "the choice may be poison by its flags");
                }
                if !self.is_original && promises::ignores_signs(op) {
                    return self.refuse(op, "the choice may change the sign of zero by its flags");
                }
                return self.selection(op).map(Some);
            }
            // Frozen is what it is, unless it may be poison. Each freeze of poison is another
            // number, so the other program may freeze one at most.
            "llvm.freeze" => {
                if !self.may_freeze(op.operand(0), scope) {
                    return self.refuse(op, "what is frozen may be poison, and another number each time");
                }
                // In the original frozen poison is some number, of which nothing is known.
                if !self.is_never_poison(op.operand(0)) {
                    self.params.freezes |= self.is_original;
                    if self.params.freezes {
                        return Ok(None);
                    }
                }
                let operand = self.value(op.operand(0), op)?;
                let frozen = self.program.terms[operand].kind.clone();
                return Ok(matches!(frozen, Kind::Number(_) | Kind::Truth(_)).then_some(frozen));
            }
            "arith.cmpi" | "index.cmp" | "llvm.icmp" => {
                return Ok(self.comparison(op, scope).map(Kind::Truth));
            }
            _ => {}
        }
        if op.result_type(0).integer_width(ctx) == Some(1) {
            return Ok(self.formula(op).map(Kind::Truth));
        }
        Ok(self.arithmetic(op, scope))
    }

    pub(super) fn truth(&self, value: Value) -> Option<&Condition> {
        match &self.bindings[value.index()] {
            Binding::Term(term) => match &self.program.terms[*term].kind {
                Kind::Truth(condition) => Some(condition),
                _ => None,
            },
            _ => None,
        }
    }

    fn formula(&self, op: OpRef<'_>) -> Option<Condition> {
        if op.num_operands() != 2 {
            return None;
        }
        // One truth decides nothing where the other one may be poison.
        if !self.is_original && !op.operands().all(|operand| self.is_never_poison(operand)) {
            return None;
        }
        if !self.is_original && self.may_be_poison(op) {
            return None;
        }
        let (a, b) = (self.truth(op.operand(0))?, self.truth(op.operand(1))?);
        match op.name() {
            "arith.andi" | "llvm.and" => a.and(b),
            "arith.ori" | "llvm.or" => a.or(b),
            "arith.xori" | "llvm.xor" => a.xor(b),
            _ => None,
        }
    }

    fn comparison(&mut self, op: OpRef<'_>, scope: ScopeId) -> Option<Condition> {
        let ctx = op.ctx();
        range_of(ctx, op.operand_type(0))?;
        let (a, b) = (self.form_in(op.operand(0), scope)?, self.form_in(op.operand(1), scope)?);
        let predicate = predicate(op)?;
        if self.forgets_poison([&a, &b], &a.minus(&b)?) {
            return None;
        }
        // In the original, operands of different signs are poison then.
        let is_promised = words::is_same_sign(op) && self.is_original;
        if (predicate.starts_with('u') || words::is_same_sign(op))
            && !is_promised
            && (self.may_leave(&a, scope, NATURAL) || self.may_leave(&b, scope, NATURAL))
        {
            return self.unsigned(&predicate, &a, &b, scope);
        }
        compared(op, &a, &b)
    }

    /// Returns an unsigned comparison of which one number may be negative. As unsigned a negative
    /// number is greater than all others.
    fn unsigned(&mut self, predicate: &str, a: &Form, b: &Form, scope: ScopeId) -> Option<Condition> {
        let natural = |form: &Form| Condition::all(vec![Constraint::at_least_zero(form.clone())]);
        let below = |a: &Form, b: &Form, by: i64| {
            Condition::all(vec![Constraint::at_least_zero(b.minus(a)?.offset(-by)?)])
        };
        let (a, b, by) = match predicate {
            "ult" => (a, b, 1),
            "ule" => (a, b, 0),
            "ugt" => (b, a, 1),
            "uge" => (b, a, 0),
            _ => return None,
        };
        if !self.may_leave(b, scope, NATURAL) {
            return natural(a)?.and(&below(a, b, by)?);
        }
        if !self.may_leave(a, scope, NATURAL) {
            return natural(b)?.not().or(&below(a, b, by)?);
        }
        None
    }

    pub(super) fn arithmetic(&mut self, op: OpRef<'b>, scope: ScopeId) -> Option<Kind> {
        let ty = op.result_type(0);
        range_of(op.ctx(), ty)?;
        if op.num_operands() == 0 || op.num_operands() > 2 {
            return None;
        }
        if matches!(op.name(), "llvm.shl" | "llvm.lshr" | "llvm.ashr" | "llvm.and" | "llvm.or") {
            return self.bitwise(op, scope).map(Kind::Number);
        }
        let name = words::name(op)?;
        let a = self.form_in(op.operand(0), scope)?;
        if op.num_operands() == 1 {
            return self.conversion(op, name, a, scope).map(Kind::Number);
        }
        let b = self.form_in(op.operand(1), scope)?;
        let constant = b.as_constant();
        let form = match name {
            "addi" | "add" => a.plus(&b)?,
            "subi" | "sub" => a.minus(&b)?,
            "muli" | "mul" => match (a.as_constant(), constant) {
                (Some(factor), _) => b.times(factor)?,
                (_, Some(factor)) => a.times(factor)?,
                _ => {
                    let form = self.product(&a, &b)?;
                    self.spread_poison([&a, &b], &form);
                    form
                }
            },
            "andi" | "and" => masked(&a, constant).or_else(|| masked(&b, a.as_constant()))?,
            "ori" | "or" => self.united(&a, &b, scope).or_else(|| self.united(&b, &a, scope))?,
            "minsi" | "mins" => return self.extreme(vec![a, b], true, scope, ty, op),
            "maxsi" | "maxs" => return self.extreme(vec![a, b], false, scope, ty, op),
            _ if self.may_leave_a_rest(op, &a, constant?) => return None,
            _ => {
                let form = self.quotient(name, &a, constant?, scope)?;
                let form = self.with_named_quotients(form);
                return (!self.forgets_poison([&a, &b], &form)).then_some(Kind::Number(form));
            }
        };
        let form = self.with_named_quotients(form);
        if self.forgets_poison([&a, &b], &form) || self.breaks_no_unsigned_wrap(op, &[&a, &b, &form], scope) {
            return None;
        }
        self.exact(form, scope, ty, has_no_signed_wrap(op), op).map(Kind::Number)
    }

    /// Returns a form with parameters in place of the quotients that no loop changes. So a bound
    /// that is rounded to a multiple is affine.
    pub(super) fn with_named_quotients(&mut self, form: Form) -> Form {
        form.with_quotients(&mut |form, divisor| self.params.quotient(&form, divisor)).unwrap_or(form)
    }

    /// Returns the quotient or remainder by a positive constant. Neither leaves the type.
    fn quotient(&mut self, name: &str, a: &Form, divisor: i64, scope: ScopeId) -> Option<Form> {
        if divisor <= 0 {
            return None;
        }
        let rounds_down = matches!(name, "floordivsi" | "floordivs");
        let rounds_up = matches!(name, "ceildivsi" | "ceildivs" | "ceildivui" | "ceildivu");
        let is_signed = name.ends_with("si") || name.ends_with('s');
        // Rounding towards zero, and unsigned numbers, are the same only from zero on. What leaves
        // no rest is not rounded.
        let leaves_no_rest = a.modulo(divisor).and_then(|rest| rest.as_constant()) == Some(0);
        let is_any_sign = is_signed && (rounds_down || rounds_up || leaves_no_rest);
        if !is_any_sign && self.may_leave(a, scope, NATURAL) {
            return None;
        }
        match name {
            _ if rounds_up => a.times(-1)?.floor_div(divisor)?.times(-1),
            "divsi" | "divui" | "divs" | "divu" => a.floor_div(divisor),
            "remsi" | "remui" | "rems" | "remu" => a.modulo(divisor),
            _ if rounds_down => a.floor_div(divisor),
            _ => None,
        }
    }

    fn conversion(&mut self, op: OpRef<'_>, name: &str, form: Form, scope: ScopeId) -> Option<Form> {
        let range = range_of(op.ctx(), op.result_type(0))?;
        let fits = match name {
            // Others are poison in the original.
            "extui" if self.is_original && op.attr("nonNeg").is_some() => true,
            "trunci" if self.is_original && has_no_signed_wrap(op) => true,
            // A sign extended number is the same number.
            "index_cast" | "extsi" | "trunci" | "casts" => !self.may_leave(&form, scope, range),
            "index_castui" | "extui" | "castu" => {
                !self.may_leave(&form, scope, NATURAL) && !self.may_leave(&form, scope, range)
            }
            _ => false,
        };
        (fits && !self.breaks_no_unsigned_wrap(op, &[&form], scope)).then_some(form)
    }

    /// Returns the least or greatest of some numbers as a choice among them.
    fn extreme(
        &mut self,
        forms: Vec<Form>,
        least: bool,
        scope: ScopeId,
        ty: Type,
        op: OpRef<'b>,
    ) -> Option<Kind> {
        if forms.iter().all(Form::is_invariant) {
            return self.invariant_extreme(forms, least, scope, ty).map(Kind::Number);
        }
        let mut forms = self.undominated(forms, least, scope).into_iter();
        let first = forms.next()?;
        let mut kind = Kind::Number(first.clone());
        let mut seen = vec![first];
        for next in forms {
            // The next one is taken if it is beyond all before.
            let beyond = seen.iter().map(|other| {
                let difference = if least { other.minus(&next) } else { next.minus(other) };
                Some(Constraint::at_least_zero(difference?))
            });
            let condition = Condition::all(beyond.collect::<Option<_>>()?)?;
            let condition = self.term(Kind::Truth(condition), scope, Type::I1, op);
            let yes = self.term(Kind::Number(next.clone()), scope, ty, op);
            let no = self.term(kind, scope, ty, op);
            kind = Kind::Choice { condition, yes, no };
            seen.push(next);
        }
        Some(kind)
    }

    /// Returns the forms without those that another one is beyond in all iterations of a scope.
    fn undominated(&mut self, mut forms: Vec<Form>, least: bool, scope: ScopeId) -> Vec<Form> {
        let mut index = 0;
        while index < forms.len() && forms.len() <= MAX_COMPARED {
            let own = forms[index].clone();
            let mut others = forms.iter().enumerate().filter(|(other, _)| *other != index);
            // Poison is not forgotten.
            let is_beaten = !self.forgets_poison([&own, &own], &Form::default())
                && others.any(|(_, other)| {
                    let margin = if least { own.minus(other) } else { other.minus(&own) };
                    margin.is_some_and(|margin| !self.may_leave(&margin, scope, NATURAL))
                });
            match is_beaten {
                true => drop(forms.remove(index)),
                false => index += 1,
            }
        }
        forms
    }

    /// Returns the least or greatest of numbers that no loop changes as a parameter. The domain of
    /// the scope says what it is.
    fn invariant_extreme(
        &mut self,
        mut forms: Vec<Form>,
        least: bool,
        scope: ScopeId,
        ty: Type,
    ) -> Option<Form> {
        forms.sort();
        forms.dedup();
        if let [form] = &forms[..] {
            return Some(form.clone());
        }
        let mut range = range_of(self.body().ctx(), ty)?;
        // Flags of the original keep a number in its type, but nothing may use the poison that they
        // leave. So they say nothing of other numbers.
        if forms.iter().any(|form| self.may_leave(form, 0, range)) {
            range = (-ANY, ANY);
        }
        let key = ParamKey::Extreme(least, forms.clone());
        let is_new = !self.params.knows(&key);
        let param = self.params.number(key, range);
        let value = Form::atom(Atom::Param(param));
        self.spread_poison(&forms, &value);
        let mut cases = Cases::new();
        for (index, form) in forms.iter().enumerate() {
            let mut case = vec![Constraint::zero(value.minus(form)?)];
            for (other, bound) in forms.iter().enumerate().filter(|(other, _)| *other != index) {
                let beyond = if least { bound.minus(form)? } else { form.minus(bound)? };
                case.push(Constraint::at_least_zero(beyond.offset(-i64::from(other < index))?));
            }
            cases.push(case);
        }
        if let Some(domain) = both(&self.scope(scope).domain, &cases) {
            self.program.scopes[scope].domain = domain;
        }
        if scope != 0 && is_new {
            self.params.facts.push(cases);
        }
        Some(value)
    }

    /// Applies an affine map to operands; `None` if one of them is no form.
    pub(super) fn apply(&self, map: AffineMap, operands: &[Value]) -> Option<Vec<Form>> {
        let data = map.data(self.body().ctx());
        let dims = data.dims as usize;
        data.results.iter().map(|expr| self.evaluate(*expr, dims, operands)).collect()
    }

    /// Evaluates an affine expression over operands, dimensions first.
    pub(super) fn evaluate(&self, expr: AffineExpr, dims: usize, operands: &[Value]) -> Option<Form> {
        let mut stack: Vec<Option<Form>> = Vec::new();
        expr.visit(self.body().ctx(), &mut |kind| {
            let operand = |index: usize| operands.get(index).and_then(|value| self.form(*value).cloned());
            let form = match kind {
                AffineExprKind::Constant(value) => Some(Form::constant(value)),
                AffineExprKind::Dim(index) => operand(index as usize),
                AffineExprKind::Symbol(index) => operand(dims + index as usize),
                _ => {
                    let (b, a) = (stack.pop().flatten(), stack.pop().flatten());
                    a.zip(b).and_then(|(a, b)| binary(kind, &a, &b))
                }
            };
            stack.push(form);
        });
        stack.pop().flatten()
    }

    /// Returns the subscripts of an access as terms.
    pub(super) fn subscripts(
        &mut self,
        op: OpRef<'b>,
        subscripts: &Subscripts,
        scope: ScopeId,
    ) -> Read<'b, Vec<TermId>> {
        let data = subscripts.map.data(op.ctx());
        let dims = data.dims as usize;
        let mut terms = Vec::with_capacity(data.results.len());
        for expr in &data.results {
            let bare = match expr.kind(op.ctx()) {
                AffineExprKind::Dim(index) => Some(index as usize),
                AffineExprKind::Symbol(index) => Some(dims + index as usize),
                _ => None,
            };
            let term = match bare.and_then(|index| subscripts.operands.get(index)) {
                Some(operand) => self.value(*operand, op)?,
                None => match self.evaluate(*expr, dims, &subscripts.operands) {
                    Some(form) => {
                        self.exact(form.clone(), scope, Type::INDEX, true, op);
                        self.term(Kind::Number(form), scope, Type::INDEX, op)
                    }
                    None => return self.refuse(op, "a subscript is an expression over loaded values"),
                },
            };
            terms.push(term);
        }
        Ok(terms)
    }
}

fn binary(kind: AffineExprKind, a: &Form, b: &Form) -> Option<Form> {
    match kind {
        AffineExprKind::Add(..) => a.plus(b),
        AffineExprKind::Mul(..) => match (a.as_constant(), b.as_constant()) {
            (Some(factor), _) => b.times(factor),
            (_, Some(factor)) => a.times(factor),
            _ => None,
        },
        AffineExprKind::Mod(..) => a.modulo(b.as_constant()?),
        AffineExprKind::FloorDiv(..) => a.floor_div(b.as_constant()?),
        AffineExprKind::CeilDiv(..) => a.times(-1)?.floor_div(b.as_constant()?)?.times(-1),
        _ => None,
    }
}

/// Returns the condition that two integers compare as an operation says.
pub(super) fn compared(op: OpRef<'_>, a: &Form, b: &Form) -> Option<Condition> {
    let below = |a: &Form, b: &Form, by: i64| {
        Condition::all(vec![Constraint::at_least_zero(b.minus(a)?.offset(-by)?)])
    };
    match predicate(op)?.as_str() {
        "eq" => Condition::all(vec![Constraint::zero(a.minus(b)?)]),
        "ne" => Some(Condition::all(vec![Constraint::zero(a.minus(b)?)])?.not()),
        "slt" | "ult" => below(a, b, 1),
        "sle" | "ule" => below(a, b, 0),
        "sgt" | "ugt" => below(b, a, 1),
        "sge" | "uge" => below(b, a, 0),
        _ => None,
    }
}

/// Returns the predicate of a comparison of integers by its name in `arith`.
pub(super) fn predicate(op: OpRef<'_>) -> Option<String> {
    let ctx = op.ctx();
    let attr = op.attr("predicate").or_else(|| op.attr("pred"))?;
    if let Some(number) = attr.as_int(ctx) {
        let names = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
        return names.get(usize::try_from(number).ok()?).map(|name| name.to_string());
    }
    // `#index<cmp_predicate slt>`
    let text = loomir_ir::text::attr_to_string(ctx, attr);
    Some(text.trim_end_matches('>').rsplit(['<', ' ', '.']).next()?.to_string())
}
