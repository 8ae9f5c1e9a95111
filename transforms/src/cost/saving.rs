//! The saving of fusing two loops, and its costs.

use super::streams::{FORWARDED, Pack, Stream};
use super::{Machine, Work};

/// The saving of fusing two loops, in cycles each time they are reached.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Saving {
    /// The net saving. Negative if the fusion costs more than it saves.
    pub cycles: f64,
    /// The costs, each taken separately. Part of a cost may overlap with waiting for something
    /// else.
    pub losses: Vec<(f64, Loss)>,
    /// The number of comparisons before the loops.
    pub comparisons: usize,
    /// The part of the longer loop's iterations that is peeled.
    pub apart: f64,
    /// The iterations from which on vector instructions are lost at no cost, if a trip count is
    /// unknown: such loops exceed a cache, and gain more by fetching common lines once.
    pub memory_bound: Option<i64>,
    /// The cycles that shorter loops lose, which `cycles` leaves out then.
    pub lost_if_short: f64,
}

/// Why fusing costs something.
#[derive(Clone, PartialEq, Debug)]
pub enum Loss {
    /// An iteration of the fused loop touches more than a cache holds. Lines that the next
    /// iteration touches again must be fetched again.
    Footprint {
        /// The bytes that an iteration touches.
        bytes: u64,
        /// The cache that held the lines of each loop, and its size. `None` if each loop alone
        /// already exceeds every cache.
        cache: Option<(String, u64)>,
    },
    /// A loop that was vectorized runs one element at a time.
    Vectorization {
        /// True if an iteration would read a value that a recent iteration wrote. Otherwise one of
        /// the loops already runs one element at a time.
        carried: bool,
    },
    /// Values are spilled from registers to memory.
    Registers {
        /// The number of values that are live across the body.
        live: usize,
        /// The number of registers.
        registers: usize,
    },
    /// Loads wait for stores at the same place of another page.
    Pages {
        /// The number of loads of an iteration.
        loads: usize,
    },
}

/// Cycles of a loop: computation, and fetching lines.
#[derive(Clone, Copy)]
pub(super) struct Time {
    pub(super) computing: f64,
    pub(super) fetching: f64,
}

impl Time {
    /// Overlapped work does not count in full.
    pub(super) fn cycles(self, machine: &Machine) -> f64 {
        let Time { computing, fetching } = self;
        computing.max(fetching) + computing.min(fetching) * (1.0 - machine.overlap)
    }
}

/// The share of two loops' work in their common iterations.
struct Shares {
    /// The number of common iterations.
    common: f64,
    first: f64,
    second: f64,
}

impl Shares {
    fn of(first: &Work, second: &Work) -> Shares {
        let common = first.common.min(second.common);
        let share = |work: &Work| if work.trips > 0.0 { common / work.trips } else { 1.0 };
        Shares { common, first: share(first), second: share(second) }
    }
}

