//! Races: two iterations of a parallel loop that touch one byte, one of which writes it.
//!
//! A run that looks for races records who touches each byte, for each parallel loop that runs.
//! Without a race, every order and every overlap of the iterations computes the same, because no
//! iteration depends on another. Iterations may run in order or [interleaved](super::Interleaving).
//!
//! Parallel loops nest. An access belongs to one iteration of each loop around it, and each loop
//! compares its own iterations.
//!
//! Atomic updates race with loads and stores, but not with each other. The values that they return
//! may depend on the order, which is not reported.
//!
//! **Limits.** External functions, the ends of objects, output, and arguments that LLVM IR passes
//! in memory do not count.
//!
//! **Cost.** For each byte touched, a table probe for each parallel loop around. A run that does
//! not look pays a test.

use std::ops::Range;

use hashbrown::HashMap;
use loomir_ir::Loc;

/// The accesses of the iterations of all parallel loops that run.
#[derive(Debug, Default)]
pub(super) struct Races {
    loops: HashMap<u64, Parallel>,
    /// The number of loops so far. It numbers the next one.
    count: u64,
    /// The iteration that runs.
    pub(super) position: Option<Position>,
}

/// An iteration of a parallel loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Position {
    /// The number of the loop.
    parallel: u64,
    iteration: u32,
}

/// The accesses of the iterations of one execution of a parallel loop.
#[derive(Debug)]
struct Parallel {
    /// The iteration of another loop in which this one runs.
    around: Option<Position>,
    /// The values of the induction variables of each iteration so far.
    iterations: Vec<Box<[i64]>>,
    /// The accesses by address.
    touched: HashMap<u64, Touched>,
}

/// The kind of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessKind {
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic access.
    Atomic,
}

/// All kinds. A race is reported with a store rather than with another access.
const KINDS: [AccessKind; 3] = [AccessKind::Store, AccessKind::Load, AccessKind::Atomic];

/// The accesses of a byte, by their kind.
#[derive(Clone, Copy, Debug, Default)]
struct Touched([Iterations; KINDS.len()]);

/// Two accesses that race.
#[derive(Debug)]
pub(super) struct Race {
    /// The message about both iterations.
    pub(super) text: String,
    /// The earlier access.
    pub(super) earlier: (Loc, String),
}

/// Accesses of one kind, each with its iteration.
#[derive(Clone, Copy, Debug, Default)]
struct Iterations {
    first: Option<(u32, Loc)>,
    /// An access by another iteration.
    other: Option<(u32, Loc)>,
}

impl AccessKind {
    fn verb(self) -> &'static str {
        match self {
            AccessKind::Load => "reads",
            AccessKind::Store => "writes",
            AccessKind::Atomic => "updates",
        }
    }

    fn races_with(self, other: AccessKind) -> bool {
        self != other || self == AccessKind::Store
    }
}

impl Iterations {
    fn add(&mut self, own: (u32, Loc)) {
        match self.first {
            None => self.first = Some(own),
            Some(first) if first.0 != own.0 => self.other = Some(own),
            Some(_) => {}
        }
    }

    /// Returns the access of another iteration.
    fn except(&self, own: u32) -> Option<(u32, Loc)> {
        [self.first, self.other].into_iter().flatten().find(|access| access.0 != own)
    }
}

impl Touched {
    /// Records an access. Returns the access of another iteration that it races with.
    fn add(&mut self, own: (u32, Loc), kind: AccessKind) -> Option<((u32, Loc), AccessKind)> {
        self.0[kind as usize].add(own);
        let mut racing = KINDS.into_iter().filter(|other| kind.races_with(*other));
        racing.find_map(|other| Some((self.0[other as usize].except(own.0)?, other)))
    }
}

impl Races {
    /// Enters a parallel loop, before its first iteration.
    pub(super) fn begin_loop(&mut self) {
        let parallel = self.count;
        self.count += 1;
        let (iterations, touched) = (Vec::new(), HashMap::new());
        self.loops.insert(parallel, Parallel { around: self.position, iterations, touched });
        self.position = Some(Position { parallel, iteration: 0 });
    }

    /// Returns a new iteration of the loop of a position, with these values of the induction
    /// variables.
    pub(super) fn iteration(&mut self, of: Option<Position>, values: Box<[i64]>) -> Option<Position> {
        let parallel = of?.parallel;
        let own = self.loops.get_mut(&parallel)?;
        own.iterations.push(values);
        Some(Position { parallel, iteration: own.iterations.len() as u32 - 1 })
    }

    /// Leaves the loop of a position. Returns the position around it.
    pub(super) fn end_loop(&mut self, of: Option<Position>) -> Option<Position> {
        self.loops.remove(&of?.parallel)?.around
    }

    /// Records an access at `loc` to a range of addresses.
    ///
    /// # Errors
    ///
    /// The race with another iteration.
    pub(super) fn touch(&mut self, range: Range<u64>, kind: AccessKind, loc: Loc) -> Result<(), Race> {
        let mut position = self.position;
        while let Some(Position { parallel, iteration }) = position {
            let Some(own) = self.loops.get_mut(&parallel) else { break };
            own.touch(range.clone(), iteration, kind, loc)?;
            position = own.around;
        }
        Ok(())
    }
}

impl Parallel {
    fn touch(&mut self, range: Range<u64>, own: u32, kind: AccessKind, loc: Loc) -> Result<(), Race> {
        for address in range {
            let touched = self.touched.entry(address).or_default();
            if let Some(((other, place), earlier)) = touched.add((own, loc), kind) {
                let (own, other) = (self.name(own), self.name(other));
                let text = format!("iterations {other} and {own} of a parallel loop race for one element");
                let text = format!("{text}: {own} {} it", kind.verb());
                let note = format!("{other} {} it", earlier.verb());
                return Err(Race { text, earlier: (place, note) });
            }
        }
        Ok(())
    }

    fn name(&self, iteration: u32) -> String {
        let values = self.iterations.get(iteration as usize).map(|own| &**own).unwrap_or_default();
        let values: Vec<String> = values.iter().map(i64::to_string).collect();
        format!("({})", values.join(", "))
    }
}
