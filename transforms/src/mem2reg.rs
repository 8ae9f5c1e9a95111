//! Promotion of memory to values: an allocation of one element that is only loaded and stored is
//! removed, and loads are replaced by the value stored last.
//!
//! If several stores meet before a load, the block gets an argument: in the iterated dominance
//! frontier of the stores, where a load may follow ([`iterated_frontier`]). Unwritten memory has
//! the allocation's default value. Names and rules are MLIR's: an allocation is a
//! [`PromotableAllocation`], its uses are [`PromotableAccess`]es (for a memref any
//! [`MemoryAccess`]). The pass therefore works at every level: `llvm.alloca` in a control flow
//! graph as well as a `memref.alloca` of one element. Loads may be inside operations with regions
//! that [run in place](runs_in_place), if nothing inside stores; stores may not.
//!
//! An access of another type with as many bytes becomes a cast, if the allocation knows
//! [one](PromotableAllocation::reinterpret).
//!
//! An allocation stays if its address has other uses, if an access has another size or must stay (a
//! volatile access), or if it is unreachable. It also stays if a branch of an unknown kind leads to
//! a block where stores meet.
//!
//! **Cost.** Linear in the operations, and for each allocation in the blocks where its value is
//! live, with the edges into and out of them.
//!
//! # Limits
//!
//! - Memory that is stored to inside an operation with regions stays in memory.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::branch::{set_successor_operands, successor_operands};
use loomir_dialects::interfaces::{
    MemoryAccess, MemorySlot, PromotableAccess, PromotableAllocation, SlotAccess, runs_in_place,
};
use loomir_ir::graph::ControlFlow;
use loomir_ir::graph::dominators::DominatorTree;
use loomir_ir::graph::frontiers::iterated_frontier;
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Block, Body, Diagnostics, Op, Region, Trait, Type, Value};

/// The pass `mem2reg`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "mem2reg",
    anchor: None,
    summary: "Replace memory that is only loaded and stored by values",
    options: &[],
    make: |_| Ok(Box::new(Mem2Reg)),
};

struct Mem2Reg;

impl Pass for Mem2Reg {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        body.for_each_body(&mut |body| {
            let done = mem2reg(body);
            cx.count("Allocations promoted", done.allocations as u64);
            cx.count("Loads replaced", done.loads as u64);
            cx.count("Stores erased", done.stores as u64);
            cx.count("Block arguments made", done.arguments as u64);
        });
        Ok(())
    }
}

/// The statistics of a promotion.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Promoted {
    /// Allocations that went.
    pub allocations: usize,
    /// Loads that became values.
    pub loads: usize,
    /// Stores that went.
    pub stores: usize,
    /// The number of block arguments added where stores meet.
    pub arguments: usize,
}

/// Promotes every promotable allocation of a body. Repeats this for allocations whose addresses
/// were stored in a promoted one.
pub fn mem2reg(body: &mut Body) -> Promoted {
    let mut done = Promoted::default();
    let mut allocations: Vec<Op> = body.preorder(body.root()).filter(|op| is_allocation(body, *op)).collect();
    while !allocations.is_empty() {
        let mut by_region: HashMap<Region, Vec<Candidate>> = HashMap::new();
        let mut regions = Vec::new();
        for candidate in allocations.drain(..).filter_map(|op| Candidate::of(body, op)) {
            let region = candidate.region;
            let others = by_region.entry(region).or_insert_with(|| {
                regions.push(region);
                Vec::new()
            });
            others.push(candidate);
        }
        for region in regions {
            let candidates = by_region.remove(&region).unwrap_or_default();
            allocations.extend(Promotion::of(body, region, candidates).run(body, &mut done));
        }
        let mut seen = HashSet::new();
        allocations.retain(|op| seen.insert(*op));
    }
    done
}

fn is_allocation(body: &Body, op: Op) -> bool {
    body.info(op).interface::<dyn PromotableAllocation>().is_some()
}

/// An allocation whose uses are known.
#[derive(Clone, Debug)]
struct Candidate {
    op: Op,
    slot: MemorySlot,
    region: Region,
    uses: Vec<(Op, SlotAccess)>,
}

