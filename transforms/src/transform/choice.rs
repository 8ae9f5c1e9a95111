//! The choice among several changes of a loop, by cost.
//!
//! The order of a matrix product that is fastest as it stands, `i, k, j`, is not the one that is
//! fastest with register tiles: `i, j, k` keeps a tile of sums in registers. So a choice may look
//! ahead, to the nest with its innermost loops unrolled and jammed, if the innermost loop sums up.

use loomir_ir::Body;

use super::loops::num_accesses;
use crate::access::LoopContext;
use crate::cost::{Cost, Estimate, Leaves, Machine, OnMachine, sums_up};
use crate::tree::{Change, Edit, Green, Node, Program, Red, TreeStore};

/// The part by which a change has to be cheaper. Estimates are no better.
const NOISE: f64 = 0.02;

/// The register tiles that are tried ahead: copies of the loop around the innermost one, and of the
/// loop around that.
const AHEAD: [[usize; 2]; 4] = [[32, 8], [16, 8], [16, 4], [8, 4]];

/// The number of register tiles that are tried further on.
const FASTEST: usize = 1;

/// The number of changes, the cheapest as they are, that are tried with register tiles.
const MAX_AHEAD: usize = 8;

/// The most accesses of a register tile that is tried ahead.
const MAX_ACCESSES: u64 = 1024;

/// The most accesses of all nests that are compared. Each is visited for each loop around it.
const MAX_COMPARED: u64 = 4096;

/// The larger numbers of copies that must all cost more than the cheapest to end the search: one
/// may be unlike its neighbours.
const PATIENCE: usize = 2;

/// The cycles of a tree, and the edit that leads to it, if there is one.
type Found = (f64, Green, Option<Edit>);

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
    let before = beside(trees, program.root, &place)?.len();
    let mut nest = Nest { body, program, place: &place, before, leaves: Leaves::default() };
    let present = nest.cycles(trees, program.root, cost)?;
    let faster = OnMachine::computing_faster(cost);
    // The costs of more and more copies fall, and then they rise.
    let mut by_copies: Vec<(usize, Edit)> = edits.into_iter().enumerate().collect();
    by_copies.sort_by_key(|(_, edit)| copies(&edit.change));
    let mut tried: Vec<(usize, Found)> = Vec::new();
    let (mut lowest, mut dearer) = (f64::INFINITY, 0);
    for (place, edit) in by_copies {
        let Some(root) = edit.apply(program, trees, program.root) else { continue };
        let Some(own) = nest.cycles(trees, root, if ahead { &faster } else { cost }) else { continue };
        dearer = if own > lowest * (1.0 + NOISE) { dearer + 1 } else { 0 };
        lowest = lowest.min(own);
        let is_behind = dearer == PATIENCE && copies(&edit.change) > 1;
        tried.push((place, (own, root, Some(edit))));
        if is_behind {
            break;
        }
    }
    // Among equals the first one of the proposal is taken.
    tried.sort_by_key(|(place, _)| *place);
    let mut found: Vec<Found> = tried.into_iter().map(|(_, own)| own).collect();
    if found.is_empty() {
        return None;
    }
    found = sorted(found);
    let mut least = present;
    if ahead {
        found.truncate(MAX_AHEAD);
        found.push((present, program.root, None));
        let mut fastest = Vec::new();
        for (own, root, _) in &mut found {
            *own = nest.cycles_ahead(trees, *root, cost, &mut fastest);
        }
        least = found.last().map_or(present, |(own, ..)| *own);
        found = sorted(found);
    }
    found.retain(|(own, ..)| *own < least * (1.0 - NOISE));
    Some(found.into_iter().filter_map(|(.., edit)| edit).collect())
}

/// Returns the number of copies that a change makes of a loop's iterations, to run in one.
fn copies(change: &Change) -> usize {
    if let Change::UnrollAndJam { count } = change { *count } else { 1 }
}

/// A nest that is changed in several ways.
struct Nest<'a> {
    body: &'a Body,
    program: &'a Program,
    /// The place of its outermost loop.
    place: &'a [usize],
    /// The number of items that stand beside each other there.
    before: usize,
    leaves: Leaves,
}

impl Nest<'_> {
    /// Returns the estimated cycles of the nest in a tree. `None` if it cannot be written.
    fn cycles(&mut self, trees: &mut TreeStore, root: Green, cost: &dyn Cost) -> Option<f64> {
        let nest = alone(trees, root, self.place, self.before)?;
        let nest = trees.written(nest)?;
        let outside = LoopContext::outside(&self.program.surroundings);
        let place = (self.body, self.program, &*trees);
        Some(Estimate::of(place, cost, nest, &outside, &mut self.leaves).cycles(cost.machine()))
    }

    /// Returns the same with register tiles, if the nest sums up and they are faster. The tiles
    /// that are `fastest` are nearly so in other orders and blocks of the nest: these try no
    /// others.
    fn cycles_ahead(
        &mut self,
        trees: &mut TreeStore,
        root: Green,
        cost: &dyn Cost,
        fastest: &mut Vec<[usize; 2]>,
    ) -> f64 {
        let present = self.cycles(trees, root, cost).unwrap_or(f64::INFINITY);
        let outside = LoopContext::outside(&self.program.surroundings);
        let nest = alone(trees, root, self.place, self.before);
        let sums = nest.and_then(|nest| sums_up((self.body, self.program, trees), cost, nest, &outside));
        if sums != Some(true) {
            return present;
        }
        let mut cycles_of = |counts: &[usize; 2]| {
            let tile = jammed(self.program, trees, root, self.place, *counts)?;
            Some((self.cycles(trees, tile, cost)?, *counts))
        };
        let mut tried: Vec<(f64, [usize; 2])> = fastest.iter().filter_map(&mut cycles_of).collect();
        if tried.is_empty() {
            tried =
                AHEAD.iter().filter(|counts| is_held(cost.machine(), counts)).filter_map(cycles_of).collect();
            tried.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            *fastest = tried.iter().take(FASTEST).map(|(_, counts)| *counts).collect();
        }
        tried.into_iter().fold(present, |least, (own, _)| least.min(own))
    }
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

/// True if registers hold the sums of a tile, if these have 32 bits.
fn is_held(machine: &Machine, counts: &[usize; 2]) -> bool {
    counts.iter().product::<usize>() as f64 / machine.lanes(4.0) <= machine.registers as f64
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
    let place = (body, program, trees);
    Some(Estimate::of(place, cost, node, &around, &mut Leaves::default()).cycles(cost.machine()))
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
