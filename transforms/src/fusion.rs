//! Loop fusion: neighbouring counted loops become one.
//!
//! Fusion proceeds level by level from the outside. In each sequence of the loop tree, a loop is
//! tried with the loops before it. If [`legality`] finds every dependence kept, the second loop's
//! body is put behind the first's, and the fused loop is tried with the next one (a cascade).
//! Neighbouring conditionals with one condition are merged. Then the bodies of loops and
//! conditionals are treated the same way. Operations between two loops are hoisted before the
//! first, or the second loop is moved over them, if legal (`fusion/make_adjacent.rs`). A loop is
//! therefore tried with the nearest few before it.
//!
//! If fusion would reverse a dependence, the second loop is shifted by enough iterations to keep
//! it. Iterations that the loops do not share run separately, before and after the fused loop
//! (`fusion/group.rs`). Lower bounds may differ by a value of the program (`fusion/moved.rs`). If
//! no shift helps, and the second loop may run in any order, it is reversed. Else one of the two is
//! interchanged, run in blocks, or distributed, if that is legal and lets them fuse
//! (`fusion/reshape.rs`). Parallel loops are fused only if the iterations of
//! both together may run in any order, so that they stay parallel. Counting `scf.while` loops are
//! counted loops ([`while_to_for`](crate::while_to_for)).
//!
//! Among legal fusions the [cost model](crate::cost) decides: it takes the grouping of a sequence
//! with the greatest saving (`fusion/partition.rs`). Alternatively each loop is fused with the
//! nearest. A fused loop whose sums wait for each other takes two iterations at a time
//! (`fusion/side_by_side.rs`).
//!
//! All choices for a block are [judged](legality::Checker::judge) as a whole before they are
//! written. If the judge does not approve them, the block stays unchanged.
//!
//! Every refusal gets a remark with the reason, under the names of LLVM's `loop-fusion`.
//!
//! **Assumptions.**
//! - Equal bounds include equal steps and types: they are equal only if the loops are. Tried with
//!   `fixtures/fusion/iteration_spaces.mlir` and `widths.mlir`.
//! - Remarks and costs select among several legal programs. They never decide legality.
//!
//! **Cost.** Each loop is summarised once a level; a pair costs its pairs of access classes on
//! objects that may overlap (see [`nest`](crate::tree::access_summary)). The changed part of a
//! block is written once, at the end.
//!
//! # Limits
//!
//! - Fuses loops of one kind, or `scf.for` with `affine.for`. A parallel loop is fused with
//!   parallel loops, and with a loop of its dialect whose iterations are independent. With results,
//!   all dimensions of an operation are fused, or none (`fusion/reductions.rs`). Steps may
//!   differ if both trip counts are the same constant. If the trip counts differ, the lower bounds
//!   must differ by a constant, or both steps must be one.
//! - Runs several iterations of one loop for each of the other only if both trip counts are
//!   constants (`fusion/blocks.rs`).
//! - Shifts the second loop only, by the least legal distance or by the elements of one vector
//!   more. Runs one of two loops in reverse. Peels iterations that only one loop has.
//! - Interchanges one of two perfect nests, if no bound depends on a loop inside the nest.
//! - Distributes one of two loops, beside the statements that a witness names, a bounded number of
//!   times.
//! - A loop with `iter_args` keeps its order. Its remainder is peeled only if one of its statements
//!   runs in each iteration, and the loop is not distributed.

use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use loomir_ir::pass::{EditLimit, Progress};
use loomir_ir::{Body, Diagnostics, Loc, Op, Value};
use loomir_polyhedra::Limits;

use crate::access::base::{AliasMode, Bases};
use crate::access::callees::Callees;
use crate::access::{Analyses, LoopContext};
use crate::assumption::MAX_TESTS;
use crate::assumption::{self, Assumption};
use crate::cost::{Cost, OnMachine, Saving, StaticCost, Work};
use crate::legality::{self, DependenceOracle, QUESTION, Verdict};
use crate::marks;
use crate::regenerate::extents::Reached;
use crate::tree::{Green, If, Program, TreeStore};
use decision::Missed;
use group::{Fit, Group, Joined};
use make_adjacent::Cleared;
use pair::Only;
use reshape::Reshaped;
use schedule::Entry;
use versioned_region::Segment;

