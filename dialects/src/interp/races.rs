//! Races: two iterations of a parallel loop that touch one element, one of which writes it.
//!
//! A run that looks for races executes iterations in order, and records who touches each byte. If
//! it finds no race, every order and every overlap of the iterations computes the same, because no
//! iteration depends on another.
//!
//! **Limits.** Loads and stores of single elements and of vectors count. Copies, linalg and called
//! external functions do not, and atomic updates are no races. Of nested parallel loops, iterations
//! of the outermost one are compared.
//!
//! **Cost.** A table probe for each byte touched inside of a parallel loop. A run that does not
//! look pays a test.

use std::ops::Range;

use hashbrown::HashMap;
use loomir_ir::Loc;

/// The accesses of the iterations of the current parallel loop.
#[derive(Debug, Default)]
pub(super) struct Races {
    /// The number of parallel loops around.
    depth: u32,
    /// The values of the induction variables of each iteration so far.
    iterations: Vec<Box<[i64]>>,
    /// The accesses by address.
    touched: HashMap<u64, Touched>,
}

/// The accesses of a byte, each with its iteration.
#[derive(Clone, Copy, Debug, Default)]
struct Touched {
    writer: Option<(u32, Loc)>,
    reader: Option<(u32, Loc)>,
    /// A reader in another iteration.
    other_reader: Option<(u32, Loc)>,
}

/// Two accesses that race.
#[derive(Debug)]
pub(super) struct Race {
    /// The message about both iterations.
    pub(super) text: String,
    /// The earlier access.
    pub(super) earlier: (Loc, String),
}

impl Touched {
    /// Records an access. Returns the access of another iteration that it races with, and true if
    /// that is a write.
    fn add(&mut self, own: (u32, Loc), writes: bool) -> Option<((u32, Loc), bool)> {
        let is_other = |access: &(u32, Loc)| access.0 != own.0;
        if let Some(writer) = self.writer.filter(is_other) {
            return Some((writer, true));
        }
        if writes {
            self.writer.get_or_insert(own);
            let reader = self.reader.filter(is_other).or(self.other_reader.filter(is_other));
            return reader.map(|reader| (reader, false));
        }
        match self.reader {
            None => self.reader = Some(own),
            Some(reader) if is_other(&reader) => self.other_reader = Some(own),
            Some(_) => {}
        }
        None
    }
}

impl Races {
    /// Enters a parallel loop.
    pub(super) fn begin_loop(&mut self) {
        self.depth += 1;
        if self.depth == 1 {
            self.iterations.clear();
            self.touched.clear();
        }
    }

    /// True if iterations of the current loop are compared.
    pub(super) fn compares_iterations(&self) -> bool {
        self.depth == 1
    }

    /// Begins an iteration with these values of the induction variables.
    pub(super) fn begin_iteration(&mut self, values: Box<[i64]>) {
        self.iterations.push(values);
    }

    /// Leaves a parallel loop.
    pub(super) fn end_loop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Records an access at `loc` to a range of addresses.
    ///
    /// # Errors
    ///
    /// The race with another iteration.
    pub(super) fn touch(&mut self, range: Range<u64>, writes: bool, loc: Loc) -> Result<(), Race> {
        let Some(own) = self.iterations.len().checked_sub(1).filter(|_| self.depth > 0) else {
            return Ok(());
        };
        for address in range {
            let touched = self.touched.entry(address).or_default();
            if let Some(((other, place), wrote)) = touched.add((own as u32, loc), writes) {
                let (own, other) = (self.name(own), self.name(other as usize));
                let verb = |writes| if writes { "writes" } else { "reads" };
                let text = format!("iterations {other} and {own} of a parallel loop race for one element");
                let text = format!("{text}: {own} {} it", verb(writes));
                return Err(Race { text, earlier: (place, format!("{other} {} it", verb(wrote))) });
            }
        }
        Ok(())
    }

    fn name(&self, iteration: usize) -> String {
        let values = self.iterations.get(iteration).map(|own| &**own).unwrap_or_default();
        let values: Vec<String> = values.iter().map(i64::to_string).collect();
        format!("({})", values.join(", "))
    }
}
