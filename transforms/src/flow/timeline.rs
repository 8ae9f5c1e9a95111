//! The accesses of a block in execution order.
//!
//! A summary ([`AccessSummary`](crate::tree::access_summary::AccessSummary)) merges accesses of
//! equal relation. A timeline keeps each access with its place: the loops around it, numbered from
//! the block inwards, the branches of conditionals that it is in, and its number in the text. An
//! operation that repeats its contents in an unknown way (`scf.while`, a region of several blocks)
//! is one *compound*: its accesses share one number and have no order. A call is a compound too;
//! its accesses belong to no load or store here.
//!
//! Instances of accesses are compared by time. A time is a vector of the number in the text and the
//! iteration, for each surrounding loop and then for the access itself. Accesses in two branches of
//! one conditional are *exclusive* within an iteration of the loops around it.
//!
//! **Assumptions.**
//! - The block may run again, and others may see the final contents of memory that is not local.
//!   Tried with `fixtures/contraction/run_again.mlir`.
//! - An object made in a loop is another one in each iteration. Tried with
//!   `fixtures/contraction/folding.mlir`.
//!
//! **Cost.** Linear in the operations and in the depth of each. A lookup of the accesses that may
//! touch an object in a part of the text costs a search plus the number of results.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interfaces::{CallLike, Conditional, Decision, LoopLike};
use loomir_ir::{Block, Body, Op, Region, Value};

use crate::access::base::{AliasMode, Base};
use crate::access::locals::Locals;
use crate::access::objects::{ALLOCATED, ANYWHERE, NAMED, rank};
use crate::access::structure::{MAX_DEPTH, Structure};
use crate::access::{Analyses, Class, Domain, Reader};
use crate::affine::AffineForm;
use crate::affine::facts::Facts;
use crate::affine::surroundings::Surroundings;

/// An access of a timeline.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AccessId(u32);

/// A side of a conditional.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Side {
    /// The conditional.
    pub op: Op,
    /// The index of the region.
    pub region: Region,
    /// The number of loops that are around it.
    pub depth: u32,
    /// True if the iterations of the branch are known exactly.
    pub exact: bool,
}

/// The place of an access.
#[derive(Clone, Debug)]
pub struct Place {
    /// The loops around, from the outside.
    pub loops: Vec<Op>,
    /// The sides of conditionals around, from the outside.
    pub sides: Vec<Side>,
    /// The iterations of the loops, without those that conditions are known to exclude. Its
    /// exactness does not account for inexact branches.
    domain: Arc<Domain>,
}

/// One access.
#[derive(Clone, Debug)]
pub struct Access {
    /// The operation.
    pub op: Op,
    /// The class of the access. Levels below [`depth`](Access::depth) are the surrounding loops.
    /// Others are inside its compound.
    pub class: Class,
    /// The place of the access.
    pub place: Arc<Place>,
    /// The number of the access, or of its compound, in the order of the text.
    pub order: u32,
    /// True if it is inside a compound.
    pub compound: bool,
    /// True if it happens in a function that the operation calls.
    pub called: bool,
    /// The number of loops around the innermost parameter in its subscripts and its iteration
    /// domain.
    pub parameters: u32,
}

impl Access {
    /// Returns the number of surrounding loops in the timeline.
    pub fn depth(&self) -> u32 {
        self.place.loops.len() as u32
    }

    /// True if it writes or reads unknown memory.
    pub fn is_unknown(&self) -> bool {
        self.class.base == Base::World
    }

    /// True if it may read.
    pub fn reads(&self) -> bool {
        !self.class.writes || self.is_unknown()
    }

    /// Returns the subscripts, if the access touches exactly the element that they name.
    pub fn element(&self) -> Option<Vec<&AffineForm>> {
        let subscripts = self.class.subscripts.as_ref().filter(|_| !self.compound)?;
        subscripts.iter().map(Option::as_ref).collect()
    }

    /// Returns the number of loops around both accesses.
    pub fn common_loops(&self, other: &Access) -> u32 {
        let pairs = self.place.loops.iter().zip(&other.place.loops);
        pairs.take_while(|(a, b)| a == b).count() as u32
    }

