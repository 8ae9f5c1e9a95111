//! Faults: the reasons why a run ended early.
//!
//! A [`Fault`] is a diagnostic with a kind, so that a caller who compares two programs can tell
//! undefined behaviour (the comparison says nothing) from a limit (try more steps) or from what the
//! interpreter can't do. Operations return faults without a place; the machine adds the operation's
//! location and the calls around it.

use loomir_ir::{Diagnostic, Loc};

use super::datum::Poison;
use super::outcome::Outcome;

/// The kind of a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// The behaviour of the program is undefined.
    Undefined,
    /// The program ended itself: a failed assertion, a trap, an abort.
    Trap,
    /// A limit on steps, calls or memory was reached.
    Limit,
    /// The interpreter does not support this.
    Unsupported,
    /// The entry or its arguments do not match.
    Arguments,
}

/// Faults: the reasons why a run ended early.
///
/// A [`Fault`] is a diagnostic with a kind. A caller that compares two programs can tell three
/// cases apart: undefined behaviour (the comparison is void), a limit (try more steps), and
/// operations that the interpreter does not support. Operations return faults without a location.
/// The machine adds the operation's location and the call stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The kind of the fault.
    pub kind: FaultKind,
    /// The message, the location and the values involved.
    pub diagnostic: Diagnostic,
    /// For a program that ended itself: its output, and the contents of the buffers among its
    /// arguments.
    pub left: Option<Outcome>,
}

impl Fault {
    /// Returns a fault without a location.
    #[cold]
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Box<Fault> {
        Box::new(Fault { kind, diagnostic: Diagnostic::error(Loc::UNKNOWN, message), left: None })
    }

    /// Undefined behaviour.
    #[cold]
    pub fn undefined(message: impl Into<String>) -> Box<Fault> {
        Fault::new(FaultKind::Undefined, message)
    }

    /// Returns the fault of something that the interpreter does not support.
    #[cold]
    pub fn unsupported(message: impl Into<String>) -> Box<Fault> {
        Fault::new(FaultKind::Unsupported, message)
    }

    /// Returns the fault of a use of poison that is undefined behaviour. `what` names the use, as
    /// in "the condition of a branch".
    #[cold]
    pub fn poison(what: &str, poison: Poison) -> Box<Fault> {
        let mut fault = Fault::undefined(format!("{what} is poison"));
        fault.diagnostic.notes.push((poison.loc, format!("it comes from {}", poison.cause)));
        fault
    }

    /// Returns the fault of an entry or arguments that do not match.
    #[cold]
    pub fn arguments(message: impl Into<String>) -> Box<Fault> {
        Fault::new(FaultKind::Arguments, message)
    }

    /// Returns the fault with a location, unless it has one.
    #[must_use]
    pub fn at(mut self: Box<Self>, loc: Loc) -> Box<Fault> {
        if self.diagnostic.loc == Loc::UNKNOWN {
            self.diagnostic.loc = loc;
        }
        self
    }

    /// Returns the fault with a note.
    #[must_use]
    pub fn note(mut self: Box<Self>, loc: Loc, message: impl Into<String>) -> Box<Fault> {
        self.diagnostic.notes.push((loc, message.into()));
        self
    }
}

impl From<Box<Fault>> for Diagnostic {
    fn from(fault: Box<Fault>) -> Diagnostic {
        fault.diagnostic
    }
}
