//! Local buffers of which each iteration of a loop may have one of its own.
//!
//! A buffer outside of a loop may be allocated in each iteration instead, if
//!
//! - all its loads and stores are inside of the loop, and nothing else uses it but frees outside;
//! - each load reads what the same iteration of the loop wrote, if anything wrote it.
//!
//! An element that no iteration wrote is as undefined in a new buffer as it was in the old one.
//!
//! **Assumptions.**
//! - The last writers that the data flow lists are complete, and may be too many. Tried in
//!   `fixtures/privatize/refused.mlir`.

use loomir_dialects::interfaces::{LoopLike, MemoryAccess};
use loomir_dialects::memref;
use loomir_ir::{Op, Value};

use super::StorageJudge;
use crate::access::base::Base;
use crate::flow::MAX_WRITERS;
use crate::flow::timeline::{Access, AccessId};

/// The maximal number of loads of a buffer.
const MAX_LOADS: usize = 32;

/// A buffer that each iteration of a loop may have to itself.
pub(crate) struct Private {
    allocation: Op,
    loop_op: Op,
    frees: Vec<Op>,
}

/// The reason why a buffer is shared by iterations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotPrivate {
    /// An iteration reads what another one may have written.
    HandsOn(Op),
    /// An operation uses it that is no load, store or free.
    Used(Op),
    /// It is on the stack, which a loop would fill.
    Stack,
    /// Too many accesses, or a limit was reached.
    TooHard,
}

impl Private {
    /// Returns the allocation.
    pub(crate) fn allocation(&self) -> Op {
        self.allocation
    }

    /// Returns the loop.
    pub(crate) fn loop_op(&self) -> Op {
        self.loop_op
    }

    /// Returns the frees of the buffer outside of the loop.
    pub(crate) fn frees(&self) -> &[Op] {
        &self.frees
    }
}

impl StorageJudge<'_> {
    /// Judges a local allocation, which does not escape. `None` if no loop that it is outside of
    /// contains all its accesses.
    pub(crate) fn private(&self, allocation: Value) -> Option<Result<Private, NotPrivate>> {
        let op = self.body.defining_op(allocation)?;
        // What else uses the buffer is looked at later.
        let is_element = |id: &AccessId| {
            let info = self.body.info(self.timeline.get(*id).op);
            info.interface::<dyn MemoryAccess>().is_some()
        };
        let all = self.timeline.of_base(Base::Allocation(allocation)).filter(is_element);
        let all: Vec<AccessId> = all.collect();
        let first = self.timeline.get(*all.first()?);
        let outside = |own: &&Op| self.body.is_within(op, **own);
        let level = first.place.loops.iter().take_while(outside).count();
        let loop_op = *first.place.loops.get(level)?;
        let is_inside = |access: &Access| access.place.loops.get(level) == Some(&loop_op);
        let model = self.body.info(loop_op).interface::<dyn LoopLike>()?;
        self.body.single_block(model.body(self.body.op_ref(loop_op)))?;
        let accesses = all.iter().map(|id| self.timeline.get(*id));
        if !self.timeline.makes(allocation) || !accesses.clone().all(is_inside) {
            return None;
        }
        Some(self.private_in(allocation, (op, loop_op), &all, level as u32))
    }

    fn private_in(
        &self,
        allocation: Value,
        (op, loop_op): (Op, Op),
        all: &[AccessId],
        level: u32,
    ) -> Result<Private, NotPrivate> {
        if let Some(user) = self.other_user(allocation) {
            return Err(NotPrivate::Used(user));
        }
        if !self.body.is(op, memref::AllocOp::DEF) {
            return Err(NotPrivate::Stack);
        }
        let mut frees = Vec::new();
        for used in self.body.uses(allocation).map(|used| used.op) {
            if all.iter().any(|id| self.timeline.get(*id).op == used) {
                continue;
            }
            if !self.body.is(used, memref::DeallocOp::DEF) || self.body.is_within(used, loop_op) {
                return Err(NotPrivate::Used(used));
            }
            frees.push(used);
        }
        let (writes, loads): (Vec<AccessId>, Vec<AccessId>) =
            all.iter().partition(|id| self.timeline.get(**id).class.writes);
        if writes.len() > MAX_WRITERS || loads.len() > MAX_LOADS {
            return Err(NotPrivate::TooHard);
        }
        let clock = self.flow.clock(all.iter().copied());
        for load in loads {
            let sources = self.flow.sources(load, &writes, &clock).ok_or(NotPrivate::TooHard)?;
            let access = self.timeline.get(load);
            if !self.are_in_same_iteration(level..level + 1, access, &sources, &clock) {
                return Err(NotPrivate::HandsOn(access.op));
            }
        }
        Ok(Private { allocation: op, loop_op, frees })
    }
}
