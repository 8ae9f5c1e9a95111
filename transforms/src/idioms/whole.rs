//! Loop nests that store to every element of a memref once: copies and fills.
//!
//! [`Whole::of`] recognises such a nest, of `scf`, `affine` or parallel loops, in any order of its
//! loops. [`Whole::write`] writes the operation that does the same. [`write_nest`] is the inverse.
//!
//! # Assumptions
//!
//! - A store to an element of a copy's target may be a store to an element of its source. The
//!   caller decides about that, and about sizes that are only known to fit one of the two memrefs.
//! - Accesses with a promise of their own (`nontemporal`, `alignment`) are none of these.
//!
//! **Cost.** Linear in the operations of the nest.

use loomir_dialects::interfaces::{Access, Bound, LoopBounds, MemoryAccess, Step, Subscripts};
use loomir_dialects::{affine, linalg, memref};
use loomir_ir::{Attr, Body, Builder, DYNAMIC, Op, OpDef, Trait, Type, TypeKind, Value};

use crate::access::loop_bounds::{constant, constant_bound, operand_of, value_bound};
use crate::access::structure::Structure;

mod nest;

pub(crate) use nest::{Kind, write_nest};

/// The most dimensions of a memref.
const MAX_RANK: usize = 8;

/// The new content of every element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Content {
    /// The element of this memref at the same place.
    Copy(Value),
    /// This value.
    Fill(Value),
}

/// A nest that stores to every element of a memref, or the operation that does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Whole {
    /// The new content.
    pub content: Content,
    /// The memref.
    pub target: Value,
    /// True if the source of a copy certainly has the size of the iteration space in each
    /// dimension. True for fills.
    pub fits_source: bool,
    /// True if the target certainly has the size of the iteration space in each dimension.
    pub fits_target: bool,
}

impl Whole {
    /// Recognises a nest by its outermost loop.
    pub(crate) fn of(body: &Body, nest: Op) -> Option<Whole> {
        let own = Nest::of(body, nest)?;
        let (load, (_, store)) = match &own.accesses[..] {
            [store] => (None, store),
            [load, store] => (Some(load), store),
            _ => return None,
        };
        let stored = store.stored?;
        let order = own.variables(body, &store.subscripts).filter(|all| all.len() == own.levels.len())?;
        let content = match load {
            None if body.is_defined_within(stored, nest) || is_memref(body, stored) => return None,
            None => Content::Fill(stored),
            Some((op, load)) => {
                let copies = load.stored.is_none()
                    && body.defining_op(stored) == Some(*op)
                    && own.variables(body, &load.subscripts)? == order
                    && load.memref != store.memref;
                Content::Copy(copies.then_some(load.memref)?)
            }
        };
        let is_outside = |memref: Value| !body.is_defined_within(memref, nest);
        let fits = |memref: Value| {
            order.iter().enumerate().all(|(d, level)| is_size(body, &own.levels[*level].0.upper, memref, d))
        };
        let fits_source = match content {
            Content::Copy(source) if !is_outside(source) => return None,
            Content::Copy(source) => fits(source),
            Content::Fill(_) => true,
        };
        let target = store.memref;
        is_outside(target).then(|| Whole { content, target, fits_source, fits_target: fits(target) })
    }

    /// Reads an operation that copies or fills a memref of known rank.
    pub(crate) fn of_operation(body: &Body, op: Op) -> Option<Whole> {
        let view = body.op_ref(op);
        let is_named = view.is(linalg::FillOp::DEF) || view.is(linalg::CopyOp::DEF);
        if !(view.is(memref::CopyOp::DEF) || is_named && yields_input(body, op)) {
            return None;
        }
        let (from, target) = (view.operand(0), view.operand(1));
        let rank = |value: Value| rank(body, value);
        let is_fill = view.is(linalg::FillOp::DEF);
        let has_loops = (1..=MAX_RANK).contains(&rank(target)?);
        let fits = has_loops
            && from != target
            && match is_fill {
                true => element(body, target)? == view.operand_type(0),
                false => rank(from) == rank(target) && element(body, from) == element(body, target),
            };
        let content = if is_fill { Content::Fill(from) } else { Content::Copy(from) };
        fits.then_some(Whole { content, target, fits_source: true, fits_target: true })
    }