pub use pair::fuse_pair;
pub use pass::PASS;
pub use rounds::fuse;
pub use whole_memrefs::read_as_loops;

mod blocks;
mod concatenate;
mod decision;
mod footprint;
mod group;
mod grouping;
mod guard;
mod make_adjacent;
mod moved;
mod others;
mod pair;
mod partition;
mod pass;
mod reductions;
mod remarks;
mod reshape;
mod rounds;
mod schedule;
mod search;
mod side_by_side;
mod times;
mod versioned_region;
mod whole_memrefs;

/// The options of fusion.
#[derive(Clone, Debug)]
pub struct Options {
    /// The alias assumption about unknown memrefs.
    pub alias: AliasMode,
    /// The limits on one question of legality.
    pub limits: Limits,
    /// The analyses.
    pub analyses: Analyses,
    /// The maximal shift of the second of two loops in iterations, to keep a dependence.
    pub max_shift: i64,
    /// Shifts are rounded up to a multiple of this, if the maximum shift allows it. Dependent
    /// iterations are then about that far apart, so that as many iterations of the fused loop may
    /// run at once as vectors. If 1, the costs choose between the least shift and one larger by a
    /// block, the elements of a vector. The larger one may exceed `max_shift`.
    pub shift_multiple: i64,
    /// The maximal number of run-time checks before one fused loop.
    pub max_tests: usize,
    /// The maximal number of rounds for one function. The loops that one round fused may fuse
    /// further in the next round.
    pub max_rounds: usize,
    /// True to report each fusion and each refusal with its reason. Errors are always reported.
    pub remarks: bool,
    /// The choice among legal fusions: `cost` (largest saving) or `always`.
    pub profitability: Profitability,
    /// The cost model, if profitability needs one.
    pub cost: Arc<dyn Cost>,
    /// True if a fused loop with several sums behind one another may take two iterations at a time,
    /// as costs decide.
    pub unroll_and_jam: bool,
    /// The limit on fusions. At the limit, a sequence fuses only the first of its loops.
    pub edits: EditLimit,
    /// The functions that fusion begins with are said here.
    pub progress: Progress,
}

/// The choice among legal fusions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Profitability {
    /// The fusions with the greatest saving.
    #[default]
    Cost,
    /// Each loop is fused with the nearest legal one.
    Always,
}

impl FromStr for Profitability {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "cost" => Ok(Profitability::Cost),
            "always" => Ok(Profitability::Always),
            _ => Err(format!("'{text}' is neither 'cost' nor 'always'")),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            alias: AliasMode::default(),
            limits: QUESTION,
            analyses: Analyses::default(),
            max_shift: 8,
            shift_multiple: 1,
            max_tests: MAX_TESTS,
            max_rounds: rounds::MAX_ROUNDS,
            remarks: true,
            profitability: Profitability::default(),
            cost: Arc::new(StaticCost::default()),
            unroll_and_jam: true,
            edits: EditLimit::default(),
            progress: Progress::default(),
        }
    }
}

/// The report of a fusion.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// A remark for each pair that was fused or refused, in the order of the attempts. Empty if
    /// remarks are not wanted.
    pub remarks: Diagnostics,
    /// The number of pairs that were fused.
    pub fused: usize,
    /// The number of pairs that were refused.
    pub refused: usize,
    /// The assumptions that were made, or are tested at run time.
    pub assumed: Vec<Assumption>,
    /// The statistics of choosing fusions.
    pub choice: Choice,
    /// True if loops or conditionals are still neighbours. Otherwise nothing is left to fuse.
    pub has_neighbours: bool,
    /// The names of the values that the assumptions are about.
    names: HashMap<Value, String>,
    /// True if a round changed the function.
    changed: bool,
}

impl Report {
    /// Adds the report about another function.
    pub fn append(&mut self, other: Report) {
        self.remarks.append(other.remarks);
        self.fused += other.fused;
        self.refused += other.refused;
        self.choice.add(other.choice);
        self.has_neighbours |= other.has_neighbours;
        self.changed |= other.changed;
    }
}

/// The statistics of choosing fusions in sequences.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Choice {
    /// Sequences of two loops or more for which no other grouping saves more.
    pub optimal: usize,
    /// Sequences with too many loops for an exhaustive search.
    pub bounded: usize,
    /// Sequences in which fusing each loop with the nearest was not best.
    pub regrouped: usize,
    /// Further groupings examined, or beginnings of groupings.
    pub steps: usize,
}

