//! Reductions and products.

use loomir_dialects::llvm;
use loomir_dialects::vector::COMBINING_KIND;
use loomir_dialects::vector::contraction::Contraction;
use loomir_dialects::vector::rearrange::{fixed_sizes, for_each_place};
use loomir_dialects::vector::shape::strides;
use loomir_ir::{Attr, AttrKind, Diagnostic, FloatKind, OpDef, OpRef, Registry, Type, TypeKind, Value};

use super::Rows;
use crate::to_llvm::arith::fastmath;
use crate::to_llvm::function::FunctionConverter;
use crate::to_llvm::{Converted, attach};

pub(super) fn register(registry: &mut Registry) {
    attach(registry, "vector.reduction", reduction);
    attach(registry, "vector.multi_reduction", multi_reduction);
    attach(registry, "vector.outerproduct", outer_product);
    attach(registry, "vector.contract", contract);
    attach(registry, "vector.scan", scan);
}

/// A kind of combination: the operations that combine two values and a vector, for integers and for
/// floats.
type Kind = (&'static str, Option<[&'static OpDef; 2]>, Option<[&'static OpDef; 2]>);

const KINDS: &[Kind] = &[
    (
        "add",
        Some([llvm::AddOp::DEF, llvm::VectorReduceAddOp::DEF]),
        Some([llvm::FAddOp::DEF, llvm::VectorReduceFAddOp::DEF]),
    ),
    (
        "mul",
        Some([llvm::MulOp::DEF, llvm::VectorReduceMulOp::DEF]),
        Some([llvm::FMulOp::DEF, llvm::VectorReduceFMulOp::DEF]),
    ),
    ("minui", Some([llvm::UMinOp::DEF, llvm::VectorReduceUMinOp::DEF]), None),
    ("minsi", Some([llvm::SMinOp::DEF, llvm::VectorReduceSMinOp::DEF]), None),
    ("minnumf", None, Some([llvm::MinNumOp::DEF, llvm::VectorReduceFMinOp::DEF])),
    ("maxui", Some([llvm::UMaxOp::DEF, llvm::VectorReduceUMaxOp::DEF]), None),
    ("maxsi", Some([llvm::SMaxOp::DEF, llvm::VectorReduceSMaxOp::DEF]), None),
    ("maxnumf", None, Some([llvm::MaxNumOp::DEF, llvm::VectorReduceFMaxOp::DEF])),
    ("and", Some([llvm::AndOp::DEF, llvm::VectorReduceAndOp::DEF]), None),
    ("or", Some([llvm::OrOp::DEF, llvm::VectorReduceOrOp::DEF]), None),
    ("xor", Some([llvm::XOrOp::DEF, llvm::VectorReduceXorOp::DEF]), None),
    ("minimumf", None, Some([llvm::MinimumOp::DEF, llvm::VectorReduceFMinimumOp::DEF])),
    ("maximumf", None, Some([llvm::MaximumOp::DEF, llvm::VectorReduceFMaximumOp::DEF])),
];

/// Returns the name of the kind of `op`, and the operations for values and vectors of a type.
fn kind(
    cx: &FunctionConverter<'_>,
    op: OpRef<'_>,
    element: Type,
) -> Result<(&'static str, [&'static OpDef; 2]), Diagnostic> {
    let ctx = cx.ctx();
    let value = op.attr("kind").and_then(|kind| COMBINING_KIND.value(&ctx, kind));
    let name = value.and_then(|value| COMBINING_KIND.text_of(value)).unwrap_or_default();
    let found = KINDS.iter().find(|(own, ..)| *own == name);
    let found = found.and_then(|(name, integer, float)| {
        let defs = if element.is_float(&ctx) { float } else { integer };
        Some((*name, (*defs)?))
    });
    found.ok_or_else(|| cx.unsupported(op, "of this kind"))
}

/// Emits an operation on two values.
fn combine(cx: &mut FunctionConverter<'_>, def: &OpDef, a: Value, b: Value, fast: Option<Attr>) -> Value {
    let (ctx, ty) = (cx.ctx(), cx.type_of(a));
    let mut state = cx.state(def).operands(&[a, b]).results(&[ty]);
    if let Some(fast) = fast.filter(|_| def.is_inherent("fastmathFlags")) {
        state.set_attr(&ctx, "fastmathFlags", fast);
    }
    cx.emit(state)
}

