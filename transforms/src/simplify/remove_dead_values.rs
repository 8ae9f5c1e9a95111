//! Removal of dead values: results of loops and conditionals, loop-carried values, block arguments,
//! and arguments and results of private functions that nothing depends on, with all that only they
//! used.
//!
//! A value that only computes its own next value is dead, which `dce` does not see. Public
//! functions keep their arguments and results, and so do functions whose calls are not all known.
//! A loop that may not end stays.
//!
//! **Assumptions.** Those of [`liveness`](crate::dataflow::liveness).
//!
//! **Cost.** Linear in the operations and their operands.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::branch::{set_successor_operands, successor_operands};
use loomir_dialects::interfaces::BranchLike;
use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Block, Body, Diagnostics, Op, OperationState, Type, Value};

use crate::dataflow::liveness::Liveness;
use crate::dataflow::program::{Program, Unit};

/// The pass `remove-dead-values`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "remove-dead-values",
    anchor: None,
    summary: "Remove results, arguments and loop-carried values that nothing depends on",
    options: &[],
    make: |_| Ok(Box::new(RemoveDeadValues)),
};

struct RemoveDeadValues;

impl Pass for RemoveDeadValues {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let done = remove_dead_values(body);
        cx.count("Operations erased", done.operations as u64);
        cx.count("Arguments removed", done.arguments as u64);
        cx.count("Results removed", done.results as u64);
        Ok(())
    }
}

/// The statistics of a removal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Removed {
    /// Operations erased, without those inside.
    pub operations: usize,
    /// Arguments of blocks, regions and functions.
    pub arguments: usize,
    /// Results of operations.
    pub results: usize,
}

/// Removes the dead values of a body and of the bodies inside it.
pub fn remove_dead_values(root: &mut Body) -> Removed {
    let program = Program::of(root);
    let live = Liveness::of(&program);
    let plans: Vec<Plan> = program.units().map(|unit| Plan::of(&program, &live, unit)).collect();
    let mut done = Removed::default();
    let mut plans = plans.into_iter();
    root.for_each_body(&mut |body| {
        if let Some(plan) = plans.next() {
            plan.apply(body, &mut done);
        }
    });
    done
}

/// The changes to one body.
#[derive(Default)]
struct Plan {
    /// Unneeded operations that stand in no other.
    dead: Vec<Op>,
    /// Operands to drop, of operations that are no branches.
    operands: HashMap<Op, HashSet<usize>>,
    /// Arguments to drop, of blocks.
    arguments: Vec<(Block, HashSet<usize>)>,
    /// Results to drop.
    results: HashMap<Op, HashSet<usize>>,
    /// The operands to drop of branches, each with its successor.
    passed: HashMap<Op, HashSet<(usize, usize)>>,
    /// The calls of functions whose arguments and results are dropped.
    calls: Vec<(Op, HashSet<usize>, HashSet<usize>)>,
    /// The arguments and results to drop of the function that the body is.
    signature: Option<(HashSet<usize>, HashSet<usize>)>,
}

impl Plan {
    fn of(program: &Program<'_>, live: &Liveness, unit: Unit) -> Plan {
        let mut plan = Plan::default();
        if program.is_left_alone(unit) {
            return plan;
        }
        let body = program.body(unit);
        for op in body.all_ops() {
            if !live.is_needed(unit, op) {
                let is_inside = body.parent_op(op).is_some_and(|parent| !live.is_needed(unit, parent));
                if !is_inside {
                    plan.dead.push(op);
                }
                continue;
            }
            plan.shrink_regions(body, live, unit, op);
            if let Some(callee) = program.callee(unit, op).filter(|callee| live.is_closed(*callee)) {
                let (arguments, results) = dead_signature(program, live, callee);
                plan.operands.entry(op).or_default().extend(&arguments);
                plan.results.entry(op).or_default().extend(&results);
                plan.calls.push((op, arguments, results));
            }
        }
        plan.shrink_blocks(body, live, unit);
        if live.is_closed(unit)
            && let Some(function) = program.function(unit)
        {
            let (arguments, results) = dead_signature(program, live, unit);
            plan.arguments.push((function.entry, arguments.clone()));
            for end in &function.returns {
                plan.operands.entry(*end).or_default().extend(&results);
            }
            plan.signature = Some((arguments, results));
        }
        plan.operands.retain(|_, dropped| !dropped.is_empty());
        plan.results.retain(|_, dropped| !dropped.is_empty());
        plan
    }

