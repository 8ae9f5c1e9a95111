//! Loop unrolling and peeling on graphs of blocks.
//!
//! Loops are visited from the inside out. The decision is that of
//! [`loomir_transforms::unrolling`], which also serves the loop tree; its order, thresholds and
//! option names are those of LLVM's `loop-unroll`.
//!
//! | module | holds |
//! | --- | --- |
//! | `shape` | the blocks of a loop, and the iterations in which its exits are taken |
//! | `facts`, `size` | facts that the decision needs |
//! | `directives` | pragmas, as metadata of the loop |
//! | `peel_count` | the number of iterations whose peeling helps |
//! | `peel_loads` | loads that peeling lets move |
//! | `simulation` | the cost of a loop unrolled completely |
//! | `copies` | peeling, and unrolling without a remainder |
//! | `remainder` | unrolling with a remainder loop |
//! | `reductions` | an accumulator for each copy |
//! | `rounds` | visits of loops, from the inside out |
//! | `decided` | comparisons that peeling decides |
//! | `weights` | weights of branches |
//! | `tidy_up` | folding of what became constant |
//!
//! **Soundness.** Copies run in the order of the iterations, so only tests can go wrong. A test is
//! left out only if the count of its exit says that it has one outcome in this copy.
//!
//! **Cost.** Linear in the function for each level of nesting, and in the code that is written.
//!
//! # Limits
//!
//! - A loop is not unrolled if it has tokens of convergence or declares scopes of aliases
//!   (`llvm.experimental.noalias.scope.decl`).
//! - Unrolling at run time needs a latch that exits, and a count that can be computed before the
//!   loop.

use hashbrown::HashSet;
use loomir_dialects::interp::layout::DataLayout;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::pass::{CanonicalForm, EditLimit, Options, Pass, PassContext, PassInfo};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Loc};
use loomir_transforms::remark::Remarks;
use loomir_transforms::unrolling::explanation::explained;
use loomir_transforms::unrolling::preferences::OPTIONS;
use loomir_transforms::unrolling::{Action, Cost, Decision, Preferences, Questions, decide};

use copies::Copy;
use directives::{Before, Made};
use remainder::Runtime;
use rounds::Visitor;
use shape::{Course, Exit, Shape};
use weights::Odds;

use super::LOOPS_IN_FORM;
use super::expander::Recipe;
use super::scev::ScalarEvolution;

pub(super) mod copies;
mod decided;
pub(super) mod directives;
pub(super) mod facts;
mod peel_count;
mod peel_loads;
mod reductions;
pub(super) mod remainder;
pub(super) mod rounds;
pub(super) mod shape;
mod simulation;
mod size;
mod tidy_up;
pub(super) mod weights;

/// The greatest cost of a number of iterations that is computed before a loop, where nothing asks
/// for more.
const CHEAP: u64 = 4;

/// The statistics of unrolling.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Loops that were unrolled completely.
    pub full: usize,
    /// Loops that were unrolled by a count.
    pub partial: usize,
    /// Loops among them that have a remainder.
    pub runtime: usize,
    /// Loops that were peeled.
    pub peeled: usize,
    /// Reductions with an accumulator for each copy.
    pub reductions: usize,
    /// Remarks.
    pub remarks: Diagnostics,
}

/// Unrolls and peels the loops of a function in loop-simplify form and closed. The symbols are
/// those of the function's module.
pub fn unroll_loops(
    function: &mut Body,
    symbols: &SymbolTable,
    preferences: &Preferences,
    (edits, checks): (&EditLimit, bool),
) -> Report {
    let layout = DataLayout::of_symbols(function.ctx(), symbols);
    let (report, peeled) = (Report::default(), HashSet::new());
    let mut unroller = Unroller { symbols, preferences, edits, report, peeled };
    rounds::from_the_inside(function, (symbols, &layout), checks, &mut unroller);
    let Unroller { report, peeled, .. } = unroller;
    if !peeled.is_empty() && decided::fold_decided(function, &layout, &peeled) {
        rounds::in_form(function, symbols, checks);
    }
    report
}

