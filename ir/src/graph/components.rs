//! Strongly connected components of a directed graph.

use super::digraph::Digraph;

/// Returns the strongly connected components. A component comes after all others that it reaches.
/// Linear, and without recursion.
pub fn components(graph: &Digraph) -> Vec<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let nodes = graph.len();
    let (mut order, mut low) = (vec![UNSEEN; nodes], vec![0u32; nodes]);
    let mut is_open = vec![false; nodes];
    let (mut stack, mut found) = (Vec::new(), Vec::new());
    let mut count = 0;
    for root in 0..nodes as u32 {
        if order[root as usize] != UNSEEN {
            continue;
        }
        // Each node with the number of its successors that were visited.
        let mut path: Vec<(u32, usize)> = vec![(root, 0)];
        while let Some((node, next)) = path.pop() {
            let own = node as usize;
            if next == 0 {
                (order[own], low[own]) = (count, count);
                count += 1;
                stack.push(node);
                is_open[own] = true;
            }
            if let Some(to) = graph.successors(node).get(next) {
                path.push((node, next + 1));
                if order[*to as usize] == UNSEEN {
                    path.push((*to, 0));
                } else if is_open[*to as usize] {
                    low[own] = low[own].min(order[*to as usize]);
                }
                continue;
            }
            if let Some((parent, _)) = path.last() {
                low[*parent as usize] = low[*parent as usize].min(low[own]);
            }
            if low[own] == order[own] {
                let first = stack.iter().rposition(|other| *other == node).unwrap_or(0);
                let component = stack.split_off(first);
                component.iter().for_each(|member| is_open[*member as usize] = false);
                found.push(component);
            }
        }
    }
    found
}
