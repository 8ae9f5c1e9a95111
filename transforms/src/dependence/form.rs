//! Affine normal form: an index value as a sum of multiples of loop variables, parameters and floored quotients.
//!
//! Forms are exact over ℤ. What an operation computes in fixed width becomes a form only where it provably does not wrap: its flags or
//! the ranges of its operands say so (`affine` maps do not wrap by definition). All else is *not affine*, and whoever
//! asks has to assume any value. Equal values usually have equal forms, and forms are compared and hashed structurally.
//!
//! Cost: each value of a body is looked at once a [`Forms`]; a form has at most [`MAX_TERMS`] terms and quotients nest at
//! most [`MAX_NESTING`] deep, so no input makes forms large.

use std::cmp::Ordering;

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interfaces::{Bound, LoopBounds, LoopLike, ParallelLike, Step, Subscripts};
use loomir_dialects::{affine, arith, memref};
use loomir_ir::affine::AffineExprKind;
use loomir_ir::opdef::OpDef;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{AffineExpr, Attr, Block, Body, Op, Value, ValueDef};

use condition::Condition;

pub mod condition;

/// Most terms a form may have.
pub const MAX_TERMS: usize = 64;
/// Deepest nesting of quotients.
pub const MAX_NESTING: usize = 8;
/// Longest chain of operations followed from a value.
const MAX_CHAIN: usize = 256;

/// What a term of a form multiplies.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Atom {
    /// The variable of a loop around. Of what a program touches, and of its loops, levels count inwards, 0 being the outermost loop; in maps and
    /// headers of the tree they count outwards, 0 being the innermost. [`absolute`](super::nest::absolute) goes from the second to the first.
    Level(u32),
    /// A value that does not change while the nest runs.
    Param(Value),
    /// `⌊form / divisor⌋`, divisor > 1.
    FloorDiv(Box<Form>, i64),
}

/// `constant + Σ coefficient · atom`, atoms in canonical order, no coefficient zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Form {
    constant: i64,
    terms: Vec<(Atom, i64)>,
}

impl Atom {
    /// A total order that depends on the program alone: values count by their place in the body.
    fn order(&self, other: &Atom) -> Ordering {
        match (self, other) {
            (Atom::Level(a), Atom::Level(b)) => a.cmp(b),
            (Atom::Param(a), Atom::Param(b)) => a.index().cmp(&b.index()),
            (Atom::FloorDiv(a, c), Atom::FloorDiv(b, d)) => c.cmp(d).then_with(|| a.order(b)),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Atom::Level(_) => 0,
            Atom::Param(_) => 1,
            Atom::FloorDiv(..) => 2,
        }
    }
}

impl Form {
    /// A number.
    pub fn constant(value: i64) -> Form {
        Form { constant: value, terms: Vec::new() }
    }

    /// One atom.
    pub fn atom(atom: Atom) -> Form {
        Form { constant: 0, terms: vec![(atom, 1)] }
    }

    /// The variable of the loop at a level.
    pub fn level(level: u32) -> Form {
        Form { constant: 0, terms: vec![(Atom::Level(level), 1)] }
    }

    /// The number, if it is one.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The constant part.
    pub fn constant_part(&self) -> i64 {
        self.constant
    }

    /// The terms in canonical order.
    pub fn terms(&self) -> &[(Atom, i64)] {
        &self.terms
    }

