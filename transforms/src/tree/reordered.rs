//! Operations that a tree runs in another order than they were written for.

use hashbrown::HashSet;
use loomir_ir::Op;

/// Which of the two trees of a versioned node is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arm {
    /// The one that runs if what was assumed holds.
    Fast,
    /// The other one.
    Fallback,
}

/// Steps of reductions that run in another order, so that
/// [what is promised of their results](crate::access::updates::reduction) need not hold: where a
/// tree is written as IR, it is not promised of them.
/// [`Checker::reordered`](crate::legality::Checker::reordered) says which they are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reordered {
    /// Where the one tree of each versioned node runs, and where the other one does.
    pub arms: [HashSet<Op>; 2],
}

impl Reordered {
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.arms.iter().all(HashSet::is_empty)
    }

    /// True if it runs in another order in one of the trees of a versioned node, or outside of
    /// those.
    pub fn contains(&self, op: Op, arm: Option<Arm>) -> bool {
        match arm {
            Some(arm) => self.arms[arm as usize].contains(&op),
            None => self.arms.iter().any(|all| all.contains(&op)),
        }
    }
}
