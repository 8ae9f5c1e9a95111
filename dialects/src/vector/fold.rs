//! Folds of `vector`: constants, and operations that undo each other.

use loomir_ir::opdef::Folded;
use loomir_ir::{Attr, DYNAMIC, OpRef, Type, Value};

use super::shape::VectorShape;
use super::{BroadcastOp, FromElementsOp, InsertOp, ShapeCastOp, TransposeOp};
use crate::arith::constant::Numbers;
use crate::arith::fold::{Fold, defined_by, value};

/// The maximal number of elements of a constant that a fold makes.
const MAX_ELEMENTS: usize = 1 << 12;

fn numbers(op: OpRef<'_>, name: &str) -> Vec<i64> {
    op.attr(name).and_then(|attr| attr.as_dense_ints(op.ctx())).unwrap_or_default()
}

/// Returns the constant of type `ty` with these numbers.
fn constant(op: OpRef<'_>, numbers: &Numbers, ty: Type) -> Fold {
    let shape = VectorShape::of_part(op.ctx(), ty);
    let is_small = shape.count().is_some_and(|count| count <= MAX_ELEMENTS as i64);
    // A dense constant cannot have scalable dimensions without being a splat.
    let is_fixed = !shape.is_scalable() || matches!(numbers, Numbers::One(_));
    if !is_fixed || (!is_small && matches!(numbers, Numbers::Many(_))) {
        return None;
    }
    Some(vec![Folded::Constant(numbers.attr(op.ctx(), ty)?)])
}

/// The source, if it has the type of the result; a splat.
pub(super) fn broadcast(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    if op.operand_type(0) == op.result_type(0) {
        return value(op.operand(0));
    }
    match Numbers::of(op.ctx(), constants[0]?)? {
        one @ Numbers::One(_) => constant(op, &one, op.result_type(0)),
        Numbers::Many(_) => None,
    }
}

/// Returns the position of an operation, if all of it is constant and inside of the vector.
fn position(op: OpRef<'_>, vector: Type) -> Option<Vec<usize>> {
    let sizes = VectorShape::of(op.ctx(), vector)?.sizes;
    let position = numbers(op, "static_position");
    let inside = position
        .iter()
        .zip(sizes)
        .map(|(at, size)| usize::try_from(*at).ok().filter(|_| *at != DYNAMIC && at < size));
    inside.collect()
}

/// The whole vector; an element of a constant, of a broadcast, of elements, or one just inserted.
pub(super) fn extract(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let (from, to) = (op.operand_type(0), op.result_type(0));
    let position = position(op, from)?;
    if position.is_empty() && from == to {
        return value(op.operand(0));
    }
    let shape = VectorShape::of(op.ctx(), from)?;
    let is_element = to == shape.element;
    if let Some(attr) = constants[0] {
        let all = Numbers::of(op.ctx(), attr)?;
        let (start, len) = part(shape.sizes, &position)?;
        return constant(op, &slice(&all, start, len)?, to);
    }
    let source = op.operand(0);
    if is_element && let Some(made) = defined_by(op, source, FromElementsOp::DEF) {
        let (start, _) = part(shape.sizes, &position)?;
        return value(made.operands().nth(start)?);
    }
    if let Some(made) = defined_by(op, source, BroadcastOp::DEF)
        && made.operand_type(0) == to
        && is_element
    {
        return value(made.operand(0));
    }
    let made = defined_by(op, source, InsertOp::DEF)?;
    let at = numbers(made, "static_position");
    let same = at == numbers(op, "static_position") && made.operand_type(0) == to;
    if same { value(made.operand(0)) } else { None }
}

/// Returns the number of the first element at a position, and the number of elements there.
fn part(sizes: &[i64], position: &[usize]) -> Option<(usize, usize)> {
    let sizes: Option<Vec<usize>> = sizes.iter().map(|size| usize::try_from(*size).ok()).collect();
    let sizes = sizes?;
    let strides = super::shape::strides(&sizes);
    let start = position.iter().zip(&strides).map(|(at, step)| at * step).sum();
    Some((start, sizes[position.len()..].iter().product()))
}

