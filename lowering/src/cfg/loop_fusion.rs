//! Loop fusion on control flow graphs: adjacent loops become one by leading branches elsewhere.
//!
//! Level by level, from the outside in, each loop is tried with the one that follows it; what they become is tried with the next. That is done once with nothing copied behind, then once more for what is left. Two loops are fused if they are candidates and adjacent,
//! are both behind the same guard or both behind none, what stands between moves out of the way (or behind iterations of the first that run in front), what the second uses of the first is there before both or needed behind them only, and no dependence would be turned around: that is
//! asked of the judge ([`Schedule`](loomir_transforms::legality::Schedule)), without whose approval nothing is rewritten. If one runs more often, or the second has to run later, some iterations run by themselves. The reasons are those of LLVM's pass
//! of the same name, the names of its remarks too.
//!
//! | module | holds |
//! | --- | --- |
//! | `summary` | what is known of loops before any is fused |
//! | `candidate` | which loops may be fused, and what runs between two |
//! | `plan` | how two may be fused, or why not |
//! | `proposal` | what of that the judge is asked |
//! | `strategy` | how dependences are told |
//! | `def_use` | values that the first computes and the second uses |
//! | `finals` | what values are when a loop is left |
//! | `motion` | where what stands between two goes |
//! | `rewire` | the fusion |
//! | `rest` | iterations that run by themselves |
//! | `version` | the test before loops that may be fused where it holds |
//! | `remarks` | what is said of it |
//!
//! **Soundness.** Both loops end, and return from what they call: then all that the second does happens, and only the order of what both touch matters. If the first may not, nobody may notice that
//! some of the second has run by then, which must not be undefined either; if the second may not, nobody may miss what the first would have done. Operations that order others touch everything.
//!
//! **Cost.** Linear in the function, but for pairs of objects that may overlap, and for what summaries cost.
//!
//! # Limits
//!
//! - Fuses adjacent loops with straight code between. Only loops with an adjacent one are
//!   summarised. A loop that left a remainder or got a run-time check is not fused again.
//! - Code between two loops moves over whole loops, or over all but the first iteration, as one
//!   object; code at a guard moves over all.
//! - Of the first loop, the second may use loop-invariant constants, values that counters are
//!   compared with, and at most 32 operations on invariant values.
//! - A loop that calls what may not return is fused only with one whose progress cannot be
//!   observed.
//! - Overwritten stores are recognised by equal subscripts. Witnesses count bytes.

use hashbrown::{HashMap, HashSet};
use loomir_ir::graph::loops::LoopId;
use loomir_ir::pass::{CanonicalForm, EditLimit, Pass, PassContext, PassInfo};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Loc, Op};
use loomir_transforms::fusion::Profitability;
use loomir_transforms::legality::ApprovedPlan;
use loomir_transforms::polyhedra::Limits;

use candidate::{Adjacent, Candidate, between, following};
use exit_values::Finals;
use remarks::Missed;
use rewire::Plan;
pub use strategy::Strategy;
use summary::{Counter, Summaries, Summary};

use super::arguments::fold_arguments;
use super::constants::Constants;
use super::{Analysis, lcssa, loop_rotate, loop_simplify};

mod apart;
mod candidate;
mod def_use;
mod exit_values;
mod motion;
mod plan;
mod proposal;
mod remainder;
mod remarks;
mod rewire;
mod strategy;
mod summary;
mod version;

