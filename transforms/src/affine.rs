//! Affine normal form: an index value as a sum of multiples of induction variables, parameters,
//! products of parameters and floored quotients.
//!
//! Forms are exact over ℤ. A result of fixed width has a form only if it provably does not wrap.
//! Its flags or the ranges of its operands ([`range`]) prove this (`affine` maps do not wrap by
//! definition). Or intermediate wrapping is undone at the end, as in `n - 1 + 1`. Every other value
//! is *not affine*. Outside of the loops it is a parameter, which [`facts`] and [`classes`]
//! describe as far as possible. Inside, callers must assume any value. Equal values usually have
//! equal forms, and forms are compared and hashed structurally.
//!
//! Poison: a form is the value unless the value is poison. Using poison as a bound, a condition or
//! a subscript is undefined behaviour, so statements about such uses cannot be wrong.
//!
//! **Assumptions.**
//! - `affine` arithmetic does not wrap by definition; arithmetic on words may, unless flags or
//!   ranges exclude it. Tried with `tests/tests/all/forms.rs`: random expressions, all inputs; and
//!   `fixtures/fusion/symbolic.mlir`.
//! - An `index` has 64 bits. A data layout with another width is ignored here.
//!
//! | module | holds |
//! | --- | --- |
//! | [`operation`] | the integer operations, independent of dialects |
//! | [`range`] | intervals of values |
//! | [`word_range`] | intervals of results, in both readings, from those of operands |
//! | `bounds` | the forms of a loop's bounds |
//! | `casts`, `subscript` | numbers of another width; forms of the subscripts of an access |
//! | [`condition`] | conditions as affine constraints |
//! | [`facts`] | facts about parameters |
//! | `loop_ranges` | intervals of forms inside loops |
//! | [`small`] | forms under the assumption that parameters are small |
//! | [`surroundings`] | facts that hold at a block |
//! | [`classes`] | keys of values that are not affine |
//! | [`word`], [`rules`], [`saturation`] | equality of expressions over words, with `egg` |
//! | [`system`], `expression` | forms as integer conjunctions, and as expressions of affine maps |
//! | [`closed_forms`] | the interface that chooses which values are followed |
//!
//! Cost: each value of a body is visited once a [`Forms`]. Limits keep the forms small.

use std::cmp::Ordering;

use hashbrown::{HashMap, HashSet};
use loomir_dialects::affine;
use loomir_dialects::interfaces::{Step, Subscripts};
use loomir_ir::affine::AffineExprKind;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{AffineExpr, Attr, Block, Body, Op, Region, Value};
use smallvec::{SmallVec, smallvec};

use classes::Classes;
use closed_forms::{ClosedForms, Polyhedral};
use condition::Condition;
use loop_ranges::Bounded;
use operation::{Binary, Operation, has_no_signed_wrap};
use range::{Range, fits, width};
use small::Small;

pub(crate) mod bounds;
mod casts;
pub mod classes;
pub mod closed_forms;
pub mod condition;
mod division;
pub(crate) mod expression;
pub mod facts;
mod loop_ranges;
mod masks;
pub mod operation;
pub mod range;
pub mod rules;
pub mod saturation;
pub mod small;
mod subscript;
mod substitution;
pub mod surroundings;
pub mod system;
pub mod word;
pub mod word_range;

/// The maximal number of terms of a form.
pub const MAX_TERMS: usize = 64;
/// The maximal nesting depth of quotients.
pub const MAX_NESTING: usize = 8;
/// The maximal number of factors of a product.
const MAX_FACTORS: usize = 4;
/// The maximal length of a chain of operations that is followed from a value.
const MAX_CHAIN: usize = 256;

/// The unknown in a term of a form.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Atom {
    /// The induction variable of a surrounding loop. In the accesses and loops of a program, levels
    /// count inwards; 0 is the outermost loop. In maps and headers of the tree they count outwards;
    /// 0 is the innermost loop. [`absolute`](crate::tree::levels::absolute) converts the second to
    /// the first.
    Level(u32),
    /// A value that does not change while the nest runs.
    Param(Value),
    /// The product of two or more parameters, in ℤ, ordered by their place in the body.
    Product(Box<[Value]>),
    /// `⌊form / divisor⌋`, divisor > 1.
    FloorDiv(Box<AffineForm>, i64),
}