    /// Plans to drop the dead slots of an operation with regions.
    fn shrink_regions(&mut self, body: &Body, live: &Liveness, unit: Unit, op: Op) {
        let Some(flow) = live.flow(unit, op) else { return };
        let mut arguments: Vec<(Block, HashSet<usize>)> = Vec::new();
        for slot in &flow.slots {
            let is_live = slot.results.iter().any(|i| live.is_live(unit, body.result(op, *i)))
                || slot.arguments.iter().any(|(block, i)| live.is_live(unit, body.argument(*block, *i)));
            if is_live {
                continue;
            }
            for (from, operand) in &slot.operands {
                self.operands.entry(*from).or_default().insert(*operand);
            }
            self.results.entry(op).or_default().extend(&slot.results);
            for (block, argument) in &slot.arguments {
                match arguments.iter_mut().find(|(own, _)| own == block) {
                    Some((_, dropped)) => {
                        dropped.insert(*argument);
                    }
                    None => arguments.push((*block, HashSet::from_iter([*argument]))),
                }
            }
        }
        self.arguments.extend(arguments);
    }

    /// Plans to drop the dead arguments of blocks that branches lead to.
    fn shrink_blocks(&mut self, body: &Body, live: &Liveness, unit: Unit) {
        for block in body.all_blocks() {
            let parent = body.region_parent(body.block_region(block));
            if body.is_entry(block) || !live.is_needed(unit, parent) {
                continue;
            }
            let dead: HashSet<usize> = body
                .arguments(block)
                .enumerate()
                .filter_map(|(i, argument)| (!live.is_live(unit, argument)).then_some(i))
                .collect();
            let is_known = |(op, _): (Op, usize)| body.info(op).interface::<dyn BranchLike>().is_some();
            if dead.is_empty() || !body.predecessor_edges(block).all(is_known) {
                continue;
            }
            for (branch, successor) in body.predecessor_edges(block) {
                let dropped = self.passed.entry(branch).or_default();
                dropped.extend(dead.iter().map(|argument| (successor, *argument)));
            }
            self.arguments.push((block, dead));
        }
    }

    fn apply(self, body: &mut Body, done: &mut Removed) {
        for (branch, dropped) in &self.passed {
            let mut passed = successor_operands(body, *branch).unwrap_or_default();
            for (successor, own) in passed.iter_mut().enumerate() {
                *own = kept(own, |i| dropped.contains(&(successor, i)));
            }
            set_successor_operands(body, *branch, &passed);
        }
        for (op, dropped) in &self.operands {
            drop_operands(body, *op, dropped);
        }
        for op in &self.dead {
            let inside: Vec<Op> = body.preorder(*op).collect();
            inside.into_iter().for_each(|op| body.set_operands(op, &[]));
        }
        self.dead.iter().for_each(|op| body.erase(*op));
        done.operations += self.dead.len();
        for (block, dropped) in &self.arguments {
            for i in (0..body.num_arguments(*block)).rev().filter(|i| dropped.contains(i)) {
                body.erase_argument(*block, i);
                done.arguments += 1;
            }
        }
        for (call, arguments, results) in &self.calls {
            drop_dictionaries(body, *call, arguments, results);
        }
        let mut results: Vec<(Op, HashSet<usize>)> = self.results.into_iter().collect();
        results.sort_by_key(|(op, _)| op.index());
        for (op, dropped) in results {
            drop_results(body, op, &dropped);
            done.results += dropped.len();
        }
        if let Some((arguments, results)) = &self.signature {
            let root = body.root();
            drop_dictionaries(body, root, arguments, results);
            let ctx = body.ctx().clone();
            let ty = body.attr(root, "function_type").and_then(|attr| attr.as_type(&ctx));
            if let Some((inputs, outputs)) = ty.and_then(|ty| ty.function(&ctx)) {
                let inputs = kept(inputs, |i| arguments.contains(&i));
                let outputs = kept(outputs, |i| results.contains(&i));
                let ty = ctx.function_type(&inputs, &outputs);
                body.set_attr(root, "function_type", ctx.type_attr(ty));
            }
        }
    }
}

