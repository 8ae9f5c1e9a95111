//! Data flow: the write that each instance of a read gets its value from.
//!
//! The *last writer* of a read is the latest write to its element before it. As a relation from
//! instances of the read to times of writes it is a lexicographic maximum. It is found from the
//! nearest writes outwards: writes in the same iteration of all loops around the read, writes in
//! earlier iterations of the innermost loop, writes before that loop, and so on. Instances with a
//! known writer are done (Feautrier 1991).
//!
//! A write that certainly happens in each of its instances is a *must* write; others *may* write.
//! May writes between a read and its last must write are in the relation too, which then is not
//! exact. [`Sources`] reports both. Callers that need the flow itself check
//! [`exact`](Sources::exact). Callers that only need completeness do not.
//!
//! **Assumptions.**
//! - A write certainly happens only if its domain is exact and each condition around it is met.
//!   Tried with `fixtures/contraction/not_forwarded.mlir`.
//! - Two accesses of one object by equal subscripts touch equal bytes: their types of elements are
//!   those of the object. Tried with `fixtures/contraction/forwarding.mlir` and
//!   `not_forwarded.mlir`.
//!
//! **Cost.** One maximisation for each loop around the read, of at most [`MAX_WRITERS`] writes.
//! Most reads have their writer in the same iteration, which needs no maximisation.
//!
//! # Limits
//!
//! - At most 16 writers of a load are considered.
//! - Accesses inside an operation that repeats its regions in an unknown way have no order among
//!   each other.
//! - Vectors and whole arrays are read and written, but values are not followed through them.

use loomir_ir::Body;
use loomir_polyhedra::{Affine, Emptiness, Error, Limits, Order, Relation, Set, Space, Tuple, Var};

use crate::access::Class;
use crate::access::base::{AliasMode, Base, Bases, Named, Overlap};
use crate::affine::system::{Pair, System, Unknowns};
use crate::affine::{AffineForm, Atom};
use crate::assumption::Assumption;
use timeline::{Access, AccessId, Side, Timeline};

pub mod timeline;

/// The maximal number of writes among which the last writers of a read are searched.
pub const MAX_WRITERS: usize = 16;

/// Questions about the order of accesses of one timeline.
pub struct Flow<'a> {
    timeline: &'a Timeline,
    bases: Bases<'a>,
    limits: Limits,
}

/// The sources of the values of a read's instances.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Maps instances of the read to times of writes. No pair is missing.
    pub relation: Relation,
    /// The writes whose times are in the relation.
    pub writers: Vec<AccessId>,
    /// True if the relation contains exactly the last writer of each instance of the read.
    pub exact: bool,
    /// True if each instance of the read is known to have a writer.
    pub covered: bool,
}

/// The times at which accesses of some object happen, as tuples. Each of `loops` loops contributes
/// the number in the text and the iteration. The number of the access follows, then zeros.
#[derive(Clone, Debug)]
pub struct Clock {
    parameters: Vec<Atom>,
    names: Vec<String>,
    loops: u32,
}

/// A way in which one access precedes another: the number of outer loops in the same iteration, and
/// true if the next loop is in an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Before {
    same: u32,
    earlier: bool,
}

impl<'a> Flow<'a> {
    /// Questions about accesses of `body`.
    pub fn new(body: &'a Body, timeline: &'a Timeline, limits: Limits) -> Self {
        Flow { timeline, bases: Bases::new(body, timeline.alias), limits }
    }

    /// Returns the limits on one question.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the ways in which `x` may precede `y` in the same iteration of the outer `shared`
    /// loops.
    fn ways(&self, x: &Access, y: &Access, shared: u32) -> Vec<Before> {
        let common = x.common_loops(y);
        let first = shared.max(self.timeline.object_depth(x, y));
        let exclusive = x.exclusive_within(y);
        let together = |same| exclusive.is_none_or(|within| within > same);
        let mut ways: Vec<Before> = (first..common)
            .filter(|same| together(*same))
            .map(|same| Before { same, earlier: true })
            .collect();
        let (a, b) = (self.timeline.order_at(x, common), self.timeline.order_at(y, common));
        // The order within one compound is unknown.
        if together(common) && common >= first && (a < b || (a == b && x.compound)) {
            ways.push(Before { same: common, earlier: false });
        }
        ways
    }

    /// True if two accesses may overlap at all.
    fn may_overlap(&self, x: &Access, y: &Access) -> bool {
        matches!(self.bases.overlap(x.class.base, y.class.base), Overlap::Same | Overlap::May)
    }

