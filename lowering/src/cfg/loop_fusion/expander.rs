//! Forms over values as values, in words of some width.
//!
//! In 128 bits nothing wraps; in fewer it is the number that the form is, wrapped. Cost: an operation or two a term.

use std::cmp::Ordering;

use loomir_dialects::llvm;
use loomir_ir::{Body, Builder, TypeKind, Value};
use loomir_transforms::affine::{AffineForm, Atom};

use crate::cfg::arithmetic;
pub(super) use crate::cfg::arithmetic::{binary, compare};

/// Most terms, and how great a factor may be: so sums of them have less than 128 bits.
const MAX_TERMS: usize = 16;
const MAX_FACTOR: u64 = 1 << 40;

/// Whether a form can be computed in 128 bits.
pub(super) fn is_computable(function: &Body, form: &AffineForm) -> bool {
    let is_small = |value: Value| width(function, value).is_some_and(|width| width <= 64);
    let is_fit = |(atom, factor): &(Atom, i64)| match atom {
        Atom::Param(value) => is_small(*value) && factor.unsigned_abs() <= MAX_FACTOR,
        _ => false,
    };
    form.terms().len() <= MAX_TERMS && form.terms().iter().all(is_fit)
}

/// The width of an integer.
pub(super) fn width(function: &Body, value: Value) -> Option<u32> {
    match function.value_type(value).kind(function.ctx()) {
        TypeKind::Integer { width, .. } => Some(*width),
        _ => None,
    }
}

/// A form that is [computable](is_computable) as a value of a width.
pub(super) fn number(builder: &mut Builder<'_>, form: &AffineForm, wanted: u32) -> Value {
    let ctx = builder.ctx();
    let ty = ctx.int_type(wanted);
    let constant = |builder: &mut Builder<'_>, number: i64| {
        arithmetic::constant(builder, wanted, i128::from(number) as u128)
    };
    let mut sum = None;
    for (atom, factor) in form.terms() {
        let Atom::Param(value) = atom else { continue };
        let own = width(builder.body(), *value).unwrap_or(wanted);
        let cast = match own.cmp(&wanted) {
            Ordering::Less => Some(llvm::SExtOp::DEF),
            Ordering::Equal => None,
            Ordering::Greater => Some(llvm::TruncOp::DEF),
        };
        let mut term = *value;
        if let Some(cast) = cast {
            let state = builder.state(cast).operands(&[term]).results(&[ty]);
            term = builder.value(state);
        }
        if *factor != 1 {
            let factor = constant(builder, *factor);
            term = binary(builder, llvm::MulOp::DEF, term, factor);
        }
        sum = Some(sum.map_or(term, |sum| binary(builder, llvm::AddOp::DEF, sum, term)));
    }
    let Some(sum) = sum else { return constant(builder, form.constant_part()) };
    if form.constant_part() == 0 {
        return sum;
    }
    let last = constant(builder, form.constant_part());
    binary(builder, llvm::AddOp::DEF, sum, last)
}
