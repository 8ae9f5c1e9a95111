//! `vector`: values of several elements.
//!
//! A vector of one dimension is a vector of LLVM; without dimensions it has one element. A vector
//! of several dimensions is an array of vectors, and each operation works on its rows.
//!
//! | operations | become |
//! | --- | --- |
//! | those that only move elements | shuffles of rows, or elements moved one by one |
//! | `reduction` | an intrinsic |
//! | `multi_reduction`, `outerproduct`, `contract`, `scan` | arithmetic on rows, or on elements |
//! | `create_mask` | a comparison with `0, 1, 2, …` |
//! | [`memory`]: loads, stores, transfers | loads and stores of rows, masked at the ends |
//!
//! # Limits
//!
//! - Scalable vectors, `mask`, `print`, `type_cast`, and transfers and accesses on tensors are
//!   refused. So are accesses to elements that do not fill their bytes, such as `i1`: LLVM keeps
//!   vectors of them in fewer bytes than memrefs do.
//! - A position that is a value is refused in any dimension but the last.
//! - A transfer with a mask is refused if its map is not the identity of the last dimensions.
//! - Large contractions, reductions and scans are refused.

use loomir_dialects::llvm;
use loomir_dialects::vector::rearrange::{fixed_sizes, for_each_place, picks};
use loomir_dialects::vector::shape::{VectorShape, fixed_vector};
use loomir_ir::{AttrKind, DYNAMIC, Diagnostic, OpRef, Registry, Type, Value};

use super::build::ICmp;
use super::function::FunctionConverter;
use super::{Converted, attach};

mod combine;
mod memory;

/// Operations that only move elements.
const REARRANGE: [&str; 9] = [
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

pub(super) fn register(registry: &mut Registry) {
    for name in REARRANGE {
        attach(registry, &format!("vector.{name}"), rearrange);
    }
    attach(registry, "vector.broadcast", broadcast);
    attach(registry, "vector.extract", extract);
    attach(registry, "vector.insert", insert);
    attach(registry, "vector.fma", fma);
    attach(registry, "vector.bitcast", bitcast);
    attach(registry, "vector.create_mask", create_mask);
    attach(registry, "vector.constant_mask", constant_mask);
    attach(registry, "vector.step", step);
    combine::register(registry);
    memory::register(registry);
}

/// The most elements that are moved one by one.
const MAX_MOVED: usize = 1 << 14;

/// A vector as rows.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// The sizes of all dimensions but the last.
    pub(super) outer: Vec<usize>,
    /// The number of elements of a row.
    pub(super) len: usize,
    /// The type of an element in LLVM.
    pub(super) element: Type,
    /// True for a scalar, whose only row is itself.
    pub(super) is_scalar: bool,
}

impl Rows {
    /// Returns the rows of a vector type.
    ///
    /// # Errors
    /// A scalable vector, or one that is too large.
    pub(super) fn of(cx: &mut FunctionConverter<'_>, op: OpRef<'_>, ty: Type) -> Result<Rows, Diagnostic> {
        let ctx = cx.ctx();
        let sizes = fixed_sizes(&ctx, ty).filter(|sizes| sizes.iter().all(|size| *size > 0));
        let mut outer = sizes.ok_or_else(|| cx.unsupported(op, "on scalable or very large vectors"))?;
        let len = outer.pop().unwrap_or(1);
        let element = cx.convert_type(VectorShape::of_part(&ctx, ty).element)?;
        Ok(Rows { outer, len, element, is_scalar: VectorShape::of(&ctx, ty).is_none() })
    }

    /// Returns the type of a row.
    pub(super) fn row_type(&self, cx: &FunctionConverter<'_>) -> Type {
        self.with_element(cx, self.element)
    }

    /// Returns the type of a row of other elements.
    pub(super) fn with_element(&self, cx: &FunctionConverter<'_>, element: Type) -> Type {
        if self.is_scalar { element } else { fixed_vector(&cx.ctx(), &[self.len as i64], element) }
    }

    /// Returns the number of rows.
    pub(super) fn count(&self) -> usize {
        self.outer.iter().product()
    }

    /// Returns the place of each row.
    pub(super) fn places(&self) -> Vec<Vec<i64>> {
        let mut all = Vec::new();
        for_each_place(&self.outer, |place| all.push(place.iter().map(|at| *at as i64).collect()));
        all
    }

