//! Values that the second of two loops uses and the first computes.
//!
//! Such a value has to be there before the first loop runs, or nothing may need it before both are over.
//!
//! | the value | becomes |
//! | --- | --- |
//! | is computed anew in each iteration of what does not change | what is computed once, in front of the first loop |
//! | is a counter's last | the number that it ends with, or what the counter is compared with |
//! | is used in the second loop for nothing but what leaves it | what is used behind, where the last iteration is repeated with what it left |
//!
//! **Soundness.** The first loop runs at least once where its preheader is reached. What computes a value in front of it can't be undefined, or would have run in the first iteration: it stands in each, and nothing in the
//! loop may keep it from being reached. What waits for the end of the second loop ran in its last iteration with the same operands; how often it ran nobody sees. Loads move only over what does
//! not write there. Nothing is changed before the plan is carried out.
//!
//! **Cost.** Linear in the second loop and in what stands between; of the first, chains and ways of bounded length.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::llvm;
use loomir_ir::{Block, Body, Builder, InsertPoint, Op, Trait, Value, ValueDef};

use super::candidate::{Between, Candidate};
use super::exit_values::Final;
use super::motion::Surroundings;
use crate::cfg::Analysis;
use crate::cfg::branch::{set_successor_operands, successor_operands};
use crate::cfg::effects::{is_speculatable, only_reads};

/// Most operations that a value is computed of in front of the first loop.
const MAX_CHAIN: usize = 32;
/// Most blocks that are known to run in each iteration, from either end.
const MAX_SPINE: usize = 64;

/// What becomes of values that the second of two loops uses and the first computes.
#[derive(Clone, Debug, Default)]
pub(super) struct DefUse {
    /// Operations of the first loop that go to the end of its preheader, in order.
    pub(super) hoisted: Vec<Op>,
    /// The same.
    moved: HashSet<Op>,
    /// Values as they are named between the loops, and what they are.
    known: HashMap<Value, Final>,
    /// The same in the order in which they were asked for.
    named: Vec<Value>,
    /// Operations of the second loop that go to the start of its exit, in order.
    pub(super) sunk: Vec<Op>,
}

/// A use that keeps two loops apart, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Entangled {
    pub(super) op: Op,
    pub(super) why: &'static str,
}

const IN_PART: &str = "it is used here, under a condition or in a loop inside the second one";
const CARRIED: &str = "its result goes on to the next iteration here";
const AT_ONCE: &str = "it is used here, which can't wait until the second loop is over";

impl DefUse {
    /// Whether a value that is named between the loops is there before them.
    pub(super) fn is_known(&self, value: Value) -> bool {
        self.known.contains_key(&value)
    }
}

