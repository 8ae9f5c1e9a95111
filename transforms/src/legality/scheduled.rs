//! The leaves of a part of a tree, each with what is known where it stands.
//!
//! **Assumptions.**
//! - Of two leaves in one iteration of all loops around both, that listed first runs first. Tried
//!   with `tests/tests/legality.rs`.
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

/// Most leaves for which there is room before they are found.
const MAX_EXPECTED: usize = 1 << 16;

/// A leaf in its place. Leaves are listed in the order of the text, so of two in the same iteration
/// of all loops that are around both, the one listed first runs first.
pub(crate) struct ScheduledStatement {
    pub(crate) statement: StatementId,
    /// The loops around, from those of the part inwards.
    pub(crate) loops: Rc<[Around]>,
    /// When it runs: the levels of the loops around.
    pub(crate) domain: Arc<Domain>,
    /// What `domain` does not say: whether these run this iteration, of the loops around what
    /// decides it. If only the order is asked for, all conditions around instead.
    pub(crate) unsaid: Vec<(OpaqueCondition, Vec<AffineForm>)>,
    /// Which iteration of the statement runs, over levels.
    pub(crate) map: Rc<[AffineForm]>,
    /// What is known of that beyond `domain`, if the order is asked for.
    pub(crate) within: NonAffineContext,
    /// What `domain` uses that is computed inside of the loops, and in which iteration, over those
    /// of the statement, if coverage is asked for.
    pub(crate) computed: Vec<(Value, Vec<AffineForm>)>,
    /// What it touches.
    pub(crate) classes: Vec<(Class, Op)>,
    /// A hash of the domain, the map and what else is known of when it runs, if the order is asked
    /// for.
    digest: u64,
    /// The item of the part it is in.
    pub(crate) item: u32,
    /// The versioned node it is in, by number, and what is tested there.
    pub(crate) version: Option<(u32, AssumptionId)>,
}

/// A loop of the tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Around {
    /// Its own.
    number: u32,
    /// True if its iterations may run in any order.
    pub(crate) parallel: bool,
    /// The number of the sequence it stands in.
    pub(crate) sequence: u32,
}

/// What is known of when a leaf runs by numbers that are computed inside of the loops.
#[derive(PartialEq, Eq, Hash, Default)]
pub(crate) struct NonAffineContext {
    /// In which iteration of the loops of the program, over levels.
    pub(crate) iteration: Vec<AffineForm>,
    /// Forms over levels that are not negative, each with how many of those loops are around what
    /// it uses: in equal iterations of these that is the same.
    constraints: Vec<(usize, AffineForm)>,
}

impl NonAffineContext {
    /// What uses only what is computed inside so many loops.
    pub(crate) fn inside(&self, loops: usize) -> impl Iterator<Item = &AffineForm> {
        self.constraints.iter().filter(move |(depth, _)| *depth <= loops).map(|(_, form)| form)
    }
}

/// A constraint that uses what is computed inside of the loops, and the iteration in which that is.
#[derive(Clone)]
struct Pinned {
    constraint: AffineForm,
    /// Over levels; nothing where it cannot be said.
    iteration: Option<Vec<AffineForm>>,
}

/// What decides whether something runs, and is not affine. Of those that are alike, the first one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum OpaqueCondition {
    /// How often a loop of the program runs.
    Extent(LoopId),
    /// Whether the condition of an `if` of the program holds, or fails.
    Condition(IfId, bool),
}

/// What leaves are asked for, and so what is to be known of when they run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// In which order they touch what. A domain that is too large does no harm.
    Order,
    /// Whether each instance runs once: what a domain does not say is said beside it, or nobody
    /// knows.
    Cover,
    /// The same, with what is computed inside of the loops as parameters of the domain. They are
    /// numbers that hang on the iteration; so they mean the same in two domains if they are
    /// computed in the same iteration, as seen from that of the statement.
    CoverWithin,
}

/// The leaves of `items`, neighbours in a sequence inside `depth` loops; or an operation of which
/// it cannot be said when it runs.
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
    /// The number of the sequence at hand.
    sequence: u32,
    next_sequence: u32,
    unsaid: Vec<(OpaqueCondition, Vec<AffineForm>)>,
    item: u32,
    version: Option<(u32, AssumptionId)>,
    next_version: u32,
    purpose: Purpose,
    /// What the loops and conditions around use that is computed inside.
    pinned: Vec<Pinned>,
    /// The loops of the program that run in the loops of the tree around, and in which iteration,
    /// over levels.
    running: Vec<(LoopId, Vec<AffineForm>)>,
    /// The outermost header around that may be undefined.
    risk: Option<Risk>,
    /// The iteration of the last leaf, by its map and the levels around.
    last_map: Option<(Map, u32, Rc<[AffineForm]>)>,
    /// The digest of the last leaf, by its domain and iteration.
    last_digest: Option<(Arc<Domain>, Rc<[AffineForm]>, u64)>,
    hashing: DefaultHashBuilder,
    found: Vec<ScheduledStatement>,
}

