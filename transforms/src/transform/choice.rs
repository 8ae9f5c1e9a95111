//! The choice among several changes of a nest, by cost.

use loomir_ir::Body;

use crate::access::LoopContext;
use crate::cost::{Cost, NestCost};
use crate::tree::{Edit, Green, Node, Program, Red, TreeStore};

/// Returns those of several edits of one loop that make its nest cheaper, the cheapest first. Edits
/// that cannot be applied are left out. `None` if none can be applied.
pub(super) fn cheaper(
    body: &Body,
    program: &Program,
    trees: &mut TreeStore,
    cost: &dyn Cost,
    edits: Vec<Edit>,
) -> Option<Vec<Edit>> {
    let place = edits.first()?.place.clone();
    let loop_context = context_of(program, trees, &place)?;
    let nest_of = |trees: &TreeStore, root: Green| {
        let nest = Red::at(trees, root, &place)?.node();
        NestCost::of((body, program, trees), cost, nest, loop_context.clone())
    };
    let present = nest_of(trees, program.root)?;
    let mut found: Vec<(NestCost, Edit)> = Vec::new();
    let mut is_possible = false;
    for edit in edits {
        let Some(root) = edit.apply(program, trees, program.root) else { continue };
        is_possible = true;
        let Some(own) = nest_of(trees, root).filter(|own| own.is_less_than(&present)) else { continue };
        // Among equals the first one stays in front.
        let at = found.iter().position(|(other, _)| own.is_less_than(other)).unwrap_or(found.len());
        found.insert(at, (own, edit));
    }
    is_possible.then(|| found.into_iter().map(|(_, edit)| edit).collect())
}

/// Returns the loop context of the loop at a place of a program's own tree.
fn context_of(program: &Program, trees: &TreeStore, place: &[usize]) -> Option<LoopContext> {
    let Node::Loop { header, .. } = trees.get(Red::at(trees, program.root, place)?.node()) else {
        return None;
    };
    let of = trees.header(header).origins.first()?.of;
    Some(LoopContext::around(program, trees, of))
}
