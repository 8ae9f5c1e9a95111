//! Frontiers against their definition, on random graphs.

use loomir_ir::graph::Digraph;
use loomir_ir::graph::dominators::DominatorTree;
use loomir_ir::graph::frontiers::iterated_frontier;

use super::{Random, random_graph};

/// The nodes where the value is needed before it is given: those that lead to a use without
/// passing a definition.
fn live(graph: &Digraph, definitions: &[u32], uses: &[u32]) -> Vec<bool> {
    let mut live = vec![false; graph.len()];
    for node in uses.iter().filter(|node| !definitions.contains(node)) {
        live[*node as usize] = true;
    }
    loop {
        let before = live.clone();
        for (from, to) in graph.edges() {
            live[from as usize] |= live[to as usize] && !definitions.contains(&from);
        }
        if live == before {
            return live;
        }
    }
}

/// By the definition: what is in the frontier of a definition or of a node that was found.
fn by_definition(graph: &Digraph, tree: &DominatorTree, definitions: &[u32], live: &[bool]) -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
    loop {
        let before = found.len();
        for (from, to) in graph.edges() {
            let is_frontier = |of: &u32| {
                tree.is_reachable(*of)
                    && tree.is_reachable(from)
                    && tree.dominates(*of, from)
                    && (*of == to || !tree.dominates(*of, to))
            };
            let is_met = definitions.iter().chain(&found).any(is_frontier);
            if is_met && live[to as usize] && tree.is_reachable(to) && !found.contains(&to) {
                found.push(to);
            }
        }
        if found.len() == before {
            found.sort_unstable();
            return found;
        }
    }
}

#[test]
fn they_are_what_the_definition_says() {
    for seed in 0..3000 {
        let graph = random_graph(seed);
        let mut random = Random::new(seed ^ 0x5a5a);
        let tree = DominatorTree::new(&graph, 0);
        let reversed = graph.reversed();
        for _ in 0..3 {
            let some = |random: &mut Random| {
                let nodes = 0..graph.len() as u32;
                nodes.filter(|_| random.below(3) == 0).collect::<Vec<u32>>()
            };
            // What is not given anywhere else is given at the entry.
            let (mut definitions, uses) = (some(&mut random), some(&mut random));
            if !definitions.contains(&0) {
                definitions.push(0);
            }
            let live = live(&graph, &definitions, &uses);
            let nodes: Vec<u32> =
                (0..graph.len() as u32).filter(|n| live[*n as usize] && tree.is_reachable(*n)).collect();
            let mut found = iterated_frontier(&reversed, &tree, &definitions, &nodes);
            found.sort_unstable();
            let expected = by_definition(&graph, &tree, &definitions, &live);
            assert_eq!(found, expected, "{definitions:?}, {uses:?} in {graph:?}");
        }
    }
}
