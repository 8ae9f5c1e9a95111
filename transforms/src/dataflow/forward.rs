//! The solver for facts that flow from operands to results.
//!
//! A value has no fact until the solver reaches it, and facts only rise from then on. An operation
//! is visited when its block becomes reachable, and again when a fact of an operand rises. Block
//! arguments join what reachable edges pass to them, and so do the arguments and results of regions
//! and of private functions. What an unknown operation passes on is [`Analysis::unknown`].
//!
//! ```
//! use loomir_ir::{Body, OpRef, Value};
//! use loomir_transforms::dataflow::forward::{Analysis, solve};
//! use loomir_transforms::dataflow::program::Program;
//!
//! /// Values that are computed from constants alone.
//! struct FromConstants;
//!
//! impl Analysis for FromConstants {
//!     type Fact = bool;
//!
//!     fn unknown(&self, _: &Body, _: Value) -> bool {
//!         false
//!     }
//!     fn join(&self, a: &bool, b: &bool) -> bool {
//!         *a && *b
//!     }
//!     fn transfer(&self, op: OpRef<'_>, operands: &[bool]) -> Vec<bool> {
//!         vec![operands.iter().all(|fact| *fact); op.num_results()]
//!     }
//! }
//!
//! fn count(module: &Body) -> usize {
//!     let program = Program::of(module);
//!     let facts = solve(&program, &FromConstants);
//!     let results = module.all_ops().flat_map(|op| module.results(op));
//!     results.filter(|value| facts.get(0, *value) == Some(&true)).count()
//! }
//! ```
//!
//! **Assumptions.**
//! - A fact of an operand may be wrong if the operand is poison, and so may what follows from it.
//!   A branch on poison is undefined behaviour. Tried in `fixtures/simplify/sccp.mlir`.
//! - Operations in a graph region have no order, so their results are unknown. Tried in
//!   `fixtures/simplify/sccp.mlir`.
//!
//! **Cost.** Each fact rises at most as often as the lattice is high, with a [widening
//! ](Analysis::widen) after a few times. An operation is visited at most once for each rise of an
//! operand. The solver keeps a few bytes and a fact for each value.

use std::cell::Cell;
use std::collections::VecDeque;

use loomir_dialects::control::{entry_edges, exit_edges};
use loomir_dialects::interfaces::{BranchLike, LoopBounds, LoopLike, ParallelLike, RegionEdge};
use loomir_ir::{Attr, Block, Body, Op, OpRef, Region, Trait, Value};

use super::program::{Program, Unit, call_arguments};

/// The number of times that a fact rises before it is widened.
const RISES: u8 = 4;

/// A lattice of facts and the effect of operations on them.
pub trait Analysis {
    /// A fact about a value.
    type Fact: Clone + PartialEq;

    /// Returns the fact that holds for any value of this type: the top of the lattice.
    fn unknown(&self, body: &Body, value: Value) -> Self::Fact;

    /// Returns the least fact that both facts imply.
    fn join(&self, a: &Self::Fact, b: &Self::Fact) -> Self::Fact;

    /// Returns the facts of the results of an operation without regions, given its operands'. It
    /// must be monotone: higher facts of operands give higher facts of results.
    fn transfer(&self, op: OpRef<'_>, operands: &[Self::Fact]) -> Vec<Self::Fact>;

    /// Returns a fact above `risen`, which rose from `old` for the fifth time or later. From here
    /// the fact may rise only a few times more. Lattices of small height need no widening.
    fn widen(&self, _body: &Body, _value: Value, _old: &Self::Fact, risen: Self::Fact) -> Self::Fact {
        risen
    }

    /// Returns the only constant that a value of this fact may be. It decides branches.
    fn constant(&self, _body: &Body, _value: Value, _fact: &Self::Fact) -> Option<Attr> {
        None
    }

    /// Returns the fact of the induction variable of a loop with these bounds, in an iteration.
    /// `None` if it depends on a value that has no fact yet.
    fn induction(
        &self,
        body: &Body,
        variable: Value,
        _bounds: &LoopBounds,
        _is_unsigned: bool,
        _facts: &dyn Fn(Value) -> Option<Self::Fact>,
    ) -> Option<Self::Fact> {
        Some(self.unknown(body, variable))
    }
}

/// The facts of a program.
#[derive(Clone, Debug)]
pub struct Facts<F> {
    values: Vec<Vec<Option<F>>>,
    reachable: Vec<Vec<bool>>,
}

impl<F> Facts<F> {
    /// Returns the fact of a value. `None` if the value is never computed.
    pub fn get(&self, unit: Unit, value: Value) -> Option<&F> {
        self.values[unit].get(value.index())?.as_ref()
    }