    /// Writes the operation that does the same: `linalg.fill`, and `memref.copy` or `linalg.copy`.
    pub(crate) fn write(&self, b: &mut Builder<'_>, of_linalg: bool) -> Op {
        let def = match self.content {
            Content::Copy(source) if !of_linalg => {
                return b.build(memref::CopyOp::DEF, &[&[source], &[self.target]], &[], &[]);
            }
            Content::Copy(_) => linalg::CopyOp::DEF,
            Content::Fill(_) => linalg::FillOp::DEF,
        };
        let (Content::Copy(from) | Content::Fill(from)) = self.content;
        let op = without_results(b, def, &[&[from], &[self.target]], &[]);
        let of_target = element(b.body(), self.target).unwrap_or(Type::NONE);
        // A vector that fills an array of vectors is an element as it is.
        let of_input = match self.content {
            Content::Copy(source) => element(b.body(), source).unwrap_or(Type::NONE),
            Content::Fill(value) => b.type_of(value),
        };
        let (loc, body) = (b.loc(), b.body());
        let block = body.append_block(body.region(op, 0), &[of_input, of_target]);
        for argument in body.arguments(block).collect::<Vec<_>>() {
            body.set_argument_loc(argument, loc);
        }
        let input = body.argument(block, 0);
        let point = b.set_point(loomir_ir::InsertPoint::End(block));
        b.build(linalg::YieldOp::DEF, &[&[input]], &[], &[]);
        b.set_point(point);
        op
    }
}

/// Makes an operation without results, of a definition that may have some.
pub(super) fn without_results(
    b: &mut Builder<'_>,
    def: &OpDef,
    operands: &[&[Value]],
    attrs: &[(&str, Attr)],
) -> Op {
    let ctx = b.ctx();
    let mut state = b.state(def).operands(&operands.concat());
    state.set_attrs(&ctx, attrs);
    if def.traits.has(Trait::AttrSizedOperandSegments) {
        let sizes: Vec<i64> = operands.iter().map(|own| own.len() as i64).collect();
        state.set_segments(&ctx, &sizes);
    }
    b.insert(state)
}

/// A perfect nest of loops without results, from zero, in steps of one.
pub(super) struct Nest {
    /// The bounds and the variable of each loop, from the outside.
    pub(super) levels: Vec<(LoopBounds, Value)>,
    /// The accesses of the innermost body. Beside them it only computes.
    pub(super) accesses: Vec<(Op, Access)>,
}

impl Nest {
    /// Reads a nest by its outermost loop.
    pub(super) fn of(body: &Body, nest: Op) -> Option<Nest> {
        let (mut levels, mut accesses) = (Vec::new(), Vec::new());
        let mut inner = Some(nest);
        while let Some(op) = inner.take() {
            let block = enter(body, op, &mut levels)?;
            let end = body.terminator(block);
            for own in body.ops(block).filter(|own| Some(*own) != end) {
                let plain = body.own_regions(own).len() == 0;
                let view = body.op_ref(own);
                match view.info().interface::<dyn MemoryAccess>() {
                    Some(model) if is_ordinary(body, own) => accesses.push((own, model.access(view))),
                    None if plain && body.has_trait(own, Trait::Pure) => {}
                    None if !plain && inner.is_none() => inner = Some(own),
                    _ => return None,
                }
            }
            if levels.len() > MAX_RANK || (inner.is_some() && !accesses.is_empty()) {
                return None;
            }
        }
        Some(Nest { levels, accesses })
    }

    /// Returns the level of the loop whose variable is each subscript. `None` unless they are
    /// variables, and different ones.
    pub(super) fn variables(&self, body: &Body, at: &Subscripts) -> Option<Vec<usize>> {
        let mut found: Vec<usize> = Vec::new();
        for expr in at.map.results(body.ctx()) {
            let subscript = operand_of(body, at, *expr)?;
            let level = self.levels.iter().position(|(_, variable)| *variable == subscript)?;
            if found.contains(&level) {
                return None;
            }
            found.push(level);
        }
        Some(found)
    }

    /// Returns the trip count of a loop, if it is a constant.
    pub(super) fn trip_count(&self, body: &Body, level: usize) -> Option<i64> {
        constant_bound(body, &self.levels.get(level)?.0.upper)
    }
}

