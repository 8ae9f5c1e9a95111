//! Execution of reductions and products.

use loomir_ir::{Context, OpRef, Type};

use super::{Model, count, element, elements, numbers, places, sizes, strides};
use crate::arith::evaluate::fast_math;
use crate::arith::reduction::Reduction;
use crate::interp::code::malformed;
use crate::interp::float::{FastMath, Format, with_format};
use crate::interp::integer::{Computed, Trouble};
use crate::interp::{Datum, Decoded, Decoder, Fault, Flow, action};
use crate::vector::COMBINING_KIND;
use crate::vector::contraction::Contraction;
use crate::vector::shape::VectorShape;

/// Attaches the models.
pub(super) fn register(attach: &mut dyn FnMut(&str, Model)) {
    attach("reduction", decode_reduction);
    attach("multi_reduction", decode_multi_reduction);
    attach("scan", decode_scan);
    attach("outerproduct", decode_outer_product);
    attach("contract", decode_contract);
}

/// Kinds with the kinds of `arith` on integers and on floats.
const KINDS: &[(&str, Option<u64>, Option<u64>)] = &[
    ("add", Some(1), Some(0)),
    ("mul", Some(13), Some(12)),
    ("minui", Some(11), None),
    ("minsi", Some(10), None),
    ("minnumf", None, Some(9)),
    ("maxui", Some(7), None),
    ("maxsi", Some(6), None),
    ("maxnumf", None, Some(5)),
    ("and", Some(2), None),
    ("or", Some(14), None),
    ("xor", Some(15), None),
    ("minimumf", None, Some(8)),
    ("maximumf", None, Some(4)),
];

/// Returns a number, or poison if it is one that may not be.
type Promise = Box<dyn Fn(u128) -> Computed>;

/// The combination of two elements.
struct Combine {
    reduction: Reduction,
    /// The check of what fast-math flags promise about a number, if they promise something.
    promise: Option<Promise>,
    loc: loomir_ir::Loc,
}

impl Combine {
    /// Returns the combination of the kind of `op`.
    fn new(op: OpRef<'_>, d: &Decoder<'_>, element: Type) -> Result<Combine, Box<Fault>> {
        let ctx = d.ctx();
        let kind = op.attr("kind").and_then(|kind| COMBINING_KIND.value(ctx, kind));
        let name = kind.and_then(|kind| COMBINING_KIND.text_of(kind)).unwrap_or_default();
        let fast = if op.attr("fastmath").is_some() { fast_math(op, d) } else { FastMath::default() };
        Combine::of(ctx, &name, element, fast, op.loc())
    }

    fn of(
        ctx: &Context,
        name: &str,
        element: Type,
        fast: FastMath,
        loc: loomir_ir::Loc,
    ) -> Result<Combine, Box<Fault>> {
        let kinds = KINDS.iter().find(|(own, ..)| *own == name);
        let kind =
            kinds.and_then(|(_, integer, float)| if element.is_float(ctx) { *float } else { *integer });
        let kind = kind.ok_or_else(|| Fault::unsupported("a combination of this kind of these elements"))?;
        let mut promise: Option<Promise> = None;
        if fast != FastMath::default() && element.is_float(ctx) {
            promise = with_format!(ctx, element, F => {
                Some(Box::new(move |bits: u128| fast.check(&[F::read(bits)], bits)))
            });
        }
        Ok(Combine { reduction: Reduction::new(ctx, kind, element)?, promise, loc })
    }

    /// Returns a number, or poison if a promise excludes it.
    fn promised(&self, datum: Datum) -> Datum {
        let (Some(promise), Some(bits)) = (&self.promise, datum.as_bits()) else { return datum };
        match promise(bits) {
            Err(Trouble::Poison(cause)) => Datum::poison(cause, self.loc),
            _ => datum,
        }
    }

    fn combine(&self, a: &Datum, b: &Datum) -> Result<Datum, Box<Fault>> {
        let combined = self.reduction.combine(&self.promised(a.clone()), &self.promised(b.clone()))?;
        Ok(self.promised(combined))
    }
}

fn element_type(d: &Decoder<'_>, ty: Type) -> Type {
    VectorShape::of_part(d.ctx(), ty).element
}