/// Unrolls and peels.
struct Unroller<'a> {
    symbols: &'a SymbolTable,
    preferences: &'a Preferences,
    edits: &'a EditLimit,
    report: Report,
    /// The headers of loops that were peeled.
    peeled: HashSet<Block>,
}

impl Visitor for Unroller<'_> {
    type Plan = Plan;

    fn plans(&mut self, scev: &mut ScalarEvolution<'_>, ids: &[LoopId]) -> Vec<Plan> {
        ids.iter().filter_map(|id| plan(scev, *id, self.symbols, self.preferences)).collect()
    }

    fn carry_out(
        &mut self,
        function: &mut Body,
        plan: Plan,
        visited: &HashSet<Block>,
        changed: &mut Vec<Block>,
    ) -> Vec<Block> {
        let (wanted, is_allowed) = (plan.change.is_some(), self.edits.allows_more());
        let remarks = plan.remarks(function, self.preferences.explain, wanted && is_allowed);
        remarks.into_iter().for_each(|remark| self.report.remarks.push(remark));
        let Some(change) = plan.change.as_ref().filter(|_| is_allowed) else { return Vec::new() };
        let is_parallel = self.preferences.add_parallel_reductions;
        let Done { headers, reductions } = carry_out(function, &plan, change, is_parallel, visited, changed);
        self.edits.made(NAME, plan.loc);
        self.report.count(change);
        if reductions > 0 {
            self.report.reductions += reductions;
            let remarks = Remarks { body: function, pass: NAME };
            let made =
                remarks.passed("ParallelReductions", plan.loc, "each copy has accumulators of its own");
            self.report.remarks.push(made.arg("count", reductions as i64));
        }
        self.peeled.extend(matches!(change, Change::Peel { .. }).then_some(plan.shape.header));
        headers
    }
}

/// The decision about one loop, and its change.
struct Plan {
    shape: Shape,
    loc: Loc,
    decision: Decision,
    /// The change, if there is one and it can be made.
    change: Option<Change>,
    /// Why the change can't be made that was decided for.
    obstacle: Option<&'static str>,
    /// The headers of the loops inside.
    inner: Vec<Block>,
}

/// A change of a loop.
enum Change {
    Peel { count: u64 },
    Full { count: u64 },
    Partial { count: u64 },
    Runtime(Runtime),
}

/// The questions that a decision asks about a loop of a graph.
struct Asked<'s, 'f> {
    scev: &'s mut ScalarEvolution<'f>,
    id: LoopId,
    shape: &'s Shape,
    symbols: &'s SymbolTable,
}

impl Questions for Asked<'_, '_> {
    fn full_unroll_cost(&mut self, trip_count: u64, budget: u64) -> Option<Cost> {
        simulation::simulate(self.scev, self.id, self.shape, self.symbols, trip_count, budget)
    }

    fn peel_count(&mut self, max: u64) -> u64 {
        peel_count::first(self.scev, self.id, self.shape, max)
    }
}

/// Decides about a loop. `None` if it is not in form.
fn plan(
    scev: &mut ScalarEvolution<'_>,
    id: LoopId,
    symbols: &SymbolTable,
    preferences: &Preferences,
) -> Option<Plan> {
    let shape = Shape::of(scev, id)?;
    let function = scev.function();
    let (branch, _) = shape.backedge(function)?;
    let read = directives::read(function, branch);
    let (mut said, already_peeled) = read.unwrap_or_default();
    let parent = scev.analysis().loops().get(id).parent;
    let latches = parent.map(|parent| scev.latches(parent)).unwrap_or_default();
    let branches = latches.iter().filter_map(|latch| function.terminator(scev.analysis().block(*latch)));
    said.left_to_jam |= branches.into_iter().any(|branch| directives::asks_for_jam(function, branch));
    let mut facts = facts::facts(scev, id, &shape, symbols, already_peeled);
    if read.is_none() {
        facts.fixed = Some("it has metadata that can't be read");
    }
    let decision = decide(&facts, &said, preferences, &mut Asked { scev, id, shape: &shape, symbols });
    let (mut change, mut obstacle) = (None, None);
    match change_of(scev, id, &shape, &decision, preferences) {
        Ok(made) => change = made,
        Err(why) => obstacle = Some(why),
    }
    let inner = shape::headers_inside(scev.analysis(), id);
    Some(Plan { loc: function.loc(branch), shape, decision, change, obstacle, inner })
}

