//! Races: accesses of the iterations of a parallel loop, which may run in any order.
//!
//! A race makes `scf.parallel` undefined. So a race of the second program has to imply one of the
//! original. Without races all orders do the same, and one of them is executed.

use hashbrown::HashMap;

use super::store::{FALSE, Key, Node, Place, Run, Store, TermId};

/// The iterations around an access, outermost first: a loop that was begun, and its iteration.
type Path = Vec<[u64; 2]>;

/// The accesses to an element: the iterations around them, and the conditions under which it is
/// accessed, and written.
#[derive(Debug, Default)]
struct Touched {
    accesses: Vec<(Path, [TermId; 2])>,
}

/// The parallel loops that are running.
#[derive(Debug, Default)]
pub(super) struct Race {
    path: Path,
    /// The number of loops and iterations so far.
    begun: u64,
    elements: HashMap<(usize, usize), Touched>,
    /// The elements that were accessed, by buffer.
    accessed: Vec<Vec<usize>>,
}

/// An access to an element.
pub(super) struct Touch {
    pub(super) buffer: usize,
    pub(super) element: usize,
    pub(super) key: Key,
    pub(super) writes: bool,
    pub(super) condition: TermId,
}

impl Race {
    /// Begins a parallel loop; returns its number.
    pub(super) fn begin(&mut self) -> u64 {
        self.begun += 1;
        self.begun
    }

    /// Begins an iteration of a loop.
    pub(super) fn enter(&mut self, of: u64) {
        self.begun += 1;
        self.path.push([of, self.begun]);
    }

    /// Ends an iteration.
    pub(super) fn leave(&mut self) {
        self.path.pop();
    }

    /// Records an access; returns the condition that another iteration accesses the element, too,
    /// and one of them writes. `meets` are the buffers that may overlap this one.
    pub(super) fn touch(&mut self, store: &mut Store, touch: &Touch, meets: &[(usize, Key)]) -> Run<TermId> {
        let kind = usize::from(!touch.writes);
        let place = (touch.buffer, touch.element);
        let before = self.others(store, place, kind)?;
        let mut races = store.and(touch.condition, before)?;
        for (other, key) in meets {
            for element in self.accessed.get(*other).cloned().unwrap_or_default() {
                let before = self.others(store, (*other, element), kind)?;
                let both = store.and(touch.condition, before)?;
                if both != FALSE {
                    let mut places: [Place; 2] = [(touch.key, touch.element), (*key, element)];
                    places.sort_unstable();
                    let are_one = store.truth(Node::Shared(places))?;
                    let both = store.and(both, are_one)?;
                    races = store.or(both, races)?;
                }
            }
        }
        self.record(store, touch)?;
        Ok(races)
    }

    /// Adds an access.
    fn record(&mut self, store: &mut Store, touch: &Touch) -> Run<()> {
        let touched = self.elements.entry((touch.buffer, touch.element)).or_default();
        if touched.accesses.is_empty() {
            if self.accessed.len() <= touch.buffer {
                self.accessed.resize(touch.buffer + 1, Vec::new());
            }
            self.accessed[touch.buffer].push(touch.element);
        }
        if touched.accesses.last().is_none_or(|(path, _)| *path != self.path) {
            touched.accesses.push((self.path.clone(), [FALSE; 2]));
        }
        if let Some((_, conditions)) = touched.accesses.last_mut() {
            conditions[0] = store.or(touch.condition, conditions[0])?;
            if touch.writes {
                conditions[1] = store.or(touch.condition, conditions[1])?;
            }
        }
        Ok(())
    }

    /// Returns the condition that an iteration which may run at the same time accesses an element
    /// (`kind` 0), or writes it (1).
    fn others(&self, store: &mut Store, place: (usize, usize), kind: usize) -> Run<TermId> {
        let mut found = FALSE;
        let accesses = self.elements.get(&place).map_or(&[][..], |touched| &touched.accesses);
        store.spend(accesses.len())?;
        for (path, conditions) in accesses {
            let first = path.iter().zip(&self.path).find(|(a, b)| a != b);
            // Iterations of one loop run at the same time; loops one after the other.
            if first.is_some_and(|(a, b)| a[0] == b[0]) {
                found = store.or(conditions[kind], found)?;
            }
        }
        Ok(found)
    }
}
