//! Deletion of loops without observable effect.
//!
//! A loop is deleted under four conditions. Nothing in it has an effect, it leaves to one block,
//! its live-out values come from before it, and it terminates. Termination may be proved by a trip
//! count ([`Finite`]), or assumed if the program promises progress of loops. The promise is at the
//! branch of the latch (`mustProgress`), for the loop and its inner loops, or on the function
//! (`mustprogress`, `willreturn`). A loop without an exit that promises progress is undefined
//! behaviour, and so is reaching it.
//!
//! Loops are in loop-simplify form and closed, before and after. All loops that can be deleted are
//! deleted at once, outer loops with their inner ones. This may make values loop-invariant and a
//! surrounding loop deletable, so the search repeats as often as loops nest. Each round is linear
//! times the depth of nests.
//!
//! **Assumptions.**
//! - Effects describe everything observable: a call is observable, whatever its attributes promise.
//! - A loop without a promise of progress terminates only if its trip count does: a narrow counter
//!   or a step that passes its end may never reach it.
//! - Restoring the stack, atomic and volatile reads are observable.
//!
//! Tried with `cfg/deletion_audit.mlir`.

use hashbrown::HashSet;
use loomir_dialects::interp::layout::DataLayout;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::pass::{CanonicalForm, Pass, PassContext, PassInfo};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::text::attr_to_string;
use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Value};

use super::branch::{Ending, LOOP_ANNOTATION, Target, end_block, set_successor_operands, successor_operands};
use super::effects::is_seen;
use super::roles::Roles;
use super::scev::ScalarEvolution;
use super::{Analysis, LOOPS_IN_FORM, loops_out_of_form};

/// Finds loops that terminate.
pub trait Finite {
    /// Returns the headers of loops that terminate, or else are undefined behaviour, however they
    /// are entered. Inner loops are asked about separately.
    fn headers(&self, function: &Body) -> HashSet<Block>;
}

/// Loops with a bounded backedge-taken count, by [scalar evolution](super::scev).
pub struct Counted {
    data_layout: DataLayout,
}

impl Counted {
    /// Creates the analysis for functions of the module with these symbols.
    pub fn of(function: &Body, symbols: &SymbolTable) -> Counted {
        Counted { data_layout: DataLayout::of_symbols(function.ctx(), symbols) }
    }
}

impl Finite for Counted {
    fn headers(&self, function: &Body) -> HashSet<Block> {
        let analysis = Analysis::of(function);
        if analysis.loops().is_empty() {
            return HashSet::new();
        }
        let mut evolution = ScalarEvolution::new(function, &analysis, &self.data_layout);
        let counted = analysis.loops().iter().filter(|(id, _)| evolution.counts(*id).constant_max.is_some());
        counted.map(|(_, own)| analysis.block(own.header())).collect()
    }
}

/// Deletes the loops without effect of a function in loop-simplify form and closed. Returns their
/// number without inner ones.
pub fn delete_loops(function: &mut Body, analysis: &mut Analysis, finite: &dyn Finite) -> usize {
    let mut deleted = 0;
    loop {
        let found = idle(function, analysis, finite);
        if found.is_empty() {
            analysis.finish(function, NAME);
            return deleted;
        }
        deleted += found.len();
        analysis.defer_updates();
        let exits: Vec<Block> = found.iter().filter_map(|idle| Some(idle.exit.as_ref()?.block)).collect();
        for idle in found {
            let ending = match idle.exit {
                Some(to) => Ending::Branch(to),
                None => Ending::Unreachable,
            };
            end_block(function, idle.preheader, &ending);
            analysis.branch_changed(function, idle.preheader);
        }
        analysis.prune(function);
        fold_arguments(function, analysis, &exits);
        analysis.settle();
        analysis.step(function, NAME);
    }
}

/// A loop that does nothing.
struct Idle {
    preheader: Block,
    /// The exit, with its operands.
    exit: Option<Target>,
}

/// Returns the outermost loops without effect.
fn idle(function: &Body, analysis: &Analysis, finite: &dyn Finite) -> Vec<Idle> {
    let seen = Seen::of(function, analysis, finite);
    let mut found = Vec::new();
    let mut pending = analysis.loops().top().to_vec();
    while let Some(id) = pending.pop() {
        match idle_loop(function, analysis, &seen, id) {
            Some(idle) => found.push(idle),
            None => pending.extend(&analysis.loops().get(id).children),
        }
    }
    found
}

fn idle_loop(function: &Body, analysis: &Analysis, seen: &Seen, id: LoopId) -> Option<Idle> {
    let roles = Roles::of(analysis, id);
    let preheader = analysis.block(roles.preheader?);
    if analysis.loops().get(id).nodes.iter().any(|node| seen.blocks.contains(node)) {
        return None;
    }
    let is_counted = |id| seen.finite.contains(&analysis.block(analysis.loops().get(id).header()));
    let ends = |id: LoopId| is_counted(id) || makes_progress(function, analysis, id);
    let all_end = || {
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            if !ends(id) {
                return false;
            }
            pending.extend(&analysis.loops().get(id).children);
        }
        // A cycle that is no loop can have no promise of progress.
        !analysis.loops().get(id).nodes.iter().any(|node| seen.irreducible.contains(node))
    };
    if !seen.function_returns && !all_end() {
        return None;
    }
    let [exit] = roles.exits[..] else {
        return roles.exits.is_empty().then_some(Idle { preheader, exit: None });
    };
    let block = analysis.block(exit);
    let mut edges = function.predecessor_edges(block);
    let handed = |(op, index)| successor_operands(function, op).swap_remove(index);
    let operands: Vec<Value> = handed(edges.next()?);
    let is_before = |value: &Value| {
        let at = function.value_block(*value).map(|block| analysis.number(block));
        at.is_some_and(|at| !analysis.loops().contains(id, at))
    };
    let is_same = edges.all(|edge| handed(edge) == operands) && operands.iter().all(is_before);
    is_same.then_some(Idle { preheader, exit: Some(Target { block, operands }) })
}