/// Returns the change that was decided for.
///
/// # Errors
///
/// Why it can't be made.
fn change_of(
    scev: &mut ScalarEvolution<'_>,
    id: LoopId,
    shape: &Shape,
    decision: &Decision,
    preferences: &Preferences,
) -> Result<Option<Change>, &'static str> {
    Ok(match decision.action {
        Action::Keep => None,
        Action::Peel { first, .. } => (first > 0).then_some(Change::Peel { count: first }),
        Action::Full { count } => Some(Change::Full { count }),
        Action::Partial { count } => Some(Change::Partial { count }),
        Action::Runtime { count, expensive, forced } => {
            match runtime(scev, id, shape, (count, expensive), preferences) {
                Ok(made) => Some(Change::Runtime(made)),
                Err(_) if forced => Some(Change::Partial { count }),
                Err(why) => return Err(why),
            }
        }
    })
}

/// Returns the plan of a run-time unrolling.
///
/// # Errors
///
/// Why it can't be made.
fn runtime(
    scev: &mut ScalarEvolution<'_>,
    id: LoopId,
    shape: &Shape,
    (count, expensive): (u64, bool),
    preferences: &Preferences,
) -> Result<Runtime, &'static str> {
    if !shape.is_rotated() {
        return Err("its latch does not leave it");
    }
    let is_predictable = preferences.runtime_other_exit_predictable;
    let has_few = || shape.has_few_exits(scev.function(), is_predictable);
    if shape.exits.len() > 1 && !preferences.runtime_multi_exit.unwrap_or_else(has_few) {
        return Err("it has several exits");
    }
    let backedges = runtime_of_latch(scev, id, shape, (count, expensive))?;
    let is_epilogue = preferences.runtime_epilog.unwrap_or_else(|| starts_constant(scev, shape));
    Ok(Runtime { count, backedges, is_epilogue, unrolls_remainder: preferences.unroll_remainder })
}

/// Returns the number of backedges taken before the latch exits, if it can be computed before the
/// loop to run `count` iterations at once. The second number is true if it may be expensive.
///
/// # Errors
///
/// Why it can't be computed.
pub(super) fn runtime_of_latch(
    scev: &mut ScalarEvolution<'_>,
    id: LoopId,
    shape: &Shape,
    (count, expensive): (u64, bool),
) -> Result<Recipe, &'static str> {
    let backedges = runtime_count(scev, id, shape)?;
    if backedges.cost() > CHEAP && !expensive {
        return Err("its number of iterations is expensive to compute");
    }
    let bits = u64::BITS - count.leading_zeros();
    if bits > backedges.width() {
        return Err("the count does not fit the type of the counter");
    }
    Ok(backedges)
}

