//! Loops and conditionals as scopes.

use loomir_dialects::interfaces::{Bound, Conditional, Decision, LoopBounds, LoopLike, ParallelLike, Step};
use loomir_ir::{OpRef, Region, Type, Value};

use super::super::form::{Atom, Cases, Condition, Constraint, Form, both};
use super::super::model::{Kind, Loop, Scope, ScopeId, TermId};
use super::numbers::{NATURAL, is_buffer, range_of};
use super::{Read, Reader, defining};

const TOO_MANY_CASES: &str = "the conditions around have too many cases";

impl<'b> Reader<'b, '_> {
    pub(super) fn counted_loop(
        &mut self,
        op: OpRef<'b>,
        model: &dyn LoopLike,
        scope: ScopeId,
    ) -> Read<'b, ()> {
        if model.is_unsigned(op) && !self.is_natural(&model.bounds(op), scope, op)? {
            return self.refuse(op, "the loop compares its variable as unsigned");
        }
        let inits: Vec<TermId> =
            model.inits(op).iter().map(|init| self.value(*init, op)).collect::<Read<'b, _>>()?;
        let around = self.open_loop(op, &model.bounds(op), scope)?;
        self.program.loops[around].inits = inits;
        let inside = self.program.loops[around].inside;
        let Some(block) = self.body().single_block(model.body(op)) else {
            return self.refuse(op, "the body of the loop is not one block");
        };
        let arguments: Vec<Value> = self.body().arguments(block).collect();
        let ty = arguments.first().map_or(Type::INDEX, |own| self.body().value_type(*own));
        self.ends_in_its_type(around, ty, op)?;
        for (index, argument) in arguments.into_iter().enumerate() {
            let ty = self.body().value_type(argument);
            if is_buffer(op.ctx(), ty) {
                return self.refuse(op, "a buffer is carried by the loop");
            }
            let kind = match index {
                0 => Kind::Number(Form::dim(self.scope(scope).depth())),
                _ => Kind::Carried { around, index: index - 1 },
            };
            let term = self.term(kind, inside, ty, op);
            self.bind(argument, term);
        }
        self.block(block, inside)?;
        let yields = self.yielded(model.body(op), op)?;
        if yields.len() != op.num_results() || yields.len() != self.program.loops[around].inits.len() {
            return self.refuse(op, "the loop does not yield its carried values");
        }
        self.program.loops[around].yields = yields;
        for (index, result) in op.results().enumerate().collect::<Vec<_>>() {
            let term = self.term(Kind::Exit { of: around, index }, scope, op.type_of(result), op);
            self.bind(result, term);
        }
        Ok(())
    }

    /// Refuses a loop of the other program whose variable leaves its type at the end.
    ///
    /// Where bounds of type `index` leave that open it is assumed not to happen.
    fn ends_in_its_type(&mut self, around: usize, ty: Type, op: OpRef<'b>) -> Read<'b, ()> {
        let Loop { step, inside, outside, .. } = self.program.loops[around];
        if step == 1 || self.is_original {
            return Ok(());
        }
        let next = Form::dim(self.scope(outside).depth()).offset(step);
        let range = range_of(op.ctx(), ty);
        let (Some(next), Some(range)) = (next, range) else {
            return self.refuse(op, "the variable of the loop may leave its type");
        };
        if !self.may_leave(&next, inside, range) {
            return Ok(());
        }
        let mut has_params = false;
        for constraint in self.scope(inside).domain.iter().flatten() {
            constraint.form.for_each_param(&mut |_| has_params = true);
        }
        if !ty.is_index() || !has_params {
            return self.refuse(op, "the variable of the loop may leave its type");
        }
        self.program.assumed_exact.get_or_insert(op);
        Ok(())
    }

    /// True if the bounds of a loop are known not to be negative.
    pub(super) fn is_natural(
        &mut self,
        bounds: &LoopBounds,
        scope: ScopeId,
        op: OpRef<'b>,
    ) -> Read<'b, bool> {
        let mut forms = self.bound(&bounds.lower, false, scope, op)?;
        forms.extend(self.bound(&bounds.upper, true, scope, op)?);
        Ok(!forms.iter().any(|form| self.may_leave(form, scope, NATURAL)))
    }

    /// Reads a parallel loop as a nest of loops: its iterations may run in order.
    pub(super) fn parallel_loop(
        &mut self,
        op: OpRef<'b>,
        model: &dyn ParallelLike,
        scope: ScopeId,
    ) -> Read<'b, ()> {
        let body = self.body();
        let Some(block) = body.single_block(model.body(op)) else {
            return self.refuse(op, "the body of the loop is not one block");
        };
        let reduces = body.terminator(block).is_some_and(|end| {
            body.num_operands(end) > 0 || body.own_regions(end).any(|region| !self.is_blank(region))
        });
        if op.num_results() > 0 || reduces {
            return self.refuse(op, "a parallel loop that combines values is not modelled");
        }
        let dimensions = model.dimensions(op);
        let arguments: Vec<Value> = body.arguments(block).collect();
        if dimensions.len() != arguments.len() {
            return self.refuse(op, "a parallel loop with shared results is not modelled");
        }
        // The bounds depend on nothing inside, so they are read where the nest stands.
        let first = self.scope(scope).depth();
        let mut inside = scope;
        for bounds in &dimensions {
            let around = self.open_loop(op, bounds, inside)?;
            self.program.loops[around].is_parallel = true;
            self.ends_in_its_type(around, Type::INDEX, op)?;
            inside = self.program.loops[around].inside;
        }
        for (index, argument) in arguments.into_iter().enumerate() {
            let term = self.term(Kind::Number(Form::dim(first + index)), inside, Type::INDEX, op);
            self.bind(argument, term);
        }
        self.block(block, inside)
    }

    /// True if a region holds no operation but a terminator.
    fn is_blank(&self, region: Region) -> bool {
        let body = self.body();
        body.blocks(region).all(|block| body.ops(block).nth(1).is_none() && body.num_arguments(block) == 0)
    }

    pub(super) fn yielded(&mut self, region: Region, op: OpRef<'b>) -> Read<'b, Vec<TermId>> {
        let body = self.body();
        let end = body.single_block(region).and_then(|block| body.terminator(block));
        let Some(end) = end else { return Ok(Vec::new()) };
        body.operands(end).map(|value| self.value(value, op)).collect()
    }

    /// Makes a loop and the scope of its body.
    pub(super) fn open_loop(
        &mut self,
        op: OpRef<'b>,
        bounds: &LoopBounds,
        scope: ScopeId,
    ) -> Read<'b, usize> {
        let Step::Constant(step @ 1..) = bounds.step else {
            return self.refuse(op, "the step of the loop is not a positive constant");
        };
        let lowers = self.bound(&bounds.lower, false, scope, op)?;
        let uppers = self.bound(&bounds.upper, true, scope, op)?;
        let variable = Form::dim(self.scope(scope).depth());
        let Some(space) = iteration_space(&variable, &lowers, &uppers, step) else {
            return self.refuse(op, "the bounds of the loop are too large");
        };
        self.enclosed(lowers, space, step, scope, op)
    }

    /// Makes a loop whose variable takes its upper bound, too.
    pub(super) fn open_through(
        &mut self,
        op: OpRef<'b>,
        bounds: &LoopBounds,
        step: i64,
        scope: ScopeId,
    ) -> Read<'b, usize> {
        let lowers = self.bound(&bounds.lower, false, scope, op)?;
        let uppers = self.bound(&bounds.upper, true, scope, op)?;
        let uppers: Option<Vec<Form>> = uppers.iter().map(|upper| upper.offset(1)).collect();
        let variable = Form::dim(self.scope(scope).depth());
        let space = uppers.and_then(|uppers| iteration_space(&variable, &lowers, &uppers, step));
        let Some(space) = space else { return self.refuse(op, "the bounds of the loop are too large") };
        self.enclosed(lowers, space, step, scope, op)
    }

    /// Makes a loop over given values of its variable.
    pub(super) fn enclosed(
        &mut self,
        lowers: Vec<Form>,
        space: Cases,
        step: i64,
        scope: ScopeId,
        op: OpRef<'b>,
    ) -> Read<'b, usize> {
        let outer = self.scope(scope).clone();
        let Some(domain) = both(&outer.domain, &space) else { return self.refuse(op, TOO_MANY_CASES) };
        let around = self.program.loops.len();
        let mut loops = outer.loops;
        loops.push(around);
        let inside = self.program.scopes.len();
        self.program.scopes.push(Scope { loops, domain, guards: outer.guards });
        let order = self.next_order();
        let (inits, yields) = (Vec::new(), Vec::new());
        self.program.loops.push(Loop {
            outside: scope,
            inside,
            lowers,
            step,
            is_parallel: false,
            order,
            inits,
            yields,
        });
        Ok(around)
    }

    /// Returns the forms whose greatest (least, if `upper`) is the bound.
    fn bound(&mut self, bound: &Bound, upper: bool, scope: ScopeId, op: OpRef<'b>) -> Read<'b, Vec<Form>> {
        let forms = match bound {
            Bound::Value(value) => self.extremes(*value, upper),
            Bound::Map(subscripts) => {
                let forms = self.apply(subscripts.map, &subscripts.operands);
                for form in forms.iter().flatten() {
                    self.exact(form.clone(), scope, Type::INDEX, true, op);
                }
                forms
            }
        };
        match forms {
            Some(forms) if !self.is_original && forms.iter().any(|form| self.is_poisoned(form)) => {
                match bound {
                    Bound::Value(value) if self.is_never_poison(*value) => Ok(forms),
                    _ => self.refuse(op, "a bound of the loop may be poison"),
                }
            }
            Some(forms) if !forms.is_empty() => {
                // A loop that runs whenever the original does has bounds that are no poison.
                if self.is_original && scope == 0 {
                    let mut certain = Vec::new();
                    let mut note = |form| self.params.for_each_source(form, &mut |param| certain.push(param));
                    forms.iter().for_each(&mut note);
                    self.params.certain.extend(certain);
                }
                Ok(forms)
            }
            _ => self.refuse(op, "a bound of the loop is not affine in loop variables and parameters"),
        }
    }

    /// Returns the forms whose least (`least`) or greatest a value is.
    fn extremes(&self, value: Value, least: bool) -> Option<Vec<Form>> {
        let names: [&str; 3] = match least {
            true => ["arith.minsi", "index.mins", "affine.min"],
            false => ["arith.maxsi", "index.maxs", "affine.max"],
        };
        let (mut found, mut todo) = (Vec::new(), vec![value]);
        while let Some(value) = todo.pop() {
            if let Some(form) = self.form(value) {
                found.push(form.clone());
                continue;
            }
            let op = defining(self.body(), value)?;
            if !names.contains(&op.name()) || found.len() + todo.len() > 16 {
                return None;
            }
            match op.attr("map").and_then(|attr| attr.as_affine_map(op.ctx())) {
                Some(map) => found.extend(self.apply(map, &op.operands().collect::<Vec<_>>())?),
                None => todo.extend(op.operands()),
            }
        }
        Some(found)
    }

    pub(super) fn conditional(
        &mut self,
        op: OpRef<'b>,
        model: &dyn Conditional,
        scope: ScopeId,
    ) -> Read<'b, ()> {
        let condition = match model.decision(op) {
            Some(Decision::Value(value)) => {
                self.may_branch(value, op, scope)?;
                self.value(value, op)?
            }
            Some(Decision::Set(set, operands)) => {
                let data = set.data(op.ctx());
                let dims = data.dims as usize;
                let constraint = |(expr, equality): &(loomir_ir::AffineExpr, bool)| {
                    let form = self.evaluate(*expr, dims, &operands)?;
                    Some(Constraint { form, equality: *equality })
                };
                let constraints: Option<Vec<_>> = data.constraints.iter().map(constraint).collect();
                let Some(condition) = constraints.and_then(Condition::all) else {
                    return self.refuse(op, "the condition is not affine in loop variables and parameters");
                };
                if !self.is_original && self.is_poisoned_truth(&condition) {
                    return self.refuse(op, "the condition may be poison");
                }
                self.term(Kind::Truth(condition), scope, Type::I1, op)
            }
            None => return self.refuse(op, "the condition is not known"),
        };
        let mut arms = Vec::new();
        for (index, region) in op.regions().enumerate().collect::<Vec<_>>() {
            let inside = self.arm(condition, index == 0, scope, op)?;
            if let Some(block) = self.body().single_block(region) {
                self.block(block, inside)?;
            }
            arms.push(self.yielded(region, op)?);
        }
        for (index, result) in op.results().enumerate().collect::<Vec<_>>() {
            let ty = op.type_of(result);
            let [Some(yes), Some(no)] = [0, 1].map(|arm| arms.get(arm).and_then(|arm| arm.get(index))) else {
                return self.refuse(op, "an arm of the conditional yields nothing");
            };
            let kind = Kind::Choice { condition, yes: *yes, no: *no };
            let term = self.term(kind, scope, ty, op);
            self.bind(result, term);
        }
        Ok(())
    }

    /// Reads a region of one block in place.
    pub(super) fn executed_region(&mut self, op: OpRef<'b>, scope: ScopeId) -> Read<'b, ()> {
        let region = op.region(0);
        let Some(block) = self.body().single_block(region) else {
            return self.refuse(op, "the region is not one block");
        };
        self.block(block, scope)?;
        let yields = self.yielded(region, op)?;
        if yields.len() != op.num_results() {
            return self.refuse(op, "the region does not yield its results");
        }
        for (result, term) in op.results().zip(yields).collect::<Vec<_>>() {
            self.bind(result, term);
        }
        Ok(())
    }

    /// Makes the scope of one arm of a conditional.
    pub(super) fn arm(
        &mut self,
        condition: TermId,
        value: bool,
        scope: ScopeId,
        op: OpRef<'b>,
    ) -> Read<'b, ScopeId> {
        let mut inside = self.scope(scope).clone();
        match &self.program.terms[condition].kind {
            Kind::Truth(truth) => {
                let cases = if value { &truth.holds } else { &truth.fails };
                match both(&inside.domain, cases) {
                    Some(domain) => inside.domain = domain,
                    None => return self.refuse(op, TOO_MANY_CASES),
                }
            }
            _ => inside.guards.push((condition, value)),
        }
        self.program.scopes.push(inside);
        Ok(self.program.scopes.len() - 1)
    }
}

/// Returns the values of a loop variable from the greatest lower bound on, below all upper bounds.
fn iteration_space(variable: &Form, lowers: &[Form], uppers: &[Form], step: i64) -> Option<Cases> {
    let mut below = Vec::new();
    for upper in uppers {
        below.push(Constraint::at_least_zero(upper.minus(variable)?.offset(-1)?));
    }
    if step == 1 {
        for lower in lowers {
            below.push(Constraint::at_least_zero(variable.minus(lower)?));
        }
        return Some(vec![below]);
    }
    // The variable counts from the lower bound that is the greatest, the first one of equals.
    let mut cases = Vec::new();
    for (index, lower) in lowers.iter().enumerate() {
        let mut case = below.clone();
        let distance = variable.minus(lower)?;
        let quotient = Form::atom(Atom::Quotient(Box::new(distance.clone()), step));
        case.push(Constraint::at_least_zero(distance.clone()));
        case.push(Constraint::zero(distance.minus(&quotient.times(step)?)?));
        for (other, bound) in lowers.iter().enumerate() {
            if other != index {
                let margin = i64::from(other < index);
                case.push(Constraint::at_least_zero(lower.minus(bound)?.offset(-margin)?));
            }
        }
        cases.push(case);
    }
    Some(cases)
}