    /// Returns a row of a vector.
    pub(super) fn row(&self, cx: &mut FunctionConverter<'_>, vector: Value, place: &[i64]) -> Value {
        if place.is_empty() { vector } else { cx.extract(vector, place, self.row_type(cx)) }
    }

    /// Returns the vector of these rows. `ty` is its type in LLVM.
    pub(super) fn collect(&self, cx: &mut FunctionConverter<'_>, ty: Type, rows: &[Value]) -> Value {
        if let ([row], true) = (rows, self.outer.is_empty()) {
            return *row;
        }
        let mut whole = cx.poison(ty);
        for (row, place) in rows.iter().zip(self.places()) {
            whole = cx.insert_value(whole, *row, &place);
        }
        whole
    }
}

impl FunctionConverter<'_> {
    /// `llvm.extractelement` at a constant position.
    pub(super) fn element(&mut self, vector: Value, at: usize) -> Value {
        let at = self.integer(Type::I64, at as i64);
        self.element_at(vector, at)
    }

    /// `llvm.extractelement`.
    pub(super) fn element_at(&mut self, vector: Value, at: Value) -> Value {
        let ty = self.type_of(vector).scalar(&self.ctx());
        let state = self.state(llvm::ExtractElementOp::DEF).operands(&[vector, at]).results(&[ty]);
        self.emit(state)
    }

    /// `llvm.insertelement` at a constant position.
    pub(super) fn with_element(&mut self, vector: Value, value: Value, at: usize) -> Value {
        let at = self.integer(Type::I64, at as i64);
        self.with_element_at(vector, value, at)
    }

    /// `llvm.insertelement`.
    pub(super) fn with_element_at(&mut self, vector: Value, value: Value, at: Value) -> Value {
        let ty = self.type_of(vector);
        let state = self.state(llvm::InsertElementOp::DEF).operands(&[vector, value, at]).results(&[ty]);
        self.emit(state)
    }

    /// `llvm.shufflevector`.
    pub(super) fn shuffle(&mut self, a: Value, b: Value, mask: &[i64]) -> Value {
        let ctx = self.ctx();
        let ty = fixed_vector(&ctx, &[mask.len() as i64], self.type_of(a).scalar(&ctx));
        let mask = ctx.dense_ints_attr(Type::I32, mask);
        let state =
            self.state(llvm::ShuffleVectorOp::DEF).operands(&[a, b]).results(&[ty]).attr(&ctx, "mask", mask);
        self.emit(state)
    }

    /// Emits a vector of type `ty` with `value` in every element.
    pub(super) fn broadcast(&mut self, ty: Type, value: Value) -> Value {
        let len = ty.shape(&self.ctx()).map_or(1, |shape| shape.first().copied().unwrap_or(1));
        let none = self.poison(ty);
        let zero = self.integer(Type::I32, 0);
        let first = self.with_element_at(none, value, zero);
        if len == 1 { first } else { self.shuffle(first, none, &vec![0; usize::try_from(len).unwrap_or(1)]) }
    }

    /// Emits `0, 1, 2, …` as a vector of `i64`.
    pub(super) fn numbers(&mut self, len: usize) -> Value {
        let ctx = self.ctx();
        let ty = fixed_vector(&ctx, &[len as i64], Type::I64);
        let bytes: Vec<u8> = (0..len as u64).flat_map(u64::to_le_bytes).collect();
        let bytes = if len == 1 { vec![0; 8] } else { bytes };
        let attr = AttrKind::DenseElements { ty, splat: len == 1, bytes: bytes.into() };
        self.constant(ctx.attr(attr), ty)
    }
}

/// An element of a source: the number of the row among all rows, and the place in it.
type Source = (usize, usize);

