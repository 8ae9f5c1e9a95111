//! A guarded loop with the guard moved inside, so that it can be fused with an unguarded loop.
//!
//! ```text
//!     if c { for i { S } }        for i { if c { S } }
//!     for i { T }            ──>  for i { T }
//! ```
//!
//! If the condition is false, the loop on the right runs and does nothing. The change is therefore
//! made only for fusion with a loop of the same iterations, all of which run anyway.
//!
//! **Assumptions.**
//! - A condition that is moved inside has one value in all iterations: it is computed outside.
//!   Tried with `fixtures/fusion/guards_inside.mlir`.

use std::rc::Rc;

use super::Fusion;
use super::group::Group;
use super::schedule::Entry;
use crate::access::LoopContext;
use crate::tree::{If, Node};

impl Fusion<'_> {
    /// Returns the only loop of a conditional without results, with the condition moved inside.
    /// `None` for any other conditional, and for a loop that is parallel or carries values.
    pub(super) fn with_guard_inside(
        &mut self,
        entry: &Entry,
        loop_context: &LoopContext,
    ) -> Option<Rc<Group>> {
        let Entry::If(If { of, map, bodies }, _) = *entry else { return None };
        let sides = bodies.map(|side| side.filter(|side| self.trees.items_in(*side) > 0));
        let (side, holds) = match sides {
            [Some(side), None] => (side, true),
            [None, Some(side)] => (side, false),
            _ => return None,
        };
        let only = self.trees.only_item(side)?;
        let Node::Loop { header, body } = self.trees.get(only) else { return None };
        let conditional = self.program.if_info(of).op;
        if self.body.num_results(conditional) > 0 || self.trees.header(header).parallel {
            return None;
        }
        let around = self.trees.map(map).iter().map(|form| form.raised(1)).collect::<Option<_>>()?;
        let map = self.trees.make_map(around);
        let body = self.trees.guard(of, map, holds, body);
        let body = self.trees.sequence(&[body]);
        let item = self.trees.with_header(header, body);
        let group = Group::of(self.body, self.program, self.trees, item, loop_context)?;
        let mut group = group.guarded(conditional, entry.originals(self.trees))?;
        group.footprint.ask(self.body, conditional);
        group.work = self.work(item, loop_context);
        Some(Rc::new(group))
    }
}
