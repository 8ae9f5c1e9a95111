//! Values of a function as numbers of ℤ over the iterations of its loops.
//!
//! A value is read as signed. Statements about it hold unless it is poison, and are made only about
//! values that must not be poison: addresses of accesses that happen, conditions of branches that
//! are taken. Promises of an operation about its result therefore count here even if they are no
//! fact about the [expression](super::super::scev): a recurrence whose step must not wrap has not
//! wrapped so far. Without a promise, [ranges](super::super::scev::range) must prove that nothing
//! wraps. A value that may wrap is a remainder, in words of up to 32 bits. Otherwise it is not
//! affine, and gets a name.
//!
//! Cost: each value is visited once a loop that it is used in; chains are followed to a bounded
//! depth.

use hashbrown::HashMap;
use loomir_dialects::interp::integer::signed;
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Op, Value, ValueDef};
use loomir_transforms::affine::facts::Facts;
use loomir_transforms::affine::{AffineForm, Atom};

use super::polynomial::Polynomial;
use crate::cfg::scev::ScalarEvolution;
use crate::cfg::scev::expr::{Cast, Expr, ExprId, ExprType, MinMax};
use loomir_dialects::ranges::{Exact, Range, product, signed_ends, sum};

/// The maximal length of a chain of operations that is followed from a value.
const MAX_CHAIN: u32 = 64;
/// The greatest width of words whose wrapping is expressed by remainders.
const MAX_WRAPPING: u32 = 32;

/// The polynomials of values. See the [module](self).
pub(super) struct Numbers<'s, 'f> {
    pub(super) scev: &'s mut ScalarEvolution<'f>,
    known: HashMap<(Value, Option<LoopId>), Polynomial>,
    /// The named values, in order of first appearance.
    named: Vec<Value>,
    /// The representative of values with one expression that are computed in the same loop, or
    /// outside of all loops.
    names: HashMap<(ExprId, Option<LoopId>), Value>,
}

impl<'s, 'f> Numbers<'s, 'f> {
    pub(super) fn new(scev: &'s mut ScalarEvolution<'f>) -> Self {
        Numbers { scev, known: HashMap::new(), named: Vec::new(), names: HashMap::new() }
    }

    /// Returns the level of a loop: the number of loops around it.
    pub(super) fn level(&self, of: LoopId) -> u32 {
        self.scev.analysis().loops().get(of).depth - 1
    }

    fn is_around(&self, of: LoopId, site: Option<LoopId>) -> bool {
        let loops = self.scev.analysis().loops();
        site.is_some_and(|site| loops.contains(of, loops.get(site).header()))
    }

    /// Returns a name for a value: the first value with the same expression, if it is computed
    /// wherever this one is, in the same iteration. Facts about one are then facts about the other.
    fn name(&mut self, value: Value) -> Polynomial {
        let name = self.namesake(value).unwrap_or(value);
        if name == value {
            self.named.push(value);
        }
        Polynomial::atom(Atom::Param(name))
    }

    fn namesake(&mut self, value: Value) -> Option<Value> {
        self.scev.expr_type(value)?;
        let id = self.scev.expr(value);
        let (function, analysis) = (self.scev.function(), self.scev.analysis());
        let block = |value: Value| function.value_block(value).map(|block| analysis.number(block));
        let own = block(value)?;
        let first = *self.names.entry((id, analysis.loops().innermost(own))).or_insert(value);
        analysis.dominators().dominates(block(first)?, own).then_some(first)
    }

    /// Returns an integer as used in a loop, or outside of all. Falls back to a name.
    pub(super) fn of(&mut self, value: Value, site: Option<LoopId>) -> Polynomial {
        self.value(value, site, MAX_CHAIN)
    }

