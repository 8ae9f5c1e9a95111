//! Tiles of rows: elements of several rows that a loop sums up side by side are copied to a small
//! array, some columns at a time, so that vectors hold columns of them.
//!
//! Each sum keeps its order. LLVM makes vectors of the four sums, and of the copy, which it knows
//! as interleaved stores. Without the copy it gathers the elements one by one. Four rows are a part
//! of the array; more rows have more parts, because four is the count that LLVM interleaves best.
//!
//! **Cost.** Linear in the operations of the loop.

use loomir_dialects::affine;
use loomir_dialects::interfaces::{Bound, LoopBounds, LoopLike, MemoryAccess, Step};
use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::{
    AffineExpr, AffineMap, Attr, AttrKind, Block, Body, Builder, Diagnostic, InsertPoint, Loc, Mapping, Op,
    Type, Value,
};

use super::{PASS, loop_block, on_stack};
use crate::cost::only_reduces;
use crate::legality::storage::Packed;
use crate::remark::Remarks;

/// The columns of a tile: two vectors of 64 bytes, or four of 32.
const TILE: i64 = 32;

/// The rows of a part.
const PART: usize = 4;

/// The fewest tiles.
const MIN_TILES: i64 = 2;

/// The tiles of the rows of a loop.
pub(super) struct Tiles<'a> {
    packed: &'a Packed,
    element: Type,
    lower: i64,
    upper: i64,
}

impl Tiles<'_> {
    /// Returns the tiles for a group of loads.
    ///
    /// # Errors
    ///
    /// The reason why the group stays.
    pub(super) fn of<'a>(body: &Body, packed: &'a Packed) -> Result<Tiles<'a>, &'static str> {
        let op = packed.loop_op();
        let [(load, _), ..] = packed.loads() else { return Err("there are none") };
        if !packed.is_dense() || packed.places() < PART || !packed.places().is_multiple_of(PART) {
            return Err("they are not from 4, 8, or more rows that the loop reads side by side");
        }
        let (lower, upper) = bounds(body, op).ok_or("the loop is no 'affine.for' with constant bounds")?;
        let trips = upper.checked_sub(lower).ok_or("the loop has too many iterations")?;
        if trips < MIN_TILES * TILE || trips % TILE != 0 {
            return Err("the trip count is no multiple of 32, or less than 64");
        }
        if body.num_results(op) != packed.places() {
            return Err("the loop has not one sum for each row");
        }
        let block = loop_block(body, op);
        let variable = body.argument(block, 0);
        let is_known = |value: Value| value == variable || !body.is_defined_within(value, op);
        if !packed.loads().iter().all(|(load, _)| body.operands(*load).all(is_known)) {
            return Err("the loop computes where they are; hoist the rest first");
        }
        let end = body.last_op(block);
        let is_simple = |own: Op| {
            let view = body.op_ref(own);
            let access = view.info().interface::<dyn MemoryAccess>().map(|model| model.access(view));
            Some(own) == end
                || view.name().starts_with("arith.")
                || access.is_some_and(|access| access.stored.is_none())
        };
        if !body.ops(block).all(is_simple) {
            return Err("the loop does more than to load and to compute");
        }
        if only_reduces(body, op) {
            return Err("LLVM makes vectors along the rows, because the order of these sums is free");
        }
        Ok(Tiles { packed, element: body.value_type(body.result(*load, 0)), lower, upper })
    }

    /// Returns the bytes of the array, given those of a column.
    pub(super) fn bytes(&self) -> u64 {
        self.packed.bytes().saturating_mul(TILE as u64)
    }

    fn shape(&self) -> [i64; 3] {
        [(self.packed.places() / PART) as i64, TILE, PART as i64]
    }

    /// Writes the array, the loop over tiles, the copies, and the loop over a tile.
    pub(super) fn write(&self, body: &mut Body) {
        let op = self.packed.loop_op();
        let view = body.op_ref(op);
        let inits =
            view.info().interface::<dyn LoopLike>().map(|model| model.inits(view)).unwrap_or_default();
        let array = on_stack(body, &self.shape(), self.element);
        let outer = self.make_loop(body, op, (self.lower, self.upper, TILE), &inits);
        let types: Vec<Type> = inits.iter().map(|init| body.value_type(*init)).collect();
        let block = body.append_block(body.region(outer, 0), &[&[Type::INDEX], &types[..]].concat());
        let tile = body.argument(block, 0);
        let carried: Vec<Value> = body.arguments(block).skip(1).collect();
        let end = self.end(body, block, op);
        for part in 0..self.packed.places() / PART {
            self.copy(body, end, (array, part), tile);
        }
        let inner = self.make_loop(body, end, (0, TILE, 1), &carried);
        let attributes = body.attributes(op);
        body.set_attributes(inner, attributes);
        body.move_blocks(body.region(op, 0), body.region(inner, 0));
        let column = body.argument(loop_block(body, inner), 0);
        let first = body.ops(loop_block(body, inner)).next();
        if let Some(first) = first {
            let sum = sum(body, first, (tile, tile));
            let value = body.result(sum, 0);
            body.replace_all_uses(column, value);
            body.set_operand(sum, 1, column);
        }
        for (load, place) in self.packed.loads() {
            let map = [("map", element_of(body, *place))];
            let mut builder = Builder::before(body, *load);
            let new = builder.build(affine::LoadOp::DEF, &[&[array], &[column]], &map, &[self.element]);
            body.replace_all_uses(body.result(*load, 0), body.result(new, 0));
            body.erase(*load);
        }
        let sums: Vec<Value> = body.results(inner).collect();
        body.set_operands(end, &sums);
        let pairs: Vec<(Value, Value)> = body.results(op).zip(body.results(outer)).collect();
        pairs.into_iter().for_each(|(old, new)| body.replace_all_uses(old, new));
        body.erase(op);
    }

    /// Writes the loop that copies a part of a tile.
    fn copy(&self, body: &mut Body, end: Op, (array, part): (Value, usize), tile: Value) {
        let op = self.packed.loop_op();
        let variable = body.argument(loop_block(body, op), 0);
        let copy = self.make_loop(body, end, (0, TILE, 1), &[]);
        let block = body.append_block(body.region(copy, 0), &[Type::INDEX]);
        let column = body.argument(block, 0);
        let end = self.end(body, block, op);
        let sum = sum(body, end, (tile, column));
        let mut done = [false; PART];
        for (load, place) in self.packed.loads() {
            if place / PART != part || std::mem::replace(&mut done[place % PART], true) {
                continue;
            }
            let mut mapping = Mapping::default();
            mapping.map(variable, body.result(sum, 0));
            let own = body.copy_op(*load, &mut mapping);
            let (value, map) = (body.result(own, 0), [("map", element_of(body, *place))]);
            let mut builder = Builder::before(body, end);
            builder.place(own);
            builder.build(affine::StoreOp::DEF, &[&[value], &[array], &[column]], &map, &[]);
        }
    }

    /// Makes a loop without a body before an operation.
    fn make_loop(&self, body: &mut Body, at: Op, bounds: (i64, i64, i64), inits: &[Value]) -> Op {
        let ctx = body.ctx().clone();
        let (lower, upper, step) = bounds;
        let map = |bound: i64| ctx.attr(AttrKind::AffineMap(AffineMap::constant(&ctx, bound)));
        let attrs = [
            ("lowerBoundMap", map(lower)),
            ("upperBoundMap", map(upper)),
            ("step", ctx.index_attr(step)),
            (OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &[0, 0, inits.len() as i64])),
        ];
        let types: Vec<Type> = inits.iter().map(|init| body.value_type(*init)).collect();
        let loc = body.loc(self.packed.loop_op());
        let mut builder = Builder::before(body, at);
        builder.set_loc(loc);
        let mut state = builder.state(affine::ForOp::DEF).operands(inits).results(&types);
        state.set_attrs(&ctx, &attrs);
        builder.insert(state)
    }

    /// Ends the block of a new loop. Its operands follow.
    fn end(&self, body: &mut Body, block: Block, op: Op) -> Op {
        let loc = body.loc(op);
        let mut builder = Builder::new(body, InsertPoint::End(block));
        builder.set_loc(loc);
        let state = builder.state(affine::YieldOp::DEF);
        builder.insert(state)
    }

    pub(super) fn remark(&self, body: &Body, loc: Loc) -> Diagnostic {
        let [parts, tile, rows] = self.shape();
        let element = loomir_ir::text::type_to_string(body.ctx(), self.element);
        let text =
            format!("Packed rows that are summed up into tiles of {parts} x {tile} x {rows} x {element}");
        Remarks { body, pass: PASS.name }.passed("Packed", loc, &text)
    }
}

