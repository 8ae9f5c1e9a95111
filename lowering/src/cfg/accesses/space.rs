//! Iteration domains of blocks: from trip counts of the surrounding loops, and conditions of
//! branches on the way to the block.
//!
//! A level is the number of the loop's iteration, from zero, at its header. If an exit is taken at
//! iteration `c`, no iteration follows, and the code behind the exit runs only in earlier
//! iterations. If one side alone of a branch leads to a block that dominates this one, its
//! condition held. A maximum or an inequality makes several *pieces*: convex sets whose union is
//! the domain.

use loomir_dialects::llvm;
use loomir_ir::Value;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::graph::post_dominators::PostDominatorTree;
use loomir_transforms::affine::facts::Facts;
use loomir_transforms::affine::operation::Predicate;
use loomir_transforms::affine::system::System;
use loomir_transforms::affine::{AffineForm, Atom};
use loomir_transforms::polyhedra::{Emptiness, Limits};

use super::numbers::{Numbers, fits};
use crate::cfg::scev::expr::{Cast, Expr, ExprId, ExprType, MinMax};
use crate::cfg::scev::facts::Connective;
use loomir_dialects::ranges::sum;

/// Most pieces of a space.
const MAX_PIECES: usize = 8;
/// The number of blocks searched upwards for conditions.
const MAX_BLOCKS: usize = 256;
/// The maximal nesting of conditions, minima and maxima to examine.
const MAX_NESTING: u32 = 8;

/// The limits on one question about constraints.
const LIMITS: Limits = Limits::steps(20_000);

/// A union of convex sets. In each set, none of the forms is negative.
type Pieces = Vec<Vec<AffineForm>>;

/// The iteration domain of a block.
#[derive(Clone, Debug)]
pub(super) struct Space {
    pub(super) pieces: Pieces,
    /// True if the block runs in all of these iterations, provided that loops terminate and calls
    /// return.
    pub(super) exact: bool,
}

impl Space {
    /// Intersects the domain with a union of conditions. Becomes inexact without a change if there
    /// are too many pieces.
    fn narrow(&mut self, by: Option<Pieces>) {
        let Some(by) = by else {
            self.exact = false;
            return;
        };
        if by.len() * self.pieces.len() > MAX_PIECES {
            self.exact = false;
            return;
        }
        self.pieces =
            self.pieces.iter().flat_map(|piece| by.iter().map(move |more| narrowed(piece, more))).collect();
        self.pieces.dedup();
    }

    /// Removes pieces that are contained in others, by a quick test. An extra piece costs time and
    /// is not wrong.
    pub(super) fn merge(&mut self, levels: u32, facts: &Facts) {
        let mut at = 0;
        while at < self.pieces.len() && self.pieces.len() > 1 {
            let own = &self.pieces[at];
            let is_in = |other: &Vec<AffineForm>| {
                other.iter().all(|form| match follows_from_one(own, form) {
                    Some(follows) => follows,
                    None => follows(own, form, levels, facts),
                })
            };
            let is_contained = (0..self.pieces.len()).any(|other| other != at && is_in(&self.pieces[other]));
            if is_contained {
                self.pieces.remove(at);
            } else {
                at += 1;
            }
        }
    }
}

/// Decides if a form is not negative by the known forms that bound the same sum. An equal sum with
/// a smaller constant proves it; any other bound of that sum does not. `None` if no known form
/// bounds it, but all of its terms occur in some.
fn follows_from_one(known: &[AffineForm], form: &AffineForm) -> Option<bool> {
    let negated = form.times(-1)?;
    let mut is_bounded = false;
    for own in known {
        if own.terms() == form.terms() {
            if own.constant_part() <= form.constant_part() {
                return Some(true);
            }
            is_bounded = true;
        }
        is_bounded |= own.terms() == negated.terms();
    }
    let occurs = |atom: &Atom| known.iter().any(|own| own.terms().iter().any(|(other, _)| other == atom));
    let may_follow = !is_bounded && form.terms().iter().all(|(atom, _)| occurs(atom));
    if may_follow { None } else { Some(false) }
}