/// How to fuse.
#[derive(Clone, Debug)]
pub struct Options {
    /// How dependences are told.
    pub strategy: Strategy,
    /// What one question about integers may cost.
    pub limits: Limits,
    /// Whether only loops are fused that run equally often, all iterations together in the order they had, and whatever they load counts as read: as two neighbours on the tree are.
    pub whole: bool,
    /// The places of operations which run behind both loops if they may, even if they may run in front of them.
    pub behind: Vec<Loc>,
    /// How many iterations of a first loop may run in front of the fused one, each as a copy.
    pub peel_max_count: u32,
    /// Whether loops are copied, to be fused where a test holds and left as they are where not.
    pub version: bool,
    /// Whether loops are copied only where they touch something in common, or wherever that lets them be fused.
    pub profitability: Profitability,
    /// The bound on fusions.
    pub edits: EditLimit,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            strategy: Strategy::default(),
            limits: Limits::steps(20_000),
            whole: false,
            behind: Vec::new(),
            peel_max_count: 0,
            version: true,
            profitability: Profitability::default(),
            edits: EditLimit::default(),
        }
    }
}

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many loops became part of another one.
    pub fused: usize,
    /// How many loops may be fused, each by itself.
    pub candidates: usize,
    /// How many operations were moved in front of a pair of loops.
    pub hoisted: usize,
    /// How many were moved behind one.
    pub sunk: usize,
    /// How many were kept between, behind the first iterations of the first.
    pub kept: usize,
    /// How many iterations run in front of fused loops.
    pub peeled: usize,
    /// How many pairs were fused where a test holds.
    pub versions: usize,
    /// A remark for each pair and for each loop that is no candidate.
    pub remarks: Diagnostics,
}

/// Fuses the adjacent loops of a function of a module with these symbols, in loop-simplify form, closed and rotated.
pub fn fuse_loops(
    function: &mut Body,
    analysis: &mut Analysis,
    symbols: &SymbolTable,
    options: &Options,
) -> Report {
    let mut report = Report::default();
    apart::remarks(function, analysis).into_iter().for_each(|remark| report.remarks.push(remark));
    // The outermost stand in postorder.
    let mut pending = vec![(0, analysis.loops().top().iter().rev().copied().collect())];
    while pending.iter().any(|(_, siblings): &Level| !siblings.is_empty()) {
        let adjacent = Adjacent::of(function, analysis);
        let summaries = Summaries::of(function, analysis, symbols, &adjacent, options.whole);
        analysis.defer_updates();
        let mut fusion = Fusion::new(function, analysis, summaries, options);
        fusion.report = report;
        pending = fusion.levels(pending);
        report = fusion.report;
        analysis.finish(function, NAME);
    }
    report
}

/// Fuses two loops of a function, in the same forms, if they are adjacent and may be fused, and nothing else. The report says why not, unless they are not adjacent.
pub fn fuse_pair(
    function: &mut Body,
    analysis: &mut Analysis,
    symbols: &SymbolTable,
    pair: [LoopId; 2],
    options: &Options,
) -> Report {
    let depth = analysis.loops_around(analysis.loops().get(pair[0]).header()).count() - 1;
    let mut asked = Adjacent::default();
    pair.iter().for_each(|id| asked.add(analysis, *id));
    let summaries = Summaries::of(function, analysis, symbols, &asked, options.whole);
    analysis.defer_updates();
    let mut fusion = Fusion::new(function, analysis, summaries, options);
    fusion.siblings(depth as u32, pair.to_vec());
    let Fusion { report, .. } = fusion;
    analysis.finish(function, NAME);
    report
}

/// Loops in one loop, or outside of all, and how many are around.
type Level = (u32, Vec<LoopId>);

struct Fusion<'f> {
    function: &'f mut Body,
    analysis: &'f mut Analysis,
    summaries: Summaries,
    options: &'f Options,
    report: Report,
    constants: Constants,
    /// Loops that were fused so that iterations of different numbers run together, or in another order: what is known of the loops in them is about other numbers, so these wait until it is read anew.
    shifted: HashSet<LoopId>,
    /// What is said of the siblings that are fused now, by the place of the loop it is said of.
    remarks: Vec<(usize, Diagnostic)>,
}

