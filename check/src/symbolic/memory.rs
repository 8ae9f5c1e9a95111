//! Memory of one run: buffers of constant extents, element by element.
//!
//! **Buffers that may overlap.** How they overlap is unknown, but the same in both programs. An
//! element is then what was last written to it, and the writes to other buffers behind that
//! ([`Node::Mixed`]). Of each other element the last write counts alone, for it covers the same
//! bytes. Two writes that cannot overlap have no order: writes are kept in layers, each behind all
//! writes of earlier layers that it may overlap.

use loomir_ir::Type;

use super::store::{FALSE, Key, Node, Place, Run, Store, TRUE, TermId, UNWRITTEN, refused};

/// The most elements of a buffer.
const MAX_ELEMENTS: i64 = 1 << 14;

/// A value, with the condition that it is poison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Scalar {
    pub(super) term: TermId,
    pub(super) poison: TermId,
}

impl Scalar {
    /// A value that is no poison.
    pub(super) fn plain(term: TermId) -> Scalar {
        Scalar { term, poison: FALSE }
    }
}

/// An element that was written, with the number of the last write.
#[derive(Clone, Copy, Debug)]
struct Cell {
    time: u64,
    value: Scalar,
}

/// A buffer.
#[derive(Debug)]
pub(super) struct Buffer {
    pub(super) key: Key,
    pub(super) ty: Type,
    pub(super) sizes: Vec<i64>,
    /// True if the argument is marked to overlap no other.
    is_alone: bool,
    /// True if it may be freed.
    pub(super) is_heap: bool,
    /// The condition that its life has ended.
    pub(super) freed: TermId,
    cells: Vec<Option<Cell>>,
    /// The number of the last write.
    last: u64,
}

/// All buffers of a run.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) buffers: Vec<Buffer>,
    writes: u64,
    /// True if buffers among the arguments do not overlap.
    distinct: bool,
    /// True if that was relied on.
    pub(super) relies_on_distinct: bool,
}

impl Memory {
    pub(super) fn new(distinct: bool) -> Memory {
        Memory { distinct, ..Memory::default() }
    }

    /// Adds a buffer of constant extents.
    pub(super) fn add(&mut self, key: Key, ty: Type, sizes: Vec<i64>, is_alone: bool) -> Run<usize> {
        let count = sizes.iter().try_fold(1i64, |all, size| all.checked_mul(*size));
        let Some(count) = count.filter(|count| (0..=MAX_ELEMENTS).contains(count)) else {
            return refused("a buffer is too large to be looked at element by element");
        };
        let cells = vec![None; count as usize];
        let (is_heap, freed, last) = (false, FALSE, 0);
        self.buffers.push(Buffer { key, ty, sizes, is_alone, is_heap, freed, cells, last });
        Ok(self.buffers.len() - 1)
    }

    pub(super) fn find(&self, key: Key) -> Option<usize> {
        self.buffers.iter().position(|buffer| buffer.key == key)
    }

    /// Returns the elements that were written, and one that was not.
    pub(super) fn elements(&self, buffer: usize) -> (Vec<usize>, Option<usize>) {
        let cells = &self.buffers[buffer].cells;
        let written = (0..cells.len()).filter(|element| cells[*element].is_some()).collect();
        (written, cells.iter().position(Option::is_none))
    }

    /// True if parts of two buffers may be one.
    pub(super) fn may_meet(&mut self, store: &Store, a: usize, b: usize) -> bool {
        let [x, y] = [&self.buffers[a], &self.buffers[b]];
        let is_own = |buffer: &Buffer| matches!(buffer.key, Key::Own(_));
        let is_global = |buffer: &Buffer| matches!(buffer.key, Key::Global(_));
        if a == b
            || is_own(x)
            || is_own(y)
            || x.is_alone
            || y.is_alone
            || is_global(x) && is_global(y)
            || store.facts.are_apart(x.key, y.key)
        {
            return false;
        }
        let are_arguments = !is_global(x) && !is_global(y);
        if self.distinct && are_arguments {
            self.relies_on_distinct |= x.last > 0 || y.last > 0;
            return false;
        }
        true
    }

    /// Returns an element as the function found it.
    fn initial(&self, store: &mut Store, (key, element): Place, is_truth: bool) -> Run<Scalar> {
        if matches!(key, Key::Own(_)) {
            return Ok(Scalar::plain(UNWRITTEN));
        }
        let leaf = store.term(Node::Initial((key, element)))?;
        let poison = store.truth(Node::Poison(leaf))?;
        let term = if is_truth { store.truth_of(leaf)? } else { leaf };
        Ok(Scalar { term, poison })
    }