/// `constant + Σ coefficient · atom`, atoms in canonical order, no coefficient zero.
#[derive(PartialEq, Eq, Hash, Debug, Default)]
pub struct AffineForm {
    constant: i64,
    terms: Terms,
}

/// Most forms have two terms or fewer and need no allocation.
type Terms = SmallVec<[(Atom, i64); 2]>;

impl Clone for AffineForm {
    fn clone(&self) -> AffineForm {
        // The most frequent cases need no loop.
        let terms = match &self.terms[..] {
            [] => Terms::new(),
            [(atom, coefficient)] => smallvec![(atom.clone(), *coefficient)],
            terms => terms.iter().cloned().collect(),
        };
        AffineForm { constant: self.constant, terms }
    }
}

impl Atom {
    /// Compares atoms by a total order that depends on the program alone: values count by their
    /// place in the body.
    pub fn order(&self, other: &Atom) -> Ordering {
        match (self, other) {
            (Atom::Level(a), Atom::Level(b)) => a.cmp(b),
            (Atom::Param(a), Atom::Param(b)) => a.index().cmp(&b.index()),
            (Atom::Product(a), Atom::Product(b)) => {
                a.iter().map(|value| value.index()).cmp(b.iter().map(|value| value.index()))
            }
            (Atom::FloorDiv(a, c), Atom::FloorDiv(b, d)) => c.cmp(d).then_with(|| a.order(b)),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Atom::Level(_) => 0,
            Atom::Param(_) => 1,
            Atom::Product(_) => 2,
            Atom::FloorDiv(..) => 3,
        }
    }

    /// Returns the factors of a parameter or of a product of parameters.
    pub fn factors(&self) -> Option<&[Value]> {
        match self {
            Atom::Param(value) => Some(std::slice::from_ref(value)),
            Atom::Product(values) => Some(values),
            Atom::Level(_) | Atom::FloorDiv(..) => None,
        }
    }

    /// Returns the product of two atoms, if both are parameters or products of parameters.
    fn product(&self, other: &Atom) -> Option<Atom> {
        let mut all = [self.factors()?, other.factors()?].concat();
        all.sort_unstable_by_key(|value| value.index());
        (all.len() <= MAX_FACTORS).then(|| Atom::Product(all.into()))
    }
}

impl AffineForm {
    /// Returns the constant form.
    pub fn constant(value: i64) -> AffineForm {
        AffineForm { constant: value, terms: Terms::new() }
    }

    /// Returns the form of one atom.
    pub fn atom(atom: Atom) -> AffineForm {
        AffineForm { constant: 0, terms: smallvec![(atom, 1)] }
    }

    /// Returns the induction variable of the loop at a level.
    pub fn level(level: u32) -> AffineForm {
        AffineForm::atom(Atom::Level(level))
    }

    /// Returns the constant, if the form is one.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Returns the parameter, if the form is one.
    pub fn as_parameter(&self) -> Option<Value> {
        match self.terms[..] {
            [(Atom::Param(value), 1)] if self.constant == 0 => Some(value),
            _ => None,
        }
    }

    /// Returns the constant part.
    pub fn constant_part(&self) -> i64 {
        self.constant
    }

    /// Returns the form with the constant 0.
    pub fn without_constant(&self) -> AffineForm {
        AffineForm { constant: 0, terms: self.terms.clone() }
    }

    /// Returns the terms in canonical order.
    pub fn terms(&self) -> &[(Atom, i64)] {
        &self.terms
    }

    fn order(&self, other: &AffineForm) -> Ordering {
        let lengths = self.terms.len().cmp(&other.terms.len());
        let terms = || {
            let pairs = self.terms.iter().zip(&other.terms);
            pairs
                .map(|((a, c), (b, d))| a.order(b).then(c.cmp(d)))
                .find(|o| o.is_ne())
                .unwrap_or(Ordering::Equal)
        };
        self.constant.cmp(&other.constant).then(lengths).then_with(terms)
    }

    fn nesting(&self) -> usize {
        let depth = |atom: &Atom| if let Atom::FloorDiv(inner, _) = atom { 1 + inner.nesting() } else { 0 };
        self.terms.iter().map(|(atom, _)| depth(atom)).max().unwrap_or(0)
    }

