//! Expressions of scalar evolution as operations before a loop.
//!
//! A [`Recipe`] is an expression that outlives the analysis. Writing it makes operations without
//! promises about overflow. Each value in it is frozen, so a count that would be poison is some
//! number instead, the same wherever it is used: a test made before the loop must not be undefined
//! where the original loop never tests.
//!
//! **Assumptions.**
//! - A divisor is a constant other than zero, or made at least one, so no division traps.
//! - A recurrence of a loop around is an argument of that loop's header, or a multiple of one.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interp::integer::mask;
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Builder, Op, OpDef, Value};

mod wide;

use crate::cfg::arithmetic;
use crate::cfg::scev::ScalarEvolution;
use crate::cfg::scev::expr::{Cast, Expr, ExprId, MinMax};

/// An expression to write, and the number of its bits.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    width: u32,
    part: Part,
}

#[derive(Clone, Debug)]
enum Part {
    Constant(u128),
    /// A value of the function, and true if it is a pointer.
    Value(Value, bool),
    Cast(Cast, Box<Recipe>),
    Sum(Vec<Recipe>),
    Product(Vec<Recipe>),
    Quotient(Box<Recipe>, u128),
    /// A quotient by an expression that is at least one where it counts.
    Ratio(Box<Recipe>, Box<Recipe>),
    Extreme(MinMax, Vec<Recipe>),
}

impl Recipe {
    /// Returns the recipe of an expression before a loop. `None` if something in it is no value
    /// there.
    pub(crate) fn of(scev: &mut ScalarEvolution<'_>, before: LoopId, id: ExprId) -> Option<Recipe> {
        Maker { scev, before, known: None, signed: false }.recipe(id)
    }

    /// Returns the same recipe, where numbers that are not negative are extended as signed ones.
    fn of_signed(scev: &mut ScalarEvolution<'_>, before: LoopId, id: ExprId) -> Option<Recipe> {
        Maker { scev, before, known: None, signed: true }.recipe(id)
    }

    /// Returns the bits of a constant.
    pub(crate) fn as_constant(&self) -> Option<u128> {
        if let Part::Constant(bits) = self.part { Some(bits) } else { None }
    }

    /// Returns the number of bits.
    pub(crate) fn width(&self) -> u32 {
        self.width
    }

    /// Replaces each value in the expression.
    pub(crate) fn rename(&mut self, rename: &dyn Fn(Value) -> Value) {
        match &mut self.part {
            Part::Constant(_) => {}
            Part::Value(value, _) => *value = rename(*value),
            Part::Cast(_, inner) | Part::Quotient(inner, _) => inner.rename(rename),
            Part::Ratio(inner, by) => [inner, by].into_iter().for_each(|part| part.rename(rename)),
            Part::Sum(parts) | Part::Product(parts) | Part::Extreme(_, parts) => {
                parts.iter_mut().for_each(|part| part.rename(rename));
            }
        }
    }

    /// Returns the cost of writing it, as LLVM's expander counts.
    pub(crate) fn cost(&self) -> u64 {
        let several = |parts: &[Recipe], each: u64| {
            parts.iter().map(Recipe::cost).sum::<u64>() + each * (parts.len() as u64 - 1)
        };
        match &self.part {
            Part::Constant(_) | Part::Value(..) => 0,
            Part::Cast(_, inner) => 1 + inner.cost(),
            Part::Sum(parts) | Part::Product(parts) => several(parts, 1),
            Part::Quotient(inner, by) => inner.cost() + if by.is_power_of_two() { 1 } else { 4 },
            Part::Ratio(inner, by) => inner.cost() + by.cost() + 4,
            Part::Extreme(_, parts) => several(parts, 2),
        }
    }
}

/// The maximal number of values that a test is followed to.
const MAX_VALUES: usize = 256;

/// Makes recipes of expressions before a loop.
struct Maker<'s, 'f> {
    scev: &'s mut ScalarEvolution<'f>,
    before: LoopId,
    /// The values before the loop that its test depends on, by their expressions, once needed.
    known: Option<HashMap<ExprId, Value>>,
    /// True if numbers that are not negative are extended as signed ones.
    signed: bool,
}

