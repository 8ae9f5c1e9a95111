//! Loop peeling on graphs of blocks: first or last iterations run by themselves.
//!
//! The pass `loop-peel` has the options of its namesake on the loop tree. It peels innermost loops,
//! as often as it is told to. Peeling that pays off is decided by [`loop_unroll`], whose copies
//! serve here too.
//!
//! **Soundness.** The order of iterations stays. For last iterations, the number of iterations has
//! to be computed before the loop; see `last`.
//!
//! **Cost.** Linear in the function for each level of nesting, and in the code that is written.
//!
//! # Limits
//!
//! - Last iterations are peeled of loops whose latch exits, and whose number of iterations can be
//!   computed before the loop.
//! - A loop whose operations may not be copied stays, as for unrolling.

use hashbrown::HashSet;
use loomir_dialects::interp::layout::DataLayout;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::pass::{CanonicalForm, EditLimit, Options, Pass, PassContext, PassInfo};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Block, Body, Diagnostics, Loc};
use loomir_transforms::remark::Remarks;
use loomir_transforms::transform::Transformation;
use loomir_transforms::transform::peel::Peel;
use loomir_transforms::tree::Change;

use super::LOOPS_IN_FORM;
use super::expander::Recipe;
use super::loop_unroll::copies::{self, Copy};
use super::loop_unroll::rounds::{self, Visitor};
use super::loop_unroll::shape::{Course, Exit, ExitRule, Shape};
use super::loop_unroll::{self, directives, facts};
use super::scev::ScalarEvolution;

mod last;

/// Peels loops, as often as it is told to.
struct Peeler<'a> {
    symbols: &'a SymbolTable,
    peel: &'a Peel,
    edits: &'a EditLimit,
    peeled: u64,
    remarks: Diagnostics,
}

/// The plan for one loop.
struct Plan {
    loc: Loc,
    /// The shape, and the number of taken backedges if last iterations are peeled.
    ///
    /// # Errors
    ///
    /// Why the loop stays.
    change: Result<(Shape, Option<Recipe>), &'static str>,
}

impl Visitor for Peeler<'_> {
    type Plan = Plan;

    fn plans(&mut self, scev: &mut ScalarEvolution<'_>, ids: &[LoopId]) -> Vec<Plan> {
        let is_innermost = |id: &&LoopId| scev.analysis().loops().get(**id).children.is_empty();
        let innermost: Vec<LoopId> = ids.iter().filter(is_innermost).copied().collect();
        innermost.into_iter().filter_map(|id| self.plan(scev, id)).collect()
    }

    fn carry_out(
        &mut self,
        function: &mut Body,
        plan: Plan,
        _: &HashSet<Block>,
        changed: &mut Vec<Block>,
    ) -> Vec<Block> {
        let remarks = Remarks { body: function, pass: NAME };
        let (shape, backedges) = match plan.change {
            Ok(change) => change,
            Err(why) => {
                let remark = remarks.missed(Peel::INFO.missed, plan.loc, Peel::INFO.what_missed, why);
                self.remarks.push(remark);
                return Vec::new();
            }
        };
        if !self.edits.allows_more() {
            return Vec::new();
        }
        let [first, last] = self.peel.counts().map(|count| count as usize);
        let change = Change::Peel { first, last };
        let remark = Transformation::remark(self.peel, remarks, plan.loc, &change);
        let Some((blocks, headers)) = carry_out(function, &shape, backedges.as_ref(), self.peel.counts())
        else {
            return Vec::new();
        };
        self.remarks.push(remark);
        self.edits.made(NAME, plan.loc);
        self.peeled += 1;
        changed.extend(blocks);
        headers
    }
}

