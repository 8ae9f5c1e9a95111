//! Bounds of a loop whose iterations differ from those of the program's loop.
//!
//! A bound is any affine form over available values. It must not wrap. Three ways ensure this. A
//! value plus a constant is limited before the constant is added, in its own type. Other sums are
//! written directly if [ranges](super::reach) prove that they fit. Otherwise they are computed in a
//! wider type and cut off at the ends of the induction variable's type, beyond which there is no
//! iteration to lose. Maps of `affine` loops cannot be cut off, so there a bound may be refused.
//!
//! # Assumptions
//!
//! - A loop that moved out of another one may be reached where it was not before. It has no
//!   iteration there that accesses anything, but it counts: its bounds must not be poison, and its
//!   counter must not wrap. Tried in `fixtures/interchange/unreached.mlir`.
//! - A bound near the end of its type, of 5 bits or 64, is cut off and does not wrap. Tried with
//!   300 random pairs of loops at both ends of `i5`, `i8`, `i64` and `index`.

use loomir_dialects::{affine, arith, scf};
use loomir_ir::opdef::{OPERAND_SEGMENTS, OpDef};
use loomir_ir::{AffineExpr, AttrKind, InsertPoint, OperationState, Type, Value};

use super::apply::Operands;
use super::expression::Sum;
use super::known::{Computed, End};
use super::{Emit, Reason, outside};
use crate::affine::classes::may_be_poison;
use crate::affine::range::fits;
use crate::affine::{AffineForm, Atom};
use crate::tree::LoopId;
use crate::tree::levels::absolute;
use crate::tree::{Header, Origin, Span};

/// The values of an induction variable: from the greatest of `lower` on, below the least of
/// `upper`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Range {
    /// Forms over levels.
    pub lower: Vec<AffineForm>,
    pub upper: Vec<AffineForm>,
    step: i64,
}

impl Range {
    /// Returns the range of an induction variable for the levels in `span`. The variable is
    /// `meaning`, in which the loop's level has the positive coefficient `step`.
    pub(super) fn of(span: &Span, (meaning, step): &(AffineForm, i64), depth: u32) -> Option<Range> {
        let Span::Range { scale, lower, upper } = span else { return None };
        let rest = meaning.plus(&AffineForm::level(depth), step.checked_neg()?)?;
        let first = |form: &AffineForm| rest.plus(&absolute(form, depth)?.ceil_div(*scale)?, *step);
        // With a step equal to the scale, rounding the bound up to a multiple of the step changes
        // no iteration.
        let last = |form: &AffineForm| match scale == step {
            true => rest.plus(&absolute(form, depth)?, 1),
            false => first(form),
        };
        Some(Range {
            lower: lower.iter().map(first).collect::<Option<_>>()?,
            upper: upper.iter().map(last).collect::<Option<_>>()?,
            step: *step,
        })
    }

    /// Returns the only value of the induction variable, if there is exactly one.
    pub(super) fn only_value(&self) -> Option<&AffineForm> {
        let ([lower], [upper]) = (&self.lower[..], &self.upper[..]) else { return None };
        let extent = upper.minus(lower)?.as_constant()?;
        (0 < extent && extent <= self.step).then_some(lower)
    }
}

/// Returns the least and the greatest number of `width` bits, at most 64.
fn ends(width: u32) -> (i64, i64) {
    (i64::MIN >> (64 - width), i64::MAX >> (64 - width))
}

/// Returns the limit to apply to a value before `offset` is added, given the constant bound
/// `number` beside the sum: max(n, v + k) = max(n - k, v) + k, which does not wrap for `k ≤ 0`;
/// symmetrically for min. `None` if it could wrap.
fn limit(number: i64, offset: i64, end: End, width: u32) -> Option<i64> {
    let limit = number.checked_sub(offset).filter(|limit| fits(((*limit).into(), (*limit).into()), width));
    limit.filter(|_| match end {
        End::Lower => offset <= 0,
        End::Upper => offset >= 0,
    })
}