impl Surroundings<'_> {
    /// What becomes of what the second loop uses of the first, or a use that keeps them apart.
    pub(super) fn def_use(&self, between: &Between) -> Result<DefUse, Entangled> {
        let function = self.function;
        let mut plan = DefUse::default();
        let uses = self.uses_in_second(between);
        // What has to be there before, operations between included.
        let mut asked: Vec<Value> = uses.iter().map(|(_, _, value)| *value).collect();
        asked.extend(
            function.terminator(self.second.0.preheader).into_iter().flat_map(|op| function.operands(op)),
        );
        let mut seen: HashSet<Value> = HashSet::new();
        while let Some(value) = asked.pop() {
            if !self.is_late(between, value) || !seen.insert(value) {
                continue;
            }
            match function.defining_op(value) {
                Some(op) if !self.is_in_first(value) => asked.extend(function.operands(op)),
                _ => self.know(between, value, &mut plan),
            }
        }
        // What is only there behind the first loop.
        let mut late: HashSet<Value> = HashSet::new();
        let is_behind = |value: Value, plan: &DefUse, late: &HashSet<Value>| {
            let is_result = function.defining_op(value).is_some() && !self.is_in_first(value);
            if is_result {
                late.contains(&value)
            } else {
                self.is_late(between, value) && !plan.is_known(value)
            }
        };
        for op in between.blocks().flat_map(|block| function.ops(block)) {
            if function.operands(op).any(|value| is_behind(value, &plan, &late)) {
                late.extend(function.results(op));
            }
        }
        let pending = uses.into_iter().filter(|(_, _, value)| is_behind(*value, &plan, &late));
        self.sink(pending.map(|(op, index, _)| (op, index)).collect(), &mut plan)?;
        Ok(plan)
    }

    /// The uses in the second loop of what is defined in the first, or between.
    fn uses_in_second(&self, between: &Between) -> Vec<(Op, usize, Value)> {
        let function = self.function;
        let mut found = Vec::new();
        for block in self.analysis.blocks_in(self.second.0.id) {
            let mut pending: Vec<Op> = function.ops(block).collect();
            while let Some(op) = pending.pop() {
                let inside = function.own_regions(op).flat_map(|region| function.blocks(region));
                pending.extend(inside.flat_map(|block| function.ops(block)));
                let operands = function.operands(op).enumerate();
                let late = operands.filter(|(_, value)| self.is_late(between, *value));
                found.extend(late.map(|(index, value)| (op, index, value)));
            }
        }
        found
    }

    /// Whether a value is defined in the first loop, or between.
    fn is_late(&self, between: &Between, value: Value) -> bool {
        let block = self.function.value_block(value);
        block.is_some_and(|block| {
            between.blocks().any(|own| own == block) || self.is_inside(self.first.0, block)
        })
    }

    fn is_in_first(&self, value: Value) -> bool {
        let block = self.function.value_block(value);
        block.is_some_and(|block| self.is_inside(self.first.0, block))
    }

    fn is_inside(&self, of: &Candidate, block: Block) -> bool {
        let op = self.function.first_op(block);
        let node = op.and_then(|op| self.analysis.number_at(self.function, op));
        node.is_some_and(|node| self.analysis.loops().contains(of.id, node))
    }

    /// What the first loop hands on as this value, where both run.
    fn source(&self, between: &Between, value: Value) -> Option<Value> {
        let function = self.function;
        let mut value = value;
        for _ in 0..2 {
            let ValueDef::BlockArgument { block, index } = function.def(value) else { break };
            let branch = if block == self.first.0.exit {
                function.terminator(self.first.0.latch)?
            } else if Some(block) == between.guard {
                between.behind.last().and_then(|block| function.terminator(*block))?
            } else {
                break;
            };
            let way = function.successors(branch).position(|to| to == block)?;
            value = *successor_operands(function, branch).get(way)?.get(index)?;
        }
        let is_between = between.blocks().any(|block| function.value_block(value) == Some(block));
        (!is_between).then_some(value)
    }

    /// Notes what a value is in front of the first loop, if that is known.
    fn know(&self, between: &Between, value: Value, plan: &mut DefUse) {
        let (first, summary) = self.first;
        let Some(source) = self.source(between, value) else { return };
        let last = summary.finals.get(self.function, first.latch, source);
        let found = last.filter(|_| self.is_in_first(source)).unwrap_or(Final::Value(source));
        if let Final::Value(source) = found {
            let Some(chain) = self.chain(source, &plan.moved) else { return };
            plan.moved.extend(&chain);
            plan.hoisted.extend(chain);
        }
        plan.known.insert(value, found);
        plan.named.push(value);
    }

    /// The operations of the first loop that a value is computed of, operands first, but for those that have moved; nothing if they can't run in front of it.
    fn chain(&self, value: Value, moved: &HashSet<Op>) -> Option<Vec<Op>> {
        let mut chain: Vec<Op> = Vec::new();
        let mut pending = vec![(value, false)];
        while let Some((value, is_done)) = pending.pop() {
            if !self.is_in_first(value) {
                continue;
            }
            let op = self.function.defining_op(value)?;
            if chain.contains(&op) || moved.contains(&op) {
                continue;
            }
            if is_done {
                chain.push(op);
                continue;
            }
            if !self.may_run_before(op) || pending.len() + chain.len() > MAX_CHAIN {
                return None;
            }
            pending.push((value, true));
            pending.extend(self.function.operands(op).map(|operand| (operand, false)));
        }
        Some(chain)
    }

    /// Whether an operation of the first loop may run in front of it, if its operands are there.
    fn may_run_before(&self, op: Op) -> bool {
        let (first, summary) = self.first;
        let runs_anyway = || {
            summary.barrier.is_none()
                && self.function.block_of(op).is_some_and(|block| self.spine(first).contains(&block))
        };
        is_speculatable(self.function, op)
            || only_reads(self.function, op) && runs_anyway() && self.is_apart(op, summary)
    }

    /// Blocks that run in each iteration of a loop, in order: from its header up to the first branch, and from the last place where ways meet down to its latch.
    fn spine(&self, of: &Candidate) -> Vec<Block> {
        let graph = self.analysis.graph();
        let mut down = vec![of.header];
        let mut at = of.header;
        while at != of.latch && down.len() < MAX_SPINE {
            let [next] = graph.successors(self.analysis.number(at))[..] else { break };
            at = self.analysis.block(next);
            if at == of.header || down.contains(&at) {
                break;
            }
            down.push(at);
        }
        let mut up = Vec::new();
        at = of.latch;
        while !down.contains(&at) && up.len() < MAX_SPINE {
            up.push(at);
            let [before] = graph.predecessors(self.analysis.number(at))[..] else { break };
            at = self.analysis.block(before);
        }
        down.extend(up.into_iter().rev());
        down
    }

    /// Plans that these uses, and all that comes of them, wait until the second loop is over.
    fn sink(&self, uses: Vec<(Op, usize)>, plan: &mut DefUse) -> Result<(), Entangled> {
        if uses.is_empty() {
            return Ok(());
        }
        let (function, second) = (self.function, self.second.0);
        let spine = self.spine(second);
        let branch = function.terminator(second.latch);
        let handed = branch.map_or(0..0, |branch| handed_out(function, branch, second));
        let mut pending = uses;
        let mut waits: HashSet<Op> = HashSet::new();
        while let Some((op, index)) = pending.pop() {
            if Some(op) == branch && handed.contains(&index) || waits.contains(&op) {
                continue;
            }
            if Some(op) == branch && index > 0 {
                return Err(Entangled { op, why: CARRIED });
            }
            self.may_wait(op, &spine).map_err(|why| Entangled { op, why })?;
            waits.insert(op);
            let uses = function.results(op).flat_map(|value| function.uses(value));
            let inside = uses
                .filter(|used| function.block_of(used.op).is_some_and(|block| self.is_inside(second, block)));
            pending.extend(inside.map(|used| (used.op, used.index)));
        }
        let in_order = spine.iter().flat_map(|block| function.ops(*block));
        plan.sunk = in_order.filter(|op| waits.contains(op)).collect();
        Ok(())
    }

    /// Whether an operation of the second loop may run behind it instead, if all that uses it does; or why not.
    fn may_wait(&self, op: Op, spine: &[Block]) -> Result<(), &'static str> {
        let loops = self.analysis.loops();
        let is_own = |block: Block| loops.innermost(self.analysis.number(block)) == Some(self.second.0.id);
        let block = self.function.block_of(op);
        let runs_last = block.is_some_and(|block| spine.contains(&block) && is_own(block));
        if self.function.has_trait(op, Trait::Terminator) {
            return Err(AT_ONCE);
        }
        if !runs_last {
            return Err(IN_PART);
        }
        let reads = || only_reads(self.function, op) && self.is_apart(op, self.second.1);
        if is_speculatable(self.function, op) || reads() { Ok(()) } else { Err(AT_ONCE) }
    }
}

