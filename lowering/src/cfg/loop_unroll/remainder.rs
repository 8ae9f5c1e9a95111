//! Unrolling of loops whose trip count is known at run time only, with a remainder loop.
//!
//! ```text
//!  behind the loop (epilogue)                 before it (prologue)
//!
//!  preheader ─ fewer than count ─┐            preheader ─ none left over ─┐
//!      │                         │                │                       │
//!  unrolled ↺                    │            remainder ↺                 │
//!      │                         │                │                       │
//!  none left over ─┐             │            fewer than count ─┐ <───────┘
//!      │           │             │                │             │
//!  remainder ↺ <───┼─────────────┘            unrolled ↺        │
//!      │           │                              │             │
//!     exit <───────┘                             exit <─────────┘
//! ```
//!
//! With `tc` iterations and `n` copies, `tc mod n` iterations are left over. The number of taken
//! backedges, `tc - 1`, is what is known; `tc` itself may be one more than the greatest word, and
//! is 0 then. All of this is right modulo the width: `tc - (tc mod n)` is a multiple of `n`, and a
//! counter that goes up by `n` meets it at the right time. At the latch only the last copy of the
//! unrolled loop tests; other exits are tested in each copy.
//!
//! **Assumptions.**
//! - The count at the latch's exit is right whenever the loop is left there. If it is left
//!   elsewhere first, each copy tests those exits, and the count doesn't matter.

use loomir_dialects::llvm;
use loomir_ir::{Block, Body, Builder, InsertPoint, Value};
use loomir_transforms::affine::operation::Predicate;

use super::copies::{Copy, forwarding, types_of, unroll};
use super::directives;
use super::shape::{Course, Exit, ExitRule, Shape, edge_to};
use super::weights::Odds;
use crate::cfg::arithmetic::compare;
use crate::cfg::branch::{
    Ending, LOOP_ANNOTATION, Target, end_block, set_successor_operands, successor_operands, targets,
};
use crate::cfg::expander::{Recipe, Writer};

/// The plan of a run-time unrolling.
#[derive(Clone, Debug)]
pub(in crate::cfg) struct Runtime {
    /// The number of copies. At least two.
    pub(in crate::cfg) count: u64,
    /// The number of backedges taken before the latch exits.
    pub(in crate::cfg) backedges: Recipe,
    /// True if the remainder stands behind the loop.
    pub(in crate::cfg) is_epilogue: bool,
    /// True if the remainder is unrolled too.
    pub(in crate::cfg) unrolls_remainder: bool,
}

/// The loops and blocks that were made.
pub(in crate::cfg) struct Unrolled {
    /// The copies of the unrolled loop, the original first.
    pub(in crate::cfg) copies: Vec<Copy>,
    /// The remainder.
    pub(in crate::cfg) remainder: Copy,
    /// Copies of the remainder, if it is unrolled.
    pub(in crate::cfg) again: Vec<Copy>,
    /// Other blocks that were made or changed.
    pub(in crate::cfg) between: Vec<Block>,
}

/// Numbers written before the loop.
struct Numbers {
    /// True if fewer than `count` iterations run.
    are_few: Value,
    /// The number of iterations left over, and true if there are some.
    left: Value,
    is_left: Value,
    /// The number of iterations of the unrolled loop, counted by single ones.
    unrolled: Value,
    width: u32,
}

/// Unrolls a loop whose latch exits. `None` if it does not; then nothing has changed.
pub(in crate::cfg) fn unroll_at_run_time(
    function: &mut Body,
    shape: &Shape,
    plan: &Runtime,
    course: impl Fn(&Exit, u64) -> Course,
) -> Option<Unrolled> {
    let course = |exit: &Exit, number: u64| {
        let is_last = number + 1 == plan.count;
        match exit.block == shape.latch {
            true if is_last => Course::Tests,
            true => Course::Stays,
            false if plan.is_epilogue => course(exit, number),
            // Behind a prologue, copies run other iterations than their number says.
            false if exit.rule == ExitRule::Never => Course::Stays,
            false => Course::Tests,
        }
    };
    with_remainder(function, shape, plan, |function| Some(unroll(function, shape, plan.count, false, course)))
}

