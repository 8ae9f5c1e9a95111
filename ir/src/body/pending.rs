//! Operations whose regions exist before the rest of them is known, as a parser meets them.
//!
//! [`Body::begin`] makes a record with a name alone; regions are added one by one and filled;
//! [`Body::finish`] gives it what else it has. The first region stays where it was made, so an
//! operation with one region costs nothing extra.
//!
//! A parser reads bodies one after the other into the same one: [`Body::restart`] empties it,
//! [`Body::take`] gives away what was read, with no room to spare. A file of many functions is many
//! small bodies, and what their tables would reserve for growing is as much as what they hold.

use super::{Body, ERASED, NONE, OpData, RegionData};
use crate::builder::OperationState;
use crate::context::OpName;
use crate::entity::{Op, Region};
use crate::location::Loc;

/// Bodies of more operations are given away as they are: their tables have grown in few steps, and
/// a copy of them costs memory.
const SMALL: usize = 64;

impl Body {
    /// Forgets everything but the room it has, and becomes the body of an operation with one empty
    /// region and nothing else.
    pub(crate) fn restart(&mut self, name: OpName, loc: Loc) {
        self.arena = self.ctx.new_arena();
        self.ops.clear();
        self.free_ops.clear();
        self.extras.clear();
        self.free_extras.clear();
        self.uses.clear();
        self.values.clear();
        self.successors.clear();
        self.blocks.clear();
        self.free_blocks.clear();
        self.regions.clear();
        self.begin(name, loc);
    }

    /// Takes the content of this body, as a body of the same handles. This one is of no use before
    /// [`Body::restart`].
    pub(crate) fn take(&mut self) -> Body {
        if self.ops.len() > SMALL {
            let empty = Body::without_root(&self.ctx);
            return std::mem::replace(self, empty);
        }
        Body {
            ctx: self.ctx.clone(),
            arena: self.arena,
            ops: self.ops.clone(),
            free_ops: self.free_ops.clone(),
            extras: self.extras.drain(..).collect(),
            free_extras: self.free_extras.clone(),
            uses: self.uses.clone(),
            values: self.values.clone(),
            successors: self.successors.clone(),
            blocks: self.blocks.drain(..).collect(),
            free_blocks: self.free_blocks.clone(),
            regions: self.regions.clone(),
            resources: self.resources.take(),
            trail: self.trail.take(),
        }
    }

    /// An operation with one empty region and nothing else, standing nowhere. For the root of a new
    /// body, see [`Body::new`].
    pub(crate) fn begin(&mut self, name: OpName, loc: Loc) -> Op {
        let mut state = OperationState::named(name, loc);
        state.num_regions = 1;
        self.create_record(&state)
    }

    /// Completes an operation that [`Body::begin`] made, or the root, which has no operands,
    /// results and successors: `state` says what it is, `more` are begun operations whose single
    /// regions become its second, third, … and which are gone afterwards.
    pub(crate) fn finish(&mut self, op: Op, state: &OperationState, more: &[Op]) {
        let index = op.raw(self.arena);
        if !more.is_empty() {
            self.gather_regions(op, more);
        }
        let data = &mut self.ops[index as usize];
        data.name = state.name;
        data.loc = state.loc;
        data.properties = state.properties;
        data.attributes = state.attributes;
        self.init_operands(index, &state.operands);
        self.init_results(index, &state.result_types);
        if !state.successors.is_empty() {
            self.init_successors(op, &state.successors);
        }
    }

    /// Moves the regions of `op` and `more` to one run, owned by `op`. Linear in the number of
    /// regions and blocks.
    fn gather_regions(&mut self, op: Op, more: &[Op]) {
        let index = op.raw(self.arena);
        let count = 1 + more.len();
        let run = self.regions.allocate(count);
        for r in run..run + count as u32 {
            self.regions[r] = RegionData { parent: index, first: NONE, last: NONE };
        }
        for (i, holder) in std::iter::once(&op).chain(more).enumerate() {
            let from = self.region(*holder, 0);
            self.move_blocks(from, Region::new(run + i as u32, self.arena));
            self.regions.free(from.index() as u32, 1);
            self.extra_or_new(*holder).num_regions = 0;
        }
        let extra = self.extra_or_new(op);
        extra.regions = run;
        extra.num_regions = count as u32;
        for holder in more {
            let data = self.ops[holder.raw(self.arena) as usize];
            if data.extra != NONE {
                self.extras[data.extra as usize] = Default::default();
                self.free_extras.push(data.extra);
            }
            self.ops[holder.raw(self.arena) as usize] = OpData { block: ERASED, ..OpData::vacant() };
            self.free_ops.push(holder.raw(self.arena));
        }
    }
}
