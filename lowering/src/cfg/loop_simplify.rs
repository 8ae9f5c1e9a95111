//! Loop-simplify form: each loop has a preheader, one latch, and exits that only the loop reaches.
//!
//! Code before the loop can be placed in the preheader, code at the end of each iteration in the
//! latch, and code behind the loop in the exits. Unreachable blocks are erased first. Loops are
//! brought into form from the inside out. A block inserted on edges is in the analysis at once, so
//! an exit made for an inner loop also serves its parents. It is one backedge if it leads to the
//! header of one of them.
//!
//! A header may belong to two nested loops of the program: `for (…) for (…)` with nothing between
//! them. They are separated as in LLVM, by an argument of the header that some backedges pass on
//! unchanged. These belong to the inner loop, all others to an outer one that gets a header of its
//! own. This is not done with eight backedges or more, or if the loop has a convergent call, around
//! which control flow must not change. Arguments of a header that have the same value from before
//! the loop on all edges are removed.
//!
//! Any branch of the dialect can be redirected; a function with another kind of branch is refused.
//! Linear in the blocks of each loop, so in the function times the depth of its nests.

use hashbrown::HashSet;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::pass::{CanonicalForm, Pass, PassContext, PassInfo};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Loc, Op, Value};

use super::branch::{LOOP_ANNOTATION, all_known, successor_operands};
use super::calls::keeps_its_control;
use super::edit::{erase_unreachable, unreachable_blocks};
use super::roles::Roles;
use super::{Analysis, arguments, loops_out_of_form};

/// This many backedges are assumed to belong to one loop.
const MAX_BACKEDGES: usize = 8;

/// The statistics of simplification.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Simplified {
    /// Preheaders that were made.
    pub preheaders: usize,
    /// Loops that were separated from another loop with the same header.
    pub nests: usize,
    /// Latches that were made.
    pub latches: usize,
    /// Exits that were made.
    pub exits: usize,
    /// Header arguments that always had the same value.
    pub arguments: usize,
    /// Erased unreachable blocks.
    pub erased: usize,
}

/// Brings every loop of a function into form. Returns an analysis of the new function.
pub fn loop_simplify(function: &mut Body, symbols: &SymbolTable, checks: bool) -> (Analysis, Simplified) {
    let mut done = Simplified { erased: erase_unreachable(function), ..Simplified::default() };
    let mut analysis = Analysis::of(function).checked(checks);
    analysis.defer_updates();
    // Inner loops are at the end, so they come first.
    let mut pending = analysis.loops().outer_first();
    while let Some(id) = pending.pop() {
        make_preheader(function, &mut analysis, id, &mut done);
        make_exits(function, &mut analysis, id, &mut done);
        fold_arguments(function, &analysis, id, &mut done);
        while let Some(outer) = split_header(function, &mut analysis, symbols, id) {
            done.nests += 1;
            make_exits(function, &mut analysis, id, &mut done);
            fold_arguments(function, &analysis, id, &mut done);
            pending.push(outer);
        }
        make_latch(function, &mut analysis, id, &mut done);
        analysis.step(function, NAME);
    }
    // A folded argument may make another argument redundant.
    let mut pending = analysis.loops().outer_first();
    while let Some(id) = pending.pop() {
        pending.extend(fold_arguments(function, &analysis, id, &mut done));
    }
    analysis.finish(function, NAME);
    (analysis, done)
}

fn make_preheader(function: &mut Body, analysis: &mut Analysis, id: LoopId, done: &mut Simplified) {
    let roles = Roles::of(analysis, id);
    if roles.preheader.is_none() {
        let header = analysis.block(roles.header);
        let (edges, after) = edges_into(function, header, |from| !is_inside(analysis, id, from));
        if let Some(after) = after {
            analysis.insert_block(function, &edges, header, after);
            done.preheaders += 1;
        }
    }
}

