//! Two adjacent loops made one by leading branches elsewhere: the steps of LLVM's loop fusion on block arguments.
//!
//! ```text
//! guard ──────────────┐                       guard ─────────────┐
//!   │                 │                         │                │
//! preheader           │                       preheader          │
//!   │                 │                         │                │
//! header … latch ↺    │                       header … latch     │
//!   │                 │                                  │       │
//! exit                │          becomes      header … latch ↺   │   (to the first header)
//!   │                 │                                  │       │
//! guard ◄─────────────┘ ─┐                              exit     │
//!   │                    │                               │       │
//! preheader              │                             behind ◄──┘
//!   │                    │
//! header … latch ↺       │
//!   │                    │
//! exit                   │
//!   │                    │
//! behind ◄───────────────┘
//! ```
//!
//! The second header's arguments become arguments of the first; one that counts as the first loop's own counter does is that. What the first loop hands out goes out where the fused loop is left. The first
//! latch and the second header become one block.
//!
//! Iterations that have no partner run in front of the fused loop and behind it: see [`rest`](super::remainder).
//!
//! Cost: linear in the second loop's header, what both hand on, and the uses of what changes its name.

use hashbrown::{HashMap, HashSet};
use loomir_ir::rewrite::is_trivially_dead;
use loomir_ir::text::attr_to_string;
use loomir_ir::{Attr, Block, Body, Op, Value};
use loomir_transforms::legality::ApprovedPlan;
use loomir_transforms::tree::access_summary::AccessSummary;

use super::candidate::{Between, Candidate};
use super::def_use::{self, DefUse};
use super::motion::Motion;
use crate::cfg::Analysis;
use crate::cfg::branch::{
    Ending, LOOP_ANNOTATION, Target, end_block, set_successor_operands, successor_operands, targets,
};
use crate::cfg::constants::Constants;
use crate::cfg::guards::Guard;

use super::remainder::{self, Left, Remainders};

/// What was decided of two loops.
pub(super) struct Plan {
    pub(super) between: Between,
    pub(super) motion: Motion,
    /// What becomes of values that the second loop uses of the first.
    pub(super) def_use: DefUse,
    /// Arguments of the second header that are arguments of the first.
    pub(super) merged: Vec<(Value, Value)>,
    /// Iterations that run by themselves.
    pub(super) remainders: Remainders,
    /// What the second loop touches, in the time of the fused one.
    pub(super) second: AccessSummary,
}

impl Plan {
    /// What moves in front of both loops.
    pub(super) fn hoisted(&self) -> impl Iterator<Item = Op> + '_ {
        self.def_use.hoisted.iter().chain(&self.motion.hoisted).chain(&self.motion.above).copied()
    }

    /// What moves behind both.
    pub(super) fn sunk(&self) -> impl Iterator<Item = Op> + '_ {
        self.motion.sunk.iter().chain(&self.def_use.sunk).copied()
    }
}

/// Makes one loop of two, as the judge approved; returns it.
pub(super) fn fuse(
    function: &mut Body,
    analysis: &mut Analysis,
    constants: &mut Constants,
    [first, second]: [&Candidate; 2],
    approved: &ApprovedPlan<Plan>,
) -> Option<Candidate> {
    let plan = approved.plan();
    move_ops(function, analysis, [first, second], plan);
    let guard = lead_around(function, analysis, first, second, plan);
    let remainders = &plan.remainders;
    let (mut first, mut early) = (first.clone(), Vec::new());
    if remainders.peeled > 0 {
        (first.preheader, early) = remainder::peel(function, analysis, &first, remainders, &plan.motion)?;
    }
    let is_left = remainders.behind != [false; 2];
    let copies = is_left.then(|| remainder::copies(function, analysis, [&first, second], remainders));
    let initial = adopt(function, &first, second, plan)?;
    let left = match copies {
        Some(copies) => {
            let entering = (&early[..], &initial[..]);
            Some(remainder::leave(function, analysis, [&first, second], copies, entering, constants)?)
        }
        None => None,
    };
    let test = join(function, &first, second, plan, left.as_ref())?;
    for block in [first.latch, second.latch, first.preheader] {
        analysis.branch_changed(function, block);
    }
    for block in plan.between.blocks() {
        if let Some(branch) = function.terminator(block) {
            function.erase(branch);
        }
        analysis.branch_changed(function, block);
    }
    if let Some(left) = &left {
        left.settle(function, analysis);
    }
    plan.between.blocks().for_each(|block| analysis.erase_block(function, block));
    analysis.loops_mut().absorb(first.id, second.id);
    analysis.merge_blocks(function, first.latch, second.header);
    erase_dead(function, vec![test], |_, _| true);
    let latch = if second.latch == second.header { first.latch } else { second.latch };
    let exit = left.map_or(second.exit, |left| left.out.block);
    Some(Candidate { latch, exit, guard, ..first })
}