    fn value(&mut self, value: Value, site: Option<LoopId>, fuel: u32) -> Polynomial {
        if let Some(known) = self.known.get(&(value, site)) {
            return known.clone();
        }
        let found = if fuel > 0 { self.computed(value, site, fuel - 1) } else { None };
        let found = found.or_else(|| {
            let id = self.scev.expr(value);
            let id = self.scev.at_scope(id, site);
            self.expr(id, site)
        });
        let found = found.unwrap_or_else(|| self.name(value));
        self.known.insert((value, site), found.clone());
        found
    }

    /// Returns the value of an operation or a recurrence in terms of other values.
    fn computed(&mut self, value: Value, site: Option<LoopId>, fuel: u32) -> Option<Polynomial> {
        let function = self.scev.function();
        let width = self.width(value)?;
        let op = match function.def(value) {
            ValueDef::BlockArgument { .. } => return self.argument(value, site, fuel),
            ValueDef::OpResult { op, .. } => op,
        };
        let is = |def: &'static loomir_ir::OpDef| function.is(op, def);
        let operand = |index: usize| function.operand(op, index);
        if is(llvm::SExtOp::DEF) {
            return Some(self.value(operand(0), site, fuel));
        }
        if is(llvm::ZExtOp::DEF)
            && (function.attr(op, "nonNeg").is_some() || self.is_natural(operand(0), site))
        {
            return Some(self.value(operand(0), site, fuel));
        }
        if is(llvm::TruncOp::DEF) {
            let is_kept = self.scev.wrap(op).signed || fits(self.range(operand(0), site).signed, width);
            return is_kept.then(|| self.value(operand(0), site, fuel));
        }
        let is_disjoint = is(llvm::OrOp::DEF) && function.attr(op, "isDisjoint").is_some();
        let is_sum = is(llvm::AddOp::DEF) || is(llvm::SubOp::DEF) || is_disjoint;
        if !is_sum && !is(llvm::MulOp::DEF) && !is(llvm::ShlOp::DEF) || !self.is_exact(op, site) {
            return None;
        }
        let a = self.value(operand(0), site, fuel);
        if is(llvm::ShlOp::DEF) {
            let by = self.scev.number(operand(1)).filter(|by| *by < 62)?;
            return a.times(1 << by);
        }
        let b = self.value(operand(1), site, fuel);
        if is_sum { a.plus(&b, if is(llvm::SubOp::DEF) { -1 } else { 1 }) } else { a.product(&b) }
    }

    /// Returns a header's argument that is stepped without wrapping, or the only value that meets
    /// in a block.
    fn argument(&mut self, value: Value, site: Option<LoopId>, fuel: u32) -> Option<Polynomial> {
        if let Some(only) = self.scev.only_incoming(value) {
            return Some(self.value(only, site, fuel));
        }
        let header = self.scev.header_argument(value).filter(|header| self.is_around(header.of, site))?;
        let id = self.scev.expr(value);
        let Expr::AddRec(of, operands) = self.scev.get(id).clone() else { return None };
        let [_, step] = *operands else { return None };
        let flags = self.scev.flags(id).and(self.scev.promised(value, of, step));
        if of != header.of || !flags.nsw {
            return None;
        }
        let start = self.value(header.start, site, fuel);
        self.stepped(start, step, of, site)
    }

    /// `start + n·step`, n being the iteration of a loop.
    pub(super) fn stepped(
        &mut self,
        start: Polynomial,
        step: ExprId,
        of: LoopId,
        site: Option<LoopId>,
    ) -> Option<Polynomial> {
        let step = self.expr(step, site)?;
        start.plus(&step.product(&Polynomial::atom(Atom::Level(self.level(of))))?, 1)
    }

