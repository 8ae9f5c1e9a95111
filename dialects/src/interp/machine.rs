//! The machine: registers, frames, memory, and the loop that executes actions.
//!
//! Registers of all frames lie in one vector; a frame is a window of it. Calls push a frame on an
//! explicit stack, so the depth of a program's calls is a limit and never the host's stack. Every
//! action costs one step, and entering a function costs steps in proportion to its registers, so
//! the step limit bounds the time of a run.
//!
//! The registers and the stack objects in the machine are those of the code that runs. Of code that
//! waits, `machine/strands.rs` keeps them.

use std::rc::Rc;

use loomir_ir::text::type_to_string;
use loomir_ir::{Context, Loc, Type};

use super::Limits;
use super::code::{Code, Flow, FunctionId, NONE, Slot, Target};
use super::counts::Counts;
use super::datum::{Datum, ObjectId, Pointer};
use super::external::External;
use super::fault::{Fault, FaultKind};
use super::layout::Repr;
use super::memory::{Memory, ObjectKind};
use super::program::{Callee, Contents, Program};
use super::races::{AccessKind, Races};
use super::stores::Stores;
use super::trace::Event;
use super::watch::{Active, Watching};

mod strands;

pub use strands::Span;
pub(super) use strands::Strands;

/// The state that actions act on.
#[derive(Debug)]
pub struct Machine {
    /// Objects and their bytes.
    pub memory: Memory,
    /// The arguments of a call or the results of a return, in transit.
    pub transfer: Vec<Datum>,
    pub(super) registers: Vec<Datum>,
    pub(super) base: usize,
    /// Room for parallel copies.
    pub(super) buffer: Vec<Datum>,
    /// Living objects of the stack, innermost last, each with the operation whose region they end
    /// with.
    stack: Vec<(u32, ObjectId)>,
    /// The number of living objects of the stack in code that waits.
    stack_base: usize,
    steps_left: u64,
    /// Arguments of the current function beyond those of its signature.
    extra: Vec<Datum>,
    /// The output of the program so far.
    pub(super) printed: Vec<u8>,
    /// The signatures of functions, by their numbers.
    pub(super) signatures: Vec<Signature>,
    /// The counts of region executions, if the run counts.
    pub(super) counts: Option<Counts>,
    /// The executed operations, if the run records them.
    pub(super) trace: Option<Vec<Event>>,
    /// The element whose writers are recorded, if any.
    pub(super) watch: Option<Watching>,
    /// The accesses of parallel iterations, if the run looks for races.
    pub(super) races: Option<Races>,
    /// The stores so far, if the run records them.
    pub(super) stores: Option<Stores>,
    /// The scheduler, if parallel iterations interleave.
    pub(super) strands: Option<Box<Strands>>,
    /// The number of registers of strands that do not run.
    parked: usize,
    /// The number of atomic regions around the current action.
    atomic: u32,
}

/// The position of the code that runs.
struct Control {
    code: Rc<Code>,
    /// The action.
    at: u32,
    /// The callers that wait, innermost last.
    frames: Vec<Frame>,
    /// The depth of the stack at the start of the function.
    floor: usize,
    /// The number of callers around the parallel loops whose iterations run.
    depth: usize,
}

/// A caller that waits.
struct Frame {
    code: Rc<Code>,
    /// The call.
    at: u32,
    base: usize,
    floor: usize,
    extra: Vec<Datum>,
    /// The number of atomic regions around the call.
    atomic: u32,
}

impl Frame {
    /// Returns the location of the call.
    fn loc(&self) -> Loc {
        self.code.places[self.at as usize].loc
    }
}

/// The maximal number of bytes that a program prints.
const MAX_PRINTED: usize = 1 << 26;

/// The types of a function's arguments and results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    parameters: Vec<Type>,
    results: Vec<Type>,
    text: String,
}

