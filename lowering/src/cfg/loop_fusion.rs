//! Loop fusion on control flow graphs: adjacent loops become one by leading branches elsewhere.
//!
//! Level by level, from the outside in, each loop is tried with the one that follows it; what they become is tried with the next. Two loops are fused if they are candidates and adjacent,
//! are both behind the same guard or both behind none, what stands between moves out of the way, nothing in the second uses what the first computes, and no dependence would be turned around: that is
//! asked of the same function that decides on the loop tree ([`merged`]). If one runs more often, or the second has to run later, some iterations run by themselves. The reasons are those of LLVM's pass
//! of the same name, the names of its remarks too.
//!
//! | module | holds |
//! | --- | --- |
//! | `summary` | what is known of loops before any is fused |
//! | `candidate` | which loops may be fused, and what runs between two |
//! | `overwritten` | stores that may change places |
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

use hashbrown::{HashMap, HashSet};
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::pass::{Form, Pass, PassContext, PassInfo};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Block, Body, Diagnostics, Op, Value};
use loomir_transforms::analyses::{Analyses, DEPENDENCE};
use loomir_transforms::assumption::Assumption;
use loomir_transforms::dependence::base::{AliasMode, Base, Bases};
use loomir_transforms::dependence::nest::Frame;
use loomir_transforms::legality::{Means, Verdict, merged};
use loomir_transforms::polyhedra::Limits;

use candidate::{Between, Candidate, between, following};
use motion::Surroundings;
use overwritten::merged_but_overwritten;
use remarks::Missed;
use rest::Rests;
use rewire::Plan;
use summary::{Counter, Summaries, Summary};
use version::Test;

use super::arguments::fold_arguments;
use super::conditions::Facts;
use super::guards::Guard;
use super::hub::Constants;
use super::{Analysis, lcssa, loop_rotate, loop_simplify};

mod candidate;
mod motion;
mod overwritten;
mod remarks;
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
}