impl Peeler<'_> {
    /// Plans the peeling of a loop. `None` if it is not in form.
    fn plan(&self, scev: &mut ScalarEvolution<'_>, id: LoopId) -> Option<Plan> {
        let shape = Shape::of(scev, id)?;
        let function = scev.function();
        let (branch, _) = shape.backedge(function)?;
        let loc = function.loc(branch);
        let facts = facts::facts(scev, id, &shape, self.symbols, 0);
        if directives::read(function, branch).is_none() {
            return Some(Plan { loc, change: Err("it has metadata that can't be read") });
        }
        if let Some(why) = facts.fixed {
            return Some(Plan { loc, change: Err(why) });
        }
        let [_, last] = self.peel.counts();
        let change = match last {
            0 => Ok(None),
            _ => self.backedges(scev, id, &shape, last).map(Some),
        };
        Some(Plan { loc, change: change.map(|backedges| (shape, backedges)) })
    }

    /// Returns the number of taken backedges of a loop whose last iterations are peeled.
    ///
    /// # Errors
    ///
    /// Why they can't be.
    fn backedges(
        &self,
        scev: &mut ScalarEvolution<'_>,
        id: LoopId,
        shape: &Shape,
        last: u64,
    ) -> Result<Recipe, &'static str> {
        if !shape.is_rotated() {
            return Err("its latch does not leave it");
        }
        let at_latch = shape.exits.iter().find(|exit| exit.block == shape.latch);
        if let Some(ExitRule::At(count)) = at_latch.map(|exit| exit.rule)
            && count < u128::from(last)
        {
            return Err("all of its iterations are among the last ones");
        }
        loop_unroll::runtime_of_latch(scev, id, shape, (last, true))
    }
}

/// Peels a loop. Returns the changed blocks in their order, and the headers of loops that must not
/// be visited. `None` if nothing has changed.
fn carry_out(
    function: &mut Body,
    shape: &Shape,
    backedges: Option<&Recipe>,
    [first, last]: [u64; 2],
) -> Option<(Vec<Block>, Vec<Block>)> {
    let (mut blocks, mut headers) = (vec![shape.preheader], Vec::new());
    let mut shape = shape.clone();
    let mut behind = Vec::new();
    if let Some(backedges) = backedges {
        let made = last::peel_last(function, &shape, backedges, last)?;
        behind.push(made.entry);
        for copy in made.copies.iter().chain([&made.fallback]) {
            behind.extend(shape.blocks.iter().map(|block| copy.block(*block)));
        }
        behind.push(made.fallback_entry);
        headers.push(made.fallback.header);
        blocks.push(made.preheader);
        shape.preheader = made.preheader;
    }
    let course = |exit: &Exit, number: u64| match backedges.is_some() && exit.block == shape.latch {
        // The latch counts other iterations now.
        true => Course::Tests,
        false => exit.rule.in_iteration(u128::from(number)),
    };
    for copy in copies::peel(function, &shape, first, course).iter().chain([&Copy::original(&shape)]) {
        blocks.extend(shape.blocks.iter().map(|block| copy.block(*block)));
    }
    if let Some((branch, _)) = shape.backedge(function) {
        directives::mark_peeled(function, branch, first + last);
    }
    blocks.extend(behind);
    Some((blocks, headers))
}

const NAME: &str = "loop-peel";

/// The pass `loop-peel` on `llvm.func`.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    anchor: Some("llvm.func"),
    summary: Peel::INFO.summary,
    // The first option is about memrefs, which a CFG has not.
    options: Peel::INFO.options.split_at(1).1,
    make: |options: &Options| Ok(Box::new(LoopPeel { peel: Peel::of(options)? })),
};

struct LoopPeel {
    peel: Peel,
}

impl Pass for LoopPeel {
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
        super::unwinding::remark(body, NAME, "loop not peeled", cx);
        let edits = cx.edits.clone();
        let layout = DataLayout::of_symbols(body.ctx(), cx.symbols);
        let remarks = Diagnostics::default();
        let mut peeler = Peeler { symbols: cx.symbols, peel: &self.peel, edits: &edits, peeled: 0, remarks };
        rounds::from_the_inside(body, (cx.symbols, &layout), cx.checks, &mut peeler);
        let Peeler { peeled, remarks, .. } = peeler;
        cx.count("Loops peeled", peeled);
        remarks.into_iter().for_each(|remark| cx.remark(remark));
        Ok(())
    }
}