    /// Returns the number of loops around the conditional whose different branches the two accesses
    /// are in. In one iteration of these loops at most one of them runs.
    pub fn exclusive_within(&self, other: &Access) -> Option<u32> {
        let differ = self.place.sides.iter().zip(&other.place.sides).find(|(a, b)| a != b);
        differ.filter(|(a, b)| a.op == b.op).map(|(a, _)| a.depth)
    }
}

/// The accesses of a block. See the [module](self).
#[derive(Clone, Debug)]
pub struct Timeline {
    /// The assumption about memrefs that may overlap.
    pub alias: AliasMode,
    accesses: Vec<Access>,
    /// The number of accesses. The reads of [`ends`](Timeline::end) follow them.
    real: usize,
    ends: HashMap<Base, AccessId>,
    /// The removed accesses.
    gone: HashSet<AccessId>,
    /// The facts that hold at the block.
    pub around: Vec<AffineForm>,
    /// The facts about parameters.
    pub facts: Arc<Facts>,
    /// The first and last number inside a loop or a conditional.
    extents: HashMap<Op, (u32, u32)>,
    /// The number of loops around each parameter.
    depths: HashMap<Value, u32>,
    /// The objects allocated in the block. The next run of the block, if any, may read other
    /// objects.
    made: HashSet<Value>,
    /// Accesses by object, in order.
    by_base: HashMap<Base, Vec<AccessId>>,
    /// The accesses of objects that are not local, by the rank of their origin.
    by_rank: [Vec<AccessId>; 3],
    /// All accesses of objects that are not local.
    visible: Vec<AccessId>,
}

impl Timeline {
    /// Collects the accesses of `block` and of everything inside it. The terminator is ignored.
    pub fn of(body: &Body, block: Block, locals: &Locals, analyses: &Analyses) -> Timeline {
        Timeline::assuming(body, block, locals, analyses, AliasMode::May)
    }

    /// Returns the same, with an assumption about memrefs that may overlap.
    pub fn assuming(
        body: &Body,
        block: Block,
        locals: &Locals,
        analyses: &Analyses,
        alias: AliasMode,
    ) -> Timeline {
        let reader = Reader::new(body, block, alias, analyses);
        let mut scan = Scan {
            body,
            reader,
            blocks: HashMap::new(),
            next: 0,
            timeline: Timeline {
                alias,
                accesses: Vec::new(),
                real: 0,
                ends: HashMap::new(),
                gone: HashSet::new(),
                around: Vec::new(),
                facts: Arc::default(),
                extents: HashMap::new(),
                depths: HashMap::new(),
                made: HashSet::new(),
                by_base: HashMap::new(),
                by_rank: Default::default(),
                visible: Vec::new(),
            },
        };
        let domain = Arc::new(Domain { levels: 0, constraints: Vec::new(), exact: true });
        let outside = Arc::new(Place { loops: Vec::new(), sides: Vec::new(), domain });
        scan.block(block, &outside);
        let mut timeline = scan.timeline;
        let Surroundings { constraints, facts, .. } = scan.reader.surroundings();
        (timeline.around, timeline.facts) = (constraints, facts);
        timeline.index(locals);
        timeline.add_ends(locals, &outside);
        timeline
    }

