//! Functions of the `llvm` dialect as control flow graphs: their loops, and analyses of these
//! loops.
//!
//! An [`Analysis`] is made once for a function. Changes of blocks through it keep it up to date.
//! The graph algorithms are those of [`loomir_ir::graph`].
//!
//! | module | holds |
//! | --- | --- |
//! | [`roles`] | the roles of blocks in a loop: header, latches, exits |
//! | [`edit`], `copy` | changes of blocks that keep the analysis up to date |
//! | [`loop_simplify`] | the pass that gives loops a preheader, one latch and exits of their own |
//! | [`lcssa`] | the pass that lets values leave loops only as arguments of the blocks behind |
//! | [`guards`] | branches that skip loops, induction variables and their bounds |
//! | [`mod@scev`] | values as expressions over iterations, and trip counts |
//! | [`loop_rotate`] | the pass that tests loops at their end, behind a guard |
//! | [`fix_irreducible`] | the pass that gives cycles with several entries a header |
//! | [`unify_loop_exits`] | the pass that lets loops leave to one block |
//! | [`loop_deletion`] | the pass that deletes loops without effect |
//! | [`exit_folding`] | the pass that deletes exits of loops that are never taken |
//! | [`loop_fusion`] | the pass that fuses adjacent loops |
//! | [`loop_peel`] | the pass that peels first and last iterations |
//! | [`loop_unroll`] | the passes that unroll and peel loops |
//! | [`loop_flatten`] | the pass that makes a nest of two loops one |
//! | [`loop_unroll_and_jam`] | the pass that unrolls outer loops and jams the loops inside |
//! | [`simplify_cfg`] | the pass that removes detours from the control flow |
//! | `unwinding` | remarks about loops that stay because a call in them may unwind |
//! | `expander` | expressions as operations before a loop |
//! | [`mod@picture`] | control flow as a picture |
//! | [`accesses`] | memory accesses, their iterations, and their dependences |
//! | [`mod@print`] | loops, cycles, dominators and post-dominators as `opt` prints them |
//!
//! # Limits
//!
//! - Loops that share a header are told apart by what their backedges keep, as LLVM does.
//! - A loop is rotated once, if its header branches on a condition and has at most 16 operations.
//!   Branch weights stay as they are.
//! - A loop with a call that may unwind to a landing pad stays as it is, and so do those around it.
//! - Exits are folded by constants, comparisons and ranges, in at most 32 rounds.
//! - A loop that `opt` calls parallel, by its accesses, is printed as a plain loop.
//! - Post-dominators are recomputed when a region without an exit changes. Functions of more than
//!   2,000 blocks and edges are not drawn.

use hashbrown::HashMap;
use loomir_ir::graph::cycles::Cycle;
use loomir_ir::graph::dominators::DominatorTree;
use loomir_ir::graph::loops::{LoopForest, LoopId, NaturalLoop};
use loomir_ir::graph::post_dominators::PostDominatorTree;
use loomir_ir::graph::{ControlFlow, MutableDigraph};
use loomir_ir::pass::CanonicalForm;
use loomir_ir::{Block, Body, Diagnostic, Loc, Op};

pub mod accesses;
mod arguments;
pub(crate) mod arithmetic;
pub(crate) mod branch;
pub(crate) mod calls;
pub(crate) mod conditions;
mod constants;
mod copy;
pub mod edit;
pub(crate) mod effects;
pub mod exit_folding;
pub(crate) mod expander;
pub mod fix_irreducible;
pub mod guards;
mod hub;
pub mod lcssa;
pub mod loop_deletion;
pub mod loop_flatten;
pub mod loop_fusion;
pub mod loop_peel;
pub mod loop_rotate;
pub mod loop_simplify;
pub mod loop_unroll;
pub mod loop_unroll_and_jam;
pub mod picture;
pub mod print;
pub mod roles;
pub mod scev;
pub(crate) mod scopes;
pub mod simplify_cfg;
pub mod unify_loop_exits;
mod unwinding;

/// The forms that passes on loops require and preserve.
const LOOPS_IN_FORM: &[&CanonicalForm] = &[&loop_simplify::FORM, &lcssa::FORM];

/// The canonical forms of functions, each after the forms it needs.
pub const FORMS: &[&CanonicalForm] = &[
    &loop_simplify::FORM,
    &lcssa::FORM,
    &loop_rotate::FORM,
    &fix_irreducible::FORM,
    &unify_loop_exits::FORM,
    &loop_deletion::FORM,
    &exit_folding::FORM,
];

