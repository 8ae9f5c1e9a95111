//! Tools of LLVM: `mlir-opt`, `opt` and `llvm-dis`, from the folder that `LOOMIR_LLVM` names, or
//! from the path.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::Failure;
use super::words::{Words, split};

/// Runs a tool on an input, and returns what it prints.
///
/// # Errors
/// The tool is not found, or fails.
pub(super) fn run(name: &str, arguments: &str, input: &[u8]) -> Result<String, Failure> {
    let Words { words: arguments, is_open: false } = split(arguments, false) else {
        let text = format!("the arguments of '--{name}' have a quote without its partner");
        return Err(Failure::usage(text));
    };
    let folder = std::env::var_os("LOOMIR_LLVM").map(|folder| PathBuf::from(folder).join("bin").join(name));
    let program = folder.filter(|program| program.exists()).unwrap_or_else(|| PathBuf::from(name));
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| {
        Failure::input(format!(
            "cannot run '{name}': {error}\nhelp: install LLVM 22, or name its folder in LOOMIR_LLVM"
        ))
    })?;
    let (pipe, bytes) = (child.stdin.take(), input.to_vec());
    // Written beside the reading, for either pipe may fill up. A tool that stops reading says why.
    let writer = std::thread::spawn(move || pipe.map(|mut pipe| pipe.write_all(&bytes)));
    let output = child.wait_with_output();
    drop(writer.join());
    let output = output.map_err(|error| Failure::input(format!("cannot run '{name}': {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let first: Vec<&str> = said.lines().take(SHOWN).collect();
        return Err(Failure::input(format!(
            "'{name}' fails ({}), and says:\n{}\nhelp: run it by itself on the program",
            output.status,
            first.join("\n")
        )));
    }
    String::from_utf8(output.stdout).map_err(|_| {
        Failure::input(format!("'{name}' prints no text\nhelp: let it print text: opt needs '-S'"))
    })
}

/// The most lines of a tool's complaint that are shown.
const SHOWN: usize = 12;
