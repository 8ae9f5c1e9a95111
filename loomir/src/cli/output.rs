//! Writing the output: to a file, or to standard output.

use clap::{Arg, ArgMatches};

use super::{Failure, Tools};

/// The argument that names the output.
pub(super) fn arg() -> Arg {
    Arg::new("output").short('o').value_name("OUT").help("The file to write; standard output if absent")
}

/// Writes `text` where the argument says.
pub(super) fn write(tools: &Tools, matches: &ArgMatches, text: &str) -> Result<(), Failure> {
    match matches.get_one::<String>("output").map(String::as_str) {
        None | Some("-") => tools.console.print(text),
        Some(path) => to_file(path, text),
    }
}

/// Writes `text` to a file.
pub(super) fn to_file(path: &str, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| Failure::input(format!("cannot write '{path}': {error}")))
}
