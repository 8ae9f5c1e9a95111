//! Two loops that may run together if a test holds, which is made in front of them, and as they were if not.
//!
//! ```text
//! entry ── test ──► both loops, nothing in their way any more ──┐
//!            │                                                  ▼
//!            └────► both loops as they were ─────────────────► behind
//! ```
//!
//! Tested is that both run, where they stand behind different guards or one behind none.
//! The loops that were are those of the fast side, so all that is known of them stays known; the copies are no candidates.
//!
//! **Soundness.** A guard is asked earlier than it was: what it is computed of can't trap, and if
//! it is poison the program is undefined in any case, since what stands before it returns.
//!
//! **Cost.** Linear in what is copied, and in what is used of it behind.
//!
//! **Assumptions.**
//! - Everything between is copied with the loops, so no operation of the function may be
//!   `noduplicate`.
//!
//! Tried with `loop_fusion_traps/guards.ll` and `declared.ll`.

use hashbrown::HashSet;
use loomir_dialects::llvm;
use loomir_ir::{Block, Body, Builder, InsertPoint, Op, Type, Value};
use loomir_transforms::legality::ApprovedPlan;

use super::candidate::{Candidate, MAX_BETWEEN};
use super::rewire::Plan;
use crate::cfg::Analysis;
use crate::cfg::arithmetic::binary;
use crate::cfg::branch::{Ending, Target, branches_into, change_operands, end_block, targets};
use crate::cfg::constants::Constants;
use crate::cfg::effects::is_speculatable;
use crate::cfg::guards::Guard;

/// Most operations that a guard is computed of between the loops.
const MAX_MOVED: usize = 16;

/// What is tested.
#[derive(Clone, Debug, Default)]
pub(super) struct Test {
    /// These conditions, and how they have to be.
    guards: Vec<(Value, bool)>,
    /// The operations between the loops that they are computed of, in order.
    pub(super) moved: Vec<Op>,
}

/// The blocks between two loops of which either may be guarded: from the exit of the first to the preheader of the second, as if both ran. Nothing if something else leads there.
pub(super) fn as_if_both_run(
    function: &Body,
    analysis: &Analysis,
    first: &Candidate,
    second: &Candidate,
) -> Option<Vec<Block>> {
    let guard_of = |of: &Candidate| of.guard.and_then(|guard| function.block_of(guard.branch));
    let (own, other) = (guard_of(first), guard_of(second));
    let mut between = vec![first.exit];
    while *between.last()? != second.preheader {
        let at = *between.last()?;
        let next = match analysis.graph().successors(analysis.number(at))[..] {
            [next] => analysis.block(next),
            _ if other == Some(at) => second.preheader,
            _ => return None,
        };
        let leads_there = |from: &u32| {
            let from = analysis.block(*from);
            from == at || Some(from) == own
        };
        let is_straight = analysis.graph().predecessors(analysis.number(next)).iter().all(leads_there);
        if !is_straight || between.len() == MAX_BETWEEN || between.contains(&next) {
            return None;
        }
        between.push(next);
    }
    let is_passed = other.is_none_or(|other| between.contains(&other));
    is_passed.then_some(between)
}

impl Test {
    /// Returns the test that both loops run. `None` if that cannot be asked earlier, or no guard
    /// asks it.
    pub(super) fn of(function: &Body, [first, second]: [&Candidate; 2], between: &[Block]) -> Option<Test> {
        let mut test = Test::default();
        for guard in [first.guard, second.guard].into_iter().flatten() {
            test.guards.push((guard.condition, guard.enters_if));
            test.ask_earlier(function, guard.condition, between)?;
        }
        (!test.guards.is_empty()).then_some(test)
    }

    /// Adds the operations between the loops that a value is computed of, operands first.
    fn ask_earlier(&mut self, function: &Body, value: Value, between: &[Block]) -> Option<()> {
        let mut pending = vec![(value, false)];
        while let Some((value, is_done)) = pending.pop() {
            if !function.value_block(value).is_some_and(|block| between.contains(&block)) {
                continue;
            }
            let op = function.defining_op(value).filter(|op| is_speculatable(function, *op))?;
            if self.moved.contains(&op) {
                continue;
            }
            if is_done {
                self.moved.push(op);
            } else {
                pending.push((value, true));
                pending.extend(function.operands(op).map(|operand| (operand, false)));
            }
            if self.moved.len() > MAX_MOVED || pending.len() > 4 * MAX_MOVED {
                return None;
            }
        }
        Some(())
    }

    /// Computes it at the end of a block.
    fn write(&self, function: &mut Body, constants: &mut Constants, at: Block) -> Option<Value> {
        let end = function.terminator(at)?;
        self.moved.iter().for_each(|op| function.move_before(*op, end));
        let yes = constants.get(function, Type::I1, Some(0));
        let mut builder = Builder::new(function, InsertPoint::Before(end));
        let mut all = Vec::new();
        for (condition, holds) in &self.guards {
            all.push(if *holds {
                *condition
            } else {
                binary(&mut builder, llvm::XOrOp::DEF, *condition, yes)
            });
        }
        all.into_iter().reduce(|a, b| binary(&mut builder, llvm::AndOp::DEF, a, b))
    }
}