/// Returns the number of backedges taken before the latch exits.
fn runtime_count(scev: &mut ScalarEvolution<'_>, id: LoopId, shape: &Shape) -> Result<Recipe, &'static str> {
    let exact = shape.count_at_latch(scev, id).filter(|exact| scev.is_invariant(*exact, id));
    let exact = exact.ok_or("its number of iterations is not known")?;
    Recipe::of(scev, id, exact).ok_or("its number of iterations can't be computed before it")
}

/// True if some value carried around a loop starts as a constant.
fn starts_constant(scev: &ScalarEvolution<'_>, shape: &Shape) -> bool {
    let arguments = scev.function().arguments(shape.header);
    let mut starts = arguments.filter_map(|argument| scev.header_argument(argument));
    starts.any(|own| scev.number(own.start).is_some())
}

/// A change that was made.
struct Done {
    /// The headers of loops that must not be visited: copies of visited loops, and remainders.
    headers: Vec<Block>,
    /// The number of reductions with an accumulator for each copy.
    reductions: usize,
}

/// Makes a change. If reductions may be `parallel`, each copy gets an accumulator of its own.
fn carry_out(
    function: &mut Body,
    plan: &Plan,
    change: &Change,
    parallel: bool,
    visited: &HashSet<Block>,
    changed: &mut Vec<Block>,
) -> Done {
    let shape = &plan.shape;
    let (mut headers, mut first, mut blocks) = (Vec::new(), vec![shape.preheader], Vec::new());
    let inner: Vec<Block> = plan.inner.iter().copied().filter(|header| visited.contains(header)).collect();
    let mut add = |copies: &[Copy], of: &dyn Fn(Block) -> Block| {
        for copy in copies {
            blocks.extend(shape.blocks.iter().map(|block| copy.block(of(*block))));
            headers.extend(inner.iter().map(|header| copy.block(of(*header))));
        }
    };
    let (own, mut remainder, mut latch) = (|block: Block| block, None, shape.latch);
    let before = shape.backedge(function).map(|(branch, _)| Before::of(function, branch));
    let mut separated = None;
    let mut separate = |function: &mut Body, copies: &[Copy]| {
        separated = parallel.then(|| reductions::make_parallel(function, shape, copies)).flatten();
    };
    match change {
        Change::Peel { count } => {
            let course = |exit: &Exit, number: u64| exit.rule.in_iteration(u128::from(number));
            add(&copies::peel(function, shape, *count, course), &own);
            add(&[Copy::original(shape)], &own);
            if let Some((branch, _)) = shape.backedge(function) {
                directives::mark_peeled(function, branch, *count);
            }
        }
        Change::Full { count } => {
            let course = |exit: &Exit, number: u64| exit.rule.in_iteration(u128::from(number));
            add(&copies::unroll(function, shape, *count, true, course), &own);
        }
        Change::Partial { count } => {
            let odds = Odds::of(function, shape).filter(|_| shape.tests_last(*count));
            let copies = copies::unroll(function, shape, *count, false, in_copy(*count));
            latch = copies.last().map_or(latch, |last| last.latch);
            odds.into_iter().for_each(|odds| odds.at_latch(function, (latch, shape.header), *count));
            separate(function, &copies);
            add(&copies, &own);
        }
        Change::Runtime(runtime) => {
            if let Some(made) =
                remainder::unroll_at_run_time(function, shape, runtime, in_copy(runtime.count))
            {
                first.extend(made.between);
                latch = made.copies.last().map_or(latch, |last| last.latch);
                separate(function, &made.copies);
                add(&made.copies, &own);
                add(std::slice::from_ref(&made.remainder), &own);
                add(&made.again, &|block| made.remainder.block(block));
                remainder = Some((made.remainder.latch, made.remainder.header));
            }
        }
    }
    let is_repeated = matches!(change, Change::Partial { .. } | Change::Runtime(_));
    let is_profiled = matches!(plan.decision.action, Action::Peel { profiled: true, .. });
    let mut follow = |(latch, header): (Block, Block), made: Made, is_marked: bool| {
        let Some((branch, _)) = shape::edge_to(function, latch, header) else { return };
        let follows = is_repeated && before.as_ref().is_some_and(|own| own.follow(function, branch, made));
        if is_marked && !follows {
            directives::mark_unrolled(function, branch);
        }
    };
    let is_marked = is_repeated && plan.decision.is_explicit || is_profiled;
    follow((latch, shape.header), Made::Unrolled, is_marked);
    if let Some(remainder) = remainder {
        follow(remainder, Made::Remainder, false);
        headers.push(remainder.1);
    }
    let behind = separated.map(|(_, behind)| behind);
    changed.extend(first.into_iter().chain(blocks).chain(behind));
    Done { headers, reductions: separated.map_or(0, |(count, _)| count) }
}

fn in_copy(count: u64) -> impl Fn(&Exit, u64) -> Course {
    move |exit, number| exit.rule.in_copy(u128::from(number), u128::from(count))
}

impl Report {
    fn count(&mut self, change: &Change) {
        match change {
            Change::Peel { .. } => self.peeled += 1,
            Change::Full { .. } => self.full += 1,
            Change::Partial { .. } => self.partial += 1,
            Change::Runtime(_) => (self.partial, self.runtime) = (self.partial + 1, self.runtime + 1),
        }
    }
}

impl Plan {
    /// Returns the remarks about this loop.
    fn remarks(&self, function: &Body, explains: bool, is_made: bool) -> Vec<Diagnostic> {
        let remarks = Remarks { body: function, pass: NAME };
        let mut all = Vec::new();
        for (name, text) in &self.decision.missed {
            all.push(remarks.left(name, self.loc, text));
        }
        let made = self.change.as_ref().filter(|_| is_made).map(|change| match change {
            Change::Peel { count } => ("Peeled", *count, format!("peeled loop by {count} iterations")),
            Change::Full { count } => {
                ("FullyUnrolled", *count, format!("completely unrolled loop with {count} iterations"))
            }
            Change::Partial { count } => {
                ("PartialUnrolled", *count, format!("unrolled loop by a factor of {count}"))
            }
            Change::Runtime(Runtime { count, .. }) => {
                let text = format!("unrolled loop by a factor of {count} with run-time trip count");
                ("PartialUnrolled", *count, text)
            }
        });
        let outcome = match (&made, self.obstacle) {
            (Some((.., text)), _) => text.clone(),
            (None, Some(why)) => format!("loop not unrolled: {why}"),
            (None, None) => "loop not unrolled".to_owned(),
        };
        if let Some((name, count, text)) = made {
            all.push(remarks.passed(name, self.loc, &text).arg("count", count as i64));
        } else if let Some(why) = self.obstacle {
            all.push(remarks.missed("NotUnrolled", self.loc, "loop not unrolled", why));
        }
        if explains {
            all.push(explained(remarks, self.loc, &self.decision.steps, &outcome));
        }
        all
    }
}

const NAME: &str = "loop-unroll";
const FULL_NAME: &str = "loop-unroll-full";

/// The pass `loop-unroll` on `llvm.func`.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    anchor: Some("llvm.func"),
    summary: "Unroll and peel loops",
    options: OPTIONS,
    make: |options| make(options, false),
};

