//! Liveness: the values and operations that matter to what a program does.
//!
//! An operation matters if it has an effect, or if it may never return. Then its operands matter,
//! and so does what decides that it runs. A value that is passed on matters only if a place that
//! receives it does: an argument of a block, region or private function, or a result. All places
//! that are filled together, such as a loop-carried value with its initial and its next value, are
//! one [`Slot`]; they are kept or removed together.
//!
//! **Assumptions.**
//! - An unused loop without effects need not run, unless it may never end. Tried in
//!   `fixtures/simplify/remove_dead_values.mlir`.
//!
//! **Cost.** Linear in the operations and their operands.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::branch::{passed_operands, successor_operands};
use loomir_dialects::control::{entry_edges, exit_edges, is_unreachable};
use loomir_dialects::interfaces::{BranchLike, RegionEdge};
use loomir_ir::opdef::{Arity, OperandDef};
use loomir_ir::{Block, Body, Op, OpRef, Region, Trait, Value, ValueDef};

use super::program::{Program, Unit, call_arguments};
use crate::effects::{Effects, Summary};

/// The live values and operations of a program.
pub struct Liveness {
    values: Vec<Vec<bool>>,
    ops: Vec<Vec<bool>>,
    /// The operations with regions whose values flow along known edges.
    flows: Vec<HashMap<Op, RegionFlow>>,
    /// Functions whose arguments and results may be removed.
    is_closed: Vec<bool>,
    /// The results of such functions that matter to some call.
    returned: HashSet<(Unit, usize)>,
}

/// The values that flow into, between and out of the regions of an operation.
#[derive(Clone, Debug, Default)]
pub struct RegionFlow {
    /// Groups of places that are filled together.
    pub slots: Vec<Slot>,
    /// The slot of each result.
    of_results: Vec<usize>,
    /// The slot of each argument that is filled.
    of_arguments: HashMap<(Block, usize), usize>,
}

/// Places that are filled together: they exist all or not at all.
#[derive(Clone, Debug, Default)]
pub struct Slot {
    /// The operands that fill the places, of the operation and of terminators in its regions.
    pub operands: Vec<(Op, usize)>,
    /// The numbers of results.
    pub results: Vec<usize>,
    /// The arguments of regions.
    pub arguments: Vec<(Block, usize)>,
}

impl Liveness {
    /// Computes the live values of a program.
    pub fn of(program: &Program<'_>) -> Liveness {
        let bodies = || program.units().map(|unit| program.body(unit));
        let live = Liveness {
            values: bodies().map(|body| vec![false; body.num_value_slots()]).collect(),
            ops: bodies().map(|body| vec![false; body.num_op_slots()]).collect(),
            flows: program.units().map(|unit| flows(program, unit)).collect(),
            is_closed: program.units().map(|unit| is_closed(program, unit)).collect(),
            returned: HashSet::new(),
        };
        let mut walk = Walk { program, live, pending: Vec::new() };
        walk.run();
        walk.live
    }

    /// True if a value matters.
    pub fn is_live(&self, unit: Unit, value: Value) -> bool {
        self.values[unit][value.index()]
    }

    /// True if an operation has to run.
    pub fn is_needed(&self, unit: Unit, op: Op) -> bool {
        self.ops[unit][op.index()]
    }

    /// Returns the values that flow along the regions of an operation.
    pub fn flow(&self, unit: Unit, op: Op) -> Option<&RegionFlow> {
        self.flows[unit].get(&op)
    }

    /// True if unneeded arguments and results of a function may be removed.
    pub fn is_closed(&self, unit: Unit) -> bool {
        self.is_closed[unit]
    }
}

impl Liveness {
    /// True if a result of a [closed](Self::is_closed) function matters to some call.
    pub fn is_returned(&self, unit: Unit, result: usize) -> bool {
        self.returned.contains(&(unit, result))
    }
}

