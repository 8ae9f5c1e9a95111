//! The leaves of a part of a tree, each with the facts that hold at its place.
//!
//! **Assumptions.**
//! - Of two leaves in one iteration of all loops around both, the one listed first runs first.
//!   Tried with `tests/tests/all/legality.rs`.
//! - A domain that is too large does no harm to order, one that is too small does. Tried with
//!   `fixtures/fusion/symbolic_guards.mlir`.

use std::hash::{BuildHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use super::carried;
use crate::access::{Class, Domain};
use crate::affine::{AffineForm, Atom};
use crate::tree::access_summary::{Risk, enter, guard, in_place};
use crate::tree::levels::absolute;
use crate::tree::{
    Arm, AssumptionId, Green, Header, HeaderId, IfId, LoopId, Map, Node, Program, Span, StatementId,
    TreeStore,
};
use hashbrown::DefaultHashBuilder;
use loomir_ir::{Body, Op, Value};

/// The maximal number of leaves to reserve space for.
const MAX_EXPECTED: usize = 1 << 16;

/// A leaf in its place. Leaves are listed in the order of the text: of two in the same iteration of
/// all common loops, the one listed first runs first.
#[derive(Clone)]
pub(crate) struct ScheduledStatement {
    pub(crate) statement: StatementId,
    /// The surrounding loops, from those of the part inwards.
    pub(crate) loops: Rc<[Around]>,
    /// The iteration domain over the loops around.
    pub(crate) domain: Arc<Domain>,
    /// The conditions that `domain` does not express, each with its iteration over the levels. If
    /// only the order is examined, all surrounding conditions instead.
    pub(crate) unsaid: Vec<(OpaqueCondition, Vec<AffineForm>)>,
    /// The `if`s around, each with its outcome and the iteration that decides it, over levels, if
    /// coverage is examined. Equivalent `if`s are represented by the first of them.
    pub(crate) conditions: Vec<Condition>,
    /// The iteration of the statement that runs, over levels.
    pub(crate) map: Rc<[AffineForm]>,
    /// The constraints beyond `domain`, if the order is examined.
    pub(crate) within: NonAffineContext,
    /// The values computed inside of the loops that `domain` uses, with their iterations over the
    /// statement's levels, if coverage is examined.
    pub(crate) computed: Vec<(Value, Vec<AffineForm>)>,
    /// The accesses of the leaf.
    pub(crate) classes: Vec<(Class, Op)>,
    /// A hash of the domain, the map and the other constraints, if the order is examined.
    digest: u64,
    /// The item of the region that contains the leaf.
    pub(crate) item: u32,
    /// The surrounding versioned node, by number, and its tested assumptions.
    pub(crate) version: Option<(u32, AssumptionId)>,
}

/// The outcome of an `if` in an iteration of the loops that decide it, over levels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Condition {
    pub(crate) of: IfId,
    pub(crate) holds: bool,
    pub(crate) iteration: Vec<AffineForm>,
}

/// A loop of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Around {
    /// Its own.
    number: u32,
    /// True if the iterations of the loop may run in any order.
    pub(crate) in_any_order: bool,
    /// True if the iterations of the loop may run at the same time.
    pub(crate) parallel: bool,
    /// True if the iterations of the loop are lanes of vectors.
    pub(crate) are_lanes: bool,
    /// The number of its sequence.
    pub(crate) sequence: u32,
}

impl Around {
    /// Returns the loop, with its lanes in order if it has some.
    pub(crate) fn with_lanes_in_order(&self) -> Around {
        Around { in_any_order: self.in_any_order && !self.are_lanes, ..*self }
    }
}

/// Constraints on a leaf's execution through values computed inside of the loops.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct NonAffineContext {
    /// The iteration of the program's loops, over levels.
    pub(crate) iteration: Vec<AffineForm>,
    /// Forms over levels that are not negative. Each comes with the number of loops around its
    /// operands: in equal iterations of these loops the operands are equal.
    constraints: Vec<(usize, AffineForm)>,
}

impl NonAffineContext {
    /// Returns the constraints whose operands are computed inside at most `loops` loops.
    pub(crate) fn inside(&self, loops: usize) -> impl Iterator<Item = &AffineForm> {
        self.constraints.iter().filter(move |(depth, _)| *depth <= loops).map(|(_, form)| form)
    }
}

/// A constraint on values computed inside of the loops, and the iteration of their computation.
#[derive(Clone)]
struct Pinned {
    constraint: AffineForm,
    /// The iteration over levels; `None` if it cannot be expressed.
    iteration: Option<Vec<AffineForm>>,
}

