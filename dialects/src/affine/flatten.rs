//! Simplification of affine expressions, by the coefficients of their terms.
//!
//! A pure expression is a sum of multiples of dimensions, symbols and quotients, with a constant.
//! Equal terms are one, and the terms are ordered: dimensions, symbols, quotients as they come. The
//! remainder `e mod k` is `e - (e floordiv k) * k`. As MLIR simplifies them.
//!
//! Cost: linear in the expression, times the number of its quotients.

use loomir_ir::{AffineExpr, AffineExprKind, Context};

/// A sum: a coefficient for each dimension, then each symbol, and of each quotient.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Sum {
    inputs: Vec<i64>,
    /// Coefficients of the quotients. Missing ones are zero.
    quotients: Vec<i64>,
    constant: i64,
}

/// The most quotients of an expression that is simplified.
const MAX_QUOTIENTS: usize = 16;

struct Flattener<'c> {
    ctx: &'c Context,
    dims: usize,
    /// The number of dimensions and symbols.
    inputs: usize,
    /// Quotients, each an expression of the inputs.
    quotients: Vec<AffineExpr>,
}

/// Returns the expression in its simplest form, or as it is if a product or divisor is not
/// constant, or a number does not fit 64 bits.
pub(super) fn simplified(ctx: &Context, expr: AffineExpr, dims: u32, symbols: u32) -> AffineExpr {
    let (dims, inputs) = (dims as usize, (dims + symbols) as usize);
    let mut flattener = Flattener { ctx, dims, inputs, quotients: Vec::new() };
    flattener.flatten(expr).map_or(expr, |sum| flattener.expression(&sum))
}

/// Returns the coefficients of the dimensions, then of the symbols, then the constant. `None` if
/// there are other terms.
pub(super) fn coefficients(ctx: &Context, expr: AffineExpr, dims: u32, symbols: u32) -> Option<Vec<i64>> {
    let (dims, inputs) = (dims as usize, (dims + symbols) as usize);
    let mut flattener = Flattener { ctx, dims, inputs, quotients: Vec::new() };
    let sum = flattener.flatten(expr)?;
    let is_linear = sum.quotients.iter().all(|coefficient| *coefficient == 0);
    is_linear.then(|| sum.inputs.into_iter().chain([sum.constant]).collect())
}