/// Returns 0.0 or 1.0.
fn float(cx: &mut FunctionConverter<'_>, ty: Type, one: bool) -> Option<Value> {
    let ctx = cx.ctx();
    let TypeKind::Float(kind) = ty.kind(&ctx) else { return None };
    let bits: u128 = match kind {
        _ if !one => 0,
        FloatKind::F16 => 0x3c00,
        FloatKind::BF16 => 0x3f80,
        FloatKind::F32 => 0x3f80_0000,
        FloatKind::F64 => 0x3ff0_0000_0000_0000,
        FloatKind::F80 => 0x3fff_8000_0000_0000_0000,
        FloatKind::F128 => 0x3fff << 112,
        _ => return None,
    };
    Some(cx.constant(ctx.attr(AttrKind::Float { bits, ty }), ty))
}

fn reduction(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let ctx = cx.ctx();
    let rows = Rows::of(cx, op, op.operand_type(0))?;
    let (name, [scalar, vector]) = kind(cx, op, rows.element)?;
    let fast = op.attr("fastmath").map(|fast| fastmath(&ctx, fast));
    let source = cx.operand(op, 0)?;
    let acc = if op.num_operands() > 1 { Some(cx.operand(op, 1)?) } else { None };
    let begins = rows.element.is_float(&ctx) && matches!(name, "add" | "mul");
    let mut operands = vec![source];
    if begins {
        let start = match acc {
            Some(acc) => acc,
            None => {
                float(cx, rows.element, name == "mul").ok_or_else(|| cx.unsupported(op, "on this type"))?
            }
        };
        operands.insert(0, start);
    }
    let mut state = cx.state(vector).operands(&operands).results(&[rows.element]);
    if let Some(fast) = fast.filter(|_| vector.is_inherent("fastmathFlags")) {
        state.set_attr(&ctx, "fastmathFlags", fast);
    }
    let mut new = cx.emit(state);
    if let Some(acc) = acc.filter(|_| !begins) {
        new = combine(cx, scalar, new, acc, fast);
    }
    cx.set(op.result(0), new);
    Ok(())
}

/// The most elements that are combined one by one.
const MAX_COMBINED: usize = 1 << 12;

/// Converts a reduction along some dimensions: row by row if the last one stays, else element by
/// element.
fn multi_reduction(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let ctx = cx.ctx();
    let from = Rows::of(cx, op, op.operand_type(0))?;
    let to = Rows::of(cx, op, op.result_type(0))?;
    let (_, [def, _]) = kind(cx, op, from.element)?;
    let sizes = fixed_sizes(&ctx, op.operand_type(0)).unwrap_or_default();
    let reduced = op.attr("reduction_dims").and_then(|dims| dims.as_dense_ints(&ctx)).unwrap_or_default();
    let is_reduced = |d: usize| reduced.contains(&(d as i64));
    let (source, acc) = (cx.operand(op, 0)?, cx.operand(op, 1)?);
    let by_row = !is_reduced(from.outer.len());
    let work = if by_row { from.count() } else { from.count() * from.len };
    if work > MAX_COMBINED {
        return Err(cx.unsupported(op, "on very large vectors"));
    }
    // The rows, or the elements, of the result so far.
    let mut so_far: Vec<Value> = Vec::new();
    for place in to.places() {
        let row = if to.is_scalar { acc } else { to.row(cx, acc, &place) };
        if by_row || to.is_scalar {
            so_far.push(row);
        } else {
            for at in 0..to.len {
                so_far.push(cx.element(row, at));
            }
        }
    }
    let counted = if by_row { &sizes[..sizes.len() - 1] } else { &sizes[..] };
    let left: Vec<usize> = (0..counted.len()).filter(|d| !is_reduced(*d)).collect();
    let steps = strides(&left.iter().map(|d| counted[*d]).collect::<Vec<_>>());
    let mut targets = Vec::new();
    for_each_place(counted, |place| {
        targets.push(left.iter().zip(&steps).map(|(d, step)| place[*d] * step).sum::<usize>());
    });
    let mut targets = targets.into_iter();
    for place in from.places() {
        let row = from.row(cx, source, &place);
        for at in 0..if by_row { 1 } else { from.len } {
            let own = if by_row { row } else { cx.element(row, at) };
            let target = targets.next().and_then(|target| so_far.get_mut(target));
            let Some(target) = target else { return Err(cx.malformed(op)) };
            *target = combine(cx, def, *target, own, None);
        }
    }
    let new = if to.is_scalar {
        so_far[0]
    } else {
        let ty = cx.convert_type(op.result_type(0))?;
        let rows = if by_row { so_far } else { rows_of(cx, &to, &so_far) };
        to.collect(cx, ty, &rows)
    };
    cx.set(op.result(0), new);
    Ok(())
}

