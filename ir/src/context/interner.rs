//! One table that uniques values of one kind: equal values get equal 32-bit ids, for the life of
//! the context.
//!
//! Values sit in an append-only vector, so that reading one takes no lock and yields a reference
//! that lives as long as the table. The look-up from value to id is a hash table split into shards,
//! each behind a lock of its own. A hit costs a hash and a shared lock; a miss an exclusive lock
//! and an allocation. Ids depend on who asked first, hence on thread timing: nothing may sort or
//! print by them.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};
use std::sync::RwLock;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

const SHARDS: usize = 16;

/// A table of uniqued values.
pub(crate) struct Interner<T> {
    items: boxcar::Vec<T>,
    shards: [RwLock<HashTable<Entry>>; SHARDS],
}

/// An id with half of the value's hash: what has another is not looked at, and a table that grows
/// looks at no value at all.
#[derive(Clone, Copy)]
struct Entry {
    hash: u32,
    id: u32,
}

impl Entry {
    /// The hash as the table wants it: it goes by the lowest and the highest bits.
    fn wide(hash: u32) -> u64 {
        u64::from(hash) << 32 | u64::from(hash)
    }
}

impl<T> Interner<T> {
    pub(crate) fn new() -> Self {
        Interner { items: boxcar::Vec::new(), shards: std::array::from_fn(|_| RwLock::default()) }
    }

    /// The value of an id this table gave out.
    #[inline]
    pub(crate) fn get(&self, id: u32) -> &T {
        &self.items[id as usize]
    }

    /// The id of `key`, which is stored (made by `own`) if it is new.
    pub(crate) fn intern<Q>(&self, key: Q, own: impl FnOnce(Q) -> T) -> u32
    where
        Q: Hash + Eq + AsKey<T>,
    {
        let hash = FixedState::default().hash_one(&key);
        let shard = &self.shards[(hash >> 32) as usize % SHARDS];
        let hash = hash as u32;
        let is_key = |entry: &Entry| entry.hash == hash && key.is(self.get(entry.id));
        // A poisoned lock means another thread panicked while it held it; the table itself is only
        // ever appended to, so it is still whole.
        let read = shard.read().unwrap_or_else(|e| e.into_inner());
        if let Some(entry) = read.find(Entry::wide(hash), is_key) {
            return entry.id;
        }
        drop(read);
        let mut write = shard.write().unwrap_or_else(|e| e.into_inner());
        if let Some(entry) = write.find(Entry::wide(hash), is_key) {
            return entry.id;
        }
        let id = self.items.push(own(key)) as u32;
        write.insert_unique(Entry::wide(hash), Entry { hash, id }, |entry| Entry::wide(entry.hash));
        id
    }
}

/// A borrowed or owned form of `T`; both forms of a value hash alike.
pub(crate) trait AsKey<T> {
    fn is(&self, stored: &T) -> bool;
}

impl<T: Eq> AsKey<T> for T {
    fn is(&self, stored: &T) -> bool {
        self == stored
    }
}

impl AsKey<Box<str>> for &str {
    fn is(&self, stored: &Box<str>) -> bool {
        *self == Borrow::<str>::borrow(stored)
    }
}

impl<E: Eq> AsKey<Box<[E]>> for &[E] {
    fn is(&self, stored: &Box<[E]>) -> bool {
        *self == Borrow::<[E]>::borrow(stored)
    }
}