fn make_latch(function: &mut Body, analysis: &mut Analysis, id: LoopId, done: &mut Simplified) {
    let header = analysis.block(analysis.loops().get(id).header());
    let (edges, after) = edges_into(function, header, |from| is_inside(analysis, id, from));
    if let (true, Some(after)) = (edges.len() > 1, after) {
        let latch = analysis.insert_block(function, &edges, header, after);
        move_annotation(function, &edges, latch);
        done.latches += 1;
    }
}

/// Moves the annotation of a loop to the branch of its latch.
fn move_annotation(function: &mut Body, edges: &[(Op, usize)], latch: Block) {
    let annotations: Vec<_> = edges.iter().map(|(op, _)| function.attr(*op, LOOP_ANNOTATION)).collect();
    let Some(annotation) = annotations[0].filter(|_| annotations.iter().all(|own| *own == annotations[0]))
    else {
        return;
    };
    for (op, _) in edges {
        function.remove_attr(*op, LOOP_ANNOTATION);
    }
    if let Some(branch) = function.terminator(latch) {
        function.set_attr(branch, LOOP_ANNOTATION, annotation);
    }
}

fn make_exits(function: &mut Body, analysis: &mut Analysis, id: LoopId, done: &mut Simplified) {
    for exit in Roles::of(analysis, id).exits {
        let exit = analysis.block(exit);
        let is_shared = function.predecessors(exit).any(|from| !is_inside(analysis, id, from));
        if is_shared {
            let (edges, after) = edges_into(function, exit, |from| is_inside(analysis, id, from));
            if let Some(after) = after {
                analysis.insert_block(function, &edges, exit, after);
                done.exits += 1;
            }
        }
    }
}

/// Replaces arguments of a header that are one value. The loop has a preheader. Returns the loops
/// whose headers received such an argument.
fn fold_arguments(
    function: &mut Body,
    analysis: &Analysis,
    id: LoopId,
    done: &mut Simplified,
) -> Vec<LoopId> {
    let header = analysis.block(analysis.loops().get(id).header());
    let folded = arguments::fold_arguments(function, header, |_, _| true);
    done.arguments += folded.count;
    let loop_of = |block: Block| {
        let node = analysis.number(block);
        analysis.loops().innermost(node).filter(|id| analysis.loops().get(*id).header() == node)
    };
    folded.users.iter().flat_map(|op| function.successors(*op)).filter_map(loop_of).collect()
}

/// Separates two loops that share a header, if there are two: makes a header for the outer one.
/// Returns the outer loop; the inner one keeps the header.
fn split_header(
    function: &mut Body,
    analysis: &mut Analysis,
    symbols: &SymbolTable,
    id: LoopId,
) -> Option<LoopId> {
    let header = analysis.block(analysis.loops().get(id).header());
    let (backedges, _) = edges_into(function, header, |from| is_inside(analysis, id, from));
    if !(2..MAX_BACKEDGES).contains(&backedges.len()) || has_convergent_call(function, analysis, symbols, id)
    {
        return None;
    }
    let operands = |edge: &(Op, usize)| successor_operands(function, edge.0).swap_remove(edge.1);
    let handed: Vec<Vec<Value>> = backedges.iter().map(operands).collect();
    let evidence = function.arguments(header).enumerate().find_map(|(k, argument)| {
        let is_inner: Vec<bool> = handed.iter().map(|operands| operands[k] == argument).collect();
        (is_inner.contains(&true) && is_inner.contains(&false)).then_some(is_inner)
    })?;
    let inner: Vec<(Op, usize)> =
        backedges.iter().zip(evidence).filter(|(_, is_inner)| *is_inner).map(|(edge, _)| *edge).collect();
    let edges: Vec<(Op, usize)> =
        function.predecessor_edges(header).filter(|edge| !inner.contains(edge)).collect();
    // The new block is placed in front of the header, behind the preheader.
    let after =
        edges.iter().filter_map(|edge| function.block_of(edge.0)).find(|b| !is_inside(analysis, id, *b))?;
    let outer_header = analysis.insert_block(function, &edges, header, after);
    let latches =
        inner.iter().filter_map(|(op, _)| function.block_of(*op)).map(|block| analysis.number(block));
    let nodes = reaching(analysis, analysis.number(header), latches.collect());
    let outer_header = analysis.number(outer_header);
    Some(analysis.loops_mut().split(id, outer_header, nodes))
}

