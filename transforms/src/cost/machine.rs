//! The machine that costs are about.

mod known;
mod text;

/// The beginning of the names of AMD's processors.
pub(super) const BY_AMD: &str = "znver";

/// A machine, as far as costs depend on it. The default is a core of a usual server: 16 vector
/// registers of 32 bytes, three caches.
#[derive(Clone, PartialEq, Debug)]
pub struct Machine {
    /// Bytes of a cache line.
    pub line: u64,
    /// The caches, from the nearest on.
    pub caches: Vec<Cache>,
    /// Cycles to get a line from memory.
    pub memory: f64,
    /// The number of vector registers.
    pub registers: usize,
    /// Bytes of a vector register.
    pub vector: u64,
    /// Operations begun in one cycle.
    pub issue: f64,
    /// The overlapped part of the lesser of computing and fetching lines.
    pub overlap: f64,
    /// Cycles until a floating-point number is available to the next iteration.
    pub latency: f64,
    /// Cycles until an integer is available to the next iteration.
    pub integer_latency: f64,
    /// Cycles to enter and to leave a loop, whose last branch is mispredicted.
    pub start: f64,
    /// Cycles that a spilled value costs each iteration.
    pub spill: f64,
    /// Cycles that a load waits for a store before it at the same place of another page of 4,096
    /// bytes.
    pub same_place: f64,
    /// The pages of 4,096 bytes whose places a core knows.
    pub pages: usize,
    /// Cycles to look up the place of another page.
    pub page: f64,
}

/// A cache.
#[derive(Clone, PartialEq, Debug)]
pub struct Cache {
    /// The name of the cache.
    pub name: String,
    /// The size of the cache.
    pub bytes: u64,
    /// Cycles to get a line from the cache, if many lines are fetched together.
    pub cycles: f64,
}

impl Default for Machine {
    fn default() -> Self {
        Machine {
            line: 64,
            caches: vec![
                Cache { name: "L1".to_owned(), bytes: 32 << 10, cycles: 0.0 },
                Cache { name: "L2".to_owned(), bytes: 1 << 20, cycles: 2.0 },
                Cache { name: "LLC".to_owned(), bytes: 16 << 20, cycles: 5.0 },
            ],
            memory: 16.0,
            registers: 16,
            vector: 32,
            issue: 4.0,
            overlap: 0.75,
            latency: 4.0,
            integer_latency: 1.0,
            start: 20.0,
            spill: 1.0,
            same_place: 8.0,
            pages: 2048,
            page: 16.0,
        }
    }
}

impl Machine {
    /// Returns the cycles to fetch a line that is touched again after `bytes` other bytes.
    pub fn fetch(&self, bytes: f64) -> f64 {
        self.fetch_beyond(0, bytes)
    }

    /// Returns the cycles to get a line that the next iterations of a loop touch again, with
    /// prefetching. The first and the second cache then cost the same, so a loop may traverse
    /// hundreds of arrays.
    pub(super) fn fetch_ahead(&self, bytes: f64) -> f64 {
        self.fetch_beyond(1, bytes)
    }

    /// Returns the cycles to get a line that is in none of the first caches.
    fn fetch_beyond(&self, first: usize, bytes: f64) -> f64 {
        let caches = self.caches.get(first..).unwrap_or_default();
        let further = caches.iter().skip(1).map(|cache| cache.cycles).chain([self.memory]);
        let nearest = caches.first().map_or(self.memory, |cache| cache.cycles);
        let missed = |cache: &Cache| (bytes / (cache.bytes as f64).max(1.0) - 1.0).clamp(0.0, 1.0);
        let steps = caches.iter().zip(further);
        steps.fold(nearest, |sum, (cache, next)| sum + missed(cache) * (next - cache.cycles).max(0.0))
    }

    /// Returns the greatest cache that holds `less` but not `more` bytes.
    pub(super) fn overflowed(&self, less: f64, more: f64) -> Option<&Cache> {
        self.caches.iter().rev().find(|cache| less <= cache.bytes as f64 && more > cache.bytes as f64)
    }

    /// Returns the number of elements of `bytes` bytes in a vector register.
    pub(crate) fn lanes(&self, bytes: f64) -> f64 {
        (self.vector as f64 / bytes.max(1.0)).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_far_away_costs_more_up_to_memory() {
        let machine = Machine::default();
        let costs: Vec<f64> =
            [0.0, 32e3, 64e3, 1e6, 4e6, 64e6, 1e12].map(|bytes| machine.fetch(bytes)).into();
        assert!(costs.windows(2).all(|pair| pair[0] <= pair[1]), "{costs:?}");
        assert_eq!(costs[0], 0.0);
        assert_eq!(costs[1], 0.0, "it is all in the first cache");
        assert_eq!(costs[2], 1.906_25, "little is left of it in the first cache");
        assert_eq!(costs[6], 16.0, "nothing is in a cache");
    }

    #[test]
    fn a_machine_without_caches_is_all_memory() {
        let machine = Machine { caches: Vec::new(), ..Machine::default() };
        assert_eq!([machine.fetch(0.0), machine.fetch(1e9)], [16.0, 16.0]);
        assert_eq!(machine.overflowed(0.0, 1e9), None);
    }
}
