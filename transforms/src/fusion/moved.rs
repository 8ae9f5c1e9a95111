//! Loops whose lower bounds differ by a value of the program: the second is moved so that equal
//! values of the two induction variables come together.
//!
//! ```text
//!     for i in 0..n { A(i) }          for i in 0..min(m, n) { A(i) }
//!     for i in m..n { B(i) }   ──>    for i in m..0 { B(i) }
//!                                     for i in max(0, m)..n { A(i); B(i) }
//! ```
//!
//! Otherwise first iterations come together. Nothing need be known about `m`: where it is negative,
//! or beyond `n`, one of the loops has no iteration. The fusion is judged like that of any other
//! pair. The second loop may be shifted further. Steps are one: with others, the two need not have
//! a value in common.
//!
//! **Assumptions.**
//! - The value is known before the first loop, because operations that compute it are hoisted like
//!   all others. Tried with `fixtures/fusion/lower_bounds.mlir`.
//! - A value that may be poison is no bound of the fused loop if the second may not be reached.
//!   Tried with `fixtures/fusion/lower_bounds.mlir`.
//!
//! **Cost.** At most one more plan for a pair, and a copy of the second loop's tree.

use super::decision::Missed;
use super::group::Group;
use super::schedule::Entry;
use super::{Fusion, Plan};
use crate::access::LoopContext;
use crate::assumption::Assumption;

impl Fusion<'_> {
    /// Plans the fusion of `second` with the group `first` under these assumptions, and adds
    /// further ones. Without a list, no assumption is about numbers.
    pub(super) fn plan_if(
        &mut self,
        assumed: Option<Vec<Assumption>>,
        first: &Group,
        between: &mut [Entry],
        second: &Group,
        loop_context: &LoopContext,
    ) -> Result<Plan, Missed> {
        let plan = self.plan_aligned(assumed.clone(), first, between, second, loop_context);
        let Err(missed @ (Missed::UnknownOffset | Missed::Dependences(_))) = plan else { return plan };
        let Some(moved) = self.moved(first, second, loop_context) else { return Err(missed) };
        let plan = self.plan_aligned(assumed, first, between, &moved, loop_context);
        plan.map_err(|other| match (missed, other) {
            (Missed::UnknownOffset, Missed::Dependences(verdict)) => Missed::AtEqualValues(verdict),
            (Missed::UnknownOffset, other) => other,
            (missed, _) => missed,
        })
    }

    /// Returns the group of one loop, moved to the values of the first. `None` if their lower
    /// bounds do not differ by a value, or if a step is not one.
    fn moved(&mut self, first: &Group, second: &Group, loop_context: &LoopContext) -> Option<Group> {
        let by = first.distance(second).filter(|by| by.as_constant().is_none())?;
        let mut moved = second.moved(&by, self.program, self.trees, self.body, loop_context)?;
        moved.work = self.work(moved.item, loop_context);
        Some(moved)
    }
}