/// A condition that is not affine. Equivalent conditions are represented by the first of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum OpaqueCondition {
    /// The trip count of a loop of the program.
    Extent(LoopId),
    /// The condition of an `if` of the program, or its negation.
    Condition(IfId, bool),
}

/// The purpose of collecting leaves, which determines the required facts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// The order of their accesses. A domain that is too large does no harm.
    Order,
    /// Coverage: each instance runs once. Conditions outside of a domain are listed beside it, or
    /// the question cannot be decided.
    Cover,
    /// Coverage, with values computed inside of the loops as parameters of the domain. They depend
    /// on the iteration, so they are equal in two domains if they are computed in the same
    /// iteration, relative to the statement's.
    CoverWithin,
}

/// Returns the leaves of `items`, neighbours in a sequence inside `depth` loops. The error is an
/// operation whose execution condition cannot be expressed.
pub(crate) fn leaves(
    ir: &Body,
    program: &Program,
    trees: &TreeStore,
    items: &[Green],
    depth: u32,
    arm: Arm,
    purpose: Purpose,
) -> Result<Vec<ScheduledStatement>, Op> {
    let expected = items.iter().map(|item| trees.leaves(*item) as usize).sum::<usize>();
    let mut walk = Walk {
        ir,
        program,
        trees,
        depth,
        arm,
        purpose,
        pinned: Vec::new(),
        running: Vec::new(),
        loops: Vec::new(),
        next_loop: 0,
        sequence: 0,
        next_sequence: 1,
        unsaid: Vec::new(),
        conditions: Vec::new(),
        item: 0,
        version: None,
        next_version: 0,
        risk: None,
        last_map: None,
        last_digest: None,
        hashing: DefaultHashBuilder::default(),
        found: Vec::with_capacity(expected.min(MAX_EXPECTED)),
    };
    let domain = Arc::new(Domain { levels: depth, constraints: Vec::new(), exact: true });
    for (index, item) in items.iter().enumerate() {
        walk.item = index as u32;
        walk.visit(*item, &domain)?;
    }
    Ok(walk.found)
}

struct Walk<'a> {
    ir: &'a Body,
    program: &'a Program,
    trees: &'a TreeStore,
    depth: u32,
    arm: Arm,
    loops: Vec<Around>,
    next_loop: u32,
    /// The number of the current sequence.
    sequence: u32,
    next_sequence: u32,
    unsaid: Vec<(OpaqueCondition, Vec<AffineForm>)>,
    conditions: Vec<Condition>,
    item: u32,
    version: Option<(u32, AssumptionId)>,
    next_version: u32,
    purpose: Purpose,
    /// The constraints of surrounding loops and conditions on values computed inside.
    pinned: Vec<Pinned>,
    /// The loops of the program that run in the surrounding loops of the tree, with their
    /// iterations over levels.
    running: Vec<(LoopId, Vec<AffineForm>)>,
    /// The outermost surrounding header that may be undefined.
    risk: Option<Risk>,
    /// The iteration of the last leaf, with the map and the number of levels that it belongs to.
    last_map: Option<(Map, u32, Rc<[AffineForm]>)>,
    /// The digest of the last leaf, with its domain and its iteration.
    last_digest: Option<(Arc<Domain>, Rc<[AffineForm]>, u64)>,
    hashing: DefaultHashBuilder,
    found: Vec<ScheduledStatement>,
}

