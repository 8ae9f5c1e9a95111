//! Writing the output: to a file, or to standard output.

use std::io::Write;

use clap::{Arg, ArgMatches};

use super::Failure;

/// The argument that names the output.
pub(super) fn arg() -> Arg {
    Arg::new("output").short('o').value_name("OUT").help("The file to write; standard output if absent")
}

/// Writes `text` where the argument says.
pub(super) fn write(matches: &ArgMatches, text: &str) -> Result<(), Failure> {
    match matches.get_one::<String>("output").map(String::as_str) {
        None | Some("-") => to_stdout(text),
        Some(path) => to_file(path, text),
    }
}

/// Writes `text` to a file.
pub(super) fn to_file(path: &str, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| Failure::input(format!("cannot write '{path}': {error}")))
}

/// Writes `text` to standard output. A reader that went away is no error.
pub(super) fn to_stdout(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes `text` to standard error, where remarks go. Nothing can be said of a failure.
pub(super) fn to_stderr(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
