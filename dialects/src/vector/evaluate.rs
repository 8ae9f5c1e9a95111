//! Execution of the `vector` operations on values. Accesses are in [`memory`], combinations of
//! elements in [`combine`].
//!
//! A vector is an aggregate of its elements in row-major order. Poison as a whole is poison in each
//! element.

use loomir_ir::types::DYNAMIC;
use loomir_ir::{Context, Loc, OpRef, Registry, Type};

use super::rearrange::{fixed_sizes, for_each_place as places, picks};
use super::shape::{VectorShape, strides};
use crate::arith::evaluate as arith;
use crate::interp::code::malformed;
use crate::interp::float::FastMath;
use crate::interp::layout::type_text;
use crate::interp::{Cause, Datum, Decoded, Decoder, Evaluate, Fault, Flow, Machine, Slot, action, unusable};

mod combine;
mod memory;

/// Attaches the models.
pub(super) fn register(registry: &mut Registry) {
    let mut attach = |name: &str, model: Model| {
        registry.attach::<dyn Evaluate>(&format!("vector.{name}"), Box::new(model));
    };
    for name in REARRANGE {
        attach(name, decode_picks);
    }
    attach("extract", decode_extract);
    attach("insert", decode_insert);
    attach("fma", |op, d| {
        count(d.ctx(), op.result_type(0))?;
        arith::fused_multiply_add(op, d, FastMath::default())
    });
    attach("create_mask", decode_create_mask);
    attach("constant_mask", decode_constant_mask);
    attach("step", decode_step);
    attach("bitcast", |op, d| {
        count(d.ctx(), op.operand_type(0))?;
        count(d.ctx(), op.result_type(0))?;
        arith::bitcast(op, d)
    });
    combine::register(&mut attach);
    memory::register(&mut attach);
}

/// Operations that only move elements.
const REARRANGE: [&str; 10] = [
    "broadcast",
    "shuffle",
    "interleave",
    "deinterleave",
    "to_elements",
    "from_elements",
    "shape_cast",
    "transpose",
    "extract_strided_slice",
    "insert_strided_slice",
];

/// A function that decodes an operation.
type Model = fn(OpRef<'_>, &mut Decoder<'_>) -> Decoded;

/// Returns the sizes of a vector of fixed length. A scalar has none.
fn sizes(ctx: &Context, ty: Type) -> Result<Vec<usize>, Box<Fault>> {
    fixed_sizes(ctx, ty).ok_or_else(|| Fault::unsupported(format!("a vector of type {}", type_text(ctx, ty))))
}

/// Returns the number of elements of a vector of fixed length, or one for a scalar.
fn count(ctx: &Context, ty: Type) -> Result<usize, Box<Fault>> {
    Ok(sizes(ctx, ty)?.iter().product())
}

/// Returns element `index` of a vector. A scalar is its only element.
fn element(vector: &Datum, index: usize) -> Result<&Datum, Box<Fault>> {
    match vector {
        Datum::Aggregate(parts) => parts.get(index).ok_or_else(|| malformed("a vector of its type")),
        whole => Ok(whole),
    }
}

/// Returns the elements of a vector, or a scalar.
fn elements(vector: &Datum, count: usize) -> Result<Vec<Datum>, Box<Fault>> {
    match vector {
        Datum::Aggregate(parts) if parts.len() == count => Ok(parts.to_vec()),
        Datum::Aggregate(_) => Err(malformed("a vector of its type")),
        whole => Ok(vec![whole.clone(); count]),
    }
}

/// Returns the numbers of a dense array.
fn numbers(op: OpRef<'_>, name: &str) -> Vec<i64> {
    op.attr(name).and_then(|attr| attr.as_dense_ints(op.ctx())).unwrap_or_default()
}

/// Decodes an operation that only moves elements.
fn decode_picks(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let mut results = Vec::with_capacity(op.num_results());
    for (i, result) in op.results().enumerate() {
        let picks = picks(op, i).ok_or_else(|| Fault::unsupported("vectors of these types"))?;
        results.push((d.slot(result), VectorShape::of(d.ctx(), op.type_of(result)).is_some(), picks));
    }
    // Each element of the operands.
    let mut sources = Vec::new();
    for value in op.operands() {
        let slot = d.slot(value);
        sources.extend((0..count(d.ctx(), op.type_of(value))?).map(|i| (slot, i)));
    }
    let loc = op.loc();
    Ok(action(move |m| {
        for (result, is_vector, picks) in &results {
            let one = |pick: &Option<usize>| {
                let Some(pick) = *pick else { return Ok(Datum::poison(Cause::ElementOutOfBounds, loc)) };
                let (slot, i) = *sources.get(pick).ok_or_else(|| malformed("an element"))?;
                element(m.get(slot), i).cloned()
            };
            let datum = match (is_vector, &picks[..]) {
                (false, [pick]) => one(pick)?,
                _ => Datum::aggregate(picks.iter().map(one).collect::<Result<_, _>>()?),
            };
            m.set(*result, datum);
        }
        Ok(Flow::Next)
    }))
}

/// A position in a vector: a number or a register for each of the first dimensions.
struct Position {
    /// For each dimension its number of positions, its stride and where the position is.
    steps: Vec<(usize, usize, Result<i64, Slot>)>,
    /// Elements of the part there.
    part: usize,
    loc: Loc,
}