fn move_ops(function: &mut Body, analysis: &Analysis, [first, second]: [&Candidate; 2], plan: &Plan) {
    let Plan { motion, def_use, between, .. } = plan;
    def_use::hoist(function, analysis, [first, second], between, def_use);
    if let Some(branch) = function.terminator(first.preheader) {
        motion.hoisted.iter().for_each(|op| function.move_before(*op, branch));
    }
    if let Some(guard) = first.guard {
        motion.above.iter().for_each(|op| function.move_before(*op, guard.branch));
    }
    if let Some(next) = function.first_op(second.exit) {
        motion.sunk.iter().for_each(|op| function.move_before(*op, next));
        def_use::sink(function, analysis, second, between, next, def_use);
    }
}

/// Lets the first guard lead around both loops, to where the second one did; returns it. What arrived at the second guard by both ways arrives there.
fn lead_around(
    function: &mut Body,
    analysis: &mut Analysis,
    first: &Candidate,
    second: &Candidate,
    plan: &Plan,
) -> Option<Guard> {
    let (entry, (own, other)) = (plan.between.guard?, first.guard.zip(second.guard)?);
    let to = analysis.block(other.skips_to);
    let skip = usize::from(other.enters_if);
    // Two ways lead there: around the second loop, and from it.
    let last = way(function, second.exit, to).last()?;
    let edges: Vec<(Op, usize)> = function
        .predecessor_edges(to)
        .filter(|edge| *edge == (other.branch, skip) || function.block_of(edge.0) == Some(last))
        .collect();
    let is_shared = function.predecessor_edges(to).count() > edges.len();
    let join = if is_shared { analysis.insert_block(function, &edges, to, last) } else { to };
    let on_way: Vec<Block> = way(function, second.exit, join).collect();
    let last_branch = function.terminator(*on_way.last()?)?;
    // What the way around the first loop brings to the second guard's block, and what the loop does.
    let arguments: Vec<Value> = function.arguments(entry).collect();
    let around = successor_operands(function, own.branch).swap_remove(usize::from(own.enters_if));
    let arrived = plan.between.behind.last().and_then(|block| function.terminator(*block))?;
    let arrived = successor_operands(function, arrived).swap_remove(0);
    let brought: HashMap<Value, Value> = arguments.iter().copied().zip(around).collect();
    let handed = successor_operands(function, other.branch).swap_remove(skip);
    let mut operands: Vec<Value> =
        handed.iter().map(|value| brought.get(value).copied().unwrap_or(*value)).collect();
    // What is used behind arrives at the join now.
    let goes: HashSet<Block> = plan.between.blocks().collect();
    let mut through = successor_operands(function, last_branch);
    for (argument, arrives) in arguments.iter().zip(arrived) {
        let place = |function: &Body, op: Op| function.block_of(op);
        let uses: Vec<_> = function
            .uses(*argument)
            .filter(|used| place(function, used.op).is_none_or(|block| !goes.contains(&block)))
            .map(|used| (used.op, used.index))
            .collect();
        if uses.is_empty() {
            continue;
        }
        let new = function.add_argument(join, function.value_type(*argument));
        for (op, index) in uses {
            // On the way from the second loop to the join it is what the first loop brought.
            let is_on_way = place(function, op).is_some_and(|block| on_way.contains(&block));
            function.set_operand(op, index, if is_on_way { arrives } else { new });
        }
        through[0].push(arrives);
        operands.push(brought[argument]);
    }
    let handed_through = successor_operands(function, last_branch);
    let known = handed_through[0].len();
    through[0].splice(..known, handed_through[0].iter().copied());
    set_successor_operands(function, last_branch, &through);
    let mut all = targets(function, own.branch);
    all[usize::from(own.enters_if)] = Target { block: join, operands };
    let block = function.block_of(own.branch)?;
    let condition = function.operand(own.branch, 0);
    let [yes, no] = <[Target; 2]>::try_from(all).ok()?;
    let branch = end_block(function, block, &Ending::Conditional(condition, [yes, no]));
    analysis.branch_changed(function, block);
    Some(Guard { branch, skips_to: analysis.number(join), ..own })
}

/// Makes the arguments of the second header arguments of the first. Returns what enters the second loop.
fn adopt(function: &mut Body, first: &Candidate, second: &Candidate, plan: &Plan) -> Option<Vec<Value>> {
    let entering = function.terminator(second.preheader)?;
    let initial = successor_operands(function, entering).swap_remove(0);
    let arguments: Vec<Value> = function.arguments(second.header).collect();
    let merged: HashMap<Value, Value> = plan.merged.iter().copied().collect();
    let mut enters = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        let own = match merged.get(argument) {
            Some(own) => *own,
            None => {
                enters.push(initial[index]);
                function.add_argument(first.header, function.value_type(*argument))
            }
        };
        function.replace_all_uses(*argument, own);
    }
    let preheader = function.terminator(first.preheader)?;
    let mut operands = successor_operands(function, preheader);
    operands[0].extend(enters);
    set_successor_operands(function, preheader, &operands);
    Some(initial)
}