/// True if all calls of a function are known, and both it and its calls have a form that can be
/// rewritten.
fn is_closed(program: &Program<'_>, unit: Unit) -> bool {
    let Some(function) = program.function(unit).filter(|function| function.has_all_calls) else {
        return false;
    };
    let body = program.body(unit);
    let ctx = body.ctx();
    let ty = body.attr(body.root(), "function_type").and_then(|attr| attr.as_type(ctx));
    let Some((inputs, results)) = ty.and_then(|ty| ty.function(ctx)) else { return false };
    let fits = |op: &Op| body.num_operands(*op) == results.len();
    let is_plain = |(caller, call): &(Unit, Op)| {
        let caller = program.body(*caller);
        let def = caller.info(*call).def();
        let is_variadic = def.is_some_and(|def| {
            let all = |list: &[OperandDef]| matches!(list, [only] if only.arity == Arity::Variadic);
            all(&def.operands) && all(&def.results)
        });
        is_variadic && call_arguments(caller, *call).into_iter().eq(caller.operands(*call))
    };
    inputs.len() == body.num_arguments(function.entry)
        && function.returns.iter().all(fits)
        && function.calls.iter().all(is_plain)
}

/// Returns the flow of each operation whose regions have known edges, if it can be rewritten.
fn flows(program: &Program<'_>, unit: Unit) -> HashMap<Op, RegionFlow> {
    let body = program.body(unit);
    let with_regions = body.all_ops().filter(|op| body.own_regions(*op).len() > 0);
    with_regions.filter_map(|op| Some((op, region_flow(body.op_ref(op))?))).collect()
}

fn region_flow(op: OpRef<'_>) -> Option<RegionFlow> {
    let body = op.body();
    let results = &op.def()?.results;
    let may_shrink = results.iter().all(|group| group.arity == Arity::Variadic) && results.len() <= 1;
    if !may_shrink || op.successors().len() > 0 {
        return None;
    }
    let mut edges: Vec<(Op, RegionEdge)> = Vec::new();
    edges.extend(entry_edges(op, &|_| None)?.into_iter().map(|edge| (op.op(), edge)));
    for region in op.regions() {
        for block in body.blocks(region) {
            let end = body.op_ref(body.terminator(block)?);
            if end.successors().len() == 0 {
                edges.extend(exit_edges(op, end, &|_| None)?.into_iter().map(|edge| (end.op(), edge)));
            }
        }
    }
    edges.iter().all(|(from, edge)| passes_last(body.op_ref(*from), edge)).then(|| Slots::of(op, &edges))?
}

/// True if an edge passes the last operands, of which there may be any number.
fn passes_last(from: OpRef<'_>, edge: &RegionEdge) -> bool {
    let is_variadic =
        from.def().and_then(|def| def.operands.last()).is_some_and(|last| last.arity == Arity::Variadic);
    let last = from.body().segments(from.op(), false).and_then(Iterator::last);
    edge.operands.is_empty()
        || (is_variadic
            && edge.operands.end == from.num_operands()
            && last.is_none_or(|last| last as usize >= edge.operands.len()))
}

/// The places that receive values: results, then arguments of each region, with a union-find of
/// those that are filled by one operand.
struct Slots {
    parents: Vec<usize>,
    /// The first place of each region.
    starts: Vec<usize>,
}

impl Slots {
    fn of(op: OpRef<'_>, edges: &[(Op, RegionEdge)]) -> Option<RegionFlow> {
        let body = op.body();
        let entries: Vec<Option<Block>> = op.regions().map(|region| body.entry_block(region)).collect();
        let mut starts = Vec::new();
        let mut count = op.num_results();
        for entry in &entries {
            starts.push(count);
            count += entry.map_or(0, |block| body.num_arguments(block));
        }
        let mut slots = Slots { parents: (0..count).collect(), starts };
        let mut by_operand: HashMap<(Op, usize), usize> = HashMap::new();
        let mut is_filled = vec![false; count];
        for (from, edge) in edges {
            let (start, len) = match edge.to {
                None => (0, op.num_results()),
                Some(region) => {
                    let block = entries.get(region).copied().flatten()?;
                    (slots.starts[region], body.num_arguments(block))
                }
            };
            if edge.first + edge.operands.len() != len {
                return None;
            }
            for (i, operand) in edge.operands.clone().enumerate() {
                let place = start + edge.first + i;
                is_filled[place] = true;
                match by_operand.get(&(*from, operand)) {
                    Some(other) => slots.union(*other, place),
                    None => {
                        by_operand.insert((*from, operand), place);
                    }
                }
            }
        }
        let mut groups: HashMap<usize, Slot> = HashMap::new();
        for place in (0..count).filter(|place| is_filled[*place]) {
            let slot = groups.entry(slots.root(place)).or_default();
            match slots.starts.iter().rposition(|start| *start <= place) {
                // Of regions with one start, the last has the arguments.
                Some(region) if place >= op.num_results() => {
                    slot.arguments.push((entries[region]?, place - slots.starts[region]));
                }
                _ => slot.results.push(place),
            }
        }
        for (operand, place) in by_operand {
            groups.entry(slots.root(place)).or_default().operands.push(operand);
        }
        let mut all: Vec<(usize, Slot)> = groups.into_iter().collect();
        all.sort_by_key(|(root, _)| *root);
        // Every result is filled, or the operation cannot be rewritten.
        let is_full = is_filled[..op.num_results()].iter().all(|filled| *filled);
        let mut flow = RegionFlow { of_results: vec![0; op.num_results()], ..RegionFlow::default() };
        for (number, (_, slot)) in all.into_iter().enumerate() {
            slot.results.iter().for_each(|result| flow.of_results[*result] = number);
            flow.of_arguments.extend(slot.arguments.iter().map(|argument| (*argument, number)));
            flow.slots.push(slot);
        }
        is_full.then_some(flow)
    }

