//! Post-dominators against their definition, on random graphs and after changes of them.

use loomir_ir::graph::post_dominators::PostDominatorTree;
use loomir_ir::graph::{Digraph, MutableDigraph};

use super::{Random, random_graph};

/// Returns true for each node that is reached from `from` without passing `without`.
fn reached(graph: &Digraph, from: u32, without: Option<u32>) -> Vec<bool> {
    let mut seen = vec![false; graph.len()];
    let mut pending = vec![from];
    while let Some(node) = pending.pop() {
        if Some(node) != without && !std::mem::replace(&mut seen[node as usize], true) {
            pending.extend(graph.successors(node));
        }
    }
    seen
}

#[test]
fn agrees_with_the_definition_on_random_graphs() {
    for seed in 0..2000 {
        let graph = random_graph(seed);
        let nodes = 0..graph.len() as u32;
        let tree = PostDominatorTree::new(&graph);
        let roots: Vec<u32> = tree.roots().collect();
        for b in nodes.clone() {
            let from_b = reached(&graph, b, None);
            // Every node leads to a root, and every root leads to no other one; those that lead
            // nowhere are among them.
            let of_b = roots.iter().filter(|root| from_b[**root as usize]).count();
            assert!(of_b >= 1 && (!roots.contains(&b) || of_b == 1), "{b} in {graph:?}");
            assert!(!graph.successors(b).is_empty() || roots.contains(&b));
            for a in nodes.clone() {
                let around = reached(&graph, b, Some(a));
                let expected = a == b || !roots.iter().any(|root| around[*root as usize]);
                assert_eq!(tree.post_dominates(a, b), expected, "{a} over {b} in {graph:?}");
            }
        }
    }
}

#[test]
fn roots_of_regions_without_a_way_out() {
    // An exit 1; a cycle of 2 and 3; one of 4 and 5 that leads to that of 6 alone.
    let edges = [(0, 1), (0, 2), (2, 3), (3, 2), (0, 4), (4, 5), (5, 4), (5, 6), (6, 6)];
    let tree = PostDominatorTree::new(&Digraph::new(7, &edges));
    assert_eq!(tree.roots().collect::<Vec<_>>(), [1, 3, 6]);
    assert_eq!((tree.ipdom(0), tree.ipdom(2), tree.ipdom(4), tree.ipdom(6)), (None, Some(3), Some(5), None));
    assert_eq!((tree.nearest_common(4, 5), tree.nearest_common(4, 3)), (Some(5), None));
}

/// Nodes that each lead to one large cycle and to a small one of their own: walking through the
/// large one for each of them would take forever.
#[test]
fn many_small_cycles_beside_a_large_one() {
    let (small, large) = (50_000u32, 50_000u32);
    let (own, first) = (|k: u32| 2 * k, 2 * small);
    let mut edges = Vec::new();
    for k in 0..small {
        edges.extend([(own(k), own(k) + 1), (own(k) + 1, own(k) + 1), (own(k), first)]);
    }
    edges.extend((0..large).map(|k| (first + k, first + (k + 1) % large)));
    let tree = PostDominatorTree::new(&Digraph::new((first + large) as usize, &edges));
    assert_eq!(tree.roots().len(), small as usize + 1);
}

#[test]
fn kept_true_it_equals_one_made_anew() {
    let mut kept = 0;
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let mut graph = MutableDigraph::new(1);
        let mut tree = PostDominatorTree::of_mutable(&graph, &[0]);
        // One that stays stale.
        let mut neglected = tree.clone();
        let mut gone: Vec<u32> = Vec::new();
        for step in 0..60 {
            let n = graph.len() as u32;
            let live: Vec<u32> = (0..n).filter(|node| !gone.contains(node)).collect();
            let mut pick = || live[random.below(live.len() as u32) as usize];
            let (from, to) = (pick(), pick());
            match random.below(12) {
                0..2 => {
                    graph.add_node();
                    [&mut tree, &mut neglected].into_iter().for_each(|tree| tree.add_node());
                }
                2..6 => {
                    graph.add_edge(from, to);
                    [&mut tree, &mut neglected].into_iter().for_each(|tree| tree.edge_added(from, to));
                }
                6..8 => {
                    let to = graph.successors(from).get(random.below(3) as usize).copied();
                    if let Some(to) = to {
                        graph.remove_edge(from, to);
                        [&mut tree, &mut neglected].into_iter().for_each(|tree| tree.edge_removed(from, to));
                    }
                }
                8 => tree.renumber(),
                9 if from != 0 && graph.predecessors(from).iter().all(|before| *before == from) => {
                    for to in graph.successors(from).to_vec() {
                        graph.remove_edge(from, to);
                    }
                    [&mut tree, &mut neglected].into_iter().for_each(|tree| tree.node_removed(from));
                    gone.push(from);
                }
                _ => {
                    let into = graph.predecessors(to).to_vec();
                    let on: Vec<u32> = into.into_iter().filter(|_| random.below(2) == 0).collect();
                    if on.is_empty() {
                        continue;
                    }
                    let node = graph.add_node();
                    for from in on {
                        graph.remove_edge(from, to);
                        graph.add_edge(from, node);
                    }
                    graph.add_edge(node, to);
                    [&mut tree, &mut neglected].into_iter().for_each(|tree| tree.node_inserted(&graph, to));
                }
            }
            let order: Vec<u32> = (0..graph.len() as u32).filter(|node| !gone.contains(node)).collect();
            let anew = PostDominatorTree::of_mutable(&graph, &order);
            if tree.is_stale() {
                tree = anew;
                continue;
            }
            kept += 1;
            for a in &order {
                assert_eq!(tree.ipdom(*a), anew.ipdom(*a), "seed {seed}, step {step}: {a} in {graph:?}");
                assert!(order.iter().all(|b| tree.post_dominates(*a, *b) == anew.post_dominates(*a, *b)));
            }
            let sorted = |tree: &PostDominatorTree| {
                let mut roots: Vec<u32> = tree.roots().collect();
                roots.sort_unstable();
                roots
            };
            assert_eq!(sorted(&tree), sorted(&anew), "seed {seed}, step {step}: {graph:?}");
        }
    }
    assert!(kept > 10_000, "the tree was made anew in most steps");
}