/// The operands of a latch's branch that leave the loop.
fn handed_out(function: &Body, branch: Op, of: &Candidate) -> std::ops::Range<usize> {
    let all = successor_operands(function, branch);
    let mut start = function.num_operands(branch) - all.iter().map(Vec::len).sum::<usize>();
    for (to, operands) in function.successors(branch).zip(&all) {
        if to == of.exit {
            return start..start + operands.len();
        }
        start += operands.len();
    }
    0..0
}

/// Puts what is there before both loops where it is: in front of the first one, and in its uses.
pub(super) fn hoist(
    function: &mut Body,
    analysis: &Analysis,
    [first, second]: [&Candidate; 2],
    between: &Between,
    plan: &DefUse,
) {
    let Some(entering) = function.terminator(first.preheader) else { return };
    plan.hoisted.iter().for_each(|op| function.move_before(*op, entering));
    for value in &plan.named {
        let Some(known) = plan.known.get(value) else { continue };
        // What is at the second guard is not behind the first one.
        let is_there = |function: &Body, op: Op| {
            analysis.number_at(function, op).is_some_and(|node| {
                let block = analysis.block(node);
                between.behind.contains(&block)
                    || between.ahead.contains(&block)
                    || analysis.loops().contains(second.id, node)
            })
        };
        let uses = function.uses(*value).filter(|used| is_there(function, used.op));
        let uses: Vec<(Op, usize)> = uses.map(|used| (used.op, used.index)).collect();
        let new = match *known {
            Final::Value(known) => known,
            Final::Number(number) => {
                let ty = function.value_type(*value);
                let mut builder = Builder::new(function, InsertPoint::Before(entering));
                let ctx = builder.ctx();
                let number = ctx.int_attr(ty, number);
                let state = builder.state(llvm::ConstantOp::DEF).attr(&ctx, "value", number).results(&[ty]);
                builder.value(state)
            }
        };
        uses.into_iter().for_each(|(op, index)| function.set_operand(op, index, new));
    }
}

/// Puts what waits until the second loop is over in front of an operation of its exit. What it takes from the last iteration is handed out; what it made is handed out no more.
pub(super) fn sink(
    function: &mut Body,
    analysis: &Analysis,
    second: &Candidate,
    between: &Between,
    before: Op,
    plan: &DefUse,
) {
    let Some(branch) = function.terminator(second.latch) else { return };
    let Some(way) = function.successors(branch).position(|to| to == second.exit) else { return };
    let mut all = successor_operands(function, branch);
    let Some(handed) = all.get_mut(way) else { return };
    let mut arguments: Vec<Value> = function.arguments(second.exit).collect();
    let mut outside: HashMap<Value, Value> = handed.iter().copied().zip(arguments.iter().copied()).collect();
    for op in &plan.sunk {
        let operands: Vec<Value> = function.operands(*op).collect();
        for (index, value) in operands.into_iter().enumerate() {
            let block = function.value_block(value);
            if !block.is_some_and(|block| analysis.loops().contains(second.id, analysis.number(block))) {
                continue;
            }
            let new = *outside.entry(value).or_insert_with(|| {
                let new = function.add_argument(second.exit, function.value_type(value));
                handed.push(value);
                arguments.push(new);
                new
            });
            function.set_operand(*op, index, new);
        }
        function.move_before(*op, before);
    }
    for index in (0..handed.len()).rev() {
        let value = handed[index];
        let block = function.value_block(value);
        if block.is_some_and(|block| block == second.exit || between.blocks().any(|own| own == block)) {
            function.replace_all_uses(arguments[index], value);
            function.erase_argument(second.exit, index);
            handed.remove(index);
        }
    }
    set_successor_operands(function, branch, &all);
}