/// The blocks of a function, with their dominators and loops. Blocks are numbered in the order of
/// the text, new ones behind all others. The number of an erased block is not reused.
#[derive(Clone, Debug)]
pub struct Analysis {
    blocks: Vec<Block>,
    numbers: HashMap<Block, u32>,
    graph: MutableDigraph,
    dominators: DominatorTree,
    /// Present if it was ever requested.
    post_dominators: Option<PostDominatorTree>,
    loops: LoopForest,
    upkeep: Upkeep,
}

/// The times when dominators are updated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Upkeep {
    /// With each change.
    AtOnce,
    /// With each change. In addition, each [`step`](Analysis::step) compares everything with a new
    /// analysis, once earlier steps have paid for it. The payload is the number of blocks paid for
    /// so far.
    Checked(usize),
    /// On request; true if anything has changed since.
    Later(bool),
}

impl Analysis {
    /// Returns the analysis of a function, with those of its loops that may be changed. A cycle
    /// with a call that may unwind is no loop, and neither are cycles around it. Linear, except
    /// for nested loops (see [`LoopForest`]).
    pub fn of(function: &Body) -> Analysis {
        let mut analysis = Analysis::with_all_loops(function);
        analysis.leave_out_opaque(function);
        analysis
    }

    /// Takes out the loops that can't be changed.
    fn leave_out_opaque(&mut self, function: &Body) {
        let is_opaque = |block: &Block| branch::is_opaque(function, *block);
        let blocks = function.blocks(function.region(function.root(), 0)).filter(is_opaque);
        let nodes: Vec<u32> = blocks.map(|block| self.number(block)).collect();
        self.loops.dissolve(nodes);
    }

    /// Returns the analysis of a function, with all its loops, for those who only look at them.
    pub fn with_all_loops(function: &Body) -> Analysis {
        let flow = ControlFlow::of(function, function.region(function.root(), 0));
        let dominators = DominatorTree::new(flow.graph(), 0);
        let loops = LoopForest::new(flow.graph(), flow.reversed(), &dominators, 0);
        let mut graph = MutableDigraph::new(flow.blocks().len());
        for (from, to) in flow.graph().edges() {
            graph.add_edge(from, to);
        }
        let blocks = flow.blocks().to_vec();
        let numbers = blocks.iter().copied().zip(0..).collect();
        Analysis { blocks, numbers, graph, dominators, post_dominators: None, loops, upkeep: Upkeep::AtOnce }
    }

    /// Returns the same analysis, with post-dominators. If `checked`, it is compared with a fresh
    /// analysis after each [`step`](Analysis::step), in a large function after some steps.
    #[must_use]
    pub fn checked(mut self, checked: bool) -> Analysis {
        self.upkeep = if checked { Upkeep::Checked(0) } else { Upkeep::AtOnce };
        let order: Vec<u32> = (0..self.blocks.len() as u32).collect();
        self.post_dominators = checked.then(|| PostDominatorTree::of_mutable(&self.graph, &order));
        self
    }

    /// Returns the block with a number.
    pub fn block(&self, number: u32) -> Block {
        self.blocks[number as usize]
    }

    /// Returns the number of a block.
    ///
    /// # Panics
    /// If the block does not belong to the function.
    pub fn number(&self, block: Block) -> u32 {
        self.numbers[&block]
    }

    /// Returns the number of the block of an operation, or of its outermost ancestor. Linear in the
    /// nesting depth.
    pub fn number_at(&self, function: &Body, op: Op) -> Option<u32> {
        let region = function.region(function.root(), 0);
        let mut op = op;
        while function.region_of(op)? != region {
            op = function.parent_op(op)?;
        }
        self.numbers.get(&function.block_of(op)?).copied()
    }

    /// Returns the branches between blocks.
    pub fn graph(&self) -> &MutableDigraph {
        &self.graph
    }

    /// Returns the dominator tree. It is outdated if updates were
    /// [deferred](Analysis::defer_updates).
    pub fn dominators(&self) -> &DominatorTree {
        &self.dominators
    }

    /// Returns the post-dominator tree. It is computed on the first request and kept up to date. If
    /// a change made a region without a way out, it is recomputed in linear time.
    pub fn post_dominators(&mut self, function: &Body) -> &PostDominatorTree {
        let known = self.post_dominators.take().filter(|tree| !tree.is_stale());
        let mut tree = known.unwrap_or_else(|| {
            let blocks = function.blocks(function.region(function.root(), 0));
            let order: Vec<u32> = blocks.map(|block| self.number(block)).collect();
            PostDominatorTree::of_mutable(&self.graph, &order)
        });
        tree.renumber();
        self.post_dominators.insert(tree)
    }

