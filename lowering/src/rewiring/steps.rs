//! The correspondence of loops of a tree and of its lowered graph.
//!
//! Before a function is lowered each of its loops is marked. Lowering passes the attributes of a
//! loop on to the branch that closes it, so a loop of the graph is identified by its latch.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::{affine, scf};
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Attr, AttrKind, Body, Dict, Loc, Op, Trait, Type, TypeKind};

use crate::cfg::Analysis;
use crate::cfg::roles::Roles;

/// The attribute that marks loops during the comparison.
const MARK: &str = "loomir.loop";

/// Returns the loops of a function, in the order of the text.
pub(super) fn loops(function: &Body) -> Vec<Op> {
    let kinds = [
        affine::ForOp::DEF,
        affine::ParallelOp::DEF,
        scf::ForOp::DEF,
        scf::ParallelOp::DEF,
        scf::ForallOp::DEF,
    ];
    function
        .preorder(function.root())
        .filter(|op| kinds.into_iter().any(|def| function.is(*op, def)))
        .collect()
}

/// Returns the pairs of neighbouring loops in a block, by their positions among the function's
/// loops, outer pairs first.
pub(super) fn neighbours(function: &Body, loops: &[Op]) -> Vec<[usize; 2]> {
    let mut last = HashMap::new();
    let mut found = Vec::new();
    for (place, op) in loops.iter().enumerate() {
        let Some(block) = function.block_of(*op) else { continue };
        if let Some(before) = last.insert(block, place) {
            found.push([before, place]);
        }
    }
    found
}

/// True if only operations that make values are between two loops of a block.
pub(super) fn are_adjacent(function: &Body, pair: [Op; 2]) -> bool {
    between(function, pair).all(|op| function.has_trait(op, Trait::Pure))
}

/// Returns the locations of operations that were between two loops of a block, and are behind the
/// fused one.
pub(super) fn moved_behind(function: &Body, pair: [Op; 2], fused: &Body, place: usize) -> Vec<Loc> {
    let Some(one) = loops(fused).get(place).copied() else { return Vec::new() };
    let behind: HashSet<Loc> = following(fused, one).map(|op| fused.loc(op)).collect();
    between(function, pair).map(|op| function.loc(op)).filter(|loc| behind.contains(loc)).collect()
}

fn between(function: &Body, [first, second]: [Op; 2]) -> impl Iterator<Item = Op> {
    following(function, first).take_while(move |op| *op != second)
}

fn following(function: &Body, op: Op) -> impl Iterator<Item = Op> {
    std::iter::successors(function.next_op(op), |op| function.next_op(*op))
}

/// Marks the loops of a function by their places.
pub(super) fn mark(function: &mut Body) {
    let ctx = function.ctx().clone();
    for (place, op) in loops(function).into_iter().enumerate() {
        function.set_attr(op, MARK, ctx.int_attr(Type::I64, place as i128));
    }
}

/// Returns, for each loop of the tree, the loop of the graph with its mark.
pub(super) fn marked(function: &Body, analysis: &Analysis) -> HashMap<usize, LoopId> {
    let place = |id: LoopId| {
        let latch = Roles::of(analysis, id).latch()?;
        let branch = function.terminator(analysis.block(latch))?;
        usize::try_from(function.attr(branch, MARK)?.as_int(function.ctx())?).ok()
    };
    analysis.loops().iter().filter_map(|(id, _)| Some((place(id)?, id))).collect()
}

/// Adds `noalias` to pointers of the graph's parameters if the tree assumed their memrefs distinct:
/// those marked `noalias`, or all. Lowering drops the attribute, because it is about the whole
/// memref. The elements are accessed through the second of the resulting pointers.
pub(super) fn tell_apart(tree: &Body, graph: &mut Body, all: bool) {
    let ctx = graph.ctx().clone();
    let Some(entry) = tree.entry_block(tree.region(tree.root(), 0)) else { return };
    let told = |function: &Body| {
        let attrs = function.attr(function.root(), "arg_attrs").and_then(|attrs| attrs.as_array(&ctx));
        attrs.map(<[Attr]>::to_vec).unwrap_or_default()
    };
    let dict = |attrs: &[Attr], index: usize| match attrs.get(index).map(|attr| attr.kind(&ctx)) {
        Some(AttrKind::Dictionary(dict)) => *dict,
        _ => Dict::EMPTY,
    };
    let (known, lowered) = (told(tree), told(graph));
    let mut attrs = Vec::new();
    for (index, argument) in tree.arguments(entry).enumerate() {
        let parts = match tree.value_type(argument).kind(&ctx) {
            TypeKind::MemRef { shape: Some(shape), .. } => 3 + 2 * shape.len(),
            TypeKind::MemRef { shape: None, .. } => 2,
            _ => 1,
        };
        let is_apart = parts > 2 && (all || dict(&known, index).get(&ctx, NOALIAS).is_some());
        for part in 0..parts {
            let own = dict(&lowered, attrs.len());
            let own = if is_apart && part == 1 { own.with(&ctx, NOALIAS, Attr::UNIT) } else { own };
            attrs.push(ctx.attr(AttrKind::Dictionary(own)));
        }
    }
    graph.set_attr(graph.root(), "arg_attrs", ctx.array_attr(&attrs));
}

const NOALIAS: &str = "llvm.noalias";

/// Takes the marks off again.
pub(super) fn unmark(function: &mut Body) {
    let marked: Vec<Op> = function.all_ops().filter(|op| function.attr(*op, MARK).is_some()).collect();
    marked.into_iter().for_each(|op| function.remove_attr(op, MARK));
}