/// True if a form is not negative wherever none of the known forms is negative.
pub(super) fn follows(known: &[AffineForm], form: &AffineForm, levels: u32, facts: &Facts) -> bool {
    let below = form.times(-1).and_then(|form| form.plus(&AffineForm::constant(1), -1));
    below.is_some_and(|below| {
        let outside = System::over(levels, known.iter().chain([&below]));
        matches!(outside.is_empty(facts, &LIMITS), Emptiness::Empty)
    })
}

/// Returns constraints with more constraints. Among those that differ in their constants alone, the
/// narrowest is kept.
fn narrowed(piece: &[AffineForm], more: &[AffineForm]) -> Vec<AffineForm> {
    let mut both = piece.to_vec();
    for form in more {
        match both.iter_mut().find(|own| own.terms() == form.terms()) {
            Some(own) if own.constant_part() > form.constant_part() => *own = form.clone(),
            Some(_) => {}
            None => both.push(form.clone()),
        }
    }
    both
}

/// Returns the union of two lists of pieces.
fn either(a: Option<Pieces>, b: Option<Pieces>) -> Option<Pieces> {
    let all = [a?, b?].concat();
    (all.len() <= MAX_PIECES).then_some(all)
}

impl Numbers<'_, '_> {
    /// Returns the iterations in which a block runs.
    pub(super) fn space(&mut self, node: u32, post_dominators: &PostDominatorTree) -> Space {
        let mut space = Space { pieces: vec![Vec::new()], exact: true };
        let mut around: Vec<LoopId> = self.scev.analysis().loops_around(node).collect();
        around.reverse();
        for of in around {
            self.iterations(of, node, &mut space);
        }
        self.conditions(node, post_dominators, &mut space);
        space
    }

    /// Adds the constraints that the exits of a loop put on the iterations of one of its blocks.
    fn iterations(&mut self, of: LoopId, node: u32, space: &mut Space) {
        let level = AffineForm::level(self.level(of));
        space.narrow(Some(vec![vec![level.clone()]]));
        let counts = self.scev.counts(of);
        for exit in counts.exits.iter().filter(|exit| !exit.limit.never) {
            space.exact &= exit.limit.exact.is_some();
            let Some(count) = exit.limit.exact.or(exit.limit.symbolic_max) else { continue };
            let is_behind = exit.limit.exact.is_some()
                && exit.from != node
                && self.scev.analysis().dominators().dominates(exit.from, node);
            let bounds = self.at_most(count, of, MAX_NESTING).and_then(|bounds| {
                let below = |bound: &AffineForm| {
                    bound.plus(&AffineForm::constant(1), -i64::from(is_behind))?.minus(&level)
                };
                let pieces =
                    bounds.iter().map(|piece| piece.iter().map(below).collect::<Option<Vec<AffineForm>>>());
                pieces.collect::<Option<Pieces>>()
            });
            // A level is never negative, so a piece that requires it is empty.
            let is_some = |piece: &Vec<AffineForm>| {
                let opposite = |form: &AffineForm| form.plus(&level, 1).and_then(|sum| sum.as_constant());
                !piece.iter().any(|form| opposite(form).is_some_and(|most| most < 0))
            };
            space.narrow(bounds.map(|pieces| {
                let all: Pieces = pieces.iter().filter(|piece| is_some(piece)).cloned().collect();
                if all.is_empty() { pieces } else { all }
            }));
        }
    }

    /// Returns, in pieces, the minimum of an expression that is read as unsigned and
    /// loop-invariant.
    fn at_most(&mut self, id: ExprId, of: LoopId, depth: u32) -> Option<Pieces> {
        let site = Some(of);
        let is_natural = self.range_of(id, site).signed.0 >= 0;
        let parts = match self.scev.get(id).clone() {
            Expr::MinMax(kind, operands) if depth > 0 && is_natural => {
                let is_signed = matches!(kind, MinMax::SMin | MinMax::SMax);
                let is_least = matches!(kind, MinMax::SMin | MinMax::UMin | MinMax::SequentialUMin);
                let mut all: Option<Pieces> = None;
                for operand in operands {
                    // A negative number is large when read as unsigned.
                    if !is_signed && self.range_of(operand, site).signed.0 < 0 {
                        return None;
                    }
                    let own = self.signed_at_most(operand, of, depth - 1)?;
                    all = match all {
                        None => Some(own),
                        Some(known) if is_least => Some(cross(&known, &own)?),
                        Some(known) => Some(either(Some(known), Some(own))?),
                    };
                }
                all
            }
            Expr::Cast(Cast::ZeroExtend, inner, _) if depth > 0 => self.at_most(inner, of, depth - 1),
            Expr::Add(_) if is_natural => self.signed_at_most(id, of, depth),
            _ => None,
        };
        parts.or_else(|| Some(vec![vec![self.unsigned(id, site)?.to_form()?]]))
    }

