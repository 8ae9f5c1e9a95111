//! Races: accesses of the iterations of a parallel loop, which may run in any order.
//!
//! A race makes `scf.parallel` undefined. So a race of the second program has to imply one of the
//! original. Without races all orders do the same, and one of them is executed.

use hashbrown::HashMap;

use super::store::{FALSE, Key, Node, Place, Run, Store, TermId};

/// The conditions under which an element is accessed, and written.
#[derive(Clone, Copy, Debug)]
struct Touched {
    /// The last iteration.
    iteration: u64,
    /// The conditions in this iteration.
    now: [TermId; 2],
    /// The conditions in earlier iterations.
    before: [TermId; 2],
}

/// The iterations of the outermost parallel loop that is running.
#[derive(Debug, Default)]
pub(super) struct Race {
    iteration: u64,
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
    /// Begins an iteration, also one of a parallel loop inside.
    pub(super) fn enter(&mut self) {
        self.iteration += 1;
    }

    /// Records an access; returns the condition that another iteration accesses the element, too,
    /// and one of them writes. `meets` are the buffers that may overlap this one.
    pub(super) fn touch(&mut self, store: &mut Store, touch: &Touch, meets: &[(usize, Key)]) -> Run<TermId> {
        let kind = usize::from(!touch.writes);
        let mut touched = self.earlier(store, (touch.buffer, touch.element))?;
        let mut races = store.and(touch.condition, touched.before[kind])?;
        for (other, key) in meets {
            for element in self.accessed.get(*other).cloned().unwrap_or_default() {
                store.spend(1)?;
                let before = self.earlier(store, (*other, element))?.before[kind];
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
        touched.now[0] = store.or(touch.condition, touched.now[0])?;
        if touch.writes {
            touched.now[1] = store.or(touch.condition, touched.now[1])?;
        }
        if self.elements.insert((touch.buffer, touch.element), touched).is_none() {
            if self.accessed.len() <= touch.buffer {
                self.accessed.resize(touch.buffer + 1, Vec::new());
            }
            self.accessed[touch.buffer].push(touch.element);
        }
        Ok(races)
    }

    /// Returns what is known of an element, seen from the iteration that is running.
    fn earlier(&self, store: &mut Store, place: (usize, usize)) -> Run<Touched> {
        let iteration = self.iteration;
        let Some(touched) = self.elements.get(&place).copied() else {
            return Ok(Touched { iteration, now: [FALSE; 2], before: [FALSE; 2] });
        };
        if touched.iteration == iteration {
            return Ok(touched);
        }
        let mut before = touched.before;
        for (own, now) in before.iter_mut().zip(touched.now) {
            *own = store.or(now, *own)?;
        }
        Ok(Touched { iteration, now: [FALSE; 2], before })
    }
}
