//! Strands: iterations of parallel loops that run in a random interleaving.
//!
//! A run with a seed makes each iteration of a parallel loop a *strand*. A strand has registers,
//! callers that wait, and stack objects of its own; all strands share memory. Its registers begin
//! as a copy of those of the frame around the loop. The copy stays valid: values defined outside of
//! the loop do not change while the loop runs. The frame itself waits until all strands ended.
//!
//! **Scheduler.** A strand executes between 1 and 32 actions, then another one may run. The
//! scheduler picks among the strands that can run and the loops that can start an iteration. Up to
//! 8 iterations of a loop are alive at once, and up to 32 of all loops; beyond, a loop gets one.
//! Iterations start in random order, among the next 65,536. All choices come from the seed.
//!
//! **Atomicity.** An action is atomic: an access of an element or of a vector, a copy, a call of an
//! external function. So are the regions of `memref.generic_atomic_rmw` and of reductions. Memory
//! is sequentially consistent. A parallel loop inside of an atomic region runs in order.
//!
//! **Reductions** combine values in the order in which strands end. A combination that is not
//! associative and commutative, such as a sum of floats that rounds, gives results that depend on
//! the seed. So do outputs that iterations print, and addresses of objects that they allocate.
//!
//! **Limits.** All strands share the steps, the memory and the registers of a run; calls around a
//! loop count in each strand. A strand costs steps in proportion to its registers, unless it
//! inherits them from one that ended. An iteration may neither return from the function around it,
//! nor end stack objects from outside of the loop. Iterations that wait for one that cannot start
//! yet reach the limit of steps. Calls with `loomir.threads` run as they stand. Other runs, such as
//! those that count or trace, keep the order.
//!
//! **Cost.** A draw for each turn. A run without a seed pays a test for each parallel loop.

use std::fmt;
use std::rc::Rc;

use hashbrown::HashMap;
use loomir_ir::Loc;

use super::{Control, Frame, Machine};
use crate::interp::arguments::SplitMix64;
use crate::interp::code::{Entry, Flow, Slot, Step};
use crate::interp::datum::{Datum, ObjectId};
use crate::interp::fault::Fault;
use crate::interp::races::{Position, Races};

/// The maximal number of iterations of one loop that are alive.
const MAX_OF_LOOP: usize = 8;
/// The number of living strands from which on a loop gets one at a time.
const MAX_ALIVE: usize = 32;
/// Turns take up to `2^(MAX_TURN - 1)` actions.
const MAX_TURN: u64 = 6;
/// The number of iterations whose order is drawn at once.
const BLOCK: u64 = 1 << 16;

/// The values of an induction variable of a parallel loop.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The first value.
    pub first: i64,
    /// The distance between values.
    pub step: i64,
    /// The number of values. All fit the type.
    pub count: u64,
}

/// An iteration that does not run now, or the code around a loop that runs.
struct Strand {
    control: Control,
    registers: Vec<Datum>,
    base: usize,
    stack: Vec<(u32, ObjectId)>,
    stack_base: usize,
    extra: Vec<Datum>,
    /// The iteration for the search of races.
    position: Option<Position>,
    /// The loop of the iteration.
    parallel: Option<u64>,
}

/// A parallel loop that runs.
struct Parallel {
    /// The code around the loop, which waits.
    around: Strand,
    body: Entry,
    spans: Box<[Span]>,
    /// The next iterations to start, in any order.
    waiting: Vec<u64>,
    /// The first iteration after those.
    next: u64,
    /// The number of iterations.
    total: u64,
    /// The number of iterations that started and did not end.
    alive: usize,
    /// The number of the loop among those that are open.
    open: Option<usize>,
    /// Registers of iterations that ended.
    spare: Vec<Vec<Datum>>,
}

/// The strands of a run, and their scheduler.
pub(in crate::interp) struct Strands {
    random: SplitMix64,
    /// Strands that can run, except the one that does.
    ready: Vec<Strand>,
    loops: HashMap<u64, Parallel>,
    /// The number of loops so far. It numbers the next one.
    count: u64,
    /// The loops that may start another iteration.
    open: Vec<u64>,
    /// The loop of the iteration that runs.
    current: Option<u64>,
    /// The number of iterations that started and did not end.
    alive: usize,
    /// The number of actions until the next choice.
    turn: u64,
    /// The loop that is being entered.
    entered: Option<(Entry, Box<[Span]>)>,
    /// The number of registers of strands that do not run.
    parked: usize,
    /// The number of registers copied since the last payment.
    copied: usize,
}

