//! The trace of a run, operation by operation. Tests compare facts that analyses state about values
//! with the values themselves.

use loomir_ir::{Body, Name, Op};

use super::datum::Datum;
use super::machine::Machine;
use super::program::Program;
use super::{ArgSpec, Fault, Limits, Outcome, Target, execute};

/// One executed operation with its operands and results. The operands of a branch are the values
/// that it passes on.
#[derive(Clone, Debug)]
pub struct Event {
    /// The function.
    pub function: Name,
    /// The operation, of that function.
    pub op: Op,
    /// Its operands.
    pub operands: Vec<Datum>,
    /// The results of the operation. The results of a call are not known yet.
    pub results: Vec<Datum>,
}

/// Like [`run`](super::run), and returns all executed operations in order. Takes memory in
/// proportion to the steps.
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