    fn root(&mut self, place: usize) -> usize {
        let mut place = place;
        while self.parents[place] != place {
            self.parents[place] = self.parents[self.parents[place]];
            place = self.parents[place];
        }
        place
    }

    fn union(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b)] = a.min(b);
    }
}

enum Item {
    Value(Unit, Value),
    Op(Unit, Op),
}

struct Walk<'p, 'b> {
    program: &'p Program<'b>,
    live: Liveness,
    pending: Vec<Item>,
}

impl Walk<'_, '_> {
    fn run(&mut self) {
        for unit in self.program.units() {
            let body = self.program.body(unit);
            self.need(unit, body.root());
            self.mark_unknown_edges(unit);
            let effects = Effects::of(body);
            for op in body.all_ops() {
                let is_known = self.live.flows[unit].contains_key(&op);
                let is_end = body.block_of(op).is_some_and(|block| body.terminator(block) == Some(op));
                let own = if is_known {
                    // What stands inside is visited by itself.
                    Summary::of_itself(body.op_ref(op))
                } else {
                    effects.get(op)
                };
                let is_symbol = body.has_trait(op, Trait::Symbol);
                let is_skipped = own.is_removable() || (is_end && self.is_passing(unit, op));
                if is_symbol || !is_skipped {
                    self.need(unit, op);
                }
            }
        }
        while let Some(item) = self.pending.pop() {
            match item {
                Item::Value(unit, value) => self.visit_value(unit, value),
                Item::Op(unit, op) => self.visit_op(unit, op),
            }
        }
    }

    /// Marks the arguments of blocks that a branch of an unknown kind leads to.
    fn mark_unknown_edges(&mut self, unit: Unit) {
        let body = self.program.body(unit);
        for block in body.all_blocks() {
            let is_unknown = |branch: Op| body.info(branch).interface::<dyn BranchLike>().is_none();
            if body.predecessor_edges(block).any(|(branch, _)| is_unknown(branch)) {
                body.arguments(block).for_each(|argument| self.mark(unit, argument));
            }
        }
    }

    /// True if a terminator does nothing but pass values along known edges.
    fn is_passing(&self, unit: Unit, op: Op) -> bool {
        let body = self.program.body(unit);
        let view = body.op_ref(op);
        let Some(parent) = body.parent_op(op) else { return false };
        if is_unreachable(view) || body.own_regions(op).len() > 0 || body.num_results(op) > 0 {
            return false;
        }
        if view.successors().len() > 0 {
            return view.info().interface::<dyn BranchLike>().is_some();
        }
        match parent == body.root() {
            true => self.live.is_closed[unit] && self.returns(unit, op),
            false => self.live.flows[unit].contains_key(&parent),
        }
    }

    fn returns(&self, unit: Unit, op: Op) -> bool {
        self.program.function(unit).is_some_and(|function| function.returns.contains(&op))
    }

    fn need(&mut self, unit: Unit, op: Op) {
        if !std::mem::replace(&mut self.live.ops[unit][op.index()], true) {
            self.pending.push(Item::Op(unit, op));
        }
    }

    fn mark(&mut self, unit: Unit, value: Value) {
        if !std::mem::replace(&mut self.live.values[unit][value.index()], true) {
            self.pending.push(Item::Value(unit, value));
        }
    }

