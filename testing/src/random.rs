//! Reproducible random numbers: a seed identifies a case permanently.

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Returns the random numbers of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Returns the random numbers of case `index` of a campaign, independent of its other cases.
    pub fn of_case(seed: u64, index: u64) -> Random {
        let mut outer = Random(seed);
        let mixed = outer.bits() ^ index.wrapping_mul(0xd134_2543_de82_ef95);
        let mut inner = Random(mixed);
        inner.bits();
        inner
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from `low` to `high`, both included.
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        low + (self.bits() % (high - low + 1).max(1) as u64) as i64
    }

    /// Returns a number below `count`, or 0.
    pub fn below(&mut self, count: usize) -> usize {
        (self.bits() % count.max(1) as u64) as usize
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: i64) -> bool {
        self.range(0, 99) < percent
    }

    /// Returns a random element of a non-empty list.
    pub fn pick<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len())]
    }

    /// Returns the index of one of several weights, with a frequency proportional to its weight.
    pub fn weighted(&mut self, weights: &[i64]) -> usize {
        let mut left = self.range(0, weights.iter().sum::<i64>() - 1);
        weights
            .iter()
            .position(|weight| {
                left -= weight;
                left < 0
            })
            .unwrap_or(0)
    }
}
