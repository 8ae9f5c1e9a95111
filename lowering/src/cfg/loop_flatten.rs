//! Loop flattening on graphs of blocks: a nest of two loops becomes one loop.
//!
//! ```text
//!     ┌─> outer ─┐                            ┌─> outer
//!     │   ┌──────┴─> inner ─┐      becomes    │   inner
//!     │   └─────────────────┤                 │   rest
//!     └──────────── rest <──┘                 └───┘
//! ```
//!
//! The inner loop loses its way back, and the outer loop runs as often as both did. What is the
//! same function of the number of the iteration, like `i * m + j`, is computed from that number.
//! Arguments that the inner loop takes over from the outer one and hands back become one argument.
//!
//! The number of all iterations must not overflow. Where that is not known, the counter gets 64
//! bits, and where these may be too few, the nest is kept beside and a test decides. The same test
//! asks if the inner loop runs at all, where a guard decides that.
//!
//! | module | holds |
//! | --- | --- |
//! | `nest` | the shape, and the values that need another form |
//! | `rewire` | the new loop |
//!
//! The name and the options are those of LLVM's `loop-flatten`; `divide` is that of the pass on the
//! [tree](loomir_transforms::transform::flatten).
//!
//! **Soundness.** The order of iterations stays, and so do all operations of the inner loop. What
//! stands between the loops is repeated, so it has to be without effect, and the same each time.
//!
//! **Cost.** Linear in the function for each level of nesting.
//!
//! # Limits
//!
//! - Both loops are left at their latches alone, and the inner one runs equally often each time.
//! - The blocks between the two loops are a straight line of operations without effect.

use hashbrown::HashSet;
use loomir_dialects::interp::layout::DataLayout;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::pass::{CanonicalForm, EditLimit, Options, Pass, PassContext, PassInfo};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Block, Body, Diagnostics, Loc};
use loomir_transforms::remark::Remarks;
use loomir_transforms::transform::Transformation;
use loomir_transforms::transform::flatten::Flatten;

use super::LOOPS_IN_FORM;
use super::loop_unroll::rounds::{self, Visitor};
use super::scev::ScalarEvolution;
use nest::Nest;

mod nest;
mod rewire;

/// Permissions.
#[derive(Clone, Copy)]
struct Preferences {
    /// The number of operations between the loops that may be repeated.
    most_repeated: u64,
    /// True if the counter may get 64 bits.
    widen: bool,
    /// True if the nest may be kept beside, for too many iterations.
    version: bool,
    /// True if counters that are used apart may be computed by a division.
    divide: bool,
}

impl Preferences {
    fn of(options: &Options) -> Result<Preferences, String> {
        Ok(Preferences {
            most_repeated: options.parse("loop-flatten-cost-threshold", 2)?,
            widen: options.parse("loop-flatten-widen-iv", true)?,
            version: options.parse("loop-flatten-version-loops", true)?,
            divide: options.parse("divide", false)?,
        })
    }
}

struct Flattener<'a> {
    symbols: &'a SymbolTable,
    preferences: Preferences,
    edits: &'a EditLimit,
    flattened: u64,
    versioned: u64,
    /// The operations of nests that are kept beside.
    copied: usize,
    remarks: Diagnostics,
}

/// The most operations of a function that are kept beside new loops.
const MAX_COPIED: usize = 2048;

/// The plan for the nest of one loop around another.
struct Plan {
    loc: Loc,
    /// # Errors
    ///
    /// Why the nest stays.
    nest: Result<Box<Nest>, &'static str>,
}