fn decode_reduction(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (vector, result) = (d.operand(op, 0)?, d.result(op, 0)?);
    let acc = op.operands().nth(1).map(|acc| d.slot(acc));
    let ty = element_type(d, op.operand_type(0));
    let combine = Combine::new(op, d, ty)?;
    let count = count(d.ctx(), op.operand_type(0))?;
    // As in MLIR, sums and products of floats begin with 0.0 and 1.0, if with nothing else.
    let kind = op.attr("kind").and_then(|kind| COMBINING_KIND.value(d.ctx(), kind));
    let begins = ty.is_float(d.ctx()) && matches!(kind, Some(0 | 1));
    let start = if begins { Some(combine.reduction.identity()?) } else { None };
    Ok(action(move |m| {
        let all = elements(m.get(vector), count)?;
        let acc = acc.map(|acc| m.get(acc).clone());
        let mut so_far = acc.clone().filter(|_| begins).or_else(|| start.clone());
        for own in &all {
            so_far = Some(match so_far {
                Some(so_far) => combine.combine(&so_far, own)?,
                None => own.clone(),
            });
        }
        let datum = match (so_far, acc.filter(|_| !begins)) {
            (Some(so_far), Some(acc)) => combine.combine(&so_far, &acc)?,
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => return Err(malformed("an element")),
        };
        m.done(result, datum)
    }))
}

/// Returns the number of the element of a smaller vector for each one of a larger vector. The
/// smaller one has all dimensions but those that are `gone`.
fn projected(from: &[usize], gone: impl Fn(usize) -> bool) -> Vec<usize> {
    let left: Vec<usize> = (0..from.len()).filter(|d| !gone(*d)).collect();
    let own = strides(&left.iter().map(|d| from[*d]).collect::<Vec<_>>());
    let mut all = Vec::new();
    places(from, |place| all.push(left.iter().zip(&own).map(|(d, step)| place[*d] * step).sum()));
    all
}

/// Returns a vector, or the scalar that it is if its type has no dimensions.
fn whole(elements: Vec<Datum>, is_vector: bool) -> Result<Datum, Box<Fault>> {
    match (is_vector, &elements[..]) {
        (false, [one]) => Ok(one.clone()),
        (false, _) => Err(malformed("one element")),
        (true, _) => Ok(Datum::aggregate(elements)),
    }
}

fn decode_multi_reduction(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (source, acc, result) = (d.operand(op, 0)?, d.operand(op, 1)?, d.result(op, 0)?);
    let from = sizes(d.ctx(), op.operand_type(0))?;
    let combine = Combine::new(op, d, element_type(d, op.operand_type(0)))?;
    let reduced = numbers(op, "reduction_dims");
    let to = projected(&from, |d| reduced.contains(&(d as i64)));
    let left = count(d.ctx(), op.result_type(0))?;
    let is_vector = VectorShape::of(d.ctx(), op.result_type(0)).is_some();
    Ok(action(move |m| {
        let mut all = elements(m.get(acc), left)?;
        for (i, to) in to.iter().enumerate() {
            let own = element(m.get(source), i)?;
            let place = all.get_mut(*to).ok_or_else(|| malformed("an element"))?;
            *place = combine.combine(place, own)?;
        }
        let datum = whole(all, is_vector)?;
        m.done(result, datum)
    }))
}

fn decode_scan(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (source, initial) = (d.operand(op, 0)?, d.operand(op, 1)?);
    let (dest, last) = (d.result(op, 0)?, d.result(op, 1)?);
    let from = sizes(d.ctx(), op.operand_type(0))?;
    let combine = Combine::new(op, d, element_type(d, op.operand_type(0)))?;
    let dim = op.attr("reduction_dim").and_then(|dim| usize::try_from(dim.as_int(d.ctx())?).ok());
    let dim = dim.filter(|dim| *dim < from.len()).ok_or_else(|| malformed("a dimension"))?;
    let inclusive = op.attr("inclusive") == Some(loomir_ir::Attr::TRUE);
    let to = projected(&from, |d| d == dim);
    let left = count(d.ctx(), op.operand_type(1))?;
    let mut first = Vec::new();
    places(&from, |place| first.push(place[dim] == 0));
    Ok(action(move |m| {
        let mut so_far = elements(m.get(initial), left)?;
        let all = elements(m.get(source), to.len())?;
        let mut out = Vec::with_capacity(all.len());
        // Combinations of the elements before, where the scan does not include the element itself.
        let mut before = so_far.clone();
        for ((own, to), first) in all.iter().zip(&to).zip(&first) {
            let place = so_far.get_mut(*to).ok_or_else(|| malformed("an element"))?;
            if inclusive {
                *place = if *first { own.clone() } else { combine.combine(place, own)? };
                out.push(place.clone());
            } else {
                if !*first {
                    *place = combine.combine(place, &before[*to])?;
                }
                before[*to] = own.clone();
                out.push(place.clone());
            }
        }
        m.set(last, Datum::aggregate(so_far));
        m.done(dest, Datum::aggregate(out))
    }))
}