impl Default for Options {
    fn default() -> Self {
        Options {
            analyses: Analyses::default(),
            limits: Limits::steps(20_000),
            whole: false,
            peel_max_count: 0,
            version: true,
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
    /// Loops that were fused so that iterations of different numbers run together: what is known of the loops in them is about other numbers.
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
        let (plan, tested) = match self.plan(depth, &first, &second) {
            Ok(plan) => (plan, None),
            Err(missed) => match self.versioned(depth, [&mut first, &mut second]) {
                Some((plan, test)) => (plan, Some(test)),
                None => {
                    self.report.remarks.push(remarks::missed(self.function, loops, &missed));
                    return (second, true);
                }
            },
        };
        self.report.hoisted += plan.motion.hoisted.len() + plan.motion.above.len();
        self.report.sunk += plan.motion.sunk.len();
        self.report.peeled += plan.rests.peeled as usize;
        let remark = remarks::fused(self.function, loops, &plan, tested.as_ref());
        let pair = [&first.candidate, &second.candidate];
        let fused = rewire::fuse(self.function, self.analysis, &mut self.constants, pair, &plan);
        let Some(candidate) = fused else { return (second, true) };
        self.analysis.step(self.function, NAME);
        self.report.fused += 1;
        self.report.remarks.push(remark);
        let mut summary = first.summary;
        let later = Summary { nest: plan.second, ..second.summary };
        summary.add(&later);
        summary.count = later.count;
        if plan.rests.peeled > 0 {
            summary.variable = None;
            summary.counters.clear();
        }
        let start = first.start + plan.rests.peeled;
        if start > 0 {
            self.shifted.insert(candidate.id);
        }
        let is_merged = |counter: &Counter| plan.merged.iter().any(|(value, _)| *value == counter.argument);
        summary.counters.retain(|counter| !is_merged(counter));
        (Group { candidate, summary, start }, false)
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

    /// How two loops may be fused, or why not.
    fn plan(&self, depth: u32, first: &Group, second: &Group) -> Result<Plan, Missed> {
        let function = &*self.function;
        let (a, b) = (&first.candidate, &second.candidate);
        match (&a.guard, &b.guard) {
            (None, None) => {}
            (Some(own), Some(other)) => {
                if !same_guards(function, own, other) {
                    return Err(Missed::Guards);
                }
            }
            _ => return Err(Missed::OneGuard),
        }
        let between = between(function, self.analysis, a, b).ok_or(Missed::NonAdjacent)?;
        let (plan, _) = self.plan_between(depth, [first, second], between, AliasMode::May)?;
        Ok(plan)
    }

    /// How two loops may be fused between which that runs, if they run both, or why not, and what is assumed for it.
    fn plan_between(
        &self,
        depth: u32,
        [first, second]: [&Group; 2],
        between: Between,
        mode: AliasMode,
    ) -> Result<(Plan, Vec<Assumption>), Missed> {
        let function = &*self.function;
        let (a, b) = (&first.candidate, &second.candidate);
        if let Some(op) = self.uses_first(a, b, &between) {
            return Err(Missed::UsesResult(op));
        }
        if let Some((barrier, op)) = first.summary.ends_early(&second.summary) {
            return Err(Missed::EndsEarly(barrier, op));
        }
        let bases = Bases::new(function, mode);
        let means = Means {
            bases: &bases,
            dependence: &*self.options.analyses.dependence,
            limits: &self.options.limits,
            tested_before: None,
        };
        let frame = Frame {
            depth,
            constraints: Vec::new(),
            exact: true,
            variables: vec![None; depth as usize],
            facts: self.summaries.facts.clone(),
        };
        let (rests, assumed) = self.rests([first, second], &frame, &means)?;
        let surroundings = Surroundings {
            function,
            analysis: self.analysis,
            summaries: &self.summaries,
            means: &means,
            first: (a, &first.summary),
            second: (b, &second.summary),
            frame: &frame,
        };
        let motion = surroundings.plan(&between).map_err(Missed::Stuck)?;
        if let Some(op) = surroundings.enters_late(&between, &motion) {
            return Err(Missed::UsesResult(op));
        }
        let merged = match rests.peeled {
            0 => same_counters(&first.summary, &second.summary),
            _ => Vec::new(),
        };
        let late = i64::from(first.start + rests.peeled);
        let second = second.summary.nest.delayed(depth, late).ok_or(Missed::Unnumbered)?;
        Ok((Plan { between, motion, merged, rests, second }, assumed))
    }

    /// Which iterations run by themselves where as few as may be do that, or why the others may not run together.
    fn rests(
        &self,
        [first, second]: [&Group; 2],
        frame: &Frame,
        means: &Means<'_>,
    ) -> Result<(Rests, Vec<Assumption>), Missed> {
        let counts = (first.summary.count, second.summary.count);
        let (Some(own), Some(other)) = counts else { return Err(Missed::TripCounts(counts.0, counts.1)) };
        let verdict = |peeled: u32| match first.start + peeled {
            0 => merged_but_overwritten(&first.summary, &second.summary, frame, means),
            late => merged(&first.summary.nest, &second.summary.nest, i64::from(late), frame, means),
        };
        let is_legal = |verdict: &Verdict| matches!(verdict, Verdict::Legal { .. });
        let at_once = verdict(0);
        let most = if self.options.whole { 0 } else { self.options.peel_max_count };
        // What may run later, may run later still.
        let least = match is_legal(&at_once) {
            true => Some(0),
            false => (1..=most).find(|peeled| is_legal(&verdict(*peeled))),
        };
        let Some(least) = least else { return Err(Missed::Dependences(at_once)) };
        let all = (least..=most.max(least)).filter_map(|peeled| Rests::of(own, other, peeled));
        let even = all.clone().find(|rests| rests.behind == [false; 2]);
        let Some(rests) = even.or_else(|| all.min_by_key(|rests| rests.peeled)) else {
            return Err(Missed::Dependences(at_once));
        };
        let pair = [first, second];
        if rests.is_nothing() || (!self.options.whole && self.may_copy(pair, &rests)) {
            let found = if rests.peeled == 0 { at_once } else { verdict(rests.peeled) };
            let Verdict::Legal { assumed } = found else { return Err(Missed::Dependences(found)) };
            return Ok((rests, assumed));
        }
        let counts = Missed::TripCounts(counts.0, counts.1);
        Err(if least > 0 { Missed::Dependences(at_once) } else { counts })
    }

    /// How two loops may be fused where a test holds, before which they are split into two versions then.
    fn versioned(&mut self, depth: u32, [first, second]: [&mut Group; 2]) -> Option<(Plan, Test)> {
        if self.options.whole || !self.options.version {
            return None;
        }
        let function = &*self.function;
        let (a, b) = (&first.candidate, &second.candidate);
        let blocks = version::as_if_both_run(function, self.analysis, a, b)?;
        let (ahead, behind) = blocks.split_last()?;
        let between = Between { behind: behind.to_vec(), guard: None, ahead: vec![*ahead] };
        let bare = |group: &Group| Group {
            candidate: Candidate { guard: None, ..group.candidate.clone() },
            summary: group.summary.clone(),
            start: group.start,
        };
        let bare = [bare(first), bare(second)];
        let groups = [&bare[0], &bare[1]];
        let (mut plan, assumed) = self.plan_between(depth, groups, between, AliasMode::Distinct).ok()?;
        let copied = Rests { behind: [true; 2], ..Rests::default() };
        let is_worth_it = self.may_copy(groups, &copied);
        let nests = [&first.summary.nest, &second.summary.nest];
        let test = Test::of(function, [a, b], &blocks, &assumed, nests, depth).filter(|_| is_worth_it)?;
        let pair = [&mut first.candidate, &mut second.candidate];
        version::split(self.function, self.analysis, &mut self.constants, pair, &blocks, &test)?;
        // What is tested has moved.
        plan.motion.hoisted.retain(|op| !test.moved.contains(op));
        plan.motion.sunk.retain(|op| !test.moved.contains(op));
        self.straighten(&first.candidate, &second.candidate);
        self.report.versions += 1;
        Some((plan, test))
    }

    /// Whether iterations of two loops may run by themselves: that is worth it, and copies of the loops are what they are.
    fn may_copy(&self, [first, second]: [&Group; 2], rests: &Rests) -> bool {
        let has_common = || {
            let mut bases = second.summary.nest.bases();
            bases.any(|base| base != Base::World && first.summary.nest.of_base(base).next().is_some())
        };
        let copies = [rests.peeled as usize + usize::from(rests.behind[0]), usize::from(rests.behind[1])];
        let mut left = MAX_COPIED;
        let mut fits = |of: &Candidate, copies: usize| {
            let size = self.size_if_closed(of.id, left / copies.max(1));
            let fits = copies == 0 || size.is_some();
            left -= copies * size.unwrap_or(0).min(left / copies.max(1));
            fits
        };
        let is_guarded = first.candidate.guard.is_some();
        (!is_guarded || rests.behind == [false; 2])
            && fits(&first.candidate, copies[0])
            && fits(&second.candidate, copies[1])
            && has_common()
    }

    /// How many operations a loop has, if these are at most so many and nothing it defines is used outside but by way of its exit.
    fn size_if_closed(&self, id: LoopId, most: usize) -> Option<usize> {
        let function = &*self.function;
        let loops = self.analysis.loops();
        let is_inside = |op: Op| {
            let node = self.analysis.number_at(function, op);
            node.is_some_and(|node| loops.contains(id, node))
        };
        let mut size = 0;
        for node in &loops.get(id).nodes {
            let block = self.analysis.block(*node);
            let results = |op| function.results(op);
            let defined = function.arguments(block).chain(function.ops(block).flat_map(results));
            for value in defined {
                if !function.uses(value).all(|used| is_inside(used.op)) {
                    return None;
                }
            }
            size += function.ops(block).count();
            if size > most {
                return None;
            }
        }
        Some(size)
    }

    /// An operation in the second loop that uses what the first, or the block behind it, defines.
    fn uses_first(&self, first: &Candidate, second: &Candidate, between: &Between) -> Option<Op> {
        let function = &*self.function;
        let loops = self.analysis.loops();
        let in_second = |op: Op| {
            let node = self.analysis.number_at(function, op);
            node.is_some_and(|node| loops.contains(second.id, node))
        };
        let arguments = between.blocks().flat_map(|block| function.arguments(block));
        let used = arguments.flat_map(|value| function.uses(value)).find(|used| in_second(used.op));
        if let Some(used) = used {
            return Some(used.op);
        }
        // Loops that are closed hand out all they define; others may not be.
        let mut ops = loops.get(second.id).nodes.iter().flat_map(|node| {
            let block = self.analysis.block(*node);
            function.ops(block)
        });
        ops.find(|op| {
            function.operands(*op).any(|value| {
                let block = function.value_block(value).map(|block| self.analysis.number(block));
                block.is_some_and(|node| loops.contains(first.id, node))
            })
        })
    }
}

/// Whether two guards let pass alike: they are one, or the one decides the other.
fn same_guards(function: &Body, own: &Guard, other: &Guard) -> bool {
    if own.enters_if == other.enters_if && same_value(function, own.condition, other.condition) {
        return true;
    }
    [true, false].into_iter().all(|enters| {
        let mut facts = Facts::default();
        facts.learn(function, own.condition, own.enters_if == enters);
        facts.decide(function, other.condition) == Some(other.enters_if == enters)
    })
}

/// Whether two values are one, or computed by equal comparisons of equal operands.
fn same_value(function: &Body, a: Value, b: Value) -> bool {
    if a == b {
        return true;
    }
    let (Some(x), Some(y)) = (function.defining_op(a), function.defining_op(b)) else { return false };
    function.is(x, llvm::ICmpOp::DEF)
        && function.is(y, llvm::ICmpOp::DEF)
        && function.properties(x) == function.properties(y)
        && function
            .operands(x)
            .zip(function.operands(y))
            .all(|(p, q)| p == q || same_constant(function, p, q))
}

/// Whether two values are equal constants.
fn same_constant(function: &Body, a: Value, b: Value) -> bool {
    let (Some(x), Some(y)) = (function.defining_op(a), function.defining_op(b)) else { return false };
    function.is(x, llvm::ConstantOp::DEF)
        && function.is(y, llvm::ConstantOp::DEF)
        && function.value_type(a) == function.value_type(b)
        && function.properties(x) == function.properties(y)
}

/// The arguments of the second header that have the value of the first loop's counter in each iteration. That decides whether it goes on, so it is no poison.
fn same_counters(first: &Summary, second: &Summary) -> Vec<(Value, Value)> {
    let Some(variable) = &first.variable else { return Vec::new() };
    let alike = second.counters.iter().filter(|counter| counter.counts_like(variable));
    alike.map(|counter| (counter.argument, variable.argument)).collect()
}

/// Most operations that are copied for one fusion.
const MAX_COPIED: usize = 512;

const NAME: &str = "loop-fusion";

/// The pass `loop-fusion` on `llvm.func`.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    anchor: Some("llvm.func"),
    summary: "Fuse adjacent loops by leading branches elsewhere",
    options: &[
        ("no-reshape", "false", "leave loops that are not in form as they are"),
        ("peel-max-count", "0", "how many iterations may run in front of a fused loop"),
        ("version", "true", "copy loops, to fuse them where a test holds that is made before them"),
        DEPENDENCE.option(),
    ],
    make: |options| {
        let analyses = Analyses::of_options(options)?;
        let peel_max_count = options.parse("peel-max-count", 0)?;
        let version = options.parse("version", true)?;
        let reshapes = !options.parse("no-reshape", false)?;
        Ok(Box::new(LoopFusion {
            options: Options { analyses, peel_max_count, version, ..Options::default() },
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
        cx.count("Loops versioned", report.versions as u64);
        cx.count("Number of sunk preheader instructions.", report.sunk as u64);
        report.remarks.into_iter().for_each(|remark| cx.remark(remark));
        Ok(())
    }
}