    /// Returns the accesses in order, without the removed ones.
    pub fn accesses(&self) -> impl DoubleEndedIterator<Item = AccessId> + '_ {
        (0..self.real as u32).map(AccessId).filter(|id| !self.gone.contains(id))
    }

    /// Returns the objects that may carry a value from one access to another, or have a dead store:
    /// objects with several accesses, and objects made here. Objects that may overlap others are
    /// not all included. Linear in the accesses.
    pub fn unsettled(&self) -> impl Iterator<Item = Base> + '_ {
        self.bases().filter(|base| {
            let mut left = self.of_base(*base);
            left.next().is_some() && (rank(*base) != NAMED || left.next().is_some())
        })
    }

    /// Returns the accesses of an object in order, without the removed ones.
    pub fn of_base(&self, base: Base) -> impl Iterator<Item = AccessId> + '_ {
        let all = self.by_base.get(&base).into_iter().flatten().copied();
        all.filter(|id| !self.gone.contains(id))
    }

    /// Returns an access.
    pub fn get(&self, id: AccessId) -> &Access {
        &self.accesses[id.0 as usize]
    }

    /// Removes an access.
    pub fn remove(&mut self, id: AccessId) {
        self.gone.insert(id);
    }

    /// Returns the objects, in the order of their first access.
    pub fn bases(&self) -> impl Iterator<Item = Base> + '_ {
        let first = |(i, access): (usize, &Access)| {
            let base = access.class.base;
            (self.by_base[&base].first() == Some(&AccessId(i as u32))).then_some(base)
        };
        self.accesses[..self.real].iter().enumerate().filter_map(first)
    }

    /// Returns the first and last number of a loop or a conditional with its contents. For other
    /// operations both are `order`.
    pub fn extent(&self, op: Op, order: u32) -> (u32, u32) {
        self.extents.get(&op).copied().unwrap_or((order, order))
    }

    /// True if all parameters of a form are invariant throughout an iteration of the outer `depth`
    /// loops.
    pub fn is_known(&self, form: &AffineForm, depth: u32) -> bool {
        let mut known = true;
        form.each_parameter(&mut |value| known &= self.depth_of(value) <= depth);
        known
    }

    /// True if the object is made here, so that no other execution of the block accesses it.
    pub fn makes(&self, object: Value) -> bool {
        self.made.contains(&object)
    }

    /// Returns the number of loops around a parameter or an allocation.
    fn depth_of(&self, value: Value) -> u32 {
        self.depths.get(&value).copied().unwrap_or(0)
    }

    /// Returns the number of loops around the allocation of two accesses' common object. Another
    /// iteration of these loops has another object.
    pub fn object_depth(&self, a: &Access, b: &Access) -> u32 {
        match (a.class.base, b.class.base) {
            (Base::Allocation(x), Base::Allocation(y)) if x == y => self.depth_of(x),
            _ => 0,
        }
    }

    /// True if the subscripts of an access name the same elements in all iterations of all loops
    /// but the outer `depth`.
    pub fn names_one_object(&self, class: &Class, depth: u32) -> bool {
        let origin = class.origin.filter(|origin| class.base != Base::Allocation(*origin));
        origin.is_none_or(|origin| self.depth_of(origin) <= depth)
            && class.sizes.iter().all(|size| self.is_known(size, depth))
    }

    /// Returns the number in the text of the item that contains an access, directly inside the
    /// outer `depth` of its loops.
    pub fn order_at(&self, access: &Access, depth: u32) -> u32 {
        match access.place.loops.get(depth as usize) {
            Some(op) => self.extent(*op, access.order).0,
            None => access.order,
        }
    }

    /// Returns the accesses with numbers from `first` to `last` of objects that may overlap `base`,
    /// and perhaps of further objects.
    pub fn near(&self, base: Base, first: u32, last: u32) -> impl Iterator<Item = AccessId> + '_ {
        let own = self.by_base.get(&base).map_or(&[][..], |list| list);
        let is_local = |id: &AccessId| self.by_rank[ALLOCATED].binary_search(id).is_err();
        let lists: [&[AccessId]; 2] = match rank(base) {
            ANYWHERE => [&self.visible, &[]],
            NAMED => [&self.by_rank[NAMED], &self.by_rank[ANYWHERE]],
            _ if own.first().is_none_or(is_local) => [own, &[]],
            _ => [own, &self.by_rank[ANYWHERE]],
        };
        lists.into_iter().flat_map(move |list| {
            let start = list.partition_point(|id| self.get(*id).order < first);
            let within = list[start..].iter().copied().take_while(move |id| self.get(*id).order <= last);
            within.filter(|id| !self.gone.contains(id))
        })
    }

    /// Returns the final read of every element of an object: the view of others after the block.
    /// `None` if the object is local, made repeatedly, or written under several names.
    pub fn end(&self, base: Base) -> Option<AccessId> {
        self.ends.get(&base).copied()
    }

    /// Adds the reads at the end of the block, of the objects that are not local.
    fn add_ends(&mut self, locals: &Locals, outside: &Arc<Place>) {
        self.real = self.accesses.len();
        let seen = self.bases().filter(|base| !locals.is_local(*base));
        let ends: Vec<(Base, Access)> =
            seen.filter_map(|base| Some((base, self.end_of(base, outside)?))).collect();
        for (base, end) in ends {
            self.ends.insert(base, AccessId(self.accesses.len() as u32));
            self.accesses.push(end);
        }
    }

    fn end_of(&self, base: Base, outside: &Arc<Place>) -> Option<Access> {
        let mut writes = self.of_base(base).map(|id| self.get(id)).filter(|access| access.class.writes);
        let first = writes.next()?;
        let is_once = self.names_one_object(&first.class, 0) && self.object_depth(first, first) == 0;
        if !is_once || writes.any(|access| !access.class.counts_like(&first.class)) {
            return None;
        }
        let levels = first.class.subscripts.as_ref()?.len() as u32;
        let class = Class {
            subscripts: Some((0..levels).map(|level| Some(AffineForm::level(level))).collect()),
            conditional: None,
            writes: false,
            domain: Arc::new(Domain { levels, constraints: Vec::new(), exact: true }),
            ..first.class.clone()
        };
        let (op, place) = (first.op, outside.clone());
        Some(Access { op, class, place, order: u32::MAX, compound: false, called: false, parameters: 0 })
    }

    fn index(&mut self, locals: &Locals) {
        for (i, access) in self.accesses.iter().enumerate() {
            let (id, base) = (AccessId(i as u32), access.class.base);
            self.by_base.entry(base).or_default().push(id);
            if !locals.is_local(base) {
                self.by_rank[rank(base)].push(id);
                self.visible.push(id);
            }
        }
    }
}

