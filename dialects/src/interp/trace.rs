//! What a run executed, operation by operation: for tests that hold what is said of values against
//! what they are.

use loomir_ir::{Body, Name, Op};

use super::datum::Datum;
use super::machine::Machine;
use super::program::Program;
use super::{ArgSpec, Fault, Limits, Outcome, Target, execute};

/// One operation that was executed, with what it took and what it gave. A branch takes what it
/// hands on.
#[derive(Clone, Debug)]
pub struct Event {
    /// The function.
    pub function: Name,
    /// The operation, of that function.
    pub op: Op,
    /// Its operands.
    pub operands: Vec<Datum>,
    /// Its results; of a call they are not known yet.
    pub results: Vec<Datum>,
}

/// As [`run`](super::run), and returns all that was executed, in order. Takes memory in proportion
/// to the steps.
pub fn run_tracing(
    module: &Body,
    entry: &str,
    arguments: &[ArgSpec],
    limits: &Limits,
) -> Result<(Outcome, Vec<Event>), Box<Fault>> {
    let mut machine = Machine::new(limits);
    let mut program = Program::new(module, None, Target::default(), &mut machine.memory)?;
    machine.trace = Some(Vec::new());
    let outcome = execute(&mut machine, &mut program, entry, arguments, limits)?;
    Ok((outcome, machine.trace.unwrap_or_default()))
}
