//! The check of a tree: finds its changed part, and asks the questions about that part.
//!
//! If the tree and the program have the same loops around everything that differs, those loops keep
//! the order of their iterations. The difference is then judged within one iteration of them. Items
//! of a sequence that both have are judged only against items they are reordered with.
//!
//! **Assumptions.**
//! - Equal nodes are equal statements in equal iterations, so parts with the same order in both
//!   trees need no question. Tried with `tests/tests/all/legality.rs`: random edits judged, and the
//!   trees run.

use hashbrown::HashSet;
use loomir_ir::{Body, Op};
use loomir_polyhedra::Limits;

use super::atomic_updates::keep_whole;
use super::changed_region::{Alone, ChangedRegion};
use super::difference::Difference;
use super::scheduled::{Purpose, ScheduledStatement, leaves};
use super::{DependenceOracle, Instance, Verdict, Witness, coverage, order, reordered, scope};
use crate::access::base::{AliasMode, Bases};
use crate::access::dependence::Polyhedral;
use crate::access::{Dependence, LoopContext};
use crate::affine::AffineForm;
use crate::tree::{Arm, Green, LoopId, Node, Program, Reordered, StatementId, TreeStore};

/// Judges trees of one program.
///
/// ```
/// # use loomir_dialects as dialects;
/// # use loomir_ir::{Context, text};
/// # use loomir_transforms::access::base::AliasMode;
/// # use loomir_transforms::legality::{Checker, Verdict};
/// # use loomir_transforms::tree::{TreeStore, raise::raise};
/// # use loomir_polyhedra::Limits;
/// # let ctx = dialects::context();
/// let source = "
///     func.func @f(%a: memref<8xi32>, %x: i32, %y: i32) {
///       affine.for %i = 0 to 8 { affine.store %x, %a[%i] : memref<8xi32> }
///       affine.for %i = 0 to 8 { affine.store %y, %a[%i] : memref<8xi32> }
///       return
///     }";
/// # let mut module = text::parse(&ctx, source, "example.mlir").unwrap();
/// # let function: &_ = module.nested_in_order().remove(0);
/// # let block = function.blocks(function.own_regions(function.root()).next().unwrap()).next().unwrap();
/// let mut trees = TreeStore::default();
/// let program = raise(function, block, &mut trees, AliasMode::May);
/// // The loops in the other order: what the second one wrote would be overwritten.
/// let items: Vec<_> = trees.items(program.root).collect();
/// let swapped = trees.sequence(&[items[1], items[0]]);
/// let checker = Checker::new(function, &program, AliasMode::May, Limits::default());
/// let verdict = checker.check(&mut trees, swapped);
/// assert!(matches!(verdict, Verdict::Illegal(_)));
/// ```
pub struct Checker<'a> {
    body: &'a Body,
    pub(super) program: &'a Program,
    pub(super) alias: AliasMode,
    bases: Bases<'a>,
    /// Bases without assumptions that need a run-time check.
    sure: Bases<'a>,
    dependence: &'a dyn Dependence,
    limits: Limits,
    asks_of_all: bool,
}

impl<'a> Checker<'a> {
    /// Creates a checker for trees of `program`, whose operations are in `body`.
    pub fn new(body: &'a Body, program: &'a Program, alias: AliasMode, limits: Limits) -> Self {
        let bases = Bases::new(body, alias).testing_pointers();
        let sure = Bases::new(body, alias.untested());
        Checker { body, program, alias, bases, sure, dependence: &Polyhedral, limits, asks_of_all: false }
    }

    /// Asks about every pair of accesses instead of one pair of each kind. For tests: the verdict
    /// is the same, at quadratic cost in the number of accesses.
    #[doc(hidden)]
    pub fn asking_of_all(self) -> Self {
        Checker { asks_of_all: true, ..self }
    }

    /// Returns the same checker with another dependence test.
    pub fn with_dependence(self, dependence: &'a dyn Dependence) -> Self {
        Checker { dependence, ..self }
    }

    /// Checks if `tree`, a sequence, may replace the program. The verdict contains assumptions that
    /// the tree does not test itself.
    pub fn check(&self, trees: &mut TreeStore, tree: Green) -> Verdict {
        self.check_written(trees, tree).0
    }

    /// Returns the verdict on `tree`, and the tree as it is [written](TreeStore::written), in which
    /// values have to be visible.
    pub(super) fn check_written(&self, trees: &mut TreeStore, tree: Green) -> (Verdict, Green) {
        let Some(written) = trees.written(tree) else {
            return (Verdict::MayBeIllegal(Witness::Extent(self.body.root())), tree);
        };
        if written == self.program.root {
            return (Verdict::legal(), written);
        }
        let difference = self.changed(trees, tree);
        let verdict = match written == tree {
            true => self.verdict(trees, &difference, &difference),
            false => self.verdict(trees, &difference, &self.changed(trees, written)),
        };
        (verdict, written)
    }