/// Puts both loops, for which a plan was approved, what is between and what is behind until the guard of the second is over on the fast side of a test, with a copy on the other. The loops of the fast side stand behind no guard any more.
pub(super) fn split(
    function: &mut Body,
    (analysis, constants): (&mut Analysis, &mut Constants),
    [first, second]: [&mut Candidate; 2],
    between: &[Block],
    test: &Test,
    _: &ApprovedPlan<Plan>,
) -> Option<()> {
    let entry = first.entry(function);
    let parent = analysis.loops().innermost(analysis.number(entry));
    // What the entry ended with stands in a block of its own.
    let start = analysis.new_block(function, &[], entry, parent);
    let ending = ending(function, entry)?;
    end_block(function, entry, &Ending::Branch(Target { block: start, operands: Vec::new() }));
    let branch = end_block(function, start, &ending);
    analysis.branch_changed(function, start);
    analysis.branch_changed(function, entry);
    let mut region = vec![start];
    match &mut first.guard {
        Some(guard) => {
            guard.branch = branch;
            region.extend(blocks_before(function, entered(function, guard)?, first.header));
        }
        None => first.preheader = start,
    }
    region.extend(analysis.blocks_in(first.id));
    region.extend(between);
    region.extend(analysis.blocks_in(second.id));
    let behind = meet(function, analysis, second, &mut region)?;
    let inside: HashSet<Block> = region.iter().copied().collect();
    let out = used_outside(function, &region, &inside);
    let after = *region.last()?;
    let (mapping, copies) = analysis.copy_blocks(function, &region, after, None);
    let copied: HashSet<Block> = copies.iter().copied().collect();
    // What is defined in both comes out of either.
    let branches = branches_into(function, [behind]);
    change_operands(function, &branches, |function, op, to, operands| {
        if to == behind {
            let is_copy = function.block_of(op).is_some_and(|block| copied.contains(&block));
            operands
                .extend(out.iter().map(|(value, _)| if is_copy { mapping.value(*value) } else { *value }));
        }
    });
    for (value, uses) in out {
        let argument = function.add_argument(behind, function.value_type(value));
        for (op, index) in uses {
            function.set_operand(op, index, argument);
        }
    }
    let condition = test.write(function, constants, entry)?;
    let to = |block| Target { block, operands: Vec::new() };
    end_block(function, entry, &Ending::Conditional(condition, [to(start), to(mapping.block(start))]));
    for block in copies.iter().chain([&entry]) {
        analysis.branch_changed(function, *block);
    }
    for own in [first, second] {
        if let Some(Guard { branch, enters_if, .. }) = own.guard.take() {
            let block = function.block_of(branch)?;
            let into = targets(function, branch).swap_remove(usize::from(!enters_if));
            end_block(function, block, &Ending::Branch(into));
            analysis.branch_changed(function, block);
        }
    }
    Some(())
}

/// Where a guard leads if the loop runs.
fn entered(function: &Body, guard: &Guard) -> Option<Block> {
    function.successors(guard.branch).nth(usize::from(!guard.enters_if))
}

/// The blocks from one on that run before another: a preheader, and iterations that were peeled.
fn blocks_before(function: &Body, from: Block, until: Block) -> Vec<Block> {
    let mut seen = vec![from];
    let mut next = 0;
    while let Some(block) = seen.get(next).copied() {
        next += 1;
        for to in function.block_successors(block) {
            if to != until && !seen.contains(&to) {
                seen.push(to);
            }
        }
    }
    seen
}

/// The end of a block that is a branch of one or two ways.
fn ending(function: &Body, block: Block) -> Option<Ending> {
    let branch = function.terminator(block)?;
    if function.is(branch, llvm::BrOp::DEF) {
        return Some(Ending::Branch(targets(function, branch).swap_remove(0)));
    }
    let both = <[Target; 2]>::try_from(targets(function, branch)).ok()?;
    function.is(branch, llvm::CondBrOp::DEF).then(|| Ending::Conditional(function.operand(branch, 0), both))
}

/// The block where the second loop and the way around it meet, which nothing else leads to; what lies before it comes into the region.
fn meet(
    function: &mut Body,
    analysis: &mut Analysis,
    second: &mut Candidate,
    region: &mut Vec<Block>,
) -> Option<Block> {
    let Some(guard) = second.guard else {
        let branch = function.terminator(second.latch)?;
        let edge = function.successors(branch).position(|to| to == second.exit)?;
        let behind = second.exit;
        second.exit = analysis.insert_block(function, &[(branch, edge)], behind, second.latch);
        region.push(second.exit);
        return Some(behind);
    };
    let behind = analysis.block(guard.skips_to);
    let mut last = second.exit;
    for _ in 0..MAX_BETWEEN {
        region.push(last);
        let next = function.block_successors(last).next()?;
        if next == behind {
            let skip = (guard.branch, usize::from(guard.enters_if));
            let edges: Vec<(Op, usize)> = function
                .predecessor_edges(behind)
                .filter(|edge| *edge == skip || function.block_of(edge.0) == Some(last))
                .collect();
            let is_shared = function.predecessor_edges(behind).count() > edges.len();
            return Some(if is_shared {
                analysis.insert_block(function, &edges, behind, last)
            } else {
                behind
            });
        }
        last = next;
    }
    None
}

/// What is defined in a region and used outside of it, with these uses.
fn used_outside(
    function: &Body,
    region: &[Block],
    inside: &HashSet<Block>,
) -> Vec<(Value, Vec<(Op, usize)>)> {
    let mut out = Vec::new();
    for block in region {
        let results = |op| function.results(op);
        for value in function.arguments(*block).chain(function.ops(*block).flat_map(results)) {
            let is_outside = |op| function.block_of(op).is_none_or(|block| !inside.contains(&block));
            let uses = function.uses(value).filter(|used| is_outside(used.op));
            let uses: Vec<(Op, usize)> = uses.map(|used| (used.op, used.index)).collect();
            if !uses.is_empty() {
                out.push((value, uses));
            }
        }
    }
    out
}