/// The facts about the blocks of a function.
struct Seen {
    /// True if the function promises that every loop makes progress.
    function_returns: bool,
    /// The headers of loops that terminate.
    finite: HashSet<Block>,
    /// The blocks with observable effects.
    blocks: HashSet<u32>,
    /// The blocks at which an irreducible cycle closes.
    irreducible: HashSet<u32>,
}

impl Seen {
    fn of(function: &Body, analysis: &Analysis, finite: &dyn Finite) -> Seen {
        let mut order = vec![None; analysis.graph().len()];
        let graph = analysis.graph().to_digraph();
        for (place, node) in graph.post_order(0).into_iter().enumerate() {
            order[node as usize] = Some(place);
        }
        let (mut blocks, mut irreducible) = (HashSet::new(), HashSet::new());
        for node in (0..).take(order.len()).filter(|node| order[*node as usize].is_some()) {
            if function.ops(analysis.block(node)).any(|op| is_seen(function, op)) {
                blocks.insert(node);
            }
            // Backwards in postorder, but not to a dominator.
            let closes = |to: &u32| {
                order[*to as usize] >= order[node as usize] && !analysis.dominators().dominates(*to, node)
            };
            if graph.successors(node).iter().any(closes) {
                irreducible.insert(node);
            }
        }
        let says = |name: &str| {
            let words =
                function.attr(function.root(), "passthrough").and_then(|all| all.as_array(function.ctx()));
            words.into_iter().flatten().any(|word| word.as_str(function.ctx()) == Some(name))
        };
        let will_return = function.attr(function.root(), "will_return").is_some();
        Seen {
            function_returns: will_return || says("mustprogress") || says("willreturn"),
            blocks,
            irreducible,
            finite: finite.headers(function),
        }
    }
}

/// True if a loop promises to make progress.
fn makes_progress(function: &Body, analysis: &Analysis, id: LoopId) -> bool {
    let header = analysis.loops().get(id).header();
    let mut latches =
        analysis.graph().predecessors(header).iter().filter(|from| analysis.loops().contains(id, **from));
    latches.all(|latch| {
        let branch = function.terminator(analysis.block(*latch));
        let annotation = branch.and_then(|op| function.attr(op, LOOP_ANNOTATION));
        annotation.is_some_and(|said| attr_to_string(function.ctx(), said).contains("mustProgress = true"))
    })
}

/// Replaces arguments of blocks with one remaining edge by its operands, unless that would break
/// loop-closed form.
fn fold_arguments(function: &mut Body, analysis: &Analysis, blocks: &[Block]) {
    for block in blocks.iter().copied() {
        let Some((op, index)) = function.predecessor_edges(block).next() else { continue };
        let node = analysis.number(block);
        let mut operands = successor_operands(function, op);
        let stays = |value: Value| {
            let at = function.value_block(value).map(|block| analysis.number(block));
            let around = at.and_then(|at| analysis.loops().innermost(at));
            around.is_none_or(|id| analysis.loops().contains(id, node))
        };
        let goes: Vec<bool> = operands[index].iter().map(|value| stays(*value)).collect();
        for k in (0..goes.len()).rev().filter(|k| goes[*k]) {
            function.replace_all_uses(function.argument(block, k), operands[index][k]);
        }
        // The replaced uses may include operands of the branch itself.
        operands = successor_operands(function, op);
        for k in (0..goes.len()).rev().filter(|k| goes[*k]) {
            operands[index].remove(k);
        }
        set_successor_operands(function, op, &operands);
        for k in (0..goes.len()).rev().filter(|k| goes[*k]) {
            function.erase_argument(block, k);
        }
    }
}

const NAME: &str = "loop-deletion";

/// The form: no loop is known to be without effect. Includes loop-simplify form and closed loops.
pub static FORM: CanonicalForm = CanonicalForm { name: NAME, check, make: || Box::new(LoopDeletion) };

fn check(function: &Body, symbols: &SymbolTable) -> Result<(), Diagnostic> {
    let analysis = Analysis::of(function);
    let seen = Seen::of(function, &analysis, &Counted::of(function, symbols));
    loops_out_of_form(function, |analysis, id| {
        idle_loop(function, analysis, &seen, id).map(|_| "that does nothing")
    })
}

/// The pass `loop-deletion` on `llvm.func`.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    anchor: Some("llvm.func"),
    summary: "Take away loops that do nothing",
    options: &[],
    make: |_| Ok(Box::new(LoopDeletion)),
};

struct LoopDeletion;

impl Pass for LoopDeletion {
    fn name(&self) -> &str {
        NAME
    }

    fn requires(&self) -> &[&'static CanonicalForm] {
        LOOPS_IN_FORM
    }

    fn makes(&self) -> &[&'static CanonicalForm] {
        const { &[&FORM] }
    }

    fn preserves(&self) -> &[&'static CanonicalForm] {
        LOOPS_IN_FORM
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let mut analysis = Analysis::of(body).checked(cx.checks);
        let counted = Counted::of(body, cx.symbols);
        cx.count("Loops deleted", delete_loops(body, &mut analysis, &counted) as u64);
        Ok(())
    }
}
