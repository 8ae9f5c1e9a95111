//! Lines that share a set of a cache.
//!
//! ```text
//!     for j { s0 += a[0][j]; s1 += a[1][j]; … s15 += a[15][j] }       rows of 4,096 bytes
//! ```
//!
//! A line has its place in one set, and a set holds as many lines as the cache has ways. Rows at a
//! distance that the bytes of a way divide are in the same set, and push each other out of it.

use hashbrown::{HashMap, HashSet};

use super::Stream;
use crate::access::base::Base;

/// A set, of the lines of streams at one pace.
type Set = (Base, usize, i64);

/// The lines that an iteration touches, by their sets.
pub(super) struct Crowds {
    lines: HashMap<Set, HashSet<i64>>,
    /// Bytes of a way, and of a line.
    way: i64,
    line: i64,
    ways: usize,
}

impl Crowds {
    /// Returns the crowds in a cache of so many ways, each of `way` bytes. Linear in the accesses.
    pub(super) fn of(streams: &[Stream], (way, ways): (u64, usize), line: u64) -> Crowds {
        let (way, line) = (way.max(1) as i64, line.max(1) as i64);
        let mut crowds = Crowds { lines: HashMap::new(), way, line, ways: ways.max(1) };
        // Fewer lines than ways crowd no set.
        if streams.iter().map(|own| own.places.len()).sum::<usize>() > ways {
            for own in streams.iter().filter(|own| own.is_narrow()) {
                for at in own.lines_at(line) {
                    crowds.lines.entry(crowds.set_of(own, at)).or_default().insert(at);
                }
            }
        }
        crowds
    }

    /// Returns how many times as many lines as fit there are in the fullest set of a stream.
    pub(super) fn around(&self, stream: &Stream) -> f64 {
        let count = |line| self.lines.get(&self.set_of(stream, line)).map_or(0, HashSet::len);
        let most =
            if self.lines.is_empty() { 0 } else { stream.lines_at(self.line).map(count).max().unwrap_or(0) };
        most as f64 / self.ways as f64
    }

    fn set_of(&self, own: &Stream, line: i64) -> Set {
        (own.key.base, own.pace, line.rem_euclid(self.way / self.line.min(self.way)))
    }
}

impl Stream {
    /// Returns the numbers of the lines, of `line` bytes, that an iteration touches.
    fn lines_at(&self, line: i64) -> impl Iterator<Item = i64> {
        let place = |(_, ahead): &(i64, i64)| self.start.saturating_add(self.step.saturating_mul(*ahead));
        self.places.keys().map(move |own| place(own).div_euclid(line))
    }

    /// True if an access touches one line in each iteration.
    fn is_narrow(&self) -> bool {
        self.at_once <= self.places.len() as f64
    }
}
