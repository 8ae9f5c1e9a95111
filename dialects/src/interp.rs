//! The reference interpreter: it executes programs at every level (`affine`, `scf`, `cf`, `llvm`)
//! and is the oracle that every transformation is held against. Correctness comes before speed.
//! Undefined behaviour (reading out of bounds or before writing, using freed memory, relying on
//! poison, dividing by zero, …) is reported as a [`Fault`] at the operation, with the values.
//!
//! | module | holds |
//! | --- | --- |
//! | [`datum`], [`memory`], [`layout`], `packed` | values, objects of bytes, layouts of types |
//! | [`integer`], [`float`], [`affine_map`] | arithmetic as pure functions |
//! | [`code`], [`machine`], [`program`] | decoding, execution, symbols |
//! | [`elementwise`], [`access`], [`mixed`], [`constant`], [`external`] | shared code of the models of operations |
//! | `counts`, `races`, `stores`, `trace`, `watch` | optional records of a run |
//! | [`arguments`], [`outcome`] | buffers in, buffers and digests out; shared with compiled execution |
//!
//! No operation is named here. The behaviour of an operation is the model attached to it under
//! [`Evaluate`]. Each dialect has its models in `evaluate.rs` beside its definitions.
//!
//! ```
//! use loomir_dialects::interp::{ArgSpec, Limits, run};
//! let ctx = loomir_dialects::context();
//! let source = "func.func @twice(%x: i32) -> i32 { %0 = arith.addi %x, %x : i32  return %0 : i32 }";
//! let module = loomir_ir::text::parse(&ctx, source, "twice.mlir").map_err(|d| d.to_text(&ctx))?;
//! let outcome = ArgSpec::parse(&ctx, "21").and_then(|x| run(&module, "twice", &[x], &Limits::default()));
//! assert_eq!(outcome.map_err(|fault| fault.diagnostic.message)?.to_text(), "result 0: 42\n");
//! # Ok::<(), String>(())
//! ```
//!
//! # Rules where the language leaves a choice
//! - Poison and undef spread through arithmetic and copies. Their use as a condition, a loop bound,
//!   a subscript, an address, a divisor or a size is undefined behaviour. So is their use as an
//!   argument of an unknown function or as output of the entry.
//! - `memref.load` of an element that was never written is a fault there and then; `llvm.load` of
//!   such bytes gives undef, so that structs with holes can be copied. Copies keep the state of
//!   each byte.
//! - `freeze` of poison or undef gives zero.
//! - A number whose width is not a multiple of 8 bits must be read with the type that wrote it:
//!   nonzero padding bits make poison. In a vector of such numbers, poison spreads to every element
//!   that shares a byte with the poisoned element.
//! - A loop's induction variable counts in ℤ. It is undefined behaviour if one of its values,
//!   including the last one that ends the loop, does not fit its type. So is a step below one.
//! - Attributes of arguments and results, and metadata of loads, are checked against the values:
//!   `noundef`, `nonnull`, `align`, `range`, `dereferenceable`. Others (`noalias`, `readonly`,
//!   `memory(…)`, TBAA and alias scopes) are not checked.
//! - Results that a fast-math flag lets vary are computed as if the flag were absent. Values that
//!   `nnan` and `ninf` exclude are poison.
//! - Iterations of parallel loops run in order. [`run_finding_races`] reports two that race.
//!   [`run_interleaving`] runs them in a random interleaving.
//! - The known external functions allocate, copy, compare, print and compute: [`external`]. Printed
//!   output is part of the [`Outcome`]. Variable argument lists follow x86-64. Code that should run
//!   before or after `main` is not run.
//!
//! # Cost
//! An operation is decoded once; executed it costs one indirect call, and no allocation unless its
//! result is an aggregate. A run is bounded by [`Limits`].
//!
//! # Limits
//!
//! - Read, verified and printed, but neither executed nor lowered: `memref.dma_start`,
//!   `memref.dma_wait` and their `affine` forms, `arith.scaling_extf`, `arith.scaling_truncf`
//!   (8-bit formats), and `scf.forall` with tensors.
//! - Executes little-endian layouts with addresses of 64 bits and refuses others.

use hashbrown::HashMap;
use loomir_ir::{Body, OpRef};

pub mod access;
pub mod affine_map;
pub mod arguments;
pub mod code;
pub mod constant;
mod counts;
pub mod datum;
pub mod elementwise;
pub mod external;
mod fault;
pub mod float;
pub mod integer;
pub mod layout;
pub mod machine;
pub mod memory;
pub mod mixed;
pub mod outcome;
mod packed;
pub mod program;
mod races;
mod registers;
mod stores;
mod trace;
mod watch;