    /// True if some execution may reach a block.
    pub fn is_reachable(&self, unit: Unit, block: Block) -> bool {
        self.reachable[unit].get(block.index()).is_some_and(|reachable| *reachable)
    }
}

/// Computes the facts of a program.
pub fn solve<A: Analysis>(program: &Program<'_>, analysis: &A) -> Facts<A::Fact> {
    let bodies = || program.units().map(|unit| program.body(unit));
    let facts = Facts {
        values: bodies().map(|body| vec![None; body.num_value_slots()]).collect(),
        reachable: bodies().map(|body| vec![false; body.num_block_slots()]).collect(),
    };
    let mut solver = Solver {
        program,
        analysis,
        facts,
        rises: bodies().map(|body| vec![0; body.num_value_slots()]).collect(),
        queued: bodies().map(|body| vec![false; body.num_op_slots()]).collect(),
        pending: VecDeque::new(),
    };
    for unit in program.units() {
        if program.function(unit).is_none_or(|function| !function.has_all_calls) {
            let body = program.body(unit);
            body.own_regions(body.root()).for_each(|region| solver.enter_unknown(unit, region));
        }
    }
    while let Some((unit, op)) = solver.pending.pop_front() {
        solver.queued[unit][op.index()] = false;
        solver.visit(unit, op);
    }
    solver.facts
}

struct Solver<'p, 'b, A: Analysis> {
    program: &'p Program<'b>,
    analysis: &'p A,
    facts: Facts<A::Fact>,
    /// The number of times that each fact rose.
    rises: Vec<Vec<u8>>,
    /// True for each operation that is pending.
    queued: Vec<Vec<bool>>,
    pending: VecDeque<(Unit, Op)>,
}

impl<A: Analysis> Solver<'_, '_, A> {
    fn queue(&mut self, unit: Unit, op: Op) {
        if !std::mem::replace(&mut self.queued[unit][op.index()], true) {
            self.pending.push_back((unit, op));
        }
    }

    fn fact(&self, unit: Unit, value: Value) -> Option<A::Fact> {
        self.facts.values[unit][value.index()].clone()
    }

    /// Joins a fact to that of a value.
    fn raise(&mut self, unit: Unit, value: Value, fact: A::Fact) {
        let body = self.program.body(unit);
        let slot = &mut self.facts.values[unit][value.index()];
        let fact = match slot {
            None => fact,
            Some(old) => {
                let joined = self.analysis.join(old, &fact);
                if joined == *old {
                    return;
                }
                let rises = &mut self.rises[unit][value.index()];
                *rises = rises.saturating_add(1);
                if *rises > RISES { self.analysis.widen(body, value, old, joined) } else { joined }
            }
        };
        *slot = Some(fact);
        body.uses(value).for_each(|used| self.queue(unit, used.op));
    }

    fn raise_to_unknown(&mut self, unit: Unit, value: Value) {
        self.raise(unit, value, self.analysis.unknown(self.program.body(unit), value));
    }

    /// Marks a block as reachable.
    fn reach(&mut self, unit: Unit, block: Block) {
        if !std::mem::replace(&mut self.facts.reachable[unit][block.index()], true) {
            self.program.body(unit).ops(block).for_each(|op| self.queue(unit, op));
        }
    }

    /// Marks a region as one that is entered with any arguments.
    fn enter_unknown(&mut self, unit: Unit, region: Region) {
        let body = self.program.body(unit);
        if let Some(block) = body.entry_block(region) {
            body.arguments(block).for_each(|argument| self.raise_to_unknown(unit, argument));
            self.reach(unit, block);
        }
    }

