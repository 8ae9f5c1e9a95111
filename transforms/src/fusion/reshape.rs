//! Reshaping: changes of one of two neighbours that let them fuse, or fuse at more levels.
//!
//! - *Interchange*: another loop of a perfect nest becomes the outermost. It is tried if the two
//!   nests do not fuse, or not at all common levels.
//! - *Reversal*: the first loop runs backwards. It is tried if the second cannot be changed.
//!   (Reversing or shifting the second is no reshaping, and is tried with any pair.)
//! - *Blocks*: a loop whose trip count is a multiple of the other's runs so many iterations at a
//!   time (`fusion/blocks.rs`). It is tried if the two loops do not fuse, or not at all common
//!   levels.
//! - *Any order*: a sequential loop beside a parallel one becomes parallel, if its iterations are
//!   independent. It is tried if the loops are of different kinds.
//! - *Distribution*: a loop becomes two, one of which is fused. It is tried if a dependence forbids
//!   fusing the whole loop. The cuts tried are those beside the statement in the
//!   [witness](crate::legality::Witness).
//!
//! Each change must be legal by itself. The [check](crate::legality::Checker::check_loop) of the
//! changed loop decides; a reversal of the second is legal because no two of its iterations depend
//! on each other. The fusion of the result is then judged like that of any other pair. Nothing is
//! reshaped without a fusion.
//!
//! **Assumptions.**
//! - Interchanges and cuts are judged by the check of whole trees, on the loop as it is in the
//!   program. Tried with `fixtures/fusion/interchange.mlir`, `distribution.mlir` and
//!   `reshaped_versioned.mlir`.
//!
//! **Cost.** A bounded number of shapes for each pair, each linear in the contents of the two
//! loops, and only if they share memory.

use hashbrown::HashSet;
use loomir_ir::{Body, Op};

use super::decision::{Change, Missed, Which};
use super::group::Group;
use super::schedule::Entry;
use super::{Alignment, Fusion, Plan};
use crate::access::LoopContext;
use crate::access::base::AliasMode;
use crate::assumption::Assumption;
use crate::distribution::pieces::Pieces;
use crate::legality::{Checker, Verdict};
use crate::tree::{Green, HeaderId, LoopId, Node, TreeStore};

/// The maximal number of levels that a loop may be moved outwards.
const LEVELS_MOVED: usize = 2;
/// The number of cuts tried from each end of a loop.
const CUTS_TRIED: usize = 3;

/// Neighbours of another shape.
#[derive(Default)]
pub(super) struct Reshaped {
    pub(super) change: Option<Change>,
    /// The replacement of the first loop.
    pub(super) first: Option<Box<Group>>,
    /// The replacement of the second loop.
    pub(super) second: Option<Box<Group>>,
    /// A part of the first loop that runs before the fused loop.
    pub(super) before: Option<Box<Group>>,
    /// A part of the second loop that runs behind the fused loop.
    pub(super) behind: Option<Box<Group>>,
}

