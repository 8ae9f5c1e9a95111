//! Two loops, one of which is all of the other, in the other order.
//!
//! The graph stays as it is. Each loop counts from zero as often as the other one did, and is tested by that alone. What counted is computed of it where the inner loop begins, and what the outer one computed behind that.
//!
//! ```text
//! outer(i):                   outer(c):
//!   x = f(i)                    inner(d):
//!   inner(j):                     i = start + d · step
//!     g(x, j)                     x = f(i)
//!     j ↺ 'til last of inner      j = start + c · step
//!   i ↺ 'til last of outer        g(x, j)
//!                                 d ↺ 'til last of outer
//!                               c ↺ 'til last of inner
//! ```
//!
//! **Soundness.** Nothing of the outer loop but the inner one touches memory or can be undefined, and the inner one runs equally often each time; so the same pairs of iterations run. What is handed on from one iteration to the next is counters
//! alone, which wrap as they did, and nothing is handed out. Both loops run at least once, so both tests were made: the numbers that are compared with are no poison. Whether iterations may run in another order is for their accesses
//! to say.
//!
//! **Cost.** Linear in the nest; nests are of bounded size.

use std::cmp::Ordering;

use hashbrown::HashSet;
use loomir_dialects::llvm;
use loomir_ir::{Block, Body, Builder, InsertPoint, Op, Value};
use loomir_transforms::affine::operation::Predicate;
use loomir_transforms::affine::{AffineForm, Atom};
use loomir_transforms::legality::ApprovedPlan;

use super::candidate::Candidate;
use super::expander::{binary, compare, is_computable, number, width};
use super::reverse::{MAX_OPS, increment, integer};
use super::rewire::{Plan, common_annotation, erase_dead, split};
use crate::cfg::Analysis;
use crate::cfg::branch::{LOOP_ANNOTATION, set_successor_operands, successor_operands, targets};
use crate::cfg::effects::is_speculatable;

/// Most blocks of straight code in front of the inner loop, or behind it.
const MAX_STRAIGHT: usize = 16;

/// How two loops change places.
pub(super) struct Interchange {
    outer: Counted,
    inner: Counted,
    /// What of the outer loop the inner one uses, in order.
    moved: Vec<Op>,
    /// All else of the outer loop that ends no block.
    gone: Vec<Op>,
    /// The blocks of the inner loop.
    within: HashSet<Block>,
}

/// A loop that hands on nothing but counters.
struct Counted {
    preheader: Block,
    header: Block,
    latch: Block,
    /// The number of its last iteration.
    last: AffineForm,
    /// A width of words in which that is a number.
    width: u32,
    counters: Vec<Counter>,
}

/// An argument of a header that counts.
struct Counter {
    /// Its place among the arguments.
    index: usize,
    start: Start,
    step: i64,
}

/// What a counter starts with.
enum Start {
    /// What is there in front of the nest.
    Ahead(AffineForm),
    /// What is computed in the outer loop.
    Within,
}

impl Counted {
    /// A loop of a nest, whose last iteration has this number, if it hands on nothing but counters. What is defined in the nest is said by `is_within`.
    fn of(
        function: &Body,
        of: &Candidate,
        last: &AffineForm,
        is_within: &dyn Fn(Value) -> bool,
    ) -> Option<Counted> {
        let (back, out) = split(targets(function, function.terminator(of.latch)?), of.header)?;
        if out.operands.iter().any(|value| is_within(*value)) || !is_computable(function, last) {
            return None;
        }
        let starts = successor_operands(function, function.terminator(of.preheader)?).into_iter().next()?;
        let (mut counters, mut most) = (Vec::new(), None);
        for (index, argument) in function.arguments(of.header).enumerate() {
            if function.uses(argument).next().is_none() {
                continue;
            }
            let (start, next) = (*starts.get(index)?, *back.operands.get(index)?);
            let (_, step) = increment(function, argument, next)?;
            most = most.max(Some(width(function, argument).filter(|width| *width <= 64)?));
            let start = match integer(function, start) {
                Some(number) => Start::Ahead(AffineForm::constant(number)),
                None if is_within(start) => Start::Within,
                None => Start::Ahead(AffineForm::atom(Atom::Param(start))),
            };
            counters.push(Counter { index, start, step });
        }
        // What decides is made of these: they would be as they were after so many iterations as the widest has values.
        let Candidate { preheader, header, latch, .. } = *of;
        Some(Counted { preheader, header, latch, last: last.clone(), width: most?, counters })
    }