    fn visit(&mut self, unit: Unit, op: Op) {
        let body = self.program.body(unit);
        let Some(block) = body.block_of(op) else { return };
        if !self.facts.is_reachable(unit, block) || body.nested(op).is_some() {
            return;
        }
        let view = body.op_ref(op);
        if view.successors().len() > 0 {
            self.visit_branch(unit, view);
        } else if self.program.callee(unit, op).is_some() {
            self.visit_call(unit, op);
        } else if view.regions().len() > 0 {
            self.visit_regions(unit, view);
        } else {
            self.visit_computation(unit, view);
        }
        if body.last_op(block) == Some(op) && view.successors().len() == 0 {
            self.visit_exit(unit, view);
        }
    }

    fn visit_computation(&mut self, unit: Unit, op: OpRef<'_>) {
        let body = op.body();
        let around = op.parent().is_some_and(|parent| parent.info().has_trait(Trait::GraphRegion));
        if around && !op.info().has_trait(Trait::ConstantLike) {
            return op.results().for_each(|value| self.raise_to_unknown(unit, value));
        }
        let operands = op.operands().map(|value| self.fact(unit, value)).collect::<Option<Vec<_>>>();
        let Some(operands) = operands else { return };
        if op.num_results() == 0 {
            return;
        }
        let facts = self.analysis.transfer(op, &operands);
        for (i, value) in op.results().enumerate() {
            let fact = facts.get(i).cloned().unwrap_or_else(|| self.analysis.unknown(body, value));
            self.raise(unit, value, fact);
        }
    }

    /// Calls `edges` with the constants that values are. Returns `None` if one that was asked for
    /// has no fact yet, because then no edge is taken yet.
    fn edges<R>(&self, unit: Unit, edges: impl FnOnce(&dyn Fn(Value) -> Option<Attr>) -> R) -> Option<R> {
        let body = self.program.body(unit);
        let is_early = Cell::new(false);
        let edges = edges(&|value| match &self.facts.values[unit][value.index()] {
            Some(fact) => self.analysis.constant(body, value, fact),
            None => {
                is_early.set(true);
                None
            }
        });
        (!is_early.get()).then_some(edges)
    }

    fn visit_branch(&mut self, unit: Unit, op: OpRef<'_>) {
        op.results().for_each(|value| self.raise_to_unknown(unit, value));
        let Some(model) = op.info().interface::<dyn BranchLike>() else {
            op.regions().for_each(|region| self.enter_unknown(unit, region));
            for block in op.successors() {
                op.body().arguments(block).for_each(|argument| self.raise_to_unknown(unit, argument));
                self.reach(unit, block);
            }
            return;
        };
        let Some(taken) = self.edges(unit, |constants| model.taken(op, constants)) else { return };
        let passed = loomir_dialects::branch::successor_operands(op.body(), op.op()).unwrap_or_default();
        let successors = op.successors().zip(passed).enumerate();
        for (_, (block, passed)) in successors.filter(|(i, _)| taken.is_none_or(|taken| taken == *i)) {
            self.pass(unit, &passed, unit, op.body().arguments(block));
            self.reach(unit, block);
        }
    }

    /// Joins the facts of values to those of other values that they become.
    fn pass(
        &mut self,
        from: Unit,
        values: &[Value],
        to: Unit,
        targets: impl ExactSizeIterator<Item = Value>,
    ) {
        let fits = values.len() == targets.len();
        for (i, target) in targets.enumerate() {
            match values.get(i).filter(|_| fits) {
                None => self.raise_to_unknown(to, target),
                Some(value) => {
                    if let Some(fact) = self.fact(from, *value) {
                        self.raise(to, target, fact);
                    }
                }
            }
        }
    }

    fn visit_regions(&mut self, unit: Unit, op: OpRef<'_>) {
        // Operands that control flow depends on are those that `entry_edges` asks for.
        let Some(edges) = self.edges(unit, |constants| entry_edges(op, constants)) else { return };
        match edges {
            Some(edges) => {
                if !op.regions().any(|region| self.may_end_unknown(op, region)) {
                    edges.into_iter().for_each(|edge| self.follow(unit, op, op, &edge));
                    return;
                }
                self.enter_all(unit, op);
            }
            None => self.enter_all(unit, op),
        }
    }

    /// True if a region may end in a way that is unknown.
    fn may_end_unknown(&self, op: OpRef<'_>, region: Region) -> bool {
        let body = op.body();
        body.blocks(region).any(|block| {
            let Some(end) = body.terminator(block).map(|end| body.op_ref(end)) else { return true };
            end.successors().len() == 0 && exit_edges(op, end, &|_| None).is_none()
        })
    }

