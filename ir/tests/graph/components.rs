//! Components against small graphs.

use loomir_ir::graph::{Digraph, components};

/// A cycle is one component, and what it reaches comes first.
#[test]
fn cycles_are_components_and_callees_come_first() {
    let graph = Digraph::new(6, &[(0, 1), (1, 2), (2, 1), (2, 3), (4, 0), (4, 4), (0, 0)]);
    let mut found = components(&graph);
    found.iter_mut().for_each(|own| own.sort_unstable());
    assert_eq!(found, [vec![3], vec![1, 2], vec![0], vec![4], vec![5]]);
}

/// A path of many nodes does not overflow the stack.
#[test]
fn long_paths_are_visited_without_recursion() {
    let edges: Vec<(u32, u32)> = (0..99_999).map(|node| (node, node + 1)).collect();
    assert_eq!(components(&Digraph::new(100_000, &edges)).len(), 100_000);
}