/// Converts an operation that only moves elements. A row that is a row of the operands, or consists
/// of elements of two, is shuffled; others are made element by element.
fn rearrange(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let mut sources: Vec<Source> = Vec::new();
    let mut rows: Vec<(Value, Rows, Vec<i64>)> = Vec::new();
    for (i, value) in op.operands().enumerate() {
        let own = Rows::of(cx, op, op.type_of(value))?;
        let new = cx.operand(op, i)?;
        for place in own.places() {
            sources.extend((0..own.len).map(|at| (rows.len(), at)));
            rows.push((new, own.clone(), place));
        }
    }
    let mut known: Vec<Option<Value>> = vec![None; rows.len()];
    let mut row = |cx: &mut FunctionConverter<'_>, number: usize| {
        let (value, own, place) = &rows[number];
        *known[number].get_or_insert_with(|| own.row(cx, *value, place))
    };
    for (i, result) in op.results().enumerate() {
        let old = op.type_of(result);
        let to = Rows::of(cx, op, old)?;
        let picks = picks(op, i).filter(|picks| picks.len() <= MAX_MOVED);
        let picks = picks.ok_or_else(|| cx.unsupported(op, "on these vectors"))?;
        let ty = cx.convert_type(old)?;
        let mut made = Vec::with_capacity(to.count());
        for own in picks.chunks(to.len) {
            let own: Vec<Option<Source>> = own.iter().map(|pick| pick.map(|pick| sources[pick])).collect();
            made.push(make_row(cx, &to, &own, &mut row));
        }
        let new = to.collect(cx, ty, &made);
        cx.set(result, new);
    }
    Ok(())
}

/// Returns a row of these elements.
fn make_row(
    cx: &mut FunctionConverter<'_>,
    to: &Rows,
    elements: &[Option<Source>],
    row: &mut dyn FnMut(&mut FunctionConverter<'_>, usize) -> Value,
) -> Value {
    let is_vector =
        |cx: &FunctionConverter<'_>, value| VectorShape::of(&cx.ctx(), cx.type_of(value)).is_some();
    let element = |cx: &mut FunctionConverter<'_>, row: Value, at: usize| match is_vector(cx, row) {
        true => cx.element(row, at),
        false => row,
    };
    if to.is_scalar {
        return match elements.first().copied().flatten() {
            Some((number, at)) => {
                let own = row(cx, number);
                element(cx, own, at)
            }
            None => cx.poison(to.element),
        };
    }
    let mut used: Vec<usize> = Vec::new();
    for (number, _) in elements.iter().flatten() {
        if !used.contains(number) {
            used.push(*number);
        }
    }
    used.sort_unstable();
    let ty = to.row_type(cx);
    if let [first, rest @ ..] = &used[..]
        && rest.len() < 2
    {
        let (a, b) = (row(cx, *first), rest.first().map(|second| row(cx, *second)));
        let is_same = b.is_none() && cx.type_of(a) == ty;
        if is_same && elements.iter().enumerate().all(|(i, own)| *own == Some((*first, i))) {
            return a;
        }
        let b = b.unwrap_or(a);
        if is_vector(cx, a) && cx.type_of(a) == cx.type_of(b) {
            let len = cx.type_of(a).shape(&cx.ctx()).map_or(0, |shape| shape[0]);
            let number = |own: &Option<Source>| match own {
                None => -1,
                Some((number, at)) if number == first => *at as i64,
                Some((_, at)) => len + *at as i64,
            };
            let mask: Vec<i64> = elements.iter().map(number).collect();
            return cx.shuffle(a, b, &mask);
        }
    }
    let mut new = cx.poison(ty);
    for (i, own) in elements.iter().enumerate() {
        if let Some((number, at)) = own {
            let own = row(cx, *number);
            let value = element(cx, own, *at);
            new = cx.with_element(new, value, i);
        }
    }
    new
}

/// Converts a broadcast. One of a scalar is one row, in every place.
fn broadcast(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let from = Rows::of(cx, op, op.operand_type(0))?;
    let to = Rows::of(cx, op, op.result_type(0))?;
    if from.count() * from.len != 1 {
        return rearrange(cx, op);
    }
    let mut value = cx.operand(op, 0)?;
    if !from.is_scalar {
        let row = from.row(cx, value, &vec![0; from.outer.len()]);
        value = cx.element(row, 0);
    }
    let (row_type, ty) = (to.row_type(cx), cx.convert_type(op.result_type(0))?);
    let row = cx.broadcast(row_type, value);
    let new = to.collect(cx, ty, &vec![row; to.count()]);
    cx.set(op.result(0), new);
    Ok(())
}

/// Returns the constant positions in all dimensions but the last, and the last one, which may be a
/// value. `None` if the position does not reach the last dimension.
type Position = (Vec<i64>, Option<Result<i64, Value>>);

