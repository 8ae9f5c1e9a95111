//! Tables by signature: what is known of one operation is known of all that look like it.
//!
//! A signature ([`Body::signature`](crate::Body::signature)) is the numbers of the name, the
//! attributes and the types, and how many values, regions and successors there are. Most operations
//! of a program have one that others have.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::OpRef;

/// Facts about operations, by their signatures.
pub struct Signatures<T> {
    table: HashTable<(Box<[u32]>, T)>,
    /// The one asked for last: a buffer, so that what is known costs no memory.
    current: Vec<u32>,
    hash: u64,
}

impl<T> Default for Signatures<T> {
    fn default() -> Self {
        Signatures { table: HashTable::new(), current: Vec::new(), hash: 0 }
    }
}

impl<T> Signatures<T> {
    /// More than a program of few types has. A table that has more starts again.
    const MOST: usize = 1 << 10;

    /// Returns the fact about operations that look like this one, whose regions are in its own
    /// body. `None` costs no certainty: it may have been added and forgotten.
    pub fn get(&mut self, op: OpRef<'_>) -> Option<&T> {
        op.body().signature(op.op(), &mut self.current);
        self.hash = FixedState::default().hash_one(&self.current[..]);
        self.table.find(self.hash, |(known, _)| **known == *self.current).map(|(_, fact)| fact)
    }

    /// True if the next fact that is added starts the table again.
    pub fn is_full(&self) -> bool {
        self.table.len() >= Self::MOST
    }

    /// Adds a fact about the operation that was asked for last.
    pub fn add(&mut self, fact: T) {
        if self.is_full() {
            self.table.clear();
        }
        let rehash = |(known, _): &(Box<[u32]>, T)| FixedState::default().hash_one(&known[..]);
        self.table.insert_unique(self.hash, (self.current[..].into(), fact), rehash);
    }
}