    /// Enters all regions with any arguments. Nothing is known of the results.
    fn enter_all(&mut self, unit: Unit, op: OpRef<'_>) {
        let body = op.body();
        op.results().for_each(|value| self.raise_to_unknown(unit, value));
        let parallel = op.info().interface::<dyn ParallelLike>();
        for region in op.regions() {
            let dimensions = parallel.filter(|model| model.body(op) == region);
            let dimensions = dimensions.map_or_else(Vec::new, |model| model.dimensions(op));
            let Some(block) = body.entry_block(region) else { continue };
            for (i, argument) in body.arguments(block).enumerate() {
                match dimensions.get(i) {
                    Some(bounds) => self.raise_induction(unit, argument, bounds, false),
                    None => self.raise_to_unknown(unit, argument),
                }
            }
            self.reach(unit, block);
        }
    }

    fn raise_induction(&mut self, unit: Unit, variable: Value, bounds: &LoopBounds, is_unsigned: bool) {
        let body = self.program.body(unit);
        let facts = |value| self.fact(unit, value);
        let fact = self.analysis.induction(body, variable, bounds, is_unsigned, &facts);
        if let Some(fact) = fact {
            self.raise(unit, variable, fact);
        }
    }

    /// Follows an edge between regions, given the operation whose operands are passed.
    fn follow(&mut self, unit: Unit, op: OpRef<'_>, from: OpRef<'_>, edge: &RegionEdge) {
        let body = op.body();
        let passed: Vec<Value> = edge.operands.clone().map(|i| from.operand(i)).collect();
        let Some(region) = edge.to else {
            return self.pass(unit, &passed, unit, op.results().skip(edge.first));
        };
        let Some(block) = op.regions().nth(region).and_then(|region| body.entry_block(region)) else {
            return;
        };
        self.pass(unit, &passed, unit, body.arguments(block).skip(edge.first));
        if let Some(model) = op.info().interface::<dyn LoopLike>()
            && edge.first == 1
        {
            let variable = body.argument(block, 0);
            self.raise_induction(unit, variable, &model.bounds(op), model.is_unsigned(op));
        } else {
            let own = body.arguments(block).take(edge.first);
            own.for_each(|argument| self.raise_to_unknown(unit, argument));
        }
        self.reach(unit, block);
    }

    /// Visits the end of a region or function.
    fn visit_exit(&mut self, unit: Unit, end: OpRef<'_>) {
        let Some(around) = end.parent() else { return };
        if around.op() == end.body().root() {
            let Some(function) = self.program.function(unit) else { return };
            let values: Vec<Value> = end.operands().collect();
            if function.returns.contains(&end.op()) {
                let calls = function.calls.clone();
                calls.into_iter().for_each(|(caller, call)| self.give_back(unit, &values, caller, call));
            }
            return;
        }
        let edges = self.edges(unit, |constants| exit_edges(around, end, constants));
        if let Some(Some(edges)) = edges {
            edges.into_iter().for_each(|edge| self.follow(unit, around, end, &edge));
        }
    }

    /// Joins the facts of returned values to those of a call's results.
    fn give_back(&mut self, unit: Unit, values: &[Value], caller: Unit, call: Op) {
        let body = self.program.body(caller);
        if body.block_of(call).is_some_and(|block| self.facts.is_reachable(caller, block)) {
            self.pass(unit, values, caller, body.results(call));
        }
    }

    fn visit_call(&mut self, unit: Unit, op: Op) {
        let body = self.program.body(unit);
        let Some(callee) = self.program.callee(unit, op) else { return };
        let Some(function) = self.program.function(callee) else { return };
        let to = self.program.body(callee);
        if function.has_all_calls {
            self.pass(unit, &call_arguments(body, op), callee, to.arguments(function.entry));
            self.reach(callee, function.entry);
        }
        for end in &function.returns {
            if to.block_of(*end).is_some_and(|block| self.facts.is_reachable(callee, block)) {
                let values: Vec<Value> = to.operands(*end).collect();
                self.give_back(callee, &values, unit, op);
            }
        }
    }
}