impl Choice {
    fn add(&mut self, other: Choice) {
        self.optimal += other.optimal;
        self.bounded += other.bounded;
        self.regrouped += other.regrouped;
        self.steps += other.steps;
    }
}

/// Fusion of the loops of one program.
struct Fusion<'a> {
    body: &'a Body,
    program: &'a Program,
    trees: &'a mut TreeStore,
    /// The alias mode here. Inside a run-time check nothing more is tested.
    alias: AliasMode,
    assumed: Bases<'a>,
    /// Bases without assumptions that need a run-time check.
    sure: Bases<'a>,
    options: &'a Options,
    /// The costs on the machine that the function is compiled for.
    cost: OnMachine<'a>,
    report: Report,
    /// The run-time checks for fused loops inside the current [segment](segment) of an outermost
    /// sequence.
    tests: Vec<Assumption>,
    /// The operations of that segment, if it has several entries. Their results cannot be tested
    /// before the segment.
    inside: Option<HashSet<Op>>,
    /// The original items of that segment.
    originals: Vec<Green>,
    /// The bytes that loops access behind pointers.
    reached: Reached,
    /// True if operations between loops may be reordered with them under run-time checks.
    assumes_swaps: bool,
    /// The works of loops, by their depth.
    works: HashMap<(Green, u32), Rc<Work>>,
    /// The only two loops to fuse, if requested.
    only: Option<Only>,
    /// The places of the fusions done in this block. They count once they are written.
    done: Vec<Loc>,
    /// The maximal number of fusions in a sequence, if there is a limit.
    most: Option<usize>,
    /// Original loops behind a run-time check in which nothing may be fused.
    settled: HashSet<Green>,
    /// True between the dimensions of a parallel loop with results, which fuse at any cost.
    at_any_cost: bool,
}

impl<'a> Fusion<'a> {
    fn new(
        body: &'a Body,
        program: &'a Program,
        trees: &'a mut TreeStore,
        options: &'a Options,
    ) -> Fusion<'a> {
        Fusion {
            body,
            program,
            trees,
            alias: options.alias,
            assumed: Bases::new(body, options.alias).testing_pointers(),
            sure: Bases::new(body, options.alias.untested()),
            options,
            cost: OnMachine::of_function(&*options.cost, body),
            report: Report::default(),
            tests: Vec::new(),
            inside: None,
            originals: Vec::new(),
            reached: Reached::default(),
            assumes_swaps: true,
            works: HashMap::new(),
            only: None,
            done: Vec::new(),
            most: None,
            settled: HashSet::new(),
            at_any_cost: options.profitability == Profitability::Always,
        }
    }
}

