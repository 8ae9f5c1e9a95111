//! Control-flow graphs: blocks and branches as loops and conditionals.
//!
//! The walk goes along branches ([`Reader::path`]). A branch to the header of a natural loop enters
//! a counted loop ([`loops`]). A conditional branch has two sides that meet at its post-dominator;
//! arguments of that block are choices. Blocks that both sides share before they meet are read
//! once for each side. Everything else is refused.
//!
//! **Poison.** A branch on poison is undefined. In the other program each condition of a branch is
//! therefore known not to be poison, or is one that the original branches on (`obligations`).

mod counter;
mod loops;
mod metadata;
mod pointers;

use loomir_dialects::interfaces::BranchLike;
use loomir_ir::graph::ControlFlow;
use loomir_ir::graph::cycles::CycleForest;
use loomir_ir::graph::dominators::DominatorTree;
use loomir_ir::graph::loops::{LoopForest, LoopId};
use loomir_ir::graph::post_dominators::PostDominatorTree;
use loomir_ir::{Attr, Block, Body, Name, OpRef, Region, Value};

use super::super::form::Condition;
use super::super::model::{Kind, Output, ScopeId, TermId};
use super::{Binding, MAX_NESTING, Read, Reader};
use loops::Around;

/// The most blocks that are read, those read again counted again.
const MAX_BLOCKS: usize = 20_000;
/// Properties of a function that say nothing of what it does.
const NAMES: [&str; 5] = ["sym_name", "llvm.as_read", "unnamed_addr", "dso_local", "visibility_"];

/// The graph of a function.
struct Graph<'b> {
    body: &'b Body,
    flow: ControlFlow,
    dominators: DominatorTree,
    meetings: PostDominatorTree,
    loops: LoopForest,
}

impl Graph<'_> {
    /// Returns the loop of which a block is the header.
    fn headed(&self, block: Block) -> Option<LoopId> {
        let number = self.flow.number(block);
        self.loops.innermost(number).filter(|own| self.loops.get(*own).header() == number)
    }

    fn contains(&self, own: LoopId, block: Block) -> bool {
        self.loops.contains(own, self.flow.number(block))
    }

    /// Returns the block at which the ways from a block meet.
    fn meeting(&self, block: Block) -> Option<Block> {
        self.meetings.ipdom(self.flow.number(block)).map(|number| self.flow.block(number))
    }
}

/// The places at which a walk ends.
#[derive(Clone, Copy)]
struct Stops<'w> {
    /// The block at which the sides of a conditional meet.
    join: Option<Block>,
    /// The loop whose body is walked through.
    current: Option<LoopId>,
    /// The loop at whose top level the walk is.
    around: Option<&'w Around>,
    /// The scope of the function that the graph belongs to.
    outermost: ScopeId,
}

/// The end of a walk, with the values that the last branch passes on.
enum Ending<'b> {
    /// At the block where the sides of a conditional meet.
    Joined(Vec<Binding>),
    /// At the header of the loop.
    Repeated(Vec<Binding>),
    /// At a return.
    Returned(OpRef<'b>),
}