    fn order(&self, other: &Form) -> Ordering {
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
    pub fn plus(&self, other: &Form, factor: i64) -> Option<Form> {
        let constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
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
        (terms.len() <= MAX_TERMS).then_some(Form { constant, terms })
    }

    /// `factor · self`.
    pub fn times(&self, factor: i64) -> Option<Form> {
        Form::default().plus(self, factor)
    }

    /// `self - other`.
    pub fn minus(&self, other: &Form) -> Option<Form> {
        self.plus(other, -1)
    }

    /// `⌊self / divisor⌋` for a positive divisor. Terms whose coefficients it divides come out of the quotient.
    pub fn floor_div(&self, divisor: i64) -> Option<Form> {
        if divisor <= 0 {
            return None;
        }
        if divisor == 1 {
            return Some(self.clone());
        }
        let mut outside = Form::constant(self.constant.div_euclid(divisor));
        let mut inside = Form::constant(self.constant.rem_euclid(divisor));
        for (atom, c) in &self.terms {
            let target = if c % divisor == 0 { &mut outside } else { &mut inside };
            target.terms.push((atom.clone(), if c % divisor == 0 { c / divisor } else { *c }));
        }
        if inside.terms.is_empty() {
            return Some(outside);
        }
        if inside.nesting() >= MAX_NESTING {
            return None;
        }
        outside.plus(&Form::atom(Atom::FloorDiv(Box::new(inside), divisor)), 1)
    }

    /// `⌈self / divisor⌉`.
    pub fn ceil_div(&self, divisor: i64) -> Option<Form> {
        self.plus(&Form::constant(divisor.checked_sub(1)?), 1)?.floor_div(divisor)
    }

    /// `self mod divisor`, in `[0, divisor)`.
    pub fn modulo(&self, divisor: i64) -> Option<Form> {
        self.plus(&self.floor_div(divisor)?, divisor.checked_neg()?)
    }

    /// The form with another form in the place of each level. `None` if `replacement` has none, or a number leaves 64 bits.
    pub fn substitute(&self, replacement: &mut dyn FnMut(u32) -> Option<Form>) -> Option<Form> {
        let mut sum = Form::constant(self.constant);
        for (atom, coefficient) in &self.terms {
            let term = match atom {
                Atom::Level(level) => replacement(*level)?,
                Atom::Param(_) => Form::atom(atom.clone()),
                Atom::FloorDiv(inner, divisor) => inner.substitute(replacement)?.floor_div(*divisor)?,
            };
            sum = sum.plus(&term, *coefficient)?;
        }
        Some(sum)
    }

    /// The form with a level replaced by itself minus `delay`.
    pub fn delayed(&self, level: u32, delay: i64) -> Option<Form> {
        let earlier = Form::level(level).plus(&Form::constant(1), delay.checked_neg()?)?;
        self.substitute(&mut |own| Some(if own == level { earlier.clone() } else { Form::level(own) }))
    }

    /// The form with each level `by` higher: what it is inside so many more loops, where levels count outwards.
    pub fn raised(&self, by: u32) -> Option<Form> {
        self.substitute(&mut |level| Some(Form::level(level + by)))
    }

    /// The coefficient of a level outside of quotients.
    pub fn coefficient_of_level(&self, level: u32) -> i64 {
        let of = |(atom, c): &(Atom, i64)| if *atom == Atom::Level(level) { Some(*c) } else { None };
        self.terms.iter().find_map(of).unwrap_or(0)
    }

    /// Calls `f` with each parameter, those inside quotients included.
    pub fn each_parameter(&self, f: &mut dyn FnMut(Value)) {
        for (atom, _) in &self.terms {
            match atom {
                Atom::Param(value) => f(*value),
                Atom::FloorDiv(inner, _) => inner.each_parameter(f),
                Atom::Level(_) => {}
            }
        }
    }

    /// What the form is where levels and parameters have these values. `None` where one has none, or a number leaves 64 bits.
    pub fn evaluate(
        &self,
        level: &dyn Fn(u32) -> Option<i64>,
        parameter: &dyn Fn(Value) -> Option<i64>,
    ) -> Option<i64> {
        self.terms.iter().try_fold(self.constant, |sum, (atom, coefficient)| {
            let value = match atom {
                Atom::Level(at) => level(*at)?,
                Atom::Param(value) => parameter(*value)?,
                Atom::FloorDiv(inner, divisor) => inner.evaluate(level, parameter)?.div_euclid(*divisor),
            };
            sum.checked_add(value.checked_mul(*coefficient)?)
        })
    }

    /// Whether every atom satisfies `accept`, those inside quotients included.
    pub fn all_atoms(&self, accept: &dyn Fn(&Atom) -> bool) -> bool {
        self.terms.iter().all(|(atom, _)| match atom {
            Atom::FloorDiv(inner, _) => inner.all_atoms(accept),
            atom => accept(atom),
        })
    }
}

/// A range of 64-bit numbers, both ends included.
type Range = (i128, i128);

const ALL: Range = (i64::MIN as i128, i64::MAX as i128);

/// The forms of the values of a body, as seen from a block and from the loops in it that are entered.
///
/// Loop variables that are [set](Forms::set) have the forms they are set to. Other values that are not affine in those are parameters if they
/// are defined directly in the block, around it, or in the body of a loop that was [entered](Forms::enter); they have no form otherwise.
pub struct Forms<'b> {
    body: &'b Body,
    /// The blocks whose values are parameters.
    around: HashSet<Block>,
    memo: HashMap<Value, Option<Form>>,
    ranges: HashMap<Value, Range>,
    conditions: HashMap<Value, Condition>,
}

