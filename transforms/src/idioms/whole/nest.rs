//! Writing a copy or a fill as a loop nest.

use loomir_dialects::affine::validity;
use loomir_dialects::{affine, arith, linalg, memref, scf};
use loomir_ir::{
    AffineExpr, AffineMap, Attr, AttrKind, Block, Body, Builder, DYNAMIC, InsertPoint, Op, Type, Value,
};

use super::{Content, Whole, size_of, without_results};
use crate::access::loop_bounds::constant;

/// The loops of a nest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// `scf.for` with accesses of `memref`.
    Scf,
    /// `affine.for` with accesses of `affine`, if all sizes may be symbols; else as [`Kind::Scf`].
    Affine,
    /// One `scf.parallel` with accesses of `memref`.
    Parallel,
}

/// Writes a nest that does the same as a copy or a fill, before `op`, and returns its outermost
/// loop. Sizes that are no constants are those of the allocation, or are read from a memref.
pub(crate) fn write_nest(body: &mut Body, op: Op, whole: &Whole, kind: Kind) -> Op {
    let sizes = sizes(body, op, whole);
    let is_symbol = |size: &Size| match size {
        Size::Number(_) => true,
        Size::Value(value) => validity::is_valid_symbol(body.op_ref(op), *value),
    };
    let kind = match kind {
        Kind::Affine if !sizes.iter().all(is_symbol) => Kind::Scf,
        kind => kind,
    };
    let mut b = Builder::before(body, op);
    let ends = match kind {
        Kind::Affine => None,
        Kind::Scf | Kind::Parallel => Some([0, 1].map(|end| number(&mut b, end))),
    };
    let mut writer = Writer { b: &mut b, kind, ends };
    let (outermost, point) = match kind {
        Kind::Parallel => writer.parallel(&sizes),
        Kind::Scf | Kind::Affine => writer.loops(&sizes),
    };
    writer.accesses(whole, &point);
    outermost
}

/// The size of a dimension.
#[derive(Clone, Copy)]
enum Size {
    Number(i64),
    Value(Value),
}

/// Returns the size of each dimension, from whichever memref says most: a constant, the size of an
/// allocation, a size that was read before. Otherwise reads it before `op`. The sizes of
/// `linalg.copy` are those of its source: the target may be larger.
fn sizes(body: &mut Body, op: Op, whole: &Whole) -> Vec<Size> {
    let memrefs = match whole.content {
        Content::Copy(source) if body.is(op, linalg::CopyOp::DEF) => vec![source],
        Content::Copy(source) => vec![source, whole.target],
        Content::Fill(_) => vec![whole.target],
    };
    let shapes: Vec<Vec<i64>> = memrefs
        .iter()
        .map(|memref| body.value_type(*memref).shape(body.ctx()).unwrap_or_default().to_vec())
        .collect();
    let rank = shapes.first().map_or(0, Vec::len);
    let size = |d: usize, body: &mut Body| {
        if let Some(number) = shapes.iter().filter_map(|shape| shape.get(d)).find(|size| **size != DYNAMIC) {
            return Size::Number(*number);
        }
        let known = memrefs.iter().find_map(|memref| size_of(body, *memref, d));
        let read = || memrefs.iter().find_map(|memref| read_before(body, *memref, d, op));
        if let Some(value) = known.or_else(read) {
            return Size::Value(value);
        }
        let mut b = Builder::before(body, op);
        let index = number(&mut b, d as i64);
        let state = b.state(memref::DimOp::DEF).operands(&[memrefs[0], index]);
        Size::Value(b.value(state))
    };
    (0..rank).map(|d| size(d, body)).collect()
}

/// Returns a size of a memref that is read in the block of `op`, before it.
fn read_before(body: &Body, memref: Value, dimension: usize, op: Op) -> Option<Value> {
    let mut found: Option<Op> = None;
    for own in body.uses(memref) {
        let reads = body.is(own.op, memref::DimOp::DEF)
            && body.block_of(own.op) == body.block_of(op)
            && constant(body, body.operand(own.op, 1)) == Some(dimension as i64)
            && body.is_before_in_block(own.op, op);
        // The first in the block, whatever the order of the uses.
        if reads && found.is_none_or(|first| body.is_before_in_block(own.op, first)) {
            found = Some(own.op);
        }
    }
    found.map(|op| body.result(op, 0))
}

fn number(b: &mut Builder<'_>, number: i64) -> Value {
    let ctx = b.ctx();
    let state = b.state(arith::ConstantOp::DEF).results(&[Type::INDEX]);
    b.value(state.attr(&ctx, "value", ctx.index_attr(number)))
}