    /// Returns the polynomial of an expression, if it is a number over ℤ.
    pub(super) fn expr(&mut self, id: ExprId, site: Option<LoopId>) -> Option<Polynomial> {
        let ExprType::Integer(width @ 1..=64) = self.scev.type_of(id) else { return None };
        match self.scev.get(id).clone() {
            Expr::Constant(_, bits) => Some(Polynomial::constant(i64::try_from(signed(width, bits)).ok()?)),
            Expr::Unknown(value) => Some(self.name(value)),
            Expr::Cast(Cast::SignExtend, inner, _) => self.expr(inner, site),
            Expr::Cast(Cast::ZeroExtend, inner, _) => {
                let found = self.expr(inner, site)?;
                if self.range_of(inner, site).signed.0 >= 0 {
                    return Some(found);
                }
                modulo(&found, self.scev.width(inner))
            }
            Expr::Cast(Cast::Truncate, inner, _) => {
                let found = self.expr(inner, site)?;
                let is_kept = fits(self.range_of(inner, site).signed, width);
                if is_kept { Some(found) } else { wrapped(&found, width) }
            }
            Expr::Add(operands) => self.ring(id, &operands, site, width, sum, |a, b| a.plus(b, 1)),
            Expr::Mul(operands) => self.ring(id, &operands, site, width, product, Polynomial::product),
            Expr::AddRec(of, operands) => {
                let [start, step] = *operands else { return None };
                if !self.is_around(of, site) {
                    return None;
                }
                let start = self.expr(start, site)?;
                let found = self.stepped(start, step, of, site)?;
                if self.scev.flags(id).nsw { Some(found) } else { wrapped(&found, width) }
            }
            Expr::UDiv(a, b) => {
                let divisor = i64::try_from(self.scev.as_constant(b)?).ok()?;
                let dividend = self.unsigned(a, site)?.to_form()?;
                Polynomial::of(&dividend.floor_div(divisor)?)
            }
            Expr::PtrToInt(_) | Expr::MinMax(..) => None,
        }
    }

    /// Returns an expression read as unsigned.
    pub(super) fn unsigned(&mut self, id: ExprId, site: Option<LoopId>) -> Option<Polynomial> {
        let found = self.expr(id, site)?;
        if self.range_of(id, site).signed.0 >= 0 { Some(found) } else { modulo(&found, self.scev.width(id)) }
    }

    /// Returns a sum or product, if it does not wrap or its wrapping can be expressed.
    fn ring(
        &mut self,
        id: ExprId,
        operands: &[ExprId],
        site: Option<LoopId>,
        width: u32,
        exactly: fn(&[Range]) -> Exact,
        combine: fn(&Polynomial, &Polynomial) -> Option<Polynomial>,
    ) -> Option<Polynomial> {
        let mut parts = operands.iter();
        let first = self.expr(*parts.next()?, site)?;
        let found = parts.try_fold(first, |found, part| combine(&found, &self.expr(*part, site)?))?;
        let flags = self.scev.flags(id);
        let ranges: Vec<Range> = operands.iter().map(|part| self.range_of(*part, site)).collect();
        let is_natural =
            ranges.iter().all(|range| range.signed.0 >= 0) && self.range_of(id, site).signed.0 >= 0;
        let is_within = exactly(&ranges).1.is_some_and(|exact| fits(exact, width));
        if flags.nsw || is_within || (flags.nuw && is_natural) { Some(found) } else { wrapped(&found, width) }
    }

    /// True if an operation on integers computes its result in ℤ, read as signed.
    fn is_exact(&mut self, op: Op, site: Option<LoopId>) -> bool {
        let wrap = self.scev.wrap(op);
        if wrap.signed {
            return true;
        }
        let function = self.scev.function();
        let is = |def: &'static loomir_ir::OpDef| function.is(op, def);
        let (result, operands) = (function.result(op, 0), [0, 1].map(|index| function.operand(op, index)));
        let Some(width) = self.width(result) else { return false };
        let [a, b] = operands.map(|operand| self.range(operand, site));
        let exact = if is(llvm::AddOp::DEF) {
            sum(&[a, b])
        } else if is(llvm::SubOp::DEF) {
            let negated = Range { signed: (-b.signed.1, -b.signed.0), ..b };
            sum(&[a, negated])
        } else if is(llvm::MulOp::DEF) {
            product(&[a, b])
        } else {
            let Some(by) = self.scev.number(operands[1]).filter(|by| *by < 63) else { return false };
            product(&[a, Range::exactly(64, 1 << by)])
        };
        let is_natural = a.signed.0 >= 0 && b.signed.0 >= 0 && self.range(result, site).signed.0 >= 0;
        exact.1.is_some_and(|exact| fits(exact, width))
            || (wrap.unsigned && is_natural && !is(llvm::SubOp::DEF))
    }