struct Scan<'b> {
    body: &'b Body,
    reader: Reader<'b>,
    /// The number of loops that are around the blocks that were entered.
    blocks: HashMap<Block, u32>,
    next: u32,
    timeline: Timeline,
}

impl Scan<'_> {
    /// Recurses once for each loop or conditional, at most [`MAX_DEPTH`] times.
    fn block(&mut self, block: Block, place: &Arc<Place>) {
        let body = self.body;
        let depth = place.loops.len() as u32;
        self.blocks.insert(block, depth);
        let terminator = body.terminator(block);
        for op in body.ops(block).filter(|op| Some(*op) != terminator) {
            let order = self.next;
            self.next += 1;
            let nesting = depth + place.sides.len() as u32;
            match Entered::of(body, op).filter(|_| nesting < MAX_DEPTH) {
                Some(Entered::Loop(model, block)) => self.enter_loop(op, model, block, place),
                Some(Entered::Conditional(decision)) => self.enter_conditional(op, &decision, place),
                None => {
                    self.statement(op, order, place);
                    continue;
                }
            }
            self.timeline.extents.insert(op, (order, self.next - 1));
        }
    }

    fn enter_loop(&mut self, op: Op, model: &dyn LoopLike, block: Block, place: &Arc<Place>) {
        let depth = place.loops.len() as u32;
        let space = self.reader.space(op, model, depth);
        let mut domain = (*place.domain).clone();
        domain.levels += 1;
        domain.exact &= space.domain.exact;
        domain.constraints.extend(space.domain.constraints);
        let mut loops = place.loops.clone();
        loops.push(op);
        let inner = Arc::new(Place { loops, sides: place.sides.clone(), domain: Arc::new(domain) });
        self.reader.enter(block);
        self.block(block, &inner);
    }

    fn enter_conditional(&mut self, op: Op, decision: &Decision, place: &Arc<Place>) {
        let body = self.body;
        let condition = self.reader.condition(decision);
        for (index, region) in body.own_regions(op).enumerate() {
            let Some(block) = body.single_block(region) else { continue };
            let outcome = condition.outcome(index == 0);
            let mut inner = (**place).clone();
            if !outcome.constraints.is_empty() {
                Arc::make_mut(&mut inner.domain).constraints.extend_from_slice(&outcome.constraints);
            }
            inner.sides.push(Side { op, region, depth: place.loops.len() as u32, exact: outcome.exact });
            self.reader.enter(block);
            self.block(block, &Arc::new(inner));
        }
    }

    fn statement(&mut self, op: Op, order: u32, place: &Arc<Place>) {
        let body = self.body;
        let depth = place.loops.len() as u32;
        let compound = body.own_regions(op).len() > 0 || body.nested(op).is_some();
        for (mut class, op) in self.reader.effects(op, depth).classes {
            if class.base == Base::Exit {
                continue;
            }
            let own = &class.domain;
            if own.levels == depth && own.constraints.is_empty() && own.exact {
                class.domain = place.domain.clone();
            } else {
                let mut constraints = place.domain.constraints.clone();
                constraints.extend_from_slice(&own.constraints);
                let exact = own.exact && place.domain.exact;
                class.domain = Arc::new(Domain { levels: own.levels, constraints, exact });
            }
            let parameters = self.parameters(&class);
            let place = place.clone();
            let called = body.info(op).interface::<dyn CallLike>().is_some();
            // An access of several elements is like a loop over them.
            let is_several = class.domain.levels as usize > place.loops.len();
            let compound = compound || called || is_several;
            self.timeline.accesses.push(Access { op, class, place, order, compound, called, parameters });
        }
    }

    /// Returns the number of loops around the innermost parameter of a class. Records the number
    /// for each.
    fn parameters(&mut self, class: &Class) -> u32 {
        let (mut innermost, body, blocks) = (0, self.body, &self.blocks);
        let depths = &mut self.timeline.depths;
        let mut enter = |value| {
            let depth = body.value_block(value).and_then(|block| blocks.get(&block)).copied().unwrap_or(0);
            depths.insert(value, depth);
            depth
        };
        if let Base::Allocation(object) = class.base {
            enter(object);
            if body.value_block(object).is_some_and(|block| blocks.contains_key(&block)) {
                self.timeline.made.insert(object);
            }
        }
        class.origin.map(&mut enter);
        let subscripts = class.subscripts.iter().flatten().flatten().chain(&class.sizes);
        for form in subscripts.chain(&class.domain.constraints) {
            form.each_parameter(&mut |value| innermost = innermost.max(enter(value)));
        }
        innermost
    }
}