impl<'b> Forms<'b> {
    /// Forms seen from the nests that stand in `block`. Linear in its depth.
    pub fn new(body: &'b Body, block: Block) -> Self {
        let mut around = HashSet::new();
        let mut current = Some(block);
        while let Some(block) = current {
            around.insert(block);
            current = body.block_of(body.region_parent(body.block_region(block)));
        }
        Forms { body, around, memo: HashMap::new(), ranges: HashMap::new(), conditions: HashMap::new() }
    }

    /// Makes the values defined directly in `block` parameters: they are the same throughout one execution of it.
    pub fn enter(&mut self, block: Block) {
        self.around.insert(block);
    }

    /// Fixes the form of a value: an induction variable that is entered.
    pub fn set(&mut self, value: Value, form: Option<Form>) {
        self.memo.insert(value, form);
    }

    /// The form of a value of type `index` (or any integer type), if it is affine.
    pub fn of(&mut self, value: Value) -> Option<Form> {
        self.form(value, MAX_CHAIN)
    }

    /// The forms of the results of a map. `None` for those that are not affine.
    pub fn of_subscripts(&mut self, subscripts: &Subscripts) -> Vec<Option<Form>> {
        let ctx = self.body.ctx().clone();
        let operands: Vec<Option<Form>> = subscripts.operands.iter().map(|v| self.of(*v)).collect();
        let data = subscripts.map.data(&ctx);
        let (dims, symbols) = operands.split_at((data.dims as usize).min(operands.len()));
        data.results.iter().map(|expr| expr_form(*expr, &ctx, dims, symbols)).collect()
    }

    /// The forms whose greatest (lower bound) or least (upper bound) is the bound. `None` where one is not affine.
    pub fn of_bound(&mut self, bound: &Bound) -> Vec<Option<Form>> {
        match bound {
            Bound::Value(value) => vec![self.of(*value)],
            Bound::Map(subscripts) => self.of_subscripts(subscripts),
        }
    }

    /// The step of a loop, if it is a positive constant.
    pub fn of_step(&mut self, step: Step) -> Option<i64> {
        match step {
            Step::Constant(step) => Some(step),
            Step::Value(value) => self.of(value)?.as_constant(),
        }
        .filter(|step| *step > 0)
    }

    /// Whether a value keeps its value while the nests run.
    pub fn is_parameter(&self, value: Value) -> bool {
        self.body.value_block(value).is_some_and(|block| self.around.contains(&block))
    }

    fn form(&mut self, value: Value, fuel: usize) -> Option<Form> {
        if let Some(known) = self.memo.get(&value) {
            return known.clone();
        }
        let form = match self.body.defining_op(value) {
            Some(op) if fuel > 0 => self.op_form(op, fuel - 1),
            _ => None,
        };
        let form = form.or_else(|| self.is_parameter(value).then(|| Form::atom(Atom::Param(value))));
        self.memo.insert(value, form.clone());
        form
    }