/// Converts products, row by row. A sum of floats is rounded once, as in MLIR.
fn outer_product(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let ctx = cx.ctx();
    let to = Rows::of(cx, op, op.result_type(0))?;
    let (name, [def, _]) = kind(cx, op, to.element)?;
    let (lhs, rhs) = (cx.operand(op, 0)?, cx.operand(op, 1)?);
    let acc = if op.num_operands() > 2 { Some(cx.operand(op, 2)?) } else { None };
    let (row_type, ty) = (to.row_type(cx), cx.convert_type(op.result_type(0))?);
    let is_float = to.element.is_float(&ctx);
    let product = if is_float { llvm::FMulOp::DEF } else { llvm::MulOp::DEF };
    let mut rows = Vec::with_capacity(to.count());
    for (i, place) in to.places().into_iter().enumerate() {
        // With a scalar on the right there is one row, all of the left.
        let (a, b) = if to.outer.is_empty() {
            (lhs, cx.broadcast(row_type, rhs))
        } else {
            let own = cx.element(lhs, i);
            (cx.broadcast(row_type, own), rhs)
        };
        rows.push(match acc.map(|acc| to.row(cx, acc, &place)) {
            None => combine(cx, product, a, b, None),
            Some(acc) if is_float && name == "add" => {
                let state = cx.state(llvm::FMAOp::DEF).operands(&[a, b, acc]).results(&[row_type]);
                cx.emit(state)
            }
            Some(acc) => {
                let own = combine(cx, product, a, b, None);
                combine(cx, def, own, acc, None)
            }
        });
    }
    let new = to.collect(cx, ty, &rows);
    cx.set(op.result(0), new);
    Ok(())
}

/// The elements of a vector, or its rows if a dimension of the iteration space runs along them.
struct Parts {
    rows: Rows,
    vector: Value,
    by_row: bool,
    known: Vec<Option<Value>>,
}

impl Parts {
    /// Returns the parts of operand `index`.
    fn of(
        cx: &mut FunctionConverter<'_>,
        op: OpRef<'_>,
        index: usize,
        by_row: bool,
    ) -> Result<Parts, Diagnostic> {
        let rows = Rows::of(cx, op, op.operand_type(index))?;
        let count = if by_row { rows.count() } else { rows.count() * rows.len };
        if count > MAX_COMBINED {
            return Err(cx.unsupported(op, "on very large vectors"));
        }
        Ok(Parts { rows, vector: cx.operand(op, index)?, by_row, known: vec![None; count] })
    }

    /// Returns the part with the element of a number.
    fn part(&mut self, cx: &mut FunctionConverter<'_>, element: usize) -> Option<Value> {
        let number = if self.by_row { element / self.rows.len } else { element };
        let known = self.known.get_mut(number)?;
        if known.is_none() {
            let places = self.rows.places();
            let place = places.get(element / self.rows.len)?;
            let row = self.rows.row(cx, self.vector, place);
            let is_whole = self.by_row || self.rows.is_scalar;
            *known = Some(if is_whole { row } else { cx.element(row, element % self.rows.len) });
        }
        *known
    }
}

