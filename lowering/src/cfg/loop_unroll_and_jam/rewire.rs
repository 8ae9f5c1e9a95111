//! The jammed nest: copies of the outer loop's body whose parts run one after the other.
//!
//! ```text
//!      ┌─> fore ─> fore' ─┐                each part has arguments for all copies:
//!      │                  v                the inner loop carries the values of both,
//!      │     ┌─> sub ─> sub' ─┐            and hands both on
//!      │     └────────────────┤
//!      │                      v
//!      └───────────── aft ─> aft' ─> exit
//! ```
//!
//! **Invariants.** Nothing is rewired but what the judge approved.
//!
//! **Cost.** Linear in the blocks that are written.

use loomir_ir::{Block, Body};
use loomir_transforms::legality::ApprovedPlan;

use super::nest::Nest;
use crate::cfg::branch::{
    Ending, Target, end_block, forget_annotation, set_successor_operands, successor_operands,
};
use crate::cfg::loop_unroll::copies::{Copy, types_of};
use crate::cfg::loop_unroll::directives::{self, Before, Made};
use crate::cfg::loop_unroll::remainder::{Runtime, Unrolled, with_remainder};
use crate::cfg::loop_unroll::shape::edge_to;

/// A plan to unroll and jam.
#[derive(Clone, Debug)]
pub(super) struct Jam {
    pub(super) nest: Nest,
    /// The number of copies. At least two, but for an outer loop of one iteration.
    pub(super) count: u64,
    /// True if this is the trip count of the outer loop, which disappears.
    pub(super) is_full: bool,
    /// True if a request or a directive decided.
    pub(super) is_explicit: bool,
    /// A divisor of the outer loop's trip count.
    pub(super) trip_multiple: u64,
    /// The remainder, if there is one.
    pub(super) remainder: Option<Runtime>,
}

/// The blocks that were made or changed, and the headers of loops that stay as they are.
pub(super) struct Jammed {
    pub(super) blocks: Vec<Block>,
    pub(super) headers: Vec<Block>,
}

impl Jam {
    /// Returns the name and the text of its remark.
    pub(super) fn said(&self) -> (&'static str, String) {
        let Jam { count, trip_multiple, .. } = self;
        if self.is_full {
            let text = format!("completely unroll and jammed loop with {count} iterations");
            return ("FullyUnrolled", text);
        }
        let text = format!("unroll and jammed loop by a factor of {count}");
        match trip_multiple {
            1 => ("PartialUnrolled", text + " with run-time trip count"),
            _ => ("PartialUnrolled", format!("{text} with {trip_multiple} trips per branch")),
        }
    }
}

/// Unrolls and jams a nest, as the judge approved. `None` if its blocks have other edges than the
/// plan says; then nothing has changed.
pub(super) fn jam(function: &mut Body, approved: &ApprovedPlan<Jam>) -> Option<Jammed> {
    let plan = approved.plan();
    let nest = &plan.nest;
    let before = function.terminator(nest.inner.preheader)?;
    let (branch, _) = nest.outer.backedge(function)?;
    let (mut blocks, mut headers) = (vec![nest.outer.preheader], Vec::new());
    let said = Before::of(function, branch);
    directives::obey_jam(function, branch, plan.is_explicit && !plan.is_full);
    let copies = match &plan.remainder {
        None => {
            nest.moved.iter().for_each(|op| function.move_before(*op, before));
            repeat(function, plan)?
        }
        Some(runtime) => {
            let made = with_remainder(function, &nest.outer, runtime, |function| {
                nest.moved.iter().for_each(|op| function.move_before(*op, before));
                repeat(function, plan)
            })?;
            let Unrolled { copies, remainder, again, between } = made;
            blocks.extend(between);
            let rest = |block: &Block| remainder.block(*block);
            let rest_of = |function: &mut Body, block: &dyn Fn(Block) -> Block| {
                let loops = [(&nest.outer, Made::RemainderOuter), (&nest.inner, Made::RemainderInner)];
                for (own, made) in loops {
                    follow(function, &said, [block(own.latch), block(own.header)], made);
                }
            };
            rest_of(function, &|block| rest(&block));
            blocks.extend(nest.outer.blocks.iter().map(rest));
            headers.push(remainder.header);
            headers.extend(nest.headers.iter().map(rest));
            for copy in &again {
                rest_of(function, &|block| copy.block(rest(&block)));
                blocks.extend(nest.outer.blocks.iter().map(|block| copy.block(rest(block))));
                headers.extend(nest.headers.iter().map(|block| copy.block(rest(block))));
            }
            copies
        }
    };
    if let Some(last) = copies.last() {
        let inner = [last.block(nest.inner.latch), nest.inner.header];
        follow(function, &said, inner, Made::Inner);
        follow(function, &said, [last.latch, nest.outer.header], Made::Outer);
    }
    for part in [&nest.fore, &nest.inner.blocks, &vec![nest.outer.latch]] {
        blocks.extend(copies.iter().flat_map(|copy| part.iter().map(|block| copy.block(*block))));
    }
    headers.extend(copies.iter().flat_map(|copy| nest.headers.iter().map(|own| copy.block(*own))));
    Some(Jammed { blocks, headers })
}

