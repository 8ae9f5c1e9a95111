//! The loop that a nest of two becomes.
//!
//! ```text
//!     preheader ─ too many, or none? ──┐
//!         │                            │
//!     ┌─> outer                    the nest ↺
//!     │   inner                        │
//!     └── aft ──> exit <───────────────┘
//! ```
//!
//! With `n` and `m` iterations of the two loops, the new one runs `n · m` times, by a counter of
//! its own. What is known is `n - 1` and `m - 1`. A counter of `w` bits counts up to `2ʷ`
//! iterations: its end is 0 then, which it meets at the right time. Where there may be more, the
//! test is that both numbers are below `2^(w / 2)`, so that `n · m` is `2ʷ` at most.
//!
//! **Cost.** Linear in the nest.

use hashbrown::HashSet;
use loomir_dialects::interp::integer::signed;
use loomir_dialects::llvm;
use loomir_ir::{Block, Body, Builder, InsertPoint, Op, Value};
use loomir_transforms::affine::operation::Predicate;

use super::nest::{Computed, Nest, Number};
use crate::cfg::arithmetic::{address, binary, compare, resized};
use crate::cfg::branch::{
    Ending, Target, branches_into, change_operands, end_block, forget_annotation, successor_operands, targets,
};
use crate::cfg::expander::Writer;
use crate::cfg::loop_unroll::copies::{Copy, forwarding};
use crate::cfg::loop_unroll::remainder::{Test, count_to};
use crate::cfg::loop_unroll::shape::edge_to;
use crate::cfg::loop_unroll::weights::Odds;

/// The blocks that were made or changed, in their order, and the headers of loops that stay as they
/// are.
pub(super) struct Made {
    pub(super) blocks: Vec<Block>,
    pub(super) headers: Vec<Block>,
}

/// Numbers written before the loop.
struct Numbers {
    /// The number of all iterations, modulo the width of the counter.
    all: Value,
    /// The number of iterations of the inner loop, as a divisor.
    trips: Value,
    /// True if there are iterations, and not too many, unless that is known.
    fits: Option<Value>,
    /// The start and the step of each computed value.
    parts: Vec<(Value, Value)>,
}

/// Flattens a nest. `None` if its blocks have other edges than its shape says; then nothing has
/// changed.
pub(super) fn flatten(function: &mut Body, nest: &Nest) -> Option<Made> {
    let (outer, inner) = (&nest.outer, &nest.inner);
    let test = Test::of(outer.exits.first()?)?;
    let leaving = inner.exits.first()?.only_edge(true)?;
    let (entering, index) = edge_to(function, outer.preheader, outer.header)?;
    let initial = successor_operands(function, entering).swap_remove(index);
    let odds = Odds::of(function, outer).zip(Odds::of(function, inner));
    let last = *outer.blocks.last()?;
    let beside = nest.is_kept().then(|| Copy::of(function, outer, last));
    let numbers = numbers(function, nest);
    let (mut entry, mut behind, mut headers) = (outer.preheader, Vec::new(), Vec::new());
    if let (Some(copy), Some(fits)) = (&beside, numbers.fits) {
        entry = function.create_block(function.block_region(outer.header), Some(outer.preheader), &[]);
        let to = Target { block: outer.header, operands: initial.clone() };
        end_block(function, entry, &Ending::Branch(to));
        let other = forwarding(function, copy.header, last);
        let ways =
            [Target { block: entry, operands: Vec::new() }, Target { block: other, operands: initial }];
        end_block(function, outer.preheader, &Ending::Conditional(fits, ways));
        behind.push(other);
        behind.extend(outer.blocks.iter().map(|block| copy.block(*block)));
        headers.push(copy.header);
        headers.extend(nest.headers.iter().map(|header| copy.block(*header)));
        // Without a test of the number, the inner loop does not run in the copy.
        if let Some(guard) = nest.guard.filter(|_| !nest.is_tested) {
            lead(function, copy.block(guard.block), 1 - guard.enters)?;
        }
    }
    if let Some(guard) = nest.guard {
        lead(function, guard.block, guard.enters)?;
    }
    let counter =
        count_to(function, (outer.header, outer.latch), entry, (1, numbers.all, nest.width), &test)?;
    write_values(function, nest, counter, &numbers);
    // The inner loop runs once, and the outer one as often as both did.
    let branch = lead(function, inner.latch, leaving)?;
    forget_annotation(function, branch);
    forget_arguments(function, nest, entry, counter);
    if let Some((branch, _)) = edge_to(function, outer.latch, outer.header) {
        nest.said.write(function, branch);
    }
    if let Some((own, inside)) = odds {
        own.or(inside).at_latch(function, (outer.latch, outer.header), 1);
    }
    let first = [outer.preheader, entry];
    let first = first.into_iter().take(if nest.is_kept() { 2 } else { 1 });
    let blocks = first.chain(outer.blocks.iter().copied()).chain(behind).collect();
    Some(Made { blocks, headers })
}

/// Lets a block end with a branch along one of its edges.
fn lead(function: &mut Body, block: Block, edge: usize) -> Option<Op> {
    let to = targets(function, function.terminator(block)?).swap_remove(edge);
    Some(end_block(function, block, &Ending::Branch(to)))
}