/// Returns the body of a loop without results from zero, in steps of one, and adds its bounds and
/// its variables.
fn enter(body: &Body, op: Op, levels: &mut Vec<(LoopBounds, Value)>) -> Option<loomir_ir::Block> {
    let (bounds, block) = match Structure::of(body, op)? {
        Structure::Loop { model, block } => {
            let view = body.op_ref(op);
            let is_plain = view.num_results() == 0 && !model.is_unsigned(view);
            (is_plain.then(|| vec![model.bounds(view)])?, block)
        }
        Structure::Parallel { dimensions, block } if body.num_results(op) == 0 => (dimensions, block),
        Structure::Parallel { .. } | Structure::If { .. } => return None,
    };
    for (index, bounds) in bounds.into_iter().enumerate() {
        let starts = constant_bound(body, &bounds.lower) == Some(0);
        let by_one = match bounds.step {
            Step::Constant(step) => step == 1,
            Step::Value(value) => constant(body, value) == Some(1),
        };
        if !starts || !by_one {
            return None;
        }
        levels.push((bounds, body.argument(block, index)));
    }
    Some(block)
}

/// True if an access is one of `memref` or `affine`, without a promise of its own.
fn is_ordinary(body: &Body, op: Op) -> bool {
    let defs = [memref::LoadOp::DEF, memref::StoreOp::DEF, affine::LoadOp::DEF, affine::StoreOp::DEF];
    let promises = body.attr(op, "nontemporal").is_some_and(|attr| attr != Attr::FALSE);
    defs.into_iter().any(|def| body.is(op, def)) && !promises && body.attr(op, "alignment").is_none()
}

/// True if a bound is the size of a dimension of a memref.
fn is_size(body: &Body, bound: &Bound, memref: Value, dimension: usize) -> bool {
    let Some(size) =
        body.value_type(memref).shape(body.ctx()).and_then(|shape| shape.get(dimension).copied())
    else {
        return false;
    };
    if size != DYNAMIC {
        return constant_bound(body, bound) == Some(size);
    }
    value_bound(body, bound).is_some_and(|value| {
        size_of(body, memref, dimension) == Some(value) || is_dimension(body, value, memref, dimension)
    })
}

/// True if a value is `memref.dim` of this memref.
fn is_dimension(body: &Body, value: Value, memref: Value, dimension: usize) -> bool {
    body.defining_op(value).is_some_and(|op| {
        body.is(op, memref::DimOp::DEF)
            && body.operand(op, 0) == memref
            && constant(body, body.operand(op, 1)) == Some(dimension as i64)
    })
}

/// Returns the value that the allocation of a memref was given as the size of a dynamic dimension.
fn size_of(body: &Body, memref: Value, dimension: usize) -> Option<Value> {
    let made = body.op_ref(body.defining_op(memref)?);
    let allocates = made.is(memref::AllocOp::DEF) || made.is(memref::AllocaOp::DEF);
    let shape = body.value_type(memref).shape(body.ctx()).filter(|_| allocates)?;
    let at = shape[..dimension].iter().filter(|size| **size == DYNAMIC).count();
    made.operand_group("dynamicSizes").get(at).copied()
}

/// Returns the rank of a memref.
fn rank(body: &Body, value: Value) -> Option<usize> {
    body.value_type(value).shape(body.ctx()).filter(|_| is_memref(body, value)).map(<[i64]>::len)
}

fn is_memref(body: &Body, value: Value) -> bool {
    matches!(body.value_type(value).kind(body.ctx()), TypeKind::MemRef { .. })
}

fn element(body: &Body, value: Value) -> Option<Type> {
    body.value_type(value).element(body.ctx())
}

/// True if the computation of a `linalg` operation yields its input as it is.
fn yields_input(body: &Body, op: Op) -> bool {
    let Some(block) = body.single_block(body.region(op, 0)) else { return false };
    let mut ops = body.ops(block);
    let only = ops.next().filter(|end| body.is(*end, linalg::YieldOp::DEF));
    only.is_some_and(|end| body.operands(end).eq([body.argument(block, 0)])) && ops.next().is_none()
}
