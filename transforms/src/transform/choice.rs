//! The choice among several changes of a loop, by cost.
//!
//! The order of a matrix product that is fastest as it stands, `i, k, j`, is not the one that is
//! fastest with register tiles: `i, j, k` keeps a tile of sums in registers. So a choice may look
//! ahead, to the nest with its innermost loops unrolled and jammed, if the innermost loop sums up.

use loomir_ir::Body;

use super::loops::num_accesses;
use crate::access::LoopContext;
use crate::cost::{Cost, Estimate, OnMachine};
use crate::tree::{Change, Edit, Green, Node, Program, Red, TreeStore};

/// The part by which a change has to be cheaper. Estimates are no better.
const NOISE: f64 = 0.02;

/// The register tiles that are tried ahead: copies of the loop around the innermost one, and of the
/// loop around that.
const AHEAD: [[usize; 2]; 4] = [[32, 8], [16, 8], [16, 4], [8, 4]];

/// The number of changes, the cheapest as they are, that are tried with register tiles.
const MAX_AHEAD: usize = 12;

/// The most accesses of a register tile that is tried ahead.
const MAX_ACCESSES: u64 = 1024;

/// The most accesses of all nests that are compared. Each is visited for each loop around it.
const MAX_COMPARED: u64 = 4096;

/// Returns those of several edits of one loop that make it cheaper, the cheapest first; `ahead`, if
/// register tiles come later. Edits that cannot be applied are left out. `None` if none can be
/// applied.
pub(super) fn cheaper(
    body: &Body,
    program: &Program,
    trees: &mut TreeStore,
    (cost, ahead): (&dyn Cost, bool),
    mut edits: Vec<Edit>,
) -> Option<Vec<Edit>> {
    let place = edits.first()?.place.clone();
    let accesses = num_accesses(program, trees, Red::at(trees, program.root, &place)?.node()).max(1);
    edits.truncate(usize::try_from(MAX_COMPARED / accesses).unwrap_or(usize::MAX).max(1));
    if ahead && AHEAD.iter().all(|counts| is_large(accesses, *counts)) {
        return Some(Vec::new());
    }
    let outside = LoopContext::outside(&program.surroundings);
    let before = beside(trees, program.root, &place)?.len();
    let estimate = |trees: &mut TreeStore, root: Green, cost: &dyn Cost| {
        let nest = alone(trees, root, &place, before)?;
        let nest = trees.written(nest)?;
        Some(Estimate::of((body, program, trees), cost, nest, &outside))
    };
    let cycles_on = |trees: &mut TreeStore, root: Green, cost: &dyn Cost| {
        Some(estimate(trees, root, cost)?.cycles(cost.machine()))
    };
    let present = cycles_on(trees, program.root, cost)?;
    let faster = OnMachine::computing_faster(cost);
    let mut found: Vec<(f64, Green, Option<Edit>)> = Vec::new();
    for edit in edits {
        let Some(root) = edit.apply(program, trees, program.root) else { continue };
        if let Some(own) = cycles_on(trees, root, if ahead { &faster } else { cost }) {
            found.push((own, root, Some(edit)));
        }
    }
    if found.is_empty() {
        return None;
    }
    found = sorted(found);
    let mut least = present;
    if ahead {
        found.truncate(MAX_AHEAD);
        found.push((present, program.root, None));
        for (own, root, _) in &mut found {
            *own = cycles_on(trees, *root, cost).unwrap_or(f64::INFINITY);
            for counts in AHEAD {
                let Some(tile) = jammed(program, trees, *root, &place, counts) else { continue };
                let Some(tiles) = estimate(trees, tile, cost).filter(|tiles| tiles.has_sums) else { break };
                *own = own.min(tiles.cycles(cost.machine()));
            }
        }
        least = found.last().map_or(present, |(own, ..)| *own);
        found = sorted(found);
    }
    found.retain(|(own, ..)| *own < least * (1.0 - NOISE));
    Some(found.into_iter().filter_map(|(.., edit)| edit).collect())
}