impl Flattener<'_> {
    fn flatten(&mut self, expr: AffineExpr) -> Option<Sum> {
        let mut stack: Vec<Option<Sum>> = Vec::new();
        let ctx = self.ctx;
        expr.visit(ctx, &mut |kind| {
            let sum = match kind {
                AffineExprKind::Dim(d) => self.input(d as usize),
                AffineExprKind::Symbol(s) => self.input(self.dims + s as usize),
                AffineExprKind::Constant(constant) => Some(self.number(constant)),
                _ => {
                    // `visit` hands out children first.
                    let (right, left) = (stack.pop().flatten(), stack.pop().flatten());
                    left.zip(right).and_then(|(left, right)| self.combine(kind, left, &right))
                }
            };
            stack.push(sum);
        });
        stack.pop().flatten()
    }

    fn number(&self, constant: i64) -> Sum {
        Sum { inputs: vec![0; self.inputs], quotients: Vec::new(), constant }
    }

    fn input(&self, index: usize) -> Option<Sum> {
        let mut sum = self.number(0);
        *sum.inputs.get_mut(index)? = 1;
        Some(sum)
    }

    fn combine(&mut self, kind: AffineExprKind, left: Sum, right: &Sum) -> Option<Sum> {
        if let AffineExprKind::Add(..) = kind {
            return left.plus(right);
        }
        let factor = right.as_constant();
        match (kind, factor) {
            (AffineExprKind::Mul(..), Some(factor)) => left.times(factor),
            (AffineExprKind::Mul(..), None) => right.times(left.as_constant()?),
            (_, Some(divisor)) if divisor > 0 => match kind {
                AffineExprKind::Mod(..) => {
                    let quotient = self.quotient(left.clone(), divisor, false)?;
                    left.plus(&quotient.times(divisor.checked_neg()?)?)
                }
                AffineExprKind::FloorDiv(..) => self.quotient(left, divisor, false),
                _ => self.quotient(left, divisor, true),
            },
            _ => None,
        }
    }

    /// Returns the quotient, rounded down or up, divided by what all its numbers have in common.
    fn quotient(&mut self, mut sum: Sum, divisor: i64, rounds_up: bool) -> Option<Sum> {
        let common = sum.numbers().fold(divisor.unsigned_abs(), |common, n| gcd(common, n.unsigned_abs()));
        let common = i64::try_from(common).ok()?;
        sum.each(|n| *n /= common);
        let divisor = divisor / common;
        if divisor == 1 {
            return Some(sum);
        }
        let dividend = self.expression(&sum);
        let divisor = AffineExpr::constant(self.ctx, divisor);
        let quotient = match rounds_up {
            true => dividend.ceildiv(self.ctx, divisor),
            false => dividend.floordiv(self.ctx, divisor),
        };
        if let Some(constant) = quotient.as_constant(self.ctx) {
            return Some(self.number(constant));
        }
        let known = self.quotients.iter().position(|own| *own == quotient);
        let index = known.unwrap_or(self.quotients.len());
        if known.is_none() {
            if index == MAX_QUOTIENTS {
                return None;
            }
            self.quotients.push(quotient);
        }
        let mut sum = self.number(0);
        sum.quotients = vec![0; index + 1];
        sum.quotients[index] = 1;
        Some(sum)
    }

    fn expression(&self, sum: &Sum) -> AffineExpr {
        let ctx = self.ctx;
        let input = |i: usize| match i.checked_sub(self.dims) {
            None => AffineExpr::dim(ctx, i as u32),
            Some(symbol) => AffineExpr::symbol(ctx, symbol as u32),
        };
        let inputs = sum.inputs.iter().enumerate().map(|(i, n)| (input(i), *n));
        let quotients = self.quotients.iter().copied().zip(sum.quotients.iter().copied());
        let terms = inputs.chain(quotients).filter(|(_, coefficient)| *coefficient != 0);
        let total = terms.fold(AffineExpr::constant(ctx, 0), |total, (term, coefficient)| {
            total.add(ctx, term.mul(ctx, AffineExpr::constant(ctx, coefficient)))
        });
        total.add(ctx, AffineExpr::constant(ctx, sum.constant))
    }
}

impl Sum {
    fn numbers(&self) -> impl Iterator<Item = i64> + '_ {
        self.inputs.iter().chain(&self.quotients).copied().chain([self.constant])
    }

    fn each(&mut self, f: impl FnMut(&mut i64)) {
        self.inputs.iter_mut().chain(&mut self.quotients).chain([&mut self.constant]).for_each(f);
    }

    fn as_constant(&self) -> Option<i64> {
        self.inputs.iter().chain(&self.quotients).all(|n| *n == 0).then_some(self.constant)
    }

    fn plus(mut self, other: &Sum) -> Option<Sum> {
        self.quotients.resize(self.quotients.len().max(other.quotients.len()), 0);
        let pairs = self.inputs.iter_mut().zip(&other.inputs);
        for (own, other) in pairs.chain(self.quotients.iter_mut().zip(&other.quotients)) {
            *own = own.checked_add(*other)?;
        }
        self.constant = self.constant.checked_add(other.constant)?;
        Some(self)
    }

    fn times(&self, factor: i64) -> Option<Sum> {
        let times =
            |numbers: &[i64]| numbers.iter().map(|n| n.checked_mul(factor)).collect::<Option<Vec<_>>>();
        let (inputs, quotients) = (times(&self.inputs)?, times(&self.quotients)?);
        Some(Sum { inputs, quotients, constant: self.constant.checked_mul(factor)? })
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
