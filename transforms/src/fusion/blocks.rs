//! Blocks: one of two neighbours runs several iterations while the other runs one.
//!
//! ```text
//!     for i in 0..32 { A(i) }          for k in 0..16 {
//!     for k in 0..16 { B(k) }              for b in 0..2 { A(2 * k + b) }
//!                                          B(k)
//!                                      }
//! ```
//!
//! A pooling reads two rows of a convolution at a time. A loop over elements follows a tiled loop.
//!
//! Strip-mining keeps the order of iterations, so it is legal by itself. The fusion of the result
//! is judged like that of any other pair.
//!
//! **Assumptions.**
//! - Both trip counts are constants, and the greater one is a multiple of the other. Tried with
//!   `fixtures/fusion/blocks.mlir`.
//!
//! **Cost.** At most one more plan for a pair.

use std::rc::Rc;

use super::decision::{Change, Which};
use super::group::Group;
use super::reshape::Reshaped;
use super::schedule::Entry;
use super::{Alignment, Fusion, Plan};
use crate::access::LoopContext;
use crate::cost::Work;

/// The most iterations in a block. Longer ones are loops of their own.
const MAX_BLOCK: i64 = 64;

impl Fusion<'_> {
    /// Returns the plan with the longer of two loops in blocks and the number of levels that it
    /// fuses, if these are more than `most`.
    pub(super) fn in_blocks(
        &mut self,
        first: &Group,
        between: &mut [Entry],
        second: &Group,
        most: usize,
        loop_context: &LoopContext,
    ) -> Option<(usize, Plan)> {
        let (which, longer, size) = [(Which::First, first, second), (Which::Second, second, first)]
            .into_iter()
            .find_map(|(which, group, other)| Some((which, group, group.iterations_for_each_of(other)?)))
            .filter(|(_, group, size)| *size <= MAX_BLOCK && !group.parallel)?;
        longer.untouched(self.program, self.trees)?;
        let blocks = longer.in_blocks(size, self.body, self.program, self.trees, loop_context)?;
        let pair = if which == Which::First { (&blocks, second) } else { (first, &blocks) };
        let plan = self.plan(pair.0, between, pair.1, loop_context);
        let levels = self.levels(pair.0, &plan, loop_context);
        if levels <= most {
            return None;
        }
        if let Some((own, without)) = self.work(blocks.item, loop_context).zip(longer.work.as_deref()) {
            let own = Work::clone(&own).in_blocks_of(size, without);
            self.works.insert((blocks.item, loop_context.depth), Rc::new(own));
        }
        let mut plan = plan.ok().filter(|plan| matches!(plan.way, Alignment::AsItIs))?;
        let blocks = Some(Box::new(blocks));
        plan.reshaped = match which {
            Which::First => Reshaped { first: blocks, ..Reshaped::default() },
            Which::Second => Reshaped { second: blocks, ..Reshaped::default() },
        };
        plan.reshaped.change = Some(Change::Blocks(which, size));
        Some((levels, plan))
    }
}