    /// Returns the same for an expression read as signed.
    fn signed_at_most(&mut self, id: ExprId, of: LoopId, depth: u32) -> Option<Pieces> {
        let site = Some(of);
        if let Some(form) = self.expr(id, site).and_then(|found| found.to_form()) {
            return Some(vec![vec![form]]);
        }
        match self.scev.get(id).clone() {
            Expr::MinMax(..) | Expr::Cast(Cast::ZeroExtend, ..) if self.range_of(id, site).signed.0 >= 0 => {
                self.at_most(id, of, depth.checked_sub(1)?)
            }
            Expr::MinMax(kind @ (MinMax::SMax | MinMax::SMin), operands) => {
                let mut all: Option<Pieces> = None;
                for operand in operands {
                    let own = self.signed_at_most(operand, of, depth.checked_sub(1)?)?;
                    all = Some(match all {
                        None => own,
                        Some(known) if kind == MinMax::SMin => cross(&known, &own)?,
                        Some(known) => either(Some(known), Some(own))?,
                    });
                }
                all
            }
            Expr::Add(operands) if self.is_exact_sum(id, &operands, of) => {
                let (mut rest, mut inner) = (AffineForm::default(), None);
                for operand in operands {
                    match self.expr(operand, site).and_then(|found| found.to_form()) {
                        Some(form) => rest = rest.plus(&form, 1)?,
                        None if inner.is_none() => inner = Some(operand),
                        None => return None,
                    }
                }
                let pieces = self.signed_at_most(inner?, of, depth.checked_sub(1)?)?;
                let moved = |piece: &Vec<AffineForm>| piece.iter().map(|form| form.plus(&rest, 1)).collect();
                pieces.iter().map(moved).collect()
            }
            _ => None,
        }
    }

    /// Adds the conditions of branches on the paths to a block.
    fn conditions(&mut self, node: u32, post_dominators: &PostDominatorTree, space: &mut Space) {
        let mut below = node;
        for _ in 0..MAX_BLOCKS {
            let analysis = self.scev.analysis();
            let Some(above) = analysis.dominators().idom(below) else { return };
            let (graph, loops) = (analysis.graph(), analysis.loops());
            let own = loops.innermost(below).filter(|own| loops.get(*own).header() == below);
            let is_entry = |from: &&u32| !own.is_some_and(|own| loops.contains(own, **from));
            let entries = graph.predecessors(below).iter().filter(is_entry).count();
            let is_one_iteration = loops.innermost(above).is_none_or(|of| loops.contains(of, node));
            let is_branch = entries == 1 && graph.successors(above).len() > 1;
            if is_branch && is_one_iteration {
                let said = self.branch(above, below);
                space.narrow(said);
            } else if (is_branch || entries != 1) && !post_dominators.post_dominates(below, above) {
                space.exact = false;
            }
            below = above;
        }
        space.exact = false;
    }