/// Loops that became one so far, or one loop.
struct Group {
    candidate: Candidate,
    summary: Summary,
    /// Its first iteration: those before run in front of it.
    start: u32,
    /// Its place among its siblings, by the first loop in it.
    place: usize,
    /// Why it was not fused with the one in front of it, as both are now.
    missed: Option<Missed>,
    /// Whether it took in another one in this round, or is what was left of one.
    has_grown: bool,
}

/// What may be done so that loops become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Round {
    /// Nothing is copied but iterations in front. Behind such a loop, as behind any other, one can stand that is fused with it.
    Plain,
    /// Iterations may be left behind, and both be copied to be fused where a test holds.
    Reshaping,
}

impl Group {
    fn of(place: usize, candidate: Candidate, summary: Summary) -> Group {
        Group { candidate, summary, start: 0, place, missed: None, has_grown: false }
    }

    /// The same with 0 as the number of its first iteration, if it is another one; those before have negative numbers. Nothing at all if a number leaves 64 bits.
    fn counted_anew(&self, depth: u32) -> Option<Option<Group>> {
        if self.start == 0 {
            return Some(None);
        }
        let nest = self.summary.nest.shifted(depth, -i64::from(self.start))?;
        let summary = Summary { nest, ..self.summary.clone() };
        Some(Some(Group::of(self.place, self.candidate.clone(), summary)))
    }
}

