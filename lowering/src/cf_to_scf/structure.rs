//! Blocks become regions.
//!
//! A *chain* is a sequence of blocks that run one after the other in one region: a block and what
//! it dominates. At a branch, a successor that only the branch leads to begins a region of its own.
//! Other successors are targets, and the regions say which one was taken. A target dominated by the
//! branch follows in the same region, under a test if there are several. Others are left to the
//! code around. A loop is a chain too: its targets are its header and its exits.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::{arith, llvm, scf};
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Attr, Block, Body, Builder, InsertPoint, Loc, Op, Type, Value};

use super::counted::Counted;
use super::exits::{Exits, Target, selector_of, selector_type};
use super::regions::{Part, parts};
use super::{MAX_DEPTH, Opaque};
use crate::cfg::arithmetic;
use crate::cfg::branch::{LOOP_ANNOTATION, case_values, targets};
use crate::cfg::{Analysis, place_of};

/// The place of the chain being written.
#[derive(Clone, Copy)]
struct Place {
    /// The loop whose body it is in.
    of: Option<LoopId>,
    /// The number of regions around.
    depth: usize,
}

/// Moves the operations of a function into regions. See the [module](self).
pub(super) struct Structure<'a> {
    pub(super) body: &'a mut Body,
    pub(super) analysis: &'a Analysis,
    /// The place of each block in reverse postorder.
    order: Vec<u32>,
    /// The blocks in reverse postorder, by number.
    nodes: Vec<u32>,
    /// The loops that become `scf.for`.
    pub(super) counted: HashMap<LoopId, Counted>,
    /// The values that took the place of block arguments.
    pub(super) renamed: HashMap<Value, Value>,
    /// The part being written, if the whole function is not.
    within: Option<Within>,
}

/// A part of a function.
struct Within {
    nodes: HashSet<u32>,
    /// The block whose branch stays.
    end: Option<u32>,
}

/// A region that is written: its block, and the ways out of it.
struct Arm {
    block: Block,
    exits: Exits,
}

/// The way to choose among regions.
enum Choice {
    If(Value),
    /// The cases of all regions but the first, which is the default.
    Switch(Value, Vec<i64>),
}

