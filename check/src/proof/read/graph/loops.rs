//! Natural loops of one latch and one exit as counted loops.
//!
//! The variable of the loop numbers the runs of the header from zero. The block that may leave the
//! loop runs once for each of them; what follows it runs while the test holds. So loops that test
//! first and loops that test last are read alike.
//!
//! Arguments of the header are counters, or carried values. Values used behind the loop are those
//! of its last iteration.

use loomir_dialects::llvm::memory::address::byte_offsets;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Block, OpRef, Type, Value};

use super::super::super::form::{Cases, Condition, Constraint, Form, both};
use super::super::super::model::{Kind, Scope, ScopeId, TermId};
use super::super::numbers::NATURAL;
use super::super::{Binding, Pointer, Read, Reader, defining, words};
use super::counter::{Counter, Test};
use super::pointers::IN_BOUNDS;
use super::{Ending, Graph, Stops, successor};

/// A loop while its body is read.
pub(super) struct Around {
    pub(super) exiting: Block,
    /// The successor of the exiting block with which the loop goes on.
    pub(super) next: usize,
    /// The scope of what runs for each run of the header.
    pub(super) inside: ScopeId,
    /// The scope of what runs behind the test.
    pub(super) body: ScopeId,
    /// The condition under which the loop goes on, over the integers.
    condition: Condition,
    /// True if the test is known to be this condition.
    is_known: bool,
}

/// The parts of a loop in the graph.
struct Shape<'b> {
    header: Block,
    exiting: Block,
    /// The end of the exiting block.
    end: OpRef<'b>,
    next: usize,
    /// The values that each branch back to the header passes.
    repeated: Vec<Vec<Value>>,
}

impl Shape<'_> {
    /// Returns the different values that an argument of the header has next.
    fn next_of(&self, index: usize) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        for next in self.repeated.iter().map(|passed| passed[index]) {
            if !all.contains(&next) {
                all.push(next);
            }
        }
        all
    }
}

/// The iterations of a loop.
struct Iterations {
    inside: Cases,
    body: Cases,
    /// The variable in the last iteration, if it is a form.
    last: Option<Form>,
}

