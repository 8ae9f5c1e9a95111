//! Operations whose regions exist before the rest of them is known, as a parser meets them.
//!
//! [`Body::begin`] makes a record with a name alone; regions are added one by one and filled; [`Body::finish`] gives it
//! what else it has. The first region stays where it was made, so an operation with one region costs nothing extra.

use super::{Body, ERASED, NONE, OpData, RegionData};
use crate::builder::OperationState;
use crate::context::OpName;
use crate::entity::{Op, Region};
use crate::location::Loc;

impl Body {
    /// An operation with one empty region and nothing else, standing nowhere. For the root of a new body, see [`Body::new`].
    pub(crate) fn begin(&mut self, name: OpName, loc: Loc) -> Op {
        let mut state = OperationState::named(name, loc);
        state.num_regions = 1;
        self.create_record(state)
    }

    /// Completes an operation that [`Body::begin`] made, or the root, which has no operands, results and successors: `state` says what it is, `more` are
    /// begun operations whose single regions become its second, third, … and which are gone afterwards.
    pub(crate) fn finish(&mut self, op: Op, state: OperationState, more: &[Op]) {
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

    /// Moves the regions of `op` and `more` to one run, owned by `op`. Linear in the number of regions and blocks.
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
            let data = self.ops[holder.raw(self.arena) as usize].clone();
            if data.extra != NONE {
                self.extras[data.extra as usize] = Default::default();
                self.free_extras.push(data.extra);
            }
            self.ops[holder.raw(self.arena) as usize] = OpData { block: ERASED, ..OpData::vacant() };
            self.free_ops.push(holder.raw(self.arena));
        }
    }
}
