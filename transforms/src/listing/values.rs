//! Dependences through values: from a computation to its uses, through loops that carry the value,
//! and to statements whose execution it decides.
//!
//! A value is followed backwards from its use to the statements that compute it. A loop-carried
//! value is the initial value in the first iteration, and the yielded value of the preceding
//! iteration in each other one. Behind the loop it is the yielded value of the last. On the way the
//! connected instances are narrowed down: the iteration of the use, the iteration of the source,
//! and the distance between them. If an inner loop passes a value through, these are unknown, and
//! the result is not certain. Constants have no source.
//!
//! **Cost.** For each use the chain of statements that pass its value on, and for each source a
//! question a common loop.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interfaces::LoopLike;
use loomir_dialects::scf;
use loomir_ir::{Body, Op, Trait, Value, ValueDef};
use smallvec::smallvec;

use super::directions::{Ask, Entry, Given, Line};
use super::{Dependence, End, Kind, Options, Through};
use crate::access::base::Base;
use crate::access::{Class, Domain, Example, LoopContext};
use crate::affine::system::Side;
use crate::affine::{AffineForm, Atom};
use crate::legality::Instance;
use crate::legality::scheduled::{Purpose, ScheduledStatement, leaves, shared};
use crate::tree::access_summary::LoopIteration;
use crate::tree::{Arm, Green, LoopId, Program, StatementId, TreeStore};

/// Returns the dependences through values.
pub(super) fn dependences(
    body: &Body,
    program: &Program,
    trees: &TreeStore,
    options: &Options<'_>,
) -> Vec<Dependence> {
    let items: Vec<Green> = trees.items(program.root).collect();
    let placed = leaves(body, program, trees, &items, 0, Arm::Fast, Purpose::Order).unwrap_or_default();
    let leaves = placed.iter().map(|leaf| (leaf.statement, leaf)).collect();
    let ops = program.statements().zip(0..).flat_map(|(info, id)| {
        let of = StatementId(id);
        info.ops.iter().map(move |op| (*op, of))
    });
    let loop_context = LoopContext::outside(&program.surroundings);
    let list =
        List { body, program, statements: ops.collect(), leaves, loop_context: &loop_context, options };
    let mut found = Vec::new();
    for leaf in &placed {
        let uses = list.uses(leaf.statement);
        let deciding = list.deciding(leaf.statement);
        let all = uses.into_iter().map(|own| (Kind::Flow, own));
        for (kind, (value, op)) in all.chain(deciding.into_iter().map(|own| (Kind::Control, own))) {
            let sink = End { statement: leaf.statement, op };
            for source in list.sources(value, sink) {
                for one in list.told(kind, value, &source, sink) {
                    let is_there = |own: &Dependence| {
                        (own.source, own.sink, &own.kinds) == (one.source, one.sink, &one.kinds)
                            && own.vector == one.vector
                            && (kind == Kind::Control || own.through == one.through)
                    };
                    let own = found
                        .iter()
                        .rev()
                        .take_while(|own: &&Dependence| own.sink.statement == sink.statement);
                    if !own.into_iter().any(is_there) {
                        found.push(one);
                    }
                }
            }
        }
    }
    found
}

struct List<'a> {
    body: &'a Body,
    program: &'a Program,
    statements: HashMap<Op, StatementId>,
    leaves: HashMap<StatementId, &'a ScheduledStatement>,
    loop_context: &'a LoopContext,
    options: &'a Options<'a>,
}

/// The relation between the iterations of a value's computation and its use.
#[derive(Clone, Default)]
struct Link {
    /// The level of the outermost loop in which the source is in an earlier iteration, and the
    /// distance, if known. `None` if the iterations are equal.
    later: Option<(u32, Option<i64>)>,
    /// Forms over the levels of the source that are not negative.
    of_source: Vec<AffineForm>,
    /// Forms over the levels of the use that are not negative.
    of_sink: Vec<AffineForm>,
    /// True if the relation is incomplete.
    is_open: bool,
    /// True if a loop carries the value.
    is_carried: bool,
}

/// The source of a value.
struct Source {
    end: End,
    link: Link,
}

