//! The bounds of a loop that runs part of a loop of the program.
//!
//! A bound is a number, or one value and a number; or a bound that the loop has in the program and a number. The sum is cut off at the ends of its type where it would wrap: below the first
//! and above the last value there is no iteration to lose.
//! A loop that stands for blocks of iterations has the step of a block.
//!
//! # Assumptions
//!
//! - A bound near the end of its type, of 5 bits or 64, is cut off and does not wrap. Tried with
//!   300 random pairs of loops at both ends of `i5`, `i8`, `i64` and `index`.

use loomir_dialects::{affine, arith};
use loomir_ir::opdef::{OPERAND_SEGMENTS, OpDef};
use loomir_ir::{AffineExpr, AffineMap, AttrKind, Builder, InsertPoint, OperationState, Type, Value};

use super::Emit;
use super::expression::{Expression, Sum};
use super::known::Computed;
use crate::dependence::form::Form;
use crate::dependence::nest::absolute;
use crate::tree::{Header, Origin};

/// The values of a loop's variable: from the greatest of `lower` on, below the least of `upper`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Range {
    lower: Vec<Form>,
    upper: Vec<Form>,
    step: i64,
}

/// Which end of a range a bound is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum End {
    Lower,
    Upper,
}

impl Range {
    /// The values of the variable where `scale` times the loop's level is within these bounds, and the variable is `meaning`, in which the level
    /// has the coefficient `scale`.
    pub(super) fn of(
        lower: &[Form],
        upper: &[Form],
        meaning: &Form,
        scale: i64,
        depth: u32,
    ) -> Option<Range> {
        let rest = meaning.plus(&Form::level(depth), scale.checked_neg()?)?;
        let first = |form: &Form| rest.plus(&absolute(form, depth)?.ceil_div(scale)?, scale);
        let last = |form: &Form| rest.plus(&absolute(form, depth)?, 1);
        Some(Range {
            lower: lower.iter().map(first).collect::<Option<_>>()?,
            upper: upper.iter().map(last).collect::<Option<_>>()?,
            step: scale,
        })
    }

    /// The variable's value, if it is known to have just one.
    pub(super) fn only_value(&self) -> Option<i64> {
        let ([lower], [upper]) = (&self.lower[..], &self.upper[..]) else { return None };
        let (lower, upper) = (lower.as_constant()?, upper.as_constant()?);
        (lower < upper && upper.checked_sub(lower)? <= self.step).then_some(lower)
    }
}

impl Range {
    /// Returns true if adding the step to the variable's last value does not leave so many bits.
    ///
    /// The last value is known to be small if an upper bound is a number. Where the variable has 64
    /// bits and begins at a number, no program runs long enough to come near their end.
    fn stays_within(&self, width: u32) -> bool {
        let numbers = |forms: &[Form]| forms.iter().filter_map(Form::as_constant).collect::<Vec<_>>();
        let greatest = i64::MAX >> 64u32.saturating_sub(width).min(63);
        let end = numbers(&self.upper).into_iter().min();
        let ends_early = end.is_some_and(|end| end.checked_add(self.step).is_some_and(|end| end <= greatest));
        let begins_early = numbers(&self.lower).iter().any(|begin| *begin <= FAR_FROM_END);
        let fits = self.step <= greatest;
        fits && (ends_early
            || (width >= 64 && self.step <= FAR_FROM_END && self.lower.len() == 1 && begins_early))
    }
}

/// So far from the end of 64 bits a loop runs longer than any machine does.
const FAR_FROM_END: i64 = 1 << 61;

/// What to cut a value off at before `offset` is added, where the bound `number` stands beside the sum: max(n, v + k) = max(n - k, v) + k, which does
/// not wrap for `k ≤ 0`, and the like for min. `None` where it could wrap.
fn limit(number: i64, offset: i64, end: End) -> Option<i64> {
    number.checked_sub(offset).filter(|_| match end {
        End::Lower => offset <= 0,
        End::Upper => offset >= 0,
    })
}