impl Candidate {
    /// Returns an allocation that is only loaded and stored, in its region.
    fn of(body: &Body, op: Op) -> Option<Candidate> {
        let model = body.info(op).interface::<dyn PromotableAllocation>()?;
        let slot = model.slot(body.op_ref(op))?;
        let region = body.region_of(op)?;
        if body.has_trait(body.region_parent(region), Trait::GraphRegion) {
            return None;
        }
        let mut uses: Vec<(Op, SlotAccess)> = Vec::new();
        for used in body.uses(slot.pointer) {
            let access = access(body, used.op, (model, slot))?;
            let is_here = body.region_of(used.op) == Some(region);
            let is_load = matches!(access, SlotAccess::Load(_)) && runs_in_place(body, used.op, region);
            if !is_here && !is_load {
                return None;
            }
            uses.push((used.op, access));
        }
        Some(Candidate { op, slot, region, uses })
    }

    /// Returns the value that an operation stores.
    fn stored(&self, body: &Body, at: Op) -> Option<Value> {
        let model = body.info(self.op).interface::<dyn PromotableAllocation>()?;
        match access(body, at, (model, self.slot))? {
            SlotAccess::Store(stored) => Some(stored),
            SlotAccess::Load(_) | SlotAccess::Marker => None,
        }
    }
}

/// Returns the access of an operation to a slot, if it is known and can be expressed with a value.
fn access(body: &Body, op: Op, (model, slot): (&dyn PromotableAllocation, MemorySlot)) -> Option<SlotAccess> {
    let view = body.op_ref(op);
    let access = match view.info().interface::<dyn PromotableAccess>() {
        Some(model) => model.access(view, slot)?,
        None => {
            let access = view.info().interface::<dyn MemoryAccess>()?.access(view);
            match access.stored {
                _ if access.memref != slot.pointer => return None,
                Some(value) => SlotAccess::Store(value),
                None => SlotAccess::Load(view.results().next()?),
            }
        }
    };
    let is_expressible =
        |from: Type, to: Type| from == to || model.reinterpret(body.ctx(), from, to).is_some();
    match access {
        SlotAccess::Load(value) => is_expressible(slot.ty, body.value_type(value)),
        SlotAccess::Store(value) => value != slot.pointer && is_expressible(body.value_type(value), slot.ty),
        SlotAccess::Marker => true,
    }
    .then_some(access)
}

/// The state of the promotion of a region's allocations, by number.
struct Promotion {
    flow: ControlFlow,
    dominators: DominatorTree,
    slots: Vec<Candidate>,
    /// The accesses to slots of operations in the region, including nested ones.
    accesses: HashMap<Op, Vec<(usize, Op, SlotAccess)>>,
    /// The slots for which a block gets arguments, and the index of the first argument.
    arguments: HashMap<Block, (usize, Vec<usize>)>,
    /// The current value of each slot.
    values: Vec<Value>,
    /// The default value of each slot, and the values before changes that are still open.
    defaults: Vec<Value>,
    changes: Vec<(usize, Value)>,
}

impl Promotion {
    fn of(body: &mut Body, region: Region, candidates: Vec<Candidate>) -> Promotion {
        let flow = ControlFlow::of(body, region);
        let dominators = DominatorTree::new(flow.graph(), 0);
        let mut slots: Vec<Candidate> = Vec::new();
        let mut accesses: HashMap<Op, Vec<(usize, Op, SlotAccess)>> = HashMap::new();
        let mut at_block: Vec<Vec<usize>> = vec![Vec::new(); flow.blocks().len()];
        let mut meetings = Meetings::new(&flow, &dominators);
        for candidate in candidates {
            let Some(blocks) = meetings.of(body, &candidate) else { continue };
            for block in blocks {
                at_block[block as usize].push(slots.len());
            }
            for (op, access) in &candidate.uses {
                accesses.entry(standing_in(body, *op, region)).or_default().push((slots.len(), *op, *access));
            }
            slots.push(candidate);
        }
        let mut arguments = HashMap::new();
        for (block, own) in flow.blocks().iter().zip(at_block).filter(|(_, own)| !own.is_empty()) {
            let first = body.num_arguments(*block);
            for slot in &own {
                let argument = body.add_argument(*block, slots[*slot].slot.ty);
                body.set_argument_loc(argument, body.loc(slots[*slot].op));
            }
            arguments.insert(*block, (first, own));
        }
        let (values, defaults, changes) = (Vec::new(), Vec::new(), Vec::new());
        Promotion { flow, dominators, slots, accesses, arguments, values, defaults, changes }
    }

