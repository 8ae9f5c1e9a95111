//! Affine maps and sets, decoded: expressions over registers, ready to be evaluated many times.
//!
//! Arithmetic matches the expanded form: 64-bit `nsw` operations in the order of the expression, so
//! an intermediate overflow is poison. Bare dimensions and sums of multiples have special forms.
//! Other expressions run on a small stack.

use loomir_ir::affine::{AffineExprKind, ceil_div, floor_div};
use loomir_ir::{AffineExpr, AffineMap, Context, IntegerSet, Loc, Value};

use super::code::{Decoder, Slot, malformed};
use super::datum::{Cause, Datum, Poison};
use super::fault::Fault;
use super::machine::Machine;
use super::registers::unusable;

/// An affine expression over registers.
#[derive(Clone, Debug)]
enum Expr {
    Slot(Slot),
    Constant(i64),
    /// `((a * f + b * g) + …) + constant`, from left to right.
    Sum {
        terms: Box<[(Slot, i64)]>,
        constant: i64,
    },
    /// Postfix.
    Program(Box<[Step]>),
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Slot(Slot),
    Constant(i64),
    Add,
    Mul,
    Mod,
    FloorDiv,
    CeilDiv,
}

/// An affine map applied to registers.
#[derive(Clone, Debug)]
pub struct Map {
    results: Box<[Expr]>,
    loc: Loc,
}

/// An integer set applied to registers.
#[derive(Clone, Debug)]
pub struct Set {
    constraints: Box<[(Expr, bool)]>,
    loc: Loc,
}

impl Map {
    /// Applies the map to operands, dimensions first. `loc` is the location that an overflow is
    /// reported at.
    pub fn new(
        d: &Decoder<'_>,
        map: AffineMap,
        operands: impl IntoIterator<Item = Value>,
        loc: Loc,
    ) -> Result<Map, Box<Fault>> {
        Map::over(d, map, &d.slots(operands), loc)
    }

    /// Applies the map to registers, dimensions first. `loc` is the location that an overflow is
    /// reported at.
    pub fn over(d: &Decoder<'_>, map: AffineMap, slots: &[Slot], loc: Loc) -> Result<Map, Box<Fault>> {
        let data = map.data(d.ctx());
        if slots.len() != (data.dims + data.symbols) as usize {
            return Err(malformed("as many operands as its map has inputs"));
        }
        let results = data.results.iter().map(|e| decode(d.ctx(), *e, slots, data.dims)).collect();
        Ok(Map { results, loc })
    }

    /// Returns the number of results.
    pub fn num_results(&self) -> usize {
        self.results.len()
    }

    /// Returns result `index`: a number or poison.
    #[inline]
    pub fn result(&self, m: &Machine, index: usize) -> Result<Result<i64, Poison>, Box<Fault>> {
        self.results[index].evaluate(m, self.loc)
    }

    /// Returns result `index`. Poison is undefined behaviour here.
    #[inline]
    pub fn number(&self, m: &Machine, index: usize, what: &str) -> Result<i64, Box<Fault>> {
        self.result(m, index)?.map_err(|poison| Fault::poison(what, poison))
    }

    /// Result `index` as a datum.
    pub fn datum(&self, m: &Machine, index: usize) -> Result<Datum, Box<Fault>> {
        Ok(match self.result(m, index)? {
            Ok(value) => Datum::index(value),
            Err(poison) => Datum::Poison(poison),
        })
    }

    /// Returns the greatest or the least result.
    pub fn extreme(&self, m: &Machine, greatest: bool) -> Result<Result<i64, Poison>, Box<Fault>> {
        let mut best: Option<i64> = None;
        for i in 0..self.results.len() {
            match self.result(m, i)? {
                Ok(value) => {
                    best = Some(best.map_or(value, |b| if greatest { b.max(value) } else { b.min(value) }));
                }
                Err(poison) => return Ok(Err(poison)),
            }
        }
        best.map(Ok).ok_or_else(|| malformed("a result of its map"))
    }
}

impl Set {
    /// Applies the set to operands, dimensions first.
    pub fn new(
        d: &Decoder<'_>,
        set: IntegerSet,
        operands: impl IntoIterator<Item = Value>,
        loc: Loc,
    ) -> Result<Set, Box<Fault>> {
        let data = set.data(d.ctx());
        let slots = d.slots(operands);
        if slots.len() != (data.dims + data.symbols) as usize {
            return Err(malformed("as many operands as its set has inputs"));
        }
        let decode = |(e, eq): &(AffineExpr, bool)| (decode(d.ctx(), *e, &slots, data.dims), *eq);
        Ok(Set { constraints: data.constraints.iter().map(decode).collect(), loc })
    }

    /// True if the operands are in the set. All constraints are computed, as in the expanded form.
    pub fn contains(&self, m: &Machine) -> Result<bool, Box<Fault>> {
        let mut inside = true;
        for (expr, equality) in &self.constraints {
            let value = expr.evaluate(m, self.loc)?.map_err(|p| Fault::poison("the condition", p))?;
            inside &= if *equality { value == 0 } else { value >= 0 };
        }
        Ok(inside)
    }
}