/// Reads the position of an `extract` or `insert`.
fn position(
    cx: &mut FunctionConverter<'_>,
    op: OpRef<'_>,
    vector: Type,
    dynamic: &[Value],
) -> Result<Position, Diagnostic> {
    let ctx = cx.ctx();
    let rank = VectorShape::of_part(&ctx, vector).rank();
    let numbers = op.attr("static_position").and_then(|attr| attr.as_dense_ints(&ctx)).unwrap_or_default();
    let (outer, last) = match numbers.split_last() {
        Some((last, outer)) if numbers.len() == rank => (outer.to_vec(), Some(*last)),
        _ => (numbers, None),
    };
    if outer.contains(&DYNAMIC) {
        return Err(cx.unsupported(op, "with a position that is no constant, in any dimension but the last,"));
    }
    let last = match last {
        Some(DYNAMIC) => {
            let value = dynamic.first().ok_or_else(|| cx.malformed(op))?;
            Some(Err(cx.value(*value)?))
        }
        known => known.map(Ok),
    };
    Ok((outer, last))
}

/// True if each constant position is inside of the vector.
fn is_inside(op: OpRef<'_>, vector: Type) -> bool {
    let ctx = op.ctx();
    let numbers = op.attr("static_position").and_then(|attr| attr.as_dense_ints(ctx)).unwrap_or_default();
    let sizes = VectorShape::of_part(ctx, vector).sizes;
    numbers.iter().zip(sizes).all(|(at, size)| *at == DYNAMIC || (0..*size).contains(at))
}

fn extract(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let (from, to) = (op.operand_type(0), op.result_type(0));
    let rows = Rows::of(cx, op, from)?;
    let source = cx.operand(op, 0)?;
    let dynamic: Vec<Value> = op.operands().skip(1).collect();
    let (outer, last) = position(cx, op, from, &dynamic)?;
    let ty = cx.convert_type(to)?;
    let new = if !is_inside(op, from) {
        cx.poison(ty)
    } else {
        let part = if outer.is_empty() {
            source
        } else {
            let part_type = VectorShape::of_part(&cx.ctx(), from).part(&cx.ctx(), outer.len());
            let part_type = cx.convert_type(part_type)?;
            cx.extract(source, &outer, part_type)
        };
        let is_line = rows.outer.len() == outer.len();
        let element = match last {
            Some(Ok(at)) => Some(cx.element(part, usize::try_from(at).unwrap_or(0))),
            Some(Err(at)) => Some(cx.element_at(part, at)),
            // A vector without dimensions has one element.
            None if is_line && ty == rows.element => Some(cx.element(part, 0)),
            None => None,
        };
        match element {
            None => part,
            Some(element) if ty == rows.element => element,
            Some(element) => {
                let none = cx.poison(ty);
                cx.with_element(none, element, 0)
            }
        }
    };
    cx.set(op.result(0), new);
    Ok(())
}

fn insert(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let to = op.operand_type(1);
    let rows = Rows::of(cx, op, to)?;
    let (mut value, dest) = (cx.operand(op, 0)?, cx.operand(op, 1)?);
    let dynamic: Vec<Value> = op.operands().skip(2).collect();
    let (outer, last) = position(cx, op, to, &dynamic)?;
    let ty = cx.convert_type(to)?;
    let new = if !is_inside(op, to) {
        cx.poison(ty)
    } else {
        let at = match last {
            Some(Ok(at)) => Some(cx.integer(Type::I64, at)),
            Some(Err(at)) => Some(at),
            None if cx.type_of(value) == rows.element => Some(cx.integer(Type::I64, 0)),
            None => None,
        };
        if let Some(at) = at {
            let row = if outer.is_empty() {
                dest
            } else {
                let row_type = rows.row_type(cx);
                cx.extract(dest, &outer, row_type)
            };
            value = cx.with_element_at(row, value, at);
        }
        if outer.is_empty() { value } else { cx.insert_value(dest, value, &outer) }
    };
    cx.set(op.result(0), new);
    Ok(())
}