    /// `self + factor · other`; `None` if a coefficient leaves 64 bits or there are too many terms.
    pub fn plus(&self, other: &AffineForm, factor: i64) -> Option<AffineForm> {
        let constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        if other.terms.is_empty() || factor == 0 {
            return Some(AffineForm { constant, ..self.clone() });
        }
        if self.terms.is_empty() {
            let mut form = AffineForm { constant, ..other.clone() };
            for (_, coefficient) in form.terms.iter_mut().filter(|_| factor != 1) {
                *coefficient = coefficient.checked_mul(factor)?;
            }
            return Some(form);
        }
        let mut terms = Terms::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let order = match (a.peek(), b.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((x, _)), Some((y, _))) => x.order(y),
            };
            let left = if order.is_le() { a.next() } else { None };
            let right = if order.is_ge() { b.next() } else { None };
            let scaled = right.map(|(_, c)| c.checked_mul(factor));
            let coefficient = match (left, scaled) {
                (Some((_, c)), None) => *c,
                (None, Some(c)) => c?,
                (Some((_, c)), Some(d)) => c.checked_add(d?)?,
                (None, None) => break,
            };
            if let (true, Some((atom, _))) = (coefficient != 0, left.or(right)) {
                terms.push((atom.clone(), coefficient));
            }
        }
        (terms.len() <= MAX_TERMS).then_some(AffineForm { constant, terms })
    }

    /// `factor · self`.
    pub fn times(&self, factor: i64) -> Option<AffineForm> {
        AffineForm::default().plus(self, factor)
    }

    /// Returns `self · other`, if one of them is a number, or both are sums of parameters and
    /// products of parameters.
    pub fn product(&self, other: &AffineForm) -> Option<AffineForm> {
        match (self.as_constant(), other.as_constant()) {
            (_, Some(factor)) => return self.times(factor),
            (Some(factor), _) => return other.times(factor),
            _ => {}
        }
        let mut sum = self.times(other.constant)?.plus(&other.times(self.constant)?, 1)?;
        sum.constant = self.constant.checked_mul(other.constant)?;
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                let term = AffineForm { constant: 0, terms: smallvec![(a.product(b)?, x.checked_mul(*y)?)] };
                sum = sum.plus(&term, 1)?;
            }
        }
        Some(sum)
    }

    /// Returns the form with each number divided by a positive one, of which it is a multiple.
    pub(crate) fn divided_by(&self, divisor: i64) -> AffineForm {
        let terms = self.terms.iter().map(|(atom, step)| (atom.clone(), step / divisor)).collect();
        AffineForm { constant: self.constant / divisor, terms }
    }

    /// True if each number in it is a multiple of `divisor`, which is positive.
    fn is_multiple_of(&self, divisor: i64) -> bool {
        self.constant % divisor == 0 && self.terms.iter().all(|(_, coefficient)| coefficient % divisor == 0)
    }

    /// Returns the congruent form modulo 2 to the power of `width` with the least coefficients,
    /// read as signed.
    fn wrapped(mut self, width: u32) -> AffineForm {
        let unused = 64u32.saturating_sub(width.max(1));
        let wrap = |number: &mut i64| *number = *number << unused >> unused;
        wrap(&mut self.constant);
        self.terms.iter_mut().for_each(|(_, coefficient)| wrap(coefficient));
        self.terms.retain(|(_, coefficient)| *coefficient != 0);
        self
    }

    /// `self - other`.
    pub fn minus(&self, other: &AffineForm) -> Option<AffineForm> {
        self.plus(other, -1)
    }

    /// Returns the coefficient of a level outside of quotients.
    pub fn coefficient_of_level(&self, level: u32) -> i64 {
        let of = |(atom, c): &(Atom, i64)| if *atom == Atom::Level(level) { Some(*c) } else { None };
        self.terms.iter().find_map(of).unwrap_or(0)
    }

    /// Calls `f` with each parameter, including those inside products and quotients.
    pub fn each_parameter(&self, f: &mut dyn FnMut(Value)) {
        self.each_unknown(&mut |atom| atom.factors().into_iter().flatten().for_each(|value| f(*value)));
    }

    /// True if values are multiplied in it.
    pub fn has_product(&self) -> bool {
        let mut found = false;
        self.each_unknown(&mut |atom| found |= matches!(atom, Atom::Product(_)));
        found
    }

    /// Calls `f` with each parameter and each product of parameters, including those inside
    /// quotients.
    pub fn each_unknown(&self, f: &mut dyn FnMut(&Atom)) {
        for (atom, _) in &self.terms {
            match atom {
                Atom::Param(_) | Atom::Product(_) => f(atom),
                Atom::FloorDiv(inner, _) => inner.each_unknown(f),
                Atom::Level(_) => {}
            }
        }
    }

    /// Returns the value of the form for these values of levels and parameters. `None` if one has
    /// no value, or a number exceeds 64 bits.
    pub fn evaluate(
        &self,
        level: &dyn Fn(u32) -> Option<i64>,
        parameter: &dyn Fn(Value) -> Option<i64>,
    ) -> Option<i64> {
        let product = |product: i64, value: &Value| product.checked_mul(parameter(*value)?);
        self.evaluate_with(level, &|atom| atom.factors()?.iter().try_fold(1, product))
    }

    /// Returns the same, given a value for each parameter and each product of parameters.
    pub fn evaluate_with(
        &self,
        level: &dyn Fn(u32) -> Option<i64>,
        unknown: &dyn Fn(&Atom) -> Option<i64>,
    ) -> Option<i64> {
        self.terms.iter().try_fold(self.constant, |sum, (atom, coefficient)| {
            let value = match atom {
                Atom::Level(at) => level(*at)?,
                Atom::Param(_) | Atom::Product(_) => unknown(atom)?,
                Atom::FloorDiv(inner, divisor) => inner.evaluate_with(level, unknown)?.div_euclid(*divisor),
            };
            sum.checked_add(value.checked_mul(*coefficient)?)
        })
    }

    /// True if every level and parameter satisfies `accept`, including those inside products and
    /// quotients.
    pub fn all_atoms(&self, accept: &dyn Fn(&Atom) -> bool) -> bool {
        self.terms.iter().all(|(atom, _)| match atom {
            Atom::FloorDiv(inner, _) => inner.all_atoms(accept),
            Atom::Product(values) => values.iter().all(|value| accept(&Atom::Param(*value))),
            atom => accept(atom),
        })
    }
}