impl Saving {
    /// Returns the greatest cost.
    pub fn worst(&self) -> Option<&Loss> {
        self.losses.iter().max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, loss)| loss)
    }

    /// Returns the saving if loops may be short.
    pub(crate) fn of_short_loops(self) -> Saving {
        let cycles = self.cycles - self.lost_if_short;
        Saving { cycles, memory_bound: None, lost_if_short: 0.0, ..self }
    }

    /// True if a loop that was vectorized runs one element at a time.
    pub fn loses_lanes(&self) -> bool {
        self.losses.iter().any(|(_, loss)| matches!(loss, Loss::Vectorization { .. }))
    }

    /// Returns the saving of running `second` in the loop of `first`, after it and shifted by
    /// `shift` iterations. Also returns the number of fused iterations that can run at once.
    pub fn of(first: &Work, second: &Work, shift: i64, machine: &Machine) -> (Saving, Option<f64>) {
        Saving::whether_tested(false, first, second, shift, machine)
    }

    /// Returns the same if `comparisons` comparisons of numbers before the loops guard dependences.
    /// `first_test` is true if nothing else is tested there, so that a branch is added.
    pub(crate) fn tested(
        comparisons: usize,
        first_test: bool,
        (first, second): (&Work, &Work),
        shift: i64,
        machine: &Machine,
    ) -> (Saving, Option<f64>) {
        let (mut saving, lanes) = Saving::whether_tested(true, first, second, shift, machine);
        let branch = if first_test { machine.start } else { 0.0 };
        saving.cycles -= branch + comparisons as f64 * COMPARING / machine.issue;
        saving.comparisons = comparisons;
        (saving, lanes)
    }

    fn whether_tested(
        tested: bool,
        first: &Work,
        second: &Work,
        shift: i64,
        machine: &Machine,
    ) -> (Saving, Option<f64>) {
        let mut saving = Saving::default();
        let several = first.lanes.zip(second.lanes).map(|(a, b)| a.min(b));
        // LLVM keeps a value of the last iteration in a register instead of loading it, and makes
        // vectors all the same. Of loads further behind a store it computes two at once. A shift by
        // a block would prevent both.
        let forwards = first.through_pointers || second.through_pointers;
        let least = if forwards { 2 } else { 1 };
        let feeds = |lanes| first.streams.feed(&second.streams, shift, (least, lanes), tested);
        let carried = several.is_some_and(feeds);
        let few = several.map(|lanes| lanes.min(FORWARDED as f64)).filter(|_| forwards);
        let lanes = if carried { few } else { several };
        let shares = Shares::of(first, second);
        let trips = shares.common;
        let run = |operations, lanes, serial| computing(operations, trips, lanes, serial, machine);
        let [own, others] = [(first, shares.first), (second, shares.second)]
            .map(|(work, share)| (work.operations * share, work.serial * share));
        let alone = [run(own.0, first.lanes, own.1), run(others.0, second.lanes, others.1)];
        let apart = alone[0] + alone[1];
        let both = run(own.0 + others.0, lanes, own.1.max(others.1));
        saving.lose(both - apart, Loss::Vectorization { carried });
        let steps = trips / lanes.unwrap_or(1.0);
        let spilled = saving.spilled(first, second, steps, machine);
        let waited = saving.waited(first, second, (shift, steps), machine);
        let net = |fetching: [f64; 3], both: f64| {
            let [before, behind, fused] = fetching;
            let cycles = |computing, fetching| Time { computing, fetching }.cycles(machine);
            cycles(alone[0], before) + cycles(alone[1], behind) - cycles(both + spilled + waited, fused)
        };
        let fetching = saving.fetched((first, second), &shares, shift, 0.0, machine);
        saving.cycles = net(fetching, both);
        if both > apart && (first.assumed || second.assumed) && first.streams.share_moving(&second.streams) {
            // Twice the bytes of a cache leave nothing in it.
            let mut distances = machine.caches.iter().map(|cache| 2.0 * cache.bytes as f64);
            let pays = |distance: &f64| {
                let long = Saving::default().fetched((first, second), &shares, shift, *distance, machine);
                net(long, both) > 0.0
            };
            let each = lines_of_both(first, second) * machine.line as f64 / trips.max(1.0);
            saving.memory_bound = distances.find(pays).map(|bytes| (bytes / each.max(1.0)).ceil() as i64);
        }
        if saving.memory_bound.is_some() {
            saving.lost_if_short = net(fetching, apart) - saving.cycles;
            saving.cycles += saving.lost_if_short;
        }
        // The remaining iterations of one loop are a loop of their own.
        if first.common == second.common && second.common == second.trips {
            saving.cycles += machine.start;
        }
        saving.apart = 1.0 - shares.first.min(shares.second);
        (saving, lanes)
    }

    /// Returns the number of iterations by which the second loop should be shifted beyond the least
    /// legal shift. It is one block: the iterations of either loop that can run at once. It is
    /// chosen if the fused loop then vectorizes and more is saved, and the shift stays at most
    /// `most`.
    pub fn block(first: &Work, second: &Work, least: i64, most: i64, machine: &Machine) -> i64 {
        let Some(lanes) = first.lanes.zip(second.lanes).map(|(a, b)| a.min(b)) else { return 0 };
        // In LLVM IR the least distance is best: values stay in registers.
        if first.through_pointers || second.through_pointers {
            return 0;
        }
        let block = lanes as i64;
        let saved = |shift| Saving::of(first, second, shift, machine).0.cycles;
        let fits = least.checked_add(block).is_some_and(|later| later <= most);
        if fits && saved(least + block) > saved(least) { block } else { 0 }
    }

    /// Returns the time to fetch lines for the first loop, the second, and the fused loop, in their
    /// common iterations. Loops that stay apart touch at least `distance` bytes in between.
    fn fetched(
        &mut self,
        (first, second): (&Work, &Work),
        shares: &Shares,
        shift: i64,
        distance: f64,
        machine: &Machine,
    ) -> [f64; 3] {
        let line = machine.line as f64;
        let shared = || shared(first, second);
        let at_once = shared().map(|(before, own)| before.at_once.min(own.at_once)).sum::<f64>();
        // The bytes touched between an access of the first loop and one of the second if they stay
        // apart. Then the bytes of an iteration of either loop, and of the fused loop.
        let apart = (lines_of_both(first, second) * line).max(distance);
        let one = |work: &Work| work.streams.at_once * line;
        let both = one(first) + one(second) - at_once * line;
        let mut reused = 0.0;
        for (before, own) in shared() {
            let later = match before.nearest(own, shift) {
                // The loops inside may be fused as well.
                0 if !first.innermost && !second.innermost => 0.0,
                iterations => both * (iterations.saturating_add(1) as f64),
            };
            let cycles = machine.fetch(apart) - machine.fetch(later.min(apart));
            // A line that both loops write is written back once.
            let ways = if before.writes && own.writes { 2.0 } else { 1.0 };
            reused += (before.lines * shares.first).min(own.lines * shares.second) * ways * cycles;
        }
        let fetch = |bytes: f64| match first.innermost && second.innermost {
            true => machine.fetch_ahead(bytes),
            false => machine.fetch(bytes),
        };
        let further = |work: &Work| work.streams.again * (fetch(both) - fetch(one(work)));
        let again = further(first) * shares.first + further(second) * shares.second;
        let cache = machine
            .overflowed(one(first).max(one(second)), both)
            .map(|cache| (cache.name.clone(), cache.bytes));
        self.lose(again, Loss::Footprint { bytes: both as u64, cache });
        let alone = |work: &Work| work.streams.moved * machine.fetch(apart);
        let (before, behind) = (alone(first) * shares.first, alone(second) * shares.second);
        [before, behind, before + behind - reused + again]
    }

    /// Returns the time to load spilled values in a fused loop of `steps` steps.
    fn spilled(&mut self, first: &Work, second: &Work, steps: f64, machine: &Machine) -> f64 {
        // A value that is live across a loop with inner loops is used in one of them, and loaded
        // before that loop.
        if !first.innermost || !second.innermost {
            return 0.0;
        }
        let more = second.values.iter().filter(|value| !first.values.contains(*value)).count();
        let live = |work: &Work| work.values.len() + work.carried;
        let both = live(first) + second.carried + more;
        let beyond = |live: usize| live.saturating_sub(machine.registers) as f64;
        let cycles = steps * (beyond(both) - beyond(live(first)) - beyond(live(second))) * machine.spill;
        self.lose(cycles, Loss::Registers { live: both, registers: machine.registers });
        cycles.max(0.0)
    }

    /// Returns the time that loads of the second loop wait for stores of the first one to other
    /// pages, in a fused loop of `steps` steps.
    fn waited(&mut self, first: &Work, second: &Work, (shift, steps): (i64, f64), machine: &Machine) -> f64 {
        if !first.innermost || !second.innermost {
            return 0.0;
        }
        let loads = first.pages.waits_of(&second.pages, shift, machine.vector as f64);
        let cycles = steps * loads as f64 * machine.same_place;
        self.lose(cycles, Loss::Pages { loads });
        cycles
    }

    fn lose(&mut self, cycles: f64, loss: Loss) {
        if cycles > 0.0 {
            self.losses.push((cycles, loss));
        }
    }
}