/// Gives a loop that was made, if it is one, the properties of its follow-ups.
fn follow(function: &mut Body, said: &Before, [latch, header]: [Block; 2], made: Made) {
    if let Some((branch, _)) = edge_to(function, latch, header) {
        said.follow(function, branch, made);
    }
}

/// Copies the body of the outer loop and lets its parts run one after the other. Returns the
/// copies, the original first.
fn repeat(function: &mut Body, plan: &Jam) -> Option<Vec<Copy>> {
    let Jam { nest, count, is_full, .. } = plan;
    let Nest { outer, inner, .. } = nest;
    let (out, back) = (outer.exits.first()?.only_edge(true)?, outer.exits.first()?.only_edge(false)?);
    let (leaves, again) = (inner.exits.first()?.only_edge(true)?, inner.exits.first()?.only_edge(false)?);
    let mut copies = vec![Copy::original(outer)];
    for _ in 1..*count {
        let after = copies[copies.len() - 1].last;
        copies.push(Copy::of(function, outer, after));
    }
    // The first copy's header and the first block behind the loop have the arguments of all.
    for copy in &copies[1..] {
        for shared in [inner.header, outer.latch] {
            let own: Vec<_> = function.arguments(copy.block(shared)).collect();
            for (argument, ty) in own.into_iter().zip(types_of(function, shared)) {
                let joined = function.add_argument(shared, ty);
                function.replace_all_uses(argument, joined);
            }
        }
    }
    let (mut starts, mut carried, mut handed) = (Vec::new(), Vec::new(), Vec::new());
    for copy in &copies {
        let entering = function.terminator(copy.block(inner.preheader))?;
        starts.extend(successor_operands(function, entering).swap_remove(0));
        let mut tests = successor_operands(function, function.terminator(copy.block(inner.latch))?);
        carried.append(&mut tests[again]);
        handed.append(&mut tests[leaves]);
    }
    let (last, others) = copies.split_last()?;
    for (copy, next) in others.iter().zip(&copies[1..]) {
        let branch = function.terminator(copy.latch)?;
        let operands = successor_operands(function, branch).swap_remove(back);
        lead(function, copy.block(inner.preheader), Target { block: next.header, operands });
        let to = |block: Block| Target { block: next.block(block), operands: Vec::new() };
        lead(function, copy.block(inner.latch), to(inner.header));
        lead(function, copy.latch, to(outer.latch));
    }
    lead(function, last.block(inner.preheader), Target { block: inner.header, operands: starts });
    let test = function.terminator(last.block(inner.latch))?;
    function.set_successor(test, again, inner.header);
    function.set_successor(test, leaves, outer.latch);
    let mut operands = vec![Vec::new(); 2];
    (operands[again], operands[leaves]) = (carried, handed);
    set_successor_operands(function, test, &operands);
    let (branch, index) = edge_to(function, last.latch, last.header)?;
    if *is_full {
        let operands = successor_operands(function, branch).swap_remove(out);
        let block = function.successors(branch).nth(out)?;
        lead(function, last.latch, Target { block, operands });
    } else {
        function.set_successor(branch, index, outer.header);
    }
    for copy in &copies[1..] {
        for shared in [inner.header, outer.latch].map(|block| copy.block(block)) {
            (0..function.num_arguments(shared)).rev().for_each(|at| function.erase_argument(shared, at));
        }
    }
    Some(copies)
}

/// Lets a block end with a branch.
fn lead(function: &mut Body, from: Block, to: Target) {
    let branch = end_block(function, from, &Ending::Branch(to));
    forget_annotation(function, branch);
}
