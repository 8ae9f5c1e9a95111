//! A hash index from values to their places in a list.
//!
//! A short list of distinct values is its own set: up to [`FEW`] values are compared one by one,
//! which is quicker than hashing one. Longer lists get a table of places; the values are in the
//! list alone. Each entry keeps half of its value's hash, so a growing table does not visit the
//! list in another order.
//!
//! Hashes are the same in each run, so results are deterministic. Cost: that of a hash table.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// The maximal number of values that are compared one by one.
const FEW: usize = 8;

/// The places of the values of a list. The owner of both keeps them consistent; `key` returns the
/// relevant part of a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lookup {
    table: HashTable<Entry>,
}

/// The place of a value, and a part of its hash.
#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u32,
    place: u32,
}

/// The result for a value that is not in the list, with its hash if that was computed.
pub(crate) struct Absent(Option<u32>);

impl Lookup {
    /// Returns the number of bytes on the heap.
    pub(crate) fn allocation_size(&self) -> usize {
        self.table.allocation_size()
    }

    /// Returns the place of the value with this key in the list.
    pub(crate) fn find<T, K: Hash + Eq>(
        &self,
        list: &[T],
        wanted: &K,
        key: impl Fn(&T) -> &K,
    ) -> Result<u32, Absent> {
        if list.len() <= FEW {
            let place = list.iter().position(|value| key(value) == wanted);
            return place.map(|place| place as u32).ok_or(Absent(None));
        }
        let hash = hash(wanted);
        let is_wanted = |entry: &Entry| entry.hash == hash && key(&list[entry.place as usize]) == wanted;
        let found = self.table.find(spread(hash), is_wanted);
        found.map(|entry| entry.place).ok_or(Absent(Some(hash)))
    }

    /// Records that the absent value is now the last of the list.
    pub(crate) fn add<T, K: Hash + Eq>(&mut self, absent: Absent, list: &[T], key: impl Fn(&T) -> &K) {
        let last = list.len() - 1;
        match absent.0 {
            Some(hash) => self.insert(Entry { hash, place: last as u32 }),
            None if last == FEW => {
                // A list that outgrew the short form will grow further.
                self.table.reserve(4 * FEW, |entry| spread(entry.hash));
                for (place, value) in list.iter().enumerate() {
                    self.insert(Entry { hash: hash(key(value)), place: place as u32 });
                }
            }
            None => {}
        }
    }

    fn insert(&mut self, entry: Entry) {
        self.table.insert_unique(spread(entry.hash), entry, |entry| spread(entry.hash));
    }
}

fn hash<K: Hash>(key: &K) -> u32 {
    FixedState::default().hash_one(key) as u32
}

/// Returns a hash for the table, which looks at the lowest and the highest bits of 64.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_however_many_there_are() {
        let (mut list, mut index) = (Vec::new(), Lookup::default());
        for value in (0..100u32).chain(0..100) {
            let expected = if list.len() == 100 { Some(value) } else { None };
            match index.find(&list, &value, |value| value) {
                Ok(place) => assert_eq!(Some(place), expected),
                Err(absent) => {
                    assert_eq!(expected, None);
                    list.push(value);
                    index.add(absent, &list, |value| value);
                }
            }
        }
        assert_eq!(list.len(), 100);
    }
}