impl<'b> Reader<'b, '_> {
    /// Reads a function whose body is a graph of blocks.
    pub(super) fn graph(&mut self, function: OpRef<'b>, region: Region) -> Read<'b, ()> {
        let body = self.body();
        let Some(entry) = body.entry_block(region) else {
            return self.refuse(function, "the function has no body");
        };
        self.arguments(function, entry)?;
        let incoming: Vec<Binding> =
            body.arguments(entry).map(|value| self.bindings[value.index()].clone()).collect();
        let end = self.walked(function, region, incoming, 0)?;
        self.returned(end)
    }

    /// Walks through the graph of a function in a scope. Returns the operation that ends it.
    pub(super) fn walked(
        &mut self,
        function: OpRef<'b>,
        region: Region,
        incoming: Vec<Binding>,
        scope: ScopeId,
    ) -> Read<'b, OpRef<'b>> {
        let body = self.body();
        let Some(entry) = body.entry_block(region) else {
            return self.refuse(function, "the function has no body");
        };
        let flow = ControlFlow::of(body, region);
        let cycles = CycleForest::new(flow.graph(), flow.reversed(), 0);
        if cycles.iter().any(|(_, cycle)| !cycle.is_reducible()) {
            return self.refuse(function, "a cycle of its control flow is entered at several places");
        }
        let dominators = DominatorTree::new(flow.graph(), 0);
        let loops = LoopForest::new(flow.graph(), flow.reversed(), &dominators, 0);
        let meetings = PostDominatorTree::new(flow.graph());
        let graph = Graph { body, flow, dominators, meetings, loops };
        let stops = Stops { join: None, current: None, around: None, outermost: scope };
        match self.path(&graph, entry, incoming, scope, stops)? {
            Ending::Returned(end) => Ok(end),
            _ => self.refuse(function, "the function does not end with a return"),
        }
    }

    /// Walks from a block along branches to one of the places where the walk ends.
    fn path(
        &mut self,
        graph: &Graph<'b>,
        start: Block,
        incoming: Vec<Binding>,
        scope: ScopeId,
        stops: Stops<'_>,
    ) -> Read<'b, Ending<'b>> {
        let body = graph.body;
        let (mut block, mut incoming, mut scope) = (start, incoming, scope);
        let mut is_first = true;
        self.nesting += 1;
        loop {
            if stops.join == Some(block) {
                self.nesting -= 1;
                return Ok(Ending::Joined(incoming));
            }
            let is_repeated = stops.current.is_some() && graph.headed(block) == stops.current;
            if is_repeated && !(is_first && stops.around.is_some()) {
                self.nesting -= 1;
                return Ok(Ending::Repeated(incoming));
            }
            let Some(end) = body.terminator(block).map(|end| body.op_ref(end)) else {
                return self.refuse(body.root_ref(), "a block has no end");
            };
            self.blocks += 1;
            if self.blocks > MAX_BLOCKS || self.nesting > MAX_NESTING {
                return self.refuse(end, "the control flow is nested too deep, or too large");
            }
            if !is_repeated && let Some(own) = graph.headed(block) {
                (block, incoming) = self.natural_loop(graph, own, incoming, scope, end)?;
                is_first = false;
                continue;
            }
            is_first = false;
            if !is_repeated {
                self.bind_arguments(block, std::mem::take(&mut incoming), end)?;
            }
            for op in body.ops(block).filter(|op| *op != end.op()) {
                self.operation(body.op_ref(op), scope)?;
            }
            match end.name() {
                "llvm.br" | "cf.br" => {
                    incoming = self.passed(end, 0)?;
                    block = successor(end, 0);
                }
                "llvm.cond_br" | "cf.cond_br" => {
                    if let Some(around) = stops.around.filter(|around| around.exiting == block) {
                        if scope != around.inside {
                            return self.refuse(end, "the loop is left from within a conditional");
                        }
                        self.same_test(around, end)?;
                        scope = around.body;
                        incoming = self.passed(end, around.next)?;
                        block = successor(end, around.next);
                        continue;
                    }
                    (block, incoming) = self.sides(graph, block, end, scope, stops)?;
                }
                "llvm.return" | "func.return" if scope == stops.outermost => {
                    self.nesting -= 1;
                    return Ok(Ending::Returned(end));
                }
                "llvm.return" | "func.return" => {
                    return self.refuse(end, "the function returns at several places");
                }
                name => return self.refuse(end, format!("'{name}' is not modelled")),
            }
        }
    }

    fn bind_arguments(&mut self, block: Block, incoming: Vec<Binding>, end: OpRef<'b>) -> Read<'b, ()> {
        let arguments: Vec<Value> = self.body().arguments(block).collect();
        if arguments.len() != incoming.len() {
            return self.refuse(end, "a branch does not pass what its block takes");
        }
        for (argument, binding) in arguments.into_iter().zip(incoming) {
            self.bindings[argument.index()] = binding;
        }
        Ok(())
    }

    /// Returns the values that a branch passes to one of its blocks.
    fn passed(&self, end: OpRef<'b>, index: usize) -> Read<'b, Vec<Binding>> {
        let operands = self.passed_values(end, index)?;
        let known = |value: &Value| match &self.bindings[value.index()] {
            Binding::Unknown => self.refuse(end, "a value passed on is not understood"),
            known => Ok(known.clone()),
        };
        operands.iter().map(known).collect()
    }

    fn passed_values(&self, end: OpRef<'b>, index: usize) -> Read<'b, Vec<Value>> {
        let Some(model) = end.info().interface::<dyn BranchLike>() else {
            return self.refuse(end, "the branch is not understood");
        };
        let range = model.successor_operands(end, index);
        Ok(range.map(|operand| end.operand(operand)).collect())
    }

    /// Reads both sides of a conditional branch; returns where they meet, with its arguments.
    fn sides(
        &mut self,
        graph: &Graph<'b>,
        block: Block,
        end: OpRef<'b>,
        scope: ScopeId,
        stops: Stops<'_>,
    ) -> Read<'b, (Block, Vec<Binding>)> {
        let Some(join) = graph.meeting(block) else {
            return self.refuse(end, "the sides of the branch do not meet");
        };
        let inner = stops.current.is_none_or(|own| graph.contains(own, join));
        if !inner {
            return self.refuse(end, "the loop is left at several places");
        }
        let condition = self.value(end.operand(0), end)?;
        self.branch_on(condition, end, scope)?;
        let mut sides = Vec::new();
        for index in [0, 1] {
            let inside = self.arm(condition, index == 0, scope, end)?;
            let incoming = self.passed(end, index)?;
            let stops = Stops { join: Some(join), around: None, ..stops };
            match self.path(graph, successor(end, index), incoming, inside, stops)? {
                Ending::Joined(passed) => sides.push(passed),
                _ => return self.refuse(end, "the sides of the branch do not meet"),
            }
        }
        let (Some(no), Some(yes)) = (sides.pop(), sides.pop()) else {
            return self.refuse(end, "the sides of the branch do not meet");
        };
        let mut merged = Vec::new();
        for (yes, no) in yes.iter().zip(&no) {
            merged.push(self.merged(condition, [yes, no], scope, end)?);
        }
        Ok((join, merged))
    }

    /// Returns what one of two values is behind a conditional.
    fn merged(
        &mut self,
        condition: TermId,
        [yes, no]: [&Binding; 2],
        scope: ScopeId,
        end: OpRef<'b>,
    ) -> Read<'b, Binding> {
        match (yes, no) {
            (Binding::Term(yes), Binding::Term(no)) => {
                let [a, b] = [*yes, *no].map(|term| &self.program.terms[term]);
                let ty = a.ty;
                if ty != b.ty {
                    return self.refuse(end, "the sides pass values of different types");
                }
                let kind = match (&a.kind, &b.kind) {
                    (Kind::Number(x), Kind::Number(y)) if x == y => Kind::Number(x.clone()),
                    (Kind::Truth(_), Kind::Truth(_)) => match self.merged_truth(condition, [*yes, *no]) {
                        Some(truth) => Kind::Truth(truth),
                        None => Kind::Choice { condition, yes: *yes, no: *no },
                    },
                    _ => Kind::Choice { condition, yes: *yes, no: *no },
                };
                Ok(Binding::Term(self.term(kind, scope, ty, end)))
            }
            (Binding::Pointer(a), Binding::Pointer(b)) => {
                let is_same = a.object == b.object && a.offset == b.offset;
                match is_same && a.others.is_empty() && b.others.is_empty() {
                    true => {
                        let mut pointer = a.clone();
                        pointer.between.extend(b.between.iter().cloned());
                        pointer.is_plain |= b.is_plain;
                        Ok(Binding::Pointer(pointer))
                    }
                    false => self.refuse(end, "a pointer depends on the side of a branch"),
                }
            }
            _ => self.refuse(end, "a buffer depends on the side of a branch"),
        }
    }

    fn merged_truth(&self, condition: TermId, sides: [TermId; 2]) -> Option<Condition> {
        let truth = |term: TermId| match &self.program.terms[term].kind {
            Kind::Truth(truth) => Some(truth),
            _ => None,
        };
        let (condition, yes, no) = (truth(condition)?, truth(sides[0])?, truth(sides[1])?);
        condition.and(yes)?.or(&condition.clone().not().and(no)?)
    }

    /// Notes a branch; refuses one of the other program whose condition may be poison.
    fn branch_on(&mut self, condition: TermId, end: OpRef<'b>, scope: ScopeId) -> Read<'b, ()> {
        match &self.program.terms[condition].kind {
            Kind::Truth(truth) => {
                let truth = truth.clone();
                match self.is_never_poison(end.operand(0)) {
                    true => Ok(()),
                    false => self.is_free_of_poison(&truth, end),
                }
            }
            _ => {
                if self.is_original || !self.is_never_poison(end.operand(0)) {
                    self.program.branches.push((condition, scope));
                }
                Ok(())
            }
        }
    }

    /// Refuses a branch of the other program on numbers that may be poison.
    fn is_free_of_poison(&self, truth: &Condition, end: OpRef<'b>) -> Read<'b, ()> {
        match self.is_poisoned_truth(truth) {
            true => self.refuse(end, "the condition of the branch may be poison"),
            false => Ok(()),
        }
    }

    fn returned(&mut self, end: OpRef<'b>) -> Read<'b, ()> {
        for operand in end.operands() {
            let output = match &self.bindings[operand.index()] {
                Binding::Term(term) => Output::Value(*term),
                Binding::View(view) if self.is_whole(view) => {
                    self.outlives(view, end)?;
                    Output::Buffer(view.object)
                }
                Binding::Pointer(_) => return self.refuse(end, "the function returns a pointer"),
                _ => return self.refuse(end, "a result of the function is not understood"),
            };
            self.program.outputs.push(output);
        }
        Ok(())
    }
}

/// Returns a block that a branch leads to.
fn successor(end: OpRef<'_>, index: usize) -> Block {
    end.successors().nth(index).unwrap_or_else(|| unreachable!("a branch has this successor"))
}

/// True if a function has attributes for LLVM that another one does not have.
pub(in crate::proof) fn new_promises([before, after]: [OpRef<'_>; 2]) -> bool {
    let ctx = after.ctx();
    let is_promise =
        |name: &str| (name.starts_with("llvm.") || name == "passthrough") && name != "llvm.emit_c_interface";
    let listed = after.attributes();
    let mut all = listed.entries(ctx).iter().filter(|(name, _)| is_promise(ctx.str(*name)));
    all.any(|(name, attr)| before.attr(ctx.str(*name)) != Some(*attr))
}

/// Returns what functions promise of themselves, beside arguments and results.
pub(in crate::proof) fn promises(function: OpRef<'_>) -> Vec<(Name, Attr)> {
    let ctx = function.ctx();
    let listed = [function.properties(), function.attributes()];
    let is_promise = |(name, _): &&(Name, Attr)| !NAMES.contains(&ctx.str(*name));
    listed.iter().flat_map(|dict| dict.entries(ctx)).filter(is_promise).copied().collect()
}