    fn op_form(&mut self, op: Op, fuel: usize) -> Option<Form> {
        let body = self.body;
        let ctx = body.ctx();
        if body.num_results(op) == 1
            && let Some(constant) = constant_of(body, body.result(op, 0))
        {
            return constant.as_int(ctx).map(Form::constant);
        }
        if body.num_operands(op) == 0 {
            return None;
        }
        let operand = |this: &mut Self, i: usize| this.form(body.operand(op, i), fuel);
        let info = body.info(op);
        if info.is(affine::ApplyOp::DEF) {
            let map = body.attr(op, "map").and_then(|a: Attr| a.as_affine_map(ctx))?;
            let operands: Vec<Option<Form>> = body.operands(op).map(|v| self.form(v, fuel)).collect();
            let (dims, symbols) = operands.split_at((map.data(ctx).dims as usize).min(operands.len()));
            return expr_form(*map.results(ctx).first()?, ctx, dims, symbols);
        }
        let result = || body.result(op, 0);
        if info.is(arith::AddIOp::DEF) && self.is_exact(op) {
            return operand(self, 0)?.plus(&operand(self, 1)?, 1);
        }
        if info.is(arith::SubIOp::DEF) && self.is_exact(op) {
            return operand(self, 0)?.plus(&operand(self, 1)?, -1);
        }
        if info.is(arith::MulIOp::DEF) && self.is_exact(op) {
            let (a, b) = (operand(self, 0)?, operand(self, 1)?);
            return match (a.as_constant(), b.as_constant()) {
                (_, Some(factor)) => a.times(factor),
                (Some(factor), _) => b.times(factor),
                _ => None,
            };
        }
        // A sign extension, or a cast that keeps the value since it is in range either way.
        let is_cast =
            info.is(arith::IndexCastOp::DEF) || info.is(arith::ExtSIOp::DEF) || info.is(arith::TruncIOp::DEF);
        if is_cast && fits(self.range(body.operand(op, 0), fuel), width(body, result())) {
            return operand(self, 0);
        }
        let is_unsigned_cast = info.is(arith::IndexCastUIOp::DEF) || info.is(arith::ExtUIOp::DEF);
        let from = self.range(body.operand(op, 0), fuel).0;
        if is_unsigned_cast && from >= 0 && fits(self.range(body.operand(op, 0), fuel), width(body, result()))
        {
            return operand(self, 0);
        }
        // Rounding towards zero is rounding down for what is not negative.
        if info.is(arith::DivUIOp::DEF) || info.is(arith::DivSIOp::DEF) || info.is(arith::FloorDivSIOp::DEF) {
            let divisor = operand(self, 1)?.as_constant().filter(|d| *d > 0)?;
            if info.is(arith::FloorDivSIOp::DEF) || from >= 0 {
                return operand(self, 0)?.floor_div(divisor);
            }
        }
        if info.is(arith::RemUIOp::DEF) || info.is(arith::RemSIOp::DEF) {
            let divisor = operand(self, 1)?.as_constant().filter(|d| *d > 0)?;
            if from >= 0 {
                return operand(self, 0)?.modulo(divisor);
            }
        }
        None
    }

    /// Whether a sum, difference or product computes what it would in ℤ.
    fn is_exact(&mut self, op: Op) -> bool {
        let body = self.body;
        let value = body.result(op, 0);
        let nsw = body
            .attr(op, "overflowFlags")
            .and_then(|attr| arith::OVERFLOW.value(body.ctx(), attr))
            .zip(arith::OVERFLOW.value_of("nsw"))
            .is_some_and(|(flags, nsw)| flags & nsw != 0);
        nsw || self.exact_range(op, MAX_CHAIN).is_some_and(|range| fits(range, width(body, value)))
    }

    fn exact_range(&mut self, op: Op, fuel: usize) -> Option<Range> {
        if fuel == 0 {
            return None;
        }
        let info = self.body.info(op);
        let (add, sub, mul) =
            (info.is(arith::AddIOp::DEF), info.is(arith::SubIOp::DEF), info.is(arith::MulIOp::DEF));
        if !(add || sub || mul) {
            return None;
        }
        let a = self.range(self.body.operand(op, 0), fuel - 1);
        let b = self.range(self.body.operand(op, 1), fuel - 1);
        Some(if add {
            (a.0.saturating_add(b.0), a.1.saturating_add(b.1))
        } else if sub {
            (a.0.saturating_sub(b.1), a.1.saturating_sub(b.0))
        } else {
            product(a, b)
        })
    }

    /// The least and the greatest number that a value may be, read as signed.
    pub fn range_of(&mut self, value: Value) -> (i128, i128) {
        self.range(value, MAX_CHAIN)
    }

    /// A range that holds every value `value` may have, read as signed.
    fn range(&mut self, value: Value, fuel: usize) -> Range {
        if let Some(known) = self.ranges.get(&value) {
            return *known;
        }
        let range = if fuel == 0 { None } else { self.compute_range(value, fuel - 1) };
        let range = range.unwrap_or_else(|| type_range(self.body, value));
        self.ranges.insert(value, range);
        range
    }