/// The pass `loop-unroll-full` on `llvm.func`, for before inlining.
pub const FULL_PASS: PassInfo = PassInfo {
    name: FULL_NAME,
    anchor: Some("llvm.func"),
    summary: "Unroll loops completely, or peel them",
    options: OPTIONS,
    make: |options| make(options, true),
};

fn make(options: &Options, is_full: bool) -> Result<Box<dyn Pass>, String> {
    let preferences = Preferences::of(options)?;
    let preferences = if is_full { preferences.only_full() } else { preferences };
    Ok(Box::new(LoopUnroll { preferences }))
}

struct LoopUnroll {
    preferences: Preferences,
}

impl Pass for LoopUnroll {
    fn name(&self) -> &str {
        if self.preferences.only_full { FULL_NAME } else { NAME }
    }

    fn requires(&self) -> &[&'static CanonicalForm] {
        LOOPS_IN_FORM
    }

    fn preserves(&self) -> &[&'static CanonicalForm] {
        LOOPS_IN_FORM
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        super::branch::all_known(body)?;
        let name = if self.preferences.only_full { FULL_NAME } else { NAME };
        super::unwinding::remark(body, name, "loop not unrolled", cx);
        let edits = cx.edits.clone();
        let report = unroll_loops(body, cx.symbols, &self.preferences, (&edits, cx.checks));
        cx.count("Loops completely unrolled", report.full as u64);
        cx.count("Loops unrolled", report.partial as u64);
        cx.count("Loops unrolled with a remainder", report.runtime as u64);
        cx.count("Loops peeled", report.peeled as u64);
        cx.count("Reductions with an accumulator for each copy", report.reductions as u64);
        report.remarks.into_iter().for_each(|remark| cx.remark(remark));
        Ok(())
    }
}
