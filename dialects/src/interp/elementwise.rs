//! Operations that compute bits from bits, on scalars and element by element on vectors.
//!
//! The scalar function is all that a model gives. Poison in any operand makes poison, element by
//! element. A poison divisor is undefined behaviour, because it may be zero.

use loomir_ir::{Context, Loc, OpRef, Type, TypeKind};

use super::code::{Decoded, Decoder, Slot, action, malformed};
use super::datum::{Datum, Poison};
use super::fault::Fault;
use super::integer::{Computed, Trouble, signed};
use super::machine::Machine;
use super::registers::unusable;

/// Returns the width in bits of an integer, index or float type of at most 128 bits.
pub fn bit_width(ctx: &Context, ty: Type) -> Result<u32, Box<Fault>> {
    let width = match ty.kind(ctx) {
        TypeKind::Index => 64,
        TypeKind::Integer { width, .. } => *width,
        TypeKind::Float(kind) => kind.width(),
        _ => 0,
    };
    if (1..=128).contains(&width) {
        return Ok(width);
    }
    Err(Fault::unsupported(format!("arithmetic on {} is not known", super::layout::type_text(ctx, ty))))
}

/// The properties of its result that an elementwise operation needs.
#[derive(Clone, Copy)]
struct Shape {
    result: Slot,
    width: u32,
    vector: bool,
    loc: Loc,
}

impl Shape {
    fn of(op: OpRef<'_>, d: &Decoder<'_>) -> Result<Shape, Box<Fault>> {
        let result = d.result(op, 0)?;
        let ty = op.result_type(0);
        let scalar = ty.scalar(d.ctx());
        Ok(Shape { result, width: bit_width(d.ctx(), scalar)?, vector: scalar != ty, loc: op.loc() })
    }

    /// Returns the computed bits as a datum.
    #[inline]
    fn finish(self, computed: Computed, operands: &[u128]) -> Result<Datum, Box<Fault>> {
        match computed {
            Ok(bits) => Ok(Datum::bits(self.width, bits)),
            Err(trouble) => self.trouble(trouble, operands),
        }
    }

    #[cold]
    fn trouble(self, trouble: Trouble, operands: &[u128]) -> Result<Datum, Box<Fault>> {
        match trouble {
            Trouble::Poison(cause) => Ok(Datum::poison(cause, self.loc)),
            Trouble::Undefined(what) => {
                let values: Vec<String> =
                    operands.iter().map(|x| signed(self.width, *x).to_string()).collect();
                Err(Fault::undefined(format!("{what}: the operands are {}", values.join(" and "))))
            }
        }
    }
}

/// Returns the shape of an operation's result, and its first `N` operands.
fn shaped<const N: usize>(op: OpRef<'_>, d: &Decoder<'_>) -> Result<(Shape, [Slot; N]), Box<Fault>> {
    let shape = Shape::of(op, d)?;
    let mut operands = [shape.result; N];
    for (i, slot) in operands.iter_mut().enumerate() {
        *slot = d.operand(op, i)?;
    }
    Ok((shape, operands))
}

/// A function of the bits of one lane's operands. Its bits may exceed the result's width.
type Compute<const N: usize> = dyn Fn([u128; N]) -> Computed;

/// A scalar function of one lane's operands, lent for one operation.
type LaneOnce<'f, const N: usize> = dyn FnMut([&Datum; N]) -> Result<Datum, Box<Fault>> + 'f;

/// Decodes an operation of one operand. `f` takes and returns bits; the returned bits may exceed
/// the result's width.
pub fn unary(op: OpRef<'_>, d: &mut Decoder<'_>, f: impl Fn(u128) -> Computed + 'static) -> Decoded {
    elementwise(op, d, false, move |[x]| f(x))
}

/// Decodes an operation of two operands.
pub fn binary(op: OpRef<'_>, d: &mut Decoder<'_>, f: impl Fn(u128, u128) -> Computed + 'static) -> Decoded {
    elementwise(op, d, false, move |[x, y]| f(x, y))
}

/// Decodes a division or remainder. Its second operand must not be poison. Division by zero is
/// undefined even if the first one is.
pub fn division(op: OpRef<'_>, d: &mut Decoder<'_>, f: impl Fn(u128, u128) -> Computed + 'static) -> Decoded {
    elementwise(op, d, true, move |[x, y]| f(x, y))
}

/// Decodes an operation of three operands.
pub fn ternary(
    op: OpRef<'_>,
    d: &mut Decoder<'_>,
    f: impl Fn(u128, u128, u128) -> Computed + 'static,
) -> Decoded {
    elementwise(op, d, false, move |[x, y, z]| f(x, y, z))
}

/// Each operation has its own instance of this, so only the most frequent case is in it: numbers of
/// at most 64 bits.
fn elementwise<const N: usize>(
    op: OpRef<'_>,
    d: &mut Decoder<'_>,
    divides: bool,
    f: impl Fn([u128; N]) -> Computed + 'static,
) -> Decoded {
    let (shape, operands) = shaped(op, d)?;
    Ok(action(move |m| {
        let datum = match numbers(m, &operands) {
            Some(bits) => shape.finish(f(bits), &bits)?,
            None => lanes(m, shape, &operands, divides, &f)?,
        };
        m.done(shape.result, datum)
    }))
}