    /// Returns the updates that `tree`, a legal one, may reorder, if their results have flags that
    /// may then be violated.
    pub fn reordered(&self, trees: &TreeStore, tree: Green) -> Reordered {
        let flagged = reordered::flagged(self.body, self.program);
        if tree == self.program.root || flagged.is_empty() {
            return Reordered::default();
        }
        let difference = self.changed(trees, tree);
        let depth = difference.loop_context.depth;
        let of_arm = |arm| {
            let items = difference.changed();
            match leaves(self.body, self.program, trees, items, depth, arm, Purpose::Order) {
                Ok(leaves) => reordered::steps(&self.part(trees, &difference, arm), &leaves, &flagged),
                Err(_) => flagged.clone(),
            }
        };
        Reordered { arms: [of_arm(Arm::Fast), of_arm(Arm::Fallback)] }
    }

    /// Returns the difference between the program and a tree.
    fn changed(&self, trees: &TreeStore, tree: Green) -> Difference<'a> {
        let innermost = self.difference(trees, tree, u32::MAX);
        if innermost.loop_context.depth == 0 {
            return innermost;
        }
        // If an edit inside of loops moves an instance to another iteration of these loops, it is
        // judged from the outside.
        let stays = |difference: &Difference<'_>| {
            let found = leaves(
                self.body,
                self.program,
                trees,
                difference.changed(),
                difference.loop_context.depth,
                Arm::Fast,
                Purpose::Order,
            );
            let depth = difference.loop_context.depth;
            found.is_ok_and(|leaves| {
                leaves.iter().all(|leaf| {
                    let around = leaf.map.iter().take(depth as usize);
                    leaf.map.len() >= depth as usize
                        && around.zip(0..).all(|(form, level)| *form == AffineForm::level(level))
                })
            })
        };
        if stays(&innermost) { innermost } else { self.difference(trees, tree, 0) }
    }

    /// Checks if `items` may replace the loop `of` of the program, all else unchanged. The loops
    /// around it are not visited, so the cost is linear in the contents of the loop, at any depth.
    /// The results of `handed_on` are assumed to be available at all their uses; the caller must
    /// ensure that.
    pub fn check_loop(
        &self,
        trees: &TreeStore,
        of: LoopId,
        items: &[Green],
        handed_on: &HashSet<Op>,
    ) -> Verdict {
        let info = self.program.loop_info(of);
        // Its results are used outside.
        if info.has_results() {
            return Verdict::MayBeIllegal(Witness::Carried(info.op));
        }
        let mut loop_context = LoopContext::around(self.program, trees, of);
        let mut outer = self.body.region_parent(self.body.block_region(self.program.block));
        for around in self.program.path(Some(of)) {
            let own = self.program.loop_info(around).op;
            // Surrounding conditionals are not represented.
            loop_context.exact &= own == outer || self.body.parent_op(own) == Some(outer);
            outer = own;
        }
        let (old, new) = (vec![info.green], items.to_vec());
        let alone = Some(Alone { op: info.op, handed_on });
        let difference = Difference { loop_context, inside: info.parent, old, new, same: (0, 0), alone };
        self.verdict(trees, &difference, &difference)
    }

    /// Returns the innermost sequences that differ, inside at most `depth` loops.
    fn difference(&self, trees: &TreeStore, tree: Green, depth: u32) -> Difference<'a> {
        let mut loop_context = LoopContext::outside(&self.program.surroundings);
        let (mut old, mut new, mut inside) = (self.program.root, tree, None);
        loop {
            let (a, b): (Vec<Green>, Vec<Green>) = (trees.items(old).collect(), trees.items(new).collect());
            let least = a.len().min(b.len());
            let first = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
            let last =
                a.iter().rev().zip(b.iter().rev()).take(least - first).take_while(|(x, y)| x == y).count();
            if let ([x], [y]) = (&a[first..a.len() - last], &b[first..b.len() - last])
                && let (Node::Loop { header, body: before }, Node::Loop { header: other, body: after }) =
                    (trees.get(*x), trees.get(*y))
                && header == other
                && loop_context.depth < depth
            {
                inside = trees.header(header).origins.first().map(|origin| origin.of);
                loop_context = loop_context.inside(self.program, trees, header);
                (old, new) = (before, after);
                continue;
            }
            return Difference { loop_context, inside, old: a, new: b, same: (first, last), alone: None };
        }
    }

    /// Judges the difference between the program and a tree, which is `written` with copies one
    /// after the other.
    fn verdict(&self, trees: &TreeStore, difference: &Difference<'_>, written: &Difference<'_>) -> Verdict {
        let depth = difference.loop_context.depth;
        let at =
            |arm| leaves(self.body, self.program, trees, difference.changed(), depth, arm, Purpose::Order);
        let mut fast = match at(Arm::Fast) {
            Ok(fast) => fast,
            Err(of) => return Verdict::MayBeIllegal(Witness::Extent(of)),
        };
        let whole = self.whole(trees, difference, Purpose::Cover);
        let own = (difference, written);
        let verdict = self.arm(trees, own, &mut fast, &whole, Arm::Fast);
        if fast.iter().all(|leaf| leaf.version.is_none()) {
            return verdict;
        }
        // The leaves of both arms of a large tree would take much memory together.
        let of_fast = self.versioned(&fast);
        drop(fast);
        let mut fallback = match at(Arm::Fallback) {
            Ok(fallback) => fallback,
            Err(of) => return verdict.or(Verdict::MayBeIllegal(Witness::Extent(of))),
        };
        let verdict = verdict.or(self.arm(trees, own, &mut fallback, &whole, Arm::Fallback));
        verdict.or(self.same_statements(&of_fast, &self.versioned(&fallback)))
    }

    /// Returns the leaves of the program in the part that differs from the tree.
    fn whole(
        &self,
        trees: &TreeStore,
        difference: &Difference<'_>,
        purpose: Purpose,
    ) -> Result<Vec<ScheduledStatement>, Op> {
        let (items, depth) = (difference.replaced(), difference.loop_context.depth);
        leaves(self.body, self.program, trees, items, depth, Arm::Fast, purpose)
    }

    /// Judges the tree with one arm of each versioned node.
    fn arm(
        &self,
        trees: &TreeStore,
        (difference, written): (&Difference<'_>, &Difference<'_>),
        leaves: &mut [ScheduledStatement],
        whole: &Result<Vec<ScheduledStatement>, Op>,
        arm: Arm,
    ) -> Verdict {
        let part = self.part(trees, difference, arm);
        let verdict = scope::check(&self.part(trees, written, arm), written, arm);
        let verdict = verdict.or(self.covered(&part, difference, whole, arm));
        if !verdict.is_legal() {
            return verdict;
        }
        let assumed = keep_whole(&part, leaves);
        verdict.or(Verdict::Legal { assumed }).or(order::check(&part, leaves))
    }

    /// Returns the judged part of a tree with one arm of each versioned node taken.
    fn part<'p>(
        &'p self,
        trees: &'p TreeStore,
        difference: &'p Difference<'p>,
        arm: Arm,
    ) -> ChangedRegion<'p> {
        ChangedRegion {
            body: self.body,
            program: self.program,
            trees,
            oracle: DependenceOracle {
                bases: if arm == Arm::Fast { &self.bases } else { &self.sure },
                dependence: self.dependence,
                limits: &self.limits,
                tested_before: None,
            },
            loop_context: &difference.loop_context,
            alone: difference.alone,
            asks_of_all: self.asks_of_all,
            places: difference.places(),
        }
    }

    /// Checks that each instance runs once. Values computed inside are treated as parameters only
    /// as a last resort, because a failure for some number need not occur for the actual one.
    fn covered(
        &self,
        part: &ChangedRegion<'_>,
        difference: &Difference<'_>,
        whole: &Result<Vec<ScheduledStatement>, Op>,
        arm: Arm,
    ) -> Verdict {
        let depth = difference.loop_context.depth;
        let judged = |whole: &Result<Vec<ScheduledStatement>, Op>, purpose| {
            let items = difference.changed();
            let leaves = leaves(self.body, self.program, part.trees, items, depth, arm, purpose);
            match (whole, leaves) {
                (Ok(whole), Ok(leaves)) => coverage::check(part, whole, &leaves),
                (Err(of), _) => Verdict::MayBeIllegal(Witness::Extent(*of)),
                (_, Err(of)) => Verdict::MayBeIllegal(Witness::Extent(of)),
            }
        };
        let verdict = judged(whole, Purpose::Cover);
        if !matches!(verdict, Verdict::MayBeIllegal(_)) {
            return verdict;
        }
        let within = self.whole(part.trees, difference, Purpose::CoverWithin);
        let within = judged(&within, Purpose::CoverWithin);
        if within.is_legal() { within } else { verdict }
    }

    /// Returns the statements of an arm, each with the number of its versioned node, sorted.
    /// Statements that only compute are left out.
    fn versioned(&self, leaves: &[ScheduledStatement]) -> Vec<(u32, StatementId)> {
        let mut all: Vec<(u32, StatementId)> =
            leaves.iter().filter_map(|leaf| Some((leaf.version?.0, leaf.statement))).collect();
        all.retain(|(_, id)| !self.program.statement(*id).is_pure(self.body));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Checks that both arms of each versioned node run the same statements. Then either arm may be
    /// taken.
    fn same_statements(&self, fast: &[(u32, StatementId)], fallback: &[(u32, StatementId)]) -> Verdict {
        let apart = fast.iter().zip(fallback).find(|(own, other)| own != other);
        let longer = if fast.len() > fallback.len() { fast } else { fallback };
        let more = longer.get(fast.len().min(fallback.len()));
        match apart.map(|(own, other)| own.min(other)).or(more) {
            Some((_, id)) => {
                let op = self.program.statement(*id).op();
                Verdict::Illegal(Witness::Lost(Instance::unknown(op)))
            }
            None => Verdict::legal(),
        }
    }
}