impl Fusion<'_> {
    /// Plans the fusion of `second` with the group `first`, unchanged or reshaped.
    pub(super) fn plan_reshaped(
        &mut self,
        first: &Group,
        between: &mut [Entry],
        second: &Group,
        loop_context: &LoopContext,
    ) -> Result<Plan, Missed> {
        let plan = self.plan(first, between, second, loop_context);
        if matches!(plan, Err(Missed::DifferentKinds)) && first.parallel != second.parallel {
            return self.in_any_order(first, between, second, loop_context).ok_or(Missed::DifferentKinds);
        }
        let may_help = match &plan {
            Ok(_) => true,
            Err(missed) => missed.is_of_the_iterations(),
        };
        if !may_help || !first.shares_with(second) {
            return plan;
        }
        let depends_on_order = !plan.as_ref().is_err_and(Missed::is_of_any_order);
        if depends_on_order {
            let most = self.levels(first, &plan, loop_context);
            let in_blocks = self.in_blocks(first, between, second, most, loop_context);
            let most = in_blocks.as_ref().map_or(most, |(levels, _)| *levels);
            let interchanged = self.interchanged(first, between, second, most, loop_context);
            if let Some(plan) = interchanged.or(in_blocks.map(|(_, plan)| plan)) {
                return Ok(plan);
            }
        }
        let missed = match plan {
            Err(missed) if missed.verdict().is_some() => missed,
            plan => return plan,
        };
        if depends_on_order
            && let Some(backwards) = self.first_backwards(first, between, second, loop_context)
        {
            return Ok(backwards);
        }
        self.distributed(first, between, second, &missed, loop_context).ok_or(missed)
    }

    /// Returns the plan with one nest interchanged that fuses most levels, if these are more than
    /// `most`. Among equal plans smaller memory strides win.
    fn interchanged(
        &mut self,
        first: &Group,
        between: &mut [Entry],
        second: &Group,
        mut most: usize,
        loop_context: &LoopContext,
    ) -> Option<Plan> {
        let inside_both = [first, second].map(|group| self.nested(group.last_body()));
        let possible = 1 + inside_both[0].min(inside_both[1]);
        if most >= possible {
            return None;
        }
        let mut best: Option<(usize, Plan)> = None;
        for (which, group, inside) in
            [(Which::Second, second, inside_both[1]), (Which::First, first, inside_both[0])]
        {
            for inwards in 1..=inside.min(LEVELS_MOVED) {
                let Some((other, assumed)) = self.with_outermost(group, inwards, loop_context) else {
                    continue;
                };
                let pair = if which == Which::First { (&other, second) } else { (first, &other) };
                let plan = self.plan(pair.0, between, pair.1, loop_context);
                let levels = self.levels(pair.0, &plan, loop_context);
                let Ok(mut plan) = plan else { continue };
                let innermost = inside_both.map(|inside| loop_context.depth + inside as u32);
                let strides = pair.0.strides(innermost[0]) + pair.1.strides(innermost[1]);
                let is_better = levels > most
                    || levels == most && best.as_ref().is_some_and(|(others, _)| strides < *others);
                plan.assumed.extend(assumed);
                if !is_better || self.too_many_tests(first, &plan.assumed).is_some() {
                    continue;
                }
                let other = Some(Box::new(other));
                plan.reshaped = match which {
                    Which::First => Reshaped { first: other, ..Reshaped::default() },
                    Which::Second => Reshaped { second: other, ..Reshaped::default() },
                };
                plan.reshaped.change = Some(Change::Interchanged(which));
                most = levels;
                best = Some((strides, plan));
            }
        }
        best.map(|(_, plan)| plan)
    }

    /// Returns a group of one with another loop of its nest outermost, and the arguments assumed
    /// distinct for that.
    fn with_outermost(
        &mut self,
        group: &Group,
        inwards: usize,
        loop_context: &LoopContext,
    ) -> Option<(Group, Vec<Assumption>)> {
        let (item, of) = group.untouched(self.program, self.trees)?;
        let raised = self.program.loop_info(of).green;
        let judged = self.trees.outermost(self.program, raised, inwards)?;
        let assumed = self.is_legal(of, &[judged], self.alias)?;
        let item = self.trees.outermost(self.program, item, inwards)?;
        Some((group.replaced(item, self.body, self.program, self.trees, loop_context)?, assumed))
    }

    /// Returns the plan with the sequential one of two loops run in any order, as the other is.
    fn in_any_order(
        &mut self,
        first: &Group,
        between: &mut [Entry],
        second: &Group,
        loop_context: &LoopContext,
    ) -> Option<Plan> {
        let (which, group) = if first.parallel { (Which::Second, second) } else { (Which::First, first) };
        let (item, of) = group.untouched(self.program, self.trees)?;
        let raised = self.program.loop_info(of).green;
        let judged = self.trees.with_order(self.program, raised, true)?;
        let assumed = self.is_legal(of, &[judged], self.alias)?;
        let item = self.trees.with_order(self.program, item, true)?;
        let other = group.replaced(item, self.body, self.program, self.trees, loop_context)?;
        let pair = if which == Which::First { (&other, second) } else { (first, &other) };
        let mut plan = self.plan(pair.0, between, pair.1, loop_context).ok()?;
        plan.assumed.extend(assumed);
        if self.too_many_tests(first, &plan.assumed).is_some() {
            return None;
        }
        let other = Some(Box::new(other));
        plan.reshaped = match which {
            Which::First => Reshaped { first: other, ..Reshaped::default() },
            Which::Second => Reshaped { second: other, ..Reshaped::default() },
        };
        plan.reshaped.change = Some(Change::InAnyOrder(which));
        Some(plan)
    }

    /// Returns the assumptions under which `items` may run instead of a loop of the program. `None`
    /// if this is illegal.
    fn is_legal(&self, of: LoopId, items: &[Green], alias: AliasMode) -> Option<Vec<Assumption>> {
        let checker = Checker::new(self.body, self.program, alias, self.options.limits);
        let checker = checker.with_dependence(&*self.options.analyses.dependence);
        match checker.check_loop(self.trees, of, items, &HashSet::new()) {
            Verdict::Legal { assumed } => Some(assumed),
            _ => None,
        }
    }

    /// Returns the number of perfectly nested loops in a body.
    fn nested(&self, body: Green) -> usize {
        std::iter::successors(only_loop(self.trees, body), |(_, body)| only_loop(self.trees, *body)).count()
    }

    /// Returns the number of levels at which two nests fuse, the outermost with `plan`, the inner
    /// ones unchanged.
    pub(super) fn levels(
        &mut self,
        first: &Group,
        plan: &Result<Plan, Missed>,
        loop_context: &LoopContext,
    ) -> usize {
        let Ok(plan) = plan else { return 0 };
        let inside = first.inside(self.program, self.trees, loop_context);
        let bodies = [first.last_body(), plan.joined.body()].map(|body| only_loop(self.trees, body));
        let [Some((a, _)), Some((b, _))] = bodies else { return 1 };
        let group = |item| Group::of(self.body, self.program, self.trees, item, &inside);
        let (Some(a), Some(b)) = (group(a), group(b)) else { return 1 };
        let plan = self.plan(&a, &mut [], &b, &inside);
        1 + self.levels(&a, &plan, &inside)
    }

    /// Returns the plan with the first loop reversed, if it may run in any order. Reversal of the
    /// second loop is tried with every pair.
    fn first_backwards(
        &mut self,
        first: &Group,
        between: &mut [Entry],
        second: &Group,
        loop_context: &LoopContext,
    ) -> Option<Plan> {
        first.untouched(self.program, self.trees)?;
        if !first.fit(second, (self.body, self.program), loop_context).is_ok_and(|fit| fit.same)
            || first.parallel
        {
            return None;
        }
        let Verdict::Legal { assumed } = self.merged(first, first, 0, loop_context) else { return None };
        let mirrored = first.reverse(self.program, self.trees, self.body, loop_context)?;
        // Then the second loop gives the fused loop its form.
        let plan = self.plan(&mirrored, between, second, loop_context).ok();
        let mut plan = plan.filter(|plan| matches!(plan.way, Alignment::AsItIs))?;
        plan.assumed.extend(assumed);
        plan.reshaped.first = Some(Box::new(mirrored));
        plan.reshaped.change = Some(Change::Backwards);
        Some(plan)
    }

    /// Returns the plan that fuses a part of one loop with the other. The part, from either end,
    /// excludes the statement at fault.
    fn distributed(
        &mut self,
        first: &Group,
        between: &mut [Entry],
        second: &Group,
        missed: &Missed,
        loop_context: &LoopContext,
    ) -> Option<Plan> {
        let (of_first, of_second) = missed.at_fault()?;
        for (which, group, fault) in [(Which::Second, second, of_second), (Which::First, first, of_first)] {
            let untouched = group.untouched(self.program, self.trees).filter(|_| !group.has_part);
            let Some((item, of)) = untouched else { continue };
            let Some(cutting) = self.cutting(which, item, of) else { continue };
            for takes_head in [which == Which::Second, which == Which::First] {
                let mut fault = fault;
                for _ in 0..CUTS_TRIED {
                    let Some(at) = cutting.beside(self.body, fault, takes_head) else { break };
                    let Some((part, rest, assumed)) = self.cut(&cutting, at, takes_head, loop_context) else {
                        break;
                    };
                    let pair = if which == Which::First { (&part, second) } else { (first, &part) };
                    if !pair.0.shares_with(pair.1) {
                        break;
                    }
                    match self.plan(pair.0, between, pair.1, loop_context) {
                        Ok(mut plan) => {
                            plan.assumed.extend(assumed);
                            let (part, rest) = (Some(Box::new(part)), Some(Box::new(rest)));
                            plan.reshaped = match which {
                                Which::First => Reshaped { first: part, before: rest, ..Reshaped::default() },
                                Which::Second => {
                                    Reshaped { second: part, behind: rest, ..Reshaped::default() }
                                }
                            };
                            let begins = cutting.begin_of_rest(at, takes_head).unwrap_or(fault);
                            plan.reshaped.change = Some(Change::Distributed(which, begins));
                            return Some(plan);
                        }
                        Err(missed) => match (missed.at_fault(), which) {
                            (Some((next, _)), Which::First) | (Some((_, next)), Which::Second) => {
                                fault = next
                            }
                            (None, _) => break,
                        },
                    }
                }
            }
        }
        None
    }

    /// Returns a loop to distribute, with its possible cuts. `None` if there is no place for a cut.
    fn cutting(&self, which: Which, item: Green, of: LoopId) -> Option<Cutting> {
        let raised = self.program.loop_info(of).green;
        let pieces = |tree| match self.trees.get(tree) {
            Node::Loop { header, body } => {
                Some((header, Pieces::of(self.body, self.program, self.trees, body)))
            }
            _ => None,
        };
        let raised = pieces(raised)?;
        let cuts = raised.1.open_cuts();
        if cuts.is_empty() {
            return None;
        }
        Some(Cutting { which, of, raised, item: pieces(item)?, cuts })
    }

    /// Splits a loop at a cut into a part and a remainder, if distribution is legal. The remainder
    /// of the first of two neighbours runs before the part, that of the second behind. Also returns
    /// the arguments assumed to be distinct.
    fn cut(
        &mut self,
        cutting: &Cutting,
        at: usize,
        takes_head: bool,
        loop_context: &LoopContext,
    ) -> Option<(Group, Group, Vec<Assumption>)> {
        let trees = &mut *self.trees;
        let mut in_two = |(header, pieces): &(HeaderId, Pieces)| {
            let (head, tail) = (0..at, at..pieces.len());
            let (part, rest) = if takes_head { (head, tail) } else { (tail, head) };
            [part, rest].map(|range| {
                let body = pieces.part(trees, range);
                trees.with_header(*header, body)
            })
        };
        let (mut judged, [part, rest]) = (in_two(&cutting.raised), in_two(&cutting.item));
        if cutting.which == Which::First {
            judged.reverse();
        }
        // A loop that is not fused is not versioned, so it gets no run-time check.
        let assumed = self.is_legal(cutting.of, &judged, self.alias.untested())?;
        let group = |item| Group::of(self.body, self.program, self.trees, item, loop_context);
        Some((group(part)?, group(rest)?, assumed))
    }
}

