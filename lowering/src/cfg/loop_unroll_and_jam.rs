//! Unroll-and-jam on graphs of blocks: an outer loop is unrolled, and the copies of the loop inside
//! become one.
//!
//! ```text
//!   for i:                         for i by 2:
//!     fore(i)                        fore(i); fore(i + 1)
//!     for j: sub(i, j)    becomes    for j: sub(i, j); sub(i + 1, j)
//!     aft(i)                         aft(i); aft(i + 1)
//! ```
//!
//! | module | holds |
//! | --- | --- |
//! | `nest` | the blocks of an outer loop: before the loop inside, in it, behind it |
//! | `decision` | the count |
//! | `order` | the question to the judge |
//! | `rewire` | the jammed loop |
//!
//! The shape, the decision and the options are those of LLVM's `loop-unroll-and-jam`. The copies,
//! the remainder and the counts are those of [`loop_unroll`](super::loop_unroll).
//!
//! **Soundness.** Only the judge lets iterations change their order. It is told the new time of
//! every access; see `order`.
//!
//! **Cost.** Linear in the function for each level of nesting, and in the code that is written. The
//! judge compares each pair of accesses of a nest that overlap.
//!
//! # Limits
//!
//! - The outer loop has one loop inside. Both are left at their latches alone, and the latch of the
//!   outer loop is the only block behind the inner one.
//! - The inner loop runs equally often in all iterations of the outer loop.
//! - Values that the outer loop hands on are computed before the inner loop, or can be.
//! - Every operation returns, and none is convergent.
//! - The inner loop has no metadata that can't be read, such as parallel accesses.

use hashbrown::HashSet;
use loomir_dialects::interp::layout::DataLayout;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::pass::{CanonicalForm, EditLimit, Pass, PassContext, PassInfo};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Loc};
use loomir_transforms::legality::{ApprovedPlan, Verdict};
use loomir_transforms::remark::Remarks;
use loomir_transforms::unrolling::Step;
use loomir_transforms::unrolling::explanation::explained;

use decision::{Decision, Preferences};
use nest::Nest;
use order::Judge;
use rewire::Jam;

use super::LOOPS_IN_FORM;
use super::loop_unroll::directives;
use super::loop_unroll::remainder::Runtime;
use super::loop_unroll::rounds::{self, Visitor};
use super::scev::ScalarEvolution;

mod decision;
mod nest;
mod order;
mod rewire;

/// The statistics of unroll-and-jam.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Outer loops that were unrolled, with their inner loops jammed.
    pub jammed: usize,
    /// Outer loops among them that are gone.
    pub full: usize,
    /// Remarks.
    pub remarks: Diagnostics,
}

/// Unrolls and jams the loops of a function in loop-simplify form, closed and rotated. The symbols
/// are those of the function's module.
fn jam_loops(
    function: &mut Body,
    symbols: &SymbolTable,
    preferences: &Preferences,
    (edits, checks): (&EditLimit, bool),
) -> Report {
    let layout = DataLayout::of_symbols(function.ctx(), symbols);
    let mut jammer = Jammer { symbols, preferences, edits, report: Report::default() };
    rounds::from_the_inside(function, (symbols, &layout), checks, &mut jammer);
    jammer.report
}

struct Jammer<'a> {
    symbols: &'a SymbolTable,
    preferences: &'a Preferences,
    edits: &'a EditLimit,
    report: Report,
}

/// The answer for one loop.
struct Plan {
    /// The branch of the outer loop's latch.
    loc: Loc,
    steps: Vec<Step>,
    answer: Answer,
}

enum Answer {
    /// Nothing asks for unroll-and-jam.
    Keep,
    /// The loop can't be unrolled and jammed: the name of the remark, and the reason.
    Unfit(&'static str, &'static str),
    /// The new order is not legal.
    Refused(Verdict),
    Jam(Box<ApprovedPlan<Jam>>),
}

/// A nest that is to be jammed, before the judge was asked.
struct Proposed {
    id: LoopId,
    loc: Loc,
    steps: Vec<Step>,
    jam: Jam,
}

impl Visitor for Jammer<'_> {
    type Plan = Plan;

    fn plans(&mut self, scev: &mut ScalarEvolution<'_>, ids: &[LoopId]) -> Vec<Plan> {
        let (mut plans, mut proposed) = (Vec::new(), Vec::new());
        for id in ids {
            match self.propose(scev, *id) {
                Ok(found) => proposed.extend(found),
                Err(plan) => plans.push(*plan),
            }
        }
        if proposed.is_empty() {
            return plans;
        }
        let judge = Judge::of(scev, self.symbols, proposed.iter().map(|own| (own.id, &own.jam.nest)));
        plans.extend(proposed.into_iter().map(|Proposed { id, loc, steps, jam }| {
            let answer = match judge.approve(id, jam) {
                Ok(approved) => Answer::Jam(Box::new(approved)),
                Err(verdict) => Answer::Refused(verdict),
            };
            Plan { loc, steps, answer }
        }));
        plans
    }

    fn carry_out(
        &mut self,
        function: &mut Body,
        plan: Plan,
        _: &HashSet<Block>,
        changed: &mut Vec<Block>,
    ) -> Vec<Block> {
        let is_allowed = self.edits.allows_more();
        self.say(function, &plan, is_allowed);
        let Answer::Jam(approved) = plan.answer else { return Vec::new() };
        let Some(made) = is_allowed.then(|| rewire::jam(function, &approved)).flatten() else {
            return Vec::new();
        };
        self.edits.made(NAME, plan.loc);
        self.report.jammed += 1;
        self.report.full += usize::from(approved.plan().is_full);
        changed.extend(made.blocks);
        made.headers
    }
}

