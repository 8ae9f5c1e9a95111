//! Loop fusion on control flow graphs: adjacent loops become one by leading branches elsewhere.
//!
//! Level by level, from the outside in, each loop is tried with the one that follows it; what they become is tried with the next. Two loops are fused if they are candidates and adjacent,
//! are both behind the same guard or both behind none, what stands between moves out of the way, nothing in the second uses what the first computes, and no dependence would be turned around: that is
//! asked of the same function that decides on the loop tree ([`merged`](loomir_transforms::legality::merged)). If one runs more often, or the second has to run later, some iterations run by themselves. The reasons are those of LLVM's pass
//! of the same name, the names of its remarks too.
//!
//! | module | holds |
//! | --- | --- |
//! | `summary` | what is known of loops before any is fused |
//! | `candidate` | which loops may be fused, and what runs between two |
//! | `plan` | how two may be fused, or why not |
//! | `overwritten` | stores that may change places |
//! | `motion` | where what stands between two goes |
//! | `rewire` | the fusion |
//! | `rest` | iterations that run by themselves |
//! | `reorder` | what is done with one of two so that they may be fused |
//! | `backwards` | a loop run from its last iteration to its first |
//! | `distribute` | a loop made two, of which one is fused |
//! | `computed` | forms as values |
//! | `version` | the test before loops that may be fused where it holds |
//! | `remarks` | what is said of it |
//!
//! **Soundness.** Both loops end, and return from what they call: then all that the second does happens, and only the order of what both touch matters. If the first may not, nobody may notice that
//! some of the second has run by then, which must not be undefined either; if the second may not, nobody may miss what the first would have done. Operations that order others touch everything.
//!
//! **Cost.** Linear in the function, but for pairs of objects that may overlap, and for what summaries cost.

use hashbrown::{HashMap, HashSet};
use loomir_ir::graph::loops::LoopId;
use loomir_ir::pass::{Form, Pass, PassContext, PassInfo};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Block, Body, Diagnostics, Op};
use loomir_transforms::analyses::{Analyses, DEPENDENCE};
use loomir_transforms::polyhedra::Limits;

use candidate::{Candidate, between, following};
use reorder::{Change, Reordered};
use summary::{Counter, Summaries, Summary};

use super::arguments::fold_arguments;
use super::hub::Constants;
use super::{Analysis, lcssa, loop_rotate, loop_simplify};

mod backwards;
mod candidate;
mod computed;
mod distribute;
mod motion;
mod overwritten;
mod plan;
mod remarks;
mod reorder;
mod rest;
mod rewire;
mod summary;
mod version;

/// How to fuse.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is asked which accesses conflict.
    pub analyses: Analyses,
    /// What one question about integers may cost.
    pub limits: Limits,
    /// Whether only loops are fused that run equally often, all iterations together.
    pub whole: bool,
    /// How many iterations of a first loop may run in front of the fused one, each as a copy.
    pub peel_max_count: u32,
    /// Whether loops are copied, to be fused where a test holds and left as they are where not.
    pub version: bool,
    /// Whether one of two loops may run in another order than it did, so that they fuse.
    pub reorder: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            analyses: Analyses::default(),
            limits: Limits::steps(20_000),
            whole: false,
            peel_max_count: 0,
            version: true,
            reorder: true,
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
    /// How many iterations run in front of fused loops.
    pub peeled: usize,
    /// How many pairs were fused where a test holds.
    pub versions: usize,
    /// How many loops run backwards.
    pub reversed: usize,
    /// How many were split.
    pub distributed: usize,
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
    if analysis.loops().is_empty() {
        return Report::default();
    }
    let summaries = Summaries::of(function, analysis, symbols);
    analysis.put_off();
    let mut fusion = Fusion::new(function, analysis, summaries, options);
    let mut pending = vec![(0, fusion.analysis.loops().top().to_vec())];
    // The outermost stand in postorder.
    pending[0].1.reverse();
    while let Some((depth, siblings)) = pending.pop() {
        let left = fusion.siblings(depth, siblings);
        let children = |of: &LoopId| (depth + 1, fusion.analysis.loops().get(*of).children.clone());
        pending.extend(left.iter().rev().map(children).filter(|(_, children)| children.len() > 1));
    }
    let Fusion { report, .. } = fusion;
    analysis.finish(function, NAME);
    report
}