/// Returns the operands, if all are numbers of at most 64 bits.
#[inline]
fn numbers<const N: usize>(m: &Machine, operands: &[Slot; N]) -> Option<[u128; N]> {
    let mut bits = [0; N];
    for (own, slot) in bits.iter_mut().zip(operands) {
        let Datum::Bits(number) = m.get(*slot) else { return None };
        *own = (*number).into();
    }
    Some(bits)
}

/// Computes all lanes of an operation, or its only one.
#[inline(never)]
fn lanes<const N: usize>(
    m: &Machine,
    shape: Shape,
    operands: &[Slot; N],
    divides: bool,
    f: &Compute<N>,
) -> Result<Datum, Box<Fault>> {
    map_by(operands.map(|slot| m.get(slot)), &mut |lane| one_lane(shape, lane, divides, f))
}

/// Computes one lane.
fn one_lane<const N: usize>(
    shape: Shape,
    operands: [&Datum; N],
    divides: bool,
    f: &Compute<N>,
) -> Result<Datum, Box<Fault>> {
    let (mut bits, mut poison) = ([0; N], None);
    for (place, datum) in operands.into_iter().enumerate() {
        bits[place] = match operand(datum)? {
            Ok(own) => own,
            Err(cause) if divides && place == 1 => return Err(Fault::poison("the divisor", cause)),
            Err(cause) => {
                poison = poison.or(Some(cause));
                // A poisoned dividend may be the least number, whose quotient by -1 overflows.
                1 << (shape.width - 1)
            }
        };
    }
    match poison {
        Some(cause) if !divides => Ok(Datum::Poison(cause)),
        Some(cause) => shape.finish(f(bits), &bits).map(|_| Datum::Poison(cause)),
        None => shape.finish(f(bits), &bits),
    }
}

/// Decodes an operation with two operands and two results. `f` returns the bits of both.
pub fn binary_pair(
    op: OpRef<'_>,
    d: &mut Decoder<'_>,
    f: impl Fn(u128, u128) -> (u128, u128) + 'static,
) -> Decoded {
    let (shape, second) = (Shape::of(op, d)?, d.result(op, 1)?);
    let second_width = bit_width(d.ctx(), op.result_type(1).scalar(d.ctx()))?;
    let (a, b) = (d.operand(op, 0)?, d.operand(op, 1)?);
    let half = move |a: &Datum, b: &Datum, first: bool| match (operand(a)?, operand(b)?) {
        (Ok(x), Ok(y)) => {
            let (one, two) = f(x, y);
            Ok(if first { Datum::bits(shape.width, one) } else { Datum::bits(second_width, two) })
        }
        (Err(poison), _) | (_, Err(poison)) => Ok(Datum::Poison(poison)),
    };
    Ok(action(move |m| {
        let compute = |first: bool| match shape.vector {
            true => map([m.get(a), m.get(b)], |[a, b]| half(a, b, first)),
            false => half(m.get(a), m.get(b), first),
        };
        let (one, two) = (compute(true)?, compute(false)?);
        m.set(second, two);
        m.done(shape.result, one)
    }))
}

/// Selects the second or third operand by the first, `i1` or a vector of `i1`. Only the selected
/// operand counts: poison in the other does not matter.
pub fn select(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (condition, result) = (d.operand(op, 0)?, d.result(op, 0)?);
    let (a, b) = (d.operand(op, 1)?, d.operand(op, 2)?);
    let choose = |condition: &Datum, a: &Datum, b: &Datum| match condition {
        Datum::Bits(bit) => Ok(if bit & 1 != 0 { a.clone() } else { b.clone() }),
        Datum::Poison(poison) => Ok(Datum::Poison(*poison)),
        other => Err(unusable(other, "the condition")),
    };
    Ok(action(move |m| {
        let datum = match m.get(condition) {
            Datum::Aggregate(_) => map([m.get(condition), m.get(a), m.get(b)], |[c, a, b]| choose(c, a, b))?,
            one => choose(one, m.get(a), m.get(b))?,
        };
        m.done(result, datum)
    }))
}

/// Returns the bits of an operand, or its poison.
fn operand(datum: &Datum) -> Result<Result<u128, Poison>, Box<Fault>> {
    match datum {
        Datum::Bits(bits) => Ok(Ok((*bits).into())),
        Datum::Wide(bits) => Ok(Ok(**bits)),
        Datum::Poison(poison) => Ok(Err(*poison)),
        other => Err(unusable(other, "an operand")),
    }
}

/// Applies a scalar function to the elements of vectors. A vector that is poison as a whole has
/// poison elements.
pub fn map<const N: usize>(
    operands: [&Datum; N],
    mut scalar: impl FnMut([&Datum; N]) -> Result<Datum, Box<Fault>>,
) -> Result<Datum, Box<Fault>> {
    map_by(operands, &mut scalar)
}

/// The same for a function behind a pointer. One instance serves all callers.
fn map_by<const N: usize>(operands: [&Datum; N], scalar: &mut LaneOnce<'_, N>) -> Result<Datum, Box<Fault>> {
    let len = operands.iter().find_map(|d| match d {
        Datum::Aggregate(elements) => Some(elements.len()),
        _ => None,
    });
    let Some(len) = len else { return scalar(operands) };
    let mut elements = Vec::with_capacity(len);
    for i in 0..len {
        let mut lane = operands;
        for datum in &mut lane {
            *datum = match *datum {
                Datum::Aggregate(parts) => parts.get(i).ok_or_else(|| malformed("vectors of one length"))?,
                whole => whole,
            };
        }
        elements.push(scalar(lane)?);
    }
    Ok(Datum::aggregate(elements))
}
