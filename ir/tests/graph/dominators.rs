//! Dominators against their definition, on random graphs and after changes of them.

use loomir_ir::graph::dominators::DominatorTree;
use loomir_ir::graph::{Digraph, MutableDigraph};

use super::{Random, random_graph};

/// Dominance by its definition: `b` is not reached when `a` is taken out.
fn dominates_by_removal(graph: &Digraph, a: u32, b: u32) -> bool {
    let mut seen = vec![false; graph.len()];
    let mut stack = if a == 0 { vec![] } else { vec![0u32] };
    while let Some(n) = stack.pop() {
        if n == a || std::mem::replace(&mut seen[n as usize], true) {
            continue;
        }
        stack.extend(graph.successors(n));
    }
    a == b || !seen[b as usize]
}

#[test]
fn agrees_with_the_definition_on_random_graphs() {
    for seed in 0..2000 {
        let graph = random_graph(seed);
        let tree = DominatorTree::new(&graph, 0);
        for a in 0..graph.len() as u32 {
            for b in 0..graph.len() as u32 {
                // A node that is not reached dominates only what is not reached either.
                let expected = dominates_by_removal(&graph, a, b)
                    && (a == b || tree.is_reachable(a) || !tree.is_reachable(b));
                assert_eq!(tree.dominates(a, b), expected, "{a} over {b} in {graph:?}");
            }
        }
    }
}

#[test]
fn kept_true_it_equals_one_made_anew() {
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let mut graph = MutableDigraph::new(1);
        let mut tree = DominatorTree::of_mutable(&graph, 0);
        for step in 0..60 {
            let n = graph.len() as u32;
            let (from, to) = (random.below(n), random.below(n));
            match random.below(11) {
                0..2 => {
                    graph.add_node();
                    tree.add_node();
                }
                2..7 => {
                    graph.add_edge(from, to);
                    tree.edge_added(&graph, from, to);
                }
                7..9 => {
                    let to = graph.successors(from).get(random.below(3) as usize).copied();
                    if let Some(to) = to {
                        graph.remove_edge(from, to);
                        tree.edge_removed(&graph, from, to);
                    }
                }
                9 => tree.renumber(),
                _ if to == 0 => {}
                _ => {
                    // A node on some of the edges into another one.
                    let into = graph.predecessors(to).to_vec();
                    let node = graph.add_node();
                    for from in into.into_iter().filter(|_| random.below(2) == 0) {
                        graph.remove_edge(from, to);
                        graph.add_edge(from, node);
                    }
                    graph.add_edge(node, to);
                    if graph.predecessors(node).is_empty() {
                        tree.add_node();
                    } else {
                        tree.node_inserted(&graph, to);
                    }
                }
            }
            let anew = DominatorTree::of_mutable(&graph, 0);
            assert_eq!(tree, anew, "seed {seed}, step {step}: {graph:?}");
            for a in 0..graph.len() as u32 {
                assert!((0..graph.len() as u32).all(|b| tree.dominates(a, b) == anew.dominates(a, b)));
            }
        }
    }
}