impl<'a> Fusion<'a> {
    /// Returns the bases with the current assumptions.
    fn bases(&self) -> &Bases<'a> {
        if self.alias == self.options.alias { &self.assumed } else { &self.sure }
    }

    /// Returns the summaries of called functions.
    fn callees(&self) -> &Callees {
        &self.options.analyses.callees
    }

    /// Fuses the loops of a sequence, then the loops inside them. Recurses once a loop or
    /// conditional. Their nesting depth is bounded when they are raised.
    fn sequence(&mut self, sequence: Green, loop_context: &LoopContext) -> Green {
        let items = self.trees.with_ifs(sequence);
        let segments = self.choose(&items, loop_context);
        self.remark_on_others(&segments);
        let mut done: Vec<Green> = Vec::new();
        for segment in segments {
            self.finish_segment(segment, loop_context, &mut done);
        }
        self.trees.sequence(&done)
    }

    /// Adds the result of a segment to `done`. Its run-time checks come before it, unless it is
    /// inside a loop or another segment; then they come before that.
    fn finish_segment(&mut self, segment: Segment, loop_context: &LoopContext, done: &mut Vec<Green>) {
        if loop_context.depth > 0 || self.inside.is_some() {
            return segment
                .entries
                .into_iter()
                .for_each(|entry| self.finish_entry(entry, loop_context, done));
        }
        self.inside = segment.operations();
        self.originals.clone_from(&segment.originals);
        let mut fast = Vec::new();
        for entry in segment.entries {
            self.finish_entry(entry, loop_context, &mut fast);
        }
        self.inside = None;
        self.originals.clear();
        let mut tests = std::mem::take(&mut self.tests);
        assumption::sort(&mut tests);
        self.report.assumed.extend_from_slice(&tests);
        if tests.is_empty() || self.alias != AliasMode::Version {
            return done.extend(fast);
        }
        let fast = self.trees.sequence(&fast);
        let fallback = self.fallback(&segment.originals, &tests, loop_context);
        done.push(self.trees.versioned(tests, fast, fallback));
    }

    /// Returns the original items of a segment, fused where no run-time check is needed. Adds no
    /// remarks.
    fn fallback(&mut self, originals: &[Green], tests: &[Assumption], loop_context: &LoopContext) -> Green {
        let (report, alias) = (std::mem::take(&mut self.report), self.alias);
        self.alias = alias.untested();
        let originals = self.trees.sequence(originals);
        let fallback = self.sequence(originals, loop_context);
        (self.report, self.alias) = (report, alias);
        // An overlap of two buffers is no fact that could help to fuse these loops; a relation of
        // numbers may be.
        if fallback == originals && tests.iter().all(|test| matches!(test, Assumption::Apart(..))) {
            self.settled.insert(fallback);
        }
        fallback
    }

    fn finish_entry(&mut self, entry: Entry, loop_context: &LoopContext, done: &mut Vec<Green>) {
        match entry {
            Entry::Statement(item, _) => done.push(item),
            Entry::If(conditional, _) => self.finish_if(conditional, loop_context, done),
            Entry::Group(group) => self.finish(Rc::unwrap_or_clone(group), loop_context, done),
        }
    }

    /// Adds the guards of a conditional to `done`, with the loops inside them fused.
    fn finish_if(&mut self, conditional: If, loop_context: &LoopContext, done: &mut Vec<Green>) {
        let If { of, map, bodies } = conditional;
        let alias = self.alias;
        let is_version = self.body.attr(self.program.if_info(of).op, marks::VERSIONED).is_some();
        if is_version {
            self.alias = alias.untested();
        }
        let mut sides = bodies.into_iter().zip([true, false]).map(|(body, holds)| {
            let loop_context = loop_context.guarded(self.program, self.trees, (of, map), holds);
            let said = self.report.remarks.len();
            let body = body.map(|body| self.sequence(body, &loop_context));
            if is_version && !holds {
                // The remarks about the original loops predate the check.
                self.report.remarks.retain_from(said, |own| own.is_passed());
            }
            body
        });
        let bodies = [sides.next().flatten(), sides.next().flatten()];
        self.alias = alias;
        done.extend(self.trees.guards(If { of, map, bodies }));
    }

    /// Adds the loops of a group to `done`, with fusion inside the fused loop. The peeled loops
    /// before and after it have few iterations and stay unchanged.
    fn finish(&mut self, group: Group, loop_context: &LoopContext, done: &mut Vec<Green>) {
        let loop_context = &loop_context.with_facts(group.assumed.iter().flat_map(Assumption::facts));
        assumption::add(&mut self.tests, group.assumed.iter().cloned());
        let parts = group.into_parts(self.trees);
        done.extend(parts.before);
        done.push(self.finish_inside(parts.fused, loop_context));
        done.extend(parts.after);
    }

    /// Plans the fusion of `second` with the group `first`, given the entries between them. The
    /// plan is valid for all run-time numbers.
    fn plan(
        &mut self,
        first: &Group,
        between: &mut [Entry],
        second: &Group,
        loop_context: &LoopContext,
    ) -> Result<Plan, Missed> {
        self.plan_if(None, first, between, second, loop_context)
    }

    /// Plans their fusion under a run-time condition on numbers. If there is no such condition, the
    /// error is the reason `missed` of the unconditional plan.
    fn plan_assuming(
        &mut self,
        first: &Group,
        between: &mut [Entry],
        second: &Group,
        loop_context: &LoopContext,
        missed: Missed,
    ) -> Result<Plan, Missed> {
        let is_symbolic = |group: &Group| group.footprint.nest.symbolic;
        let may_help = self.alias == AliasMode::Version
            && missed.is_of_the_iterations()
            && [first, second].into_iter().any(is_symbolic)
            && first.is_small()
            && second.is_small()
            && first.shares_with(second);
        if !may_help {
            return Err(missed);
        }
        let as_it_is = self.plan_if(Some(Vec::new()), first, between, second, loop_context);
        let equally_long = || {
            let (extent, gap) = first.gap(second, self.program, loop_context)?;
            legality::assumed_zero(&gap, &[extent], loop_context, self.program, &self.options.limits)
        };
        let plan = match as_it_is {
            Err(Missed::TooManyAssumptions(_)) | Ok(_) => as_it_is,
            Err(_) => match equally_long() {
                Some(equal) => self.plan_if(Some(vec![equal]), first, between, second, loop_context),
                None => return Err(missed),
            },
        };
        match plan {
            Ok(plan) if self.can_be_tested(&plan.assumed) => Ok(plan),
            Err(other @ Missed::TooManyAssumptions(_)) => Err(other),
            _ => Err(missed),
        }
    }

    /// Plans the same with equal times of both loops at once, or the second shifted.
    fn plan_aligned(
        &mut self,
        assumed: Option<Vec<Assumption>>,
        first: &Group,
        between: &mut [Entry],
        second: &Group,
        loop_context: &LoopContext,
    ) -> Result<Plan, Missed> {
        let tests_numbers = assumed.is_some();
        let mut assumed = assumed.unwrap_or_default();
        let known = first.assumed.iter().chain(&assumed);
        let (around, loop_context) =
            (loop_context, &loop_context.with_facts(known.flat_map(Assumption::facts)));
        let mut fit = first.fit(second, (self.body, self.program), loop_context)?;
        if let Some(user) = self.user_of(first, second) {
            return Err(Missed::UsesResult(user));
        }
        for entry in between.iter_mut() {
            entry.summarise(self.body, self.program, self.trees, loop_context);
        }
        // Reordering must be legal without the assumptions about iterations.
        let cleared = self.make_adjacent(&first.footprint, &second.footprint, between, around, self.swaps());
        let Cleared { hoisted, swapped, assumed: more } = cleared.map_err(Missed::NonAdjacent)?;
        assumption::add(&mut assumed, more);
        let judge = |fusion: &Self, a: &Group, b: &Group| match tests_numbers {
            true => fusion.merged_assuming(a, b, loop_context),
            false => fusion.merged(a, b, 0, loop_context),
        };
        let (way, missed) = match judge(self, first, second) {
            Verdict::Legal { assumed: more } => {
                assumption::add(&mut assumed, more);
                // For parallel loops, test both orders: the second loop's iteration may come
                // earlier or later than the first's.
                if first.parallel && second.parallel {
                    match judge(self, second, first) {
                        Verdict::Legal { assumed: more } => assumption::add(&mut assumed, more),
                        verdict => return Err(Missed::InOrder(verdict.swapped())),
                    }
                }
                (Alignment::AsItIs, Missed::CannotBeCut)
            }
            verdict if !verdict.depends_on_order() => return Err(Missed::Dependences(verdict)),
            verdict => {
                let way = self.later_or_backwards((first, second), &mut fit, loop_context, &mut assumed);
                (way.ok_or_else(|| Missed::Dependences(verdict.clone()))?, Missed::Dependences(verdict))
            }
        };
        if let Some(tested) = self.too_many_tests(first, &assumed) {
            return Err(match tests_numbers {
                true => Missed::TooManyAssumptions(tested),
                false => Missed::TooManyTests(tested),
            });
        }
        let context = (self.body, self.program, &mut *self.trees);
        let joined = match &way {
            Alignment::AsItIs => first.align(second, fit, 0, context, loop_context),
            Alignment::Later { least, block } => {
                let mut joined = first.align(second, fit, least + block, context, loop_context);
                joined.iter_mut().for_each(|joined| joined.block = *block);
                joined
            }
            Alignment::Backwards(mirrored) => first.align(mirrored, fit, 0, context, loop_context),
        };
        let joined = joined.ok_or_else(|| match missed {
            Missed::CannotBeCut if first.is_beside(second, loop_context) => Missed::NoCommonIterations,
            missed => missed,
        })?;
        Ok(Plan { way, assumed, joined, hoisted, swapped, reshaped: Reshaped::default() })
    }

    /// Returns the shift of the second loop, or else its reversal, that keeps a dependence. A
    /// shifted loop no longer has the iterations of the first.
    fn later_or_backwards(
        &mut self,
        (first, second): (&Group, &Group),
        fit: &mut Fit,
        loop_context: &LoopContext,
        assumed: &mut Vec<Assumption>,
    ) -> Option<Alignment> {
        let shift = match fit.may_be_shifted {
            true => self.best_shift(first, second, loop_context, assumed),
            false => None,
        };
        let way = match shift {
            Some((least, block)) => Some(Alignment::Later { least, block }),
            None if fit.same && !second.parallel => self.reverse(first, second, loop_context, assumed),
            None => None,
        };
        fit.same &= shift.is_none();
        way
    }

    /// True if no assumption is about values computed in the current segment.
    fn can_be_tested(&self, assumed: &[Assumption]) -> bool {
        self.inside.as_ref().is_none_or(|ops| !versioned_region::tests_any_of(self.body, assumed, ops))
    }

    /// Returns the number of run-time checks before `first` with these assumptions, if it exceeds
    /// the limit.
    fn too_many_tests(&self, first: &Group, assumed: &[Assumption]) -> Option<usize> {
        let mut all = first.assumed.clone();
        assumption::add(&mut all, assumed.iter().cloned());
        (self.alias == AliasMode::Version && all.len() > self.options.max_tests).then_some(all.len())
    }

    /// As [`Fusion::merged`], without a shift, where numbers may be tested at run time.
    fn merged_assuming(&self, first: &Group, second: &Group, loop_context: &LoopContext) -> Verdict {
        let oracle = DependenceOracle { tested_before: Some(self.program), ..self.oracle(self.bases()) };
        legality::merged(&first.footprint.nest, &second.footprint.nest, 0, loop_context, &oracle)
    }

    fn merged(&self, first: &Group, second: &Group, shift: i64, loop_context: &LoopContext) -> Verdict {
        legality::merged(
            &first.footprint.nest,
            &second.footprint.nest,
            shift,
            loop_context,
            &self.oracle(self.bases()),
        )
    }

    /// Returns the dependence oracle with these bases.
    fn oracle<'m>(&'m self, bases: &'m Bases<'m>) -> DependenceOracle<'m> {
        let Options { analyses, limits, .. } = self.options;
        DependenceOracle { bases, dependence: &*analyses.dependence, limits, tested_before: None }
    }

    /// Returns the most profitable legal shift of the second loop: the least shift, and additional
    /// iterations. The latter are one block or zero, and zero if a multiple is requested.
    fn best_shift(
        &self,
        first: &Group,
        second: &Group,
        loop_context: &LoopContext,
        assumed: &mut Vec<Assumption>,
    ) -> Option<(i64, i64)> {
        let least = self.least_shift(first, second, loop_context, assumed)?;
        let block = match (&first.work, &second.work) {
            (Some(own), Some(others)) if self.options.shift_multiple <= 1 => {
                let most = first.max_shift(second);
                Saving::block(own, others, least, most, self.cost.machine())
            }
            _ => 0,
        };
        Some((least, block))
    }

    /// Returns the least legal shift of the second loop: among the requested multiples, or else
    /// among all.
    fn least_shift(
        &self,
        first: &Group,
        second: &Group,
        loop_context: &LoopContext,
        assumed: &mut Vec<Assumption>,
    ) -> Option<i64> {
        // A loop that reads a shifted member's results is shifted by as many blocks.
        let most = self.options.max_shift.saturating_add(first.blocks).min(first.max_shift(second));
        let multiples = [self.options.shift_multiple.max(1), 1];
        multiples
            .into_iter()
            .find_map(|unit| self.least_multiple(unit, most, first, second, loop_context, assumed))
    }

    /// Returns the least multiple of `unit`, at most `most`, by which the second loop may be
    /// shifted. A larger shift stays legal, so it is found by bisection.
    fn least_multiple(
        &self,
        unit: i64,
        most: i64,
        first: &Group,
        second: &Group,
        loop_context: &LoopContext,
        assumed: &mut Vec<Assumption>,
    ) -> Option<i64> {
        let mut legal = |times: i64| match self.merged(first, second, times * unit, loop_context) {
            Verdict::Legal { assumed: more } => {
                assumption::add(assumed, more);
                true
            }
            _ => false,
        };
        let (mut short, mut enough) = (0, most / unit);
        if enough <= 0 || !legal(enough) {
            return None;
        }
        while enough - short > 1 {
            let middle = short + (enough - short) / 2;
            if legal(middle) {
                enough = middle;
            } else {
                short = middle;
            }
        }
        Some(enough * unit)
    }

    /// Refines the reason why two loops were not fused. If a larger shift would be legal, the
    /// reason names that shift.
    fn with_shift(
        &self,
        missed: Missed,
        first: &Group,
        second: &Group,
        loop_context: &LoopContext,
    ) -> Missed {
        let Missed::Dependences(verdict) = missed else { return missed };
        if !self.options.remarks || !verdict.depends_on_order() {
            return Missed::Dependences(verdict);
        }
        match self.shift_beyond(first, second, loop_context) {
            Some(shift) => {
                Missed::TooLate { shift, most: self.options.max_shift, verdict: Box::new(verdict) }
            }
            None => Missed::Dependences(verdict),
        }
    }

    /// Returns the least legal shift of the second loop if it exceeds the maximum. Costs one
    /// question if no shift is legal, else a few.
    fn shift_beyond(&self, first: &Group, second: &Group, loop_context: &LoopContext) -> Option<i64> {
        first.fit(second, (self.body, self.program), loop_context).ok().filter(|fit| fit.may_be_shifted)?;
        let loop_context = &loop_context.with_facts(first.assumed.iter().flat_map(Assumption::facts));
        let legal = |shift: i64| self.merged(first, second, shift, loop_context).is_legal();
        let limit = self.options.max_shift.saturating_add(first.blocks);
        let (mut short, mut enough) = (limit, first.max_shift(second).min(MOST_NAMED));
        if enough <= limit || !legal(enough) {
            return None;
        }
        // The legal shift is mostly slightly larger than the limit.
        let mut more = 1;
        while enough - short > 1 {
            let next = if more < enough - short { short + more } else { short + (enough - short) / 2 };
            if legal(next) {
                (enough, more) = (next, i64::MAX);
            } else {
                (short, more) = (next, more.saturating_mul(2));
            }
        }
        // The shift is not the reason if the limit itself is legal.
        if short == limit && legal(limit) {
            return None;
        }
        Some(enough)
    }

    /// Reverses the second loop, if its reversal and the fusion with the reversed loop are legal.
    fn reverse(
        &mut self,
        first: &Group,
        second: &Group,
        loop_context: &LoopContext,
        assumed: &mut Vec<Assumption>,
    ) -> Option<Alignment> {
        // No two iterations of the second loop may depend on each other, in either order.
        let Verdict::Legal { assumed: own } = self.merged(second, second, 0, loop_context) else {
            return None;
        };
        let mirrored = second.reverse(self.program, self.trees, self.body, loop_context)?;
        let Verdict::Legal { assumed: more } = self.merged(first, &mirrored, 0, loop_context) else {
            return None;
        };
        assumption::add(assumed, own.into_iter().chain(more));
        Some(Alignment::Backwards(Box::new(mirrored)))
    }

    /// Returns an operation inside `second` that uses a result of a loop of `first`.
    fn user_of(&self, first: &Group, second: &Group) -> Option<Op> {
        if !first.footprint.defines_for(&second.footprint) {
            return None;
        }
        let uses = |op: &Op| self.body.operands(*op).any(|v| first.defines(self.body.defining_op(v)));
        let second = second.op(self.program);
        Some(self.body.preorder(second).find(uses).unwrap_or(second))
    }
}
/// The alignment of the second of two loops in the fused loop.
enum Alignment {
    /// In its original iterations.
    AsItIs,
    /// Shifted by the least number of iterations that keeps every dependence, plus those of a
    /// block.
    Later { least: i64, block: i64 },
    /// From its last iteration to its first.
    Backwards(Box<Group>),
}

/// The plan of fusing a pair.
struct Plan {
    way: Alignment,
    /// The assumptions.
    assumed: Vec<Assumption>,
    /// The second loop as it joins the first.
    joined: Joined,
    /// The entries between them that are hoisted before the first.
    hoisted: Vec<bool>,
    /// The pairs of entries, counted from the first loop, that are reordered under assumptions.
    swapped: Vec<(usize, usize)>,
    /// The reshaping of one of the loops before fusion.
    reshaped: Reshaped,
}

/// The name of the pass, used in remarks.
const NAME: &str = "loop-fusion";

/// The largest shift that a remark names.
const MOST_NAMED: i64 = 4096;