impl Visitor for Flattener<'_> {
    type Plan = Plan;

    fn plans(&mut self, scev: &mut ScalarEvolution<'_>, ids: &[LoopId]) -> Vec<Plan> {
        ids.iter().filter_map(|id| self.plan(scev, *id)).collect()
    }

    fn carry_out(
        &mut self,
        function: &mut Body,
        plan: Plan,
        _: &HashSet<Block>,
        changed: &mut Vec<Block>,
    ) -> Vec<Block> {
        let remarks = Remarks { body: function, pass: NAME };
        let nest = match plan.nest {
            Ok(nest) => nest,
            Err(why) => {
                let what = Flatten::INFO.what_missed;
                self.remarks.push(remarks.missed(Flatten::INFO.missed, plan.loc, what, why));
                return Vec::new();
            }
        };
        if !self.edits.allows_more() {
            return Vec::new();
        }
        let mut text = "Loops flattened".to_owned();
        if nest.is_tested {
            text += "; the nest is kept beside, for more iterations than fit in its counter";
        } else if nest.guard.is_some() {
            text += "; the outer loop is kept beside, for an inner one that does not run";
        }
        let remark = remarks.passed(Flatten::INFO.passed, plan.loc, &text);
        let Some(made) = rewire::flatten(function, &nest) else { return Vec::new() };
        self.remarks.push(remark);
        self.edits.made(NAME, plan.loc);
        self.flattened += 1;
        self.versioned += u64::from(nest.is_kept());
        changed.extend(made.blocks);
        made.headers
    }
}

impl Flattener<'_> {
    /// Plans the flattening of a loop and the loop inside. `None` if there is no loop inside.
    fn plan(&mut self, scev: &mut ScalarEvolution<'_>, id: LoopId) -> Option<Plan> {
        let children = scev.analysis().loops().get(id).children.clone();
        let child = *children.first()?;
        let latch = *scev.latches(id).first()?;
        let branch = scev.function().terminator(scev.analysis().block(latch))?;
        let nest = match children.len() {
            1 => Nest::of(scev, (id, child), self.symbols, &self.preferences).map(Box::new),
            _ => Err("it has several loops inside"),
        };
        let nest = nest.and_then(|nest| self.affordable(scev, id, nest));
        Some(Plan { loc: scev.function().loc(branch), nest })
    }

    /// Counts the operations that are kept beside a nest. Nests in nests would be kept in each copy
    /// of those around them.
    ///
    /// # Errors
    ///
    /// There are too many.
    fn affordable(
        &mut self,
        scev: &ScalarEvolution<'_>,
        id: LoopId,
        nest: Box<Nest>,
    ) -> Result<Box<Nest>, &'static str> {
        if !nest.is_kept() {
            return Ok(nest);
        }
        let analysis = scev.analysis();
        let blocks = analysis.loops().get(id).nodes.iter().map(|own| analysis.block(*own));
        self.copied += blocks.map(|block| scev.function().ops(block).count()).sum::<usize>();
        if self.copied > MAX_COPIED { Err("too many operations would be kept beside it") } else { Ok(nest) }
    }
}

const NAME: &str = "loop-flatten";

/// The pass `loop-flatten` on `llvm.func`.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    anchor: Some("llvm.func"),
    summary: Flatten::INFO.summary,
    options: &[
        ("loop-flatten-cost-threshold", "2", "the operations between the loops that may be repeated"),
        ("loop-flatten-widen-iv", "true", "give the counter 64 bits where its own may be too few"),
        ("loop-flatten-version-loops", "true", "keep the nest beside where iterations may be too many"),
        ("divide", "false", "compute variables that are used apart by a division"),
    ],
    make: |options: &Options| Ok(Box::new(LoopFlatten { preferences: Preferences::of(options)? })),
};

struct LoopFlatten {
    preferences: Preferences,
}

impl Pass for LoopFlatten {
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
        super::unwinding::remark(body, NAME, Flatten::INFO.what_missed, cx);
        let edits = cx.edits.clone();
        let layout = DataLayout::of_symbols(body.ctx(), cx.symbols);
        let mut flattener = Flattener {
            symbols: cx.symbols,
            preferences: self.preferences,
            edits: &edits,
            flattened: 0,
            versioned: 0,
            copied: 0,
            remarks: Diagnostics::default(),
        };
        rounds::from_the_inside(body, (cx.symbols, &layout), cx.checks, &mut flattener);
        let Flattener { flattened, versioned, remarks, .. } = flattener;
        cx.count("Loops flattened", flattened);
        cx.count("Nests kept beside flattened ones", versioned);
        remarks.into_iter().for_each(|remark| cx.remark(remark));
        Ok(())
    }
}