impl Walk<'_> {
    /// Removes the constraints of `inner`, but not of `outer`, that use values computed inside of
    /// the loops, unless these values may be parameters. Records the iterations of the
    /// computations. The constraints belong to a loop or condition of the program that runs in the
    /// iteration `map`, over loops counted outwards. Otherwise they use values that are visible at
    /// their place.
    fn pin(&mut self, inner: &mut Domain, outer: &Domain, map: Option<&[AffineForm]>) {
        let (program, depth) = (self.program, self.depth);
        let new = inner.constraints.split_off(outer.constraints.len());
        for constraint in new {
            if program.is_known(&constraint, depth) {
                inner.constraints.push(constraint);
                continue;
            }
            let iteration = self.innermost(&constraint).and_then(|of| match map {
                Some(map) => {
                    let own = map.get(..=program.loop_info(of).depth as usize)?;
                    own.iter().map(|form| absolute(form, inner.levels)).collect()
                }
                None => self.running.iter().rev().find(|(own, _)| *own == of).map(|(_, map)| map.clone()),
            });
            if self.purpose == Purpose::CoverWithin {
                inner.constraints.push(constraint.clone());
            } else {
                inner.exact = false;
            }
            self.pinned.push(Pinned { constraint, iteration });
        }
    }

    /// Returns the innermost loop whose iterations determine all operands of a form. `None` if
    /// there is no such loop.
    fn innermost(&self, form: &AffineForm) -> Option<LoopId> {
        let program = self.program;
        let mut all = Vec::new();
        form.each_parameter(&mut |value| all.extend(program.loop_around(self.ir, value)));
        let deepest = all.iter().copied().max_by_key(|of| program.loop_info(*of).depth)?;
        let path = program.path(Some(deepest));
        all.iter().all(|of| path.contains(of)).then_some(deepest)
    }

    /// Returns the constraints through values computed in one iteration, the one with the most
    /// loops.
    fn within(&self) -> NonAffineContext {
        let iterations = || self.pinned.iter().filter_map(|pinned| pinned.iteration.as_ref());
        let Some(iteration) = iterations().max_by_key(|iteration| iteration.len()) else {
            return NonAffineContext::default();
        };
        let constraints = self.pinned.iter().filter_map(|pinned| {
            let own = pinned.iteration.as_ref().filter(|own| iteration.starts_with(own))?;
            Some((own.len(), pinned.constraint.clone()))
        });
        NonAffineContext { iteration: iteration.clone(), constraints: constraints.collect() }
    }

    /// Returns the values computed inside of the loops that the domain uses, with their iterations
    /// over the levels of the statement whose iteration is `here`. `None` if these are unknown.
    fn computed(&self, here: &[AffineForm]) -> Option<Vec<(Value, Vec<AffineForm>)>> {
        // The levels of the tree as forms over the statement's levels.
        let level = |level: u32| {
            let found = here.iter().zip(0..).find_map(|(form, own)| match form.terms() {
                [(Atom::Level(at), sign @ (1 | -1))] if *at == level => Some((form, *sign, own)),
                _ => None,
            });
            let (form, sign, own) = found?;
            AffineForm::level(own).plus(&AffineForm::constant(form.constant_part()), -1)?.times(sign)
        };
        let mut computed = Vec::new();
        for Pinned { constraint, iteration } in &self.pinned {
            let of_statement = iteration.as_ref()?.iter().map(|form| form.substitute(&mut |at| level(at)));
            let of_statement: Vec<AffineForm> = of_statement.collect::<Option<_>>()?;
            constraint.each_parameter(&mut |value| {
                let of = self.program.loop_around(self.ir, value);
                let around = of.map_or(0, |of| self.program.loop_info(of).depth as usize + 1);
                if around > self.depth as usize {
                    computed.push((value, of_statement[..around].to_vec()));
                }
            });
        }
        Some(computed)
    }

    /// Enters a sequence of one item or more. Returns the number of the sequence around it.
    fn begin_sequence(&mut self) -> u32 {
        self.next_sequence += 1;
        std::mem::replace(&mut self.sequence, self.next_sequence - 1)
    }

    /// Visits the body of a loop or guard whose header is such a risk.
    fn within_header(&mut self, risk: Option<Risk>, body: Green, domain: Domain) -> Result<(), Op> {
        let around = (self.risk.clone(), self.begin_sequence());
        self.risk = around.0.clone().or(risk);
        self.visit(body, &Arc::new(domain))?;
        (self.risk, self.sequence) = around;
        Ok(())
    }

    /// Recurses once for each loop or guard. Raising bounds their nesting depth.
    fn visit(&mut self, tree: Green, domain: &Arc<Domain>) -> Result<(), Op> {
        match self.trees.get(tree) {
            Node::Empty => {}
            Node::Sequence { .. } => {
                let trees = self.trees;
                let around = self.begin_sequence();
                for item in trees.items(tree) {
                    self.visit(item, domain)?;
                }
                self.sequence = around;
            }
            Node::Loop { header, body } => self.visit_loop(header, body, domain)?,
            Node::Guard { of, map, holds, body } => self.visit_guard((of, map), holds, body, domain)?,
            Node::Versioned { assumption, fast, fallback } => {
                let around = self.version.replace((self.next_version, assumption));
                self.next_version += 1;
                let outer = self.begin_sequence();
                self.visit(if self.arm == Arm::Fast { fast } else { fallback }, domain)?;
                self.sequence = outer;
                self.version = around;
            }
            Node::Leaf { statement, map } => self.place(statement, map, domain)?,
        }
        Ok(())
    }

    /// Visits the body of a loop. Its header constrains the execution of leaves, and the iterations
    /// of the program's loops.
    fn visit_loop(&mut self, header: HeaderId, body: Green, domain: &Arc<Domain>) -> Result<(), Op> {
        let mut inner = Domain { exact: true, ..(**domain).clone() };
        enter(self.program, self.trees, header, &mut inner, u32::MAX);
        let (unsaid, pinned, running) = (self.unsaid.len(), self.pinned.len(), self.running.len());
        let own = self.trees.header(header);
        let Header { span, origins, parallel, .. } = own;
        let around = Around {
            number: self.next_loop,
            in_any_order: own.in_any_order(),
            parallel: *parallel,
            are_lanes: own.are_lanes(),
            sequence: self.sequence,
        };
        let lead = origins.first().filter(|_| *span == Span::Whole);
        self.pin(&mut inner, domain, lead.map(|lead| &*lead.map));
        for origin in origins {
            let map = origin.map.iter().map(|form| absolute(form, inner.levels)).collect::<Option<_>>();
            self.running.extend(map.map(|map| (origin.of, map)));
        }
        if !inner.exact && self.purpose != Purpose::Order {
            let extent = extent(self.ir, self.program, self.trees, header, inner.levels)?;
            self.unsaid.push(extent);
        }
        inner.exact &= domain.exact;
        self.loops.push(around);
        self.next_loop += 1;
        let risk = Risk::of_loop(self.program, self.trees, header, domain);
        self.within_header(risk, body, inner)?;
        self.loops.pop();
        self.running.truncate(running);
        self.unsaid.truncate(unsaid);
        self.pinned.truncate(pinned);
        Ok(())
    }

    /// Visits the code that runs if the condition of an `if`, in the iteration `map`, holds or
    /// fails.
    fn visit_guard(
        &mut self,
        (of, map): (IfId, Map),
        holds: bool,
        body: Green,
        domain: &Arc<Domain>,
    ) -> Result<(), Op> {
        let mut inner = Domain { exact: true, ..(**domain).clone() };
        guard(self.program, self.trees, (of, map), holds, &mut inner, u32::MAX);
        let (unsaid, pinned) = (self.unsaid.len(), self.pinned.len());
        let conditions = self.conditions.len();
        self.pin(&mut inner, domain, Some(self.trees.map(map)));
        let info = self.program.if_info(of);
        let iteration = self.trees.map(map).iter().take(info.decided_inside as usize);
        let iteration = iteration.map(|form| absolute(form, domain.levels)).collect::<Option<Vec<_>>>();
        if !inner.exact || self.purpose == Purpose::Order {
            let condition = OpaqueCondition::Condition(info.alike, holds);
            self.unsaid.push((condition, iteration.clone().ok_or(info.op)?));
        }
        if self.purpose != Purpose::Order {
            let condition = |iteration| Condition { of: info.alike, holds, iteration };
            self.conditions.extend(iteration.map(condition));
        }
        inner.exact &= domain.exact;
        self.within_header(Risk::of_guard(self.program, of, domain), body, inner)?;
        self.unsaid.truncate(unsaid);
        self.conditions.truncate(conditions);
        self.pinned.truncate(pinned);
        Ok(())
    }

    /// Returns the iteration of a statement at the current place, over levels. Neighbours often
    /// share it.
    fn here(&mut self, map: Map, levels: u32) -> Option<Rc<[AffineForm]>> {
        if self.last_map.as_ref().is_none_or(|(own, of, _)| (*own, *of) != (map, levels)) {
            let here = self.trees.map(map).iter().map(|form| absolute(form, levels));
            self.last_map = Some((map, levels, here.collect::<Option<_>>()?));
        }
        self.last_map.as_ref().map(|(_, _, here)| here.clone())
    }

    /// Returns the loops around, shared by neighbouring leaves.
    fn around(&self) -> Rc<[Around]> {
        match self.found.last() {
            Some(last) if *last.loops == *self.loops => last.loops.clone(),
            _ => self.loops.as_slice().into(),
        }
    }

    /// Returns a hash of the schedule of a leaf. Neighbours often share it.
    fn digest(&mut self, domain: &Arc<Domain>, here: &Rc<[AffineForm]>, within: &NonAffineContext) -> u64 {
        match &self.last_digest {
            Some((own, map, digest)) if Arc::ptr_eq(own, domain) && Rc::ptr_eq(map, here) => *digest,
            _ => {
                let digest = self.hashing.hash_one((domain, here, &self.unsaid, within));
                self.last_digest = Some((domain.clone(), here.clone(), digest));
                digest
            }
        }
    }

    /// Adds a leaf, with the facts for its purpose.
    fn place(&mut self, statement: StatementId, map: Map, domain: &Arc<Domain>) -> Result<(), Op> {
        let op = self.program.statement(statement).op();
        let here = self.here(map, domain.levels).ok_or(op)?;
        let map = self.trees.map(map);
        let computed = match self.purpose {
            Purpose::CoverWithin => self.computed(&here).ok_or(op)?,
            Purpose::Order | Purpose::Cover => Vec::new(),
        };
        let classes = match self.purpose {
            Purpose::Order => in_place(self.program, statement, map, domain, self.depth)
                .chain(carried::class(self.program, statement, &here, domain))
                .chain(self.risk.as_ref().map(|risk| risk.class(domain.levels)))
                .collect(),
            Purpose::Cover | Purpose::CoverWithin => Vec::new(),
        };
        let within = self.within();
        let digest = if classes.is_empty() { 0 } else { self.digest(domain, &here, &within) };
        self.found.push(ScheduledStatement {
            statement,
            loops: self.around(),
            domain: domain.clone(),
            unsaid: self.unsaid.clone(),
            conditions: self.conditions.clone(),
            map: here,
            within,
            computed,
            classes,
            digest,
            item: self.item,
            version: self.version,
        });
        Ok(())
    }
}