impl Work {
    /// Returns the further time to fetch lines of this loop as a part of a distributed loop, whose
    /// other part is `rest`. The lines of `rest` are in the caches too. Neighbouring rows of an
    /// object are different streams. The whole loop fetches a row once for all of them, the parts
    /// once each.
    pub(crate) fn again_in(&self, rest: &Work, machine: &Machine) -> f64 {
        let fetch = |lines: f64| machine.fetch(lines * machine.line as f64);
        let whole = fetch(self.streams.lines + rest.streams.lines);
        let is_met = |own: &&Stream| {
            rest.streams.of_base(own.key.base).next().is_some() && rest.streams.get(&own.key).is_none()
        };
        let met = self.streams.all.iter().filter(is_met).map(Stream::moved).sum::<f64>();
        met * whole + self.streams.moved * (whole - fetch(self.streams.lines))
    }

    /// Returns the cost of the loop alone, with cold caches.
    pub(crate) fn cycles(&self, machine: &Machine) -> f64 {
        let bytes = |lines: f64| lines * machine.line as f64;
        let again = self.streams.again * machine.fetch(bytes(self.streams.at_once));
        let fetching = self.streams.moved * machine.fetch(bytes(self.streams.lines)) + again;
        let computing = computing(self.operations, self.trips, self.lanes, self.serial, machine);
        machine.start + Time { computing, fetching }.cycles(machine)
    }

