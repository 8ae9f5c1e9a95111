//! Writes the loops over tiles of sizes that are values.
//!
//! Sizes and trip counts are numbers of iterations of type `index`. A size is at most the trip
//! count of its loop, so that no product with the number of a tile exceeds it.

use loomir_dialects::interfaces::{LoopBounds, LoopLike, Step};
use loomir_dialects::{affine, arith, scf};
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Body, Builder, InsertPoint, Op, OperationState, Type, Value, ValueDef};

use super::Size;
use crate::access::loop_bounds::{constant, constant_bound, value_bound};
use crate::access::updates::reduction::drop_poison_flags;
use crate::affine::classes::may_be_poison;
use crate::iterations::{Index, Writer};
use crate::legality::Permutable;
use crate::transform::LoopRef;

/// Returns the reason why a perfect nest cannot be tiled, if it is not about dependences.
pub(super) fn obstacle(nest: &LoopRef<'_>, sizes: &[Size]) -> Option<&'static str> {
    let body = nest.body();
    let loops: Vec<Op> = nest.nest_ops().collect();
    if nest.nest_depth() < sizes.len() {
        return Some("it is no perfect nest of as many loops as there are sizes");
    }
    if nest.nest_carries_values() {
        return Some("a loop of the nest carries values from one iteration to the next");
    }
    if nest.nest_is_parallel() {
        return Some("a loop of the nest is parallel, and would become sequential");
    }
    for (own, size) in loops.iter().zip(sizes).filter(|(_, size)| **size != Size::Number(0)) {
        if let Some(why) = of_loop(body, *own, nest.op()) {
            return Some(why);
        }
        match size {
            Size::Value(value) if !is_number(body.value_type(*value), body) => {
                return Some("a size is no integer of at most 64 bits");
            }
            Size::Value(value) if !is_known_before(body, *value, nest.op()) => {
                return Some("a size is not computed before the nest");
            }
            Size::Value(value) if may_be_poison(body, *value, true) => {
                return Some("a size may be poison");
            }
            _ => {}
        }
    }
    None
}

/// Returns the reason why one loop of a nest cannot be tiled.
fn of_loop(body: &Body, own: Op, outermost: Op) -> Option<&'static str> {
    let view = body.op_ref(own);
    let model = view.info().interface::<dyn LoopLike>().filter(|_| body.is(own, scf::ForOp::DEF));
    let Some(model) = model else {
        return Some("a loop of the nest is no 'scf.for'; 'lower-affine' makes one");
    };
    if model.is_unsigned(view) {
        return Some("a loop of the nest compares its counter as unsigned");
    }
    let LoopBounds { lower, upper, step } = model.bounds(view);
    if constant_bound(body, &lower).is_none_or(|lower| lower < 0) {
        return Some("a loop of the nest begins at no constant, or at a negative one");
    }
    let step = match step {
        Step::Constant(step) => Some(step),
        Step::Value(value) => constant(body, value),
    };
    if step.is_none_or(|step| step < 1) {
        return Some("the step of a loop of the nest is no constant");
    }
    let Some(end) = value_bound(body, &upper) else { return Some("a loop of the nest has several ends") };
    if !is_number(body.value_type(end), body) {
        return Some("a loop of the nest counts in more than 64 bits");
    }
    if constant_of(body, end).is_none() && body.is_defined_within(end, outermost) {
        return Some("the end of a loop of the nest is computed inside the nest");
    }
    may_be_poison(body, end, true).then_some("the end of a loop of the nest may be poison")
}

/// True for `index` and for integers of at most 64 bits.
fn is_number(ty: Type, body: &Body) -> bool {
    ty == Type::INDEX || ty.integer_width(body.ctx()).is_some_and(|width| width <= 64)
}

/// True if a value is known before an operation.
fn is_known_before(body: &Body, value: Value, op: Op) -> bool {
    let (block, by) = match body.def(value) {
        ValueDef::BlockArgument { block, .. } => (Some(block), None),
        ValueDef::OpResult { op, .. } => (body.block_of(op), Some(op)),
    };
    let around = block.and_then(|block| body.ancestor_in_block(op, block));
    around.is_some_and(|around| by.is_none_or(|by| by != around && body.is_before_in_block(by, around)))
}

/// The tiles of one loop.
struct Tiles {
    own: Op,
    lower: Index,
    step: Index,
    /// The trip count.
    count: Value,
    /// The iterations of a tile.
    size: Value,
    /// The number of tiles.
    tiles: Value,
}

