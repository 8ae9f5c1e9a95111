//! What running two loops as one saves, and what it costs.

use super::{Machine, Work};

/// What running two loops as one saves, in cycles each time they are reached.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Saving {
    /// All in all: negative if it costs more than it saves.
    pub cycles: f64,
    /// What it costs, each taken by itself: some of it is done while something else is waited for.
    pub losses: Vec<(f64, Loss)>,
    /// How many comparisons of numbers are made before.
    pub comparisons: usize,
    /// Which part of the iterations of the longer loop runs by itself.
    pub apart: f64,
}

/// Why fusing costs something.
#[derive(Clone, PartialEq, Debug)]
pub enum Loss {
    /// An iteration of both touches more than a cache holds, so that what is touched again in the
    /// next has to be fetched again.
    Footprint {
        /// How much an iteration touches.
        bytes: u64,
        /// The cache that held what each touches, and how much it holds. `None` if each touches too
        /// much for one as it is.
        cache: Option<(&'static str, u64)>,
    },
    /// The loops run one element at a time that ran several at once.
    Vectorization {
        /// True if an iteration would read what a few before it wrote; if not, one of the loops
        /// runs one element at a time as it is.
        carried: bool,
    },
    /// Values are kept in memory that were in registers.
    Registers {
        /// The number of values that are live across the body.
        live: usize,
        /// The number of registers.
        registers: usize,
    },
}

/// Cycles that a loop computes, and that it gets lines.
#[derive(Clone, Copy)]
struct Time {
    computing: f64,
    fetching: f64,
}

impl Time {
    /// What is done meanwhile does not count in full.
    fn cycles(self, machine: &Machine) -> f64 {
        let Time { computing, fetching } = self;
        computing.max(fetching) + computing.min(fetching) * (1.0 - machine.overlap)
    }
}

/// What two loops do in the iterations they have in common, as parts of what they do in all.
struct Shares {
    /// The number of iterations these are.
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
    /// What costs most.
    pub fn worst(&self) -> Option<&Loss> {
        self.losses.iter().max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, loss)| loss)
    }

    /// What is saved by running `second` in the loop of `first`, behind it and `shift` iterations
    /// later, and how many iterations of both can then run at once.
    pub fn of(first: &Work, second: &Work, shift: i64, machine: &Machine) -> (Saving, Option<f64>) {
        Saving::whether_tested(false, first, second, shift, machine)
    }

    /// The same if so many comparisons of numbers before the loops keep dependences; `first_test`
    /// if nothing else is tested there, so that there is a branch.
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
        let carried = several.is_some_and(|lanes| first.streams.feed(&second.streams, shift, lanes, tested));
        let lanes = several.filter(|_| !carried);
        let shares = Shares::of(first, second);
        let [mut before, mut behind, mut both] = saving.fetched(first, second, &shares, shift, machine);
        let trips = shares.common;
        let run = |operations, lanes, serial| computing(operations, trips, lanes, serial, machine);
        let [own, others] = [(first, shares.first), (second, shares.second)]
            .map(|(work, share)| (work.operations * share, work.serial * share));
        before.computing = run(own.0, first.lanes, own.1);
        behind.computing = run(others.0, second.lanes, others.1);
        both.computing = run(own.0 + others.0, lanes, own.1.max(others.1));
        saving.lose(both.computing - before.computing - behind.computing, Loss::Vectorization { carried });
        both.computing += saving.spilled(first, second, trips / lanes.unwrap_or(1.0), machine);
        saving.cycles = before.cycles(machine) + behind.cycles(machine) - both.cycles(machine);
        // What one of them has more is a loop of its own.
        if first.common == second.common && second.common == second.trips {
            saving.cycles += machine.start;
        }
        saving.apart = 1.0 - shares.first.min(shares.second);
        (saving, lanes)
    }

    /// By how many iterations more than the least shift that may be the second should run later: by
    /// a block, as many as can run at once of either loop, if more is saved with that since as many
    /// can of both, and the shift is at most `most`.
    pub fn block(first: &Work, second: &Work, least: i64, most: i64, machine: &Machine) -> i64 {
        let Some(lanes) = first.lanes.zip(second.lanes).map(|(a, b)| a.min(b)) else { return 0 };
        let block = lanes as i64;
        let saved = |shift| Saving::of(first, second, shift, machine).0.cycles;
        let fits = least.checked_add(block).is_some_and(|later| later <= most);
        if fits && saved(least + block) > saved(least) { block } else { 0 }
    }

    /// How long lines are fetched for the first, the second, and both as one, in the iterations
    /// they have in common.
    fn fetched(
        &mut self,
        first: &Work,
        second: &Work,
        shares: &Shares,
        shift: i64,
        machine: &Machine,
    ) -> [Time; 3] {
        let line = machine.line as f64;
        let shared = || second.streams.all.iter().filter_map(|own| Some((first.streams.get(&own.key)?, own)));
        let (mut lines, mut at_once) = (0.0, 0.0);
        for (before, own) in shared() {
            lines += before.lines.min(own.lines);
            at_once += before.at_once.min(own.at_once);
        }
        // What is touched from an access of the first to one of the second, apart; what an
        // iteration touches, and one of both.
        let apart = (first.streams.lines + second.streams.lines - lines) * line;
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
            // What both write is written back once.
            let ways = if before.writes && own.writes { 2.0 } else { 1.0 };
            reused += (before.lines * shares.first).min(own.lines * shares.second) * ways * cycles;
        }
        let fetch = |bytes: f64| match first.innermost && second.innermost {
            true => machine.fetch_ahead(bytes),
            false => machine.fetch(bytes),
        };
        let further = |work: &Work| work.streams.again * (fetch(both) - fetch(one(work)));
        let again = further(first) * shares.first + further(second) * shares.second;
        let cache =
            machine.overflowed(one(first).max(one(second)), both).map(|cache| (cache.name, cache.bytes));
        self.lose(again, Loss::Footprint { bytes: both as u64, cache });
        let alone = |work: &Work| work.streams.moved * machine.fetch(apart);
        let (before, behind) = (alone(first) * shares.first, alone(second) * shares.second);
        [before, behind, before + behind - reused + again].map(|fetching| Time { computing: 0.0, fetching })
    }

    /// How long values are loaded that have no register in a loop of both, run in so many steps.
    fn spilled(&mut self, first: &Work, second: &Work, steps: f64, machine: &Machine) -> f64 {
        // What is live across a loop with loops inside is used in one of them, and loaded before
        // it.
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

    fn lose(&mut self, cycles: f64, loss: Loss) {
        if cycles > 0.0 {
            self.losses.push((cycles, loss));
        }
    }
}

impl Work {
    /// What it costs by itself, with nothing in a cache before.
    pub(crate) fn cycles(&self, machine: &Machine) -> f64 {
        let bytes = |lines: f64| lines * machine.line as f64;
        let again = self.streams.again * machine.fetch(bytes(self.streams.at_once));
        let fetching = self.streams.moved * machine.fetch(bytes(self.streams.lines)) + again;
        machine.start + Time { computing: computed(self, machine), fetching }.cycles(machine)
    }
}

/// How long a loop computes.
fn computed(work: &Work, machine: &Machine) -> f64 {
    computing(work.operations, work.trips, work.lanes, work.serial, machine)
}

/// How long it takes to run so many operations in so many iterations, `lanes` at once or none.
fn computing(operations: f64, trips: f64, lanes: Option<f64>, serial: f64, machine: &Machine) -> f64 {
    let busy = (operations + trips * COUNTING) / machine.issue;
    lanes.map_or(busy.max(serial), |lanes| busy / lanes)
}

/// Operations that count an iteration and branch.
const COUNTING: f64 = 2.0;
/// Operations that compare two numbers before a loop, and combine that with other comparisons.
const COMPARING: f64 = 2.0;