/// The forms of the values of a body, as seen from a block and from the entered loops in it.
///
/// Induction variables that are [set](Forms::set) have the forms they are set to. Other values that
/// are not affine in these are parameters if they are defined directly in the block, around it, or
/// in the body of a loop that was [entered](Forms::enter). Otherwise they have no form.
pub struct Forms<'b> {
    body: &'b Body,
    followed: &'b dyn ClosedForms,
    /// The entered blocks and the regions around. While a block runs, no other one of its region
    /// does, so that the values of both are parameters.
    entered: HashSet<Block>,
    around: HashSet<Region>,
    memo: HashMap<Value, Option<AffineForm>>,
    /// Forms that are equal modulo 2 to the power of the width.
    congruent: HashMap<Value, Option<AffineForm>>,
    ranges: HashMap<Value, Range>,
    conditions: HashMap<Value, Condition>,
    classes: Classes,
    /// The parameters that occur in forms.
    named: Vec<Value>,
    /// True if subscripts that are sums of parameters are [spelled out](Forms::spell_out).
    spelled_out: bool,
    /// The magnitude of numbers from before the nests, if they are [supposed](Forms::suppose_small)
    /// to be small.
    small: Option<Small>,
    /// The numbers that were supposed to be small so far.
    narrowed: HashSet<Value>,
    /// The constraints of the loops at each level.
    bounded: Vec<Option<Bounded>>,
}

impl<'b> Forms<'b> {
    /// Returns forms seen from the nests in `block`. Linear in its depth.
    pub fn new(body: &'b Body, block: Block) -> Self {
        Forms::followed_by(body, block, &Polyhedral)
    }

    /// Returns the same forms, restricted to those that `followed` follows.
    pub fn followed_by(body: &'b Body, block: Block, followed: &'b dyn ClosedForms) -> Self {
        let (mut around, mut current) = (HashSet::new(), Some(block));
        while let Some(block) = current {
            let region = body.block_region(block);
            around.insert(region);
            current = body.block_of(body.region_parent(region));
        }
        Forms {
            body,
            followed,
            entered: HashSet::new(),
            around,
            memo: HashMap::new(),
            congruent: HashMap::new(),
            ranges: HashMap::new(),
            conditions: HashMap::new(),
            classes: Classes::default(),
            named: Vec::new(),
            spelled_out: false,
            small: None,
            narrowed: HashSet::new(),
            bounded: Vec::new(),
        }
    }

