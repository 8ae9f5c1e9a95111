//! Execution of reads and replacements of elements of structs, arrays and vectors.

use std::sync::Arc;

use loomir_ir::OpRef;

use super::Model;
use crate::interp::code::malformed;
use crate::interp::constant::{value_repr, zero};
use crate::interp::datum::Poison;
use crate::interp::layout::Repr;
use crate::interp::unusable;
use crate::interp::{Cause, Datum, Decoded, Decoder, Fault, action};

/// Attaches the models.
pub(super) fn register(attach: &mut dyn FnMut(&str, Model)) {
    attach("extractvalue", decode_extract_value);
    attach("insertvalue", decode_insert_value);
    attach("extractelement", decode_extract_element);
    attach("insertelement", decode_insert_element);
    attach("shufflevector", decode_shuffle);
}

fn path(op: OpRef<'_>, d: &Decoder<'_>) -> Result<Vec<usize>, Box<Fault>> {
    let position = op.attr("position").and_then(|a| a.as_dense_ints(d.ctx()));
    let path: Option<Vec<usize>> =
        position.and_then(|p| p.into_iter().map(|i| usize::try_from(i).ok()).collect());
    path.ok_or_else(|| malformed("a position"))
}

fn decode_extract_value(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (container, result, path) = (d.operand(op, 0)?, d.result(op, 0)?, path(op, d)?);
    Ok(action(move |m| {
        let mut datum = m.get(container);
        for index in &path {
            datum = match datum {
                Datum::Aggregate(parts) => parts.get(*index).ok_or_else(|| malformed("such an element"))?,
                Datum::Poison(_) => break,
                other => return Err(unusable(other, "the container")),
            };
        }
        let datum = datum.clone();
        m.done(result, datum)
    }))
}

fn decode_insert_value(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (container, value) = (d.operand(op, 0)?, d.operand(op, 1)?);
    let (result, path) = (d.result(op, 0)?, path(op, d)?);
    let repr = value_repr(d.ctx(), op.operand_type(0))?;
    Ok(action(move |m| {
        let mut whole = m.get(container).clone();
        let mut place = &mut whole;
        let mut repr = &repr;
        for index in &path {
            if let Datum::Poison(poison) = *place {
                *place = spread(poison, repr);
            }
            let parts = match place {
                Datum::Aggregate(parts) => Arc::make_mut(parts),
                other => return Err(unusable(other, "the container")),
            };
            repr = match repr {
                Repr::Sequence { element, .. } => element,
                Repr::Struct(fields) => &fields.get(*index).ok_or_else(|| malformed("such an element"))?.1,
                _ => return Err(malformed("such an element")),
            };
            place = parts.get_mut(*index).ok_or_else(|| malformed("such an element"))?;
        }
        *place = m.get(value).clone();
        m.done(result, whole)
    }))
}

/// Returns an aggregate with poison in every element.
fn spread(poison: Poison, repr: &Repr) -> Datum {
    match zero(repr) {
        Datum::Aggregate(parts) => Datum::aggregate(vec![Datum::Poison(poison); parts.len()]),
        _ => Datum::Poison(poison),
    }
}

fn decode_extract_element(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (vector, position) = (d.operand(op, 0)?, d.operand(op, 1)?);
    let (result, loc) = (d.result(op, 0)?, op.loc());
    Ok(action(move |m| {
        let datum = match (m.get(vector), m.get(position)) {
            (Datum::Poison(poison), _) | (_, Datum::Poison(poison)) => Datum::Poison(*poison),
            (Datum::Aggregate(parts), Datum::Bits(i)) => match parts.get(*i as usize) {
                Some(part) => part.clone(),
                None => Datum::poison(Cause::ElementOutOfBounds, loc),
            },
            (other, _) => return Err(unusable(other, "the vector")),
        };
        m.done(result, datum)
    }))
}

fn decode_insert_element(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (vector, value, position) = (d.operand(op, 0)?, d.operand(op, 1)?, d.operand(op, 2)?);
    let (result, loc) = (d.result(op, 0)?, op.loc());
    let repr = value_repr(d.ctx(), op.operand_type(0))?;
    Ok(action(move |m| {
        let mut whole = m.get(vector).clone();
        if let Datum::Poison(poison) = whole {
            whole = spread(poison, &repr);
        }
        let datum = match (&mut whole, m.get(position)) {
            (_, Datum::Poison(poison)) => Datum::Poison(*poison),
            (Datum::Aggregate(parts), Datum::Bits(i)) => match Arc::make_mut(parts).get_mut(*i as usize) {
                Some(part) => {
                    *part = m.get(value).clone();
                    whole
                }
                None => Datum::poison(Cause::ElementOutOfBounds, loc),
            },
            (other, _) => return Err(unusable(other, "the vector")),
        };
        m.done(result, datum)
    }))
}

fn decode_shuffle(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (a, b, result) = (d.operand(op, 0)?, d.operand(op, 1)?, d.result(op, 0)?);
    let mask = op.attr("mask").and_then(|a| a.as_dense_ints(d.ctx())).ok_or_else(|| malformed("a mask"))?;
    let length = match op.operand_type(0).shape(d.ctx()) {
        Some([n]) => *n,
        _ => return Err(malformed("vectors")),
    };
    let loc = op.loc();
    Ok(action(move |m| {
        let pick = |i: &i64| {
            if *i < 0 {
                return Ok(Datum::poison(Cause::Explicit, loc));
            }
            let (vector, i) = if *i < length { (a, *i) } else { (b, i - length) };
            match m.get(vector) {
                Datum::Aggregate(parts) => parts.get(i as usize).cloned().ok_or_else(|| malformed("a mask")),
                Datum::Poison(poison) => Ok(Datum::Poison(*poison)),
                other => Err(unusable(other, "a vector")),
            }
        };
        let parts: Result<Vec<Datum>, Box<Fault>> = mask.iter().map(pick).collect();
        m.done(result, Datum::aggregate(parts?))
    }))
}
