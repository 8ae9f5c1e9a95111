//! The choice among several changes of a loop, by cost.

use loomir_ir::Body;

use crate::access::LoopContext;
use crate::cost::{Cost, Estimate};
use crate::tree::{Edit, Green, Node, Program, Red, TreeStore};

/// The part by which a change has to be cheaper. Estimates are no better.
const NOISE: f64 = 0.02;

/// Returns those of several edits of one loop that make it cheaper, the cheapest first. Edits that
/// cannot be applied are left out. `None` if none can be applied.
pub(super) fn cheaper(
    body: &Body,
    program: &Program,
    trees: &mut TreeStore,
    cost: &dyn Cost,
    edits: Vec<Edit>,
) -> Option<Vec<Edit>> {
    let place = edits.first()?.place.clone();
    let outside = LoopContext::outside(&program.surroundings);
    let before = beside(trees, program.root, &place)?.len();
    let cycles_of = |trees: &mut TreeStore, root: Green| {
        let nest = alone(trees, root, &place, before)?;
        let nest = trees.written(nest)?;
        let estimate = Estimate::of((body, program, trees), cost, nest, &outside);
        Some(estimate.cycles(cost.machine()))
    };
    let present = cycles_of(trees, program.root)?;
    let mut found: Vec<(f64, Edit)> = Vec::new();
    let mut is_possible = false;
    for edit in edits {
        let Some(root) = edit.apply(program, trees, program.root) else { continue };
        is_possible = true;
        let Some(own) = cycles_of(trees, root).filter(|own| *own < present * (1.0 - NOISE)) else { continue };
        // Among equals the first one stays in front.
        let at = found.iter().position(|(other, _)| own < other * (1.0 - NOISE)).unwrap_or(found.len());
        found.insert(at, (own, edit));
    }
    is_possible.then(|| found.into_iter().map(|(_, edit)| edit).collect())
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