impl<'b> Reader<'b, '_> {
    /// Reads a loop; returns the block behind it with its arguments.
    pub(super) fn natural_loop(
        &mut self,
        graph: &Graph<'b>,
        own: LoopId,
        incoming: Vec<Binding>,
        scope: ScopeId,
        op: OpRef<'b>,
    ) -> Read<'b, (Block, Vec<Binding>)> {
        let shape = self.shape(graph, own, op)?;
        let depth = self.scope(scope).depth();
        let arguments: Vec<Value> = self.body().arguments(shape.header).collect();
        if arguments.len() != incoming.len() || shape.repeated.iter().any(|all| all.len() != arguments.len())
        {
            return self.refuse(op, "a branch does not pass what its block takes");
        }
        let counter = |index: usize| {
            let all = shape.next_of(index);
            let one = |next: &Value| self.counter(arguments[index], &incoming[index], *next, depth);
            let mut first = one(all.first()?)?;
            for next in &all {
                let other = one(next).filter(|other| other.form == first.form)?;
                first.is_flagged &= other.is_flagged;
            }
            Some(first)
        };
        let counters: Vec<Counter> = (0..arguments.len()).filter_map(counter).collect();
        let test = self.test(graph, own, &counters, shape.end, shape.next == 0, scope)?;
        let Some(iterations) = self.iterations(&test, scope) else {
            return self.refuse(shape.end, "the bounds of the loop are too large");
        };
        let around = self.enclosed(vec![Form::default()], iterations.inside, 1, scope, op)?;
        let inside = self.program.loops[around].inside;
        let outer = self.scope(scope).clone();
        let Some(domain) = both(&outer.domain, &iterations.body) else {
            return self.refuse(op, "the conditions around have too many cases");
        };
        let loops = self.scope(inside).loops.clone();
        self.program.scopes.push(Scope { loops, domain, guards: outer.guards });
        let body = self.program.scopes.len() - 1;
        let carried = self.header(&shape, &counters, &incoming, around, op)?;
        let (exiting, next) = (shape.exiting, shape.next);
        let is_known = self.is_exact_modulo(&test, inside);
        let walked = Around { exiting, next, inside, body, condition: test.condition, is_known };
        let stops = Stops { join: None, current: Some(own), around: Some(&walked), outermost: scope };
        let Ending::Repeated(repeated) = self.path(graph, shape.header, Vec::new(), inside, stops)? else {
            return self.refuse(op, "the loop does not lead back to its header");
        };
        for index in carried {
            let Binding::Term(term) = repeated[index] else {
                return self.refuse(op, "a pointer or buffer is carried by the loop");
            };
            self.program.loops[around].yields.push(term);
        }
        self.leave(graph, own, around, &shape, iterations.last.as_ref())
    }

    fn shape(&self, graph: &Graph<'b>, own: LoopId, op: OpRef<'b>) -> Read<'b, Shape<'b>> {
        let nodes = &graph.loops.get(own).nodes;
        let header = graph.loops.get(own).header();
        let is_inside = |node: &&u32| graph.loops.contains(own, **node);
        let latches: Vec<u32> =
            graph.flow.reversed().successors(header).iter().filter(is_inside).copied().collect();
        let mut exits = Vec::new();
        for node in nodes {
            let outside = graph.flow.graph().successors(*node).iter().enumerate();
            exits.extend(outside.filter(|(_, to)| !is_inside(to)).map(|(index, _)| (*node, index)));
        }
        let [(exiting, left)] = exits[..] else {
            let message = match exits.is_empty() {
                true => "the loop is never left",
                false => "the loop is left at several places",
            };
            return self.refuse(op, message);
        };
        let is_certain = latches.iter().all(|latch| graph.dominators.dominates(exiting, *latch))
            && graph.loops.innermost(exiting) == Some(own);
        let (header, exiting) = (graph.flow.block(header), graph.flow.block(exiting));
        let body = graph.body;
        let end_of = |block: Block| body.terminator(block).map(|end| body.op_ref(end));
        let Some(end) = end_of(exiting) else { return self.refuse(op, "a block has no end") };
        if !is_certain || end.successors().len() != 2 || !matches!(end.name(), "llvm.cond_br" | "cf.cond_br")
        {
            return self.refuse(end, "the test of the loop does not run in each iteration");
        }
        let mut repeated = Vec::new();
        for back in latches.iter().filter_map(|latch| end_of(graph.flow.block(*latch))) {
            for index in (0..back.successors().len()).filter(|index| successor(back, *index) == header) {
                repeated.push(self.passed_values(back, index)?);
            }
        }
        Ok(Shape { header, exiting, end, next: 1 - left, repeated })
    }

    /// Returns the iterations of a loop whose test is known.
    fn iterations(&mut self, test: &Test<'_>, scope: ScopeId) -> Option<Iterations> {
        let depth = self.scope(scope).depth();
        let variable = Form::dim(depth);
        let before = variable.offset(-1)?;
        let at_least = |forms: &[Form], first: Form| -> Vec<Constraint> {
            std::iter::once(first).chain(forms.iter().cloned()).map(Constraint::at_least_zero).collect()
        };
        // The test of the iteration before held.
        let earlier: Vec<Form> =
            test.rooms.iter().map(|room| room.with_dim(depth, &before)).collect::<Option<_>>()?;
        let starts: Vec<Form> =
            earlier.iter().map(|room| room.with_dim(depth, &Form::default())).collect::<Option<_>>()?;
        let is_simple = starts.iter().all(|start| !self.may_leave(start, scope, NATURAL));
        let inside = match is_simple {
            true => vec![at_least(&earlier, variable.clone())],
            false => vec![vec![Constraint::zero(variable.clone())], at_least(&earlier, before)],
        };
        let last = match (&test.rooms[..], &starts[..]) {
            ([room], [start]) if is_simple && room.factor_of_dim(depth) < 0 => {
                let last = start.floor_div(room.factor_of_dim(depth).checked_neg()?);
                last.map(|last| self.with_named_quotients(last))
            }
            _ => None,
        };
        Some(Iterations { inside, body: vec![at_least(&test.rooms, variable)], last })
    }

    /// Binds the arguments of a header; returns the positions of the carried ones.
    fn header(
        &mut self,
        shape: &Shape<'b>,
        counters: &[Counter],
        incoming: &[Binding],
        around: usize,
        op: OpRef<'b>,
    ) -> Read<'b, Vec<usize>> {
        let inside = self.program.loops[around].inside;
        let depth = self.scope(inside).depth() - 1;
        let arguments: Vec<Value> = self.body().arguments(shape.header).collect();
        let mut carried = Vec::new();
        for (index, argument) in arguments.into_iter().enumerate() {
            let ty = self.body().value_type(argument);
            let counter = counters.iter().find(|counter| counter.argument == argument);
            let form = counter.and_then(|counter| self.counted(counter, ty, inside));
            let binding = match (&incoming[index], form) {
                (_, Some(form)) => Binding::Term(self.term(Kind::Number(form), inside, ty, op)),
                (Binding::Pointer(first), None) => {
                    let [next] = shape.next_of(index)[..] else {
                        return self.refuse(op, "a pointer is carried by a loop of several latches");
                    };
                    self.moving(first, argument, next, depth, op)?
                }
                (Binding::Term(first), None) => {
                    let index_of = self.program.loops[around].inits.len();
                    self.program.loops[around].inits.push(*first);
                    carried.push(index);
                    let kind = Kind::Carried { around, index: index_of };
                    Binding::Term(self.term(kind, inside, ty, op))
                }
                _ => return self.refuse(op, "a buffer is carried by the loop"),
            };
            self.bindings[argument.index()] = binding;
        }
        Ok(carried)
    }

    /// Returns the number that a counter is, if it does not wrap.
    pub(super) fn counted(&mut self, counter: &Counter, ty: Type, inside: ScopeId) -> Option<Form> {
        let is_exact = self.is_original && counter.is_flagged;
        if is_exact {
            return Some(counter.form.clone());
        }
        self.fitting(counter.form.clone(), inside, ty)
    }

    /// Returns a pointer that each iteration moves on by a constant.
    fn moving(
        &self,
        first: &Pointer,
        argument: Value,
        next: Value,
        depth: usize,
        op: OpRef<'b>,
    ) -> Read<'b, Binding> {
        if next == argument {
            return Ok(Binding::Pointer(first.clone()));
        }
        let step = defining(self.body(), next)
            .filter(|op| op.name() == "llvm.getelementptr" && op.operand(0) == argument);
        let moved = step.and_then(|step| {
            let (fixed, dynamic) = byte_offsets(step, &self.target).ok()?;
            let way = Form::dim(depth).times(fixed).filter(|_| dynamic.is_empty())?;
            Some((step, first.offset.plus(&way)?))
        });
        let Some((step, offset)) = moved.filter(|_| first.others.is_empty()) else {
            return self.refuse(op, "a pointer is carried by the loop");
        };
        // All places on the way lie between the first one and the last one.
        let mut pointer = Pointer { offset, ..first.clone() };
        pointer.between.push(first.offset.clone());
        pointer.is_plain |= words::bits(step, "noWrapFlags") & IN_BOUNDS == 0;
        Ok(Binding::Pointer(pointer))
    }

    /// Refuses a test that is not the one over the integers.
    pub(super) fn same_test(&self, around: &Around, end: OpRef<'b>) -> Read<'b, ()> {
        if around.is_known {
            return self.is_free_of_poison(&around.condition, end);
        }
        let Some(truth) = self.truth(end.operand(0)) else {
            return self.refuse(end, "the counter of the loop, or its bound, may wrap");
        };
        let goes_on = if around.next == 0 { truth.clone() } else { truth.clone().not() };
        if goes_on != around.condition {
            return self.refuse(end, "the counter of the loop, or its bound, may wrap");
        }
        self.is_free_of_poison(&around.condition, end)
    }

    /// Binds what is used behind a loop; returns the block behind it with its arguments.
    fn leave(
        &mut self,
        graph: &Graph<'b>,
        own: LoopId,
        around: usize,
        shape: &Shape<'b>,
        last: Option<&Form>,
    ) -> Read<'b, (Block, Vec<Binding>)> {
        let body = graph.body;
        let mut used = Vec::new();
        for node in &graph.loops.get(own).nodes {
            let block = graph.flow.block(*node);
            let results = body.ops(block).flat_map(|op| body.op_ref(op).results().collect::<Vec<_>>());
            for value in body.arguments(block).chain(results).collect::<Vec<_>>() {
                let is_outside =
                    |user: loomir_ir::Op| body.block_of(user).is_none_or(|block| !graph.contains(own, block));
                if body.uses(value).any(|user| is_outside(user.op)) {
                    used.push(value);
                }
            }
        }
        let left = 1 - shape.next;
        let passed = self.passed_values(shape.end, left)?;
        let mut outgoing = Vec::new();
        for value in passed {
            outgoing.push(self.behind(graph, own, around, value, last, shape.end)?);
        }
        let mut bound = Vec::new();
        for value in used {
            bound.push((value, self.behind(graph, own, around, value, last, shape.end)?));
        }
        for (value, binding) in bound {
            self.bindings[value.index()] = binding;
        }
        Ok((successor(shape.end, left), outgoing))
    }

    /// Returns the meaning behind a loop of a value of its last iteration.
    fn behind(
        &mut self,
        graph: &Graph<'b>,
        own: LoopId,
        around: usize,
        value: Value,
        last: Option<&Form>,
        end: OpRef<'b>,
    ) -> Read<'b, Binding> {
        let binding = self.bindings[value.index()].clone();
        if self.body().value_block(value).is_none_or(|block| !graph.contains(own, block)) {
            return Ok(binding);
        }
        let (scope, inside) = (self.program.loops[around].outside, self.program.loops[around].inside);
        let depth = self.scope(scope).depth();
        let final_form = |form: &Form| match (form.has_dim(depth), last) {
            (false, _) => Some(form.clone()),
            (true, Some(last)) => form.with_dim(depth, last),
            (true, None) => None,
        };
        match binding {
            Binding::Term(term) => {
                let (own, ty) = (self.program.terms[term].clone(), self.body().value_type(value));
                if self.scope(own.scope).depth() == 0 && own.scope == 0 {
                    return Ok(Binding::Term(term));
                }
                if let Kind::Number(form) = &own.kind
                    && let Some(form) = final_form(form)
                {
                    return Ok(Binding::Term(self.term(Kind::Number(form), scope, ty, end)));
                }
                if own.scope != inside {
                    return self.refuse(end, "a value used behind the loop is not one of each iteration");
                }
                Ok(Binding::Term(self.exit(around, term, ty, end)))
            }
            Binding::Pointer(mut pointer) => {
                let offset = final_form(&pointer.offset);
                let between: Option<Vec<Form>> = pointer.between.iter().map(final_form).collect();
                let (Some(offset), Some(between), true) = (offset, between, pointer.others.is_empty()) else {
                    return self.refuse(end, "a pointer of the loop is used behind it");
                };
                (pointer.offset, pointer.between) = (offset, between);
                Ok(Binding::Pointer(pointer))
            }
            _ => self.refuse(end, "a value used behind the loop is not understood"),
        }
    }

    /// Adds a value of the last iteration.
    fn exit(&mut self, around: usize, term: TermId, ty: Type, end: OpRef<'b>) -> TermId {
        let scope = self.program.loops[around].outside;
        // The header runs at least once, so nothing asks for a first value.
        let unused = self.term(Kind::Number(Form::default()), 0, ty, end);
        let own = &mut self.program.loops[around];
        own.inits.push(unused);
        own.yields.push(term);
        let index = own.yields.len() - 1;
        self.term(Kind::Exit { of: around, index }, scope, ty, end)
    }
}
