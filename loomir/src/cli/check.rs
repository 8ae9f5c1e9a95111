//! `loomir check`: tells whether two programs compute the same, or where a pass goes wrong.

use crate::check::execution::Options;
use clap::{Arg, ArgMatches, Command, value_parser};

use super::flags::{flag, is_on};
use super::{Failure, Tools, fuse, input, remarks};
use programs::Program;

mod around;
mod programs;
mod report;
mod rewiring;

const REWIRING: &str = "rewiring";
const DISTINCT: &str = "distinct";
const JSON: &str = "json";
/// Arguments that say what is run on one file.
const RUNS: [&str; 4] = ["passes", "mlir-opt", "opt", REWIRING];

/// The status of two programs that differ.
const DIFFERENT: u8 = 3;
/// The status of two programs of which nothing is certain.
const UNDECIDED: u8 = 4;

pub(super) fn command() -> Command {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).allow_hyphen_values(true).help(help)
    };
    let [before, allow] = input::args();
    Command::new("check")
        .about("Tells whether two programs compute the same, function by function")
        .after_help(
            "Exit status: 0 equal, 3 different, 4 not decided; 1 the input is at fault, 2 the command line is.",
        )
        .arg(before.help("The program before, MLIR or LLVM IR, or - for standard input"))
        .arg(Arg::new("after").value_name("AFTER").help("The program after, MLIR or LLVM IR"))
        .arg(text("passes", "PIPELINE", "Run these passes of Loomir on IN, and check around each"))
        .arg(text("mlir-opt", "ARGS", "Run mlir-opt with these arguments on IN, and check"))
        .arg(text("opt", "ARGS", "Run LLVM's opt with these arguments on IN, and check"))
        .arg(text("function", "NAME", "Compare this function only"))
        .arg(flag(DISTINCT, "Assume that two buffers among the arguments never overlap"))
        .arg(
            Arg::new("max-inputs")
                .long("max-inputs")
                .value_name("N")
                .value_parser(value_parser!(usize))
                .help("The most inputs that a function is executed on"),
        )
        .arg(flag(JSON, "Print the report as one JSON object"))
        .arg(allow)
        .arg(flag(REWIRING, "Compare fusing and lowering IN with lowering and fusing it, loop by loop"))
        .arg(fuse::alias_arg())
        .arg(remarks::arg())
}

pub(super) fn main(tools: &Tools, matches: &ArgMatches) -> Result<(), Failure> {
    let after = matches.get_one::<String>("after");
    let mut runs = RUNS.iter().filter(|name| match **name {
        REWIRING => is_on(matches, REWIRING),
        name => matches.get_one::<String>(name).is_some(),
    });
    match (after, runs.next()) {
        (Some(_), Some(run)) => Err(Failure::usage(format!("--{run} takes one program, and two are named"))),
        (None, None) => Err(Failure::usage(
            "nothing to compare with: name a second program, or what to run: '--passes', '--mlir-opt' or '--opt'",
        )),
        (None, Some(run)) if runs.next().is_some() => {
            Err(Failure::usage(format!("--{run} and another thing to run exclude each other")))
        }
        (None, Some(&REWIRING)) => rewiring::main(tools, matches),
        (None, Some(run)) => around::main(tools, matches, run),
        (Some(after), None) => two_programs(tools, matches, after),
    }
}

fn two_programs(tools: &Tools, matches: &ArgMatches, after: &str) -> Result<(), Failure> {
    let before = matches.get_one::<String>("input").map_or("-", String::as_str);
    if before == "-" && after == "-" {
        return Err(Failure::usage("only one of the two programs can come from standard input"));
    }
    let ctx = &tools.ctx;
    let before = Program::read(ctx, input::read(tools, matches)?, matches)?;
    let after = Program::read(ctx, input::read_named(tools, matches, after)?, matches)?;
    let (report, status) = report::of(tools, &before, &after, matches, None)?;
    tools.console.print(&report.text(matches))?;
    finish(status)
}

/// Ends the command with a status.
fn finish(status: u8) -> Result<(), Failure> {
    if status == 0 { Ok(()) } else { Err(Failure::Status(status)) }
}

/// Returns the bounds and assumptions that the arguments say.
fn options(matches: &ArgMatches) -> Options {
    let default = Options::default();
    let inputs = matches.get_one::<usize>("max-inputs").copied().unwrap_or(default.inputs);
    Options { distinct: is_on(matches, DISTINCT), inputs, ..default }
}
