//! Counts of region executions.
//!
//! A counting run adds one whenever a region hands control back to its parent operation, and
//! whenever a function is called. The counts are iterations of loops, taken branches, and the
//! executions of the region around them as the base of comparison.
//!
//! Cost: a table probe each time. A run that does not count pays a test.

use hashbrown::HashMap;
use loomir_ir::{Body, Op, Type};

use super::code::FunctionId;

/// The number of times each region of the called functions ran to its end.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// The counts by function, operation (none: the function itself) and region.
    times: HashMap<(FunctionId, Option<Op>, usize), i64>,
}

impl Counts {
    pub(super) fn add(&mut self, function: FunctionId, op: Option<Op>, region: usize) {
        *self.times.entry((function, op, region)).or_default() += 1;
    }

    /// Writes the counts as an attribute of a called function and of all operations with regions in
    /// it: a number for each region.
    pub(super) fn write(&self, function: FunctionId, body: &mut Body, attribute: &str) {
        let of = |op: Option<Op>, region| self.times.get(&(function, op, region)).copied().unwrap_or(0);
        if of(None, 0) == 0 {
            return;
        }
        let ctx = body.ctx().clone();
        let (root, element) = (body.root(), Type::I64);
        let with_regions: Vec<(Op, usize)> = body
            .preorder(root)
            .map(|op| (op, body.own_regions(op).count()))
            .filter(|(_, regions)| *regions > 0)
            .collect();
        for (op, regions) in with_regions {
            let own = Some(op).filter(|op| *op != root);
            let counts: Vec<i64> = (0..regions).map(|region| of(own, region)).collect();
            body.set_attr(op, attribute, ctx.dense_ints_attr(element, &counts));
        }
    }
}