impl List<'_> {
    /// Returns the values that a statement uses and does not compute, each once.
    fn uses(&self, statement: StatementId) -> Vec<(Value, Op)> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let mut stack: Vec<Op> = self.program.statement(statement).ops.iter().rev().copied().collect();
        while let Some(op) = stack.pop() {
            found.extend(
                self.body.operands(op).map(|value| (value, op)).filter(|(value, _)| seen.insert(*value)),
            );
            let mark = stack.len();
            for region in self.body.own_regions(op) {
                stack.extend(self.body.blocks(region).flat_map(|block| self.body.ops(block)));
            }
            stack[mark..].reverse();
        }
        found
    }

    /// Returns the operands of surrounding operations, which decide if, or how often, a statement
    /// runs.
    fn deciding(&self, statement: StatementId) -> Vec<(Value, Op)> {
        let (mut found, own) = (Vec::new(), self.program.statement(statement).op());
        let mut block = self.body.block_of(own);
        while let Some(inside) = block.filter(|block| *block != self.program.block) {
            let around = self.body.region_parent(self.body.block_region(inside));
            let handed = self.inits(around);
            let operands = self.body.operands(around).filter(|value| !handed.contains(value));
            found.extend(operands.map(|value| (value, own)));
            block = self.body.block_of(around);
        }
        found
    }

    fn inits(&self, op: Op) -> Vec<Value> {
        let view = self.body.op_ref(op);
        match view.info().interface::<dyn LoopLike>() {
            Some(model) => model.inits(view),
            None if self.body.is(op, scf::ParallelOp::DEF) => scf::ParallelOp(op).initVals(self.body),
            None => Vec::new(),
        }
    }

    /// Returns the sources of a value that is used here.
    fn sources(&self, value: Value, sink: End) -> Vec<Source> {
        let inside = self.program.path(self.program.statement(sink.statement).parent);
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let mut pending = vec![(value, Link::default())];
        while let Some((value, link)) = pending.pop() {
            if !seen.insert((value, link.later)) {
                continue;
            }
            if let Some((of, index)) = self.program.loop_of_argument(self.body, value) {
                if let Some(index) =
                    index.checked_sub(1).filter(|index| *index < self.program.loop_info(of).carried)
                {
                    let is_used_inside = inside.contains(&of);
                    self.carried(of, index, &link, is_used_inside, &mut pending);
                }
                continue;
            }
            let ValueDef::OpResult { op, index } = self.body.def(value) else { continue };
            if let Some(statement) = self.statements.get(&op) {
                if *statement != sink.statement || link.later.is_some() {
                    let is_constant = self.body.has_trait(op, Trait::ConstantLike);
                    let end = End { statement: *statement, op };
                    found.extend((!is_constant).then_some(Source { end, link }));
                }
            } else if let Some(of) = self.loop_of(op) {
                self.last(of, index, &link, &mut pending);
            } else {
                // The values that the sides of a conditional yield.
                let ends = self.body.own_regions(op).filter_map(|region| {
                    let end = self.body.terminator(self.body.single_block(region)?)?;
                    Some(End { statement: *self.statements.get(&end)?, op: end })
                });
                found.extend(ends.map(|end| {
                    let is_known = self.leaves.get(&end.statement).is_some_and(|leaf| leaf.domain.exact);
                    Source { end, link: Link { is_open: link.is_open || !is_known, ..link.clone() } }
                }));
            }
        }
        found
    }

    /// Returns the loop of an operation, if it is one.
    fn loop_of(&self, op: Op) -> Option<LoopId> {
        let region = self.body.own_regions(op).next()?;
        let of = self.program.loop_of(self.body.single_block(region)?)?;
        (self.program.loop_info(of).op == op).then_some(of)
    }

    /// Returns the value that a loop yields for a carried value.
    fn yielded(&self, of: LoopId, index: usize) -> Option<Value> {
        let end = self.body.terminator(self.program.loop_info(of).block)?;
        self.body.operands(end).nth(index)
    }

    /// Follows a loop-carried value to its sources, in an iteration with this link to the use.
    fn carried(
        &self,
        of: LoopId,
        index: usize,
        link: &Link,
        is_used_inside: bool,
        pending: &mut Vec<(Value, Link)>,
    ) {
        let info = self.program.loop_info(of);
        let level = info.depth;
        // True if the use is in the iteration in question.
        let is_here = is_used_inside && link.later.is_none_or(|(own, _)| level < own);
        let Some((chain, end)) = self.chain(of, index) else { return };
        let is_cycle = end.is_none();
        let first = |steps: i64| {
            let after = AffineForm::level(level).plus(&AffineForm::constant(steps), -1);
            let before = after.as_ref().and_then(|form| form.times(-1));
            let exactly = [after, before.filter(|_| !is_cycle)];
            if is_here { exactly.into_iter().flatten().collect() } else { Vec::new() }
        };
        let inits = self.inits(info.op);
        for (own, steps) in chain.iter().zip(0..) {
            let mut next = self.handed_on(link, is_here);
            next.of_sink.extend(first(steps));
            next.is_open |= is_cycle;
            pending.extend(inits.get(*own).map(|init| (*init, next)));
        }
        let Some(end) = end else { return };
        let mut next = self.handed_on(link, is_here);
        let is_computed =
            matches!(self.body.def(end), ValueDef::OpResult { op, .. } if self.statements.contains_key(&op));
        if is_used_inside {
            // A value passed through an inner loop may be older.
            let by = (is_here && is_computed).then_some(chain.len() as i64);
            next.is_open |= by.is_none();
            next.later = Some(match link.later {
                Some(outer) if outer.0 < level => outer,
                _ => (level, by),
            });
        }
        pending.push((end, next));
    }

    /// Returns the link to the previous carried value. If that is not visible from the use, the
    /// source's iteration is left open.
    fn handed_on(&self, link: &Link, is_here: bool) -> Link {
        let of_source = if is_here { link.of_source.clone() } else { Vec::new() };
        Link { of_source, is_open: link.is_open || !is_here, is_carried: true, ..link.clone() }
    }

    /// Returns the chain of carried values that pass on one another, from this one on, each once.
    /// Also returns the value that ends the chain; `None` for a cycle. `None` if the loop is
    /// malformed.
    fn chain(&self, of: LoopId, index: usize) -> Option<(Vec<usize>, Option<Value>)> {
        let mut chain = vec![index];
        loop {
            let value = self.yielded(of, *chain.last()?)?;
            match self.program.loop_of_argument(self.body, value) {
                Some((own, at)) if own == of && at > 0 => {
                    if chain.contains(&(at - 1)) {
                        return Some((chain, None));
                    }
                    chain.push(at - 1);
                }
                _ => return Some((chain, Some(value))),
            }
        }
    }

    /// Follows the result of a loop to its sources.
    fn last(&self, of: LoopId, index: usize, link: &Link, pending: &mut Vec<(Value, Link)>) {
        let info = self.program.loop_info(of);
        let extents = info.space.extents().filter(|_| info.space.is_counted());
        let extent = extents.filter(|all| all.len() == 1 && self.program.is_known(&all[0], 0));
        let extent = extent.and_then(|mut all| all.pop()).zip(info.space.step);
        let carried = Link { is_carried: true, ..link.clone() };
        if info.reduced > 0 {
            // The initial value and all iterations contribute.
            pending.extend(self.inits(info.op).get(index).map(|init| (*init, carried.clone())));
            let contributed = self.yielded(of, index);
            return pending.extend(contributed.map(|value| (value, Link { is_open: true, ..carried })));
        }
        // No iteration at all.
        let mut none = carried.clone();
        let never = extent.as_ref().and_then(|(extent, _)| extent.times(-1));
        none.is_open |= never.is_none() || link.later.is_some();
        none.of_sink.extend(never.filter(|_| link.later.is_none()));
        pending.extend(self.inits(info.op).get(index).map(|init| (*init, none)));
        let Some(value) = self.yielded(of, index) else { return };
        // The last iteration.
        let mut last = carried;
        let behind = extent.and_then(|(extent, step)| {
            let next = AffineForm::level(info.depth).plus(&AffineForm::constant(1), 1)?.times(step)?;
            next.minus(&extent)
        });
        last.is_open |= behind.is_none();
        last.of_source.extend(behind);
        pending.push((value, last));
    }

    /// Returns the dependences from the source of a value to a use.
    fn told(&self, kind: Kind, value: Value, source: &Source, sink: End) -> Vec<Dependence> {
        let Source { end, link } = source;
        let (Some(from), Some(to)) = (self.leaves.get(&end.statement), self.leaves.get(&sink.statement))
        else {
            return Vec::new();
        };
        let common = shared(from, to).len();
        let given = |level: u32| match link.later {
            Some((own, by)) if own == level => Given::Later(by),
            Some((own, _)) if own < level => Given::Open,
            _ => Given::Equal,
        };
        let given: Vec<Given> = (0..common as u32).map(given).collect();
        // A source outside a loop does not depend on the iterations of the loop.
        let is_inside = |form: &&AffineForm| {
            form.all_atoms(&|atom| !matches!(atom, Atom::Level(at) if *at >= from.domain.levels))
        };
        let of_source: Vec<&AffineForm> = link.of_source.iter().filter(is_inside).collect();
        let is_open = link.is_open || of_source.len() < link.of_source.len();
        let (first, second) = (instances(from, of_source), instances(to, link.of_sink.iter().collect()));
        let ask = Ask {
            first: &first,
            second: &second,
            loop_context: self.loop_context,
            equal: &[],
            dependence: self.options.dependence,
            limits: self.options.limits,
        };
        let path = self.program.path(self.program.statement(sink.statement).parent);
        let instance = |end: End, leaf: &ScheduledStatement, example: &Example, side: Side| {
            let iteration: Vec<_> = LoopIteration::over(self.program, end.statement, &leaf.map).collect();
            Instance::of(end.op, Some(example), &iteration, side)
        };
        let one = |line: Line| {
            let parts = line.vector.iter().position(|own| own.directions != Entry::SAME.directions);
            let example = line.example.as_deref().map(|example| {
                Box::new([
                    instance(*end, from, example, Side::First),
                    instance(sink, to, example, Side::Second),
                ])
            });
            Dependence {
                source: *end,
                sink,
                kinds: smallvec![kind],
                through: if link.is_carried { Through::Carried(value) } else { Through::Value(value) },
                carrier: parts.and_then(|at| path.get(at).copied()),
                vector: line.vector,
                reduction: None,
                is_certain: !is_open,
                example,
            }
        };
        ask.lines(&given).into_iter().map(one).collect()
    }
}

/// Returns the instances of a leaf for which these forms are not negative, as accesses of nothing.
fn instances(leaf: &ScheduledStatement, more: Vec<&AffineForm>) -> Class {
    let domain = &leaf.domain;
    let constraints = domain.constraints.iter().chain(more).cloned().collect();
    Class::whole(Base::World, true, &Arc::new(Domain { constraints, ..**domain }))
}