impl<'f> Fusion<'f> {
    fn new(
        function: &'f mut Body,
        analysis: &'f mut Analysis,
        summaries: Summaries,
        options: &'f Options,
    ) -> Fusion<'f> {
        let (report, constants, shifted) = (Report::default(), Constants::default(), HashSet::new());
        Fusion { function, analysis, summaries, options, report, constants, shifted, remarks: Vec::new() }
    }

    /// Fuses the loops of each level, and those in what is left of them. Returns the levels in loops that were shifted.
    fn levels(&mut self, mut pending: Vec<Level>) -> Vec<Level> {
        let mut later = Vec::new();
        while let Some((depth, siblings)) = pending.pop() {
            for id in self.siblings(depth, siblings).into_iter().rev() {
                let children = self.analysis.loops().get(id).children.clone();
                if children.len() > 1 {
                    let to = if self.shifted.contains(&id) { &mut later } else { &mut pending };
                    to.push((depth + 1, children));
                }
            }
        }
        later
    }

    /// Fuses loops in one loop, or outside of all, that stand inside `depth` loops; returns those that are left.
    fn siblings(&mut self, depth: u32, siblings: Vec<LoopId>) -> Vec<LoopId> {
        let known = |id: &LoopId| self.summaries.get(*id).is_some();
        let mut left: Vec<LoopId> = siblings.into_iter().filter(known).collect();
        let mut groups = Vec::with_capacity(left.len());
        for (place, id) in left.iter().enumerate() {
            let Some(summary) = self.summaries.get(*id).cloned() else { continue };
            match Candidate::of(self.function, self.analysis, *id, &summary) {
                Ok(candidate) => groups.push(Group::of(place, candidate, summary)),
                Err(unfit) => {
                    let remark = remarks::unfit(self.function, self.analysis, *id, unfit);
                    self.remarks.push((place, remark));
                }
            }
        }
        self.report.candidates += groups.len();
        let before: HashSet<LoopId> = groups.iter().map(|group| group.candidate.id).collect();
        groups = self.in_order(depth, groups, Round::Plain);
        groups = self.in_order(depth, groups, Round::Reshaping);
        let after: HashSet<LoopId> = groups.iter().map(|group| group.candidate.id).collect();
        left.retain(|id| after.contains(id) || !before.contains(id));
        self.remarks.sort_by_key(|(place, _)| *place);
        self.remarks.drain(..).for_each(|(_, remark)| self.report.remarks.push(remark));
        left
    }

    /// Tries each loop with the one behind it, and what they become with the next; returns what there is then.
    fn in_order(&mut self, depth: u32, groups: Vec<Group>, round: Round) -> Vec<Group> {
        let mut done: Vec<Group> = Vec::with_capacity(groups.len());
        // By the block that is run behind them.
        let mut open: HashMap<Block, usize> = HashMap::new();
        for mut second in groups {
            // Others that became one may have changed what is around.
            let candidate = Candidate::of(self.function, self.analysis, second.candidate.id, &second.summary);
            let Ok(candidate) = candidate else {
                done.push(second);
                continue;
            };
            (second.candidate, second.has_grown) = (candidate, false);
            let before = open.remove(&second.candidate.entry(self.function));
            let fused = before.filter(|at| self.pair(depth, &mut done[*at], &mut second, round).is_some());
            let at = fused.unwrap_or(done.len());
            if fused.is_none() {
                done.push(second);
            }
            if let Some(next) = following(self.analysis, &done[at].candidate) {
                open.insert(next, at);
            }
        }
        done
    }

    /// Tries two adjacent loops. If they become one, that is the first.
    fn pair(&mut self, depth: u32, first: &mut Group, second: &mut Group, round: Round) -> Option<()> {
        if !self.options.edits.allows_more() {
            return None;
        }
        let loops = [&*first, &*second].map(|group| self.place(&group.candidate));
        self.straighten(&first.candidate, &second.candidate);
        let plan = match second.missed.take() {
            Some(missed) if !first.has_grown => Err(missed),
            _ => self.plan(depth, first, second),
        };
        let (plan, is_tested) = match (plan, round) {
            (Ok(plan), Round::Plain) if plan.plan().remainders.behind != [false; 2] => return None,
            (Ok(plan), _) => (plan, false),
            (Err(missed), Round::Plain) => {
                second.missed = Some(missed);
                return None;
            }
            (Err(missed), Round::Reshaping) => match self.versioned(depth, [first, second]) {
                Some(plan) => (plan, true),
                None => {
                    let remark = remarks::missed(self.function, loops, &missed, self.options.strategy);
                    self.remarks.push((second.place, remark));
                    return None;
                }
            },
        };
        let remark = remarks::fused(self.function, loops, plan.plan(), is_tested);
        self.carry_out(depth, first, second, &plan)?;
        self.options.edits.made(NAME, remark.loc);
        self.remarks.push((second.place, remark));
        let plan = plan.plan();
        self.report.hoisted += plan.hoisted().count();
        self.report.sunk += plan.sunk().count();
        self.report.kept += plan.motion.kept.len();
        self.report.peeled += plan.remainders.peeled as usize;
        self.report.fused += 1;
        let was_shifted = self.shifted.contains(&second.candidate.id);
        if first.start > 0 || was_shifted {
            self.shifted.insert(first.candidate.id);
        }
        Some(())
    }

    /// Makes the second loop part of the first, as the judge approved, and adds what is known of it.
    fn carry_out(
        &mut self,
        depth: u32,
        first: &mut Group,
        second: &Group,
        approved: &ApprovedPlan<Plan>,
    ) -> Option<()> {
        let plan = approved.plan();
        let pair = [&first.candidate, &second.candidate];
        let mut finals = std::mem::take(&mut first.summary.finals);
        finals.join(self.function, pair.map(|own| own.latch), second.summary.finals.clone());
        let fused = rewire::fuse(self.function, self.analysis, &mut self.constants, pair, approved);
        first.candidate = fused?;
        let summary = &mut first.summary;
        summary.count = second.summary.count;
        summary.add(&Summary { nest: plan.second.clone(), ..second.summary.clone() });
        for op in &plan.motion.kept {
            // It runs among the iterations in front, before all that is fused.
            let touched = self.summaries.touched(*op, depth);
            touched.into_iter().for_each(|nest| summary.nest.merge(nest));
        }
        summary.finals = if plan.remainders.is_nothing() { finals } else { Finals::default() };
        self.analysis.step(self.function, NAME);
        (first.missed, first.has_grown) = (None, true);
        first.start += plan.remainders.peeled;
        if !plan.remainders.is_nothing() {
            summary.last = None;
        }
        if plan.remainders.peeled > 0 {
            summary.variable = None;
            summary.counters.clear();
        }
        let is_merged = |counter: &Counter| plan.merged.iter().any(|(value, _)| *value == counter.argument);
        summary.counters.retain(|counter| !is_merged(counter));
        Some(())
    }

    /// Takes the arguments of blocks between two loops away that are reached from one block: what leaves the first is the argument of its exit.
    fn straighten(&mut self, first: &Candidate, second: &Candidate) {
        let Some(between) = between(self.function, self.analysis, first, second) else { return };
        let is_straight = |block: &Block| *block != first.exit && Some(*block) != between.guard;
        for block in between.blocks().filter(is_straight).collect::<Vec<_>>() {
            fold_arguments(self.function, block, |_, _| true);
        }
    }

    /// The operation that stands for a loop in remarks.
    fn place(&self, of: &Candidate) -> Option<Op> {
        self.function.terminator(of.latch)
    }
}

