//! A loop run from its last iteration to its first.
//!
//! Its control stays as it is: the counters count as they did, and are tested as they were. What an iteration does with a counter it does with the value of the iteration at the other end: the first and the
//! last value, less what the counter is.
//!
//! ```text
//! header(i):                  header(i):
//!   use i                       r = (start + last) - i
//!   next = i + step             use r
//!   test next                   next = i + step
//!                               test next
//! ```
//!
//! **Soundness.** Words wrap alike in both directions, so each value is there once, in the reverse order. What is handed on from one iteration to the next is counters alone, and what is handed out is what does
//! not change, or the last value of a counter, which is the same. A counter that no test looks at may be poison where it wraps: it has no flags any more then, and what it starts with is frozen, as it
//! is used twice. Whether iterations may run in another order is for their accesses to say.
//!
//! **Cost.** Linear in the loop and the uses of its counters; loops are of bounded size.

use hashbrown::HashSet;
use loomir_dialects::arith::constant::Numbers;
use loomir_dialects::interp::integer::signed;
use loomir_dialects::llvm;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Block, Body, Builder, InsertPoint, Op, Trait, Value};
use loomir_transforms::affine::{AffineForm, Atom};
use loomir_transforms::legality::ApprovedPlan;

use super::candidate::Candidate;
use super::expander::{binary, is_computable, number, width};
use super::rewire::{Plan, split};
use crate::cfg::Analysis;
use crate::cfg::branch::{set_successor_operands, successor_operands, targets};

/// Most operations of a loop that runs backwards, or of a nest of which two loops change places.
pub(super) const MAX_OPS: usize = 512;
/// Most operations that a test is computed of.
const MAX_CONTROL: usize = 32;

/// How a loop runs backwards.
pub(super) struct Reversed {
    counters: Vec<Counter>,
}

/// An argument of the header that counts, and is used otherwise too.
struct Counter {
    argument: Value,
    /// Its place among the arguments.
    index: usize,
    width: u32,
    /// What makes the next value.
    increment: Op,
    start: Value,
    /// What it starts with, and by how much the last value is greater.
    first: AffineForm,
    way: AffineForm,
    /// Whether the loop decides by it, so that it is no poison.
    is_tested: bool,
    /// Where it is used otherwise, and where what comes next is.
    uses: Vec<(Op, usize)>,
    next_uses: Vec<(Op, usize)>,
}

impl Counter {
    /// The first value and the last one.
    fn ends(&self) -> Option<AffineForm> {
        self.first.times(2)?.plus(&self.way, 1)
    }

    fn must_freeze(&self) -> bool {
        !self.is_tested && self.first.as_constant().is_none()
    }

    /// The first value and the last one, together, at the end of a block in front of the loop.
    fn write_ends(&self, function: &mut Body, of: &Candidate, above: Block) -> Option<Value> {
        let (ends, point) = (self.ends()?, InsertPoint::Before(function.terminator(above)?));
        let entering = function.terminator(of.preheader)?;
        let mut builder = Builder::new(function, point);
        if !self.must_freeze() {
            return Some(number(&mut builder, &ends, self.width));
        }
        let ty = builder.body().value_type(self.start);
        let state = builder.state(llvm::FreezeOp::DEF).operands(&[self.start]).results(&[ty]);
        let start = builder.value(state);
        let way = number(&mut builder, &self.way, self.width);
        let last = binary(&mut builder, llvm::AddOp::DEF, start, way);
        let ends = binary(&mut builder, llvm::AddOp::DEF, start, last);
        let mut operands = successor_operands(function, entering);
        *operands.first_mut()?.get_mut(self.index)? = start;
        set_successor_operands(function, entering, &operands);
        Some(ends)
    }
}