impl Maker<'_, '_> {
    fn recipe(&mut self, id: ExprId) -> Option<Recipe> {
        let width = self.scev.width(id);
        let of_value = |this: &Self, value: Value| {
            let part = Part::Value(value, this.scev.type_of(id).is_pointer());
            Some(Recipe { width, part })
        };
        let part = match self.scev.get(id).clone() {
            Expr::Constant(_, bits) => Some(Part::Constant(bits)),
            Expr::Unknown(value) if self.is_closed(value) => return of_value(self, value),
            Expr::Unknown(_) => None,
            Expr::PtrToInt(inner) => return self.recipe(inner),
            Expr::Cast(cast, inner, _) => {
                let is_natural = cast == Cast::ZeroExtend
                    && self.signed
                    && self.scev.range_in(inner, Some(self.before)).signed.0 >= 0;
                let cast = if is_natural { Cast::SignExtend } else { cast };
                self.recipe(inner).map(|inner| Part::Cast(cast, Box::new(inner)))
            }
            Expr::Add(operands) => self.all(&operands).map(Part::Sum),
            Expr::Mul(operands) => self.all(&operands).map(Part::Product),
            Expr::UDiv(a, b) => {
                let is_possible = self.scev.range_in(b, Some(self.before)).unsigned.0 > 0;
                // An unsigned number is divided as such.
                let signed = std::mem::replace(&mut self.signed, false);
                let a = self.recipe(a).filter(|_| is_possible);
                let by = self.scev.as_constant(b);
                let part = a.and_then(|a| match by {
                    Some(by) => Some(Part::Quotient(Box::new(a), by)),
                    None => Some(Part::Ratio(Box::new(a), Box::new(self.recipe(b)?))),
                });
                self.signed = signed;
                part
            }
            Expr::MinMax(kind, operands) => self.all(&operands).map(|parts| Part::Extreme(kind, parts)),
            Expr::AddRec(..) => {
                if let Some(made) = self.recurrence(id) {
                    return Some(made);
                }
                None
            }
        };
        if let Some(part) = part {
            return Some(Recipe { width, part });
        }
        let known = self.known_value(id)?;
        of_value(self, known)
    }

    fn all(&mut self, operands: &[ExprId]) -> Option<Vec<Recipe>> {
        operands.iter().map(|operand| self.recipe(*operand)).collect()
    }

    fn is_closed(&self, value: Value) -> bool {
        is_closed(self.scev, self.before, value)
    }

    /// Returns a value with this expression that the test of the loop depends on.
    fn known_value(&mut self, id: ExprId) -> Option<Value> {
        if self.known.is_none() {
            self.known = Some(self.values_of_tests());
        }
        self.known.as_ref()?.get(&id).copied()
    }

    /// Returns the values before the loop that its tests depend on. If one of them is poison, so is
    /// a test. Another value with the same expression may be poison by itself.
    fn values_of_tests(&mut self) -> HashMap<ExprId, Value> {
        let mut known = HashMap::new();
        let tests: Vec<u32> = self.scev.counts(self.before).exits.iter().map(|exit| exit.from).collect();
        for value in values_of_tests(self.scev, self.before, &tests) {
            if self.is_closed(value) && self.scev.expr_type(value).is_some() {
                let id = self.scev.expr(value);
                known.entry(id).or_insert(value);
            }
        }
        known
    }

    /// Returns a recurrence of a loop around, by an argument of that loop's header.
    fn recurrence(&mut self, id: ExprId) -> Option<Recipe> {
        let width = self.scev.width(id);
        let Stepped { argument, factor, rest } = stepped(self.scev, self.before, id, self.signed)?;
        let (own, ty) = (self.scev.expr(argument), self.scev.expr_type(argument)?);
        let is_pointer = self.scev.type_of(own).is_pointer();
        let mut value = Recipe { width: ty.width(), part: Part::Value(argument, is_pointer) };
        if ty.width() < width {
            value = Recipe { width, part: Part::Cast(Cast::SignExtend, Box::new(value)) };
        }
        let Some(rest) = rest else { return Some(value) };
        let rest = self.recipe(rest)?;
        let factor = Recipe { width, part: Part::Constant(factor) };
        let product = Recipe { width, part: Part::Product(vec![value, factor]) };
        Some(Recipe { width, part: Part::Sum(vec![product, rest]) })
    }
}

