//! Cycles against their definition, on random graphs.

use std::collections::BTreeSet;

use loomir_ir::graph::Digraph;
use loomir_ir::graph::cycles::{CycleForest, CycleId};
use loomir_ir::graph::dominators::DominatorTree;
use loomir_ir::graph::loops::LoopForest;

use super::random_graph;

/// The sets of nodes of `among` that reach each other, by trying all pairs; single nodes only
/// with an edge to themselves.
fn strongly_connected(graph: &Digraph, among: &BTreeSet<u32>) -> BTreeSet<BTreeSet<u32>> {
    let reach = |from: u32| {
        let mut seen = BTreeSet::new();
        let mut pending = vec![from];
        while let Some(node) = pending.pop() {
            let to = graph.successors(node).iter().filter(|to| among.contains(*to));
            pending.extend(to.filter(|to| seen.insert(**to)));
        }
        seen
    };
    let reached: Vec<(u32, BTreeSet<u32>)> = among.iter().map(|node| (*node, reach(*node))).collect();
    let set = |(node, own): &(u32, BTreeSet<u32>)| {
        let back = reached.iter().filter(|(other, others)| own.contains(other) && others.contains(node));
        back.map(|(other, _)| *other).collect::<BTreeSet<u32>>()
    };
    reached.iter().map(set).filter(|set| !set.is_empty()).collect()
}

/// The cycles in `nodes` are its strongly connected sets, and those in a cycle those of it
/// without its header.
fn check(
    graph: &Digraph,
    reached: &BTreeSet<u32>,
    forest: &CycleForest,
    ids: &[CycleId],
    nodes: &BTreeSet<u32>,
) {
    let set = |id: &CycleId| forest.get(*id).nodes.iter().copied().collect::<BTreeSet<u32>>();
    let found: BTreeSet<BTreeSet<u32>> = ids.iter().map(set).collect();
    assert_eq!(found, strongly_connected(graph, nodes), "{graph:?}");
    for id in ids {
        let (cycle, mut inside) = (forest.get(*id), set(id));
        let is_entered = |node: &&u32| {
            **node == 0
                || graph
                    .edges()
                    .any(|(from, to)| to == **node && reached.contains(&from) && !inside.contains(&from))
        };
        let entries: BTreeSet<u32> = inside.iter().filter(is_entered).copied().collect();
        assert_eq!(cycle.entries.iter().copied().collect::<BTreeSet<u32>>(), entries, "{graph:?}");
        inside.remove(&cycle.header());
        check(graph, reached, forest, &cycle.children, &inside);
    }
}

#[test]
fn cycles_are_strongly_connected_sets_and_their_entries() {
    for seed in 0..2000 {
        let graph = random_graph(seed);
        let forest = CycleForest::new(&graph, &graph.reversed(), 0);
        let reached: BTreeSet<u32> = graph.pre_order(0).into_iter().collect();
        check(&graph, &reached, &forest, forest.top(), &reached);
    }
}

#[test]
fn every_loop_is_in_a_cycle_of_its_header() {
    for seed in 0..2000 {
        let graph = random_graph(seed);
        let tree = DominatorTree::new(&graph, 0);
        let reversed = graph.reversed();
        let (loops, cycles) =
            (LoopForest::new(&graph, &reversed, &tree, 0), CycleForest::new(&graph, &reversed, 0));
        for (_, own) in loops.iter() {
            let same = cycles.iter().filter(|(_, cycle)| cycle.header() == own.header());
            assert_eq!(same.count(), 1, "{own:?} of {graph:?}");
        }
        if cycles.iter().all(|(_, cycle)| cycle.is_reducible()) {
            assert_eq!(loops.iter().count(), cycles.len());
        }
    }
}
