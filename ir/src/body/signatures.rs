//! Sets of signatures: what is known of one operation is known of all that look like it.
//!
//! A signature ([`Body::signature`](crate::Body::signature)) is the numbers of the name, the
//! attributes and the types, and how many values, regions and successors there are. Most operations
//! of a program have one that others have.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::OpRef;

/// The signatures of operations that something is known of.
#[derive(Default)]
pub(crate) struct Signatures {
    table: HashTable<Vec<u32>>,
    /// The one asked for last: a buffer, so that what is known costs no memory.
    current: Vec<u32>,
    hash: u64,
}

impl Signatures {
    /// More than a program of few types has. A set that has more starts again.
    const MOST: usize = 1 << 10;

    /// True if the signature of an operation whose regions are in its own body was added. `false`
    /// costs no certainty: it may have been added and forgotten.
    pub(crate) fn has(&mut self, op: OpRef<'_>) -> bool {
        op.body().signature(op.op(), &mut self.current);
        self.hash = FixedState::default().hash_one(&self.current);
        self.table.find(self.hash, |known| *known == self.current).is_some()
    }

    /// Adds the signature that was asked for last.
    pub(crate) fn add(&mut self) {
        if self.table.len() >= Self::MOST {
            self.table.clear();
        }
        let rehash = |known: &Vec<u32>| FixedState::default().hash_one(known);
        self.table.insert_unique(self.hash, self.current.clone(), rehash);
    }
}