/// Returns some of these numbers.
fn slice(all: &Numbers, start: usize, len: usize) -> Option<Numbers> {
    Some(match all {
        Numbers::One(one) => Numbers::One(*one),
        Numbers::Many(all) => match all.get(start..start + len)? {
            [one] => Numbers::One(*one),
            several => Numbers::Many(several.to_vec()),
        },
    })
}

/// The value that replaces all of the vector; a constant in a constant.
pub(super) fn insert(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let (from, to) = (op.operand_type(0), op.operand_type(1));
    let position = position(op, to)?;
    if position.is_empty() && from == to {
        return value(op.operand(0));
    }
    let (own, whole) = (Numbers::of(op.ctx(), constants[0]?)?, Numbers::of(op.ctx(), constants[1]?)?);
    let shape = VectorShape::of(op.ctx(), to)?;
    if shape.is_scalable() {
        return None;
    }
    let count = usize::try_from(shape.count()?).ok().filter(|count| *count <= MAX_ELEMENTS)?;
    let (start, len) = part(shape.sizes, &position)?;
    let mut all = expand(&whole, count)?;
    all.get_mut(start..start + len)?.copy_from_slice(&expand(&own, len)?);
    constant(op, &Numbers::Many(all), to)
}

/// Returns each of `count` numbers.
fn expand(numbers: &Numbers, count: usize) -> Option<Vec<u128>> {
    match numbers {
        Numbers::One(one) => Some(vec![*one; count]),
        Numbers::Many(all) if all.len() == count => Some(all.clone()),
        Numbers::Many(_) => None,
    }
}

/// The operand whose parts stay as they are; constants in a new order.
pub(super) fn shuffle(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let ctx = op.ctx();
    let mask = numbers(op, "mask");
    let (first, second) = (op.operand_type(0), op.operand_type(1));
    let [a, b] = [first, second].map(|ty| VectorShape::of_part(ctx, ty));
    let (n, m) = (a.sizes.first().copied()?, b.sizes.first().copied()?);
    if first == op.result_type(0) && mask.iter().copied().eq(0..n) {
        return value(op.operand(0));
    }
    if second == op.result_type(0) && mask.iter().copied().eq(n..n + m) {
        return value(op.operand(1));
    }
    let [own, other] = [constants[0]?, constants[1]?].map(|attr| Numbers::of(ctx, attr));
    let count =
        |shape: &VectorShape<'_>| usize::try_from(shape.count()?).ok().filter(|count| *count <= MAX_ELEMENTS);
    let all = [expand(&own?, count(&a)?)?, expand(&other?, count(&b)?)?].concat();
    let part = count(&a)?.checked_div(usize::try_from(n).ok()?)?;
    let mut picked = Vec::new();
    for at in mask {
        // A poison element has no constant.
        let at = usize::try_from(at).ok()?.checked_mul(part)?;
        picked.extend_from_slice(all.get(at..at + part)?);
    }
    constant(op, &Numbers::Many(picked), op.result_type(0))
}

/// The elements that the vector was made of; those of a constant.
pub(super) fn to_elements(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let ctx = op.ctx();
    if let Some(made) = defined_by(op, op.operand(0), FromElementsOp::DEF) {
        return Some(made.operands().map(Folded::Value).collect());
    }
    if let Some(made) = defined_by(op, op.operand(0), BroadcastOp::DEF) {
        let scalar: Value = made.operand(0);
        let is_scalar = VectorShape::of(ctx, made.operand_type(0)).is_none();
        return is_scalar.then(|| vec![Folded::Value(scalar); op.num_results()]);
    }
    let all = expand(&Numbers::of(ctx, constants[0]?)?, op.num_results())?;
    let element = |bits: u128, ty| Some(Folded::Constant(Numbers::One(bits).attr(ctx, ty)?));
    all.into_iter().zip(op.results()).map(|(bits, result)| element(bits, op.type_of(result))).collect()
}