/// Gives a loop whose latch exits a remainder. `repeat` makes the copies of the loop's body that
/// one iteration runs, the original first; at the latch, the last of them alone may leave the loop.
/// `None` if the latch does not exit; then nothing has changed.
pub(in crate::cfg) fn with_remainder(
    function: &mut Body,
    shape: &Shape,
    plan: &Runtime,
    repeat: impl FnOnce(&mut Body) -> Option<Vec<Copy>>,
) -> Option<Unrolled> {
    let latch = shape.exits.iter().find(|exit| exit.block == shape.latch)?;
    let test = Test::of(latch)?;
    let last = *shape.blocks.last()?;
    let remainder = Copy::of(function, shape, last);
    let numbers = numbers(function, shape.preheader, plan);
    let odds = Odds::of(function, shape);
    let (copies, between);
    if plan.is_epilogue {
        copies = repeat(function)?;
        between = epilogue(function, shape, &copies, &remainder, &numbers, &test, plan.count)?;
    } else {
        between = prologue(function, shape, &remainder, &numbers, &test)?;
        copies = repeat(function)?;
    }
    if let (Some(odds), [_, behind, _]) = (odds, &between[..]) {
        let tests = if plan.is_epilogue { [shape.preheader, *behind] } else { [*behind, shape.preheader] };
        odds.at_tests(function, tests, plan.count);
        odds.at_latch(function, (copies.last()?.latch, shape.header), plan.count);
        odds.at_remainder(function, (remainder.latch, remainder.header), plan.count);
    }
    let own = remainder.shape(shape, *between.first()?);
    let mut again = Vec::new();
    if plan.unrolls_remainder || plan.count == 2 {
        // At most one iteration fewer than there are copies is left over.
        let most = plan.count - 1;
        again = unroll(function, &own, most, true, |exit, number| {
            match exit.block == own.latch && number + 1 == most {
                true => Course::Leaves,
                false => Course::Tests,
            }
        });
        again.remove(0);
    } else if let Some((branch, _)) = own.backedge(function) {
        directives::mark_unrolled(function, branch);
    }
    Some(Unrolled { copies, remainder, again, between })
}

/// The edges of the latch: out of the loop, and back.
pub(in crate::cfg) struct Test {
    pub(in crate::cfg) out: usize,
    pub(in crate::cfg) back: usize,
}

impl Test {
    /// Returns the edges of an exiting latch. `None` if it has others.
    pub(in crate::cfg) fn of(latch: &Exit) -> Option<Test> {
        Some(Test { out: latch.only_edge(true)?, back: latch.only_edge(false)? })
    }

    /// Returns the predicate of a number and the last one under which the first edge is taken.
    fn predicate(&self) -> Predicate {
        if self.back == 0 { Predicate::Ne } else { Predicate::Eq }
    }

    /// Returns the end of a latch by a condition for its first edge.
    fn ending(&self, condition: Value, back: Target, out: Target) -> Ending {
        Ending::Conditional(condition, if self.back == 0 { [back, out] } else { [out, back] })
    }
}

/// Writes the numbers of iterations before the branch of the preheader.
fn numbers(function: &mut Body, preheader: Block, plan: &Runtime) -> Numbers {
    let point = function.terminator(preheader).map_or(InsertPoint::End(preheader), InsertPoint::Before);
    let mut builder = Builder::new(function, point);
    let mut writer = Writer::new(&mut builder);
    let (width, count) = (plan.backedges.width(), u128::from(plan.count));
    let backedges = writer.write(&plan.backedges);
    let one = writer.constant(width, 1);
    let trips = writer.binary(llvm::AddOp::DEF, backedges, one);
    let divisor = writer.constant(width, count);
    let left = if plan.count.is_power_of_two() {
        let low = writer.constant(width, count - 1);
        writer.binary(llvm::AndOp::DEF, trips, low)
    } else {
        // The trip count itself may be 0, in place of one more than the greatest word.
        let before = writer.binary(llvm::URemOp::DEF, backedges, divisor);
        let next = writer.binary(llvm::AddOp::DEF, before, one);
        writer.binary(llvm::URemOp::DEF, next, divisor)
    };
    let unrolled = writer.binary(llvm::SubOp::DEF, trips, left);
    let least = writer.constant(width, count - 1);
    let zero = writer.constant(width, 0);
    let are_few = compare(writer.builder, Predicate::Ult, backedges, least);
    let is_left = compare(writer.builder, Predicate::Ne, left, zero);
    Numbers { are_few, left, is_left, unrolled, width }
}

/// Gives a loop a counter that starts at zero and goes up by `step`, and lets its latch go on until
/// the counter is `last`. The header has only the edge `entry` besides the backedge. Returns the
/// counter.
pub(in crate::cfg) fn count_to(
    function: &mut Body,
    (header, latch): (Block, Block),
    entry: Block,
    (step, last, width): (u64, Value, u32),
    test: &Test,
) -> Option<Value> {
    let ty = function.value_type(last);
    let counter = function.add_argument(header, ty);
    let (entering, index) = edge_to(function, entry, header)?;
    let mut builder = Builder::new(function, InsertPoint::Before(entering));
    let zero = Writer::new(&mut builder).constant(width, 0);
    let mut operands = successor_operands(function, entering);
    operands[index].push(zero);
    set_successor_operands(function, entering, &operands);
    let branch = function.terminator(latch)?;
    let mut builder = Builder::new(function, InsertPoint::Before(branch));
    let mut writer = Writer::new(&mut builder);
    let step = writer.constant(width, u128::from(step));
    let next = writer.binary(llvm::AddOp::DEF, counter, step);
    let condition = compare(writer.builder, test.predicate(), next, last);
    let annotation = function.attr(branch, LOOP_ANNOTATION);
    let mut ways = targets(function, branch);
    ways[test.back].operands.push(next);
    let out = ways[test.out].clone();
    let back = ways.swap_remove(test.back);
    let ended = end_block(function, latch, &test.ending(condition, back, out));
    if annotation.is_none() {
        function.remove_attr(ended, LOOP_ANNOTATION);
    }
    Some(counter)
}