    /// Returns the computing time of an innermost loop whose values are in registers where they can
    /// be. LLVM unrolls loops with vector instructions, so counting costs them nothing.
    pub(super) fn computed(&self, machine: &Machine) -> f64 {
        let steps = self.trips / self.lanes.unwrap_or(1.0);
        let packed = self.pack.map_or(1.0, |pack| pack.lanes);
        let live = self.values.len() + self.carried + (self.invariant as f64 / packed).ceil() as usize;
        // What does not fit into registers is loaded again.
        let moving = self.streams.moving / packed;
        let again = self.repeated * (1.0 - (machine.registers as f64 / moving.max(1.0)).min(1.0));
        let operations = self.operations - self.redundant + again;
        let spilled = live.saturating_sub(machine.registers) as f64 * machine.spill;
        let counted = if self.lanes.is_some() { 0.0 } else { self.trips };
        let (singles, at_once) = match self.pack {
            Some(Pack { lanes, singles }) => (self.trips * singles, lanes),
            None => (0.0, self.lanes.unwrap_or(1.0)),
        };
        let loads = ((self.loads + again - singles).max(0.0), self.stores);
        let accessing = machine.accessing(loads, at_once * self.widest) / at_once + singles / LOADS;
        let operations = match self.pack {
            Some(Pack { lanes, .. }) => (operations - singles).max(0.0) / lanes + singles,
            None => operations,
        };
        let waited = self.pages.waits(at_once * self.widest) as f64 * machine.same_place;
        computing(operations, counted, self.lanes, self.serial, machine).max(accessing)
            + steps * (spilled + waited)
    }
}

impl Machine {
    /// Returns the cycles of loads and stores of vectors of `bytes` bytes. They begin at any
    /// multiple of 16 bytes, as arrays do. Those that lie in two lines count twice.
    fn accessing(&self, (loads, stores): (f64, f64), bytes: f64) -> f64 {
        let line = self.line.max(1) as f64;
        let split = 1.0 + ((bytes - ALIGNED) / line).clamp(0.0, 1.0);
        let stored = if bytes < line { LOADS } else { LOADS / 2.0 };
        split * (loads / LOADS + stores / stored)
    }

    /// Returns the cycles to count an iteration and branch.
    pub(super) fn counting(&self) -> f64 {
        COUNTING / self.issue
    }
}

/// Returns the streams that two loops share, as each traverses them.
fn shared<'w>(first: &'w Work, second: &'w Work) -> impl Iterator<Item = (&'w Stream, &'w Stream)> {
    second.streams.all.iter().filter_map(|own| Some((first.streams.get(&own.key)?, own)))
}

/// Returns the lines that two loops touch together.
fn lines_of_both(first: &Work, second: &Work) -> f64 {
    let common = shared(first, second).map(|(before, own)| before.lines.min(own.lines)).sum::<f64>();
    first.streams.lines + second.streams.lines - common
}

/// Returns the time of `operations` operations in `trips` iterations, `lanes` iterations at once.
fn computing(operations: f64, trips: f64, lanes: Option<f64>, serial: f64, machine: &Machine) -> f64 {
    let busy = (operations + trips * COUNTING) / machine.issue;
    lanes.map_or(busy.max(serial), |lanes| busy / lanes)
}

/// The number of operations that count an iteration and branch.
const COUNTING: f64 = 2.0;

/// Loads begun in one cycle, and stores of less than a line.
const LOADS: f64 = 2.0;

/// Bytes of the usual alignment of an array.
const ALIGNED: f64 = 16.0;

/// The number of operations that compare two numbers before a loop and combine the result with
/// other comparisons.
const COMPARING: f64 = 2.0;
