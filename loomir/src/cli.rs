//! The command line: one file a subcommand, and what they share.
//!
//! Exit status: 0 fine, 1 the input is at fault (diagnostics on standard error), 2 the command line
//! is. `check` ends with 3 if the programs differ, and with 4 if that is not decided.
#![allow(clippy::print_stderr)]

use std::process::ExitCode;

use clap::{ArgMatches, Command};
use loomir_ir::pass::PassRegistry;
use loomir_ir::{Context, Registry};

mod analyses;
mod cc;
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
mod raised;
mod reduce;
mod remarks;
mod render;
mod run;
mod tool;
mod words;

/// The dialects and passes that the command knows.
pub(crate) struct Tools {
    ctx: Context,
    passes: PassRegistry,
}

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

/// Runs the command that the process was called with, with these dialects and passes.
///
/// A crate with a dialect or a pass of its own has the whole command (`opt`, `fuse`, `explain`,
/// `run`, `check`, `reduce`, `cc`) as its `main`. Start from [`registry`](crate::registry) and
/// [`passes`](crate::passes), and add to them.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// fn main() -> ExitCode {
///     let mut registry = loomir::registry();
///     // my_dialect::register(&mut registry);
///     let mut passes = loomir::passes();
///     // passes.add(my_pass::PASS);
///     loomir::main(registry, passes)
/// }
/// ```
pub fn main(registry: Registry, passes: PassRegistry) -> ExitCode {
    let tools = Tools { ctx: Context::new(registry), passes };
    let status = match run(&tools) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Input(text)) => {
            eprint!("{text}");
            ExitCode::from(1)
        }
        Err(Failure::Status(status)) => ExitCode::from(status),
        Err(Failure::Usage(text)) => {
            eprint!("{text}");
            ExitCode::from(2)
        }
    };
    // The process is about to end, which frees everything at once; one by one takes longer.
    std::mem::forget(tools);
    status
}

fn run(tools: &Tools) -> Result<(), Failure> {
    let command = Command::new("loomir")
        .about("Reads, transforms, lowers and runs MLIR programs, loops above all")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(render::Color::arg())
        .subcommands([
            opt::command(tools),
            fuse::command(),
            explain::command(),
            run::command(),
            check::command(),
            reduce::command(),
            cc::command(),
        ]);
    // A compiler's command line is the compiler's own.
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|name| name == cc::NAME) {
        return cc::main(tools, words.collect());
    }
    // Help and mistakes are printed by the parser itself, which exits with 0 or 2.
    let args = flags::with_two_dashes(&command, std::env::args_os());
    let matches: ArgMatches = command.get_matches_from(args);
    match matches.subcommand() {
        Some(("opt", matches)) => opt::main(tools, matches),
        Some(("fuse", matches)) => fuse::main(tools, matches),
        Some(("explain", matches)) => explain::main(tools, matches),
        Some(("run", matches)) => run::main(tools, matches),
        Some(("check", matches)) => check::main(tools, matches),
        Some(("reduce", matches)) => reduce::main(tools, matches),
        _ => Err(Failure::usage("a command is needed")),
    }
}
