//! Accesses of the iterations of a parallel loop, which may run in any order.

use hashbrown::HashMap;

/// The accesses to an element or a buffer so far.
#[derive(Clone, Copy, Debug)]
struct Touched {
    /// The last iteration.
    iteration: u64,
    /// True if another iteration has accessed it too.
    by_several: bool,
    is_written: bool,
}

/// The iterations of the outermost parallel loop that is running.
#[derive(Debug, Default)]
pub(super) struct Race {
    iteration: u64,
    elements: HashMap<(usize, usize), Touched>,
    buffers: Vec<Option<Touched>>,
}

impl Race {
    /// Begins an iteration, also one of a parallel loop inside.
    pub(super) fn enter(&mut self) {
        self.iteration += 1;
    }

    /// Records an access; true if another iteration may access the element, too, and one of them
    /// writes. `meets` are the buffers that may overlap this one.
    pub(super) fn touch(&mut self, place: (usize, usize), writes: bool, meets: &[usize]) -> bool {
        let iteration = self.iteration;
        let conflicts = |touched: &Touched| {
            (writes || touched.is_written) && (touched.by_several || touched.iteration != iteration)
        };
        let mut races = self.elements.get(&place).is_some_and(conflicts);
        races |= meets
            .iter()
            .any(|other| self.buffers.get(*other).and_then(Option::as_ref).is_some_and(conflicts));
        let update = |known: Option<Touched>| match known {
            Some(known) => Touched {
                iteration,
                by_several: known.by_several || known.iteration != iteration,
                is_written: known.is_written || writes,
            },
            None => Touched { iteration, by_several: false, is_written: writes },
        };
        let element = update(self.elements.get(&place).copied());
        self.elements.insert(place, element);
        if self.buffers.len() <= place.0 {
            self.buffers.resize(place.0 + 1, None);
        }
        self.buffers[place.0] = Some(update(self.buffers[place.0]));
        races
    }
}
