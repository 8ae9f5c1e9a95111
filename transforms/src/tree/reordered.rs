//! Operations whose order a tree changes.

use hashbrown::HashSet;
use loomir_ir::Op;

/// One of the two trees of a versioned node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arm {
    /// The tree that runs if the assumptions hold.
    Fast,
    /// The other tree.
    Fallback,
}

/// Reordered steps of reductions. Their [flags](crate::access::updates::reduction) need not hold,
/// and are dropped when a tree is written as IR.
/// [`Checker::reordered`](crate::legality::Checker::reordered) returns them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reordered {
    /// The reordered steps in the fast tree of each versioned node, and in the fallback.
    pub arms: [HashSet<Op>; 2],
}

impl Reordered {
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.arms.iter().all(HashSet::is_empty)
    }

    /// True if the step is reordered in this arm of versioned nodes, or outside of them in either.
    pub fn contains(&self, op: Op, arm: Option<Arm>) -> bool {
        match arm {
            Some(arm) => self.arms[arm as usize].contains(&op),
            None => self.arms.iter().any(|all| all.contains(&op)),
        }
    }
}