/// One of two neighbours to distribute.
struct Cutting {
    which: Which,
    of: LoopId,
    /// Its header and pieces in the program.
    raised: (HeaderId, Pieces),
    /// The loop's header and its pieces.
    item: (HeaderId, Pieces),
    /// The possible cuts.
    cuts: Vec<usize>,
}

impl Cutting {
    /// Returns the cut nearest to an operation that leaves the operation out of the part.
    fn beside(&self, ir: &Body, fault: Op, takes_head: bool) -> Option<usize> {
        let pieces = &self.item.1;
        let piece = pieces.holding(ir, fault)?.0;
        match takes_head {
            true => self.cuts.iter().rev().find(|at| **at <= piece).copied(),
            false => self.cuts.iter().find(|at| **at > piece).copied(),
        }
    }

    /// Returns the first operation of the remainder.
    fn begin_of_rest(&self, at: usize, takes_head: bool) -> Option<Op> {
        let pieces = &self.item.1;
        let rest = if takes_head { at..pieces.len() } else { 0..at };
        pieces.first_effect(rest).map(|piece| pieces.op(piece))
    }
}

/// Returns the only loop of a body, with its own body.
fn only_loop(trees: &TreeStore, body: Green) -> Option<(Green, Green)> {
    let only = trees.only_item(body)?;
    match trees.get(only) {
        Node::Loop { body, .. } => Some((only, body)),
        _ => None,
    }
}
