//! The rewiring check: fusing two loops of the tree and lowering equals lowering and fusing them on
//! the graph.
//!
//! ```text
//!   tree ──── fuse two loops ────► tree
//!    │                              │
//!  lower                          lower
//!    ▼                              ▼
//!  graph ── fuse the same two ──► graph        equal?
//! ```
//!
//! The check proceeds step by step. Two consecutive loops are fused on the tree unchanged, without
//! choosing or weighing. The same two loops, found by a mark, are fused on the graph. Both graphs
//! are brought into [normal form](normal) and [compared](mod@compare). Then the next two loops are
//! tried, in the resulting tree. The structure of the graph after fusion is checked too
//! (`structure`).
//!
//! | module | holds |
//! | --- | --- |
//! | `steps` | the loops of tree and graph |
//! | [`normal`] | the normal form |
//! | `counters`, `formula` | loops counted by one variable |
//! | [`mod@compare`] | comparison of two functions |
//! | `classes`, `sums`, `shape` | equality of values |
//! | `structure` | structural requirements on the graph |
//!
//! **Soundness.** "Equal" is a proof, provided the normal form preserves behaviour, which is tested
//! separately. Fusion uses nothing of this module.
//!
//! **Cost.** For each step one lowering of the module, plus the normal form and the comparison.

use loomir_dialects::func;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::symbols::{SymbolTable, lookup, symbol_name};
use loomir_ir::{Body, Diagnostic, Diagnostics, Loc};
use loomir_transforms::access::base::AliasMode;
use loomir_transforms::access::callees::Callees;
use loomir_transforms::{fusion, while_to_for};

use crate::cfg::{Analysis, lcssa, loop_fusion, loop_rotate, loop_simplify};
use crate::lower_to_llvm;
use compare::{Comparison, Difference, compare};
use normal::normalise;
use structure::Before;

mod classes;
pub mod compare;
mod counters;
mod formula;
pub mod normal;
mod pass;
mod shape;
mod steps;
mod structure;
mod sums;

pub use pass::{PASS, told};

/// The options of fusion on both sides.
#[derive(Clone, Debug)]
pub struct Options {
    /// On the tree.
    pub tree: fusion::Options,
    /// On the graph.
    pub graph: loop_fusion::Options,
}

impl Default for Options {
    /// Fuses two loops unchanged, on both representations.
    fn default() -> Self {
        let graph = loop_fusion::Options { whole: true, ..Default::default() };
        Options { tree: fusion::Options::default(), graph }
    }
}

/// The outcome of one step.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Both sides are equal, except for this many values with more promises on one side.
    Equal(usize),
    /// They differ: the first difference.
    Different(Difference),
    /// The fused graph is broken: the violated requirement.
    Broken(&'static str),
    /// The loops of the graph are not fused. Holds the name of the reason and the remark.
    Refused(&'static str, Diagnostic),
    /// They can't be compared, for this reason.
    Open(String),
}

impl Outcome {
    /// True if nothing differs and nothing is broken.
    pub fn holds(&self) -> bool {
        !matches!(self, Outcome::Different(_) | Outcome::Broken(_))
    }
}

/// A pair of loops that was fused on the tree.
#[derive(Clone, Debug)]
pub struct Step {
    /// The locations of the loops.
    pub loops: [Loc; 2],
    /// True if only operations that make values are between them.
    pub adjacent: bool,
    /// The outcome.
    pub outcome: Outcome,
}

/// The report of a check.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// All fusions on the tree, in order.
    pub steps: Vec<Step>,
    /// The number of neighbours that the tree does not fuse unchanged.
    pub apart: usize,
}

impl Report {
    /// True if nothing differs and nothing is broken.
    pub fn holds(&self) -> bool {
        self.steps.iter().all(|step| step.outcome.holds())
    }

    /// Returns the number of steps with equal results.
    pub fn equal(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step.outcome, Outcome::Equal(_))).count()
    }
}

/// Checks all fusion steps of a module's structured functions. The module is unchanged.
///
/// # Errors
/// If it can't be lowered.
pub fn check(module: &Body, options: &Options) -> Result<Report, Diagnostics> {
    let mut report = Report::default();
    let analyses = options.tree.analyses.with_callees(&Callees::of(module).into());
    let options = Options { tree: fusion::Options { analyses, ..options.tree.clone() }, ..options.clone() };
    let functions = module.own_regions(module.root()).flat_map(|region| module.blocks(region));
    let is_function = |op| module.nested(op).is_some_and(|body| body.is(body.root(), func::FuncOp::DEF));
    for op in functions.flat_map(|block| module.ops(block)).filter(|op| is_function(*op)) {
        let (Some(name), Some(function)) = (symbol_name(module, op), module.nested(op)) else { continue };
        let mut tree = function.duplicate();
        while_to_for::uplift(&mut tree);
        let name = module.ctx().str(name).to_owned();
        Steps { module, name, options: &options, lowered: None, report: &mut report }.all(tree)?;
    }
    Ok(report)
}

/// The steps of one function.
struct Steps<'m> {
    module: &'m Body,
    name: String,
    options: &'m Options,
    /// The lowered module with the current function, its loops marked.
    lowered: Option<Body>,
    report: &'m mut Report,
}