/// True if a value is not defined in a loop that is over before another one. Such a loop may change
/// too, and its values leave it as arguments of the blocks behind.
pub(crate) fn is_closed(scev: &ScalarEvolution<'_>, before: LoopId, value: Value) -> bool {
    let (function, analysis) = (scev.function(), scev.analysis());
    let header = analysis.loops().get(before).header();
    let around =
        function.value_block(value).and_then(|block| analysis.loops().innermost(analysis.number(block)));
    around.is_none_or(|around| analysis.loops().contains(around, header))
}

/// A recurrence by an argument of its loop's header: `argument · factor + rest`.
struct Stepped {
    argument: Value,
    factor: u128,
    /// Zero if there is none.
    rest: Option<ExprId>,
}

/// Returns a recurrence of a loop around a loop, by an argument of that loop's header with the same
/// step, or a step of one up or down. A narrower argument may be extended, if `extends`.
fn stepped(scev: &mut ScalarEvolution<'_>, before: LoopId, id: ExprId, extends: bool) -> Option<Stepped> {
    let width = scev.width(id);
    let Expr::AddRec(of, operands) = scev.get(id).clone() else { return None };
    let analysis = scev.analysis();
    let inside = analysis.loops().get(before).header();
    if !analysis.loops().contains(of, inside) {
        return None;
    }
    let header = analysis.block(analysis.loops().get(of).header());
    let arguments: Vec<Value> = scev.function().arguments(header).collect();
    let [start, step] = operands[..] else { return None };
    for argument in arguments {
        let Some(ty) = scev.expr_type(argument) else { continue };
        if ty.width() != width && !(extends && ty.width() < width && !ty.is_pointer()) {
            continue;
        }
        let own = scev.expr(argument);
        let own = scev.sign_extend(own, width);
        if own == id {
            return Some(Stepped { argument, factor: 1, rest: None });
        }
        let Expr::AddRec(around, parts) = scev.get(own).clone() else { continue };
        let [first, by] = parts[..] else { continue };
        let is_pointer = [own, id].iter().any(|id| scev.type_of(*id).is_pointer());
        if around != of || is_pointer {
            continue;
        }
        let ones = mask(width);
        let factor = match (scev.as_constant(by), scev.as_constant(step)) {
            _ if by == step => 1,
            (Some(1), Some(step)) => step,
            (Some(by), Some(step)) if by == ones => step.wrapping_neg() & ones,
            _ => continue,
        };
        // start + (argument - first) * factor
        let factor_id = scev.constant(width, factor);
        let moved = scev.mul(&[first, factor_id]);
        let rest = scev.minus(start, moved);
        return Some(Stepped { argument, factor, rest: Some(rest) });
    }
    None
}

/// Returns the values from before a loop that the tests at the ends of some of its blocks depend
/// on. If one of them is poison, so is a test.
pub(crate) fn values_of_tests(
    scev: &ScalarEvolution<'_>,
    of: LoopId,
    blocks: &[u32],
) -> impl Iterator<Item = Value> + use<> {
    let (function, analysis) = (scev.function(), scev.analysis());
    let is_inside = |value| {
        let block = function.value_block(value).map(|block| analysis.number(block));
        block.is_some_and(|node| analysis.loops().contains(of, node))
    };
    let tests = blocks.iter().filter_map(|block| function.terminator(analysis.block(*block)));
    let is_test =
        |op: &Op| [llvm::CondBrOp::DEF, llvm::SwitchOp::DEF].iter().any(|def| function.is(*op, def));
    let mut pending: Vec<Value> = tests.filter(is_test).map(|op| function.operand(op, 0)).collect();
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    while let Some(value) = pending.pop().filter(|_| seen.len() < MAX_VALUES) {
        if !seen.insert(value) {
            continue;
        }
        if !is_inside(value) {
            found.push(value);
        }
        match function.defining_op(value) {
            Some(op) if scev.spreads_poison(op) => pending.extend(function.operands(op)),
            Some(_) => {}
            None => pending.extend(scev.header_argument(value).map(|own| own.start)),
        }
    }
    found.into_iter()
}