impl Emit<'_> {
    /// The operation of a loop over `range`, without its block.
    pub(super) fn bounded_shell(
        &mut self,
        header: &Header,
        lead: &Origin,
        range: &Range,
        at: InsertPoint,
    ) -> OperationState {
        let mut state = self.shell(header, lead, at);
        let info = self.program.loop_info(lead.of);
        let ctx = self.body.ctx().clone();
        // A loop whose variable leaps over iterations of the program's has a step of its own.
        let leaps = lead.iteration().is_none_or(|own| own.coefficient_of_level(0) != 1);
        let ty = self.body.value_type(self.program.loop_info(lead.of).variable);
        if leaps && !range.stays_within(ty.integer_width(self.body.ctx()).unwrap_or(64)) {
            self.give_up(lead.of);
        }
        // Behind the bounds stands what the loop begins with.
        let inits = state.operands.split_off(state.operands.len() - state.result_types.len());
        if affine::is_loop(self.body, info.op) {
            let (lower_map, mut operands) = self.affine_bound(lead, &range.lower, End::Lower, at);
            let (upper_map, more) = self.affine_bound(lead, &range.upper, End::Upper, at);
            let segments = [operands.len() as i64, more.len() as i64, inits.len() as i64];
            operands.extend(more);
            state.operands = operands;
            state.set_attr(&ctx, "lowerBoundMap", ctx.attr(AttrKind::AffineMap(lower_map)));
            state.set_attr(&ctx, "upperBoundMap", ctx.attr(AttrKind::AffineMap(upper_map)));
            if leaps {
                state.set_attr(&ctx, "step", ctx.int_attr(Type::INDEX, range.step));
            }
            state.set_attr(&ctx, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &segments));
        } else {
            let lower = self.bound(lead, &range.lower, End::Lower, ty, at);
            let upper = self.bound(lead, &range.upper, End::Upper, ty, at);
            let step = if leaps { self.number(range.step, ty, at) } else { state.operands[2] };
            state.operands = vec![lower, upper, step];
        }
        state.operands.extend(inits);
        state
    }

    /// One value: the greatest of the lower, the least of the upper bounds.
    fn bound(&mut self, lead: &Origin, forms: &[Form], end: End, ty: Type, at: InsertPoint) -> Value {
        let parts = self.parts(lead, forms, end, at);
        let number = parts.iter().find_map(|(value, number)| value.is_none().then_some(*number));
        let mut result: Option<Value> = None;
        for (value, offset) in parts {
            let Some(value) = value else { continue };
            let bound = match number.and_then(|number| limit(number, offset, end)) {
                Some(limit) => {
                    let limit = self.number(limit, ty, at);
                    let value = self.pick(end, value, limit, at);
                    self.plus(value, offset, ty, at)
                }
                None => {
                    let value = self.within(value, offset, ty, at);
                    let sum = self.plus(value, offset, ty, at);
                    match number {
                        Some(number) => {
                            let number = self.number(number, ty, at);
                            self.pick(end, sum, number, at)
                        }
                        None => sum,
                    }
                }
            };
            result = Some(match result {
                Some(other) => self.pick(end, other, bound, at),
                None => bound,
            });
        }
        match (result, number) {
            (Some(result), _) => result,
            (None, number) => self.number(number.unwrap_or_default(), ty, at),
        }
    }

    /// The bounds as the results of a map, and its operands.
    fn affine_bound(
        &mut self,
        lead: &Origin,
        forms: &[Form],
        end: End,
        at: InsertPoint,
    ) -> (AffineMap, Vec<Value>) {
        let ctx = self.body.ctx().clone();
        let parts = self.parts(lead, forms, end, at);
        let number = parts.iter().find_map(|(value, number)| value.is_none().then_some(*number));
        let mut operands: Vec<Value> = Vec::new();
        let mut results = Vec::new();
        for (value, offset) in parts {
            let constant = AffineExpr::constant(&ctx, offset);
            let Some(value) = value else {
                results.push(constant);
                continue;
            };
            // The variable of a loop is no symbol, and stays so.
            let is_variable = affine::validity::is_induction_variable(self.body, value);
            let value = if is_variable { value } else { self.limited(value, offset, number, end, at) };
            let position = operands.iter().position(|known| *known == value).unwrap_or(operands.len());
            if position == operands.len() {
                operands.push(value);
            }
            results.push(AffineExpr::dim(&ctx, position as u32).add(&ctx, constant));
        }
        (AffineMap::new(&ctx, operands.len() as u32, 0, results), operands)
    }

    /// `value`, or where that plus `offset` would wrap what it may be instead.
    fn limited(
        &mut self,
        value: Value,
        offset: i64,
        number: Option<i64>,
        end: End,
        at: InsertPoint,
    ) -> Value {
        if offset == 0 {
            return value;
        }
        match number.and_then(|number| limit(number, offset, end)) {
            Some(limit) => {
                let limit = self.number(limit, Type::INDEX, at);
                self.pick(end, value, limit, at)
            }
            None => self.within(value, offset, Type::INDEX, at),
        }
    }

    /// Each bound of a loop as a value, if it has one, and a number. There is one without a value at most, the first.
    fn parts(
        &mut self,
        lead: &Origin,
        forms: &[Form],
        end: End,
        at: InsertPoint,
    ) -> Vec<(Option<Value>, i64)> {
        let parts = forms.iter().map(|form| self.part(lead, form, at)).collect();
        let parts: Option<Vec<(Option<Value>, i64)>> = parts;
        let Some(mut parts) = parts else {
            self.give_up(lead.of);
            return vec![(None, 0)];
        };
        let numbers = parts.iter().filter(|(value, _)| value.is_none()).map(|(_, number)| *number);
        let number = if end == End::Lower { numbers.max() } else { numbers.min() };
        parts.retain(|(value, _)| value.is_some());
        number.map(|number| (None, number)).into_iter().chain(parts).collect()
    }

    /// A form as a value that is there and a number; or as one that a bound of the loop in the program has, which is computed again. That one is in range, and so
    /// is what is computed for it with numbers that wrap.
    fn part(&mut self, lead: &Origin, form: &Form, at: InsertPoint) -> Option<(Option<Value>, i64)> {
        let depth = self.scopes.len() as u32;
        let info = self.program.loop_info(lead.of);
        let is_affine = affine::is_loop(self.body, info.op);
        let ty = self.body.value_type(info.variable);
        if let Some((value, offset)) = self.sum_of(form)?.as_offset() {
            let Some(own) = value.filter(|own| self.body.value_type(*own) != ty) else {
                return Some((value, offset));
            };
            // A form looks through casts that keep the number. A bound of an affine loop has to be
            // valid, and a cast may not be.
            if !is_affine {
                return Some((Some(self.value_of(Sum::offset(own, 0), ty, at)), offset));
            }
        }
        let mut here = |level: u32| absolute(lead.map.get(level as usize)?, depth + 1);
        let near = |bound: &Form| {
            let bound = bound.substitute(&mut here)?;
            let offset = form.minus(&bound)?.as_constant()?;
            Some((bound, offset))
        };
        let (bound, offset) = info.space.bounds().find_map(near)?;
        let sum = self.sum_of(&bound)?;
        let key = Computed::Sum(sum.clone(), ty);
        let may_bound = |value: &Value| {
            !is_affine || affine::validity::is_valid_symbol(self.body.op_ref(info.op), *value)
        };
        if let Some(known) = self.known.get(&key).filter(may_bound) {
            return Some((Some(known), offset));
        }
        let mut builder = Builder::new(self.body, at);
        builder.set_loc(self.loc);
        let value = Expression { builder, affine: is_affine }.value(&sum, ty);
        self.known.insert(key, value, false);
        Some((Some(value), offset))
    }

    /// `value` kept where adding `offset` does not wrap.
    fn within(&mut self, value: Value, offset: i64, ty: Type, at: InsertPoint) -> Value {
        let width = ty.integer_width(self.body.ctx()).unwrap_or(64).clamp(1, 64);
        let (least, greatest) = (i64::MIN >> (64 - width), i64::MAX >> (64 - width));
        let (end, limit) = match offset {
            0 => return value,
            ..0 => (End::Lower, least.checked_sub(offset)),
            _ => (End::Upper, greatest.checked_sub(offset)),
        };
        let limit = self.number(limit.unwrap_or_default(), ty, at);
        self.pick(end, value, limit, at)
    }

    pub(super) fn number(&mut self, number: i64, ty: Type, at: InsertPoint) -> Value {
        self.value_of(Sum::constant(number), ty, at)
    }

    fn plus(&mut self, value: Value, offset: i64, ty: Type, at: InsertPoint) -> Value {
        if offset == 0 {
            return value;
        }
        let mut builder = Builder::new(self.body, at);
        builder.set_loc(self.loc);
        Expression { builder, affine: false }.value(&Sum::offset(value, offset), ty)
    }

    /// The greater of two lower bounds, the lesser of two upper bounds.
    fn pick(&mut self, end: End, a: Value, b: Value, at: InsertPoint) -> Value {
        let key = Computed::Bound(end, [a, b]);
        if let Some(known) = self.known.get(&key) {
            return known;
        }
        let def: &'static OpDef = match end {
            End::Lower => arith::MaxSIOp::DEF,
            End::Upper => arith::MinSIOp::DEF,
        };
        let value = self.make(def, &[a, b], at);
        self.known.insert(key, value, false);
        value
    }
}