    fn compute_range(&mut self, value: Value, fuel: usize) -> Option<Range> {
        let body = self.body;
        let ctx = body.ctx();
        match body.def(value) {
            ValueDef::BlockArgument { block, index } => {
                let parent = body.op_ref(body.region_parent(body.block_region(block)));
                if let Some(model) = parent.info().interface::<dyn ParallelLike>() {
                    let dimensions = model.dimensions(parent);
                    return self.induction_range(dimensions.get(index)?, fuel);
                }
                let model = parent.info().interface::<dyn LoopLike>()?;
                if index > 0 || model.is_unsigned(parent) {
                    return None;
                }
                self.induction_range(&model.bounds(parent), fuel)
            }
            ValueDef::OpResult { op, .. } => {
                if let Some(constant) = constant_of(body, value) {
                    return constant.as_int(ctx).map(|c| (c.into(), c.into()));
                }
                let info = body.info(op);
                if info.is(memref::DimOp::DEF) {
                    return Some((0, i64::MAX.into()));
                }
                if info.is(affine::ApplyOp::DEF) {
                    let map = body.attr(op, "map").and_then(|a: Attr| a.as_affine_map(ctx))?;
                    let subscripts = Subscripts { map, operands: body.operands(op).collect() };
                    return self.subscript_ranges(&subscripts, fuel).into_iter().next().flatten();
                }
                if let Some(range) = self.division_range(op, fuel) {
                    return Some(range);
                }
                let casts = [arith::IndexCastOp::DEF, arith::ExtSIOp::DEF];
                if casts.into_iter().any(|def| info.is(def)) {
                    let inner = self.range(body.operand(op, 0), fuel);
                    return fits(inner, width(body, value)).then_some(inner);
                }
                let exact = self.exact_range(op, fuel)?;
                fits(exact, width(body, value)).then_some(exact)
            }
        }
    }