/// Returns the constant bounds of a loop with step one.
fn bounds(body: &Body, op: Op) -> Option<(i64, i64)> {
    let view = body.op_ref(op);
    let LoopBounds { lower, upper, step, .. } = view.info().interface::<dyn LoopLike>()?.bounds(view);
    let number = |bound: Bound| match bound {
        Bound::Map(subscripts) => subscripts.map.as_single_constant(body.ctx()),
        Bound::Value(_) => None,
    };
    let is_one = matches!(step, Step::Constant(1)) && body.is(op, affine::ForOp::DEF);
    is_one.then_some((number(lower)?, number(upper)?))
}

/// Writes the number of a column before an operation: that of the tile, and that in the tile.
fn sum(body: &mut Body, at: Op, (tile, column): (Value, Value)) -> Op {
    let ctx = body.ctx().clone();
    let sum = AffineExpr::dim(&ctx, 0).add(&ctx, AffineExpr::dim(&ctx, 1));
    let map = [("map", ctx.attr(AttrKind::AffineMap(AffineMap::new(&ctx, 2, 0, &[sum]))))];
    Builder::before(body, at).build(affine::ApplyOp::DEF, &[&[tile, column]], &map, &[Type::INDEX])
}

/// Returns the map of an element of the array, given its column in the tile.
fn element_of(body: &Body, place: usize) -> Attr {
    let ctx = body.ctx();
    let number = |number: usize| AffineExpr::constant(ctx, number as i64);
    let all = [number(place / PART), AffineExpr::dim(ctx, 0), number(place % PART)];
    ctx.attr(AttrKind::AffineMap(AffineMap::new(ctx, 1, 0, &all)))
}