    /// Makes an argument that was added to the header count from zero to a number, and all else decide nothing. Returns what did.
    fn count_to(&self, function: &mut Body, counter: Value, last: Value, above: Op) -> Option<Vec<Value>> {
        let wide = width(function, last)?;
        let mut builder = Builder::new(function, InsertPoint::Before(above));
        let [zero, one] = [0, 1].map(|value| number(&mut builder, &AffineForm::constant(value), wide));
        let latch = function.terminator(self.latch)?;
        let decided = function.operand(latch, 0);
        let goes_on_first = function.successors(latch).next() == Some(self.header);
        let mut builder = Builder::new(function, InsertPoint::Before(latch));
        let next = binary(&mut builder, llvm::AddOp::DEF, counter, one);
        let predicate = if goes_on_first { Predicate::Ne } else { Predicate::Eq };
        let condition = compare(&mut builder, predicate, counter, last);
        function.set_operand(latch, 0, condition);
        let mut operands = successor_operands(function, latch);
        let mut old = std::mem::replace(operands.get_mut(usize::from(!goes_on_first))?, vec![next]);
        set_successor_operands(function, latch, &operands);
        set_successor_operands(function, function.terminator(self.preheader)?, &[vec![zero]]);
        old.push(decided);
        Some(old)
    }

    /// What its counters were, by the number of the iteration, and what they start with, where they are used.
    fn counters(&self, function: &mut Body, by: Value, starts: &[Value], (at, above): (Op, Op)) {
        for counter in &self.counters {
            let argument = function.argument(self.header, counter.index);
            let Some(wanted) = width(function, argument) else { continue };
            let ahead = InsertPoint::Before(above);
            let start = match &counter.start {
                Start::Ahead(form) if form.as_constant() == Some(0) => None,
                Start::Ahead(form) => Some(number(&mut Builder::new(function, ahead), form, wanted)),
                Start::Within => starts.get(counter.index).copied(),
            };
            let step = AffineForm::constant(counter.step);
            let step = (counter.step != 1).then(|| number(&mut Builder::new(function, ahead), &step, wanted));
            let ty = function.value_type(argument);
            let mut builder = Builder::new(function, InsertPoint::Before(at));
            let mut value = by;
            if width(builder.body(), by).map(|own| own.cmp(&wanted)) == Some(Ordering::Greater) {
                let state = builder.state(llvm::TruncOp::DEF).operands(&[by]).results(&[ty]);
                value = builder.value(state);
            }
            if let Some(step) = step {
                value = binary(&mut builder, llvm::MulOp::DEF, value, step);
            }
            if let Some(start) = start {
                value = binary(&mut builder, llvm::AddOp::DEF, start, value);
            }
            function.replace_all_uses(argument, value);
        }
    }

    /// The values that have to be there in front of the nest.
    fn needs(&self) -> Vec<Value> {
        let mut values = Vec::new();
        let starts = self.counters.iter().filter_map(|counter| match &counter.start {
            Start::Ahead(form) => Some(form),
            Start::Within => None,
        });
        starts.chain([&self.last]).for_each(|form| form.each_parameter(&mut |value| values.push(value)));
        values
    }

    /// Takes away the arguments of the header that are no longer used, all but the last.
    fn forget_arguments(&self, function: &mut Body) {
        for index in (0..function.num_arguments(self.header).saturating_sub(1)).rev() {
            function.erase_argument(self.header, index);
        }
    }
}

