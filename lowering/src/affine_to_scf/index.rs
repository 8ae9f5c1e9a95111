//! `affine.delinearize_index` and `affine.linearize_index`: mixed-radix digits by division,
//! remainder, product and sum.
//!
//! The stride of a digit is the product of all bases to its right. Bases and strides are positive
//! by definition, so their products neither wrap as signed nor as unsigned numbers; the digits of a
//! negative index follow the floor rule.

use loomir_dialects::{affine, arith};
use loomir_ir::{Body, Builder, DYNAMIC, Op, Value};

use super::Lowered;
use super::expand::into_range;
use crate::emit::{Emit, NSW, NUW, malformed, replace};

/// A base: a constant or a value.
#[derive(Clone, Copy)]
enum Base {
    Static(i64),
    Dynamic(Value),
}

fn bases(body: &Body, op: Op, dynamic: &[Value]) -> Option<Vec<Base>> {
    let mut dynamic = dynamic.iter();
    body.attr(op, "static_basis")?
        .as_dense_ints(body.ctx())?
        .into_iter()
        .map(|base| {
            if base == DYNAMIC { dynamic.next().map(|v| Base::Dynamic(*v)) } else { Some(Base::Static(base)) }
        })
        .collect()
}

/// Returns, for each base, the product of it and all bases to its right.
fn strides(b: &mut Builder<'_>, bases: &[Base]) -> Option<Vec<Value>> {
    let mul = arith::MulIOp::DEF;
    let mut strides = Vec::with_capacity(bases.len());
    let (mut known, mut unknown) = (1i64, None);
    for base in bases.iter().rev() {
        match *base {
            Base::Static(size) => known = known.checked_mul(size)?,
            Base::Dynamic(size) => {
                unknown = Some(match unknown {
                    Some(product) => b.wrapping(mul, product, size, NSW | NUW),
                    None => size,
                });
            }
        }
        strides.push(match unknown {
            Some(product) if known == 1 => product,
            Some(product) => {
                let factor = b.index(known);
                b.wrapping(mul, product, factor, NSW | NUW)
            }
            None => b.index(known),
        });
    }
    strides.reverse();
    Some(strides)
}

pub(super) fn lower_delinearize(body: &mut Body, op: Op) -> Lowered {
    let split = affine::DelinearizeIndexOp(op);
    let (linear, dynamic) = (split.linear_index(body), split.dynamic_basis(body));
    let digits = body.num_results(op);
    let mut bases = bases(body, op, &dynamic).ok_or_else(|| malformed(body, op))?;
    if bases.len() == digits && !bases.is_empty() {
        // The outermost base only bounds the index and has no effect on the result.
        bases.remove(0);
    }
    if bases.is_empty() {
        replace(body, op, &[linear]);
        return Ok(());
    }
    let mut b = Builder::before(body, op);
    let Some(strides) = strides(&mut b, &bases) else { return Err(malformed(body, op)) };
    let zero = b.index(0);
    let remainder = |b: &mut Builder<'_>, stride| {
        let remainder = b.binary(arith::RemSIOp::DEF, linear, stride);
        into_range(b, remainder, stride, zero, NSW)
    };
    let mut values = vec![b.binary(arith::FloorDivSIOp::DEF, linear, strides[0])];
    for pair in strides.windows(2) {
        let rest = remainder(&mut b, pair[0]);
        values.push(b.binary(arith::DivSIOp::DEF, rest, pair[1]));
    }
    values.push(remainder(&mut b, strides[strides.len() - 1]));
    replace(body, op, &values);
    Ok(())
}

pub(super) fn lower_linearize(body: &mut Body, op: Op) -> Lowered {
    let join = affine::LinearizeIndexOp(op);
    let (digits, dynamic) = (join.multi_index(body), join.dynamic_basis(body));
    let mut bases = bases(body, op, &dynamic).ok_or_else(|| malformed(body, op))?;
    if bases.len() == digits.len() && !bases.is_empty() {
        bases.remove(0);
    }
    let mut b = Builder::before(body, op);
    let Some(strides) = strides(&mut b, &bases) else { return Err(malformed(body, op)) };
    let mut terms: Vec<Value> = digits
        .iter()
        .zip(&strides)
        .map(|(digit, stride)| b.wrapping(arith::MulIOp::DEF, *digit, *stride, NSW))
        .collect();
    terms.extend(digits.last());
    let sum = terms.into_iter().reduce(|x, y| b.wrapping(arith::AddIOp::DEF, x, y, NSW));
    let value = sum.unwrap_or_else(|| b.index(0));
    replace(body, op, &[value]);
    Ok(())
}
