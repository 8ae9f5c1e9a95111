//! Algorithms on graphs.

mod components;
mod cycles;
mod dominators;
mod frontiers;
mod loops;
mod post_dominators;

use loomir_ir::graph::Digraph;

/// Random numbers that are the same everywhere.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678)
    }

    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as u32 % n
    }
}

/// A graph of up to nine nodes; nothing leads to the first.
fn random_graph(seed: u64) -> Digraph {
    let mut random = Random::new(seed);
    let n = 2 + random.below(8);
    let mut edges = Vec::new();
    for from in 0..n {
        edges.extend((0..random.below(4)).map(|_| (from, 1 + random.below(n - 1))));
    }
    Digraph::new(n as usize, &edges)
}