    /// Returns the assumption under which two accesses never overlap, if a run-time check is to
    /// test that.
    pub fn assumed_apart(&self, x: AccessId, y: AccessId) -> Option<Assumption> {
        if self.timeline.alias != AliasMode::Version {
            return None;
        }
        let [x, y] = [x, y].map(|id| self.timeline.get(id).class.base);
        match (x, y) {
            (Base::Argument(a), Base::Argument(b)) if self.bases.overlap(x, y) == Overlap::AssumedApart => {
                Some(Assumption::apart(Named::Value(a), Named::Value(b)))
            }
            _ => None,
        }
    }

    /// Returns the pairs of subscripts that are equal if two accesses touch one element. Empty if
    /// nothing is known about them.
    fn subscripts<'c>(
        &self,
        x: &'c Class,
        y: &'c Class,
        known: u32,
    ) -> Vec<(&'c AffineForm, &'c AffineForm)> {
        let same = self.bases.overlap(x.base, y.base) == Overlap::Same && x.counts_like(y);
        if !same || !self.timeline.names_one_object(x, known) {
            return Vec::new();
        }
        self.known_subscripts(x, y, known).into_iter().map(|(_, a, b)| (a, b)).collect()
    }

    /// Returns the dimensions in which both accesses have subscripts with parameters known inside
    /// `depth` loops, and these subscripts. Empty if the numbers of dimensions differ.
    fn known_subscripts<'c>(
        &self,
        x: &'c Class,
        y: &'c Class,
        depth: u32,
    ) -> Vec<(usize, &'c AffineForm, &'c AffineForm)> {
        let (Some(a), Some(b)) = (&x.subscripts, &y.subscripts) else { return Vec::new() };
        if a.len() != b.len() {
            return Vec::new();
        }
        let pairs = a.iter().zip(b).enumerate();
        let pairs = pairs.filter_map(|(at, (a, b))| Some((at, a.as_ref()?, b.as_ref()?)));
        let known = |form| self.timeline.is_known(form, depth);
        pairs.filter(|(_, a, b)| known(a) && known(b)).collect()
    }

    /// Returns the constraints of an access's iterations whose parameters are known inside `depth`
    /// loops.
    fn constraints<'c>(&self, access: &'c Access, depth: u32) -> std::borrow::Cow<'c, [AffineForm]> {
        let all = &access.class.domain.constraints;
        if access.parameters <= depth {
            return all.as_slice().into();
        }
        all.iter().filter(|form| self.timeline.is_known(form, depth)).cloned().collect::<Vec<_>>().into()
    }

    /// True if `x` may touch an element before `y` does, in the same iteration of the outer
    /// `shared` loops.
    pub fn may_meet(&self, x: AccessId, y: AccessId, shared: u32) -> bool {
        let (x, y) = (self.timeline.get(x), self.timeline.get(y));
        self.may_overlap(x, y) && self.ways(x, y, shared).into_iter().any(|way| self.may_meet_so(x, y, way))
    }

    /// True if some subscripts of two accesses name only values from outside the loops inside the
    /// first `shared` ones, and differ by a constant. Such accesses never meet there.
    pub fn names_others(&self, x: AccessId, y: AccessId, shared: u32) -> bool {
        let (x, y) = (self.timeline.get(x), self.timeline.get(y));
        self.subscripts(&x.class, &y.class, shared).iter().any(|pair| differ(*pair, shared))
    }

    fn may_meet_so(&self, x: &Access, y: &Access, way: Before) -> bool {
        let shared = way.same;
        let equal = self.subscripts(&x.class, &y.class, shared);
        if equal.iter().any(|pair| differ(*pair, shared)) {
            return false;
        }
        let (of_x, of_y) = (self.constraints(x, shared), self.constraints(y, shared));
        let (of_x, of_y) = ((x.class.domain.levels, &*of_x), (y.class.domain.levels, &*of_y));
        let mut pair = Pair::new(of_x, of_y, shared, &self.timeline.around, &equal);
        if way.earlier {
            let (a, b) = (pair.first(shared), pair.second(shared));
            pair.system.set.add_lt(a, b);
        }
        !pair.system.is_empty(&self.timeline.facts, &self.limits).is_empty()
    }

    /// Creates a clock for accesses.
    pub fn clock(&self, accesses: impl IntoIterator<Item = AccessId>) -> Clock {
        let mut clock = Clock { parameters: Vec::new(), names: Vec::new(), loops: 0 };
        let mut unknowns = Unknowns::default();
        let mut collect = |form: &AffineForm| {
            if self.timeline.is_known(form, 0) {
                unknowns.add(form);
            }
        };
        self.timeline.around.iter().for_each(&mut collect);
        for id in accesses {
            let access = self.timeline.get(id);
            clock.loops = clock.loops.max(access.depth());
            let subscripts = access.class.subscripts.iter().flatten().flatten();
            subscripts.chain(&access.class.domain.constraints).for_each(&mut collect);
        }
        clock.parameters = unknowns.listed;
        clock.names = (0..clock.parameters.len()).map(|i| format!("p{i}")).collect();
        clock
    }

    /// Returns the accesses that may write an element of a read, before it or after. `None` if
    /// there are more than [`MAX_WRITERS`].
    pub fn writers(&self, read: AccessId) -> Option<Vec<AccessId>> {
        let access = self.timeline.get(read);
        let near = self.timeline.near(access.class.base, 0, u32::MAX);
        let writers = near.filter(|id| {
            let other = self.timeline.get(*id);
            other.class.writes && self.may_overlap(other, access)
        });
        let writers: Vec<AccessId> = writers.take(MAX_WRITERS + 1).collect();
        (writers.len() <= MAX_WRITERS).then_some(writers)
    }

    /// Returns the sources of a read, if these are all its [`writers`](Flow::writers), in times of
    /// a clock for all of them. `None` if a limit was reached.
    pub fn sources(&self, read: AccessId, writers: &[AccessId], clock: &Clock) -> Option<Sources> {
        self.sources_if(read, writers, clock, &mut |_| true)
    }

    /// Returns the same. Stops with `None` as soon as one of the sources is not `wanted`.
    pub fn sources_if(
        &self,
        read: AccessId,
        writers: &[AccessId],
        clock: &Clock,
        wanted: &mut dyn FnMut(AccessId) -> bool,
    ) -> Option<Sources> {
        self.sources_among(read, writers, clock, wanted).ok().flatten()
    }

    fn sources_among(
        &self,
        id: AccessId,
        writers: &[AccessId],
        clock: &Clock,
        wanted: &mut dyn FnMut(AccessId) -> bool,
    ) -> Result<Option<Sources>, Error> {
        let read = self.timeline.get(id);
        let mut rest = self.iterations(read, clock);
        let mut sources = Sources {
            relation: Relation::empty(clock.space(read)),
            writers: Vec::new(),
            exact: true,
            covered: false,
        };
        let mut ways: Vec<(Before, AccessId)> = Vec::new();
        for writer in writers {
            ways.extend(self.ways(self.timeline.get(*writer), read, 0).into_iter().map(|way| (way, *writer)));
        }
        // The nearest writers come first. More loops in the same iteration mean a nearer writer. A
        // writer in an earlier iteration of the next loop is nearer than one before that loop.
        ways.sort_by_key(|(way, writer)| (std::cmp::Reverse(way.same), !way.earlier, *writer));
        for step in ways.chunk_by(|(a, _), (b, _)| a == b) {
            let way = step[0].0;
            let (must, may): (Vec<AccessId>, Vec<AccessId>) =
                step.iter().map(|(_, id)| *id).partition(|id| self.surely_writes(*id, read, way));
            let last = self.last(&must, read, way, clock)?.intersect_domain(&rest)?;
            for writer in must {
                let order = self.timeline.get(writer);
                let (at, number) = (clock.order(read, order.depth()), i64::from(order.order));
                if !last.fix(at, number).is_empty(&self.limits).is_empty() {
                    if !wanted(writer) {
                        return Ok(None);
                    }
                    sources.add(writer);
                }
            }
            if !may.is_empty() {
                let not_before = last.then(&clock.not_before())?;
                for writer in may {
                    let all = self.pairs(self.timeline.get(writer), read, way, clock);
                    let later = all.intersect_domain(&rest)?.subtract(&not_before, &self.limits)?;
                    if !later.is_empty(&self.limits).is_empty() {
                        if !wanted(writer) {
                            return Ok(None);
                        }
                        sources.exact = false;
                        sources.relation = sources.relation.union(&later)?;
                        sources.add(writer);
                    }
                }
            }
            rest = rest.subtract(&last.domain(), &self.limits)?;
            sources.relation = sources.relation.union(&last)?;
            match rest.is_empty(&self.limits) {
                Emptiness::Empty => {
                    sources.covered = true;
                    break;
                }
                Emptiness::NonEmpty(_) => {}
                Emptiness::Unknown(limit) => return Err(limit.into()),
            }
        }
        Ok(Some(sources))
    }

    /// True if the write certainly happens in each of its instances before the read in this way,
    /// and certainly to the element that its subscripts name.
    fn surely_writes(&self, writer: AccessId, read: &Access, way: Before) -> bool {
        let writer = self.timeline.get(writer);
        let (a, b) = (&writer.class, &read.class);
        let named = self.bases.overlap(a.base, b.base) == Overlap::Same
            && a.counts_like(b)
            && self.timeline.names_one_object(a, 0)
            && writer.element().is_some_and(|element| {
                read.element().is_some_and(|other| {
                    element.len() == other.len() && other.iter().all(|f| self.timeline.is_known(f, 0))
                })
            });
        // A condition around both accesses holds if it is decided in a loop iteration that they
        // share.
        let met = |side: &Side| side.exact || (read.place.sides.contains(side) && side.depth <= way.same);
        named && a.domain.exact && writer.parameters == 0 && writer.place.sides.iter().all(met)
    }

    /// Returns the last of these writes.
    fn last(
        &self,
        writers: &[AccessId],
        read: &Access,
        way: Before,
        clock: &Clock,
    ) -> Result<Relation, Error> {
        let mut all = Relation::empty(clock.space(read));
        for id in writers {
            all = all.union(&self.pairs(self.timeline.get(*id), read, way, clock))?;
        }
        match writers {
            [] => Ok(all),
            // There is one.
            [id] if !way.earlier && self.timeline.get(*id).depth() == way.same => Ok(all),
            _ => all.lexmax(&self.limits),
        }
    }

    /// Returns all pairs of an instance of `y` and a time of an instance of `x`. The instance of
    /// `x` comes before it in this way and touches the same element.
    fn pairs(&self, x: &Access, y: &Access, way: Before, clock: &Clock) -> Relation {
        let equal = self.subscripts(&x.class, &y.class, 0);
        self.related(x, y, way, clock, &mut |system, of_x, of_y| {
            for (a, b) in &equal {
                let (a, b) = (system.affine(a, of_x), system.affine(b, of_y));
                system.set.add_eq(a, b);
            }
        })
    }

    /// Returns all pairs of an instance of `y` and the time of an earlier instance of `x` for which
    /// `more` holds.
    pub fn all_before(
        &self,
        x: AccessId,
        y: AccessId,
        clock: &Clock,
        more: &mut Constrain<'_>,
    ) -> Result<Relation, Error> {
        let (x, y) = (self.timeline.get(x), self.timeline.get(y));
        let mut all = Relation::empty(clock.space(y));
        for way in self.ways(x, y, 0) {
            all = all.union(&self.related(x, y, way, clock, more))?;
        }
        Ok(all)
    }

    fn related(
        &self,
        x: &Access,
        y: &Access,
        way: Before,
        clock: &Clock,
        more: &mut Constrain<'_>,
    ) -> Relation {
        let space = clock.space(y);
        let mut system = clock.system(&space);
        let (depth, levels) = (x.depth(), x.class.domain.levels);
        // Loops inside a compound do not count in its time.
        let inner: Vec<Var> = (depth..levels).map(|_| system.set.exists()).collect();
        let of_y = |level: u32| space.dim(level as usize);
        let of_x = |level: u32| match level.checked_sub(depth) {
            None => space.out(2 * level as usize + 1),
            Some(inside) => inner[inside as usize],
        };
        system.constrain(self.constraints(y, 0).iter(), &of_y);
        system.constrain(self.constraints(x, 0).iter(), &of_x);
        system.constrain(self.timeline.around.iter(), &of_y);
        for at in 0..=clock.loops {
            if at <= depth {
                system.set.add_eq(space.out(2 * at as usize), i64::from(self.timeline.order_at(x, at)));
            } else {
                system.set.add_eq(space.out(2 * at as usize), 0);
            }
            if at >= depth && at < clock.loops {
                system.set.add_eq(space.out(2 * at as usize + 1), 0);
            }
        }
        for level in 0..way.same {
            system.set.add_eq(of_x(level), of_y(level));
        }
        if way.earlier {
            system.set.add_lt(of_x(way.same), of_y(way.same));
        }
        more(&mut system, &of_x, &of_y);
        Relation::from_conjunctions(space, vec![system.set])
    }

    /// Returns the dimensions in which both accesses have subscripts that their common clock knows,
    /// and these subscripts.
    pub fn subscripts_of(&self, x: AccessId, y: AccessId) -> Vec<(usize, &AffineForm, &AffineForm)> {
        self.known_subscripts(&self.timeline.get(x).class, &self.timeline.get(y).class, 0)
    }

    /// Returns `x`'s subscript in a dimension minus `y`'s, over the relations from instances of `y`
    /// to times of `x`. `None` if the difference is not linear in these and in parameters.
    pub fn difference(&self, x: AccessId, y: AccessId, dimension: usize, clock: &Clock) -> Option<Affine> {
        let (x, y) = (self.timeline.get(x), self.timeline.get(y));
        let space = clock.space(y);
        let mut system = clock.system(&space);
        let mut of = |access: &Access, level: &dyn Fn(u32) -> Var| {
            let form = access.class.subscripts.as_ref()?.get(dimension)?.as_ref()?;
            let plain = |atom: &Atom| match atom {
                Atom::Level(level) => *level < access.depth(),
                Atom::Param(_) | Atom::Product(_) => clock.parameters.contains(atom),
                Atom::FloorDiv(..) => false,
            };
            let simple = form.terms().iter().all(|(atom, _)| plain(atom));
            simple.then(|| system.affine(form, level))
        };
        let of_x = of(x, &|level| space.out(2 * level as usize + 1))?;
        let of_y = of(y, &|level| space.dim(level as usize))?;
        Some(of_x.add_scaled(&of_y, &(-1).into()))
    }

    /// Returns the iterations of a read.
    fn iterations(&self, read: &Access, clock: &Clock) -> Set {
        let space = Space::set(&clock.names(), clock.instance(read));
        let mut system = clock.system(&space);
        let of_read = |level: u32| space.dim(level as usize);
        system.constrain(self.constraints(read, 0).iter(), &of_read);
        system.constrain(self.timeline.around.iter(), &of_read);
        Set::from_conjunctions(space, vec![system.set])
    }
}