    /// Adds the assumption that none of these forms is negative.
    pub fn suppose(&mut self, constraints: &[AffineForm]) {
        // Earlier results may be less precise.
        self.memo.clear();
        self.congruent.clear();
        self.conditions.clear();
        self.ranges.clear();
        for constraint in constraints {
            self.narrow(constraint);
        }
    }

    /// Spells out subscripts that are sums of parameters from now on. A caller of the function does
    /// not know the names of values computed inside it.
    pub fn spell_out(&mut self) {
        self.spelled_out = true;
    }

    /// Makes the values defined directly in `block` parameters: they are constant throughout one
    /// execution of it.
    pub fn enter(&mut self, block: Block) {
        self.entered.insert(block);
    }

    /// Fixes the form of a value: an induction variable that is entered.
    pub fn set(&mut self, value: Value, form: Option<AffineForm>) {
        self.memo.insert(value, form);
    }

    /// Returns the form of a value of type `index` (or any integer type), if it is affine.
    pub fn of(&mut self, value: Value) -> Option<AffineForm> {
        self.form(value, MAX_CHAIN)
    }

    /// Returns the forms of the results of a map. `None` for results that are not affine.
    pub fn of_subscripts(&mut self, subscripts: &Subscripts) -> Vec<Option<AffineForm>> {
        let ctx = self.body.ctx();
        let operands: SmallVec<[Option<AffineForm>; 2]> =
            subscripts.operands.iter().map(|v| self.of(*v)).collect();
        let data = subscripts.map.data(ctx);
        let (dims, symbols) = operands.split_at((data.dims as usize).min(operands.len()));
        let form = |expr| expr_form(expr, ctx, dims, symbols);
        let followed = |form: &AffineForm| self.followed.follows(form, &operands);
        data.results.iter().map(|expr| form(*expr).filter(followed)).collect()
    }

    /// Returns the step of a loop, if it is a positive constant.
    pub fn of_step(&mut self, step: Step) -> Option<i64> {
        match step {
            Step::Constant(step) => Some(step),
            Step::Value(value) => self.of(value)?.as_constant(),
        }
        .filter(|step| *step > 0)
    }

    /// True if a form computed from these operands is kept as a closed form.
    pub fn follows(&self, form: &AffineForm, operands: &[Option<AffineForm>]) -> bool {
        self.followed.follows(form, operands)
    }

    /// True if a value is invariant while the nests run.
    pub fn is_parameter(&self, value: Value) -> bool {
        let Some(block) = self.body.value_block(value) else { return false };
        self.around.contains(&self.body.block_region(block)) || self.entered.contains(&block)
    }

    /// True if a value is defined before the nests, or between them.
    pub fn is_outside(&self, value: Value) -> bool {
        let Some(block) = self.body.value_block(value) else { return false };
        self.around.contains(&self.body.block_region(block)) && !self.entered.contains(&block)
    }

    fn form(&mut self, value: Value, fuel: usize) -> Option<AffineForm> {
        if let Some(known) = self.memo.get(&value) {
            return known.clone();
        }
        let form = match self.body.defining_op(value) {
            Some(op) if fuel > 0 => self.followed_form(op, fuel - 1),
            _ => None,
        };
        let form = match form {
            None if self.is_parameter(value) => {
                let name = self.name(value, fuel);
                let is_followed = name.as_parameter().is_some() || self.followed.follows(&name, &[]);
                Some(if is_followed { name } else { AffineForm::atom(Atom::Param(value)) })
            }
            form => form,
        };
        self.memo.insert(value, form.clone());
        if let (Some(form), Some(_)) = (&form, self.body.defining_op(value)) {
            self.note(value, form, fuel);
        }
        form
    }

    fn followed_form(&mut self, op: Op, fuel: usize) -> Option<AffineForm> {
        let (body, followed) = (self.body, self.followed);
        let form = self.op_form(op, fuel).or_else(|| {
            followed.of_result(body.op_ref(op), &mut |at| self.form(body.operands(op).nth(at)?, fuel))
        });
        form.filter(|form| followed.follows(form, &[]))
    }