impl Signature {
    /// Returns a signature.
    pub fn new(ctx: &Context, parameters: Vec<Type>, results: Vec<Type>) -> Signature {
        let list = |types: &[Type]| {
            let texts: Vec<String> = types.iter().map(|ty| type_to_string(ctx, *ty)).collect();
            format!("({})", texts.join(", "))
        };
        let text = format!("{} -> {}", list(&parameters), list(&results));
        Signature { parameters, results, text }
    }
}

/// The maximal number of registers of all frames together.
const MAX_REGISTERS: usize = 1 << 25;
/// The number of registers of a new frame for each step of its cost.
const REGISTERS_PER_STEP: usize = 16;
/// The maximal number of calls in the notes of a fault.
const MAX_CALL_NOTES: usize = 8;

impl Machine {
    pub(super) fn new(limits: &Limits) -> Machine {
        Machine {
            memory: Memory::new(limits.memory),
            transfer: Vec::new(),
            registers: Vec::new(),
            base: 0,
            buffer: Vec::new(),
            stack: Vec::new(),
            stack_base: 0,
            steps_left: limits.steps,
            extra: Vec::new(),
            printed: Vec::new(),
            signatures: Vec::new(),
            counts: None,
            trace: None,
            watch: None,
            races: None,
            stores: None,
            strands: None,
            parked: 0,
            atomic: 0,
        }
    }

    /// Steps that may still be taken.
    pub(super) fn steps_left(&self) -> u64 {
        self.steps_left
    }

