//! The command line: one file a subcommand, and what they share.
//!
//! Exit status: 0 fine, 1 the input is at fault (diagnostics on standard error), 2 the command line
//! is. `check` ends with 3 if the programs differ, and with 4 if that is not decided.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, Command};
use loomir_ir::pass::PassRegistry;
use loomir_ir::{Context, Registry};

use crate::DialectFiles;
use console::{Console, Printed};
use fuse::Task;
use words::Words;

mod analyses;
mod cc;
mod check;
mod console;
mod doc;
mod explain;
mod flags;
mod fuse;
mod grouped;
mod input;
mod limit;
mod load;
mod lsp;
mod machine;
mod missed;
mod new;
mod opt;
mod output;
mod progress;
mod raised;
mod reduce;
mod remarks;
mod render;
mod report;
mod run;
mod shell;
mod tool;
mod view;
mod words;

/// The dialects and passes that the command knows, and its streams.
pub(crate) struct Tools {
    ctx: Context,
    /// The loaded dialects, which the context refers to.
    files: Option<DialectFiles>,
    passes: PassRegistry,
    console: Console,
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
/// A crate with a dialect or a pass of its own has the whole command as its `main`: `opt`, `fuse`,
/// `optimize`, `explain`, `run`, `view`, `check`, `reduce`, `lsp`, `cc`, `doc`, `machine`, `new`.
/// Start from [`registry`](crate::registry) and [`passes`](crate::passes), and add to them.
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
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    // A compiler's command line is the compiler's own.
    let is_compiler = words.first().is_some_and(|name| name == cc::NAME);
    let asked: &[OsString] = if is_compiler { &[] } else { &words };
    let (tools, failure) = Tools::new(registry, passes, Console::Process, asked);
    let status = match failure {
        Some(failure) => tools.finish(Err(failure)),
        None if is_compiler => tools.finish(cc::main(&tools, words[1..].to_vec())),
        None => tools.run(words),
    };
    // The process is about to end, which frees everything at once; one by one takes longer.
    std::mem::forget(tools);
    ExitCode::from(status)
}

/// The result of a command that ran in this process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandOutput {
    /// The exit status.
    pub status: u8,
    /// The text on standard output.
    pub out: String,
    /// The text on standard error.
    pub err: String,
}

/// Runs the command in this process, for tests: with its command line, without its name and with
/// quotes as for a shell, and the text of its standard input. [`main`] is the command of a process.
///
/// `cc` has a command line of clang's, and is not run.
///
/// ```
/// let program = "func.func @f() { return }";
/// let done = loomir::run_command(loomir::registry(), loomir::passes(), "opt --cse", program);
/// assert_eq!((done.status, done.out.contains("func.func @f()")), (0, true));
/// ```
pub fn run_command(registry: Registry, passes: PassRegistry, line: &str, input: &str) -> CommandOutput {
    let Words { words, is_open } = words::split(line, false);
    let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    let (tools, failure) = Tools::new(registry, passes, Console::memory(input), &words);
    let status = match failure {
        Some(failure) => tools.finish(Err(failure)),
        None if is_open => {
            tools.finish(Err(Failure::usage("the command line has a quote without its partner")))
        }
        None => tools.run(words),
    };
    let Printed { out, err } = tools.console.into_printed();
    CommandOutput { status, out, err }
}

impl Tools {
    /// Returns the tools that a command line asks for, and why it cannot have them.
    fn new(
        registry: Registry,
        passes: PassRegistry,
        console: Console,
        words: &[OsString],
    ) -> (Tools, Option<Failure>) {
        match load::context(registry, words) {
            Ok(load::Loaded { ctx, files }) => (Tools { ctx, files, passes, console }, None),
            Err(failure) => {
                (Tools { ctx: Context::new(Registry::new()), files: None, passes, console }, Some(failure))
            }
        }
    }

    /// Runs a subcommand other than `cc`. Returns the exit status.
    fn run(&self, words: Vec<OsString>) -> u8 {
        let command = self.command();
        let words = flags::with_two_dashes(&command, [NAME.into()].into_iter().chain(words));
        self.finish(match command.try_get_matches_from(words) {
            Ok(matches) => self.subcommand(&matches),
            Err(said) => self.parsed_away(&said),
        })
    }

    fn command(&self) -> Command {
        Command::new(NAME)
            .about("Reads, transforms, lowers and runs MLIR programs, loops above all")
            .version(env!("CARGO_PKG_VERSION"))
            .subcommand_required(true)
            .arg_required_else_help(true)
            .arg(render::Color::arg())
            .args(load::args())
            .subcommands([
                opt::command(self),
                fuse::command(Task::Fuse),
                fuse::command(Task::Optimize),
                explain::command(),
                run::command(),
                view::command(),
                check::command(),
                reduce::command(),
                lsp::command(),
                cc::command(),
                doc::command(),
                machine::command(),
                new::command(),
                shell::completions_command(),
                shell::man_command(),
            ])
    }

    fn subcommand(&self, matches: &ArgMatches) -> Result<(), Failure> {
        match matches.subcommand() {
            Some(("opt", matches)) => opt::main(self, matches),
            Some(("fuse", matches)) => fuse::main(self, matches, Task::Fuse),
            Some(("optimize", matches)) => fuse::main(self, matches, Task::Optimize),
            Some(("explain", matches)) => explain::main(self, matches),
            Some(("run", matches)) => run::main(self, matches),
            Some(("view", matches)) => view::main(self, matches),
            Some(("check", matches)) => check::main(self, matches),
            Some(("reduce", matches)) => reduce::main(self, matches),
            Some(("lsp", matches)) => lsp::main(self, matches),
            Some(("doc", matches)) => doc::main(self, matches),
            Some(("machine", matches)) => machine::main(self, matches),
            Some(("new", matches)) => new::main(self, matches),
            Some(("completions", matches)) => shell::completions(self, matches),
            Some(("man", matches)) => shell::man(self, matches),
            _ => Err(Failure::usage("a command is needed")),
        }
    }

    /// Prints the answer of the parser of command lines: help, or a mistake.
    fn parsed_away(&self, said: &clap::Error) -> Result<(), Failure> {
        let status = u8::try_from(said.exit_code()).unwrap_or(2);
        self.console.answer(said)?;
        if status == 0 { Ok(()) } else { Err(Failure::Status(status)) }
    }

    /// Prints a failure. Returns the exit status.
    fn finish(&self, done: Result<(), Failure>) -> u8 {
        let (text, status) = match done {
            Ok(()) => return 0,
            Err(Failure::Status(status)) => return status,
            Err(Failure::Input(text)) => (text, 1),
            Err(Failure::Usage(text)) => (text, 2),
        };
        self.console.say(&text);
        status
    }
}

/// The name of the command.
const NAME: &str = "loomir";
