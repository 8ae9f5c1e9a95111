//! Loops along a curve: two loops of the tree, one inside the other, that are written as one.
//!
//! The loop counts the positions along [Hilbert's curve](hilbert) in a square. Its body computes
//! the row and the column of a position, which are the iterations of both loops, and runs if both
//! loops have them. In `affine` loops, `affine.apply` computes them and `affine.if` is the
//! condition, so that later passes understand them. Elsewhere these are operations on bits and
//! `scf.if`.
//!
//! # Assumptions
//!
//! - Each iteration of both loops is in the square. Constant bounds of both show it; without, they
//!   are written as two loops. Tried with `fixtures/hilbert/orders.mlir`.
//! - An iteration that is compared with a bound is not computed beyond it, where its type may end.
//!   Tried with `fixtures/hilbert/narrow.mlir`.

use loomir_dialects::{affine, arith, scf};
use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::{
    AffineExpr, AffineMap, AttrKind, Builder, Context, InsertPoint, IntegerSet, Op, OperationState, Type,
    Value,
};

use super::apply::Operands;
use super::bounds::Range;
use super::known::End;
use super::overlap::Make;
use super::{Emit, Reason};
use crate::access::loop_bounds::constant;
use crate::affine::range::fits;
use crate::affine::{AffineForm, Atom};
use crate::tree::levels::absolute;
use crate::tree::{Green, Header, MAX_LEVELS, Mark, Node, Origin, Span};
use bits::{Maps, Words};

mod bits;
mod hilbert;

/// The greatest distance between the iterations of a square. Twice this is far from 64 bits.
const FARTHEST: i64 = 1 << 60;

/// A loop whose iterations are rows or columns of a square.
struct Side<'a> {
    header: &'a Header,
    lead: &'a Origin,
    /// The scale of its bounds.
    scale: i64,
    /// The number of rows and of columns.
    size: i64,
}

/// A bound that some rows or columns do not have: their number, times the scale, is compared with a
/// form over values.
type Bound = (End, AffineForm);

impl<'a> Emit<'a> {
    /// Writes a loop, together with the loop inside if both run along a curve.
    pub(super) fn loop_or_curve(&mut self, header: &'a Header, inside: Green, at: InsertPoint) {
        match self.sides(header, inside) {
            Some((levels, sides, body)) => self.curve(levels, sides, body, at),
            None => self.new_loop(header, inside, at),
        }
    }

