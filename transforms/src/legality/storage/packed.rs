//! Loads that a loop repeats, and that may read a copy made before it.
//!
//! A group of loads reads the same elements in every iteration of a loop around it, and the loops
//! between name them. The elements may be copied to a local array before the loop, in the order in
//! which its first iteration reads them, if
//!
//! - nothing in the loop writes one of them, in any iteration;
//! - each iteration runs the loops between, and each of their iterations runs the loads: then the
//!   copy reads memory that the first iteration reads too;
//! - the loops between run the same iterations in each iteration of the loop, and not more than a
//!   known number;
//! - everything in the loop returns.
//!
//! The caller makes sure that the loop has an iteration.
//!
//! A loop that reads elements of several rows in each iteration may read them from copies that it
//! makes itself, some iterations ahead, on the same conditions. There are no loops between then.
//! Tried in `fixtures/pack/rows.mlir`.
//!
//! **Assumptions.**
//! - Between two iterations nobody else writes the elements, because that would be a race. Atomic
//!   and volatile loads are never plain. Tried in `fixtures/pack/refused.mlir`.
//! - A parallel loop around would share the array. Tried in `fixtures/pack/refused.mlir`.

use hashbrown::HashMap;
use loomir_dialects::interfaces::{Conditional, LoopLike, MemoryAccess, ParallelLike};
use loomir_dialects::llvm;
use loomir_ir::{Body, Op, Value};

use super::StorageJudge;
use crate::access::base::{Base, bytes_of_element};
use crate::affine::{AffineForm, Atom};
use crate::effects::Effects;
use crate::flow::timeline::{Access, AccessId};

/// The maximal number of writes in a loop that the loads of a group are compared with.
const MAX_WRITES: usize = 64;

/// The maximal number of loads in a group.
const MAX_LOADS: usize = 256;

/// A group of loads that may read a copy.
pub(crate) struct Packed {
    loop_op: Op,
    between: Vec<(Op, u64)>,
    loads: Vec<(Op, usize)>,
    places: usize,
    bytes: u64,
    most_trips: Option<u64>,
    is_dense: bool,
}

/// The reason why a group of loads reads the original.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotPacked {
    /// The copy would be too large, or its size is unknown.
    Large,
    /// Something in the loop may not return, or its elements are not known before the loop.
    Changed,
    /// This operation in the loop may write an element.
    Written(Op),
    /// A conditional or a parallel loop is around.
    Place,
    /// They have different types, or count different bytes.
    Unlike,
}

impl Packed {
    /// Returns the loop that repeats the loads.
    pub(crate) fn loop_op(&self) -> Op {
        self.loop_op
    }

    /// Returns the loops between it and the loads, from the outside, each with the most iterations.
    pub(crate) fn between(&self) -> &[(Op, u64)] {
        &self.between
    }

    /// Returns the loads, in the order of the text, each with its place in an iteration of the
    /// loops between. Loads of one element have one place.
    pub(crate) fn loads(&self) -> &[(Op, usize)] {
        &self.loads
    }

    /// Returns the number of places.
    pub(crate) fn places(&self) -> usize {
        self.places
    }

    /// Returns the bytes of all elements.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the most iterations of the loop, if they are known.
    pub(crate) fn most_trips(&self) -> Option<u64> {
        self.most_trips
    }

    /// True if the innermost loop reads neighbouring elements one after the other as it is.
    pub(crate) fn is_dense(&self) -> bool {
        self.is_dense
    }
}

/// The loads of one group: the loops around, the object, the memref that subscripts are relative
/// to, and the subscripts without constants.
type Key = (Vec<Op>, Base, Option<Value>, Vec<AffineForm>);