    /// Returns the condition of a branch for going from one block to another that it alone leads
    /// to.
    fn branch(&mut self, from: u32, to: u32) -> Option<Pieces> {
        let function = self.scev.function();
        let analysis = self.scev.analysis();
        let (branch, to) = (function.terminator(analysis.block(from))?, analysis.block(to));
        let site = analysis.loops().innermost(from);
        let successors: Vec<_> = function.successors(branch).collect();
        if function.is(branch, llvm::CondBrOp::DEF) && successors[0] != successors[1] {
            return self.condition(function.operand(branch, 0), successors[0] == to, site, MAX_NESTING);
        }
        let mut ways = successors.iter().enumerate().filter(|(_, own)| **own == to);
        if !function.is(branch, llvm::SwitchOp::DEF) {
            return None;
        }
        let (way, None) = (ways.next()?.0, ways.next()) else { return None };
        let width = self.scev.expr_type(function.operand(branch, 0))?.width();
        let bits = *self.scev.case_values(branch).get(way.checked_sub(1)?)?;
        let case = i64::try_from(loomir_dialects::interp::integer::signed(width, bits)).ok()?;
        let flag = self.of(function.operand(branch, 0), site).to_form()?;
        compared(Predicate::Eq, &flag, &AffineForm::constant(case))
    }

    /// Returns the domain in which a condition is true, or false.
    fn condition(
        &mut self,
        condition: Value,
        is_true: bool,
        site: Option<LoopId>,
        depth: u32,
    ) -> Option<Pieces> {
        let function = self.scev.function();
        let op = function.defining_op(condition)?;
        let depth = depth.checked_sub(1)?;
        match self.scev.connective(op) {
            Some(Connective::Not(inner)) => return self.condition(inner, !is_true, site, depth),
            Some(Connective::Both { conjunction, operands, .. }) => {
                let [a, b] = operands.map(|operand| self.condition(operand, is_true, site, depth));
                return if conjunction == is_true { cross(&a?, &b?) } else { either(a, b) };
            }
            None => {}
        }
        let predicate = self.scev.predicate(op)?;
        let mut predicate = if is_true { predicate } else { predicate.inverse() };
        let mut sides = [0, 1].map(|index| function.operand(op, index));
        let is_number = |side: &Value| matches!(self.scev.expr_type(*side), Some(ExprType::Integer(1..=64)));
        if !sides.iter().all(is_number) {
            return None;
        }
        if matches!(predicate, Predicate::Ugt | Predicate::Uge) {
            predicate = predicate.swapped();
            sides.swap(0, 1);
        }
        let [a, b] = sides;
        let is_unsigned = matches!(predicate, Predicate::Ult | Predicate::Ule);
        if is_unsigned && !self.is_natural(b, site) {
            return None;
        }
        let (x, y) = (self.of(a, site).to_form()?, self.of(b, site).to_form()?);
        let mut pieces = compared(predicate, &x, &y)?;
        if is_unsigned && !self.is_natural(a, site) {
            // A negative number is large when read as unsigned.
            pieces.iter_mut().for_each(|piece| piece.push(x.clone()));
        }
        Some(pieces)
    }

    fn is_exact_sum(&mut self, id: ExprId, operands: &[ExprId], of: LoopId) -> bool {
        let ranges: Vec<_> = operands.iter().map(|operand| self.range_of(*operand, Some(of))).collect();
        let width = self.scev.width(id);
        self.scev.flags(id).nsw || sum(&ranges).1.is_some_and(|exact| fits(exact, width))
    }
}

/// Returns the intersection of two lists of pieces.
fn cross(a: &Pieces, b: &Pieces) -> Option<Pieces> {
    let both = a.iter().flat_map(|x| b.iter().map(move |y| narrowed(x, y)));
    (a.len() * b.len() <= MAX_PIECES).then(|| both.collect())
}

/// Returns the domain in which two numbers, read as signed, satisfy a predicate.
fn compared(predicate: Predicate, a: &AffineForm, b: &AffineForm) -> Option<Pieces> {
    let up = |more: i64| a.minus(b)?.plus(&AffineForm::constant(1), -more);
    let down = |more: i64| b.minus(a)?.plus(&AffineForm::constant(1), -more);
    Some(match predicate {
        Predicate::Eq => vec![vec![up(0)?, down(0)?]],
        Predicate::Ne => vec![vec![up(1)?], vec![down(1)?]],
        Predicate::Slt | Predicate::Ult => vec![vec![down(1)?]],
        Predicate::Sle | Predicate::Ule => vec![vec![down(0)?]],
        Predicate::Sgt | Predicate::Ugt => vec![vec![up(1)?]],
        Predicate::Sge | Predicate::Uge => vec![vec![up(0)?]],
    })
}