/// Leads the first latch into the second loop and the second latch back to the first header. Returns what the first latch decided by.
fn join(
    function: &mut Body,
    first: &Candidate,
    second: &Candidate,
    plan: &Plan,
    left: Option<&Left>,
) -> Option<Value> {
    let goes: HashSet<Block> = plan.between.blocks().collect();
    let [test, branch] = [first.latch, second.latch].map(|block| function.terminator(block));
    let (test, branch) = (test?, branch?);
    let annotation = common_annotation(function, test, branch);
    let decided = function.operand(test, 0);
    let of_first = targets(function, test);
    let (back, out) = split(of_first, first.header)?;
    let leads_back_if = function.successors(branch).position(|to| to == second.header)?;
    let (mut next, mut leaves) = split(targets(function, branch), second.header)?;
    let merged: HashSet<Value> = plan.merged.iter().map(|(value, _)| *value).collect();
    let arguments: Vec<Value> = function.arguments(second.header).collect();
    let own = arguments.iter().zip(next.operands).filter(|(argument, _)| !merged.contains(*argument));
    let operands = back.operands.into_iter().chain(own.map(|(_, value)| value)).collect();
    next = Target { block: first.header, operands };
    // What the first loop hands out.
    let handed: Vec<Value> = function.arguments(first.exit).collect();
    for (index, (argument, value)) in handed.into_iter().zip(out.operands).enumerate() {
        let is_outside = |op: Op| function.block_of(op).is_none_or(|block| !goes.contains(&block));
        let uses: Vec<_> = function.uses(argument).filter(|used| is_outside(used.op)).collect();
        if uses.is_empty() {
            continue;
        }
        let new = match left {
            Some(left) => left.handed[index],
            None => {
                leaves.operands.push(value);
                function.add_argument(second.exit, function.value_type(argument))
            }
        };
        uses.iter().for_each(|used| function.set_operand(used.op, used.index, new));
    }
    let (mut condition, mut goes_on_if_false) = (function.operand(branch, 0), leads_back_if != 0);
    if let Some(left) = left {
        (condition, goes_on_if_false) = (left.condition, left.goes_on_if_false);
        leaves = left.out.clone();
    }
    let both = if goes_on_if_false { [leaves, next] } else { [next, leaves] };
    for op in [test, branch] {
        function.remove_attr(op, LOOP_ANNOTATION);
    }
    end_block(function, first.latch, &Ending::Branch(Target { block: second.header, operands: Vec::new() }));
    let branch = end_block(function, second.latch, &Ending::Conditional(condition, both));
    if let Some(annotation) = annotation {
        function.set_attr(branch, LOOP_ANNOTATION, annotation);
    }
    // The last edge into the second header hands it nothing; the one from its preheader goes.
    if let Some(entering) = function.terminator(second.preheader) {
        set_successor_operands(function, entering, &[Vec::new()]);
    }
    (0..arguments.len()).rev().for_each(|index| function.erase_argument(second.header, index));
    Some(decided)
}

/// The target that is a block, and the other one.
pub(super) fn split(targets: Vec<Target>, block: Block) -> Option<(Target, Target)> {
    let [a, b] = <[Target; 2]>::try_from(targets).ok()?;
    if a.block == block { Some((a, b)) } else { Some((b, a)) }
}

/// What is said of both loops and holds of the one they become: that its accesses don't depend on each other from one iteration to another need not.
pub(super) fn common_annotation(function: &Body, first: Op, second: Op) -> Option<Attr> {
    let [a, b] = [first, second].map(|op| function.attr(op, LOOP_ANNOTATION));
    let same = a.filter(|_| a == b)?;
    (!attr_to_string(function.ctx(), same).contains("parallelAccesses")).then_some(same)
}

/// Erases what computed values and may go, if nobody uses it any more, and what did for that. That touches no memory, so nothing is known of an operation that another may be taken for which gets its number.
pub(super) fn erase_dead(function: &mut Body, values: Vec<Value>, may_go: impl Fn(&Body, Op) -> bool) {
    let mut pending: Vec<Op> = values.into_iter().filter_map(|value| function.defining_op(value)).collect();
    let mut gone: HashSet<Op> = HashSet::new();
    while let Some(op) = pending.pop() {
        if gone.contains(&op) || !is_trivially_dead(function, op) || !may_go(function, op) {
            continue;
        }
        pending.extend(function.operands(op).filter_map(|value| function.defining_op(value)));
        function.erase(op);
        gone.insert(op);
    }
}

/// The straight way from an exit to a block.
fn way(function: &Body, exit: Block, until: Block) -> impl Iterator<Item = Block> + '_ {
    let next = move |block: &Block| function.block_successors(*block).next();
    std::iter::successors(Some(exit), next).take(MAX_WAY).take_while(move |block| *block != until)
}

/// Most blocks between an exit and where its guard leads.
const MAX_WAY: usize = 32;