impl StorageJudge<'_> {
    /// Returns the groups of loads that may read copies of at most `bytes` bytes, and for the other
    /// groups that a loop repeats a load with the reason. Each load is in at most one group.
    pub(crate) fn packed(&self, effects: &Effects, bytes: u64) -> (Vec<Packed>, Vec<(Op, NotPacked)>) {
        let (mut packed, mut missed) = (Vec::new(), Vec::new());
        for group in self.groups() {
            match self.pack(&group, effects, bytes) {
                Some(Ok(own)) => packed.push(own),
                Some(Err(why)) => missed.extend(group.first().map(|id| (self.timeline.get(*id).op, why))),
                None => {}
            }
        }
        (packed, missed)
    }

    /// Returns the groups of several loads whose elements nothing writes while the innermost loop
    /// around them runs. Its iterations may read copies that are made at any time in this loop.
    /// The bytes are those of an iteration.
    pub(crate) fn rows(&self, effects: &Effects) -> Vec<Packed> {
        let several = self.groups().into_iter().filter(|group| group.len() > 1);
        let in_innermost = |group: Vec<AccessId>| {
            let innermost = self.timeline.get(*group.first()?).depth().checked_sub(1)?;
            self.pack_in(&group, innermost, effects, u64::MAX).ok()
        };
        several.filter_map(in_innermost).collect()
    }

    /// Returns the loads that differ by constants alone, in groups that are not too large.
    fn groups(&self) -> Vec<Vec<AccessId>> {
        let mut groups: Vec<Vec<AccessId>> = Vec::new();
        let mut known: HashMap<Key, usize> = HashMap::new();
        for id in self.timeline.accesses() {
            let access = self.timeline.get(id);
            let Some(forms) = access.element().filter(|_| self.is_plain_load(access)) else { continue };
            let varying: Vec<AffineForm> = forms.iter().map(|form| form.without_constant()).collect();
            let class = &access.class;
            let key = (access.place.loops.clone(), class.base, class.origin, varying);
            let group = *known.entry(key).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(id);
        }
        groups.retain(|group| group.len() <= MAX_LOADS);
        groups
    }

    fn is_plain_load(&self, access: &Access) -> bool {
        let view = self.body.op_ref(access.op);
        let is_through_pointer = view.is(llvm::LoadOp::DEF);
        let model = view.info().interface::<dyn MemoryAccess>();
        let is_load = is_through_pointer || model.is_some_and(|own| own.access(view).stored.is_none());
        !access.class.writes && !access.called && is_load && self.body.num_results(access.op) == 1
    }

    /// Judges a group in the outermost loop that repeats it. `None` if no loop does.
    fn pack(&self, group: &[AccessId], effects: &Effects, bytes: u64) -> Option<Result<Packed, NotPacked>> {
        let first = self.timeline.get(*group.first()?);
        let innermost = first.depth().checked_sub(1)?;
        let mut refused = None;
        for outer in 0..innermost {
            if !self.repeats(first, outer) {
                continue;
            }
            match self.pack_in(group, outer, effects, bytes) {
                Ok(own) => return Some(Ok(own)),
                Err(why) => refused = refused.or(Some(Err(why))),
            }
        }
        refused
    }

    /// True if the loop at a depth reads the same elements in each of its iterations, and each loop
    /// inside reads different ones.
    fn repeats(&self, access: &Access, outer: u32) -> bool {
        let Some(forms) = access.element() else { return false };
        let uses = |level: u32| move |form: &&AffineForm| !form.all_atoms(&|atom| !mentions(atom, level));
        let constraints = &access.class.domain.constraints;
        let mut inside = constraints.iter().filter(|own| (outer + 1..access.depth()).any(|at| uses(at)(own)));
        (outer + 1..access.depth()).all(|level| forms.iter().any(uses(level)))
            && !forms.iter().any(uses(outer))
            && !inside.any(|own| uses(outer)(&own))
    }

    fn pack_in(
        &self,
        group: &[AccessId],
        outer: u32,
        effects: &Effects,
        bytes: u64,
    ) -> Result<Packed, NotPacked> {
        let first = self.timeline.get(group[0]);
        let loop_op = first.place.loops[outer as usize];
        let domain = &first.class.domain;
        let mentioned = first.element().into_iter().flatten().chain(&domain.constraints);
        let is_known = |form: &AffineForm| self.timeline.is_known(form, outer);
        let stays = mentioned.into_iter().all(is_known)
            && self.timeline.names_one_object(&first.class, outer)
            && self.timeline.object_depth(first, first) <= outer;
        if !stays || effects.get(loop_op).may_not_return() {
            return Err(NotPacked::Changed);
        }
        let is_conditional = |id: &AccessId| {
            let own = self.timeline.get(*id);
            !own.class.domain.exact || own.place.sides.iter().any(|side| side.depth > outer)
        };
        if group.iter().any(is_conditional) || !is_in_order(self.body, loop_op) {
            return Err(NotPacked::Place);
        }
        let value = self.body.result(first.op, 0);
        let ty = self.body.value_type(value);
        let size = bytes_of_element(self.body.ctx(), ty).and_then(|own| u64::try_from(own).ok());
        let is_alike = |id: &AccessId| {
            let own = self.timeline.get(*id);
            own.class.counts_like(&first.class) && self.body.value_type(self.body.result(own.op, 0)) == ty
        };
        if !group.iter().all(is_alike) {
            return Err(NotPacked::Unlike);
        }
        let (loads, places) = self.places(group);
        let mut own = size.and_then(|size| size.checked_mul(places as u64)).ok_or(NotPacked::Large)?;
        let mut between = Vec::new();
        for level in outer + 1..first.depth() {
            let most = most_trips(first, level).ok_or(NotPacked::Large)?;
            own = own.checked_mul(most).filter(|own| *own <= bytes).ok_or(NotPacked::Large)?;
            between.push((first.place.loops[level as usize], most));
        }
        self.is_unwritten(group, loop_op, outer)?;
        let (most_trips, is_dense) = (most_trips(first, outer), is_dense(first));
        Ok(Packed { loop_op, between, loads, places, bytes: own, most_trips, is_dense })
    }

    /// Returns the loads with their places, in the order of their constants.
    fn places(&self, group: &[AccessId]) -> (Vec<(Op, usize)>, usize) {
        let constants = |id: &AccessId| -> Vec<i64> {
            let forms = self.timeline.get(*id).element().unwrap_or_default();
            forms.iter().map(|form| form.constant_part()).collect()
        };
        let mut all: Vec<Vec<i64>> = group.iter().map(constants).collect();
        all.sort_unstable();
        all.dedup();
        let place =
            |id: &AccessId| (self.timeline.get(*id).op, all.binary_search(&constants(id)).unwrap_or(0));
        (group.iter().map(place).collect(), all.len())
    }

    /// Checks that nothing in the loop writes an element of the group, in the same iteration of the
    /// outer loops.
    fn is_unwritten(&self, group: &[AccessId], loop_op: Op, outer: u32) -> Result<(), NotPacked> {
        let first = self.timeline.get(group[0]);
        let (start, end) = self.timeline.extent(loop_op, first.order);
        let writes = |id: &AccessId| {
            let own = self.timeline.get(*id);
            own.class.writes || own.is_unknown()
        };
        let mut others = self.timeline.near(first.class.base, start, end).filter(writes);
        for other in others.by_ref().take(MAX_WRITES) {
            let meets = |own: &AccessId| {
                self.flow.may_meet(*own, other, outer) || self.flow.may_meet(other, *own, outer)
            };
            if group.iter().any(meets) {
                return Err(NotPacked::Written(self.timeline.get(other).op));
            }
        }
        if others.next().is_some() { Err(NotPacked::Changed) } else { Ok(()) }
    }
}