/// Writes loops over tiles around a nest, and the bounds of the loops inside a tile. Returns the
/// loops over tiles.
pub(super) fn tiles(body: &mut Body, nest: &[Op], sizes: &[Size], permutable: &Permutable) -> Vec<Op> {
    let outermost = nest[0];
    let mut writer = Writer::before(body, outermost);
    let all: Vec<Tiles> =
        permutable.tiled().iter().map(|at| Tiles::of(&mut writer, nest[*at], sizes[*at])).collect();
    let [zero, one] = [0, 1].map(|number| writer.value(Index::Number(number)));
    let mut loops = Vec::new();
    for tiles in all {
        let (own, tile) = over_tiles(body, outermost, [zero, tiles.tiles, one]);
        tiles.write(body, outermost, tile);
        loops.push(own);
    }
    permutable.reordered().iter().for_each(|step| drop_poison_flags(body, *step));
    loops
}

impl Tiles {
    fn of(writer: &mut Writer<'_>, own: Op, size: Size) -> Tiles {
        let view = writer.body.op_ref(own);
        let model = view.info().interface::<dyn LoopLike>();
        let bounds = model.unwrap_or_else(|| unreachable!("an 'scf.for' is a loop")).bounds(view);
        let lower = writer.bound(&bounds.lower, affine::MaxOp::DEF);
        let step = writer.step(bounds.step);
        let count = writer.trip_count(&bounds, lower, step);
        let given = match size {
            Size::Number(number) => Index::Number(number),
            Size::Value(value) => writer.index(value),
        };
        // From 1 to the trip count, or 1 if that is 0.
        let at_least_one = writer.compute(arith::MaxSIOp::DEF, &[given, Index::Number(1)]);
        let most = writer.compute(arith::MaxSIOp::DEF, &[count, Index::Number(1)]);
        let size = writer.compute(arith::MinSIOp::DEF, &[Index::Value(at_least_one), Index::Value(most)]);
        let tiles = writer.compute(arith::CeilDivUIOp::DEF, &[count, Index::Value(size)]);
        let count = writer.value(count);
        Tiles { own, lower, step, count, size, tiles }
    }

    /// Writes the bounds of the loop inside tile number `tile`, before `at`.
    fn write(&self, body: &mut Body, at: Op, tile: Value) {
        let Tiles { own, lower, step, count, size, .. } = *self;
        let ty = body.value_type(body.operand(own, 0));
        let mut writer = Writer::before(body, at);
        let mut compute = |def, a, b| Index::Value(writer.compute(def, &[a, b]));
        let first = compute(arith::MulIOp::DEF, Index::Value(tile), Index::Value(size));
        let left = compute(arith::SubIOp::DEF, Index::Value(count), first);
        let length = compute(arith::MinSIOp::DEF, left, Index::Value(size));
        let mut times = |number, by: Index| match by {
            Index::Number(1) => number,
            by => compute(arith::MulIOp::DEF, number, by),
        };
        let (first, most) = (times(first, step), times(length, step));
        let begin = match lower {
            Index::Number(0) => first,
            lower => compute(arith::AddIOp::DEF, first, lower),
        };
        // With a greater step, the end may be behind that of the loop, and beyond the type.
        let end = match step {
            Index::Number(1) => compute(arith::AddIOp::DEF, begin, most),
            step => {
                let last = compute(arith::SubIOp::DEF, most, step);
                let last = compute(arith::AddIOp::DEF, begin, last);
                compute(arith::AddIOp::DEF, last, Index::Number(1))
            }
        };
        for (operand, bound) in [(0, begin), (1, end)] {
            let mut value = writer.value(bound);
            if ty != Type::INDEX {
                let cast = writer.make(arith::IndexCastOp::DEF, &[value], &[ty]);
                value = writer.body.result(cast, 0);
            }
            writer.body.set_operand(own, operand, value);
        }
    }
}

/// Writes a loop around `inside`. Returns it and its variable.
fn over_tiles(body: &mut Body, inside: Op, bounds: [Value; 3]) -> (Op, Value) {
    let (ctx, loc) = (body.ctx().clone(), body.loc(inside));
    let state = OperationState::of(&ctx, scf::ForOp::DEF, loc).operands(&bounds).regions(1);
    let new = Builder::before(body, inside).insert(state);
    let region = body.region(new, 0);
    let block = body.append_block(region, &[]);
    let variable = body.add_argument(block, Type::INDEX);
    let end = OperationState::of(&ctx, scf::YieldOp::DEF, loc);
    let end = Builder::new(body, InsertPoint::End(block)).insert(end);
    body.move_before(inside, end);
    (new, variable)
}