    /// Takes `count` steps at once, for actions with variable cost.
    pub fn spend(&mut self, count: u64) -> Result<(), Box<Fault>> {
        match self.steps_left.checked_sub(count) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => Err(Fault::new(FaultKind::Limit, "step limit reached")),
        }
    }

    /// Begins an iteration of a parallel loop that runs in order, with these induction variables.
    pub fn begin_iteration(&mut self, variables: &[Slot]) -> Result<(), Box<Fault>> {
        if self.races.is_some() {
            let values = variables.iter().map(|slot| self.index(*slot, "the induction variable"));
            let values = values.collect::<Result<Box<[i64]>, _>>()?;
            if let Some(races) = &mut self.races {
                races.position = races.iteration(races.position, values);
            }
        }
        Ok(())
    }

    /// Leaves a parallel loop that ran in order.
    pub fn end_parallel(&mut self) {
        if let Some(races) = &mut self.races {
            races.position = races.end_loop(races.position);
        }
    }

    /// True if accesses are [recorded](Self::touch).
    #[inline]
    pub fn looks_for_races(&self) -> bool {
        self.races.is_some()
    }

    /// True if stores have to be [recorded](Self::record_store).
    #[inline]
    pub fn records_stores(&self) -> bool {
        self.stores.is_some()
    }

    /// Records a store at `loc` to the element of a memref with these subscripts.
    pub fn record_store(&mut self, object: ObjectId, sizes: Box<[i64]>, element: Box<[i64]>, loc: Loc) {
        if let Some(stores) = &mut self.stores {
            stores.add(object, sizes, element, loc);
        }
    }

    /// Records an access of `size` bytes at `loc`, if the run looks for races.
    ///
    /// # Errors
    ///
    /// A race with another iteration of a parallel loop.
    #[inline]
    pub fn touch(&mut self, place: Pointer, size: u64, kind: AccessKind, loc: Loc) -> Result<(), Box<Fault>> {
        let Some(races) = &mut self.races else { return Ok(()) };
        let range = place.address..place.address.saturating_add(size);
        races.touch(range, kind, loc).map_err(|race| {
            let (place, text) = race.earlier;
            Fault::undefined(race.text).note(place, text)
        })
    }

    /// Creates an object, which costs steps in proportion to its size.
    pub fn allocate(&mut self, size: u64, align: u64, kind: ObjectKind) -> Result<Pointer, Box<Fault>> {
        let pointer = self.memory.allocate(size, align, kind)?;
        self.spend(size / 64)?;
        Ok(pointer)
    }

    /// Creates a stack object that ends with operation number `scope`, or with the function.
    pub fn allocate_on_stack(&mut self, size: u64, align: u64, scope: u32) -> Result<Pointer, Box<Fault>> {
        let pointer = self.allocate(size, align, ObjectKind::Stack)?;
        self.stack.push((scope, pointer.object));
        Ok(pointer)
    }

    /// Returns the number of objects the stack holds.
    pub fn stack_depth(&self) -> usize {
        self.stack_base + self.stack.len()
    }

    /// Ends the objects of the stack above a depth.
    ///
    /// # Errors
    ///
    /// If some of them belong to code around the iteration that runs.
    pub fn unwind_stack(&mut self, depth: usize) -> Result<(), Box<Fault>> {
        let Some(own) = depth.checked_sub(self.stack_base) else {
            return Err(Fault::unsupported(
                "an iteration of a parallel loop ends stack objects from outside of the loop",
            ));
        };
        for (_, object) in self.stack.drain(own.min(self.stack.len())..) {
            self.memory.end(object);
        }
        Ok(())
    }

    fn end_scope(&mut self, scope: u32) {
        while let Some((_, object)) = self.stack.pop_if(|(own, _)| *own == scope) {
            self.memory.end(object);
        }
    }

    /// Opens a window of registers.
    fn open_frame(&mut self, slots: usize) -> Result<(), Box<Fault>> {
        self.base = self.registers.len();
        self.pay_registers(slots)?;
        self.registers.resize(self.base + slots, Datum::Unset);
        Ok(())
    }

    /// Takes steps for new registers, and checks that there are not too many.
    fn pay_registers(&mut self, count: usize) -> Result<(), Box<Fault>> {
        self.spend((count / REGISTERS_PER_STEP) as u64)?;
        if count > MAX_REGISTERS - (self.registers.len() + self.parked).min(MAX_REGISTERS) {
            return Err(Fault::new(FaultKind::Limit, "too many values in the calls that are active"));
        }
        Ok(())
    }

    /// Moves the values in `transfer` into registers.
    fn receive(&mut self, slots: impl ExactSizeIterator<Item = Slot>, what: &str) -> Result<(), Box<Fault>> {
        if slots.len() != self.transfer.len() {
            let (given, expected) = (self.transfer.len(), slots.len());
            return Err(Fault::undefined(format!("{given} {what} where {expected} are expected")));
        }
        for (slot, datum) in slots.zip(self.transfer.drain(..)) {
            self.registers[self.base + slot.0 as usize] = datum;
        }
        Ok(())
    }

    /// Calls a function with the arguments in transfer and runs until it returns. Afterwards, its
    /// results are in transfer.
    pub(super) fn call(
        &mut self,
        program: &mut Program<'_>,
        function: FunctionId,
        limits: &Limits,
    ) -> Result<(), Box<Fault>> {
        let code = program.code(function, &mut self.memory)?;
        let (base, registers, floor) = (self.base, self.registers.len(), self.stack_depth());
        self.count_call(function);
        self.open_frame(code.slots)?;
        self.receive(code.entry.arguments.iter().copied(), "arguments")?;
        let mut control = Control { code, at: 0, frames: Vec::new(), floor, depth: 0 };
        let result = self.begin(&control.code).and_then(|()| self.run(program, &mut control, limits));
        if let Err(mut fault) = result {
            let loc = control.code.places.get(control.at as usize).map_or(Loc::UNKNOWN, |p| p.loc);
            fault = fault.at(loc);
            for loc in self.calls_around(&control, MAX_CALL_NOTES) {
                fault = fault.note(loc, "called from here");
            }
            return Err(fault);
        }
        self.unwind_stack(floor)?;
        self.registers.truncate(registers);
        self.base = base;
        Ok(())
    }

    /// Runs the action of a function's entry.
    fn begin(&mut self, code: &Code) -> Result<(), Box<Fault>> {
        match &code.prologue {
            Some(prologue) => prologue.execute(self).map(drop),
            None => Ok(()),
        }
    }

    fn run(
        &mut self,
        program: &mut Program<'_>,
        control: &mut Control,
        limits: &Limits,
    ) -> Result<(), Box<Fault>> {
        control.at = control.code.entry.target.0;
        let is_stepwise = self.trace.is_some() || self.watch.is_some() || self.strands.is_some();
        loop {
            let mut flow = if is_stepwise {
                self.take_turn(control)?;
                self.execute_one(&control.code, control.at)?
            } else {
                self.execute(&control.code, &mut control.at)?
            };
            self.note_writer(program, control);
            while flow == Flow::Yield {
                flow = self.hand_back(&control.code, &mut control.at)?;
                self.note_writer(program, control);
            }
            match flow {
                Flow::Next => control.at += 1,
                Flow::Goto(Target(target)) => control.at = target,
                Flow::Yield => {}
                Flow::Call(function) => self.enter_function(program, control, function, limits)?,
                Flow::Return => {
                    if !self.leave_function(control)? {
                        return Ok(());
                    }
                }
                Flow::Fork => self.fork(control)?,
                Flow::Join => self.join(control)?,
            }
        }
    }

    /// Calls a function with the arguments in transfer.
    #[inline]
    fn enter_function(
        &mut self,
        program: &mut Program<'_>,
        control: &mut Control,
        function: FunctionId,
        limits: &Limits,
    ) -> Result<(), Box<Fault>> {
        if control.depth + control.frames.len() + 1 >= limits.call_depth {
            let message = format!("call depth limit of {} reached", limits.call_depth);
            return Err(Fault::new(FaultKind::Limit, message));
        }
        let callee = match program.resolve(function)? {
            Callee::Defined(function) => {
                self.count_call(function);
                program.code(function, &mut self.memory)?
            }
            Callee::External(external) => {
                let results = control.code.places[control.at as usize].results();
                self.call_external(external, results.len())?;
                self.note_writer(program, control);
                self.receive(results, "results")?;
                let flow = control.code.actions[control.at as usize].returned(self)?;
                control.at = continued(flow, control.at);
                return Ok(());
            }
        };
        let known = callee.entry.arguments.len();
        let more = if callee.variadic && known < self.transfer.len() {
            self.transfer.split_off(known)
        } else {
            Vec::new()
        };
        let code = std::mem::replace(&mut control.code, callee);
        let extra = std::mem::replace(&mut self.extra, more);
        let (at, base, floor, atomic) = (control.at, self.base, control.floor, self.atomic);
        control.frames.push(Frame { code, at, base, floor, extra, atomic });
        let code = &control.code;
        control.floor = self.stack_depth();
        control.at = code.entry.target.0;
        self.open_frame(code.slots)?;
        self.receive(code.entry.arguments.iter().copied(), "arguments")?;
        self.begin(code)
    }

    /// Returns to the caller. False if there is none.
    #[inline]
    fn leave_function(&mut self, control: &mut Control) -> Result<bool, Box<Fault>> {
        self.unwind_stack(control.floor)?;
        let Some(caller) = control.frames.pop() else {
            return match self.is_strand() {
                true => Err(Fault::unsupported("an iteration of a parallel loop returns from the function")),
                false => Ok(false),
            };
        };
        self.registers.truncate(self.base);
        (control.code, control.at, self.base, control.floor) =
            (caller.code, caller.at, caller.base, caller.floor);
        // A return may leave atomic regions.
        (self.extra, self.atomic) = (caller.extra, caller.atomic);
        self.receive(control.code.places[control.at as usize].results(), "results")?;
        let flow = control.code.actions[control.at as usize].returned(self)?;
        control.at = continued(flow, control.at);
        Ok(true)
    }

    /// Executes actions in sequence. Returns when control does anything but continue, jump or
    /// yield.
    #[inline]
    fn execute(&mut self, code: &Code, at: &mut u32) -> Result<Flow, Box<Fault>> {
        loop {
            if self.steps_left == 0 {
                return Err(Fault::new(FaultKind::Limit, "step limit reached"));
            }
            self.steps_left -= 1;
            match code.actions[*at as usize].execute(self)? {
                Flow::Next => *at += 1,
                Flow::Goto(Target(target)) => *at = target,
                flow => return Ok(flow),
            }
        }
    }

    /// Executes one action, and records it if the run does.
    fn execute_one(&mut self, code: &Code, at: u32) -> Result<Flow, Box<Fault>> {
        self.spend(1)?;
        if self.trace.is_none() {
            return code.actions[at as usize].execute(self);
        }
        let place = &code.places[at as usize];
        let datum = |this: &Machine, slot: &Slot| this.registers[this.base + slot.0 as usize].clone();
        // A branch may overwrite the values that it passes on.
        let operands: Vec<Datum> = code.operands(place).iter().map(|slot| datum(self, slot)).collect();
        let flow = code.actions[at as usize].execute(self)?;
        let results: Vec<Datum> = place.results().map(|slot| datum(self, &slot)).collect();
        if let (Some(trace), Some(op)) = (&mut self.trace, place.op) {
            trace.push(Event { function: code.name, op, operands, results });
        }
        Ok(flow)
    }

    /// Records the writer of the watched element, if it was written.
    #[inline]
    fn note_writer(&mut self, program: &Program<'_>, control: &Control) {
        if let Some(object) = self.watch.as_ref().and_then(|watch| watch.object)
            && self.memory.was_written(object)
        {
            let waiting = control.frames.iter().map(|frame| (&*frame.code, frame.at, frame.base));
            let running = (&*control.code, control.at, self.base);
            let active = waiting.chain([running]).filter_map(|(code, at, base)| {
                let function = program.functions.get(code.function.0 as usize)?;
                let values = self.registers.get(base..base + code.slots)?.to_vec();
                Some(Active { function: function.name, op: code.places[at as usize].op?, values })
            });
            let active = active.collect();
            if let Some(watch) = &mut self.watch {
                watch.last = active;
            }
        }
    }

    /// Resumes the operation around a terminator.
    #[inline]
    fn hand_back(&mut self, code: &Code, at: &mut u32) -> Result<Flow, Box<Fault>> {
        let place = &code.places[*at as usize];
        if place.parent == NONE {
            return Err(Fault::unsupported("a function ends without a return"));
        }
        let (parent, region) = (place.parent, place.region as usize);
        if let (Some(counts), Some(op)) = (&mut self.counts, code.places[parent as usize].op) {
            counts.add(code.function, Some(op), region);
        }
        if code.places[parent as usize].ends_objects {
            self.end_scope(parent);
        }
        let yielded = code.operands(place);
        let from = std::mem::replace(at, parent);
        code.actions[parent as usize].resume(self, region, yielded).inspect_err(|_| {
            // The fault belongs to the loop, not to the terminator, unless the loop has no
            // location.
            if code.places[parent as usize].loc == Loc::UNKNOWN {
                *at = from;
            }
        })
    }

    fn count_call(&mut self, function: FunctionId) {
        if let Some(counts) = &mut self.counts {
            counts.add(function, None, 0);
        }
    }

    /// Puts registers into transfer: the arguments of a call, the results of a return.
    #[inline]
    pub fn send(&mut self, slots: &[Slot]) {
        let mut transfer = std::mem::take(&mut self.transfer);
        transfer.clear();
        transfer.extend(slots.iter().map(|slot| self.get(*slot).clone()));
        self.transfer = transfer;
    }

    /// Moves the values in `transfer` into the registers of results.
    pub fn receive_results(&mut self, slots: &[Slot]) -> Result<(), Box<Fault>> {
        self.receive(slots.iter().copied(), "results")
    }

    /// Calls an external function with the arguments in transfer. Afterwards, its results are in
    /// transfer. A caller that expects no result may ignore it: MLIR declares `puts` without one.
    pub fn call_external(&mut self, external: External, expected: usize) -> Result<(), Box<Fault>> {
        let arguments = std::mem::take(&mut self.transfer);
        let result = external.call(self, &arguments)?;
        self.transfer = arguments;
        self.transfer.clear();
        self.transfer.extend(result.into_iter().filter(|_| expected > 0));
        Ok(())
    }

    /// Stores the arguments beyond the signature in memory, a word or two each. Returns the address
    /// of the first.
    pub fn extra_arguments(&mut self, scope: u32) -> Result<Pointer, Box<Fault>> {
        const WORD: Repr = Repr::Scalar { bits: 64, bytes: 8 };
        const WORDS: Repr = Repr::Scalar { bits: 128, bytes: 16 };
        let start = self.allocate_on_stack(16 * self.extra.len() as u64, 16, scope)?;
        let mut offset = 0u64;
        for datum in self.extra.clone() {
            let (repr, size) = match datum {
                Datum::Wide(_) => (&WORDS, 16),
                Datum::Pointer { .. } => (&Repr::POINTER, 8),
                _ => (&WORD, 8),
            };
            offset = offset.next_multiple_of(size);
            self.memory.store(start.offset(offset as i64), repr, &datum)?;
            offset += size;
        }
        Ok(start)
    }

    /// Appends to the output of the program.
    pub fn print(&mut self, bytes: &[u8]) -> Result<(), Box<Fault>> {
        self.spend(bytes.len() as u64 / 16)?;
        if self.printed.len() + bytes.len() > MAX_PRINTED {
            return Err(Fault::new(FaultKind::Limit, "the program prints too much"));
        }
        self.printed.extend_from_slice(bytes);
        Ok(())
    }

    /// Returns the function that a call through a pointer reaches. Faults unless it has this
    /// signature.
    pub fn function_at(&self, pointer: Pointer, expected: &Signature) -> Result<FunctionId, Box<Fault>> {
        let id = match self.memory.kind(pointer.object) {
            Some(ObjectKind::Function(id)) if self.memory.in_bounds(pointer) => id,
            _ => return Err(Fault::undefined("calls a pointer that is no function's address")),
        };
        match self.signatures.get(id as usize) {
            Some(own) if own != expected => Err(Fault::undefined(format!(
                "calls a function of type {} as one of type {}",
                own.text, expected.text
            ))),
            _ => Ok(FunctionId(id)),
        }
    }

    /// Returns the tag of the block of a function that a branch to an address reaches.
    pub fn tag_at(&self, pointer: Pointer, function: FunctionId) -> Result<i64, Box<Fault>> {
        match self.memory.block_at(pointer) {
            Some((own, tag)) if own == function.0 => Ok(tag),
            Some(_) => Err(Fault::undefined("branches to a block of another function")),
            None => Err(Fault::undefined("branches to a pointer that is no block's address")),
        }
    }
}