impl fmt::Debug for Strands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Strands").field("alive", &self.alive).finish_non_exhaustive()
    }
}

impl Parallel {
    fn new(around: Strand, body: Entry, spans: Box<[Span]>) -> Parallel {
        let total = spans.iter().fold(1, |total: u64, span| total.saturating_mul(span.count));
        let (waiting, spare) = (Vec::new(), Vec::new());
        Parallel { around, body, spans, waiting, next: 0, total, alive: 0, open: None, spare }
    }

    fn has_more(&self) -> bool {
        !self.waiting.is_empty() || self.next < self.total
    }

    /// Draws an iteration that has not started. Returns the values of its induction variables.
    fn draw(&mut self, random: &mut SplitMix64) -> Box<[i64]> {
        if self.waiting.is_empty() {
            let end = self.total.min(self.next.saturating_add(BLOCK));
            self.waiting.extend(self.next..end);
            self.next = end;
        }
        let mut left = self.waiting.swap_remove(below(random, self.waiting.len()));
        let mut values: Box<[i64]> = self.spans.iter().map(|span| span.first).collect();
        for (value, span) in values.iter_mut().zip(&self.spans).rev() {
            *value = value.wrapping_add(((left % span.count) as i64).wrapping_mul(span.step));
            left /= span.count;
        }
        values
    }
}

impl Strands {
    /// Returns the scheduler of a seed.
    pub(in crate::interp) fn new(seed: u64) -> Strands {
        Strands {
            random: SplitMix64(seed),
            ready: Vec::new(),
            loops: HashMap::new(),
            count: 0,
            open: Vec::new(),
            current: None,
            alive: 0,
            turn: 0,
            entered: None,
            parked: 0,
            copied: 0,
        }
    }

    /// The frame around the loop of the iteration that runs.
    fn around(&mut self) -> Option<&mut [Datum]> {
        let own = self.loops.get_mut(&self.current?)?;
        own.around.registers.get_mut(own.around.base..)
    }

    /// Runs the iterations of the loop that is being entered. `around` waits for them. The last
    /// strand that is ready is the first iteration.
    fn enter(&mut self, around: Strand, races: Option<&mut Races>) {
        let Some((body, spans)) = self.entered.take() else { return };
        let parallel = self.count;
        self.count += 1;
        self.loops.insert(parallel, Parallel::new(around, body, spans));
        self.start(parallel, races);
    }

    /// Starts an iteration of a loop. It becomes the last strand that is ready.
    fn start(&mut self, parallel: u64, races: Option<&mut Races>) {
        let Some(own) = self.loops.get_mut(&parallel) else { return };
        let values = own.draw(&mut self.random);
        let Strand { control, registers, base, extra, .. } = &own.around;
        let mut copy = own.spare.pop().unwrap_or_else(|| {
            self.copied += control.code.slots;
            self.parked += control.code.slots;
            registers[*base..][..control.code.slots].to_vec()
        });
        for (Slot(variable), value) in own.body.arguments.iter().zip(&values) {
            copy[*variable as usize] = Datum::index(*value);
        }
        let stack_base = own.around.stack_base + own.around.stack.len();
        self.ready.push(Strand {
            control: Control {
                code: Rc::clone(&control.code),
                at: own.body.target.0,
                frames: Vec::new(),
                floor: stack_base,
                depth: control.depth + control.frames.len(),
            },
            registers: copy,
            base: 0,
            stack: Vec::new(),
            stack_base,
            extra: extra.clone(),
            position: races.and_then(|races| races.iteration(own.around.position, values)),
            parallel: Some(parallel),
        });
        own.alive += 1;
        self.alive += 1;
        self.update_open(parallel);
    }

    /// Ends an iteration, and its loop if it is the last one. At least one strand is ready then.
    fn end(&mut self, ended: Strand, races: Option<&mut Races>) {
        let Some(parallel) = ended.parallel else { return };
        let Some(own) = self.loops.get_mut(&parallel) else { return };
        own.spare.push(ended.registers);
        // Objects that end with the function outlive the iteration.
        own.around.stack.extend(ended.stack);
        own.alive -= 1;
        self.alive -= 1;
        match (own.alive, own.has_more()) {
            (0, true) => self.start(parallel, races),
            (0, false) => self.end_loop(parallel, races),
            _ => self.update_open(parallel),
        }
    }

