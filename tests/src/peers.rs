//! `mlir-opt` as a judge of what Loomir prints.
//!
//! `cargo xtask test` names LLVM's folder in the variable `LOOMIR_LLVM`; without it, whoever asks is told that
//! there is no judge and skips. Nothing else of this crate is used here: the tests of the crates below it include this file.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// LLVM's `mlir-opt`, if the variable `LOOMIR_LLVM` says where it is.
#[derive(Clone, Debug)]
pub struct MlirOpt {
    program: PathBuf,
}

impl MlirOpt {
    /// Finds it.
    pub fn find() -> Option<MlirOpt> {
        let folder = PathBuf::from(std::env::var_os("LOOMIR_LLVM")?);
        let program = folder.join("bin").join("mlir-opt");
        program.exists().then_some(MlirOpt { program })
    }

    /// Reads, verifies and, with these options, transforms a program; the text it prints.
    ///
    /// # Errors
    /// What it says against the program, or why it can't be asked.
    pub fn run(&self, text: &str, options: &[&str]) -> Result<String, String> {
        let output = self.output(text, options)?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// As [`MlirOpt::run`], for many programs of which it may refuse some: what it prints of the others.
    ///
    /// # Errors
    /// Why it can't be asked.
    pub fn run_all(&self, text: &str, options: &[&str]) -> Result<String, String> {
        let output = self.output(text, options)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// All that it says of a program, whether it accepts it or not.
    ///
    /// # Errors
    /// Why it can't be asked.
    pub fn output(&self, text: &str, options: &[&str]) -> Result<Output, String> {
        let mut command = Command::new(&self.program);
        command.args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| e.to_string())?;
        let input = child.stdin.take();
        let text = text.to_owned();
        // Written beside the reading, for either pipe may fill up.
        let writer = std::thread::spawn(move || input.map(|mut input| input.write_all(text.as_bytes())));
        let output = child.wait_with_output().map_err(|e| e.to_string())?;
        // A broken pipe means that it stopped reading, which its own message explains.
        drop(writer.join());
        Ok(output)
    }

    /// Asks about many programs at once, separated so that each is judged alone.
    ///
    /// # Errors
    /// What it says against any of them.
    pub fn accepts_all(&self, programs: &[String]) -> Result<(), String> {
        self.run(&programs.join("\n// -----\n"), &["--split-input-file", "-o", "-"]).map(drop)
    }
}