    /// Returns an element as it is now.
    pub(super) fn load(&mut self, store: &mut Store, buffer: usize, element: usize) -> Run<Scalar> {
        let own = &self.buffers[buffer];
        let (key, ty) = (own.key, own.ty);
        let is_truth = ty == Type::I1;
        let cell = own.cells[element];
        let since = cell.map_or(0, |cell| cell.time);
        let old = match cell {
            Some(cell) => cell.value,
            None => self.initial(store, (key, element), is_truth)?,
        };
        let mut writes: Vec<(u64, usize, usize, Scalar)> = Vec::new();
        store.spend(self.buffers.len() / 8)?;
        for other in 0..self.buffers.len() {
            if self.buffers[other].last <= since || !self.may_meet(store, buffer, other) {
                continue;
            }
            let cells = &self.buffers[other].cells;
            store.spend(cells.len() / 8 + 1)?;
            for (at, cell) in cells.iter().enumerate() {
                if let Some(cell) = cell.filter(|cell| cell.time > since) {
                    writes.push((cell.time, other, at, cell.value));
                }
            }
        }
        if writes.is_empty() {
            return Ok(old);
        }
        self.mixed(store, (key, element), old, writes, is_truth)
    }

    /// Returns an element behind writes to other buffers.
    fn mixed(
        &mut self,
        store: &mut Store,
        place: Place,
        old: Scalar,
        mut writes: Vec<(u64, usize, usize, Scalar)>,
        is_truth: bool,
    ) -> Run<Scalar> {
        // Writes were collected buffer by buffer.
        let mut writers: Vec<usize> = writes.iter().map(|(_, buffer, ..)| *buffer).collect();
        writers.dedup();
        let count = writers.len();
        store.spend((count + writes.len()) * count / 8)?;
        let mut meets = Vec::with_capacity(count * count);
        for buffer in &writers {
            for other in &writers {
                meets.push(self.may_meet(store, *buffer, *other));
            }
        }
        writes.sort_unstable_by_key(|(time, ..)| *time);
        let mut layers = vec![0usize; count];
        let mut sorted: Vec<(usize, Place, Scalar)> = Vec::with_capacity(writes.len());
        for (_, buffer, element, value) in writes {
            let own = writers.partition_point(|writer| *writer < buffer);
            let before = layers.iter().zip(&meets[own * count..]).filter(|(_, meets)| **meets);
            let layer = before.map(|(layer, _)| *layer).max().unwrap_or(0);
            layers[own] = layers[own].max(layer + 1);
            sorted.push((layer, (self.buffers[buffer].key, element), value));
        }
        sorted.sort_unstable_by_key(|(layer, place, _)| (*layer, *place));
        let part = |get: fn(Scalar) -> TermId| -> Box<[(Place, TermId)]> {
            sorted.iter().map(|(_, place, value)| (*place, get(*value))).collect()
        };
        let term = store.term(Node::Mixed { place, old: old.term, writes: part(|own| own.term) })?;
        let term = if is_truth { store.truth_of(term)? } else { term };
        let writes = part(|own| own.poison);
        let poison = match old.poison == FALSE && writes.iter().all(|(_, poison)| *poison == FALSE) {
            true => FALSE,
            false => store.truth(Node::Mixed { place, old: old.poison, writes })?,
        };
        Ok(Scalar { term, poison })
    }

    /// Writes an element where a condition holds. Elsewhere the element is written as it was, which
    /// changes nothing.
    pub(super) fn store(
        &mut self,
        store: &mut Store,
        buffer: usize,
        element: usize,
        value: Scalar,
        condition: TermId,
    ) -> Run<()> {
        let mut value = value;
        if condition != TRUE {
            let old = self.load(store, buffer, element)?;
            // Bytes of another type, with poison or bits beyond this one, change when written back.
            if self.meets_other_type(store, buffer) {
                return refused(
                    "a buffer is written under a condition, and others of another type may overlap",
                );
            }
            value = Scalar {
                term: store.ite(condition, value.term, old.term)?,
                poison: store.ite(condition, value.poison, old.poison)?,
            };
            if value == old {
                return Ok(());
            }
        }
        self.writes += 1;
        let own = &mut self.buffers[buffer];
        own.last = self.writes;
        own.cells[element] = Some(Cell { time: self.writes, value });
        Ok(())
    }

    /// True if a buffer may overlap one whose elements have another type.
    fn meets_other_type(&mut self, store: &Store, buffer: usize) -> bool {
        let ty = self.buffers[buffer].ty;
        (0..self.buffers.len())
            .any(|other| self.buffers[other].ty != ty && self.may_meet(store, buffer, other))
    }
}