/// Adds constraints on two instances, given the variables of their levels.
pub type Constrain<'a> = dyn FnMut(&mut System, &dyn Fn(u32) -> Var, &dyn Fn(u32) -> Var) + 'a;

impl Sources {
    fn add(&mut self, writer: AccessId) {
        if !self.writers.contains(&writer) {
            self.writers.push(writer);
        }
    }
}

impl Clock {
    /// Returns the space of relations from instances of an access to times.
    pub fn space(&self, access: &Access) -> Space {
        Space::relation(&self.names(), self.instance(access), self.time())
    }

    /// Returns the pairs of times whose second does not precede the first.
    pub fn at_or_after(&self) -> Relation {
        Relation::lexicographic(&self.names(), &self.time(), Order::LessOrEqual)
    }

    /// Returns the pairs of times whose first does not precede the second.
    fn not_before(&self) -> Relation {
        Relation::lexicographic(&self.names(), &self.time(), Order::GreaterOrEqual)
    }

    /// Returns the dimension of a time's iteration of a loop, in relations from instances of
    /// `access`.
    pub fn iteration(&self, access: &Access, level: u32) -> Var {
        self.space(access).out(2 * level as usize + 1)
    }

    /// Returns the dimension of a time's number in the text inside `depth` loops.
    fn order(&self, access: &Access, depth: u32) -> Var {
        self.space(access).out(2 * depth as usize)
    }

    fn time(&self) -> Tuple {
        Tuple::unnamed("", 2 * self.loops as usize + 1)
    }

    fn instance(&self, access: &Access) -> Tuple {
        Tuple::unnamed("", access.class.domain.levels as usize)
    }

    fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }

    fn system(&self, space: &Space) -> System {
        System::new(space.vars(), Var(0), self.parameters.clone())
    }
}

/// True if two forms name no counter of the loops inside the first `shared` ones, and differ by a
/// constant.
fn differ((a, b): (&AffineForm, &AffineForm), shared: u32) -> bool {
    let is_outer =
        |form: &AffineForm| form.all_atoms(&|atom| !matches!(atom, Atom::Level(level) if *level >= shared));
    is_outer(a) && is_outer(b) && a.minus(b).and_then(|d| d.as_constant()).is_some_and(|d| d != 0)
}