/// Places the remainder behind the unrolled loop.
fn epilogue(
    function: &mut Body,
    shape: &Shape,
    copies: &[Copy],
    remainder: &Copy,
    numbers: &Numbers,
    test: &Test,
    count: u64,
) -> Option<Vec<Block>> {
    let last = copies.last()?;
    let (entering, index) = edge_to(function, shape.preheader, shape.header)?;
    let initial = successor_operands(function, entering).swap_remove(index);
    // Blocks: the unrolled loop's preheader, the block behind it, and the remainder's preheader.
    let main = function.create_block(function.block_region(shape.header), Some(shape.preheader), &[]);
    end_block(function, main, &Ending::Branch(Target { block: shape.header, operands: initial.clone() }));
    let entry = forwarding(function, remainder.header, last.last);
    let exit = targets(function, function.terminator(last.latch)?).swap_remove(test.out);
    let header_types = types_of(function, shape.header);
    let carried = header_types.len();
    let behind_types = [header_types, types_of(function, exit.block)].concat();
    let behind = function.create_block(function.block_region(main), Some(last.last), &behind_types);
    let arguments: Vec<Value> = function.arguments(behind).collect();
    let (next, out) = arguments.split_at(carried);
    let rest = Target { block: entry, operands: next.to_vec() };
    let done = Target { block: exit.block, operands: out.to_vec() };
    end_block(function, behind, &Ending::Conditional(numbers.is_left, [rest, done]));
    // The unrolled loop counts, and leaves to the block behind.
    let step = (count, numbers.unrolled, numbers.width);
    let ends = (shape.header, last.latch);
    let back = targets(function, function.terminator(last.latch)?).swap_remove(test.back);
    count_to(function, ends, main, step, test)?;
    let branch = function.terminator(last.latch)?;
    let mut operands = successor_operands(function, branch);
    let handed = std::mem::take(&mut operands[test.out]);
    operands[test.out] = [back.operands, handed].concat();
    function.set_successor(branch, test.out, behind);
    set_successor_operands(function, branch, &operands);
    let few = Target { block: entry, operands: initial };
    let many = Target { block: main, operands: Vec::new() };
    end_block(function, shape.preheader, &Ending::Conditional(numbers.are_few, [few, many]));
    Some(vec![entry, behind, main])
}

/// Places the remainder before the loop, which is not unrolled yet.
fn prologue(
    function: &mut Body,
    shape: &Shape,
    remainder: &Copy,
    numbers: &Numbers,
    test: &Test,
) -> Option<Vec<Block>> {
    let (entering, index) = edge_to(function, shape.preheader, shape.header)?;
    let initial = successor_operands(function, entering).swap_remove(index);
    let entry = forwarding(function, remainder.header, shape.preheader);
    let exit = targets(function, function.terminator(shape.latch)?).swap_remove(test.out);
    let header_types = types_of(function, shape.header);
    let exit_types = types_of(function, exit.block);
    let carried = header_types.len();
    let between_types = [header_types, exit_types.clone()].concat();
    let region = function.block_region(shape.header);
    let between = function.create_block(region, Some(remainder.last), &between_types);
    let main = function.create_block(region, Some(between), &[]);
    let arguments: Vec<Value> = function.arguments(between).collect();
    let (next, out) = arguments.split_at(carried);
    let done = Target { block: exit.block, operands: out.to_vec() };
    let on = Target { block: main, operands: Vec::new() };
    end_block(function, between, &Ending::Conditional(numbers.are_few, [done, on]));
    end_block(function, main, &Ending::Branch(Target { block: shape.header, operands: next.to_vec() }));
    // The remainder counts, and leaves to the block between.
    let back = targets(function, function.terminator(remainder.latch)?).swap_remove(test.back);
    let ends = (remainder.header, remainder.latch);
    count_to(function, ends, entry, (1, numbers.left, numbers.width), test)?;
    let branch = function.terminator(remainder.latch)?;
    let mut operands = successor_operands(function, branch);
    let handed = std::mem::take(&mut operands[test.out]);
    operands[test.out] = [back.operands, handed].concat();
    function.set_successor(branch, test.out, between);
    set_successor_operands(function, branch, &operands);
    // Without a remainder, nothing has left the loop yet.
    let mut skipped = initial.clone();
    let branch = function.terminator(shape.preheader)?;
    let mut builder = Builder::new(function, InsertPoint::Before(branch));
    for ty in exit_types {
        let state = builder.state(llvm::PoisonOp::DEF).results(&[ty]);
        skipped.push(builder.value(state));
    }
    let some = Target { block: entry, operands: initial };
    let none = Target { block: between, operands: skipped };
    end_block(function, shape.preheader, &Ending::Conditional(numbers.is_left, [some, none]));
    Some(vec![entry, between, main])
}