impl<'a> Structure<'a> {
    pub(super) fn new(
        body: &'a mut Body,
        analysis: &'a Analysis,
        counted: HashMap<LoopId, Counted>,
    ) -> Structure<'a> {
        let nodes = reverse_postorder(analysis);
        let mut order = vec![u32::MAX; nodes.iter().map(|node| *node as usize + 1).max().unwrap_or(0)];
        for (at, node) in nodes.iter().enumerate() {
            order[*node as usize] = at as u32;
        }
        Structure { body, analysis, order, nodes, counted, renamed: HashMap::new(), within: None }
    }

    /// Writes the whole function into its entry block, and erases all others.
    pub(super) fn run(mut self) -> Result<(), Opaque> {
        let region = self.body.region(self.body.root(), 0);
        let Some(entry) = self.body.entry_block(region) else { return Ok(()) };
        let exits = self.chain((Target::Block(0), Vec::new()), entry, Place { of: None, depth: 0 })?;
        let mut builder = Builder::new(self.body, InsertPoint::End(entry));
        let state = match exits.values(Target::Return) {
            Some(values) => builder.state(llvm::ReturnOp::DEF).operands(values),
            None => builder.state(llvm::UnreachableOp::DEF),
        };
        builder.insert(state);
        let rest: Vec<Block> = self.body.blocks(region).filter(|block| *block != entry).collect();
        self.body.erase_blocks(&rest);
        Ok(())
    }

    /// Returns the parts of the function that need no branches on data.
    pub(super) fn parts(&self) -> Vec<Part> {
        let postorder: Vec<u32> = self.nodes.iter().rev().copied().collect();
        parts(self.body, self.analysis, &postorder, &|own| self.counted.contains_key(&own))
    }

    /// Writes each part of a function into its entry. The other blocks stay.
    pub(super) fn run_parts(mut self, parts: &[Part]) -> Result<(), Opaque> {
        for Part { nodes, end } in parts {
            let entry = self.analysis.block(nodes[0]);
            self.within = Some(Within { nodes: nodes.iter().copied().collect(), end: *end });
            let of = self.analysis.loops().innermost(nodes[0]);
            let exits = self.chain((self.target(entry), Vec::new()), entry, Place { of, depth: 0 })?;
            let end = end.and_then(|end| self.body.terminator(self.analysis.block(end)));
            match (end, exits.targets().next()) {
                (Some(end), _) => self.body.move_to_end(end, entry),
                (None, Some(target)) => self.lead_on(entry, target, &exits)?,
                (None, None) => return Err(Opaque::Branch),
            }
            let rest: Vec<Block> = nodes[1..].iter().map(|node| self.analysis.block(*node)).collect();
            self.body.erase_blocks(&rest);
        }
        Ok(())
    }

    /// Ends a part with a branch to its only target.
    fn lead_on(&mut self, entry: Block, target: Target, exits: &Exits) -> Result<(), Opaque> {
        let Some(to) = self.block(target).filter(|_| exits.len() == 1) else { return Err(Opaque::Branch) };
        let loc = place_of(self.body, to);
        let values = exits.values(target).unwrap_or_default();
        let mut builder = Builder::new(self.body, InsertPoint::End(entry));
        builder.set_loc(loc);
        let state = builder.state(llvm::BrOp::DEF).operands(values).successors(&[to]);
        builder.insert(state);
        Ok(())
    }

    /// True if a block is in the part being written.
    fn is_within(&self, node: u32) -> bool {
        self.within.as_ref().is_none_or(|within| within.nodes.contains(&node))
    }

    pub(super) fn block(&self, target: Target) -> Option<Block> {
        match target {
            Target::Block(order) => Some(self.analysis.block(self.nodes[order as usize])),
            Target::Return => None,
        }
    }

    fn node(&self, target: Target) -> Option<u32> {
        match target {
            Target::Block(order) => Some(self.nodes[order as usize]),
            Target::Return => None,
        }
    }

    fn target(&self, block: Block) -> Target {
        Target::Block(self.order[self.analysis.number(block) as usize])
    }

    /// Returns the loop that a block is the header of.
    fn loop_at(&self, node: u32) -> Option<LoopId> {
        let loops = self.analysis.loops();
        loops.innermost(node).filter(|id| loops.get(*id).header() == node)
    }

    /// Writes a chain that starts at a block with these arguments, at the end of `into`.
    fn chain(
        &mut self,
        (start, values): (Target, Vec<Value>),
        into: Block,
        place: Place,
    ) -> Result<Exits, Opaque> {
        if place.depth > MAX_DEPTH {
            return Err(Opaque::Deep);
        }
        let (mut at, mut values) = (start, values);
        loop {
            let Some(node) = self.node(at) else { return Ok(Exits::one(at, values)) };
            let inner = self.loop_at(node).filter(|own| Some(*own) != place.of);
            let mut exits = match inner {
                Some(own) => self.whole_loop(own, &values, into, place)?,
                None => {
                    self.bind(self.analysis.block(node), &values);
                    self.straight(node, into, place)?
                }
            };
            loop {
                let owned = exits.targets().find(|target| self.is_owned(*target, (node, inner), place));
                let Some(next) = owned else { return Ok(exits) };
                let passed = exits.values(next).unwrap_or_default().to_vec();
                if exits.len() == 1 {
                    (at, values) = (next, passed);
                    break;
                }
                exits = self.under_test((next, passed), exits, into, place)?;
            }
        }
    }

    /// True if a target follows a block or a loop in the same region.
    fn is_owned(&self, target: Target, (node, inner): (u32, Option<LoopId>), place: Place) -> bool {
        let Some(to) = self.node(target).filter(|to| self.is_within(*to)) else { return false };
        let loops = self.analysis.loops();
        if place.of.is_some_and(|around| !loops.contains(around, to) || loops.get(around).header() == to) {
            return false;
        }
        self.analysis.dominators().idom(to).is_some_and(|dominator| match inner {
            Some(inner) => loops.contains(inner, dominator),
            None => dominator == node,
        })
    }

    /// Replaces the arguments of a block by values.
    pub(super) fn bind(&mut self, block: Block, values: &[Value]) {
        let arguments: Vec<Value> = self.body.arguments(block).collect();
        // The entry's arguments are the function's.
        for (argument, value) in arguments.into_iter().zip(values) {
            self.body.replace_all_uses(argument, *value);
            self.renamed.insert(argument, *value);
        }
    }

    /// Returns the value that a value of the original function is now.
    pub(super) fn current(&self, value: Value) -> Value {
        let mut value = value;
        while let Some(next) = self.renamed.get(&value) {
            value = *next;
        }
        value
    }

    /// Moves the operations of a block to the end of `into`, and writes its branch.
    fn straight(&mut self, node: u32, into: Block, place: Place) -> Result<Exits, Opaque> {
        let block = self.analysis.block(node);
        let Some(branch) = self.body.terminator(block) else { return Err(Opaque::Branch) };
        if block != into {
            let ops: Vec<Op> = self.body.ops(block).filter(|op| *op != branch).collect();
            ops.into_iter().for_each(|op| self.body.move_to_end(op, into));
        }
        if self.within.as_ref().is_some_and(|within| within.end == Some(node)) {
            return Ok(Exits::none());
        }
        self.branch(branch, into, place)
    }

    /// Writes the branch at the end of a chain's block, and erases the old one.
    fn branch(&mut self, branch: Op, into: Block, place: Place) -> Result<Exits, Opaque> {
        let loc = self.body.loc(branch);
        let condition = self.body.operands(branch).next();
        let all: Vec<(Target, Vec<Value>)> =
            targets(self.body, branch).into_iter().map(|to| (self.target(to.block), to.operands)).collect();
        let is = |def| self.body.is(branch, def);
        if is(llvm::ReturnOp::DEF) {
            let values = self.body.operands(branch).collect();
            self.body.erase(branch);
            return Ok(Exits::one(Target::Return, values));
        }
        if is(llvm::UnreachableOp::DEF) {
            self.body.erase(branch);
            self.assume_false(into, loc);
            return Ok(Exits::none());
        }
        match (condition, &all[..]) {
            (_, [only]) if is(llvm::BrOp::DEF) => {
                self.body.erase(branch);
                Ok(Exits::one(only.0, only.1.clone()))
            }
            (Some(condition), [yes, no]) if is(llvm::CondBrOp::DEF) => {
                let (yes, no) = (yes.clone(), no.clone());
                let starts = [&yes, &no].map(|(to, _)| self.begins_region(*to, place));
                self.body.erase(branch);
                if starts == [false; 2] && yes.0 != no.0 {
                    return Ok(Exits::choice(condition, yes, no));
                }
                let arms = [self.arm(yes, starts[0], place)?, self.arm(no, starts[1], place)?];
                self.construct(Choice::If(condition), arms.into(), into, loc)
            }
            (Some(value), _) if is(llvm::SwitchOp::DEF) => self.switch(branch, value, all, into, place),
            _ => Err(Opaque::Branch),
        }
    }

    fn switch(
        &mut self,
        branch: Op,
        value: Value,
        all: Vec<(Target, Vec<Value>)>,
        into: Block,
        place: Place,
    ) -> Result<Exits, Opaque> {
        let loc = self.body.loc(branch);
        let width = self.body.value_type(value).integer_width(self.body.ctx()).unwrap_or(u32::MAX);
        if width > 64 {
            return Err(Opaque::Branch);
        }
        let cases: Vec<i64> = case_values(self.body, branch).into_iter().map(|bits| bits as i64).collect();
        let starts: Vec<bool> = all.iter().map(|(to, _)| self.begins_region(*to, place)).collect();
        self.body.erase(branch);
        let mut arms = Vec::with_capacity(all.len());
        for (to, starts) in all.into_iter().zip(starts) {
            arms.push(self.arm(to, starts, place)?);
        }
        let mut builder = Builder::new(self.body, InsertPoint::End(into));
        builder.set_loc(loc);
        let number = if width == 64 {
            value
        } else {
            let state = builder.state(llvm::ZExtOp::DEF).operands(&[value]).results(&[Type::I64]);
            builder.value(state)
        };
        let state = builder.state(arith::IndexCastOp::DEF).operands(&[number]).results(&[Type::INDEX]);
        let index = builder.value(state);
        self.construct(Choice::Switch(index, cases), arms, into, loc)
    }

    /// True if a successor of a branch begins a region: nothing else leads to it.
    fn begins_region(&self, to: Target, place: Place) -> bool {
        let Some(node) = self.node(to).filter(|node| self.is_within(*node)) else { return false };
        let is_inside = place.of.is_none_or(|around| self.analysis.loops().contains(around, node));
        is_inside && self.analysis.graph().predecessors(node).len() == 1
    }

    fn arm(
        &mut self,
        (to, values): (Target, Vec<Value>),
        begins_region: bool,
        place: Place,
    ) -> Result<Arm, Opaque> {
        let block = self.temporary(&[]);
        let exits = match begins_region {
            true => self.chain((to, values), block, Place { depth: place.depth + 1, ..place })?,
            false => Exits::one(to, values),
        };
        Ok(Arm { block, exits })
    }

    /// Returns a new block, which will move into a region.
    pub(super) fn temporary(&mut self, types: &[Type]) -> Block {
        let region = self.body.region(self.body.root(), 0);
        self.body.append_block(region, types)
    }

    /// Writes what follows at one of several targets, under the test that it is taken.
    fn under_test(
        &mut self,
        (next, values): (Target, Vec<Value>),
        exits: Exits,
        into: Block,
        place: Place,
    ) -> Result<Exits, Opaque> {
        let loc = self.block(next).map_or(Loc::UNKNOWN, |block| place_of(self.body, block));
        let mut builder = Builder::new(self.body, InsertPoint::End(into));
        builder.set_loc(loc);
        let condition = exits.is_taken(next, &mut builder);
        let taken = self.arm((next, values), true, place)?;
        let block = self.temporary(&[]);
        let other = Arm { block, exits: exits.without(next) };
        self.construct(Choice::If(condition), vec![taken, other], into, loc)
    }

    /// Writes an `scf.if` or `scf.index_switch` of finished regions. A value that all regions pass
    /// on is no result.
    fn construct(&mut self, choice: Choice, arms: Vec<Arm>, into: Block, loc: Loc) -> Result<Exits, Opaque> {
        let mut union: Vec<Target> = arms.iter().flat_map(|arm| arm.exits.targets()).collect();
        union.sort_unstable();
        union.dedup();
        let slots = self.slots(&union, &arms);
        let is_result = |slot: &&Slot| slot.common.is_none();
        let results: Vec<&Slot> = slots.iter().flatten().filter(is_result).collect();
        if arms.len().saturating_mul(results.len()) > super::MAX_PASSED {
            return Err(Opaque::Large);
        }
        let mut types: Vec<Type> = selector_type(&union).into_iter().collect();
        let has_selector = !types.is_empty();
        types.extend(results.iter().map(|slot| slot.ty));
        for arm in &arms {
            self.yield_from(arm, &union, &results, loc);
        }
        let ctx = self.body.ctx().clone();
        let mut builder = Builder::new(self.body, InsertPoint::End(into));
        builder.set_loc(loc);
        let state = match &choice {
            Choice::If(condition) => builder.state(scf::IfOp::DEF).operands(&[*condition]),
            Choice::Switch(value, cases) => builder.state(scf::IndexSwitchOp::DEF).operands(&[*value]).attr(
                &ctx,
                "cases",
                ctx.dense_ints_attr(Type::I64, cases),
            ),
        };
        let op = builder.insert(state.results(&types).regions(arms.len()));
        for (index, arm) in arms.iter().enumerate() {
            let region = self.body.region(op, index);
            let is_empty = types.is_empty() && self.body.first_op(arm.block) == self.body.last_op(arm.block);
            if is_empty && index == 1 && matches!(choice, Choice::If(_)) {
                self.body.erase_block(arm.block);
            } else {
                self.body.move_block(arm.block, region, None);
            }
        }
        let mut results = self.body.results(op).collect::<Vec<Value>>().into_iter();
        let selector = selector_of(&union, if has_selector { results.next() } else { None });
        let passed = union.into_iter().zip(slots).map(|(target, slots)| {
            let values = slots.into_iter().filter_map(|slot| slot.common.or_else(|| results.next()));
            (target, values.collect())
        });
        Ok(Exits::several(selector, passed.collect()))
    }

    /// Returns the slots of each target: one for each value passed to it.
    fn slots(&self, union: &[Target], arms: &[Arm]) -> Vec<Vec<Slot>> {
        let mut all: Vec<Vec<Slot>> = union.iter().map(|_| Vec::new()).collect();
        for arm in arms {
            for target in arm.exits.targets() {
                let Ok(at) = union.binary_search(&target) else { continue };
                let values = arm.exits.values(target).unwrap_or_default();
                for (index, value) in values.iter().enumerate() {
                    match all[at].get_mut(index) {
                        Some(slot) => slot.common = slot.common.filter(|common| common == value),
                        None => {
                            // A value of the region itself is not visible behind it.
                            let is_outside = self.body.value_block(*value) != Some(arm.block);
                            let ty = self.body.value_type(*value);
                            let common = is_outside.then_some(*value);
                            all[at].push(Slot { ty, target, index, common });
                        }
                    }
                }
            }
        }
        all
    }

    /// Ends a region: yields the selector and the passed values, poison for those of other targets.
    fn yield_from(&mut self, arm: &Arm, union: &[Target], slots: &[&Slot], loc: Loc) {
        let mut builder = Builder::new(self.body, InsertPoint::End(arm.block));
        builder.set_loc(loc);
        let mut yielded = Vec::with_capacity(slots.len() + 1);
        if union.len() > 1 {
            yielded.push(arm.exits.selector_among(union, &mut builder));
        }
        for slot in slots {
            let own = arm.exits.values(slot.target).and_then(|values| values.get(slot.index));
            yielded.push(own.copied().unwrap_or_else(|| poison(&mut builder, slot.ty)));
        }
        let state = builder.state(scf::YieldOp::DEF).operands(&yielded);
        builder.insert(state);
    }

    /// Writes a loop, and returns the ways out of it.
    fn whole_loop(
        &mut self,
        of: LoopId,
        inits: &[Value],
        into: Block,
        place: Place,
    ) -> Result<Exits, Opaque> {
        let annotation = self.annotation(of);
        if let Some(counted) = self.counted.remove(&of) {
            return self.for_loop(&counted, (of, annotation), inits, into, place.depth);
        }
        let header = self.analysis.loops().get(of).header();
        let loc = place_of(self.body, self.analysis.block(header));
        let types: Vec<Type> = inits.iter().map(|value| self.body.value_type(*value)).collect();
        let before = self.temporary(&types);
        let arguments: Vec<Value> = self.body.arguments(before).collect();
        let exits = self.body_of(of, arguments, before, place.depth)?;
        let again = self.again(of);
        let mut builder = Builder::new(self.body, InsertPoint::End(before));
        builder.set_loc(loc);
        let condition = exits.is_taken(again, &mut builder);
        let mut next = exits.values(again).unwrap_or_default().to_vec();
        if next.len() != types.len() {
            next = types.iter().map(|ty| poison(&mut builder, *ty)).collect();
        }
        let left = exits.without(again);
        let union: Vec<Target> = left.targets().collect();
        let mut passed = next.clone();
        let has_selector = union.len() > 1;
        if has_selector {
            passed.push(left.selector_among(&union, &mut builder));
        }
        passed.extend(left.all_values());
        let operands: Vec<Value> = std::iter::once(condition).chain(passed.iter().copied()).collect();
        let state = builder.state(scf::ConditionOp::DEF).operands(&operands);
        builder.insert(state);
        let types: Vec<Type> = passed.iter().map(|value| self.body.value_type(*value)).collect();
        let after = self.temporary(&types);
        let repeated: Vec<Value> = self.body.arguments(after).take(next.len()).collect();
        let mut builder = Builder::new(self.body, InsertPoint::End(after));
        builder.set_loc(loc);
        let state = builder.state(scf::YieldOp::DEF).operands(&repeated);
        builder.insert(state);
        let mut builder = Builder::new(self.body, InsertPoint::End(into));
        builder.set_loc(loc);
        let op = builder.insert(builder.state(scf::WhileOp::DEF).operands(inits).results(&types).regions(2));
        for (index, block) in [before, after].into_iter().enumerate() {
            let region = self.body.region(op, index);
            self.body.move_block(block, region, None);
        }
        self.annotate(op, annotation);
        let mut results = self.body.results(op).skip(next.len()).collect::<Vec<Value>>().into_iter();
        let selector = selector_of(&union, if has_selector { results.next() } else { None });
        let exits = union.into_iter().map(|target| {
            let count = left.values(target).map_or(0, <[Value]>::len);
            (target, results.by_ref().take(count).collect())
        });
        Ok(Exits::several(selector, exits.collect()))
    }

    /// Writes the body of a loop at the end of `into`, whose header has these arguments.
    pub(super) fn body_of(
        &mut self,
        of: LoopId,
        arguments: Vec<Value>,
        into: Block,
        depth: usize,
    ) -> Result<Exits, Opaque> {
        self.chain((self.again(of), arguments), into, Place { of: Some(of), depth: depth + 1 })
    }

    /// Returns the target that repeats a loop.
    pub(super) fn again(&self, of: LoopId) -> Target {
        Target::Block(self.order[self.analysis.loops().get(of).header() as usize])
    }

    /// Returns the annotation and the other attributes of a loop, which its latch has.
    fn annotation(&self, of: LoopId) -> Vec<(String, Attr)> {
        let header = self.analysis.block(self.analysis.loops().get(of).header());
        let is_inside = |op: &Op| {
            let block = self.body.block_of(*op);
            block.is_some_and(|block| self.analysis.loops().contains(of, self.analysis.number(block)))
        };
        let mut latches = self.body.predecessor_edges(header).map(|(op, _)| op).filter(is_inside);
        let Some(latch) = latches.next() else { return Vec::new() };
        let ctx = self.body.ctx();
        let own = self.body.attributes(latch);
        let mut all: Vec<(String, Attr)> =
            own.entries(ctx).iter().map(|(name, attr)| (ctx.str(*name).to_owned(), *attr)).collect();
        all.retain(|(name, _)| name != LOOP_ANNOTATION);
        all.extend(self.body.attr(latch, LOOP_ANNOTATION).map(|attr| (super::ANNOTATION.to_owned(), attr)));
        all
    }

    pub(super) fn annotate(&mut self, op: Op, annotation: Vec<(String, Attr)>) {
        annotation.into_iter().for_each(|(name, attr)| self.body.set_attr(op, &name, attr));
    }

    /// Marks the end of a block as never reached.
    fn assume_false(&mut self, into: Block, loc: Loc) {
        let mut builder = Builder::new(self.body, InsertPoint::End(into));
        builder.set_loc(loc);
        let never = arithmetic::constant(&mut builder, 1, 0);
        let mut state = builder.state(llvm::AssumeOp::DEF).operands(&[never]);
        state.set_defaults(&builder.ctx());
        builder.insert(state);
    }
}

/// A value that a construct passes to a target.
struct Slot {
    ty: Type,
    target: Target,
    /// The index among the target's arguments.
    index: usize,
    /// The value, if all regions pass the same one.
    common: Option<Value>,
}

/// Writes a poison value.
pub(super) fn poison(builder: &mut Builder<'_>, ty: Type) -> Value {
    let state = builder.state(llvm::PoisonOp::DEF).results(&[ty]);
    builder.value(state)
}

/// Returns the blocks of a function in reverse postorder.
pub(super) fn reverse_postorder(analysis: &Analysis) -> Vec<u32> {
    let graph = analysis.graph();
    let mut seen: HashSet<u32> = HashSet::from_iter([0]);
    let mut stack = vec![(0u32, 0usize)];
    let mut order = Vec::new();
    while let Some((node, next)) = stack.last_mut() {
        match graph.successors(*node).get(*next) {
            Some(to) => {
                *next += 1;
                if seen.insert(*to) {
                    stack.push((*to, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