/// Returns the condition for the trip count of a loop of the tree, and its iteration over levels.
/// Only a span of all iterations has one.
fn extent(
    ir: &Body,
    program: &Program,
    trees: &TreeStore,
    header: HeaderId,
    levels: u32,
) -> Result<(OpaqueCondition, Vec<AffineForm>), Op> {
    let header = trees.header(header);
    let lead = header.origins.first().filter(|_| header.span == Span::Whole);
    let map = lead.and_then(|lead| lead.map.iter().map(|form| absolute(form, levels)).collect());
    match (lead, map) {
        (Some(lead), Some(map)) => Ok((OpaqueCondition::Extent(program.loop_info(lead.of).alike), map)),
        _ => Err(header.origins.first().map_or(ir.root(), |origin| program.loop_info(origin.of).op)),
    }
}

impl ScheduledStatement {
    /// Returns a form over the iterations of the statement as one over the levels of the leaf.
    pub(super) fn in_place(&self, form: &AffineForm) -> Option<AffineForm> {
        form.substitute(&mut |level| self.map.get(level as usize).cloned())
    }

    /// True if two leaves agree in everything about their schedule except for their domain.
    pub(super) fn runs_like(&self, other: &ScheduledStatement) -> bool {
        self.map == other.map && self.unsaid == other.unsaid && self.within == other.within
    }