    /// Visits an operation that has to run: what decides that it runs matters.
    fn visit_op(&mut self, unit: Unit, op: Op) {
        let body = self.program.body(unit);
        if let Some(parent) = body.parent_op(op) {
            self.need(unit, parent);
        }
        if body.nested(op).is_some() {
            return;
        }
        let regions: Vec<Region> = body.own_regions(op).collect();
        for block in regions.into_iter().flat_map(|region| body.blocks(region)) {
            if let Some(end) = body.terminator(block) {
                self.need(unit, end);
            }
        }
        let passed = self.passed(unit, op);
        for (i, value) in body.operands(op).enumerate() {
            if !passed.contains(&i) {
                self.mark(unit, value);
            }
        }
    }

    /// Returns the operands of an operation that matter only if their targets do.
    fn passed(&self, unit: Unit, op: Op) -> HashSet<usize> {
        let body = self.program.body(unit);
        let view = body.op_ref(op);
        if let Some(callee) = self.program.callee(unit, op)
            && self.live.is_closed[callee]
        {
            return (0..body.num_operands(op)).collect();
        }
        if let Some(flow) = self.live.flow(unit, op) {
            return operands_of(flow, op);
        }
        if !self.is_passing(unit, op) {
            return HashSet::new();
        }
        if view.successors().len() > 0 {
            return passed_operands(body, op).into_iter().flatten().collect();
        }
        match body.parent_op(op).and_then(|parent| self.live.flow(unit, parent)) {
            Some(flow) => operands_of(flow, op),
            None => (0..body.num_operands(op)).collect(),
        }
    }

    fn visit_value(&mut self, unit: Unit, value: Value) {
        let body = self.program.body(unit);
        match body.def(value) {
            ValueDef::OpResult { op, index } => {
                self.need(unit, op);
                if self.live.flows[unit].contains_key(&op) {
                    return self.mark_slot(unit, op, |flow| flow.of_results.get(index).copied());
                }
                let Some(callee) = self.program.callee(unit, op) else { return };
                if self.live.is_closed[callee] && self.live.returned.insert((callee, index)) {
                    let to = self.program.body(callee);
                    let returns = self.program.function(callee).map(|function| function.returns.clone());
                    for end in returns.unwrap_or_default() {
                        self.mark(callee, to.operand(end, index));
                    }
                    // All calls keep the result.
                    self.mark_calls(callee, |body, call| body.result(call, index));
                }
            }
            ValueDef::BlockArgument { block, index } => self.visit_argument(unit, block, index),
        }
    }

    fn visit_argument(&mut self, unit: Unit, block: Block, index: usize) {
        let body = self.program.body(unit);
        let parent = body.region_parent(body.block_region(block));
        self.need(unit, parent);
        if body.is_entry(block) {
            if parent != body.root() {
                return self.mark_slot(unit, parent, |flow| flow.of_arguments.get(&(block, index)).copied());
            }
            if self.live.is_closed[unit] {
                self.mark_calls(unit, |body, call| body.operand(call, index));
            }
            return;
        }
        for (branch, successor) in body.predecessor_edges(block) {
            if let Some(passed) = successor_operands(body, branch)
                && let Some(value) = passed.get(successor).and_then(|passed| passed.get(index))
            {
                self.mark(unit, *value);
            }
        }
    }

    /// Marks a value at each call of a function.
    fn mark_calls(&mut self, unit: Unit, value: impl Fn(&Body, Op) -> Value) {
        let calls = self.program.function(unit).map(|function| function.calls.clone());
        for (caller, call) in calls.unwrap_or_default() {
            self.mark(caller, value(self.program.body(caller), call));
        }
    }

    /// Marks everything in a slot of an operation.
    fn mark_slot(&mut self, unit: Unit, op: Op, number: impl Fn(&RegionFlow) -> Option<usize>) {
        let body = self.program.body(unit);
        let Some(flow) = self.live.flow(unit, op) else { return };
        let Some(slot) = number(flow).and_then(|number| flow.slots.get(number)) else { return };
        let Slot { operands, results, arguments } = slot.clone();
        operands.into_iter().for_each(|(from, i)| self.mark(unit, body.operand(from, i)));
        results.into_iter().for_each(|i| self.mark(unit, body.result(op, i)));
        arguments.into_iter().for_each(|(block, i)| self.mark(unit, body.argument(block, i)));
    }
}

fn operands_of(flow: &RegionFlow, op: Op) -> HashSet<usize> {
    let own = flow.slots.iter().flat_map(|slot| &slot.operands).filter(|(from, _)| *from == op);
    own.map(|(_, operand)| *operand).collect()
}
