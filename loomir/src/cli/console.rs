//! The streams of a command: those of the process, or texts in memory.

use std::io::{ErrorKind, IsTerminal, Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Failure;

/// One of the two streams that a command prints on.
#[derive(Clone, Copy)]
pub(super) enum Stream {
    /// Results.
    Out,
    /// Remarks and errors.
    Err,
}

/// The place that a command reads from and prints to.
pub(crate) enum Console {
    /// The streams of the process.
    Process,
    /// An input, and the printed texts.
    Memory { input: String, printed: Mutex<Printed> },
}

/// The texts that a command printed.
#[derive(Default)]
pub(crate) struct Printed {
    /// On standard output.
    pub out: String,
    /// On standard error.
    pub err: String,
}

impl Console {
    /// Returns a console in memory.
    pub(super) fn memory(input: &str) -> Console {
        Console::Memory { input: input.to_owned(), printed: Mutex::default() }
    }

    /// Returns the texts printed in memory.
    pub(super) fn into_printed(self) -> Printed {
        match self {
            Console::Process => Printed::default(),
            Console::Memory { printed, .. } => printed.into_inner().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Reads standard input to its end.
    pub(super) fn read(&self) -> std::io::Result<Vec<u8>> {
        match self {
            Console::Process => {
                let mut bytes = Vec::new();
                std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
            }
            Console::Memory { input, .. } => Ok(input.clone().into_bytes()),
        }
    }

    /// Writes a text to standard output. A reader that went away is no error.
    pub(super) fn print(&self, text: &str) -> Result<(), Failure> {
        if let Console::Memory { printed, .. } = self {
            lock(printed).out.push_str(text);
            return Ok(());
        }
        written(std::io::stdout().write_all(text.as_bytes()))
    }

    /// Prints an answer of the parser of command lines, where it belongs. It knows if the stream
    /// has colours.
    pub(super) fn answer(&self, answer: &clap::Error) -> Result<(), Failure> {
        match (self, answer.use_stderr()) {
            (Console::Process, false) => return written(answer.print()),
            (Console::Process, true) => _ = answer.print(),
            (Console::Memory { .. }, false) => return self.print(&answer.to_string()),
            (Console::Memory { .. }, true) => self.say(&answer.to_string()),
        }
        Ok(())
    }

    /// Writes a text to standard error, where remarks go. Nothing can be said of a failure.
    pub(super) fn say(&self, text: &str) {
        match self {
            Console::Process => _ = std::io::stderr().lock().write_all(text.as_bytes()),
            Console::Memory { printed, .. } => lock(printed).err.push_str(text),
        }
    }

    /// True if a person looks at a stream.
    pub(super) fn is_terminal(&self, stream: Stream) -> bool {
        match (self, stream) {
            (Console::Process, Stream::Out) => std::io::stdout().is_terminal(),
            (Console::Process, Stream::Err) => std::io::stderr().is_terminal(),
            (Console::Memory { .. }, _) => false,
        }
    }

    /// Leaves a value where it is if the process is about to end, which frees everything at once.
    /// One by one takes longer.
    pub(super) fn forget<T>(&self, value: T) {
        if let Console::Process = self {
            std::mem::forget(value);
        }
    }
}

/// Returns the failure to write to standard output. A reader that went away is no error.
fn written(done: std::io::Result<()>) -> Result<(), Failure> {
    match done.and_then(|()| std::io::stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Locks printed texts. A panic while they were locked lost none of them.
fn lock(printed: &Mutex<Printed>) -> MutexGuard<'_, Printed> {
    printed.lock().unwrap_or_else(PoisonError::into_inner)
}
