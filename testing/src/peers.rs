//! Other programs as judges of Loomir's output and analyses: LLVM's tools, isl, a browser, an
//! editor, and a tester of grammars.
//!
//! `cargo xtask test` names LLVM's folder in the variable `LOOMIR_LLVM`, a Python interpreter that
//! has `islpy` in `LOOMIR_ISLPY`, and modules of Node in `LOOMIR_GRAMMAR`. A peer that is missing
//! is not found, and the test skips its comparison. Each skip is written to the file that
//! `LOOMIR_SKIPPED` names, so that the summary of `cargo xtask test` lists it. Nothing else of this
//! crate is used here: the tests of the crates below it include this file.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Returns LLVM's folder. If it is missing, records that this test skips the comparison.
pub fn llvm() -> Option<PathBuf> {
    found("LLVM", std::env::var_os("LOOMIR_LLVM").map(PathBuf::from))
}

/// Returns the path of one of LLVM's tools: `mlir-opt`, `clang`. If it is missing, records that
/// this test skips the comparison.
pub fn tool(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("LOOMIR_LLVM").map(PathBuf::from);
    found(name, folder.map(|folder| folder.join("bin").join(name)))
}

/// Returns LLVM's OpenMP run-time. If it is missing, records that this test skips the comparison.
pub fn openmp() -> Option<PathBuf> {
    let folder = std::env::var_os("LOOMIR_LLVM").map(PathBuf::from);
    found("OpenMP", folder.map(|folder| folder.join("lib/libomp.so")))
}

/// Returns a Python interpreter that has `islpy`. If it is missing, records that this test skips
/// the comparison.
pub fn islpy() -> Option<PathBuf> {
    found("islpy", std::env::var_os("LOOMIR_ISLPY").map(PathBuf::from))
}

/// Returns the browser Chromium, as Debian installs it, from the path. If it is missing, records
/// that this test skips the comparison.
pub fn chromium() -> Option<PathBuf> {
    on_path("chromium")
}

/// Returns the editor Neovim from the path. If it is missing, records that this test skips the
/// comparison.
pub fn neovim() -> Option<PathBuf> {
    on_path("nvim")
}

/// Returns Python 3 from the path. If it is missing, records that this test skips the comparison.
pub fn python3() -> Option<PathBuf> {
    on_path("python3")
}

/// Returns the program `script`, which runs a command on a terminal, from the path. If it is
/// missing, records that this test skips the comparison.
pub fn script() -> Option<PathBuf> {
    on_path("script")
}

/// Returns the folder with the tester of grammars and its engine. If it is missing, records that
/// this test skips the comparison.
pub fn grammar() -> Option<PathBuf> {
    found("vscode-tmgrammar-test", std::env::var_os("LOOMIR_GRAMMAR").map(PathBuf::from))
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let here = std::env::split_paths(&path).map(|folder| folder.join(name));
    found(name, here.into_iter().find(|program| program.exists()))
}

/// Returns the path if it exists. Otherwise appends the peer and the test, between them a tab, to
/// the file that `LOOMIR_SKIPPED` names.
fn found(peer: &str, path: Option<PathBuf>) -> Option<PathBuf> {
    let path = path.filter(|path| path.exists());
    if let (None, Some(list)) = (&path, std::env::var_os("LOOMIR_SKIPPED")) {
        let binary = std::env::current_exe().unwrap_or_default();
        let binary = binary.file_stem().unwrap_or_default().to_string_lossy();
        let binary = binary.rsplit_once('-').map_or(&*binary, |(name, _hash)| name);
        let thread = std::thread::current();
        let line = format!("{peer}\t{binary}::{}\n", thread.name().unwrap_or("main"));
        let file = std::fs::OpenOptions::new().create(true).append(true).open(Path::new(&list));
        // One write a line, so that lines of tests that run at once do not mix.
        drop(file.and_then(|mut file| file.write_all(line.as_bytes())));
    }
    path
}

/// One of LLVM's tools, found through the variable `LOOMIR_LLVM`.
#[derive(Clone, Debug)]
pub struct Peer {
    program: PathBuf,
}

impl Peer {
    /// Finds the tool of this name, as [`tool`] does.
    pub fn find(name: &str) -> Option<Peer> {
        Some(Peer { program: tool(name)? })
    }

    /// Reads, verifies and, with these options, transforms a program. Returns the printed text.
    ///
    /// # Errors
    /// The error message about the program, or the reason why the tool can't be run.
    pub fn run(&self, text: &str, options: &[&str]) -> Result<String, String> {
        let output = self.output(text, options)?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// As [`Peer::run`], but returns the error stream, which printing passes of `opt` write to.
    ///
    /// # Errors
    /// As for [`Peer::run`].
    pub fn said(&self, text: &str, options: &[&str]) -> Result<String, String> {
        let output = self.output(text, options)?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(said) } else { Err(said) }
    }

    /// As [`Peer::run`], for many programs, some of which the tool may refuse. Returns the text of
    /// the others.
    ///
    /// # Errors
    /// The reason why the tool can't be run.
    pub fn run_all(&self, text: &str, options: &[&str]) -> Result<String, String> {
        let output = self.output(text, options)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Returns the whole output for a program, accepted or not.
    ///
    /// # Errors
    /// The reason why the tool can't be run.
    pub fn output(&self, text: &str, options: &[&str]) -> Result<Output, String> {
        let mut command = Command::new(&self.program);
        command.args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| e.to_string())?;
        let input = child.stdin.take();
        let text = text.to_owned();
        // The input is written concurrently, because either pipe may fill up.
        let writer = std::thread::spawn(move || input.map(|mut input| input.write_all(text.as_bytes())));
        let output = child.wait_with_output().map_err(|e| e.to_string())?;
        // A broken pipe means that the tool stopped reading. Its own message explains the reason.
        drop(writer.join());
        Ok(output)
    }

    /// As [`Peer::output`], for a tool that may not terminate: it is stopped after `seconds`
    /// seconds.
    ///
    /// # Errors
    /// As for [`Peer::output`], or that it was stopped.
    pub fn output_within(&self, seconds: u64, text: &str, options: &[&str]) -> Result<Output, String> {
        let mut command = Command::new(&self.program);
        command.args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| e.to_string())?;
        let (input, text) = (child.stdin.take(), text.to_owned());
        let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
        // Both outputs are read while the input is written, because any of the pipes may fill up.
        let writer = std::thread::spawn(move || input.map(|mut input| input.write_all(text.as_bytes())));
        let stdout = std::thread::spawn(move || read_all(&mut out));
        let stderr = std::thread::spawn(move || read_all(&mut err));
        let start = Instant::now();
        let status = loop {
            match child.try_wait().map_err(|e| e.to_string())? {
                Some(status) => break status,
                None if start.elapsed().as_secs() >= seconds => {
                    child.kill().and_then(|()| child.wait()).map_err(|e| e.to_string())?;
                    return Err(format!("stopped after {seconds} seconds"));
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        drop(writer.join());
        let text = |reader: JoinHandle<Vec<u8>>| reader.join().unwrap_or_default();
        Ok(Output { status, stdout: text(stdout), stderr: text(stderr) })
    }

    /// Asks about many programs at once, separated so that each is judged alone.
    ///
    /// # Errors
    /// The error message about any of them.
    pub fn accepts_all(&self, programs: &[String]) -> Result<(), String> {
        self.run(&programs.join("\n// -----\n"), &["--split-input-file", "-o", "-"]).map(drop)
    }
}

fn read_all(pipe: &mut Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // Missing output is detected later.
        drop(pipe.read_to_end(&mut bytes));
    }
    bytes
}