pub use arguments::{ArgSpec, Argument, Arguments, Flat};
pub use code::{Action, Decoded, Decoder, Entry, Evaluate, Execute, Flow, Slot, Step, action};
pub use datum::{Cause, Datum, Dim, MemRef, Pointer};
pub use fault::{Fault, FaultKind};
pub use machine::{Machine, Signature, Span};
pub use outcome::{Outcome, Output};
pub use program::{Callee, Contents, DefineGlobal, GlobalDefinition};
pub use races::AccessKind;
pub use registers::unusable;
pub use stores::{MAX_STORES, Store, Stored};
pub use trace::{Event, run_tracing};
pub use watch::{Active, Parts, Ran, Watch, Written, run_parts};

use code::FunctionId;
use counts::Counts;
use machine::Strands;
use memory::ObjectKind;
use program::Program;
use races::Races;
use stores::Stores;

/// The limits of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Operations executed.
    pub steps: u64,
    /// The maximal number of active calls.
    pub call_depth: usize,
    /// Bytes of memory, bookkeeping included.
    pub memory: u64,
}

impl Default for Limits {
    /// Returns the default limits: ten billion steps, 4096 calls, 2 GiB.
    fn default() -> Limits {
        Limits { steps: 10_000_000_000, call_depth: 4096, memory: 1 << 31 }
    }
}

/// The choices that are left to the machine a program is compiled for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Target {
    /// True if `fmuladd` is rounded once, as machines with such an instruction do.
    pub fuses_multiply_add: bool,
}

/// A random interleaving of the iterations of parallel loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interleaving {
    /// The seed of all choices.
    pub seed: u64,
    /// True if two iterations that race are reported.
    pub finds_races: bool,
}

/// Executes the function `entry` of a verified module on arguments, and returns its results and the
/// final contents of every buffer among the arguments.
pub fn run(
    module: &Body,
    entry: &str,
    arguments: &[ArgSpec],
    limits: &Limits,
) -> Result<Outcome, Box<Fault>> {
    run_on(module, entry, arguments, limits, Target::default())
}

/// As [`run`], for a target.
pub fn run_on(
    module: &Body,
    entry: &str,
    arguments: &[ArgSpec],
    limits: &Limits,
    target: Target,
) -> Result<Outcome, Box<Fault>> {
    let mut machine = Machine::new(limits);
    let mut program = Program::new(module, None, target, &mut machine.memory)?;
    execute(&mut machine, &mut program, entry, arguments, limits)
}

/// As [`run`], and writes execution counts into the module. Each operation with regions gets an
/// attribute of this name: the number of times that each region ran to its end. For a function it
/// is the number of calls.
pub fn run_counting(
    module: &mut Body,
    entry: &str,
    arguments: &[ArgSpec],
    limits: &Limits,
    attribute: &str,
) -> Result<Outcome, Box<Fault>> {
    let mut machine = Machine::new(limits);
    machine.counts = Some(Counts::default());
    let mut program = Program::new(module, None, Target::default(), &mut machine.memory)?;
    let outcome = execute(&mut machine, &mut program, entry, arguments, limits)?;
    // Bodies do not move, so a function is identified by its own body.
    let own = |op: OpRef<'_>| (op.op() == op.body().root()).then_some(std::ptr::from_ref(op.body()));
    let functions: HashMap<_, u32> =
        (0..).zip(&program.functions).filter_map(|(id, function)| Some((own(function.op)?, id))).collect();
    let counts = machine.counts.unwrap_or_default();
    module.for_each_body(&mut |body| {
        if let Some(id) = functions.get(&std::ptr::from_ref(&*body)) {
            counts.write(FunctionId(*id), body, attribute);
        }
    });
    Ok(outcome)
}

/// As [`run`], and reports two iterations of a parallel loop that touch one element, one of which
/// writes it. Without such a race, every order of the iterations computes the same, except for what
/// atomic updates return. External functions do not count.
pub fn run_finding_races(
    module: &Body,
    entry: &str,
    arguments: &[ArgSpec],
    limits: &Limits,
) -> Result<Outcome, Box<Fault>> {
    let mut machine = Machine::new(limits);
    machine.races = Some(Races::default());
    let mut program = Program::new(module, None, Target::default(), &mut machine.memory)?;
    execute(&mut machine, &mut program, entry, arguments, limits)
}

