//! `loomir run`: executes a function.

use clap::{ArgMatches, Command};

use super::{Failure, input};

pub(super) fn command() -> Command {
    Command::new("run")
        .about("Executes a function; prints its results and what its buffers hold")
        .arg(input::arg())
}

pub(super) fn main(_matches: &ArgMatches) -> Result<(), Failure> {
    Ok(())
}
