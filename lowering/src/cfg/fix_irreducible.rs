//! Conversion of irreducible cycles to loops: a cycle with several entries gets one block as its
//! only entry.
//!
//! The new block is on every edge from outside to an entry, and on every edge to the entry that is
//! the cycle's [header](CycleForest), wherever it comes from. An argument tells the block where to
//! continue. It then dominates the cycle, and all of the cycle leads back to it, so the cycle is a
//! natural loop with it as the header. Edges inside the cycle to other entries stay: inner cycles
//! keep their entries. A natural loop with the header of the cycle becomes part of the new loop.
//! Cycles are processed from the outside in, because fixing one changes the entries of its inner
//! cycles, but not their blocks.
//!
//! No value needs repair. A definition that dominates its use in the cycle is either outside of it,
//! before every entry, or in the cycle behind the same entry as its use. Arguments of the entries
//! go through the new block.
//!
//! A cycle with a call that may unwind to a landing pad stays as it is, and so does one that such a
//! call leads into.
//!
//! Unreachable blocks are erased first. Linear in blocks and edges times the depth of nests, plus
//! the cost of dominators, which are computed anew once.

use hashbrown::HashSet;
use loomir_ir::graph::ControlFlow;
use loomir_ir::graph::cycles::{Cycle, CycleForest, CycleId};
use loomir_ir::pass::{CanonicalForm, Pass, PassContext, PassInfo};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Body, Diagnostic, Diagnostics, Loc, Op};

use super::Analysis;
use super::branch::{all_known, is_opaque, is_plain};
use super::constants::Constants;
use super::edit::erase_unreachable;
use super::hub::{by_branch, lead_through_hub, part_edges};

/// Gives every irreducible cycle of a function a header. Returns an analysis of the new function,
/// and the number of such cycles.
pub fn fix_irreducible(function: &mut Body, checks: bool) -> (Analysis, usize) {
    erase_unreachable(function);
    let mut analysis = Analysis::of(function).checked(checks);
    let cycles = cycles_of(function);
    let (mut fixed, mut constants) = (0, Constants::default());
    let mut pending: Vec<CycleId> = cycles.top().to_vec();
    analysis.defer_updates();
    while let Some(id) = pending.pop() {
        pending.extend(&cycles.get(id).children);
        if !cycles.get(id).is_reducible() && may_be_fixed(function, &analysis, cycles.get(id)) {
            fix(function, &mut analysis, &mut constants, cycles.get(id));
            fixed += 1;
            analysis.step(function, NAME);
        }
    }
    analysis.finish(function, NAME);
    (analysis, fixed)
}

fn cycles_of(function: &Body) -> CycleForest {
    let flow = ControlFlow::of(function, function.region(function.root(), 0));
    CycleForest::new(flow.graph(), flow.reversed(), 0)
}

/// Returns the edges that get a new target if a cycle gets a header.
fn redirected(function: &Body, analysis: &Analysis, cycle: &Cycle, own: &HashSet<u32>) -> Vec<(Op, usize)> {
    let header = cycle.header();
    let mut edges: Vec<(Op, usize)> = Vec::new();
    for entry in &cycle.entries {
        let is_redirected = |edge: &(Op, usize)| {
            let from = function.block_of(edge.0).map(|block| analysis.number(block));
            from.is_some_and(|from| *entry == header || !own.contains(&from))
        };
        edges.extend(function.predecessor_edges(analysis.block(*entry)).filter(is_redirected));
    }
    edges
}

/// True if all edges of a cycle, and those into it, may lead elsewhere.
fn may_be_fixed(function: &Body, analysis: &Analysis, cycle: &Cycle) -> bool {
    let own: HashSet<u32> = cycle.nodes.iter().copied().collect();
    let edges = redirected(function, analysis, cycle, &own);
    edges.into_iter().all(|(op, _)| is_plain(function, op))
        && !cycle.nodes.iter().any(|node| is_opaque(function, analysis.block(*node)))
}

fn fix(function: &mut Body, analysis: &mut Analysis, constants: &mut Constants, cycle: &Cycle) {
    let header = cycle.header();
    let own: HashSet<u32> = cycle.nodes.iter().copied().collect();
    let edges = redirected(function, analysis, cycle, &own);
    let mut parted = Vec::new();
    // Blocks inside the cycle that separate its edges.
    let mut inner = Vec::new();
    for (op, indices) in by_branch(edges) {
        let is_inside = function.block_of(op).is_some_and(|block| own.contains(&analysis.number(block)));
        let made = analysis.graph().len() as u32;
        parted.extend(part_edges(function, analysis, op, &indices));
        if is_inside {
            inner.extend(made..analysis.graph().len() as u32);
        }
    }
    // The loops around the cycle have other headers.
    let parent = analysis.loops_around(header).find(|id| analysis.loops().get(*id).header() != header);
    let Some(after) = parted.last().and_then(|(op, _)| function.block_of(*op)) else { return };
    let hub = lead_through_hub(function, analysis, constants, &parted, after, parent);
    let mut nodes = vec![analysis.number(hub)];
    nodes.extend(&cycle.nodes);
    nodes.extend(inner);
    analysis.loops_mut().enclose(parent, nodes, header);
}

const NAME: &str = "fix-irreducible";

/// The form: every cycle that may be changed is a natural loop.
pub static FORM: CanonicalForm = CanonicalForm { name: NAME, check, make: || Box::new(FixIrreducible) };

fn check(function: &Body, _: &SymbolTable) -> Result<(), Diagnostic> {
    let flow = ControlFlow::of(function, function.region(function.root(), 0));
    let analysis = Analysis::of(function);
    let is_wrong = |cycle: &Cycle| !cycle.is_reducible() && may_be_fixed(function, &analysis, cycle);
    match cycles_of(function).iter().find(|(_, cycle)| is_wrong(cycle)) {
        None => Ok(()),
        Some((_, cycle)) => {
            let place = |node: u32| {
                let first = function.first_op(flow.block(node));
                first.map_or(Loc::UNKNOWN, |op| function.loc(op))
            };
            let error =
                Diagnostic::error(place(cycle.entries[0]), "a cycle is entered here, and at another place");
            Err(error.note(place(cycle.entries[1]), "it is entered here too"))
        }
    }
}

/// The pass `fix-irreducible` on `llvm.func`.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    anchor: Some("llvm.func"),
    summary: "Give cycles that are entered at several places a header",
    options: &[],
    make: |_| Ok(Box::new(FixIrreducible)),
};

struct FixIrreducible;

impl Pass for FixIrreducible {
    fn name(&self) -> &str {
        NAME
    }

    fn makes(&self) -> &[&'static CanonicalForm] {
        const { &[&FORM] }
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        all_known(body)?;
        let (_, fixed) = fix_irreducible(body, cx.checks);
        cx.count("Cycles fixed", fixed as u64);
        Ok(())
    }
}