impl Jammer<'_> {
    /// Proposes to jam a loop, if that is wanted. `None` if the loop has no loop inside.
    ///
    /// # Errors
    ///
    /// The answer, if the loop stays.
    fn propose(&self, scev: &mut ScalarEvolution<'_>, id: LoopId) -> Result<Option<Proposed>, Box<Plan>> {
        let children = scev.analysis().loops().get(id).children.clone();
        let Some(child) = children.first() else { return Ok(None) };
        let analysis = scev.analysis();
        let latches = scev.latches(id);
        let branch = latches.first().and_then(|latch| scev.function().terminator(analysis.block(*latch)));
        let Some(branch) = branch else { return Ok(None) };
        let loc = scev.function().loc(branch);
        let keep = |answer| Box::new(Plan { loc, steps: Vec::new(), answer });
        let unfit = |name, why| keep(Answer::Unfit(name, why));
        let Some(directives) = directives::read_jam(scev.function(), branch) else {
            return Err(unfit("NotUnrolled", "it has metadata that can't be read"));
        };
        if !self.preferences.wants(&directives) {
            return Err(keep(Answer::Keep));
        }
        let nest = match children.len() {
            1 => Nest::of(scev, id, *child, self.symbols),
            _ => Err("it has several loops inside"),
        };
        let nest = nest.map_err(|why| unfit("NotCandidate", why))?;
        // It may promise that its iterations are independent. Those of a jammed loop need not be.
        let inner = nest.inner.backedge(scev.function());
        if inner.and_then(|(branch, _)| directives::read(scev.function(), branch)).is_none() {
            return Err(unfit("NotCandidate", "the inner loop has metadata that can't be read"));
        }
        let Decision { count, trip_count, trip_multiple, is_explicit, steps } =
            decision::decide(scev, (id, *child), &nest, self.symbols, (&directives, self.preferences));
        if count == 0 {
            return Err(Box::new(Plan { loc, steps, answer: Answer::Keep }));
        }
        let remainder = match trip_multiple.is_multiple_of(count) {
            true => None,
            false => {
                let made = super::loop_unroll::runtime_of_latch(scev, id, &nest.outer, (count, false));
                let backedges = made.map_err(|why| {
                    let answer = Answer::Unfit("NotUnrolled", why);
                    Box::new(Plan { loc, steps: steps.clone(), answer })
                })?;
                let unrolls_remainder = self.preferences.unrolls_remainder();
                Some(Runtime { count, backedges, is_epilogue: true, unrolls_remainder })
            }
        };
        let is_full = trip_count == Some(count);
        let jam = Jam { nest, count, is_full, is_explicit, trip_multiple, remainder };
        Ok(Some(Proposed { id, loc, steps, jam }))
    }

    fn say(&mut self, function: &Body, plan: &Plan, is_allowed: bool) {
        let remarks = Remarks { body: function, pass: NAME };
        let what = "loop not unrolled and jammed";
        let said: Option<Diagnostic> = match &plan.answer {
            Answer::Keep => None,
            Answer::Unfit(name, why) => Some(remarks.missed(name, plan.loc, what, why)),
            Answer::Refused(verdict) => {
                let why = "dependences between iterations could change their order";
                let remark = remarks.missed("InvalidDependencies", plan.loc, what, why);
                Some(verdict.explain(function, remark, "unrolled and jammed"))
            }
            Answer::Jam(_) if !is_allowed => None,
            Answer::Jam(approved) => {
                let (name, text) = approved.plan().said();
                Some(remarks.passed(name, plan.loc, &text).arg("count", approved.plan().count as i64))
            }
        };
        let outcome = match &plan.answer {
            Answer::Jam(approved) if is_allowed => approved.plan().said().1,
            Answer::Unfit(_, why) => format!("{what}: {why}"),
            Answer::Refused(_) => format!("{what}: dependences could change their order"),
            Answer::Jam(_) | Answer::Keep => what.to_owned(),
        };
        said.into_iter().for_each(|remark| self.report.remarks.push(remark));
        if self.preferences.explains() && !plan.steps.is_empty() {
            self.report.remarks.push(explained(remarks, plan.loc, &plan.steps, &outcome));
        }
    }
}

const NAME: &str = "loop-unroll-and-jam";

/// The pass `loop-unroll-and-jam` on `llvm.func`.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    anchor: Some("llvm.func"),
    summary: "Unroll outer loops and jam the loops inside",
    options: decision::OPTIONS,
    make: |options| Ok(Box::new(LoopUnrollAndJam { preferences: Preferences::of(options)? })),
};

struct LoopUnrollAndJam {
    preferences: Preferences,
}

impl Pass for LoopUnrollAndJam {
    fn name(&self) -> &str {
        NAME
    }

    fn requires(&self) -> &[&'static CanonicalForm] {
        LOOPS_IN_FORM
    }

    fn preserves(&self) -> &[&'static CanonicalForm] {
        LOOPS_IN_FORM
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        super::branch::all_known(body)?;
        super::unwinding::remark(body, NAME, "loop not unrolled and jammed", cx);
        let edits = cx.edits.clone();
        let report = jam_loops(body, cx.symbols, &self.preferences, (&edits, cx.checks));
        cx.count("Loops unrolled and jammed", report.jammed as u64);
        cx.count("Loops completely unrolled and jammed", report.full as u64);
        report.remarks.into_iter().for_each(|remark| cx.remark(remark));
        Ok(())
    }
}