/// Returns the blocks with timelines of their own: the blocks of the function, and those inside
/// compounds. In the order of the text.
pub fn roots(body: &Body) -> Vec<Block> {
    let mut roots = Vec::new();
    // Blocks to visit, each with the number of loops and conditionals of its timeline around it.
    // `None` starts a new timeline.
    let mut stack: Vec<(Block, Option<u32>)> = Vec::new();
    let inside = |stack: &mut Vec<_>, op, nesting| {
        let blocks = body.own_regions(op).flat_map(|region| body.blocks(region));
        stack.extend(blocks.map(|block| (block, nesting)));
    };
    inside(&mut stack, body.root(), None);
    stack.reverse();
    while let Some((block, nesting)) = stack.pop() {
        if nesting.is_none() {
            roots.push(block);
        }
        let (mark, nesting) = (stack.len(), nesting.unwrap_or(0));
        for op in body.ops(block) {
            let entered = Entered::of(body, op).filter(|_| nesting < MAX_DEPTH);
            inside(&mut stack, op, entered.map(|_| nesting + 1));
        }
        stack[mark..].reverse();
    }
    roots
}

/// An operation that a timeline looks into.
enum Entered<'b> {
    /// A counted loop with its body.
    Loop(&'b dyn LoopLike, Block),
    /// An operation that runs at most one of its regions. Each has one block.
    Conditional(Decision),
}

impl<'b> Entered<'b> {
    fn of(body: &'b Body, op: Op) -> Option<Entered<'b>> {
        if body.own_regions(op).len() == 0 {
            return None;
        }
        if let Some(Structure::Loop { model, block }) = Structure::of(body, op) {
            return Some(Entered::Loop(model, block));
        }
        let view = body.op_ref(op);
        let decision = view.info().interface::<dyn Conditional>()?.decision(view)?;
        let is_simple = |region| body.single_block(region).is_some() || body.entry_block(region).is_none();
        view.regions().all(is_simple).then_some(Entered::Conditional(decision))
    }
}