fn decode(ctx: &Context, expr: AffineExpr, slots: &[Slot], dims: u32) -> Expr {
    let mut steps = Vec::new();
    expr.visit(ctx, &mut |kind| {
        steps.push(match kind {
            AffineExprKind::Dim(i) => slot(slots, i),
            AffineExprKind::Symbol(i) => slot(slots, dims.saturating_add(i)),
            AffineExprKind::Constant(value) => Step::Constant(value),
            AffineExprKind::Add(..) => Step::Add,
            AffineExprKind::Mul(..) => Step::Mul,
            AffineExprKind::Mod(..) => Step::Mod,
            AffineExprKind::FloorDiv(..) => Step::FloorDiv,
            AffineExprKind::CeilDiv(..) => Step::CeilDiv,
        });
    });
    match *steps.as_slice() {
        [Step::Slot(slot)] => Expr::Slot(slot),
        [Step::Constant(value)] => Expr::Constant(value),
        _ => as_sum(&steps).unwrap_or(Expr::Program(steps.into())),
    }
}

fn slot(slots: &[Slot], index: u32) -> Step {
    // A verified map has no input beyond its operands.
    slots.get(index as usize).map_or(Step::Constant(0), |s| Step::Slot(*s))
}

/// Recognises the postfix of `a * f + b * g + … + constant`, nested to the left.
fn as_sum(steps: &[Step]) -> Option<Expr> {
    let (mut terms, mut constant, mut rest) = (Vec::new(), 0, steps);
    while !rest.is_empty() {
        let tail = match *rest {
            [Step::Slot(slot), Step::Constant(factor), Step::Mul, ref tail @ ..] => {
                terms.push((slot, factor));
                tail
            }
            [Step::Slot(slot), ref tail @ ..] => {
                terms.push((slot, 1));
                tail
            }
            [Step::Constant(value), Step::Add] if !terms.is_empty() => {
                constant = value;
                break;
            }
            _ => return None,
        };
        rest = match (terms.len(), tail) {
            (1, tail) => tail,
            (_, [Step::Add, tail @ ..]) => tail,
            _ => return None,
        };
    }
    Some(Expr::Sum { terms: terms.into(), constant })
}

impl Expr {
    #[inline]
    fn evaluate(&self, m: &Machine, loc: Loc) -> Result<Result<i64, Poison>, Box<Fault>> {
        match self {
            Expr::Slot(slot) => read(m, *slot),
            Expr::Constant(value) => Ok(Ok(*value)),
            Expr::Sum { terms, constant } => {
                let mut sum = Some(0i64);
                for (slot, factor) in terms {
                    let value = match read(m, *slot)? {
                        Ok(value) => value,
                        Err(poison) => return Ok(Err(poison)),
                    };
                    sum = sum.zip(value.checked_mul(*factor)).and_then(|(s, t)| s.checked_add(t));
                }
                let sum = sum.and_then(|s| s.checked_add(*constant));
                Ok(sum.ok_or(Poison { cause: Cause::AffineOverflow, loc }))
            }
            Expr::Program(steps) => run(steps, m, loc),
        }
    }
}

/// Returns the fault of an affine expression, or of a mixed-radix basis, that divides by a number
/// below one.
#[cold]
pub fn bad_divisor(divisor: i64) -> Box<Fault> {
    Fault::undefined(format!("an affine expression divides by {divisor}"))
}

#[inline]
fn read(m: &Machine, slot: Slot) -> Result<Result<i64, Poison>, Box<Fault>> {
    match m.get(slot) {
        Datum::Bits(bits) => Ok(Ok(*bits as i64)),
        Datum::Poison(poison) => Ok(Err(*poison)),
        other => Err(unusable(other, "an affine operand")),
    }
}

/// Evaluates the steps. Poison spreads to the result, except from a divisor: dividing by poison is
/// undefined, as it is once the map is lowered to divisions.
fn run(steps: &[Step], m: &Machine, loc: Loc) -> Result<Result<i64, Poison>, Box<Fault>> {
    let mut small = [Ok(0i64); 16];
    let mut large = Vec::new();
    let stack: &mut [Result<i64, Poison>] = if steps.len() <= small.len() {
        &mut small
    } else {
        large.resize(steps.len(), Ok(0));
        &mut large
    };
    let mut top = 0;
    for step in steps {
        let value = match *step {
            Step::Slot(slot) => read(m, slot)?,
            Step::Constant(value) => Ok(value),
            _ => {
                top -= 2;
                binary(step, stack[top], stack[top + 1], loc)?
            }
        };
        stack[top] = value;
        top += 1;
    }
    Ok(stack[0])
}

#[inline]
fn binary(
    step: &Step,
    a: Result<i64, Poison>,
    b: Result<i64, Poison>,
    loc: Loc,
) -> Result<Result<i64, Poison>, Box<Fault>> {
    if !matches!(step, Step::Add | Step::Mul) {
        let divisor = b.map_err(|poison| Fault::poison("the divisor", poison))?;
        if divisor <= 0 {
            return Err(bad_divisor(divisor));
        }
    }
    let (a, b) = match (a, b) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(poison), _) | (_, Err(poison)) => return Ok(Err(poison)),
    };
    let value = match step {
        Step::Add => a.checked_add(b),
        Step::Mul => a.checked_mul(b),
        Step::Mod => Some(a.rem_euclid(b)),
        Step::FloorDiv => floor_div(a, b),
        _ => ceil_div(a, b),
    };
    Ok(value.ok_or(Poison { cause: Cause::AffineOverflow, loc }))
}