const NAME: &str = "loop-fusion";

/// The pass `loop-fusion` on `llvm.func`.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    anchor: Some("llvm.func"),
    summary: "Fuse adjacent loops by leading branches elsewhere",
    options: &[
        ("no-reshape", "false", "leave loops that are not in form as they are"),
        ("peel-max-count", "0", "the most iterations that may be peeled off before fusing"),
        ("version", "true", "copy loops, to fuse them where a test holds that is made before them"),
        (
            "fusion-profitability",
            "cost",
            "which loops are copied to be fused: those with something in common (cost), or always",
        ),
        (
            "dependence-analysis",
            "polyhedral",
            "how to test dependences: scev (address differences in one iteration), da (directions), all (either), polyhedral (exactly)",
        ),
    ],
    make: |options| {
        let strategy = options.get("dependence-analysis").map_or(Ok(Strategy::default()), Strategy::named)?;
        let peel_max_count = options.parse("peel-max-count", 0)?;
        let version = options.parse("version", true)?;
        let profitability = options.parse("fusion-profitability", Profitability::default())?;
        let reshapes = !options.parse("no-reshape", false)?;
        let options = Options { strategy, peel_max_count, version, profitability, ..Options::default() };
        Ok(Box::new(LoopFusion { options, reshapes }))
    },
};

struct LoopFusion {
    options: Options,
    reshapes: bool,
}

impl Pass for LoopFusion {
    fn name(&self) -> &str {
        NAME
    }

    fn requires(&self) -> &[&'static CanonicalForm] {
        match self.reshapes {
            true => const { &[&loop_simplify::FORM, &lcssa::FORM, &loop_rotate::FORM] },
            false => &[],
        }
    }

    fn preserves(&self) -> &[&'static CanonicalForm] {
        match self.reshapes {
            true => const { &[&loop_simplify::FORM, &lcssa::FORM, &loop_rotate::FORM] },
            false => &[],
        }
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        super::branch::all_known(body)?;
        super::unwinding::remark(body, NAME, "Loop is not a candidate for fusion", cx);
        let mut analysis = Analysis::of(body).checked(cx.checks);
        let options = Options { edits: cx.edits.clone(), ..self.options.clone() };
        let report = fuse_loops(body, &mut analysis, cx.symbols, &options);
        cx.count("Loops fused", report.fused as u64);
        cx.count("Number of candidates for loop fusion", report.candidates as u64);
        cx.count("Number of hoisted preheader instructions.", report.hoisted as u64);
        cx.count("Operations kept between", report.kept as u64);
        cx.count("Iterations peeled", report.peeled as u64);
        cx.count("Loops versioned", report.versions as u64);
        cx.count("Number of sunk preheader instructions.", report.sunk as u64);
        report.remarks.into_iter().for_each(|remark| cx.remark(remark));
        Ok(())
    }
}