impl Reversed {
    /// How a loop runs backwards whose last iteration has this number, as far as that is a question of values. Nothing if more than counters is handed on, or out.
    pub(super) fn of(
        function: &Body,
        analysis: &Analysis,
        of: &Candidate,
        last: &AffineForm,
    ) -> Option<Reversed> {
        if analysis.blocks_in(of.id).flat_map(|block| function.ops(block)).nth(MAX_OPS).is_some() {
            return None;
        }
        let inside: HashSet<Block> = analysis.blocks_in(of.id).collect();
        let is_inside = |op: Op| function.block_of(op).is_some_and(|block| inside.contains(&block));
        let is_from_inside =
            |value: Value| function.value_block(value).is_some_and(|block| inside.contains(&block));
        let latch = function.terminator(of.latch)?;
        let (back, out) = split(targets(function, latch), of.header)?;
        let entering = successor_operands(function, function.terminator(of.preheader)?).swap_remove(0);
        let condition = function.operand(latch, 0);
        let control = control(function, condition, of.header, &is_from_inside)?;
        let mut counters = Vec::new();
        // What is as it was when the loop is over.
        let mut lasting: HashSet<Value> = HashSet::new();
        for (index, argument) in function.arguments(of.header).enumerate() {
            if function.uses(argument).next().is_none() {
                continue;
            }
            let (start, next) = (*entering.get(index)?, *back.operands.get(index)?);
            let (increment, step) = increment(function, argument, next)?;
            let width = width(function, argument).filter(|width| *width <= 64)?;
            let is_control = |op: Op| op == increment || op == latch || control.contains(&op);
            let others = |value: Value| {
                let all = function.uses(value).filter(|used| is_inside(used.op) && !is_control(used.op));
                all.map(|used| (used.op, used.index)).collect::<Vec<_>>()
            };
            let (uses, next_uses) = (others(argument), others(next));
            lasting.extend([argument, next]);
            if uses.is_empty() && next_uses.is_empty() {
                continue;
            }
            let first = match integer(function, start) {
                Some(number) => AffineForm::constant(number),
                None => AffineForm::atom(Atom::Param(start)),
            };
            let way = last.times(step)?;
            let decides = function.defining_op(condition).filter(|op| function.is(*op, llvm::ICmpOp::DEF));
            let is_tested = decides
                .is_some_and(|op| function.operands(op).any(|value| value == argument || value == next));
            let counter =
                Counter { argument, index, width, increment, start, first, way, is_tested, uses, next_uses };
            if ![counter.ends()?, counter.way.clone()].iter().all(|form| is_computable(function, form)) {
                return None;
            }
            counters.push(counter);
        }
        // What decides is counters, and is used for nothing else.
        let is_control = |op: Op| op == latch || control.contains(&op);
        for op in &control {
            let mut results = function.results(*op).filter(|value| !lasting.contains(value));
            if results.any(|value| function.uses(value).any(|used| !is_control(used.op))) {
                return None;
            }
        }
        // Nothing else is handed out.
        for (argument, value) in function.arguments(of.exit).zip(&out.operands) {
            let is_used = function.uses(argument).next().is_some();
            if is_used && is_from_inside(*value) && !lasting.contains(value) {
                return None;
            }
        }
        for block in &inside {
            let results = |op| function.results(op);
            for value in function.arguments(*block).chain(function.ops(*block).flat_map(results)) {
                if !lasting.contains(&value) && !function.uses(value).all(|used| is_inside(used.op)) {
                    return None;
                }
            }
        }
        Some(Reversed { counters })
    }

    /// The values that have to be there in front of the loop.
    pub(super) fn needs(&self) -> impl Iterator<Item = Value> + '_ {
        self.counters.iter().flat_map(|counter| {
            let mut values = Vec::new();
            counter.first.each_parameter(&mut |value| values.push(value));
            counter.way.each_parameter(&mut |value| values.push(value));
            values
        })
    }

    /// Lets the loop run backwards, as the judge approved; what it needs for that is computed at the end of `above`.
    pub(super) fn write(&self, function: &mut Body, of: &Candidate, above: Block, _: &ApprovedPlan<Plan>) {
        for counter in &self.counters {
            let Some(ends) = counter.write_ends(function, of, above) else { continue };
            let point = match function.first_op(of.header) {
                Some(first) => InsertPoint::Before(first),
                None => InsertPoint::End(of.header),
            };
            let mut builder = Builder::new(function, point);
            let reversed = binary(&mut builder, llvm::SubOp::DEF, ends, counter.argument);
            for (op, index) in &counter.uses {
                function.set_operand(*op, *index, reversed);
            }
            if !counter.next_uses.is_empty() {
                let operands: Vec<Value> = function
                    .operands(counter.increment)
                    .map(|value| if value == counter.argument { reversed } else { value })
                    .collect();
                let is_sum = function.is(counter.increment, llvm::AddOp::DEF);
                let def = if is_sum { llvm::AddOp::DEF } else { llvm::SubOp::DEF };
                let mut builder = Builder::new(function, InsertPoint::Before(counter.increment));
                let next = binary(&mut builder, def, operands[0], operands[1]);
                for (op, index) in &counter.next_uses {
                    function.set_operand(*op, *index, next);
                }
            }
            if !counter.is_tested {
                function.remove_attr(counter.increment, "overflowFlags");
            }
        }
    }
}

/// The operations of a loop that a condition is computed of, from the arguments of its header and what comes from outside.
fn control(
    function: &Body,
    condition: Value,
    header: Block,
    is_from_inside: &dyn Fn(Value) -> bool,
) -> Option<Vec<Op>> {
    let mut found: Vec<Op> = Vec::new();
    let mut pending = vec![condition];
    while let Some(value) = pending.pop() {
        if !is_from_inside(value) {
            continue;
        }
        let Some(op) = function.defining_op(value) else {
            if function.value_block(value) == Some(header) { continue } else { return None }
        };
        if found.contains(&op) {
            continue;
        }
        if found.len() == MAX_CONTROL || !function.has_trait(op, Trait::Pure) {
            return None;
        }
        found.push(op);
        pending.extend(function.operands(op));
    }
    Some(found)
}

/// The operation that adds a number to an argument, and the number.
pub(super) fn increment(function: &Body, argument: Value, next: Value) -> Option<(Op, i64)> {
    let op = function.defining_op(next)?;
    let is_sum = function.is(op, llvm::AddOp::DEF);
    if !is_sum && !function.is(op, llvm::SubOp::DEF) {
        return None;
    }
    let [a, b] = [0, 1].map(|index| function.operand(op, index));
    let step = match is_sum {
        _ if a == argument => integer(function, b)?,
        true if b == argument => integer(function, a)?,
        _ => return None,
    };
    Some((op, if is_sum { step } else { step.checked_neg()? }))
}

/// The number that an integer is, read as signed.
pub(super) fn integer(function: &Body, value: Value) -> Option<i64> {
    let width = width(function, value)?;
    match Numbers::of(function.ctx(), constant_of(function, value)?)? {
        Numbers::One(bits) => i64::try_from(signed(width, bits)).ok(),
        Numbers::Many(_) => None,
    }
}
