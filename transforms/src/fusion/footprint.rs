//! The footprint of an entry of a sequence: the memory it touches, the values it uses and computes.
//!
//! **Assumptions.**
//! - All values that an entry uses or computes are among the operands and results of its
//!   operations, including nested ones. Tried with `fixtures/fusion/between.mlir` and
//!   `conditional_results.mlir`.

use std::rc::Rc;

use hashbrown::HashSet;
use loomir_ir::{Body, Op, Trait};

use crate::tree::access_summary::AccessSummary;

/// The memory and values of an entry. They decide with which other entries it may be reordered.
#[derive(Clone, Debug)]
pub(super) struct Footprint {
    /// The accesses.
    pub nest: Rc<AccessSummary>,
    /// The operations outside whose results are used inside.
    pub uses: HashSet<Op>,
    /// The operations of the footprint. Their results may be used behind it.
    pub ops: HashSet<Op>,
}

impl Footprint {
    /// Returns the footprint of `ops`, whose accesses are `nest`. A terminator that yields results
    /// of a conditional defines these. Linear in the operations inside.
    pub(super) fn of(ir: &Body, ops: impl IntoIterator<Item = Op>, nest: AccessSummary) -> Footprint {
        let (mut uses, mut defining) = (HashSet::new(), HashSet::new());
        for op in ops {
            let used = ir.preorder(op).flat_map(|inside| ir.operands(inside));
            let used = used.filter_map(|value| ir.defining_op(value));
            uses.extend(used.filter(|definer| !ir.is_within(*definer, op)));
            defining.insert(op);
            defining.extend(ir.parent_op(op).filter(|_| ir.has_trait(op, Trait::Terminator)));
        }
        Footprint { nest: Rc::new(nest), uses, ops: defining }
    }

    /// Adds a conditional that was moved into the entry. The operands of its condition are used.
    pub(super) fn ask(&mut self, ir: &Body, conditional: Op) {
        self.uses.extend(ir.operands(conditional).filter_map(|value| ir.defining_op(value)));
        self.ops.insert(conditional);
    }

    /// Adds another one's.
    pub(super) fn merge(&mut self, other: &Footprint) {
        self.merge_later(other, &other.nest);
    }

    /// Adds the footprint of another entry, with `nest` as its accesses.
    pub(super) fn merge_later(&mut self, other: &Footprint, nest: &AccessSummary) {
        Rc::make_mut(&mut self.nest).merge(nest);
        self.uses.extend(&other.uses);
        self.ops.extend(&other.ops);
    }

    /// True if `user` uses a result of this footprint. Linear in the smaller number of operations.
    pub(super) fn defines_for(&self, user: &Footprint) -> bool {
        let (few, many) =
            if user.uses.len() < self.ops.len() { (&user.uses, &self.ops) } else { (&self.ops, &user.uses) };
        few.iter().any(|op| many.contains(op))
    }
}