    /// Returns the natural loops.
    pub fn loops(&self) -> &LoopForest {
        &self.loops
    }

    /// True if a cycle is no loop: it has several entries, or can't be changed.
    pub(super) fn is_irregular(&self, flow: &ControlFlow, cycle: &Cycle) -> bool {
        let (loops, own) = (&self.loops, self.number(flow.block(cycle.header())));
        let header = loops.innermost(own).map(|id| loops.get(id).header());
        !cycle.is_reducible() || header != Some(own)
    }

    /// True if the analysis equals a fresh one, apart from orders. Linear times the depth of nests,
    /// so it is for tests and `--verify-analyses`.
    pub fn is_true_of(&self, function: &Body) -> bool {
        let anew = Analysis::of(function);
        let same_number = |block: &Block| self.numbers.contains_key(block);
        if self.numbers.len() != anew.blocks.len() || !anew.blocks.iter().all(same_number) {
            return false;
        }
        let mut listed: HashMap<LoopId, usize> = HashMap::new();
        for node in 0..self.blocks.len() as u32 {
            for id in self.loops_around(node) {
                *listed.entry(id).or_default() += 1;
            }
        }
        let is_listed = |(id, own): (LoopId, &NaturalLoop)| {
            listed.get(&id) == Some(&own.nodes.len())
                && own.nodes.iter().all(|node| self.loops.contains(id, *node))
        };
        if !self.loops.iter().all(is_listed) {
            return false;
        }
        let own = |number: u32| self.number(anew.block(number));
        if let Some(tree) = self.post_dominators.as_ref().filter(|tree| !tree.is_stale()) {
            let anew = PostDominatorTree::of_mutable(
                &anew.graph,
                &(0..anew.blocks.len() as u32).collect::<Vec<_>>(),
            );
            let mut nodes = anew.pre_order().into_iter().map(|(node, _)| node);
            if !nodes.all(|node| tree.ipdom(own(node)) == anew.ipdom(node).map(own)) {
                return false;
            }
        }
        (0..anew.blocks.len() as u32).all(|node| {
            let mut edges: Vec<u32> = anew.graph.successors(node).iter().map(|to| own(*to)).collect();
            let mut known = self.graph.successors(own(node)).to_vec();
            edges.sort_unstable();
            known.sort_unstable();
            edges == known
                && self.dominators.idom(own(node)) == anew.dominators.idom(node).map(own)
                && self.headers_around(own(node))
                    == anew.headers_around(node).into_iter().map(own).collect::<Vec<_>>()
        })
    }

    /// Returns the blocks of a loop, the header first, without blocks erased since the last
    /// [`settle`](Analysis::settle).
    pub(super) fn blocks_in(&self, id: LoopId) -> impl Iterator<Item = Block> + '_ {
        let is_there = move |node: &&u32| self.loops.innermost(**node).is_some();
        self.loops.get(id).nodes.iter().filter(is_there).map(|node| self.block(*node))
    }

    /// Returns the loops around a block, from the inside out.
    pub fn loops_around(&self, node: u32) -> impl Iterator<Item = LoopId> + '_ {
        std::iter::successors(self.loops.innermost(node), |id| self.loops.get(*id).parent)
    }

    /// Returns the headers of the loops around a block, from the inside out.
    fn headers_around(&self, node: u32) -> Vec<u32> {
        self.loops_around(node).map(|id| self.loops.get(id).header()).collect()
    }
}

/// Returns the location of a block: of its first argument or operation that has one.
pub(crate) fn place_of(body: &Body, block: Block) -> Loc {
    let arguments = body.arguments(block).map(|argument| body.argument_loc(argument));
    let mut all = arguments.chain(body.ops(block).map(|op| body.loc(op)));
    all.find(|loc| *loc != Loc::UNKNOWN).unwrap_or(Loc::UNKNOWN)
}

/// Returns the first loop for which `wrong` returns a reason, as the error of a form check.
fn loops_out_of_form(
    function: &Body,
    wrong: impl Fn(&Analysis, LoopId) -> Option<&'static str>,
) -> Result<(), Diagnostic> {
    let analysis = Analysis::of(function);
    for (id, own) in analysis.loops().iter() {
        if let Some(wrong) = wrong(&analysis, id) {
            let first = function.first_op(analysis.block(own.header()));
            let loc = first.map_or(Loc::UNKNOWN, |op| function.loc(op));
            return Err(Diagnostic::error(loc, format!("here begins a loop {wrong}")));
        }
    }
    Ok(())
}
