//! Child processes: started in the project's folder, shown before they run, their failure said in
//! one line.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Failure;

/// The top folder of the project.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The cargo that runs us.
pub(crate) fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// `program`, to be started in the project's folder with nothing to read.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// Shows `command`, runs it, and waits; failure if it can't start or says so.
pub(crate) fn execute(command: &mut Command) -> Result<(), Failure> {
    println!("$ {}", display(command));
    let status = command.status().map_err(|error| format!("{}: {error}", display(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", display(command))) }
}

/// Returns the output of `command`, without showing it.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    let output = command.output().map_err(|error| format!("{}: {error}", display(command)))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
    } else {
        Err(format!("{}: {}", display(command), output.status))
    }
}

/// `command` as one would type it: the program's own name, then its arguments.
fn display(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let program = program.file_name().unwrap_or(program.as_os_str());
    let mut words = vec![program.to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy().into_owned()));
    words.join(" ")
}