/// Resolves aliases, and fills the globals whose initial contents are computed, in program order.
pub(super) fn initialise_globals(
    machine: &mut Machine,
    program: &mut Program<'_>,
    limits: &Limits,
) -> Result<(), Box<Fault>> {
    for i in program.aliases()? {
        let Some(function) = program.globals[i].initialiser else { continue };
        machine.transfer.clear();
        machine.call(program, function, limits)?;
        let pointer = machine.transfer.pop().and_then(|address| address.as_pointer());
        let loc = program.globals[i].op.loc();
        program.globals[i].pointer =
            pointer.ok_or_else(|| Fault::unsupported("an alias of a value that is no address").at(loc))?;
    }
    for i in 0..program.globals.len() {
        let global = &program.globals[i];
        let (Some(function), Ok(definition)) = (global.initialiser, &global.definition) else { continue };
        let Contents::Region(_, ty) = definition.contents else { continue };
        let (pointer, constant, loc) = (global.pointer, definition.constant, global.op.loc());
        let layout = program.layout(ty)?;
        machine.transfer.clear();
        machine.call(program, function, limits)?;
        let Some(value) = machine.transfer.pop() else {
            return Err(Fault::unsupported("a global's initialiser returns nothing").at(loc));
        };
        machine.memory.set_constant(pointer.object, false);
        machine.memory.store(pointer, &layout.repr, &value).map_err(|f| f.at(loc))?;
        machine.memory.set_constant(pointer.object, constant);
    }
    Ok(())
}

/// Returns the number of the action that follows a call at `at`.
fn continued(flow: Flow, at: u32) -> u32 {
    match flow {
        Flow::Goto(Target(target)) => target,
        _ => at + 1,
    }
}