/// Returns the dead arguments and results of a function all of whose calls are known.
fn dead_signature(program: &Program<'_>, live: &Liveness, unit: Unit) -> (HashSet<usize>, HashSet<usize>) {
    let Some(function) = program.function(unit) else { return Default::default() };
    let body = program.body(unit);
    let arguments = body.arguments(function.entry).enumerate();
    let dead = arguments.filter(|(_, value)| !live.is_live(unit, *value)).map(|(i, _)| i).collect();
    let ty = body.attr(body.root(), "function_type").and_then(|attr| attr.as_type(body.ctx()));
    let results = ty.and_then(|ty| ty.function(body.ctx())).map_or(0, |(_, results)| results.len());
    (dead, (0..results).filter(|i| !live.is_returned(unit, *i)).collect())
}

/// Returns the elements whose index is not dropped.
fn kept<T: Clone>(all: &[T], is_dropped: impl Fn(usize) -> bool) -> Vec<T> {
    all.iter().enumerate().filter(|(i, _)| !is_dropped(*i)).map(|(_, own)| own.clone()).collect()
}

/// Drops operands, which belong to the last group if there are several.
fn drop_operands(body: &mut Body, op: Op, dropped: &HashSet<usize>) {
    let operands: Vec<Value> = body.operands(op).collect();
    let segments = body.segments(op, false).map(Vec::from_iter);
    body.set_operands(op, &kept(&operands, |i| dropped.contains(&i)));
    if let Some(mut segments) = segments {
        if let Some(last) = segments.last_mut() {
            *last -= dropped.len() as i64;
        }
        let ctx = body.ctx().clone();
        body.set_attr(op, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &segments));
    }
}

/// Drops the entries of arguments and results from the dictionaries of a function or call.
fn drop_dictionaries(body: &mut Body, op: Op, arguments: &HashSet<usize>, results: &HashSet<usize>) {
    let ctx = body.ctx().clone();
    for (name, dropped) in [("arg_attrs", arguments), ("res_attrs", results)] {
        if dropped.is_empty() {
            continue;
        }
        if let Some(all) = body.attr(op, name).and_then(|attr| attr.as_array(&ctx).map(<[_]>::to_vec)) {
            let own = kept(&all, |i| dropped.contains(&i));
            match own.is_empty() {
                true => body.remove_attr(op, name),
                false => body.set_attr(op, name, ctx.array_attr(&own)),
            }
        }
    }
}

/// Puts an operation with fewer results in place of one.
fn drop_results(body: &mut Body, op: Op, dropped: &HashSet<usize>) {
    let results: Vec<Value> = kept(&body.results(op).collect::<Vec<_>>(), |i| dropped.contains(&i));
    let types: Vec<Type> = results.iter().map(|value| body.value_type(*value)).collect();
    let operands: Vec<Value> = body.operands(op).collect();
    let mut state = OperationState::named(body.op_name(op), body.loc(op)).operands(&operands).results(&types);
    state.properties = body.properties(op);
    state.attributes = body.attributes(op);
    state.num_regions = body.own_regions(op).len();
    let new = body.create(state);
    body.insert_before(op, new);
    for (from, to) in body.own_regions(op).zip(body.own_regions(new)).collect::<Vec<_>>() {
        body.move_blocks(from, to);
    }
    for (from, to) in results.into_iter().zip(body.results(new).collect::<Vec<_>>()) {
        body.replace_all_uses(from, to);
    }
    body.erase(op);
}