    /// Replaces the slots by values. Returns the allocations whose addresses these slots held.
    fn run(mut self, body: &mut Body, done: &mut Promoted) -> Vec<Op> {
        for candidate in &self.slots {
            let Some(model) = body.info(candidate.op).interface::<dyn PromotableAllocation>() else {
                continue;
            };
            let mut state = model.default_value(body.op_ref(candidate.op), candidate.slot);
            state.loc = body.loc(candidate.op);
            let default = body.create(state);
            body.insert_before(candidate.op, default);
            self.defaults.push(body.result(default, 0));
        }
        self.values.clone_from(&self.defaults);
        // Dominators come first. After the blocks that a block dominates, the slots have their
        // earlier values again.
        let mut pending = vec![(0u32, None)];
        while let Some((node, open)) = pending.pop() {
            if let Some(open) = open {
                for (slot, before) in self.changes.drain(open..).rev() {
                    self.values[slot] = before;
                }
                continue;
            }
            pending.push((node, Some(self.changes.len())));
            self.rename(body, node);
            pending.extend(self.dominators.children_of(node).map(|child| (child, None)));
        }
        let nodes = 0..self.flow.blocks().len() as u32;
        for node in nodes.filter(|node| !self.dominators.is_reachable(*node)).collect::<Vec<_>>() {
            self.rename(body, node);
            for (slot, before) in self.changes.drain(..).rev() {
                self.values[slot] = before;
            }
        }
        done.arguments += self.arguments.values().map(|(_, slots)| slots.len()).sum::<usize>();
        done.allocations += self.slots.len();
        self.erase(body, done)
    }

    fn erase(self, body: &mut Body, done: &mut Promoted) -> Vec<Op> {
        let mut held = Vec::new();
        let gone: HashSet<Op> = self.slots.iter().map(|candidate| candidate.op).collect();
        for candidate in &self.slots {
            for (op, access) in &candidate.uses {
                match access {
                    SlotAccess::Load(_) => done.loads += 1,
                    SlotAccess::Store(_) => done.stores += 1,
                    SlotAccess::Marker => {}
                }
                let pointers = body.operands(*op).filter_map(|value| body.defining_op(value));
                held.extend(pointers.filter(|from| !gone.contains(from) && is_allocation(body, *from)));
                body.erase(*op);
            }
            body.erase(candidate.op);
        }
        for default in self.defaults.iter().filter(|default| !body.is_used(**default)).collect::<Vec<_>>() {
            body.defining_op(*default).into_iter().for_each(|op| body.erase(op));
        }
        held
    }

    /// Returns a value, before `at`, of type `ty` with the bytes of `value`.
    fn reinterpreted(&self, body: &mut Body, slot: usize, at: Op, value: Value, ty: Type) -> Value {
        let from = body.value_type(value);
        if from == ty {
            return value;
        }
        let allocation = self.slots[slot].op;
        let model = body.info(allocation).interface::<dyn PromotableAllocation>();
        let Some(mut state) = model.and_then(|model| model.reinterpret(body.ctx(), from, ty)) else {
            return value;
        };
        (state.loc, state.operands) = (body.loc(at), vec![value]);
        let op = body.create(state);
        body.insert_before(at, op);
        body.result(op, 0)
    }

