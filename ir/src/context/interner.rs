//! One table that uniques values of one kind: equal values get equal 32-bit ids, for the life of the context.
//!
//! Values sit in an append-only vector, so that reading one takes no lock and yields a reference that lives as long as the
//! table. The look-up from value to id is a hash table split into shards, each behind a lock of its own. A hit costs
//! a hash and a shared lock; a miss an exclusive lock and an allocation. Ids depend on who asked first, hence on thread
//! timing: nothing may sort or print by them.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};
use std::sync::RwLock;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

const SHARDS: usize = 16;

/// A table of uniqued values.
pub(crate) struct Interner<T> {
    items: boxcar::Vec<T>,
    shards: [RwLock<HashTable<u32>>; SHARDS],
}

fn hash_of<Q: Hash + ?Sized>(key: &Q) -> u64 {
    FixedState::default().hash_one(key)
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
        T: Hash,
    {
        let hash = hash_of(&key);
        // The table itself goes by the lowest and the highest bits.
        let shard = &self.shards[(hash >> 40) as usize % SHARDS];
        // A poisoned lock means another thread panicked while it held it; the table itself is only ever
        // appended to, so it is still whole.
        let read = shard.read().unwrap_or_else(|e| e.into_inner());
        if let Some(&id) = read.find(hash, |&id| key.is(self.get(id))) {
            return id;
        }
        drop(read);
        let mut write = shard.write().unwrap_or_else(|e| e.into_inner());
        if let Some(&id) = write.find(hash, |&id| key.is(self.get(id))) {
            return id;
        }
        let id = self.items.push(own(key)) as u32;
        write.insert_unique(hash, id, |&id| hash_of(self.get(id)));
        id
    }
}

/// A borrowed or owned form of `T` that hashes as `T` does.
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