    /// The range of a quotient or remainder by a positive number.
    fn division_range(&mut self, op: Op, fuel: usize) -> Option<Range> {
        let (body, info) = (self.body, self.body.info(op));
        let is = |defs: [&'static OpDef; 2]| defs.into_iter().any(|def| info.is(def));
        let (truncated, rest) =
            (is([arith::DivSIOp::DEF, arith::DivUIOp::DEF]), is([arith::RemSIOp::DEF, arith::RemUIOp::DEF]));
        if !truncated && !rest && !info.is(arith::FloorDivSIOp::DEF) {
            return None;
        }
        let divisor = constant_of(body, body.operand(op, 1))?.as_int(body.ctx()).filter(|d| *d > 0)?;
        let (divisor, range) = (i128::from(divisor), self.range(body.operand(op, 0), fuel));
        let unsigned = is([arith::DivUIOp::DEF, arith::RemUIOp::DEF]);
        match (rest, truncated) {
            (true, _) if unsigned || range.0 >= 0 => Some((0, divisor - 1)),
            (true, _) => Some((1 - divisor, divisor - 1)),
            (_, true) if unsigned && range.0 < 0 => None,
            (_, true) => Some((range.0 / divisor, range.1 / divisor)),
            _ => Some((range.0.div_euclid(divisor), range.1.div_euclid(divisor))),
        }
    }

    fn induction_range(&mut self, bounds: &LoopBounds, fuel: usize) -> Option<Range> {
        let lower = self.bound_ranges(&bounds.lower, fuel).into_iter().flatten().map(|r| r.0).max()?;
        let upper = self.bound_ranges(&bounds.upper, fuel).into_iter().flatten().map(|r| r.1).min();
        let upper = upper.unwrap_or(i64::MAX.into());
        // Of a loop that does not run any range is true.
        Some((lower, upper.saturating_sub(1).max(lower)))
    }

    fn bound_ranges(&mut self, bound: &Bound, fuel: usize) -> Vec<Option<Range>> {
        match bound {
            Bound::Value(value) => vec![Some(self.range(*value, fuel))],
            Bound::Map(subscripts) => self.subscript_ranges(subscripts, fuel),
        }
    }

    fn subscript_ranges(&mut self, subscripts: &Subscripts, fuel: usize) -> Vec<Option<Range>> {
        let ctx = self.body.ctx().clone();
        let operands: Vec<Range> = subscripts.operands.iter().map(|v| self.range(*v, fuel)).collect();
        let data = subscripts.map.data(&ctx);
        let (dims, symbols) = operands.split_at((data.dims as usize).min(operands.len()));
        data.results.iter().map(|expr| expr_range(*expr, &ctx, dims, symbols)).collect()
    }
}

fn width(body: &Body, value: Value) -> u32 {
    body.value_type(value).integer_width(body.ctx()).unwrap_or(64)
}

fn type_range(body: &Body, value: Value) -> Range {
    match width(body, value) {
        width @ 1..64 => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        64 => ALL,
        // What is wider does not fit into anything.
        _ => (i128::MIN, i128::MAX),
    }
}

fn fits(range: Range, width: u32) -> bool {
    let limit = 1i128 << (width.clamp(1, 64) - 1);
    -limit <= range.0 && range.1 < limit
}

fn product(a: Range, b: Range) -> Range {
    let ends = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
    let corners = ends.map(|(x, y)| x.saturating_mul(y));
    (corners.into_iter().min().unwrap_or(0), corners.into_iter().max().unwrap_or(0))
}

/// Folds an affine expression over what its leaves are, without recursion.
fn fold_expr<T: Clone>(
    expr: AffineExpr,
    ctx: &loomir_ir::Context,
    leaf: impl Fn(AffineExprKind) -> Option<T>,
    combine: impl Fn(AffineExprKind, T, T) -> Option<T>,
) -> Option<T> {
    let mut stack: Vec<Option<T>> = Vec::new();
    expr.visit(ctx, &mut |kind| {
        let value = match kind {
            AffineExprKind::Dim(_) | AffineExprKind::Symbol(_) | AffineExprKind::Constant(_) => leaf(kind),
            _ => {
                let b = stack.pop().flatten();
                let a = stack.pop().flatten();
                a.zip(b).and_then(|(a, b)| combine(kind, a, b))
            }
        };
        stack.push(value);
    });
    stack.pop().flatten()
}

fn expr_form(
    expr: AffineExpr,
    ctx: &loomir_ir::Context,
    dims: &[Option<Form>],
    symbols: &[Option<Form>],
) -> Option<Form> {
    fold_expr(
        expr,
        ctx,
        |kind| match kind {
            AffineExprKind::Dim(d) => dims.get(d as usize)?.clone(),
            AffineExprKind::Symbol(s) => symbols.get(s as usize)?.clone(),
            AffineExprKind::Constant(c) => Some(Form::constant(c)),
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

fn expr_range(
    expr: AffineExpr,
    ctx: &loomir_ir::Context,
    dims: &[Range],
    symbols: &[Range],
) -> Option<Range> {
    // Affine arithmetic does not wrap, so a result outside 64 bits is undefined behaviour and may be cut off.
    let cut = |r: Range| Some((r.0.clamp(ALL.0, ALL.1), r.1.clamp(ALL.0, ALL.1)));
    fold_expr(
        expr,
        ctx,
        |kind| match kind {
            AffineExprKind::Dim(d) => dims.get(d as usize).copied(),
            AffineExprKind::Symbol(s) => symbols.get(s as usize).copied(),
            AffineExprKind::Constant(c) => Some((c.into(), c.into())),
            _ => None,
        },
        |kind, a, b| match kind {
            AffineExprKind::Add(..) => cut((a.0.saturating_add(b.0), a.1.saturating_add(b.1))),
            AffineExprKind::Mul(..) => cut(product(a, b)),
            _ if b.0 != b.1 || b.0 <= 0 => Some(ALL),
            AffineExprKind::FloorDiv(..) => Some((a.0.div_euclid(b.0), a.1.div_euclid(b.0))),
            AffineExprKind::CeilDiv(..) => {
                let up = |x: i128| x.saturating_add(b.0 - 1).div_euclid(b.0);
                Some((up(a.0), up(a.1)))
            }
            _ => Some((0, b.0 - 1)),
        },
    )
}