impl Emit<'_> {
    /// Returns the operation of a loop over `range`, without its block.
    pub(super) fn bounded_shell(
        &mut self,
        header: &Header,
        lead: &Origin,
        range: &Range,
        at: InsertPoint,
    ) -> OperationState {
        let info = self.program.loop_info(lead.of);
        let ctx = self.body.ctx().clone();
        let ty = self.counter_type(lead);
        let inits = self.inits(header, at);
        let types = inits.iter().map(|value| self.body.value_type(*value)).collect();
        if let Some(reason) = self.overflow(lead, range, ty) {
            self.give_up(lead.of, reason);
        }
        let mut state;
        if affine::is_loop(self.body, info.op) {
            state = OperationState::of(&ctx, affine::ForOp::DEF, self.loc).regions(1);
            let mut counts = Vec::new();
            let bounds = [("lowerBoundMap", End::Lower), ("upperBoundMap", End::Upper)];
            for (name, end) in bounds {
                let forms = if end == End::Lower { &range.lower } else { &range.upper };
                let mut operands = Operands::default();
                let results = self.affine_bounds(lead, forms, end, &mut operands, at).unwrap_or_else(|why| {
                    self.give_up(lead.of, why);
                    vec![AffineExpr::constant(&ctx, 0)]
                });
                let (map, values) = operands.into_map(&ctx, results);
                state.set_attr(&ctx, name, ctx.attr(AttrKind::AffineMap(map)));
                counts.push(values.len() as i64);
                state.operands.extend(values);
            }
            state.set_attr(&ctx, "step", ctx.int_attr(Type::INDEX, range.step));
            counts.push(inits.len() as i64);
            state.set_attr(&ctx, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &counts));
        } else {
            state = OperationState::of(&ctx, scf::ForOp::DEF, self.loc).regions(1);
            for (forms, end) in [(&range.lower, End::Lower), (&range.upper, End::Upper)] {
                let bound = self.bound(lead, forms, end, ty, at).unwrap_or_else(|why| {
                    self.give_up(lead.of, why);
                    self.number(0, ty, at)
                });
                state.operands.push(bound);
            }
            let step = self.body.operands(info.op).nth(2);
            let is_for = self.body.is(info.op, scf::ForOp::DEF);
            let is_same = |step: &Value| {
                is_for && info.space.step == Some(range.step) && self.body.value_type(*step) == ty
            };
            state.operands.push(match step.filter(is_same) {
                Some(step) => self.resolve(step, &outside(&lead.map), at),
                None => self.number(range.step, ty, at),
            });
        }
        state.result_types = types;
        state.operands.extend(inits);
        state
    }

    /// Returns the reason why an induction variable may leave its type.
    pub(super) fn overflow(&self, lead: &Origin, range: &Range, ty: Type) -> Option<Reason> {
        let width = ty.integer_width(self.body.ctx()).unwrap_or(64);
        if !(1..=64).contains(&width) {
            return Some(Reason::TooWide);
        }
        let (least, greatest) = ends(width);
        // The loops over blocks have steps that the program has not.
        if range.step > greatest {
            return Some(Reason::StepMayWrap);
        }
        let here =
            |forms: &[AffineForm]| forms.iter().filter_map(|form| self.here(form).ok()).collect::<Vec<_>>();
        let (lower, upper) = (here(&range.lower), here(&range.upper));
        // A lower bound that is clamped to the type changes the start, and so all later values.
        let starts_in_type = lower.iter().any(|form| self.range_of(form).0 >= least.into());
        if range.step > 1 && !starts_in_type {
            return Some(Reason::StartMayWrap);
        }
        let info = self.program.loop_info(lead.of);
        let is_reached = self.is_reached_as_before(lead.of);
        if !is_reached && self.may_be_poison(range) {
            return Some(Reason::BoundMayBePoison);
        }
        // These values also occur in the original loop, which reaches its end.
        let is_part = is_reached
            && info.space.step == Some(range.step)
            && range.upper.iter().any(|own| {
                let bounds = info.space.uppers.iter().flatten();
                let gap = |bound: &AffineForm| own.minus(&self.around(lead, bound)?)?.as_constant();
                bounds.filter_map(gap).any(|gap| gap <= 0)
            });
        let step = i128::from(range.step);
        let ends_early =
            upper.iter().any(|form| self.range_of(form).1.saturating_add(step) <= greatest.into());
        let reached = self.reached(&lower, info.space.step).filter(|_| width == 64);
        let is_far = reached.is_some_and(|most| most.checked_add(range.step).is_some());
        let is_sound = range.step == 1 || is_part || ends_early || is_far;
        (!is_sound).then_some(Reason::StepMayWrap)
    }

    /// True if the program reaches a loop wherever it is reached here: it is still inside of each
    /// loop that was around it. Moved out of one that has no iteration, it would run for the first
    /// time.
    fn is_reached_as_before(&self, of: LoopId) -> bool {
        let around = self.program.path(self.program.loop_info(of).parent);
        around.iter().all(|own| self.scopes.iter().any(|scope| scope.runs.contains(own)))
    }

    /// True if a bound may be poison. The program need not have used it.
    fn may_be_poison(&self, range: &Range) -> bool {
        let is_fine = |atom: &Atom| match atom {
            Atom::Param(value) => !may_be_poison(self.body, *value, true),
            _ => true,
        };
        !range.lower.iter().chain(&range.upper).all(|form| form.all_atoms(&is_fine))
    }

    /// Returns a bound of a loop of the program here, over levels.
    pub(super) fn around(&self, lead: &Origin, bound: &AffineForm) -> Option<AffineForm> {
        let depth = self.scopes.len() as u32;
        bound.substitute(&mut |level| absolute(lead.map.get(level as usize)?, depth + 1))
    }

    /// Returns one value: the greatest of the lower bounds, or the least of the upper bounds.
    fn bound(
        &mut self,
        lead: &Origin,
        forms: &[AffineForm],
        end: End,
        ty: Type,
        at: InsertPoint,
    ) -> Result<Value, Reason> {
        let width = ty.integer_width(self.body.ctx()).unwrap_or(64).clamp(1, 64);
        let mut parts = Vec::with_capacity(forms.len());
        for form in forms {
            parts.push(self.part(lead, form, ty, at)?);
        }
        let fits = |form: &AffineForm| self.here(form).is_ok_and(|here| self.always_fits(&here, width));
        let fits: Vec<bool> = forms.iter().map(fits).collect();
        let number = constant_of(&parts, end).map(|number| number.clamp(ends(width).0, ends(width).1));
        let mut result: Option<Value> = None;
        for ((value, offset), fits) in parts.into_iter().zip(fits) {
            let Some(value) = value else { continue };
            let (value, left) = match fits {
                true => (value, number),
                false => self.limited(value, offset, number, end, ty, at),
            };
            let mut bound = self.plus(value, offset, ty, at);
            if let Some(number) = left {
                let number = self.number(number, ty, at);
                bound = self.pick(end, bound, number, at);
            }
            result = Some(match result {
                Some(other) => self.pick(end, other, bound, at),
                None => bound,
            });
        }
        Ok(result.unwrap_or_else(|| self.number(number.unwrap_or_default(), ty, at)))
    }

    /// Returns the bounds as the results of a map.
    fn affine_bounds(
        &mut self,
        lead: &Origin,
        forms: &[AffineForm],
        end: End,
        operands: &mut Operands,
        at: InsertPoint,
    ) -> Result<Vec<AffineExpr>, Reason> {
        let ctx = self.body.ctx().clone();
        let constants: Vec<_> = forms.iter().filter_map(|form| Some((None, form.as_constant()?))).collect();
        let number = constant_of(&constants, end);
        let mut results: Vec<AffineExpr> =
            number.map(|number| AffineExpr::constant(&ctx, number)).into_iter().collect();
        for form in forms.iter().filter(|form| form.as_constant().is_none()) {
            let here = self.here(form)?;
            let is_one = matches!(self.sum(&here)?.as_offset(), Some((Some(_), _)));
            // A symbol plus a constant may wrap, and no affine expression can express that.
            let direct = match is_one && here.constant_part() != 0 && self.is_of_symbol(&here, at) {
                true => Err(Reason::BoundMayWrap),
                false => self.affine_expr(&here, self.bounds_program(lead, form), operands, at),
            };
            results.push(match direct {
                Ok(expr) => expr,
                Err(reason) => {
                    let (value, offset) = self.part(lead, form, Type::INDEX, at)?;
                    let value = value.ok_or(reason)?;
                    let (value, _) = self.limited(value, offset, number, end, Type::INDEX, at);
                    if !self.may_be_dimension(value, at) {
                        return Err(reason);
                    }
                    let dimension = AffineExpr::dim(&ctx, operands.dimension(value));
                    dimension.add(&ctx, AffineExpr::constant(&ctx, offset))
                }
            });
        }
        Ok(results)
    }

    /// Returns true if a form over levels is a bound of the original loop, and so in range.
    fn bounds_program(&self, lead: &Origin, form: &AffineForm) -> bool {
        let bounds = self.program.loop_info(lead.of).space.bounds();
        bounds.filter_map(|bound| self.around(lead, bound)).any(|bound| bound == *form)
    }

    /// Returns `value`, limited so that adding `offset` does not wrap. Also returns `number` if it
    /// must still be compared with the sum.
    fn limited(
        &mut self,
        value: Value,
        offset: i64,
        number: Option<i64>,
        end: End,
        ty: Type,
        at: InsertPoint,
    ) -> (Value, Option<i64>) {
        let width = ty.integer_width(self.body.ctx()).unwrap_or(64).clamp(1, 64);
        if let Some(limit) = number.and_then(|number| limit(number, offset, end, width)) {
            let limit = self.number(limit, ty, at);
            return (self.pick(end, value, limit, at), None);
        }
        let (least, greatest) = ends(width);
        let (side, limit) = match offset {
            0 => return (value, number),
            ..0 => (End::Lower, least - offset),
            _ => (End::Upper, greatest - offset),
        };
        let limit = self.number(limit, ty, at);
        (self.pick(side, value, limit, at), number)
    }

    /// Returns a form over levels as a value of this type and a constant. The value is a value of
    /// the program, or a recomputed bound of the program's loop, which is in range. Otherwise it is
    /// the form itself, cut off at the ends of the type.
    fn part(
        &mut self,
        lead: &Origin,
        form: &AffineForm,
        ty: Type,
        at: InsertPoint,
    ) -> Result<(Option<Value>, i64), Reason> {
        let here = self.here(form)?;
        let info = self.program.loop_info(lead.of);
        let is_affine = affine::is_loop(self.body, info.op);
        let width = ty.integer_width(self.body.ctx()).unwrap_or(64);
        let is_small = |offset: i64| fits((offset.into(), offset.into()), width);
        match self.sum(&here)?.as_offset() {
            Some((None, number)) => return Ok((None, number)),
            Some((Some(value), offset)) if is_small(offset) && self.body.value_type(value) == ty => {
                return Ok((Some(value), offset));
            }
            _ => {}
        }
        let near = |bound: &AffineForm| {
            let bound = self.around(lead, bound)?;
            let offset = form.minus(&bound)?.as_constant().filter(|offset| is_small(*offset))?;
            Some((bound, offset))
        };
        if let Some((bound, offset)) = info.space.bounds().find_map(near) {
            let bound = self.here(&bound)?;
            return Ok((Some(self.computed(&bound, ty, is_affine, at)?), offset));
        }
        let range = self.range_of(&here);
        if fits(range, width) {
            return Ok((Some(self.computed(&here, ty, is_affine, at)?), 0));
        }
        let wide = self.body.ctx().int_type(bits(range).filter(|bits| *bits > width).unwrap_or(128));
        bits(range).ok_or(Reason::TooWide)?;
        let (least, greatest) = ends(width);
        let mut value = self.computed(&here, wide, false, at)?;
        if range.0 < least.into() {
            let least = self.number(least, wide, at);
            value = self.pick(End::Lower, value, least, at);
        }
        if range.1 > greatest.into() {
            let greatest = self.number(greatest, wide, at);
            value = self.pick(End::Upper, value, greatest, at);
        }
        Ok((Some(self.value_of(Sum::offset(value, 0), ty, at)), 0))
    }

    pub(super) fn number(&mut self, number: i64, ty: Type, at: InsertPoint) -> Value {
        self.value_of(Sum::constant(number), ty, at)
    }

    fn plus(&mut self, value: Value, offset: i64, ty: Type, at: InsertPoint) -> Value {
        self.value_of(Sum::offset(value, offset), ty, at)
    }

    /// Returns the greater of two lower bounds, or the lesser of two upper bounds.
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

/// Returns the constant among the bounds that decides.
fn constant_of(parts: &[(Option<Value>, i64)], end: End) -> Option<i64> {
    let numbers = parts.iter().filter(|(value, _)| value.is_none()).map(|(_, number)| *number);
    if end == End::Lower { numbers.max() } else { numbers.min() }
}

/// Returns the number of bits that a range needs, 64 or 128. `None` if it may need more.
pub(super) fn bits(range: (i128, i128)) -> Option<u32> {
    const MOST: i128 = 1 << 120;
    match range {
        _ if fits(range, 64) => Some(64),
        (least, greatest) => (-MOST <= least && greatest <= MOST).then_some(128),
    }
}
