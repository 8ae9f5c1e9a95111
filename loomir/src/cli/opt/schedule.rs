//! `--schedule`: a schedule in a file of its own.

use crate::ir::{Body, Diagnostics};
use crate::transforms::schedule::Report;
use crate::{AliasMode, run_schedule};
use clap::{Arg, ArgMatches};

use super::{Failure, Input, Tools, input, string};

/// The arguments that say which schedule to run.
pub(super) fn args() -> [Arg; 2] {
    [
        Arg::new("schedule")
            .long("schedule")
            .value_name("FILE")
            .help("Run a schedule before all passes: a file with transform.named_sequence @__transform_main"),
        Arg::new("alias")
            .long("alias")
            .requires("schedule")
            .value_name("MODE")
            .value_parser(["may", "distinct"])
            .help("For the steps of the schedule: arguments of functions may overlap, or are distinct"),
    ]
}

/// A schedule that was read.
pub(super) struct Schedule {
    input: Input,
    module: Body,
    alias: AliasMode,
}

/// Reads the schedule that the arguments name, if they do.
pub(super) fn read(tools: &Tools, matches: &ArgMatches) -> Result<Option<Schedule>, Failure> {
    let Some(file) = string(matches, "schedule") else { return Ok(None) };
    let input = input::read_named(tools, matches, file)?;
    let module = input.parse(&tools.ctx, matches)?;
    let alias = match string(matches, "alias") {
        Some("distinct") => AliasMode::Distinct,
        _ => AliasMode::May,
    };
    Ok(Some(Schedule { input, module, alias }))
}

impl Schedule {
    /// Returns its text.
    pub(super) fn input(&self) -> &Input {
        &self.input
    }

    /// Runs it on a program.
    pub(super) fn run(&self, module: &mut Body) -> Result<Report, Diagnostics> {
        run_schedule(module, &self.module, self.alias)
    }
}