/// Writes recipes. Each value is frozen once, unless it needs none.
pub(crate) struct Writer<'b, 'a> {
    pub(crate) builder: &'b mut Builder<'a>,
    frozen: HashMap<Value, Value>,
    /// True for values that need no freeze.
    is_settled: &'b dyn Fn(Value) -> bool,
}

impl<'b, 'a> Writer<'b, 'a> {
    pub(crate) fn new(builder: &'b mut Builder<'a>) -> Self {
        Writer::trusting(builder, &|_| false)
    }

    /// Returns a writer that does not freeze some values: the program is undefined already if one
    /// of them is poison.
    pub(crate) fn trusting(builder: &'b mut Builder<'a>, is_settled: &'b dyn Fn(Value) -> bool) -> Self {
        Writer { builder, frozen: HashMap::new(), is_settled }
    }

    /// Writes an expression and returns its value.
    pub(crate) fn write(&mut self, recipe: &Recipe) -> Value {
        let width = recipe.width;
        match &recipe.part {
            Part::Constant(bits) => self.constant(width, *bits),
            Part::Value(value, is_pointer) => self.frozen(*value, is_pointer.then_some(width)),
            Part::Cast(cast, inner) => {
                let inner = self.write(inner);
                let def = match cast {
                    Cast::Truncate => llvm::TruncOp::DEF,
                    Cast::ZeroExtend => llvm::ZExtOp::DEF,
                    Cast::SignExtend => llvm::SExtOp::DEF,
                };
                self.unary(def, inner, width)
            }
            Part::Sum(parts) => self.several(llvm::AddOp::DEF, parts, width),
            Part::Product(parts) => self.several(llvm::MulOp::DEF, parts, width),
            Part::Quotient(inner, by) => {
                let inner = self.write(inner);
                let by = self.constant(width, *by);
                self.binary(llvm::UDivOp::DEF, inner, by)
            }
            Part::Ratio(inner, by) => {
                let (inner, by) = (self.write(inner), self.write(by));
                // A frozen divisor may be any number.
                let one = self.constant(width, 1);
                let by = self.binary(llvm::UMaxOp::DEF, by, one);
                self.binary(llvm::UDivOp::DEF, inner, by)
            }
            Part::Extreme(kind, parts) => {
                let def = match kind {
                    MinMax::UMax => llvm::UMaxOp::DEF,
                    MinMax::SMax => llvm::SMaxOp::DEF,
                    MinMax::SMin => llvm::SMinOp::DEF,
                    MinMax::UMin | MinMax::SequentialUMin => llvm::UMinOp::DEF,
                };
                self.several(def, parts, width)
            }
        }
    }

    /// Writes a constant.
    pub(crate) fn constant(&mut self, width: u32, bits: u128) -> Value {
        arithmetic::constant(self.builder, width, bits)
    }

    /// Writes an operation on two values of one type.
    pub(crate) fn binary(&mut self, def: &'static OpDef, a: Value, b: Value) -> Value {
        arithmetic::binary(self.builder, def, a, b)
    }

    fn unary(&mut self, def: &'static OpDef, a: Value, width: u32) -> Value {
        let ty = self.builder.ctx().int_type(width);
        let state = self.builder.state(def).operands(&[a]).results(&[ty]);
        self.builder.value(state)
    }

    fn several(&mut self, def: &'static OpDef, parts: &[Recipe], width: u32) -> Value {
        let parts: Vec<Value> = parts.iter().map(|part| self.write(part)).collect();
        let joined = parts.into_iter().reduce(|a, b| self.binary(def, a, b));
        joined.unwrap_or_else(|| self.constant(width, 0))
    }

    /// Freezes a value, as a number of `width` bits if it is a pointer.
    fn frozen(&mut self, value: Value, pointer_width: Option<u32>) -> Value {
        if let Some(known) = self.frozen.get(&value) {
            return *known;
        }
        let mut frozen = value;
        if !(self.is_settled)(value) {
            let ty = self.builder.body().value_type(value);
            let state = self.builder.state(llvm::FreezeOp::DEF).operands(&[value]).results(&[ty]);
            frozen = self.builder.value(state);
        }
        if let Some(width) = pointer_width {
            frozen = self.unary(llvm::PtrToIntOp::DEF, frozen, width);
        }
        self.frozen.insert(value, frozen);
        frozen
    }
}