    /// Visits a block with the slots' values at its start. Replaces loads by values, and passes the
    /// arguments that successors need.
    fn rename(&mut self, body: &mut Body, node: u32) {
        let block = self.flow.block(node);
        if let Some((first, slots)) = self.arguments.get(&block) {
            for (place, slot) in slots.iter().enumerate() {
                let argument = body.argument(block, first + place);
                self.changes.push((*slot, std::mem::replace(&mut self.values[*slot], argument)));
            }
        }
        let mut next = body.first_op(block);
        while let Some(op) = next {
            next = body.next_op(op);
            for (slot, at, access) in self.accesses.remove(&op).unwrap_or_default() {
                match access {
                    SlotAccess::Load(value) => {
                        let ty = body.value_type(value);
                        let content = self.reinterpreted(body, slot, at, self.values[slot], ty);
                        body.replace_all_uses(value, content);
                    }
                    SlotAccess::Store(_) => {
                        // The stored value may have been loaded from another slot.
                        let Some(stored) = self.slots[slot].stored(body, at) else { continue };
                        let ty = self.slots[slot].slot.ty;
                        let stored = self.reinterpreted(body, slot, at, stored, ty);
                        self.changes.push((slot, std::mem::replace(&mut self.values[slot], stored)));
                    }
                    SlotAccess::Marker => {}
                }
            }
        }
        let Some(branch) = body.last_op(block) else { return };
        let targets: Vec<Block> = body.successors(branch).collect();
        if !targets.iter().any(|to| self.arguments.contains_key(to)) {
            return;
        }
        let mut operands = successor_operands(body, branch).unwrap_or_default();
        for (to, operands) in targets.iter().zip(&mut operands) {
            if let Some((_, slots)) = self.arguments.get(to) {
                operands.extend(slots.iter().map(|slot| self.values[*slot]));
            }
        }
        set_successor_operands(body, branch, &operands);
    }
}

/// Returns `op`, or its ancestor, directly in `region`.
fn standing_in(body: &Body, op: Op, region: Region) -> Op {
    let mut op = op;
    while body.region_of(op) != Some(region) {
        match body.parent_op(op) {
            Some(parent) => op = parent,
            None => break,
        }
    }
    op
}

/// The search for the blocks where stored values of a slot meet.
struct Meetings<'f> {
    flow: &'f ControlFlow,
    dominators: &'f DominatorTree,
    /// The last slot for which a block was found to write, or to be live on entry.
    writes: Vec<usize>,
    is_live: Vec<usize>,
    slot: usize,
}

impl<'f> Meetings<'f> {
    fn new(flow: &'f ControlFlow, dominators: &'f DominatorTree) -> Self {
        let none = || vec![0; flow.blocks().len()];
        Meetings { flow, dominators, writes: none(), is_live: none(), slot: 0 }
    }

    /// Returns the blocks where several stores to a slot meet before a load. `None` if the slot
    /// stays in memory.
    fn of(&mut self, body: &Body, candidate: &Candidate) -> Option<Vec<u32>> {
        self.slot += 1;
        let slot = self.slot;
        let home = self.node(body, candidate.op)?;
        let mut writing = vec![home];
        self.writes[home as usize] = slot;
        // For each block, its first access.
        let mut first: HashMap<u32, (Op, bool)> = HashMap::new();
        for (op, access) in &candidate.uses {
            let at = standing_in(body, *op, candidate.region);
            let Some(node) = self.node(body, at) else { continue };
            let stores = match access {
                SlotAccess::Load(_) => false,
                SlotAccess::Store(_) => true,
                SlotAccess::Marker => continue,
            };
            if stores && std::mem::replace(&mut self.writes[node as usize], slot) != slot {
                writing.push(node);
            }
            let known = first.entry(node).or_insert((at, stores));
            if body.is_before_in_block(at, known.0) {
                *known = (at, stores);
            }
        }
        if writing.len() == 1 {
            return Some(Vec::new());
        }
        let loads_first = |(node, (_, stores)): (u32, (Op, bool))| (node != home && !stores).then_some(node);
        let mut pending: Vec<u32> = first.into_iter().filter_map(loads_first).collect();
        let mut live = Vec::new();
        while let Some(node) = pending.pop() {
            if std::mem::replace(&mut self.is_live[node as usize], slot) == slot {
                continue;
            }
            live.push(node);
            let from = self.flow.reversed().successors(node).iter().copied();
            let passes =
                |from: &u32| self.writes[*from as usize] != slot && self.dominators.is_reachable(*from);
            pending.extend(from.filter(passes));
        }
        let mut blocks = iterated_frontier(self.flow.reversed(), self.dominators, &writing, &live);
        blocks.sort_unstable();
        let hands_on = |block: &u32| {
            let mut into = body.predecessors(self.flow.block(*block));
            into.all(|from| body.last_op(from).is_some_and(|op| successor_operands(body, op).is_some()))
        };
        blocks.iter().all(hands_on).then_some(blocks)
    }

    /// Returns the number of an operation's block, if it is reachable.
    fn node(&self, body: &Body, op: Op) -> Option<u32> {
        let node = self.flow.number(body.block_of(op)?);
        self.dominators.is_reachable(node).then_some(node)
    }
}
