//! Dependences through memory: pairs of accesses of objects that may overlap.
//!
//! A pair is examined once for each common loop as the carrier, and once within the innermost
//! common loop. Contents of a loop are seen from inside it: values computed in an iteration of it,
//! or of a surrounding loop, are numbers common to both accesses.

use std::rc::Rc;

use hashbrown::HashMap;
use loomir_ir::{Body, Op};
use smallvec::SmallVec;

use super::directions::{Ask, Entry, Given, Line};
use super::{Dependence, End, Kind, Options, Through};
use crate::access::base::{Base, Overlap};
use crate::access::objects::Objects;
use crate::access::{Class, Example, LoopContext};
use crate::affine::system::Side;
use crate::affine::{AffineForm, Atom};
use crate::legality::meeting::Meeting;
use crate::legality::scheduled::{OpaqueCondition, Purpose, ScheduledStatement, leaves, shared};
use crate::legality::{Cause, DependenceOracle, Instance};
use crate::tree::access_summary::LoopIteration;
use crate::tree::{Arm, Green, Node, Program, TreeStore};

/// Returns the dependences through memory.
pub(super) fn dependences(
    body: &Body,
    program: &Program,
    trees: &TreeStore,
    options: &Options<'_>,
) -> Vec<Dependence> {
    let Options { bases, dependence, limits } = *options;
    let oracle = DependenceOracle { bases, dependence, limits, tested_before: None };
    let mut list = List { body, program, trees, oracle, found: Vec::new() };
    list.sequence(program.root, &LoopContext::outside(&program.surroundings));
    list.found
}

struct List<'a> {
    body: &'a Body,
    program: &'a Program,
    trees: &'a TreeStore,
    oracle: DependenceOracle<'a>,
    found: Vec<Dependence>,
}

/// An access of a leaf.
#[derive(Clone, Copy)]
struct Access<'p> {
    leaf: &'p ScheduledStatement,
    /// The place of the leaf.
    place: usize,
    class: &'p Class,
    op: Op,
    /// The number of the class.
    number: usize,
}

/// The key of a question about two classes: their numbers, the number of common loops inside the
/// loop context, and true if the innermost of those carries the dependence.
type Key = (usize, usize, usize, bool);