/// Fuses two loops of a function, in the same forms, if they are adjacent and may be fused as they are, and nothing else. The report says why not, unless they are not adjacent.
pub fn fuse_pair(
    function: &mut Body,
    analysis: &mut Analysis,
    symbols: &SymbolTable,
    pair: [LoopId; 2],
    options: &Options,
) -> Report {
    let depth = analysis.loops_around(analysis.loops().get(pair[0]).header()).count() - 1;
    let summaries = Summaries::of(function, analysis, symbols);
    analysis.put_off();
    let options = Options { whole: true, ..options.clone() };
    let mut fusion = Fusion::new(function, analysis, summaries, &options);
    fusion.siblings(depth as u32, pair.to_vec());
    let Fusion { report, .. } = fusion;
    analysis.finish(function, NAME);
    report
}

struct Fusion<'f> {
    function: &'f mut Body,
    analysis: &'f mut Analysis,
    summaries: Summaries,
    options: &'f Options,
    report: Report,
    constants: Constants,
    /// Loops that were fused so that iterations of different numbers run together, or in another order: what is known of the loops in them is about other numbers.
    shifted: HashSet<LoopId>,
}

/// Loops that became one so far, or one loop.
struct Group {
    candidate: Candidate,
    summary: Summary,
    /// Its first iteration: those before run in front of it.
    start: u32,
}