/// Decodes products of elements, each added to one of `acc` and rounded once.
fn decode_outer_product(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let ctx = d.ctx();
    let (lhs, rhs, result) = (d.operand(op, 0)?, d.operand(op, 1)?, d.result(op, 0)?);
    let acc = op.operands().nth(2).map(|acc| d.slot(acc));
    let ty = element_type(d, op.result_type(0));
    let combine = Combine::new(op, d, ty)?;
    let product = Combine::of(ctx, "mul", ty, FastMath::default(), op.loc())?;
    let (rows, columns) = (count(ctx, op.operand_type(0))?, count(ctx, op.operand_type(1))?);
    count(ctx, op.result_type(0))?;
    let is_sum = op.attr("kind").and_then(|kind| COMBINING_KIND.value(ctx, kind)) == Some(0);
    type Fused = Box<dyn Fn(&Datum, &Datum, &Datum) -> Datum>;
    let mut fused: Option<Fused> = None;
    if is_sum && ty.is_float(ctx) {
        let width = crate::interp::elementwise::bit_width(ctx, ty)?;
        fused = with_format!(ctx, ty, F => Some(Box::new(move |a: &Datum, b: &Datum, c: &Datum| {
            match (a.as_bits(), b.as_bits(), c.as_bits()) {
                (Some(a), Some(b), Some(c)) => Datum::bits(width, F::fma(a, b, c)),
                _ => [a, b, c].into_iter().find(|own| own.as_bits().is_none()).cloned().unwrap_or_default(),
            }
        })));
    }
    Ok(action(move |m| {
        let mut all = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            let a = element(m.get(lhs), row)?;
            for column in 0..columns {
                let b = element(m.get(rhs), column)?;
                all.push(match (acc, &fused) {
                    (None, _) => product.combine(a, b)?,
                    (Some(acc), Some(fused)) => fused(a, b, element(m.get(acc), row * columns + column)?),
                    (Some(acc), None) => {
                        let own = product.combine(a, b)?;
                        combine.combine(&own, element(m.get(acc), row * columns + column)?)?
                    }
                });
            }
        }
        m.done(result, Datum::aggregate(all))
    }))
}

/// Decodes products of elements, each rounded, combined in the order of the iterations.
fn decode_contract(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let ctx = d.ctx();
    let (lhs, rhs) = (d.operand(op, 0)?, d.operand(op, 1)?);
    let (acc, result) = (d.operand(op, 2)?, d.result(op, 0)?);
    let own = Contraction::of(op).ok_or_else(|| Fault::unsupported("a contraction of these vectors"))?;
    let triples = own.iterations(None).ok_or_else(|| malformed("a product"))?;
    let ty = element_type(d, op.result_type(0));
    let combine = Combine::new(op, d, ty)?;
    let product = Combine::of(ctx, "mul", ty, FastMath::default(), op.loc())?;
    let left = count(ctx, op.result_type(0))?;
    let is_vector = VectorShape::of(ctx, op.result_type(0)).is_some();
    Ok(action(move |m| {
        m.spend(triples.len() as u64 / 16)?;
        let mut all = elements(m.get(acc), left)?;
        for [a, b, c] in &triples {
            let own = product.combine(element(m.get(lhs), *a)?, element(m.get(rhs), *b)?)?;
            let place = all.get_mut(*c).ok_or_else(|| malformed("an element"))?;
            *place = combine.combine(place, &own)?;
        }
        m.set(result, whole(all, is_vector)?);
        Ok(Flow::Next)
    }))
}
