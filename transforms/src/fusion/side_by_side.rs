//! Two iterations of a fused loop at a time, where inner loops sum up one behind the other.
//!
//! ```text
//!     for i {                          for i by 2 {
//!       for j { s[i] += a[i][j] }        for j { s[i] += a[i][j]; s[i+1] += a[i+1][j] }
//!       for j { t[i] += f(s[i]) }        for j { t[i] += f(s[i]); t[i+1] += f(s[i+1]) }
//!     }                                }
//! ```
//!
//! A sum in order takes the latency of an addition for each element. Before fusion, a core begins
//! the sum of the next row while it ends this one. In the fused loop the next sum is another one
//! of the same row, which may need the first. Two rows at a time give the core a second sum to
//! work on.
//!
//! The fused loop must be the only loop in its sequence: as it takes two iterations at a time, no
//! other loop would fuse with it. The [cost](crate::cost) decides, and the judge examines the tree
//! as any other.

use loomir_ir::{Body, ValueDef};

use crate::access::base::Named;
use crate::assumption::{self, Assumption};
use crate::cost::{Cost, Estimate, Leaves, sums_up};
use crate::legality::{Approved, Checker, Verdict};
use crate::tree::{Green, HeaderId, LoopId, Mark, Node, Program, Red, TreeStore};

/// The part of the cycles that has to be saved. Estimates are no better.
const LEAST_SAVING: f64 = 0.1;

/// The most statements of a loop that is written twice.
const MAX_STATEMENTS: u32 = 200;

/// A tree in which a fused loop takes two iterations at a time.
pub(super) struct SideBySide {
    /// The place of that loop.
    cursor: Red,
    /// The first of the loops that it was fused from.
    pub(super) of: LoopId,
}

impl SideBySide {
    /// Returns such a tree, if there is such a loop in `root`.
    ///
    /// Cost: linear in the tree, and two estimates of a loop with sums.
    pub(super) fn find(
        (body, program, trees): (&Body, &Program, &mut TreeStore),
        root: Green,
        cost: &dyn Cost,
    ) -> Option<SideBySide> {
        let mut cursor = Red::of(root);
        while cursor.onwards(trees) {
            let node = cursor.node();
            let Some((of, header, inside)) = fused_only_loop(trees, &cursor) else { continue };
            let around = cursor.loop_context(program, trees);
            let within = around.inside(program, trees, header);
            let is_sum = |item: &Green| {
                let Node::Loop { header, .. } = trees.get(*item) else { return false };
                let mut origins = trees.header(header).origins.iter();
                origins.any(|origin| program.loop_info(origin.of).carried > 0)
                    || sums_up((body, program, trees), cost, *item, &within) == Some(true)
            };
            if trees.items(inside).filter(is_sum).count() < 2 {
                continue;
            }
            let Some(mut pairs) = trees.unrolled_and_jammed(program, node, 2) else { continue };
            if let [_, left] = &mut pairs[..] {
                *left = trees.marked(*left, Mark::Remainder);
            }
            let both = trees.sequence(&pairs);
            let Some(both) = trees.written(both) else { continue };
            let mut leaves = Leaves::default();
            let place = (body, program, &*trees);
            let mut cycles =
                |tree| Estimate::of(place, cost, tree, &around, &mut leaves).cycles(cost.machine());
            if cycles(both) < (1.0 - LEAST_SAVING) * cycles(node) {
                cursor.replace(trees, &pairs);
                return Some(SideBySide { cursor, of });
            }
        }
        None
    }

    /// Returns the tree if the judge approves it, with what it assumes. The check around the loop
    /// tests more for that, if there is one and arguments are all it has to test. It then has at
    /// most `max_tests`.
    pub(super) fn judged(
        mut self,
        (body, program, trees): (&Body, &Program, &mut TreeStore),
        checker: &Checker<'_>,
        max_tests: usize,
    ) -> Option<(Approved, Vec<Assumption>)> {
        let mut assumed = match checker.judge(trees, self.cursor.root()) {
            Ok(approved) => {
                let assumed = approved.assumed().to_vec();
                return Some((approved, assumed));
            }
            Err(Verdict::Legal { assumed }) => assumed,
            Err(_) => return None,
        };
        let is_argument = |name: &Named| match name.value().map(|value| body.def(value)) {
            Some(ValueDef::BlockArgument { block, .. }) => block == program.block,
            Some(_) => false,
            None => true,
        };
        let can_test =
            |own: &Assumption| matches!(own, Assumption::Apart(a, b) if is_argument(a) && is_argument(b));
        if !assumed.iter().all(can_test) {
            return None;
        }
        while self.cursor.up() {
            if let Node::Versioned { assumption, fast, fallback } = trees.get(self.cursor.node()) {
                let mut tests = trees.assumptions(assumption).to_vec();
                assumption::add(&mut tests, assumed.iter().cloned());
                if tests.len() > max_tests {
                    return None;
                }
                assumption::sort(&mut tests);
                let version = trees.versioned(tests, fast, fallback);
                self.cursor.replace(trees, &[version]);
                let approved = checker.judge(trees, self.cursor.root()).ok()?;
                assumption::sort(&mut assumed);
                return Some((approved, assumed));
            }
        }
        None
    }
}

/// Returns the first loop of those fused at the cursor, with the header and the body of the fused
/// loop. Nothing beside it or around it may be a loop or a conditional. Its inner loops, and the
/// conditionals in it, contain no loops.
fn fused_only_loop(trees: &TreeStore, cursor: &Red) -> Option<(LoopId, HeaderId, Green)> {
    let Node::Loop { header: id, body } = trees.get(cursor.node()) else { return None };
    let header = trees.header(id);
    let first = header.origins.first()?.of;
    let is_fused = header.origins.iter().any(|origin| origin.of != first);
    let is_plain = !header.parallel && header.mark.is_none() && trees.leaves(body) <= MAX_STATEMENTS;
    let contains_loops = |item: Green| match trees.get(item) {
        Node::Loop { body, .. } | Node::Guard { body, .. } => trees.any_loop(body, &|_| true),
        _ => false,
    };
    if !is_fused || !is_plain || trees.items(body).any(contains_loops) {
        return None;
    }
    let path: Vec<usize> = cursor.path().collect();
    let is_only = cursor.around().zip(path).all(|(node, at)| match trees.get(node) {
        Node::Versioned { .. } => at == 0,
        Node::Empty | Node::Sequence { .. } => {
            let mut beside = trees.items(node).enumerate().filter(|(place, _)| *place != at);
            beside.all(|(_, item)| matches!(trees.get(item), Node::Leaf { .. }))
        }
        _ => false,
    });
    is_only.then_some((first, id, body))
}