impl Walk<'_> {
    /// Takes those constraints out of `inner`, and not in `outer`, that use what is computed inside
    /// of the loops, if that is to be no parameter; and notes in which iteration it is computed.
    /// They are those of a loop or condition of the program which runs in the iteration `map`, over
    /// loops counted outwards, or else use what can be seen where they stand.
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

    /// The loop in each iteration of which all is known that a form uses; nothing if there is no
    /// such loop.
    fn innermost(&self, form: &AffineForm) -> Option<LoopId> {
        let program = self.program;
        let mut all = Vec::new();
        form.each_parameter(&mut |value| all.extend(program.loop_around(self.ir, value)));
        let deepest = all.iter().copied().max_by_key(|of| program.loop_info(*of).depth)?;
        let path = program.path(Some(deepest));
        all.iter().all(|of| path.contains(of)).then_some(deepest)
    }

    /// What is known here by what is computed in one iteration, the one that says most.
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

    /// What the domain here uses that is computed inside of the loops, and in which iteration, over
    /// those of the statement of which `here` runs. Nothing if that is not known.
    fn computed(&self, here: &[AffineForm]) -> Option<Vec<(Value, Vec<AffineForm>)>> {
        // The levels of the tree as forms over those of the statement.
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

    /// Enters a sequence, of one item or more; the number of the one around is returned.
    fn begin_sequence(&mut self) -> u32 {
        self.next_sequence += 1;
        std::mem::replace(&mut self.sequence, self.next_sequence - 1)
    }

    /// The body of a loop or guard whose header is such a risk.
    fn within_header(&mut self, risk: Option<Risk>, body: Green, domain: Domain) -> Result<(), Op> {
        let around = (self.risk.clone(), self.begin_sequence());
        self.risk = around.0.clone().or(risk);
        self.visit(body, &Arc::new(domain))?;
        (self.risk, self.sequence) = around;
        Ok(())
    }

    /// Recurses once a loop or guard, and these nest at most as deep as they are raised.
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

    /// Visits the body of a loop. Its header constrains when leaves run, and in which iterations of
    /// the program's loops.
    fn visit_loop(&mut self, header: HeaderId, body: Green, domain: &Arc<Domain>) -> Result<(), Op> {
        let mut inner = Domain { exact: true, ..(**domain).clone() };
        enter(self.program, self.trees, header, &mut inner, u32::MAX);
        let (unsaid, pinned, running) = (self.unsaid.len(), self.pinned.len(), self.running.len());
        let Header { span, origins, parallel, .. } = self.trees.header(header);
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
        self.loops.push(Around { number: self.next_loop, parallel: *parallel, sequence: self.sequence });
        self.next_loop += 1;
        let risk = Risk::of_loop(self.program, self.trees, header, domain);
        self.within_header(risk, body, inner)?;
        self.loops.pop();
        self.running.truncate(running);
        self.unsaid.truncate(unsaid);
        self.pinned.truncate(pinned);
        Ok(())
    }

    /// Visits what runs where the condition of an `if`, in the iteration `map`, holds or fails.
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
        self.pin(&mut inner, domain, Some(self.trees.map(map)));
        if !inner.exact || self.purpose == Purpose::Order {
            let condition = OpaqueCondition::Condition(self.program.if_info(of).alike, holds);
            let inside = self.program.decided_inside(self.ir, of) as usize;
            let map = self.trees.map(map).iter().take(inside);
            let map = map.map(|form| absolute(form, domain.levels));
            let map = map.collect::<Option<_>>().ok_or(self.program.if_info(of).op)?;
            self.unsaid.push((condition, map));
        }
        inner.exact &= domain.exact;
        self.within_header(Risk::of_guard(self.program, of, domain), body, inner)?;
        self.unsaid.truncate(unsaid);
        self.pinned.truncate(pinned);
        Ok(())
    }

    /// Returns the iteration of a statement that runs, over levels. Neighbours often share it.
    fn here(&mut self, map: Map, levels: u32) -> Option<Rc<[AffineForm]>> {
        if self.last_map.as_ref().is_none_or(|(own, of, _)| (*own, *of) != (map, levels)) {
            let here = self.trees.map(map).iter().map(|form| absolute(form, levels));
            self.last_map = Some((map, levels, here.collect::<Option<_>>()?));
        }
        self.last_map.as_ref().map(|(_, _, here)| here.clone())
    }

    /// The loops around, shared by the leaves beside each other.
    fn around(&self) -> Rc<[Around]> {
        match self.found.last() {
            Some(last) if *last.loops == *self.loops => last.loops.clone(),
            _ => self.loops.as_slice().into(),
        }
    }

    /// Returns a hash of all that is known of when a leaf runs. Neighbours often share it.
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

    /// Adds a leaf to those found, with what its purpose asks for.
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

/// What says how often a loop of the tree runs, and the iteration of that over levels. A range that
/// says less than all of when a loop runs has none.
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
    /// True if all that is known of when it runs, but for its domain, is known of another leaf.
    pub(super) fn runs_like(&self, other: &ScheduledStatement) -> bool {
        self.map == other.map && self.unsaid == other.unsaid && self.within == other.within
    }

    /// Hashes one of its accesses, with when the leaf runs.
    pub(super) fn hash_access<H: Hasher>(&self, class: &Class, state: &mut H) {
        class.base.hash(state);
        class.subscripts.hash(state);
        class.writes.hash(state);
        self.digest.hash(state);
    }
}

/// One access of a leaf.
pub(super) type Access<'p> = (&'p ScheduledStatement, usize, &'p (Class, Op));

/// The loops of the tree around two leaves.
pub(crate) fn shared<'l>(a: &'l ScheduledStatement, b: &ScheduledStatement) -> &'l [Around] {
    let shared = a.loops.iter().zip(&*b.loops).take_while(|(x, y)| x == y).count();
    &a.loops[..shared]
}

/// True if the parts of a loop around two leaves of its anchor stand in one sequence. Then the
/// first part hands its values on to the other.
pub(super) fn is_handed_on(first: &ScheduledStatement, second: &ScheduledStatement) -> bool {
    let sequence = |leaf: &ScheduledStatement| leaf.loops.last().map(|around| around.sequence);
    sequence(first) == sequence(second)
}