    fn width(&self, value: Value) -> Option<u32> {
        match self.scev.expr_type(value) {
            Some(ExprType::Integer(width @ 1..=64)) => Some(width),
            _ => None,
        }
    }

    /// True if a value, read as signed, is not negative.
    pub(super) fn is_natural(&mut self, value: Value, site: Option<LoopId>) -> bool {
        self.range(value, site).signed.0 >= 0
    }

    /// Returns the range of a value where it is used.
    pub(super) fn range(&mut self, value: Value, site: Option<LoopId>) -> Range {
        let id = self.scev.expr(value);
        self.range_of(id, site)
    }

    pub(super) fn range_of(&mut self, id: ExprId, site: Option<LoopId>) -> Range {
        let inside = site.filter(|site| self.scev.is_invariant(id, *site));
        self.scev.range_in(id, inside)
    }

    /// Returns the facts about all names.
    pub(super) fn facts(&mut self) -> Facts {
        let mut facts = Facts::default();
        let mut next = 0;
        // Facts about one name may introduce further names.
        while let Some(value) = self.named.get(next).copied() {
            next += 1;
            if facts.is_known(value) {
                continue;
            }
            let id = self.scev.expr(value);
            let range = self.scev.range(id).signed;
            let relations = self.relations(value, id);
            facts.know(value, range, relations);
        }
        facts
    }

    /// Returns the relations of a minimum or maximum to its operands.
    fn relations(&mut self, value: Value, id: ExprId) -> Vec<AffineForm> {
        let Expr::MinMax(kind, operands) = self.scev.get(id).clone() else { return Vec::new() };
        let is_natural = operands.iter().all(|operand| self.scev.range(*operand).signed.0 >= 0);
        let is_least = match kind {
            MinMax::SMin => true,
            MinMax::SMax => false,
            MinMax::UMin | MinMax::SequentialUMin if is_natural => true,
            MinMax::UMax if is_natural => false,
            _ => return Vec::new(),
        };
        let own = AffineForm::atom(Atom::Param(value));
        let mut relations = Vec::new();
        for operand in operands {
            let Some(other) = self.expr(operand, None).and_then(|found| found.to_form()) else { continue };
            relations.extend(if is_least { other.minus(&own) } else { own.minus(&other) });
        }
        relations
    }
}

/// True if a range of numbers fits words of a width, read as signed.
pub(super) fn fits(exact: (i128, i128), width: u32) -> bool {
    let ends = signed_ends(width);
    exact.0 >= ends.0 && exact.1 <= ends.1
}

/// Returns the remainder modulo two to the power of a width, if it can be expressed.
fn modulo(found: &Polynomial, width: u32) -> Option<Polynomial> {
    let form = found.to_form().filter(|_| width <= MAX_WRAPPING)?;
    Polynomial::of(&form.modulo(1 << width)?)
}

/// Returns a number wrapped to a width and read as signed, if it can be expressed.
fn wrapped(found: &Polynomial, width: u32) -> Option<Polynomial> {
    let form = found.to_form().filter(|_| width <= MAX_WRAPPING)?;
    let half = AffineForm::constant(1 << (width - 1));
    Polynomial::of(&form.plus(&half, 1)?.modulo(1 << width)?.minus(&half)?)
}
