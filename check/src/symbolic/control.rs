//! Loops and conditionals.

use loomir_dialects::interfaces::{Bound, Conditional, Decision, LoopBounds, LoopLike, ParallelLike, Step};
use loomir_ir::{OpRef, Type, Value};

use super::machine::{Binding, Machine};
use super::memory::Scalar;
use super::race::Race;
use super::store::{FALSE, Family, Run, TRUE, TermId, refused};

/// The bounds of a loop that is about to run.
struct Range {
    lower: TermId,
    upper: TermId,
    step: i64,
    width: u32,
    is_unsigned: bool,
}

impl<'b> Machine<'b, '_> {
    /// Returns true or false for a condition that decides how often something runs.
    fn decided(&mut self, condition: TermId) -> Run<bool> {
        match (condition, self.store.number(condition)?) {
            (TRUE, _) | (_, Some(1)) => Ok(true),
            (FALSE, _) | (_, Some(_)) => Ok(false),
            _ => refused("a trip count depends on values in memory, or on too many values of an argument"),
        }
    }

    fn bound(&mut self, bound: &Bound, is_upper: bool) -> Run<TermId> {
        let (term, poison) = match bound {
            Bound::Value(value) => {
                let Scalar { term, poison } = self.scalar(*value)?;
                (term, poison)
            }
            Bound::Map(map) => {
                let data = map.map.data(self.body.ctx());
                let (results, poison) = self.applied(&data.results, data.dims as usize, &map.operands)?;
                let family = if is_upper { Family::MinS } else { Family::MaxS };
                let Some((first, rest)) = results.split_first() else {
                    return refused("a loop has no bound");
                };
                let mut all = *first;
                for result in rest {
                    all = self.store.combined(family, 64, [all, *result])?;
                }
                (all, poison)
            }
        };
        self.undefined_if(poison, "a bound of the loop may be poison")?;
        Ok(term)
    }

    fn range(&mut self, bounds: &LoopBounds, ty: Type, is_unsigned: bool) -> Run<Range> {
        let Some(width) = self.width(ty) else {
            return refused("a loop counts in a type of more than 64 bits");
        };
        let step = match bounds.step {
            Step::Constant(step) => step,
            Step::Value(value) => {
                let Scalar { term, poison } = self.scalar(value)?;
                self.undefined_if(poison, "the step of the loop may be poison")?;
                match self.store.number(term)? {
                    Some(step) => step,
                    None => return refused("the step of a loop is not known"),
                }
            }
        };
        if step <= 0 {
            return refused("the step of a loop is not positive");
        }
        let [lower, upper] = [self.bound(&bounds.lower, false)?, self.bound(&bounds.upper, true)?];
        Ok(Range { lower, upper, step, width, is_unsigned })
    }

    /// True if a loop runs for this value of its variable.
    fn runs(&mut self, range: &Range, variable: TermId) -> Run<bool> {
        let condition = self.store.less(range.is_unsigned, range.width, [variable, range.upper])?;
        self.decided(condition)
    }

    /// Returns the next value of a variable. A value beyond its type is refused, even the one that
    /// would end the loop: the interpreter takes it for undefined, and code wraps.
    fn next(&mut self, range: &Range, variable: TermId) -> Run<TermId> {
        let step = range.step;
        let most = match (self.store.constant(variable), range.is_unsigned) {
            (Some(value), false) => i128::from(value),
            (Some(value), true) if value >= 0 => i128::from(value),
            (None, false) => self.store.line_range(variable, range.width)?.1,
            _ => return refused("the variable of a loop is not known to be exact"),
        };
        if most + i128::from(step) > i128::MAX >> (128 - range.width) {
            return refused("the variable of a loop may leave its type");
        }
        self.store.offset(range.width, variable, step)
    }

    pub(super) fn counted_loop(&mut self, op: OpRef<'b>, model: &dyn LoopLike) -> Run<()> {
        let body = self.body;
        let Some(block) = body.single_block(model.body(op)) else {
            return refused("the body of the loop is not one block");
        };
        let arguments: Vec<Value> = body.arguments(block).collect();
        let Some((first, rest)) = arguments.split_first() else { return refused("a loop has no variable") };
        let range = self.range(&model.bounds(op), body.value_type(*first), model.is_unsigned(op))?;
        let mut carried: Vec<Binding> =
            model.inits(op).iter().map(|init| self.binding(*init).clone()).collect();
        let mut variable = range.lower;
        loop {
            self.place = op;
            self.store.spend(1)?;
            if !self.runs(&range, variable)? {
                break;
            }
            self.bind(*first, Binding::Scalar(Scalar::plain(variable)));
            if carried.len() != rest.len() {
                return refused("a loop carries other values");
            }
            rest.iter().zip(carried).for_each(|(own, value)| self.bind(*own, value));
            carried = self.region(model.body(op))?;
            self.place = op;
            variable = self.next(&range, variable)?;
        }
        self.bind_all(op, carried)
    }

    pub(super) fn while_loop(&mut self, op: OpRef<'b>) -> Run<()> {
        let body = self.body;
        let [Some(before), Some(after)] = [0, 1].map(|index| body.single_block(op.region(index))) else {
            return refused("a region of the loop is not one block");
        };
        let mut carried: Vec<Binding> = op.operands().map(|init| self.binding(init).clone()).collect();
        loop {
            let arguments: Vec<Value> = body.arguments(before).collect();
            arguments.into_iter().zip(carried).for_each(|(own, value)| self.bind(own, value));
            let mut passed = self.region(op.region(0))?;
            self.place = op;
            if passed.is_empty() {
                return refused("the loop has no condition");
            }
            let Binding::Scalar(Scalar { term, poison }) = passed.remove(0) else {
                return refused("the condition of the loop is not understood");
            };
            self.undefined_if(poison, "the condition of the loop may be poison")?;
            if !self.decided(term)? {
                return self.bind_all(op, passed);
            }
            let arguments: Vec<Value> = body.arguments(after).collect();
            arguments.into_iter().zip(passed).for_each(|(own, value)| self.bind(own, value));
            carried = self.region(op.region(1))?;
            self.store.spend(1)?;
        }
    }

    pub(super) fn parallel_loop(&mut self, op: OpRef<'b>, model: &dyn ParallelLike) -> Run<()> {
        let body = self.body;
        let Some(block) = body.single_block(model.body(op)) else {
            return refused("the body of the loop is not one block");
        };
        let reduces = body.terminator(block).is_some_and(|end| {
            body.num_operands(end) > 0
                || body.own_regions(end).any(|own| {
                    body.blocks(own).any(|own| body.ops(own).nth(1).is_some() || body.num_arguments(own) > 0)
                })
        });
        let arguments: Vec<Value> = body.arguments(block).collect();
        let dimensions = model.dimensions(op);
        if op.num_results() > 0 || reduces || dimensions.len() != arguments.len() {
            return refused("a parallel loop that combines values is not executed");
        }
        let mut ranges = Vec::new();
        for (bounds, argument) in dimensions.iter().zip(&arguments) {
            ranges.push(self.range(bounds, body.value_type(*argument), false)?);
        }
        // The other program has to do the same in any order of its iterations. Only of
        // `scf.parallel` it is said that races are undefined.
        let is_outer = self.race.is_none() && (!self.is_original || op.name() == "scf.parallel");
        if is_outer {
            self.race = Some(Race::default());
        }
        let is_parallel = !self.is_original || op.name() == "scf.parallel";
        let number = self.race.as_mut().filter(|_| is_parallel).map(Race::begin);
        self.points(op, model, (&ranges, &arguments), number)?;
        if is_outer {
            self.race = None;
        }
        Ok(())
    }

    /// Runs a parallel loop for all values of its variables.
    fn points(
        &mut self,
        op: OpRef<'b>,
        model: &dyn ParallelLike,
        (ranges, arguments): (&[Range], &[Value]),
        number: Option<u64>,
    ) -> Run<()> {
        let ([range, ranges @ ..], [argument, arguments @ ..]) = (ranges, arguments) else {
            let is_parallel = self.race.as_mut().zip(number).map(|(race, number)| race.enter(number));
            self.region(model.body(op))?;
            if let (Some(race), Some(())) = (&mut self.race, is_parallel) {
                race.leave();
            }
            return Ok(());
        };
        let mut variable = range.lower;
        loop {
            self.place = op;
            self.store.spend(1)?;
            if !self.runs(range, variable)? {
                return Ok(());
            }
            self.bind(*argument, Binding::Scalar(Scalar::plain(variable)));
            self.points(op, model, (ranges, arguments), number)?;
            self.place = op;
            variable = self.next(range, variable)?;
        }
    }

    pub(super) fn conditional(&mut self, op: OpRef<'b>, model: &dyn Conditional) -> Run<()> {
        let (condition, poison) = match model.decision(op) {
            Some(Decision::Value(value)) => {
                let Scalar { term, poison } = self.scalar(value)?;
                (term, poison)
            }
            Some(Decision::Set(set, operands)) => {
                let data = set.data(op.ctx());
                let exprs: Vec<_> = data.constraints.iter().map(|(expr, _)| *expr).collect();
                let (values, poison) = self.applied(&exprs, data.dims as usize, &operands)?;
                let zero = self.store.int(64, 0)?;
                let mut all = TRUE;
                for (value, (_, is_equality)) in values.into_iter().zip(&data.constraints) {
                    let holds = if *is_equality {
                        self.store.equal(64, [value, zero])?
                    } else {
                        let below = self.store.less(false, 64, [value, zero])?;
                        self.store.not(below)?
                    };
                    all = self.store.and(all, holds)?;
                }
                (all, poison)
            }
            None => return refused("a condition is not known"),
        };
        self.undefined_if(poison, "the condition of a branch may be poison")?;
        let outer = self.guard;
        let other = self.store.not(condition)?;
        let mut arms = Vec::new();
        for (index, own) in [condition, other].into_iter().enumerate() {
            self.guard = self.store.and(outer, own)?;
            let is_run = own == TRUE || own != FALSE && self.guard != FALSE;
            let region = op.regions().nth(index).filter(|_| is_run);
            arms.push((is_run, region.map(|region| self.region(region)).transpose()?.unwrap_or_default()));
        }
        (self.guard, self.place) = (outer, op);
        let (arm, no) = match &arms[..] {
            [(true, yes), (true, no)] => (yes.clone(), Some(no.clone())),
            [(true, yes), _] => (yes.clone(), None),
            [_, (_, no)] => (no.clone(), None),
            _ => return refused("a branch has no arms"),
        };
        let Some(no) = no else { return self.bind_all(op, arm) };
        let chosen: Run<Vec<Binding>> =
            arm.into_iter().zip(no).map(|(yes, no)| self.chosen(condition, yes, no)).collect();
        self.bind_all(op, chosen?)
    }

    /// Returns one of two values.
    pub(super) fn chosen(&mut self, condition: TermId, yes: Binding, no: Binding) -> Run<Binding> {
        match (yes, no) {
            (Binding::Scalar(yes), Binding::Scalar(no)) => {
                let term = self.store.ite(condition, yes.term, no.term)?;
                let poison = self.store.ite(condition, yes.poison, no.poison)?;
                Ok(Binding::Scalar(Scalar { term, poison }))
            }
            (Binding::View(yes), Binding::View(no)) if yes == no => Ok(Binding::View(yes)),
            (Binding::View(yes), Binding::View(no)) => {
                Ok(Binding::View(if self.decided(condition)? { yes } else { no }))
            }
            _ => refused("an operand is not understood"),
        }
    }
}