/// Returns what was found with the cheapest in front. Among equals the first one stays in front.
fn sorted<T>(found: Vec<(f64, Green, T)>) -> Vec<(f64, Green, T)> {
    let mut all: Vec<(f64, Green, T)> = Vec::new();
    for one in found {
        let own = one.0;
        let at = all.iter().position(|(other, ..)| own < other * (1.0 - NOISE)).unwrap_or(all.len());
        all.insert(at, one);
    }
    all
}

/// Returns a tree with the innermost loops of a perfect nest unrolled and jammed. `None` if that
/// cannot be, or would be large.
fn jammed(
    program: &Program,
    trees: &mut TreeStore,
    root: Green,
    place: &[usize],
    counts: [usize; 2],
) -> Option<Green> {
    let mut node = Red::at(trees, root, place)?.node();
    let mut deepest = place.to_vec();
    while let Node::Loop { body, .. } = trees.get(node) {
        let Some(inside) = trees.only_item(body).filter(|own| matches!(trees.get(*own), Node::Loop { .. }))
        else {
            break;
        };
        node = inside;
        deepest.push(0);
    }
    if is_large(num_accesses(program, trees, node), counts) {
        return None;
    }
    let mut root = root;
    for (height, count) in (1..).zip(counts) {
        let at = deepest.len().checked_sub(height).filter(|at| *at >= place.len())?;
        root = Change::UnrollAndJam { count }.at(&deepest[..at]).apply(program, trees, root)?;
    }
    Some(root)
}

/// True if so many copies of a loop with these accesses are not tried ahead.
fn is_large(accesses: u64, counts: [usize; 2]) -> bool {
    accesses.saturating_mul(counts.iter().product::<usize>() as u64) > MAX_ACCESSES
}

/// Returns the estimated cycles of the loop at a place, each time it is reached.
pub(super) fn cycles_at(
    body: &Body,
    program: &Program,
    trees: &TreeStore,
    cost: &dyn Cost,
    place: &[usize],
) -> Option<f64> {
    let node = Red::at(trees, program.root, place)?.node();
    let Node::Loop { header, .. } = trees.get(node) else { return None };
    let of = trees.header(header).origins.first()?.of;
    let around = LoopContext::around(program, trees, of);
    Some(Estimate::of((body, program, trees), cost, node, &around).cycles(cost.machine()))
}

/// Returns the loop at a place and all that stands beside it.
fn beside(trees: &TreeStore, root: Green, place: &[usize]) -> Option<Vec<Green>> {
    let (_, around) = place.split_last()?;
    let sequence = match trees.get(Red::at(trees, root, around)?.node()) {
        Node::Loop { body, .. } | Node::Guard { body, .. } => body,
        _ if around.is_empty() => root,
        _ => return None,
    };
    Some(trees.items(sequence).collect())
}

/// Returns what became of the loop at a place in the loops around it, without anything else.
/// `before` items stood beside each other there, before one of them became several.
fn alone(trees: &mut TreeStore, root: Green, place: &[usize], before: usize) -> Option<Green> {
    let items = beside(trees, root, place)?;
    let (at, around) = place.split_last()?;
    let own = items.get(*at..=*at + items.len().checked_sub(before)?)?;
    let mut nest = trees.sequence(own);
    let path = Red::at(trees, root, around)?;
    let around: Vec<Green> = path.around().skip(1).chain([path.node()]).collect();
    for node in around.into_iter().rev() {
        nest = match trees.get(node) {
            Node::Loop { header, .. } => trees.with_header(header, nest),
            Node::Guard { of, map, holds, .. } => trees.guard(of, map, holds, nest),
            _ => continue,
        };
        nest = trees.sequence(&[nest]);
    }
    Some(nest)
}