/// Converts a contraction. If the last dimension of the result runs along rows of an operand, the
/// elements of a row are computed together; else one by one.
fn contract(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let ctx = cx.ctx();
    let to = Rows::of(cx, op, op.result_type(0))?;
    let (_, [def, _]) = kind(cx, op, to.element)?;
    let own = Contraction::of(op).ok_or_else(|| cx.unsupported(op, "on these vectors"))?;
    let product = if to.element.is_float(&ctx) { llvm::FMulOp::DEF } else { llvm::MulOp::DEF };
    let along = own.row_dimension();
    let by_row = |i: usize| along.is_some_and(|along| own.runs_along(i, along));
    let iterations = own.iterations(along).filter(|all| all.len() <= MAX_COMBINED);
    let iterations = iterations.ok_or_else(|| cx.unsupported(op, "on very large vectors"))?;
    let mut parts = [
        Parts::of(cx, op, 0, by_row(0))?,
        Parts::of(cx, op, 1, by_row(1))?,
        Parts::of(cx, op, 2, by_row(2))?,
    ];
    let row_type = to.row_type(cx);
    for [a, b, c] in iterations {
        let mut factors = Vec::with_capacity(2);
        for (i, element) in [(0, a), (1, b)] {
            let value = parts[i].part(cx, element).ok_or_else(|| cx.malformed(op))?;
            let is_row = parts[i].by_row || along.is_none();
            factors.push(if is_row { value } else { cx.broadcast(row_type, value) });
        }
        let value = combine(cx, product, factors[0], factors[1], None);
        let so_far = parts[2].part(cx, c).ok_or_else(|| cx.malformed(op))?;
        let value = combine(cx, def, so_far, value, None);
        let number = if along.is_some() { c / to.len } else { c };
        parts[2].known[number] = Some(value);
    }
    // Every element or row of the result has been combined with something.
    let all: Option<Vec<Value>> = parts[2].known.iter().copied().collect();
    let all = all.ok_or_else(|| cx.malformed(op))?;
    let new = if to.is_scalar {
        all[0]
    } else {
        let ty = cx.convert_type(op.result_type(0))?;
        let rows = if along.is_some() { all } else { rows_of(cx, &to, &all) };
        to.collect(cx, ty, &rows)
    };
    cx.set(op.result(0), new);
    Ok(())
}

/// Converts a scan, element by element.
fn scan(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let ctx = cx.ctx();
    let mut source = Parts::of(cx, op, 0, false)?;
    let (_, [def, _]) = kind(cx, op, source.rows.element)?;
    let sizes = fixed_sizes(&ctx, op.operand_type(0)).unwrap_or_default();
    let dim = op.attr("reduction_dim").and_then(|dim| usize::try_from(dim.as_int(&ctx)?).ok());
    let dim = dim.filter(|dim| *dim < sizes.len()).ok_or_else(|| cx.malformed(op))?;
    let inclusive = op.attr("inclusive") == Some(Attr::TRUE);
    let mut so_far = Parts::of(cx, op, 1, false)?;
    let left: Vec<usize> = (0..sizes.len()).filter(|d| *d != dim).collect();
    let steps = strides(&left.iter().map(|d| sizes[*d]).collect::<Vec<_>>());
    let mut places: Vec<(usize, bool)> = Vec::new();
    for_each_place(&sizes, |place| {
        let to = left.iter().zip(&steps).map(|(d, step)| place[*d] * step).sum();
        places.push((to, place[dim] == 0));
    });
    let mut before: Vec<Option<Value>> = vec![None; so_far.known.len()];
    let mut all = Vec::with_capacity(places.len());
    for (element, (to, is_first)) in places.into_iter().enumerate() {
        let own = source.part(cx, element).ok_or_else(|| cx.malformed(op))?;
        // The scan has come to this element, or to the one before it.
        let next = if inclusive { Some(own) } else { before[to] };
        let last = so_far.part(cx, to).ok_or_else(|| cx.malformed(op))?;
        let value = match next {
            Some(next) if is_first && inclusive => next,
            Some(next) if !is_first => combine(cx, def, last, next, None),
            _ => last,
        };
        so_far.known[to] = Some(value);
        before[to] = Some(own);
        all.push(value);
    }
    let finals: Option<Vec<Value>> = (0..so_far.known.len()).map(|to| so_far.part(cx, to)).collect();
    let finals = finals.ok_or_else(|| cx.malformed(op))?;
    for (i, (rows, elements)) in [(&source.rows, &all), (&so_far.rows, &finals)].into_iter().enumerate() {
        let ty = cx.convert_type(op.result_type(i))?;
        let made = rows_of(cx, rows, elements);
        let new = rows.collect(cx, ty, &made);
        cx.set(op.result(i), new);
    }
    Ok(())
}

/// Returns rows of these elements.
fn rows_of(cx: &mut FunctionConverter<'_>, to: &Rows, elements: &[Value]) -> Vec<Value> {
    let row_type = to.row_type(cx);
    let mut rows = Vec::with_capacity(to.count());
    for own in elements.chunks(to.len) {
        let mut row = cx.poison(row_type);
        for (at, value) in own.iter().enumerate() {
            row = cx.with_element(row, *value, at);
        }
        rows.push(row);
    }
    rows
}
