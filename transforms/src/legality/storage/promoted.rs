//! Elements of memory that a loop may keep in a register.
//!
//! A group of loads and stores in the block of a loop names the same element in every iteration.
//! The loop may load it once before, carry it as a value, and store it once after, if
//!
//! - no other access in the loop touches the element, in any iteration;
//! - if the loop has an iteration, that iteration accesses the element: the load before the loop
//!   then reads memory that the program reads or writes too;
//! - a store of the group runs in every iteration, if there are stores: the store after the loop
//!   then writes nothing that the program does not write;
//! - everything in the loop returns.
//!
//! Arguments of the function may have to be apart. The caller tests that before the loop.
//!
//! The accesses stand directly in the block of the loop, so each runs in every iteration.
//!
//! **Assumptions.**
//! - Between two iterations nobody else reads or writes the element, because that would be a race.
//!   Atomic accesses, calls and fences are accesses of the loop that may touch it. Tried in
//!   `fixtures/promotion/refused.mlir`.
//! - Accesses with equal subscripts of one origin have one type. It is compared nevertheless. Tried
//!   in `fixtures/promotion/refused.mlir`.

use hashbrown::HashMap;
use loomir_dialects::interfaces::{LoopLike, MemoryAccess};
use loomir_dialects::{affine, memref};
use loomir_ir::{Body, Op, Value};

use super::forward::Element;
use super::{StorageJudge, value_at};
use crate::affine::Atom;
use crate::assumption::{self, Assumption};
use crate::effects::Effects;
use crate::flow::timeline::{Access, AccessId};

/// The maximal number of accesses in a loop that the accesses of one element are compared with.
/// Accesses of neighbours, at a constant distance, do not count.
const MAX_OTHERS: usize = 64;

/// An element that a loop may keep in a register.
pub(crate) struct Promoted {
    loop_op: Op,
    accesses: Vec<Op>,
    named_by: Op,
    outermost: Op,
    assumed: Vec<Assumption>,
}

impl Promoted {
    /// Returns the loop.
    pub(crate) fn loop_op(&self) -> Op {
        self.loop_op
    }

    /// Returns the loads and stores, in their order. All stand in the block of the loop.
    pub(crate) fn accesses(&self) -> &[Op] {
        &self.accesses
    }

    /// Returns one of the accesses. The values that it names the element by are defined outside the
    /// loop.
    pub(crate) fn named_by(&self) -> Op {
        self.named_by
    }

    /// Returns the outermost loop around it.
    pub(crate) fn outermost(&self) -> Op {
        self.outermost
    }

    /// Returns what must hold. Each assumption is about arguments of the function.
    pub(crate) fn assumed(&self) -> &[Assumption] {
        &self.assumed
    }
}

impl StorageJudge<'_> {
    /// Returns the elements that loops may keep in registers. Each access is in at most one of
    /// them.
    pub(crate) fn promoted(&self, effects: &Effects) -> Vec<Promoted> {
        let mut groups: Vec<(Op, Vec<AccessId>)> = Vec::new();
        let mut known: HashMap<(Op, Element), usize> = HashMap::new();
        for id in self.timeline.accesses() {
            let access = self.timeline.get(id);
            let Some(loop_op) = access.place.loops.last().copied() else { continue };
            if self.body.parent_op(access.op) != Some(loop_op) || !self.is_invariant(access) {
                continue;
            }
            let Some(element) = Element::of(access) else { continue };
            let group = *known.entry((loop_op, element)).or_insert_with(|| {
                groups.push((loop_op, Vec::new()));
                groups.len() - 1
            });
            groups[group].1.push(id);
        }
        groups.into_iter().filter_map(|(loop_op, group)| self.promote(loop_op, &group, effects)).collect()
    }

    /// True if a load or store names one element in all iterations of its innermost loop.
    fn is_invariant(&self, access: &Access) -> bool {
        let outer = access.depth() - 1;
        let is_plain = [affine::LoadOp::DEF, affine::StoreOp::DEF, memref::LoadOp::DEF, memref::StoreOp::DEF]
            .iter()
            .any(|def| self.body.is(access.op, def));
        let is_outer = |atom: &Atom| !matches!(atom, Atom::Level(level) if *level >= outer);
        is_plain
            && access.element().is_some_and(|forms| {
                forms.iter().all(|form| self.timeline.is_known(form, outer) && form.all_atoms(&is_outer))
            })
            && self.timeline.names_one_object(&access.class, outer)
            && self.timeline.object_depth(access, access) <= outer
    }

    fn promote(&self, loop_op: Op, group: &[AccessId], effects: &Effects) -> Option<Promoted> {
        let first = self.timeline.get(*group.first()?);
        let outer = first.depth() - 1;
        if effects.get(loop_op).may_not_return() {
            return None;
        }
        let accesses: Vec<Op> = group.iter().map(|id| self.timeline.get(*id).op).collect();
        let named_by = accesses.iter().copied().find(|op| is_named_outside(self.body, *op, loop_op))?;
        let ty = |op: &Op| value_at(self.body, *op).map(|value| self.body.value_type(value));
        if accesses.iter().any(|op| ty(op) != ty(&named_by)) {
            return None;
        }
        let stores = group.iter().any(|id| self.timeline.get(*id).class.writes);
        let (start, end) = self.timeline.extent(loop_op, first.order);
        let mut others = self
            .timeline
            .near(first.class.base, start, end)
            .filter(|id| !group.contains(id) && (stores || self.timeline.get(*id).class.writes))
            .filter(|id| !self.flow.names_others(group[0], *id, outer));
        let mut assumed = Vec::new();
        for other in others.by_ref().take(MAX_OTHERS) {
            assumption::add(&mut assumed, self.flow.assumed_apart(group[0], other));
            let meets = |own: &AccessId| {
                self.flow.may_meet(*own, other, outer) || self.flow.may_meet(other, *own, outer)
            };
            if group.iter().any(meets) {
                return None;
            }
        }
        if others.next().is_some() {
            return None;
        }
        Some(Promoted { loop_op, accesses, named_by, outermost: first.place.loops[0], assumed })
    }
}

/// True if some loop of a body has an access that names its element by values from outside the
/// loop. Without one there is nothing to promote. Linear.
pub(crate) fn has_candidate(body: &Body) -> bool {
    body.all_ops().any(|op| {
        body.parent_op(op).is_some_and(|around| {
            body.info(around).interface::<dyn LoopLike>().is_some() && is_named_outside(body, op, around)
        })
    })
}

/// True if an operation is a load or store of an element that values from outside a loop around it
/// name.
fn is_named_outside(body: &Body, op: Op, loop_op: Op) -> bool {
    let view = body.op_ref(op);
    let Some(access) = view.info().interface::<dyn MemoryAccess>().map(|model| model.access(view)) else {
        return false;
    };
    let is_outside = |value: &Value| !body.is_defined_within(*value, loop_op);
    let subscripts = access.subscripts;
    is_outside(&access.memref)
        && (subscripts.operands.iter().all(is_outside)
            || subscripts.without_unused(view.ctx()).operands.iter().all(is_outside))
}