/// The vector that was taken apart; a constant.
pub(super) fn from_elements(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let ctx = op.ctx();
    let first = op.operands().next()?;
    if let Some(made) = op.body().defining_op(first).map(|made| op.body().op_ref(made))
        && made.is(super::ToElementsOp::DEF)
        && made.operand_type(0) == op.result_type(0)
        && made.results().eq(op.operands())
    {
        return value(made.operand(0));
    }
    if op.num_operands() > MAX_ELEMENTS {
        return None;
    }
    let one = |attr: &Option<Attr>| match Numbers::of(ctx, (*attr)?)? {
        Numbers::One(bits) => Some(bits),
        Numbers::Many(_) => None,
    };
    let all: Option<Vec<u128>> = constants.iter().map(one).collect();
    constant(op, &Numbers::Many(all?), op.result_type(0))
}

/// True or false everywhere.
pub(super) fn constant_mask(op: OpRef<'_>, _: &[Option<Attr>]) -> Fold {
    let shape = VectorShape::of(op.ctx(), op.result_type(0))?;
    let sizes = numbers(op, "mask_dim_sizes");
    let all = shape.rank() > 0 && sizes[..] == *shape.sizes;
    let none = sizes.contains(&0);
    let bits = if all || sizes[..] == [1] && shape.rank() == 0 {
        1
    } else if none {
        0
    } else {
        return None;
    };
    constant(op, &Numbers::One(bits), op.result_type(0))
}

/// True or false everywhere, if the numbers are known.
pub(super) fn create_mask(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let shape = VectorShape::of(op.ctx(), op.result_type(0)).filter(|shape| !shape.is_scalable())?;
    let known: Option<Vec<i64>> = constants.iter().map(|attr| (*attr)?.as_int(op.ctx())).collect();
    let known = known?;
    let sizes: &[i64] = if shape.rank() == 0 { &[1] } else { shape.sizes };
    let bits = if known.iter().zip(sizes).all(|(own, size)| own >= size) {
        1
    } else if known.iter().any(|own| *own <= 0) {
        0
    } else {
        return None;
    };
    constant(op, &Numbers::One(bits), op.result_type(0))
}

/// The source, if it has the type of the result or is cast back; a constant in another shape.
pub(super) fn shape_cast(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let to = op.result_type(0);
    if op.operand_type(0) == to {
        return value(op.operand(0));
    }
    if let Some(made) = defined_by(op, op.operand(0), ShapeCastOp::DEF)
        && made.operand_type(0) == to
    {
        return value(made.operand(0));
    }
    constant(op, &Numbers::of(op.ctx(), constants[0]?)?, to)
}

/// The source, if it has the type of the result or is cast back.
pub(super) fn bitcast(op: OpRef<'_>, _: &[Option<Attr>]) -> Fold {
    let to = op.result_type(0);
    if op.operand_type(0) == to {
        return value(op.operand(0));
    }
    let made = defined_by(op, op.operand(0), super::BitCastOp::DEF)?;
    if made.operand_type(0) == to { value(made.operand(0)) } else { None }
}

/// The source, if no dimension moves or it is transposed back; a splat.
pub(super) fn transpose(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    let permutation = numbers(op, "permutation");
    if permutation.iter().copied().eq(0..permutation.len() as i64) {
        return value(op.operand(0));
    }
    if let Some(attr) = constants[0] {
        let one = Numbers::of(op.ctx(), attr).filter(|all| matches!(all, Numbers::One(_)))?;
        return constant(op, &one, op.result_type(0));
    }
    let made = defined_by(op, op.operand(0), TransposeOp::DEF)?;
    let inner = numbers(made, "permutation");
    let back = permutation.iter().map(|d| usize::try_from(*d).ok().and_then(|d| inner.get(d)).copied());
    let is_back = back.eq((0..inner.len() as i64).map(Some));
    if is_back && made.operand_type(0) == op.result_type(0) { value(made.operand(0)) } else { None }
}