/// Writes the operations of a nest.
struct Writer<'a, 'b> {
    b: &'a mut Builder<'b>,
    kind: Kind,
    /// Zero and one, for loops that need them as values.
    ends: Option<[Value; 2]>,
}

impl Writer<'_, '_> {
    /// Writes one loop inside the other, and goes to the innermost body. Returns the outermost loop
    /// and the variables.
    fn loops(&mut self, sizes: &[Size]) -> (Op, Vec<Value>) {
        let bounds = self.bounds(sizes);
        let (mut made, mut point) = (Vec::new(), Vec::new());
        for (level, size) in sizes.iter().enumerate() {
            let (op, end) = match bounds.get(level) {
                None => (self.affine_loop(*size), affine::YieldOp::DEF),
                Some(bounds) => (without_results(self.b, scf::ForOp::DEF, &[bounds], &[]), scf::YieldOp::DEF),
            };
            let block = self.enter(op, 1);
            self.b.set_point(InsertPoint::End(block));
            let end = self.b.build(end, &[&[]], &[], &[]);
            self.b.set_point(InsertPoint::Before(end));
            point.push(self.b.body().argument(block, 0));
            made.push(op);
        }
        (made[0], point)
    }

    fn parallel(&mut self, sizes: &[Size]) -> (Op, Vec<Value>) {
        let bounds = self.bounds(sizes);
        let [lower, upper, step] = [0, 1, 2].map(|at| bounds.iter().map(|own| own[at]).collect::<Vec<_>>());
        let op = without_results(self.b, scf::ParallelOp::DEF, &[&lower, &upper, &step, &[]], &[]);
        let block = self.enter(op, sizes.len());
        self.b.set_point(InsertPoint::End(block));
        let end = without_results(self.b, scf::ReduceOp::DEF, &[&[]], &[]);
        self.b.set_point(InsertPoint::Before(end));
        (op, self.b.body().arguments(block).collect())
    }

    /// Returns zero, the size and one for each dimension, unless the loops need no values.
    fn bounds(&mut self, sizes: &[Size]) -> Vec<[Value; 3]> {
        let Some([zero, one]) = self.ends else { return Vec::new() };
        let mut upper = |size: &Size| match size {
            Size::Number(size) => number(self.b, *size),
            Size::Value(value) => *value,
        };
        sizes.iter().map(|size| [zero, upper(size), one]).collect()
    }

    fn affine_loop(&mut self, size: Size) -> Op {
        let ctx = self.b.ctx();
        let (upper, operands) = match size {
            Size::Number(size) => (AffineMap::constant(&ctx, size), Vec::new()),
            Size::Value(value) => (AffineMap::new(&ctx, 0, 1, &[AffineExpr::symbol(&ctx, 0)]), vec![value]),
        };
        let map = |map: AffineMap| ctx.attr(AttrKind::AffineMap(map));
        let attrs = [
            ("lowerBoundMap", map(AffineMap::constant(&ctx, 0))),
            ("upperBoundMap", map(upper)),
            ("step", ctx.index_attr(1)),
        ];
        without_results(self.b, affine::ForOp::DEF, &[&[], &operands, &[]], &attrs)
    }

    fn enter(&mut self, op: Op, variables: usize) -> Block {
        let (loc, body) = (self.b.loc(), self.b.body());
        let block = body.append_block(body.region(op, 0), &vec![Type::INDEX; variables]);
        let variables: Vec<Value> = body.arguments(block).collect();
        variables.into_iter().for_each(|variable| body.set_argument_loc(variable, loc));
        block
    }

    /// Writes the load of a copy, and the store.
    fn accesses(&mut self, whole: &Whole, point: &[Value]) {
        let ctx = self.b.ctx();
        let map = ctx.attr(AttrKind::AffineMap(AffineMap::identity(&ctx, point.len() as u32)));
        let is_affine = self.kind == Kind::Affine;
        let attrs: Vec<(&str, Attr)> = is_affine.then_some(("map", map)).into_iter().collect();
        let value = match whole.content {
            Content::Fill(value) => value,
            Content::Copy(source) => {
                let element = self.b.type_of(source).element(&ctx).unwrap_or(Type::NONE);
                let def = if is_affine { affine::LoadOp::DEF } else { memref::LoadOp::DEF };
                let load = self.b.build(def, &[&[source], point], &attrs, &[element]);
                self.b.body().result(load, 0)
            }
        };
        let def = if is_affine { affine::StoreOp::DEF } else { memref::StoreOp::DEF };
        self.b.build(def, &[&[value], &[whole.target], point], &attrs, &[]);
    }
}