impl Position {
    fn new(op: OpRef<'_>, d: &Decoder<'_>, vector: Type, dynamic: usize) -> Result<Position, Box<Fault>> {
        let sizes = sizes(d.ctx(), vector)?;
        let position = numbers(op, "static_position");
        if position.len() > sizes.len() {
            return Err(malformed("a position in its vector"));
        }
        let strides = strides(&sizes);
        let mut values = op.operands().skip(dynamic);
        let mut steps = Vec::with_capacity(position.len());
        for (i, at) in position.iter().enumerate() {
            let at = match *at {
                DYNAMIC => Err(d.slot(values.next().ok_or_else(|| malformed("a dynamic position"))?)),
                known => Ok(known),
            };
            steps.push((sizes[i], strides[i], at));
        }
        let part = sizes[position.len()..].iter().product();
        Ok(Position { steps, part, loc: op.loc() })
    }

    /// Returns the number of the first element there, or the poison of a position outside.
    fn start(&self, m: &Machine) -> Result<Result<usize, Datum>, Box<Fault>> {
        let mut start = 0;
        for (size, stride, at) in &self.steps {
            let at = match at {
                Ok(known) => *known,
                Err(slot) => match m.get(*slot) {
                    Datum::Bits(bits) => *bits as i64,
                    Datum::Poison(poison) => return Ok(Err(Datum::Poison(*poison))),
                    other => return Err(unusable(other, "a position")),
                },
            };
            match usize::try_from(at).ok().filter(|at| at < size) {
                Some(at) => start += at * stride,
                None => return Ok(Err(Datum::poison(Cause::ElementOutOfBounds, self.loc))),
            }
        }
        Ok(Ok(start))
    }
}

fn decode_extract(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (source, result) = (d.operand(op, 0)?, d.result(op, 0)?);
    let position = Position::new(op, d, op.operand_type(0), 1)?;
    let is_vector = VectorShape::of(d.ctx(), op.result_type(0)).is_some();
    Ok(action(move |m| {
        let datum = match position.start(m)? {
            Err(poison) => poison,
            Ok(start) if !is_vector => element(m.get(source), start)?.clone(),
            Ok(start) => {
                let parts = start..start + position.part;
                let source = m.get(source);
                Datum::aggregate(parts.map(|i| element(source, i).cloned()).collect::<Result<_, _>>()?)
            }
        };
        m.done(result, datum)
    }))
}

fn decode_insert(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (value, dest, result) = (d.operand(op, 0)?, d.operand(op, 1)?, d.result(op, 0)?);
    let position = Position::new(op, d, op.operand_type(1), 2)?;
    let whole = count(d.ctx(), op.operand_type(1))?;
    if count(d.ctx(), op.operand_type(0))? != position.part {
        return Err(malformed("a value of the size of the part"));
    }
    Ok(action(move |m| {
        let datum = match position.start(m)? {
            Err(poison) => poison,
            Ok(start) => {
                let mut all = elements(m.get(dest), whole)?;
                for i in 0..position.part {
                    all[start + i] = element(m.get(value), i)?.clone();
                }
                Datum::aggregate(all)
            }
        };
        m.done(result, datum)
    }))
}

/// Returns the mask that is true before these numbers.
fn mask(sizes: &[usize], before: &[i64]) -> Datum {
    let mut all = Vec::new();
    places(sizes, |place| {
        all.push(Datum::bool(place.iter().zip(before).all(|(place, before)| (*place as i64) < *before)));
    });
    Datum::aggregate(all)
}

/// Returns the sizes of a mask. One without dimensions has one element, which is true before 1.
fn mask_sizes(op: OpRef<'_>, d: &Decoder<'_>) -> Result<Vec<usize>, Box<Fault>> {
    let sizes = sizes(d.ctx(), op.result_type(0))?;
    Ok(if sizes.is_empty() { vec![1] } else { sizes })
}

fn decode_create_mask(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (operands, result) = (d.slots(op.operands()), d.result(op, 0)?);
    let sizes = mask_sizes(op, d)?;
    if operands.len() != sizes.len() {
        return Err(malformed("a number for each dimension"));
    }
    Ok(action(move |m| {
        let mut before = Vec::with_capacity(operands.len());
        for slot in &operands {
            match m.get(*slot) {
                Datum::Bits(bits) => before.push(*bits as i64),
                Datum::Poison(poison) => {
                    let poison = Datum::Poison(*poison);
                    return m.done(result, poison);
                }
                other => return Err(unusable(other, "the size of a mask")),
            }
        }
        let datum = mask(&sizes, &before);
        m.done(result, datum)
    }))
}

fn decode_constant_mask(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let result = d.result(op, 0)?;
    let datum = mask(&mask_sizes(op, d)?, &numbers(op, "mask_dim_sizes"));
    Ok(action(move |m| m.done(result, datum.clone())))
}

fn decode_step(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let result = d.result(op, 0)?;
    let count = count(d.ctx(), op.result_type(0))?;
    let datum = Datum::aggregate((0..count as i64).map(Datum::index).collect());
    Ok(action(move |m| m.done(result, datum.clone())))
}