impl List<'_> {
    /// Lists the dependences that loops of a sequence carry, those among its items, and all inside.
    /// Recurses once a loop.
    fn sequence(&mut self, items: Green, loop_context: &LoopContext) {
        let items: Vec<Green> = self.trees.items(items).collect();
        let found = leaves(
            self.body,
            self.program,
            self.trees,
            &items,
            loop_context.depth,
            Arm::Fast,
            Purpose::Order,
        );
        // In an unedited tree everything has a form.
        let leaves = found.unwrap_or_default();
        self.pairs(&leaves, loop_context);
        drop(leaves);
        self.inside(&items, loop_context);
    }

    /// Visits the loops among the items. Recurses once for each guard.
    fn inside(&mut self, items: &[Green], loop_context: &LoopContext) {
        let (program, trees) = (self.program, self.trees);
        for item in items {
            match trees.get(*item) {
                Node::Loop { header, body } => {
                    self.sequence(body, &loop_context.inside(program, trees, header));
                }
                Node::Guard { of, map, holds, body } => {
                    let items: Vec<Green> = trees.items(body).collect();
                    self.inside(&items, &loop_context.guarded(program, trees, (of, map), holds));
                }
                _ => {}
            }
        }
    }

    fn pairs(&mut self, leaves: &[ScheduledStatement], loop_context: &LoopContext) {
        let mut classes: HashMap<&Class, usize> = HashMap::new();
        let mut by_base: HashMap<Base, Vec<Access<'_>>> = HashMap::new();
        let (mut objects, mut order) = (Objects::default(), HashMap::new());
        for (place, leaf) in leaves.iter().enumerate() {
            for (class, op) in
                leaf.classes.iter().filter(|(class, _)| !matches!(class.base, Base::Carried(_)))
            {
                let next = classes.len();
                let number = *classes.entry(class).or_insert(next);
                let all = by_base.entry(class.base).or_default();
                if all.is_empty() {
                    objects.push(class.base);
                    order.insert(class.base, order.len());
                }
                all.push(Access { leaf, place, class, op: *op, number });
            }
        }
        let tells_apart = self.oracle.dependence.tells_objects_apart();
        let mut memo: HashMap<Key, Rc<Vec<Line>>> = HashMap::new();
        for base in objects.iter() {
            let near: Vec<Base> = match tells_apart {
                true => objects.near(base, true).collect(),
                false => objects.iter().collect(),
            };
            // Each pair of objects is examined once.
            for other in near.into_iter().filter(|other| order[other] >= order[&base]) {
                let Some(overlap) = self.oracle.overlap(base, other) else { continue };
                if overlap == Overlap::AssumedApart {
                    continue;
                }
                for (x, a) in by_base[&base].iter().enumerate() {
                    let others = if base == other { &by_base[&other][x..] } else { &by_base[&other][..] };
                    for b in others {
                        self.pair(a, b, overlap, loop_context, &mut memo);
                    }
                }
            }
        }
    }

    /// Lists the dependences of two accesses. Either may be the source.
    fn pair(
        &mut self,
        a: &Access<'_>,
        b: &Access<'_>,
        overlap: Overlap,
        loop_context: &LoopContext,
        memo: &mut HashMap<Key, Rc<Vec<Line>>>,
    ) {
        if kinds(a.class, b.class).is_empty() && kinds(b.class, a.class).is_empty() {
            return;
        }
        let common = shared(a.leaf, b.leaf).len();
        let is_carried = common > 0;
        let is_one = a.place == b.place;
        if (!is_carried && is_one) || exclude_each_other(a.leaf, b.leaf, loop_context.depth) {
            return;
        }
        // Each iteration allocates its own object.
        if let (Overlap::Same, Base::Allocation(value)) = (overlap, a.class.base)
            && is_carried
            && !self.program.is_known(&AffineForm::atom(Atom::Param(value)), loop_context.depth)
        {
            return;
        }
        let mut one_way = |source: &Access<'_>, sink: &Access<'_>| {
            let key = (source.number, sink.number, common, is_carried);
            let lines = memo.entry(key).or_insert_with(|| {
                let meeting = Meeting::of(source.class, sink.class, overlap);
                let ask = Ask {
                    first: source.class,
                    second: sink.class,
                    loop_context,
                    equal: &meeting.pairs,
                    dependence: self.oracle.dependence,
                    limits: self.oracle.limits,
                };
                let mut given = vec![Given::Open; common];
                if is_carried {
                    given[0] = Given::Later(None);
                }
                Rc::new(ask.lines(&given))
            });
            for line in lines.clone().iter() {
                self.found.extend(self.told(source, sink, overlap, loop_context, line));
            }
        };
        if is_carried || a.place < b.place {
            one_way(a, b);
        }
        let is_same_access = is_one && a.op == b.op && a.number == b.number;
        if (is_carried && !is_same_access) || b.place < a.place {
            one_way(b, a);
        }
    }

    /// Returns the dependence of two accesses for a line.
    fn told(
        &self,
        source: &Access<'_>,
        sink: &Access<'_>,
        overlap: Overlap,
        loop_context: &LoopContext,
        line: &Line,
    ) -> Option<Dependence> {
        let (s, t) = (source.class, sink.class);
        let kinds = kinds(s, t);
        if kinds.is_empty() {
            return None;
        }
        let cause = Meeting::of(s, t, overlap).cause(s, t, overlap, line.example.as_deref());
        let is_exact = s.domain.exact && t.domain.exact && loop_context.exact;
        let is_certain = is_exact && matches!(cause, Cause::Element(_));
        let around = Entry::SAME;
        let vector: Vec<_> = std::iter::repeat_n(around, loop_context.depth as usize)
            .chain(line.vector.iter().copied())
            .collect();
        let path = self.program.path(self.program.statement(source.leaf.statement).parent);
        let carrier =
            (!line.vector.is_empty()).then(|| path.get(loop_context.depth as usize).copied()).flatten();
        let is_update = (s.base, s.origin) == (t.base, t.origin) && s.update == t.update;
        let end = |own: &Access<'_>| End { statement: own.leaf.statement, op: own.op };
        let instance = |own: &Access<'_>, example: &Example, side: Side| {
            let iteration: Vec<_> =
                LoopIteration::over(self.program, own.leaf.statement, &own.leaf.map).collect();
            Instance::of(own.op, Some(example), &iteration, side)
        };
        let example = line.example.as_deref().map(|example| {
            Box::new([instance(source, example, Side::First), instance(sink, example, Side::Second)])
        });
        Some(Dependence {
            source: end(source),
            sink: end(sink),
            kinds,
            through: Through::Memory(cause),
            carrier,
            vector,
            reduction: s.update.filter(|_| is_update),
            is_certain,
            example,
        })
    }
}

/// Returns the kinds of dependence between two accesses, the first of which runs first. An access
/// of the world reads and writes. An operation that may be undefined depends on the return of such
/// an access.
fn kinds(source: &Class, sink: &Class) -> SmallVec<[Kind; 1]> {
    let reads = |class: &Class| !class.writes || class.base == Base::World;
    if (source.base, sink.base) == (Base::World, Base::Exit) {
        return SmallVec::from_buf([Kind::Control]);
    }
    let all = [
        (Kind::Flow, source.writes && reads(sink)),
        (Kind::Anti, reads(source) && sink.writes),
        (Kind::Output, source.writes && sink.writes),
    ];
    all.into_iter().filter(|(_, is)| *is).map(|(kind, _)| kind).collect()
}

/// True if one leaf runs under a condition and the other under its negation, and the condition is
/// evaluated in an iteration that both share: within `shared` loops.
fn exclude_each_other(a: &ScheduledStatement, b: &ScheduledStatement, shared: u32) -> bool {
    a.unsaid.iter().any(|(what, map)| {
        let OpaqueCondition::Condition(of, holds) = *what else { return false };
        let opposite = OpaqueCondition::Condition(of, !holds);
        let is_shared = |map: &Vec<AffineForm>| map.len() <= shared as usize;
        is_shared(map) && b.unsaid.iter().any(|(other, map)| *other == opposite && is_shared(map))
    })
}
