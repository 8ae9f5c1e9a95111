//! Loops against their definition, on random graphs.

use std::collections::BTreeSet;

use loomir_ir::graph::Digraph;
use loomir_ir::graph::dominators::DominatorTree;
use loomir_ir::graph::loops::LoopForest;

use super::random_graph;

/// The loop of a header by its definition.
fn natural_loop(graph: &Digraph, tree: &DominatorTree, header: u32) -> BTreeSet<u32> {
    let reversed = graph.reversed();
    let is_back = |from: &&u32| tree.is_reachable(**from) && tree.dominates(header, **from);
    let mut pending: Vec<u32> = reversed.successors(header).iter().filter(is_back).copied().collect();
    let mut nodes: BTreeSet<u32> = BTreeSet::new();
    while let Some(node) = pending.pop() {
        if nodes.insert(node) && node != header {
            pending.extend(reversed.successors(node).iter().filter(|from| tree.is_reachable(**from)));
        }
    }
    nodes
}

#[test]
fn loops_are_what_the_definition_says() {
    for seed in 0..2000 {
        let graph = random_graph(seed);
        let tree = DominatorTree::new(&graph, 0);
        let forest = LoopForest::new(&graph, &graph.reversed(), &tree, 0);
        let expected: Vec<(u32, BTreeSet<u32>)> = (0..graph.len() as u32)
            .map(|header| (header, natural_loop(&graph, &tree, header)))
            .filter(|(_, nodes)| !nodes.is_empty())
            .collect();
        assert_eq!(forest.iter().count(), expected.len(), "{graph:?}");
        for (id, own) in forest.iter() {
            let nodes: BTreeSet<u32> = own.nodes.iter().copied().collect();
            assert_eq!(nodes.len(), own.nodes.len(), "nodes stand once: {graph:?}");
            assert!(expected.contains(&(own.header(), nodes.clone())), "{own:?} of {graph:?}");
            let around =
                expected.iter().filter(|(header, other)| *header != own.header() && nodes.is_subset(other));
            assert_eq!(own.depth as usize, 1 + around.count(), "{own:?} of {graph:?}");
            assert!(own.children.iter().all(|child| forest.get(*child).parent == Some(id)));
            for node in 0..graph.len() as u32 {
                assert_eq!(forest.contains(id, node), nodes.contains(&node));
            }
        }
    }
}

#[test]
fn a_deep_nest_holds_what_is_further_in() {
    // Each node is a header, to which the last node leads back.
    let n = 300;
    let chain = (1..n).map(|node| (node - 1, node));
    let edges: Vec<(u32, u32)> = chain.chain((0..n).map(|header| (n - 1, header))).collect();
    let graph = Digraph::new(n as usize, &edges);
    let tree = DominatorTree::new(&graph, 0);
    let mut forest = LoopForest::new(&graph, &graph.reversed(), &tree, 0);
    let check = |forest: &LoopForest, nodes: u32, loops: usize| {
        assert_eq!(forest.iter().count(), loops);
        for (id, own) in forest.iter() {
            assert!((0..nodes).all(|node| forest.contains(id, node) == own.nodes.contains(&node)));
        }
    };
    check(&forest, n, 300);
    // Another loop comes around the outermost, once of its own nodes and once of what was in no
    // loop.
    let outermost = forest.top()[0];
    forest.insert(Some(outermost));
    let outer = forest.split(outermost, n, (0..n).collect());
    assert_eq!((forest.get(outer).depth, forest.get(outermost).depth), (1, 2));
    check(&forest, n + 1, 301);
    forest.insert(None);
    let around = forest.enclose(None, (0..n + 2).rev().collect(), n + 1);
    assert_eq!((forest.get(around).depth, forest.get(outermost).depth), (1, 3));
    check(&forest, n + 2, 302);
}
