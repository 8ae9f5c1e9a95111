//! Visits of the loops of a function, from the inside out.
//!
//! Each round plans changes of loops whose inner loops were all visited, and that have no block in
//! common. Then it makes the changes, folds what became constant, and brings loops back into form.
//!
//! **Cost.** One analysis of the function for each round with a change. There are as many rounds as
//! loops nest deep.

use hashbrown::HashSet;
use loomir_dialects::interp::layout::DataLayout;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Block, Body};

use super::tidy_up;
use crate::cfg::scev::ScalarEvolution;
use crate::cfg::{Analysis, lcssa, loop_simplify};

/// A transformation that changes loops one by one.
pub(in crate::cfg) trait Visitor {
    /// A planned change of one loop, or the reason why there is none.
    type Plan;

    /// Plans the changes of loops that have no block in common.
    fn plans(&mut self, scev: &mut ScalarEvolution<'_>, ids: &[LoopId]) -> Vec<Self::Plan>;

    /// Makes a change, and adds the blocks that it changed in the order in which they run. Returns
    /// the headers of loops that must not be visited: copies of visited loops, and remainders.
    fn carry_out(
        &mut self,
        function: &mut Body,
        plan: Self::Plan,
        visited: &HashSet<Block>,
        changed: &mut Vec<Block>,
    ) -> Vec<Block>;
}

/// Visits each loop of a function in loop-simplify form and closed, the inner ones first.
pub(in crate::cfg) fn from_the_inside<V: Visitor>(
    function: &mut Body,
    (symbols, layout): (&SymbolTable, &DataLayout),
    checks: bool,
    visitor: &mut V,
) {
    let mut visited = HashSet::new();
    let mut analysis = Analysis::of(function);
    loop {
        let ready = ready_loops(&analysis, &visited);
        if ready.is_empty() {
            return;
        }
        visited.extend(ready.iter().map(|id| analysis.block(analysis.loops().get(*id).header())));
        let plans = visitor.plans(&mut ScalarEvolution::new(function, &analysis, layout), &ready);
        let mut changed = Vec::new();
        for plan in plans {
            let headers = visitor.carry_out(function, plan, &visited, &mut changed);
            visited.extend(headers);
        }
        if !changed.is_empty() {
            tidy_up::tidy_up(function, &changed);
            analysis = in_form(function, symbols, checks);
        }
    }
}

/// Brings loops into form again, and returns a new analysis.
pub(super) fn in_form(function: &mut Body, symbols: &SymbolTable, checks: bool) -> Analysis {
    let (analysis, _) = loop_simplify::loop_simplify(function, symbols, checks);
    lcssa::lcssa(function, &analysis);
    analysis
}

/// Returns loops that were not visited, but all of whose inner loops were. They have no block in
/// common.
fn ready_loops(analysis: &Analysis, visited: &HashSet<Block>) -> Vec<LoopId> {
    let is_visited = |id: LoopId| visited.contains(&analysis.block(analysis.loops().get(id).header()));
    let mut taken: HashSet<u32> = HashSet::new();
    let mut ready = Vec::new();
    // Inner loops come first.
    for (id, own) in analysis.loops().iter() {
        let is_ready = !is_visited(id) && own.children.iter().all(|child| is_visited(*child));
        if is_ready && !own.nodes.iter().any(|node| taken.contains(node)) {
            taken.extend(&own.nodes);
            ready.push(id);
        }
    }
    ready
}