    fn op_form(&mut self, op: Op, fuel: usize) -> Option<AffineForm> {
        let body = self.body;
        let ctx = body.ctx();
        if body.num_results(op) == 1
            && let Some(constant) = constant_of(body, body.result(op, 0))
        {
            return constant.as_int(ctx).map(AffineForm::constant);
        }
        if body.is(op, affine::ApplyOp::DEF) {
            let map = body.attr(op, "map").and_then(|a: Attr| a.as_affine_map(ctx))?;
            let operands: Vec<Option<AffineForm>> = body.operands(op).map(|v| self.form(v, fuel)).collect();
            let (dims, symbols) = operands.split_at((map.data(ctx).dims as usize).min(operands.len()));
            return expr_form(*map.results(ctx).first()?, ctx, dims, symbols);
        }
        let operation = Operation::of(body, op)?;
        let first = body.operand(op, 0);
        let is_never_negative = |this: &mut Self, value| this.range(value, fuel).0 >= 0;
        match operation {
            Operation::Signed | Operation::Unsigned => self.cast_form(op, operation, fuel),
            Operation::Binary(Binary::Add | Binary::Sub | Binary::Mul | Binary::Shl) => {
                self.exact_ring(op, operation, fuel)
            }
            Operation::Binary(Binary::And | Binary::Xor) => self.masked(op, fuel),
            Operation::Binary(binary) => {
                let divisor = self.form(body.operand(op, 1), fuel)?.as_constant().filter(|d| *d > 0);
                let dividend = |this: &mut Self| this.form(first, fuel);
                let rounds_down = binary == Binary::FloorDivS || is_never_negative(self, first);
                if !rounds_down && let Some(quotient) = self.unsigned_quotient(op, binary, fuel) {
                    return Some(quotient);
                }
                match binary {
                    Binary::DivS | Binary::FloorDivS | Binary::CeilDivS | Binary::DivU | Binary::CeilDivU => {
                        let is_signed = !matches!(binary, Binary::DivU | Binary::CeilDivU);
                        let (divisor, form) = (divisor?, dividend(self)?);
                        match binary {
                            // An exact division does not round.
                            _ if is_signed && form.is_multiple_of(divisor) => form.floor_div(divisor),
                            Binary::CeilDivS => form.ceil_div(divisor),
                            Binary::CeilDivU => form.ceil_div(divisor).filter(|_| rounds_down),
                            // For nonnegative numbers, rounding towards zero is rounding down.
                            _ => form.floor_div(divisor).filter(|_| rounds_down),
                        }
                    }
                    Binary::RemS | Binary::RemU if rounds_down => dividend(self)?.modulo(divisor?),
                    // A signed right shift rounds down.
                    Binary::ShrS => dividend(self)?.floor_div(self.shift(op, fuel)?),
                    Binary::ShrU if rounds_down => dividend(self)?.floor_div(self.shift(op, fuel)?),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns the form of a sum, difference, product or left shift, if it does not wrap.
    fn exact_ring(&mut self, op: Op, operation: Operation, fuel: usize) -> Option<AffineForm> {
        let Operation::Binary(binary) = operation else { return None };
        let body = self.body;
        if self.is_exact(op, binary, fuel) {
            let a = self.form(body.operand(op, 0), fuel)?;
            let b = match binary {
                Binary::Shl => AffineForm::constant(self.shift(op, fuel)?),
                _ => self.form(body.operand(op, 1), fuel)?,
            };
            return ring(binary, &a, &b);
        }
        // Intermediate results may wrap if the final result is in range.
        let form = self.congruent(body.result(op, 0), fuel)?;
        let range = self.range_at(&form, body.result(op, 0), fuel)?;
        fits(range, width(body, body.result(op, 0))).then_some(form)
    }

    /// True if a sum, difference, product or left shift equals its value in ℤ, without intermediate
    /// wrapping.
    fn is_exact(&mut self, op: Op, binary: Binary, fuel: usize) -> bool {
        let width = width(self.body, self.body.result(op, 0));
        has_no_signed_wrap(self.body, op)
            || self.exact_range(op, binary, fuel).is_some_and(|range| fits(range, width))
    }

    /// Returns the factors of a product that does not wrap.
    pub fn factors(&mut self, op: Op) -> Option<[Value; 2]> {
        let is_product = Operation::of(self.body, op) == Some(Operation::Binary(Binary::Mul));
        let is_exact = is_product && self.is_exact(op, Binary::Mul, MAX_CHAIN);
        is_exact.then(|| [0, 1].map(|at| self.body.operand(op, at)))
    }

    /// Returns a form that equals the value modulo 2 to the power of its width. Sums, differences
    /// and products of words are those of numbers, wrapped.
    fn congruent(&mut self, value: Value, fuel: usize) -> Option<AffineForm> {
        let body = self.body;
        if let Some(known) = self.congruent.get(&value) {
            return known.clone();
        }
        let op = body.defining_op(value).filter(|_| fuel > 0);
        let operation = op.and_then(|op| Some((op, Operation::of(body, op)?)));
        let form = match operation {
            Some((
                op,
                Operation::Binary(binary @ (Binary::Add | Binary::Sub | Binary::Mul | Binary::Shl)),
            )) => {
                let a = self.congruent(body.operand(op, 0), fuel - 1);
                let b = match binary {
                    Binary::Shl => self.shift(op, fuel - 1).map(AffineForm::constant),
                    _ => self.congruent(body.operand(op, 1), fuel - 1),
                };
                a.zip(b).and_then(|(a, b)| ring(binary, &a, &b))
            }
            // A truncation drops multiples of the modulus.
            Some((op, Operation::Signed | Operation::Unsigned))
                if width(body, value) <= width(body, body.operand(op, 0)) =>
            {
                self.congruent(body.operand(op, 0), fuel - 1)
            }
            _ => self.form(value, fuel),
        };
        let form = form.map(|form| form.wrapped(width(body, value)));
        self.congruent.insert(value, form.clone());
        form
    }

    /// Returns two to the power of a constant shift amount.
    fn shift(&mut self, op: Op, fuel: usize) -> Option<i64> {
        let by = self.form(self.body.operand(op, 1), fuel)?.as_constant()?;
        let width = width(self.body, self.body.result(op, 0)).min(63);
        (0..i64::from(width)).contains(&by).then(|| 1 << by)
    }
}

/// Returns a sum, a difference or a product. For a shift, `b` is the power of two.
fn ring(binary: Binary, a: &AffineForm, b: &AffineForm) -> Option<AffineForm> {
    match binary {
        Binary::Add => a.plus(b, 1),
        Binary::Sub => a.minus(b),
        _ => a.product(b),
    }
}

/// Folds an affine expression over the values of its leaves, without recursion.
pub(crate) fn fold_expr<T: Clone>(
    expr: AffineExpr,
    ctx: &loomir_ir::Context,
    leaf: impl Fn(AffineExprKind) -> Option<T>,
    combine: impl Fn(AffineExprKind, T, T) -> Option<T>,
) -> Option<T> {
    let kind = expr.kind(ctx);
    if kind.is_leaf() {
        return leaf(kind);
    }
    let mut stack: Vec<Option<T>> = Vec::new();
    expr.visit(ctx, &mut |kind| {
        let value = if kind.is_leaf() {
            leaf(kind)
        } else {
            let b = stack.pop().flatten();
            let a = stack.pop().flatten();
            a.zip(b).and_then(|(a, b)| combine(kind, a, b))
        };
        stack.push(value);
    });
    stack.pop().flatten()
}

fn expr_form(
    expr: AffineExpr,
    ctx: &loomir_ir::Context,
    dims: &[Option<AffineForm>],
    symbols: &[Option<AffineForm>],
) -> Option<AffineForm> {
    fold_expr(
        expr,
        ctx,
        |kind| match kind {
            AffineExprKind::Dim(d) => dims.get(d as usize)?.clone(),
            AffineExprKind::Symbol(s) => symbols.get(s as usize)?.clone(),
            AffineExprKind::Constant(c) => Some(AffineForm::constant(c)),
            _ => None,
        },
        |kind, a, b| match kind {
            AffineExprKind::Add(..) => a.plus(&b, 1),
            AffineExprKind::Mul(..) => match (a.as_constant(), b.as_constant()) {
                (_, Some(factor)) => a.times(factor),
                (Some(factor), _) => b.times(factor),
                _ => None,
            },
            AffineExprKind::FloorDiv(..) => a.floor_div(b.as_constant()?),
            AffineExprKind::CeilDiv(..) => a.ceil_div(b.as_constant().filter(|d| *d > 0)?),
            AffineExprKind::Mod(..) => a.modulo(b.as_constant()?),
            _ => None,
        },
    )
}