/// Converts an operation that computes each element from those in the same place, row by row.
pub(super) fn by_rows(
    cx: &mut FunctionConverter<'_>,
    op: OpRef<'_>,
    make: &mut dyn FnMut(&mut FunctionConverter<'_>, &[Value], Type) -> Value,
) -> Converted {
    let ty = cx.convert_type(op.result_type(0))?;
    if op.result_type(0).shape(&cx.ctx()).is_none_or(|shape| shape.len() <= 1) {
        let operands = cx.operands(op)?;
        let new = make(cx, &operands, ty);
        cx.set(op.result(0), new);
        return Ok(());
    }
    let to = Rows::of(cx, op, op.result_type(0))?;
    let mut operands = Vec::with_capacity(op.num_operands());
    for (i, value) in op.operands().enumerate() {
        operands.push((cx.operand(op, i)?, Rows::of(cx, op, op.type_of(value))?));
    }
    let row_type = to.row_type(cx);
    let mut rows = Vec::with_capacity(to.count());
    for place in to.places() {
        // A scalar, such as the condition of a selection, is the same for each row.
        let own = operands.iter().map(|(value, from)| match from.outer.is_empty() {
            true => *value,
            false => from.row(cx, *value, &place),
        });
        let own: Vec<Value> = own.collect();
        rows.push(make(cx, &own, row_type));
    }
    let new = to.collect(cx, ty, &rows);
    cx.set(op.result(0), new);
    Ok(())
}

fn fma(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    by_rows(cx, op, &mut |cx, operands, ty| {
        let state = cx.state(llvm::FMAOp::DEF).operands(operands).results(&[ty]);
        cx.emit(state)
    })
}

fn bitcast(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    by_rows(cx, op, &mut |cx, operands, ty| match cx.type_of(operands[0]) == ty {
        true => operands[0],
        false => cx.cast(llvm::BitcastOp::DEF, operands[0], ty),
    })
}

/// Emits a row of a mask, true before `bound`, an `i64`.
fn mask_row(cx: &mut FunctionConverter<'_>, len: usize, bound: Value) -> Value {
    let numbers = cx.numbers(len);
    let ty = cx.type_of(numbers);
    let bounds = cx.broadcast(ty, bound);
    cx.icmp(ICmp::Slt, numbers, bounds)
}

fn create_mask(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let to = Rows::of(cx, op, op.result_type(0))?;
    let (bounds, ty) = (cx.operands(op)?, cx.convert_type(op.result_type(0))?);
    let Some((last, outer)) = bounds.split_last() else { return Err(cx.malformed(op)) };
    if outer.len() != to.outer.len() {
        return Err(cx.malformed(op));
    }
    let row = mask_row(cx, to.len, *last);
    let row_type = cx.type_of(row);
    let mut rows = Vec::with_capacity(to.count());
    for place in to.places() {
        let mut own = row;
        for (at, bound) in place.iter().zip(outer) {
            let at = cx.index(*at);
            let is_before = cx.icmp(ICmp::Slt, at, *bound);
            let none = cx.splat(row_type, 0);
            own = cx.select(is_before, own, none);
        }
        rows.push(own);
    }
    let new = to.collect(cx, ty, &rows);
    cx.set(op.result(0), new);
    Ok(())
}

fn constant_mask(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let ctx = cx.ctx();
    let to = Rows::of(cx, op, op.result_type(0))?;
    let ty = cx.convert_type(op.result_type(0))?;
    let numbers = op.attr("mask_dim_sizes").and_then(|attr| attr.as_dense_ints(&ctx)).unwrap_or_default();
    let Some((last, outer)) = numbers.split_last() else { return Err(cx.malformed(op)) };
    let row_type = to.row_type(cx);
    let mut rows = Vec::with_capacity(to.count());
    for place in to.places() {
        let is_before = place.iter().zip(outer).all(|(at, bound)| at < bound);
        let bits: Vec<u8> = (0..to.len as i64).map(|at| u8::from(is_before && at < *last)).collect();
        let splat = bits.iter().all(|bit| *bit == bits[0]);
        let bytes = if splat { vec![bits[0]] } else { bits };
        let attr = ctx.attr(AttrKind::DenseElements { ty: row_type, splat, bytes: bytes.into() });
        rows.push(cx.constant(attr, row_type));
    }
    let new = to.collect(cx, ty, &rows);
    cx.set(op.result(0), new);
    Ok(())
}

fn step(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let to = Rows::of(cx, op, op.result_type(0))?;
    let new = cx.numbers(to.len);
    cx.set(op.result(0), new);
    Ok(())
}