    /// Makes the code around a loop ready, once all iterations ended.
    fn end_loop(&mut self, parallel: u64, races: Option<&mut Races>) {
        let Some(own) = self.loops.remove(&parallel) else { return };
        self.parked -= own.spare.iter().map(Vec::len).sum::<usize>();
        let mut around = own.around;
        around.control.at += 1;
        around.position = races.and_then(|races| races.end_loop(around.position));
        self.ready.push(around);
    }

    /// Opens a loop if it may start another iteration, and closes it otherwise.
    fn update_open(&mut self, parallel: u64) {
        let Some(own) = self.loops.get_mut(&parallel) else { return };
        match (own.open, own.has_more() && own.alive < MAX_OF_LOOP) {
            (None, true) => {
                own.open = Some(self.open.len());
                self.open.push(parallel);
            }
            (Some(at), false) => {
                own.open = None;
                self.open.swap_remove(at);
                let moved = self.open.get(at).and_then(|moved| self.loops.get_mut(moved));
                if let Some(moved) = moved {
                    moved.open = Some(at);
                }
            }
            _ => {}
        }
    }

    /// True if the turn of the strand that runs is over and there are others.
    #[inline]
    fn may_switch(&mut self) -> bool {
        if self.ready.is_empty() && self.open.is_empty() {
            return false;
        }
        if self.turn > 0 {
            self.turn -= 1;
            return false;
        }
        let longest = 1 << (self.random.next_bits() % MAX_TURN);
        self.turn = self.random.next_bits() % longest;
        true
    }

    /// Picks the strand that runs next, by its number among those that are ready. It may be an
    /// iteration that starts now. With `running`, the number behind the last one stands for the
    /// strand that runs.
    fn pick(&mut self, running: bool, races: Option<&mut Races>) -> usize {
        let own = self.ready.len() + usize::from(running);
        let open = if self.alive < MAX_ALIVE { self.open.len() } else { 0 };
        let drawn = below(&mut self.random, own + open);
        match drawn.checked_sub(own) {
            None => drawn,
            Some(index) => {
                self.start(self.open[index], races);
                self.ready.len() - 1
            }
        }
    }
}

/// Returns a random number below `count`, which is not 0.
fn below(random: &mut SplitMix64, count: usize) -> usize {
    (random.next_bits() % count as u64) as usize
}

/// The operations of models.
impl Machine {
    /// Enters a parallel loop with at least one iteration. The registers of its induction variables
    /// hold the values of the first one. `spans` returns the values of all.
    pub fn begin_parallel(
        &mut self,
        body: &Entry,
        spans: impl FnOnce(&Machine) -> Result<Box<[Span]>, Box<Fault>>,
    ) -> Step {
        if self.runs_strands() {
            let spans = spans(self)?;
            if let Some(strands) = &mut self.strands {
                strands.entered = Some((body.clone(), spans));
            }
            return Ok(Flow::Fork);
        }
        if let Some(races) = &mut self.races {
            races.begin_loop();
            self.begin_iteration(&body.arguments)?;
        }
        Ok(Flow::Goto(body.target))
    }

    /// True if the iterations of the current parallel loop are strands.
    #[inline]
    pub fn runs_strands(&self) -> bool {
        self.strands.is_some() && self.atomic == 0
    }

    /// Copies registers of the frame around the loop, for a strand that combines values with them.
    pub fn fetch(&mut self, slots: &[Slot]) {
        let Some(around) = self.strands.as_mut().and_then(|strands| strands.around()) else { return };
        for Slot(slot) in slots {
            self.registers[self.base + *slot as usize] = around[*slot as usize].clone();
        }
    }

    /// Copies registers of a strand to the frame around the loop.
    pub fn share(&mut self, slots: &[Slot]) {
        let Some(around) = self.strands.as_mut().and_then(|strands| strands.around()) else { return };
        for Slot(slot) in slots {
            around[*slot as usize] = self.registers[self.base + *slot as usize].clone();
        }
    }

    /// Begins a region during which no other strand runs.
    #[inline]
    pub fn begin_atomic(&mut self) {
        self.atomic += 1;
    }