impl Steps<'_> {
    fn all(&mut self, mut tree: Body) -> Result<(), Diagnostics> {
        let mut at = 0;
        loop {
            let loops = steps::loops(&tree);
            let Some(places) = steps::neighbours(&tree, &loops).get(at).copied() else { return Ok(()) };
            let mut fused = tree.duplicate();
            // The copy has its own loop operations.
            let copies = steps::loops(&fused);
            let pair = places.map(|place| copies[place]);
            if fusion::fuse_pair(&mut fused, pair, &self.options.tree).is_err() {
                self.report.apart += 1;
                at += 1;
                continue;
            }
            let before = match self.lowered.take() {
                Some(known) => known,
                None => self.lower(&tree)?,
            };
            let after = self.lower(&fused)?;
            let pair = places.map(|place| loops[place]);
            let behind = steps::moved_behind(&tree, pair, &fused, places[0]);
            let outcome = self.compare(before, &after, places, behind)?;
            let adjacent = steps::are_adjacent(&tree, pair);
            self.report.steps.push(Step { loops: pair.map(|op| tree.loc(op)), adjacent, outcome });
            self.lowered = Some(after);
            tree = fused;
        }
    }

    /// Returns the lowered module with `tree` in place of the function and its loops marked.
    fn lower(&self, tree: &Body) -> Result<Body, Diagnostics> {
        let mut module = self.module.duplicate();
        if let Some(function) = self.function(&mut module) {
            *function = tree.duplicate();
            steps::mark(function);
        }
        lower_to_llvm(&mut module)?;
        if let Some(function) = self.function(&mut module) {
            let all = self.options.tree.alias == AliasMode::Distinct;
            steps::tell_apart(tree, function, all);
        }
        Ok(module)
    }

    fn function<'b>(&self, module: &'b mut Body) -> Option<&'b mut Body> {
        let op = lookup(module, &self.name)?;
        module.nested_mut(op)
    }

    /// Fuses two loops of the graph and compares the result with the tree's. Operations that the
    /// tree moved `behind` them are moved there too, if legal.
    fn compare(
        &self,
        mut before: Body,
        after: &Body,
        places: [usize; 2],
        behind: Vec<Loc>,
    ) -> Result<Outcome, Diagnostics> {
        let options = loop_fusion::Options { behind, ..self.options.graph.clone() };
        let symbols = SymbolTable::of(&before);
        let mut after = after.duplicate();
        let (Some(graph), Some(other)) = (self.function(&mut before), self.function(&mut after)) else {
            return Ok(Outcome::Open("the function is not there any more".into()));
        };
        let sunk = match fuse_marked(graph, &symbols, places, &options) {
            Ok(sunk) => sunk,
            Err(outcome) => return Ok(outcome),
        };
        steps::unmark(graph);
        steps::unmark(other);
        normalise(graph, &symbols)?;
        normalise(other, &symbols)?;
        Ok(match compare(graph, other) {
            Comparison::Equal(promised) => Outcome::Equal(promised),
            // The graph may have to sink operations that the tree hoists in front of both loops.
            Comparison::Different(_) if sunk > 0 => {
                Outcome::Open("the graph moves operations between the loops behind both".into())
            }
            Comparison::Different(difference) => Outcome::Different(difference),
            Comparison::Open(why) => Outcome::Open(why.into()),
        })
    }
}

/// Fuses the two loops with these marks. Returns the number of operations that were moved behind
/// both, or the reason why a comparison is impossible.
fn fuse_marked(
    graph: &mut Body,
    symbols: &SymbolTable,
    places: [usize; 2],
    options: &loop_fusion::Options,
) -> Result<usize, Outcome> {
    let (mut analysis, _) = loop_simplify::loop_simplify(graph, symbols, false);
    let marked = steps::marked(graph, &analysis);
    let [Some(first), Some(second)] = places.map(|place| marked.get(&place).copied()) else {
        return Err(Outcome::Open("lowering makes other loops of them".into()));
    };
    steps::unmark(graph);
    lcssa::lcssa(graph, &analysis);
    loop_rotate::loop_rotate(graph, &mut analysis, symbols, loop_rotate::MAX_HEADER_SIZE);
    analysis.settle();
    let report =
        fuse_in_order(graph, &mut analysis, symbols, [first, second], options).map_err(Outcome::Broken)?;
    if report.fused > 0 {
        return Ok(report.sunk);
    }
    let reason = report.remarks.into_iter().find_map(|said| {
        let name = said.remark.as_ref()?.name;
        Some(Outcome::Refused(name, said))
    });
    let apart = || {
        let loc = graph.loc(graph.root());
        Outcome::Refused("NonAdjacent", Diagnostic::remark(loc, "the loops are not adjacent on the graph"))
    };
    Err(reason.unwrap_or_else(apart))
}

/// Fuses two loops of a graph, simplified, closed and rotated, as
/// [a whole](loop_fusion::Options::whole), and checks the structure of the result.
///
/// # Errors
/// The violated requirement.
pub fn fuse_in_order(
    graph: &mut Body,
    analysis: &mut Analysis,
    symbols: &SymbolTable,
    pair: [LoopId; 2],
    options: &loop_fusion::Options,
) -> Result<loop_fusion::Report, &'static str> {
    // Post-dominators are kept after the first request.
    analysis.post_dominators(graph);
    let before = Before::of(analysis, pair);
    let report = loop_fusion::fuse_pair(graph, analysis, symbols, pair, options);
    match before.broken(graph, analysis).filter(|_| report.fused > 0) {
        Some(broken) => Err(broken),
        None => Ok(report),
    }
}
