//! Clang: where it is, and running it.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

use super::Failure;
use super::arguments::CommandLine;
use super::options::Role;

/// The version of clang whose LLVM IR is read and written.
const VERSION: &str = "22";

/// A clang.
pub(super) struct Clang {
    program: PathBuf,
}

impl Clang {
    /// Finds clang: the program that `LOOMIR_CLANG` names, the one in the folder of LLVM that
    /// `LOOMIR_LLVM` names, or one of the right version on the path.
    ///
    /// # Errors
    /// None is there.
    pub(super) fn find() -> Result<Clang, Failure> {
        if let Some(program) = std::env::var_os("LOOMIR_CLANG").filter(|program| !program.is_empty()) {
            return Ok(Clang { program: program.into() });
        }
        if let Some(folder) = std::env::var_os("LOOMIR_LLVM") {
            let program = Path::new(&folder).join("bin/clang");
            if program.exists() {
                return Ok(Clang { program });
            }
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let on_path =
            |name: &str| std::env::split_paths(&path).map(|folder| folder.join(name)).find(|p| p.exists());
        let program =
            on_path(&format!("clang-{VERSION}")).or_else(|| on_path("clang").filter(|it| is_right(it)));
        program.map(|program| Clang { program }).ok_or_else(|| {
            Failure::input(format!(
                "'loomir cc' needs clang {VERSION}, and finds none\nhelp: install clang-{VERSION}, or name the program in LOOMIR_CLANG"
            ))
        })
    }

    fn command(&self, arguments: &[OsString]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        command
    }

    /// Replaces this process by clang.
    ///
    /// # Errors
    /// Clang cannot be run.
    #[cfg(unix)]
    pub(super) fn become_it(&self, arguments: &[OsString]) -> Result<(), Failure> {
        use std::os::unix::process::CommandExt;
        Err(self.not_run(&self.command(arguments).exec()))
    }

    /// Runs clang in place of this process.
    ///
    /// # Errors
    /// Clang cannot be run, or fails.
    #[cfg(not(unix))]
    pub(super) fn become_it(&self, arguments: &[OsString]) -> Result<(), Failure> {
        self.run(arguments)
    }

    /// Runs clang to its end.
    ///
    /// # Errors
    /// Clang cannot be run, or fails, and has said why.
    pub(super) fn run(&self, arguments: &[OsString]) -> Result<(), Failure> {
        let status = self.command(arguments).status().map_err(|error| self.not_run(&error))?;
        if status.success() { Ok(()) } else { Err(Failure::Status(exit_code(status))) }
    }

    /// Runs clang, and returns what it prints. It has no standard input.
    pub(super) fn printed(&self, arguments: &[OsString]) -> Result<Output, Failure> {
        let mut command = self.command(arguments);
        command.stdin(Stdio::null()).output().map_err(|error| self.not_run(&error))
    }

    /// Runs clang with a text as its standard input, and returns what it prints.
    pub(super) fn fed(&self, arguments: &[OsString], text: String) -> Result<Output, Failure> {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| self.not_run(&error))?;
        let input = child.stdin.take();
        // Written beside the reading, for either pipe may fill up.
        let writer = std::thread::spawn(move || input.map(|mut input| input.write_all(text.as_bytes())));
        let output = child.wait_with_output();
        drop(writer.join());
        output.map_err(|error| self.not_run(&error))
    }

    fn not_run(&self, error: &std::io::Error) -> Failure {
        Failure::input(format!("cannot run '{}': {error}", self.program.display()))
    }
}

/// True if a program says that it is clang of the right version.
fn is_right(program: &Path) -> bool {
    let said = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    said.is_ok_and(|said| {
        String::from_utf8_lossy(&said.stdout).contains(&format!("clang version {VERSION}."))
    })
}

/// Returns the status of a process as a shell would. A signal is its number behind 128.
pub(super) fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(1);
    }
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// True if clang would print diagnostics in color.
fn has_colors() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let terminal = std::env::var_os("TERM").unwrap_or_default();
    let is_dumb = terminal.is_empty() || terminal == OsStr::new("dumb");
    std::io::IsTerminal::is_terminal(&std::io::stderr()) && !is_dumb && !is_set("NO_COLOR")
}

/// Returns the option that makes clang's messages colored, if they would be.
pub(super) fn colors(line: &CommandLine) -> Option<OsString> {
    (has_colors() && line.with(Role::Color).next().is_none()).then(|| "-fcolor-diagnostics".into())
}