/// As [`run`], with a random interleaving of the iterations of parallel loops. If they race, if
/// their results are combined by something that is not associative and commutative, or if they
/// print, the outcome may depend on the seed. Loops cost the same steps as in order, and copies of
/// registers some more in functions with many values.
pub fn run_interleaving(
    module: &Body,
    entry: &str,
    arguments: &[ArgSpec],
    limits: &Limits,
    interleaving: Interleaving,
) -> Result<Outcome, Box<Fault>> {
    let mut machine = Machine::new(limits);
    machine.strands = Some(Box::new(Strands::new(interleaving.seed)));
    machine.races = interleaving.finds_races.then(Races::default);
    let mut program = Program::new(module, None, Target::default(), &mut machine.memory)?;
    execute(&mut machine, &mut program, entry, arguments, limits)
}

/// As [`run`], and returns the first [`MAX_STORES`] stores.
pub fn run_recording_stores(
    module: &Body,
    entry: &str,
    arguments: &[ArgSpec],
    limits: &Limits,
) -> Result<(Outcome, Vec<Store>), Box<Fault>> {
    let mut machine = Machine::new(limits);
    machine.stores = Some(Stores::default());
    let mut program = Program::new(module, None, Target::default(), &mut machine.memory)?;
    let outcome = execute(&mut machine, &mut program, entry, arguments, limits)?;
    Ok((outcome, machine.stores.map(Stores::into_all).unwrap_or_default()))
}

fn execute(
    machine: &mut Machine,
    program: &mut Program<'_>,
    entry: &str,
    arguments: &[ArgSpec],
    limits: &Limits,
) -> Result<Outcome, Box<Fault>> {
    program.looks_for_races = machine.races.is_some();
    let ctx = program.ctx();
    let signature = |function: &program::Function<'_>| {
        let (parameters, results) = function.signature.clone();
        Signature::new(ctx, parameters, results)
    };
    machine.signatures = program.functions.iter().map(signature).collect();
    let function = program
        .entry(entry)
        .ok_or_else(|| Fault::arguments(format!("the module has no function `@{entry}`")))?;
    let (parameters, results) = program.functions[function.0 as usize].signature.clone();
    let loc = program.functions[function.0 as usize].op.loc();
    let arguments = Arguments::materialise(ctx, &parameters, arguments).map_err(|fault| fault.at(loc))?;
    let mut objects = Vec::new();
    for buffer in &arguments.buffers {
        objects.push(machine.memory.allocate_bytes(&buffer.bytes, buffer.align, ObjectKind::Argument)?);
    }
    watch::begin(machine, &arguments, &objects);
    machine::initialise_globals(machine, program, limits)?;
    if let Some(stores) = &mut machine.stores {
        let object = |(number, argument): (usize, &Argument)| match argument {
            Argument::View(view) => Some((objects.get(view.buffer)?.object, number)),
            Argument::Scalar { .. } => None,
        };
        stores.begin(arguments.arguments.iter().enumerate().filter_map(object).collect());
    }
    // The initialization of globals is not part of the call.
    if let Some(trace) = &mut machine.trace {
        trace.clear();
    }
    machine.transfer.clear();
    machine.transfer.extend(arguments.data(&objects)?);
    let ended = machine.call(program, function, limits);
    let (results, values) = match &ended {
        Ok(()) => (&results[..], std::mem::take(&mut machine.transfer)),
        Err(_) => (&[][..], Vec::new()),
    };
    let mut collect = || {
        let outcome = outcome::collect(ctx, &machine.memory, &arguments, &objects, results, &values)?;
        let steps = limits.steps - machine.steps_left();
        Ok(Outcome { steps, printed: std::mem::take(&mut machine.printed), ..outcome })
    };
    match ended {
        Ok(()) => collect().map_err(|fault: Box<Fault>| fault.at(loc)),
        Err(mut fault) => {
            // If a buffer's contents are undefined, `left` stays empty.
            fault.left = (fault.kind == FaultKind::Trap).then(collect).and_then(Result::ok);
            Err(fault)
        }
    }
}

/// Returns the types of the parameters and results of the function `entry` of a module. Callers
/// that make [`Arguments`] without running the function here need them.
pub fn signature(module: &Body, entry: &str) -> Option<(Vec<loomir_ir::Type>, Vec<loomir_ir::Type>)> {
    let functions = module.root_ref().regions().flat_map(|r| module.blocks(r)).flat_map(|b| module.ops(b));
    functions.map(|op| module.op_ref(op)).find_map(|op: OpRef<'_>| {
        let named = op.attr("sym_name").and_then(|a| a.as_str(op.ctx())) == Some(entry);
        let model = op.info().interface::<dyn crate::interfaces::FunctionLike>().filter(|_| named)?;
        Some(model.signature(op))
    })
}