impl Interchange {
    /// How a loop and the one inside change places whose last iterations have these numbers, as far as that is a question of values.
    pub(super) fn of(
        function: &Body,
        analysis: &Analysis,
        [outer, inner]: [&Candidate; 2],
        [last, inner_last]: [&AffineForm; 2],
    ) -> Option<Interchange> {
        if analysis.blocks_in(outer.id).flat_map(|block| function.ops(block)).nth(MAX_OPS).is_some() {
            return None;
        }
        let inside: HashSet<Block> = analysis.blocks_in(outer.id).collect();
        let within: HashSet<Block> = analysis.blocks_in(inner.id).collect();
        let front = straight(function, outer.header, inner.preheader)?;
        let behind = straight(function, inner.exit, outer.latch)?;
        let has_arguments = |block: &Block| function.num_arguments(*block) > 0;
        if front.len() + behind.len() + within.len() != inside.len()
            || front.iter().skip(1).chain(&behind).any(has_arguments)
        {
            return None;
        }
        // Nothing is handed out.
        let is_closed = |value: Value, all: &HashSet<Block>| {
            function
                .uses(value)
                .all(|used| function.block_of(used.op).is_some_and(|block| all.contains(&block)))
        };
        for block in &inside {
            let all = if within.contains(block) { &within } else { &inside };
            let results = function.ops(*block).flat_map(|op| function.results(op));
            if !function.arguments(*block).chain(results).all(|value| is_closed(value, all)) {
                return None;
            }
        }
        let ends = |op: &Op| function.block_of(*op).and_then(|block| function.terminator(block)) == Some(*op);
        let ops = |blocks: &[Block]| {
            blocks.iter().flat_map(|block| function.ops(*block)).filter(|op| !ends(op)).collect::<Vec<Op>>()
        };
        let (front, behind) = (ops(&front), ops(&behind));
        // What is chosen must be chosen once.
        let is_free = |op: &Op| is_speculatable(function, *op) && !function.is(*op, llvm::FreezeOp::DEF);
        if !front.iter().chain(&behind).all(is_free) {
            return None;
        }
        let is_within =
            |value: Value| function.value_block(value).is_some_and(|block| inside.contains(&block));
        let entering = function.terminator(inner.preheader);
        let mut used: HashSet<Op> = HashSet::new();
        for op in front.iter().rev() {
            let is_used = function.results(*op).flat_map(|value| function.uses(value)).any(|own| {
                let is_inner = function.block_of(own.op).is_some_and(|block| within.contains(&block));
                is_inner || Some(own.op) == entering || used.contains(&own.op)
            });
            if is_used {
                used.insert(*op);
            }
        }
        let (moved, mut gone): (Vec<Op>, Vec<Op>) = front.into_iter().partition(|op| used.contains(op));
        gone.extend(behind);
        let (outer, inner) = (
            Counted::of(function, outer, last, &is_within)?,
            Counted::of(function, inner, inner_last, &is_within)?,
        );
        Some(Interchange { outer, inner, moved, gone, within })
    }

    /// The values that have to be there in front of the nest.
    pub(super) fn needs(&self) -> impl Iterator<Item = Value> + '_ {
        [&self.outer, &self.inner].into_iter().flat_map(Counted::needs)
    }

    /// Lets the loops change places, as the judge approved; what they need for that is computed at the end of `above`.
    pub(super) fn write(&self, function: &mut Body, above: Block, _: &ApprovedPlan<Plan>) -> Option<()> {
        let Interchange { outer, inner, moved, gone, within } = self;
        let (above, at) = (function.terminator(above)?, function.first_op(inner.header)?);
        let [test, inner_test] = [outer.latch, inner.latch].map(|block| function.terminator(block));
        let (test, inner_test) = (test?, inner_test?);
        let annotation = common_annotation(function, test, inner_test);
        for op in [test, inner_test] {
            function.remove_attr(op, LOOP_ANNOTATION);
            if let Some(annotation) = annotation {
                function.set_attr(op, LOOP_ANNOTATION, annotation);
            }
        }
        let entering = function.terminator(inner.preheader)?;
        let mut builder = Builder::new(function, InsertPoint::Before(above));
        let lasts = [outer, inner].map(|own| number(&mut builder, &own.last, own.width));
        // The outer one's arguments are there until the end.
        let by_inner = function.add_argument(inner.header, function.value_type(lasts[0]));
        let by_outer = function.add_argument(outer.header, function.value_type(lasts[1]));
        outer.counters(function, by_inner, &[], (at, above));
        moved.iter().for_each(|op| function.move_before(*op, at));
        let starts = successor_operands(function, entering).into_iter().next()?;
        inner.counters(function, by_outer, &starts, (at, above));
        outer.count_to(function, by_outer, lasts[1], above)?;
        let old = inner.count_to(function, by_inner, lasts[0], above)?;
        gone.iter().rev().for_each(|op| function.erase(*op));
        erase_dead(function, old, |function, op| {
            function.block_of(op).is_some_and(|block| within.contains(&block))
        });
        [outer, inner].into_iter().for_each(|own| own.forget_arguments(function));
        Some(())
    }
}

/// The blocks from one to another, if nothing branches there.
fn straight(function: &Body, from: Block, to: Block) -> Option<Vec<Block>> {
    let mut found = vec![from];
    let mut at = from;
    while at != to {
        let mut next = function.block_successors(at);
        at = next.next().filter(|_| next.next().is_none())?;
        found.push(at);
        if found.len() > MAX_STRAIGHT {
            return None;
        }
    }
    Some(found)
}
