//! Grouping of operations into statements: tied operations become one, as long as an order remains.
//!
//! A statement of a run must precede another, in the order of the text, in two cases. It computes a
//! value that the other uses, or both touch memory that may be the same and one of them writes. Two
//! statements are merged only if the result has no cycle. Then there is an order in which each
//! statement runs as a whole, its operations in the order of the text. It is the program's order
//! except for reorderable operations.
//!
//! **Cost.** A run of more than [`MAX_RUN`] operations is taken in parts; in each, a tie costs at
//! most its pairs that must keep their order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;
use loomir_ir::{Body, Op};

use crate::access::Effects;
use crate::access::base::{Bases, Overlap};

/// The maximal number of operations examined together.
pub(super) const MAX_RUN: usize = 128;

/// The operations of a part of a run, the statement of each, and the required orders.
struct Ties {
    /// The statement of each operation: its first operation's place.
    of: Vec<usize>,
    /// The operations of each statement, in the order of the text.
    members: Vec<Vec<usize>>,
    /// For each operation, the operations that must come after it.
    behind: Vec<Vec<usize>>,
}

/// Returns the statements of neighbours in a block, by the places of their operations, in a valid
/// order.
pub(super) fn statements(
    body: &Body,
    bases: &Bases<'_>,
    run: &[Op],
    effects: &[Effects],
    ties: &[(usize, usize)],
) -> Vec<Vec<usize>> {
    let mut own = Ties {
        of: (0..run.len()).collect(),
        members: (0..run.len()).map(|at| vec![at]).collect(),
        behind: behind(body, bases, run, effects),
    };
    for (a, b) in ties {
        if *a < run.len() && *b < run.len() {
            own.unite(*a, *b);
        }
    }
    own.in_order()
}

/// Returns, for each operation, the operations that must come after it.
fn behind(body: &Body, bases: &Bases<'_>, run: &[Op], effects: &[Effects]) -> Vec<Vec<usize>> {
    let places: HashMap<Op, usize> = run.iter().enumerate().map(|(at, op)| (*op, at)).collect();
    let mut behind = vec![Vec::new(); run.len()];
    for (later, op) in run.iter().enumerate() {
        let used = body.preorder(*op).flat_map(|inside| body.operands(inside));
        let used = used.filter_map(|value| places.get(&body.defining_op(value)?)).filter(|at| **at < later);
        used.for_each(|at| behind[*at].push(later));
        for (earlier, behind) in behind.iter_mut().enumerate().take(later) {
            let may_meet = effects[earlier].classes.iter().any(|(x, _)| {
                effects[later].classes.iter().any(|(y, _)| {
                    // Assumptions of the user need not hold in this order.
                    (x.writes || y.writes) && bases.overlap(x.base, y.base) != Overlap::Apart
                })
            });
            if may_meet {
                behind.push(later);
            }
        }
    }
    behind
}

impl Ties {
    /// Joins the statements of two operations, unless another statement has to run between them.
    fn unite(&mut self, a: usize, b: usize) {
        let (first, second) = (self.of[a].min(self.of[b]), self.of[a].max(self.of[b]));
        if first == second || self.is_between(first, second) {
            return;
        }
        let moved = std::mem::take(&mut self.members[second]);
        moved.iter().for_each(|at| self.of[*at] = first);
        self.members[first].extend(moved);
        self.members[first].sort_unstable();
    }

    /// True if a third statement must run after one of two and before one of them.
    fn is_between(&self, first: usize, second: usize) -> bool {
        let is_one = |statement: usize| statement == first || statement == second;
        let mut seen = vec![false; self.of.len()];
        let mut stack = vec![first, second];
        while let Some(statement) = stack.pop() {
            for next in self.members[statement].iter().flat_map(|at| &self.behind[*at]) {
                let next = self.of[*next];
                if next == statement || std::mem::replace(&mut seen[next], true) && !is_one(next) {
                    continue;
                }
                if is_one(next) {
                    if !is_one(statement) {
                        return true;
                    }
                } else {
                    stack.push(next);
                }
            }
        }
        false
    }

    /// Returns the statements in a valid order, the earliest in the text first.
    fn in_order(self) -> Vec<Vec<usize>> {
        let mut before = vec![0usize; self.of.len()];
        let after = |statement: usize| {
            let all = self.members[statement].iter().flat_map(|at| &self.behind[*at]);
            all.map(|at| self.of[*at]).filter(move |next| *next != statement)
        };
        for statement in 0..self.of.len() {
            after(statement).for_each(|next| before[next] += 1);
        }
        let is_ready = |statement: &usize| before[*statement] == 0 && !self.members[*statement].is_empty();
        let mut ready: BinaryHeap<Reverse<usize>> =
            (0..self.of.len()).filter(is_ready).map(Reverse).collect();
        let mut order = Vec::new();
        while let Some(Reverse(statement)) = ready.pop() {
            for next in after(statement) {
                before[next] -= 1;
                if before[next] == 0 {
                    ready.push(Reverse(next));
                }
            }
            order.push(self.members[statement].clone());
        }
        order
    }
}
