//! Affine forms over values as arithmetic.
//!
//! Sums, differences and products may wrap: a result in range is correct, whatever the intermediate
//! values are. Quotients may not, so their dividends are computed in a sufficient type.

use loomir_dialects::arith;
use loomir_ir::opdef::OpDef;
use loomir_ir::{Builder, Mapping, Type, Value};

use crate::affine::{AffineForm, Atom};

/// An affine form over existing values: an [`AffineForm`] without levels whose parameters were
/// replaced.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Sum {
    constant: i64,
    terms: Vec<(Term, i64)>,
}

/// The unknown in a term of a sum.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Term {
    /// A value.
    Value(Value),
    /// The product of values.
    Product(Vec<Value>),
    /// `⌊sum / divisor⌋`, and the bits that the dividend needs: 64 or 128.
    FloorDiv(Sum, i64, u32),
}

impl Sum {
    /// Returns the sum that is a constant.
    pub(super) fn constant(constant: i64) -> Sum {
        Sum { constant, terms: Vec::new() }
    }

    /// Returns the sum of a value and a constant.
    pub(super) fn offset(value: Value, constant: i64) -> Sum {
        Sum { constant, terms: vec![(Term::Value(value), 1)] }
    }

    /// Returns the sum of multiples of values and a constant.
    pub(super) fn of_terms(terms: &[(Value, i64)], constant: i64) -> Sum {
        let mut terms: Vec<_> = terms.iter().map(|(value, factor)| (Term::Value(*value), *factor)).collect();
        // A positive term comes first, if there is one, so that the others can be subtracted from
        // it.
        terms.sort_by_key(|(_, factor)| *factor < 0);
        Sum { constant, terms }
    }

    /// Returns a form over values of the program, replaced by `mapping`. `width` returns the number
    /// of bits that a dividend needs. `None` if the form has a level, or a dividend needs too many
    /// bits. Recurses once a nested quotient; forms bound their nesting.
    pub(super) fn of(
        form: &AffineForm,
        mapping: &Mapping,
        width: &dyn Fn(&AffineForm) -> Option<u32>,
    ) -> Option<Sum> {
        let term = |(atom, coefficient): &(Atom, i64)| {
            let term = match atom {
                Atom::Level(_) => return None,
                Atom::Param(value) => Term::Value(mapping.value(*value)),
                Atom::Product(values) => {
                    Term::Product(values.iter().map(|value| mapping.value(*value)).collect())
                }
                Atom::FloorDiv(inner, divisor) => {
                    Term::FloorDiv(Sum::of(inner, mapping, width)?, *divisor, width(inner)?)
                }
            };
            Some((term, *coefficient))
        };
        Some(Sum {
            constant: form.constant_part(),
            terms: form.terms().iter().map(term).collect::<Option<_>>()?,
        })
    }

    /// Returns the constant, if the sum is one.
    pub(super) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Returns the sum as an optional value plus a constant. `None` for any other sum.
    pub(super) fn as_offset(&self) -> Option<(Option<Value>, i64)> {
        match self.terms[..] {
            [] => Some((None, self.constant)),
            [(Term::Value(value), 1)] => Some((Some(value), self.constant)),
            _ => None,
        }
    }
}

/// Writes sums at a place.
pub(super) struct Expression<'b> {
    pub builder: Builder<'b>,
}

impl Expression<'_> {
    /// Returns the value of `sum` in type `ty`, an integer or `index`.
    pub(super) fn value(&mut self, sum: &Sum, ty: Type) -> Value {
        self.arithmetic(sum, ty, true)
    }

    /// Computes a sum. `is_value`: the sum is a value of the program, which is in range.
    fn arithmetic(&mut self, sum: &Sum, ty: Type, is_value: bool) -> Value {
        let mut all: Option<Value> = None;
        for (term, coefficient) in &sum.terms {
            let value = match term {
                Term::Value(value) => self.cast(*value, ty),
                Term::Product(values) => {
                    let factors: Vec<Value> = values.iter().map(|value| self.cast(*value, ty)).collect();
                    let product = |a, b| self.binary(arith::MulIOp::DEF, a, b, false);
                    factors.into_iter().reduce(product).unwrap_or_else(|| self.constant(1, ty))
                }
                Term::FloorDiv(inner, divisor, width) => {
                    // The dividend may be beyond a narrow type, although the quotient is not.
                    let wide = match (width, ty) {
                        (..=64, Type::INDEX) => ty,
                        (width, _) => self.builder.ctx().int_type(*width),
                    };
                    let (inner, divisor) =
                        (self.arithmetic(inner, wide, false), self.constant(*divisor, wide));
                    let quotient = self.binary(arith::FloorDivSIOp::DEF, inner, divisor, false);
                    self.cast(quotient, ty)
                }
            };
            all = Some(match (all, coefficient) {
                (None, 1) => value,
                (Some(sum), 1) => self.binary(arith::AddIOp::DEF, sum, value, false),
                (Some(sum), -1) => self.binary(arith::SubIOp::DEF, sum, value, false),
                (sum, factor) => {
                    let factor = self.constant(*factor, ty);
                    let product = self.binary(arith::MulIOp::DEF, value, factor, false);
                    match sum {
                        Some(sum) => self.binary(arith::AddIOp::DEF, sum, product, false),
                        None => product,
                    }
                }
            });
        }
        let Some(all) = all else { return self.constant(sum.constant, ty) };
        if sum.constant == 0 {
            return all;
        }
        let constant = self.constant(sum.constant, ty);
        // A value plus a constant is in range. This is not so if the value was truncated, or if the
        // constant is beyond the type.
        let width = ty.integer_width(&self.builder.ctx()).unwrap_or(64).clamp(1, 64);
        let fits = sum.constant >= i64::MIN >> (64 - width) && sum.constant <= i64::MAX >> (64 - width);
        let one = matches!(sum.as_offset(), Some((Some(value), _)) if self.builder.type_of(value) == ty);
        let exact = is_value && fits && one;
        self.binary(arith::AddIOp::DEF, all, constant, exact)
    }

    fn binary(&mut self, def: &'static OpDef, a: Value, b: Value, exact: bool) -> Value {
        let ctx = self.builder.ctx();
        let mut state = self.builder.state(def).operands(&[a, b]);
        if exact {
            let nsw = arith::OVERFLOW.attr(&ctx, arith::OVERFLOW.value_of("nsw").unwrap_or(0));
            state = state.attr(&ctx, "overflowFlags", nsw);
        }
        self.builder.value(state)
    }

    fn constant(&mut self, value: i64, ty: Type) -> Value {
        let ctx = self.builder.ctx();
        let state = self.builder.state(arith::ConstantOp::DEF).results(&[ty]);
        self.builder.value(state.attr(&ctx, "value", ctx.int_attr(ty, value)))
    }

    /// Casts a number to another type that can hold it.
    fn cast(&mut self, value: Value, ty: Type) -> Value {
        let from = self.builder.type_of(value);
        if from == ty {
            return value;
        }
        let ctx = self.builder.ctx();
        let def = match (from.integer_width(&ctx), ty.integer_width(&ctx)) {
            (Some(from), Some(to)) if from < to => arith::ExtSIOp::DEF,
            (Some(_), Some(_)) => arith::TruncIOp::DEF,
            _ => arith::IndexCastOp::DEF,
        };
        let state = self.builder.state(def).operands(&[value]).results(&[ty]);
        self.builder.value(state)
    }
}
