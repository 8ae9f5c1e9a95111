//! One line about each input, if it is asked for.

use std::io::Write;
use std::path::PathBuf;

use super::super::console::Console;

/// The places that get lines about inputs.
#[derive(Debug)]
pub(super) struct Report {
    stderr: bool,
    file: Option<PathBuf>,
}

impl Report {
    /// Returns the places: standard error if the command asks for it, and the file that
    /// `LOOMIR_REPORT` names.
    pub(super) fn new(stderr: bool) -> Report {
        let file = std::env::var_os("LOOMIR_REPORT").filter(|file| !file.is_empty());
        Report { stderr, file: file.map(PathBuf::from) }
    }

    /// Reports on an input.
    pub(super) fn line(&self, console: &Console, name: &str, said: &str) {
        let line = format!("loomir: {name}: {said}\n");
        if self.stderr {
            console.say(&line);
        }
        if let Some(path) = &self.file {
            // Compilers may run beside each other, so that each line is written at once.
            let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
            let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
        }
    }
}
