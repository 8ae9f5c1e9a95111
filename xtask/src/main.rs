//! `cargo xtask …`: everything a developer does that is more than one command of cargo.
//!
//! One file a command, no dependencies, so that it builds in a second and works on a fresh clone.
//! [`COMMANDS`] is the whole list; `cargo xtask` alone prints it.
#![forbid(unsafe_code)]
// A command-line program talks to its user.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod bless;
mod campaign;
mod corpus;
mod faults;
mod fuzz;
#[allow(dead_code, unreachable_pub)]
#[path = "../../testing/src/peers.rs"]
mod peers;
mod process;
mod record;
mod release;
mod scaffold;
#[allow(dead_code)]
#[path = "../../loomir/tests/book/session.rs"]
mod session;
mod setup;
mod snapshots;
mod test;
mod wheel;

use std::process::ExitCode;

/// Why a command failed, as shown to the user.
type Failure = String;

/// One command.
struct Command {
    name: &'static str,
    arguments: &'static str,
    does: &'static str,
    run: fn(&[String]) -> Result<(), Failure>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        arguments: "[STEP…]",
        does: "set up what is missing, then every check and test (or the steps named); this is all of CI",
        run: test::run,
    },
    Command {
        name: "setup",
        arguments: "",
        does: "only the set-up of `test`: LLVM/MLIR 22, islpy and mdBook, if missing",
        run: |_| setup::run().map(drop),
    },
    Command {
        name: "bless",
        arguments: "[CARGO-TEST-ARGUMENT…]",
        does: "run the tests and accept what snapshots and the book now show",
        run: bless::run,
    },
    Command {
        name: "campaign",
        arguments: "NAME [--cases N] [--seed S]",
        does: "run a long random campaign and keep its result in benches/results",
        run: campaign::run,
    },
    Command {
        name: "corpus",
        arguments: "FOLDER NAME",
        does: "read and write programs that others wrote, and keep the counts in benches/results",
        run: corpus::run,
    },
    Command {
        name: "faults",
        arguments: "[TEXT…|rest]",
        does: "seed faults, one at a time, and see that a test finds each",
        run: faults::run,
    },
    Command {
        name: "fuzz",
        arguments: "NAME [--minutes N] [--seed S]",
        does: "run a fuzz target on a nightly compiler and keep its result in benches/results",
        run: fuzz::run,
    },
    Command {
        name: "scaffold",
        arguments: "",
        does: "write a crate with `loomir new` and the language of the book, and run their tests",
        run: scaffold::run,
    },
    Command {
        name: "release",
        arguments: "[REVISION]",
        does: "pack the published crates, compare their surface, build the wheel and the book",
        run: release::run,
    },
    Command {
        name: "bench",
        arguments: "[code [OPTION…] | CARGO-BENCH-ARGUMENT…]",
        does: "run the benchmarks, or measure programs beside those of other compilers",
        run: bench::run,
    },
    Command {
        name: "wheel",
        arguments: "",
        does: "build the Python wheel, and test it in a fresh environment",
        run: wheel::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wanted = arguments.first().map(String::as_str).unwrap_or_default();
    let Some(command) = COMMANDS.iter().find(|command| command.name == wanted) else {
        print_usage();
        return ExitCode::from(2);
    };
    match (command.run)(&arguments[1..]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask {}: {failure}", command.name);
            ExitCode::FAILURE
        }
    }
}

fn print_usage() {
    println!("cargo xtask COMMAND\n");
    for Command { name, arguments, does, .. } in COMMANDS {
        println!("  {:<44}{does}", format!("{name} {arguments}"));
    }
}