/// Returns the most iterations of a loop around an access.
fn most_trips(access: &Access, level: u32) -> Option<u64> {
    let constraints = &access.class.domain.constraints;
    let last = constraints.iter().filter_map(|form| match form.terms() {
        [(Atom::Level(own), factor @ ..=-1)] if *own == level => {
            Some(form.constant_part().div_euclid(factor.checked_neg()?))
        }
        _ => None,
    });
    u64::try_from(last.min()?.checked_add(1)?.max(1)).ok()
}

/// True if an atom depends on the iteration of a loop.
fn mentions(atom: &Atom, level: u32) -> bool {
    match atom {
        Atom::Level(own) => *own == level,
        Atom::FloorDiv(inner, _) => !inner.all_atoms(&|atom| !mentions(atom, level)),
        Atom::Param(_) | Atom::Product(_) => false,
    }
}

/// True if neighbouring iterations of the innermost loop read neighbouring elements.
fn is_dense(access: &Access) -> bool {
    let Some(forms) = access.element() else { return false };
    let level = access.depth() - 1;
    let Some((last, others)) = forms.split_last() else { return false };
    others.iter().all(|form| form.all_atoms(&|atom| !mentions(atom, level)))
        && last.coefficient_of_level(level).abs() <= 1
}

/// True if a loop and all that is around it are loops that run their iterations one after the
/// other, and conditionals.
fn is_in_order(body: &Body, loop_op: Op) -> bool {
    let mut around = std::iter::successors(Some(loop_op), |op| body.parent_op(*op));
    around.all(|op| {
        let info = body.info(op);
        let is_loop = info.interface::<dyn LoopLike>().is_some();
        let is_parallel = info.interface::<dyn ParallelLike>().is_some();
        op == body.root() || !is_parallel && (is_loop || info.interface::<dyn Conditional>().is_some())
    })
}
