//! The command `loomir`.
//!
//! Exit status: 0 fine, 1 the input is at fault (diagnostics on standard error), 2 the command line
//! is. `loomir check` ends with 3 if the programs differ, and with 4 if that is not decided.
#![forbid(unsafe_code)]
#![allow(clippy::print_stderr)]

use std::process::ExitCode;

mod cli;

/// A compiler asks for many small pieces of memory and keeps few: an allocator made for that takes
/// a fifth off the time of a command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::main() {
        Ok(()) => ExitCode::SUCCESS,
        Err(cli::Failure::Input(text)) => {
            eprint!("{text}");
            ExitCode::from(1)
        }
        Err(cli::Failure::Status(status)) => ExitCode::from(status),
        Err(cli::Failure::Usage(text)) => {
            eprint!("{text}");
            ExitCode::from(2)
        }
    }
}