    /// Ends an atomic region.
    #[inline]
    pub fn end_atomic(&mut self) {
        self.atomic = self.atomic.saturating_sub(1);
    }
}

/// The operations of the machine.
impl Machine {
    /// Lets another strand run, if the turn of the current one is over.
    #[inline]
    pub(super) fn take_turn(&mut self, control: &mut Control) -> Result<(), Box<Fault>> {
        let strands = self.strands.as_mut().filter(|_| self.atomic == 0);
        match strands.is_some_and(|strands| strands.may_switch()) {
            true => self.switch(control),
            false => Ok(()),
        }
    }

    fn switch(&mut self, control: &mut Control) -> Result<(), Box<Fault>> {
        self.with_strands(|machine, strands| {
            let next = strands.pick(true, machine.races.as_mut());
            if next < strands.ready.len() {
                let parked = machine.park(strands, control);
                machine.unpark(strands, control, next);
                strands.ready.push(parked);
            }
        })
    }

    /// Runs the iterations of the loop that is being entered.
    pub(super) fn fork(&mut self, control: &mut Control) -> Result<(), Box<Fault>> {
        self.with_strands(|machine, strands| {
            if let Some(races) = &mut machine.races {
                races.begin_loop();
            }
            let around = machine.park(strands, control);
            strands.enter(around, machine.races.as_mut());
            machine.unpark(strands, control, strands.ready.len() - 1);
        })
    }

    /// Ends the iteration that runs.
    pub(super) fn join(&mut self, control: &mut Control) -> Result<(), Box<Fault>> {
        self.with_strands(|machine, strands| {
            let ended = machine.park(strands, control);
            strands.end(ended, machine.races.as_mut());
            let next = strands.pick(false, machine.races.as_mut());
            machine.unpark(strands, control, next);
        })
    }

    /// Calls `f` with the scheduler, and takes steps for the registers that it copies.
    fn with_strands(&mut self, f: impl FnOnce(&mut Machine, &mut Strands)) -> Result<(), Box<Fault>> {
        let Some(mut strands) = self.strands.take() else { return Ok(()) };
        f(self, &mut strands);
        let copied = std::mem::take(&mut strands.copied);
        self.parked = strands.parked;
        self.strands = Some(strands);
        self.pay_registers(copied)
    }

    /// Returns the strand that runs.
    fn park(&mut self, strands: &mut Strands, control: &mut Control) -> Strand {
        strands.parked += self.registers.len();
        Strand {
            control: Control {
                code: Rc::clone(&control.code),
                frames: std::mem::take(&mut control.frames),
                ..*control
            },
            registers: std::mem::take(&mut self.registers),
            base: self.base,
            stack: std::mem::take(&mut self.stack),
            stack_base: self.stack_base,
            extra: std::mem::take(&mut self.extra),
            position: self.races.as_ref().and_then(|races| races.position),
            parallel: strands.current,
        }
    }

    /// Continues a strand that is ready.
    fn unpark(&mut self, strands: &mut Strands, control: &mut Control, index: usize) {
        let strand = strands.ready.swap_remove(index);
        strands.parked -= strand.registers.len();
        strands.current = strand.parallel;
        *control = strand.control;
        (self.registers, self.base) = (strand.registers, strand.base);
        (self.stack, self.stack_base, self.extra) = (strand.stack, strand.stack_base, strand.extra);
        if let Some(races) = &mut self.races {
            races.position = strand.position;
        }
    }

    /// True if the code that runs is an iteration.
    pub(super) fn is_strand(&self) -> bool {
        self.strands.as_ref().is_some_and(|strands| strands.current.is_some())
    }

    /// Returns the locations of the calls around the code that runs, the innermost first.
    pub(super) fn calls_around(&self, control: &Control, count: usize) -> Vec<Loc> {
        let mut locations = Vec::new();
        let (mut control, mut parallel) =
            (control, self.strands.as_ref().and_then(|strands| strands.current));
        loop {
            let left = count - locations.len();
            let calls = control.frames.iter().rev().take(left);
            locations.extend(calls.map(Frame::loc));
            let around = parallel.and_then(|id| Some(&self.strands.as_ref()?.loops.get(&id)?.around));
            let Some(around) = around else { return locations };
            (control, parallel) = (&around.control, around.parallel);
        }
    }
}
