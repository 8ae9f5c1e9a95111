//! The command line: one file a subcommand, and what they share.

use clap::{ArgMatches, Command};

mod analyses;
mod check;
mod explain;
mod flags;
mod fuse;
mod grouped;
mod input;
mod limit;
mod missed;
mod opt;
mod output;
mod reduce;
mod remarks;
mod render;
mod run;

/// Why a command ended early: what to print on standard error, and by that the exit status.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is at fault.
    Input(String),
    /// The command line is.
    Usage(String),
    /// All is said; the command ends with this status.
    Status(u8),
}

impl Failure {
    /// A mistake in the command line, in a sentence.
    fn usage(message: impl AsRef<str>) -> Failure {
        Failure::Usage(format!("error: {}\n\nFor more information, try '--help'.\n", message.as_ref()))
    }

    /// Something wrong with the input that has no place in it.
    fn input(message: impl AsRef<str>) -> Failure {
        Failure::Input(format!("error: {}\n", message.as_ref()))
    }
}

/// Runs the command that the process was called with.
pub(crate) fn main() -> Result<(), Failure> {
    let command = Command::new("loomir")
        .about("Reads, transforms, lowers and runs MLIR programs, loops above all")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(render::Color::arg())
        .subcommands([
            opt::command(),
            fuse::command(),
            explain::command(),
            run::command(),
            check::command(),
            reduce::command(),
        ]);
    // Help and mistakes are printed by the parser itself, which exits with 0 or 2.
    let args = flags::with_two_dashes(&command, std::env::args_os());
    let matches: ArgMatches = command.get_matches_from(args);
    match matches.subcommand() {
        Some(("opt", matches)) => opt::main(matches),
        Some(("fuse", matches)) => fuse::main(matches),
        Some(("explain", matches)) => explain::main(matches),
        Some(("run", matches)) => run::main(matches),
        Some(("check", matches)) => check::main(matches),
        Some(("reduce", matches)) => reduce::main(matches),
        _ => Err(Failure::usage("a command is needed")),
    }
}
