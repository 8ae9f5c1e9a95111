//! Runs of small records in one vector, reused by length.
//!
//! A run of `n` records takes `n` places (rounded up to a power of two above 8, so that few lengths
//! occur) and is named by its first index. A freed run serves the next request of its length.
//! Allocation and release are O(n).

use std::ops::{Index, IndexMut};

/// A pool of runs of `T`.
#[derive(Clone)]
pub(crate) struct Pool<T> {
    items: Vec<T>,
    /// Free runs by length class.
    free: Vec<Vec<u32>>,
}

impl<T: Default + Clone> Pool<T> {
    /// A pool that allocates nothing until the first run.
    pub(crate) fn new() -> Self {
        Pool { items: Vec::new(), free: Vec::new() }
    }

    /// Gives all runs back, and keeps the room.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.free.clear();
    }

    /// The number of records the pool has, free ones included.
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// The number of bytes the records take, free ones and room for more included.
    pub(crate) fn bytes(&self) -> usize {
        self.items.capacity() * size_of::<T>()
    }

    /// A run of `len` default records, `len > 0`.
    pub(crate) fn allocate(&mut self, len: usize) -> u32 {
        let class = Self::class(len);
        if let Some(start) = self.free.get_mut(class).and_then(Vec::pop) {
            self.items[start as usize..start as usize + len].fill(T::default());
            return start;
        }
        let start = self.items.len();
        assert!(start + len < (u32::MAX >> 1) as usize, "a body holds at most 2^31 values, uses or regions");
        self.items.resize(start + Self::capacity(len), T::default());
        start as u32
    }

    /// Makes room for so many more records.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.items.reserve(more);
    }

    /// The records of a run.
    #[inline]
    pub(crate) fn run(&self, start: u32, len: u32) -> &[T] {
        if len == 0 { &[] } else { &self.items[start as usize..(start + len) as usize] }
    }

    /// Gives a run back.
    pub(crate) fn free(&mut self, start: u32, len: usize) {
        let class = Self::class(len);
        if self.free.len() <= class {
            self.free.resize_with(class + 1, Vec::new);
        }
        self.free[class].push(start);
    }

    fn capacity(len: usize) -> usize {
        if len <= 8 { len } else { len.next_power_of_two() }
    }

    fn class(len: usize) -> usize {
        if len <= 8 { len } else { 8 + len.next_power_of_two().trailing_zeros() as usize - 3 }
    }
}

impl<T> Index<u32> for Pool<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: u32) -> &T {
        &self.items[index as usize]
    }
}

impl<T> IndexMut<u32> for Pool<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.items[index as usize]
    }
}