/// Writes the numbers of iterations before the branch of the preheader, and the starts and steps of
/// computed values.
fn numbers(function: &mut Body, nest: &Nest) -> Numbers {
    let preheader = nest.outer.preheader;
    let point = function.terminator(preheader).map_or(InsertPoint::End(preheader), InsertPoint::Before);
    let mut builder = Builder::new(function, point);
    let mut writer = Writer::new(&mut builder);
    let width = nest.width;
    let [outer, inner] = nest.backedges.each_ref().map(|count| writer.write(count));
    let mut parts = Vec::new();
    for own in &nest.computed {
        parts.push((writer.write(&own.start), writer.write(&own.step)));
    }
    let [outer, inner] = [outer, inner].map(|count| resized(writer.builder, count, width));
    let one = writer.constant(width, 1);
    let [outer_trips, trips] = [outer, inner].map(|count| writer.binary(llvm::AddOp::DEF, count, one));
    let all = writer.binary(llvm::MulOp::DEF, outer_trips, trips);
    // A number that was poison may be any now, and the loop begins before that is noticed.
    let trips = match nest.computed.iter().any(|own| own.number != Number::Iteration) {
        true => writer.binary(llvm::UMaxOp::DEF, trips, one),
        false => trips,
    };
    let mut fits = nest.is_tested.then(|| {
        let both = writer.binary(llvm::OrOp::DEF, outer, inner);
        let end = writer.constant(width, 1 << (width / 2));
        compare(writer.builder, Predicate::Ult, both, end)
    });
    if let Some(guard) = nest.guard {
        let mut runs = guard.condition;
        if guard.enters == 1 {
            let yes = writer.constant(1, 1);
            runs = writer.binary(llvm::XOrOp::DEF, runs, yes);
        }
        fits = Some(fits.map_or(runs, |fits| writer.binary(llvm::AndOp::DEF, runs, fits)));
    }
    Numbers { all, trips, fits, parts }
}

/// Writes the values that are computed from the counter at the start of the loop, in place of the
/// old ones.
fn write_values(function: &mut Body, nest: &Nest, counter: Value, numbers: &Numbers) {
    let mut builder = Builder::new(function, InsertPoint::Start(nest.outer.header));
    let has = |number: Number| nest.computed.iter().any(|own| own.number == number);
    let mut divided =
        |number: Number, def| has(number).then(|| binary(&mut builder, def, counter, numbers.trips));
    let quotient = divided(Number::Quotient, llvm::UDivOp::DEF);
    let rest = divided(Number::Rest, llvm::URemOp::DEF);
    for (own, (start, step)) in nest.computed.iter().zip(&numbers.parts) {
        let Computed { value, base, number, .. } = own;
        let number = match number {
            Number::Iteration => Some(counter),
            Number::Quotient => quotient,
            Number::Rest => rest,
        };
        let Some(number) = number else { continue };
        let number = resized(&mut builder, number, own.step.width());
        let is_from_zero = own.start.as_constant() == Some(0);
        // An address that goes on by a few bytes each time has these as its unit. With `inbounds`
        // this would promise that no product wraps.
        let step_of = own.step.as_constant().map(|step| signed(own.step.width(), step));
        let unit = step_of.and_then(|step| u32::try_from(step).ok());
        let is_plain = base.is_some_and(|(_, flags)| flags == 0) && is_from_zero;
        let unit = unit.filter(|unit| *unit > 0 && is_plain).unwrap_or(1);
        let mut index = number;
        if unit == 1 && own.step.as_constant() != Some(1) {
            index = binary(&mut builder, llvm::MulOp::DEF, number, *step);
        }
        if !is_from_zero {
            index = binary(&mut builder, llvm::AddOp::DEF, *start, index);
        }
        let new = base.map_or(index, |(base, flags)| address(&mut builder, base, (index, unit), flags));
        builder.body().replace_all_uses(*value, new);
    }
}

/// Erases the arguments of the header that nothing needs any more.
fn forget_arguments(function: &mut Body, nest: &Nest, entry: Block, counter: Value) {
    let header = nest.outer.header;
    let arguments: Vec<Value> = function.arguments(header).collect();
    let goes = |(index, own): &(usize, &Value)| !nest.kept.contains(index) && **own != counter;
    let gone: HashSet<usize> = arguments.iter().enumerate().filter(goes).map(|(index, _)| index).collect();
    for index in &gone {
        let point = function.terminator(entry).map_or(InsertPoint::End(entry), InsertPoint::Before);
        let ty = function.value_type(arguments[*index]);
        let mut builder = Builder::new(function, point);
        let state = builder.state(llvm::PoisonOp::DEF).results(&[ty]);
        let poison = builder.value(state);
        function.replace_all_uses(arguments[*index], poison);
    }
    let branches = branches_into(function, [header]);
    change_operands(function, &branches, |_, _, to, operands| {
        if to == header {
            let mut index = 0;
            operands.retain(|_| {
                index += 1;
                !gone.contains(&(index - 1))
            });
        }
    });
    let mut gone: Vec<usize> = gone.into_iter().collect();
    gone.sort_unstable();
    gone.iter().rev().for_each(|index| function.erase_argument(header, *index));
}
