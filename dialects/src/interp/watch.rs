//! The last writer of an element of a buffer, and runs of a part of a module. Comparisons of
//! programs use both.

use loomir_ir::{Body, Name, Op};

use super::arguments::{Argument, Arguments};
use super::datum::{Datum, ObjectId, Pointer};
use super::machine::Machine;
use super::program::Program;
use super::{ArgSpec, Fault, Limits, Outcome, Target, execute};

/// An element of an argument, in row-major order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Watch {
    /// The argument, a buffer.
    pub argument: usize,
    /// The element.
    pub element: usize,
}

/// A function that was active, with the operation that it executed.
#[derive(Clone, Debug)]
pub struct Active {
    /// The function.
    pub function: Name,
    /// The operation: a call, or the writing operation in the innermost function.
    pub op: Op,
    /// The values after the operation, by index.
    pub values: Vec<Datum>,
}

/// The calls that were active at a write, the outermost first.
pub type Written = Vec<Active>;

/// The part of a module that a run may use.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'p> {
    /// The module.
    pub module: &'p Body,
    /// The symbols that the run may use. All if absent. They spare reading a whole module of many
    /// functions.
    pub symbols: Option<&'p [Op]>,
}

/// The state of a watched element.
#[derive(Debug)]
pub(super) struct Watching {
    watch: Watch,
    /// The object that contains the element, as soon as it exists.
    pub(super) object: Option<ObjectId>,
    /// The calls that were active at the last write.
    pub(super) last: Written,
}

/// A run, however it ended.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The outcome, or the fault that ended the run.
    pub outcome: Result<Outcome, Box<Fault>>,
    /// The last write of the watched element. Empty if there was none.
    pub written: Written,
    /// Operations executed.
    pub steps: u64,
}

/// Like [`run`](super::run), with a part of a module, and returns the last writer of an element.
pub fn run_parts(
    parts: Parts<'_>,
    entry: &str,
    arguments: &[ArgSpec],
    limits: &Limits,
    watch: Option<Watch>,
) -> Ran {
    let mut machine = Machine::new(limits);
    machine.watch = watch.map(|watch| Watching { watch, object: None, last: Vec::new() });
    let program = Program::new(parts.module, parts.symbols, Target::default(), &mut machine.memory);
    let outcome =
        program.and_then(|mut program| execute(&mut machine, &mut program, entry, arguments, limits));
    let steps = limits.steps - machine.steps_left();
    Ran { outcome, written: machine.watch.map(|watching| watching.last).unwrap_or_default(), steps }
}

/// Finds the watched element, once the buffers exist.
pub(super) fn begin(machine: &mut Machine, arguments: &Arguments, objects: &[Pointer]) {
    let Some(watching) = &mut machine.watch else { return };
    let Some(Argument::View(view)) = arguments.arguments.get(watching.watch.argument) else { return };
    let Some(base) = objects.get(view.buffer) else { return };
    let memref = view.memref(*base);
    let Some(linear) = memref.offsets().nth(watching.watch.element) else { return };
    let place = memref.aligned.offset(linear.wrapping_mul(view.element_size as i64));
    if machine.memory.watch(place, view.element_size).is_ok() {
        watching.object = Some(base.object);
    }
}