    /// Returns the two loops of a curve, with the number of its levels and their body.
    fn sides(&self, header: &'a Header, inside: Green) -> Option<(u32, [Side<'a>; 2], Green)> {
        let Some(Mark::Hilbert { levels }) = header.mark else { return None };
        let Node::Loop { header: inner, body } = self.trees.get(self.trees.only_item(inside)?) else {
            return None;
        };
        let sides = [self.side(header, levels)?, self.side(self.trees.header(inner), levels)?];
        Some((levels, sides, body))
    }

    /// Returns a loop that is marked for a curve of so many levels, if all its iterations are in
    /// the square.
    fn side(&self, header: &'a Header, levels: u32) -> Option<Side<'a>> {
        let (Some(Mark::Hilbert { levels: own }), Span::Range { scale, lower, upper }) =
            (header.mark, &header.span)
        else {
            return None;
        };
        if own != levels || levels > MAX_LEVELS || header.runs_several() {
            return None;
        }
        let size = 1 << levels;
        let lead = self.lead(header)?;
        let has_results = header.origins.iter().any(|own| self.program.loop_info(own.of).has_results());
        scale.checked_mul(size).filter(|own| *own <= FARTHEST && !has_results)?;
        let number = |form: &AffineForm| form.ceil_div(*scale)?.as_constant();
        let begins = lower.iter().filter_map(number).any(|least| least >= 0);
        let ends = upper.iter().filter_map(number).any(|end| end <= size);
        (begins && ends).then_some(Side { header, lead, scale: *scale, size })
    }

    /// Writes the loop over the positions of a square, and what runs along them.
    fn curve(&mut self, levels: u32, sides: [Side<'a>; 2], body: Green, at: InsertPoint) {
        let info = self.program.loop_info(sides[0].lead.of);
        let around = std::mem::replace(&mut self.loc, self.body.loc(info.op));
        let is_affine = sides.iter().any(|own| self.is_affine_side(own));
        let is_index = self.body.value_type(info.variable) == Type::INDEX;
        let ty = if is_affine || is_index { Type::INDEX } else { self.body.ctx().int_type(64) };
        let state = match is_affine {
            true => self.affine_shell(1 << (2 * levels)),
            false => {
                let mut state = OperationState::of(self.body.ctx(), scf::ForOp::DEF, self.loc).regions(1);
                state.operands = [0, 1 << (2 * levels), 1].map(|own| self.number(own, ty, at)).into();
                state
            }
        };
        let op = Builder::new(self.body, at).insert(state);
        self.written.insert(op, info.op);
        self.loops.extend([Some(op); 2]);
        let is_outermost = self.outermost.is_none();
        self.outermost.get_or_insert(op);
        let block = self.body.append_block(self.body.region(op, 0), &[]);
        let position = self.body.add_argument(block, ty);
        self.body.set_argument_loc(position, self.loc);
        self.known.open();
        let end = InsertPoint::End(block);
        let numbers = match is_affine {
            true => Maps::of(self, position, end).place(levels),
            false => Words::of(self, position, end).place(levels),
        };
        let [outer, inner] = sides;
        self.along(&[(outer, numbers[0]), (inner, numbers[1])], body, end);
        self.known.close();
        self.end_of_kind(op, block, &[]);
        self.loc = around;
        if is_outermost {
            self.outermost = None;
        }
    }

    fn is_affine_side(&self, side: &Side<'_>) -> bool {
        affine::is_loop(self.body, self.program.loop_info(side.lead.of).op)
    }

    /// Returns an `affine.for` from zero to a number, without its block.
    fn affine_shell(&self, end: i64) -> OperationState {
        let ctx = self.body.ctx();
        let mut state = OperationState::of(ctx, affine::ForOp::DEF, self.loc).regions(1);
        for (name, bound) in [("lowerBoundMap", 0), ("upperBoundMap", end)] {
            state.set_attr(ctx, name, ctx.attr(AttrKind::AffineMap(AffineMap::constant(ctx, bound))));
        }
        state.set_attr(ctx, "step", ctx.int_attr(Type::INDEX, 1));
        state.set_attr(ctx, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &[0, 0, 0]));
        state
    }

    /// Writes what runs in these rows and columns, if the loops have them. Recurses once for each
    /// loop.
    fn along(&mut self, sides: &[(Side<'a>, Value)], body: Green, at: InsertPoint) {
        let Some(((side, number), inner)) = sides.split_first() else { return self.sequence(body, at) };
        let Side { header, lead, .. } = *side;
        let is_affine = self.body.value_type(*number) == Type::INDEX && self.is_affine_side(side);
        let condition = self.bounds(side).and_then(|bounds| match bounds.is_empty() {
            true => Ok(None),
            false if is_affine => self.in_set(side, &bounds, *number, at).map(Some),
            false => self.compared(side, &bounds, *number, at),
        });
        let condition = condition.unwrap_or_else(|reason| {
            self.give_up(lead.of, reason);
            None
        });
        let block = condition.map(|op| self.body.append_block(self.body.region(op, 0), &[]));
        let here = block.map_or(at, InsertPoint::End);
        self.known.open();
        let meaning = self.meaning(lead);
        let depth = self.scopes.len() as u32;
        let range = meaning.as_ref().and_then(|meaning| Range::of(&header.span, meaning, depth));
        let variable = self.nth(lead, meaning.as_ref(), *number, here);
        self.open_scope((header, lead), variable, meaning, range.as_ref());
        self.along(inner, body, here);
        self.scopes.pop();
        self.known.close();
        if let (Some(op), Some(block)) = (condition, block) {
            let is_set = self.body.is(op, affine::IfOp::DEF);
            let mut builder = Builder::new(self.body, InsertPoint::End(block));
            builder.set_loc(self.loc);
            let state = builder.state(if is_set { affine::YieldOp::DEF } else { scf::YieldOp::DEF });
            builder.insert(state);
        }
    }

    /// Returns the value of an induction variable with this meaning in an iteration.
    fn nth(
        &mut self,
        lead: &Origin,
        meaning: Option<&(AffineForm, i64)>,
        number: Value,
        at: InsertPoint,
    ) -> Value {
        let ty = self.counter_type(lead);
        let own = AffineForm::level(self.scopes.len() as u32);
        let form = meaning.ok_or(Reason::NotCounted).and_then(|(form, scale)| {
            let begin = scale.checked_neg().and_then(|back| form.plus(&own, back));
            Ok((self.settled(self.here(&begin.ok_or(Reason::NotAffine)?)?), *scale))
        });
        let is_affine = affine::is_loop(self.body, self.program.loop_info(lead.of).op);
        let value = form.and_then(|(begin, scale)| match is_affine && ty == Type::INDEX {
            true if begin == AffineForm::constant(0) && scale == 1 => Ok(number),
            true => self.applied_from(&begin, scale, number, at),
            false => {
                let form = begin.plus(&AffineForm::atom(Atom::Param(number)), scale);
                self.computed(&form.ok_or(Reason::NotAffine)?, ty, false, at)
            }
        });
        match value {
            Ok(value) => value,
            Err(reason) => self.anything(lead.of, reason, ty, at),
        }
    }

    /// Returns the result of an `affine.apply` that adds a multiple of a value to a form over
    /// values. Both the form and the sum are in range.
    fn applied_from(
        &mut self,
        begin: &AffineForm,
        scale: i64,
        number: Value,
        at: InsertPoint,
    ) -> Result<Value, Reason> {
        let ctx = self.body.ctx().clone();
        let mut operands = Operands::default();
        let begin = self.affine_expr(begin, true, &mut operands, at)?;
        let own = times(&ctx, &mut operands, number, scale);
        let (map, operands) = operands.into_map(&ctx, vec![begin.add(&ctx, own)]);
        let mut builder = Builder::new(self.body, at);
        builder.set_loc(self.loc);
        let state = builder.state(affine::ApplyOp::DEF).operands(&operands).results(&[Type::INDEX]);
        Ok(builder.value(state.attr(&ctx, "map", ctx.attr(AttrKind::AffineMap(map)))))
    }

    /// Returns a form over values with the numbers of its constants.
    fn settled(&self, form: AffineForm) -> AffineForm {
        let mut settled = form.clone();
        for (atom, coefficient) in form.terms() {
            let Atom::Param(value) = atom else { continue };
            let Some(number) = constant(self.body, *value) else { continue };
            let gap = AffineForm::constant(number).minus(&AffineForm::atom(atom.clone()));
            match gap.and_then(|gap| settled.plus(&gap, *coefficient)) {
                Some(own) => settled = own,
                None => return form,
            }
        }
        settled
    }

    /// Returns the bounds of the next written loop that may not hold for all rows or columns.
    fn bounds(&self, side: &Side<'a>) -> Result<Vec<Bound>, Reason> {
        let Span::Range { lower, upper, .. } = &side.header.span else { return Err(Reason::NotCounted) };
        let last = i128::from(side.scale * (side.size - 1));
        let lower = lower.iter().map(|form| (End::Lower, form));
        let all = lower.chain(upper.iter().map(|form| (End::Upper, form)));
        let mut bounds = Vec::new();
        for (end, form) in all {
            let form = absolute(form, self.scopes.len() as u32).ok_or(Reason::NotAffine)?;
            let form = self.settled(self.here(&form)?);
            let (least, most) = self.range_of(&form);
            let holds = if end == End::Lower { most <= 0 } else { least > last };
            bounds.extend((!holds).then_some((end, form)));
        }
        Ok(bounds)
    }

    /// Returns an `affine.if` that runs if a loop has this iteration.
    fn in_set(
        &mut self,
        side: &Side<'a>,
        bounds: &[Bound],
        number: Value,
        at: InsertPoint,
    ) -> Result<Op, Reason> {
        let ctx = self.body.ctx().clone();
        let mut operands = Operands::default();
        let mut all = Vec::with_capacity(bounds.len());
        for (end, form) in bounds {
            // The difference to the bound does not leave 64 bits.
            if self.range_of(form).0 <= i128::from(-FARTHEST) {
                return Err(Reason::BoundMayWrap);
            }
            let bound = self.affine_expr(form, false, &mut operands, at)?;
            let own = times(&ctx, &mut operands, number, side.scale);
            let one = AffineExpr::constant(&ctx, 1);
            all.push(match end {
                End::Lower => own.sub(&ctx, bound),
                End::Upper => bound.sub(&ctx, own).sub(&ctx, one),
            });
        }
        let (map, values) = operands.into_map(&ctx, all);
        let constraints = map.results(&ctx).iter().map(|own| (*own, false)).collect();
        let set = IntegerSet::new(&ctx, map.num_inputs(&ctx) as u32, 0, constraints);
        let mut builder = Builder::new(self.body, at);
        builder.set_loc(self.loc);
        let state = builder.state(affine::IfOp::DEF).regions(2).operands(&values);
        Ok(builder.insert(state.attr(&ctx, "condition", ctx.attr(AttrKind::IntegerSet(set)))))
    }

    /// Returns an `scf.if` that runs if a loop has this iteration.
    fn compared(
        &mut self,
        side: &Side<'a>,
        bounds: &[Bound],
        number: Value,
        at: InsertPoint,
    ) -> Result<Option<Op>, Reason> {
        let ty = self.body.value_type(number);
        let mut condition = None;
        for (end, form) in bounds {
            let range = self.range_of(form);
            // The difference of two values of 64 bits is one without a sign, if it is not negative.
            let is_difference = range.0 >= 0 && range.1 <= u64::MAX.into() && form.terms().len() > 1;
            let predicate = match end {
                End::Upper if fits(range, 64) => "slt",
                End::Lower if fits(range, 64) => "sge",
                End::Upper if is_difference => "ult",
                _ => return Err(Reason::TooWide),
            };
            let own = AffineForm::atom(Atom::Param(number)).times(side.scale).ok_or(Reason::NotAffine)?;
            let own = self.computed(&own, ty, false, at)?;
            let bound = self.computed(form, ty, false, at)?;
            let mut builder = Builder::new(self.body, at);
            builder.set_loc(self.loc);
            let holds = builder.compare(predicate, [own, bound]);
            condition = Some(match condition {
                Some(others) => self.make(arith::AndIOp::DEF, &[others, holds], at),
                None => holds,
            });
        }
        let mut builder = Builder::new(self.body, at);
        builder.set_loc(self.loc);
        let state = |condition| builder.state(scf::IfOp::DEF).regions(2).operands(&[condition]);
        let state = condition.map(state);
        Ok(state.map(|state| builder.insert(state)))
    }
}

/// Returns a multiple of a value as an expression over operands.
fn times(ctx: &Context, operands: &mut Operands, value: Value, scale: i64) -> AffineExpr {
    let own = AffineExpr::dim(ctx, operands.dimension(value));
    own.mul(ctx, AffineExpr::constant(ctx, scale))
}