    /// True if two leaves agree in everything that coverage examines.
    pub(super) fn covers_like(&self, other: &ScheduledStatement) -> bool {
        self.map == other.map
            && self.domain == other.domain
            && self.unsaid == other.unsaid
            && self.conditions == other.conditions
            && self.computed == other.computed
            && self.version == other.version
    }

    /// Hashes the schedule of the leaf.
    pub(super) fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }

    /// Hashes an access, with the schedule of the leaf.
    pub(super) fn hash_access<H: Hasher>(&self, class: &Class, state: &mut H) {
        class.base.hash(state);
        class.subscripts.hash(state);
        class.writes.hash(state);
        self.hash(state);
    }
}

/// One access of a leaf.
pub(super) type Access<'p> = (&'p ScheduledStatement, usize, &'p (Class, Op));

/// Returns the common loops of the tree around two leaves.
pub(crate) fn shared<'l>(a: &'l ScheduledStatement, b: &ScheduledStatement) -> &'l [Around] {
    let shared = a.loops.iter().zip(&*b.loops).take_while(|(x, y)| x == y).count();
    &a.loops[..shared]
}

/// True if the parts of a loop around two leaves of its anchor are in one sequence. The first part
/// then passes its values on to the other.
pub(super) fn is_handed_on(first: &ScheduledStatement, second: &ScheduledStatement) -> bool {
    // Lanes combine the values of the loop around them.
    let last = |leaf: &ScheduledStatement| leaf.loops.iter().rfind(|around| !around.are_lanes).copied();
    let sequence = |leaf: &ScheduledStatement| last(leaf).map(|around| around.sequence);
    sequence(first) == sequence(second)
}