/// Returns the blocks that reach some blocks without passing the loop header. The header comes
/// first.
fn reaching(analysis: &Analysis, header: u32, from: Vec<u32>) -> Vec<u32> {
    let mut nodes = vec![header];
    let mut seen: HashSet<u32> = HashSet::from_iter([header]);
    let mut pending = from;
    while let Some(node) = pending.pop() {
        if seen.insert(node) {
            nodes.push(node);
            pending.extend(analysis.graph().predecessors(node));
        }
    }
    nodes
}

fn has_convergent_call(function: &Body, analysis: &Analysis, symbols: &SymbolTable, id: LoopId) -> bool {
    let nodes = analysis.loops().get(id).nodes.iter();
    nodes
        .flat_map(|node| function.ops(analysis.block(*node)))
        .any(|op| keeps_its_control(function, op, symbols))
}

fn is_inside(analysis: &Analysis, id: LoopId, block: Block) -> bool {
    analysis.loops().contains(id, analysis.number(block))
}

/// Returns the edges into a block from sources that `which` accepts, and the last such source.
fn edges_into(
    function: &Body,
    to: Block,
    which: impl Fn(Block) -> bool,
) -> (Vec<(Op, usize)>, Option<Block>) {
    let from = |edge: &(Op, usize)| function.block_of(edge.0).filter(|from| which(*from));
    let edges: Vec<(Op, usize)> =
        function.predecessor_edges(to).filter(|edge| from(edge).is_some()).collect();
    let last = edges.iter().filter_map(from).last();
    (edges, last)
}

const NAME: &str = "loop-simplify";

/// The form: its requirements on each loop, and that all blocks are reachable.
pub static FORM: CanonicalForm = CanonicalForm { name: NAME, check, make: || Box::new(LoopSimplify) };

fn check(function: &Body, _: &SymbolTable) -> Result<(), Diagnostic> {
    if let Some(block) = unreachable_blocks(function).first() {
        let loc = function.first_op(*block).map_or(Loc::UNKNOWN, |op| function.loc(op));
        return Err(Diagnostic::error(loc, "nothing leads to the block that begins here"));
    }
    loops_out_of_form(function, |analysis, id| {
        let roles = Roles::of(analysis, id);
        match () {
            () if roles.preheader.is_none() => Some("that has no preheader"),
            () if roles.latch().is_none() => Some("that several edges lead back in"),
            () if !roles.dedicated_exits => Some("that leads to a block that is reached from elsewhere too"),
            () => None,
        }
    })
}

/// The pass `loop-simplify` on `llvm.func`.
pub const PASS: PassInfo = PassInfo {
    name: NAME,
    anchor: Some("llvm.func"),
    summary: "Give each loop a preheader, one latch and exits of its own",
    options: &[],
    make: |_| Ok(Box::new(LoopSimplify)),
};

struct LoopSimplify;

impl Pass for LoopSimplify {
    fn name(&self) -> &str {
        NAME
    }

    fn makes(&self) -> &[&'static CanonicalForm] {
        const { &[&FORM] }
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        all_known(body)?;
        let (_, done) = loop_simplify(body, cx.symbols, cx.checks);
        cx.count("Preheaders made", done.preheaders as u64);
        cx.count("Headers split", done.nests as u64);
        cx.count("Latches made", done.latches as u64);
        cx.count("Exits made", done.exits as u64);
        cx.count("Arguments folded", done.arguments as u64);
        cx.count("Unreachable blocks erased", done.erased as u64);
        Ok(())
    }
}
