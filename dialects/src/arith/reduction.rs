//! The kinds of atomic updates and parallel reductions as functions of two values.

use loomir_ir::{Context, Type};

use crate::interp::elementwise::bit_width;
use crate::interp::float::{self, Format, with_format};
use crate::interp::integer::{mask, signed};
use crate::interp::{Datum, Fault};

/// A reduction of a kind ([`ATOMIC_RMW_KIND`](super::ATOMIC_RMW_KIND)) on values of a type.
pub(crate) struct Reduction {
    width: u32,
    combine: Box<dyn Fn(u128, u128) -> u128>,
    identity: Option<u128>,
}

impl Reduction {
    /// Returns the reduction with this number.
    pub(crate) fn new(ctx: &Context, kind: u64, ty: Type) -> Result<Reduction, Box<Fault>> {
        let width = bit_width(ctx, ty)?;
        if ty.is_float(ctx) {
            return with_format!(ctx, ty, F => of_floats::<F>(kind, width));
        }
        let combine: Box<dyn Fn(u128, u128) -> u128> = match kind {
            1 => Box::new(|a, b| a.wrapping_add(b)),
            2 => Box::new(|a, b| a & b),
            3 => Box::new(|_, b| b),
            6 => Box::new(move |a, b| if signed(width, a) >= signed(width, b) { a } else { b }),
            7 => Box::new(u128::max),
            10 => Box::new(move |a, b| if signed(width, a) <= signed(width, b) { a } else { b }),
            11 => Box::new(u128::min),
            13 => Box::new(|a, b| a.wrapping_mul(b)),
            14 => Box::new(|a, b| a | b),
            15 => Box::new(|a, b| a ^ b),
            _ => return Err(unknown()),
        };
        let identity = match kind {
            1 | 7 | 14 | 15 => Some(0),
            2 | 11 => Some(mask(width)),
            6 => Some(1 << (width - 1)),
            10 => Some(mask(width) >> 1),
            13 => Some(1),
            _ => None,
        };
        Ok(Reduction { width, combine, identity })
    }

    /// Returns the neutral element: the operand that leaves the other operand unchanged.
    pub(crate) fn identity(&self) -> Result<Datum, Box<Fault>> {
        self.identity.map(|bits| Datum::bits(self.width, bits)).ok_or_else(unknown)
    }

    /// Returns the reduction of two values.
    pub(crate) fn combine(&self, a: &Datum, b: &Datum) -> Result<Datum, Box<Fault>> {
        match (a, b) {
            (Datum::Poison(poison), _) | (_, Datum::Poison(poison)) => Ok(Datum::Poison(*poison)),
            _ => match (a.as_bits(), b.as_bits()) {
                (Some(a), Some(b)) => Ok(Datum::bits(self.width, (self.combine)(a, b))),
                _ => Err(Fault::unsupported("a reduction of something that is no number")),
            },
        }
    }
}

fn unknown() -> Box<Fault> {
    Fault::unsupported("a reduction of this kind on values of this type")
}

fn of_floats<F: Format>(kind: u64, width: u32) -> Result<Reduction, Box<Fault>> {
    let (f, identity): (fn(f64, f64) -> f64, f64) = match kind {
        0 => (|a, b| a + b, 0.0),
        4 => (float::maximum, f64::NEG_INFINITY),
        5 => (float::maxnum, f64::NAN),
        8 => (float::minimum, f64::INFINITY),
        9 => (float::minnum, f64::NAN),
        12 => (|a, b| a * b, 1.0),
        3 => return Ok(Reduction { width, combine: Box::new(|_, b| b), identity: None }),
        _ => return Err(unknown()),
    };
    let combine = Box::new(move |a, b| F::write(f(F::read(a), F::read(b))));
    Ok(Reduction { width, combine, identity: Some(F::write(identity)) })
}