impl<'f> Fusion<'f> {
    fn new(
        function: &'f mut Body,
        analysis: &'f mut Analysis,
        summaries: Summaries,
        options: &'f Options,
    ) -> Fusion<'f> {
        let (report, constants, shifted) = (Report::default(), Constants::default(), HashSet::new());
        Fusion { function, analysis, summaries, options, report, constants, shifted }
    }

    /// Fuses loops in one loop, or outside of all, that stand inside `depth` loops; returns those that are left.
    fn siblings(&mut self, depth: u32, siblings: Vec<LoopId>) -> Vec<LoopId> {
        let mut left = Vec::new();
        // By the block that is run behind them.
        let mut open: HashMap<Block, Group> = HashMap::new();
        for id in siblings {
            let Some(summary) = self.summaries.get(id).cloned() else { continue };
            let candidate = match Candidate::of(self.function, self.analysis, id, &summary) {
                Ok(candidate) => candidate,
                Err(unfit) => {
                    let remark = remarks::unfit(self.function, self.analysis, id, unfit);
                    self.report.remarks.push(remark);
                    left.push(id);
                    continue;
                }
            };
            self.report.candidates += 1;
            let second = Group { candidate, summary, start: 0 };
            let before = open.remove(&second.candidate.entry(self.function));
            let (group, is_new) = match before {
                Some(first) => self.pair(depth, first, second),
                None => (second, true),
            };
            if is_new {
                left.push(id);
            }
            if let Some(next) = following(self.analysis, &group.candidate) {
                open.insert(next, group);
            }
        }
        left.retain(|id| !self.shifted.contains(id));
        left
    }

    /// Tries two adjacent loops; returns what is tried with the next, and whether that is the second.
    fn pair(&mut self, depth: u32, first: Group, second: Group) -> (Group, bool) {
        let (mut first, mut second) = (first, second);
        let loops = [&first, &second].map(|group| self.place(&group.candidate));
        self.straighten(&first.candidate, &second.candidate);
        let (plan, tested, reordered) = match self.plan(depth, &first, &second) {
            Ok(plan) => (plan, None, None),
            Err(missed) => match self.reordered(depth, [&mut first, &mut second], &missed) {
                Some(Reordered { plan, change, rest }) => (plan, None, Some((change, rest))),
                None => match self.versioned(depth, [&mut first, &mut second]) {
                    Some((plan, test)) => (plan, Some(test), None),
                    None => {
                        self.report.remarks.push(remarks::missed(self.function, loops, &missed));
                        return (second, true);
                    }
                },
            },
        };
        let (change, rest) = reordered.unzip();
        self.report.hoisted += plan.motion.hoisted.len() + plan.motion.above.len();
        self.report.sunk += plan.motion.sunk.len();
        self.report.peeled += plan.rests.peeled as usize;
        let remark = remarks::fused(self.function, loops, &plan, tested.as_ref(), change.as_ref());
        let pair = [&first.candidate, &second.candidate];
        let fused = rewire::fuse(self.function, self.analysis, &mut self.constants, pair, &plan);
        let Some(mut candidate) = fused else { return (second, true) };
        let mut summary = first.summary;
        let later = Summary { nest: plan.second, ..second.summary };
        summary.add(&later);
        let mut behind = None;
        if let (Some(Change::Distributed(which, _)), Some(rest)) = (change, rest.flatten()) {
            self.report.distributed += 1;
            (candidate, behind) = self.placed(candidate, &mut summary, which, rest);
        }
        self.analysis.step(self.function, NAME);
        self.report.fused += 1;
        self.report.remarks.push(remark);
        summary.count = later.count;
        if plan.rests.peeled > 0 {
            summary.variable = None;
            summary.counters.clear();
        }
        let start = first.start + plan.rests.peeled;
        if !plan.rests.is_nothing() {
            summary.last = None;
        }
        if matches!(change, Some(Change::Backwards(_))) {
            self.report.reversed += 1;
            self.shifted.insert(candidate.id);
        }
        if start > 0 {
            self.shifted.insert(candidate.id);
        }
        let is_merged = |counter: &Counter| plan.merged.iter().any(|(value, _)| *value == counter.argument);
        summary.counters.retain(|counter| !is_merged(counter));
        (behind.unwrap_or(Group { candidate, summary, start }), false)
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
        ("peel-max-count", "0", "how many iterations may run in front of a fused loop"),
        ("reorder", "true", "run a loop in another order, to fuse it"),
        ("version", "true", "copy loops, to fuse them where a test holds that is made before them"),
        DEPENDENCE.option(),
    ],
    make: |options| {
        let analyses = Analyses::of_options(options)?;
        let peel_max_count = options.parse("peel-max-count", 0)?;
        let version = options.parse("version", true)?;
        let reorder = options.parse("reorder", true)?;
        let reshapes = !options.parse("no-reshape", false)?;
        Ok(Box::new(LoopFusion {
            options: Options { analyses, peel_max_count, version, reorder, ..Options::default() },
            reshapes,
        }))
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

    fn requires(&self) -> &[&'static Form] {
        match self.reshapes {
            true => const { &[&loop_simplify::FORM, &lcssa::FORM, &loop_rotate::FORM] },
            false => &[],
        }
    }

    fn preserves(&self) -> &[&'static Form] {
        match self.reshapes {
            true => const { &[&loop_simplify::FORM, &lcssa::FORM, &loop_rotate::FORM] },
            false => &[],
        }
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        super::branch::all_known(body)?;
        let mut analysis = Analysis::of(body).checked(cx.checks);
        let report = fuse_loops(body, &mut analysis, cx.symbols, &self.options);
        cx.count("Loops fused", report.fused as u64);
        cx.count("Number of candidates for loop fusion", report.candidates as u64);
        cx.count("Number of hoisted preheader instructions.", report.hoisted as u64);
        cx.count("Iterations peeled", report.peeled as u64);
        cx.count("Loops reversed", report.reversed as u64);
        cx.count("Loops distributed", report.distributed as u64);
        cx.count("Loops versioned", report.versions as u64);
        cx.count("Number of sunk preheader instructions.", report.sunk as u64);
        report.remarks.into_iter().for_each(|remark| cx.remark(remark));
        Ok(())
    }
}
